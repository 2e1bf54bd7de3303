"""A pytest plugin: runs the chosen tests in the order that is asked for, and takes the rescuers away where it is told to.

``--chosen FILE`` is a JSON list of node ids in the order they are to run in; of the files in ``--whole`` every test runs.
``--alone`` turns fallbacks off: the first solver that is asked has to be right, because a second one would hide that it is
not. ``--outcomes FILE`` writes what became of each test, and how long it took.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mutate")
    group.addoption("--chosen", help="JSON list of node ids, in the order to run them in")
    group.addoption("--whole", nargs="*", default=[], help="files all of whose tests run")
    group.addoption("--alone", action="store_true", help="no solver is rescued by another")
    group.addoption("--outcomes", help="JSON file to write outcomes and seconds to")


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("alone"):
        _leave_alone()


def _leave_alone() -> None:
    """Only now: tests/conftest.py has to say first which dcprog is meant."""
    from dcprog.solvers.dispatch import Dispatcher

    with_rescuers = Dispatcher.__post_init__

    def alone(self: Any) -> None:
        self.fallback = False
        with_rescuers(self)

    Dispatcher.__post_init__ = alone  # type: ignore[method-assign]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("chosen"):
        return
    chosen = json.loads(Path(config.getoption("chosen")).read_text(encoding="utf-8"))
    place = {name: i for i, name in enumerate(chosen)}
    whole = set(config.getoption("whole"))
    kept = [item for item in items if item.nodeid in place or item.nodeid.split("::")[0] in whole]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = sorted(kept, key=lambda item: place.get(item.nodeid, -1))


class Outcomes:
    """Seconds and outcome of every test, from all workers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, list[Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        passed, seconds = self.tests.get(report.nodeid, [True, 0.0])
        self.tests[report.nodeid] = [passed and not report.failed, seconds + report.duration]

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.tests), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("outcomes") and not hasattr(config, "workerinput"):  # the controller hears of all workers' tests
        config.pluginmanager.register(Outcomes(Path(config.getoption("outcomes"))))

"""Pytest plugins: one runs chosen tests in their order, the other says how every test ended and what it took.

Where a test holds without rescuers, solvers have none: the first one that is asked has to be right, because a second one
would hide that it is not. ``--alone`` takes them away from all tests, ``--outcomes FILE`` writes what became of each.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

UNABLE = "pytest ended with 4"
"""What is wrong then is the call."""


class Rescuers:
    """Whether a dispatcher may ask a second solver."""

    allowed = True

    @classmethod
    def can_be_taken_away(cls) -> None:
        """Only once tests/conftest.py has said which dcprog is meant."""
        from dcprog.solvers.dispatch import Dispatcher

        with_rescuers = Dispatcher.__post_init__

        def perhaps_alone(self: Any) -> None:
            self.fallback = self.fallback and cls.allowed
            with_rescuers(self)

        Dispatcher.__post_init__ = perhaps_alone  # type: ignore[method-assign]


class Watch:
    """Runs ``tests``, pairs of an id and whether it holds alone, in this order, then files in ``whole`` ``without`` some."""

    def __init__(self, tests: list[tuple[str, bool]], whole: list[str], without: list[str]) -> None:
        self.place = {name: number for number, (name, _) in enumerate(tests)}
        self.alone = {name for name, alone in tests if alone}
        self.whole, self.without = set(whole), set(without)
        self.failed = ""
        self.ran = 0

    def pytest_sessionstart(self) -> None:
        if self.alone:
            Rescuers.can_be_taken_away()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept = [i for i in items if i.nodeid in self.place or i.nodeid.split("::")[0] in self.whole]
        kept = [item for item in kept if item.nodeid not in self.without]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = sorted(kept, key=lambda item: self.place.get(item.nodeid, len(self.place)))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        Rescuers.allowed = item.nodeid not in self.alone

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "call"
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (import)"


class Outcomes:
    """Outcome and seconds of every test, and the blocks that it ran, from all workers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tests: dict[str, list[Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        passed, seconds, blocks = self.tests.get(report.nodeid, [True, 0.0, []])
        blocks = getattr(report, "blocks", blocks)
        self.tests[report.nodeid] = [passed and not report.failed, seconds + report.duration, blocks]

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.tests), encoding="utf-8")


class Probes:
    """Sends what the probes of a test have seen along with its last report."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self._seen().clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            report.blocks = sorted(self._seen())
        return report

    @staticmethod
    def _seen() -> set[int]:
        from dcprog._probes import seen  # the copy of the package has it, the package itself does not

        return seen  # type: ignore[no-any-return]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mutate")
    group.addoption("--alone", action="store_true", help="no solver is rescued by another")
    group.addoption("--only", help="JSON list of the tests to run")
    group.addoption("--outcomes", help="JSON file to write outcomes and seconds to")


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.getoption("alone"):
        Rescuers.can_be_taken_away()
        Rescuers.allowed = False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("only"):
        only = set(json.loads(Path(config.getoption("only")).read_text(encoding="utf-8")))
        items[:] = [item for item in items if item.nodeid in only]


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("outcomes"):
        config.pluginmanager.register(Probes())
    if config.getoption("outcomes") and not hasattr(config, "workerinput"):  # the controller hears of all workers' tests
        config.pluginmanager.register(Outcomes(Path(config.getoption("outcomes"))))

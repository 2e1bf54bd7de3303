"""A warm process for tests: what they need is imported once, and every run of tests is a fork of it.

    python -m tools.mutate.bench [FILE …]

With files of tests it imports and collects these, and faults in functions are put into what is imported
(:mod:`tools.mutate.swap`). Without, it imports the packages of others alone; a fork imports dcprog and the tests as they are
at that moment. A run is a line of JSON on standard input, its outcome one on standard output:

    {"tests": [[id, alone], …], "whole": [file, …], "without": [id, …], "seconds": limit, "fault": [path, before, after]}
    {"failed": id, "ran": count}

The limit is one of CPU time, since the machine may be busy; a run that hangs for ten times as long is ended, too.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO

import pytest

from tools.mutate.plugin import UNABLE, Rescuers, Watch
from tools.mutate.swap import swap

WARM = ("hypothesis", "numpy.testing", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats", "pyomo.environ", "highspy")
WARM += ("sklearn.svm", "sklearn.datasets", "sklearn.utils.estimator_checks", "piqp", "clarabel", "osqp", "cyipopt", "xdist")
OPTIONS = ["--rootdir=.", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]
Reply = dict[str, Any]


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    if sys.argv[1:]:
        pytest.main([*OPTIONS, "-s", *sys.argv[1:]], plugins=[Collected(replies)])
        return
    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    _serve(replies, _imported_anew)


def _serve(replies: TextIO, outcome: Callable[[Reply], Reply]) -> None:
    for line in sys.stdin:
        run = json.loads(line)
        replies.write(json.dumps(_forked(run, outcome)) + "\n")
        replies.flush()


def _forked(run: Reply, outcome: Callable[[Reply], Reply]) -> Reply:
    """What the tests of this run say, from a process of their own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setsid()
        seconds = int(run["seconds"] + sum(os.times()[:2])) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            said = outcome(run)
        except BaseException as error:
            said = {"failed": f"pytest ended with {type(error).__name__}", "ran": 0}
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    status = _waited(child, 10.0 * run["seconds"])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what its tests have left running
    with os.fdopen(reading, encoding="utf-8") as answer:
        reply: Reply = json.loads(answer.read() or "{}")
    return reply or {"failed": f"ended with status {status}", "ran": 0}


def _waited(child: int, seconds: float) -> int:
    """How the process ended: by itself, or after so much time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _imported_anew(run: Reply) -> Reply:
    """In the fork: pytest as a whole."""
    watch = Watch([tuple(test) for test in run["tests"]], run["whole"], run["without"])
    files = sorted({name.split("::")[0] for name, _ in run["tests"]} | set(run["whole"]))
    code = int(pytest.main([*OPTIONS, *files], plugins=[watch]))
    return {"failed": watch.failed or ("" if code in (0, 5) else f"pytest ended with {code}"), "ran": watch.ran}


class Collected:
    """A plugin that runs no test before it is asked to."""

    def __init__(self, replies: TextIO) -> None:
        self.replies, self.failed = replies, ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        Rescuers.can_be_taken_away()
        self.items = {item.nodeid: item for item in session.items}
        _serve(self.replies, self._outcome)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def _outcome(self, run: Reply) -> Reply:
        """In the fork: the fault, then one test after the other."""
        if run["whole"] or (run["fault"] and not swap(*run["fault"])):
            return {"failed": UNABLE, "ran": 0}
        chosen = [(self.items[name], alone) for name, alone in run["tests"] if name in self.items]
        for count, (item, alone) in enumerate(chosen, 1):
            Rescuers.allowed = not alone
            following = chosen[count][0] if count < len(chosen) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return {"failed": self.failed, "ran": count}
        return {"failed": "", "ran": len(chosen)}


if __name__ == "__main__":
    main()

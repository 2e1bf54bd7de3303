"""A warm process for tests: the packages of others are imported once, and every run of tests is a fork of it.

It imports neither dcprog nor a test: a fork imports them as they are at that moment, fault included. A run is a line of
JSON on standard input, its outcome one on standard output:

    {"tests": [[id, alone], …], "whole": [file, …], "without": [id, …], "seconds": limit}   →   {"failed": id, "ran": count}

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
from typing import Any

import pytest

from tools.mutate.plugin import Watch

WARM = ("hypothesis", "numpy.testing", "scipy.optimize", "scipy.sparse.linalg", "scipy.stats", "pyomo.environ", "highspy")
WARM += ("sklearn.svm", "sklearn.datasets", "sklearn.utils.estimator_checks", "piqp", "clarabel", "osqp", "cyipopt", "xdist")
OPTIONS = ["--rootdir=.", "-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "addopts="]


def main() -> None:
    for name in WARM:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        os.dup2(quiet, number)
    for line in sys.stdin:
        replies.write(json.dumps(_forked(json.loads(line))) + "\n")
        replies.flush()


def _forked(run: dict[str, Any]) -> dict[str, Any]:
    """What the tests of this run say, from a process of their own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        os.setsid()
        _run(run, writing)
    os.close(writing)
    status = _waited(child, 10.0 * run["seconds"])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what its tests have left running
    with os.fdopen(reading, encoding="utf-8") as said:
        reply: dict[str, Any] = json.loads(said.read() or "{}")
    return reply or {"failed": f"ended with status {status}", "ran": 0}


def _run(run: dict[str, Any], writing: int) -> None:
    """In the fork: pytest, in this process, which ends here."""
    seconds = int(run["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    watch = Watch([tuple(test) for test in run["tests"]], run["whole"], run["without"])
    files = sorted({name.split("::")[0] for name, _ in run["tests"]} | set(run["whole"]))
    try:
        code = int(pytest.main([*OPTIONS, *files], plugins=[watch]))
        failed = watch.failed or ("" if code in (0, 5) else f"pytest ended with {code}")
    except BaseException as error:
        failed = f"pytest ended with {type(error).__name__}"
    os.write(writing, json.dumps({"failed": failed, "ran": watch.ran}).encode())
    os._exit(0)


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


if __name__ == "__main__":
    main()

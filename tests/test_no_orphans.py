"""Workers end with the process they work for, however that ends."""

import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from dcprog.studies.store import StudyWarning

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="looks into /proc")
TESTS = os.path.dirname(__file__)
STUDY = """
import sys; sys.path.insert(0, {tests!r})
from study_tools import *
from dcprog.studies import compare
print("go", flush=True)
compare(small_data(), {out!r}, methods=("l2_l0_svm", "alignment"), folds=10, repeats=20, n_jobs=2)
"""
STARTS = """
import sys; sys.path.insert(0, {tests!r})
from test_multistart import *
print("go", flush=True)
dcprog.solve(slow_program(0.02), starts=10_000, seed=0, n_jobs=2)
"""
FOLDS = """
import sys; sys.path.insert(0, {tests!r})
from study_tools import *
from dcprog.estimators import FSVCV
data = small_data()
print("go", flush=True)
while True:
    FSVCV(n_jobs=2).fit(data.X, data.y)
"""


def children(pid):
    """All processes that descend from ``pid``, by /proc."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    parents[int(entry)] = int(file.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found, level = [], {pid}
    while level := {child for child, parent in parents.items() if parent in level}:
        found += sorted(level)
    return found


def lives(pid):
    """Whether it is there and no zombie, which nobody but its new parent can take away."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def works(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return "LokyProcess" in file.read()
    except (FileNotFoundError, ProcessLookupError):
        return False


def workers_of(process, seconds=30.0):
    """Its workers, once two processes beside the trackers are at work."""
    until = time.time() + seconds
    while time.time() < until:
        if any(map(works, children(process.pid))):
            time.sleep(1.0)
            return children(process.pid)
        time.sleep(0.05)
    raise AssertionError("no worker came")


# What a worker notices is that its parent is gone: how that came about is tried on one kind of work.
DEATHS = {
    "study-SIGTERM": (STUDY, signal.SIGTERM),
    "folds-SIGKILL": (FOLDS, signal.SIGKILL),
    "starts-SIGKILL": (STARTS, signal.SIGKILL),
    "starts-SIGTERM": (STARTS, signal.SIGTERM),
    "starts-SIGHUP": (STARTS, signal.SIGHUP),
}


@pytest.mark.parametrize(("script", "death"), DEATHS.values(), ids=DEATHS)
def test_nobody_is_left_behind(script, death, tmp_path):
    words = [sys.executable, "-c", script.format(tests=TESTS, out=str(tmp_path / "out"))]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    try:
        assert process.stdout.readline() == "go\n"
        family = workers_of(process)
        assert len(family) >= 2, "a tracker and a worker at least"
        os.kill(process.pid, death)  # it alone, and not its group
        process.wait(10)
        until = time.time() + 8.0
        while time.time() < until and any(map(lives, family)):
            time.sleep(0.05)
        assert not [pid for pid in family if lives(pid)]
    finally:
        process.kill()


def test_a_study_that_was_killed_goes_on(tmp_path):
    """The files of a run that SIGTERM ended are whole, and the same command takes them."""
    from study_tools import small_data

    from dcprog.studies import compare

    out = tmp_path / "out"
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from study_tools import *\n"
        "from dcprog.studies import compare\n"
        "compare(small_data(), sys.argv[2], methods=(*QUICK, 'alignment'), folds=5, n_jobs=2)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, TESTS, str(out)])
    while process.poll() is None and len(list(out.rglob("*-*.json"))) < 2:
        time.sleep(0.01)
    process.terminate()
    process.wait(30)
    assert 2 <= len(list(out.rglob("*-*.json"))) < 15
    with warnings.catch_warnings():
        warnings.simplefilter("error", StudyWarning)
        found = compare(small_data(), out, methods=("svm", "fsv", "alignment"), folds=5)
    assert found.complete

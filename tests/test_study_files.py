"""The directory of a study: several runs at once, runs that were killed, and disks that are full."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from study_tools import QUICK, SMALL, small_data, without_times

from dcprog.errors import DataError
from dcprog.studies import compare
from dcprog.studies.cells import Cell, Task
from dcprog.studies.store import Store

RUN = """
import sys; sys.path.insert(0, sys.argv[1])
from study_tools import *
from dcprog.studies import compare
{before}
found = compare(small_data(), sys.argv[2], methods=QUICK, folds=5, grids=SMALL, n_jobs={n_jobs})
print("complete" if found.complete else found.failures)
"""


def start(out, before="", n_jobs=1):
    words = [sys.executable, "-c", RUN.format(before=before, n_jobs=n_jobs), os.path.dirname(__file__), str(out)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_runs_at_once_share_a_directory(tmp_path):
    both = [start(tmp_path / "out"), start(tmp_path / "out")]
    said = [process.communicate(timeout=120) for process in both]
    assert said == [("complete\n", "")] * 2
    left = [path.name for path in (tmp_path / "out").rglob(".*")]
    assert left == [], "no temporary file is left"
    data = small_data()
    again = compare(data, tmp_path / "out", methods=QUICK, folds=5, grids=SMALL)
    alone = compare(data, tmp_path / "alone", methods=QUICK, folds=5, grids=SMALL)
    assert without_times(again.results) == without_times(alone.results)


def test_threads_that_write_the_same_cell(tmp_path):
    store = Store(tmp_path / "out", "demo")
    task = Task(Cell("p", "d", "m", 0), {}, dict)
    with ThreadPoolExecutor(8) as crew:
        list(crew.map(lambda i: store.write(task, {"error": 0.5}), range(200)))
        list(crew.map(lambda i: Store(tmp_path / "out", "demo"), range(50)))
    assert store.read(task) == {"error": 0.5}


def test_a_run_that_was_killed_while_it_began(tmp_path):
    """Its half of a manifest does not make the directory another's."""
    out = tmp_path / "out"
    out.mkdir()
    (out / ".study.json.12345").write_text('{"stu')
    Store(out, "demo")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / ".hidden").write_text("")
    with pytest.raises(DataError, match="holds files"):
        Store(tmp_path / "foreign", "demo")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_full_disk_is_said_and_what_is_finished_is_kept(n_jobs, tmp_path):
    """By a limit on the size of files, which fails as a full disk does: the manifest fits, a cell does not."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))"
    said, complaints = start(tmp_path / "out", limit, n_jobs).communicate(timeout=120)
    assert said == ""
    assert "DataError" in complaints.splitlines()[-1]
    assert "cannot be written" in complaints
    assert not [path for path in (tmp_path / "out" / "cells").rglob("*") if path.is_file()]
    assert compare(small_data(), tmp_path / "out", methods=QUICK, folds=5, grids=SMALL).complete


def test_a_directory_under_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        compare(small_data(), tmp_path / "file" / "out", methods=["rlp"], folds=3, grids=SMALL)

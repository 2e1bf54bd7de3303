"""Runs of a study: order, processes, interruptions and what lies in its directory do not change the results."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager

import pytest
from estimator_cases import Interrupted
from study_tools import QUICK, SMALL, small_data, without_times

from dcprog.datasets import Dataset
from dcprog.errors import DataError
from dcprog.estimators import FSVCV
from dcprog.studies import compare
from dcprog.studies.cells import Cell, Task
from dcprog.studies.execute import execute
from dcprog.studies.store import Store, StudyWarning


@pytest.fixture(scope="module")
def data():
    return small_data()


@pytest.fixture(scope="module")
def whole(data, tmp_path_factory):
    """A run that nothing disturbs."""
    return compare(data, tmp_path_factory.mktemp("whole") / "out", methods=QUICK, folds=5, grids=SMALL)


def test_two_processes_give_the_same(data, whole, tmp_path):
    two = compare(data, tmp_path / "out", methods=QUICK[::-1], folds=5, grids=SMALL, n_jobs=2)
    assert without_times(two.results) == without_times(whole.results)


def test_methods_share_their_splits(whole):
    for i in range(5):
        tests = {result["tests"] for cell, result in whole.results.items() if cell.split == i}
        assert len(tests) == 1


@contextmanager
def ctrl_c_after(count):
    done = []

    def one(task):
        done.append(task)
        if len(done) == count:
            raise KeyboardInterrupt

    yield one


def test_an_interrupted_run_goes_on_where_it_was(data, whole, tmp_path):
    out = tmp_path / "out"
    half = compare(data, out, methods=QUICK, folds=5, grids=SMALL, watch=lambda tasks: ctrl_c_after(5))
    assert half.interrupted
    assert not half.complete
    assert len(half.results) == len(list(out.rglob("*-*.json"))) == 5
    computed = []

    @contextmanager
    def watch(tasks):
        yield lambda task: computed.append(task.cell)

    rest = compare(data, out, methods=QUICK, folds=5, grids=SMALL, watch=watch)
    assert rest.complete
    assert set(computed) == set(rest.results) - set(half.results)
    assert without_times(rest.results) == without_times(whole.results)


@pytest.mark.parametrize(("death", "n_jobs"), [(signal.SIGINT, 2), (signal.SIGKILL, 1)])
def test_a_process_that_dies_loses_the_running_cells_at_most(death, n_jobs, data, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from study_tools import *\n"
        "from dcprog.studies import compare\n"
        f"found = compare(small_data(), 'out', methods=(*QUICK, 'alignment'), folds=5, n_jobs={n_jobs})\n"
        "print('interrupted' if found.interrupted else 'complete')\n"
    )
    words = [sys.executable, str(script), os.path.dirname(__file__)]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and len(list(tmp_path.rglob("*-*.json"))) < 2:
        time.sleep(0.01)
    process.send_signal(death)
    said, complaints = process.communicate(timeout=60)
    if death is signal.SIGINT:
        assert (said, complaints) == ("interrupted\n", "")
    kept = len(list(tmp_path.rglob("*-*.json")))
    assert 2 <= kept < 15
    with warnings.catch_warnings():
        warnings.simplefilter("error", StudyWarning)  # every file that is there is whole
        found = compare(data, tmp_path / "out", methods=(*QUICK, "alignment"), folds=5)
    assert found.complete
    assert len(found.results) == 15


def test_a_run_that_ctrl_c_ends_inside_the_solver_is_no_result(data, tmp_path):
    """The driver turns Ctrl-C into a status, which must not pass for a trained classifier."""
    found = compare(data, tmp_path / "out", methods=[FSVCV([0.1, 0.2], penalty=Interrupted(5.0))], folds=3)
    assert found.interrupted
    assert not found.results


@pytest.mark.parametrize(("error", "said"), [(DataError("no solution"), "no solution"), (ValueError("x"), "ValueError: x")])
def test_a_cell_that_fails_does_not_stop_the_others(error, said, tmp_path):
    def fail():
        raise error

    tasks = [Task(Cell("p", "d", "m", 0), {}, fail), Task(Cell("p", "d", "m", 1), {}, lambda: {"error": 0.5})]
    outcome = execute(tasks, Store(tmp_path / "out", "test"))
    assert outcome.failures == {tasks[0].cell: said}
    assert outcome.results == {tasks[1].cell: {"error": 0.5}}
    assert execute(tasks, Store(tmp_path / "out", "test")).failures, "a failure is not kept as if it were a result"


@pytest.mark.parametrize("content", ["", '{"key": 1', '{"key": {}}', "[]", "\x00"])
def test_a_corrupted_cell_is_computed_again(content, tmp_path):
    store = Store(tmp_path / "out", "test")
    task = Task(Cell("p", "d", "m", 0), {"seed": 1}, lambda: {"error": 0.5})
    store.write(task, {"error": 0.5})
    store.path(task.cell).write_text(content)
    with pytest.warns(StudyWarning, match="corrupted"):
        outcome = execute([task], store)
    assert outcome.results == {task.cell: {"error": 0.5}}
    assert store.read(task) == {"error": 0.5}


@pytest.mark.parametrize("change", [{"error": "x"}, {"error": 0.25}, {}, {"error": 0.5, "more": 1}])
def test_a_cell_that_was_changed_is_computed_again(change, tmp_path):
    """Valid JSON, but not what was written."""
    store = Store(tmp_path / "out", "test")
    task = Task(Cell("p", "d", "m", 0), {"seed": 1}, lambda: {"error": 0.5})
    store.write(task, {"error": 0.5})
    content = json.loads(store.path(task.cell).read_text())
    store.path(task.cell).write_text(json.dumps(content | {"result": change}))
    with pytest.warns(StudyWarning, match="corrupted"):
        assert execute([task], store).results == {task.cell: {"error": 0.5}}


def test_a_directory_of_another_format_is_not_touched(tmp_path):
    Store(tmp_path / "out", "test")
    manifest = tmp_path / "out" / "study.json"
    manifest.write_text(json.dumps({"study": "test", "format": 99}))
    with pytest.raises(DataError, match=r"another version of dcprog \(format 99\)"):
        Store(tmp_path / "out", "test")
    assert json.loads(manifest.read_text())["format"] == 99


def test_a_cell_of_other_data_is_computed_again(data, tmp_path):
    compare(data, tmp_path / "out", methods=["svm"], folds=3, grids=SMALL)
    other = Dataset(data.name, data.X * 2.0 + 1.0, data.y, data.feature_names, "")
    with pytest.warns(StudyWarning, match="other data"):
        compare(other, tmp_path / "out", methods=["svm"], folds=3, grids=SMALL)


def test_a_foreign_directory_is_not_touched(data, tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(DataError, match=r"no study.json of a study"):
        compare(data, tmp_path, methods=["svm"])
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]
    Store(tmp_path / "other", "neumann2005")
    with pytest.raises(DataError, match="belongs to the study 'neumann2005'"):
        compare(data, tmp_path / "other", methods=["svm"])


def test_a_directory_that_cannot_be_written(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        compare(data, tmp_path / "file" / "out", methods=["svm"])


def test_jobs_and_repeats_are_numbers_that_make_sense(data, tmp_path):
    with pytest.raises(DataError, match="n_jobs is 0"):
        compare(data, tmp_path / "out", methods=["svm"], n_jobs=0)
    with pytest.raises(DataError, match="repeats is 0"):
        compare(data, tmp_path / "out", methods=["svm"], repeats=0)

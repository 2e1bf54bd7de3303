"""Files of results: whole or not at all, and what is wrong with one is said in a sentence that names it."""

import contextlib
import json
import os
import subprocess
import sys

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import DCProgram, Result
from dcprog.errors import DataError


def solved():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(0, 2), initialize=1.0)
    return dcprog.solve(DCProgram(m, g=sum(m.x[i] ** 4 for i in range(3)), h=sum(3 * m.x[i] ** 2 for i in range(3))))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "run"
    solved().save(path)
    return path


def copies(saved, folder):
    folder.mkdir(exist_ok=True)
    files = {ending: (saved.parent / f"run{ending}").read_bytes() for ending in (".json", ".npz")}
    for ending, content in files.items():
        (folder / f"run{ending}").write_bytes(content)
    return files


@pytest.mark.parametrize("ending", [".json", ".npz"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_named(ending, share, saved, tmp_path):
    content = copies(saved, tmp_path)[ending]
    (tmp_path / f"run{ending}").write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=f"run{ending} is truncated"):
        Result.load(tmp_path / "run")


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_a_file_that_is_not_there_is_named(ending, saved, tmp_path):
    copies(saved, tmp_path)
    (tmp_path / f"run{ending}").unlink()
    with pytest.raises(DataError, match=f"run{ending} cannot be read"):
        Result.load(tmp_path / "run")
    with pytest.raises(DataError, match="without an ending"):
        Result.load(tmp_path / "run.json")


@given(st.sampled_from([".json", ".npz"]), st.binary(max_size=60), st.floats(0, 1))
def test_garbage_is_refused_or_read(saved, tmp_path_factory, ending, garbage, where):
    """Whatever is written over a part of a file: another result perhaps, never another error."""
    folder = tmp_path_factory.mktemp("garbage")
    content = copies(saved, folder)[ending]
    at = int(where * len(content))
    (folder / f"run{ending}").write_bytes(content[:at] + garbage + content[at + len(garbage) :])
    with contextlib.suppress(DataError):
        Result.load(folder / "run")


UNKNOWN = '{"status": "wonderful", "history": []}'


@pytest.mark.parametrize("content", ["[]", "3", "{}", "null", "[" * 100_000, '{"status": "converged"}', UNKNOWN], ids=len)
def test_json_that_is_no_result(content, saved, tmp_path):
    copies(saved, tmp_path)
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(DataError, match=r"run\.json is truncated, or no result"):
        Result.load(tmp_path / "run")


def test_pickles_are_not_read(saved, tmp_path):
    copies(saved, tmp_path)
    np.savez(tmp_path / "run.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match=r"run\.npz is truncated, or no result"):
        Result.load(tmp_path / "run")


def test_what_cannot_be_written(tmp_path):
    (tmp_path / "run.json").mkdir()
    with pytest.raises(DataError, match=r"run\.json cannot be written"):
        solved().save(tmp_path / "run")
    with pytest.raises(DataError, match="cannot be written"):
        solved().save(tmp_path / "nowhere" / "run")


def test_a_full_disk_leaves_the_old_file(saved, tmp_path):
    """By a limit on the size of files, which fails as a full disk does."""
    copies(saved, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    script = (
        "import resource, sys\n"
        "from dcprog import Result\n"
        "result = Result.load(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))\n"
        "result.save(sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], capture_output=True, text=True, timeout=60)
    assert "DataError" in done.stderr.splitlines()[-1]
    assert "cannot be written" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_command_line_shows_the_result_before_it_fails_to_save_it(tmp_path, capsys, monkeypatch):
    from dcprog.cli import main

    if os.geteuid() == 0:
        (tmp_path / "run.npz").mkdir()  # root may write anywhere, but not over a directory
    else:
        tmp_path.chmod(0o500)
    assert main(["solve", "rlp", "--json", "--save", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["status"] == "converged"
    assert "cannot be written" in said.err
    assert said.err.count("\n") == 1

"""Names are names: what is looked up in a directory lies in it, and what is written under a name lies there, too."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_tools import SMALL, small_data

from dcprog import datasets
from dcprog.cli import main
from dcprog.datasets import Dataset
from dcprog.datasets.loading import found_file
from dcprog.errors import DataError
from dcprog.studies import compare
from dcprog.studies.cells import Cell, Task, file_name
from dcprog.studies.store import Store


def written_csv(path):
    data = small_data()
    lines = [",".join([*(f"{v:.6g}" for v in row), str(int(label))]) for row, label in zip(data.X, data.y, strict=True)]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([",".join([*(f"a{j}" for j in range(8)), "label"]), *lines]))


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A data directory, and files of others beside it."""
    written_csv(tmp_path / "data" / "mine.csv")
    written_csv(tmp_path / "x" / "evil.csv")
    written_csv(tmp_path / "data" / "deeper" / "evil.csv")
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path / "data"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def files(place):
    return sorted(str(path.relative_to(place)) for path in place.rglob("*"))


def wicked(place):
    return ["../x/evil", f"{place}/x/evil", "deeper/evil", "..\\x\\evil", "./mine", "..", ".", "", "mine\0", "../data/mine"]


def test_names_that_lead_elsewhere_are_refused(place):
    assert datasets.load("mine").name == "mine"
    for name in wicked(place):
        with pytest.raises(DataError, match="is no name of a data set"):
            datasets.load(name)
        assert found_file(name) is None


def test_compare_reads_and_writes_nothing_elsewhere(place, capsys):
    before = files(place)
    for name in wicked(place):
        if "\0" in name:
            continue  # no shell can pass it
        assert main(["compare", "--data", name, "--methods", "rlp", "--folds", "3", "--out", "out"]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert files(place) == before


def test_a_path_of_a_csv_file_is_a_path(place):
    assert datasets.load("../x/evil.csv").name == "evil"


@pytest.mark.parametrize("name", ["../../evil", "/tmp/evil", "..", ".", "a/b", "con:x", "x" * 400, "tab\tname", "ℓ2"])
def test_a_data_set_of_any_name_stays_in_its_directory(name, place):
    data = small_data()
    named = Dataset(name, data.X, data.y, data.feature_names, "")
    before = set(files(place))
    out = place / "work" / "out"
    found = compare(named, out, methods=["rlp"], folds=3, grids=SMALL)
    assert found.complete
    new = set(files(place)) - before
    assert all(path == os.path.join("work", "out") or path.startswith(os.path.join("work", "out", "")) for path in new)
    assert len(list((out / "cells").rglob("rlp-*.json"))) == 3
    again = compare(named, out, methods=["rlp"], folds=3, grids=SMALL)
    assert again.results == found.results, "and is found there again"


@given(st.text(max_size=300), st.text(max_size=300))
def test_file_names_are_single_safe_and_different(one, two):
    for word in (one, two):
        name = file_name(word)
        assert name not in ("", ".", "..")
        assert os.path.basename(name) == name
        assert "\\" not in name
        assert len(name.encode(errors="surrogatepass")) <= 255 - 30
    assert (file_name(one) == file_name(two)) == (one == two)


def test_usual_names_are_their_own_file_names(tmp_path):
    for word in ("wpbc60", "10-fold", "table-1a", "l2_l0_svm", "breast_cancer"):
        assert file_name(word) == word
    store = Store(tmp_path / "out", "demo")
    task = Task(Cell("../..", "..", "/etc/x", 0), {}, dict)
    store.write(task, {"error": 0.5})
    assert store.read(task) == {"error": 0.5}
    assert (tmp_path / "out").resolve() in store.path(task.cell).resolve().parents


@pytest.mark.parametrize("command", ["reproduce ../evil", "data --get ../evil", "reproduce neumann2005 --data ../x/evil"])
def test_other_commands(command, place, capsys):
    before = files(place)
    assert main(command.split()) == 2
    assert "unknown" in capsys.readouterr().err
    assert files(place) == before

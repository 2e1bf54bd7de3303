"""Where data sets come from: files as published, downloads that are checked, generators by name."""

import hashlib
import http.client
from dataclasses import replace

import numpy as np
import pytest
from data_sets import needs_data

from dcprog import datasets
from dcprog.datasets import TABLE_I, download, generators
from dcprog.datasets.csv_file import read_labelled
from dcprog.datasets.feature_names import FEATURE_NAMES
from dcprog.datasets.synthetic import SYNTHETIC
from dcprog.datasets.uci import RECIPES
from dcprog.errors import DataError, UnknownNameError

# ── files as published ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_recipes_drop_what_they_say_and_label_as_they_say(tmp_path):
    path = tmp_path / "wpbc.data"
    cells = ["1", "R", "12", *(["0.5"] * 31), "2"]
    rows = [
        cells,
        ["2", "N", "70", *cells[3:]],
        ["3", "R", "70", *cells[3:]],
        ["4", "N", "20", *cells[3:]],
        [*cells[:-1], "?"],
    ]
    path.write_text("a header, of words\n" + "\n".join(",".join(row) for row in rows))
    X, y = RECIPES["wpbc60"].read(path)
    assert X.shape == (3, 32)
    np.testing.assert_array_equal(y, [1, -1, -1])
    assert len(RECIPES["wpbc24"].read(path)[1]) == 3
    path.write_text("1,2,3\n4,5,6\n")
    with pytest.raises(DataError, match="is not as in UCI"):
        RECIPES["liver"].read(path)


@needs_data
@pytest.mark.parametrize("name", ["liver", "pima", "ionosphere", "sonar"])
def test_a_published_file_gives_the_same_samples(name, tmp_path, monkeypatch):
    """Written as UCI writes it, and found under UCI's name."""
    data = datasets.load(name)
    plus, minus = {"liver": ("1", "2"), "pima": ("0", "1"), "ionosphere": ("g", "b"), "sonar": ("M", "R")}[name]
    labels = np.where(data.y > 0, plus, minus)
    rows = [",".join([*map(repr, map(float, x)), label]) for x, label in zip(data.X, labels, strict=True)]
    (tmp_path / RECIPES[name].file).write_text("\n".join(rows))
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    again = datasets.load(name)
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.y, data.y)
    assert again.feature_names == data.feature_names
    assert name in datasets.available()


def test_diagnoses_make_two_sets_of_labels(tmp_path):
    path = tmp_path / "processed.cleveland.data"
    path.write_text("".join(f"{','.join(['1.0'] * 13)},{diagnosis}\n" for diagnosis in range(5)))
    assert RECIPES["cleveland"].read(path)[1].tolist() == [1, -1, -1, -1, -1]
    assert RECIPES["cleveland_severe"].read(path)[1].tolist() == [1, 1, -1, -1, -1]


@needs_data
@pytest.mark.parametrize(("name", "shape"), [("housing", (506, 13)), ("leukemia", (72, 7129)), ("lymphoma", (96, 4026))])
def test_the_sets_of_the_other_papers(name, shape, tmp_path, monkeypatch):
    data = datasets.load(name)
    assert data.X.shape == shape
    assert np.isfinite(data.X).all()
    (tmp_path / f"{name}.csv").write_text("f1,label\n1,-1\n2,1\n")
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"2 samples × 1 features, but {name} has {shape[0]} samples"):
        datasets.load(name)


def test_names_of_features_are_as_many_as_features():
    for name, names in FEATURE_NAMES.items():
        d = TABLE_I[name].d if name in TABLE_I else 13
        assert len(set(names)) == d


def test_missing_values_become_means(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,label\n1,5,u\n,7,v\n3,?,w\n")
    read = read_labelled(path, fill=True)
    np.testing.assert_array_equal(read.X, [[1, 5], [2, 7], [3, 6]])
    assert read.labels == ["u", "v", "w"]
    path.write_text("a,b,label\n1,,u\n2,,v\n")
    with pytest.raises(DataError, match="column 'b' has no value"):
        read_labelled(path, fill=True)
    path.write_text("a,b,label\n1,,u\ntwo,3,v\n")
    with pytest.raises(DataError, match="line 3, column 'a' holds 'two'"):
        read_labelled(path, fill=True)


# ── downloads ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def liver(tmp_path, monkeypatch):
    """A server's file with Table I's counts, and a recipe that expects just this one."""
    source = tmp_path / "server.data"
    source.write_text("\n".join(f"85,92,45,27,{i},0.0,{1 if i < 145 else 2}" for i in range(345)))
    monkeypatch.delenv("DCPROG_DATA", raising=False)
    monkeypatch.delenv("DCPROG_OFFLINE", raising=False)
    monkeypatch.setenv("DCPROG_CACHE", str(tmp_path / "cache"))
    right = hashlib.sha256(source.read_bytes()).hexdigest()
    monkeypatch.setitem(RECIPES, "liver", replace(RECIPES["liver"], url=source.as_uri(), sha256=right))
    return source


def test_what_is_not_here_is_downloaded_once(liver, tmp_path):
    assert "liver" not in datasets.available()
    first = datasets.load("liver")
    assert first.counts == TABLE_I["liver"]
    liver.unlink()
    np.testing.assert_array_equal(datasets.load("liver").X, first.X)
    assert "liver" in datasets.available()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["bupa.data"]


def test_nothing_is_downloaded_where_that_is_forbidden(liver, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"DCPROG_DATA is not set.*dcprog data --get liver"):
        datasets.load("liver", download_if_missing=False)
    monkeypatch.setenv("DCPROG_OFFLINE", "1")
    with pytest.raises(DataError, match="DCPROG_DATA is not set"):
        datasets.load("liver")
    assert not (tmp_path / "cache").exists()
    assert download("liver").is_file()  # asked for by name


def test_a_changed_file_is_refused_and_leaves_nothing(liver, tmp_path):
    liver.write_text("85,92,45,27,31,0.0,1\n")
    with pytest.raises(DataError, match="has changed"):
        datasets.load("liver")
    assert not (tmp_path / "cache").exists()


def test_a_corrupted_copy_is_fetched_again(liver):
    path = download("liver")
    path.write_text("corrupted")
    assert download("liver").read_bytes() == liver.read_bytes()
    path.write_text("corrupted")
    liver.unlink()
    with pytest.raises(DataError, match=r"cannot be downloaded.*get bupa\.data from UCI"):
        download("liver")


def test_a_corrupted_copy_is_not_loaded(liver):
    download("liver").write_text("1,2,3,4,5,6,1\n")
    assert datasets.load("liver").counts == TABLE_I["liver"]


def test_a_reply_that_breaks_off(liver, monkeypatch):
    def answer(url, timeout):
        raise http.client.IncompleteRead(b"85,92")

    monkeypatch.setattr("urllib.request.urlopen", answer)
    with pytest.raises(DataError, match="cannot be downloaded"):
        datasets.load("liver")


def test_a_cache_that_cannot_be_written(liver, tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(DataError, match="DCPROG_CACHE"):
        datasets.load("liver")


# ── generators ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", SYNTHETIC)
def test_generators_are_data_sets(name):
    data = datasets.load(name)
    assert data.X.shape == (SYNTHETIC[name].n, SYNTHETIC[name].d)
    assert data.counts.positive * data.counts.negative > 0
    np.testing.assert_array_equal(data.X, datasets.load(name, seed=0).X)
    assert datasets.load(name, n=20, seed=3).X.shape == (20, SYNTHETIC[name].d)


def test_parameters_are_those_of_the_generator():
    data = datasets.load("circle", n=30, noise_features=3, seed=5)
    X, y = generators.circle(30, 3, 5)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, y)
    with pytest.raises(UnknownNameError, match="did you mean 'noise_features'"):
        datasets.load("circle", noise_feature=3)
    with pytest.raises(DataError, match="breast_cancer takes no n"):
        datasets.load("breast_cancer", n=10)

"""Data sets: what is read is what the file says, and a wrong file is refused with the place where it is wrong."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import StandardScaler

from dcprog import datasets
from dcprog.datasets import TABLE_I, standardised
from dcprog.errors import DataError, UnknownNameError

needs_data = pytest.mark.skipif(not os.environ.get("DCPROG_DATA"), reason="DCPROG_DATA names no directory of data sets")


@pytest.fixture
def csv(tmp_path):
    def write(text, name="mine.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@needs_data
@pytest.mark.parametrize("name", TABLE_I)
def test_the_ten_sets_are_those_of_table_1(name):
    data = datasets.load(name)
    assert data.X.shape == (TABLE_I[name].n, TABLE_I[name].d)
    assert ((data.y == 1).sum(), (data.y == -1).sum()) == (TABLE_I[name].positive, TABLE_I[name].negative)
    assert len(data.feature_names) == TABLE_I[name].d
    assert name in datasets.available()


@needs_data
def test_a_truncated_set_names_both_counts(tmp_path, monkeypatch):
    whole = (Path(os.environ["DCPROG_DATA"]) / "liver.csv").read_text().splitlines()
    (tmp_path / "liver.csv").write_text("\n".join(whole[:-1]))
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"344 samples × 6 features.*Table I says 345 samples × 6 features with 145/200"):
        datasets.load("liver")


def test_swapped_labels_are_not_those_of_table_1(tmp_path, monkeypatch):
    rows = ["1,2,3,4,5,6,1"] * 200 + ["6,5,4,3,2,1,-1"] * 145
    (tmp_path / "liver.csv").write_text("\n".join(["f1,f2,f3,f4,f5,f6,label", *rows]))
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"200/145 .*145/200"):
        datasets.load("liver")
    assert datasets.load(tmp_path / "liver.csv").counts == (6, 345, 200, 145)  # a path is the user's own file


def test_breast_cancer_comes_with_the_install(monkeypatch):
    monkeypatch.delenv("DCPROG_DATA", raising=False)
    data = datasets.load("breast_cancer")
    assert data.counts == (30, 569, 357, 212)
    assert "breast_cancer" in datasets.available()


def test_the_directory_comes_first(tmp_path, monkeypatch):
    (tmp_path / "breast_cancer.csv").write_text("f1,label\n1,-1\n2,1\n")
    (tmp_path / "notes.csv").write_text("day,what\nMonday,rain\n")
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    (tmp_path / "three.csv").write_text("f1,label\n1,a\n2,b\n3,c\n")
    (tmp_path / "own.csv").write_text("f1,label\n1,a\n2,b\n")
    assert datasets.load("breast_cancer").X.shape == (2, 1)
    assert {"breast_cancer", "own"} <= set(datasets.available())
    assert not {"notes", "three"} & set(datasets.available())


@pytest.mark.parametrize(
    ("labels", "signs"),
    [
        (["-1", "1", "-1"], [-1, 1, -1]),
        (["2", "10", "2"], [-1, 1, -1]),  # as numbers, not as text
        (["well", "ill", "well"], [1, -1, 1]),
        (["1.0", "1", "0"], [1, 1, -1]),
        (["10", "9", "x"], None),
    ],
)
def test_labels_of_any_kind_in_sorted_order(csv, labels, signs):
    path = csv("a,b\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    if signs is None:
        with pytest.raises(DataError, match="3 class"):
            datasets.load(path)
    else:
        assert datasets.load(path).y.tolist() == signs


@pytest.mark.parametrize(
    ("header", "features"),
    [
        ("a,b,c", ("a", "b")),
        ("Label,b,c", ("b", "c")),
        ("a,target,c", ("a", "c")),
        ("x,y,label", ("x", "y")),
        (" y ,b,c", ("b", "c")),
        ("0,1,label", ("0", "1")),  # as pandas names columns without names
    ],
)
def test_which_column_is_the_label(csv, header, features):
    assert datasets.load(csv(f"{header}\n0,1,1\n1,0,0\n")).feature_names == features


def test_what_spreadsheets_write(csv):
    data = datasets.load(str(csv(b'\xef\xbb\xbf"size, cm",kind\r\n1e3,"a"\r\n\r\n -2 ,"b"\r\n')))
    assert data.feature_names == ("size, cm",)
    assert data.X.tolist() == [[1000.0], [-2.0]]
    assert data.name == "mine"
    assert data.description == "mine.csv: −1 = a, +1 = b"


@given(
    X=arrays(
        float, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=st.floats(allow_nan=False, allow_infinity=False)
    ),
    seed=st.integers(0, 2**16),
)
def test_reading_returns_every_number_written(tmp_path_factory, X, seed):
    y = np.where(np.random.default_rng(seed).permutation(len(X)) == 0, "p", "q")
    path = tmp_path_factory.mktemp("csv") / "numbers.csv"
    rows = [",".join([*map(repr, map(float, row)), label]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join([",".join(f"f{j}" for j in range(X.shape[1])) + ",label", *rows]))
    data = datasets.load(path)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, np.where(y == "p", -1.0, 1.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "no samples"),
        ("a\n1\n", "the one column 'a'"),
        ("a;b\n1;2\n", "separated by commas"),
        ("1,2\n3,4\n", "expected a header"),
        ("0.1,0.2,p\n0.3,0.4,q\n", "expected a header"),
        ("a,b\n1,0\n2\n", "line 3 has 1 cells, but the header has 2"),
        ("a,b\n1,0\n2,1,5\n", "line 3 has 3 cells, but the header has 2"),
        ("a,b\n1,0\n,1\nNA,1\n", "2 missing value.s., the first in line 3, column 'a'"),
        ("a,b\n1,0\nnan,1\n", "1 missing value"),
        ("a,b\n1,0\n2,?\n", "line 3, column 'b'"),
        ("a,b\n1,0\nParis,1\n", "line 3, column 'a' holds 'Paris'"),
        ("a,b\n1,0\n-inf,1\n", "holds '-inf'"),
        ("a,b\n1,0\n2,0\n", "1 class"),
        ("a,b\n1,0\n2,1\n3,2\n", "3 class.*0, 1, 2"),
        (b"a,b\n\xff\xfe,1\n", "UTF-8"),
        ('a,b\n"1,0\n2,1\n', "line 3 has 1 cells"),
    ],
)
def test_a_wrong_file_is_one_sentence(csv, text, message):
    with pytest.raises(DataError, match=message) as caught:
        datasets.load(csv(text))
    assert "mine.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_there(tmp_path, monkeypatch):
    monkeypatch.delenv("DCPROG_DATA", raising=False)
    with pytest.raises(DataError, match="No such file"):
        datasets.load(tmp_path / "none.csv")
    with pytest.raises(DataError, match="DCPROG_DATA is not set"):
        datasets.load("pima")
    with pytest.raises(UnknownNameError, match="did you mean 'breast_cancer'"):
        datasets.load("breast_cancr")
    with pytest.raises(UnknownNameError, match="did you mean 'circle'"):
        datasets.load("circl", n=5)
    with pytest.raises(DataError, match="name is 3"):
        datasets.load(3)
    notes = tmp_path / "notes.txt"
    notes.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"ends in \.csv"):
        datasets.load(str(notes))
    upper = notes.rename(tmp_path / "UPPER.CSV")
    upper.write_text("a,label\n1,0\n2,1\n")
    assert datasets.load(str(upper)).name == "UPPER"
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"has no pima\.csv"):
        datasets.load("pima")
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="no directory"):
        datasets.load("pima")


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 8), st.integers(1, 4)),
        elements=st.floats(-1e6, 1e6).map(lambda v: round(v, 3)),
    )
)
def test_standardised_agrees_with_scikit_learn(X):
    varies = X.max(axis=0) > X.min(axis=0)
    Z = standardised(X)
    np.testing.assert_allclose(Z[:, varies], StandardScaler().fit_transform(X)[:, varies], rtol=1e-6, atol=1e-6)
    assert not Z[:, ~varies].any()


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_standardised_at_any_scale(scale):
    X = scale * np.array([[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]])  # the mean of three times 0.1 is not 0.1
    Z = standardised(X)
    assert Z.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert Z.std(axis=0) == pytest.approx([1, 0], abs=1e-12)


def test_load_standardises_on_request():
    raw, rescaled = datasets.load("breast_cancer"), datasets.load("breast_cancer", standardise=True)
    assert raw.X.mean() > 1
    np.testing.assert_allclose(rescaled.X, standardised(raw.X))

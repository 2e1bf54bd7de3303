"""Where data sets come from: a directory, what is installed, the papers' generators, a download, or your own CSV file."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dcprog.datasets.csv_file import read_csv
from dcprog.datasets.download import copy_of, download, offline
from dcprog.datasets.feature_names import FEATURE_NAMES, numbered
from dcprog.datasets.synthetic import SYNTHETIC
from dcprog.datasets.uci import RECIPES
from dcprog.errors import DataError, UnknownNameError, unknown_name
from dcprog.typing import Indices, Matrix, Vector


class Counts(NamedTuple):
    """A line of Table I: features d, samples n, and how many of them are of class +1 and −1."""

    d: int
    n: int
    positive: int
    negative: int

    def __str__(self) -> str:
        return f"{self.n} samples × {self.d} features with {self.positive}/{self.negative} of class +1/−1"


TABLE_I = {
    "wpbc60": Counts(32, 110, 41, 69),
    "wpbc24": Counts(32, 155, 28, 127),
    "liver": Counts(6, 345, 145, 200),
    "cleveland": Counts(13, 297, 160, 137),
    "ionosphere": Counts(34, 351, 225, 126),
    "pima": Counts(8, 768, 500, 268),
    "bcw": Counts(9, 683, 444, 239),
    "sonar": Counts(60, 208, 111, 97),
    "musk": Counts(166, 476, 207, 269),
    "microarray": Counts(2000, 62, 22, 40),
}
"""Table I of Neumann, Schnörr & Steidl (2005)."""
SHAPES = {"cleveland_severe": (297, 13), "housing": (506, 13), "leukemia": (72, 7129), "lymphoma": (96, 4026)}
"""Samples × features of the other sets, whose classes are labelled differently in different copies."""
INCOMPLETE = frozenset({"lymphoma"})
"""Sets with missing values, which become the means of their features."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples in the rows of X, labels y ∈ {−1, +1}; ``description`` says what the labels stand for."""

    name: str
    X: Matrix
    y: Vector
    feature_names: tuple[str, ...]
    description: str

    @property
    def counts(self) -> Counts:
        n, d = self.X.shape
        positive = int((self.y > 0).sum())
        return Counts(d, n, positive, n - positive)


def load(name: str | Path, *, standardise: bool = False, download_if_missing: bool = True, **parameters: Any) -> Dataset:
    """The data set called ``name``, or the CSV file at that path.

    A name is looked up in the directory that the environment variable ``DCPROG_DATA`` holds, as ``<name>.csv`` or under the
    name that its publisher gives the file (:mod:`dcprog.datasets.uci`), then among earlier downloads, scikit-learn's sets
    (``"breast_cancer"``) and the papers' generators; what is left is downloaded, and checked by its SHA-256. The sets of
    Table I are checked against it. A CSV file has a header; its label is the column called label, target, class or y (the
    first of these that there is), else the last one. Of its two labels the one that sorts first becomes −1, the other +1;
    numbers sort as numbers.

    Parameters
    ----------
    name : str or Path
        A name that ``dcprog data`` lists, or a path that ends in ``.csv``.
    standardise : bool
        Rescale each feature to zero mean and unit variance, as the paper does (section 5.2.1).
    download_if_missing : bool
        False, or the environment variable ``DCPROG_OFFLINE``: take what is here, or raise.
    **parameters
        Of a generator: ``n``, ``seed``, … (:mod:`dcprog.datasets.generators`).

    Examples
    --------
    >>> data = load("breast_cancer", standardise=True)
    >>> data.X.shape, data.feature_names[0], data.description
    ((569, 30), 'mean radius', 'breast cancer Wisconsin (diagnostic): −1 = malignant, +1 = benign')
    >>> load("chess_board", n=100, noise_features=8, seed=1).X.shape
    (100, 10)
    """
    if not isinstance(name, str | Path):
        raise DataError(f"name is {name!r}, expected the name of a data set or the path of a CSV file")
    data = _drawn(str(name), parameters) if parameters else _find(name, download_if_missing)
    return replace(data, X=standardised(data.X)) if standardise else data


def available() -> list[str]:
    """The names that :func:`load` takes without a download."""
    directory = data_directory()
    files = [] if directory is None else [path.stem for path in directory.glob("*.csv") if _is_data(path)]
    return sorted({*files, *filter(found_file, RECIPES), *SYNTHETIC, "breast_cancer"})


def found_file(name: str) -> Path | None:
    """The file that a name stands for: ``<name>.csv`` or the publisher's in ``DCPROG_DATA``, else an earlier download."""
    if not is_plain(name):
        return None
    directory = data_directory()
    names = [f"{name}.csv", *([RECIPES[name].file] if name in RECIPES else [])]
    here = (directory / file for file in names if directory is not None)
    found = next((path for path in here if path.is_file()), None)
    return copy_of(name).here() if found is None and name in RECIPES else found


def is_plain(name: str) -> bool:
    """Whether a name has no parts of a path, so that looking it up in a directory cannot lead out of it.

    >>> is_plain("liver"), is_plain("../liver"), is_plain("..")
    (True, False, False)
    """
    return name not in ("", ".", "..") and not any(mark in name for mark in ("/", "\\", "\0"))


def standardised(X: Matrix, rows: Indices | slice = slice(None)) -> Matrix:
    """Each column with mean 0 and (population) variance 1 over ``rows``; columns that are constant there become 0.

    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> standardised(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 8.0]]), rows=np.array([0, 1]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  0.]])
    """
    X = np.asarray(X, dtype=float)
    part = X[rows]
    varies = part.max(axis=0) > part.min(axis=0)  # std would be 1e-17 instead of 0 where the mean is rounded
    centred = X[:, varies] - part[:, varies].mean(axis=0)
    centred /= np.abs(centred).max(axis=0)  # so that no square over- or underflows
    result = np.zeros_like(X)
    result[:, varies] = centred / centred[rows].std(axis=0)
    return result


def _find(name: str | Path, download_if_missing: bool) -> Dataset:
    if isinstance(name, Path) or name.lower().endswith(".csv"):
        return _from_csv(Path(name), Path(name).stem)
    if not is_plain(name):
        raise DataError(f"{name!r} is no name of a data set but a path: pass that of a CSV file, which ends in .csv")
    file = found_file(name)
    if file is not None:
        return _from_file(file, name)
    if name == "breast_cancer":
        return _breast_cancer()
    if name in SYNTHETIC:
        return _drawn(name, {})
    if name in RECIPES and download_if_missing and not offline():
        return _from_file(download(name), name)
    if name in TABLE_I or name in SHAPES:
        raise _missing(name)
    if Path(name).exists():
        raise DataError(f"{name} is no CSV file by its name: export it as one that ends in .csv")
    raise _unknown(name)


def _unknown(name: str) -> UnknownNameError:
    return unknown_name("data set", name, {*available(), *TABLE_I, *SHAPES})


def _missing(name: str) -> DataError:
    directory = data_directory()
    where = "the environment variable DCPROG_DATA is not set" if directory is None else f"{directory} has no {name}.csv"
    get = f", or run `dcprog data --get {name}`" if name in RECIPES else ""
    return DataError(f"data set {name!r} is not here ({where}): point DCPROG_DATA to a directory with {name}.csv{get}")


def data_directory() -> Path | None:
    """The directory that ``DCPROG_DATA`` names, if it is set."""
    value = os.environ.get("DCPROG_DATA")
    if not value:
        return None
    if not Path(value).is_dir():
        raise DataError(f"DCPROG_DATA is {value!r}, which is no directory: point it to one with CSV files, or unset it")
    return Path(value)


def _is_data(path: Path) -> bool:
    """Whether ``path`` is a set of two classes; those of other names are read, since their header may say nothing."""
    if path.stem in TABLE_I or path.stem in SHAPES:
        return True
    try:
        read_csv(path)
    except DataError:
        return False
    return True


def _from_file(path: Path, name: str) -> Dataset:
    return _checked(_from_csv(path, name) if path.suffix == ".csv" else _from_publisher(path, name), path)


def _from_csv(path: Path, name: str) -> Dataset:
    X, y, feature_names, classes = read_csv(path, fill=name in INCOMPLETE)
    if feature_names == numbered(len(feature_names)):
        feature_names = FEATURE_NAMES.get(name, feature_names)
    rule = RECIPES[name].rule if name in RECIPES else f"−1 = {classes[0]}, +1 = {classes[1]}"
    filled = "; missing values are means of their features" if name in INCOMPLETE else ""
    return Dataset(name, X, y, feature_names, f"{path.name}: {rule}{filled}")


def _from_publisher(path: Path, name: str) -> Dataset:
    recipe = RECIPES[name]
    X, y = recipe.read(path)
    return Dataset(name, X, y, FEATURE_NAMES.get(name, numbered(X.shape[1])), f"{path.name}: {recipe.rule}")


def _drawn(name: str, parameters: dict[str, Any]) -> Dataset:
    if name not in {*available(), *TABLE_I, *SHAPES}:
        raise _unknown(name)
    if name not in SYNTHETIC:
        given = ", ".join(parameters)
        raise DataError(f"{name} takes no {given}: only generators have parameters ({', '.join(SYNTHETIC)})")
    synthetic = SYNTHETIC[name]
    X, y = synthetic.draw(parameters)
    return Dataset(name, X, y, numbered(X.shape[1]), f"{synthetic.title} ({synthetic.source})")


def _checked(data: Dataset, path: Path) -> Dataset:
    expected = TABLE_I.get(data.name)
    if expected is not None and data.counts != expected:
        raise DataError(f"{path} has {data.counts}, but Table I says {expected}: it is truncated or another data set")
    shape = SHAPES.get(data.name)
    if shape is not None and data.X.shape != shape:
        came, expected_shape = (f"{n} samples × {d} features" for n, d in (data.X.shape, shape))
        raise DataError(f"{path} has {came}, but {data.name} has {expected_shape}: it is truncated or another data set")
    return data


def _breast_cancer() -> Dataset:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    return Dataset(
        "breast_cancer",
        np.asarray(bunch.data, dtype=float),
        np.where(bunch.target == 1, 1.0, -1.0),
        tuple(map(str, bunch.feature_names)),
        "breast cancer Wisconsin (diagnostic): −1 = malignant, +1 = benign",
    )

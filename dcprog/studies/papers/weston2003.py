"""Weston, Elisseeff, Schölkopf & Tipping (2003), Tables 1 to 4: r features are chosen, and a linear SVM trained on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from dcprog.algorithms import DCA
from dcprog.datasets import Dataset
from dcprog.datasets.csv_file import read_labelled
from dcprog.datasets.generators import weston_linear
from dcprog.datasets.loading import found_file
from dcprog.datasets.yeast import load_yeast
from dcprog.errors import DataError
from dcprog.methods.radius_margin import Linear, r2w2, r2w2_path
from dcprog.methods.zero_norm import arom_features, corr_features, l1_updates, retrain, rfe_features
from dcprog.models import separating_fsv
from dcprog.studies.cells import Cell, Result, generator
from dcprog.studies.papers.learning_curves import FIGURE_2003
from dcprog.studies.papers.trials import LEVELLED, Drawn, Lines, Trials, drawn, levelled, random_split, wrong
from dcprog.studies.study import Row, Study
from dcprog.typing import Indices, Matrix, Vector

NAME = "weston2003"
POINTS = {"linear_10": 10, "linear_20": 20, "linear_30": 30}
YEAST = ("brown_yeast", "brown_yeast_3of5")
CONDITIONS, FOLDS = (10, 20, 40, 79), 8
TITLES = {
    "svm": "SVM",
    "corr": "CORR SVM",
    "rfe": "RFE SVM",
    "r2w2": "R²W² SVM",
    "fsv": "FSV SVM",
    "l2_arom": "ℓ2-AROM SVM",
    "l1_arom": "ℓ1-AROM SVM",
    "arom_msvm": "AROM M-SVM",
    "arom_1vsr": "AROM 1vsR-SVM",
    "rfe_1vsr": "RFE 1vsR-SVM",
}
FILLED_UP = "FSV has fewer than 50 genes from the start: up to r they are filled up in the order of the file."
BY_GENES = ("corr", "rfe", "r2w2", "fsv", "l2_arom")


class Arrays(NamedTuple):
    """A table of microarrays: its number, how many to train on, and the numbers of genes."""

    table: str
    training: int
    genes: tuple[int, ...]


ARRAYS = {
    "microarray": Arrays("2", 50, (2000, 1000, 500, 250, 100, 50, 20)),
    "lymphoma": Arrays("3", 60, (4026, 3000, 2000, 1000, 500, 250, 100, 50, 20)),
}


def fsv_features(X: Matrix, y: Vector, r: int) -> Indices:
    """Problem 2: hard margins, α = 5, from v = 0, where the first linear program is that of the ℓ1 norm.

    A vertex has at most n weights. Where no iterate has more than r, the last one is filled up in order of position.
    """
    first = next(l1_updates(X, y))
    start = {"p": np.maximum(first.w, 0.0), "q": np.maximum(-first.w, 0.0), "b": first.b}
    sizes = [state["v"] for state in DCA(separating_fsv(X, y), x0=start)]
    above = [v for v in sizes if np.count_nonzero(v > 1e-8) > r]
    return np.argsort(-(above or sizes)[-1], kind="stable")[:r]


SELECT: dict[str, Callable[[Matrix, Vector, int], Any]] = {
    "svm": lambda X, y, r: np.arange(X.shape[1]),
    "corr": corr_features,
    "rfe": lambda X, y, r: rfe_features(X, y, r, halving=X.shape[1] > 100),
    "r2w2": lambda X, y, r: r2w2(X, y, r, Linear(), ridge=1e-6).selected,
    "fsv": fsv_features,
    "l2_arom": arom_features,
    "l1_arom": lambda X, y, r: arom_features(X, y, r, norm=1),
}


def toy(data: str, method: str, trial: int) -> Lines:
    """Section 4.5: 2 of 100 features; a hit is one of the first three and one of the second three."""
    rng = generator(NAME, "1", data, trial)
    n = POINTS[data]
    X, y = weston_linear(n, 100, rng)
    while len(set(y)) < 2:
        X, y = weston_linear(n, 100, rng)
    sample = drawn(X, y, *weston_linear(500, 100, rng))
    features = SELECT[method](sample.X, sample.y, 2)
    hit = len(features) == 2 and min(features) < 3 <= max(features) < 6
    return {data: {"error": error_with(sample, features), "hits": 100.0 * float(hit)}}


def microarrays(data: Dataset, method: str, trial: int) -> Lines:
    """Errors on the samples that are not trained on, for all numbers of genes."""
    table, training, sizes = ARRAYS[data.name]
    sample = random_split(data, training, generator(NAME, table, data.name, trial))
    chosen = nested(method, sample.X, sample.y, sizes)
    return {f"{data.name}_{r}": {"error": error_with(sample, features)} for r, features in chosen.items()}


def nested(method: str, X: Matrix, y: Vector, sizes: Sequence[int]) -> dict[int, Any]:
    """The features for each number of them. R²W² takes long, and meets the larger sets on its way to the smaller ones."""
    smaller = [r for r in sizes if r < X.shape[1]]
    if method == "r2w2":
        found = [selection.selected for selection in r2w2_path(X, y, smaller, Linear(), ridge=1e-6)]
    else:
        found = [SELECT[method](X, y, r) for r in smaller]
    everything = {r: np.arange(X.shape[1]) for r in sizes if r >= X.shape[1]}
    return everything | dict(zip(smaller, found, strict=True))


def yeast(data: Dataset, method: str, fold: int) -> Lines:
    """Errors on one of eight folds, for all numbers of features."""
    test = generator(NAME, "4", data.name).permutation(len(data.y)) % FOLDS == fold
    sample = drawn(data.X[~test], data.y[~test], data.X[test], data.y[test])
    constraints = "weston_watkins" if method == "arom_msvm" else "one_vs_rest"
    errors: Lines = {}
    for r in CONDITIONS:
        if method == "rfe_1vsr":
            features = rfe_features(sample.X, sample.y, r)
        else:
            features = arom_features(sample.X, sample.y, r, constraints=constraints)
        errors[f"{data.name}_{r}"] = {"error": error_with(sample, features, constraints)}
    return errors


def genes_of_yeast(name: str) -> Dataset:
    """All five classes, or three of them from DCPROG_DATA, missing values filled; classes are numbered from 0 on."""
    if name == "brown_yeast":
        return load_yeast()
    file = found_file(name)
    if file is None:
        raise DataError(f"data set {name!r} is not here: point DCPROG_DATA to a directory with {name}.csv")
    X, labels, feature_names, _ = read_labelled(file, fill=True)
    classes, codes = np.unique(labels, return_inverse=True)
    numbered = ", ".join(f"{k} = {label}" for k, label in enumerate(classes))
    return Dataset(name, X, codes.astype(float), feature_names, f"{file.name}: {numbered}")


def error_with(sample: Drawn, features: Any, constraints: str = "weston_watkins") -> float:
    """``constraints`` matter to several classes only."""
    return wrong(retrain(sample.X, sample.y, features, constraints=constraints).predict(sample.T), sample.labels)


def lines(name: str, sizes: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"{name}_{r}" for r in sizes)


@dataclass(frozen=True)
class Tested(Trials):
    """Trials on draws of their own, which all methods share: with p-values, as the paper tests Table 1.

    p is that of Wilcoxon's signed rank test of the errors against those of ``reference``, two-sided. The trials of Tables 2
    and 3 share their samples, for which the paper has the corrected resampled t-test instead.
    """

    reference: str = "l2_arom"

    def rows(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> list[Row]:
        rows = super().rows(results, data, methods)
        for name in data:
            base = self._errors(results, name, self.reference)
            for method in methods:
                errors = self._errors(results, name, method)
                if method != self.reference and len(base) == len(errors) == self.trials:
                    rows.append(self.row(name, method, "p", signed_rank(errors, base), None))
        return rows

    def _errors(self, results: Mapping[Cell, Result], name: str, method: str) -> list[float]:
        cells = (Cell(self._protocol, name, method, i) for i in range(self.trials))
        return [results[cell]["lines"][name]["error"] for cell in cells if cell in results]


def signed_rank(errors: Sequence[float], others: Sequence[float]) -> float:
    """The two-sided p-value of Wilcoxon's signed rank test, without pairs that are equal; 1 if all are.

    >>> signed_rank([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5, 2.0]), signed_rank([1.0], [1.0])
    (0.0625, 1.0)
    """
    differences = np.asarray(errors) - np.asarray(others)
    return float(wilcoxon(differences).pvalue) if differences.any() else 1.0


TABLES = (
    Tested(
        NAME, "1", "artificial problem, 2 of 100 features", tuple(POINTS), ("svm", *BY_GENES, "l1_arom"), 100,
        ("error", "hits"), toy, titles=TITLES,
        remark="p: Wilcoxon's signed rank test of the errors against those of ℓ2-AROM, two-sided.",
    ),
    Trials(
        NAME, "2", "colon cancer by number of genes", ("microarray",), BY_GENES, 30, ("error",), microarrays,
        {"microarray": lines("microarray", ARRAYS["microarray"].genes)}, ("microarray",), TITLES, cost=4.0,
        load=levelled, remark=f"{LEVELLED} {FILLED_UP}",
    ),
    Trials(
        NAME, "3", "lymphoma by number of genes", ("lymphoma",), BY_GENES, 30, ("error",), microarrays,
        {"lymphoma": lines("lymphoma", ARRAYS["lymphoma"].genes)}, ("lymphoma",), TITLES, cost=12.0,
        remark="62 samples are malignant and 34 are not, in the paper 61 and 35. Values are rounded to 0.01; those that are "
        f"missing, 5 %, are the means of their genes. {FILLED_UP}",
    ),
    Trials(
        NAME, "4", "yeast genes, five classes", YEAST, ("arom_msvm", "arom_1vsr", "rfe_1vsr"), FOLDS, ("error",), yeast,
        {name: lines(name, CONDITIONS) for name in YEAST}, YEAST, TITLES, cost=9.0, load=genes_of_yeast,
        remark="brown_yeast_3of5 are three of the classes, 186 of the 208 genes, missing values the means of their "
        "features: another problem than the paper's.",
    ),
)  # fmt: skip
STUDY = Study(
    NAME,
    "Weston, Elisseeff, Schölkopf & Tipping, JMLR 3 (2003), 1439–1461",
    {table.number: table for table in TABLES},
    figures={"1": FIGURE_2003},
)

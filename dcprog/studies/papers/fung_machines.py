"""What Fung & Mangasarian (2004) compare, and how they tune it.

NLPSVM is Algorithm 3.1, "CPLEX SVM" the linear program (2.6) by a simplex method, and NSVM, like LSVM, the quadratic program
min ν/2 ‖ξ‖² + ½(‖w‖² + γ²), which scikit-learn's LinearSVC solves with C = ν/2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.svm import LinearSVC

from dcprog.algorithms import DCA
from dcprog.datasets import Dataset
from dcprog.estimators import L1SVM, NLPSVM
from dcprog.estimators.base import Grid, Method
from dcprog.estimators.training import Training
from dcprog.estimators.tuning import along
from dcprog.studies.cells import generator
from dcprog.studies.machines import used_features
from dcprog.studies.papers.trials import drawn, wrong
from dcprog.studies.splits import fold
from dcprog.typing import Indices, Matrix, Vector

NAME = "fung2004"
FOLDS = 10
POWERS = tuple(2.0**i for i in range(-12, 13))
"""Values of ν, and of µ in the Gaussian kernel (4.32)."""
DELTAS = tuple(10.0**j for j in range(-3, 4))
TITLES = {
    "nlpsvm": "NLPSVM",
    "cplex_svm": "CPLEX SVM",
    "code_4_1": "NLPSVM, Code 4.1",
    "nsvm": "NSVM",
    "lsvm": "LSVM",
    "reduced_nlpsvm": "reduced NLPSVM",
    "reduced_cplex_svm": "reduced CPLEX SVM",
    "reduced_code_4_1": "reduced NLPSVM, Code 4.1",
    "reduced_nsvm": "reduced NSVM",
    "reduced_lsvm": "reduced LSVM",
}
METHODS: dict[str, tuple[Any, Grid]] = {
    "nlpsvm": (NLPSVM(algorithm="printed", doubling=True, max_iter=50), {"nu": POWERS, "delta": DELTAS}),
    "code_4_1": (NLPSVM(algorithm="code", max_iter=50), {"nu": POWERS, "delta": DELTAS}),
    "cplex_svm": (
        L1SVM(weighting="sum", solver="highs", stop=DCA.default_rule),
        {"lam": [1.0 / (1.0 + nu) for nu in POWERS]},
    ),
    "nsvm": (LinearSVC(dual=False, tol=1e-6), {"C": [nu / 2 for nu in POWERS]}),
}
METHODS["lsvm"] = METHODS["nsvm"]
"""Algorithm 3.1; min ν e'ξ + ‖w‖₁, (2.6), the ℓ1-SVM with (1−λ)/λ = ν; and min ν/2 ‖ξ‖² + ½(‖w‖² + γ²)."""


def trained(machine: Any, grid: Grid, X: Matrix, y: Vector) -> Iterator[Any]:
    """The classifier at every point of the grid, each until the next; what of NLPSVM ends at its limit of steps is used."""
    if isinstance(machine, Method):
        yield from (fitted for fitted, _ in along(machine, grid, Training(X, y)))
    else:
        yield from (clone(machine).set_params(**point).fit(X, y) for point in points(grid))


def points(grid: Grid) -> list[dict[str, float]]:
    """All combinations of the values, the last parameter varying fastest."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def at(machine: Any, point: Mapping[str, float], X: Matrix, y: Vector) -> Any:
    """The classifier with one choice of parameters."""
    return next(trained(machine, {name: [value] for name, value in point.items()}, X, y))


class Fold(NamedTuple):
    """Nine tenths to train on, scaled, of which a random tenth is to tune the parameters; and a tenth to test on."""

    X: Matrix
    y: Vector
    T: Matrix
    labels: Vector
    tuning: Indices
    rest: Indices


def folds(data: Dataset, partition: int) -> list[Fold]:
    """The folds of one partition of the data."""
    return [_fold(data, partition, i) for i in range(FOLDS)]


def _fold(data: Dataset, partition: int, i: int) -> Fold:
    split = fold(data.y, FOLDS, i, NAME, data.name, partition)
    training = np.concatenate([split.fit, split.validation])
    sample = drawn(data.X[training], data.y[training], data.X[split.test], data.y[split.test])
    order = generator(NAME, data.name, partition, i).permutation(len(training))
    tenth = len(training) // 10
    return Fold(*sample, order[:tenth], order[tenth:])


def tuned(part: Fold, X: Matrix, machine: Any, grid: Grid) -> Vector:
    """Section 4.1.2: the share of tuning points that is classified well, for all parameters; X are the training points."""
    fitted = trained(machine, grid, X[part.rest], part.y[part.rest])
    return np.array([(one.predict(X[part.tuning]) == part.y[part.tuning]).mean() for one in fitted])


def best(shares: list[Vector]) -> int:
    """The parameters, the same for all folds, that do best on their tuning points together; the first of several."""
    return int(np.argmax(np.mean(shares, axis=0).round(12)))


def figures(machine: Any, part: Fold, X: Matrix, T: Matrix, used: str) -> dict[str, float]:
    """What the table has of a fold, whose training and test points are X and T."""
    return {
        "train": 100.0 - wrong(machine.predict(X), part.y),
        "test": 100.0 - wrong(machine.predict(T), part.labels),
        used: float(len(used_features(machine, X.shape[1]))),
    }

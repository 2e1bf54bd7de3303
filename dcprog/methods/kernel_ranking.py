"""Features ranked by a kernel SVM, and their number by cross-validation: a reading of Table VIII of Neumann et al. (2005).

The paper ranks "features according to the SVM decision function" and, for the χ² kernel, "determin[es] the ranking and
number of features by cross-validation on the final training set", and says no more. Here, on every fold:

1. the SVM with all features is trained on the other folds, and a feature scores |W² − W²₍₋ₚ₎|, by how much W² = ‖w‖², which
   is the inverse square of the margin, changes when it is left out of the kernel and α stays (Guyon et al. 2002);
2. for every number m the SVM with the m best features is trained there, and tested on the fold.

The m of the least mean error is taken, the smallest of equal ones; features are ranked by their mean score, as shares of the
largest on a fold. With K = exp(−Σₖ Dₖ), K₍₋ₚ₎ = K ∘ exp(Dₚ). Of the linear kernel 1 is the ranking by wₚ².
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from dcprog.errors import DataError
from dcprog.functions.checks import count, number
from dcprog.learning.kernels import Distances, pair_distances
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import Data, check_data, check_points, check_varying, dense
from dcprog.methods.kernel_svm import KernelRule, kernel_svm
from dcprog.typing import Indices, Matrix, Vector

BLOCK = 4e7
"""Numbers that are made at a time."""


@dataclass(frozen=True, eq=False)
class KernelRanking(Classifier):
    """The features selected, all of them from the best on, the error of each number in cross-validation, and the SVM."""

    selected: Indices
    order: Indices
    scores: Vector
    sizes: tuple[int, ...]
    errors: Vector
    rule: KernelRule

    @property
    def classes(self) -> tuple[Any, Any]:
        return self.rule.classes

    @property
    def n_support(self) -> int:
        return self.rule.n_support

    def decision_function(self, X: Any) -> Vector:
        """That of the SVM with the selected features."""
        return self.rule.decision_function(dense(check_points(X, len(self.scores)))[:, self.selected])


def kernel_ranking(
    X: Any,
    y: Any,
    C: float = 1.0,
    kernel: str | Distances = "chi2",
    *,
    sigma: float | None = None,
    bias: bool | None = None,
    sizes: Sequence[int] | None = None,
    folds: int = 5,
    seed: int = 0,
) -> KernelRanking:
    """Rank the features of (X, y), and choose their number, by cross-validation with stratified folds.

    Parameters
    ----------
    X, y : array_like
        Points in rows and their labels, two different ones.
    C : float
        C > 0, the cost of errors.
    kernel, sigma, bias
        As for :func:`dcprog.methods.kernel_svm.kernel_svm`.
    sizes : sequence of int, optional
        The numbers m to choose from; by default powers of two and all.
    folds, seed : int
        How many folds, ≥ 2, and the seed of their shuffle.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.poisson(30, (80, 6)).astype(float); X[:, 2] += 25 * (np.arange(80) % 2)
    >>> found = kernel_ranking(X, np.arange(80) % 2, C=100.0)
    >>> found.selected, int(found.order[0])
    (array([2]), 2)
    """
    data, C = check_data(X, y), number("C", C, 0, such_as=1.0)
    count("folds", folds, 2, such_as=5)
    data = replace(data, X=dense(data.X), names=None)
    check_varying("the ranking", data.X)
    numbers = _numbers(data.d) if sizes is None else sorted(set(sizes))
    if not numbers or not all(isinstance(m, int) and 1 <= m <= data.d for m in numbers):
        raise DataError(f"sizes are {sizes!r}, expected numbers of features from 1 to {data.d}: pass for example [1, 2, 4]")
    how: dict[str, Any] = {"C": C, "kernel": kernel, "sigma": sigma, "bias": bias}
    scores, errors = np.zeros(data.d), np.zeros(len(numbers))
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(data.X, data.y):
        part = _samples(data, train)
        score = left_out_changes(kernel_svm(part, None, **how))
        order = np.argsort(-score, kind="stable")
        scores += score / max(float(score.max()), np.finfo(float).tiny)
        for k, m in enumerate(numbers):
            rule = kernel_svm(replace(part, X=part.X[:, order[:m]]), None, **how)
            wrong = np.sign(rule.decision_function(data.X[np.ix_(test, order[:m])])) != data.y[test]
            errors[k] += float(data.counts[test] @ wrong)
    order = np.argsort(-scores, kind="stable")
    m = numbers[int(np.argmin(errors.round(9)))]
    selected = np.sort(order[:m])
    final = kernel_svm(replace(data, X=data.X[:, selected]), None, **how)
    return KernelRanking(selected, order, scores / folds, tuple(numbers), errors / data.counts.sum(), final)


def left_out_changes(rule: KernelRule) -> Vector:
    """|W² − W²₍₋ₚ₎| of every feature p: W² = a'Ka of the support vectors, and K₍₋ₚ₎ = K ∘ exp(θₚDₚ).

    >>> rule = kernel_svm([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> left_out_changes(rule).round(6)
    array([1.264241, 0.      ])
    """
    a, S, kernel = rule.coefficients, rule.vectors, rule.kernel
    weighted = kernel(S, S) * np.outer(a, a)
    changes = np.zeros(S.shape[1])
    rows = max(1, int(BLOCK // max(1, S.size)))
    for start in range(0, len(S), rows):
        D: Matrix = pair_distances(kernel.distances, S[start : start + rows], S)
        changes += np.einsum("ij,ijp->p", weighted[start : start + rows], np.expm1(D * kernel.theta))
    return np.abs(changes)


def _numbers(d: int) -> list[int]:
    return [*(2**k for k in range(d.bit_length()) if 2**k < d), d]


def _samples(data: Data, chosen: Indices) -> Data:
    weights = None if data.weights is None else data.weights[chosen]
    return replace(data, X=data.X[chosen], y=data.y[chosen], weights=weights)

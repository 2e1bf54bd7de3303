"""The filter of section 5.2 (Heiler et al. 2001): features enter by rank in the linear SVM while the error drops."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.algorithms.result import Status
from dcprog.algorithms.run import solve
from dcprog.errors import DataError
from dcprog.learning.grids import numbers_of_features
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Data, check_data, check_positive_lam, trusted, varying
from dcprog.methods.libsvm import LibsvmSolution, linear_by_libsvm
from dcprog.models.svm import svm
from dcprog.typing import Indices, Vector

DROP = 0.001
PATIENCE = 5
EASY = 1e4
"""libsvm is tried first if C times the largest variance of a feature is at most this; in the paper it is at most 150."""
LONGEST = 5_000_000
"""Iterations of libsvm, which have no limit of their own; the paper's tables take up to 1.4 million."""
HARD = 1e10
"""The largest C that the QP is solved with, for features up to 1: beyond it ½‖w‖² is lost in the rounding of the errors."""
SECONDS = 300.0
"""Time for the QP of one SVM."""
EQUAL = 1e-12
"""Mean errors that differ by less are equal."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features by falling |w| of the linear SVM, the validation error with the first k of them, and how many were kept."""

    order: Indices
    errors: Vector
    selected: Indices
    classifier: LinearRule
    """The linear SVM on the selected features, trained on training and validation samples; 0 for the others."""
    numbers: Indices | None = None
    """The k that the errors belong to, where they are not 1, 2, 3, …"""


def svm_ranking(X: Any, y: Any, X_validation: Any, y_validation: Any, lam: float = 0.5) -> Ranking:
    """SVM ranking: rank the features by the linear SVM (3), include them while the validation error drops (section 5.2).

    Features enter one by one until five in a row did not lower the best validation error by 0.1 %; those up to the smallest
    error are kept. λ is that of (3) with summed errors, i.e. C = (1−λ)/λ.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 6)); y = np.sign(X[:, 3] + 0.1 * rng.standard_normal(80))
    >>> svm_ranking(X[:40], y[:40], X[40:], y[40:]).selected
    array([3])
    """
    check_positive_lam(lam)
    train, validation = check_data(X, y), check_data(X_validation, y_validation)
    if validation.d != train.d or validation.classes != train.classes:
        raise DataError(
            f"the validation samples have {validation.d} features and classes {validation.classes}, the training samples "
            f"{train.d} and {train.classes}: they have to match"
        )
    C = (1.0 - lam) / lam
    order = _order(train, C)
    errors, best, failures = [], np.inf, 0
    for k in range(1, train.d + 1):
        w, b = _linear_svm(train.X[:, order[:k]], train.y, C * train.counts)
        errors.append(_error(validation.X[:, order[:k]] @ w + b, validation))
        if errors[-1] < best - DROP:
            best, failures = errors[-1], 0
        else:
            failures += 1
        if failures == PATIENCE:
            break
    selected = np.sort(order[: int(np.argmin(errors)) + 1])
    return Ranking(order, np.array(errors), selected, _refit(train, validation, selected, C))


def ranking_by_folds(data: Data, folds: Sequence[tuple[Data, Data]], lam: float) -> Ranking:
    """Features ranked by all samples; how many are kept is chosen by several pairs of training and validation samples.

    Of k = 1, 2, 4, … and all features that vary in every training part, the smallest one with the least mean validation
    error, each part ranking the features anew: a single part that is easy to tell apart by one feature decides nothing.

    >>> from dcprog.learning.samples import trusted
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 6)); y = np.sign(X[:, 3] + 0.1 * rng.standard_normal(80))
    >>> halves = [trusted(X[rows], y[rows]) for rows in (slice(40), slice(40, 80))]
    >>> ranking_by_folds(trusted(X, y), [tuple(halves), tuple(halves[::-1])], lam=0.5).selected
    array([3])
    """
    check_positive_lam(lam)
    C = (1.0 - lam) / lam
    numbers = np.array(numbers_of_features(max(1, min(int(varying(train.X).sum()) for train, _ in folds))))
    weights = [float(validation.counts.sum()) for _, validation in folds]
    errors = np.average([_errors(*fold, numbers, C) for fold in folds], axis=0, weights=weights)
    order = _order(data, C)
    selected = np.sort(order[: numbers[int(np.flatnonzero(errors <= errors.min() + EQUAL)[0])]])
    w = np.zeros(data.d)
    w[selected], b = _linear_svm(data.X[:, selected], data.y, C * data.counts)
    return Ranking(order, errors, selected, LinearRule(w, b, data.classes, data.names), numbers)


def _order(data: Data, C: float) -> Indices:
    """Features by falling |w| of the linear SVM."""
    return np.argsort(-np.abs(_linear_svm(data.X, data.y, C * data.counts)[0]), kind="stable")


def _errors(train: Data, validation: Data, numbers: Indices, C: float) -> Vector:
    """The validation error with the first k features, for every k."""
    order, errors = _order(train, C), []
    for k in numbers:
        w, b = _linear_svm(train.X[:, order[:k]], train.y, C * train.counts)
        errors.append(_error(validation.X[:, order[:k]] @ w + b, validation))
    return np.array(errors)


def _linear_svm(X: Any, y: Vector, C: Vector) -> tuple[Vector, float]:
    """(w, b) of the linear SVM: by libsvm where that ends soon, else by the QP, whose solution is verified."""
    found = linear_by_libsvm(X, y, C, LONGEST) if C.max() * _variance(X) <= EASY else None
    if found is not None and found.converged:
        return found.w, found.b
    by_qp = _by_quadratic_program(X, y, C)
    return by_qp if by_qp is not None else _unfinished(found or linear_by_libsvm(X, y, C, LONGEST))


def _variance(X: Any) -> float:
    """The largest of a feature: libsvm's iterations grow with C times this."""
    scale = float(abs(X).max()) or 1.0
    X = X / scale
    square = X.multiply(X) if sp.issparse(X) else X * X
    spread = np.asarray(square.mean(axis=0)).ravel() - np.asarray(X.mean(axis=0)).ravel() ** 2
    return float(spread.max()) * scale * scale


def _by_quadratic_program(X: Any, y: Vector, C: Vector) -> tuple[Vector, float] | None:
    """The same machine on X/s, where C becomes Cs²; None if no solver is sure of it."""
    scale, most = float(abs(X).max()) or 1.0, float(C.max())
    within = min(most * scale**2, HARD)
    data = trusted(X / scale, y, C / most)
    result = solve(svm(data, None, lam=1.0 / (1.0 + within), weighting="sum"), time_limit=SECONDS)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return (result["w"] / scale, float(result["b"])) if result.success else None


def _unfinished(found: LibsvmSolution) -> tuple[Vector, float]:
    """Where the QP failed, the last point of libsvm, with a warning if it has not converged either."""
    from sklearn.exceptions import ConvergenceWarning

    if not found.converged:
        warnings.warn(
            f"the linear SVM has not converged after {LONGEST} iterations, and the last point is used: standardise the "
            "features, or raise lam",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found.w, found.b


def _error(scores: Vector, data: Data) -> float:
    return float(np.average(np.where(scores > 0, 1.0, -1.0) != data.y, weights=data.counts))


def _refit(train: Data, validation: Data, selected: Indices, C: float) -> LinearRule:
    stack = sp.vstack if sp.issparse(train.X) else np.vstack
    X = stack([train.X[:, selected], validation.X[:, selected]])
    w = np.zeros(train.d)
    counts = np.concatenate([train.counts, validation.counts])
    w[selected], b = _linear_svm(X, np.concatenate([train.y, validation.y]), C * counts)
    return LinearRule(w, b, train.classes, train.names)

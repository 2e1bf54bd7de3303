"""The filter of section 5.2 (Heiler et al. 2001): features enter by rank in the linear SVM while the error drops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Vector
from dcprog.errors import DataError
from dcprog.samples import Data, check_data, check_positive_lam

from .rules import LinearRule

DROP = 0.001
PATIENCE = 5


@dataclass(frozen=True, eq=False)
class Ranking:
    """Features by falling |w| of the linear SVM, the validation error with the first k of them, and how many were kept."""

    order: Indices
    errors: Vector
    selected: Indices
    rule: LinearRule
    """The linear SVM on the selected features, trained on training and validation samples; 0 for the others."""


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
    order = np.argsort(-np.abs(_linear_svm(train.X, train.y, C)[0]), kind="stable")
    errors, best, failures = [], np.inf, 0
    for k in range(1, train.d + 1):
        w, b = _linear_svm(train.X[:, order[:k]], train.y, C)
        errors.append(_error(validation.X[:, order[:k]] @ w + b, validation.y))
        if errors[-1] < best - DROP:
            best, failures = errors[-1], 0
        else:
            failures += 1
        if failures == PATIENCE:
            break
    selected = np.sort(order[: int(np.argmin(errors)) + 1])
    return Ranking(order, np.array(errors), selected, _refit(train, validation, selected, C))


def _linear_svm(X: Any, y: Vector, C: float) -> tuple[Vector, float]:
    from sklearn.svm import SVC

    machine = SVC(kernel="linear", C=C).fit(X, y)
    w = machine.coef_.toarray() if sp.issparse(machine.coef_) else machine.coef_
    return np.ravel(w), float(machine.intercept_[0])


def _error(scores: Vector, y: Vector) -> float:
    return float(np.mean(np.where(scores > 0, 1.0, -1.0) != y))


def _refit(train: Data, validation: Data, selected: Indices, C: float) -> LinearRule:
    stack = sp.vstack if sp.issparse(train.X) else np.vstack
    X = stack([train.X[:, selected], validation.X[:, selected]])
    w = np.zeros(train.d)
    w[selected], b = _linear_svm(X, np.concatenate([train.y, validation.y]), C)
    return LinearRule(w, b, train.classes, train.names)

"""Filters that rank features one by one, as scikit-learn score functions: Pearson, Fisher, Kolmogorov–Smirnov.

Weston et al. (2001), section 5: the filters that R²W² is compared with. Each takes (X, y) with two classes and returns one
score for each feature, the higher the better; a constant feature scores 0.

>>> import numpy as np
>>> from sklearn.feature_selection import SelectKBest
>>> X = np.array([[0.0, 5.0], [1.0, 3.0], [4.0, 4.0], [5.0, 4.0]])
>>> SelectKBest(fisher_score, k=1).fit(X, [0, 0, 1, 1]).get_support()
array([ True, False])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog._typing import Matrix, Vector
from dcprog.samples import check_data


def pearson_score(X: Any, y: Any) -> Vector:
    """|Σᵢ (xᵢⱼ − x̄ⱼ)(yᵢ − ȳ)| / √(Σᵢ (xᵢⱼ − x̄ⱼ)² Σᵢ (yᵢ − ȳ)²), the size of the correlation with the label."""
    X, y = _dense(X, y)
    x, t = X - X.mean(axis=0), y - y.mean()
    return _ratio(np.abs(t @ x), np.sqrt((x**2).sum(axis=0) * (t @ t)))


def fisher_score(X: Any, y: Any) -> Vector:
    """(µⱼ⁺ − µⱼ⁻)² / ((σⱼ⁺)² + (σⱼ⁻)²), the distance of the class means in units of the spread."""
    X, y = _dense(X, y)
    plus, minus = X[y > 0], X[y < 0]
    return _ratio((plus.mean(axis=0) - minus.mean(axis=0)) ** 2, plus.var(axis=0) + minus.var(axis=0))


def kolmogorov_smirnov_score(X: Any, y: Any) -> Vector:
    """√n · sup_t |P̂(xⱼ ≤ t) − P̂(xⱼ ≤ t | y = 1)|, how much knowing the class changes the distribution."""
    X, y = _dense(X, y)
    n, positive = len(y), (y > 0).sum()
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    overall = np.arange(1, n + 1)[:, None] / n
    of_class = np.cumsum(y[order] > 0, axis=0) / positive
    last = np.vstack([values[1:] != values[:-1], np.ones((1, X.shape[1]), dtype=bool)])  # of a run of equal values
    score: Vector = np.sqrt(n) * np.where(last, np.abs(overall - of_class), 0.0).max(axis=0)
    return score


def _dense(X: Any, y: Any) -> tuple[Matrix, Vector]:
    data = check_data(X, y)
    return (data.X.toarray() if hasattr(data.X, "toarray") else data.X), data.y


def _ratio(above: Vector, below: Vector) -> Vector:
    """above / below, 0 where both vanish and ∞ where only below does."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / below)

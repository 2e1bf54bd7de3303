"""Filters that rank features one by one, as scikit-learn score functions: Pearson, Fisher, Kolmogorov–Smirnov.

Weston et al. (2001), section 5: the filters that R²W² is compared with. Each takes (X, y) with two classes and returns one
score for each feature, the higher the better; a constant feature scores 0. Differences
within rounding are ignored: a feature counts as constant, for Fisher's score also within a class, if it varies by no more
than 4ε of its largest |value|; for Kolmogorov–Smirnov neighbours in sorted order are equal up to 4ε of the larger.

>>> import numpy as np
>>> from sklearn.feature_selection import SelectKBest
>>> X = np.array([[0.0, 5.0], [1.0, 3.0], [4.0, 4.0], [5.0, 4.0]])
>>> SelectKBest(fisher_score, k=1).fit(X, [0, 0, 1, 1]).get_support()
array([ True, False])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.learning.samples import check_data, dense
from dcprog.typing import Matrix, Vector

__all__ = ["fisher_score", "kolmogorov_smirnov_score", "pearson_score"]

ROUNDING = 4 * np.finfo(float).eps


def pearson_score(X: Any, y: Any) -> Vector:
    """|Σᵢ (xᵢⱼ − x̄ⱼ)(yᵢ − ȳ)| / √(Σᵢ (xᵢⱼ − x̄ⱼ)² Σᵢ (yᵢ − ȳ)²), the size of the correlation with the label.

    Parameters
    ----------
    X, y : array_like
        Samples in rows, dense or sparse, and their labels of two kinds.

    >>> pearson_score([[0.0, 7.0], [1.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 0, 1, 1]).round(4)
    array([0.7071, 0.    ])
    """
    X, y, _ = _scaled(X, y)
    x, t = X - X.mean(axis=0), y - y.mean()
    return _ratio(np.abs(t @ x), np.sqrt((x**2).sum(axis=0) * (t @ t)))


def fisher_score(X: Any, y: Any) -> Vector:
    """(µⱼ⁺ − µⱼ⁻)² / ((σⱼ⁺)² + (σⱼ⁻)²), the distance of the class means in units of the spread; ∞ where there is none.

    This is CORR of Weston et al. (2003), section 4.2. Footnote 1 of Weston et al. (2001) prints |µ⁺ − µ⁻| above the same
    variances, and calls these standard deviations: that would change with the unit of a feature. With the square, f and the
    correlation r are one ranking where classes are of one size, r² = f/(f + 2), and the text has the two "almost identical".

    Parameters
    ----------
    X, y : array_like
        Samples in rows, dense or sparse, and their labels of two kinds.

    >>> fisher_score([[0.0, 7.0], [1.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 0, 1, 1])
    array([2., 0.])
    """
    X, y, rounding = _scaled(X, y)
    (plus, spread), (minus, other) = (_moments(X[y == label], rounding) for label in (1.0, -1.0))
    return _ratio((plus - minus) ** 2, spread + other)


def kolmogorov_smirnov_score(X: Any, y: Any) -> Vector:
    """√n · sup_t |P̂(xⱼ ≤ t) − P̂(xⱼ ≤ t | y = 1)|, how much knowing the class changes the distribution.

    Footnote 2 of Weston et al. (2001) prints P̂(xⱼ ≤ t, y = 1) without the bars. As a joint distribution this would leave
    P̂(xⱼ ≤ t, y = −1), of which the supremum is the share of that class for every feature: a conditional one is meant.
    Up to last digits and √n it is the statistic of ``scipy.stats.ks_2samp(x, x[y == 1])``, which sees nothing but order.

    Parameters
    ----------
    X, y : array_like
        Samples in rows, dense or sparse, and their labels of two kinds; the larger label in sorted order is y = 1.

    >>> kolmogorov_smirnov_score([[0.0, 7.0], [1.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [0, 0, 1, 1])
    array([0.5, 0. ])
    """
    data = check_data(X, y)
    X, n, positive = dense(data.X), data.n, (data.y > 0).sum()
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    overall = np.arange(1, n + 1)[:, None] / n
    of_class = np.cumsum(data.y[order] > 0, axis=0) / positive
    apart = np.diff(values, axis=0) > ROUNDING * np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    last = np.vstack([apart, np.ones((1, data.d), dtype=bool)])  # of a run of equal values
    score: Vector = np.sqrt(n) * np.where(last, np.abs(overall - of_class), 0.0).max(axis=0)
    return score


def _scaled(X: Any, y: Any) -> tuple[Matrix, Vector, Vector]:
    """Features shifted and scaled to the range they have, labels, and which difference of a feature is rounding.

    Shift and scale change no score. Of a constant feature all is exactly 0.
    """
    data = check_data(X, y)
    X = dense(data.X)
    rounding, X = ROUNDING * np.abs(X).max(axis=0), X - X[0]
    spread = np.ptp(X, axis=0)
    constant = spread <= rounding
    unit = np.where(constant, 1.0, spread)
    return np.where(constant, 0.0, X / unit), data.y, rounding / unit


def _moments(X: Matrix, rounding: Vector) -> tuple[Vector, Vector]:
    """Means and variances of the features in one class; the variance is 0 where they differ by rounding alone."""
    x = np.where(np.ptp(X, axis=0) <= rounding, 0.0, X - X[0])
    return X[0] + x.mean(axis=0), np.asarray(x.var(axis=0))


def _ratio(above: Vector, below: Vector) -> Vector:
    """above / below, 0 where both vanish and ∞ where only below does."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(above == 0, 0.0, above / below)

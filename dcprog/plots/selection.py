"""Which features a classifier uses, and how much its decision depends on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dcprog.typing import Indices, Matrix, Vector

Decision = Callable[[Matrix], Matrix]
"""Scores of samples in rows: one column, or one for each class."""
MOST_SAMPLES = 200
"""How many samples, spread evenly, the effect of a feature is computed on."""
NEGLIGIBLE = 1e-9
"""Effects below it, relative to the largest, are rounding."""


def used_features(estimator: Any, decision: Decision, X: Matrix) -> tuple[Indices, Vector]:
    """The features that ``estimator`` uses, the most important first, and the effect of each.

    The effect of a feature is how much the decision changes, in the mean over the samples, if its median takes its place:
    for linear classifiers |wⱼ| times the mean deviation of the feature, and as meaningful for all others. Where the
    estimator does not say which features it has selected, those with an effect are.

    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 4.0, 2.0], [2.0, 8.0, 3.0]])
    >>> used_features(None, lambda X: X[:, :2] @ [[3.0], [-1.0]], X)
    (array([1, 0]), array([2.66666667, 2.        ]))
    """
    said = said_selection(estimator)
    candidates = np.arange(X.shape[1]) if said is None else said
    effects = _effects(decision, X, candidates)
    if said is None:
        used = effects > NEGLIGIBLE * effects.max(initial=0.0)
        candidates, effects = candidates[used], effects[used]
    order = np.argsort(-effects, kind="stable")
    return candidates[order], effects[order]


def said_selection(estimator: Any) -> Indices | None:
    """The positions of the features that a rule or a selector says it has selected, None if it says nothing."""
    if hasattr(estimator, "get_support"):
        return np.flatnonzero(estimator.get_support())
    if hasattr(estimator, "selected"):
        return np.asarray(estimator.selected(), dtype=int)
    return None


def _effects(decision: Decision, X: Matrix, features: Sequence[int] | Indices) -> Vector:
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), MOST_SAMPLES)).astype(int))
    medians, samples = np.median(X, axis=0), X[rows]
    scores = decision(samples)
    effects = np.zeros(len(features))
    for i, j in enumerate(features):
        column = samples[:, j].copy()
        samples[:, j] = medians[j]
        effects[i] = np.abs(decision(samples) - scores).sum(axis=1).mean()
        samples[:, j] = column
    return effects

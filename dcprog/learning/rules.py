"""Classifiers that solutions of the formulations stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.learning.monomials import Monomials
from dcprog.learning.samples import check_points
from dcprog.typing import Vector

NEAR, ROUNDING = 1e-6, 1e-12
"""Scores below the first are looked at closely: they are 0 up to rounding if below the second times |w|'|φ(x)| + |b|."""


@dataclass(frozen=True, eq=False)
class LinearRule:
    """F(x) = sgn(w'φ(x) + b), φ the identity or a map of monomials.

    >>> rule = LinearRule(np.array([1.0, 0.0]), -1.0, feature_names=("height", "age"))
    >>> rule.predict([[2.0, 5.0], [0.0, 5.0]])
    array([ 1, -1])
    >>> rule.selected(), rule.selected_names()
    (array([0]), ('height',))
    """

    w: Vector
    b: float
    classes: tuple[Any, Any] = (-1, 1)
    feature_names: tuple[str, ...] | None = None
    feature_map: Monomials | None = None

    @property
    def n_features_in(self) -> int:
        """The number of original features."""
        return len(self.w) if self.feature_map is None else self.feature_map.d

    def decision_function(self, X: Any) -> Vector:
        """w'φ(x) + b for every row of X, exactly 0 where it is that up to rounding.

        >>> LinearRule(np.array([0.1, 0.2, -0.3]), 0.0).decision_function([[1.0, 1.0, 1.0]])
        array([0.])
        """
        X = check_points(X, self.n_features_in)
        mapped = X if self.feature_map is None else self.feature_map.transform(X)
        scores: Vector = np.asarray(mapped @ self.w).ravel() + self.b
        near = np.flatnonzero(np.abs(scores) < NEAR)
        if near.size:
            terms = np.asarray(abs(mapped[near]) @ np.abs(self.w)).ravel() + abs(self.b)
            scores[near[np.abs(scores[near]) <= ROUNDING * terms + np.finfo(float).eps]] = 0.0
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row of X, the first one on the boundary."""
        negative, positive = self.classes
        labels: np.ndarray = np.where(self.decision_function(X) > 0, positive, negative)
        return labels

    def sizes(self) -> Vector:
        """|w| of every original feature: with a feature map, the largest of the monomials that contain it."""
        size = np.abs(self.w)
        return size if self.feature_map is None else self.feature_map.largest(size)

    def selected(self, threshold: float = 1e-8) -> np.ndarray:
        """Positions of the features with |w| above the threshold."""
        return np.flatnonzero(self.sizes() > threshold)

    def selected_names(self, threshold: float = 1e-8) -> tuple[str, ...]:
        """Names of the selected features; f1, f2, … where the data had none."""
        names = self.feature_names or tuple(f"f{j + 1}" for j in range(self.n_features_in))
        return tuple(names[j] for j in self.selected(threshold))

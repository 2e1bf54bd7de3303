"""Classifiers that solutions of the formulations stand for: labels from scores, names of features, once for all of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.learning.feature_maps import FeatureMap
from dcprog.learning.samples import check_points
from dcprog.typing import Indices, Matrix, Vector

NEAR, ROUNDING = 1e-6, 1e-12
"""Scores below the first are looked at closely: they are 0 up to rounding if below the second times |w|'|φ(x)| + |b|."""


def labels_of(scores: Vector | Matrix, classes: Any) -> np.ndarray:
    """The label that each score stands for: of two classes the second where the score is > 0, of more the largest column.

    On the boundary between two classes it is the first one, and of equal columns the first, as everywhere in scikit-learn.

    >>> labels_of(np.array([-1.0, 0.0, 2.0]), ("a", "b"))
    array(['a', 'a', 'b'], dtype='<U1')
    >>> labels_of(np.array([[0.0, 1.0, -1.0]]), ("a", "b", "c"))
    array(['b'], dtype='<U1')
    """
    codes = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    labels: np.ndarray = np.asarray(classes)[codes]
    return labels


class Classifier:
    """A trained classifier: ``classes``, and scores that ``labels_of`` turns into them."""

    classes: Any

    @abstractmethod
    def decision_function(self, X: Any) -> Vector | Matrix:
        """The score of every row of X, or a column for each class if there are more than two."""

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row of X, the first one on the boundary."""
        return labels_of(self.decision_function(X), self.classes)


def names_of(selected: Indices, names: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the features at these positions; f1, f2, … where the data had none.

    >>> names_of(np.array([0, 2]), None), names_of(np.array([1]), ("height", "age"))
    (('f1', 'f3'), ('age',))
    """
    return tuple(f"f{j + 1}" if names is None else names[j] for j in selected)


class LinearClassifier(Classifier):
    """A classifier by w'x + b: which features it uses, by their weights."""

    feature_names: tuple[str, ...] | None

    @abstractmethod
    def sizes(self) -> Vector:
        """The size of the weight of every original feature, over all classes."""

    def selected(self, threshold: float = 1e-8) -> Indices:
        """Positions of the features whose weight is above the threshold."""
        return np.flatnonzero(self.sizes() > threshold)

    def selected_names(self, threshold: float = 1e-8) -> tuple[str, ...]:
        """Names of the selected features; f1, f2, … where the data had none."""
        return names_of(self.selected(threshold), self.feature_names)


@dataclass(frozen=True, eq=False)
class LinearRule(LinearClassifier):
    """F(x) = sgn(w'φ(x) + b), φ the identity or a map of features.

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
    feature_map: FeatureMap | None = None

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

    def sizes(self) -> Vector:
        """|w| of every original feature: with a feature map, the largest of the monomials that contain it."""
        size = np.abs(self.w)
        return size if self.feature_map is None else self.feature_map.largest(size)

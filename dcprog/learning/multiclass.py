"""Several classes: margin constraints on weights w₁ … w_Q as matrices, and the classifier they give (section 3.3 of
Weston et al. 2003)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.learning.feature_maps import FeatureMap
from dcprog.learning.rules import Classifier, LinearClassifier
from dcprog.learning.samples import Data, Samples, check_points
from dcprog.typing import Indices, Matrix, Sparse, Vector


@dataclass(frozen=True, eq=False)
class ArgmaxRule(LinearClassifier):
    """g(x) = argmaxₖ wₖ·φ(x) + bₖ, (4), φ the identity or a map of features.

    >>> rule = ArgmaxRule(np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 0.5, 0.0]), np.array(["low", "mid", "high"]))
    >>> rule.predict([[-9.0], [0.1], [9.0]])
    array(['low', 'mid', 'high'], dtype='<U4')
    """

    w: Matrix
    b: Vector
    classes: np.ndarray
    feature_names: tuple[str, ...] | None = None
    feature_map: FeatureMap | None = None

    def decision_function(self, X: Any) -> Matrix:
        """wₖ·φ(x) + bₖ, a column for each class."""
        X = check_points(X, self.w.shape[1] if self.feature_map is None else self.feature_map.d)
        mapped = X if self.feature_map is None else self.feature_map.transform(X)
        return np.asarray(mapped @ self.w.T) + self.b

    def sizes(self) -> Vector:
        """Σₖ|wₖ| of every feature, whose zero norm is (5); with a feature map the largest of the φᵢ that contain it."""
        sizes: Vector = np.abs(self.w).sum(axis=0)
        return sizes if self.feature_map is None else self.feature_map.largest(sizes)


@dataclass(frozen=True, eq=False)
class OneVsRest(Classifier):
    """The class whose machine against the rest has the largest score.

    >>> from dcprog.learning.rules import LinearRule
    >>> low, high = LinearRule(np.array([-1.0]), 0.0), LinearRule(np.array([1.0]), 0.0)
    >>> OneVsRest((low, LinearRule(np.array([0.0]), 0.5), high), np.array(["a", "b", "c"])).predict([[-9.0], [0.1], [9.0]])
    array(['a', 'b', 'c'], dtype='<U1')
    """

    machines: tuple[Any, ...]
    classes: np.ndarray

    def decision_function(self, X: Any) -> Matrix:
        """The score of each class against the rest, a column for each."""
        return np.column_stack([machine.decision_function(X) for machine in self.machines])

    @property
    def kernel(self) -> Any:
        """The kernel of the first machine, which is that of all where they share θ."""
        return self.machines[0].kernel

    @property
    def support(self) -> Indices:
        """Positions of the training points that support some machine."""
        return np.unique(np.concatenate([machine.support for machine in self.machines]))


def against_rest(samples: Samples, k: int) -> Data:
    """Class k as +1 and all others as −1.

    >>> against_rest(Samples(np.zeros((3, 1)), np.array([0, 2, 1]), np.array(["a", "b", "c"]), None), 2).y
    array([-1.,  1., -1.])
    """
    signs = np.where(samples.codes == k, 1.0, -1.0)
    return Data(samples.X, signs, (False, True), samples.names, samples.weights)


def margin_rows(samples: Samples, constraints: str) -> tuple[Sparse, Sparse]:
    """(M, B) such that the margin constraints are M w + B b ≥ e, for w = (w₁, …, w_Q) class by class and b = (b₁, …, b_Q).

    >>> samples = Samples(np.array([[5.0], [7.0]]), np.array([0, 1]), np.array(["a", "b", "c"]), None)
    >>> M, B = margin_rows(samples, "weston_watkins")
    >>> M.toarray()
    array([[ 5., -5.,  0.],
           [ 5.,  0., -5.],
           [-7.,  7.,  0.],
           [ 0.,  7., -7.]])
    >>> margin_rows(samples, "one_vs_rest")[1].toarray()[:3]
    array([[ 1.,  0.,  0.],
           [-1.,  0.,  0.],
           [ 0., -1.,  0.]])
    """
    Q = len(samples.classes)
    if Q < 2:
        raise DataError(f"y has {Q} class(es), expected at least 2")
    check_constraints(constraints)
    sample, B = CONSTRAINTS[constraints](samples.codes, Q)
    rows = sp.csr_array(samples.X)[sample]
    M = sp.hstack([sp.diags_array(B[:, k]) @ rows for k in range(Q)])
    return sp.csc_array(M), sp.csc_array(B)


def rows_of_samples(samples: Samples, constraints: str) -> Indices:
    """The position of the sample that each of the margin constraints of :func:`margin_rows` is about.

    >>> samples = Samples(np.array([[5.0], [7.0]]), np.array([0, 1]), np.array(["a", "b", "c"]), None)
    >>> rows_of_samples(samples, "weston_watkins"), rows_of_samples(samples, "one_vs_rest")
    (array([0, 0, 1, 1]), array([0, 1, 0, 1, 0, 1]))
    """
    check_constraints(constraints)
    return CONSTRAINTS[constraints](samples.codes, len(samples.classes))[0]


def check_constraints(constraints: str) -> None:
    """The name is a known one."""
    if not (isinstance(constraints, str) and constraints in CONSTRAINTS):
        raise unknown_name("kind of constraints", constraints, CONSTRAINTS)


def _weston_watkins(codes: Indices, Q: int) -> tuple[Indices, Matrix]:
    """(w_{c(i)} − wₖ)·xᵢ + b_{c(i)} − bₖ ≥ 1 for k ≠ c(i): the sample of each row, and its signs of the classes."""
    i, k = np.repeat(np.arange(len(codes)), Q), np.tile(np.arange(Q), len(codes))
    other = k != codes[i]
    i, k = i[other], k[other]
    return i, np.eye(Q)[codes[i]] - np.eye(Q)[k]


def _one_vs_rest(codes: Indices, Q: int) -> tuple[Indices, Matrix]:
    """y_{ki}(wₖ·xᵢ + bₖ) ≥ 1 for all k and i, y_{ki} = 1 if c(i) = k and −1 otherwise."""
    k, i = np.repeat(np.arange(Q), len(codes)), np.tile(np.arange(len(codes)), Q)
    signs = np.where(codes[i] == k, 1.0, -1.0)
    return i, signs[:, None] * np.eye(Q)[k]


CONSTRAINTS: dict[str, Callable[[Indices, int], tuple[Indices, Matrix]]] = {
    "weston_watkins": _weston_watkins,
    "one_vs_rest": _one_vs_rest,
}

"""Recursive feature elimination for any kernel: section 4.3 of Weston et al. (2003), after Guyon et al. (2002).

    W²(α) = Σᵢⱼ αᵢαⱼyᵢyⱼ k(xᵢ, xⱼ) = ‖w‖²,    W²₍₋ₚ₎(α) the same with feature p left out of both points, α as it is

The feature with the smallest Σₖ |Wₖ² − W²ₖ,₍₋ₚ₎| goes, k over the machines of one class against the rest; then the machines
are trained anew. For the linear kernel that is wₚ², :func:`dcprog.methods.zero_norm.rfe_features`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.learning.kernels import kernel_values
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import Samples, check_flag, check_points, check_positive, dense
from dcprog.methods.libsvm import quiet_svc
from dcprog.methods.zero_norm.selection import checked_selection
from dcprog.typing import Indices, Matrix, Vector

KernelFunction = Callable[[Matrix, Matrix], Matrix]


@dataclass(frozen=True, eq=False)
class KernelElimination(Classifier):
    """The features that are left, the machines on them, and what each feature cost that went."""

    selected: Indices
    dropped: Indices
    """The others, in the order in which they went."""
    kernel: KernelFunction
    vectors: Matrix
    """The training points, the selected features alone."""
    coefficients: Matrix
    """αᵢyᵢ of every machine: one row for two classes, one a class for more."""
    intercepts: Vector
    classes: Any
    n_features_in: int

    @property
    def support(self) -> Indices:
        """Positions of the support vectors of any machine."""
        return np.flatnonzero(np.abs(self.coefficients).max(axis=0) > 0)

    def objective(self, samples: Samples, lam: float) -> float:
        """½‖w‖² + λ e'ξ on the training samples, over all machines."""
        support = self.support
        values = kernel_values(self.kernel, self.vectors, self.vectors[support]) @ self.coefficients[:, support].T
        Y = np.array(_one_against_rest(samples)).T
        slacks = np.maximum(1.0 - Y * (values + self.intercepts), 0.0)
        return float(0.5 * (self.coefficients.T * values).sum() + lam * (samples.counts @ slacks).sum())

    def decision_function(self, X: Any) -> Vector | Matrix:
        """The score of every row, positive for the class that sorts last; of several classes a column for each."""
        points = dense(check_points(X, self.n_features_in))[:, self.selected]
        support = self.support
        values = kernel_values(self.kernel, points, self.vectors[support]) @ self.coefficients[:, support].T
        scores: Matrix = values + self.intercepts
        return scores[:, 0] if scores.shape[1] == 1 else scores


def kernel_rfe(
    X: Any, y: Any, r: int, kernel: KernelFunction, *, lam: float = 1.0, halving: bool = False
) -> KernelElimination:
    """Drop features until r are left, each time those without which ‖w‖² of the kernel SVM changes least.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    r : int
        How many features are left, from 1 to the number of those that are not constant.
    kernel : callable
        ``kernel(X, Z)`` gives the matrix k(xᵢ, zⱼ) for points of any number of features, such as
        ``sklearn.metrics.pairwise.rbf_kernel`` with its ``gamma`` set, or a kernel of
        :mod:`dcprog.methods.radius_margin.kernels`.
    lam : float
        λ > 0, the cost of slacks: min ½‖w‖² + λ e'ξ.
    halving : bool
        Drop half of those left at a time, not one.

    >>> from functools import partial
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (80, 6))
    >>> found = kernel_rfe(X, X[:, 1] * X[:, 4] > 0, 2, partial(rbf_kernel, gamma=1.0), lam=10.0)
    >>> found.selected, bool((found.predict(X) == (X[:, 1] * X[:, 4] > 0)).mean() > 0.9)
    (array([1, 4]), True)
    """
    samples = checked_selection(X, y, r)
    check_positive(lam=lam)
    check_flag(halving=halving)
    if not callable(kernel):
        raise DataError(f"kernel is {kernel!r}, expected a function of two matrices of points: pass one, such as rbf_kernel")
    points = dense(samples.X)
    kept, dropped = np.arange(points.shape[1]), np.empty(0, dtype=np.int64)
    while True:
        K = kernel_values(kernel, points[:, kept], points[:, kept])
        machines = [_machine(K, signs, lam * samples.counts) for signs in _one_against_rest(samples)]
        A = np.array([a for a, _ in machines])
        if len(kept) == r:
            break
        keep = max(r, len(kept) // 2) if halving else len(kept) - 1
        order = np.argsort(-_changes(points[:, kept], K, A, kernel), kind="stable")
        dropped = np.concatenate([dropped, kept[order[keep:]][::-1]])
        kept = np.sort(kept[order[:keep]])
    intercepts = np.array([b for _, b in machines])
    classes = samples.classes
    return KernelElimination(kept, dropped, kernel, points[:, kept], A, intercepts, classes, points.shape[1])


def _one_against_rest(samples: Samples) -> list[Vector]:
    """Labels ±1: of two classes the second is positive, of more each one in turn."""
    Q = len(samples.classes)
    return [np.where(samples.codes == k, 1.0, -1.0) for k in (range(Q) if Q > 2 else [1])]


def _machine(K: Matrix, y: Vector, C: Vector) -> tuple[Vector, float]:
    """αᵢyᵢ of every point, and b."""
    svc = quiet_svc("precomputed", K, y, C, tol=1e-6)
    a = np.zeros(len(y))
    a[svc.support_] = svc.dual_coef_[0]
    return a, float(svc.intercept_[0])


def _changes(points: Matrix, K: Matrix, A: Matrix, kernel: KernelFunction) -> Vector:
    """Σₖ |Wₖ² − W²ₖ,₍₋ₚ₎| for every feature p."""
    support = np.flatnonzero(np.abs(A).max(axis=0) > 0)
    S, a = points[support], A[:, support]
    whole = np.einsum("ki,ij,kj->k", a, K[np.ix_(support, support)], a)
    changes = np.empty(points.shape[1])
    for p in range(points.shape[1]):
        without = np.delete(S, p, axis=1)
        left = kernel_values(kernel, without, without) if without.shape[1] else np.zeros((len(S), len(S)))
        changes[p] = np.abs(whole - np.einsum("ki,ij,kj->k", a, left, a)).sum()
    return changes

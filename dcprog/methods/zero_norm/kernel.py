"""Zero-norm minimisation in the feature space of a polynomial kernel: section 3.4 of Weston et al. (2003).

    k(x, y) = Σ_{t ≤ degree} (x·y)ᵗ = φ(x)·φ(y),    φ(x) = (x_{i₁}⋯x_{iₜ} : all i₁, …, iₜ, t ≤ degree)

Each order of the factors counts as a feature of its own; with these scaling factors elementwise products in feature space
are products of inputs (6):

    φ(x) * φ(y) = φ(x * y)

So vectors of feature space are kept as expansions Σᵢ cᵢφ(pᵢ), never by their coordinates, and ℓ2-AROM needs nothing else:
with s = z * z the kernel of a step is (z * φ(x))·(z * φ(y)) = Σᵢ sᵢ k(pᵢ, x * y), its solution w̄ = Σ βₗ z * φ(xₗ), and the
update z ← z * w̄ = s * Σ βₗφ(xₗ). Each product multiplies the number of terms; its inner products with φ of fixed anchor
points, which are values of k, are enough to write it in terms of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from dcprog.convex.answer import Claim
from dcprog.errors import DataError, unknown_name
from dcprog.learning.bias import best_bias
from dcprog.learning.kernels import points
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import check_count, check_data, check_points, check_positive, dense
from dcprog.methods.quadratic import svm_dual
from dcprog.methods.zero_norm.margin import NotSeparableError, unit_of
from dcprog.solvers.dispatch import SubproblemUnsolved
from dcprog.solvers.registry import check as check_solver
from dcprog.typing import Matrix, Vector

SPANS = ("all", "training")
LARGEST_MAP = 1e8
"""The explicit map holds at most so many numbers."""


def polynomial_features(X: Any, degree: int) -> Matrix:
    """φ(x) for every row of X, with d + d² + … + d^degree columns: the explicit map. At most 1e8 numbers are made.

    Parameters
    ----------
    X : array_like
        Points in rows, dense or sparse.
    degree : int
        Of the polynomial kernel, ≥ 1.

    >>> polynomial_features([[2.0, 3.0]], 2)
    array([[2., 3., 4., 6., 6., 9.]])
    """
    check_count(degree=degree)
    X = points("X", X)
    n, d = X.shape
    columns = 0
    for _ in range(degree):
        columns = d * (1 + columns)  # Horner
        if n * columns > LARGEST_MAP:
            raise DataError(
                f"the products of up to {degree} of {d} inputs are more than {LARGEST_MAP:.0e} numbers: lower the degree, "
                "or take kernel_updates, which does without them"
            )
    blocks = [X]
    for _ in range(degree - 1):
        blocks.append((blocks[-1][:, :, None] * X[:, None, :]).reshape(len(X), -1))
    return np.hstack(blocks)


def polynomial_kernel(X: Any, Y: Any, degree: int) -> Matrix:
    """k(x, y) for all rows x of X and y of Y.

    Parameters
    ----------
    X, Y : array_like
        Points in rows, dense or sparse, of the same features.
    degree : int
        Of the polynomial kernel, ≥ 1.

    >>> polynomial_kernel(np.array([[1.0, 2.0]]), np.array([[1.0, 0.5]]), 3)
    array([[14.]])
    """
    check_count(degree=degree)
    X = points("X", X)
    return _kernel(X, points("Y", Y, X.shape[1]), degree)


def _kernel(X: Matrix, Y: Matrix, degree: int) -> Matrix:
    product = X @ Y.T
    total = product
    for _ in range(degree - 1):  # Horner
        total = product * (1.0 + total)
    return np.asarray(total)


@dataclass(frozen=True, eq=False)
class Expansion:
    """Σᵢ cᵢφ(pᵢ), a vector of feature space."""

    points: Matrix
    coefficients: Vector
    degree: int

    @property
    def size(self) -> float:
        """The 2-norm √(c'Kc), K the kernel matrix of the points."""
        square = float(self.coefficients @ (self @ self.points))
        return float(np.sqrt(max(square, 0.0)))  # rounding may leave it negative

    def __matmul__(self, X: Matrix) -> Vector:
        """The inner products with φ(x), for every row x of X."""
        product: Vector = _kernel(X, self.points, self.degree) @ self.coefficients
        return product

    def __mul__(self, other: Expansion) -> Expansion:
        """The elementwise product, (6)."""
        points = (self.points[:, None, :] * other.points[None, :, :]).reshape(-1, self.points.shape[1])
        return Expansion(points, np.outer(self.coefficients, other.coefficients).ravel(), self.degree)


class Anchors:
    """Points whose φ span the feature space, one for each of its C(d + degree, degree) − 1 different monomials.

    They are chosen among the training points and random ones. The paper stays in the span of the training points
    (``projected``), onto which products are projected: if that is not the whole space, the part of a product that is outside
    of it is lost, and the classifier may be bad.
    """

    def __init__(self, X: Matrix, degree: int, max_terms: int, projected: bool = False) -> None:
        d = X.shape[1]
        dimension = comb(d + degree, degree) - 1
        if dimension > max_terms and not projected:
            raise DataError(
                f"the feature space has {dimension} dimensions, expected at most max_terms = {max_terms}: raise max_terms "
                "(the cost of a step is its cube), lower the degree, pass polynomial_features(X, degree) to l2_updates, or "
                "span='training', which projects"
            )
        if projected:
            pool = X
        else:
            extra = np.random.default_rng(0).uniform(-1.0, 1.0, (4 * dimension, d))
            pool = np.vstack([X, np.abs(X).max(axis=0) * extra])
        self.points = pool[_independent(pool, degree, min(dimension, len(pool)))]
        self.degree = degree
        self._gram = cho_factor(_kernel(self.points, self.points, degree))

    def project(self, vector: Expansion) -> Expansion:
        """The same vector, in terms of the anchors."""
        return Expansion(self.points, cho_solve(self._gram, vector @ self.points), self.degree)


def _independent(points: Matrix, degree: int, count: int) -> list[int]:
    """Up to ``count`` points with linearly independent φ: the pivots of a Cholesky factorisation of their kernel matrix."""
    left = np.array([_kernel(x[None], x[None], degree)[0, 0] for x in points])
    enough = 1e-10 * left.max()
    L = np.zeros((len(points), 0))
    chosen: list[int] = []
    while len(chosen) < count:
        i = int(left.argmax())
        if left[i] <= enough:
            break
        column = _kernel(points, points[[i]], degree)[:, 0] - L @ L[i]
        L = np.column_stack([L, column / np.sqrt(left[i])])
        left = left - L[:, -1] ** 2
        chosen.append(i)
        left[chosen] = 0.0
    return chosen


@dataclass(frozen=True, eq=False)
class KernelIterate(Classifier):
    """One iterate: the classifier sgn(u·φ(x) + b), u = z * w̄ an expansion."""

    iteration: int
    u: Expansion
    b: float
    classes: tuple[Any, Any]

    def decision_function(self, X: Any) -> Vector:
        """u·φ(x) + b for every row of X."""
        values: Vector = self.u @ dense(check_points(X, self.u.points.shape[1])) + self.b
        return values

    def moved_from(self, before: KernelIterate) -> float:
        """By how much u has moved, of its 2-norm, or b, of the margin, which is 1; both are in terms of the same anchors."""
        step = replace(self.u, coefficients=self.u.coefficients - before.u.coefficients)
        return max(step.size / max(before.u.size, np.finfo(float).tiny), abs(self.b - before.b))


def kernel_updates(
    X: Any,
    y: Any,
    degree: int = 2,
    *,
    lam: float | None = None,
    max_terms: int = 300,
    span: str = "all",
    solver: str = "auto",
) -> Iterator[KernelIterate]:
    """The iterates of ℓ2-AROM in the feature space of the polynomial kernel, without end, by kernels alone.

    They are those of ``l2_updates(polynomial_features(X, degree), y)``. Scale the inputs to about [−1, 1]: powers spread.

    Parameters
    ----------
    X, y : array_like
        Training data of two classes: samples in rows, dense or sparse, and their labels.
    degree : int
        Of the polynomial kernel, ≥ 1.
    lam : float, optional
        λ > 0 allows slacks that cost ½λ Σξᵢ² (q = 2): a ridge 1/λ on the kernel matrix. By default none are allowed.
    max_terms : int
        How many dimensions the feature space may have; the cost of a step is its cube.
    span : str
        ``"all"``: products are exact. ``"training"``: they are projected onto the span of the training points, as in the
        paper's Appendix C, for any number of dimensions; what is outside of it is lost, see :class:`Anchors`.
    solver : str
        Of the dual QP: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    The target x₁x₂ among the 110 features of ten inputs:

    >>> from itertools import islice
    >>> rng = np.random.default_rng(0)
    >>> X, T = rng.uniform(-1, 1, (50, 10)), rng.uniform(-1, 1, (500, 10))
    >>> first, *_, last = islice(kernel_updates(X, X[:, 0] * X[:, 1] > 0, degree=2), 6)
    >>> [float((rule.predict(T) == (T[:, 0] * T[:, 1] > 0)).mean().round(2)) for rule in (first, last)]
    [0.69, 0.92]
    """
    data = check_data(X, y)
    check_count(degree=degree, max_terms=max_terms)
    check_solver(solver)
    if lam is not None:
        check_positive(lam=lam)
    Z = dense(data.X)
    with np.errstate(over="ignore"):
        size = float(np.abs(Z).max()) ** np.float64(4 * degree)  # a step multiplies two kernels
    if not np.isfinite(size):
        raise DataError(
            f"X has entries of size {np.abs(Z).max():.0e}, whose powers overflow in a kernel of degree {degree}: rescale "
            "the inputs to about [−1, 1]"
        )
    if span not in SPANS:
        raise unknown_name("span", span, SPANS)
    anchors = Anchors(Z, degree, max_terms, projected=span == "training")
    return _steps(Z, data.y, anchors, 0.0 if lam is None else 1.0 / lam, solver, data.classes)


def _steps(
    X: Matrix, y: Vector, anchors: Anchors, ridge: float, solver: str, classes: tuple[Any, Any]
) -> Iterator[KernelIterate]:
    degree, n, iteration = anchors.degree, len(y), 0
    i, j = np.triu_indices(n)
    products = X[i] * X[j]
    K = _kernel(X, X, degree)
    square: Expansion | None = None  # z * z, at first (1, …, 1)
    while True:
        beta, b = _dual_svm(K + ridge * np.eye(n), y, solver)
        support = np.flatnonzero(beta)
        solution = Expansion(X[support], beta[support], degree)
        u = anchors.project(solution if square is None else square * solution)
        iteration += 1
        yield KernelIterate(iteration, u, b, classes)
        square = anchors.project(u * u)
        K = np.empty((n, n))
        K[i, j] = K[j, i] = square @ products


def _dual_svm(K: Matrix, y: Vector, solver: str) -> tuple[Vector, float]:
    """(β, b) of the hard-margin SVM, β = y * α: Problem 8, min ½α'DKDα − e'α subject to y'α = 0, α ≥ 0."""
    K = _positive_semidefinite(K)
    unit = unit_of(K)  # tolerances of solvers are absolute
    try:
        alpha = svm_dual(K / unit, y, solver=solver) / unit
    except SubproblemUnsolved as unsolved:
        if unsolved.claim is Claim.UNBOUNDED:  # the dual of infeasible margins
            raise NotSeparableError from unsolved
        raise
    beta = np.where(alpha > 1e-9 * alpha.max(), y * alpha, 0.0)
    return beta, best_bias(K @ beta, y, np.ones(len(y)))


def _positive_semidefinite(K: Matrix) -> Matrix:
    """K without negative eigenvalues, which rounding brings."""
    values, vectors = np.linalg.eigh(K)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)

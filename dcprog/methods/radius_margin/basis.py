"""A basis for the features of a support vector machine, learned by minimising the radius–margin bound.

    z = S'W'(x − x̄),    W ∈ Rᵈˣᵐ the first m principal directions,    S ∈ Rᵐˣᵐ minimises T(S) = R²‖w‖² of the machine on z

Fortuna & Capson, An Optimal Basis for Feature Extraction with Support Vector Machine Classification Using the Radius–Margin
Bound (ICASSP 2005). They start from a random orthogonal S; since kernels of z·z' or ‖z − z'‖ see S through SS' alone, and
gradient methods turn with S, the identity gives the same bounds. T is minimised by L-BFGS in place of their conjugate
gradients. Near the minimum the factors of useless directions go to 0; the run ends when SS' becomes singular, with the last
S before. They also stop when the bound rises, which a line search rules out. Where T prefers S = 0, no features at all, ‖S‖
is held (:mod:`dcprog.methods.radius_margin.descent`).

This is not a DC program: see :mod:`dcprog.methods.radius_margin.bound`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.checks import count, is_number
from dcprog.learning.kernels import points
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import check_data, check_varying, dense
from dcprog.methods.radius_margin.bound import (
    Criterion,
    RadiusMargin,
    bound_of_points,
    counted,
    radius_margin,
    without_features,
)
from dcprog.methods.radius_margin.descent import Stopped, descend_to_features
from dcprog.methods.radius_margin.kernels import Kernel, as_kernel
from dcprog.methods.radius_margin.machine import Machine, train
from dcprog.typing import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Basis(Classifier):
    """The learned basis, the machine trained on it, and the way there."""

    mean: Vector
    W: Matrix
    S: Matrix
    machine: Machine
    start: Machine
    """The machine with the PCA basis, or with the S the run began with."""
    history: tuple[float, ...]
    """The bound at the start and after each iteration."""
    stopped: Stopped
    held: bool
    """Whether ‖S‖ was held, since the bound preferred S = 0."""
    path: tuple[Matrix, ...] = ()
    """S at the start and after each iteration."""

    @property
    def bound(self) -> RadiusMargin:
        """The bound with the learned basis."""
        return self.machine.bound

    def transform(self, X: Any) -> Matrix:
        """z = S'W'(x − x̄) for each row x."""
        X = points("X", X)
        if X.shape[1] != len(self.mean):
            raise DataError(f"X has {X.shape[1]} features, the basis was learned with {len(self.mean)}: pass those")
        Z: Matrix = (X - self.mean) @ self.W @ self.S
        return Z

    @property
    def classes(self) -> tuple[Any, Any]:
        return self.machine.classes

    def decision_function(self, X: Any) -> Vector:
        """Positive for the class that sorts last."""
        return self.machine.decision_function(self.transform(X))


def optimal_basis(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    S: Any = None,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
    max_iter: int = 200,
    rcond: float = 1e-6,
) -> Basis:
    """PCA to ``m`` dimensions, then S by minimising the ``criterion``.

    Parameters
    ----------
    X, y : array_like
        Training points in rows, dense or sparse, and their labels of two kinds.
    m : int
        How many principal directions to keep, from 1 to the dimensions that the points span.
    kernel : Kernel or str
        Of the machine on z: one of :mod:`dcprog.methods.radius_margin.kernels`, or your own derived from ``Kernel``, or by
        name ``"linear"``, ``"polynomial"`` (of degree 2) or ``"gaussian"`` (of width 1).
    ridge : float
        1/C ≥ 0 of the training errors, which cost C/2 Σξᵢ²; 0 allows none.
    S : array_like, optional
        An invertible m × m matrix to start from, by default I.
    criterion : callable
        The bound to minimise: ``radius_margin``, ``span_bound``, or your own ``criterion(K, y, *, solver)``, which returns
        an object with the value of the bound and its gradient by K.
    solver : str
        A QP solver by name (:func:`dcprog.solvers`), or ``"auto"``.
    max_iter : int
        No more than so many iterations of L-BFGS, after which the last S is returned.
    rcond : float
        SS' counts as singular when its smallest eigenvalue is no more than rcond times the largest, 0 ≤ rcond < 1. To wait
        for the last digits of the bound does not pay: on the four sets of the paper the mean test error was as low or lower
        with 1e-6 than with 1e-12 (``python -m benchmarks.radius_margin``).

    >>> from dcprog.methods.radius_margin.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> X = rng.normal(size=(40, 5)) @ np.diag([5, 1, 1, 1, 1]) + 1.5 * np.outer(y, [0, 1, 1, 0, 0])
    >>> basis = optimal_basis(X, y, 3, Gaussian(width=5.0))
    >>> basis.bound.value < basis.start.bound.value, basis.transform(X).shape
    (True, (40, 3))
    """
    data, kernel, max_iter = check_data(X, y), as_kernel(kernel), count("max_iter", max_iter, such_as=200)
    if not (is_number(rcond) and 0 <= rcond < 1):
        raise DataError(f"rcond has to be a number with 0 ≤ rcond < 1, got {rcond!r}: pass for example rcond=1e-6")
    P = dense(data.X)
    check_varying("the optimal basis", P)
    mean = np.average(P, axis=0, weights=data.counts)
    W = principal_directions(np.sqrt(data.counts)[:, None] * (P - mean), m)
    Y = (P - mean) @ W
    S = np.eye(m) if S is None else points("S", S)
    if S.shape != (m, m):
        raise DataError(f"S has to be a matrix {m} × {m}, got shape {S.shape}: pass one row and one column per dimension")
    if singular(S, rcond):
        raise DataError("S is singular, and would lose directions of the data: pass an invertible matrix, e.g. the identity")

    ridges, criterion = counted(data, ridge, criterion)
    bound = bound_of_points(data.y, kernel, ridges, criterion, solver, Y @ S)

    def bound_at(s: Vector) -> tuple[float, Vector]:
        value, gradient = bound(Y @ s.reshape(m, m))
        return value, (Y.T @ gradient).ravel()

    nothing = without_features(criterion, data.y, ridges, solver)
    start = train(replace(data, X=Y @ S, names=None), None, kernel, ridge=ridge, solver=solver)
    found = descend_to_features(bound_at, S.ravel(), max_iter, nothing, lambda s: singular(s.reshape(m, m), rcond))
    S = found.x.reshape(m, m)
    machine = train(replace(data, X=Y @ S, names=None), None, kernel, ridge=ridge, solver=solver)
    return Basis(
        mean, W, S, machine, start, found.values, found.stopped, found.held, tuple(x.reshape(m, m) for x in found.path)
    )


def principal_directions(centred: Matrix, m: int) -> Matrix:
    """The m orthonormal directions of the largest variance, as columns."""
    n, d = centred.shape
    if not (isinstance(m, Integral) and not isinstance(m, bool) and 1 <= m <= d):
        raise DataError(f"m, the number of dimensions to keep, has to be an integer from 1 to the {d} there are, got {m!r}")
    _, spread, directions = np.linalg.svd(centred, full_matrices=False)
    rank = int((spread > spread[0] * max(n, d) * np.finfo(float).eps).sum())
    if m > rank:
        raise DataError(f"the {n} points span {rank} dimensions, and m = {m} were asked for: pass m ≤ {rank}")
    W: Matrix = directions[:m].T
    return W


def singular(S: Matrix, rcond: float) -> bool:
    """Whether SS' has an eigenvalue below rcond times its largest.

    >>> singular(np.array([[1.0, 2.0], [2.0, 4.0]]), 1e-12), singular(np.eye(2), 1e-12)
    (True, False)
    """
    values = np.linalg.svd(S, compute_uv=False) ** 2
    return bool(values[-1] <= rcond * values[0])

"""One factor σₖ per feature: a bound of the machine on x∗σ as a function of σ (Weston et al. 2001, (7), (8) and (10)).

The kernels know σ through σₖ² only. So T(σ) = T(|σ|), and σₖ = 0 is stationary: a feature that is out stays out. So is
σ = 0, and where T prefers that, the length of σ is held: :mod:`dcprog.methods.radius_margin.descent` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.checks import count, vector
from dcprog.learning.samples import check_data, dense
from dcprog.methods.radius_margin.bound import Criterion, bound_of_points, counted, radius_margin, without_features
from dcprog.methods.radius_margin.descent import Smooth, descend_to_features
from dcprog.methods.radius_margin.kernels import Kernel
from dcprog.typing import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Scaling:
    """Factors σ ≥ 0 of the features, the bound there, and how many iterations led to it."""

    sigma: Vector
    value: float
    iterations: int
    held: bool = False
    """Whether ‖σ‖ was held, since T preferred σ = 0."""


def scaled(
    X: Matrix, y: Vector, kernel: Kernel | str, ridge: float | Vector, criterion: Criterion, solver: str, start: Vector
) -> Smooth:
    """σ ↦ T(σ), ∇T(σ) for labels y = ±1; ``start`` is a σ at which the kernel must not be lost beside the ridge.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> X, y = np.array([[0.0, 1.0], [2.0, 0.0], [5.0, -1.0]]), np.array([-1.0, 1.0, 1.0])
    >>> value, gradient = scaled(X, y, Linear(), 0.0, radius_margin, "auto", np.ones(2))(np.array([1.0, 0.0]))
    >>> round(value, 6), gradient.round(6)[1] + 0.0
    (6.25, np.float64(0.0))
    """
    bound = bound_of_points(y, kernel, ridge, criterion, solver, X * start)

    def bound_at(sigma: Vector) -> tuple[float, Vector]:
        value, gradient = bound(X * sigma)
        return value, np.einsum("ik,ik->k", X, gradient)

    return bound_at


def minimise_scaling(
    X: Any,
    y: Any,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    sigma: Any = None,
    solver: str = "auto",
    max_iter: int = 200,
) -> Scaling:
    """A stationary point of T(σ) from ``sigma`` (by default e) by L-BFGS, of T(σ) for that ‖σ‖ if T prefers no features.

    Parameters
    ----------
    X, y, kernel, ridge
        As for :func:`~dcprog.methods.radius_margin.machine.train`.
    criterion : callable
        The bound T: ``radius_margin``, ``span_bound``, or your own ``criterion(K, y, *, solver)``, which returns an object
        with the value of T and its gradient ∂T/∂K.
    sigma : array_like, optional
        Where to start, with at least one factor that is not zero. A factor that is zero stays so.
    solver : str
        A QP solver by name (:func:`dcprog.solvers`), or ``"auto"``.
    max_iter : int
        No more than so many iterations of L-BFGS, after which the last point is returned.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> X = rng.normal(size=(40, 3)) + 2 * y[:, None] * np.array([0, 1, 0])
    >>> minimise_scaling(X, y, Linear()).sigma.argmax()
    np.int64(1)
    """
    data = check_data(X, y)
    start = np.ones(data.d) if sigma is None else vector("sigma", sigma, data.d)
    if not start.any():
        raise DataError("sigma is zero for all features, which are one point then: start from at least one that is not")
    X, max_iter = dense(data.X), count("max_iter", max_iter, such_as=200)
    ridges, criterion = counted(data, ridge, criterion)
    T = scaled(X, data.y, kernel, ridges, criterion, solver, start)
    found = descend_to_features(T, start, max_iter, without_features(criterion, data.y, ridges, solver))
    return Scaling(np.abs(found.x), found.values[-1], len(found.values) - 1, found.held)

"""The radius–margin bound T = R²‖w‖² of a support vector machine and its derivative with respect to the kernel matrix.

If the images of ℓ points lie in a sphere of radius R and a hyperplane separates the classes with margin M = 1/‖w‖, then the
expected error of the machine is at most E T/ℓ (Vapnik 1998; Weston et al. 2001, Theorem 1).

Both factors are optimal values of QPs over sets that do not depend on K (see :mod:`dcprog.methods.radius_margin.qps`). So
their derivatives are those of the objectives at the solutions (Danskin), where α and β are unique:

    ∂R²/∂K = diag(β) − ββ',     ∂‖w‖²/∂K = −(y∘α)(y∘α)',     ∂T/∂K = ‖w‖² ∂R²/∂K + R² ∂‖w‖²/∂K

The printed formulas contain errors: Weston et al. (11) has labels in the second term and K(xᵢ, xⱼ) for K(xᵢ, xᵢ) in the
first; Fortuna & Capson (10) has the latter too, and their (16) lacks the second term; tests/test_radius_margin.py shows by
finite differences that the above is right and the printed (11) is not.

Errors in training are penalised by a ridge, K + I/λ (Weston et al., section 3): this is a hard margin and a sphere again,
those of the kernel with the ridge, and the theorem and the derivatives hold for it. They would not for a soft margin
0 ≤ α ≤ C, whose optimal value is not ½‖w‖².

T is not convex in the parameters of a kernel, and comes with no decomposition into convex g − h: this is not a DC program,
and no DCA is run on it. Gradient methods minimise it, as in the papers, and find stationary points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from dcprog.errors import DataError, DCProgError, FunctionError
from dcprog.functions.checks import is_number, matrix, returned
from dcprog.learning.kernels import kernel_values
from dcprog.learning.samples import Data, dense
from dcprog.methods.radius_margin.kernels import Kernel, as_kernel, pulled_back, tried
from dcprog.methods.radius_margin.qps import Hyperplane, Sphere, gram, hyperplane, signs, sphere, spread
from dcprog.typing import Indices, Matrix, Vector


class Evaluation(Protocol):
    """A criterion at a kernel matrix K: its value, and its derivative ∂/∂K as a symmetric matrix."""

    @property
    def value(self) -> float: ...

    @property
    def gradient(self) -> Matrix: ...


class Criterion(Protocol):
    """A bound to minimise: :func:`radius_margin`, :func:`~dcprog.methods.radius_margin.span.span_bound` or your own."""

    def __call__(self, K: Matrix, y: Vector, *, solver: str = "auto") -> Evaluation: ...


@dataclass(frozen=True, eq=False)
class RadiusMargin:
    """R²‖w‖² at one kernel matrix: the optimal hyperplane, the enclosing sphere, and what follows from them."""

    hyperplane: Hyperplane
    sphere: Sphere
    signed: Vector
    """y∘α."""

    @property
    def value(self) -> float:
        """T = R²‖w‖², at least 1."""
        return self.sphere.radius2 * self.hyperplane.w2

    @property
    def gradient(self) -> Matrix:
        """∂T/∂K."""
        beta, a = self.sphere.beta, self.signed
        radius = np.diag(beta) - np.outer(beta, beta)
        return self.hyperplane.w2 * radius - self.sphere.radius2 * np.outer(a, a)

    @property
    def margin(self) -> float:
        return self.hyperplane.margin

    @property
    def radius(self) -> float:
        return self.sphere.radius

    @property
    def support(self) -> Indices:
        """Positions of the support vectors."""
        return self.hyperplane.support


def radius_margin(K: Matrix, y: Vector, *, solver: str = "auto", lift: float | Vector = 0.0) -> RadiusMargin:
    """The radius–margin bound for a positive semidefinite kernel matrix ``K`` and labels y = ±1.

    Parameters
    ----------
    K : array_like
        The kernel matrix of the training points. For training errors add the ridge first: :func:`ridged`.
    y : array_like
        Labels −1 and 1, of which both are there.
    solver : str
        A QP solver by name (:func:`dcprog.solvers`), or ``"auto"``.
    lift : array_like, optional
        What R² adds to the diagonal of K in its linear term: of points that count more than once, :func:`counted`.

    >>> X, y = np.array([[0.0], [2.0], [5.0]]), np.array([-1.0, 1.0, 1.0])
    >>> bound = radius_margin(X @ X.T, y)
    >>> round(bound.value, 6), round(bound.radius, 6), round(bound.margin, 6), bound.support
    (6.25, 2.5, 1.0, array([0, 1]))

    A factor of the kernel changes nothing, and neither does a shift of the points in feature space:

    >>> np.round([(bound.gradient * (X @ X.T)).sum(), bound.gradient.sum()], 6) + 0.0
    array([0., 0.])
    """
    g = gram(K)
    y = signs(y, len(g.K))
    plane, ball = hyperplane(g, y, solver), sphere(g, solver, lift)
    return RadiusMargin(plane, ball, y * plane.alpha)


def ridges_of_counted(data: Data, ridge: float) -> tuple[float | Vector, float | Vector]:
    """The ridge and the lift for points that count s times each: those of s copies, each with a ridge of its own.

    Copies share their α and β evenly, so that Σ ridge·α² over copies is ridge·α²/s of their sum α: the ridge is ridge/s.
    The linear term of R² has Kᵢᵢ + ridge for each copy, which is (K + ridge/s)ᵢᵢ and a lift ridge·(1 − 1/s).

    >>> data = Data(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), (0, 1), None, np.array([1.0, 2.0]))
    >>> ridges, lift = ridges_of_counted(data, 0.5)
    >>> X, y = data.X[[0, 1, 1]], data.y[[0, 1, 1]]
    >>> found = radius_margin(ridged(data.X @ data.X.T, ridges), data.y, lift=lift)
    >>> np.isclose(found.value, radius_margin(ridged(X @ X.T, 0.5), y).value)
    np.True_
    """
    _check_ridge(ridge)
    if data.weights is None or ridge == 0:
        return ridge, 0.0
    return ridge / data.weights, ridge * (1.0 - 1.0 / data.weights)


def counted(data: Data, ridge: float, criterion: Criterion) -> tuple[float | Vector, Criterion]:
    """The ridge and the criterion for points that may count more than once: :func:`ridges_of_counted`."""
    ridges, lift = ridges_of_counted(data, ridge)
    if data.weights is None:
        return ridges, criterion
    if criterion is not radius_margin:
        raise DataError("only the radius-margin bound knows points that count more than once: leave the weights out")
    return ridges, partial(radius_margin, lift=lift)


def bound_of_points(
    y: Vector, kernel: Kernel | str, ridge: float | Vector, criterion: Criterion, solver: str, start: Matrix
) -> Callable[[Matrix], tuple[float, Matrix]]:
    """Z ↦ T, ∂T/∂Z for points in the rows of Z, with labels y = ±1.

    Kernel, ridge and criterion are checked at the points ``start``, before a solver runs.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> Z, y = np.array([[0.0], [2.0], [5.0]]), np.array([-1.0, 1.0, 1.0])
    >>> value, gradient = bound_of_points(y, Linear(), 0.0, radius_margin, "auto", Z)(Z)
    >>> round(value, 6), gradient.shape
    (6.25, (3, 1))
    """
    k = as_kernel(kernel)
    if not callable(criterion):
        raise DataError(
            f"criterion has to be a function of a kernel matrix and labels, got {criterion!r}: pass radius_margin or "
            "span_bound of dcprog.methods.radius_margin"
        )
    check_seen(tried(k, start), ridge)

    def bound_at(Z: Matrix) -> tuple[float, Matrix]:
        value, gamma = evaluate(criterion, ridged(kernel_values(k, Z, Z), ridge), y, solver)
        return value, pulled_back(k, Z, gamma)

    return bound_at


def evaluate(criterion: Criterion, K: Matrix, y: Vector, solver: str) -> tuple[float, Matrix]:
    """Value and gradient of the criterion, which may be the caller's own, checked to be a number and a matrix.

    >>> evaluate(lambda K, y, solver: 3, np.eye(2), np.array([-1.0, 1.0]), "auto")
    Traceback (most recent call last):
    dcprog.errors.FunctionError: criterion(K, y) has to give a value and a gradient, as radius_margin does, and raised
    AttributeError: 'int' object has no attribute 'value'
    """
    try:
        found = criterion(K, y, solver=solver)
        value, gradient = found.value, found.gradient
    except DCProgError:
        raise
    except Exception as error:
        raise FunctionError(
            "criterion(K, y) has to give a value and a gradient, as radius_margin does, and raised "
            f"{type(error).__name__}: {error}"
        ) from error
    if not (is_number(value) and np.isfinite(value)):
        raise DataError(f"criterion(K, y) has the value {value!r}, expected a finite number: mend the criterion")
    return float(value), returned("criterion(K, y).gradient", gradient, K.shape, "a derivative for each entry of K")


def check_seen(K: Matrix, ridge: float | Vector) -> None:
    """The kernel matrix, still without the ridge, is not lost beside it.

    >>> check_seen(np.eye(4), 1e9)
    Traceback (most recent call last):
    dcprog.errors.DataError: the kernel is lost beside the ridge 1e+09, its points being within 0.87 of their mean: pass a
    ridge of about 0.75 or less, or scale the features up
    """
    _check_ridge(ridge)
    squared, ridge = spread(K), float(np.max(ridge))
    if squared < 1e-6 * ridge:
        raise DataError(
            f"the kernel is lost beside the ridge {ridge:g}, its points being within {squared**0.5:.2g} of their mean: "
            f"pass a ridge of about {squared:.2g} or less, or scale the features up"
        )


def without_features(criterion: Criterion, y: Vector, ridge: float | Vector, solver: str = "auto") -> float:
    """The criterion for K = ridge·I, the kernel matrix without any features.

    For the radius–margin bound this is 4n₊n₋(n − 1)/n², about n, with which T/n bounds no error. NaN for ridge = 0,
    where it is not defined.

    >>> round(without_features(radius_margin, np.array([-1.0, 1.0, 1.0, 1.0]), 0.5), 6)
    2.25
    """
    K = ridged(np.zeros((len(y), len(y))), ridge)
    return evaluate(criterion, K, y, solver)[0] if np.max(ridge) > 0 else np.nan


def ridged(K: Matrix, ridge: float | Vector) -> Matrix:
    """K + ridge·I: with ridge = 1/λ errors ξ in training cost λ/2 Σξᵢ² (the hard margin for ridge = 0).

    Parameters
    ----------
    K : array_like
        A kernel matrix.
    ridge : float
        1/λ ≥ 0, for all points or for each.

    >>> ridged(np.zeros((2, 2)), 0.5)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    _check_ridge(ridge)
    K = matrix("K", dense(K))
    if K.shape[0] != K.shape[1]:
        raise DataError(f"K has to be square, got shape {K.shape}: pass the kernel of points and the same points")
    return K + np.diag(np.broadcast_to(np.asarray(ridge, dtype=float), (len(K),)))


def _check_ridge(ridge: float | Vector) -> None:
    if isinstance(ridge, np.ndarray) and ridge.ndim == 1 and (ridge > 0).all() and np.isfinite(ridge).all():
        return
    if not (is_number(ridge) and 0 <= ridge < np.inf):
        raise DataError(f"ridge has to be a number ≥ 0, got {ridge!r}: pass 1/λ, or 0 if no training error is allowed")

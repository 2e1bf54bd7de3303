"""Kernels with one weight per feature, K_θ(x, z) = exp(−Σₖ θₖ Dₖ(x, z)), given by their elementary distances Dₖ ≥ 0.

Elementary distances are any function ``D(x, z)`` of two arrays whose last axis holds the features; it broadcasts over the
other axes and returns D₁(x, z), D₂(x, z), … along the last one:

>>> import numpy as np
>>> def laplacian(x, z):
...     return np.abs(x - z)
>>> kernel_matrix(laplacian, np.array([[0.0, 5.0]]), np.array([[1.0, 7.0], [0.0, 9.0]]), theta=np.array([1.0, 0.0])).round(4)
array([[0.3679, 1.    ]])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dcprog.errors import DataError, FunctionError, unknown_name
from dcprog.functions.checks import matrix, returned
from dcprog.typing import Matrix, Vector

Distances: TypeAlias = Callable[[Matrix, Matrix], Matrix]


class Separate(ABC):
    """Elementary distances of which each Dₖ sees feature k alone, so that features of weight zero need not be looked at."""

    @abstractmethod
    def __call__(self, x: Matrix, z: Matrix) -> Matrix: ...

    def check(self, X: Matrix) -> None:
        """Raise DataError where D is not defined on ``X``."""
        return


@dataclass(frozen=True)
class Gaussian(Separate):
    """Dₖ(x, z) = (xₖ − zₖ)² / 2σ²: the Gaussian kernel (10) of Neumann, Schnörr & Steidl (2005).

    >>> Gaussian(sigma=1.0)(np.array([0.0, 2.0]), np.array([1.0, 4.0]))
    array([0.5, 2. ])
    """

    sigma: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise DataError(f"expected a kernel width sigma > 0, got {self.sigma}: the default is √d / 2")

    def __call__(self, x: Matrix, z: Matrix) -> Matrix:
        scale = 1 / (self.sigma * np.sqrt(2))
        D: Matrix = np.asarray(scale * x - scale * z)
        D *= D
        return D


@dataclass(frozen=True)
class ChiSquare(Separate):
    """Dₖ(x, z) = ρ (xₖ − zₖ)² / (xₖ + zₖ), and 0 for xₖ = zₖ = 0: the χ² kernel for histograms, section 5.3 of the paper.

    >>> ChiSquare(rho=1.0)(np.array([0.0, 3.0, 2.0]), np.array([0.0, 1.0, 0.0]))
    array([0., 1., 2.])
    """

    rho: float = 2.0**-11

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rho) and self.rho > 0):
            raise DataError(f"expected a scale rho > 0 of the χ² kernel, got {self.rho}: the paper takes 2**-11")

    def __call__(self, x: Matrix, z: Matrix) -> Matrix:
        x, z = self.rho * x, self.rho * z  # D is homogeneous: scaling the points, which are few, scales the pairs
        D: Matrix = np.asarray(x - z)
        D *= D
        total = x + z
        np.divide(D, total, out=D, where=total > 0)
        return D

    def check(self, X: Matrix) -> None:
        if X.size and X.min() < 0:
            raise DataError(
                f"the χ² kernel compares histograms and expects features ≥ 0, got {X.min():g}: "
                'leave the features unscaled, or take kernel="gaussian"'
            )


def elementary_distances(kernel: str | Distances, d: int, sigma: float | None = None) -> Distances:
    """Elementary distances by name for d features, or the caller's own.

    >>> elementary_distances("gaussian", d=16)
    Gaussian(sigma=2.0)
    """
    if kernel == "gaussian":
        return Gaussian(float(np.sqrt(d) / 2) if sigma is None else float(sigma))
    if sigma is not None:
        raise DataError('sigma is the width of kernel="gaussian": leave it out for any other kernel')
    if kernel == "chi2":
        return ChiSquare()
    if callable(kernel):
        return kernel
    raise unknown_name("kernel", kernel, ["gaussian", "chi2"])


def points(name: str, values: Any, d: int | None = None) -> Matrix:
    """``values`` as a finite dense matrix of one point per row, with d features each if that is given.

    >>> points("X", [[1, 2]], d=3)
    Traceback (most recent call last):
    dcprog.errors.DataError: X has points with 2 features, expected 3: pass points of the same features
    """
    X: Matrix = matrix(name, values.toarray() if sp.issparse(values) else values)
    if d is not None and X.shape[1] != d:
        raise DataError(f"{name} has points with {X.shape[1]} features, expected {d}: pass points of the same features")
    return X


def kernel_values(kernel: Callable[[Matrix, Matrix], Matrix], X: Matrix, Z: Matrix) -> Matrix:
    """``kernel(X, Z)``, the caller's own function k(xᵢ, zⱼ), checked to give a matrix of numbers.

    >>> kernel_values(lambda X, Z: X @ Z.T, np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[5.]])
    """
    if not callable(kernel):
        raise DataError(
            f"kernel is {kernel!r}, expected a function kernel(X, Z): pass for example "
            "partial(sklearn.metrics.pairwise.rbf_kernel, gamma=1.0)"
        )
    try:
        values = kernel(X, Z)
    except Exception as error:
        raise FunctionError(f"kernel(X, Z) raised {type(error).__name__}: {error}") from error
    return returned("kernel(X, Z)", values, (len(X), len(Z)), "a row for each x, a column for each z")


def pair_distances(distances: Distances, X: Matrix, Z: Matrix) -> Matrix:
    """Dₖ(xᵢ, zⱼ) for all pairs as an (n, m, K) array, checked to be finite and non-negative."""
    if isinstance(distances, Separate):
        distances.check(X)
        distances.check(Z)
    with np.errstate(over="ignore", invalid="ignore"):
        D: Matrix = np.asarray(distances(X[:, None, :], Z[None, :, :]), dtype=float)
    if D.ndim != 3 or D.shape[:2] != (len(X), len(Z)):
        raise DataError(
            f"elementary distances between {len(X)} and {len(Z)} points have to come as an array ({len(X)}, {len(Z)}, K), "
            f"got shape {D.shape}: let them broadcast, and return one distance per entry of the last axis"
        )
    if D.size and not (D.min() >= 0 and D.max() < np.inf):
        raise DataError(
            f"elementary distances have to be finite and ≥ 0, got values in [{D.min()}, {D.max()}]: "
            "otherwise exp(−θ'D) is no kernel bounded by 1; rescale the features or mend the distances"
        )
    return D


def kernel_matrix(distances: Distances, X: Matrix, Z: Matrix, theta: Vector) -> Matrix:
    """K_θ(xᵢ, zⱼ) as an (n, m) array; for a :class:`Separate` kernel at a cost that counts only features with θₖ ≠ 0.

    >>> X = np.array([[0.0, 0.0], [2.0, 9.0]])
    >>> kernel_matrix(Gaussian(sigma=1.0), X, X, theta=np.array([1.0, 0.0])).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """
    if isinstance(distances, Separate):
        used = np.flatnonzero(theta)
        X, Z, theta = X[:, used], Z[:, used], theta[used]
    exponent = np.zeros((len(X), len(Z)))
    if isinstance(distances, Gaussian) and theta.size:
        scale = np.sqrt(theta) / (distances.sigma * np.sqrt(2))
        exponent = cdist(X * scale, Z * scale, "sqeuclidean")
    elif theta.size:
        for i in range(len(X)):
            exponent[i] = pair_distances(distances, X[i : i + 1], Z)[0] @ theta
    return np.exp(-exponent)

"""Kernels k(z, v), and how a function of the kernel matrix changes with the points.

A bound T is minimised over one factor per feature, Z = X diag(σ), or over a basis, Z = XS. Both change only the points Z,
and T depends on these only through the kernel matrix Kᵢⱼ = k(zᵢ, zⱼ). By the chain rule

    Γ = ∂T/∂K  →  ∂T/∂Z = ``pullback(Z, Γ)``  →  ∂T/∂S = X'·∂T/∂Z,   ∂T/∂σₖ = Σᵢ xᵢₖ ∂T/∂zᵢₖ,

and no derivative of a kernel with respect to any one parameter is ever formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dcprog.errors import DataError, FunctionError, unknown_name
from dcprog.functions.checks import count, is_number, returned
from dcprog.learning.kernels import kernel_values
from dcprog.typing import Matrix


class Kernel(ABC):
    """A positive semidefinite kernel. Derive from it to use your own: a call, and the derivative with respect to points."""

    @abstractmethod
    def __call__(self, Z: Matrix, V: Matrix) -> Matrix:
        """k(zᵢ, vⱼ) for the rows of Z and V."""

    @abstractmethod
    def pullback(self, Z: Matrix, gamma: Matrix) -> Matrix:
        """∂/∂Z of Σᵢⱼ Γᵢⱼ k(zᵢ, zⱼ), for a symmetric Γ."""


@dataclass(frozen=True)
class Linear(Kernel):
    """k(z, v) = z·v.

    >>> Linear()(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[5.]])
    """

    def __call__(self, Z: Matrix, V: Matrix) -> Matrix:
        K: Matrix = Z @ V.T
        return K

    def pullback(self, Z: Matrix, gamma: Matrix) -> Matrix:
        return 2 * gamma @ Z


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(z, v) = (z·v + c)^degree with c ≥ 0, without which it would not be positive semidefinite.

    >>> Polynomial(degree=2)(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[36.]])
    """

    degree: int = 2
    c: float = 1.0

    def __post_init__(self) -> None:
        count("degree", self.degree, such_as=2)
        if not (is_number(self.c) and 0 <= self.c < np.inf):
            raise DataError(f"(z·v + c)^degree is a kernel only for c ≥ 0, got c = {self.c!r}: pass for example c=1")

    def __call__(self, Z: Matrix, V: Matrix) -> Matrix:
        K: Matrix = (Z @ V.T + self.c) ** self.degree
        return K

    def pullback(self, Z: Matrix, gamma: Matrix) -> Matrix:
        slope: Matrix = self.degree * (Z @ Z.T + self.c) ** (self.degree - 1)
        return 2 * (gamma * slope) @ Z


@dataclass(frozen=True)
class Gaussian(Kernel):
    """k(z, v) = exp(−‖z − v‖²/2s²), s the ``width``.

    >>> Gaussian(width=1.0)(np.array([[1.0, 2.0]]), np.array([[1.0, 4.0]])).round(4)
    array([[0.1353]])
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        if not (is_number(self.width) and 1e-150 < self.width < 1e150):  # so that its square is a number, too
            raise DataError(f"width has to be a number > 0, less than 1e150, got {self.width!r}: pass for example width=1")

    def __call__(self, Z: Matrix, V: Matrix) -> Matrix:
        K: Matrix = np.exp(cdist(Z, V, "sqeuclidean") / (-2 * self.width**2))
        return K

    def pullback(self, Z: Matrix, gamma: Matrix) -> Matrix:
        # ∂k(zᵢ, zⱼ)/∂zᵢ = −k(zᵢ, zⱼ)(zᵢ − zⱼ)/s², and every pair is met twice
        H = gamma * self(Z, Z)
        out: Matrix = (H @ Z - H.sum(axis=1)[:, None] * Z) * (2 / self.width**2)
        return out


KERNELS: dict[str, Kernel] = {"linear": Linear(), "polynomial": Polynomial(), "gaussian": Gaussian()}


def pulled_back(kernel: Kernel, Z: Matrix, gamma: Matrix) -> Matrix:
    """``kernel.pullback(Z, gamma)``, checked to be a derivative for each entry of Z."""
    try:
        values = kernel.pullback(Z, gamma)
    except Exception as error:
        raise FunctionError(f"kernel.pullback(Z, gamma) raised {type(error).__name__}: {error}") from error
    return returned("kernel.pullback(Z, gamma)", values, Z.shape, "a derivative for each entry of Z")


def tried(kernel: Kernel, Z: Matrix) -> Matrix:
    """The kernel matrix of Z, with a pullback tried as well, so that a kernel that has none is told before a solver runs.

    >>> tried(Linear(), np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    pulled_back(kernel, Z, np.eye(len(Z)))
    return kernel_values(kernel, Z, Z)


def as_kernel(kernel: Any) -> Kernel:
    """A kernel as it is, or by its name, with the parameters it has by default.

    >>> as_kernel("polynomial")
    Polynomial(degree=2, c=1.0)
    >>> as_kernel("gausian")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown kernel 'gausian': did you mean 'gaussian'? Known: gaussian, linear, polynomial
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise unknown_name("kernel", kernel, KERNELS)
        return KERNELS[kernel]
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise DataError(f"kernel has to be a kernel, got the class {kernel.__name__}: pass {kernel.__name__}()")
    raise DataError(
        f"kernel has to be a Kernel or one of {', '.join(KERNELS)}, got {kernel!r}: derive from "
        "dcprog.methods.radius_margin.Kernel for one of your own, since its derivative is needed"
    )

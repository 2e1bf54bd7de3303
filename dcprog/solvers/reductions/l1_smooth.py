"""Smooth convex functions of many variables by their columns: what a working set of few variables has to know of them."""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from dcprog.functions.affine import OfAffine
from dcprog.typing import Indices, Matrix, Sparse, Vector

EPS = float(np.finfo(float).eps)
ROUNDING = 16 * EPS
"""Relative error of a sum of products, as of a gradient."""


class Smooth(Protocol):
    """A smooth convex function of n variables."""

    n: int
    curvature: Vector
    """About the second derivatives, one for each variable; 0 where there is none anywhere."""

    def gradient(self, x: Vector) -> Vector:
        """All of it."""

    def noise(self, x: Vector) -> Vector:
        """What rounding leaves of each component of the gradient."""


class AffineLoss:
    """weight·f(Ax + b) + ½Σ dⱼxⱼ², f a sum of functions of one component each."""

    def __init__(self, function: OfAffine, weight: float, d: Vector) -> None:
        self.function, self.weight, self.d = function, weight, d
        self.A: Any = sp.csc_array(function.A) if sp.issparse(function.A) else function.A
        self.n = len(d)
        self.is_quadratic = function.function.quadratic(len(function.b)) is not None
        self.norms = _column_norms(self.A)
        self._b_size = float(np.linalg.norm(function.b))
        ones = np.ones(len(function.b))
        probes = [self._hessian(z) for z in (function.b, 0 * ones, ones, -ones)]  # at one of them it may be linear
        self._steepest = weight * (float(np.max(probes)) or 1.0)
        self.curvature = self._steepest * self.norms**2 + d

    def with_diagonal(self, d: Vector) -> AffineLoss:
        """The same loss with other d."""
        other = copy(self)
        other.d, other.curvature = d, self.curvature + (d - self.d)
        return other

    def gradient(self, x: Vector) -> Vector:
        gradient: Vector = self.weight * self.function.gradient(x) + self.d * x
        return gradient

    def noise(self, x: Vector) -> Vector:
        z = self.function.inner(x)
        size = float(np.linalg.norm(self.slopes(z))) + self._steepest * (float(np.linalg.norm(z)) + self._b_size)
        return ROUNDING * (self.norms * size + self.d * np.abs(x))

    def gram(self, one: Indices, other: Indices) -> Matrix:
        """The block of the Hessian of a quadratic one, whose second derivatives are the same in each row."""
        left, right = self.A[:, one], self.A[:, other]
        product = left.T @ right
        block: Matrix = self._steepest * (product.toarray() if sp.issparse(product) else product)
        same = one[:, None] == other
        return block + np.where(same, self.d[one][:, None], 0.0) if same.any() else block

    def columns(self, W: Indices) -> Sparse:
        """The columns of A."""
        return self.A[:, W]

    def slopes(self, z: Vector) -> Vector:
        """weight·f'(z)."""
        return self.weight * np.asarray(self.function.function.gradient(z), dtype=float)

    def bends(self, z: Vector) -> Vector:
        """weight·f''(z)."""
        return self.weight * self._hessian(z)

    def loss(self, z: Vector) -> float:
        """weight·f(z)."""
        return self.weight * float(self.function.function.value(z))

    def _hessian(self, z: Vector) -> Vector:
        return np.asarray(self.function.function.hessian(z), dtype=float)


class QuadraticForm:
    """½x'Qx."""

    is_quadratic = True

    def __init__(self, Q: Sparse) -> None:
        self.Q = sp.csc_array(Q)
        self.n = int(self.Q.shape[0])
        self.curvature = self.Q.diagonal()
        self._sizes = abs(self.Q)

    def gradient(self, x: Vector) -> Vector:
        gradient: Vector = self.Q @ x
        return gradient

    def noise(self, x: Vector) -> Vector:
        noise: Vector = ROUNDING * (self._sizes @ np.abs(x))
        return noise

    def gram(self, one: Indices, other: Indices) -> Matrix:
        """The block of Q."""
        block: Matrix = self.Q[:, other][one].toarray()
        return block


def _column_norms(A: Any) -> Vector:
    if not sp.issparse(A):
        norms: Vector = np.sqrt(np.einsum("ij,ij->j", A, A))
        return norms
    squares = sp.csr_array((A.data**2, A.indices, A.indptr), shape=A.shape[::-1])  # A' entry by entry, A being in CSC
    of_sparse: Vector = np.sqrt(squares @ np.ones(A.shape[0]))
    return of_sparse

"""Functions of a matrix of variables by its eigenvalues or singular values: semidefinite cones in g.

The matrix is bound row by row, ``LargestEigenvalue()(m.X)`` for a Var over (i, j). A symmetric one may name each of its
variables twice, ``LargestEigenvalue()([[m.a, m.b], [m.b, m.c]])``; linear forms A₀ + Σ xᵢAᵢ are bound as any others are.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ModelError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.functions.checks import count
from dcprog.functions.conic import ConicForm
from dcprog.typing import Indices, Matrix, Vector


@proved
class LargestEigenvalue(ConvexFunction):
    """λ_max(½(X + X')), the largest eigenvalue of the symmetric part of a square matrix, given row by row.

    Its subgradient is qq' for one unit eigenvector q. Overton (1988); Boyd & Vandenberghe (2004), example 3.10.

    >>> f = LargestEigenvalue()
    >>> x = np.array([2.0, 1.0, 1.0, 2.0])
    >>> round(f.value(x), 6), f.gradient(x).round(6)
    (3.0, array([0.5, 0.5, 0.5, 0.5]))
    """

    smooth = False

    def __call__(self, *variables: Any) -> Any:
        return _square(self, super().__call__(*variables))

    def value(self, x: Vector) -> float:
        return float(np.linalg.eigvalsh(_symmetric(x))[-1])

    def gradient(self, x: Vector) -> Vector:
        q = np.linalg.eigh(_symmetric(x))[1][:, -1]
        return np.outer(q, q).ravel()

    def nearest_slope(self, v: Vector) -> Vector:
        """∂f(0) holds the positive semidefinite matrices of trace 1."""
        values, Q = np.linalg.eigh(_symmetric(v))
        nearest: Matrix = (Q * _on_simplex(values)) @ Q.T
        return nearest.ravel()

    def conic(self, n: int) -> ConicForm:
        """min t with tI − X positive semidefinite."""
        k = isqrt(n)
        i, j = _triangle(k)
        rows, half = np.arange(len(i)), np.where(i == j, 0.5, np.sqrt(0.5))
        A = -sp.coo_array((np.tile(half, 2), (np.tile(rows, 2), np.append(k * i + j, k * j + i))), shape=(len(i), n))
        B = sp.csr_array((i == j).astype(float)[:, None])
        return ConicForm(sp.csr_array(A), B, np.zeros(len(i)), np.ones(1), (("semidefinite", k),))


@proved
class NuclearNorm(ConvexFunction):
    """‖X‖∗ = Σ σᵢ(X), the sum of the singular values of a matrix given row by row; square unless ``columns`` is given.

    Of a symmetric matrix it is Σ |λᵢ|. Its subgradient is UV' of the singular vectors with σᵢ > 0. Fazel (2002): the convex
    envelope of the rank on the unit ball.

    >>> f = NuclearNorm()
    >>> x = np.array([1.0, 0.0, 0.0, -2.0])
    >>> f.value(x), f.gradient(x) + 0
    (3.0, array([ 1.,  0.,  0., -1.]))
    """

    smooth, lowest = False, 0.0

    def __init__(self, columns: int | None = None) -> None:
        self.columns = None if columns is None else count("columns", columns, such_as=3)

    def __call__(self, *variables: Any) -> Any:
        expression = super().__call__(*variables)
        if self.columns is None:
            return _square(self, expression)
        if _length(self, expression) % self.columns:
            raise ModelError(f"{self!r} takes rows of {self.columns} variables, got {_length(self, expression)} in all")
        return expression

    def value(self, x: Vector) -> float:
        return float(np.linalg.svd(self._matrix(x), compute_uv=False).sum())

    def gradient(self, x: Vector) -> Vector:
        U, sigma, V = np.linalg.svd(self._matrix(x), full_matrices=False)
        counts = sigma > np.finfo(float).eps * max(self._matrix(x).shape) * sigma[0]
        gradient: Matrix = (U * counts) @ V
        return gradient.ravel()

    def nearest_slope(self, v: Vector) -> Vector:
        """∂f(0) holds the matrices whose singular values are at most 1."""
        U, sigma, V = np.linalg.svd(self._matrix(v), full_matrices=False)
        nearest: Matrix = (U * np.minimum(sigma, 1.0)) @ V
        return nearest.ravel()

    def conic(self, n: int) -> ConicForm:
        """min ½ tr(W₁) + ½ tr(W₂) with (W₁ X; X' W₂) positive semidefinite."""
        q = isqrt(n) if self.columns is None else self.columns
        p = n // q
        i, j = _triangle(p + q)
        rows, scale = np.arange(len(i)), np.where(i == j, 1.0, np.sqrt(2.0))
        mixed = (i < p) & (j >= p)
        A = sp.csr_array((scale[mixed], (rows[mixed], q * i[mixed] + j[mixed] - p)), shape=(len(i), n))
        t = np.flatnonzero(~mixed)
        B = sp.csr_array((scale[t], (t, np.arange(len(t)))), shape=(len(i), len(t)))
        return ConicForm(A, B, np.zeros(len(i)), np.where(i[t] == j[t], 0.5, 0.0), (("semidefinite", p + q),))

    def _matrix(self, x: Vector) -> Matrix:
        matrix: Matrix = x.reshape(-1, isqrt(len(x)) if self.columns is None else self.columns)
        return matrix


def _symmetric(x: Vector) -> Matrix:
    X = x.reshape(isqrt(len(x)), -1)
    symmetric: Matrix = 0.5 * (X + X.T)
    return symmetric


def _triangle(k: int) -> tuple[Indices, Indices]:
    """Rows and columns of the upper triangle, column by column."""
    j, i = np.tril_indices(k)
    return i, j


def _on_simplex(values: Vector) -> Vector:
    """The nearest point with entries ≥ 0 that sum to 1; ``values`` are increasing. Held, Wolfe & Crowder (1974)."""
    falling = values[::-1]
    shifts = (np.cumsum(falling) - 1.0) / np.arange(1, len(values) + 1)
    nearest: Vector = np.maximum(values - shifts[np.flatnonzero(falling > shifts)[-1]], 0.0)
    return nearest


def _length(function: ConvexFunction, expression: Any) -> int:
    return int(expression.nargs() if expression.function is function else expression.function.A.shape[0])


def _square(function: ConvexFunction, expression: Any) -> Any:
    n = _length(function, expression)
    if isqrt(n) ** 2 != n:
        raise ModelError(
            f"{function!r} takes the entries of a square matrix row by row, got {n} variables: pass all of them"
        )
    return expression

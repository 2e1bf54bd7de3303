"""Smooth convex functions of the whole variable vector z, as sums of terms that each touch a few components.

A term gives its value, adds its gradient into a vector, and lists its Hessian as triplets of the lower triangle with a fixed
structure: what an interior-point solver asks for, and cheap to assemble for any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dcprog.convex.tape import TapeBatch
from dcprog.errors import FunctionError
from dcprog.functions.base import ConvexFunction
from dcprog.functions.indices import distinct
from dcprog.typing import Indices, Matrix, Sparse, Vector


class SmoothTerm(Protocol):
    """A twice differentiable function of some components of z."""

    support: Indices
    """Sorted components of z that it depends on."""

    @property
    def rows(self) -> Indices:
        """Rows of the Hessian's lower triangle; entries that repeat are summed."""

    @property
    def cols(self) -> Indices:
        """Columns of the Hessian's lower triangle, cols ≤ rows."""

    def value(self, z: Vector) -> float:
        """The value at z."""

    def add_gradient(self, z: Vector, out: Vector) -> None:
        """Add the gradient at z to ``out``."""

    def size(self, z: Vector) -> float:
        """The sum of the absolute values that the value is made of: what its rounding error is relative to."""

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        """Add the sums of the absolute values that the gradient is made of to ``out``."""

    def hessian_values(self, z: Vector) -> Vector:
        """Values of the Hessian at (rows, cols)."""

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        """Written out in scalar operations on the objects ``z``; ``namespace`` has exp, log, … for them."""


class LinearTerm:
    """c'z + constant, over the components where c is not zero."""

    def __init__(self, support: ArrayLike, coefficients: ArrayLike, constant: float = 0.0) -> None:
        self.support = np.asarray(support, dtype=np.int64)
        self.coefficients = np.asarray(coefficients, dtype=float)
        self.constant = float(constant)
        self.rows = self.cols = np.empty(0, dtype=np.int64)

    def value(self, z: Vector) -> float:
        return float(self.coefficients @ z[self.support]) + self.constant

    def add_gradient(self, z: Vector, out: Vector) -> None:
        np.add.at(out, self.support, self.coefficients)

    def size(self, z: Vector) -> float:
        return float(np.abs(self.coefficients) @ np.abs(z[self.support])) + abs(self.constant)

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        np.add.at(out, self.support, np.abs(self.coefficients))

    def hessian_values(self, z: Vector) -> Vector:
        return np.empty(0)

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        return sum((c * z[i] for c, i in zip(self.coefficients, self.support, strict=True)), self.constant)


class QuadraticTerm:
    """½ z'Qz for a symmetric sparse Q, kept over the components that it touches."""

    def __init__(self, Q: Sparse) -> None:
        lower = sp.coo_array(sp.tril(Q))
        self.rows = lower.row.astype(np.int64)
        self.cols = lower.col.astype(np.int64)
        self._values: Vector = lower.data.astype(float)
        self.support = distinct(np.concatenate([self.rows, self.cols]))
        self._Q = sp.csr_array(Q)[self.support][:, self.support]

    @property
    def matrix(self) -> Sparse:
        """Q over the components that it touches."""
        return self._Q

    def value(self, z: Vector) -> float:
        part = z[self.support]
        return 0.5 * float(part @ (self._Q @ part))

    def add_gradient(self, z: Vector, out: Vector) -> None:
        out[self.support] += self._Q @ z[self.support]

    @cached_property
    def _sizes(self) -> Sparse:
        return abs(self._Q)

    def size(self, z: Vector) -> float:
        part = np.abs(z[self.support])
        return 0.5 * float(part @ (self._sizes @ part))

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        out[self.support] += self._sizes @ np.abs(z[self.support])

    def hessian_values(self, z: Vector) -> Vector:
        return self._values

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        triplets = zip(self.rows, self.cols, self._values, strict=True)
        return sum((q * (0.5 if i == j else 1.0) * z[i] * z[j] for i, j, q in triplets), 0.0)


class FunctionTerm:
    """weight · f(z[indices]) for a vectorised convex function f."""

    def __init__(self, function: ConvexFunction, indices: Indices, weight: float) -> None:
        self.function, self.weight = function, float(weight)
        self.indices = np.asarray(indices, dtype=np.int64)
        self.support = distinct(self.indices)

    @cached_property
    def rows(self) -> Indices:
        return self.indices if self.function.separable else np.maximum(*self.indices[self._tril])

    @cached_property
    def cols(self) -> Indices:
        return self.indices if self.function.separable else np.minimum(*self.indices[self._tril])

    @cached_property
    def _tril(self) -> Indices:
        """Lower triangle of a dense Hessian; made on demand, since a function in h needs none."""
        return np.array(np.tril_indices(len(self.indices)))

    def value(self, z: Vector) -> float:
        value = self._call("value", z)
        if np.ndim(value) != 0:
            raise FunctionError(f"{self.function!r}.value returned shape {np.shape(value)}: it has to return one number")
        return self.weight * float(value)

    def add_gradient(self, z: Vector, out: Vector) -> None:
        self._add(self.weight * self._gradient(z), out)

    def size(self, z: Vector) -> float:
        return abs(self.value(z))

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        self._add(np.abs(self.weight * self._gradient(z)), out)

    def _add(self, part: Vector, out: Vector) -> None:
        if len(self.support) == len(self.indices):
            out[self.indices] += part
        else:
            np.add.at(out, self.indices, part)

    def _gradient(self, z: Vector) -> Vector:
        gradient = np.asarray(self._call("gradient", z), dtype=float)
        if gradient.shape != self.indices.shape:
            raise FunctionError(
                f"{self.function!r}.gradient returned shape {gradient.shape} for {len(self.indices)} variables: "
                f"it has to return shape {self.indices.shape}"
            )
        return gradient

    def hessian_values(self, z: Vector) -> Vector:
        given = self._call("hessian", z)
        if given is None:  # none at a kink
            return np.full(len(self.rows), np.nan)
        hessian = np.asarray(given, dtype=float)
        return self.weight * (hessian if self.function.separable else hessian[tuple(self._tril)])

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        body = self.function.expand([z[i] for i in self.indices], namespace.exp, namespace.log)
        if body is None:
            raise FunctionError(
                f"{self.function!r} cannot be written out for a plain Pyomo solver: give it an expand method, or name "
                "another solver"
            )
        return self.weight * body

    def _call(self, method: str, z: Vector) -> Any:
        try:
            return getattr(self.function, method)(z[self.indices])
        except Exception as error:
            raise FunctionError(f"{self.function!r}.{method} raised {type(error).__name__}: {error}") from error


class SmoothSum:
    """A sum of smooth terms over a vector of n components."""

    def __init__(self, terms: Sequence[SmoothTerm], n: int) -> None:
        self.terms, self.n = tuple(terms), n
        self.support = _union([t.support for t in self.terms])

    @cached_property
    def rows(self) -> Indices:
        """Rows of the Hessian's lower triangle; entries that repeat are summed."""
        return np.concatenate([t.rows for t in self.terms] or [np.empty(0, dtype=np.int64)])

    @cached_property
    def cols(self) -> Indices:
        """Columns of the Hessian's lower triangle, cols ≤ rows."""
        return np.concatenate([t.cols for t in self.terms] or [np.empty(0, dtype=np.int64)])

    def value(self, z: Vector) -> float:
        """The value at z."""
        return sum(t.value(z) for t in self.terms)

    def values(self, points: Matrix) -> Vector:
        """The values at many points, the rows of ``points``."""
        values: Vector = np.sum([_values(t, points) for t in self.terms] or [np.zeros(len(points))], axis=0)
        return values

    def gradient(self, z: Vector) -> Vector:
        """The gradient at z; at a kink the fixed subgradient of each term."""
        out = np.zeros(self.n)
        for t in self.terms:
            t.add_gradient(z, out)
        return out

    def size(self, z: Vector) -> float:
        """The sum of the absolute values of all that the value is made of."""
        return sum(t.size(z) for t in self.terms)

    def gradient_size(self, z: Vector) -> Vector:
        """The same for each component of the gradient."""
        out = np.zeros(self.n)
        for t in self.terms:
            t.add_gradient_size(z, out)
        return out

    def hessian_values(self, z: Vector) -> Vector:
        """Values at (rows, cols), the lower triangle."""
        return np.concatenate([t.hessian_values(z) for t in self.terms] or [np.empty(0)])

    def hessian(self, z: Vector) -> Sparse:
        """The whole symmetric Hessian as a sparse matrix."""
        lower = sp.coo_array((self.hessian_values(z), (self.rows, self.cols)), shape=(self.n, self.n)).tocsc()
        return lower + sp.tril(lower, -1).T

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        """Written out in scalar operations on the objects ``z``; ``namespace`` has exp, log, … for them."""
        return sum((t.expand(z, namespace) for t in self.terms), 0.0)


def _values(term: SmoothTerm, points: Matrix) -> Vector:
    if isinstance(term, LinearTerm):
        linear: Vector = points[:, term.support] @ term.coefficients + term.constant
        return linear
    if isinstance(term, TapeBatch):
        return term.at_points(*points.shape).values(points.ravel()).reshape(len(points), len(term.weights)) @ term.weights
    return np.array([term.value(z) for z in points])


def _union(supports: Sequence[Indices]) -> Indices:
    return distinct(np.concatenate(supports)) if supports else np.empty(0, dtype=np.int64)

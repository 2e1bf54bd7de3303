"""Many convex functions at once, one a row: f of each group of components of Ax + b."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.functions.base import ConvexFunction
from dcprog.functions.checks import matrix, vector
from dcprog.functions.losses import SquaredNorm
from dcprog.functions.norms import Norm2
from dcprog.functions.smooth import Linear
from dcprog.typing import Indices, Matrix, Sparse, Vector


class Each:
    """(f(y₁), …, f(y_K)) for y = Ax + b cut into K groups of ``size`` components: the rows of a
    :class:`~dcprog.DCConstraint` for all pairs of points, or all samples, at no Python cost a row.

    ``Each()`` is y itself, one affine form a row. Norms and their squares are evaluated for all rows at once.

    >>> import pyomo.environ as pyo
    >>> from dcprog.functions import Norm2
    >>> m = pyo.ConcreteModel(); m.c = pyo.Var(range(4))  # the distances of (c₀, c₁) and (c₂, c₃) from (1, 0)
    >>> rows = Each(Norm2(), 2)(np.eye(4), m.c, [-1, 0, -1, 0])
    >>> len(rows), rows.values(np.array([1.0, 2.0, 4.0, 4.0]))
    (2, array([2., 5.]))
    """

    def __init__(self, function: ConvexFunction | None = None, size: int = 1) -> None:
        if not (function is None or isinstance(function, ConvexFunction)):
            raise DataError(f"function is {function!r}, expected a convex function such as Norm2(), or None for y itself")
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise DataError(f"size is {size!r}: pass how many components of Ax + b a row takes, an integer ≥ 1")
        if function is None and size != 1:
            raise DataError("Each() without a function has one component a row: leave size out")
        self.function, self.size = function or Linear([1.0]), int(size)

    def __call__(self, A: Any, x: Any, b: Any = None) -> Rows:
        A = sp.csr_array(matrix("A", A))
        if A.shape[0] % self.size:
            raise DataError(f"A has {A.shape[0]} rows, which are no groups of {self.size}: pass {self.size} for each row")
        return Rows(self.function, self.size, A, np.zeros(A.shape[0]) if b is None else vector("b", b, A.shape[0]), x)

    def __repr__(self) -> str:
        return f"Each({self.function!r}, {self.size})"


@dataclass(frozen=True, eq=False)
class Rows:
    """f of the groups of Ax + b; ``x`` is what :class:`Each` was given, Pyomo variables or a list of them."""

    function: ConvexFunction
    size: int
    A: Sparse
    b: Vector
    x: Any

    def __len__(self) -> int:
        return int(self.A.shape[0]) // self.size

    def values(self, x: Vector) -> Vector:
        """The K values."""
        return self.evaluated(x)[0]

    @property
    def places(self) -> tuple[Indices, Indices]:
        """Row and column of each of :meth:`partials`; those at the same place are to be added up."""
        entries = sp.coo_array(self.A)
        return entries.row // self.size, entries.col.astype(np.int64)

    def partials(self, x: Vector) -> Vector:
        """∇f(y_k)'A_k, by the entries of A."""
        return self.partials_of(self.evaluated(x)[1])

    def partials_of(self, slopes: Matrix) -> Vector:
        """The same from the gradients ∇f(y_k)."""
        partials: Vector = self.A.data * np.repeat(slopes.ravel(), np.diff(self.A.indptr))
        return partials

    @property
    def is_affine(self) -> bool:
        """Whether every row is an affine form."""
        return isinstance(self.function, Linear)

    def evaluated(self, x: Vector) -> tuple[Vector, Matrix]:
        """The K values, and the gradients ∇f(y_k) below each other."""
        Y = (self.A @ x + self.b).reshape(len(self), self.size)
        known = BATCHED.get(type(self.function))
        if known is not None:
            return known(self.function, Y)
        return np.array([self.function.value(y) for y in Y]), np.array([self.function.gradient(y) for y in Y])


def _linear(function: ConvexFunction, Y: Matrix) -> tuple[Vector, Matrix]:
    c = function.gradient(Y[0]) if len(Y) else np.ones(Y.shape[1])
    return Y @ c, np.tile(c, (len(Y), 1))


def _norms(function: ConvexFunction, Y: Matrix) -> tuple[Vector, Matrix]:
    largest = np.abs(Y).max(axis=1, initial=0.0, keepdims=True)
    scaled = Y / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    slopes = scaled / np.where(lengths > 0, lengths, 1.0)
    (none,) = np.nonzero(lengths.ravel() == 0)
    if none.size:  # 0 is a subgradient, too, but one that leads nowhere: two points that coincide never part
        slopes[none] = _directions(none, Y.shape[1])
    return (largest * lengths).ravel(), slopes


def _directions(which: Indices, size: int) -> Matrix:
    """Vectors of length 1 that are special in no way, the same for the same number."""
    directions = np.random.default_rng(0).normal(size=(int(which.max()) + 1, size))[which]
    unit: Matrix = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return unit


def _squares(function: ConvexFunction, Y: Matrix) -> tuple[Vector, Matrix]:
    return (Y**2).sum(axis=1), 2 * Y


BATCHED: dict[type[ConvexFunction], Callable[[ConvexFunction, Matrix], tuple[Vector, Matrix]]] = {
    Linear: _linear,
    Norm2: _norms,
    SquaredNorm: _squares,
}
"""Functions of this package that are evaluated for all rows at once."""

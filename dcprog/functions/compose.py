"""Convex functions of simple linear maps of their variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ModelError
from dcprog.functions.base import ConvexFunction, Epigraph, QuadraticForm, proved
from dcprog.functions.conic import ConicForm
from dcprog.functions.corners import Corner
from dcprog.functions.indices import increases
from dcprog.typing import Indices, Matrix, Vector


@proved
class OfSum(ConvexFunction):
    """f(p + q) for the two halves p, q of the variables: a function of |w| where w = p − q, p, q ≥ 0.

    With ``parts`` = 2Q it is f(p₁ + q₁ + … + p_Q + q_Q), a function of Σₖ|wₖ|.

    >>> import numpy as np
    >>> from dcprog.functions import Exponential
    >>> f = Exponential(alpha=5)
    >>> OfSum(f).value(np.array([1.0, 0.0, 0.0, 2.0])) == f.value(np.array([1.0, 2.0]))
    True
    """

    def __init__(self, function: ConvexFunction, parts: int = 2) -> None:
        self.function, self.parts = function, parts
        self.smooth = function.smooth
        self.domain_lower = function.domain_lower / parts

    def __call__(self, *variables: Any) -> Any:
        expression = super().__call__(*variables)
        if expression.nargs() % self.parts:
            raise ModelError(f"{self!r} takes {self.parts} vectors of one length, got {expression.nargs()} variables in all")
        return expression

    def value(self, x: Vector) -> float:
        return self.function.value(self._sum(x))

    def gradient(self, x: Vector) -> Vector:
        return np.tile(self.function.gradient(self._sum(x)), self.parts)

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        inner = self.function.corners(self._sum(x), self._sum(radius))
        if inner is None:
            return None
        shifts = len(x) // self.parts * np.arange(self.parts)
        return [Corner((shifts[:, None] + c.indices).ravel(), np.tile(c.turns, self.parts)) for c in inner]

    def hessian(self, x: Vector) -> Matrix | None:
        hessian = self.function.hessian(self._sum(x))
        if hessian is None:
            return None
        block = np.diag(hessian) if self.function.separable else hessian
        return np.tile(block, (self.parts, self.parts))

    @property
    def has_hessian(self) -> bool:
        """Whether the function of the sum gives one."""
        return self.function.has_hessian

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        return (self.function,)

    def _sum(self, x: Vector) -> Vector:
        total: Vector = x.reshape(self.parts, -1).sum(axis=0)
        return total

    def __repr__(self) -> str:
        return f"OfSum({self.function!r}{'' if self.parts == 2 else f', parts={self.parts}'})"


@proved
class Repeated(ConvexFunction):
    """f(x[positions]): a function of variables some of which stand in several of its arguments, as in L1Norm()([x, x, y]).

    With the matrix S of zeros and ones, x[positions] = Sx, the gradient is S'∇f(Sx) and the Hessian S'∇²f(Sx)S.

    >>> from dcprog.functions import L1Norm
    >>> f = Repeated(L1Norm([1.0, 2.0, 4.0]), np.array([0, 1, 0]))
    >>> x = np.array([-3.0, 1.0])
    >>> f.value(x), f.gradient(x)
    (17.0, array([-5.,  2.]))
    """

    def __init__(self, function: ConvexFunction, positions: Indices) -> None:
        self.function, self.positions = function, np.asarray(positions, dtype=np.int64)
        self.dimension = int(self.positions.max()) + 1
        for name in ("smooth", "separable", "strong_convexity", "hessian_operations", "lowest"):
            setattr(self, name, getattr(function, name))

    @property
    def has_hessian(self) -> bool:
        """Whether the function itself gives one."""
        return self.function.has_hessian

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        """The function that this one's convexity rests on."""
        return (self.function,)

    def value(self, x: Vector) -> float:
        return self.function.value(x[self.positions])

    def gradient(self, x: Vector) -> Vector:
        return self._added_up(self.function.gradient(x[self.positions]))

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        inner = self.function.corners(x[self.positions], radius[self.positions])
        if inner is None:
            return None
        S = self._selection
        return [Corner(np.arange(len(x)), np.asarray(c.turns @ S[c.indices].toarray())) for c in inner]

    def hessian(self, x: Vector) -> Vector | Matrix | None:
        H = self.function.hessian(x[self.positions])
        if H is None:
            return None
        if self.separable:
            return self._added_up(H)
        S = self._selection
        both: Matrix = np.asarray(S.T @ np.asarray(H) @ S)
        return both

    def epigraph(self, n: int) -> Epigraph | None:
        epigraph = self.function.epigraph(len(self.positions))
        if epigraph is None:
            return None
        known, A = epigraph.point, sp.csr_array(sp.csr_array(epigraph.A) @ self._selection)
        return epigraph._replace(A=A, point=None if known is None else lambda x: known(x[self.positions]))

    def quadratic(self, n: int) -> QuadraticForm | None:
        form = self.function.quadratic(len(self.positions))
        if form is None:
            return None
        S = self._selection
        return QuadraticForm(sp.csc_array(S.T @ sp.csc_array(form.Q) @ S), self._added_up(form.c), form.constant)

    @property
    def has_conic(self) -> bool:
        """Whether the function itself has a conic form."""
        return self.function.has_conic

    def conic(self, n: int) -> ConicForm | None:
        form = self.function.conic(len(self.positions))
        return None if form is None else form._replace(A=sp.csr_array(sp.csr_array(form.A) @ self._selection))

    def lower_limits(self, n: int) -> Vector:
        limits = np.full(self.dimension or 0, -np.inf)
        np.maximum.at(limits, self.positions, self.function.lower_limits(len(self.positions)))
        return limits

    def outside(self, lower: Vector, upper: Vector) -> Indices:
        return self.positions[self.function.outside(lower[self.positions], upper[self.positions])]

    def linear_forms(self, n: int) -> tuple[ConvexFunction, Any, Vector]:
        function, A, b = self.function.linear_forms(len(self.positions))
        return function, sp.csr_array(A @ self._selection), b

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return self.function.expand([x[i] for i in self.positions], exp, log)

    @property
    def _selection(self) -> Any:
        """S."""
        k = len(self.positions)
        return sp.csr_array((np.ones(k), (np.arange(k), self.positions)), shape=(k, self.dimension))

    def _added_up(self, v: Any) -> Vector:
        """S'v; a vector of the wrong length is returned as it is, for whoever calls to complain of."""
        values: Vector = np.asarray(v, dtype=float)
        if values.shape != self.positions.shape:
            return values
        total: Vector = np.zeros(self.dimension or 0)
        np.add.at(total, self.positions, values)
        return total

    def __repr__(self) -> str:
        return f"Repeated({self.function!r}, {self.positions.tolist()})"


_MADE: WeakValueDictionary[tuple[int, bytes], Repeated] = WeakValueDictionary()
"""So that a function which stands in g and in h is the same object in both, and can be told to be."""


def merged(function: ConvexFunction, indices: Indices) -> tuple[ConvexFunction, Indices]:
    """The function of x[indices] as one in which each variable stands once, and the variables in order of appearance."""
    if increases(indices):
        return function, indices
    distinct, first, inverse = np.unique(indices, return_index=True, return_inverse=True)
    if len(distinct) == len(indices):
        return function, indices
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    positions = rank[inverse]
    key = (id(function), positions.tobytes())
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = Repeated(function, positions)
    return made, distinct[order]

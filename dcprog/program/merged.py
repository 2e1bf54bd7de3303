"""f = g − h as one function: what stands in both is cancelled before it is evaluated, and constants are kept apart.

A proximal term ρ/2‖x‖² in both g and h, or a constant of 1e9, is then no part of f, of the size of its terms, or of their
rounding. The gap of criticality is computed from differences:

    gap = g(x) − g(x⁺) + ⟨u, x⁺ − x⟩ = −⟨c + Qx, Δ⟩ − ½Δ'Q_gΔ + [γ(x) − γ(x⁺)] + ⟨∇η(x), Δ⟩,   Δ = x⁺ − x,

where c'x + ½x'Qx is what is left of the linear and quadratic parts of g − h, and γ, η are the other terms of g and h.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.tape import Tape, TapeBatch, batch
from dcprog.convex.terms import FunctionTerm, SmoothSum, SmoothTerm
from dcprog.program.expressions import BoundFunction, Parts
from dcprog.typing import Sparse, Vector

SAME = 1e-12
"""Coefficients that differ by this share of the largest are the same."""


class Evaluation(NamedTuple):
    """f, g and h at a point, with their constants; f without, and the size of the terms that it is made of."""

    f: float
    g: float
    h: float
    level: float
    size: float


@dataclass(frozen=True, eq=False)
class Side:
    """g or h: constant + c'x + ½x'Qx + the other terms, which are tapes and vectorised functions."""

    constant: float
    c: Vector
    Q: Sparse | None
    tapes: list[Tape]
    functions: list[BoundFunction]
    rest: SmoothSum

    @classmethod
    def of(cls, parts: Parts) -> Side:
        """The side that ``parts`` state."""
        quadratic = Parts(parts.n, parts.constant, parts.linear, parts.quadratic, forms=list(parts.forms))
        others = []
        for bound in parts.functions:
            form = bound.function.quadratic(len(bound.indices))
            if form is None:
                others.append(bound)
                continue
            form = form.times(bound.weight)
            quadratic.forms.append((bound.indices, form))
            quadratic.constant += form.constant
        tapes = [*parts.tapes, *(k.tape for k in parts.kinks)]
        rest = SmoothSum(_terms(tapes, others), parts.n)
        return cls(quadratic.constant, quadratic.c(parts.n), quadratic.Q(parts.n), tapes, others, rest)

    def slope(self, x: Vector) -> Vector:
        """c + Qx, a new array."""
        slope: Vector = self.c.copy() if self.Q is None else self.c + self.Q @ x
        return slope

    def slope_size(self, x: Vector) -> Vector:
        """The sizes of the terms of c + Qx."""
        sizes: Vector = np.abs(self.c)
        return sizes if self.Q is None else sizes + abs(self.Q) @ np.abs(x)

    def within(self, c: Vector, Q: Sparse | None) -> Side:
        """What a linear cost c and a matrix Q of more variables have beyond the linear and quadratic terms of this side."""
        N, n = len(c), len(self.c)
        if n == N:
            return Side(0.0, np.zeros(n), None, [], [], SmoothSum([], n))
        linear, rest = c.copy(), Q
        linear[:n] -= self.c
        linear[np.abs(linear) <= SAME * float(np.abs(self.c).max(initial=0.0))] = 0.0
        if self.Q is not None:
            own = sp.csc_array(sp.block_diag([self.Q, sp.csc_array((N - n, N - n))]))
            rest = _difference(Q, own)
        if rest is not None and self.Q is not None:
            rest.data[np.abs(rest.data) <= SAME * np.abs(self.Q.data).max(initial=0.0)] = 0.0
            rest.eliminate_zeros()
        return Side(0.0, linear, rest, [], [], SmoothSum([], N))

    def quadratic(self, x: Vector) -> float:
        """c'x + ½x'Qx."""
        return float(self.c @ x) + (0.0 if self.Q is None else 0.5 * float(x @ (self.Q @ x)))


class Merged:
    """f = g − h with common parts cancelled."""

    def __init__(self, g: Parts, h: Parts) -> None:
        self.g, self.h = Side.of(g), Side.of(h)
        self.n, self.constant = g.n, self.g.constant - self.h.constant
        self.c = self.g.c - self.h.c
        self.Q = _difference(self.g.Q, self.h.Q)
        self._c_size, self._Q_size = np.abs(self.c), None if self.Q is None else abs(self.Q)
        tapes, functions = _cancelled(self.g, self.h)
        self.rest = SmoothSum(_terms(tapes, functions), self.n)
        # nothing cancelled: what g and h evaluate need not be evaluated for f again
        self._whole = len(tapes) + len(functions) == sum(len(s.tapes) + len(s.functions) for s in (self.g, self.h))
        self._kinked = any(isinstance(term, TapeBatch) and term.has_kinks for term in self.rest.terms)

    def evaluate(self, x: Vector) -> Evaluation:
        """f, g, h and the size of f at x; terms that stand in f as in g or h are evaluated once."""
        in_g, in_h = self.g.rest.value(x), self.h.rest.value(x)
        rest = in_g - in_h if self._whole else self.rest.value(x)
        quadratic = 0.0 if self.Q is None else 0.5 * float(x @ (self.Q @ x))
        level = float(self.c @ x) + quadratic + rest
        return Evaluation(
            f=level + self.constant,
            g=self.g.quadratic(x) + in_g + self.g.constant,
            h=self.h.quadratic(x) + in_h + self.h.constant,
            level=level,
            size=self._size(x, abs(in_g) + abs(in_h)),
        )

    def _size(self, x: Vector, whole: float) -> float:
        a = np.abs(x)
        size = float(self._c_size @ a) + (0.0 if self._Q_size is None else 0.5 * float(a @ (self._Q_size @ a)))
        return size + (whole if self._whole and not self._kinked else self.rest.size(x))

    def value(self, x: Vector) -> float:
        """f(x) without its constant."""
        quadratic = 0.0 if self.Q is None else 0.5 * float(x @ (self.Q @ x))
        return float(self.c @ x) + quadratic + self.rest.value(x)

    def gradient_size(self, x: Vector) -> Vector:
        """For each variable, the sum of the absolute values that the slope of f is made of."""
        sizes = self._c_size if self._Q_size is None else self._c_size + self._Q_size @ np.abs(x)
        return sizes + self.rest.gradient_size(x)

    def slope(self, x: Vector, u: Vector) -> Vector:
        """∇(c'x + ½x'Qx) − ∂η(x), u ∈ ∂h(x) given: the slope of f without the terms γ of g."""
        merged = self.c if self.Q is None else self.c + self.Q @ x
        return merged - (u - self.h.slope(x)) if self.h.rest.terms else merged

    def gap(self, x: Vector, there: Vector, u: Vector) -> float:
        """g(x) − g(there) + ⟨u, there − x⟩ for u ∈ ∂h(x)."""
        step = there - x
        bend = 0.0 if self.g.Q is None else 0.5 * float(step @ (self.g.Q @ step))
        rest = self.g.rest.value(x) - self.g.rest.value(there) if self.g.rest.terms else 0.0
        return rest - float(self.slope(x, u) @ step) - bend


def _terms(tapes: Sequence[Tape], functions: Sequence[BoundFunction]) -> list[SmoothTerm]:
    return [*batch(tapes), *(FunctionTerm(b.function, b.indices, b.weight) for b in functions)]


def _cancelled(g: Side, h: Side) -> tuple[list[Tape], list[BoundFunction]]:
    """The tapes and functions of g − h, equal ones added up and those of weight 0 left out."""
    tapes: dict[Any, Tape] = {}
    functions: dict[Any, BoundFunction] = {}
    for sign, side in ((1.0, g), (-1.0, h)):
        for tape in side.tapes:
            same = tapes.get(tape[:3])
            tapes[tape[:3]] = tape._replace(weight=sign * tape.weight + (same.weight if same else 0.0))
        for bound in side.functions:
            key = (id(bound.function), bound.indices.tobytes())
            weight = sign * bound.weight + (functions[key].weight if key in functions else 0.0)
            functions[key] = BoundFunction(weight, bound.function, bound.indices)
    return [t for t in tapes.values() if t.weight], [b for b in functions.values() if b.weight]


def _difference(a: Sparse | None, b: Sparse | None) -> Sparse | None:
    if a is None or b is None:
        return a if b is None else -b
    Q = a - b
    Q.eliminate_zeros()
    return Q if Q.nnz else None

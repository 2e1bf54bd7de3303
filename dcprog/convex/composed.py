"""Vectorised functions inside of other operations, as in ‖x‖² or max(‖x‖, y)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from dcprog.convex.tape import KINKS, Tape, TapeBatch
from dcprog.functions.base import ConvexFunction
from dcprog.typing import Indices, Matrix, Vector


class Inner(NamedTuple):
    """f(x[at]), one of the functions that a tape knows the value of."""

    function: ConvexFunction
    at: Indices


class Composed(ConvexFunction):
    """T(x, f₁(x), …, f_k(x)) for a tape T whose variables are n numbers x, and from n on the values of functions; its weight
    is its sign, 1 or −1.

    Nothing about it says that it is convex: that is a claim as any other.

    >>> from dcprog.convex.tape import Operation
    >>> from dcprog.functions import Norm2
    >>> square = Tape((2,), (2.0,), (Operation("power", (0, 1)),), 1.0)
    >>> f = Composed(square, (Inner(Norm2(), np.array([0, 1])),), 2)
    >>> x = np.array([3.0, 4.0])
    >>> f.value(x), f.gradient(x)
    (25.0, array([6., 8.]))
    >>> f.hessian(x).round(9) + 0
    array([[2., 0.],
           [0., 2.]])
    """

    def __init__(self, tape: Tape, inner: Sequence[Inner], n: int, text: str = "a composition") -> None:
        self.tape, self.inner, self.dimension, self.text = tape, tuple(inner), n, text
        self.smooth = all(f.smooth for f, _ in inner) and not any(o.name in KINKS for o in tape.operations)
        self._outer = TapeBatch([tape])

    def value(self, x: Vector) -> float:
        return float(self._outer.value(self._arguments(x)))

    def gradient(self, x: Vector) -> Vector:
        slopes, n = self._slopes(x), len(x)
        gradient: Vector = slopes[:n].copy()
        for slope, (f, at) in zip(slopes[n:], self.inner, strict=True):
            if slope:  # 0 · ∞ would be NaN
                gradient[at] += slope * np.asarray(f.gradient(x[at]), dtype=float)
        return gradient

    def hessian(self, x: Vector) -> Matrix | None:
        """J'∇²T J + Σ ∂T/∂fⱼ ∇²fⱼ, J the derivative of (x, f(x))."""
        slopes, n = self._slopes(x), len(x)
        J = np.vstack([np.eye(n), np.zeros((len(self.inner), n))])
        bends = np.zeros((n, n))
        for row, (f, at) in enumerate(self.inner, n):
            J[row, at] = f.gradient(x[at])
            H = f.hessian(x[at])
            if H is None:
                return None
            bends[np.ix_(at, at)] += slopes[row] * (np.diag(np.asarray(H)) if f.separable else np.asarray(H))
        outer = np.zeros((len(J), len(J)))
        rows, cols = self._outer.rows, self._outer.cols
        np.add.at(outer, (rows, cols), self._outer.hessian_values(self._arguments(x)))
        hessian: Matrix = J.T @ (outer + np.tril(outer, -1).T) @ J + bends
        return hessian

    def negated(self) -> Composed:
        """−T."""
        return composed(
            self.tape._replace(weight=-self.tape.weight), self.inner, int(self.dimension or 0), f"-({self.text})"
        )

    @property
    def has_hessian(self) -> bool:
        """Whether all functions give one."""
        return all(f.has_hessian for f, _ in self.inner)

    def lower_limits(self, n: int) -> Vector:
        limits = np.full(n, -np.inf)
        for f, at in self.inner:
            np.maximum.at(limits, at, f.lower_limits(len(at)))
        return limits

    def outside(self, lower: Vector, upper: Vector) -> Indices:
        return np.unique(np.concatenate([at[f.outside(lower[at], upper[at])] for f, at in self.inner]))

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        return tuple(f for f, _ in self.inner)

    def _arguments(self, x: Vector) -> Vector:
        return np.append(x, [float(f.value(x[at])) for f, at in self.inner])

    def _slopes(self, x: Vector) -> Vector:
        """∇T."""
        arguments = self._arguments(x)
        slopes = np.zeros_like(arguments)
        self._outer.add_gradient(arguments, slopes)
        return slopes

    def __repr__(self) -> str:
        return self.text


_MADE: WeakValueDictionary[tuple[object, ...], Composed] = WeakValueDictionary()
"""So that a composition which stands in g and in h is the same object in both, and is cancelled."""


def composed(tape: Tape, inner: Sequence[Inner], n: int, text: str) -> Composed:
    """T(x, f(x)), the same object for the same tape and functions."""
    key = _key(tape, inner, n)
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = Composed(tape, inner, n, text)
    return made


def _key(tape: Tape, inner: Sequence[Inner], n: int) -> tuple[object, ...]:
    return n, tape, *((id(f), at.tobytes()) for f, at in inner)

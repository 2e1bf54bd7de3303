"""Convex functions of simple linear maps of their variables."""

from __future__ import annotations

import numpy as np

from dcprog._typing import Vector
from dcprog.functions.base import ConvexFunction


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

    def value(self, x: Vector) -> float:
        return self.function.value(self._sum(x))

    def gradient(self, x: Vector) -> Vector:
        return np.tile(self.function.gradient(self._sum(x)), self.parts)

    def _sum(self, x: Vector) -> Vector:
        total: Vector = x.reshape(self.parts, -1).sum(axis=0)
        return total

    def __repr__(self) -> str:
        return f"OfSum({self.function!r}{'' if self.parts == 2 else f', parts={self.parts}'})"

"""Convex functions of simple linear maps of their variables."""

from __future__ import annotations

import numpy as np

from dcprog._typing import Vector
from dcprog.functions.base import ConvexFunction


class OfSum(ConvexFunction):
    """f(p + q) for the two halves p, q of the variables: a function of |w| where w = p − q, p, q ≥ 0.

    >>> import numpy as np
    >>> from dcprog.functions import Exponential
    >>> f = Exponential(alpha=5)
    >>> OfSum(f).value(np.array([1.0, 0.0, 0.0, 2.0])) == f.value(np.array([1.0, 2.0]))
    True
    """

    def __init__(self, function: ConvexFunction) -> None:
        self.function = function
        self.smooth = function.smooth
        self.domain_lower = 0.5 * function.domain_lower

    def value(self, x: Vector) -> float:
        return self.function.value(self._sum(x))

    def gradient(self, x: Vector) -> Vector:
        return np.tile(self.function.gradient(self._sum(x)), 2)

    def _sum(self, x: Vector) -> Vector:
        half = len(x) // 2
        return x[:half] + x[half:]

    def __repr__(self) -> str:
        return f"OfSum({self.function!r})"

"""Stretches of a function of one variable on which it is convex, continued by their tangents: what a curve such as the sine
is a difference of.

Between two inflection points φ is convex or concave. With E_k the k-th stretch continued by its tangents and T_j the
tangent at the inflection point c_j, φ = Σ_k E_k − Σ_j T_j on the whole range. So g = Σ of the convex E_k and h = −Σ of the
concave ones, up to an affine function, and g″ = max(φ″, 0), h″ = max(−φ″, 0): no other split has a smaller h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.functions.checks import number
from dcprog.typing import Vector

Of = Callable[[Vector], Vector]
LARGEST = 1e6
"""Inflection points further out are not known to enough digits."""


class Curve(NamedTuple):
    """φ, φ′ and φ″, and where φ″ changes its sign."""

    value: Of
    slope: Of
    bend: Of
    inflection: float = 0.0
    period: float = np.inf
    """Between one inflection point and the next."""
    rises: bool = True
    """Whether φ″ ≥ 0 just above the inflection point."""


def _sech2(t: Any) -> Any:
    """cosh(t)⁻², by powers that do not overflow."""
    falling = np.exp(-2 * np.abs(t))
    return 4 * falling / (1 + falling) ** 2


CURVES = {
    "sin": Curve(np.sin, np.cos, lambda t: -np.sin(t), 0.0, np.pi, False),
    "cos": Curve(np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t), np.pi / 2, np.pi, True),
    "tanh": Curve(np.tanh, _sech2, lambda t: -2 * np.tanh(t) * _sech2(t), rises=False),
    "atan": Curve(np.arctan, lambda t: 1 / (1 + t * t), lambda t: -2 * t / (1 + t * t) ** 2, rises=False),
    "asinh": Curve(np.arcsinh, lambda t: (1 + t * t) ** -0.5, lambda t: -t * (1 + t * t) ** -1.5, rises=False),
    "sinh": Curve(np.sinh, np.cosh, np.sinh),
}


def curve(name: str, power: int = 0) -> Curve:
    """The function of that name, or for "power" tᵖ with an odd p ≥ 3."""
    if name == "power":
        p = power
        return Curve(lambda t: t**p, lambda t: p * t ** (p - 1), lambda t: p * (p - 1) * t ** (p - 2))
    return CURVES[name]


def stretches(name: str, lower: float, upper: float, power: int = 0) -> list[tuple[float, float, int]] | None:
    """The (a, b, sign) that cover [lower, upper], sign 1 where φ is convex and −1 where it is concave; None if too far out.

    >>> stretches("power", -1.0, 2.0, 3)
    [(-inf, 0.0, -1), (0.0, inf, 1)]
    """
    known = curve(name, power)
    if math.isinf(known.period):
        middle, sign = known.inflection, 1 if known.rises else -1
        both = [(-np.inf, middle, -sign), (middle, np.inf, sign)]
        return [s for s in both if s[0] < upper and s[1] > lower]
    if not max(abs(lower), abs(upper)) < LARGEST:
        return None
    first, last = (math.floor((end - known.inflection) / known.period) for end in (lower, upper))
    ends = [known.inflection + k * known.period for k in range(first, last + 2)]
    sign = (1 if known.rises else -1) * (-1 if first % 2 else 1)
    return [(a, b, sign * (-1) ** k) for k, (a, b) in enumerate(pairwise(ends)) if a < upper and b > lower]


@proved
class Continued(ConvexFunction):
    """Σⱼ ±φ(xⱼ) on the stretch [lower, upper] of φ, continued by its tangents; the sign is that which makes it convex.

    φ is "sin", "cos", "tanh", "atan", "asinh", "sinh", or "power" with an odd exponent: max(x, 0)³ is that of x³ on [0, ∞).

    >>> f = Continued("power", 0.0, float("inf"), power=3)
    >>> x = np.array([-1.0, 2.0])
    >>> f.value(x), f.gradient(x), f.hessian(x)
    (8.0, array([ 0., 12.]), array([ 0., 12.]))
    """

    separable = True

    def __init__(self, name: str, lower: float, upper: float, power: int = 0) -> None:
        if name not in CURVES and name != "power":
            raise DataError(f"name is {name!r}, expected one of {', '.join([*CURVES, 'power'])}")
        if name == "power" and not (isinstance(power, int) and power >= 3 and power % 2 == 1):
            raise DataError(f"power is {power!r}: pass an odd integer ≥ 3; even powers are convex as they are")
        self.name, self.power = name, power
        self.lower, self.upper = (
            float(lower),
            number("upper", upper, float(lower), math.inf, such_as=1) if upper < np.inf else np.inf,
        )
        found = stretches(name, self.lower, self.upper, power)
        if found is None or len(found) != 1:
            raise DataError(
                f"{name} changes from convex to concave between {lower} and {upper}: pass one of dcprog's stretches"
            )
        self.sign = found[0][2]
        self._curve = curve(name, power)

    def value(self, x: Vector) -> float:
        inside, slope = self._clipped(x)
        return self.sign * float((self._curve.value(inside) + slope * (x - inside)).sum())

    def gradient(self, x: Vector) -> Vector:
        return self.sign * self._clipped(x)[1]

    def hessian(self, x: Vector) -> Vector:
        inside, _ = self._clipped(x)
        return np.where(x == inside, self.sign * self._curve.bend(inside), 0.0)

    def _clipped(self, x: Vector) -> tuple[Vector, Vector]:
        """The nearest points of the stretch, and the slopes there."""
        inside = np.clip(x, self.lower, self.upper)
        return inside, self._curve.slope(inside)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        if self.name != "power":
            return None
        side = 1.0 if self.lower == 0.0 else -1.0
        return sum((0.5 * (abs(t) + side * t)) ** self.power for t in x)

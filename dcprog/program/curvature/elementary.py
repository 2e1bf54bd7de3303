"""Elementary functions of one variable with their first two derivatives: the range of each over an interval.

A function is monotone between its critical points, so its range over [a, b] is the hull of its values at a, at b and at the
critical points between them. What is known of it everywhere (exp > 0) is cut off at last, and values that are too small for
a float count as such.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dcprog.program.curvature.intervals import TINY, Array, Interval, hull, multiply, outward, point
from dcprog.typing import Mask

ROOT3, ROOT2 = 3.0**-0.5, 2.0**-0.5
INFLECTION_OF_TANH = float(np.arctanh(ROOT3))


class Curve(NamedTuple):
    """A function that is monotone between its critical points and lies between floor and ceiling."""

    value: Callable[[Array], Array]
    critical: tuple[float, ...] = ()
    floor: float = -np.inf
    ceiling: float = np.inf
    vanishes: bool = False
    """Whether it may be too small for a float without being 0; it is 0 at most at 0, and in the limit at infinity."""

    def range(self, x: Interval) -> Interval:
        """All of its values on x."""
        with np.errstate(all="ignore"):
            at = [x.lower, x.upper, *(np.clip(c, x.lower, x.upper) for c in self.critical)]
            values = [self.value(t) for t in at]
        wide = outward(hull(*values))
        if self.vanishes:
            lost = np.logical_or.reduce([(v == 0.0) & (t != 0.0) & np.isfinite(t) for v, t in zip(values, at, strict=True)])
            wide = Interval(
                np.where(lost, np.minimum(wide.lower, -TINY), wide.lower),
                np.where(lost, np.maximum(wide.upper, TINY), wide.upper),
            )
        return Interval(np.maximum(wide.lower, self.floor), np.minimum(wide.upper, self.ceiling))


class Elementary(NamedTuple):
    """φ, φ′ and φ″, and where φ is defined (limits at the ends allowed)."""

    value: Curve
    slope: Curve
    bend: Curve
    domain: tuple[float, float] = (-np.inf, np.inf)


def _far(decaying: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """The function, with its limit 0 at ±∞."""
    return lambda x: np.where(np.isinf(x), 0.0, decaying(np.where(np.isinf(x), 0.0, x)))


def _rest(x: Array) -> Array:
    """1 − x², without cancellation."""
    return (1.0 - x) * (1.0 + x)


_exp = Curve(np.exp, floor=0.0, vanishes=True)
_sinh = Curve(np.sinh)
_cosh = Curve(np.cosh, (0.0,), floor=1.0)

ELEMENTARY = {
    "exp": Elementary(_exp, _exp, _exp),
    "log": Elementary(
        Curve(np.log),
        Curve(lambda x: 1 / x, floor=0.0, vanishes=True),
        Curve(lambda x: -1 / x**2, ceiling=0.0, vanishes=True),
        (0.0, np.inf),
    ),
    "sinh": Elementary(_sinh, _cosh, _sinh),
    "cosh": Elementary(_cosh, _sinh, _cosh),
    "tanh": Elementary(
        Curve(np.tanh, floor=-1.0, ceiling=1.0),
        Curve(lambda x: np.cosh(x) ** -2.0, (0.0,), floor=0.0, vanishes=True),
        Curve(_far(lambda x: -2 * np.tanh(x) / np.cosh(x) ** 2), (-INFLECTION_OF_TANH, INFLECTION_OF_TANH), vanishes=True),
    ),
    "asin": Elementary(
        Curve(np.arcsin),
        Curve(lambda x: _rest(x) ** -0.5, (0.0,), floor=0.0),
        Curve(lambda x: x * _rest(x) ** -1.5, vanishes=True),
        (-1.0, 1.0),
    ),
    "acos": Elementary(
        Curve(np.arccos),
        Curve(lambda x: -(_rest(x) ** -0.5), (0.0,), ceiling=0.0),
        Curve(lambda x: -x * _rest(x) ** -1.5, vanishes=True),
        (-1.0, 1.0),
    ),
    "atan": Elementary(
        Curve(np.arctan),
        Curve(lambda x: 1 / (1 + x**2), (0.0,), floor=0.0, vanishes=True),
        Curve(_far(lambda x: -2 * x / (1 + x**2) ** 2), (-ROOT3, ROOT3), vanishes=True),
    ),
    "asinh": Elementary(
        Curve(np.arcsinh),
        Curve(lambda x: (1 + x**2) ** -0.5, (0.0,), floor=0.0, vanishes=True),
        Curve(_far(lambda x: -x * (1 + x**2) ** -1.5), (-ROOT2, ROOT2), vanishes=True),
    ),
    "acosh": Elementary(
        Curve(np.arccosh),
        Curve(lambda x: (x - 1) ** -0.5 * (x + 1) ** -0.5, floor=0.0, vanishes=True),
        Curve(_far(lambda x: -x * ((x - 1) * (x + 1)) ** -1.5), ceiling=0.0, vanishes=True),
        (1.0, np.inf),
    ),
    "atanh": Elementary(
        Curve(np.arctanh),
        Curve(lambda x: 1 / _rest(x), (0.0,), floor=0.0),
        Curve(lambda x: 2 * x / _rest(x) ** 2, vanishes=True),
        (-1.0, 1.0),
    ),
}
NAMES = frozenset({*ELEMENTARY, "sin", "cos", "tan"})
ENTROPY = "x log x"
"""Known as a whole to second derivatives, since those of its factors grow beyond all bounds at 0."""
ELEMENTARY[ENTROPY] = Elementary(
    Curve(lambda x: np.where(x == 0.0, 0.0, x * np.log(x)), (math.exp(-1.0),)),
    Curve(lambda x: 1.0 + np.log(x)),
    Curve(lambda x: 1 / x, floor=0.0, vanishes=True),
    (0.0, np.inf),
)


def ranges(name: str, x: Interval) -> tuple[Interval, Interval, Interval]:
    """φ(x), φ′(x) and φ″(x) of the function of that name.

    >>> [tuple(map(float, np.round(r, 3))) for r in ranges("exp", Interval(np.array(0.0), np.array(1.0)))]
    [(1.0, 2.718), (1.0, 2.718), (1.0, 2.718)]
    """
    if name == "sin":
        return _sine(x, 0), _sine(x, 1), _sine(x, 2)
    if name == "cos":
        return _sine(x, 1), _sine(x, 2), _sine(x, 3)
    if name == "tan":
        return _tangent(x)
    f = ELEMENTARY[name]
    inside = Interval(np.maximum(x.lower, f.domain[0]), np.minimum(x.upper, f.domain[1]))
    return f.value.range(inside), f.slope.range(inside), f.bend.range(inside)


def value_range(name: str, lower: float, upper: float) -> tuple[float, float]:
    """The values of the function over one interval, in which it is defined up to the ends.

    >>> value_range("exp", -float("inf"), 0.0)
    (0.0, 1.0000000000000004)
    """
    if name == "exp":
        return _slack(_exp_of(lower), -1.0) if lower > -700 else 0.0, max(_slack(_exp_of(upper), 1.0), TINY)
    if name == "log":
        return _slack(_log_of(lower), -1.0), _slack(_log_of(upper), 1.0)
    x = Interval(np.asarray(lower), np.asarray(upper))
    if name in ELEMENTARY:
        f = ELEMENTARY[name]
        values = f.value.range(Interval(np.maximum(x.lower, f.domain[0]), np.minimum(x.upper, f.domain[1])))
    else:
        values = ranges(name, x)[0]
    return float(values.lower), float(values.upper)


def _exp_of(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf if x == math.inf else sys.float_info.max


def _log_of(x: float) -> float:
    return -math.inf if x <= 0 else math.log(x)


def _slack(value: float, side: float) -> float:
    """The value, moved to the side by more than the rounding of the function that gave it."""
    if math.isinf(value) or (value == sys.float_info.max and side > 0):
        return math.inf if side > 0 else value
    return value + side * (4e-16 * abs(value) + (5e-324 if abs(value) < 1e-290 and value else 0.0)) if value else value


def defined(name: str, lower: float, upper: float) -> bool:
    """Whether the function has a value on all of [lower, upper], or a limit at its ends."""
    if name == "tan":
        return _branch(lower, upper)
    low, high = ELEMENTARY[name].domain if name in ELEMENTARY else (-np.inf, np.inf)
    return low <= lower and upper <= high


def _sine(x: Interval, quarter: int) -> Interval:
    """sin(x + quarter · π/2)."""
    f = (np.sin, np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t))[quarter % 4]
    lower, upper = x
    wide = ~(upper - lower < 6.25) | (np.maximum(np.abs(lower), np.abs(upper)) > 1e6)
    a, b = np.where(wide, 0.0, lower), np.where(wide, 0.0, upper)
    ends = outward(hull(f(a), f(b)))
    slack = 1e-9  # the place of an extremum is known up to rounding; near it the value is the extremum itself, up to slack²
    turns = [np.floor((b + slack + quarter * np.pi / 2 - s * np.pi / 2) / (2 * np.pi)) for s in (1, 3)]
    first = [(a - slack + quarter * np.pi / 2 - s * np.pi / 2) / (2 * np.pi) for s in (1, 3)]
    top, bottom = (t >= f0 for t, f0 in zip(turns, first, strict=True))
    top, bottom = top | wide, bottom | wide
    return Interval(np.where(bottom, -1.0, np.maximum(ends.lower, -1.0)), np.where(top, 1.0, np.minimum(ends.upper, 1.0)))


def _branch(lower: float, upper: float) -> bool:
    """Whether tan has no pole in the interval."""
    if not upper - lower < np.pi or max(abs(lower), abs(upper)) > 1e6:
        return False
    k = np.round(0.5 * (lower + upper) / np.pi)
    slack = 1e-15 * (1 + abs(k))
    return bool((k - 0.5) * np.pi + slack * abs(k) <= lower and upper <= (k + 0.5) * np.pi - slack * abs(k))


def _tangent(x: Interval) -> tuple[Interval, Interval, Interval]:
    broken = ~np.vectorize(_branch, otypes=[bool])(x.lower, x.upper)
    centre = np.round(np.where(broken, 0.0, 0.5 * (x.lower + x.upper)) / np.pi) * np.pi
    with np.errstate(all="ignore"):
        low, high, middle = np.tan(x.lower), np.tan(x.upper), np.tan(np.clip(centre, x.lower, x.upper))
    parts = (
        outward(hull(low, high)),
        outward(hull(*(1 + t**2 for t in (low, middle, high)))),
        outward(hull(*(2 * t * (1 + t**2) for t in (low, high)))),
    )
    everything = (-np.inf, 1.0, -np.inf)
    a, b, c = (
        Interval(np.where(broken, e, p.lower), np.where(broken, np.inf, p.upper))
        for p, e in zip(parts, everything, strict=True)
    )
    return a, b, c


def power(x: Interval, p: float) -> Interval:
    """xᵖ: for odd and even whole exponents on either side of 0, for others where x ≥ 0. Poles within x give all numbers."""
    if p == 0.0:
        return point(np.ones_like(x.lower))
    if p == 1.0:
        return x
    whole = float(p).is_integer()
    lower, upper = (x.lower, x.upper) if whole else (np.maximum(x.lower, 0.0), np.maximum(x.upper, 0.0))
    with np.errstate(all="ignore"):
        ends = [np.power(lower, p), np.power(upper, p)]
        if p < 0:  # the side from which an end at 0 is reached
            ends = [
                np.where(lower == 0.0, np.inf, ends[0]),
                np.where(upper == 0.0, np.inf if p % 2 != 1 else -np.inf, ends[1]),
            ]
        values = [*ends, np.zeros_like(lower)] if p > 0 and whole and p % 2 == 0 else ends
        across = (lower < 0) & (upper > 0)
        result = hull(*ends) if len(values) == 2 else _joined(hull(*ends), across)
    result = outward(result)
    lost = np.logical_or.reduce(
        [(v == 0.0) & (t != 0.0) & np.isfinite(t) for v, t in zip(ends, (lower, upper), strict=True)]
    )
    result = Interval(
        np.where(lost, np.minimum(result.lower, -TINY), result.lower),
        np.where(lost, np.maximum(result.upper, TINY), result.upper),
    )
    if p < 0:
        pole = across if whole else np.zeros_like(across)
        result = Interval(
            np.where(pole, -np.inf if p % 2 == 1 else np.minimum(*ends), result.lower), np.where(pole, np.inf, result.upper)
        )
    if not whole or p % 2 == 0:
        result = Interval(np.maximum(result.lower, 0.0), result.upper)
    return result


def _joined(a: Interval, across: Mask) -> Interval:
    """The interval, with 0 where x goes across 0."""
    return Interval(np.where(across, 0.0, a.lower), a.upper)


def power_ranges(p: float, x: Interval) -> tuple[Interval, Interval, Interval]:
    """xᵖ, p xᵖ⁻¹ and p(p − 1) xᵖ⁻².

    >>> [tuple(map(float, np.round(r, 3))) for r in power_ranges(3.0, Interval(np.array(-1.0), np.array(2.0)))]
    [(-1.0, 8.0), (0.0, 12.0), (-6.0, 12.0)]
    """
    slope = multiply(point(p), power(x, p - 1.0))
    return power(x, p), slope, multiply(_product(p), power(x, p - 2.0))


def _product(p: float) -> Interval:
    """p(p − 1)."""
    return multiply(point(p), point(p - 1.0))

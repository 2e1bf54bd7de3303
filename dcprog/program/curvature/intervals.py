"""Interval arithmetic on arrays, rounded outwards: what is proved with it holds for real numbers, not only for floats.

An interval is the pair (lower, upper) of arrays of one shape. Sums and products of floats are exact up to half a unit in
the last place; the rounding error is itself a float (Knuth's sum, Dekker's product), so that results move to the next float
outwards only where they are not exact: 1 − 1 is 0 and proves a sign. 0 · ∞ = 0: infinite ends are limits and no values.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dcprog.typing import Mask

Array: TypeAlias = NDArray[np.float64]
TINY = 5e-324


class Interval(NamedTuple):
    """All numbers between ``lower`` and ``upper``, entry by entry."""

    lower: Array
    upper: Array

    def at(self, key: Any) -> Interval:
        """The intervals at a key of the arrays."""
        return Interval(self.lower[key], self.upper[key])


def point(value: Array | float) -> Interval:
    """The interval that holds one number."""
    array = np.asarray(value, dtype=float)
    return Interval(array, array)


def add(a: Interval, b: Interval) -> Interval:
    """a + b.

    >>> total = add(point(0.1), point(0.2))
    >>> float(total.lower), float(total.upper)  # the sum of the two floats is above the float 0.3
    (0.3, 0.30000000000000004)
    """
    with np.errstate(all="ignore"):
        lower, upper = a.lower + b.lower, a.upper + b.upper
        below = _error_of_sum(a.lower, b.lower, lower) < 0
        above = _error_of_sum(a.upper, b.upper, upper) > 0
    return _ordered(_moved(lower, below, -np.inf), _moved(upper, above, np.inf))


def _error_of_sum(a: Array, b: Array, total: Array) -> Array:
    """a + b − total, exactly."""
    part = total - a
    return (a - (total - part)) + (b - part)


def _moved(value: Array, inexact: Mask, way: float) -> Array:
    """The next float where the value is not exact; an overflow is no infinite value."""
    over = np.isinf(value) & (np.sign(value) != np.sign(way))
    return np.where(inexact | over, np.nextafter(value, way), value)


def negative(a: Interval) -> Interval:
    """−a."""
    return Interval(-a.upper, -a.lower)


def multiply(a: Interval, b: Interval) -> Interval:
    """a · b.

    >>> multiply(Interval(np.array(-1.0), np.array(2.0)), point(0.0))
    Interval(lower=array(0.), upper=array(0.))
    """
    with np.errstate(all="ignore"):
        corners = [_product(p, q) for p in _ends(a) for q in _ends(b)]
        lower = np.minimum.reduce([low for low, _ in corners])
        upper = np.maximum.reduce([high for _, high in corners])
    return _ordered(lower, upper)


def _ends(a: Interval) -> tuple[Array, ...]:
    """Its ends, one of them where both are the same array."""
    return (a.lower,) if a.lower is a.upper else (a.lower, a.upper)


def _product(p: Array, q: Array) -> tuple[Array, Array]:
    """The floats next to p · q on both sides, itself where it is exact."""
    product = p * q
    product = np.where(np.isnan(product) & ((p == 0.0) | (q == 0.0)), 0.0, product)
    error = _error_of_product(p, q, product)
    size = np.abs(product)
    safe = (np.abs(p) < 1e150) & (np.abs(q) < 1e150) & (size > 1e-280)  # where the error itself is exact
    nothing = (p == 0.0) | (q == 0.0)
    unsure = ~safe & ~nothing & ~(np.isinf(p) | np.isinf(q))
    return _moved(product, (safe & (error < 0)) | unsure, -np.inf), _moved(product, (safe & (error > 0)) | unsure, np.inf)


def _error_of_product(p: Array, q: Array, product: Array) -> Array:
    """p · q − product, exactly unless it is too small for a float or too large to split."""
    high_p, high_q = _high(p), _high(q)
    low_p, low_q = p - high_p, q - high_q
    return ((high_p * high_q - product) + high_p * low_q + low_p * high_q) + low_p * low_q


def _high(p: Array) -> Array:
    """The leading half of the digits (Veltkamp)."""
    c = 134217729.0 * p
    return c - (c - p)


def square(a: Interval) -> Interval:
    """a², which is no less than 0."""
    size = Interval(np.where(a.lower > 0, a.lower, np.where(a.upper < 0, -a.upper, 0.0)), np.maximum(-a.lower, a.upper))
    result = multiply(size, size)
    return Interval(np.maximum(result.lower, 0.0), result.upper)


def magnitude(a: Interval) -> Array:
    """The largest |x| in it."""
    return np.maximum(-a.lower, a.upper)


def hull(*parts: Array) -> Interval:
    """The interval between the least and the largest of the numbers; NaN stands for an unknown number."""
    return _ordered(np.minimum.reduce(parts), np.maximum.reduce(parts))


def outward(a: Interval, parts: float = 16.0) -> Interval:
    """The interval, wider by so many units in the last place: for functions that are not exact to half of one."""
    margin = parts * np.finfo(float).eps
    with np.errstate(all="ignore"):
        lower = np.where(np.isfinite(a.lower), a.lower - margin * np.abs(a.lower) - _grain(a.lower), a.lower)
        upper = np.where(np.isfinite(a.upper), a.upper + margin * np.abs(a.upper) + _grain(a.upper), a.upper)
    largest = np.finfo(float).max  # an overflow is above every float, not infinite
    return Interval(np.where(a.lower == np.inf, largest, lower), np.where(a.upper == -np.inf, -largest, upper))


def _grain(value: Array) -> Array:
    """What an underflow may have lost; an exact 0 has lost nothing."""
    return np.where((value != 0.0) & (np.abs(value) < 1e-300), 1e-300, 0.0)


def _ordered(lower: Array, upper: Array) -> Interval:
    return Interval(np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper))

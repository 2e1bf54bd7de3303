"""Intervals of the values of sums and products, from those of their parts: rounded outwards, and exact where rounding could
hide a sign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.intervals import Interval, multiply

if TYPE_CHECKING:
    from dcprog.program.curvature.nodes import Node


def sum_bounds(line: Node, coefficients: Sequence[float], nodes: Sequence[Node]) -> tuple[float, float]:
    """Bounds of line + Σ cₖ · nodeₖ."""
    pairs = tuple(enumerate(coefficients))
    low = [n.lower if c > 0 else n.upper for c, n in zip(coefficients, nodes, strict=True)]
    high = [n.upper if c > 0 else n.lower for c, n in zip(coefficients, nodes, strict=True)]
    return (
        -math.inf if math.isinf(line.lower) else linear_end(pairs, low, line.lower, -1.0),
        math.inf if math.isinf(line.upper) else linear_end(pairs, high, line.upper, 1.0),
    )


def product_bounds(factors: Sequence[tuple[Node, float]]) -> tuple[float, float]:
    """Bounds of Π nodeᵢ^pᵢ.

    >>> from dcprog.program.curvature.nodes import Graph
    >>> x = Graph([-2.0], [3.0], ["x"]).variable(0)
    >>> product_bounds([(x, 2.0)])
    (0.0, 9.0)
    """
    if len(factors) == 1 and factors[0][1] in (2.0, 3.0, 4.0):
        exact = _exact_power(factors[0][0], int(factors[0][1]))
        if exact is not None:
            return exact
    total = None
    for node, p in factors:
        one = elementary.power(Interval(np.asarray(node.lower), np.asarray(node.upper)), p)
        total = one if total is None else multiply(total, one)
    assert total is not None
    return float(total.lower), float(total.upper)


def has_pole(node: Node, p: float) -> bool:
    """Whether nodeᵖ may have no value somewhere but at the ends of the node's interval."""
    if not float(p).is_integer():
        return node.lower < 0
    return p < 0 and node.lower < 0 < node.upper


def linear_end(pairs: tuple[tuple[int, float], ...], ends: list[float], constant: float, side: float) -> float:
    """constant + Σ aᵢ · endᵢ, rounded to the side; exactly where rounding could hide a sign."""
    products = [a * e for (_, a), e in zip(pairs, ends, strict=True)]
    if not math.isfinite(constant) or not all(map(math.isfinite, products)):
        return side * math.inf
    try:
        total = math.fsum([constant, *products])
    except OverflowError:
        return side * math.inf
    if all(abs(a) == 1.0 or e in (0.0, 1.0) for (_, a), e in zip(pairs, ends, strict=True)):  # products without rounding
        rest = math.fsum([constant, *products, -total])
        return total if rest == 0.0 or rest * side < 0 else math.nextafter(total, side * math.inf)
    error = 2.3e-16 * math.fsum(map(abs, products))
    if len(pairs) > 3 and abs(total) > 2 * error:
        return math.nextafter(total + side * error, side * math.inf)
    exact = Fraction(constant) + sum((Fraction(a) * Fraction(e) for (_, a), e in zip(pairs, ends, strict=True)), Fraction(0))
    return rounded(exact, side)


def rounded(exact: Fraction | float, side: float) -> float:
    """The float next to it on the side, itself if it is one."""
    near = float(exact)
    if math.isinf(near) or Fraction(near) == exact or (Fraction(near) - Fraction(exact)) * int(side) > 0:
        return near
    return math.nextafter(near, side * math.inf)


def _exact_power(node: Node, p: int) -> tuple[float, float] | None:
    """nodeᵖ without any rounding but the last: √(1 − x²) is defined up to x = 1."""
    if not max(abs(node.lower), abs(node.upper)) < 1e60:
        return None
    low, high = Fraction(node.lower) ** p, Fraction(node.upper) ** p
    if p % 2 == 0 and node.lower < 0 < node.upper:
        return 0.0, rounded(max(low, high), 1.0)
    return rounded(min(low, high), -1.0), rounded(max(low, high), 1.0)

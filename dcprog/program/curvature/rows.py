"""Bounds of variables that rows imply, by interval arithmetic there and back (Benhamou et al., HC4, 1999).

A row bounds its body; a node's bounds bound what it is made of, down to the variables. Everything is rounded outwards.
Nothing in the model is touched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.intervals import Interval, multiply, outward
from dcprog.program.curvature.nodes import Graph, Node, below, direction

EXACT = 16
"""Sums of so few terms are divided exactly."""
Bounds = tuple[float, float]


class Row(NamedTuple):
    """lower ≤ body ≤ upper."""

    body: Node
    lower: float
    upper: float


def tightened(graph: Graph, rows: Sequence[Row]) -> tuple[list[float], list[float]]:
    """The bounds of the variables, those that each row implies by itself taken in."""
    lower, upper = list(graph.lower), list(graph.upper)
    for row in rows:
        need = {row.body: (max(row.lower, row.body.lower), min(row.upper, row.body.upper))}
        for node in reversed(below([row.body])):
            if node in need and need[node][0] <= need[node][1]:
                for child, bounds in _children(node, need[node], lower, upper):
                    if isinstance(child, int):
                        low, high = max(lower[child], bounds[0]), min(upper[child], bounds[1])
                        if low <= high:  # else no point satisfies the row, which others will say
                            lower[child], upper[child] = low, high
                    else:
                        old = need.get(child, (child.lower, child.upper))
                        need[child] = max(old[0], bounds[0]), min(old[1], bounds[1])
    return lower, upper


def linear_forms(rows: Sequence[Row]) -> dict[tuple[tuple[int, float], ...], Bounds]:
    """The bounds that affine rows give to their linear forms."""
    forms: dict[tuple[tuple[int, float], ...], Bounds] = {}
    for row in rows:
        pairs = row.body.coefficients if row.body.kind == "affine" else ()
        if len(pairs) < 2:
            continue
        scale, unit = direction(pairs)
        ends = [_quotient(end, row.body.constant, scale, side) for end, side in ((row.lower, -scale), (row.upper, scale))]
        low, high = (ends[0], ends[1]) if scale > 0 else (ends[1], ends[0])
        old = forms.get(unit, (-math.inf, math.inf))
        forms[unit] = max(old[0], low), min(old[1], high)
    return forms


def _children(node: Node, need: Bounds, lower: Sequence[float], upper: Sequence[float]) -> list[tuple[Node | int, Bounds]]:
    """What the bounds of a node say of its variables or arguments."""
    if node.kind == "affine":
        ends = [(lower[i], upper[i]) for i, _ in node.coefficients]
        return list(
            zip(
                (i for i, _ in node.coefficients),
                _solved([a for _, a in node.coefficients], ends, node.constant, need),
                strict=True,
            )
        )
    if node.kind == "sum":
        ends = [(a.lower, a.upper) for a in node.args]
        return list(zip(node.args, _solved([1.0, *node.data], ends, 0.0, need), strict=True))
    if node.kind == "product":
        return [
            (base, bounds) for k, (base, _) in enumerate(node.factors) if (bounds := _of_factor(node, k, need)) is not None
        ]
    arg = node.args[0] if node.args else node
    if node.kind == "abs":
        return [(arg, (-need[1], need[1]))]
    if node.kind == "max":
        return [(a, (-math.inf, need[1])) for a in node.args]
    if node.kind == "apply" and node.data == "exp":
        return [
            (arg, (elementary.value_range("log", *_positive(need))[0], elementary.value_range("log", *_positive(need))[1]))
        ]
    if node.kind == "apply" and node.data == "log":
        return [(arg, elementary.value_range("exp", *need))]
    return []


def _positive(need: Bounds) -> Bounds:
    return max(need[0], 0.0), max(need[1], 0.0)


def _solved(weights: Sequence[float], ends: Sequence[Bounds], constant: float, need: Bounds) -> list[Bounds]:
    """For each k bounds of xₖ from need[0] ≤ constant + Σ wₖ xₖ ≤ need[1]."""
    low = [w * (e[0] if w > 0 else e[1]) for w, e in zip(weights, ends, strict=True)]
    high = [w * (e[1] if w > 0 else e[0]) for w, e in zip(weights, ends, strict=True)]
    result = []
    lows, highs = _Total(weights, ends, low, constant, 0), _Total(weights, ends, high, constant, 1)
    for k, w in enumerate(weights):
        top, bottom = lows.rest(k), highs.rest(k)  # the least and the largest of what stands beside wₖ xₖ
        most = _quotient(need[1], top, w, 1.0 if w > 0 else -1.0)
        least = _quotient(need[0], bottom, w, -1.0 if w > 0 else 1.0)
        result.append((least, most) if w > 0 else (most, least))
    return result


class _Total:
    """constant + Σ of ends, without one of them: exact for few, with a margin for many."""

    def __init__(
        self, weights: Sequence[float], ends: Sequence[Bounds], parts: Sequence[float], constant: float, side: int
    ) -> None:
        self.parts, self.side = parts, side
        self.infinite = [k for k, p in enumerate(parts) if math.isinf(p) or math.isnan(p)]
        self.exact: list[Fraction] | None = None
        if len(parts) <= EXACT and not math.isinf(constant):
            chosen = [e[side if w > 0 else 1 - side] for w, e in zip(weights, ends, strict=True)]
            self.exact = [
                Fraction(0) if math.isinf(e) else Fraction(w) * Fraction(e) for w, e in zip(weights, chosen, strict=True)
            ]
            self.sum: Fraction | float = Fraction(constant) + sum(self.exact, Fraction(0))
        else:
            finite = [p for p in parts if math.isfinite(p)]
            margin = 1e-15 * len(parts) * math.fsum([abs(constant), *map(abs, finite)])
            self.sum = math.fsum([constant, *finite]) + (margin if side else -margin)

    def rest(self, k: int) -> Fraction | float:
        """The sum without part k."""
        if any(i != k for i in self.infinite[:2]):
            return math.inf if self.side else -math.inf
        if self.exact is not None:
            return self.sum - self.exact[k]
        return float(self.sum) - (0.0 if k in self.infinite[:1] else self.parts[k])


def _quotient(end: float, rest: Fraction | float, weight: float, side: float) -> float:
    """(end − rest) / weight, rounded to the side; without a bound where one of them is infinite."""
    up = side > 0
    away = math.inf if up else -math.inf
    if (isinstance(rest, float) and not math.isfinite(rest)) or not math.isfinite(end):
        return away
    exact = (Fraction(end) - Fraction(rest)) / Fraction(weight)
    near = float(exact)
    if not math.isfinite(near):
        return away
    if Fraction(near) != exact and (Fraction(near) > exact) != up:
        near = math.nextafter(near, away)
    return near


def _of_factor(node: Node, k: int, need: Bounds) -> Bounds | None:
    """Bounds of factor k from those of the product."""
    base, p = node.factors[k]
    x = Interval(np.asarray(need[0]), np.asarray(need[1]))
    for other, (b, q) in enumerate(node.factors):
        if other != k:
            beside = elementary.power(Interval(np.asarray(b.lower), np.asarray(b.upper)), q)
            if not (beside.lower > 0 or beside.upper < 0):
                return None
            x = multiply(x, elementary.power(beside, -1.0))
    return _root(float(x.lower), float(x.upper), base, p)


def _root(low: float, high: float, base: Node, p: float) -> Bounds | None:
    """Bounds of the base from those of its p-th power."""
    if p < 0:
        if base.lower < 0 or high <= 0:
            return None
        low, high, p = (1 / high if math.isfinite(high) else 0.0), (1 / low if low > 0 else math.inf), -p
        low, high = low * (1 - 1e-15), high * (1 + 1e-15)
    odd = float(p).is_integer() and p % 2 == 1
    if not odd and high < 0:
        return None
    ends = np.array([low, high])
    roots = np.sign(ends) * np.abs(ends) ** (1 / p) if odd else np.maximum(ends, 0.0) ** (1 / p)
    wide = outward(Interval(roots[:1], roots[1:]))
    a, b = float(wide.lower[0]), float(wide.upper[0])
    if odd or base.lower >= 0:
        return a, b
    return -b, b

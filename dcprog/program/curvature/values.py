"""The values of nodes at many points, as intervals that hold them: whatever rounding did, they lie in there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.intervals import Interval, add, multiply, negative, outward, point
from dcprog.program.curvature.nodes import Node, below
from dcprog.program.curvature.programs import Term
from dcprog.typing import Matrix

OF_FUNCTIONS = 1e4
"""Units in the last place by which the value of a vectorised function may be off."""


def enclosed(terms: Iterable[Term], points: Matrix) -> Interval:
    """Σ c · node at each of the points, (count, variables); everything where it has no value."""
    terms = list(terms)
    known: dict[Node, Interval] = {}
    with np.errstate(all="ignore"):
        for node in below([t for _, t in terms]):
            known[node] = _value(node, known, points)
        total = point(np.zeros(len(points)))
        for c, node in terms:
            total = add(total, multiply(point(c), known[node]))
    return total


def _value(node: Node, known: dict[Node, Interval], points: Matrix) -> Interval:
    args = [known[a] for a in node.args]
    if node.kind == "affine":
        total = point(np.full(len(points), node.constant))
        for i, a in node.coefficients:
            total = add(total, multiply(point(a), point(points[:, i])))
        return total
    if node.kind == "sum":
        total = args[0]
        for c, arg in zip(node.data, args[1:], strict=True):
            total = add(total, multiply(point(c), arg))
        return total
    if node.kind == "product":
        total = point(np.ones(len(points)))
        for arg, p in zip(args, node.data, strict=True):
            total = multiply(total, _or_everything(elementary.power(arg, p), ~_has_power(arg, p)))
        return total
    if node.kind == "apply":
        low, high = elementary.ELEMENTARY[node.data].domain if node.data in elementary.ELEMENTARY else (-np.inf, np.inf)
        outside = (args[0].upper < low) | (args[0].lower > high)
        return _or_everything(elementary.ranges(node.data, args[0])[0], outside)
    if node.kind == "abs":
        other = negative(args[0])
        both = [
            np.where(args[0].lower > 0, args[0].lower, np.where(args[0].upper < 0, other.lower, 0.0)),
            np.maximum(args[0].upper, other.upper),
        ]
        return Interval(both[0], both[1])
    if node.kind == "max":
        return Interval(np.maximum.reduce([a.lower for a in args]), np.maximum.reduce([a.upper for a in args]))
    return _of_function(node, args)


def _has_power(x: Interval, p: float) -> np.ndarray:
    """Whether xᵖ is a real number; a point near to where it is not, by rounding, may count."""
    if float(p).is_integer():
        return ~((x.lower <= 0) & (x.upper >= 0)) if p < 0 else np.ones(len(x.lower), dtype=bool)
    return x.upper >= 0


def _or_everything(x: Interval, where: np.ndarray) -> Interval:
    return Interval(np.where(where, -np.inf, x.lower), np.where(where, np.inf, x.upper))


def _of_function(node: Node, args: list[Interval]) -> Interval:
    middle = np.array([0.5 * (a.lower + a.upper) for a in args]).T
    values = np.array([_one(node, x) for x in middle])
    unknown = ~np.isfinite(values)
    values = np.where(unknown, 0.0, values)
    return _or_everything(outward(Interval(values, values), OF_FUNCTIONS), unknown)


def _one(node: Node, x: np.ndarray) -> float:
    try:
        return float(node.data.value(x))
    except Exception:  # a user's code
        return np.nan

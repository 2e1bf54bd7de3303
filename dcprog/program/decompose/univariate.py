"""φ(a'x + b) for curves with known inflection points: the exact split, see :mod:`dcprog.functions.continued`."""

from __future__ import annotations

import numpy as np

from dcprog.functions.continued import CURVES, Continued, curve, stretches
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.shapes import shape
from dcprog.program.decompose.pairs import Pair, of_affine, positive_part

MOST = 60
"""Stretches of one curve."""
RULE = "the stretches where it is convex and those where it is concave, continued by their tangents"


def of_power(graph: Graph, node: Node) -> tuple[Pair, str] | None:
    """tᵖ = max(t, 0)ᵖ − max(−t, 0)ᵖ for an affine t and an odd p ≥ 3, in operations of Pyomo."""
    named = _curve_of(node)
    if named is None or named[0] != "power" or named[2].kind != "affine":
        return None
    _, p, arg = named
    above, under = (graph.power(positive_part(graph, graph.scaled(s, arg)), float(p)) for s in (1.0, -1.0))
    shape(graph, above)
    shape(graph, under)
    return Pair({above: 1.0}, {under: 1.0}), RULE


def split(graph: Graph, node: Node) -> tuple[Pair, str] | None:
    """The pair of φ(t) for an affine t; None if its inflection points are not known, or too many."""
    named = _curve_of(node)
    if named is None:
        return None
    name, power, arg = named
    if arg.kind != "affine":
        return None
    found = stretches(name, arg.lower, arg.upper, power)
    if found is None or len(found) > MOST:
        return None
    pair = Pair()
    for a, b, sign in found:
        function = Continued(name, a, b, power)
        part = graph.function(function, [arg])
        shape(graph, part)
        part.lower, part.upper = _range(function, arg.lower, arg.upper)
        (pair.g if sign > 0 else pair.h)[part] = 1.0
    known = curve(name, power)
    for _, at, _ in found[:-1]:  # each inner end is counted twice: its tangent once too often
        value, slope = (float(f(np.array(at))) for f in (known.value, known.slope))
        pair.add(of_affine(arg, -slope)).constant -= value - slope * at
    return pair, RULE


def _range(function: Continued, lower: float, upper: float) -> tuple[float, float]:
    """Bounds of a convex function on an interval: its ends above, where their tangents meet below."""
    ends = np.array([lower, upper])
    with np.errstate(all="ignore"):
        values = [function.value(end[None]) if np.isfinite(end) else np.inf for end in ends]
        slopes = [float(function.gradient(end[None])[0]) if np.isfinite(end) else np.nan for end in ends]
    top = max(values)
    if function.name == "power":
        return (0.0, np.inf if not np.isfinite(top) else top * (1 + 1e-12))
    if slopes[0] >= 0:
        low = values[0]
    elif slopes[1] <= 0:
        low = values[1]
    elif np.isfinite(lower + upper):
        meet = (values[1] - values[0] + slopes[0] * lower - slopes[1] * upper) / (slopes[0] - slopes[1])
        low = values[0] + slopes[0] * (meet - lower)
    else:
        low = -np.inf
    slack = 1e-12 * (1 + abs(low) + abs(top)) if np.isfinite(low + top) else 1e-12 * (1 + abs(low))
    return low - slack, top + slack if np.isfinite(top) else np.inf


def _curve_of(node: Node) -> tuple[str, int, Node] | None:
    if node.kind == "apply" and node.data in CURVES:
        return node.data, 0, node.args[0]
    if node.kind == "product" and len(node.args) == 1:
        base, p = node.factors[0]
        if float(p).is_integer() and p >= 3 and p % 2 == 1:
            return "power", int(p), base
    return None

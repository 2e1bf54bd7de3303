"""Products of DC functions.

For p, q ≥ 0 convex, p·q = ½(sp + q/s)² − ½(s²p² + q²/s²) with convex squares, s > 0 being free: it balances the ranges of
the two. A convex factor becomes one that is not negative when its lower bound is taken off, a concave one when it is taken
off its upper bound; what that leaves is a multiple of the other factor. Of two affine factors the product is a quadratic
form and needs no bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.shapes import Proof, Shape, shape
from dcprog.program.decompose import compositions
from dcprog.program.decompose.pairs import Pair, claim, convex, of_affine, positive_part, sides, square, sum_of

if TYPE_CHECKING:
    from dcprog.program.decompose.splitter import Splitter

ROUNDING = 1e-15
"""Of the constants that are added when a bound is taken off."""
RULE = "a product: pq = ½(p + q)² − ½(p² + q²) of convex factors that are not negative"


class Factor(NamedTuple):
    """sign · node + offset is the factor; the node is convex and not negative."""

    node: Node
    sign: float
    offset: float


def split(splitter: Splitter, a: Node, b: Node) -> tuple[Pair, str] | None:
    """a · b; None where a bound is missing."""
    if a.kind == "affine" and b.kind == "affine":
        return splitter.quadratic(a, b), "a quadratic form"
    first, second = _factors(splitter, a), _factors(splitter, b)
    if first is None or second is None:
        return None
    graph, pair = splitter.graph, Pair()
    offset_a, offset_b = (sum(f.offset for f in factors) for factors in (first, second))
    for f in first:
        for k in second:
            pair.add(_of_nonnegative(graph, f.node, k.node), f.sign * k.sign)
        if offset_b:
            pair.add(convex(graph, f.node), f.sign * offset_b)
    if offset_a:
        inner = splitter.split(b)
        if inner is None:
            return None
        pair.add(inner, offset_a)
    return pair, RULE


def _factors(splitter: Splitter, node: Node) -> list[Factor] | None:
    """The node as a sum of sign · p + offset, each p convex and ≥ 0; two of them for a DC function."""
    known = shape(splitter.graph, node)
    if known.convex and math.isfinite(node.lower):
        return [_above(splitter.graph, node, 1.0)]
    if known.concave and math.isfinite(node.upper):
        return [_above(splitter.graph, node, -1.0)]
    if node.kind == "affine":  # max(k, 0) − max(−k, 0) needs no bounds
        graph = splitter.graph
        above, under = (positive_part(graph, graph.scaled(sign, node)) for sign in (1.0, -1.0))
        return [Factor(above, 1.0, 0.0), Factor(under, -1.0, 0.0)]
    if known.concave and (found := _below_tangent(splitter.graph, node)) is not None:
        return found
    pair = _apart(splitter.graph, node, known) if known.convex or known.concave else splitter.split(node)
    if pair is None:
        return None
    both = sides(splitter.graph, pair)
    if both is None:
        return None
    g, h = (_above(splitter.graph, s, 1.0) for s in both)
    return [g, Factor(h.node, -1.0, -h.offset)]


def _apart(graph: Graph, node: Node, known: Shape) -> Pair | None:
    """A convex or concave sum without a bound as its affine part and the rest, which may have one, as in x² − x."""
    if node.kind != "sum" or node.args[0].is_constant:
        return None
    sign = 1.0 if known.convex else -1.0
    proof = known.convex or known.concave
    rest = graph.sum(0.0, {}, [(sign * c, t) for c, t in node.terms])
    if not shape(graph, rest).convex and proof is not None:
        claim(rest, proof._replace(node=rest))
    return Pair({rest: 1.0}).scaled(sign).add(of_affine(node.args[0]))


def _below_tangent(graph: Graph, node: Node) -> list[Factor] | None:
    """A concave φ(t) without an upper bound, as T − (T − φ(t)) with its tangent T at a point, T ≥ φ(t)."""
    arg = node.args[0] if node.args else node
    if len(node.args) != 1 or arg.kind != "affine" or not math.isfinite(arg.lower):
        return None
    at = arg.lower + 1.0
    value, slope = (float(0.5 * (r.lower + r.upper)) for r in compositions.ranges_of(node, graph.number(at))[:2])
    if not (math.isfinite(value) and math.isfinite(slope) and slope >= 0):
        return None
    up = ROUNDING * 100 * (abs(value) + abs(slope * at))
    least = max(node.lower, value - slope * (at - arg.lower) - up)
    tangent = graph.sum(value - slope * at + 2 * up - least, {}, [(slope, arg)])
    tangent.lower = max(tangent.lower, 0.0)
    shape(graph, tangent)
    rest = graph.sum(value - slope * at + 2 * up, {}, [(slope, arg), (-1.0, node)])
    proof = shape(graph, node).concave
    shape(graph, rest)
    assert proof is not None
    claim(rest, Proof(rest, "the distance of a concave function from its tangent", (proof,), (arg,)))
    rest.lower = max(rest.lower, 0.0)
    return [Factor(tangent, 1.0, least), Factor(rest, -1.0, 0.0)]


def _above(graph: Graph, node: Node, sign: float) -> Factor:
    """The node as sign · p + offset with p = ±(node − bound) ≥ 0."""
    bound = node.lower if sign > 0 else node.upper
    constant = node.args[0].constant if node.kind == "sum" else node.constant if node.kind == "affine" else 0.0
    bound -= sign * ROUNDING * (abs(bound) + abs(constant))
    known = shape(graph, node)
    proof = known.convex if sign > 0 else known.concave
    if sign > 0 and 0.0 <= bound <= 1e-3 * abs(node.upper):
        return Factor(node, 1.0, 0.0)
    made = graph.sum(-sign * bound, {}, [(sign, node)])
    shape(graph, made)
    made.lower = max(made.lower, 0.0)
    assert proof is not None
    claim(made, Proof(made, "its distance from a bound", (proof,), (node,)))
    return Factor(made, sign, bound)


def _of_nonnegative(graph: Graph, p: Node, q: Node) -> Pair:
    """p · q for p, q ≥ 0 convex."""
    if p is q:
        return Pair({square(graph, p): 1.0})
    s = math.sqrt(_length(q) / _length(p)) if 0 < _length(p) < math.inf and 0 < _length(q) < math.inf else 1.0
    both = sum_of(graph, {p: s, q: 1.0 / s})
    both.lower = max(both.lower, 0.0)
    return Pair({square(graph, both): 0.5}, {square(graph, p): 0.5 * s * s, square(graph, q): 0.5 / (s * s)})


def _length(node: Node) -> float:
    return node.upper - node.lower

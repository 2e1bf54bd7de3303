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
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.decompose.pairs import Pair, claim, convex, sum_of

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
    if known.convex or known.concave:
        return None
    pair = splitter.split(node)
    if pair is None:
        return None
    sides = (sum_of(splitter.graph, pair.g, pair.line, pair.constant), sum_of(splitter.graph, pair.h))
    if not all(math.isfinite(s.lower) for s in sides):
        return None
    g, h = (_above(splitter.graph, s, 1.0) for s in sides)
    return [g, Factor(h.node, -1.0, -h.offset)]


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


def square(graph: Graph, p: Node) -> Node:
    """p² for a convex p ≥ 0."""
    made = graph.power(p, 2.0)
    if not shape(graph, made).convex:
        proof = shape(graph, p).convex
        assert proof is not None
        assert p.lower >= 0
        claim(made, Proof(made, "the square of a convex function that is not negative", (proof,), (p,)))
    return made


def _length(node: Node) -> float:
    return node.upper - node.lower

"""Differences of convex functions while they are put together: two sums of nodes that are proved convex.

A :class:`Pair` is line + Σ wᵢ gᵢ − Σ vⱼ hⱼ with weights above 0, each node with a proof of its convexity. Sums are not
merged into one node, since a proof may hold for a sum and not for its terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.shapes import Proof, Shape, shape, with_powers

Weights = dict[Node, float]
CLOSE = 1e-15


@dataclass
class Pair:
    """line + Σ g − Σ h; ``line`` maps variables to coefficients."""

    g: Weights = field(default_factory=dict)
    h: Weights = field(default_factory=dict)
    line: dict[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def add(self, other: Pair, c: float = 1.0) -> Pair:
        """This pair, c · other added to it."""
        for mine, theirs in ((self.g, other.g), (self.h, other.h)) if c > 0 else ((self.g, other.h), (self.h, other.g)):
            for node, weight in theirs.items():
                mine[node] = mine.get(node, 0.0) + abs(c) * weight
        for i, a in other.line.items():
            self.line[i] = self.line.get(i, 0.0) + c * a
        self.constant += c * other.constant
        return self

    def scaled(self, c: float) -> Pair:
        """c · this; a negative c exchanges g and h."""
        return Pair().add(self, c)

    def without_common(self) -> Pair:
        """What stands in g and in h is taken off both: the sums that are left are convex as before."""
        common = {n: min(w, self.h[n]) for n, w in self.g.items() if n in self.h}
        g, h = ({n: w - common.get(n, 0.0) for n, w in side.items()} for side in (self.g, self.h))
        rounding = {n: CLOSE * max(self.g[n], self.h[n]) for n in common}
        return Pair(
            {n: w for n, w in g.items() if w > rounding.get(n, 0.0)},
            {n: w for n, w in h.items() if w > rounding.get(n, 0.0)},
            dict(self.line),
            self.constant,
        )


def convex(graph: Graph, node: Node, c: float = 1.0) -> Pair:
    """c · node for a convex node, c of either sign."""
    pair = Pair()
    affine, weights = flattened(graph, [(1.0, node)])
    if weights is None:
        weights, affine = {node: 1.0}, graph.number(0.0)
    pair.g.update(weights)
    pair.line, pair.constant = dict(affine.coefficients), affine.constant
    return pair if c == 1.0 else pair.scaled(c)


def flattened(graph: Graph, terms: Iterable[tuple[float, Node]]) -> tuple[Node, Weights | None]:
    """The affine part of Σ c · node and its other terms, if each of these is convex with its sign; None if one is not."""
    node = graph.sum(0.0, {}, terms)
    if node.kind == "affine":
        return node, {}
    line = node.args[0] if node.kind == "sum" else graph.number(0.0)
    weights: Weights = {}
    for c, term in node.terms:
        known = shape(graph, term)
        if c > 0 and known.convex:
            weights[term] = c
        elif c < 0 and known.concave:
            weights[opposite(graph, term)] = -c
        else:
            return line, None
    return line, weights


def opposite(graph: Graph, node: Node) -> Node:
    """−node, with its shape."""
    made = graph.scaled(-1.0, node)
    shape(graph, made)
    return made


def of_affine(node: Node, c: float = 1.0) -> Pair:
    """c · an affine form."""
    return Pair({}, {}, {i: c * a for i, a in node.coefficients}, c * node.constant)


def sum_of(
    graph: Graph, weights: Mapping[Node, float], line: Mapping[int, float] | None = None, constant: float = 0.0
) -> Node:
    """Σ w · node + line as one node that is proved convex, whatever the rules say of it as it is written."""
    made = graph.sum(constant, line or {}, [(w, n) for n, w in weights.items()])
    if not shape(graph, made).convex:
        parts = tuple(proof for n in weights if (proof := shape(graph, n).convex) is not None)
        assert len(parts) == len(weights)
        claim(made, Proof(made, "a sum of convex parts", parts))
    made.lower = max(made.lower, _least(graph, weights, line or {}, constant))
    return made


def _least(graph: Graph, weights: Mapping[Node, float], line: Mapping[int, float], constant: float) -> float:
    """The sum of the lower bounds of the parts, which their terms one by one need not have: x² − xy + y² ≥ 0."""
    lows = [graph.affine(line, constant).lower, *(w * n.lower for n, w in weights.items())]
    return sum(lows) - 1e-15 * sum(map(abs, lows)) if np.isfinite(lows).all() else -np.inf


def sides(graph: Graph, pair: Pair) -> tuple[Node, Node] | None:
    """p and q, convex and bounded below, with pair = p − q: an affine part without a lower bound goes as max(·, 0) into p
    and as max(−·, 0) into q. None if one of them has no bound."""
    line = graph.affine(pair.line, pair.constant)
    if line.is_constant or np.isfinite(line.lower):
        p, q = sum_of(graph, pair.g, pair.line, pair.constant), sum_of(graph, pair.h)
    else:
        above, under = positive_part(graph, line), positive_part(graph, graph.scaled(-1.0, line))
        p, q = sum_of(graph, {**pair.g, above: 1.0}), sum_of(graph, {**pair.h, under: 1.0})
    return (p, q) if np.isfinite(p.lower) and np.isfinite(q.lower) else None


def positive_part(graph: Graph, line: Node) -> Node:
    """max(line, 0)."""
    made = graph.max([line, graph.number(0.0)])
    shape(graph, made)
    return made


def claim(node: Node, proof: Proof) -> Node:
    """The node, with a proof that it is convex from outside of the rules."""
    old = node.shape or Shape()
    node.shape = with_powers(node, Shape(proof, old.concave, None, old.root_concave))
    return node


def square(graph: Graph, p: Node) -> Node:
    """p² for a convex p ≥ 0."""
    made = graph.power(p, 2.0)
    if not shape(graph, made).convex:
        proof = shape(graph, p).convex
        assert proof is not None
        assert p.lower >= 0
        claim(made, Proof(made, "the square of a convex function that is not negative", (proof,), (p,)))
    return made

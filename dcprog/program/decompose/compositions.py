"""φ(f) with f = g − h a difference of convex functions and φ of one variable.

A convex φ is the maximum of its tangents, φ(f) = max φ(s) + φ′(s)(f − s). With −a ≤ φ′ ≤ b on the range of f (a, b ≥ 0) the
sum φ(f) + a·g + b·h is a maximum of (φ′ + a)·g + (b − φ′)·h + constants, so it is convex: φ(f) = [φ(f) + a g + b h] − [a g
+ b h]. A concave φ is minus a convex one; any other is made convex by ½αt², and f² is split in its turn.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.intervals import Interval
from dcprog.program.curvature.nodes import Node
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.decompose import pairs
from dcprog.program.decompose.pairs import Pair, claim, sum_of

if TYPE_CHECKING:
    from dcprog.program.decompose.splitter import Splitter

Ranges = tuple[Interval, Interval, Interval]
EXPANDED = 4
"""Sums of so few terms are multiplied out."""
RULE = "φ(f) = [φ(f) + a·g + b·h] − [a·g + b·h] for f = g − h, φ being {} with slopes between {:.6g} and {:.6g}"


def split(splitter: Splitter, node: Node, arg: Node, ranges: Ranges) -> tuple[Pair, str] | None:
    """node = φ(arg) with the ranges of φ, φ′ and φ″ on those of arg."""
    slope, bend = ((float(r.lower), float(r.upper)) for r in ranges[1:])
    if not all(map(math.isfinite, slope)):
        return None
    inner = splitter.split(arg)
    if inner is None:
        return None
    if bend[0] >= 0 or bend[1] <= 0:
        word = "convex" if bend[0] >= 0 else "concave"
        sign = 1.0 if bend[0] >= 0 else -1.0
        return _of_convex(splitter, node, sign, inner, slope, arg), RULE.format(word, *slope)
    if not all(map(math.isfinite, bend)):
        return None
    return _curved(splitter, node, arg, inner, bend)


def _of_convex(splitter: Splitter, node: Node, sign: float, inner: Pair, slope: tuple[float, float], arg: Node) -> Pair:
    """node = sign · φ(arg) with φ convex and slopes of sign · φ as given."""
    graph = splitter.graph
    low, high = slope if sign > 0 else (-slope[1], -slope[0])
    a, b = max(0.0, -low), max(0.0, high)
    added = Pair(inner.g, {}, inner.line, inner.constant).scaled(a) if a else Pair()
    if b:
        added.add(Pair(inner.h), b)
    total = graph.sum(added.constant, added.line, [(sign, node), *((w, n) for n, w in added.g.items())])
    shape(graph, total)
    proofs = tuple(p for n in (*inner.g, *inner.h) if (p := shape(graph, n).convex) is not None)
    claim(total, Proof(total, "a maximum of convex functions, one for each tangent of φ", proofs, (arg,)))
    return Pair({total: 1.0}).add(added, -1.0).scaled(sign)


def _curved(splitter: Splitter, node: Node, arg: Node, inner: Pair, bend: tuple[float, float]) -> tuple[Pair, str] | None:
    """φ + ½αt² is convex, φ − ½βt² concave: the smaller of the two shifts."""
    graph = splitter.graph
    sign = 1.0 if -bend[0] <= bend[1] else -1.0
    alpha = (-bend[0] if sign > 0 else bend[1]) * (1 + 1e-9)
    square = splitter.split(graph.power(arg, 2.0))
    slope = _slopes(node, arg)
    if square is None or slope is None:
        return None
    # sign·φ(t) + ½α t² is convex; its slopes on the range of t
    low, high = slope if sign > 0 else (-slope[1], -slope[0])
    ends = sorted((alpha * arg.lower, alpha * arg.upper))
    low, high = low + ends[0], high + ends[1]
    a, b = max(0.0, -low) * (1 + 1e-12), max(0.0, high) * (1 + 1e-12)
    added = Pair(inner.g, {}, inner.line, inner.constant).scaled(a) if a else Pair()
    if b:
        added.add(Pair(inner.h), b)
    total = graph.sum(
        added.constant,
        added.line,
        [(sign, node), (0.5 * alpha, graph.power(arg, 2.0)), *((w, n) for n, w in added.g.items())],
    )
    shape(graph, total)
    proofs = tuple(p for n in (*inner.g, *inner.h) if (p := shape(graph, n).convex) is not None)
    claim(total, Proof(total, "a maximum of convex functions, one for each tangent of φ + ½αt²", proofs, (arg,)))
    pair = Pair({total: 1.0}).add(added, -1.0).add(square, -0.5 * alpha)
    return pair.scaled(sign), f"φ(f) + ½·{alpha:.4g}·f² with f = g − h: convex in f, and f² split in its turn"


def _slopes(node: Node, arg: Node) -> tuple[float, float] | None:
    slope = ranges_of(node, arg)[1]
    low, high = float(slope.lower), float(slope.upper)
    return (low, high) if math.isfinite(low) and math.isfinite(high) and math.isfinite(arg.lower + arg.upper) else None


def ranges_of(node: Node, arg: Node) -> Ranges:
    """φ, φ′ and φ″ on the range of the argument."""
    x = Interval(np.asarray(arg.lower), np.asarray(arg.upper))
    if node.kind == "apply":
        return elementary.ranges(node.data, x)
    return elementary.power_ranges(node.data[0], x)


def expanded(splitter: Splitter, node: Node) -> tuple[Pair, str] | None:
    """(Σ cᵢtᵢ)² = Σ cᵢcⱼ tᵢtⱼ for few terms: products may be convex or concave where the square is neither, as √x·√y."""
    if node.kind != "sum" or len(node.args) > EXPANDED:
        return None
    graph = splitter.graph
    terms = [(1.0, node.args[0]), *node.terms]
    products = [
        (c * d * (1.0 if i == j else 2.0), graph.product(s, t))
        for i, (c, s) in enumerate(terms)
        for j, (d, t) in enumerate(terms[: i + 1])
    ]
    whole = splitter.split(graph.sum(0.0, {}, products))
    return None if whole is None else (whole, "a square, multiplied out")


def square(splitter: Splitter, node: Node) -> tuple[Pair, str] | None:
    """f² = 2(p² + q²) − (p + q)² for f = p − q with p, q ≥ 0 convex, a common constant added to both where one is
    negative."""
    graph = splitter.graph
    inner = splitter.split(node)
    if inner is None:
        return None
    both = pairs.sides(graph, inner)
    if both is None:
        return None
    p, q = both
    least = min(p.lower, q.lower)
    if least < 0:
        p, q = (_raised(splitter, n, -least) for n in (p, q))
    total = sum_of(graph, {p: 1.0, q: 1.0})
    total.lower = max(total.lower, 0.0)
    g = {pairs.square(graph, n): 2.0 for n in (p, q)}
    return Pair(
        g, {pairs.square(graph, total): 1.0}
    ), "f² = 2(p² + q²) − (p + q)² for f = p − q, p and q convex and not negative"


def _raised(splitter: Splitter, node: Node, by: float) -> Node:
    made = splitter.graph.sum(by, {}, [(1.0, node)])
    if not shape(splitter.graph, made).convex:
        proof = shape(splitter.graph, node).convex
        assert proof is not None
        claim(made, Proof(made, "a convex function and a constant", (proof,)))
    made.lower = max(made.lower, 0.0)
    return made

"""Perspectives: y·φ(u/y, v/y, …) is jointly convex in y > 0 and the affine u, v, … where φ is convex.

Boyd & Vandenberghe, Convex Optimization (2004), section 3.2.6. φ is any function that the rules show to be convex, in ratios
that count as variables of their own, on the bounds that the ratios have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dcprog.program.curvature.nodes import Graph, Node

if TYPE_CHECKING:
    from dcprog.program.curvature.shapes import Proof


def proof(graph: Graph, node: Node, sign: float) -> Proof | None:
    """That sign · node is convex, for node = y · φ."""
    from dcprog.program.curvature.shapes import Proof, shape

    if node.data != (1.0, 1.0):
        return None
    for y, inner in (node.args, node.args[::-1]):
        made = _in_ratios(graph, inner, y) if y.kind == "affine" and y.lower >= 0 else None
        if made is not None:
            ratios, own, phi = made
            known = shape(own, phi)
            found = known.convex if sign > 0 else known.concave
            if found is not None:
                return Proof(node, f"a perspective: {found.rule}", (), (y, *ratios))
    return None


def _in_ratios(graph: Graph, inner: Node, y: Node) -> tuple[list[Node], Graph, Node] | None:
    """The nodes u/y that ``inner`` is made of, and ``inner`` as a function of them in a graph of its own; None if it is made
    of anything else."""
    ratios: dict[Node, None] = {}
    nodes = _above_ratios(graph, inner, y, ratios)
    if nodes is None or not ratios:
        return None
    own = Graph([r.lower for r in ratios], [r.upper for r in ratios], [f"t{k}" for k in range(len(ratios))])
    image = {ratio: own.variable(k) for k, ratio in enumerate(ratios)}
    for node in nodes:
        parts = _homogeneous(graph, node, y)
        image[node] = _copied(own, node, image) if parts is None else _product(own, [(image[r], p) for r, p in parts])
    return None if own.defects or own.broken else (list(ratios), own, image[inner])


def _above_ratios(graph: Graph, inner: Node, y: Node, ratios: dict[Node, None]) -> list[Node] | None:
    """What ``inner`` is made of, children first, down to ratios, which are collected, and numbers; None if there is anything
    else."""
    found: dict[int, Node] = {}
    stack = [inner]
    while stack:
        node = stack.pop()
        parts = _homogeneous(graph, node, y)
        if node.kind == "function" or (parts is None and node.kind == "affine" and not node.is_constant):
            return None
        if parts == [(node, 1.0)]:
            ratios[node] = None
        elif node.number not in found:
            found[node.number] = node
            stack += node.args if parts is None else [r for r, _ in parts]
    return [found[k] for k in sorted(found)]


def _homogeneous(graph: Graph, node: Node, y: Node) -> list[tuple[Node, float]] | None:
    """(u/y, p) pairs with node = Π (u/y)ᵖ for affine u; None if it is no such product."""
    powers = dict(node.factors) if node.kind == "product" else {}
    degree = -powers.pop(y, 0.0)
    if degree <= 0 or not all(u.kind == "affine" for u in powers) or not math.isclose(sum(powers.values()), degree):
        return [(node, 1.0)] if degree == 1.0 and not powers else None
    if len(powers) == 1 and degree == 1.0:
        return [(node, 1.0)]
    return [(graph.product(u, graph.power(y, -1.0)), p) for u, p in powers.items()]


def _copied(own: Graph, node: Node, image: Mapping[Node, Node]) -> Node:
    """A node of another graph made of nodes of this one."""
    args = [image[a] for a in node.args]
    if node.kind == "affine":
        return own.number(node.constant)
    if node.kind == "sum":
        return own.sum(0.0, {}, zip((1.0, *node.data), args, strict=True))
    if node.kind == "product":
        return _product(own, list(zip(args, node.data, strict=True)))
    if node.kind == "apply":
        return own.apply(node.data, args[0])
    return own.abs(args[0]) if node.kind == "abs" else own.max(args)


def _product(own: Graph, factors: Sequence[tuple[Node, float]]) -> Node:
    made = own.number(1.0)
    for arg, p in factors:
        made = own.product(made, own.power(arg, p))
    return made

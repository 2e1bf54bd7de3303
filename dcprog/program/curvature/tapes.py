"""Tapes as nodes of a graph of their own: ranges and shapes of their slots by all rules, those for forms included."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from dcprog.convex.tape import Operation, Tape
from dcprog.program.curvature import elementary
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.shapes import shape

Known: TypeAlias = tuple[float, float, str]


def slots(tape: Tape, bounds: Callable[[int], tuple[float, float]]) -> list[Known] | None:
    """Least and greatest value and shape of every slot; None if some operation has no counterpart, or no value somewhere.

    >>> form = Tape((0, 1), (-2.0,), tuple(Operation("product", a) for a in ((0, 0), (1, 1), (0, 1), (2, 5)))
    ...     + (Operation("sum", (3, 4, 6)),), 1.0)
    >>> slots(form, lambda i: (-5.0, 5.0))[-1]
    (0.0, 100.0, 'convex')
    """
    lower, upper = zip(*map(bounds, tape.variables), strict=True)
    graph = Graph(lower, upper, [f"x{i}" for i in tape.variables])
    nodes = [graph.variable(k) for k in range(len(lower))] + [graph.number(c) for c in tape.constants]
    for operation in tape.operations:
        made = _made(graph, operation, nodes)
        if made is None or graph.defects or graph.broken:
            return None
        nodes.append(made)
    return [(node.lower, node.upper, _word(graph, node)) for node in nodes]


def _made(graph: Graph, operation: Operation, nodes: list[Node]) -> Node | None:
    name, args = operation.name, [nodes[a] for a in operation.args]
    if name == "sum":
        return graph.sum(0.0, {}, [(1.0, a) for a in args])
    if name == "product":
        return graph.product(*args)
    if name in ("max", "abs"):
        return graph.max(args) if name == "max" else graph.abs(args[0])
    if name == "logsumexp":
        return graph.apply("log", graph.sum(0.0, {}, [(1.0, graph.apply("exp", a)) for a in args]))
    if name == "power":
        return graph.power(args[0], args[1].constant) if args[1].is_constant else None
    if name in ("sqrt", "reciprocal"):
        return graph.power(args[0], 0.5 if name == "sqrt" else -1.0)
    if name == "log10":
        return graph.scaled(1.0 / math.log(10.0), graph.apply("log", args[0]))
    return graph.apply(name, args[0]) if name in elementary.NAMES else None


def _word(graph: Graph, node: Node) -> str:
    if node.is_constant:
        return "constant"
    known = shape(graph, node)
    if known.convex:
        return "affine" if node.kind == "affine" else "convex"
    return "concave" if known.concave else "unknown"

"""Proofs for what is already compiled: tapes, quadratic terms and vectorised functions, on the bounds and rows of arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.tape import TapeBatch
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothTerm
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.proofs import bounds_used, proved_convex
from dcprog.program.curvature.rows import Row, linear_forms, tightened
from dcprog.program.curvature.shapes import shape
from dcprog.program.curvature.texts import readable
from dcprog.typing import Vector

ENTRIES = 20_000
"""Quadratic terms and rows of more coefficients are not taken apart."""
PASSES = 3
Terms: TypeAlias = Sequence[SmoothTerm]
Implied: TypeAlias = dict[int, tuple[float, float]]
"""Bounds of variables, by position."""


class Box(NamedTuple):
    """Bounds and names of variables, and linear rows lower ≤ Ax ≤ upper from which further bounds follow."""

    lower: Vector
    upper: Vector
    names: Sequence[str]
    A: Any = None
    row_lower: Vector | None = None
    row_upper: Vector | None = None

    @classmethod
    def of(cls, problem: ConvexProblem, names: Sequence[str]) -> Box:
        """Bounds and rows of a convex problem; variables without a name stand for kinks."""
        extra = [f"t[{k}]" for k in range(len(problem.lower) - len(names))]
        return cls(problem.lower, problem.upper, [*names, *extra], problem.A, problem.row_lower, problem.row_upper)


class Proved(NamedTuple):
    """A proof as text, and the bounds that it rests on and that the variables do not have by themselves."""

    text: str
    implied: Implied


def prove(terms: Terms, box: Box, effort: Effort | None = None) -> Proved | None:
    """That the sum of the terms is convex: on the bounds alone, and if that fails with those that rows imply; by rules, and with
    an ``effort`` by second derivatives.

    Terms that the caller has proved may be left out; they help only where the others are not convex.
    """
    graph = Graph(box.lower.tolist(), box.upper.tolist(), box.names)
    found = _prove(graph, terms, box, effort)
    if found is not None or box.A is None or not 0 < box.A.nnz <= ENTRIES:
        return found
    with_rows = _with_rows(box)
    return None if with_rows is None else _prove(with_rows, terms, box, effort)


def _prove(graph: Graph, terms: Terms, box: Box, effort: Effort | None) -> Proved | None:
    node = node_of(graph, terms)
    if node is None:
        return None
    proof = shape(graph, node).convex if effort is None else proved_convex(graph, node, 1.0, effort)
    if proof is None:
        return None
    used = bounds_used(proof)
    implied = {
        i: (graph.lower[i], graph.upper[i]) for i in used if (graph.lower[i], graph.upper[i]) != (box.lower[i], box.upper[i])
    }
    return Proved(readable(graph, proof), implied)


def _with_rows(box: Box) -> Graph | None:
    """A graph with the bounds that rows imply; None if these are no better."""
    lower, upper = box.lower.tolist(), box.upper.tolist()
    for _ in range(PASSES):
        graph = Graph(lower, upper, box.names)
        better = tightened(graph, _rows(graph, box))
        if better == (lower, upper):
            break
        lower, upper = better
    graph = Graph(lower, upper, box.names)
    graph.rows = linear_forms(_rows(graph, box))
    changed = graph.rows or (lower, upper) != (box.lower.tolist(), box.upper.tolist())
    return graph if changed else None


def _rows(graph: Graph, box: Box) -> list[Row]:
    A = sp.csr_array(box.A)
    assert box.row_lower is not None and box.row_upper is not None
    rows = []
    for k in range(A.shape[0]):
        part = slice(A.indptr[k], A.indptr[k + 1])
        line = dict(zip(A.indices[part].tolist(), A.data[part].tolist(), strict=True))
        rows.append(Row(graph.affine(line, 0.0), float(box.row_lower[k]), float(box.row_upper[k])))
    return rows


def node_of(graph: Graph, terms: Terms) -> Node | None:
    """The sum of the terms as a node; None if one of them cannot be looked into."""
    parts: list[tuple[float, Node]] = []
    for term in terms:
        if isinstance(term, TapeBatch):
            parts += _of_tapes(graph, term)
        elif isinstance(term, QuadraticTerm) and term.matrix.nnz <= ENTRIES:
            parts += _of_quadratic(graph, term)
        elif isinstance(term, LinearTerm):
            continue
        elif isinstance(term, FunctionTerm) and term.function.proved_convex:
            arguments = [graph.variable(i) for i in term.indices.tolist()]
            parts.append((term.weight, graph.function(term.function, arguments)))
        else:
            return None
    node = graph.sum(0.0, {}, parts)
    return node if math.isfinite(node.args[0].constant if node.kind == "sum" else 0.0) else None


def _of_quadratic(graph: Graph, term: QuadraticTerm) -> list[tuple[float, Node]]:
    """½x'Qx."""
    half = sp.coo_array(sp.triu(sp.csr_array(term.matrix)))
    parts = []
    rows, cols = term.support[half.row].tolist(), term.support[half.col].tolist()
    for i, j, q in zip(rows, cols, half.data.tolist(), strict=True):
        product = graph.product(graph.variable(i), graph.variable(j))
        parts.append((0.5 * q if i == j else q, product))
    return parts


def _of_tapes(graph: Graph, tapes: TapeBatch) -> list[tuple[float, Node]]:
    parts = []
    for column, weight in enumerate(tapes.weights.tolist()):
        slots = [graph.variable(i) for i in tapes.variables[:, column].tolist()]
        slots += [graph.number(c) for c in tapes.constants[:, column].tolist()]
        for name, args in tapes.operations:
            slots.append(_operation(graph, name, [slots[a] for a in args]))
        parts.append((weight, slots[-1]))
    return parts


def _operation(graph: Graph, name: str, args: Sequence[Node]) -> Node:
    if name == "sum":
        return graph.sum(0.0, {}, [(1.0, a) for a in args])
    if name == "product":
        return graph.product(*args)
    if name == "power":
        return graph.power(args[0], args[1].constant)
    if name == "reciprocal":
        return graph.power(args[0], -1.0)
    if name == "sqrt":
        return graph.power(args[0], 0.5)
    if name == "max":
        return graph.max(args)
    if name == "abs":
        return graph.abs(args[0])
    if name == "logsumexp":
        return graph.apply("log", graph.sum(0.0, {}, [(1.0, graph.apply("exp", a)) for a in args]))
    if name == "log10":
        return graph.scaled(1.0 / math.log(10.0), graph.apply("log", args[0]))
    return graph.apply(name, args[0])


def merged(several: Iterable[Implied]) -> Implied:
    """All of the bounds together."""
    together: Implied = {}
    for implied in several:
        for i, (low, high) in implied.items():
            old = together.get(i, (-math.inf, math.inf))
            together[i] = max(old[0], low), min(old[1], high)
    return together


def intersected(lower: Vector, upper: Vector, implied: Implied) -> tuple[Vector, Vector]:
    """The bounds with those that proofs rest on."""
    lower, upper = lower.copy(), upper.copy()
    for i, (low, high) in implied.items():
        lower[i], upper[i] = max(lower[i], low), min(upper[i], high)
    return np.minimum(lower, upper), np.maximum(lower, upper)

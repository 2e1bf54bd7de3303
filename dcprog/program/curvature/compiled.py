"""Proofs for what is already compiled: tapes, quadratic terms and vectorised functions, on the bounds and rows of arrays."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from dcprog.convex.composed import Composed
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.tape import Operation, TapeBatch
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothTerm
from dcprog.functions.base import ConvexFunction
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.proofs import bounds_used, proved_convex
from dcprog.program.curvature.rows import Row, linear_forms, tightened
from dcprog.program.curvature.shapes import shape
from dcprog.program.curvature.texts import readable
from dcprog.typing import Indices, Vector

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
    def of(cls, problem: ConvexProblem, variables: Sequence[Any]) -> Box:
        """Bounds and rows of a convex problem over variables of Pyomo; further columns stand for kinks."""
        names = Names(variables, problem.n)
        return cls(problem.lower, problem.upper, names, problem.A, problem.row_lower, problem.row_upper)


class Names(Sequence[str]):
    """Names of variables and of the columns t[k] after them, put together when asked for: a sentence names four of them, and
    for all of thousands Pyomo takes longer than a solver."""

    def __init__(self, variables: Sequence[Any], count: int) -> None:
        self._variables, self._count = variables, count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, i: Any) -> Any:
        own, position = len(self._variables), range(self._count)[i]
        return self._variables[position].name if position < own else f"t[{position - own}]"


class Proved(NamedTuple):
    """A proof as text, and the bounds that it rests on and that the variables do not have by themselves."""

    text: str
    implied: Implied


def prove(terms: Terms, box: Box, effort: Effort | None = None) -> Proved | None:
    """That the sum of the terms is convex: on the bounds alone, and if that fails with those that rows imply; by rules, and
    with an ``effort`` by second derivatives.

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
    assert box.row_lower is not None
    assert box.row_upper is not None
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
            parts.append((term.weight, _of_function(graph, term.function, term.indices)))
        elif isinstance(term, FunctionTerm) and isinstance(term.function, Composed):
            parts.append((term.weight, _of_composition(graph, term.function, term.indices)))
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


def _of_function(graph: Graph, function: ConvexFunction, at: Indices) -> Node:
    return graph.function(function, [graph.variable(i) for i in at.tolist()])


def _of_composition(graph: Graph, function: Composed, at: Indices) -> Node:
    """A tape with values of functions among its variables."""
    arguments = [graph.variable(i) for i in at.tolist()]
    arguments += [_of_function(graph, f, at[inner]) for f, inner in function.inner]
    tape = function.tape
    slots = [arguments[i] for i in tape.variables] + [graph.number(c) for c in tape.constants]
    return graph.scaled(tape.weight, _operations(graph, tape.operations, slots))


def _of_tapes(graph: Graph, tapes: TapeBatch) -> list[tuple[float, Node]]:
    parts = []
    for column, weight in enumerate(tapes.weights.tolist()):
        slots = [graph.variable(i) for i in tapes.variables[:, column].tolist()]
        slots += [graph.number(c) for c in tapes.constants[:, column].tolist()]
        parts.append((weight, _operations(graph, tapes.operations, slots)))
    return parts


def _operations(graph: Graph, operations: Iterable[Operation], slots: list[Node]) -> Node:
    for name, args in operations:
        slots.append(_operation(graph, name, [slots[a] for a in args]))
    return slots[-1]


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

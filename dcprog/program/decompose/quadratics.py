"""Quadratic forms on a graph: collected as one matrix for each set of coupled variables, split, and made nodes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dcprog.functions.smooth import Quadratic
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.programs import Term
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.decompose import spectral
from dcprog.program.decompose.pairs import Pair, claim
from dcprog.typing import Indices, Matrix, Vector

WRITTEN_OUT = 60
"""Forms of so many entries are written in Pyomo's products, larger ones as one vectorised function."""


class Form(NamedTuple):
    """½ x'Mx over the variables, line + constant beside it."""

    variables: Indices
    matrix: Matrix
    line: dict[int, float]
    constant: float


def collected(terms: Sequence[Term]) -> Form:
    """Σ c · node for quadratic nodes."""
    entries: dict[tuple[int, int], float] = {}
    line: dict[int, float] = {}
    constant = 0.0
    for c, node in terms:
        a, b = (node.args[0], node.args[0]) if len(node.args) == 1 else node.args
        constant += c * a.constant * b.constant
        for one, other in ((a, b), (b, a)):
            for i, p in one.coefficients:
                line[i] = line.get(i, 0.0) + c * p * other.constant
        for i, p in a.coefficients:
            for j, q in b.coefficients:
                entries[i, j] = entries.get((i, j), 0.0) + c * p * q
    variables = np.array(sorted({i for pair in entries for i in pair}), dtype=np.int64)
    matrix = np.zeros((len(variables), len(variables)))
    if entries:
        rows, cols = (np.searchsorted(variables, k) for k in np.array(list(entries)).T)
        matrix[rows, cols] = list(entries.values())
    return Form(variables, matrix + matrix.T, line, constant)


def split(graph: Graph, form: Form, method: str, *, written: bool = False) -> list[tuple[Pair, str]]:
    """For each set of coupled variables its pair and the rule; the affine part is not in them. ``written`` out in products,
    whatever the size."""
    found = []
    for block in spectral.blocks(form.matrix):
        matrix, variables = form.matrix[np.ix_(block, block)], form.variables[block]
        if not matrix.any():
            continue
        positive, negative, rule = spectral.split(matrix, widths(graph, variables), method)
        pair = Pair()
        for side, part in ((pair.g, positive), (pair.h, negative)):
            for inner in spectral.blocks(part):
                node = _node(graph, part[np.ix_(inner, inner)], variables[inner], written)
                if node is not None:
                    side[node] = side.get(node, 0.0) + 1.0
        found.append((pair, rule))
    return found


def widths(graph: Graph, variables: Indices) -> Vector:
    """How far each variable may go, so that a split does not change with units; the others' mean where there is no end."""
    lower, upper = (np.array([bounds[i] for i in variables.tolist()]) for bounds in (graph.lower, graph.upper))
    with np.errstate(all="ignore"):
        wide = upper - lower
    known = wide[np.isfinite(wide) & (wide > 0)]
    usual = float(np.exp(np.log(known).mean())) if len(known) else 1.0
    widths: Vector = np.where(np.isfinite(wide) & (wide > 0), wide, usual)
    return widths


def _node(graph: Graph, matrix: Matrix, variables: Indices, written: bool) -> Node | None:
    """½x'Mx, proved convex."""
    if not matrix.any():
        return None
    if np.count_nonzero(matrix) > WRITTEN_OUT and not written:
        node = graph.function(Quadratic(matrix), [graph.variable(i) for i in variables.tolist()])
        shape(graph, node)
        node.lower = 0.0
        return claim(node, Proof(node, "a quadratic form without a negative eigenvalue"))
    terms = []
    for i in range(len(matrix)):
        for j in range(i, len(matrix)):
            if matrix[i, j] != 0.0:
                product = graph.product(graph.variable(int(variables[i])), graph.variable(int(variables[j])))
                terms.append(((0.5 if i == j else 1.0) * float(matrix[i, j]), product))
    node = graph.sum(0.0, {}, terms)
    shape(graph, node)
    node.lower = max(node.lower, 0.0)
    return claim(node, Proof(node, "a quadratic form without a negative eigenvalue"))

"""Quadratic forms in nodes, and whether they are definite.

Coefficients are floats, so definiteness holds up to the rounding that made them: eigenvalues above −1e-12, relative to the
entries of their rows. An indefinite form that is nearer than that to a semidefinite one is taken for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.typing import Matrix, Sparse

if TYPE_CHECKING:
    from dcprog.program.curvature.nodes import Graph, Node

TOLERANCE = 1e-12
SMALL = 60
"""Forms of so many variables are looked at for their sign."""
Entries = dict[tuple[int, int], float]


def is_quadratic(node: Node) -> bool:
    """Whether the node is the square of an affine form, or the product of two."""
    if node.kind != "product" or any(a.kind != "affine" for a in node.args):
        return False
    return node.data in ((2.0,), (1.0, 1.0))


def is_convex(graph: Graph, terms: Iterable[tuple[float, Node]], sign: float) -> bool:
    """Whether sign · Σ c · node is convex for quadratic nodes."""
    matrix = _matrix(terms, sign)
    return is_positive_semidefinite(matrix, TOLERANCE)


def is_squared_norm(line: Node, terms: Sequence[tuple[float, Node]]) -> bool:
    """Whether line + Σ c · node, quadratic, is ‖Ax + b‖² for some A and b: it is not negative, and its root is convex."""
    matrix = augmented(line, terms)
    return matrix is not None and is_positive_semidefinite(sp.csc_array(matrix), TOLERANCE)


def has_one_positive(node: Node) -> bool:
    """Whether the form has, made homogeneous, at most one positive eigenvalue."""
    matrix = augmented(node.args[0], node.terms)
    if matrix is None:
        return False
    eigenvalues = np.linalg.eigvalsh(matrix)
    return len(eigenvalues) == 1 or bool(eigenvalues[-2] <= 1e-13 * np.abs(matrix).max())


def augmented(line: Node, terms: Sequence[tuple[float, Node]]) -> Matrix | None:
    """(Q, b; b', c) of x'Qx + 2b'x + c, dense, for few variables."""
    if len(terms) > 4 * SMALL:
        return None
    entries, sizes = _entries(terms, 1.0, constants=True)
    for i, a in line.coefficients:
        _add(entries, sizes, i, -1, 0.5 * a)
    _add(entries, sizes, -1, -1, line.constant)
    variables = {v: k for k, v in enumerate(sorted({i for pair in entries for i in pair} | {-1}, reverse=True))}
    if len(variables) > SMALL:
        return None
    matrix = np.zeros((len(variables), len(variables)))
    for (i, j), value in _rounded(entries, sizes).items():
        matrix[variables[i], variables[j]] = matrix[variables[j], variables[i]] = value
    return matrix


def _matrix(terms: Iterable[tuple[float, Node]], sign: float) -> Sparse:
    """Q of sign · Σ c · node = x'Qx + …, over the variables in it."""
    entries = _rounded(*_entries(terms, sign, constants=False))
    if not entries:
        return sp.csc_array((1, 1))
    i, j = np.array(list(entries), dtype=np.int64).T
    variables, places = np.unique(np.concatenate([i, j]), return_inverse=True)
    i, j = places[: len(i)], places[len(i) :]
    values = np.array(list(entries.values()))
    off = i != j
    rows, cols = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
    return sp.csc_array((np.concatenate([values, values[off]]), (rows, cols)), shape=(len(variables), len(variables)))


def _entries(terms: Iterable[tuple[float, Node]], sign: float, *, constants: bool) -> tuple[Entries, Entries]:
    """The lower triangle, and the sizes of what was added up in each entry; −1 stands for the constant 1."""
    entries: Entries = {}
    sizes: Entries = {}
    for c, node in terms:
        a, b = (node.args[0], node.args[0]) if len(node.args) == 1 else node.args
        for i, p in _pairs(a, constants):
            for j, q in _pairs(b, constants):
                _add(entries, sizes, i, j, (1.0 if i == j else 0.5) * sign * c * p * q)
    return entries, sizes


def _pairs(line: Node, constants: bool) -> list[tuple[int, float]]:
    pairs = list(line.coefficients)
    return [*pairs, (-1, line.constant)] if constants and line.constant != 0.0 else pairs


def _add(entries: Entries, sizes: Entries, i: int, j: int, value: float) -> None:
    key = (max(i, j), min(i, j))
    entries[key] = entries.get(key, 0.0) + value
    sizes[key] = sizes.get(key, 0.0) + abs(value)


def _rounded(entries: Entries, sizes: Entries) -> Entries:
    """The entries that are more than the rounding of their sums."""
    return {key: v for key, v in entries.items() if abs(v) > 1e-15 * sizes[key]}

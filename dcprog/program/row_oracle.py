"""Many convex functions, one a row, evaluated and differentiated together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from dcprog.convex.tape import KINKS, Tape, TapeBatch
from dcprog.convex.terms import FunctionTerm
from dcprog.functions.each import Rows
from dcprog.functions.remembered import Remembered
from dcprog.program.expressions import Parts
from dcprog.typing import Indices, Mask, Sparse, Vector


class RowBlock(Protocol):
    """Some rows of a :class:`RowOracle`, counted from 0."""

    count: int

    @property
    def affine(self) -> Mask:
        """Which rows are affine."""

    @property
    def smooth(self) -> Mask:
        """Which rows are differentiable, as far as their parts say."""

    @property
    def places(self) -> tuple[Indices, Indices]:
        """Row and column of each of the partial derivatives; those at one place are to be added up."""

    def values(self, x: Vector) -> Vector:
        """The values of the rows."""

    def sizes(self, x: Vector) -> Vector:
        """The sums of the absolute values that they are made of."""

    def partials(self, x: Vector) -> Vector:
        """The partial derivatives, by :attr:`places`; at a kink those of one subgradient."""

    def of_affine(self) -> tuple[Vector, Vector]:
        """The constants of the affine rows, and their coefficients by :attr:`places`; 0 for the others."""


class Expressions:
    """Rows that were stated one by one. They are compiled when they are first evaluated: single rows are stacked before."""

    def __init__(self, parts: Sequence[Parts]) -> None:
        self.parts, self.count = list(parts), len(parts)

    @cached_property
    def affine(self) -> Mask:
        return np.array([p.is_affine for p in self.parts], dtype=bool)

    @cached_property
    def smooth(self) -> Mask:
        return np.array([_is_smooth(p) for p in self.parts], dtype=bool)

    @cached_property
    def _constant(self) -> Vector:
        return np.array([p.constant for p in self.parts], dtype=float)

    @cached_property
    def _linear(self) -> Sparse:
        linear = [(i, j, c) for i, p in enumerate(self.parts) for j, c in p.linear.items()]
        shape = (self.count, self.parts[0].n if self.parts else 0)
        return sp.csr_array(sp.coo_array(_triplets(linear), shape=shape))

    @cached_property
    def _quadratic(self) -> tuple[Indices, Indices, Indices, Vector]:
        return _quadratics(self.parts)

    @cached_property
    def _tapes(self) -> list[tuple[Indices, TapeBatch]]:
        groups: dict[object, list[tuple[int, Tape]]] = defaultdict(list)
        for i, p in enumerate(self.parts):
            for tape in [*p.tapes, *(kink.tape for kink in p.kinks)]:
                groups[tape.signature].append((i, tape))
        return [(np.array([i for i, _ in g]), TapeBatch([tape for _, tape in g])) for g in groups.values()]

    @cached_property
    def _functions(self) -> list[tuple[int, FunctionTerm]]:
        return [(i, FunctionTerm(b.function, b.indices, b.weight)) for i, p in enumerate(self.parts) for b in p.functions]

    @cached_property
    def places(self) -> tuple[Indices, Indices]:
        i, a, _, _ = self._quadratic
        linear = self._linear.tocoo()
        rows = [linear.row, i, *(np.tile(r, len(t.variables)) for r, t in self._tapes)]
        cols = [linear.col, a, *(t.variables.ravel() for _, t in self._tapes)]
        rows += [np.full(len(t.indices), r) for r, t in self._functions]
        cols += [t.indices for _, t in self._functions]
        return np.concatenate(rows).astype(np.int64), np.concatenate(cols).astype(np.int64)

    def values(self, x: Vector) -> Vector:
        i, a, b, v = self._quadratic
        out: Vector = self._constant + self._linear @ x
        np.add.at(out, i, 0.5 * v * x[a] * x[b])
        for rows, tapes in self._tapes:
            np.add.at(out, rows, tapes.weights * tapes.values(x))
        for r, term in self._functions:
            out[r] += term.value(x)
        return out

    def sizes(self, x: Vector) -> Vector:
        i, a, b, v = self._quadratic
        out: Vector = np.abs(self._constant) + abs(self._linear) @ np.abs(x)
        np.add.at(out, i, 0.5 * np.abs(v * x[a] * x[b]))
        for rows, tapes in self._tapes:
            np.add.at(out, rows, np.abs(tapes.weights * tapes.values(x)))
        for r, term in self._functions:
            out[r] += term.size(x)
        return out

    def partials(self, x: Vector) -> Vector:
        _, _, b, v = self._quadratic
        parts = [self._linear.tocoo().data, v * x[b], *(tapes.partials(x).ravel() for _, tapes in self._tapes)]
        for _, term in self._functions:
            gradient = np.zeros(len(x))
            term.add_gradient(x, gradient)
            parts.append(gradient[term.indices])
        return np.concatenate(parts)

    def of_affine(self) -> tuple[Vector, Vector]:
        linear = self._linear.tocoo()
        coefficients = np.zeros(len(self.places[0]))
        coefficients[: linear.nnz] = np.where(self.affine[linear.row], linear.data, 0.0)
        return np.where(self.affine, self._constant, 0.0), coefficients


class Grouped:
    """Rows of :class:`~dcprog.functions.Each`, whose columns stand at ``columns`` of x."""

    def __init__(self, rows: Rows, columns: Indices) -> None:
        self.rows, self.columns, self.count = rows, columns, len(rows)
        self.affine = np.full(self.count, rows.is_affine)
        self.smooth = np.full(self.count, rows.function.smooth)
        self._known = Remembered()

    @cached_property
    def places(self) -> tuple[Indices, Indices]:
        rows, cols = self.rows.places
        return rows.astype(np.int64), self.columns[cols]

    def values(self, x: Vector) -> Vector:
        return self._evaluated(x)["values"]

    def sizes(self, x: Vector) -> Vector:
        return np.abs(self.values(x))

    def partials(self, x: Vector) -> Vector:
        return self.rows.partials_of(self._evaluated(x)["slopes"])

    def _evaluated(self, x: Vector) -> dict[str, Vector]:
        """Values and slopes, which come together."""
        known = self._known.at(x)
        if not known:
            known["values"], known["slopes"] = self.rows.evaluated(x[self.columns])
        return known

    def of_affine(self) -> tuple[Vector, Vector]:
        if not self.rows.is_affine:
            return np.zeros(self.count), np.zeros(len(self.places[0]))
        origin = np.zeros(len(self.columns))
        return self.rows.values(origin), self.rows.partials(origin)


class Constants:
    """Rows of numbers."""

    def __init__(self, values: Vector) -> None:
        self._values, self.count = values, len(values)
        self.affine = self.smooth = np.ones(self.count, dtype=bool)
        self.places: tuple[Indices, Indices] = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)

    def values(self, x: Vector) -> Vector:
        return self._values

    def sizes(self, x: Vector) -> Vector:
        return np.abs(self._values)

    def partials(self, x: Vector) -> Vector:
        return np.empty(0)

    def of_affine(self) -> tuple[Vector, Vector]:
        return self._values, np.empty(0)


class RowOracle:
    """Blocks of rows, one below the other."""

    def __init__(self, blocks: Sequence[RowBlock]) -> None:
        self.blocks = tuple(blocks)
        self.starts = np.cumsum([0, *(b.count for b in self.blocks)])
        self.affine: Mask = np.concatenate([b.affine for b in self.blocks])
        self.smooth: Mask = np.concatenate([b.smooth for b in self.blocks])
        self._known = Remembered()

    @cached_property
    def places(self) -> tuple[Indices, Indices]:
        """Row and column of each of the partial derivatives; those at one place are to be added up."""
        rows = [b.places[0] + start for b, start in zip(self.blocks, self.starts, strict=False)]
        return np.concatenate(rows), np.concatenate([b.places[1] for b in self.blocks])

    def values(self, x: Vector) -> Vector:
        """The value of each row."""
        return self._remembered("values", x)

    def sizes(self, x: Vector) -> Vector:
        """For each the sum of the absolute values that it is made of."""
        return self._remembered("sizes", x)

    def partials(self, x: Vector) -> Vector:
        """The partial derivatives, by :attr:`places`."""
        return self._remembered("partials", x)

    def of_affine(self) -> tuple[Vector, Vector]:
        """The constants of the affine rows, and their coefficients by :attr:`places`; 0 for the others."""
        constants, coefficients = zip(*(b.of_affine() for b in self.blocks), strict=True)
        return np.concatenate(constants), np.concatenate(coefficients)

    def products(self, x: Vector) -> Vector:
        """⟨gradient of row i at x, x⟩ of each row."""
        rows, cols = self.places
        products: Vector = np.bincount(rows, self.partials(x) * x[cols], minlength=int(self.starts[-1])).astype(float)
        return products

    def pulled(self, x: Vector, weights: Vector) -> Vector:
        """Σ weightᵢ · (gradient of row i at x)."""
        rows, cols = self.places
        pulled: Vector = np.bincount(cols, self.partials(x) * weights[rows], minlength=len(x)).astype(float)
        return pulled

    def _remembered(self, what: str, x: Vector) -> Vector:
        """What the blocks say at x; an iteration asks for the same many times."""
        known = self._known.at(x)
        if what not in known:
            known[what] = np.concatenate([getattr(b, what)(x) for b in self.blocks])
            known[what].flags.writeable = False
        return known[what]


def _is_smooth(parts: Parts) -> bool:
    """Whether it is differentiable, as far as its parts say."""
    kinked = any(operation.name in KINKS for tape in parts.tapes for operation in tape.operations)
    return not (parts.kinks or kinked) and all(bound.function.smooth for bound in parts.functions)


def _triplets(entries: list[tuple[int, int, float]]) -> tuple[Vector, tuple[Indices, Indices]]:
    if not entries:
        none = np.empty(0, dtype=np.int64)
        return np.empty(0), (none, none)
    i, j, c = zip(*entries, strict=True)
    return np.array(c, dtype=float), (np.array(i, dtype=np.int64), np.array(j, dtype=np.int64))


def _quadratics(parts: Sequence[Parts]) -> tuple[Indices, Indices, Indices, Vector]:
    """Row, two variables and coefficient of every entry of the symmetric Q of each row."""
    halves = [(i, a, b, v) for i, p in enumerate(parts) if not p.forms for (a, b), v in p.quadratic.items() if v]
    rows, first, second, values = (np.array(column) for column in (zip(*halves, strict=True) if halves else ((),) * 4))
    found = [(i, sp.coo_array(Q)) for i, p in enumerate(parts) if p.forms and (Q := p.Q(p.n)) is not None]
    return (
        np.concatenate([rows, rows, *(np.full(Q.nnz, i) for i, Q in found)]).astype(np.int64),
        np.concatenate([first, second, *(Q.row for _, Q in found)]).astype(np.int64),
        np.concatenate([second, first, *(Q.col for _, Q in found)]).astype(np.int64),
        np.concatenate([values, values, *(Q.data for _, Q in found)]).astype(float),
    )

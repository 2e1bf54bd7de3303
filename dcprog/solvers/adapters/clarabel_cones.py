"""The functions of a convex problem as cones, for Clarabel: each brings variables t and rows A z + B t + b ∈ K.

A function f of φ costs c't + ½t'Pt; a constraint ψ ≤ 0 becomes the row a'z + α + Σ w c't ≤ 0, and a quadratic form in it,
½y'Qy ≤ s with Q = F'F, the second-order cone ‖(Fy, s − ½)‖ ≤ s + ½.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.change import same_pattern
from dcprog.convex.cones import Cone, Duals
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.functions.conic import ConicForm
from dcprog.typing import Indices, Sparse, Vector

LEAST = 1e-13
"""A multiplier below this share of the largest says nothing about the dual of its cone."""


@dataclass(frozen=True, eq=False)
class Block:
    """Rows A z + B t + b ∈ K, their variables t at the positions ``columns``."""

    rows: Sparse
    b: Vector
    cones: tuple[tuple[str, int], ...]
    form: ConicForm | None = None


class Lifted:
    """The variables t, costs and rows that the functions of ``problem`` bring along."""

    def __init__(self, problem: ConvexProblem) -> None:
        self.problem, self.size = problem, problem.n
        self.costs: dict[int, float] = {}
        self.curvature: list[tuple[Indices, Sparse]] = []
        self.blocks: list[Block] = []
        self._linear = np.zeros(problem.n)
        self._multipliers: list[tuple[int, int]] = []
        """Of each constraint the rows whose duals add up to its multiplier; from the first row of ours on."""
        self._cones: list[int | None] = []
        if problem.smooth is not None:
            self._objective(problem.smooth)
        for row, cone in zip(problem.constraints, problem.cones, strict=True):
            self._constraint(row, cone)

    def is_laid_out_as(self, other: Lifted | None) -> bool:
        """Whether both have the same variables, cones, and places of entries, so that one takes the numbers of the other."""
        if other is None or self.size != other.size or len(self.blocks) != len(other.blocks):
            return False
        alike = (
            one.cones == two.cones and same_pattern(sp.csr_array(one.rows), sp.csr_array(two.rows))
            for one, two in zip(self.blocks, other.blocks, strict=True)
        )
        nothing = sp.csc_array((self.problem.n, self.problem.n))
        return all(alike) and same_pattern(self.hessian(nothing), other.hessian(nothing))

    def cost(self, c: Vector) -> Vector:
        """Linear cost of (z, t)."""
        q = np.zeros(self.size)
        q[: self.problem.n] = c + self._linear
        q[list(self.costs)] = list(self.costs.values())
        return q

    def hessian(self, Q: Sparse) -> Sparse:
        """Q, with the quadratic costs of φ and t."""
        parts = [(np.arange(self.problem.n), sp.coo_array(Q)), *((at, sp.coo_array(P)) for at, P in self.curvature)]
        data, rows, cols = (
            np.concatenate(pieces)
            for pieces in zip(*((part.data, at[part.row], at[part.col]) for at, part in parts), strict=True)
        )
        return sp.csc_matrix((data, (rows, cols)), shape=(self.size, self.size))  # zeros that are stored may move

    def rows(self) -> tuple[Sparse, Vector, list[Any]]:
        """G, b and the cones of our rows Gx + s = b, s ∈ K."""
        return self._rows

    @cached_property
    def _rows(self) -> tuple[Sparse, Vector, list[Any]]:
        placed = [-resized(block.rows, self.size) for block in self.blocks]
        G = sp.vstack(placed, "csc") if placed else sp.csc_array((0, self.size))
        b = np.concatenate([block.b for block in self.blocks] or [np.empty(0)])
        return sp.csc_array(G), b, [_cone(kind, size) for block in self.blocks for kind, size in block.cones]

    def duals(self, s: Vector) -> tuple[Vector, Duals]:
        """Multipliers of the constraints and duals of those that are cones, from the duals of our rows."""
        ends = np.cumsum([0, *(len(block.b) for block in self.blocks)])
        tau = np.array([s[ends[i] : ends[i] + k].sum() for i, k in self._multipliers])
        cones: list[Vector | None] = []
        for at, t, cone in zip(self._cones, tau, self.problem.cones, strict=True):
            if at is None or cone is None or cone.weight == 0 or t <= LEAST * max(1.0, float(np.abs(s).max())):
                cones.append(None)
                continue
            form = self.blocks[at].form
            assert form is not None
            cones.append(-(form.A.T @ s[ends[at] : ends[at + 1]]) / (t * cone.weight))
        return -tau, tuple(cones)

    def _objective(self, smooth: SmoothSum) -> None:
        for term in smooth.terms:
            if isinstance(term, LinearTerm):
                np.add.at(self._linear, term.support, term.coefficients)
            elif isinstance(term, QuadraticTerm):
                self.curvature.append((term.support, term.matrix))
            else:
                assert isinstance(term, FunctionTerm)
                form = term.function.conic(len(term.indices))
                assert form is not None
                t = self._add(form, term.indices)
                self.costs.update(zip(t.tolist(), (term.weight * form.c).tolist(), strict=True))
                if form.P is not None:
                    self.curvature.append((t, term.weight * form.P))

    def _constraint(self, row: SmoothSum, cone: Cone | None) -> None:
        """s = −(a'z + α + Σ w c't), and ½y'Qy ≤ s if there are quadratic terms, s ≥ 0 if there are none."""
        entries: list[tuple[Indices, Vector]] = []
        squares: list[tuple[Indices, Sparse]] = []
        constant, at = 0.0, None
        for term in row.terms:
            if isinstance(term, LinearTerm):
                entries.append((term.support, term.coefficients))
                constant += term.constant
            elif isinstance(term, QuadraticTerm):
                squares.append((term.support, term.matrix))
            else:
                assert isinstance(term, FunctionTerm)
                if cone is None:
                    form, indices = term.function.conic(len(term.indices)), term.indices
                else:
                    form, indices = cone.function.conic(len(cone.b)), None
                assert form is not None
                t = self._add(form, indices, cone)
                at = len(self.blocks) - 1
                entries.append((t, term.weight * form.c))
                if form.P is not None:
                    squares.append((t, term.weight * form.P))
        columns = np.concatenate([where for where, _ in entries] or [np.empty(0, dtype=np.int64)])
        values = np.concatenate([v for _, v in entries] or [np.empty(0)])
        s = -sp.csr_array((values, (np.zeros(len(columns), dtype=np.int64), columns)), shape=(1, self.size))
        self._multipliers.append((len(self.blocks), 2 if squares else 1))
        self._cones.append(at if cone is not None else None)
        if not squares:
            self.blocks.append(Block(s, np.array([-constant]), (("nonnegative", 1),)))
            return
        factors = [_placed(_factor(Q), where, self.size) for where, Q in squares]
        rows = sp.vstack([s, s, *factors], "csr")
        b = np.concatenate([[0.5 - constant, -0.5 - constant], np.zeros(rows.shape[0] - 2)])
        self.blocks.append(Block(rows, b, (("second-order", rows.shape[0]),)))

    def _add(self, form: ConicForm, indices: Indices | None, cone: Cone | None = None) -> Indices:
        """New variables t, and the rows of a form at z[indices], or at Mz + b of a cone."""
        t = np.arange(self.size, self.size + len(form.c))
        self.size += len(t)
        if cone is not None:
            A, b = sp.csr_array(sp.csr_array(form.A) @ cone.M), form.b + form.A @ cone.b
        else:
            assert indices is not None
            A, b = _placed(form.A, indices, self.problem.n), form.b
        rows = resized(A, self.size) + _placed(form.B, t, self.size)
        self.blocks.append(Block(sp.csr_array(rows), b, form.cones, form))
        return t


def _factor(Q: Sparse) -> Sparse:
    """F with F'F = Q."""
    if sp.coo_array(Q).nnz == np.count_nonzero(Q.diagonal()):
        return sp.diags_array(np.sqrt(np.maximum(Q.diagonal(), 0.0)))
    values, vectors = np.linalg.eigh(Q.toarray())
    used = values > 1e-15 * values[-1]
    return sp.csr_array((vectors[:, used] * np.sqrt(values[used])).T)


def _placed(matrix: Sparse, columns: Indices, size: int) -> Sparse:
    part = sp.coo_array(matrix)
    return sp.csr_array((part.data, (part.row, columns[part.col])), shape=(part.shape[0], size))


def resized(matrix: Sparse, size: int) -> Sparse:
    """The matrix with columns of zeros behind it, ``size`` in all."""
    rows = sp.csr_array(matrix)
    return sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(rows.shape[0], size))


def _cone(kind: str, size: int) -> Any:
    import clarabel

    if kind == "exponential":
        return clarabel.ExponentialConeT()
    named = {
        "zero": clarabel.ZeroConeT,
        "nonnegative": clarabel.NonnegativeConeT,
        "second-order": clarabel.SecondOrderConeT,
        "semidefinite": clarabel.PSDTriangleConeT,
    }
    return named[kind](size)

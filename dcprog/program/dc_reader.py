"""DC constraints of a Pyomo model, read: those that were declared, and quadratic rows that are not convex, split exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ConvexityError, DataError, ModelError
from dcprog.functions.affine import OfAffine
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.functions.each import Rows
from dcprog.program.constants import constant
from dcprog.program.convex_set import ConvexSet
from dcprog.program.dc_constraint import DCConstraint
from dcprog.program.dc_rows import DCRows
from dcprog.program.expressions import BoundFunction, Parts, take_apart
from dcprog.program.row_oracle import Constants, Expressions, Grouped, RowBlock, RowOracle
from dcprog.typing import Indices, Mask, Sparse, Vector

SHIFT = 1e-14
"""What both halves of a split get on their diagonal, relative to the matrix: rounding leaves no negative eigenvalue."""


@dataclass(frozen=True, eq=False)
class DCBlock:
    """Rows that were stated together: their p and q."""

    names: tuple[str, ...]
    """Of each row, the component that it came from."""
    p: RowBlock
    q: RowBlock
    equation: bool = False
    second: bool = False
    """Whether it is the other half of the equation before it."""
    between: tuple[int, ...] = ()
    """Of an equation in one variable that variable: bounds keep it between the two solutions, the row out of there."""
    turn: tuple[float, ...] = ()
    """−1 where that equation was multiplied by −1."""
    proved: bool = False
    """Whether p and q were made so that they are convex."""

    @property
    def name(self) -> str:
        """Of the component that it came from."""
        return self.names[0]


@dataclass
class DCReader:
    """Collects the DC constraints of a model whose variables stand at ``index``."""

    index: Mapping[int, int]
    n: int
    blocks: list[DCBlock] = field(default_factory=list)
    implied: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Bounds that the convex halves of equations in one variable are."""

    def add(self, component: DCConstraint) -> None:
        """The rows of a component that hold as they were stated."""
        name = component.name
        if component.rows is not None:
            if not component.active:
                return
            kept = np.array([component.is_unchanged(k) for k in range(len(component))], dtype=bool)
            p_rows, q_rows = component.rows
            self._add(name, self._side(p_rows, kept), self._side(q_rows, kept), component.equation)
            return
        pairs = [
            [take_apart(e, self.index, self.n, f"{letter} of {name}[{i}]") for letter, e in zip("pq", pair, strict=True)]
            for i, pair in component.holds()
        ]
        if pairs:
            p, q = zip(*pairs, strict=True)
            self._add(name, Expressions(p), Expressions(q), component.equation)

    def add_pair(self, name: str, p: Any, q: Any, *, equation: bool = False) -> None:
        """p(x) − q(x) ≤ 0, or = 0, of expressions that are proved to be convex."""
        both = [take_apart(e, self.index, self.n, f"{letter} of {name}") for letter, e in (("p", p), ("q", q))]
        self._add(name, Expressions([both[0]]), Expressions([both[1]]), equation, proved=True)

    def split(self, constraint: Any, error: ConvexityError) -> None:
        """A quadratic row that is not convex, or an equation; ``error`` says what is wrong with any other."""
        parts = take_apart(constraint.body, self.index, self.n, f"constraint {constraint.name}")
        if parts.tapes or parts.kinks or parts.functions:
            raise ConvexityError(
                f"{error}; or state it as p(x) − q(x) ≤ 0 with p and q convex, by dcprog.DCConstraint"
            ) from None
        lower, upper = (np.nan if limit is None else float(limit) for limit in (constraint.lb, constraint.ub))
        if lower == upper and self._between_roots(constraint.name, parts, upper):
            return
        p, q = split_quadratic(parts)
        equation, Q = bool(lower == upper), parts.Q(parts.n)
        # the side ≤ upper, if it is convex, was taken in before the other one was refused
        if np.isfinite(upper) and (equation or not (Q is None or is_positive_semidefinite(Q))):
            self._add(constraint.name, Expressions([_moved(p, -upper)]), Expressions([q]), equation, proved=True)
        if np.isfinite(lower) and not equation:
            self._add(constraint.name, Expressions([_moved(q, lower)]), Expressions([p]), False, proved=True)

    def _between_roots(self, name: str, parts: Parts, value: float) -> bool:
        """αx² + βx + γ = value in one variable, as x² = 1 is: x lies between the two solutions, which are bounds, and not
        inside of them, which is a DC row; False for any other equation."""
        touched = {*parts.linear, *(i for pair in parts.quadratic for i in pair)}
        if len(touched) != 1 or parts.forms or len(parts.quadratic) != 1:
            return False
        (i,), (alpha,) = touched, parts.quadratic.values()
        sign = np.sign(alpha)
        alpha, beta, gamma = sign * alpha, sign * parts.linear.get(i, 0.0), sign * (parts.constant - value)
        if not alpha or (discriminant := beta**2 - 4 * alpha * gamma) < 0:
            raise DataError(f"constraint {name} has no solution: no real number squares to less than 0")
        far = -(beta + (np.sign(beta) or 1.0) * np.sqrt(discriminant)) / 2  # without cancellation
        roots = sorted((float(far / alpha), float(gamma / far) if far else 0.0))
        known = self.implied.get(i, (-np.inf, np.inf))
        self.implied[i] = max(known[0], roots[0]), min(known[1], roots[1])
        q = Parts(self.n, 0.0, {i: beta} if beta else {}, {(i, i): alpha})
        p = Parts(self.n, -gamma)
        self.blocks.append(
            DCBlock((name,), Expressions([p]), Expressions([q]), between=(i,), turn=(float(sign),), proved=True)
        )
        return True

    def rows(self, into: ConvexSet) -> DCRows | None:
        """The rows, whose variables and curved parts are put into ``into``."""
        if not self.blocks:
            return None
        blocks, p, q = self._oracles
        began = len(into.origins)
        pairs = [_stand_ins(block, into) for block in blocks]
        t = np.concatenate([stands for stands, _ in pairs])
        counts = np.concatenate([many for _, many in pairs])
        stand_ins = began, np.repeat(np.arange(len(t)), counts)
        s = into.slack_variables(len(t))
        halves = np.concatenate([np.full(b.p.count, b.equation) for b in blocks])
        names = tuple(name for b in blocks for name in b.names)
        between = np.array([i for b in blocks for i in b.between or (-1,) * b.p.count], dtype=np.int64)
        turn = np.array([sign for b in blocks for sign in b.turn or (1.0,) * b.p.count])
        rows = DCRows(p, q, halves, names, t, s, into.row_count(), self.n, _partners(blocks), between, stand_ins, turn)
        into.add_rows(rows.matrix(into.size))
        return rows

    @cached_property
    def _oracles(self) -> tuple[list[DCBlock], RowOracle, RowOracle]:
        """The blocks, few of them, with all p and all q: the same for every g and h."""
        blocks = _together(self.blocks)
        return blocks, RowOracle([b.p for b in blocks]), RowOracle([b.q for b in blocks])

    def _add(self, name: str, p: RowBlock, q: RowBlock, equation: bool, proved: bool = False) -> None:
        names = (name,) * p.count
        self.blocks.append(DCBlock(names, p, q, equation, proved=proved))
        if equation:
            self.blocks.append(DCBlock(names, q, p, equation, second=True, proved=proved))

    def _side(self, side: Rows | Vector, kept: Mask) -> RowBlock:
        """The rows of the mask ``kept``, over the free variables."""
        if not isinstance(side, Rows):
            return Constants(side[kept])
        entries = np.repeat(kept, side.size)
        A, b, variables = sp.csc_array(side.A[entries]), side.b[entries], list(side.x)
        fixed = np.array([v.fixed for v in variables], dtype=bool)
        if fixed.any():
            b = b + A[:, np.flatnonzero(fixed)] @ np.array([constant(v) for v in variables if v.fixed])
        try:
            columns = np.array([self.index[id(v)] for v in variables if not v.fixed], dtype=np.int64)
        except KeyError:
            raise ModelError("a DCConstraint has variables of another model: use variables of one model") from None
        return Grouped(Rows(side.function, side.size, sp.csr_array(A[:, np.flatnonzero(~fixed)]), b, None), columns)


def _together(blocks: Sequence[DCBlock]) -> list[DCBlock]:
    """The same rows in few blocks, since each is evaluated by itself; the halves of an equation still follow each other."""
    single = [b for b in blocks if isinstance(b.p, Expressions) and isinstance(b.q, Expressions)]
    out = [b for b in blocks if b not in single]
    for equation, second in ((False, False), (True, False), (True, True)):
        alike = [b for b in single if (b.equation, b.second) == (equation, second)]
        if alike:
            out.append(_stacked(alike))
    return out


def _stacked(blocks: Sequence[DCBlock]) -> DCBlock:
    p, q = ([part for b in blocks for part in getattr(b, side).parts] for side in "pq")
    return DCBlock(
        tuple(name for b in blocks for name in b.names),
        Expressions(p),
        Expressions(q),
        blocks[0].equation,
        blocks[0].second,
        tuple(i for b in blocks for i in b.between or (-1,) * b.p.count),
        tuple(sign for b in blocks for sign in b.turn or (1.0,) * b.p.count),
    )


def _partners(blocks: Sequence[DCBlock]) -> Indices:
    """Halves of an equation follow each other, block by block."""
    partners, start = [], 0
    for block in blocks:
        other = start + (0 if not block.equation else -block.p.count if block.second else block.p.count)
        partners.append(np.arange(other, other + block.p.count))
        start += block.p.count
    return np.concatenate(partners)


def split_quadratic(parts: Parts) -> tuple[Parts, Parts]:
    """p and q convex with p − q the quadratic function ``parts``: Q = Q⁺ − Q⁻ by its eigenvalues, on the variables that it
    touches. The linear part goes to p. The difference is exact, entry by entry."""
    Q = parts.Q(parts.n)
    p, q = replace(parts, quadratic={}, forms=[]), Parts(parts.n)
    p.linear = dict(parts.linear)
    for i, c in enumerate(parts.c(parts.n) - Parts(parts.n, linear=parts.linear).c(parts.n)):
        if c:
            p.linear[i] = p.linear.get(i, 0.0) + c
    if Q is None:
        return p, q
    if is_positive_semidefinite(Q):
        return parts, q
    touched = np.flatnonzero(np.diff(sp.csc_array(Q).indptr))
    dense = sp.csc_array(Q)[touched][:, touched].toarray()
    values, vectors = np.linalg.eigh(dense)
    negative = values < 0
    below = (vectors[:, negative] * -values[negative]) @ vectors[:, negative].T
    below = (below + below.T) / 2 + SHIFT * len(touched) * float(np.abs(values).max()) * np.eye(len(touched))
    above = dense + below
    p.quadratic, q.quadratic = (_coefficients(matrix, touched) for matrix in (above, above - dense))
    return p, q


def _coefficients(matrix: Any, touched: Indices) -> dict[tuple[int, int], float]:
    """Of ½x'Qx, in the form of :class:`Parts`: Q = half + half'."""
    half = sp.coo_array(np.tril(matrix) - 0.5 * np.diag(np.diag(matrix)))
    at = touched.tolist()
    return {(at[i], at[j]): float(v) for i, j, v in zip(half.row, half.col, half.data, strict=True)}


def _moved(parts: Parts, shift: float) -> Parts:
    return replace(parts, constant=parts.constant + shift)


def _stand_ins(block: DCBlock, into: ConvexSet) -> tuple[Indices, Indices]:
    """For each row the variable t ≥ p(x), −1 where p is affine, and how many constraints ψ say so."""
    t, counts = np.full(block.p.count, -1, dtype=np.int64), np.zeros(block.p.count, dtype=np.int64)
    curved = np.flatnonzero(~block.p.affine)
    if curved.size:
        rows = _written(block.p, into.n)
        for i in curved.tolist():
            before = len(into.origins)
            t[i] = into.epigraph_of(rows[i], f"p of {block.name}")
            counts[i] = len(into.origins) - before
    return t, counts


def _written(block: RowBlock, n: int) -> list[Parts]:
    """Every row as an expression of its own."""
    if isinstance(block, Expressions):
        return block.parts
    assert isinstance(block, Grouped)
    rows = block.rows
    made = []
    for k in range(block.count):
        A = sp.csc_array(rows.A[k * rows.size : (k + 1) * rows.size])
        used = np.flatnonzero(np.diff(A.indptr))
        f = OfAffine(rows.function, _dense(A[:, used]), rows.b[k * rows.size : (k + 1) * rows.size])
        made.append(Parts(n, functions=[BoundFunction(1.0, f, block.columns[used])]))
    return made


def _dense(A: Sparse) -> Any:
    return A.toarray()

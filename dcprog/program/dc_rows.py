"""The constraints pᵢ(x) − qᵢ(x) ≤ 0 of a program as rows of its subproblem, linearised at one point after the other.

With v ∈ ∂q(xᵏ) each is the convex row

    p(x) − ⟨v, x⟩ − a·s ≤ q(xᵏ) − ⟨v, xᵏ⟩,   s ≥ 0,

whose slack s is switched on (a = 1) or off (a = 0). Where p is not affine a variable t ≥ p(x) stands for it, so that between
two subproblems only entries of A and limits of rows move. An equation is two of them, one turned round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dcprog.convex.change import Change
from dcprog.convex.problem import ConvexProblem
from dcprog.program.row_oracle import RowOracle
from dcprog.typing import Indices, Mask, Sparse, Vector


@dataclass(frozen=True, eq=False)
class DCRows:
    """What is known of the rows: p and q, which are halves of an equation, and where their variables t and s lie in z."""

    p: RowOracle
    q: RowOracle
    equation: Mask
    names: tuple[str, ...]
    """Of the component that each row came from."""
    t: Indices
    """The variable that stands for p, −1 where p is affine."""
    s: Indices
    first: int
    """The first of the rows in A."""
    n: int
    partner: Indices
    """Of half of an equation the other half, of other rows the row itself."""
    between: Indices
    """Of an equation in one variable, whose other half are bounds, that variable; −1 of other rows."""
    stand_ins: tuple[int, Indices]
    """The first constraint ψ of the subproblem that says p ≤ t, and the row of it and of those that follow."""
    turn: Vector
    """−1 where such an equation was multiplied by −1, else 1."""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.s)

    def violations(self, x: Vector) -> Vector:
        """max(p(x) − q(x), 0) of each row."""
        return np.maximum(self.p.values(x) - self.q.values(x), 0.0)

    def relative_violation(self, x: Vector) -> float:
        """The largest violation, relative to the terms of its row."""
        violations, sizes = self.violations(x), self.sizes(x)
        return float((violations / np.where(sizes > 0, sizes, 1.0)).max(initial=0.0))

    def sizes(self, x: Vector) -> Vector:
        """What the rows are made of at x."""
        return self.p.sizes(x) + self.q.sizes(x)

    def fill(self, z: Vector, x: Vector) -> None:
        """t and s of the point x; a slack holds what its row lacks."""
        p = self.p.values(x)
        curved = self.t >= 0
        z[self.t[curved]] = p[curved]
        z[self.s] = np.maximum(p - self.q.values(x), 0.0)

    def matrix(self, size: int) -> Sparse:
        """The rows as they stand before anything is linearised, with room for all that moves."""
        rows, cols = self._layout[:2]
        return sp.csc_array((self._data(None, None), (rows, cols)), shape=(self.count, size))

    def linearised(self, problem: ConvexProblem, x: Vector, slack: Mask, relaxed: Vector | float = 0.0) -> Change:
        """The change that linearises every q at x, with the slacks of the mask ``slack`` switched on. The other rows give
        way by what x violates them, if that is at most ``relaxed``: x then satisfies them."""
        A = problem.A.copy()
        A.data[self._entries(problem)] = self._data(x, slack)
        values, violated = self.q.values(x), self.violations(x)
        give = np.where(~slack & (violated <= relaxed), violated, 0.0)
        upper = problem.row_upper.copy()
        upper[self.first : self.first + self.count] = values - self.q.products(x) - self._p_constant + give
        return Change(A=A, row_upper=upper)

    def tangent(self, problem: ConvexProblem, x: Vector) -> ConvexProblem:
        """``problem`` at x without slacks, with tangents in place of equations and of rows with a smooth p, one below the
        other behind its rows: x is a KKT point exactly where it is a solution. Of an equation both linearised halves would
        leave x alone, whatever it is, and so do rows without an interior, such as xy ≤ 0 with x, y ≥ 0."""
        inner = self.linearised(problem, x, np.zeros(self.count, dtype=bool), relaxed=np.inf).apply(problem)
        turned = self.turned
        if not turned.size:
            return inner
        upper, lower = inner.row_upper.copy(), inner.row_lower
        upper[self.first + turned] = np.inf
        slopes = self.slopes(x)[turned]
        at = slopes @ x
        tangents = sp.hstack([slopes, sp.csr_array((len(turned), problem.n - self.n))])
        room = np.maximum(self.q.values(x) - self.p.values(x), 0.0)[turned]
        equal = self.equation[turned]
        first, rows = self.stand_ins
        idle = {first + int(k) for k in np.flatnonzero(np.isin(rows, turned))}  # their multipliers would be noise
        return replace(
            inner,
            A=sp.csc_array(sp.vstack([inner.A, tangents])),
            row_lower=np.concatenate([lower, np.where(equal, at, -np.inf)]),
            row_upper=np.concatenate([upper, at + np.where(equal, 0.0, room)]),
            constraints=tuple(psi for k, psi in enumerate(inner.constraints) if k not in idle),
        )

    @cached_property
    def turned(self) -> Indices:
        """The rows that :meth:`tangent` replaces."""
        return np.flatnonzero(self.equation | ((self.t >= 0) & self.p.smooth))

    def slopes(self, x: Vector) -> Sparse:
        """The gradients of p − q, a row of each."""
        (pi, pj), (qi, qj) = self.p.places, self.q.places
        partials = np.concatenate([self.p.partials(x), -self.q.partials(x)])
        where = np.concatenate([pi, qi]), np.concatenate([pj, qj])
        return sp.csr_array(sp.coo_array((partials, where), shape=(self.count, self.n)))

    @cached_property
    def _p_constant(self) -> Vector:
        """The constant of each affine p, 0 where t stands for it."""
        return self.p.of_affine()[0]

    @cached_property
    def _layout(self) -> tuple[Indices, Indices, Indices]:
        """Row and column of each entry, by columns, and which entry each of the triplets adds to: those of affine p, then t,
        q and s."""
        pi, pj = self.p.places
        affine = self.t[pi] < 0
        curved = np.flatnonzero(self.t >= 0)
        qi, qj = self.q.places
        i = np.concatenate([pi[affine], curved, qi, np.arange(self.count)])
        j = np.concatenate([pj[affine], self.t[curved], qj, self.s])
        keys, entry = np.unique(j * self.count + i, return_inverse=True)
        return keys % self.count, keys // self.count, entry

    def _data(self, x: Vector | None, slack: Mask | None) -> Vector:
        """The entries, by columns; nothing of q and the slacks where there is no point yet."""
        rows, _, entry = self._layout
        pi, _ = self.p.places
        static = self.p.of_affine()[1][self.t[pi] < 0]
        v = np.zeros(len(self.q.places[0])) if x is None else -self.q.partials(x)
        on = np.zeros(self.count) if slack is None else -slack.astype(float)
        stand_ins = np.ones(int((self.t >= 0).sum()))
        data: Vector = np.bincount(entry, np.concatenate([static, stand_ins, v, on]), minlength=len(rows)).astype(float)
        return data

    def _entries(self, problem: ConvexProblem) -> Indices:
        """Where the entries of these rows lie in A."""
        known = self.__dict__.get("_known")
        if known is None or known[0] is not problem.A.indices:
            inside = (problem.A.indices >= self.first) & (problem.A.indices < self.first + self.count)
            known = problem.A.indices, np.flatnonzero(inside)
            self.__dict__["_known"] = known
        found: Indices = known[1]
        return found

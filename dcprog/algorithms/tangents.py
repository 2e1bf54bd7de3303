"""Sequential convex programming for DC constraints: tangents in a trust region first, then DCA with an exact penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.algorithms.criticality import ROUNDING
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.penalty import FEASIBLE, Penalty
from dcprog.algorithms.random_starts import spread
from dcprog.algorithms.result import State
from dcprog.convex.change import Change
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import DataError, DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.program.dc_rows import DCRows
from dcprog.solvers.dispatch import Dispatcher, Solution
from dcprog.typing import Indices, Sparse, Vector

FAR = 10.0
"""The trust region of a variable without bounds is at first so many times its size."""
ACCEPT, GOOD, POOR = 0.1, 0.75, 0.25
"""Shares of the predicted fall that the merit really falls by: of a step that is taken, one after which the region grows,
and one after which it shrinks."""
LEAST = 1e-9
"""A trust region below this share of the first one is none."""
PERSISTENT = 0.5
"""Weights grow where the tangents leave more than this share of a violation."""
GROWTH, MOST = 10.0, 1e6
BOUND = 0.99
HEAVIER = 2
"""So often weights grow at one point."""
AGAIN = 10.0
"""After a step of DCA tangents are tried within so many times its length."""
ROUNDED = 2e-9
"""Rows are never judged below this share of the sizes of p and q: the rest is rounding."""
LONGEST = 200
"""After so many steps by tangents from one KKT point to the next they creep."""
STEPS = 60
"""Of a search from elsewhere."""
LAST_SECONDS = 0.05
"""What is left of a time limit when such searches end."""
PLAIN = (ProblemClass.LP, ProblemClass.QP)
TRIES = 20
"""Regions and weights that are tried at one point."""


class Tangents(Penalty):
    """min g − ⟨u, ·⟩ + Σ τᵢsᵢ over C with the tangents of all DC rows, sᵢ ≥ (pᵢ − qᵢ)(xᵏ) + ⟨∇(pᵢ − qᵢ)(xᵏ), x − xᵏ⟩, in a
    trust region ‖D⁻¹(x − xᵏ)‖∞ ≤ r: a linear or quadratic program, where the inner approximations of DCA have curved rows.

    A step is taken if f + Σ τᵢ max(pᵢ − qᵢ, 0) falls by a share of what the tangents predict; else r shrinks. The tangents
    of equations leave room for steps along them, which their two inner approximations, convex sets that touch at xᵏ, do not.
    Where r gets too small, or no fall is predicted and the point is no KKT point, :class:`Penalty` goes on from there, and
    its certificate is asked in any case.

    Fletcher & Sainz de la Maza, Nonlinear programming and nonsmooth optimization by successive linear programming, Math.
    Program. 43 (1989), with the convex g in place of its tangent.

    A KKT point is left where tangents lead from one of ``most`` other points, spread over the bounds, to a lower one.

    Parameters
    ----------
    most : int
        Other points from which lower ones are looked for at each KKT point, where the subproblems are linear or quadratic
        programs; 0 for none.
    growth, weight, rule
        As in :class:`Penalty`.

    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([0, 1], bounds=(0, 4), initialize={0: 3.0, 1: 1.0})
    >>> m.area = dcprog.DCConstraint(p=2 + 0.5 * (m.x[0] - m.x[1])**2, q=0.5 * (m.x[0]**2 + m.x[1]**2))
    >>> result = dcprog.solve(dcprog.DCProgram(m, g=m.x[0] + 2 * m.x[1], h=0), algorithm="tangents")
    >>> print(result.status, result["x"].round(4))
    converged [2. 1.]
    """

    name = "tangents"

    def __init__(self, program: DCProgram | None = None, *, most: int = 12, **settings: Any) -> None:
        if not (isinstance(most, int) and most >= 0):
            raise DataError(f"most is {most!r}: pass an integer ≥ 0")
        self.most = most
        super().__init__(program, **settings)

    def begin(self, state: State) -> None:
        super().begin(state)
        self._radius: float | None = 1.0
        self._taken = 0
        self._tangents = TangentProblem(self.rows, self.dispatcher.as_opened)
        self._open: Dispatcher | None = None

    def ceiling(self, state: State) -> float:
        return super().ceiling(state) if self._radius is None else np.inf

    def sizes_of_rows(self, x: Vector) -> Vector:
        """As before, but no more than what the row itself is made of at x, or 1: p and q of a coarse decomposition may be of
        size 1e11 where p − q has terms of size 10."""
        rows, whole = self.rows, super().sizes_of_rows(x)
        (pi, pj), (qi, qj) = rows.p.places, rows.q.places
        slopes = np.concatenate([rows.p.partials(x), -rows.q.partials(x)])
        at = np.concatenate([pi, qi]), np.concatenate([pj, qj])
        merged = abs(sp.csr_array(sp.coo_array((slopes, at), shape=(rows.count, self.program.compiled.n))))
        own = merged @ np.abs(x) + np.abs(rows.p.values(x) - rows.q.values(x))
        limit = np.maximum(np.where(np.isfinite(own), own, np.inf), 1.0)
        sizes: Vector = np.minimum(whole, np.maximum(limit, ROUNDED * whole))
        return sizes

    def advance(self, state: State) -> State:
        """A step of the first phase, as long as there is one."""
        following = None if self._radius is None or self._taken >= LONGEST else self._trusted(state)
        if following is not None:
            self._taken += 1
            return following
        self._radius = None
        following = super().advance(state)
        way = float((np.abs(following.x - state.x) / self._sides(state.x)).max(initial=0.0))
        self._radius = min(1.0, AGAIN * way) if way * AGAIN > LEAST else None
        return following

    def improved(self, state: State) -> State | None:
        """The first lower point that tangents lead to from elsewhere, and that is feasible. Subproblems that are neither
        linear nor quadratic cost too much for that."""
        assert self.certificate is not None
        if self._tangents.problem.problem_class not in PLAIN:
            return None
        allowed = self.tol * self.certificate.scale + ROUNDING * state.size
        c, kept = self.program.compiled, (self._radius, self.weights)
        for point in spread(c.lower, c.upper, state.x, self.most, np.random.default_rng(0)):
            if (self.seconds_left() or np.inf) <= LAST_SECONDS:
                break
            self._radius, self.weights = 1.0, kept[1].copy()
            there = self._led_to(point)
            if there is not None and self.f(there) < state.level - allowed and self.is_feasible(there):
                return self.at(self.moved(state, there))
        self._radius, self.weights = kept
        return None

    def _led_to(self, point: Vector) -> Vector | None:
        """Where tangents lead from a point, which need not lie in C."""
        try:
            state = self.at(self._first_state(point))
            for _ in range(STEPS):
                following = self._trusted(state)
                if following is None or self._radius is None:
                    break
                state = following
        except (AlgorithmStopped, DCProgError):
            return None
        return state.x

    def _trusted(self, state: State) -> State | None:
        """The next point by tangents; the same one where they predict no fall, and None where no region is small enough."""
        x, u, here = state.x, self.subgradient(state.x), self.rows.violations(state.x)
        D, heavier = self._sides(x), 0
        for _ in range(TRIES):
            assert self._radius is not None
            if self._radius < LEAST:
                return None
            solution = self._step_within(x, u, x - self._radius * D, x + self._radius * D)
            if solution is None:
                self._radius /= 4
                continue
            left = self._tangents.slacks(solution.z)
            if heavier < HEAVIER and self._heavier(solution, here, left):
                heavier += 1
                continue
            predicted = self.gap(x, solution.x, u) + float(self.weights @ (here - left))
            if predicted <= ROUNDING * (state.size + float(self.weights @ self.rows.sizes(x))):
                self._radius = None
                return self.at(self.next_state(state, solution, x))
            there = self._corrected(x, u, D, solution)
            share = (self.merit(x) - self.merit(there)) / predicted
            way = float((np.abs(there - x) / D).max(initial=0.0))
            if not share >= ACCEPT:
                self._radius = min(self._radius, way) / 4
                continue
            if share > GOOD and way > 0.9 * self._radius:
                self._radius = min(2 * self._radius, 1.0)
            elif share < POOR:
                self._radius /= 2
            following = self.at(self.next_state(state, solution, there))
            self._largest = np.maximum(self._largest, self.rows.sizes(there))
            return following
        return None

    def _sides(self, x: Vector) -> Vector:
        c = self.program.compiled
        far = FAR * np.maximum(np.abs(x), self.dispatcher.units.column[: c.n])
        sides: Vector = np.minimum(c.upper - c.lower, far)
        return np.where(sides > 0, sides, 1.0)

    def _step_within(self, x: Vector, u: Vector, low: Vector, high: Vector, values: Vector | None = None) -> Solution | None:
        """The minimiser with the tangents at x; ``values`` of p − q in place of those at x."""
        c = self.program.compiled
        change = self._tangents.at(x, values)
        if change is None:
            return None
        bounds = self.within(low, high)
        problem = self._tangents.problem
        change = replace(change, lower=bounds.lower, upper=bounds.upper)
        assert change.lower is not None
        assert change.upper is not None
        change.lower[self._tangents.idle] = change.upper[self._tangents.idle] = 0.0
        if self._open is None:
            opened = change.apply(problem)
            plain = opened.problem_class in PLAIN  # few others take bounds in place
            moving = self.moves | ({"lower", "upper"} if plain else set())
            name = self.first_solver(opened)
            self._open = Dispatcher(opened, name, fallback=self.fallback, own=c.n, moving=moving)
        cost = c.cost(u)
        cost[self.rows.s] = self.weights
        z = c.lift(x)
        z[self._tangents.idle] = 0.0
        try:
            self._open.change(change)
            solution = self._open.solve(cost, z, self.seconds_left(), feasible=True)
        except DCProgError:
            return None
        self.dispatcher.solves += 1
        return solution

    def _heavier(self, solution: Solution, here: Vector, left: Vector) -> bool:
        """Whether weights grew: of rows that stay violated by much of what they were, and whose multipliers they bound."""
        first, most = self.rows.first, MOST * self.first_weights
        multipliers = -solution.row_duals[first : first + self.rows.count]
        light = (left > PERSISTENT * here) & (multipliers > BOUND * self.weights) & (self.weights < most)
        self.weights = np.where(light, np.minimum(GROWTH * self.weights, most), self.weights)
        return bool(light.any())

    def _corrected(self, x: Vector, u: Vector, D: Vector, solution: Solution) -> Vector:
        """The step, or the one with the same slopes and the values of the rows that it led to, if the merit is lower there:
        it comes back to curved equations."""
        there = solution.x
        if self.relative_violation(there) <= FEASIBLE:
            return there
        values = self.rows.p.values(there) - self.rows.q.values(there) - self._tangents.rises(there - x)
        assert self._radius is not None
        again = self._step_within(x, u, x - self._radius * D, x + self._radius * D, values)
        return there if again is None or not self.merit(again.x) < self.merit(there) else again.x


@dataclass(eq=False)
class TangentProblem:
    """A subproblem with the tangents of its DC rows in their place, and without the variables t ≥ p(x)."""

    rows: DCRows
    opened: ConvexProblem

    @cached_property
    def idle(self) -> Indices:
        """The variables t, which stand for nothing here."""
        found: Indices = self.rows.t[self.rows.t >= 0]
        return found

    @cached_property
    def _layout(self) -> tuple[Indices, Indices, Indices, Indices, Vector]:
        """Row and column of each entry by columns, those that move, which of them each triplet adds to, and the others."""
        rows, A = self.rows, sp.coo_array(self.opened.A)
        fixed = (A.row < rows.first) | (A.row >= rows.first + rows.count)
        (pi, pj), (qi, qj) = rows.p.places, rows.q.places
        i, j = np.concatenate([pi, qi, np.arange(rows.count)]), np.concatenate([pj, qj, rows.s])
        height = self.opened.A.shape[0]
        moving, entry = np.unique(j * height + i + rows.first, return_inverse=True)
        still = A.col[fixed].astype(np.int64) * height + A.row[fixed]
        keys = np.concatenate([still, moving])
        order = np.argsort(keys, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        data = np.zeros(len(order))
        data[place[: len(still)]] = A.data[fixed]
        return keys[order] % height, keys[order] // height, place[len(still) :], entry, data

    @cached_property
    def problem(self) -> ConvexProblem:
        """Before any tangent is put into it."""
        first, rows = self.rows.stand_ins
        constraints = self.opened.constraints
        return replace(self.opened, A=self._matrix(None), constraints=constraints[:first] + constraints[first + len(rows) :])

    def _matrix(self, x: Vector | None) -> Sparse:
        i, j, moving, entry, fixed = self._layout
        rows, data = self.rows, fixed.copy()
        none = np.zeros(len(entry) - rows.count)
        self._slopes = none if x is None else np.concatenate([rows.p.partials(x), -rows.q.partials(x)])
        data[moving] = np.bincount(entry, np.concatenate([self._slopes, -np.ones(rows.count)]), minlength=len(moving))
        indptr = np.searchsorted(j, np.arange(self.opened.n + 1))
        return sp.csc_array((data, i, indptr), shape=self.opened.A.shape)

    def at(self, x: Vector, values: Vector | None = None) -> Change | None:
        """The tangents at x, or those slopes with other values of p − q; None where a row has no slope."""
        rows = self.rows
        A = self._matrix(x)
        here = rows.p.values(x) - rows.q.values(x) if values is None else values
        if not (np.isfinite(self._slopes).all() and np.isfinite(here).all()):
            return None
        upper = self.opened.row_upper.copy()
        upper[rows.first : rows.first + rows.count] = self.rises(x) - here
        return Change(A=A, row_upper=upper)

    def rises(self, d: Vector) -> Vector:
        """⟨∇(pᵢ − qᵢ), d⟩ of each row, with the last slopes."""
        (pi, pj), (qi, qj) = self.rows.p.places, self.rows.q.places
        i, j = np.concatenate([pi, qi]), np.concatenate([pj, qj])
        rises: Vector = np.bincount(i, self._slopes * d[j], minlength=self.rows.count).astype(float)
        return rises

    def slacks(self, z: Vector) -> Vector:
        """What the tangents leave of the violations."""
        found: Vector = np.maximum(z[self.rows.s], 0.0)
        return found

"""DCA for DC constraints: inner approximations from a feasible point, an exact penalty until there is one.

Lipp & Boyd, Variations and extension of the convex–concave procedure, Optim. Eng. 17 (2016); Le Thi, Huynh & Pham Dinh, DC
programming and DCA for general DC programs (2014), whose rule for the weight is ``rule="dca2"``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.extrapolation import Extrapolation
from dcprog.algorithms.kkt import Course
from dcprog.algorithms.result import State, Status
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import CapabilityError, DataError, FunctionError
from dcprog.program.dc_program import DCProgram
from dcprog.program.dc_rows import DCRows
from dcprog.solvers.dispatch import Solution
from dcprog.solvers.registry import get
from dcprog.typing import Mask, Vector

FEASIBLE = 1e-7
"""A violation below this share of a row's terms is none."""
LEAST_SIZE = 1e-3
"""The terms of a row count as this share of the largest that they were in the run, where they are less."""
RULES = ("geometric", "dca2", "ccp")
LARGEST = 1e10
"""Weights grow up to so many times their first value."""
ABOVE = 1.5
"""Weights of equations stay so many times above their multipliers."""
LEAST = 1e-3
"""And above this share of their first value."""
LEAP = 10.0
"""The factor of the weights where the subproblem has no minimum."""
PATIENCE, SHORT = 10, 1e-3
"""So many steps below this share of x creep, if they do not fall to a half."""
FAR = 100.0
"""So many times its terms at the start a row may be violated."""
UNANSWERED = frozenset({Status.INFEASIBLE, Status.SUBPROBLEM_FAILED, Status.UNKNOWN})
TRIAL, BETA, SHORTEST = 1.0, 0.5, 0.25
"""The first λ̄ of steps beyond the subproblem's solution, by what it is shortened, and the shortest λ that is tried."""
FLAT, NUDGE = 1e-6, 0.1
"""A q whose slope brings less than this share of its row is flat; and how far beside it is gone, as a share of x."""
BESIDE = 1e-7
"""So near to its bound, for its size, a variable may be there."""
STEADY = 0.02
"""Steps are extrapolated where they are at most this share of each variable."""
SHARE = 1e-2
"""Of what the subproblem's step brings for its length, so much has to be brought by what goes beyond it."""
REST = 8
"""Where nothing is gained beyond, so many iterations pass at most before it is tried again."""
SMALLEST = 1e-9
"""Entries of a point below this share of its largest are 0."""
PERSISTENT = 0.7
"""Weights of an equation grow where a step leaves more than this share of its violation."""


class Penalty(Algorithm):
    """min g − h over C with pᵢ(x) − qᵢ(x) ≤ 0: every iteration linearises h and all q at xᵏ, vᵢ ∈ ∂qᵢ(xᵏ).

    While xᵏ is infeasible each row has a slack, xᵏ⁺¹ = argmin {g(x) − ⟨u, x⟩ + Σ τᵢsᵢ : pᵢ(x) − qᵢ(xᵏ) − ⟨vᵢ, x − xᵏ⟩ ≤ sᵢ},
    and the weights τᵢ of violated rows grow by the factor ``growth``. f + Σ τᵢ max(pᵢ − qᵢ, 0) falls in each step. From a
    feasible point on there are no slacks: all iterates are feasible, and f falls. Rows from an equation keep theirs, with
    weights just above their multipliers.

    Where some q bends and steps are short, everything is linearised at the point to which the last steps seem to lead, and
    the solution is taken if the merit function is lower there than at xᵏ. ``boosted`` lengthens steps as Boosted DCA does,
    xᵏ⁺¹ = y + λ(y − xᵏ), y the subproblem's solution, for the first λ of λ̄, λ̄/2, … at which the merit function is lower
    than at y, and rows without a slack hold.

    A limit that is feasible is a KKT point where multipliers exist. One that is not, where no weight helps, is a stationary
    point of the violation.

    Parameters
    ----------
    growth : float
        Factor of the weights, > 1.
    weight : float
        The first weights, in units that balance f and the row at the start.
    rule : str
        ``"geometric"``, or as printed: ``"dca2"`` of Le Thi et al., one weight β for all rows, β ← β + δ₂ if
        β < min(‖Δx‖⁻¹, ‖λ‖∞ + δ₁), δ₁ = δ₂ = 1; or ``"ccp"`` of Lipp & Boyd, τ ← min(µτ, τmax) in each iteration, µ =
        ``growth``, with slacks throughout. Both in the same units, without extrapolation.
    boosted : bool
        Whether steps are lengthened.

    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([0, 1], bounds=(-3, 3), initialize={0: 0.3, 1: 0.5})
    >>> m.ring = dcprog.DCConstraint(p=1, q=m.x[0]**2 + m.x[1]**2)
    >>> result = dcprog.solve(dcprog.DCProgram(m, g=(m.x[0] - 0.1)**2 + (m.x[1] - 0.1)**2, h=0))
    >>> print(result.status, result.stationarity, abs(result["x"]).round(4), result.violation <= 1e-6)
    converged kkt [0.7071 0.7071] True
    """

    name = "penalty"
    takes_dc_constraints = True
    moves = frozenset({"A", "row_upper"})
    course = Course
    stationarity = "kkt"

    def __init__(
        self,
        program: DCProgram | None = None,
        *,
        growth: float = 1.5,
        weight: float = 0.1,
        rule: str = "geometric",
        boosted: bool = False,
        **settings: Any,
    ) -> None:
        if not 1 < growth < np.inf:
            raise DataError(f"growth is {growth!r}: pass a factor > 1 by which weights grow")
        if not 0 < weight < np.inf:
            raise DataError(f"weight is {weight!r}: pass a number > 0")
        if rule not in RULES:
            raise DataError(f"rule is {rule!r}, expected one of {', '.join(RULES)}")
        self.growth, self.weight, self.rule, self.boosted = growth, weight, rule, boosted
        self.weights = self.first_weights = self._largest = self._first_sizes = np.empty(0)
        self.kept = np.empty(0, dtype=bool)
        self.multipliers: dict[str, np.ndarray] = {}
        super().__init__(program, **settings)

    @classmethod
    def check(cls, program: DCProgram) -> None:
        if program.compiled.dc is None:
            raise CapabilityError("the program has no DC constraint: use DCA")

    def first_solver(self, problem: ConvexProblem) -> str:
        """Quadratic rows are cones for Clarabel, which takes them in a few milliseconds while A moves."""
        if self.solver == "auto" and problem.problem_class is ProblemClass.NLP and problem.smooth is None:
            clarabel = get("clarabel")
            return clarabel.name if clarabel.missing(problem) is None else self.solver
        return self.solver

    @property
    def rows(self) -> DCRows:
        """The DC constraints."""
        rows = self.program.compiled.dc
        assert rows is not None
        return rows

    def begin(self, state: State) -> None:
        self._first_sizes = self._largest = self.rows.sizes(state.x)
        self.kept = self.rows.equation.copy()
        self._steps: list[float] = []
        self._trial, self._rest, self._resting = TRIAL, 0, 0
        self._extrapolation = Extrapolation()
        if self.rule == "ccp":
            self.kept = np.ones(self.rows.count, dtype=bool)
        self.first_weights = self.weights = self.weight * self._units(state.x)

    def ceiling(self, state: State) -> float:
        return state.level if self.is_feasible(state.x) and not self.kept.any() else np.inf

    def merit(self, x: Vector) -> float:
        """f + Σ τᵢ max(pᵢ − qᵢ, 0), which falls from one weight to the next only."""
        return self.f(x) + float(self.weights @ self.rows.violations(x))

    def is_feasible(self, x: Vector) -> bool:
        """Whether every DC constraint holds, relative to its terms."""
        return self.relative_violation(x) <= FEASIBLE

    def relative_violation(self, x: Vector) -> float:
        """The largest violation of a DC constraint, relative to its terms."""
        sizes = self.sizes_of_rows(x)
        return float((self.rows.violations(x) / np.where(sizes > 0, sizes, 1.0)).max(initial=0.0))

    def sizes_of_rows(self, x: Vector) -> Vector:
        """What each row is made of at x, and at least a thousandth of what it was made of before: near x = 0 the terms of
        x² ≤ 0 say nothing about what is small."""
        return np.maximum(self.rows.sizes(x), LEAST_SIZE * self._largest)

    def advance(self, state: State) -> State:
        """One subproblem; without slacks where the point is feasible, and with them if that has no answer. Weights that
        leave it without a minimum grow."""
        if self._creeps(state):
            self.keep_slacks()
        if self.is_feasible(state.x):
            try:
                return self._step(state, self.kept)
            except AlgorithmStopped as stopped:
                if stopped.status not in UNANSWERED:
                    raise
                self.keep_slacks()  # next to no point but this one: nothing that a solver could hold on to
        while True:
            try:
                return self._step(state, np.ones(self.rows.count, dtype=bool))
            except AlgorithmStopped as stopped:
                if stopped.status is not Status.UNBOUNDED or not self.grow(LEAP):
                    raise

    def inner(self, x: Vector, slack: Mask, relaxed: float = FEASIBLE, tries: int | None = None) -> Solution:
        """The subproblem at x, with the slacks of the mask switched on. Where some are off and rows are curved, it may
        have no interior: then only the first solver is asked."""
        problem = self.dispatcher.as_opened
        cost = self.program.compiled.cost(self.subgradient(x))
        cost[self.rows.s] = np.where(slack, self.weights, self.first_weights)  # what is off hides nothing of f
        if not slack.all() and problem.constraints:
            tries = 1
        change = self.rows.linearised(problem, x, slack, relaxed * self.sizes_of_rows(x))
        return self.minimise_cost(cost, x, change, tries)

    def keep_slacks(self) -> bool:
        """From now on all rows keep their slacks, as equations do: where their linearisations have no interior nothing
        would ever move without. False if they do already."""
        before, self.kept = self.kept, np.ones(self.rows.count, dtype=bool)
        return not before.all()

    def _step(self, state: State, slack: Mask) -> State:
        solution = self._ahead(state, slack)
        if solution is None:
            solution = self.inner(state.x, slack)
            while self._is_far(solution.x) and self.grow(LEAP):
                solution = self.inner(state.x, slack)
            self._extrapolation.add(state.x, solution.x)
        following = self.at(self.next_state(state, solution, self._beyond(state, solution.x, slack)))
        self._largest = np.maximum(self._largest, self.rows.sizes(following.x))
        self._update(state, following, solution, slack)
        return following

    def _ahead(self, state: State, slack: Mask) -> Solution | None:
        """The subproblem's solution at the point to which the last steps seem to lead, instead of that at xᵏ; None where the
        merit function would not be lower there. Tangents of q lie below q wherever they touch: rows without slacks hold."""
        if self.rule != "geometric" or self.rows.q.affine.all():
            return None
        if self._resting > 0:
            self._resting -= 1
            return None
        sizes = self.sizes(state.x)
        z = self._extrapolation.limit(sizes) if self._is_steady(state, sizes) else None
        if z is None:
            return None
        z = np.clip(z, self.program.compiled.lower, self.program.compiled.upper)
        self._rest = min(2 * self._rest + 1, REST)
        self._resting = self._rest
        try:
            solution = self.inner(z, slack, relaxed=0.0, tries=1)
        except (AlgorithmStopped, FunctionError):
            return None
        self._extrapolation.add(z, solution.x)
        lower = self.merit(solution.x) < self.merit(state.x) and self.f(solution.x) <= self.ceiling(state)
        if not lower or not self._holds(solution.x, ~slack):
            return None
        self._rest = self._resting = 0
        return solution

    def _is_steady(self, state: State, sizes: Vector) -> bool:
        """Whether the rows hold and steps are short: before, the order in which things happen decides where a run ends."""
        if state.previous is None or not self.is_feasible(state.x):
            return False
        return bool((np.abs(state.x - state.previous) <= STEADY * sizes).all())

    def _beyond(self, state: State, y: Vector, slack: Mask) -> Vector | None:
        """y + λ(y − xᵏ); None where λ = 0, and where no q bends: then it is DCA."""
        if not self.boosted:
            return None
        c = self.program.compiled
        d = y - state.x
        d = np.where((d > 0) & (y >= c.upper) | (d < 0) & (y <= c.lower), 0.0, d)
        here = self.merit(y)
        brought = (self.merit(state.x) - here) / max(float((y - state.x) @ (y - state.x)), 1e-300)
        length = self.reach(y, d, self._trial) if d.any() and brought > 0 else 0.0
        while length >= SHORTEST:
            x = self.along(y, d, length)
            with np.errstate(all="ignore"):
                if self.merit(x) <= here - SHARE * brought * float((x - y) @ (x - y)) and self._holds(x, ~slack):
                    self._trial = 2 * length if length == self._trial else max(length, TRIAL)
                    return x
            length *= BETA
        self._trial = TRIAL
        return None

    def _holds(self, x: Vector, which: Mask) -> bool:
        """Whether the rows of the mask hold."""
        return bool((self.rows.violations(x) <= FEASIBLE * self.sizes_of_rows(x))[which].all())

    def at(self, state: State) -> State:
        """``state`` with its violation."""
        return replace(state, violation=float(self.rows.violations(state.x).max(initial=0.0)))

    def on_bounds(self, state: State) -> State | None:
        """A feasible state with bounds in the place of what an interior-point method left beside them; None where that is
        nothing, or leads out of the constraints or upwards."""
        c, x = self.program.compiled, state.x
        near = BESIDE * self.sizes(x)
        x = np.where(x - c.lower <= near, c.lower, np.where(c.upper - x <= near, c.upper, x))
        if np.array_equal(x, state.x) or not self.is_feasible(x):
            return None
        if self.f(x) > state.level + BESIDE * state.size or self.reach(state.x, x - state.x, 1.0) < 1:
            return None
        return self.at(replace(self.moved(state, x), iteration=state.iteration + 1))

    def beside_flat_rows(self, state: State) -> State | None:
        """A state beside a feasible one, off it in the variables of q of active rows that are flat in them."""
        rows, x = self.rows, state.x
        (at, cols), sizes = rows.q.places, self.sizes(x)
        slopes = np.abs(rows.slopes(x)[at, cols])
        steep = np.bincount(at, slopes * sizes[cols], minlength=rows.count)
        terms = self.sizes_of_rows(x)
        active = rows.q.values(x) - rows.p.values(x) <= FEASIBLE * terms
        flat = active & ~rows.equation & ~rows.q.affine & (steep <= FLAT * np.maximum(terms, FLAT))
        if not flat.any():
            return None
        off = np.zeros_like(x)
        touched = np.unique(cols[flat[at]])
        off[touched] = NUDGE * sizes[touched] * np.random.default_rng(len(self.trace.values)).uniform(-1, 1, len(touched))
        c = self.program.compiled
        off = np.clip(x + off, c.lower, c.upper) - x
        length = self.reach(x, off, 1.0) if off.any() else 0.0
        if length == 0:
            return None
        return self.at(replace(self.moved(state, self.along(x, off, length)), iteration=state.iteration + 1, step=None))

    def grow(self, factor: float) -> bool:
        """Larger weights for all rows; False where they are as large as they get."""
        before, most = self.weights, LARGEST * self.first_weights
        self.weights = np.minimum(factor * before, most)
        return bool((self.weights > before).any())

    def _creeps(self, state: State) -> bool:
        """Whether the steps between feasible points have been short for long and hardly get shorter: along a set without
        an interior, such as xy ≤ 0 with x, y ≥ 0, what rounding leaves open is all that lets them go."""
        step = state.step if state.step is not None and state.violation <= self.tol and not self.kept.all() else np.inf
        self._steps = [*self._steps[-PATIENCE:], step]
        first = self._steps[0]
        return len(self._steps) > PATIENCE and first <= SHORT and step >= first / 2 and bool((self.rows.t >= 0).any())

    def _is_far(self, x: Vector) -> bool:
        """Whether a row is violated by many times what it was made of at the start: then f falls without end, since the
        weights are too small for it."""
        known = self._first_sizes > 0
        return bool((self.rows.violations(x) > FAR * self._first_sizes)[known].any())

    def _update(self, state: State, following: State, solution: Solution, slack: Mask) -> None:
        """The weights for the next subproblem: larger where a row is violated, and lower again for equations."""
        rows, there = self.rows, self.rows.violations(following.x)
        multipliers = -solution.row_duals[rows.first : rows.first + rows.count]
        violated = slack & (there > FEASIBLE * self.sizes_of_rows(following.x))
        most = LARGEST * self.first_weights
        if self.rule == "ccp":
            self.weights = np.minimum(self.growth * self.weights, most)
            return
        if self.rule == "dca2":
            beta = float((self.weights / self.first_weights).max(initial=0.0))
            moved = float(np.linalg.norm(following.x - state.x))
            bound = float((multipliers / self.first_weights).max(initial=0.0)) + 1.0
            if violated.any() and beta < min(1 / moved if moved else np.inf, bound):
                self.weights = np.minimum((beta + 1.0) * self.first_weights, most)
            return
        # the pair of an equation is violated by the square of a step, whatever its weights: not while that falls by itself
        persists = violated & (~rows.equation | (there > PERSISTENT * rows.violations(state.x)))
        grown = np.where(persists, np.minimum(self.growth * self.weights, most), self.weights)
        net = np.abs(multipliers - multipliers[rows.partner])
        lowest = np.maximum(ABOVE * net, LEAST * self.first_weights)
        fallen = np.clip(self.weights / self.growth, lowest, np.maximum(lowest, self.weights))
        self.weights = np.where(rows.equation & ~persists, fallen, grown)

    def _units(self, x: Vector) -> Vector:
        """What balances f and each row: what f changes by over the sizes of x, to first order, by the size of the row."""
        c, rows = self.program.compiled, self.rows
        width = c.upper - c.lower
        usual = float(np.median(np.abs(x[x != 0]))) if x.any() else 1.0
        known = np.abs(x) > SMALLEST * np.abs(x).max(initial=0.0)  # a projection leaves 1e-15 where it means 0
        sizes = np.where(known, np.abs(x), np.where(np.isfinite(width) & (width > 0), width, usual))
        slope = np.abs(c.g.gradient(x) - self.subgradient(x))
        value = float(np.where(np.isfinite(slope), slope, 0.0) @ sizes) or 1.0
        row_sizes = rows.sizes(x)
        known = np.isfinite(row_sizes) & (row_sizes > 0)
        share = value / min(rows.count, c.n)  # so many rows are active at a vertex
        return share / np.where(known, row_sizes, np.median(row_sizes[known]) if known.any() else 1.0)

"""The course of a run with DC constraints, and its certificate: a KKT point, or a stationary point of the violation.

A feasible point is a KKT point if it solves its own linearised problem: all q linearised at it, equations by their tangents.
So its certificate is that of :mod:`dcprog.algorithms.criticality` on that problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from dcprog.algorithms import course
from dcprog.algorithms.criticality import Certificate, Criticality, Multipliers
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.result import State, Status
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import Dispatcher, Solution
from dcprog.typing import Vector

if TYPE_CHECKING:
    from dcprog.algorithms.penalty import Penalty

FALL = 1e-3
"""A violation that falls by less than this share of itself, to first order, falls in no direction."""
LEAP = 10.0
"""The factor of the weights where nothing moves and the point is not feasible."""
D_TIMES = 10.0
"""Where the linearised problem has no solution it is looked at so many times the sizes of the variables around the point."""
STUCK = 5
"""After so many leaps without a fall of the violation nothing will."""


class KKT(NamedTuple):
    """The solution of the linearised problem at a feasible point, and what it says of the point."""

    solution: Solution
    certificate: Certificate


class Course(course.Course):
    """States until a rule says stop, and the point is a KKT point."""

    def states(self, state: State) -> Iterator[State]:
        algorithm = cast("Penalty", self.algorithm)
        algorithm.begin(state)
        state, leaps = algorithm.at(state), 0
        while True:
            algorithm.trace.add(state)
            yield state
            verdict = algorithm.stop.check(state)
            if verdict is None:
                state = algorithm.advance(state)
                continue
            feasible = algorithm.is_feasible(state.x)
            if feasible and verdict is not Status.TIME_LIMIT and self._is_kkt(algorithm, state):
                self._promised(state)  # wrong gradients of the user's functions
                algorithm.status = Status.CONVERGED
                return
            if verdict is not Status.CONVERGED or algorithm.own_rule:
                algorithm.status = Status.STOPPED_BY_RULE if verdict is Status.CONVERGED else verdict
                return
            if (limit := algorithm.stop.ends(state)) is not None:
                algorithm.status = limit
                return
            before, leaps = state, leaps + 1
            if not feasible and self._falls_nowhere(algorithm, state):
                algorithm.status = Status.INFEASIBLE_STATIONARY
                algorithm.messages.append(
                    f"the DC constraints are violated by {state.violation:.3g}, which no direction reduces to first order: "
                    "start elsewhere (starts=20), or relax a constraint; that no feasible point exists is not proved"
                )
                return
            moved = feasible or algorithm.grow(LEAP)
            state = algorithm.advance(state)
            if not moved or (leaps >= STUCK and np.array_equal(before.x, state.x)) or leaps > 10 * STUCK:
                algorithm.status = Status.STALLED
                algorithm.messages.append(_why(algorithm, state, feasible))
                return

    def _is_kkt(self, algorithm: Penalty, state: State) -> bool:
        """The certificate of a feasible point; the algorithm keeps it, and the multipliers."""
        try:
            kkt = self._linearised(algorithm, state)
        except (AlgorithmStopped, DCProgError):
            return False
        algorithm.certificate = kkt.certificate if kkt.certificate.holds else None
        if kkt.certificate.holds:
            algorithm.multipliers = _by_name(algorithm, kkt, state.x)
        return kkt.certificate.holds

    def _linearised(self, algorithm: Penalty, state: State) -> KKT:
        c, rows = self.compiled, algorithm.rows
        problem = rows.tangent(algorithm.dispatcher.as_opened, state.x)
        u = algorithm.subgradient(state.x)
        solution = None if rows.equation.any() else self._in_place(algorithm, state)
        if solution is None:  # tangents that are off by rounding may let a linear f fall for ever: not farther than D
            near = D_TIMES * np.maximum(np.abs(state.x), algorithm.dispatcher.units.column[: c.n])
            lower, upper = problem.lower.copy(), problem.upper.copy()
            lower[: c.n], upper[: c.n] = np.maximum(c.lower, state.x - near), np.minimum(c.upper, state.x + near)
            problem = replace(problem, lower=lower, upper=upper)
            solver = Dispatcher(problem, algorithm.solver, algorithm.solver_options, fallback=algorithm.fallback, own=c.n)
            solution = solver.solve(c.cost(u), c.lift(state.x), algorithm.seconds_left(), feasible=True)
            algorithm.dispatcher.solves += 1
        following = replace(
            state,
            x=solution.x,
            **c.f.evaluate(solution.x)._asdict(),
            gap=c.f.gap(state.x, solution.x, u),
            multipliers=Multipliers(u, solution.row_duals, solution.constraint_duals, solution.cone_duals),
        )
        here = replace(c, subproblem=problem, feasible_set=replace(problem, c=np.zeros(problem.n), Q=None, smooth=None))
        criticality = Criticality(here, algorithm.dispatcher.units.column, algorithm.tol)
        return KKT(solution, criticality.certificate(state, following, algorithm.trace))

    def _in_place(self, algorithm: Penalty, state: State) -> Solution | None:
        """The solution of the inner approximation by the open solvers; None where they find none."""
        try:
            return algorithm.inner(state, np.zeros(algorithm.rows.count, dtype=bool))
        except AlgorithmStopped:
            return None

    def _falls_nowhere(self, algorithm: Penalty, state: State) -> bool:
        """Whether the violation, in units of the rows, is as small at x as anywhere on the linearised problem."""
        c, rows = self.compiled, algorithm.rows
        slack = np.ones(rows.count, dtype=bool)
        problem = rows.linearised(algorithm.dispatcher.as_opened, state.x, slack).apply(algorithm.dispatcher.as_opened)
        cost = np.zeros(problem.n)
        cost[rows.s] = algorithm.first_weights
        alone = replace(problem, c=cost, Q=None, smooth=None)
        lifted = c.lift(state.x)
        here = float(cost @ lifted)
        try:
            least = Dispatcher(alone, own=c.n).solve(cost, lifted, algorithm.seconds_left(), feasible=True)
        except DCProgError:
            return False
        algorithm.dispatcher.solves += 1
        return here - float(cost @ least.z) <= FALL * here


def kkt_gap(program: DCProgram, x: Vector) -> float:
    """The gap of the linearised problem at x, within ten times its sizes: 0 exactly at KKT points, if x is feasible."""
    c, rows = program.compiled, program.compiled.dc
    assert rows is not None
    problem = rows.tangent(c.subproblem, x)
    u, near = c.h.gradient(x), D_TIMES * np.maximum(np.abs(x), 1.0)
    lower, upper = problem.lower.copy(), problem.upper.copy()
    lower[: c.n], upper[: c.n] = np.maximum(c.lower, x - near), np.minimum(c.upper, x + near)
    there = Dispatcher(replace(problem, lower=lower, upper=upper), own=c.n).solve(c.cost(u), c.lift(x), feasible=True)
    return max(c.f.gap(x, there.x, u), 0.0)


def _by_name(algorithm: Penalty, kkt: KKT, x: Vector) -> dict[str, np.ndarray]:
    """The multipliers λ of p − q, ≥ 0 but for equations, by the names of their constraints."""
    rows = algorithm.rows
    y = -kkt.solution.row_duals
    values = y[rows.first : rows.first + rows.count].copy()
    alone = np.flatnonzero(rows.between >= 0)
    if alone.size:  # the other half is a bound, whose multiplier is the reduced cost of the variable
        problem, at = algorithm.dispatcher.problem, rows.between[alone]
        cost = algorithm.program.compiled.cost(algorithm.subgradient(x))
        reduced = problem.gradient(kkt.solution.z, cost)[at] - (problem.A.T @ kkt.solution.row_duals)[at]
        slopes = np.bincount(rows.q.places[0], rows.q.partials(x), minlength=rows.count)[alone]
        of_bound = np.where(slopes != 0, reduced / np.where(slopes != 0, slopes, 1.0), 0.0)
        values[alone] = -rows.turn[alone] * (values[alone] + of_bound)
    found: dict[str, np.ndarray] = {}
    halves = np.flatnonzero(rows.equation)
    values[halves] = y[len(y) - len(halves) :] if len(halves) else values[halves]
    for name in dict.fromkeys(rows.names):
        at = np.array([i for i, known in enumerate(rows.names) if known == name])
        if rows.equation[at].all():  # the first half is p − q, the second q − p
            first, second = np.split(values[at], 2)
            found[name] = first - second
        else:
            found[name] = values[at]
    return found


def _why(algorithm: Penalty, state: State, feasible: bool) -> str:
    if feasible:
        return "the point is feasible and no step leads away, but no multipliers certify it: there may be none"
    return (
        f"the DC constraints are violated by {state.violation:.3g}, and weights of {LEAP:g} times their last size do not "
        "help: they may have no multipliers (as x'y = 0 has none); start elsewhere, or relax them"
    )

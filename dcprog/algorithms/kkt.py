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
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import Dispatcher, Solution
from dcprog.typing import Indices, Vector

if TYPE_CHECKING:
    from dcprog.algorithms.penalty import Penalty

FALL = 1e-3
"""A violation that falls by less than this share of itself, to first order, falls in no direction."""
LEAP = 10.0
"""The factor of the weights where nothing moves and the point is not feasible."""
D_TIMES = 10.0
"""A linearised problem is looked at so many times the sizes of the variables around a point of which no run is known."""
NUDGES = 3
"""So many runs there are at most, each beside the KKT point that the one before it ended at."""
RETURNS = 3
"""So often a run that has left the feasible points goes back to the best of them, with larger weights."""
LEFT = "the point is feasible, but runs from there, with slacks, end at points that are not: start elsewhere (starts=20)"
STUCK = 5
"""After so many leaps without a fall of the violation nothing will."""


class KKT(NamedTuple):
    """A linearised problem at a feasible point, its solution, and what that says of the point."""

    problem: ConvexProblem
    solution: Solution
    certificate: Certificate
    turned: Indices
    """The DC rows whose tangents are the last rows of the problem, in their place."""


class Found(NamedTuple):
    """A KKT point from which the run went on, and what is known of it."""

    state: State
    certificate: Certificate | None
    multipliers: dict[str, np.ndarray]


class Course(course.Course):
    """States until a rule says stop, and the point is a KKT point.

    Where an active row has a flat q there, as ‖x − y‖² ≥ t has at x = y and t = 0, its tangent says nothing of what lies
    around: the run goes on beside the point, and comes back if it finds no lower one.
    """

    def states(self, state: State) -> Iterator[State]:
        """From the first state on."""
        algorithm = cast("Penalty", self.algorithm)
        found: Found | None = None
        algorithm.begin(state)
        for _ in range(NUDGES):
            last = state
            for last in self._states(state):
                yield last
            if algorithm.status is Status.CONVERGED and (found is None or last.level < found.state.level):
                found = Found(last, algorithm.certificate, algorithm.multipliers)
            beside = None if found is None or found.state is not last else algorithm.beside_flat_rows(last)
            if found is None or algorithm.own_rule or beside is None or algorithm.stop.ends(last) is not None:
                break
            state, algorithm.status, algorithm.certificate, algorithm.multipliers = beside, None, None, {}
        if found is not None and found.state is not last:
            algorithm.messages.clear()
            algorithm.status, algorithm.certificate, algorithm.multipliers = Status.CONVERGED, *found[1:]
            yield replace(found.state, iteration=last.iteration + 1)

    def _states(self, state: State) -> Iterator[State]:
        """One run from there."""
        algorithm = cast("Penalty", self.algorithm)
        state, leaps, returns = algorithm.at(state), 0, 0
        known: State | None = None
        while True:
            algorithm.trace.add(state)
            yield state
            if algorithm.is_feasible(state.x) and (known is None or state.level < known.level):
                known = state
            verdict = algorithm.stop.check(state)
            if verdict is None and not algorithm.own_rule and algorithm.is_feasible(state.x) and self._is_flat(state):
                verdict = Status.CONVERGED  # nothing is left to be done
            if verdict is None:
                state = algorithm.advance(state)
                continue
            feasible = algorithm.relative_violation(state.x) <= algorithm.tol
            if feasible and verdict is not Status.TIME_LIMIT and self._is_kkt(algorithm, state):
                better = self._promised(state)
                if better is None:
                    algorithm.status = Status.CONVERGED
                    return
                algorithm.certificate = None
                state = better
                algorithm.begin(state)
                continue
            if verdict is not Status.CONVERGED or algorithm.own_rule:
                algorithm.status = Status.STOPPED_BY_RULE if verdict is Status.CONVERGED else verdict
                return
            if (limit := algorithm.stop.ends(state)) is not None:
                algorithm.status = limit
                return
            if feasible and (beside := algorithm.on_bounds(state)) is not None:
                state = beside
                continue
            if feasible and algorithm.dispatcher.sharpen():
                state = algorithm.advance(state)
                continue
            before, leaps = state, leaps + 1
            if not feasible and self._falls_nowhere(algorithm, state):
                if known is not None:  # weights that were too small led away from there
                    if returns == RETURNS or not algorithm.grow(LEAP):
                        algorithm.status = Status.STALLED
                        algorithm.messages.append(LEFT)
                        return
                    returns, state = returns + 1, replace(known, iteration=state.iteration + 1)
                    continue
                algorithm.status = Status.INFEASIBLE_STATIONARY
                algorithm.messages.append(
                    f"the DC constraints are violated by {state.violation:.3g}, which no direction reduces to first order: "
                    "start elsewhere (starts=20), or relax a constraint; that no feasible point exists is not proved"
                )
                return
            moved = algorithm.keep_slacks() or feasible if feasible else algorithm.grow(LEAP)
            state = algorithm.advance(state)
            if not moved or (leaps >= STUCK and np.array_equal(before.x, state.x)) or leaps > 10 * STUCK:
                algorithm.status = Status.STALLED
                algorithm.messages.append(_why(algorithm, state, feasible))
                return

    def _is_flat(self, state: State) -> bool:
        """Whether f has the slope 0, as it has everywhere where a feasible point is all that is wanted."""
        slope = self.compiled.g.gradient(state.x) - self.algorithm.subgradient(state.x)
        return not slope.any()

    def _is_kkt(self, algorithm: Penalty, state: State) -> bool:
        """The certificate of a feasible point; the algorithm keeps it, and the multipliers."""
        rows = algorithm.rows
        for look in (self._of_inner, self._of_tangents):
            if look == self._of_inner and rows.equation.any():
                continue  # both halves leave x alone, whatever it is
            try:
                kkt = look(algorithm, state)
            except (AlgorithmStopped, DCProgError):
                continue
            if kkt.certificate.holds:
                algorithm.certificate, algorithm.multipliers = kkt.certificate, _by_name(algorithm, kkt, state.x)
                return True
            if not rows.turned.size:
                break
        return False

    def _of_inner(self, algorithm: Penalty, state: State) -> KKT:
        """By the inner approximation at the point, in the open solvers; curved as it is, it forgives a step."""
        rows = algorithm.rows
        none = np.zeros(rows.count, dtype=bool)
        problem = rows.linearised(algorithm.dispatcher.as_opened, state.x, none, np.inf).apply(
            algorithm.dispatcher.as_opened
        )
        return self._judged(algorithm, state, problem, algorithm.inner(state.x, none), np.empty(0, dtype=np.int64))

    def _of_tangents(self, algorithm: Penalty, state: State) -> KKT:
        """By the tangents at the point: off by rounding, they may let a linear f fall for ever, so not farther than the
        sizes of the variables."""
        c, rows = self.compiled, algorithm.rows
        problem = rows.tangent(algorithm.dispatcher.as_opened, state.x)
        near = algorithm.sizes(state.x)
        lower, upper = problem.lower.copy(), problem.upper.copy()
        lower[: c.n], upper[: c.n] = np.maximum(c.lower, state.x - near), np.minimum(c.upper, state.x + near)
        problem = replace(problem, lower=lower, upper=upper)
        solver = Dispatcher(problem, fallback=algorithm.fallback, own=c.n)
        cost = c.cost(algorithm.subgradient(state.x))
        solution = solver.solve(cost, c.lift(state.x), algorithm.seconds_left(), feasible=True)
        algorithm.dispatcher.solves += 1
        return self._judged(algorithm, state, problem, solution, rows.turned)

    def _judged(self, algorithm: Penalty, state: State, problem: ConvexProblem, solution: Solution, turned: Indices) -> KKT:
        c, u = self.compiled, algorithm.subgradient(state.x)
        there = state.x if turned.size else solution.x  # tangents have many solutions, at which f says nothing
        following = replace(
            state,
            x=there,
            **c.f.evaluate(there)._asdict(),
            gap=c.f.gap(state.x, solution.x, u),
            multipliers=Multipliers(u, solution.row_duals, solution.constraint_duals, solution.cone_duals),
        )
        here = replace(c, subproblem=problem, feasible_set=replace(problem, c=np.zeros(problem.n), Q=None, smooth=None))
        criticality = Criticality(here, algorithm.dispatcher.units.column, algorithm.tol)
        return KKT(problem, solution, criticality.certificate(state, following, algorithm.trace), turned)

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
    values[kkt.turned] = y[len(y) - len(kkt.turned) :]
    alone = np.flatnonzero(rows.between >= 0)
    if alone.size:  # the other half is a bound, whose multiplier is the reduced cost of the variable
        problem, at = kkt.problem, rows.between[alone]
        cost = algorithm.program.compiled.cost(algorithm.subgradient(x))
        reduced = problem.gradient(kkt.solution.z, cost)[at] - (problem.A.T @ kkt.solution.row_duals)[at]
        slopes = np.bincount(rows.q.places[0], rows.q.partials(x), minlength=rows.count)[alone]
        of_bound = np.where(slopes != 0, reduced / np.where(slopes != 0, slopes, 1.0), 0.0)
        values[alone] = -rows.turn[alone] * (values[alone] + of_bound)
    found: dict[str, np.ndarray] = {}
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

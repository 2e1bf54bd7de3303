"""QPs by active sets: a rough interior-point solution, made exact by pivoting; pivoting alone from one QP to the next.

Only the linear cost moves between DCA iterations. So the active sets of the last solution are tried first; where they are
too far off, PIQP finds an approximate solution, of the dual if the problem is tall, and pivoting makes it exact. If that
fails as well, PIQP solves the problem to the end.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.piqp import PIQP
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.reductions.dual_form import DualForm, obstacle
from dcprog.solvers.reductions.pivoting import Active, Pivoting, fits
from dcprog.typing import Vector

ROUGH = dict.fromkeys(("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"), 1e-06)
WARM, PRIMAL, DUAL = "the last active sets", "a rough solution", "a rough solution of the dual"
FEW_STEPS = 4
"""So many systems are solved from the last active sets before the interior point is asked."""


class ActiveSet(Solver):
    """PIQP and block principal pivoting; options are PIQP's."""

    name = "active-set"
    module = "piqp"
    distribution = "piqp"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.QP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.QP: 10})
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper"})
    interruptible = False

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is None and not fits(problem):
            return "it makes a dense copy of the problem, and this one is too large"
        return lack

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return ActiveSetSession(problem, options)

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return PIQP().estimate_seconds(problem)


class ActiveSetSession(Session):
    """Keeps the active sets of the last solution. The message of an answer says who gave it: pivoting from the last active
    sets, pivoting from a rough solution, or PIQP."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._options = dict(options)
        self._active: Active | None = None
        self._primal, self._of_dual, self._exact = (_Kept(o) for o in (ROUGH | self._options,) * 2 + (self._options,))
        self._take(problem)

    def _take(self, problem: ConvexProblem) -> None:
        self._problem, self._pivoting = problem, Pivoting(problem)
        tall = problem.m > problem.n - problem.m - self._pivoting.is_slack.sum() // 2
        self._dual = DualForm(problem) if tall and obstacle(problem) is None else None

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        before, slacks = self._problem, self._pivoting.is_slack
        self._take(problem)  # small matrices; what is worth keeping are the active sets
        if not (_same_limits(before, problem) and np.array_equal(slacks, self._pivoting.is_slack)):
            self._active = None
        return None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        clock = _Clock(time_limit)
        if self._active is not None:
            answer = self._pivoted(c, self._active, FEW_STEPS, clock, WARM)
            if answer is not None:
                return answer
        rough, origin = self._approximate(c, clock)
        if rough.claim is Claim.TIME_LIMIT:
            return rough
        if rough.claim is Claim.OPTIMAL and rough.z is not None and rough.row_duals is not None:
            guess = Active.guess(self._problem, c, rough.z, rough.row_duals)
            answer = self._pivoted(c, guess, 40, clock, origin)
            if answer is not None:
                return answer
        return self._exact.solve(self._problem, c, start, clock)

    @property
    def reopened(self) -> int:
        return self._primal.reopened + self._of_dual.reopened + self._exact.reopened

    def _approximate(self, c: Vector, clock: _Clock) -> tuple[Answer, str]:
        """A rough solution, and where it is from."""
        dual = None if self._dual is None else self._dual.problem(c)
        if self._dual is None or dual is None:
            return self._primal.solve(self._problem, c, None, clock), PRIMAL
        answer = self._of_dual.solve(dual, dual.c, None, clock)
        if answer.z is None or answer.row_duals is None or answer.claim is not Claim.OPTIMAL:
            return answer, DUAL
        return Answer(answer.claim, self._dual.recover(answer.row_duals), answer.z[: self._problem.m]), DUAL

    def _pivoted(self, c: Vector, active: Active, max_iter: int, clock: _Clock, origin: str) -> Answer | None:
        solution = self._pivoting.solve(c, active, max_iter, clock.deadline)
        if solution is None:
            return None
        z, y, self._active = solution
        return Answer(Claim.OPTIMAL, z, y, message=f"pivoting from {origin}")


def _same_limits(one: ConvexProblem, other: ConvexProblem) -> bool:
    """Whether the same limits and bounds are there, and the same of them coincide: active sets are about the same then."""
    return all(
        np.array_equal(np.isinf(getattr(one, name)), np.isinf(getattr(other, name)))
        for name in ("row_lower", "row_upper", "lower", "upper")
    ) and all(
        np.array_equal(a, b)
        for a, b in ((one.equality, other.equality), (one.lower == one.upper, other.lower == other.upper))
    )


class _Kept:
    """An open PIQP for one problem after the other, whose numbers it changes in place where it can."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = options
        self._problem: ConvexProblem | None = None
        self._session: Session | None = None
        self.reopened = 0

    def solve(self, problem: ConvexProblem, c: Vector, start: Vector | None, clock: _Clock) -> Answer:
        before = self._problem
        if before is None or self._session is None or not self._changed(before, problem):
            self.reopened += self._session is not None
            self._session = PIQP().open(problem, self._options)
        self._problem = problem
        return self._session.solve(c, start, clock.left())

    def _changed(self, before: ConvexProblem, problem: ConvexProblem) -> bool:
        assert self._session is not None
        if (before.n, before.m) != (problem.n, problem.m):  # a dual has other rows where columns mirror each other no more
            return False
        moved = before.unlike(problem)
        return not moved or self._session.change(problem, moved) is None


class _Clock:
    """What is left of a time limit."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = np.inf if time_limit is None else time.perf_counter() + time_limit

    def left(self) -> float | None:
        return None if self.deadline == np.inf else max(self.deadline - time.perf_counter(), 0.0)

"""QPs by active sets: a rough interior-point solution, made exact by pivoting; pivoting alone from one QP to the next.

Only the linear cost moves between DCA iterations. So the active sets of the last solution are tried first; where they are
too far off, PIQP finds an approximate solution, of the dual if the problem is tall, and pivoting makes it exact. If that
fails as well, PIQP solves the problem to the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcprog._typing import Vector
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.solvers.dual_form import DualForm, obstacle
from dcprog.solvers.piqp import PIQP
from dcprog.solvers.pivoting import Active, Pivoting, fits
from dcprog.subproblem import ProblemClass, Subproblem

ROUGH = dict.fromkeys(("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"), 1e-06)
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

    def missing(self, problem: Subproblem) -> str | None:
        lack = super().missing(problem)
        if lack is None and not fits(problem):
            return "it makes a dense copy of the problem, and this one is too large"
        return lack

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return ActiveSetSession(problem, options)


class ActiveSetSession(Session):
    """Keeps the active sets of the last solution."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        self._problem, self._options = problem, dict(options)
        self._pivoting = Pivoting(problem)
        self._active: Active | None = None
        tall = problem.m > problem.n - problem.m - self._pivoting.is_slack.sum() // 2
        self._dual = DualForm(problem) if tall and obstacle(problem) is None else None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if self._active is not None:
            answer = self._pivoted(c, self._active, FEW_STEPS)
            if answer is not None:
                return answer
        rough = self._approximate(c)
        if rough.claim is Claim.OPTIMAL and rough.z is not None and rough.row_duals is not None:
            answer = self._pivoted(c, Active.guess(self._problem, c, rough.z, rough.row_duals), 40)
            if answer is not None:
                return answer
        return PIQP().open(self._problem, self._options).solve(c, start, time_limit)

    def _approximate(self, c: Vector) -> Answer:
        options = ROUGH | self._options
        if self._dual is None:
            return PIQP().open(self._problem, options).solve(c, None, None)
        dual = self._dual.problem(c)
        if dual is None:
            return Answer(Claim.UNBOUNDED)
        answer = PIQP().open(dual, options).solve(dual.c, None, None)
        if answer.z is None or answer.row_duals is None:
            return answer
        return Answer(answer.claim, self._dual.recover(answer.row_duals), answer.z[: self._problem.m])

    def _pivoted(self, c: Vector, active: Active, max_iter: int) -> Answer | None:
        solution = self._pivoting.solve(c, active, max_iter)
        if solution is None:
            return None
        z, y, self._active = solution
        return Answer(Claim.OPTIMAL, z, y, message="pivoting")

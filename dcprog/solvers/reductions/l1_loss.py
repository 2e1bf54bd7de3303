"""ℓ1-regularised losses: signs and a working set instead of rows, carried from one linear cost to the next."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import CapabilityError
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.reductions.l1_form import l1_form
from dcprog.solvers.reductions.l1_working_set import WorkingSet
from dcprog.solvers.reductions.sign_search import Endless, NotEnded
from dcprog.typing import Vector

RANK = 5


class L1Loss(Solver):
    """min f(Ax + b) + ½Σ dⱼxⱼ² + Σ wⱼ|xⱼ| + c'x within bounds, f a smooth sum; or ½x'Qx in its place. It takes no options.

    Each |xⱼ| is stated by an epigraph variable and two rows (:mod:`dcprog.solvers.reductions.l1_form`), none of which is
    looked at while it runs: see :mod:`dcprog.solvers.reductions.l1_working_set`.

    >>> import pyomo.environ as pyo, dcprog
    >>> from dcprog.functions import L1Norm, SquaredNorm
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(range(3), initialize=0)
    >>> g = 0.5 * SquaredNorm()(np.array([[1.0, 0.0, 2.0]]), m.x, np.array([-3.0])) + L1Norm()(m.x)
    >>> dcprog.solve(dcprog.DCProgram(m, g=g, h=0), solver="l1-loss", fallback=False)["x"]
    array([0.  , 0.  , 1.25])
    """

    name = "l1-loss"
    module = "scipy"
    distribution = "scipy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.QP, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS
    interruptible = True

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        form = l1_form(problem)
        return form if isinstance(form, str) else None

    def rank(self, problem: ConvexProblem) -> int | None:
        if problem.problem_class not in self.classes or problem.m == 0:
            return None
        return None if isinstance(l1_form(problem), str) else RANK

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        if options:
            raise CapabilityError(f"l1-loss takes no options, got {', '.join(map(str, options))}: leave them out")
        return L1LossSession(problem)


class L1LossSession(Session):
    """Keeps its working set, with the factor of its Gram matrix."""

    def __init__(self, problem: ConvexProblem) -> None:
        form = l1_form(problem)
        assert not isinstance(form, str), form
        self._problem, self._form = problem, form
        self._work = WorkingSet(form.smooth(problem))
        self._x = np.zeros(len(form.x))

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        form, problem = self._form, self._problem
        if (c[form.envelopes.t] < 0).any():
            return Answer(Claim.UNBOUNDED, message="an epigraph variable has a negative cost")
        clock, before = Clock(time_limit), self._work.steps
        kinks = form.kinks(problem, c)
        try:
            x = self._work.minimise(kinks, self._x if start is None else start[form.x], clock)
        except Endless:
            return Answer(Claim.UNBOUNDED, message="the objective falls along a ray")
        except NotEnded as why:
            return Answer(Claim.TIME_LIMIT if clock.is_over else Claim.FAILED, message=str(why))
        self._x = x
        z = form.lifted(problem, x)
        gradient = c.copy()
        gradient[form.x] += self._work.smooth.gradient(x)
        y = form.envelopes.duals(gradient, z)
        return Answer(Claim.OPTIMAL, z=z, row_duals=y, constraint_duals=np.empty(0), iterations=self._work.steps - before)

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        form = l1_form(problem)
        if isinstance(form, str):
            return form
        if "Q" in moved:
            self._work.bend(form.quadratic(problem) if form.loss is None else form.diagonal(problem))
        self._problem, self._form = problem, form
        return None


class Clock:
    """Ends what calls it when the time is over."""

    def __init__(self, time_limit: float | None) -> None:
        self._end = np.inf if time_limit is None else time.perf_counter() + time_limit

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return time.perf_counter() > self._end

    def __call__(self) -> None:
        if self.is_over:
            raise NotEnded("the time is over")

"""The dual of an LP by HiGHS: for many rows over few columns, such as many samples of few features.

The basis is as large as there are columns of the primal, not rows. When the costs change, the limits of the dual do, its
last basis stays dual feasible, and dual simplex goes on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.highs_model import HighsModel
from dcprog.solvers.base import Feature, Session, Solver, cost_scale
from dcprog.solvers.rays import is_empty
from dcprog.solvers.reductions.dual_form import DualForm, obstacle
from dcprog.typing import Vector

SMALLEST_LP = 50
"""LPs with fewer rows go to HiGHS as they are."""
TALL = 2
"""LPs with this many times more rows than columns, slacks aside, are solved through their dual."""


class HighsDual(Solver):
    """LP through its dual, for LPs with one-sided rows or equations and columns that are free or ≥ 0."""

    name = "highs-dual"
    interruptible = True
    careful = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # noqa: RUF012
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS
    in_place = frozenset({"A", "row_lower", "row_upper"})

    def missing(self, problem: ConvexProblem) -> str | None:
        return super().missing(problem) or obstacle(problem)

    def rank(self, problem: ConvexProblem) -> int | None:
        """Before HiGHS itself where rows far outnumber columns."""
        is_large = problem.problem_class is ProblemClass.LP and problem.m >= SMALLEST_LP
        return 2 if is_large and problem.m > TALL * problem.wide_columns else None

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return HighsDualSession(problem, options)


class HighsDualSession(Session):
    """The dual LP in HiGHS; costs of the primal are its limits, new columns of the primal its new rows."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._form, self._options = DualForm(problem), options
        self._scale = 1.0
        self._model: HighsModel | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if self._model is None:
            self._scale = cost_scale(c)
        limits = self._form.limits(c * self._scale)
        if limits is None:
            return Answer(self._without_dual(time_limit), message="dual: a row's limits, or a variable's bounds, cross")
        if self._model is None:
            dual = self._form.problem(c * self._scale)
            assert dual is not None
            self._model = HighsModel(dual, self._options)
        else:
            self._model.change_row_limits(*limits[:2])
            self._model.change_bounds(*limits[2:])
        claim, message = self._model.run(time_limit)
        if claim is Claim.UNBOUNDED:
            return Answer(Claim.INFEASIBLE, message=f"dual: {message}", iterations=self._model.iterations)
        if claim is Claim.INFEASIBLE:
            return Answer(self._without_dual(time_limit), message=f"dual: {message}", iterations=self._model.iterations)
        y, row_duals = self._model.values()
        return Answer(
            claim=claim,
            z=None if row_duals is None else self._form.recover(row_duals),
            row_duals=None if y is None else y / self._scale,
            message=f"dual: {message}",
            iterations=self._model.iterations,
        )

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        form = self._form.follow(problem)
        if isinstance(form, str):
            return form
        before, self._form = self._form, form
        if self._model is not None:
            if "A" in moved:
                self._model.change_entries(before.matrix, form.matrix)
            self._model.change_costs(-form.limit)
        return None

    def _without_dual(self, time_limit: float | None) -> Claim:
        """What the primal is if the dual is infeasible: without a point itself, or else without an end."""
        return Claim.INFEASIBLE if is_empty(self._form.primal, time_limit=time_limit) else Claim.UNBOUNDED

    def bookmark(self) -> None:
        if self._model is not None:
            self._model.bookmark()

    def rewind(self) -> None:
        if self._model is not None:
            self._model.rewind()

    def grow(self, problem: ConvexProblem, new: int) -> None:
        """The last ``new`` columns of ``problem`` are new."""
        rows = self._form.grow(problem, new)
        if self._model is not None:
            unlimited = np.full(len(rows.head), np.inf)  # until the next solve sets the limits
            self._model.add_rows(problem.A[:, rows.head].T, -unlimited, unlimited)

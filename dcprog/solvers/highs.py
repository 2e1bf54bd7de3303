"""HiGHS: simplex with the basis kept for LPs, the interior-point solver HiPO for QPs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcprog._typing import Vector
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver, cost_scale
from dcprog.solvers.highs_model import HighsModel
from dcprog.subproblem import ProblemClass, Subproblem

HIPO = {
    "solver": "hipo",
    "run_crossover": "off",
    "qp_regularization_value": 0.0,
    "ipm_optimality_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}
QP_SECONDS = 600.0


class Highs(Solver):
    """LP by simplex; QP by HiPO, since HiGHS's active-set QP solver does not finish on these models (docs/solvers.md)."""

    name = "highs"
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return HighsSession(problem, options)


class HighsSession(Session):
    """One model; only the costs change, or columns are added."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        self._is_lp = problem.Q is None
        self._model = HighsModel(problem, dict(options) if self._is_lp else HIPO | dict(options))
        self._solved = False
        self._scale: float | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if self._scale is None:
            self._scale = cost_scale(c) if self._is_lp else 1.0
        self._model.change_costs(c * self._scale)
        if self._solved and self._is_lp:
            self._model.use_primal_simplex()
        claim, message = self._model.run(time_limit if self._is_lp else min(time_limit or QP_SECONDS, QP_SECONDS))
        self._solved = claim is Claim.OPTIMAL
        z, y = self._model.values()
        duals = None if y is None else y / self._scale
        return Answer(claim, z, duals, message=message, iterations=self._model.iterations)

    def bookmark(self) -> None:
        if self._is_lp:
            self._model.bookmark()

    def rewind(self) -> None:
        if self._is_lp:
            self._model.rewind()

    def grow(self, problem: Subproblem, new: int) -> None:
        """The last ``new`` columns of ``problem`` are new."""
        k = problem.n - new
        self._model.add_columns(problem.c[k:], problem.A[:, k:], problem.lower[k:], problem.upper[k:])

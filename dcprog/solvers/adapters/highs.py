"""HiGHS: simplex with the basis kept for LPs, the interior-point solver HiPO for QPs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.highs_model import HighsModel
from dcprog.solvers.adapters.piqp import sparse_operations
from dcprog.solvers.adapters.qp import PROOF_SECONDS, Rows, rows_of
from dcprog.solvers.base import Feature, Session, Solver, cost_scale
from dcprog.solvers.rays import proved
from dcprog.typing import Vector

HIPO = {
    "solver": "hipo",
    "run_crossover": "off",
    "qp_regularization_value": 0.0,
    "ipm_optimality_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
    "ipm_iteration_limit": 300,  # where it has not converged after a tenth of that it does not, and goes on for minutes
}
QP_SECONDS = 600.0
HIPO_RATE = 2.5e9
"""Operations of a factorisation for a second in which a QP is loaded and begun: 2e9 to 3e9 for 1400 dense variables."""


class Highs(Solver):
    """LP by simplex; QP by HiPO, since HiGHS's active-set QP solver does not finish on these models (docs/solvers.md)."""

    name = "highs"
    careful = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}  # noqa: RUF012
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.LP: 10, ProblemClass.QP: 40})

    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper"})
    interruptible = False  # in a QP, while it is loaded and within a factorisation

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return 0.0 if problem.Q is None else sparse_operations(problem) / HIPO_RATE

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return HighsSession(problem, options)


class HighsSession(Session):
    """One model; only the costs change, or columns are added."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._problem, self._is_lp = problem, problem.Q is None
        self._rows: Rows | None = None
        self._options = dict(options) if self._is_lp else HIPO | dict(options)
        # A large QP takes a second to load, which belongs to the first solve and its time limit.
        self._loaded: HighsModel | None = self._load() if self._is_lp or options else None
        self._solved = False
        self._scale: float | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if self._scale is None:
            self._scale = cost_scale(c) if self._is_lp else 1.0
        limit = min(QP_SECONDS, np.inf if time_limit is None else time_limit)
        if self._loaded is None and limit < min(QP_SECONDS, Highs().estimate_seconds(self._problem)):
            return Answer(Claim.TIME_LIMIT, message="there is no time for one iteration")
        self._model.change_costs(c * self._scale)
        if self._is_lp:
            self._model.use_primal_simplex(self._solved)
        began = time.perf_counter()
        claim, message = self._model.run(time_limit if self._is_lp else limit)
        if claim is Claim.FAILED and time.perf_counter() - began >= limit:
            claim = Claim.TIME_LIMIT  # HiPO may call its status unknown then
        if not self._is_lp and claim in (Claim.INFEASIBLE, Claim.UNBOUNDED, Claim.FAILED):  # an interior point is no proof
            claim = proved(self._problem, c, time_limit=min(limit, PROOF_SECONDS)) or Claim.FAILED
        self._solved = claim is Claim.OPTIMAL
        z, y = self._model.values()
        if y is not None:
            y = (y if self._rows is None else self._rows.duals(y)) / self._scale
        return Answer(claim, z, y, message=message, iterations=self._model.iterations)

    @property
    def _model(self) -> HighsModel:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _load(self) -> HighsModel:
        problem = self._problem
        if not self._is_lp:  # rows without a limit, beside one with two, make HiPO overwrite memory
            self._rows = rows_of(problem, np.zeros(problem.n, dtype=bool))
            problem = _over(problem, self._rows)
        return HighsModel(problem, self._options)

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        before, self._problem = self._problem, problem
        if self._loaded is None:
            return None
        if self._is_lp:
            self._loaded.change(before, problem, moved)
            self._solved = False  # the last basis may be infeasible now
            return None
        assert self._rows is not None
        rows = self._rows.follow(problem, np.zeros(problem.n, dtype=bool), kinds=False)
        if isinstance(rows, str):
            return rows
        entries = {"A"} if rows.off is not None or self._rows.off is not None else set()
        old, self._rows = self._rows, rows
        self._loaded.change(_over(before, old), _over(problem, rows), moved | entries)
        return None

    def bookmark(self) -> None:
        if self._is_lp:
            self._model.bookmark()

    def rewind(self) -> None:
        if self._is_lp:
            self._model.rewind()

    def grow(self, problem: ConvexProblem, new: int) -> None:
        """The last ``new`` columns of ``problem`` are new."""
        self._problem, k = problem, problem.n - new
        self._model.add_columns(problem.c[k:], problem.A[:, k:], problem.lower[k:], problem.upper[k:])


def _over(problem: ConvexProblem, rows: Rows) -> ConvexProblem:
    """``problem`` with those of its rows that limit something."""
    return replace(problem, A=rows.K, row_lower=rows.lower, row_upper=rows.upper)

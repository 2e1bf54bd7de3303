"""HiGHS: simplex with the basis kept for LPs, the interior-point solver HiPO for QPs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Vector
from dcprog.errors import CapabilityError, SolverUnavailableError
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

PRIMAL_SIMPLEX = 4


class Highs(Solver):
    """LP by simplex; QP by HiPO, since the active-set QP solver of HiGHS does not finish on these models (docs/solvers.md)."""

    name = "highs"
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return HighsSession(problem, options)


class HighsSession(Session):
    """One Highs instance with one model; only the costs change."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        import highspy

        self._problem = problem
        self._highs = highspy.Highs()
        self._columns = np.arange(problem.n, dtype=np.int32)
        self._user_options = dict(options)
        self._solved = False
        defaults: dict[str, Any] = {"output_flag": False, "threads": 1}
        if problem.Q is not None:
            defaults |= {"solver": "hipo", "run_crossover": "off", "time_limit": 600.0, "qp_regularization_value": 0.0}
            defaults |= {"ipm_optimality_tolerance": 1e-9, "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
        for key, value in (defaults | self._user_options).items():
            self._set(key, value)
        status = self._highs.passModel(_highs_lp(problem))
        if problem.Q is not None:
            status = max(status, self._highs.passHessian(_highs_hessian(problem.Q)), key=lambda s: s.value)
        if status == highspy.HighsStatus.kError:
            raise CapabilityError("HiGHS refuses the model: check for coefficients beyond 1e15 or NaN")

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        highs = self._highs
        highs.changeColsCost(self._problem.n, self._columns, c)
        if time_limit is not None:
            highs.setOptionValue("time_limit", highs.getRunTime() + time_limit)  # HiGHS counts over all runs
        if self._solved and self._problem.Q is None and "simplex_strategy" not in self._user_options:
            highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX)  # after a cost change the basis is primal feasible
        highs.run()
        answer = self._answer()
        self._solved = answer.claim is Claim.OPTIMAL
        return answer

    def _answer(self) -> Answer:
        import highspy

        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kUnboundedOrInfeasible:
            status = self._without_presolve()
        claims = {
            highspy.HighsModelStatus.kOptimal: Claim.OPTIMAL,
            highspy.HighsModelStatus.kModelEmpty: Claim.OPTIMAL,
            highspy.HighsModelStatus.kInfeasible: Claim.INFEASIBLE,
            highspy.HighsModelStatus.kUnbounded: Claim.UNBOUNDED,
            highspy.HighsModelStatus.kTimeLimit: Claim.TIME_LIMIT,
        }
        info = self._highs.getInfo()
        solution = self._highs.getSolution()
        return Answer(
            claim=claims.get(status, Claim.FAILED),
            z=np.array(solution.col_value) if solution.value_valid else None,
            row_duals=np.array(solution.row_dual) if solution.dual_valid else None,
            message=self._highs.modelStatusToString(status),
            iterations=max(info.simplex_iteration_count, 0) + max(info.ipm_iteration_count, 0),
        )

    def _without_presolve(self) -> Any:
        """Presolve only says "unbounded or infeasible"; a run without it says which."""
        self._highs.setOptionValue("presolve", "off")
        self._highs.run()
        self._highs.setOptionValue("presolve", "choose")
        return self._highs.getModelStatus()

    def _set(self, key: str, value: Any) -> None:
        import highspy

        if self._highs.setOptionValue(key, value) == highspy.HighsStatus.kError:
            if (key, value) == ("solver", "hipo"):
                raise SolverUnavailableError("the QP solver HiPO of HiGHS is missing: pip install 'highspy[extras]'")
            raise CapabilityError(f"HiGHS does not take the option {key}={value!r}: see its option list for names and values")


def _highs_lp(problem: Subproblem) -> Any:
    import highspy

    A = sp.csc_array(problem.A)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = problem.n, problem.m
    lp.col_cost_ = np.zeros(problem.n)
    lp.col_lower_, lp.col_upper_ = problem.lower, problem.upper
    lp.row_lower_, lp.row_upper_ = problem.row_lower, problem.row_upper
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    return lp


def _highs_hessian(Q: Any) -> Any:
    import highspy

    lower = sp.csc_array(sp.tril(Q))
    hessian = highspy.HighsHessian()
    hessian.dim_ = Q.shape[0]
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_, hessian.index_, hessian.value_ = lower.indptr, lower.indices, lower.data
    return hessian

"""A HiGHS instance with one model that is changed in place by whole vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import CapabilityError, SolverUnavailableError
from dcprog.typing import Sparse, Vector

DUAL_SIMPLEX, PRIMAL_SIMPLEX = 1, 4


class HighsModel:
    """min ½z'Qz + c'z over rows and bounds, loaded once; costs and limits change, columns and rows are added."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        import highspy

        self.highs = highspy.Highs()
        self.options = dict(options)
        self._bookmark: Any = None
        self._primal = False
        for key, value in ({"output_flag": False, "threads": 1} | self.options).items():
            self._set(key, value)
        status = self.highs.passModel(_highs_lp(problem))
        if problem.Q is not None:
            status = max(status, self.highs.passHessian(_highs_hessian(problem.Q)), key=lambda s: s.value)
        self._accepted(status)

    def _accepted(self, status: Any) -> None:
        import highspy

        if status == highspy.HighsStatus.kError:
            raise CapabilityError("HiGHS refuses the model: check for coefficients beyond 1e15 or NaN")

    def change_costs(self, c: Vector) -> None:
        """The linear cost is now ``c``."""
        self.highs.changeColsCost(len(c), _range(len(c)), c)

    def change_row_limits(self, lower: Vector, upper: Vector) -> None:
        """Limits of all rows."""
        self.highs.changeRowsBounds(len(lower), _range(len(lower)), lower, upper)

    def change_bounds(self, lower: Vector, upper: Vector) -> None:
        """Bounds of all columns."""
        self.highs.changeColsBounds(len(lower), _range(len(lower)), lower, upper)

    def change(self, before: ConvexProblem, now: ConvexProblem, moved: frozenset[str]) -> None:
        """From one problem to another of the same pattern, whose fields ``moved`` are others; the basis stays."""
        if "A" in moved:
            self.change_entries(before.A, now.A)
        if moved & {"row_lower", "row_upper"}:
            self.change_row_limits(now.row_lower, now.row_upper)
        if moved & {"lower", "upper"}:
            self.change_bounds(now.lower, now.upper)
        if "Q" in moved and now.Q is not None:
            self._accepted(self.highs.passHessian(_highs_hessian(now.Q)))

    def change_entries(self, before: Sparse, now: Sparse) -> None:
        """The entries of a matrix of the same pattern that are others, each by a call of HiGHS."""
        old, new = sp.csc_array(before), sp.csc_array(now)
        others = np.flatnonzero(old.data != new.data)
        columns = np.searchsorted(new.indptr, others, side="right") - 1
        rows, values = new.indices[others].tolist(), new.data[others].tolist()
        for status in set(map(self.highs.changeCoeff, rows, columns.tolist(), values)):
            self._accepted(status)

    def add_columns(self, c: Vector, A: Sparse, lower: Vector, upper: Vector) -> None:
        """New columns behind the others; A has all rows."""
        A = sp.csc_array(A)
        self._accepted(self.highs.addCols(len(c), c, lower, upper, A.nnz, A.indptr[:-1], A.indices, A.data))

    def add_rows(self, A: Sparse, lower: Vector, upper: Vector) -> None:
        """New rows below the others; A has all columns."""
        A = sp.csr_array(A)
        self._accepted(self.highs.addRows(len(lower), lower, upper, A.nnz, A.indptr[:-1], A.indices, A.data))

    def use_primal_simplex(self, primal: bool = True) -> None:
        """For LPs whose last basis is still primal feasible, as it is after a change of costs or with new columns."""
        if "simplex_strategy" not in self.options and primal is not self._primal:
            self.highs.setOptionValue("simplex_strategy", PRIMAL_SIMPLEX if primal else DUAL_SIMPLEX)
            self._primal = primal

    def bookmark(self) -> None:
        """Remember the basis."""
        self._bookmark = self.highs.getBasis()

    def rewind(self) -> None:
        """Go back to the basis remembered; what was added since then is idle."""
        if self._bookmark is not None:
            self.highs.setBasis(_extended(self._bookmark, self.highs.getNumCol(), self.highs.getNumRow()))

    def run(self, time_limit: float | None) -> tuple[Claim, str]:
        """Solve; the claim and HiGHS's own word for it."""
        if time_limit is not None:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + time_limit)  # HiGHS counts over all runs
        self.highs.run()
        status = self.highs.getModelStatus()
        if self.highs.modelStatusToString(status) == "Primal infeasible or unbounded":
            status = self._without_presolve()
        if self.highs.modelStatusToString(status) == "Unknown" and self.highs.getBasis().valid:
            status = self._afresh()
        return _claim(status), self.highs.modelStatusToString(status)

    @property
    def iterations(self) -> int:
        """Simplex and interior-point iterations of the last run."""
        info = self.highs.getInfo()
        return int(max(info.simplex_iteration_count, 0) + max(info.ipm_iteration_count, 0))

    def values(self) -> tuple[Vector | None, Vector | None]:
        """Primal values of the columns and duals of the rows, None where HiGHS has none."""
        solution = self.highs.getSolution()
        z, y = np.array(solution.col_value), np.array(solution.row_dual)
        has_z = solution.value_valid and len(z) == self.highs.getNumCol()  # after a failure it may call nothing valid
        has_y = solution.dual_valid and len(y) == self.highs.getNumRow()
        return z if has_z else None, y if has_y else None

    def _without_presolve(self) -> Any:
        """Presolve only says "infeasible or unbounded"; a run without it says which."""
        self.highs.setOptionValue("presolve", "off")
        self.highs.run()
        self.highs.setOptionValue("presolve", self.options.get("presolve", "choose"))
        return self.highs.getModelStatus()

    def _afresh(self) -> Any:
        """Simplex may lose its way from an old basis: once more, from none and by its first strategy."""
        self.highs.clearSolver()
        if "simplex_strategy" not in self.options:
            self.highs.setOptionValue("simplex_strategy", DUAL_SIMPLEX)
            self._primal = False
        self.highs.run()
        return self.highs.getModelStatus()

    def _set(self, key: str, value: Any) -> None:
        import highspy

        if self.highs.setOptionValue(key, value) == highspy.HighsStatus.kError:
            if (key, value) == ("solver", "hipo"):
                raise SolverUnavailableError("the QP solver HiPO of HiGHS is missing: pip install 'highspy[extras]'")
            raise CapabilityError(
                f"HiGHS does not take the option {key}={value!r}: see its option list for names and values"
            )


def _range(size: int) -> np.ndarray:
    return np.arange(size, dtype=np.int32)


def _extended(basis: Any, columns: int, rows: int) -> Any:
    """``basis`` for a model that has grown: new columns are at their lower bounds, new rows basic."""
    import highspy

    status = highspy.HighsBasisStatus
    longer = highspy.HighsBasis()
    longer.col_status = [*basis.col_status, *[status.kLower] * (columns - len(basis.col_status))]
    longer.row_status = [*basis.row_status, *[status.kBasic] * (rows - len(basis.row_status))]
    longer.valid = True
    return longer


def _claim(status: Any) -> Claim:
    import highspy

    claims = {
        highspy.HighsModelStatus.kOptimal: Claim.OPTIMAL,
        highspy.HighsModelStatus.kModelEmpty: Claim.OPTIMAL,
        highspy.HighsModelStatus.kInfeasible: Claim.INFEASIBLE,
        highspy.HighsModelStatus.kUnbounded: Claim.UNBOUNDED,
        highspy.HighsModelStatus.kTimeLimit: Claim.TIME_LIMIT,
    }
    return claims.get(status, Claim.FAILED)


def _highs_lp(problem: ConvexProblem) -> Any:
    import highspy

    A = sp.csc_array(problem.A)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = problem.n, problem.m
    lp.col_cost_ = problem.c
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

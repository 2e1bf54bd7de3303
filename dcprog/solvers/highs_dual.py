"""The dual of an LP by HiGHS: for many rows over few columns, such as many samples of few features.

    min c'x : rows of A x ≥ L, ≤ U or = E, x_j ≥ 0 or free
    max L'y : a_j'y ≤ c_j for x_j ≥ 0, = c_j for x_j free

The basis is as large as there are columns of the primal, not rows. A slack column, the only entry of which stands in row i,
is a bound on y_i; a pair of mirror columns (p, q of w = p − q) is one row with two limits. When the costs change, the limits
of the dual do, its last basis stays dual feasible, and dual simplex goes on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Mask, Sparse, Vector
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.solvers.highs_model import HighsModel
from dcprog.solvers.mirror import mirror_columns
from dcprog.subproblem import ProblemClass, Subproblem


class HighsDual(Solver):
    """LP through its dual, for LPs with one-sided rows or equations and columns that are free or ≥ 0."""

    name = "highs-dual"
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS

    def missing(self, problem: Subproblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        if problem.m == 0:
            return "it takes LPs with rows"
        two_sided = np.isfinite(problem.row_lower) & np.isfinite(problem.row_upper) & ~problem.equality
        if two_sided.any():
            return "it takes rows with one limit or equations, and this LP has rows with two"
        if not (_is_free(problem) | _is_nonnegative(problem)).all():
            return "it takes variables that are free or ≥ 0, and this LP has others"
        return None

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return HighsDualSession(problem, options)


@dataclass(frozen=True, eq=False)
class DualRows:
    """Columns of the primal as rows of the dual: ``head`` leads each row, ``tail`` is its mirror column or −1."""

    head: Indices
    tail: Indices

    @classmethod
    def of(cls, A: Sparse, columns: Indices) -> DualRows:
        mirror = mirror_columns(A[:, columns])
        heads = np.flatnonzero((mirror < 0) | (mirror > np.arange(len(columns))))
        partner = mirror[heads]
        return cls(columns[heads], np.where(partner >= 0, columns[partner], -1))

    def join(self, other: DualRows) -> DualRows:
        return DualRows(np.concatenate([self.head, other.head]), np.concatenate([self.tail, other.tail]))

    def limits(self, c: Vector, free: Mask) -> tuple[Vector, Vector]:
        upper = c[self.head]
        lower = np.where(free[self.head], upper, -np.inf)
        return np.where(self.tail >= 0, -c[self.tail], lower), upper


class HighsDualSession(Session):
    """The dual LP in HiGHS; costs of the primal are its limits, new columns of the primal its new rows."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        self._problem = problem
        self._free = _is_free(problem)
        self._is_upper_row = np.isinf(problem.row_lower)
        self._limit = np.where(self._is_upper_row, problem.row_upper, problem.row_lower)
        self._limit = np.where(np.isinf(self._limit), 0.0, self._limit)
        self._slack, self._slack_coefficient = _slacks(problem)
        is_slack = np.zeros(problem.n, dtype=bool)
        is_slack[self._slack[self._slack >= 0]] = True
        self._rows = DualRows.of(problem.A, np.flatnonzero(~is_slack))
        lower, upper = self._bounds(problem.c)
        row_lower, row_upper = self._rows.limits(problem.c, self._free)
        dual = Subproblem(
            c=-self._limit,
            A=sp.csc_array(problem.A[:, self._rows.head].T),
            row_lower=row_lower,
            row_upper=row_upper,
            lower=lower,
            upper=upper,
        )
        self._model = HighsModel(dual, options)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        lower, upper = self._bounds(c)
        row_lower, row_upper = self._rows.limits(c, self._free)
        if (lower > upper).any() or (row_lower > row_upper).any():
            return Answer(Claim.UNBOUNDED, message="a column and its mirror, or a slack, have negative costs together")
        self._model.change_bounds(lower, upper)
        self._model.change_row_limits(row_lower, row_upper)
        claim, message = self._model.run(time_limit)
        y, x_of_rows = self._model.values()
        z = None if x_of_rows is None else self._primal(-x_of_rows)
        duals = {Claim.INFEASIBLE: Claim.UNBOUNDED, Claim.UNBOUNDED: Claim.INFEASIBLE}
        return Answer(
            duals.get(claim, claim), z, y, message=f"dual: {message}", iterations=self._model.iterations
        )

    def grow(self, problem: Subproblem, new: int) -> None:
        """The last ``new`` columns of ``problem`` are new."""
        self._problem, self._free = problem, _is_free(problem)
        rows = DualRows.of(problem.A, np.arange(problem.n - new, problem.n))
        self._rows = self._rows.join(rows)
        lower, upper = rows.limits(problem.c, self._free)
        self._model.add_rows(problem.A[:, rows.head].T, lower, upper)

    def _bounds(self, c: Vector) -> tuple[Vector, Vector]:
        """y ≥ 0 for rows ≥ L, ≤ 0 for rows ≤ U, free for equations and free rows 0; a slack with cost c bounds it by c/coefficient."""
        p = self._problem
        free_row = np.isinf(p.row_lower) & np.isinf(p.row_upper)
        lower = np.where(p.equality | (self._is_upper_row & ~free_row), -np.inf, 0.0)
        upper = np.where(p.equality | ~self._is_upper_row, np.inf, 0.0)
        has = self._slack >= 0
        s = np.where(has, self._slack_coefficient, 1.0)
        ratio = c[self._slack] / s
        upper = np.where(has & (s > 0), np.minimum(upper, ratio), upper)
        lower = np.where(has & (s < 0), np.maximum(lower, ratio), lower)
        return lower, upper

    def _primal(self, x_of_rows: Vector) -> Vector:
        """x from the multipliers of the dual's rows; a slack takes what its row lacks."""
        p = self._problem
        z = np.zeros(p.n)
        paired = self._rows.tail >= 0
        nonnegative = ~self._free[self._rows.head]
        z[self._rows.head] = np.where(nonnegative, np.maximum(x_of_rows, 0.0), x_of_rows)
        z[self._rows.tail[paired]] = np.maximum(-x_of_rows[paired], 0.0)
        has = np.flatnonzero(self._slack >= 0)
        lack = (self._limit - p.A @ z)[has] / self._slack_coefficient[has]
        z[self._slack[has]] = np.maximum(lack, 0.0)
        return z


def _is_free(problem: Subproblem) -> Mask:
    return np.isinf(problem.lower) & np.isinf(problem.upper)


def _is_nonnegative(problem: Subproblem) -> Mask:
    return (problem.lower == 0) & np.isinf(problem.upper)


def _slacks(problem: Subproblem) -> tuple[Indices, Vector]:
    """For every row its slack, a column ≥ 0 with a single entry that can repair the row; −1 where there is none."""
    A = sp.csc_array(problem.A)
    single = np.flatnonzero((np.diff(A.indptr) == 1) & _is_nonnegative(problem))
    rows, coefficients = A.indices[A.indptr[single]], A.data[A.indptr[single]]
    repairs = np.where(np.isfinite(problem.row_lower[rows]), coefficients > 0, coefficients < 0) & ~problem.equality[rows]
    slack = np.full(problem.m, -1, dtype=np.int64)
    slack[rows[repairs]] = single[repairs]
    coefficient = np.ones(problem.m)
    coefficient[rows[repairs]] = coefficients[repairs]
    return slack, coefficient

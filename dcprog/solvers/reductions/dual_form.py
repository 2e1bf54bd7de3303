"""The dual of an LP, or of a QP with diagonal Q, as a problem of the same kind.

    min ½ Σ δⱼxⱼ² + c'x  :  rows of A x ≥ L, ≤ U or = E,  xⱼ ≥ 0 or free
    min ½ Σ δⱼwⱼ² − L'y  :  aⱼ'y − δⱼwⱼ ≤ cⱼ for xⱼ ≥ 0,  = cⱼ for xⱼ free;  y ≥ 0 for rows ≥ L, ≤ 0 for rows ≤ U

A slack column, ≥ 0 with a single entry, in row i, is a bound on yᵢ; a pair of mirror columns (p, q of w = p − q) is one row
with two limits. So many rows over few columns, such as many samples of few features, become few rows over many bounded
columns. Costs of the primal are limits of the dual; its matrix stays.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from dcprog.convex.change import same_pattern
from dcprog.convex.problem import ConvexProblem
from dcprog.solvers.reductions.mirror import mirror_columns
from dcprog.typing import Indices, Mask, Sparse, Vector


def obstacle(problem: ConvexProblem) -> str | None:
    """Why ``problem`` has no dual of this form, in words; None if it has."""
    if problem.m == 0:
        return "it takes problems with rows"
    two_sided = np.isfinite(problem.row_lower) & np.isfinite(problem.row_upper) & ~problem.equality
    if two_sided.any():
        return "it takes rows with one limit or equations, and this problem has rows with two"
    if not (_is_free(problem) | is_nonnegative(problem)).all():
        return "it takes variables that are free or ≥ 0, and this problem has others"
    if not has_diagonal_q(problem):
        return "it takes a diagonal Q"
    return None


def has_diagonal_q(problem: ConvexProblem) -> bool:
    """Whether Q is diagonal, or zero."""
    return problem.Q is None or not (problem.Q - sp.diags_array(problem.Q.diagonal())).count_nonzero()


@dataclass(frozen=True, eq=False)
class DualRows:
    """Columns of the primal as rows of the dual: ``head`` leads each row, ``tail`` is its mirror column or −1."""

    head: Indices
    tail: Indices

    @classmethod
    def of(cls, A: Sparse, columns: Indices, curvature: Vector, free: Mask) -> DualRows:
        """The rows that belong to ``columns`` of A; mirrors of different curvature, or of which one is free, stay apart."""
        mirror = mirror_columns(A[:, columns])
        j = np.flatnonzero(mirror >= 0)
        k = mirror[j]
        alike = (curvature[columns[j]] == curvature[columns[k]]) & ~free[columns[j]] & ~free[columns[k]]
        mirror[j[~alike]] = -1
        heads = np.flatnonzero((mirror < 0) | (mirror > np.arange(len(columns))))
        tail = mirror[heads]
        tail[tail >= 0] = columns[tail[tail >= 0]]
        return cls(columns[heads], tail)

    def join(self, other: DualRows) -> DualRows:
        """These rows, then the others."""
        return DualRows(np.concatenate([self.head, other.head]), np.concatenate([self.tail, other.tail]))

    def limits(self, c: Vector, free: Mask) -> tuple[Vector, Vector]:
        """Lower and upper limits of the rows for the primal's cost c and its mask of free variables."""
        upper = c[self.head]
        lower = np.where(free[self.head], upper, -np.inf)
        paired = self.tail >= 0
        lower[paired] = -c[self.tail[paired]]
        return lower, upper


class DualForm:
    """The dual of ``problem``, whose limits follow from the cost c, and the way back to the primal."""

    def __init__(self, problem: ConvexProblem) -> None:
        self.primal = problem = without_stored_zeros(problem)
        self.free = _is_free(problem)
        self.curvature = np.zeros(problem.n) if problem.Q is None else problem.Q.diagonal()
        self.slack, self.slack_coefficient = _slacks(problem, self.curvature)
        is_slack = np.zeros(problem.n, dtype=bool)
        is_slack[self.slack[self.slack >= 0]] = True
        self.rows = DualRows.of(problem.A, np.flatnonzero(~is_slack), self.curvature, self.free)
        self._take_limits()

    def follow(self, problem: ConvexProblem) -> DualForm | str:
        """This form with the numbers of ``problem``; or why its dual is of another shape."""
        lack = obstacle(problem)
        if lack is not None:
            return lack
        now = copy(self)
        now.primal = problem = without_stored_zeros(problem)
        now._take_limits()
        if not same_pattern(problem.A, self.primal.A):
            return "a matrix has another pattern"
        if not np.array_equal(_is_free(problem), self.free):
            return "a variable became free, or is so no more"
        curvature = np.zeros(problem.n) if problem.Q is None else problem.Q.diagonal()
        if not np.array_equal(curvature, self.curvature):
            return "a curvature moved, which is an entry of the dual's matrix"
        slack, now.slack_coefficient = _slacks(problem, curvature)
        if not np.array_equal(slack[~now._idle], self.slack[~now._idle]):
            return "another column is the slack of a row"
        paired = self.rows.tail >= 0
        if paired.any() and abs(problem.A[:, self.rows.head[paired]] + problem.A[:, self.rows.tail[paired]]).max() > 0:
            return "two columns mirror each other no more"
        return now

    def _take_limits(self) -> None:
        problem = self.primal
        below = np.isinf(problem.row_lower)
        self._idle = below & np.isinf(problem.row_upper)
        self._is_upper_row = below & ~self._idle
        self.limit = np.where(self._idle, 0.0, np.where(below, problem.row_upper, problem.row_lower))

    def grow(self, problem: ConvexProblem, new: int) -> DualRows:
        """The last ``new`` columns of ``problem`` are new: their rows."""
        self.primal = problem = without_stored_zeros(problem)
        self.free = _is_free(problem)
        self.curvature = np.zeros(problem.n) if problem.Q is None else problem.Q.diagonal()
        rows = DualRows.of(problem.A, np.arange(problem.n - new, problem.n), self.curvature, self.free)
        self.rows = self.rows.join(rows)
        return rows

    def limits(self, c: Vector) -> tuple[Vector, Vector, Vector, Vector] | None:
        """Limits of the rows and bounds of y for the cost c; None if they cross.

        Then no y is feasible, and the primal has no solution. Only where a pair of mirror columns with curvature crosses
        it may have one: both are positive there, which this form has no room for.
        """
        p, has = self.primal, self.slack >= 0
        lower = np.where(p.equality | self._is_upper_row, -np.inf, 0.0)
        upper = np.where(p.equality | ~(self._is_upper_row | self._idle), np.inf, 0.0)
        ratio = np.zeros(p.m)
        ratio[has] = c[self.slack[has]] / self.slack_coefficient[has]
        upper = np.where(has & (self.slack_coefficient > 0), np.minimum(upper, ratio), upper)
        lower = np.where(has & (self.slack_coefficient < 0), np.maximum(lower, ratio), lower)
        row_lower, row_upper = self.rows.limits(c, self.free)
        if (lower > upper).any() or (row_lower > row_upper).any():
            return None
        return row_lower, row_upper, lower, upper

    def problem(self, c: Vector) -> ConvexProblem | None:
        """The dual for the cost c: variables y, then w for the columns with curvature. None as for :meth:`limits`."""
        limits = self.limits(c)
        if limits is None:
            return None
        row_lower, row_upper, lower, upper = limits
        A = self.matrix
        delta = self.curvature[self.rows.head]
        curved = np.flatnonzero(delta)
        k = len(curved)
        if k == 0:
            return ConvexProblem(-self.limit, A, row_lower, row_upper, lower, upper)
        columns = sp.csc_array((-delta[curved], (curved, np.arange(k))), shape=(len(delta), k))
        return ConvexProblem(
            c=np.concatenate([-self.limit, np.zeros(k)]),
            A=sp.hstack([A, columns], format="csc"),
            row_lower=row_lower,
            row_upper=row_upper,
            lower=np.concatenate([lower, np.full(k, -np.inf)]),
            upper=np.concatenate([upper, np.full(k, np.inf)]),
            Q=sp.csc_array(sp.diags_array(np.concatenate([np.zeros(self.primal.m), delta[curved]]))),
        )

    @property
    def matrix(self) -> Sparse:
        """The rows of the dual, without the variables w."""
        return sp.csc_array(self.primal.A[:, self.rows.head].T)

    def recover(self, row_duals: Vector) -> Vector:
        """x of the primal from the multipliers of the dual's rows; a slack takes what its row lacks."""
        p, x = self.primal, -row_duals
        z = np.zeros(p.n)
        paired = self.rows.tail >= 0
        z[self.rows.head] = np.where(self.free[self.rows.head], x, np.maximum(x, 0.0))
        z[self.rows.tail[paired]] = np.maximum(-x[paired], 0.0)
        has = np.flatnonzero((self.slack >= 0) & ~self._idle)
        lack = (self.limit - p.A @ z)[has] / self.slack_coefficient[has]
        z[self.slack[has]] = np.maximum(lack, 0.0)
        return z


def without_stored_zeros(problem: ConvexProblem) -> ConvexProblem:
    """``problem`` with a matrix in which every entry counts: a stored zero would make a slack, or hide one."""
    if not problem.has_stored_zeros:
        return problem
    A = problem.A.copy()
    A.eliminate_zeros()
    return replace(problem, A=A)


def _is_free(problem: ConvexProblem) -> Mask:
    return np.isinf(problem.lower) & np.isinf(problem.upper)


def is_nonnegative(problem: ConvexProblem) -> Mask:
    """Mask of the variables whose only bound is zⱼ ≥ 0."""
    return np.equal(problem.lower, 0.0) & np.isinf(problem.upper)


def _slacks(problem: ConvexProblem, curvature: Vector) -> tuple[Indices, Vector]:
    """For every row its slack, a column ≥ 0 with a single entry that can repair the row; −1 where there is none."""
    A = sp.csc_array(problem.A)
    single = np.flatnonzero((np.diff(A.indptr) == 1) & is_nonnegative(problem) & (curvature == 0))
    rows, coefficients = A.indices[A.indptr[single]], A.data[A.indptr[single]]
    below, above = np.isfinite(problem.row_lower[rows]), np.isfinite(problem.row_upper[rows])
    repairs = (below & ~above & (coefficients > 0)) | (above & ~below & (coefficients < 0))
    slack = np.full(problem.m, -1, dtype=np.int64)
    slack[rows[repairs]] = single[repairs]
    coefficient = np.ones(problem.m)
    coefficient[rows[repairs]] = coefficients[repairs]
    return slack, coefficient

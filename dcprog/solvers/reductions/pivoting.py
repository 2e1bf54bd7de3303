"""Block principal pivoting for convex QPs: from a guess of the active bounds and rows to the exact solution.

For fixed active sets the optimality conditions are linear. Solve them, exchange every bound and row that comes out on the
wrong side at once, and repeat; where that stops making progress exchange only the last one (Júdice & Pires 1994). Started at
the active sets of a nearby problem, as the QPs of consecutive DCA iterations are, it needs a few small linear systems.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from dcprog.convex.problem import ConvexProblem
from dcprog.typing import Indices, Mask, Matrix, Vector

LARGEST_SYSTEM = 2000
ROUNDING = 1e-10
"""A sign is wrong only beyond this share of the terms that make the number up."""
NOISE = 1e-15
"""What solving a system leaves of a zero, relative to the largest entry of the solution."""
PATIENCE = 5
SINGULAR = 1e-14
"""A system whose reciprocal condition is below this is taken for one without a solution of its own."""


@dataclass(eq=False)
class Active:
    """Which bounds and which rows hold with equality."""

    lower: Mask
    upper: Mask
    row_lower: Mask
    row_upper: Mask

    @classmethod
    def guess(cls, problem: ConvexProblem, c: Vector, z: Vector, y: Vector) -> Active:
        """Active is what has less slack than multiplier, at an approximate solution (z, y)."""
        reduced = problem.gradient(z, c) - problem.A.T @ y
        activity = problem.A @ z
        fixed = problem.lower == problem.upper
        return cls(
            lower=(z - problem.lower < reduced) | fixed,
            upper=(problem.upper - z < -reduced) & ~fixed,
            row_lower=(activity - problem.row_lower < y) | problem.equality,
            row_upper=(problem.row_upper - activity < -y) & ~problem.equality,
        )

    def copy(self) -> Active:
        """Masks of its own."""
        return Active(self.lower.copy(), self.upper.copy(), self.row_lower.copy(), self.row_upper.copy())


class Pivoting:
    """A QP laid out for many small dense systems: a dense copy of A, and its slacks told apart."""

    def __init__(self, problem: ConvexProblem) -> None:
        self.problem = problem
        self.A: Matrix = problem.A.toarray()
        self.Q: Matrix = problem.Q.toarray() if problem.Q is not None else np.zeros((problem.n, problem.n))
        self.slack_of_row, self.is_slack = self._slacks()
        self._fixed = problem.lower == problem.upper

    def _slacks(self) -> tuple[Indices, Mask]:
        """Columns with one entry and no curvature, at most one a row; −1 where a row has none."""
        entries = np.count_nonzero(self.A, axis=0)
        single = np.flatnonzero((entries == 1) & ~self.Q.any(axis=0))
        slack_of_row = np.full(self.problem.m, -1, dtype=np.int64)
        slack_of_row[np.nonzero(self.A[:, single].T)[1]] = single
        is_slack = np.zeros(self.problem.n, dtype=bool)
        is_slack[slack_of_row[slack_of_row >= 0]] = True
        return slack_of_row, is_slack

    def solve(
        self, c: Vector, active: Active, max_iter: int = 60, deadline: float = np.inf
    ) -> tuple[Vector, Vector, Active] | None:
        """The solution and its active sets, or None if pivoting does not get there, or not until ``deadline``."""
        active = active.copy()
        fewest, patience = np.inf, PATIENCE
        for _ in range(max_iter):
            if time.perf_counter() > deadline:
                return None
            solution = self._equality_solution(c, active)
            if solution is None:
                return None
            z, y = solution
            wrong = self._wrong(c, z, y, active)
            count = sum(int(w.sum()) for w in wrong)
            if count == 0:
                return *self._cleaned(z, y), active
            if count < fewest:
                fewest, patience = count, PATIENCE
                _exchange(active, wrong)
            elif patience > 0:
                patience -= 1
                _exchange(active, wrong)
            else:
                _exchange(active, _last_only(wrong))
        return None

    def _equality_solution(self, c: Vector, active: Active) -> tuple[Vector, Vector] | None:
        """min ½z'Qz + c'z with the active bounds and rows as equations and the others left out."""
        p = self.problem
        free = ~(active.lower | active.upper)
        rows = active.row_lower | active.row_upper
        z = np.where(active.lower, p.lower, np.where(active.upper, p.upper, 0.0))
        z[free] = 0.0
        y = np.zeros(p.m)
        # a free slack pins the multiplier of its row, and takes whatever the row lacks
        slack = self.slack_of_row
        pinned = (slack >= 0) & free[slack]
        if (pinned & ~rows).any():
            return None
        at = np.flatnonzero(pinned)
        y[at] = c[slack[at]] / self.A[at, slack[at]]
        inner = np.flatnonzero(free & ~self.is_slack)
        kept = np.flatnonzero(rows & ~pinned)
        if len(inner) + len(kept) > LARGEST_SYSTEM:
            return None
        limit = np.where(active.row_upper, p.row_upper, p.row_lower)
        moved = np.flatnonzero(z)
        B = self.A[np.ix_(kept, inner)]
        gradient = -c[inner] + self.A[np.ix_(at, inner)].T @ y[at] - self.Q[np.ix_(inner, moved)] @ z[moved]
        lacks = limit[kept] - self.A[np.ix_(kept, moved)] @ z[moved]
        solved = _solve_kkt(self.Q[np.ix_(inner, inner)], B, gradient, lacks)
        if solved is None:
            return None
        z[inner], y[kept] = solved
        moved = np.flatnonzero(z)
        z[slack[at]] = (limit[at] - self.A[np.ix_(at, moved)] @ z[moved]) / self.A[at, slack[at]]
        return z, y

    def _wrong(self, c: Vector, z: Vector, y: Vector, active: Active) -> tuple[Mask, Mask, Mask, Mask]:
        """Bounds and rows to exchange: active with a multiplier of the wrong sign, or not active and violated."""
        p = self.problem
        support = np.flatnonzero(z)
        reduced = c + self.Q[:, support] @ z[support] - self.A.T @ y
        activity = self.A[:, support] @ z[support]
        free = ~(active.lower | active.upper)
        idle = ~(active.row_lower | active.row_upper)
        wrong = (
            (active.lower & (reduced < 0) & ~self._fixed) | (free & (z < p.lower)),
            (active.upper & (reduced > 0) & ~self._fixed) | (free & (z > p.upper)),
            (active.row_lower & (y < 0) & ~p.equality) | (idle & (activity < p.row_lower)),
            (active.row_upper & (y > 0)) | (idle & (activity > p.row_upper)),
        )
        if not any(w.any() for w in wrong):
            return wrong
        # Only what is suspicious is worth the sums of absolute values that tell a wrong sign from rounding.
        columns, rows = np.flatnonzero(wrong[0] | wrong[1]), np.flatnonzero(wrong[2] | wrong[3])
        price, length = self._terms(c, z, y, free, ~idle, columns, rows)
        moved = np.where(free, np.maximum(p.lower - z, z - p.upper), np.abs(reduced))
        broken = np.where(idle, np.maximum(p.row_lower - activity, activity - p.row_upper), np.abs(y))
        seen = np.maximum(self._least_move(columns, price, length, active), np.abs(z[columns]))
        small = np.where(free[columns], seen, price[columns])
        little = np.where(idle[rows], length[rows], self._least_dual(rows, price, free))
        for side in wrong[:2]:
            side[columns] &= moved[columns] > ROUNDING * small + NOISE * np.abs(z).max(initial=0.0) * free[columns]
        for side in wrong[2:]:
            side[rows] &= broken[rows] > ROUNDING * little + NOISE * np.abs(y).max(initial=0.0) * ~idle[rows]
        return wrong

    def _terms(
        self, c: Vector, z: Vector, y: Vector, free: Mask, held: Mask, columns: Indices, rows: Indices
    ) -> tuple[Vector, Vector]:
        """What reduced costs and rows are made of, Σ of absolute values: those of the suspicious ones, and of the free
        variables and held rows in which these are seen."""
        support, priced = np.flatnonzero(z), np.flatnonzero(y)
        priced_columns = np.union1d(np.flatnonzero(free), columns) if len(rows) else columns
        seen_rows = np.union1d(np.flatnonzero(held), rows) if len(columns) else rows
        price, length = np.zeros(len(z)), np.zeros(len(y))
        price[priced_columns] = (
            np.abs(c[priced_columns])
            + np.abs(self.Q[np.ix_(priced_columns, support)]) @ np.abs(z[support])
            + np.abs(self.A[np.ix_(priced, priced_columns)]).T @ np.abs(y[priced])
        )
        length[seen_rows] = np.abs(self.A[np.ix_(seen_rows, support)]) @ np.abs(z[support])
        return price, length

    def _least_move(self, columns: Indices, price: Vector, length: Vector, active: Active) -> Vector:
        """By how much each of these variables has to move to be seen in an active row or in its gradient."""
        rows = np.flatnonzero(active.row_lower | active.row_upper)
        seen = np.minimum(
            _ratios(length[rows, None], self.A[np.ix_(rows, columns)]).min(axis=0, initial=np.inf),
            _ratios(price[columns], np.diag(self.Q)[columns]),
        )
        return np.where(np.isfinite(seen), seen, 0.0)

    def _least_dual(self, rows: Indices, price: Vector, free: Mask) -> Vector:
        """How large the multiplier of each of these rows has to be to be seen in the reduced cost of a free variable."""
        columns = np.flatnonzero(free)
        least = _ratios(price[columns], self.A[np.ix_(rows, columns)]).min(axis=1, initial=np.inf)
        return np.where(np.isfinite(least), least, 0.0)

    def _cleaned(self, z: Vector, y: Vector) -> tuple[Vector, Vector]:
        """Rounding on the wrong side of a bound, or of zero, taken off."""
        p = self.problem
        lowest = np.where(np.isfinite(p.row_upper), -np.inf, 0.0)
        highest = np.where(np.isfinite(p.row_lower), np.inf, 0.0)
        return np.clip(z, p.lower, p.upper), np.clip(y, lowest, highest)


def _exchange(active: Active, wrong: tuple[Mask, Mask, Mask, Mask]) -> None:
    active.lower ^= wrong[0]
    active.upper ^= wrong[1]
    active.row_lower ^= wrong[2]
    active.row_upper ^= wrong[3]


def _last_only(wrong: tuple[Mask, Mask, Mask, Mask]) -> tuple[Mask, Mask, Mask, Mask]:
    """Murty's rule: only the last of all."""
    masks = [np.zeros_like(w) for w in wrong]
    for mask, w in zip(reversed(masks), reversed(wrong), strict=True):
        if w.any():
            mask[np.flatnonzero(w)[-1]] = True
            break
    return masks[0], masks[1], masks[2], masks[3]


def _solve_kkt(Q: Matrix, B: Matrix, gradient: Vector, lacks: Vector) -> tuple[Vector, Vector] | None:
    """z and y of  Qz − B'y = gradient,  Bz = lacks;  None if the system is singular.

    That is asked of the matrix with its rows and columns brought to one size: the residual does not tell, since it is small
    against the enormous solution that rounding makes of a singular system.
    """
    k = len(gradient)
    K = np.block([[Q, -B.T], [B, np.zeros((len(lacks), len(lacks)))]])
    if K.size == 0:
        return np.empty(0), np.empty(0)
    unit = np.ones(len(K))
    for _ in range(3):  # the matrix is symmetric up to signs, so rows and columns have the same units
        largest = np.abs(K * unit[:, None] * unit).max(axis=0)
        if not largest.all():
            return None
        unit /= np.sqrt(largest)
    K *= unit[:, None] * unit
    factors, pivots, failed = dgetrf(K)
    if failed or dgecon(factors, np.abs(K).sum(axis=0).max())[0] < SINGULAR:
        return None
    solution = unit * dgetrs(factors, pivots, unit * np.concatenate([gradient, lacks]))[0]
    return (solution[:k], solution[k:]) if np.isfinite(solution).all() else None


def _ratios(terms: Vector, coefficients: Matrix) -> Matrix:
    """terms / |coefficients|, infinite where a coefficient is zero."""
    size = np.abs(coefficients)
    ratios: Matrix = np.divide(terms, size, out=np.full(size.shape, np.inf), where=size > 0)
    return ratios


def fits(problem: ConvexProblem) -> bool:
    """Whether a dense copy of the problem is small enough to pivot on."""
    return bool(problem.m * problem.n + problem.n**2 <= 20_000_000 and sp.issparse(problem.A))

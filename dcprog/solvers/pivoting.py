"""Block principal pivoting for convex QPs: from a guess of the active bounds and rows to the exact solution.

For fixed active sets the optimality conditions are linear. Solve them, exchange every bound and row that comes out on the
wrong side at once, and repeat; where that stops making progress exchange only the last one (Júdice & Pires 1994). Started at
the active sets of a nearby problem, as the QPs of consecutive DCA iterations are, it needs a few small linear systems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Mask, Matrix, Vector
from dcprog.subproblem import Subproblem

LARGEST_SYSTEM = 2000
ROUNDING = 1e-10
PATIENCE = 5


@dataclass(eq=False)
class Active:
    """Which bounds and which rows hold with equality."""

    lower: Mask
    upper: Mask
    row_lower: Mask
    row_upper: Mask

    @classmethod
    def guess(cls, problem: Subproblem, c: Vector, z: Vector, y: Vector) -> Active:
        """Active is what has less slack than multiplier, at an approximate solution (z, y)."""
        reduced = problem.gradient(z, c) - problem.A.T @ y
        activity = problem.A @ z
        return cls(
            lower=z - problem.lower < reduced,
            upper=problem.upper - z < -reduced,
            row_lower=(activity - problem.row_lower < y) | problem.equality,
            row_upper=(problem.row_upper - activity < -y) & ~problem.equality,
        )

    def copy(self) -> Active:
        """Masks of its own."""
        return Active(self.lower.copy(), self.upper.copy(), self.row_lower.copy(), self.row_upper.copy())


class Pivoting:
    """A QP laid out for many small dense systems: a dense copy of A, and its slacks told apart."""

    def __init__(self, problem: Subproblem) -> None:
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

    def solve(self, c: Vector, active: Active, max_iter: int = 60) -> tuple[Vector, Vector, Active] | None:
        """The solution and its active sets, or None if pivoting does not get there."""
        active = active.copy()
        fewest, patience = np.inf, PATIENCE
        for _ in range(max_iter):
            solution = self._equality_solution(c, active)
            if solution is None:
                return None
            z, y = solution
            wrong = self._wrong(c, z, y, active)
            count = sum(int(w.sum()) for w in wrong)
            if count == 0:
                return z, y, active
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
        price = ROUNDING * max(float(np.abs(c).max(initial=0.0)), 1e-300)
        size, length = ROUNDING * (1.0 + np.abs(z)), ROUNDING * (1.0 + np.abs(activity))
        return (
            (active.lower & (reduced < -price) & ~self._fixed) | (free & (z < p.lower - size)),
            (active.upper & (reduced > price) & ~self._fixed) | (free & (z > p.upper + size)),
            (active.row_lower & (y < -price) & ~p.equality) | (idle & (activity < p.row_lower - length)),
            (active.row_upper & (y > price)) | (idle & (activity > p.row_upper + length)),
        )


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
    """z and y of  Qz − B'y = gradient,  Bz = lacks;  None if the system is singular."""
    k = len(gradient)
    K = np.block([[Q, -B.T], [B, np.zeros((len(lacks), len(lacks)))]])
    if K.size == 0:
        return np.empty(0), np.empty(0)
    right = np.concatenate([gradient, lacks])
    try:
        solution = np.linalg.solve(K, right)
    except np.linalg.LinAlgError:
        return None
    residual = right - K @ solution
    scale = 1.0 + float(np.abs(right).max(initial=0.0))
    if not np.isfinite(solution).all() or float(np.abs(residual).max(initial=0.0)) > 1e-8 * scale:
        return None
    return solution[:k], solution[k:]


def fits(problem: Subproblem) -> bool:
    """Whether a dense copy of the problem is small enough to pivot on."""
    return bool(problem.m * problem.n + problem.n**2 <= 20_000_000 and sp.issparse(problem.A))

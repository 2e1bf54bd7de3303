"""Random LPs and QPs of every degenerate shape, and what they are: optimal with a value, infeasible or unbounded.

No rows, empty rows, empty columns, one row, only slacks, no slack, duplicate and mirrored columns, free and fixed variables,
limits at infinity, costs of zero, equations, rows that follow from or contradict others, zeros stored in A.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, milp

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem

INF = np.inf


def degenerate_problem(seed, curved=False, nonnegative=False):
    """Small integers, so that ties and dependencies are exact. ``nonnegative``: every variable ≥ 0 or free."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    A = rng.integers(-2, 3, (m, n)).astype(float) * (rng.random((m, n)) < rng.choice([0.3, 0.6, 1.0]))
    A, n = _special_columns(rng, A)
    if m > 1 and rng.random() < 0.3:
        A[rng.integers(m)] = A[rng.integers(m)] * rng.choice([-1.0, 1.0, 2.0])
    if m and rng.random() < 0.3:
        A[rng.integers(m)] = 0.0
    lower, upper = _bounds(rng, n, nonnegative)
    inside = np.clip(rng.integers(0, 3, n).astype(float), lower, upper)
    row_lower, row_upper = _row_limits(rng, A @ inside, nonnegative)
    c = rng.integers(-2 if rng.random() < 0.4 else 0, 6, n).astype(float) * (rng.random() < 0.9)
    Q = None
    if curved:
        weights = rng.integers(0, 3, n).astype(float) * (rng.random(n) < 0.6)
        Q = sp.csc_array(sp.diags_array(weights))
        if not nonnegative and rng.random() < 0.5:
            M = rng.integers(-1, 2, (n, 2)).astype(float)
            Q = sp.csc_array(Q + sp.csc_array(M @ M.T))
    return ConvexProblem(c, _stored(rng, A), row_lower, row_upper, lower, upper, Q)


def _special_columns(rng, A):
    """Duplicates, mirrors, slacks for some or all rows, columns without an entry."""
    m, extra = len(A), [A]
    kinds = rng.random(6) < 0.35
    some = rng.integers(0, A.shape[1], 2)
    for wanted, columns in zip(
        kinds,
        (A[:, some], -A[:, some], np.eye(m), -np.eye(m), np.eye(m)[:, : m // 2] * 3.0, np.zeros((m, 1))),
        strict=True,
    ):
        if wanted:
            extra.append(columns)
    if m and rng.random() < 0.1:
        extra = extra[1:] or [np.eye(m)]
    A = np.hstack(extra)
    return (A, A.shape[1]) if A.shape[1] else (np.zeros((m, 1)), 1)


def _bounds(rng, n, nonnegative):
    lower, upper = np.zeros(n), np.full(n, INF)
    if rng.random() < 0.6:
        lower[rng.random(n) < 0.2] = -INF
    if not nonnegative:
        kind = rng.integers(0, 8, n)
        upper[kind == 1] = rng.integers(0, 4, n)[kind == 1]
        fixed = kind == 2
        lower[fixed] = upper[fixed] = rng.integers(-1, 3, n)[fixed]
        lower[kind == 3], upper[kind == 3] = -INF, 0.0
        lower[kind == 4] = -1.0
    return lower, upper


def _row_limits(rng, activity, nonnegative):
    m = len(activity)
    lower, upper = np.full(m, -INF), np.full(m, INF)
    kind = rng.integers(0, 9 if not nonnegative else 7, m)
    slack = rng.integers(0, 3, m).astype(float)
    lower[kind <= 2] = (activity - slack)[kind <= 2]
    upper[(kind == 3) | (kind == 4)] = (activity + slack)[(kind == 3) | (kind == 4)]
    equal = kind == 5
    lower[equal] = upper[equal] = activity[equal]
    lower[kind >= 7], upper[kind >= 7] = (activity - 1)[kind >= 7], (activity + slack)[kind >= 7]
    if m and rng.random() < 0.15:  # one that may contradict the others
        i = rng.integers(m)
        lower[i] = upper[i] = activity[i] + rng.integers(-3, 4)
    return lower, upper


def _stored(rng, A):
    """A in a sparse format, some of its zeros stored."""
    where = (A != 0) | (rng.random(A.shape) < (0.2 if rng.random() < 0.4 else 0.0))
    rows, columns = np.nonzero(where)
    make = sp.csr_array if rng.random() < 0.5 else sp.csc_array
    return make((A[rows, columns], (rows, columns)), shape=A.shape)


def truth(problem, c=None):
    """What the problem is, and the value of an LP, by SciPy's HiGHS without any code of the package.

    That an answer to a QP is optimal is for the optimality conditions to say: they are sufficient, and CVXPY with Clarabel
    misses the minima of flat QPs by up to 1e-4.
    """
    c = problem.c if c is None else c
    if _linear(problem, np.zeros(problem.n)).status == 2:
        return Claim.INFEASIBLE, None
    if _endless(problem, c):
        return Claim.UNBOUNDED, None
    if problem.Q is not None:
        return Claim.OPTIMAL, None
    found = _linear(problem, c)
    assert found.status == 0, found.message
    return Claim.OPTIMAL, float(found.fun)


def _linear(problem, c):
    return milp(
        c,
        constraints=LinearConstraint(problem.A, problem.row_lower, problem.row_upper),
        bounds=Bounds(problem.lower, problem.upper),
    )


def _endless(problem, c):
    def cone(lower, upper):
        return np.where(np.isinf(lower), -INF, 0.0), np.where(np.isinf(upper), INF, 0.0)

    limits = [LinearConstraint(problem.A, *cone(problem.row_lower, problem.row_upper))]
    if problem.Q is not None:
        limits.append(LinearConstraint(problem.Q, 0.0, 0.0))
    box = np.clip(cone(problem.lower, problem.upper), -1.0, 1.0)
    return milp(c, constraints=limits, bounds=Bounds(*box)).fun < -1e-7


def l1_problem(seed):
    """min s'p + t'q + c'β + ν'ξ, B(p − q) + Gβ + ξ ≥ r: rows repeated, empty or as ≤, costs of 0, some without a slack."""
    rng = np.random.default_rng(seed)
    m, d, k = int(rng.integers(1, 8)), int(rng.integers(1, 5)), int(rng.integers(0, 3))
    B = rng.integers(-2, 3, (m, d)).astype(float)
    if m > 1 and rng.random() < 0.4:
        B[0] = B[1] * rng.choice([-1.0, 0.0, 1.0])
    slacks = np.eye(m)[:, rng.random(m) < rng.choice([0.0, 0.7, 1.0])]
    A = np.hstack([B, -B, rng.integers(-1, 2, (m, k)), slacks])
    flip = np.where(rng.random(m) < 0.3, -1.0, 1.0)
    r = rng.integers(-2, 3, m).astype(float)
    n = A.shape[1]
    lower = np.zeros(n)
    lower[2 * d : 2 * d + k] = -INF
    c = rng.integers(0, 4, n).astype(float)
    c[2 * d : 2 * d + k] = 0.0
    limits = np.where(flip > 0, r, -INF), np.where(flip < 0, -r, INF)
    return ConvexProblem(c, _stored(rng, flip[:, None] * A), *limits, lower, np.full(n, INF))

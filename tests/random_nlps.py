"""Random LPs, QPs and NLPs that have solutions, two problems that have none, and what an answer has to satisfy."""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.functions.base import ConvexFunction

INF = np.inf
seeds = st.integers(0, 2**32 - 1)


class Exponentials(ConvexFunction):
    """Σᵢ exp(dᵢ'x), which can be told to misbehave."""

    def __init__(self, D):
        self.D, self.raising, self.pause = np.asarray(D, dtype=float), {}, 0.0

    def _enter(self, method):
        time.sleep(self.pause)
        if method in self.raising:
            raise self.raising[method]

    def value(self, x):
        self._enter("value")
        return float(np.exp(self.D @ x).sum())

    def gradient(self, x):
        self._enter("gradient")
        return self.D.T @ np.exp(self.D @ x)

    def hessian(self, x):
        self._enter("hessian")
        return (self.D.T * np.exp(self.D @ x)) @ self.D

    def expand(self, x, exp, log):
        return sum(exp(sum(d * v for d, v in zip(row.tolist(), x, strict=True))) for row in self.D)


class MinusLog(ConvexFunction):
    """−Σ log xⱼ, NaN outside of its domain."""

    separable, domain_lower = True, 0.0

    def value(self, x):
        return float(-np.log(x).sum())

    def gradient(self, x):
        return -1 / x

    def hessian(self, x):
        return 1 / x**2


def subproblem(c, rows=(), row_lower=(), row_upper=(), lower=None, upper=None, **parts):
    c, n = np.asarray(c, dtype=float), len(c)
    A = sp.csr_array(np.asarray(rows, dtype=float).reshape(-1, n))
    limits = [np.asarray(v, dtype=float) for v in (row_lower, row_upper)]
    bounds = [np.full(n, d) if v is None else np.asarray(v, dtype=float) for v, d in ((lower, -INF), (upper, INF))]
    return ConvexProblem(c, A, *limits, *bounds, **parts)


def linear_constraints(rng, n, m):
    """Rows and bounds of every kind (equations, ranges, one-sided, free, fixed) around a feasible point, and costs for which
    the LP has a solution: combinations of the active gradients."""
    A, z = rng.normal(size=(m, n)), rng.normal(size=n)

    def around(values):
        widths = rng.choice([0.0, 1.0, INF], p=[0.2, 0.5, 0.3], size=(2, len(values)))
        return values - widths[0], values + widths[1]

    def multipliers(low, high):
        y = rng.normal(size=len(low))
        return np.where(y > 0, np.where(np.isfinite(low), y, 0.0), np.where(np.isfinite(high), y, 0.0))

    (row_lower, row_upper), (lower, upper) = around(A @ z), around(z)
    costs = [A.T @ multipliers(row_lower, row_upper) + multipliers(lower, upper) for _ in range(2)]
    return {"rows": A, "row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}, costs, z


def random_problem(seed, kind):
    """A random LP, QP or NLP that has a solution for both of the costs returned with it."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 7))
    limits, costs, inside = linear_constraints(rng, n, m)
    parts = {}
    if kind != "LP":
        R = rng.normal(size=(int(rng.integers(1, n + 1)), n))
        parts["Q"] = sp.csr_array(R.T @ R)
    if kind == "NLP":
        indices = rng.permutation(n)
        parts["smooth"] = SmoothSum([FunctionTerm(Exponentials(rng.normal(size=(3, n))), indices, 0.5)], n)
        parts["constraints"] = tuple(ellipsoid(rng, inside) for _ in range(2))
    return subproblem(costs[0], **limits, **parts), costs


def ellipsoid(rng, inside):
    """½z'Pz + q'z + r ≤ 0 with ``inside`` strictly feasible."""
    n = len(inside)
    R, q = rng.normal(size=(n, n)), rng.normal(size=n)
    P = R.T @ R + np.eye(n)
    constant = -0.5 * inside @ P @ inside - q @ inside - 1.0
    return SmoothSum([QuadraticTerm(sp.csr_array(P)), LinearTerm(np.arange(n), q, constant)], n)


def assert_optimal(problem, c, answer, tol=1e-6):
    """Feasible, stationary, complementary, with the signs that :class:`Answer` promises: sufficient in a convex problem."""
    assert answer.claim is Claim.OPTIMAL, answer.message
    z, y, mu = answer.z, answer.row_duals, answer.constraint_duals
    psi = np.array([row.value(z) for row in problem.constraints])
    assert (problem.lower <= z).all()
    assert (z <= problem.upper).all()
    assert psi.max(initial=-INF) <= tol
    assert (mu <= 0).all()
    reduced = problem.gradient(z, c) - problem.A.T @ y
    for multiplier, row in zip(mu, problem.constraints, strict=True):
        reduced = reduced - multiplier * row.gradient(z)
    scale = 1 + np.abs(problem.gradient(z, c)).max() + np.abs(problem.value(z, c))
    limits = [(y, problem.A @ z, problem.row_lower, problem.row_upper), (reduced, z, problem.lower, problem.upper)]
    for multiplier, value, low, high in [*limits, (mu, psi, np.full(len(psi), -INF), np.zeros(len(psi)))]:
        assert (value >= low - tol * (1 + np.abs(value))).all()
        assert (value <= high + tol * (1 + np.abs(value))).all()
        distance = np.where(multiplier > 0, value - low, high - value)
        assert (np.abs(multiplier) * np.minimum(np.abs(distance), 1.0) <= tol * scale).all()


def solve(solver, problem, c=None, options=None, start=None, time_limit=None):
    return solver.open(problem, options or {}).solve(problem.c if c is None else c, start, time_limit)


NO_POINT = subproblem([1.0, 1.0], [[1, 1], [1, 1]], [2, -INF], [INF, 1], [-5, -5], [5, 5])
NO_END = subproblem([-1.0, 0.0], [[1, -1]], [-INF], [1], [0, 0])

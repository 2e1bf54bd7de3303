"""LPs and QPs whose solutions are known, because they were made from their multipliers."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import settings
from hypothesis import strategies as st

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem

INF = np.inf
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=6)  # trust-constr takes 0.1 s for each


def problem(c, A=None, rows=(), bounds=None, Q=None, smooth=None, constraints=()):
    """A subproblem from plain lists; ``rows`` and ``bounds`` are pairs (lower, upper)."""
    n = len(c)
    A = np.zeros((0, n)) if A is None else np.asarray(A, dtype=float)
    row_lower, row_upper = np.array(rows, dtype=float).reshape(-1, 2).T
    lower, upper = (np.full(n, -INF), np.full(n, INF)) if bounds is None else np.array(bounds, dtype=float).T
    Q = None if Q is None else sp.csr_array(np.asarray(Q, dtype=float))
    return ConvexProblem(
        np.asarray(c, dtype=float), sp.csr_array(A), row_lower, row_upper, lower, upper, Q, smooth, constraints
    )


def known_problem(seed, rank=None):
    """A problem with every kind of row and bound that z solves: c is what the chosen multipliers make it.

    ``rank`` 0 gives an LP; otherwise Q has rank at least n/2.
    """
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8), rng.integers(0, 9)
    A = rng.standard_normal((m, n)) * (rng.random((m, n)) < rng.choice([0.4, 1.0]))
    A[np.arange(m), rng.integers(0, n, m)] = 1.0  # no row is empty
    z, scale = rng.standard_normal(n), rng.exponential
    lower, upper, mu = limits_around(rng, z, scale)
    row_lower, row_upper, lam = limits_around(rng, A @ z, scale)
    M = rng.standard_normal((n, rng.integers(n // 2 + 1, n + 1) if rank is None else rank))
    Q = M @ M.T
    c = A.T @ lam + mu - Q @ z
    rows, bounds = np.column_stack([row_lower, row_upper]), np.column_stack([lower, upper])
    return problem(c, A, rows, bounds, None if rank == 0 else Q), z, lam


def limits_around(rng, values, size):
    """Limits around ``values`` and multipliers that fit: free, fixed, at one limit or at one of two, inside, one-sided."""
    k = len(values)
    lower, upper, dual = np.full(k, -INF), np.full(k, INF), np.zeros(k)
    kind = rng.integers(0, 8, k)
    at_lower, at_upper, fixed, inside, loose = (np.isin(kind, s) for s in ([1, 2], [3, 4], [5], [6], [7]))
    lower[at_lower | fixed] = values[at_lower | fixed]
    upper[at_upper | fixed] = values[at_upper | fixed]
    lower[(kind == 4) | inside] = (values - 0.1 - size(1.0, k))[(kind == 4) | inside]
    upper[(kind == 2) | inside | loose] = (values + 0.1 + size(1.0, k))[(kind == 2) | inside | loose]
    dual[at_lower], dual[at_upper] = size(1.0, at_lower.sum()), -size(1.0, at_upper.sum())
    dual[fixed] = rng.standard_normal(fixed.sum())
    return lower, upper, dual


def assert_kkt(p, c, answer, tol=1e-6):
    """Feasible, stationary and complementary, in the signs that Answer promises."""
    assert answer.claim is Claim.OPTIMAL, answer.message
    z, lam = answer.z, answer.row_duals
    activity, gradient = p.A @ z, p.gradient(z, c)
    reduced = gradient - p.A.T @ lam
    for i, psi in enumerate(p.constraints):
        reduced = reduced - answer.constraint_duals[i] * psi.gradient(z)
        assert psi.value(z) <= tol
        assert answer.constraint_duals[i] <= tol
        assert abs(answer.constraint_duals[i] * psi.value(z)) <= tol
    tol = tol * (1 + np.abs(gradient).max())
    for values, multiplier, lower, upper in (
        (z, reduced, p.lower, p.upper),
        (activity, lam, p.row_lower, p.row_upper),
    ):
        assert np.all(values >= lower - tol)
        assert np.all(values <= upper + tol)
        limit = np.where(multiplier > 0, lower, upper)
        there = np.isfinite(limit)
        assert np.all(there | (np.abs(multiplier) <= tol)), "a multiplier has no limit to belong to"
        assert np.all(np.abs(multiplier[there] * (values - limit)[there]) <= tol)

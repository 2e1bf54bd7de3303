"""The point of an ℓ1 program, and multipliers, that given active sets determine: the last digits of a minimiser.

Let v = (p, −q, β) be what is not zero, H its columns, S the rows with slack and T those without that hold with equality. At
the solution of least 2-norm, with u* + εd the minimisers of the penalty function for small ε
(:mod:`dcprog.solvers.reductions.least_norm`),

    v minimises ‖v‖² + ‖r_S − H_S v‖² subject to H_T v = r_T;    u_S = ν_S,   H_T'u_T = cost − H_S'ν_S,   other u = 0.

A minimiser divides the violations of the dual by ε, which leaves few digits where ν or the data are large. These systems of
as many unknowns as there are features in use do not know ε.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dcprog.solvers.reductions.dual_penalty import L1Program, Primal
from dcprog.typing import Vector

RANK = 1e-11
"""A singular value below this share of the largest is zero; columns are brought to the same norm before."""


def from_active_sets(lp: L1Program, z: Primal, minimiser: Vector, u: Vector, threshold: float) -> tuple[Primal, Vector]:
    """(z, u) for the active sets of an approximate z and its minimiser; u is moved as little as need be.

    What is below ``threshold``, relative to r and to the multipliers, is zero.

    min p + q + 5ξ subject to 2(p − q) + ξ ≥ 1:

    >>> one, none = np.ones(1), np.zeros(1)
    >>> lp = L1Program(B=np.array([[2.0]]), G=np.empty((1, 0)), r=one, s=one, t=one, c=np.empty(0), nu=5 * one)
    >>> z, u = from_active_sets(lp, Primal(0.499 * one, none, np.empty(0), none), 0.502 * one, 0.501 * one, 1e-6)
    >>> z.p, u
    (array([0.5]), array([0.5]))
    """
    largest, size = _largest_entries(lp), threshold * (1.0 + float(np.abs(lp.r).max()))
    P, Q = np.flatnonzero(z.p * largest > size), np.flatnonzero(z.q * largest > size)
    slack = (z.xi > size) & np.isfinite(lp.nu)
    S, T = np.flatnonzero(slack), np.flatnonzero(~slack & (minimiser > threshold * float(minimiser.max(initial=0.0))))
    columns = lp.B[:, np.concatenate([P, Q])]
    H = np.hstack([columns.toarray() if sp.issparse(columns) else columns, lp.G])
    H[:, len(P) : len(P) + len(Q)] *= -1
    cost = np.concatenate([lp.s[P], lp.t[Q], lp.c]) - H[S].T @ lp.nu[S]

    norms = np.linalg.norm(H[T], axis=0)
    scale = 1.0 / np.where(norms > 0, norms, 1.0)
    U, values, Vt = np.linalg.svd(H[T] * scale, full_matrices=len(T) < len(scale))
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    U, values, V, N = U[:, :rank], values[:rank], scale[:, None] * Vt[:rank].T, scale[:, None] * Vt[rank:].T
    v = V @ (U.T @ lp.r[T] / values)
    residual = np.concatenate([v, H[S] @ v - lp.r[S]])
    v = v - N @ np.linalg.lstsq(np.vstack([N, H[S] @ N]), residual)[0]

    exact = np.zeros(lp.m)
    exact[S], exact[T] = lp.nu[S], u[T] + U @ (V.T @ (cost - H[T].T @ u[T]) / values)
    p, q, xi = np.zeros_like(z.p), np.zeros_like(z.q), np.zeros_like(z.xi)
    p[P], q[Q], beta = np.split(v, [len(P), len(P) + len(Q)])
    xi[S] = lp.r[S] - H[S] @ v
    return Primal(np.maximum(p, 0), np.maximum(q, 0), beta, np.maximum(xi, 0)), np.clip(exact, 0, lp.nu)


def _largest_entries(lp: L1Program) -> Vector:
    """max |bᵢⱼ| of every column: what a unit of wⱼ can do."""
    if sp.issparse(lp.B):
        return np.asarray(abs(lp.B).max(axis=0).toarray()).ravel()
    largest: Vector = np.abs(lp.B).max(axis=0, initial=0.0)
    return largest

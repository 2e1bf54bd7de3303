"""Duals from a point: what a solver that gives none, or poor ones, would have had to give."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.typing import Vector

NEAR = 1e-2
"""Limits farther away than this, relative to their size, have dual zero: an interior point at barrier 1e-10 gives ≤ 1e-8."""


def multipliers(problem: ConvexProblem, c: Vector, z: Vector) -> tuple[Vector, Vector]:
    """Row duals λ and constraint duals κ that, with some bound duals μ, fit ``z`` best: of the signs of
    :class:`~dcprog.solvers.base.Answer`, and with s the distances to the limits, they minimise

        ‖∇f(z) − A'λ − Σ κᵢ∇ψᵢ(z) − μ‖² + ‖s ∘ (λ, κ, μ)‖².

    >>> p = ConvexProblem(c=np.array([1.0, -1.0]), A=sp.csr_array([[1.0, 1.0]]), row_lower=np.array([2.0]),
    ...                row_upper=np.array([np.inf]), lower=np.zeros(2), upper=np.array([np.inf, 1.0]))
    >>> multipliers(p, p.c, np.array([1.0, 1.0]))
    (array([1.]), array([], dtype=float64))
    """
    from scipy.optimize import lsq_linear

    psi, n, m = problem.constraints, problem.n, problem.m
    J = sp.csr_array(np.array([p.gradient(z) for p in psi]).reshape(len(psi), n))
    normals = sp.csr_array(sp.vstack([problem.A, J, sp.eye_array(n)]))
    values = np.concatenate([problem.A @ z, [p.value(z) for p in psi], z])
    lower = np.concatenate([problem.row_lower, np.full(len(psi), -np.inf), problem.lower])
    upper = np.concatenate([problem.row_upper, np.zeros(len(psi)), problem.upper])
    above, below = np.abs(values - lower), np.abs(upper - values)
    slack = np.minimum(above, below)
    near = slack <= NEAR * (1 + np.abs(values))
    duals = np.zeros(len(values))
    if near.any():
        system = np.vstack([normals[near].toarray().T, np.diag(slack[near])])
        target = np.concatenate([problem.gradient(z, c), np.zeros(near.sum())])
        least = np.where((below <= above) | (lower == upper), -np.inf, 0.0)
        most = np.where((above < below) | (lower == upper), np.inf, 0.0)
        duals[near] = lsq_linear(system, target, (least[near], most[near]), method="bvls", tol=1e-15).x
    return duals[:m], duals[m : m + len(psi)]

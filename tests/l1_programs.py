"""Random ℓ1 programs, as the dual penalty function and as the solvers of subproblems take them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dcprog.models import fsv
from dcprog.solvers.reductions.dual_penalty import L1Program

seeds = st.integers(0, 10**6)


def random_points(seed, n, d):
    """Small integers: ties, equal points, constant and equal features are frequent. Both classes are there."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([[1.0, -1.0], rng.choice([-1.0, 1.0], n - 2)])
    return rng.integers(-2, 3, (n, d)).astype(float), y


def random_program(seed, n=12, d=5, soft=True):
    """An ℓ1 program with weights of every size, with slacks or (then feasible) without."""
    rng = np.random.default_rng(seed)
    X, y = random_points(seed, n, d)
    s, t = rng.exponential(1.0, (2, d)) * rng.choice([0.0, 0.01, 1.0], (2, d))
    if not soft:
        y = np.where(X[:, 0] > 0, 1.0, -1.0)
    nu = rng.exponential(1.0, n) if soft else np.full(n, np.inf)
    return L1Program(y[:, None] * X, y[:, None], rng.choice([0.5, 1.0, 2.0], n), s, t, np.zeros(1), nu)


def subproblem(form="split", seed=0, n=25, d=6):
    X, y = random_points(seed, n, d)
    return fsv(X, y, form=form).compiled.subproblem

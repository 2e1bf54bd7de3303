"""Code 4.1 of Fung & Mangasarian (2004) against the printed MATLAB, line by line; where it ends, and where it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from l1_programs import random_points, seeds
from scipy.optimize import linprog

from dcprog.errors import DataError
from dcprog.estimators import NLPSVM
from dcprog.methods.nlpsvm import code_4_1, lp_svm, nlpsvm
from dcprog.solvers.reductions.dual_penalty import L1Program, newton_steps


def printed(A, d, nu, delta, epsi=0.1, alpha=1e3, tol=1e-3, imax=50):
    """The MATLAB of Code 4.1, as it stands."""
    em, en = np.ones(A.shape[0]), np.ones(A.shape[1])
    u, step, g = em.copy(), 0, np.ones(1)
    DA = d[:, None] * A
    while np.linalg.norm(g) > tol and step < imax:
        step += 1
        Adu = A.T @ (d * u)
        pp, np_ = np.maximum(Adu - en, 0), np.maximum(-Adu - en, 0)
        unu, uu = np.maximum(u - nu, 0), np.maximum(-u, 0)
        g = -epsi * em + d * (A @ pp) - d * (A @ np_) + (d @ u) * d + unu - alpha * uu
        H = np.column_stack([DA * np.sqrt(np.sign(np_) + np.sign(pp)), d])
        F = delta + np.sign(unu) + alpha * np.sign(uu)
        u = u - np.linalg.solve(H @ H.T + np.diag(F), g)
    Adu = A.T @ (d * u)
    return (np.maximum(Adu - en, 0) - np.maximum(-Adu - en, 0)) / epsi, -(d @ u) / epsi, step


def two_normals(m, n, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n))
    return A, np.where(A[:, 0] + A[:, 1] + 0.5 * rng.standard_normal(m) > 0, 1.0, -1.0)


def objective(A, d, nu, plane):
    """(2.6) at the best slacks for this plane."""
    return np.abs(plane.w).sum() + nu * np.maximum(1 - d * (A @ plane.w - plane.gamma), 0).sum()


def best(A, d, nu):
    m, n = A.shape
    rows = np.hstack([d[:, None] * A, -d[:, None] * A, -d[:, None], np.eye(m)])
    bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * m
    return linprog([1.0] * (2 * n) + [0.0] + [nu] * m, A_ub=-rows, b_ub=-np.ones(m), bounds=bounds).fun


@given(seeds, st.sampled_from([(12, 5), (5, 12), (20, 3)]), st.sampled_from([0.3, 5.0]), st.sampled_from([0.1, 10.0]))
def test_the_steps_are_those_of_the_printed_code(seed, shape, nu, delta):
    A, d = random_points(seed, *shape)
    w, gamma, steps = printed(A, d, nu, delta, imax=6)
    plane = code_4_1(A, d, nu, delta=delta, max_iter=6)
    scale = 1 + np.abs(w).max()
    assert plane.w == pytest.approx(w, abs=1e-7 * scale)
    assert plane.gamma == pytest.approx(gamma, abs=1e-7 * scale)
    assert plane.steps == steps


@pytest.mark.parametrize("seed", range(3))
def test_tall_data_get_near_the_linear_program_in_fifty_steps(seed):
    """200 × 10, ν = 10: where α doubles at every step the printed algorithm ends up to six times as high."""
    A, d = two_normals(200, 10, seed)
    least = best(A, d, 10.0)
    assert objective(A, d, 10.0, lp_svm(A, d, 10.0)) == pytest.approx(least, rel=1e-7)
    assert objective(A, d, 10.0, code_4_1(A, d, 10.0)) <= 1.005 * least
    fixed, doubled = nlpsvm(A, d, 10.0), nlpsvm(A, d, 10.0, doubling=True, max_iter=50)
    assert objective(A, d, 10.0, fixed) <= 1.001 * least
    assert not doubled.converged
    assert objective(A, d, 10.0, doubled) > 1.02 * least


@pytest.mark.parametrize("delta", [1e-3, 0.1])
def test_a_line_search_converges_where_full_steps_do_not(delta):
    """60 × 60: the second derivatives are ill conditioned, and Code 4.1 goes astray."""
    A, d = two_normals(60, 60, 0)
    astray, searched = code_4_1(A, d, 1.0, delta=delta), nlpsvm(A, d, 1.0, delta=delta)
    least = best(A, d, 1.0)
    assert not astray.converged
    assert objective(A, d, 1.0, astray) > 10 * least
    assert searched.converged
    assert objective(A, d, 1.0, searched) <= 1.01 * least


def well_conditioned(rng, m, n):
    """‖H⁻¹‖ ‖H − H'‖ < 1 for any two of the second derivatives H = BEB' + GG' + diag((u > ν) + α(u < 0)): then every
    full step is a contraction towards the minimiser, H⁻¹(H − M)(u − ū) with M a mean of second derivatives.
    """
    B, alpha = rng.standard_normal((m, n)), rng.uniform(0.5, 2.0)
    changes = np.linalg.norm(B, 2) ** 2 + max(1.0, alpha)
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    G = np.sqrt(1.5 * changes) * Q
    c = 3.0 * rng.standard_normal(m)
    lp = L1Program(B, G, np.ones(m), rng.uniform(0, 1, n), rng.uniform(0, 1, n), c, rng.uniform(0, 1, m))
    return lp, alpha


@given(seeds, st.integers(2, 8), st.integers(1, 8))
def test_full_steps_terminate_where_second_derivatives_are_well_conditioned(seed, m, n):
    """The theorem: finitely many steps, from wherever. The last goes from another piece of f right to the minimiser."""
    rng = np.random.default_rng(seed)
    lp, alpha = well_conditioned(rng, m, n)
    start = lp.at(10.0 * rng.standard_normal(m))
    end, steps, slope = newton_steps(lp, start, 0.1, 0.0, alpha, tol=1e-9, max_iter=60)
    assert slope <= 1e-9
    assert np.linalg.norm(lp.gradient(end, 0.1, alpha)) <= 1e-9
    assume(steps > 2)
    before, _, _ = newton_steps(lp, start, 0.1, 0.0, alpha, tol=1e-9, max_iter=steps - 2)
    assert np.linalg.norm(lp.gradient(before, 0.1, alpha)) > 1e-9
    landed, _, _ = newton_steps(lp, before, 0.1, 0.0, alpha, tol=1e-9, max_iter=1)
    assert np.linalg.norm(landed.u - end.u) <= 1e-9, "one step from there, not a limit"


def test_it_ends_after_the_step_at_which_the_gradient_is_small():
    A, d = two_normals(30, 3, 0)
    plane = code_4_1(A, d, 0.5)
    assert plane.converged
    assert code_4_1(A, d, 0.5, u0=plane.u).steps == 1
    assert code_4_1(A, d, 0.5, max_iter=2).steps == 2


def test_the_estimator_runs_it_and_says_when_it_diverges():
    A, d = two_normals(200, 10, 0)
    machine = NLPSVM(nu=1.0, algorithm="code").fit(A, d)
    assert (machine.coef_[0] == code_4_1(A, d, 1.0).w).all()
    A, d = two_normals(60, 60, 0)
    with pytest.warns(UserWarning, match="algorithm='exact'"):
        NLPSVM(algorithm="code", max_iter=50).fit(A, d)
    with pytest.raises(DataError, match="delta"):
        code_4_1(A, d, delta=0.0)

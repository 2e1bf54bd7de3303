"""Solvers that know no clock keep a time limit: PIQP by as many iterations as fit, Clarabel from beside, HiPO by its own."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from known_qps import INF, assert_kkt, problem

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.solvers import registry
from dcprog.solvers.adapters.highs import Highs
from dcprog.solvers.adapters.piqp import PIQP


def large(n, m, density=1.0, seed=0):
    rng = np.random.default_rng(seed)
    if density == 1.0:
        M, A = rng.standard_normal((n, n)), rng.standard_normal((m, n))
        Q = M @ M.T / n
    else:
        Q, A = sp.eye_array(n), sp.random_array((m, n), density=density, rng=rng)
    return ConvexProblem(
        rng.standard_normal(n), sp.csr_array(A), -np.ones(m), np.ones(m), -np.ones(n), np.ones(n), sp.csc_array(Q)
    )


@pytest.fixture(scope="module")
def slow():
    """Seconds for PIQP, many for Clarabel."""
    return large(1400, 1000)


@pytest.mark.parametrize("name", ["piqp", "clarabel", "active-set", "columns", "ipopt", "osqp", "highs"])
def test_a_time_limit_is_kept(name, slow):
    p = slow
    if name == "columns":
        p = large(3000, 1500, 0.02)
        p = ConvexProblem(p.c, p.A, p.row_lower, p.row_upper, np.zeros(p.n), np.full(p.n, INF), p.Q)
    solver = registry.get(name)
    if not solver.available():
        pytest.skip(solver.install)
    began = time.perf_counter()
    answer = solver.open(p, {}).solve(p.c, None, 0.5)
    took = time.perf_counter() - began
    assert answer.claim in (Claim.TIME_LIMIT, Claim.OPTIMAL)
    assert took < 1.5, f"{took:.2f} s"


@pytest.mark.parametrize("name", ["piqp", "clarabel", "active-set"])
def test_a_session_goes_on_after_a_time_limit(name):
    p = large(120, 80)
    session = registry.get(name).open(p, {})
    assert session.solve(p.c, None, 1e-6).claim is Claim.TIME_LIMIT
    assert_kkt(p, p.c, session.solve(p.c, None, None))
    assert_kkt(p, p.c, session.solve(p.c, None, 60.0))


def test_piqp_with_a_limit_that_is_enough_gives_what_it_gives_without():
    """Also where it has to measure an iteration first."""
    p = large(300, 200)
    free = PIQP().open(p, {}).solve(p.c, None, None)
    session = PIQP().open(p, {})
    assert session._within(60.0) == "PIQP_SOLVED"
    np.testing.assert_allclose(session.solver.result.x, free.z, atol=1e-8)
    assert session.solver.settings.max_iter == PIQP().open(p, {}).solver.settings.max_iter
    assert session._within(1e-9) == "time limit reached"


@pytest.mark.parametrize(("n", "m", "density"), [(500, 400, 1.0), (700, 300, 1.0), (2000, 1000, 0.01), (2500, 2500, 0.001)])
def test_the_estimate_is_within_a_factor_of_ten(n, m, density):
    p = large(n, m, density)
    session = PIQP().open(p, {})
    began = time.perf_counter()
    session.solve(p.c, None, None)
    took = time.perf_counter() - began
    assert took / 10 < PIQP().estimate_seconds(p) < 10 * took


def test_who_cannot_be_interrupted_says_so_and_for_how_long():
    small, big = large(20, 10), large(400, 300)
    for name in ("piqp", "active-set", "clarabel", "ipopt", "osqp", "highs"):
        solver = registry.get(name)
        assert not solver.interruptible
        assert 0 < solver.estimate_seconds(small) < solver.estimate_seconds(big)
    assert registry.get("scipy").interruptible
    assert registry.get("scipy").estimate_seconds(big) == 0.0
    assert registry.get("highs").estimate_seconds(replace(big, Q=None)) == 0.0  # simplex looks at the clock


def test_an_interrupt_ends_clarabel(slow):
    solver = registry.get("clarabel")
    if not solver.available():
        pytest.skip(solver.install)
    session = solver.open(slow, {})
    interrupt = threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
    interrupt.start()
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        session.solve(slow.c, None, None)
    assert time.perf_counter() - began < 6.0  # the set-up, which cannot be left, and half a second
    small = large(20, 10)
    assert_kkt(small, small.c, solver.open(small, {}).solve(small.c, None, None))


def test_no_time_at_all_is_no_time_for_hipo():
    """0 s was read as no limit, which is ten minutes."""
    rng = np.random.default_rng(0)
    p = problem(rng.standard_normal(40), rng.standard_normal((30, 40)), [(-1, 1)] * 30, [(-1, 1)] * 40, np.eye(40))
    assert Highs().open(p, {}).solve(p.c, None, 0.0).claim is Claim.TIME_LIMIT

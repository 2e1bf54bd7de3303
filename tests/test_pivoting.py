"""Pivoting, the rough start and the working set, each alone: no other solver comes to the rescue, and
it is asserted who answered.

Every test here fails when a sign in the formula that it is about is flipped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from known_qps import INF, assert_kkt, limits_around, problem, seeds

from dcprog.convex.certificate import verify
from dcprog.convex.problem import ConvexProblem
from dcprog.models import l2_l0_svm, svm
from dcprog.solvers.reductions import active_set
from dcprog.solvers.reductions.active_set import ActiveSetSession, _Clock
from dcprog.solvers.reductions.columns import ColumnsSession
from dcprog.solvers.reductions.pivoting import Active, Pivoting

many = settings(max_examples=40)


def strict_qp(seed, n=9, m=6):
    """A strongly convex QP with independent active rows, made from its solution (z, y): every active limit has a
    multiplier of at least 0.1, and every other one a slack of at least 0.1."""
    rng = np.random.default_rng(seed)
    z, A = rng.standard_normal(n), rng.standard_normal((m, n))

    def size(_, k):
        return 0.1 + rng.exponential(1.0, k)

    lower, upper, reduced = limits_around(rng, z, size)
    held = np.flatnonzero(reduced)[n - m :]  # rows and bounds together are at most n, so independent
    lower[held], upper[held], reduced[held] = -INF, INF, 0.0
    row_lower, row_upper, y = limits_around(rng, A @ z, size)
    M = rng.standard_normal((n, n))
    Q = M @ M.T / n + np.eye(n)
    c = A.T @ y + reduced - Q @ z
    rows, bounds = np.column_stack([row_lower, row_upper]), np.column_stack([lower, upper])
    return problem(c, A, rows, bounds, Q), z, y, reduced


def svm_qp(seed, n=25, d=4, model=svm, **parameters):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.standard_normal(n))
    y[:2] = 1, -1
    return model(X, y, **parameters).compiled.subproblem


# Pivoting ------------------------------------------------------------------------------------------------------------------


@many
@given(seed=seeds)
def test_active_sets_are_read_off_the_solution(seed):
    """Active is what has a multiplier; fixed variables and equations are held from below."""
    p, z, y, reduced = strict_qp(seed)
    active = Active.guess(p, p.c, z, y)
    fixed = p.lower == p.upper
    np.testing.assert_array_equal(active.lower, (reduced > 0) & ~fixed | fixed)
    np.testing.assert_array_equal(active.upper, (reduced < 0) & ~fixed)
    np.testing.assert_array_equal(active.row_lower, (y > 0) & ~p.equality | p.equality)
    np.testing.assert_array_equal(active.row_upper, (y < 0) & ~p.equality)


@many
@given(seed=seeds)
def test_the_right_active_sets_give_the_solution_in_one_step(seed):
    p, z, y, _ = strict_qp(seed)
    found = Pivoting(p).solve(p.c, Active.guess(p, p.c, z, y), max_iter=1)
    assert found is not None
    np.testing.assert_allclose(found[0], z, atol=1e-8)
    np.testing.assert_allclose(found[1], y, atol=1e-7)


@many
@given(seed=seeds)
def test_one_wrong_active_set_is_found_out(seed):
    """With any one bound or row on the wrong side, one system does not pass for the solution."""
    p, z, y, _ = strict_qp(seed)
    right = Active.guess(p, p.c, z, y)
    for mask, limit, fixed in (
        ("lower", p.lower, p.lower == p.upper),
        ("upper", p.upper, p.lower == p.upper),
        ("row_lower", p.row_lower, p.equality),
        ("row_upper", p.row_upper, p.equality),
    ):
        for i in np.flatnonzero(np.isfinite(limit) & ~fixed):
            wrong = right.copy()
            getattr(wrong, mask)[i] ^= True
            other = {"lower": "upper", "upper": "lower", "row_lower": "row_upper", "row_upper": "row_lower"}[mask]
            if getattr(wrong, other)[i]:
                continue
            assert Pivoting(p).solve(p.c, wrong, max_iter=1) is None, (mask, i)
            found = Pivoting(p).solve(p.c, wrong, max_iter=40)
            if found is not None:
                np.testing.assert_allclose(found[0], z, atol=1e-7)


def test_wrong_sets_are_exchanged_until_they_are_right():
    """From no active set at all, over a hundred problems: a few do not get there, none goes wrong."""
    reached = 0
    for seed in range(100):
        p, z, y, _ = strict_qp(seed)
        empty = Active.guess(p, p.c, z, np.zeros(p.m))
        for mask in (empty.lower, empty.upper, empty.row_lower, empty.row_upper):
            mask[:] = False
        empty.lower |= p.lower == p.upper
        empty.row_lower |= p.equality
        found = Pivoting(p).solve(p.c, empty, max_iter=60)
        if found is not None:
            reached += 1
            np.testing.assert_allclose(found[0], z, atol=1e-7)
            np.testing.assert_allclose(found[1], y, atol=1e-6)
    assert reached >= 90


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_free_slack_pins_the_multiplier_of_its_row(sign):
    """min ½x² + 2s with x ± s ≥ 3 or ≤ −3: x = ±2, s = 1, multiplier ±2."""
    rows = [(3, INF)] if sign > 0 else [(-INF, -3)]
    p = problem([0.0, 2.0], [[1.0, sign]], rows, [(-INF, INF), (0, INF)], np.diag([1.0, 0.0]))
    z, y = np.array([2.0 * sign, 1.0]), np.array([2.0 * sign])
    found = Pivoting(p).solve(p.c, Active.guess(p, p.c, z, y), max_iter=1)
    np.testing.assert_allclose(found[0], z)
    np.testing.assert_allclose(found[1], y)


def test_small_costs_beside_large_ones_are_not_rounding():
    """min ½(w − 3)² + 1e9 s with w + s ≥ 1: from w = 1, where the row has multiplier −2, to w = 3."""
    p = problem([-3.0, 1e9], [[1.0, 1.0]], [(1, INF)], [(-INF, INF), (0, INF)], np.diag([1.0, 0.0]))
    start = Active(np.array([False, True]), np.zeros(2, bool), np.ones(1, bool), np.zeros(1, bool))
    assert Pivoting(p).solve(p.c, start, max_iter=1) is None
    np.testing.assert_allclose(Pivoting(p).solve(p.c, start)[0], [3.0, 0.0])


@pytest.mark.parametrize("unit", [1e-7, 1.0, 1e7])
@given(seed=seeds)
@settings(max_examples=15)
def test_units_do_not_matter(seed, unit):
    """Every second variable, and every second row, in other units."""
    p, z, y, _ = strict_qp(seed)
    columns, rows = np.where(np.arange(p.n) % 2, unit, 1.0), np.where(np.arange(p.m) % 2, 1 / unit, 1.0)
    scaled = ConvexProblem(
        p.c * columns,
        sp.csr_array(rows[:, None] * p.A.toarray() * columns),
        p.row_lower * rows,
        p.row_upper * rows,
        p.lower / columns,
        p.upper / columns,
        sp.csr_array(columns[:, None] * p.Q.toarray() * columns),
    )
    right = Active.guess(p, p.c, z, y)
    found = Pivoting(scaled).solve(scaled.c, right, max_iter=1)
    assert found is not None
    np.testing.assert_allclose(found[0] * columns, z, atol=1e-6)
    for i in np.flatnonzero(right.row_lower & ~p.equality):
        wrong = right.copy()
        wrong.row_lower[i] = False
        assert Pivoting(scaled).solve(scaled.c, wrong, max_iter=1) is None


# The rough start -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_rescue(monkeypatch):
    """PIQP at its full tolerance is not there: only the rough start is."""
    plain = active_set.PIQP

    class Rough(plain):
        def open(self, problem, options):
            assert options["eps_abs"] == 1e-6, "pivoting did not get there"
            return super().open(problem, options)

    monkeypatch.setattr(active_set, "PIQP", Rough)


@given(seed=seeds)
@settings(max_examples=20)
def test_the_rough_start_is_near_the_solution_whichever_form_it_is_from(seed):
    """Point and multipliers, by the dual for many samples of few features, by the primal otherwise."""
    for p, origin in (
        (svm_qp(seed, lam=0.1), active_set.DUAL),
        (svm_qp(seed, 8, 20, lam=0.1), active_set.PRIMAL),
        (svm_qp(seed, model=l2_l0_svm, mu=20.0, nu=0.1), active_set.DUAL),
    ):
        rough, source = ActiveSetSession(p, {})._approximate(p.c, _Clock(None))
        assert source == origin
        assert verify(p, p.c, rough).holds(1e-3), verify(p, p.c, rough)


@pytest.mark.usefixtures("no_rescue")
def test_who_answers():
    p = svm_qp(3, lam=0.1)
    session = ActiveSetSession(p, {})
    first = session.solve(p.c, None, None)
    assert first.message == f"pivoting from {active_set.DUAL}"
    assert_kkt(p, p.c, first)
    again = session.solve(1.01 * p.c, None, None)
    assert again.message == f"pivoting from {active_set.WARM}"
    assert_kkt(p, 1.01 * p.c, again)
    wide = svm_qp(3, 8, 20, lam=0.1)
    assert ActiveSetSession(wide, {}).solve(wide.c, None, None).message == f"pivoting from {active_set.PRIMAL}"


@pytest.mark.usefixtures("no_rescue")
@many
@given(seed=seeds)
def test_strict_problems_are_solved_without_rescue(seed):
    p, z, y, _ = strict_qp(seed)
    answer = ActiveSetSession(p, {}).solve(p.c, None, None)
    assert answer.message == f"pivoting from {active_set.PRIMAL}"
    np.testing.assert_allclose(answer.z, z, atol=1e-7)
    np.testing.assert_allclose(answer.row_duals, y, atol=1e-6)


# The working set -----------------------------------------------------------------------------------------------------------


def wide_problem(seed, kind, curved, m=12, n=80):
    """min ½δ‖z‖² + c'z over z ≥ 0 with a slack in each row, rows ≥, ≤ or =: few columns matter."""
    rng = np.random.default_rng(seed)
    A = np.hstack([rng.standard_normal((m, n)), kind * np.eye(m) if kind else np.hstack([np.eye(m), -np.eye(m)])])
    r = kind * rng.uniform(0.5, 2.0, m) if kind else rng.standard_normal(m)
    limits = (np.where(kind >= 0, r, -INF), np.where(kind <= 0, r, INF))
    c = np.append(rng.uniform(0.5, 2.0, n), np.full(A.shape[1] - n, 10.0))
    Q = sp.csc_array(sp.diags_array(np.append(np.full(n, 0.5), np.zeros(A.shape[1] - n)))) if curved else None
    return ConvexProblem(c, sp.csr_array(A), *limits, np.zeros(A.shape[1]), np.full(A.shape[1], INF), Q)


@pytest.mark.parametrize("curved", [False, True], ids=["LP", "QP"])
@pytest.mark.parametrize("kind", [1, -1, 0], ids=["rows ≥", "rows ≤", "equations"])
@given(seed=seeds)
@settings(max_examples=8)
def test_a_working_set_finds_the_optimum_over_all_columns(kind, curved, seed):
    from dcprog.solvers.reductions import columns

    p = wide_problem(seed, kind, curved)
    batch, columns.BATCH = columns.BATCH, 5  # as if there were thousands of columns
    try:
        session = ColumnsSession(p, {})
        answer = session.solve(p.c, None, None)
    finally:
        columns.BATCH = batch
    assert verify(p, p.c, answer).holds(1e-7)
    assert session._outside.sum() > 10, "columns that do not help stay outside"
    assert not (session._outside & (answer.z != 0)).any()


def test_the_price_of_a_column_is_compared_with_its_own_terms():
    """Beside a cost of 1e10 a reduced cost of −1 calls its column in."""
    A = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 2.0, 0.0, 1.0]])
    p = problem([3.0, 1.0, 2.0, 1e10], A, [(1, INF), (0, INF)], [(0, INF)] * 4)
    session = ColumnsSession(p, {})
    session._candidates[:], session._outside[:] = [True, True, False, False], [True, True, False, False]
    session._columns = np.array([2, 3])
    np.testing.assert_array_equal(session._priced(p.c, np.array([0, 0, 1.0, 0]), np.array([2.0, 0.0]), 10), [1])


def test_columns_that_price_out_at_rounding_stay_outside():
    p = problem([0.1, 0.1 + 1e-17, 1.0], [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]], [(1, INF), (0, INF)], [(0, INF)] * 3)
    session = ColumnsSession(p, {})
    assert session._priced(p.c - 1e-13, np.zeros(3), np.array([0.1, 0.0]), 10).size == 0


def test_mirror_columns_are_priced_with_opposite_signs():
    A = np.array([[1.0, -1.0, 1.0], [2.0, -2.0, 0.0]])
    p = problem([1.0, 1.0, 1.0], A, [(-5, INF), (-5, INF)], [(0, INF)] * 3)
    session = ColumnsSession(replace(p), {})
    session._outside[:] = [True, True, False]
    for y, entering in (([2.0, 0.0], [0]), ([-2.0, 0.0], [1]), ([0.0, 0.4], [])):
        np.testing.assert_array_equal(session._priced(p.c, np.zeros(3), np.array(y), 10), entering)


def test_the_columns_that_help_most_enter_first():
    p = problem([1.0, 1.0, 1.0, 1.0], [[2.0, 5.0, 3.0, 1.0], [1.0, 1.0, 1.0, 0.0]], [(1, INF)] * 2, [(0, INF)] * 4)
    session = ColumnsSession(p, {})
    session._outside[:] = [True, True, True, False]
    entering = session._priced(p.c, np.zeros(4), np.array([1.0, 0.0]), 2)
    np.testing.assert_array_equal(np.sort(entering), [1, 2])


def test_a_singular_system_is_no_solution():
    """Flat along (1, 1) and falling there: solving the system of no active set gives 1e16, which is no optimum."""
    p = problem([-1.0, -1.0, 0.0], Q=[[1 / 3, -1 / 3, 0.1], [-1 / 3, 1 / 3, -0.1], [0.1, -0.1, 0.03]])
    nothing = Active(*(np.zeros(3, bool) for _ in range(2)), *(np.zeros(0, bool) for _ in range(2)))
    assert Pivoting(p).solve(p.c, nothing) is None

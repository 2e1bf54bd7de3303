"""Problems of every degenerate shape: no reduction crashes, and each says what SciPy says, with its value.

Sessions are asked directly: no other solver comes to the rescue.
"""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from degenerate_problems import INF, degenerate_problem, l1_problem, truth
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from known_qps import assert_kkt, problem

import dcprog
from dcprog import DCProgram
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import verify
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.solvers import registry

seeds = st.integers(0, 2**32 - 1)
GENERAL = {"highs": False, "highs-dual": True, "columns": True}
"""Solvers of LPs, and whether they take no variables but free ones and those ≥ 0."""


def assert_true(solver, p, costs, exact=True):
    """Every answer of one session is what the problem is; where ``exact`` is false it may also say that it failed."""
    session = solver.open(p, {})
    for i, c in enumerate(costs):
        claim, value = truth(p, c)
        answer = session.solve(c, None, 20.0)
        if not exact and answer.claim is Claim.FAILED:
            continue
        assert answer.claim is claim, answer.message
        if claim is Claim.OPTIMAL:
            assert verify(p, c, answer).holds()
            assert_kkt(p, c, answer)
            assert value is None or p.value(answer.z, c) == pytest.approx(value, rel=1e-6, abs=1e-6)
        if i == 1:
            session.bookmark()
        if i == 2:
            session.rewind()


def costs_of(p, seed):
    rng = np.random.default_rng(seed)
    return [p.c, rng.integers(0, 5, p.n).astype(float), p.c * rng.uniform(0.5, 2.0, p.n), rng.integers(-1, 5, p.n) * 1.0]


@pytest.mark.parametrize("name", GENERAL)
@given(seed=seeds)
@settings(max_examples=30)
def test_linear(name, seed):
    p = degenerate_problem(seed, nonnegative=GENERAL[name])
    assume(registry.get(name).missing(p) is None)
    assert_true(registry.get(name), p, costs_of(p, seed))


@pytest.mark.parametrize("name", ["l1-newton", "highs", "highs-dual", "columns"])
@given(seed=seeds)
@example(seed=1)
@example(seed=43)
@settings(max_examples=15)
def test_l1_programs(name, seed):
    """Newton's method may fail, and then says so."""
    p = l1_problem(seed)
    assume(registry.get(name).missing(p) is None)
    assert_true(registry.get(name), p, costs_of(p, seed), exact=name != "l1-newton")


@pytest.mark.parametrize("name", ["active-set", "columns"])
@given(seed=seeds, nonnegative=st.booleans())
@settings(max_examples=15)
def test_quadratic(name, seed, nonnegative):
    """Where PIQP, asked at the end, does not converge, these say that they failed: no more."""
    p = degenerate_problem(seed, curved=True, nonnegative=nonnegative or name == "columns")
    assume(registry.get(name).missing(p) is None)
    assert_true(registry.get(name), p, costs_of(p, seed), exact=False)


@given(seed=seeds)
@settings(max_examples=15)
def test_squares(seed):
    """Rows zⱼ² ≤ zₖ on top of any rows and bounds: the weights of a QP."""
    p = degenerate_problem(seed)
    rng = np.random.default_rng(seed)
    inner = rng.choice(p.n, rng.integers(1, p.n + 1), replace=False)
    k, weights = len(inner), rng.integers(0, 3, len(inner)) * 1.0
    rows = tuple(
        SmoothSum([QuadraticTerm(_square(p.n + k, j)), LinearTerm([p.n + i], [-1.0])], p.n + k) for i, j in enumerate(inner)
    )
    lifted = type(p)(
        np.append(p.c, weights),
        sp.hstack([p.A, sp.csr_array((p.m, k))], format="csr"),
        p.row_lower,
        p.row_upper,
        np.append(p.lower, np.zeros(k)),
        np.append(p.upper, np.full(k, INF)),
        constraints=rows,
    )
    flat = type(p)(p.c, p.A, p.row_lower, p.row_upper, p.lower, p.upper, _diagonal(p.n, inner, 2 * weights))
    claim = truth(flat)[0]
    answer = registry.get("squares").open(lifted, {}).solve(lifted.c, None, 20.0)
    assert answer.claim in (claim, Claim.FAILED)
    if answer.claim is Claim.OPTIMAL:
        assert_kkt(lifted, lifted.c, answer)
    negative = registry.get("squares").open(lifted, {}).solve(lifted.c - np.eye(p.n + k)[-1] * 5.0, None, 20.0)
    assert negative.claim is (Claim.INFEASIBLE if claim is Claim.INFEASIBLE else Claim.UNBOUNDED)


def _square(n, j):
    return _diagonal(n, [j], [2.0])


def _diagonal(n, where, values):
    return sp.csc_array((values, (where, where)), shape=(n, n))


# What users met ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n", "curved"), [(50, 100, False), (60, 40, False), (50, 250, True)])
def test_equations_over_nonnegative_variables_without_a_slack(m, n, curved):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((m, n))
    y = A @ (np.abs(rng.standard_normal(n)) * (rng.random(n) < 0.3))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(n), bounds=(0, None), initialize=0.1)
    model.rows = MatrixConstraint(A, model.x, y, y)
    x = list(model.x.values())
    g = sum(v**2 for v in x) if curved else 0.0
    program = DCProgram(model, g=g, h=-sum(pyo.sqrt(v + 0.01) for v in x))
    results = [dcprog.solve(program, solver=name) for name in ("auto", "columns", "piqp")]
    assert [r.solver for r in results] == ["columns", "columns", "piqp"]
    assert np.ptp([r.objective for r in results]) <= 1e-6 * abs(results[0].objective)


@pytest.mark.parametrize("Q", [None, [[2.0]], [[0.0]]])
def test_columns_over_rows_of_one_variable(Q):
    p = problem([1.0], [[1.0], [1.0]], [(1, INF), (2, INF)], [(0, INF)], Q)
    assert registry.get("columns").open(p, {}).solve(p.c, None, None).z == pytest.approx([2.0])


def test_rows_without_a_limit_beside_one_with_two_do_not_crash_hipo():
    """HiPO overwrites memory there, and the process ends."""
    A = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    p = problem([1.0, -3.0, 1.0], A, [(-INF, INF), (0.0, 1.0), (-1e30, 1e30)], [(-2, 3)] * 3, np.eye(3))
    answer = registry.get("highs").open(p, {}).solve(p.c, None, 10.0)
    assert answer.z == pytest.approx([-1.0, 2.5, -1.5], abs=1e-6)
    assert verify(p, p.c, answer).holds()


def test_mirror_columns_with_curvature_may_both_be_positive():
    """min p² + q² − 2p − 2q: both are 1, though p − q is what the rows see."""
    A = [[1.0, -1.0], [2.0, -2.0], [1.0, -1.0]]
    p = problem([-2.0, -2.0], A, [(-5, INF), (-5, INF), (-INF, 9)], [(0, INF)] * 2, 2 * np.eye(2))
    for name in ("active-set", "columns"):
        assert registry.get(name).open(p, {}).solve(p.c, None, None).z == pytest.approx([1.0, 1.0])


def test_two_free_mirror_columns_are_two_equations_of_the_dual():
    """Cost 1 for x and 0 for −x, both free: x − x' falls without end."""
    p = problem([1.0, 0.0, 1.0], [[1.0, -1.0, 1.0]], [(1, INF)], [(-INF, INF), (-INF, INF), (0, INF)])
    assert registry.get("highs-dual").open(p, {}).solve(p.c, None, None).claim is Claim.UNBOUNDED


def test_a_slack_of_a_row_without_limit_stays_where_it_is_cheapest():
    p = problem([1.0, 1.0], [[1.0, -1.0], [1.0, 0.0]], [(-INF, INF), (2, INF)], [(0, INF)] * 2)
    assert registry.get("highs-dual").open(p, {}).solve(p.c, None, None).z == pytest.approx([2.0, 0.0])


def test_a_stored_zero_is_no_slack():
    A = sp.csc_array((np.array([0.0, 1.0]), (np.array([0, 0]), np.array([0, 1]))), shape=(1, 2))
    p = problem([1.0, 1.0], np.zeros((1, 2)), [(1, INF)], [(0, INF)] * 2)
    p = type(p)(p.c, A, p.row_lower, p.row_upper, p.lower, p.upper)
    assert registry.get("highs-dual").open(p, {}).solve(p.c, None, None).z == pytest.approx([0.0, 1.0])

"""Solver ``l1-loss``: its minimisers are those of scikit-learn and of other solvers, whatever the columns and units are."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, LogisticRegression

import dcprog
from dcprog import DCProgram
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import verify
from dcprog.convex.change import Change
from dcprog.errors import CapabilityError
from dcprog.functions import MCP, SCAD, Huber, L1Norm, Logistic, OfAffine, SquaredHinge, SquaredNorm
from dcprog.solvers.dispatch import Dispatcher
from dcprog.solvers.reductions.l1_loss import L1Loss
from dcprog.solvers.reductions.l1_smooth import AffineLoss, QuadraticForm
from dcprog.solvers.reductions.l1_working_set import WorkingSet
from dcprog.solvers.reductions.sign_search import Endless, Factor, Kinks, NotEnded, sign_search

SEED = st.integers(0, 10_000)
LOSSES = {"squared": SquaredNorm(), "huber": Huber(0.5), "logistic": Logistic(), "squared_hinge": SquaredHinge()}


def forms(seed, loss, n=30, d=50):
    """A and b of f(Ax + b), residuals or margins."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, :4] @ rng.choice([-2.0, 2.0], 4) + 0.3 * rng.standard_normal(n)
    if loss in ("squared", "huber"):
        return X, -y
    return -np.sign(y)[:, None] * X, np.ones(n) if loss == "squared_hinge" else np.zeros(n)


def largest_weight(f, A, b):
    """The least weight of ‖x‖₁ at which 0 is the minimiser."""
    return np.abs(A.T @ f.gradient(b)).max()


def plain_kinks(weights, c=0.0, lower=-np.inf, upper=np.inf):
    whole = np.ones_like(weights)
    return Kinks(c - weights, c + weights, lower * whole, upper * whole)


def minimised(f, A, b, kinks, d=0.0, x=None):
    n = A.shape[1]
    work = WorkingSet(AffineLoss(OfAffine(f, A, b), 1.0, np.full(n, d)))
    return work.minimise(kinks, np.zeros(n) if x is None else x), work


def program(f, A, b, weights, c=None, lower=None, upper=None, weight=1.0, rho=0.0):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(A.shape[1]), initialize=0.0, bounds=(lower, upper))
    g = weight * f(A, m.x, b) + L1Norm(weights)(m.x)
    if rho:
        g += 0.5 * rho * SquaredNorm()(m.x)
    h = 0 if c is None else -sum(float(v) * m.x[j] for j, v in enumerate(c))
    return DCProgram(m, g=g, h=h)


# The core


@given(seed=SEED, part=st.sampled_from([0.5, 0.1, 0.01]))
def test_the_lasso_of_scikit_learn(seed, part):
    A, b = forms(seed, "squared")
    lam = part * largest_weight(SquaredNorm(), A, b) / 2 / len(b)
    x, _ = minimised(SquaredNorm(), A, b, plain_kinks(np.full(A.shape[1], 2 * len(b) * lam)))
    theirs = Lasso(alpha=lam, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(A, -b).coef_
    np.testing.assert_allclose(x, theirs, atol=1e-6)
    assert (x[theirs == 0] == 0).all()  # exactly


@given(seed=SEED, part=st.sampled_from([0.5, 0.1]))
def test_the_logistic_regression_of_scikit_learn(seed, part):
    A, _ = forms(seed, "logistic")
    y = np.where(np.arange(len(A)) % 2, 1.0, -1.0)
    lam = part * np.abs(A.T @ y).max() / 2
    x, _ = minimised(Logistic(), -y[:, None] * A, np.zeros(len(A)), plain_kinks(np.full(A.shape[1], lam)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        theirs = LogisticRegression(
            C=1 / lam, penalty="l1", solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=100_000
        ).fit(A, y)
    np.testing.assert_allclose(x, theirs.coef_[0], atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=SEED, part=st.sampled_from([0.5, 0.1, 0.02]), bounded=st.booleans(), sparse=st.booleans())
def test_the_conditions_hold_with_bounds_weights_of_0_and_other_costs(loss, seed, part, bounded, sparse):
    f, rng = LOSSES[loss], np.random.default_rng(seed)
    A, b = forms(seed, loss)
    lam = part * largest_weight(f, A, b)
    weights = lam * rng.uniform(0.5, 1.5, A.shape[1])
    weights[:2] = 0.0
    lower, upper = (rng.uniform(-0.3, 0.05, len(weights)), rng.uniform(0.05, 0.3, len(weights))) if bounded else (-9e9, 9e9)
    kinks = plain_kinks(weights, 0.3 * lam * rng.uniform(-1, 1, len(weights)) * (weights > 0), lower, upper)
    x, _ = minimised(f, sp.csr_array(A) if sparse else A, b, kinks, d=0.01)
    gradient = A.T @ f.gradient(A @ x + b) + 0.01 * x
    assert ((x >= kinks.lower) & (x <= kinks.upper)).all()
    assert np.abs(kinks.pull(x, gradient)).max() <= 1e-8 * lam
    for j in rng.choice(len(x), 10):  # by the definition: no step is better
        for step in (1e-3, -1e-3):
            there = x.copy()
            there[j] = np.clip(x[j] + step, kinks.lower[j], kinks.upper[j])
            values = [f.value(A @ z + b) + 0.005 * z @ z + kinks.value(z) for z in (x, there)]
            assert values[0] <= values[1] + 1e-12 * abs(values[1])


@pytest.mark.parametrize("loss", LOSSES)
def test_columns_that_are_zero_or_repeated_or_sums_of_others(loss):
    f = LOSSES[loss]
    A, b = forms(3, loss, n=20, d=12)
    A = np.hstack([A, A[:, :6], np.zeros((20, 2)), A[:, :1] + A[:, 1:2], -A[:, 2:3]])
    lam = 0.05 * largest_weight(f, A, b)
    kinks = plain_kinks(np.full(A.shape[1], lam))
    x, _ = minimised(f, A, b, kinks)
    assert np.abs(kinks.pull(x, A.T @ f.gradient(A @ x + b))).max() <= 1e-8 * lam
    alone, _ = minimised(f, A[:, :12], b, plain_kinks(np.full(12, lam)))
    value = f.value(A @ x + b) + lam * np.abs(x).sum()
    assert value <= f.value(A[:, :12] @ alone + b) + lam * np.abs(alone).sum() + 1e-9


@given(seed=SEED)
def test_more_columns_than_rows_and_next_to_no_weight(seed):
    A, b = forms(seed, "squared", n=15, d=60)
    lam = 1e-4 * largest_weight(SquaredNorm(), A, b)
    kinks = plain_kinks(np.full(60, lam))
    x, _ = minimised(SquaredNorm(), A, b, kinks)
    assert np.abs(kinks.pull(x, A.T @ (2 * (A @ x + b)))).max() <= 1e-7 * lam
    assert np.count_nonzero(x) <= 15


@pytest.mark.parametrize("loss", LOSSES)
@given(seed=SEED)
def test_other_units_give_the_same_signs_and_values(loss, seed):
    f, rng = LOSSES[loss], np.random.default_rng(seed)
    A, b = forms(seed, loss)
    weights = np.full(A.shape[1], 0.1 * largest_weight(f, A, b))
    units = 10.0 ** rng.integers(-8, 8, A.shape[1])
    x, _ = minimised(f, A, b, plain_kinks(weights))
    scaled, _ = minimised(f, A * units, b, plain_kinks(weights * units))
    np.testing.assert_allclose(scaled * units, x, atol=1e-6 * np.abs(x).max())


def test_the_next_kinks_begin_where_the_last_ended():
    A, b = forms(5, "squared", n=60, d=300)
    lam = 0.01 * largest_weight(SquaredNorm(), A, b)
    kinks = plain_kinks(np.full(300, lam))
    x, work = minimised(SquaredNorm(), A, b, kinks)
    cold, size = work.steps, len(work.W)
    assert cold >= 6
    again = work.minimise(kinks._replace(left=kinks.left - 1e-3 * lam, right=kinks.right - 1e-3 * lam), x)
    assert work.steps - cold <= cold / 3
    assert len(work.W) <= size + 2
    assert (again != x).any()


def test_kinks_without_a_function_go_where_they_fall_or_for_ever():
    A, b = np.array([[1.0, 0.0]]), np.array([-1.0])
    x, _ = minimised(SquaredNorm(), A, b, plain_kinks(np.ones(2), np.array([0.0, -3.0]), upper=7.0))
    np.testing.assert_allclose(x, [0.5, 7.0])
    with pytest.raises(Endless):
        minimised(SquaredNorm(), A, b, plain_kinks(np.ones(2), np.array([0.0, -3.0])))
    with pytest.raises(Endless):  # along (1, −1) nothing but the costs changes
        minimised(SquaredNorm(), np.ones((1, 2)), b, plain_kinks(np.zeros(2), np.array([1.0, -1.0])))


@given(seed=SEED)
def test_factors_of_blocks_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((12, 8))
    factor = Factor(B.T @ B)
    for _ in range(5):
        columns, right = rng.permutation(8)[: rng.integers(1, 9)], rng.standard_normal(8)
        expected = np.linalg.solve((B.T @ B)[np.ix_(columns, columns)], right[: len(columns)])
        np.testing.assert_allclose(factor.solve(columns, right[: len(columns)]), expected, rtol=1e-6)


@given(seed=SEED)
def test_a_quadratic_form_is_the_loss_that_it_comes_from(seed):
    A, b = forms(seed, "squared", n=20, d=10)
    kinks = plain_kinks(np.full(10, 0.1 * largest_weight(SquaredNorm(), A, b)))
    x, _ = minimised(SquaredNorm(), A, b, kinks)
    c = 2 * A.T @ b
    of_form = WorkingSet(QuadraticForm(2 * A.T @ A)).minimise(
        kinks._replace(left=kinks.left + c, right=kinks.right + c), np.zeros(10)
    )
    np.testing.assert_allclose(of_form, x, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_an_intercept_without_a_cost_ends_at_rounding(seed):
    """Its slopes are 0, and so is the tolerance that they give: a gradient of rounding errors is none."""
    A = np.random.default_rng(seed).standard_normal((20, 5))
    H, q = A.T @ A / 20, np.array([-0.6, -0.3, 0.0, 0.2, 0.0])
    kinks = Kinks(np.array([-0.02] * 4 + [0.0]), np.array([0.02] * 4 + [0.0]), np.full(5, -np.inf), np.full(5, np.inf))
    x, steps = sign_search(Factor(H), q, np.zeros(5), kinks, np.zeros(5))
    assert steps < 10
    assert np.abs(kinks.pull(x, q + H @ x)).max() < 1e-14


def test_a_search_that_may_not_go_on_says_so():
    def over():
        raise NotEnded("the time is over")

    one = np.ones(2)
    with pytest.raises(NotEnded, match="over"):
        sign_search(Factor(np.eye(2)), -3 * one, 0 * one, plain_kinks(one), 1e-9 * one, over)


# The solver


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(30, 6), (12, 20)], ids=["tall", "wide"])
@given(seed=SEED)
@settings(max_examples=3)
def test_it_agrees_with_ipopt_and_its_answer_is_verified(loss, shape, seed):
    f, rng = LOSSES[loss], np.random.default_rng(seed)
    A, b = forms(seed, loss, *shape)
    lam = 0.1 * largest_weight(f, A, b)
    p = program(f, A, b, lam * rng.uniform(0.5, 1.5, shape[1]), 0.2 * lam * rng.uniform(-1, 1, shape[1]), -1.0, 1.5)
    problem = p.compiled.subproblem
    c = p.compiled.cost(p.compiled.h.gradient(np.zeros(shape[1])))
    answer = L1Loss().open(problem, {}).solve(c, None, None)
    assert answer.claim is Claim.OPTIMAL
    assert verify(problem, c, answer).holds(1e-9)
    best = Dispatcher(problem, "ipopt", fallback=False).solve(c).z
    assert problem.value(answer.z, c) <= problem.value(best, c) + 1e-9 * abs(problem.value(best, c)) + 1e-9
    assert problem.value(answer.z, c) == pytest.approx(problem.value(best, c), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("solver", ["piqp", "clarabel"])
def test_a_tall_least_squares_problem_is_a_qp_on_which_all_agree(solver):
    A, b = forms(1, "squared", 40, 8)
    p = program(SquaredNorm(), A, b, np.full(8, 0.1 * largest_weight(SquaredNorm(), A, b)))
    ours, theirs = (dcprog.solve(p, solver=name, fallback=False) for name in ("l1-loss", solver))
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-7)
    assert dcprog.solve(p).solver == "l1-loss"


@pytest.mark.parametrize("penalty", [MCP(1.0, gamma=3.0), SCAD(1.0)], ids=repr)
@given(seed=SEED)
@settings(max_examples=2)
def test_a_whole_run_is_that_with_ipopt(penalty, seed):
    A, b = forms(seed, "squared", 12, 26)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(26), initialize=0.0)
    norm, remainder = penalty.pair(m.x)
    weight = 0.2 * largest_weight(SquaredNorm(), A, b)
    p = DCProgram(m, g=SquaredNorm()(A, m.x, b) + weight * norm, h=weight * remainder)
    ours = dcprog.solve(p, solver="l1-loss", fallback=False)
    theirs = dcprog.solve(p, solver="ipopt", fallback=False)
    assert ours.success
    assert ours.rebuilds == 0
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-5)


def test_an_intercept_kinks_written_by_hand_and_two_norms_on_one_variable():
    A, b = forms(2, "huber", 20, 5)
    m = pyo.ConcreteModel()
    m.x, m.b = pyo.Var(range(5), initialize=0.0), pyo.Var(initialize=0.0)
    m.t = pyo.Var(initialize=0.0)
    m.above, m.below = pyo.Constraint(expr=m.t >= 2 * m.x[0]), pyo.Constraint(expr=-3 * m.x[0] - m.t <= 0)
    loss = Huber(0.5)(np.hstack([A, np.ones((20, 1))]), [m.x, m.b], b)
    p = DCProgram(m, g=loss + 0.5 * L1Norm()(m.x) + m.t + 0.1 * L1Norm()(m.x[0], m.x[3]), h=0)
    with pytest.raises(CapabilityError, match="squares of single variables"):
        dcprog.solve(DCProgram(m, g=loss + m.t + (m.t + m.b) ** 2, h=0), solver="l1-loss")
    ours, theirs = dcprog.solve(p, solver="l1-loss", fallback=False), dcprog.solve(p, solver="ipopt", fallback=False)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-6)
    assert ours["b"] == pytest.approx(theirs["b"], abs=1e-3)


@given(seed=SEED)
def test_bounds_and_a_proximal_diagonal_move_in_place(seed):
    rng = np.random.default_rng(seed)
    A, b = forms(seed, "squared", 12, 20)
    p = program(SquaredNorm(), A, b, np.full(20, 0.05 * largest_weight(SquaredNorm(), A, b)))
    problem = p.compiled.subproblem.with_diagonal()
    n, session = problem.n, L1Loss().open(problem, {})
    session.solve(problem.c, None, None)
    for _ in range(3):
        diagonal = np.where(np.arange(n) < 20, rng.uniform(0, 5, n), 0.0)
        upper = np.where(np.arange(n) < 20, rng.uniform(0.1, 1.0, n), np.inf)
        changed = Change(diagonal=diagonal, upper=upper).apply(problem)
        assert session.change(changed, frozenset({"Q", "upper"})) is None
        moved, anew = session.solve(problem.c, None, None), L1Loss().open(changed, {}).solve(problem.c, None, None)
        assert verify(changed, problem.c, moved).holds(1e-9)
        np.testing.assert_allclose(moved.z, anew.z, atol=1e-8)


def test_what_it_does_not_take_it_says():
    A, b = forms(0, "squared", 6, 10)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(10), initialize=0.0)
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] >= 1)
    with_row = DCProgram(m, g=SquaredNorm()(A, m.x, b) + L1Norm()(m.x), h=0)
    with pytest.raises(CapabilityError, match="rows"):
        dcprog.solve(with_row, solver="l1-loss")
    assert dcprog.solve(with_row).success
    with pytest.raises(CapabilityError, match="no options"):
        dcprog.solve(program(SquaredNorm(), A, b, np.ones(10)), solver="l1-loss", solver_options={"tol": 1})


def test_claims_without_an_end_and_limits_of_time():
    A, b = forms(0, "squared", 6, 10)
    problem = program(SquaredNorm(), A, b, np.ones(10)).compiled.subproblem
    c = problem.c.copy()
    c[:10] = 5.0  # more than the weight, along what the rows leave free
    assert L1Loss().open(problem, {}).solve(c, None, None).claim is Claim.UNBOUNDED
    c[10:] = -1.0
    assert L1Loss().open(problem, {}).solve(c, None, None).claim is Claim.UNBOUNDED
    began = time.perf_counter()
    assert L1Loss().open(problem, {}).solve(problem.c, None, 0.0).claim is Claim.TIME_LIMIT
    assert time.perf_counter() - began < 1.0


@given(seed=SEED)
@settings(max_examples=5)
def test_residuals_as_rows_give_the_same_wide_least_squares(seed):
    A, b = forms(seed, "squared", 8, 20)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(20), initialize=0.0, bounds=(-1, 2))
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] >= 1)
    p = DCProgram(m, g=0.7 * SquaredNorm()(A, m.x, b) + 0.3 * SquaredNorm()(m.x) + L1Norm()(m.x) + 2 * m.x[3], h=0)
    rows, ipopt = (dcprog.solve(p, solver=name, fallback=False) for name in ("residual-rows", "ipopt"))
    assert rows.objective == pytest.approx(ipopt.objective, rel=1e-6)
    assert dcprog.solve(p).solver == "residual-rows"
    p = program(SquaredNorm(), A, b, np.full(20, 0.1 * largest_weight(SquaredNorm(), A, b)))
    rows, ours = (dcprog.solve(p, solver=name, fallback=False) for name in ("residual-rows", "l1-loss"))
    assert rows.objective == pytest.approx(ours.objective, rel=1e-7)

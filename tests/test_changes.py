"""Numbers of an open problem move in place: the answers are those of a problem opened anew, and nothing is opened twice."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from dcprog.convex.change import Change
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import DataError
from dcprog.solvers import registry
from dcprog.solvers.dispatch import Dispatcher

IN_PLACE = {  # what each solver has to change without opening its problem anew
    "highs": ("lp", "qp"),
    "piqp": ("lp", "qp"),
    "clarabel": ("lp", "qp"),
    "osqp": ("qp",),
    "active-set": ("qp",),
    "scipy": ("box",),
}
CASES = [(name, kind) for name, kinds in IN_PLACE.items() for kind in kinds]


def problem(kind, rng, n=6, m=4):
    """A bounded feasible problem: 0 ≤ z ≤ 3, rows around those of a point inside."""
    A = sp.csc_array(rng.normal(size=(0 if kind == "box" else m, n)))
    inside = A @ rng.uniform(1, 2, n)
    lower, upper = inside - rng.uniform(0.1, 1, A.shape[0]), inside + rng.uniform(0.1, 1, A.shape[0])
    lower[::2] = -np.inf
    B = rng.normal(size=(n, n))
    Q = None if kind == "lp" else sp.csc_array(B @ B.T / n + 0.1 * np.eye(n))
    made = ConvexProblem(rng.normal(size=n), A, lower, upper, np.zeros(n), np.full(n, 3.0), Q)
    return made if kind == "lp" else made.with_diagonal()


def change_of(p, rng):
    """Other numbers everywhere, such that the point inside stays inside."""
    A = p.A.copy()
    A.data = A.data * rng.uniform(0.9, 1.1, A.nnz)
    inside = A @ rng.uniform(1, 2, p.n)
    return Change(
        diagonal=None if p.Q is None else rng.uniform(0, 2, p.n),
        A=A,
        row_lower=np.where(np.isinf(p.row_lower), -np.inf, inside - 0.3),
        row_upper=inside + 0.4,
        lower=rng.uniform(0, 0.5, p.n),
        upper=rng.uniform(2.5, 3, p.n),
    )


@pytest.mark.parametrize(("solver", "kind"), CASES)
def test_answers_are_those_of_a_problem_opened_anew(solver, kind):
    if not registry.get(solver).available():
        pytest.skip(f"{solver} is not installed")
    rng = np.random.default_rng(5)
    p = problem(kind, rng)
    dispatcher = Dispatcher(p, solver, fallback=False)
    for _ in range(4):
        change, c = change_of(p, rng), rng.normal(size=p.n)
        dispatcher.change(change)
        there = dispatcher.solve(c)
        now = change.apply(p)
        anew = Dispatcher(now, solver, fallback=False).solve(c)
        assert there.solver == solver
        np.testing.assert_allclose(now.value(there.z, c), now.value(anew.z, c), rtol=1e-7, atol=1e-7)
        if kind != "lp":
            np.testing.assert_allclose(there.z, anew.z, rtol=1e-4, atol=1e-4)
    assert (dispatcher.rebuilds, dispatcher.rebuild_reasons) == (0, [])
    dispatcher.change(Change())
    first = dispatcher.solve(p.c)
    np.testing.assert_allclose(p.value(first.z, p.c), p.value(Dispatcher(p, solver).solve(p.c).z, p.c), rtol=1e-7, atol=1e-7)


def nlp(rng, n=4):
    """‖z − a‖⁴-like objective over rows and a ball, whose linear part moves."""
    at = rng.uniform(-1, 1, n)
    ball = SmoothSum(
        [QuadraticTerm(sp.csc_array(2 * np.eye(n))), LinearTerm(np.arange(n), -2 * at, float(at @ at) - 4.0)], n
    )
    A = sp.csc_array(rng.normal(size=(2, n)))
    return ConvexProblem(
        rng.normal(size=n),
        A,
        A @ at - 0.5,
        A @ at + 0.5,
        np.full(n, -5.0),
        np.full(n, 5.0),
        sp.csc_array(np.eye(n)),
        constraints=(ball,),
    ).with_diagonal(), at


def test_ipopt_takes_curved_rows_and_limits_in_place_but_no_bounds():
    rng = np.random.default_rng(2)
    p, at = nlp(rng)
    dispatcher = Dispatcher(p, "ipopt", fallback=False)
    for k in range(3):
        moved = at + 0.1 * (k + 1)
        ball = SmoothSum(
            [p.constraints[0].terms[0], LinearTerm(np.arange(p.n), -2 * moved, float(moved @ moved) - 4.0)], p.n
        )
        change = Change(
            diagonal=rng.uniform(0, 1, p.n), row_lower=p.row_lower + 0.1, row_upper=p.row_upper + 0.1, constraints=(ball,)
        )
        dispatcher.change(change)
        c = rng.normal(size=p.n)
        there, anew = dispatcher.solve(c), Dispatcher(change.apply(p), "ipopt", fallback=False).solve(c)
        np.testing.assert_allclose(there.z, anew.z, atol=1e-5)
        np.testing.assert_allclose(there.row_duals, anew.row_duals, atol=1e-4)
    assert dispatcher.rebuilds == 0
    dispatcher.change(Change(upper=np.full(p.n, 0.2)))
    assert (dispatcher.solve(p.c).z <= 0.2 + 1e-9).all()
    assert dispatcher.rebuilds == 1
    assert "keeps the bounds" in dispatcher.rebuild_reasons[0]


def test_a_row_that_is_switched_off_limits_nothing():
    p = ConvexProblem(-np.ones(2), sp.csc_array([[1.0, 1.0]]), np.array([-np.inf]), np.ones(1), np.zeros(2), np.full(2, 3.0))
    dispatcher = Dispatcher(p, "highs", fallback=False)
    assert dispatcher.solve(p.c).z.sum() == pytest.approx(1)
    dispatcher.change(Change(row_upper=np.array([np.inf])))
    assert dispatcher.solve(p.c).z.sum() == pytest.approx(6)
    dispatcher.change(Change())
    assert dispatcher.solve(p.c).z.sum() == pytest.approx(1)
    assert dispatcher.rebuilds == 0


def test_a_solver_that_declines_is_opened_anew_and_says_so():
    rng = np.random.default_rng(0)
    p = replace(problem("lp", rng), lower=np.zeros(6), upper=np.full(6, np.inf), row_lower=np.full(4, -np.inf), c=np.ones(6))
    dispatcher = Dispatcher(p, "highs-dual", fallback=False)
    dispatcher.solve(p.c)
    dispatcher.change(Change(row_upper=p.row_upper + 1))
    dispatcher.solve(p.c)
    assert dispatcher.rebuilds == 1
    assert "linear cost alone" in dispatcher.rebuild_reasons[0]


def test_scaled_problems_change_in_their_units():
    rng = np.random.default_rng(7)
    p = problem("qp", rng)
    D = np.array([1e6, 1e-6, 1.0, 1e3, 1.0, 1.0])
    scaled = replace(
        p,
        c=p.c * D,
        A=sp.csc_array(p.A @ sp.diags_array(D)),
        Q=sp.csc_array(sp.diags_array(D) @ p.Q @ sp.diags_array(D)),
        lower=p.lower / D,
        upper=p.upper / D,
    ).with_diagonal()
    one, other = Dispatcher(p, "piqp", fallback=False), Dispatcher(scaled, "piqp", fallback=False)
    one.solve(p.c), other.solve(scaled.c)
    d = rng.uniform(0, 2, p.n)
    one.change(Change(diagonal=d))
    other.change(Change(diagonal=d * D**2))
    np.testing.assert_allclose(D * other.solve(scaled.c).z, one.solve(p.c).z, atol=1e-6)
    assert other.rebuilds == 0


@given(seed=st.integers(0, 1000))
def test_a_diagonal_is_added_to_q_and_leaves_the_pattern(seed):
    rng = np.random.default_rng(seed)
    Q = sp.random_array((5, 5), density=0.4, rng=rng)
    p = replace(problem("qp", rng, n=5), Q=sp.csc_array(Q + Q.T)).with_diagonal()
    d = rng.uniform(0, 2, 5)
    now = Change(diagonal=d).apply(p)
    np.testing.assert_allclose(now.Q.toarray(), p.Q.toarray() + np.diag(d))
    assert now.Q.nnz == p.Q.nnz
    assert p.with_diagonal() is p


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (Change(diagonal=-np.ones(6)), "≥ 0"),
        (Change(diagonal=np.ones(3)), "shape"),
        (Change(row_lower=np.full(4, np.nan)), "NaN"),
        (Change(A=sp.csc_array((4, 6))), "pattern"),
        (Change(constraints=(SmoothSum([], 6),)), "constraints"),
    ],
)
def test_changes_that_make_no_sense_are_refused(change, complaint):
    with pytest.raises(DataError, match=complaint):
        change.apply(problem("qp", np.random.default_rng(0)))

"""Numbers of an open problem move in place: the answers are those of a problem opened anew, and nothing is opened twice."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dcprog.convex.change import Change
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import DataError
from dcprog.solvers import registry
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved

MOVES = ("A", "limits", "activity", "equations", "bounds", "loose", "fixed", "diagonal")
EVERYTHING = frozenset(MOVES)
IN_PLACE = {  # what each solver has to change without opening its problem anew, by kind of problem
    ("highs", "lp"): EVERYTHING,
    ("highs", "qp"): EVERYTHING,
    ("piqp", "lp"): EVERYTHING - {"equations"},
    ("piqp", "qp"): EVERYTHING - {"equations"},
    ("clarabel", "lp"): EVERYTHING - {"equations", "fixed"},
    ("clarabel", "qp"): EVERYTHING - {"equations", "fixed"},
    ("osqp", "qp"): EVERYTHING,
    ("active-set", "qp"): EVERYTHING - {"equations"},
    ("ipopt", "qp"): EVERYTHING - {"equations", "fixed", "bounds", "loose"},
    ("scipy", "box"): EVERYTHING,
    ("scipy", "qp"): EVERYTHING,
    ("highs-dual", "tall"): EVERYTHING - {"bounds", "loose", "fixed", "diagonal"},
    ("columns", "tall"): EVERYTHING - {"bounds", "loose", "fixed", "diagonal"},
    ("columns", "wide"): EVERYTHING - {"bounds", "loose", "fixed", "equations"},
    ("l1-loss", "l1"): frozenset({"diagonal"}),
}


def problem(kind, rng, n=6, m=5):
    """A bounded feasible problem, with the points of [1, 2]ⁿ well inside of its bounds."""
    if kind in ("tall", "wide"):
        return mirrored(rng, kind)
    if kind == "l1":
        return lasso(rng)
    A = sp.csc_array(rng.normal(size=(0 if kind == "box" else m, n)))
    inside = A @ rng.uniform(1, 2, n)
    lower, upper = inside - rng.uniform(0.1, 1, A.shape[0]), inside + rng.uniform(0.1, 1, A.shape[0])
    lower[::2] = -np.inf
    B = rng.normal(size=(n, n))
    Q = None if kind == "lp" else sp.csc_array(B @ B.T / n + 0.1 * np.eye(n))
    made = ConvexProblem(rng.normal(size=n), A, lower, upper, np.zeros(n), np.full(n, 3.0), Q)
    return made if kind == "lp" else made.with_diagonal()


def mirrored(rng, kind, features=4, rows=5):
    """B(p − q) + s ≥ r with p, q, s ≥ 0, as of a classifier: mirror columns, and a slack for each row."""
    B = rng.normal(size=(rows, features))
    A = sp.csc_array(np.hstack([B, -B, np.eye(rows)]))
    n = A.shape[1]
    made = ConvexProblem(np.ones(n), A, np.ones(rows), np.full(rows, np.inf), np.zeros(n), np.full(n, np.inf))
    return made if kind == "tall" else made.with_diagonal()


def lasso(rng, n=4):
    """½y'Qy + Σ tⱼ, −t ≤ y ≤ t."""
    eye = np.eye(n)
    B = rng.normal(size=(n, n))
    A = sp.csc_array(np.block([[eye, -eye], [-eye, -eye]]))
    Q = sp.csc_array(sp.block_diag([B @ B.T + 0.1 * eye, sp.csc_array((n, n))]))
    free = np.full(2 * n, -np.inf)
    c = np.concatenate([np.zeros(n), np.ones(n)])
    return ConvexProblem(c, A, np.full(2 * n, -np.inf), np.zeros(2 * n), free, -free, Q).with_diagonal()


def change_of(p, moves, rng, kind):
    """Other numbers, such that some point of [1, 2]ⁿ (or p = q, s large) is feasible."""
    A, at = p.A, rng.uniform(1, 2, p.n)
    if "A" in moves:
        A = p.A.copy()
        A.data = A.data * rng.uniform(0.8, 1.2, A.nnz)
        if kind in ("tall", "wide"):
            A = mirrored(rng, kind).A
    inside = A @ at
    lower = np.where(np.isinf(p.row_lower), -np.inf, np.minimum(p.row_lower, inside - 0.1))
    upper = np.where(np.isinf(p.row_upper), np.inf, np.maximum(p.row_upper, inside + 0.1))
    if kind in ("tall", "wide"):
        lower = p.row_lower
    if "limits" in moves:
        lower = np.where(
            np.isinf(p.row_lower), -np.inf, (inside if kind not in ("tall", "wide") else 2) - rng.uniform(0.1, 1, p.m)
        )
        upper = np.where(np.isinf(p.row_upper), np.inf, inside + rng.uniform(0.1, 1, p.m))
    if "equations" in moves and kind not in ("tall", "wide"):
        tight = rng.random(p.m) < 0.5
        lower, upper = np.where(tight, inside, lower), np.where(tight, inside, upper)
    if "activity" in moves:
        off = rng.random(p.m) < 0.4
        lower, upper = np.where(off, -np.inf, lower), np.where(off, np.inf, upper)
    low, high = p.lower, p.upper
    if "bounds" in moves:
        low, high = at - rng.uniform(0.1, 0.9, p.n), at + rng.uniform(0.1, 0.9, p.n)
    if "loose" in moves and p.Q is not None:
        low, high = np.where(rng.random(p.n) < 0.3, -np.inf, low), np.where(rng.random(p.n) < 0.3, np.inf, high)
    if "fixed" in moves:
        fixed = rng.random(p.n) < 0.5
        low, high = np.where(fixed, at, low), np.where(fixed, at, high)
    diagonal = rng.uniform(0, 2, p.n) if "diagonal" in moves and p.Q is not None else None
    if kind == "l1":
        return Change(None if diagonal is None else np.where(np.arange(p.n) < p.n // 2, diagonal, 0.0))
    if kind == "wide" and diagonal is not None:
        half = (p.n - p.m) // 2
        diagonal[half : 2 * half] = diagonal[:half]
    return Change(diagonal, A, lower, upper, low, high)


def agree(p, change, c, dispatcher, solver):
    """The open solver's answer is that of one opened anew."""
    dispatcher.change(change)
    now = change.apply(p)
    there, anew = dispatcher.solve(c), Dispatcher(now, solver, fallback=False).solve(c)
    assert there.solver == solver
    np.testing.assert_allclose(now.value(there.z, c), now.value(anew.z, c), rtol=1e-6, atol=1e-6)
    if now.Q is not None and np.linalg.eigvalsh(now.Q.toarray())[0] > 0.05:
        np.testing.assert_allclose(there.z, anew.z, rtol=1e-4, atol=1e-4)


def costs(p, kind, rng):
    """Some linear cost, with which the problem has a solution."""
    if kind == "l1":
        return np.concatenate([rng.normal(size=p.n // 2), rng.uniform(0.5, 1, p.n // 2)])
    return rng.uniform(0.5, 2, p.n) if kind in ("tall", "wide") else rng.normal(size=p.n)


@pytest.mark.parametrize(("solver", "kind"), [case for case in IN_PLACE if case != ("scipy", "qp")])  # whose runs take long
@given(seed=st.integers(0, 10_000))
@settings(max_examples=6)
def test_after_any_changes_answers_are_those_of_a_problem_opened_anew(solver, kind, seed):
    """What is taken in place, and what is not, in any order and any mixture; the last change is undone by the next."""
    if not registry.get(solver).available():
        pytest.skip(f"{solver} is not installed")
    rng = np.random.default_rng(seed)
    p = problem(kind, rng)
    possible = sorted(IN_PLACE[solver, kind] if kind in ("tall", "wide", "l1") else EVERYTHING)
    dispatcher = Dispatcher(p, solver, fallback=False)
    for _ in range(3):
        moves = set(rng.choice(possible, rng.integers(1, len(possible) + 1)))
        agree(p, change_of(p, moves, rng, kind), costs(p, kind, rng), dispatcher, solver)
    agree(p, Change(), costs(p, kind, rng), dispatcher, solver)


@pytest.mark.parametrize(("solver", "kind"), IN_PLACE)
def test_nothing_is_opened_twice_where_a_solver_can_take_it_in_place(solver, kind):
    if not registry.get(solver).available():
        pytest.skip(f"{solver} is not installed")
    rng = np.random.default_rng(5)
    p = problem(kind, rng)
    dispatcher = Dispatcher(p, solver, fallback=False)
    dispatcher.solve(costs(p, kind, rng))
    alone = [] if (solver, kind) == ("scipy", "qp") else [{move} for move in sorted(IN_PLACE[solver, kind])]
    for moves in [*alone, IN_PLACE[solver, kind]]:
        agree(p, change_of(p, moves, rng, kind), costs(p, kind, rng), dispatcher, solver)
        assert (dispatcher.rebuilds, dispatcher.rebuild_reasons) == (0, []), moves
    assert dispatcher.builds == 1


@pytest.mark.parametrize(
    ("solver", "kind", "move", "words"),
    [
        ("piqp", "qp", "equations", "became an equation"),
        ("clarabel", "qp", "fixed", "became an equation"),
        ("ipopt", "qp", "bounds", "keeps the bounds"),
        ("highs-dual", "tall", "bounds", "free or ≥ 0"),
        ("columns", "tall", "bounds", "another bound than ≥ 0"),
    ],
)
def test_what_is_not_taken_in_place_is_opened_anew_with_a_reason(solver, kind, move, words):
    rng = np.random.default_rng(1)
    p = problem(kind, rng)
    dispatcher = Dispatcher(p, solver)
    dispatcher.solve(costs(p, kind, rng))
    dispatcher.change(change_of(p, {move}, rng, kind))
    dispatcher.solve(costs(p, kind, rng))
    assert words in " ".join(dispatcher.rebuild_reasons)
    assert solver in dispatcher.rebuild_reasons[0]


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


def ball_of(p, at, radius):
    """‖z − at‖² ≤ radius²."""
    return SmoothSum([p.constraints[0].terms[0], LinearTerm(np.arange(p.n), -2 * at, float(at @ at) - radius**2)], p.n)


@pytest.mark.parametrize("solver", ["ipopt", "clarabel", "scipy"])
def test_curved_constraints_move_and_are_switched_off(solver):
    """Linear parts, limits and activity of ψ: the ball moves, shrinks, and goes."""
    rng = np.random.default_rng(3)
    p, at = nlp(rng)
    dispatcher = Dispatcher(p, solver, fallback=False)
    for k, active in enumerate([True, False, True]):
        moved = Change(constraints=(ball_of(p, at + 0.05 * k, 2.0 - 0.3 * k),), active=np.array([active]))
        c = 9 * rng.normal(size=p.n)
        dispatcher.change(moved)
        now = moved.apply(p)
        there, anew = dispatcher.solve(c), Dispatcher(replace(now, constraints=now.constraints if active else ())).solve(c)
        np.testing.assert_allclose(there.z, anew.z, atol=1e-5)
    if solver != "clarabel":
        assert dispatcher.rebuilds == 0
    else:
        assert dispatcher.rebuild_reasons in (
            [],
            ["clarabel opened its problem anew: the cones of a constraint are laid out otherwise"],
        )


def test_a_session_that_raised_and_is_opened_again_counts_as_rebuilt():
    p = problem("qp", np.random.default_rng(0))
    dispatcher = Dispatcher(p, "piqp", fallback=False)
    dispatcher.solve(p.c)
    next(iter(dispatcher._open.values())).session.solver = None  # whatever may go wrong there
    with pytest.raises(SubproblemUnsolved, match="raised"):
        dispatcher.solve(p.c)
    dispatcher.solve(p.c)
    assert dispatcher.rebuilds == 1


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
        (Change(row_lower=np.full(5, np.nan)), "NaN"),
        (Change(A=sp.csc_array((4, 6))), "pattern"),
        (Change(constraints=(SmoothSum([], 6),)), "constraints"),
        (Change(active=np.ones(2, dtype=bool)), "0 truth values"),
    ],
)
def test_changes_that_make_no_sense_are_refused(change, complaint):
    with pytest.raises(DataError, match=complaint):
        change.apply(problem("qp", np.random.default_rng(0)))

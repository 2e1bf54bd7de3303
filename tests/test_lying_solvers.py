"""Whatever a solver does wrong is an answer that does not hold: the next one is asked, and the result is true."""

from __future__ import annotations

import time

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

import dcprog
from dcprog import DCProgram, Status
from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import verify
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import SolverFailedError
from dcprog.solvers import registry
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved


class Misbehaving(Solver):
    """Does what ``act(problem, c, start)`` does."""

    module, distribution, install = "numpy", "numpy", ""
    classes = frozenset(ProblemClass)
    features = Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS | Feature.VERTEX

    def __init__(self, act, name="misbehaving"):
        self.act, self.name = act, name

    def open(self, problem, options):
        return MisbehavingSession(self.act, problem)


class MisbehavingSession(Session):
    def __init__(self, act, problem):
        self.act, self.problem = act, problem

    def solve(self, c, start, time_limit):
        return self.act(self.problem, c, start)


@pytest.fixture
def register():
    yield lambda act, name="misbehaving": registry.register(Misbehaving(act, name))
    registry._registered.clear()


def answer(z, y=None, mu=None):
    return Answer(Claim.OPTIMAL, z, y, mu)


def nan(n):
    return np.full(n, np.nan)


ACTS = {
    "raises": lambda p, c, start: 1 / 0,
    "raises in NumPy": lambda p, c, start: np.linalg.inv(np.zeros((2, 2))),
    "returns nothing": lambda p, c, start: None,
    "returns a vector": lambda p, c, start: start,
    "returns no point": lambda p, c, start: answer(None),
    "too long": lambda p, c, start: answer(np.zeros(p.n + 1)),
    "a matrix": lambda p, c, start: answer(np.zeros((p.n, 1))),
    "a list of the start": lambda p, c, start: answer(start.tolist()),
    "objects": lambda p, c, start: answer(np.array([None] * p.n, dtype=object)),
    "strings": lambda p, c, start: answer(np.array(["a"] * p.n)),
    "complex numbers": lambda p, c, start: answer(start + 1j),
    "NaN": lambda p, c, start: answer(nan(p.n)),
    "infinity": lambda p, c, start: answer(np.full(p.n, np.inf)),
    "the start": lambda p, c, start: answer(start, np.zeros(p.m), np.zeros(len(p.constraints))),
    "the start with NaN duals": lambda p, c, start: answer(start, nan(p.m), nan(len(p.constraints))),
    "the start with huge duals": lambda p, c, start: answer(start, np.full(p.m, 1e30), np.full(len(p.constraints), -1e30)),
    "duals of the wrong length": lambda p, c, start: answer(start, np.zeros(p.m + 3)),
    "infeasible": lambda p, c, start: Answer(Claim.INFEASIBLE),
    "an unknown claim": lambda p, c, start: Answer("splendid", start),
}


def program(kind):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-2, 2), initialize={0: 0.1, 1: 0.2, 2: -0.3})
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] + m.x[2] <= 1)
    if kind == "cone":
        m.ball = pyo.Constraint(expr=sum(v**2 for v in m.x.values()) <= 2)
    g = m.x[0] - 0.5 * m.x[1]
    if kind == "qp":
        g = g + sum(v**2 for v in m.x.values())
    if kind == "nlp":
        g = g + sum(pyo.exp(v) for v in m.x.values())
    return DCProgram(m, g=g, h=0.4 * sum(v**2 for v in m.x.values()) + 0.2 * m.x[2])


@pytest.mark.parametrize("kind", ["lp", "qp", "nlp", "cone"])
@pytest.mark.parametrize("act", ACTS)
def test_the_next_solver_is_asked(register, act, kind):
    register(ACTS[act])
    ours = program(kind)
    result = dcprog.solve(ours, solver="misbehaving")
    assert result.success
    assert result.solver != "misbehaving"
    assert "misbehaving" in result.messages[0]
    assert result.objective == pytest.approx(dcprog.solve(ours).objective, rel=1e-6)


@pytest.mark.parametrize("act", ["raises", "the start", "NaN", "returns nothing"])
def test_without_fallback_that_is_an_error_which_keeps_what_was_found(register, act):
    register(ACTS[act])
    with pytest.raises(SolverFailedError, match=r"misbehaving.*fallback=False") as caught:
        dcprog.solve(program("qp"), solver="misbehaving", fallback=False)
    assert caught.value.result is not None
    assert np.isfinite(caught.value.result.objective)
    assert dcprog.solve(program("qp"), solver="piqp", fallback=False).solver == "piqp"


def test_a_sleeping_solver_is_left_at_the_time_limit(register):
    register(lambda p, c, start: time.sleep(30))
    began = time.perf_counter()
    result = dcprog.solve(program("qp"), solver="misbehaving", time_limit=0.5)
    assert time.perf_counter() - began < 5
    assert result.status is Status.TIME_LIMIT
    assert np.isfinite(result.objective)


def test_an_interrupt_within_a_solver_keeps_the_best_point(register):
    def interrupt(p, c, start):
        raise KeyboardInterrupt

    register(interrupt)
    result = dcprog.solve(program("qp"), solver="misbehaving")
    assert result.status is Status.INTERRUPTED
    assert np.isfinite(result.objective)


def test_the_whole_chain_is_asked_again_before_giving_up(register):
    """The first choice fails once, the one kept after it fails later: the first is asked again."""
    calls = []

    def once(p, c, start):
        calls.append(c)
        return None if len(calls) == 1 else registry.get("highs").open(p, {}).solve(c, start, None)

    register(once)
    problem = program("lp").compiled.subproblem
    dispatcher = Dispatcher(problem, "misbehaving")
    assert dispatcher.solve(problem.c, np.zeros(3), feasible=True).solver != "misbehaving"
    dispatcher._attempts[1:] = dispatcher._attempts[1:2]
    opened = dispatcher._open[(dispatcher._attempts[1].solver.name, False)]
    opened.session = MisbehavingSession(ACTS["raises"], problem)
    assert dispatcher.solve(-problem.c, np.zeros(3), feasible=True).solver == "misbehaving"


def test_where_all_fail_the_status_says_so_and_the_start_is_kept(register):
    register(ACTS["NaN"])
    ours = program("qp")
    problem = ours.compiled.subproblem
    dispatcher = Dispatcher(problem, "misbehaving", fallback=False)
    with pytest.raises(SubproblemUnsolved, match="misbehaving"):
        dispatcher.solve(problem.c, np.zeros(3))


@pytest.mark.parametrize("cost", [1e4, 1e6, 1e8, 1e10])
def test_a_large_cost_hides_no_small_one(cost):
    m = pyo.ConcreteModel()
    m.w, m.s = pyo.Var(initialize=1.0), pyo.Var(bounds=(0, None), initialize=0.0)
    m.row = pyo.Constraint(expr=m.w + m.s >= 1)
    result = dcprog.solve(DCProgram(m, g=abs(m.w - 3) + cost * m.s, h=0))
    assert result.success
    assert result["w"] == pytest.approx(3, abs=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e3, 1e7])
def test_a_hand_written_l1_svm(C):
    from scipy.optimize import linprog

    rng = np.random.default_rng(0)
    X, n, d = rng.standard_normal((30, 4)), 30, 4
    y = np.sign(X[:, 0] + 0.3 * rng.standard_normal(30))
    m = pyo.ConcreteModel()
    m.w, m.b = pyo.Var(range(d), initialize=0), pyo.Var(initialize=0)
    m.xi = pyo.Var(range(n), bounds=(0, None), initialize=1)
    m.rows = pyo.Constraint(
        range(n), rule=lambda m, i: y[i] * (sum(X[i, j] * m.w[j] for j in range(d)) + m.b) + m.xi[i] >= 1
    )
    result = dcprog.solve(DCProgram(m, g=sum(abs(v) for v in m.w.values()) + C * sum(m.xi.values()), h=0))
    A = -np.hstack([y[:, None] * X, -y[:, None] * X, y[:, None], np.eye(n)])
    costs = np.concatenate([np.ones(2 * d), [0], np.full(n, C)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    truth = linprog(costs, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs-ds")
    w = truth.x[:d] - truth.x[d : 2 * d]
    assert result.success
    assert result.objective == pytest.approx(truth.fun, rel=1e-9)
    assert np.abs(result["w"]).sum() == pytest.approx(np.abs(w).sum(), rel=1e-6)


@pytest.mark.parametrize("factor", [1e-10, 1e-6, 1.0, 1e6, 1e10])
@pytest.mark.parametrize("square", [False, True])
def test_a_row_is_judged_in_its_own_units(factor, square):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.row = pyo.Constraint(expr=factor * m.x >= factor)
    result = dcprog.solve(DCProgram(m, g=m.x**2 if square else m.x, h=0))
    assert result.success
    assert result["x"] == pytest.approx(1, rel=1e-6)


def box(c, Q=None):
    n = len(c)
    return ConvexProblem(
        c=np.array(c, dtype=float),
        A=sp.csr_array((0, n)),
        row_lower=np.zeros(0),
        row_upper=np.zeros(0),
        lower=np.zeros(n),
        upper=np.ones(n),
        Q=Q,
    )


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_verify_tells_a_wrong_answer_in_any_units(scale):
    p = box([scale, -scale])
    assert verify(p, p.c, answer(np.array([0.0, 1.0]), np.zeros(0), np.zeros(0))).holds()
    assert not verify(p, p.c, answer(np.array([0.0, 0.9]), np.zeros(0), np.zeros(0))).holds()
    assert not verify(p, p.c, answer(np.array([1e-3, 1.0]), np.zeros(0), np.zeros(0))).holds()
    assert not verify(p, p.c, answer(np.array([np.nan, 1.0]), np.zeros(0), np.zeros(0))).holds()


def test_a_norm_at_its_kink():
    """√(x² + y²) has no gradient at 0, where the run starts."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-5, 5), initialize=0.0), pyo.Var(bounds=(-5, 5), initialize=0.0)
    result = dcprog.solve(DCProgram(m, g=pyo.sqrt(m.x**2 + m.y**2), h=3 * m.x))
    assert result.success
    assert result.objective == pytest.approx(-10)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_unbounded_is_said_with_a_ray_and_not_without():
    m = pyo.ConcreteModel()
    n, x0 = 5, (10.379, 7.446, 18.282, -16.403, 10.161)
    m.x = pyo.Var(range(n), initialize=dict(enumerate(x0)))
    parts = [
        (a**4 + b**2, (2 - a) ** 2 + (2 - b) ** 2, 2 * pyo.exp(b - a))
        for a, b in zip([m.x[i] for i in range(n - 1)], [m.x[i] for i in range(1, n)], strict=True)
    ]
    g = (n - 1) * dcprog.maximum(*(piece for part in parts for piece in part))
    result = dcprog.solve(DCProgram(m, g=g, h=sum(dcprog.maximum(*part) for part in parts)))
    assert result.status is not Status.UNBOUNDED
    assert result.objective >= -1e-6
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=0.5), pyo.Var(initialize=0.5)
    for g, h in ((m.x, 0), (m.x**2, 2 * m.y), (0, m.x**2), (0.5 * m.x**2, m.x**2)):
        assert dcprog.solve(DCProgram(m, g=g, h=h)).status is Status.UNBOUNDED


@pytest.mark.parametrize("starts", [1, 8])
def test_a_start_that_falls_without_end_is_what_the_result_says(starts):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    result = dcprog.solve(DCProgram(m, g=0.5 * m.x**2, h=m.x**2), starts=starts, seed=0, n_jobs=1)
    assert result.status is (Status.UNBOUNDED if starts > 1 else Status.CONVERGED)


@pytest.mark.parametrize("factor", [-1.0, 0.0, 10.0])
def test_what_a_solver_changes_in_place_is_its_own(register, factor):
    def act(p, c, start):
        c *= factor
        start *= factor
        return Answer(Claim.FAILED)

    register(act)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-5, 5))
    program = DCProgram(m, g=m.x[0] ** 2 + m.x[1] ** 2, h=m.x[0] + pyo.sqrt(1 + m.x[1] ** 2))
    result = dcprog.solve(program, x0=[0.6, 0.2], solver="misbehaving")
    assert (result.status, result.objective) == (Status.CONVERGED, pytest.approx(-1.25))


def test_a_time_limit_that_nobody_set_is_a_failure(register):
    register(lambda p, c, start: Answer(Claim.TIME_LIMIT))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-5, 5))
    result = dcprog.solve(DCProgram(m, g=m.x**2, h=m.x), x0=[2.0], solver="misbehaving")
    assert (result.status, result.objective) == (Status.CONVERGED, pytest.approx(-0.25))


def test_a_time_limit_long_before_its_time_is_a_failure(register):
    """The clock is looked at: the next solver is asked while there is time."""
    register(ACTS["infeasible"], "another")
    register(lambda p, c, start: Answer(Claim.TIME_LIMIT))
    result = dcprog.solve(program("qp"), solver="misbehaving", time_limit=60)
    assert (result.status, result.objective) == (Status.CONVERGED, pytest.approx(dcprog.solve(program("qp")).objective))


def test_a_solver_that_ends_python_is_a_failure(register):
    def act(p, c, start):
        raise SystemExit(3)

    register(act)
    assert dcprog.solve(program("qp"), solver="misbehaving").success


@pytest.mark.parametrize("kind", ["lp", "qp", "nlp", "cone"])
@pytest.mark.parametrize("name", ["lower", "upper", "row_upper", "c", "A.data", "Q.data"])
def test_a_solver_that_writes_into_its_problem_changes_nothing_else(register, name, kind):
    """The bounds that its answer was verified against were those that it had written."""

    def act(p, c, start):
        *inner, last = name.split(".")
        owner = getattr(p, inner[0]) if inner else p
        if owner is not None:
            getattr(owner, last)[...] = -1e9
        return answer(start, np.zeros(p.m), np.zeros(len(p.constraints)))

    register(act)
    ours = program(kind)
    result = dcprog.solve(ours, solver="misbehaving")
    assert result.success
    assert result.objective == pytest.approx(dcprog.solve(ours).objective, rel=1e-6)


def test_without_fallback_a_false_claim_of_no_end_is_an_error(register):
    register(lambda p, c, start: Answer(Claim.UNBOUNDED))
    with pytest.raises(SolverFailedError, match="misbehaving"):
        dcprog.solve(program("qp"), solver="misbehaving", fallback=False)

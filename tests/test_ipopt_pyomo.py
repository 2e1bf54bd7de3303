"""Ipopt and Pyomo's solvers: optimality conditions in our sign convention, re-solves, limits, errors, silence."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from dcprog.errors import CapabilityError, FunctionError, UnknownNameError
from dcprog.functions.base import ConvexFunction
from dcprog.smooth import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.solvers.base import Claim
from dcprog.solvers.ipopt import Ipopt
from dcprog.solvers.ipopt_options import known_options
from dcprog.solvers.ipopt_problem import Callbacks
from dcprog.solvers.pyomo import PyomoSolver, _model
from dcprog.subproblem import Subproblem

INF = np.inf
seeds = st.integers(0, 2**32 - 1)


class Exponentials(ConvexFunction):
    """Σᵢ exp(dᵢ'x), which can be told to misbehave."""

    def __init__(self, D):
        self.D, self.raising, self.pause = np.asarray(D, dtype=float), {}, 0.0

    def _enter(self, method):
        time.sleep(self.pause)
        if method in self.raising:
            raise self.raising[method]

    def value(self, x):
        self._enter("value")
        return float(np.exp(self.D @ x).sum())

    def gradient(self, x):
        self._enter("gradient")
        return self.D.T @ np.exp(self.D @ x)

    def hessian(self, x):
        self._enter("hessian")
        return (self.D.T * np.exp(self.D @ x)) @ self.D

    def expand(self, x, exp, log):
        return sum(exp(sum(d * v for d, v in zip(row.tolist(), x, strict=True))) for row in self.D)


class FirstOrder(ConvexFunction):
    """The same without second derivatives, and without an expansion."""

    def __init__(self, D):
        self._same = Exponentials(D)

    def value(self, x):
        return self._same.value(x)

    def gradient(self, x):
        return self._same.gradient(x)


class MinusLog(ConvexFunction):
    """−Σ log xⱼ, NaN outside of its domain."""

    separable, domain_lower = True, 0.0

    def value(self, x):
        return float(-np.log(x).sum())

    def gradient(self, x):
        return -1 / x

    def hessian(self, x):
        return 1 / x**2


def subproblem(c, rows=(), row_lower=(), row_upper=(), lower=None, upper=None, **parts):
    c, n = np.asarray(c, dtype=float), len(c)
    A = sp.csr_array(np.asarray(rows, dtype=float).reshape(-1, n))
    limits = [np.asarray(v, dtype=float) for v in (row_lower, row_upper)]
    bounds = [np.full(n, d) if v is None else np.asarray(v, dtype=float) for v, d in ((lower, -INF), (upper, INF))]
    return Subproblem(c, A, *limits, *bounds, **parts)


def linear_constraints(rng, n, m):
    """Rows and bounds of every kind (equations, ranges, one-sided, free, fixed) around a feasible point, and costs for which
    the LP has a solution: combinations of the active gradients."""
    A, z = rng.normal(size=(m, n)), rng.normal(size=n)

    def around(values):
        widths = rng.choice([0.0, 1.0, INF], p=[0.2, 0.5, 0.3], size=(2, len(values)))
        return values - widths[0], values + widths[1]

    def multipliers(low, high):
        y = rng.normal(size=len(low))
        return np.where(y > 0, np.where(np.isfinite(low), y, 0.0), np.where(np.isfinite(high), y, 0.0))

    (row_lower, row_upper), (lower, upper) = around(A @ z), around(z)
    costs = [A.T @ multipliers(row_lower, row_upper) + multipliers(lower, upper) for _ in range(2)]
    return {"rows": A, "row_lower": row_lower, "row_upper": row_upper, "lower": lower, "upper": upper}, costs, z


def random_problem(seed, kind):
    """A random LP, QP or NLP that has a solution for both of the costs returned with it."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 7))
    limits, costs, inside = linear_constraints(rng, n, m)
    parts = {}
    if kind != "LP":
        R = rng.normal(size=(int(rng.integers(1, n + 1)), n))
        parts["Q"] = sp.csr_array(R.T @ R)
    if kind == "NLP":
        indices = rng.permutation(n)
        parts["smooth"] = SmoothSum([FunctionTerm(Exponentials(rng.normal(size=(3, n))), indices, 0.5)], n)
        parts["constraints"] = tuple(ellipsoid(rng, inside) for _ in range(2))
    return subproblem(costs[0], **limits, **parts), costs


def ellipsoid(rng, inside):
    """½z'Pz + q'z + r ≤ 0 with ``inside`` strictly feasible."""
    n = len(inside)
    R, q = rng.normal(size=(n, n)), rng.normal(size=n)
    P = R.T @ R + np.eye(n)
    constant = -0.5 * inside @ P @ inside - q @ inside - 1.0
    return SmoothSum([QuadraticTerm(sp.csr_array(P)), LinearTerm(np.arange(n), q, constant)], n)


def assert_optimal(problem, c, answer, tol=1e-6):
    """Feasible, stationary, complementary, with the signs that :class:`Answer` promises: sufficient in a convex problem."""
    assert answer.claim is Claim.OPTIMAL, answer.message
    z, y, mu = answer.z, answer.row_duals, answer.constraint_duals
    psi = np.array([row.value(z) for row in problem.constraints])
    assert (problem.lower <= z).all()
    assert (z <= problem.upper).all()
    assert psi.max(initial=-INF) <= tol
    assert (mu <= 0).all()
    reduced = problem.gradient(z, c) - problem.A.T @ y
    for multiplier, row in zip(mu, problem.constraints, strict=True):
        reduced = reduced - multiplier * row.gradient(z)
    scale = 1 + np.abs(problem.gradient(z, c)).max() + np.abs(problem.value(z, c))
    limits = [(y, problem.A @ z, problem.row_lower, problem.row_upper), (reduced, z, problem.lower, problem.upper)]
    for multiplier, value, low, high in [*limits, (mu, psi, np.full(len(psi), -INF), np.zeros(len(psi)))]:
        assert (value >= low - tol * (1 + np.abs(value))).all()
        assert (value <= high + tol * (1 + np.abs(value))).all()
        distance = np.where(multiplier > 0, value - low, high - value)
        assert (np.abs(multiplier) * np.minimum(np.abs(distance), 1.0) <= tol * scale).all()


def solve(solver, problem, c=None, options=None, start=None, time_limit=None):
    return solver.open(problem, options or {}).solve(problem.c if c is None else c, start, time_limit)


# Optimality ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["LP", "QP", "NLP"])
@given(seed=seeds)
def test_ipopt_answers_satisfy_the_optimality_conditions_for_every_cost(kind, seed):
    problem, costs = random_problem(seed, kind)
    session = Ipopt().open(problem, {})
    for c in costs:
        answer = session.solve(c, None, None)
        assert_optimal(problem, c, answer)
        fresh = solve(Ipopt(), problem, c)
        assert problem.value(answer.z, c) == pytest.approx(problem.value(fresh.z, c), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", ["appsi_highs", "highs"])
@given(seed=seeds)
def test_linear_programs_agree_with_linprog(name, seed):
    problem, costs = random_problem(seed, "LP")
    A, low, high = problem.A.toarray(), np.isfinite(problem.row_lower), np.isfinite(problem.row_upper)
    inequalities = np.vstack([A[high], -A[low]]), np.concatenate([problem.row_upper[high], -problem.row_lower[low]])
    session = PyomoSolver(name).open(problem, {})
    for c in costs:
        known = linprog(c, *inequalities, bounds=np.column_stack([problem.lower, problem.upper])).fun
        answer = session.solve(c, None, None)
        assert_optimal(problem, c, answer)
        for claimed in (answer, solve(Ipopt(), problem, c)):
            assert c @ claimed.z == pytest.approx(known, rel=1e-6, abs=1e-6)


@given(seed=seeds)
def test_highs_through_pyomo_agrees_with_ipopt_on_quadratic_programs(seed):
    rng = np.random.default_rng(seed)
    problem, costs = random_problem(seed, "QP")
    Q, lower = problem.Q + sp.eye_array(problem.n), np.minimum(problem.upper, -3.0)
    convex = subproblem(problem.c, Q=Q, lower=lower, upper=problem.upper)
    session = PyomoSolver("highs").open(convex, {"qp_regularization_value": 0.0})
    for c in [*costs, rng.normal(size=problem.n)]:
        answer = session.solve(c, None, 10.0)
        assert_optimal(convex, c, answer)
        assert convex.value(answer.z, c) == pytest.approx(convex.value(solve(Ipopt(), convex, c).z, c), rel=1e-6, abs=1e-6)


@given(seed=seeds)
def test_the_hessian_given_to_ipopt_is_that_of_the_lagrangian(seed):
    problem, _ = random_problem(seed, "NLP")
    rng, callbacks = np.random.default_rng(seed), Callbacks(problem)
    z, weights = rng.normal(size=callbacks.size) / 2, rng.normal(size=len(callbacks.rows) + 2)
    lower = sp.coo_array((callbacks.hessian(z, weights, 0.7), callbacks.hessianstructure()), shape=(callbacks.size,) * 2)
    x, n = z[: problem.n], problem.n
    expected = 0.7 * problem.hessian(x).toarray()
    expected += sum(w * row.hessian(x).toarray() for w, row in zip(weights[-2:], problem.constraints, strict=True))
    assert lower.toarray()[:n, :n] == pytest.approx(np.tril(expected), abs=1e-9)

    jacobian = sp.coo_array((callbacks.jacobian(z), callbacks.jacobianstructure()), shape=(len(weights), callbacks.size))
    step = rng.normal(size=n)
    difference = (callbacks.constraints(x + 1e-6 * step) - callbacks.constraints(x - 1e-6 * step)) / 2e-6
    assert jacobian.toarray()[:, :n] @ step == pytest.approx(difference, abs=1e-5)


@given(seed=seeds)
def test_writing_a_problem_out_for_pyomo_changes_no_value(seed):
    import pyomo.environ as pyo

    problem, _ = random_problem(seed, "NLP")
    model, x = _model(problem), np.random.default_rng(seed).normal(size=problem.n)
    for variable, value in zip(model.z.values(), x, strict=True):
        variable.set_value(value)
    assert pyo.value(model.objective) == pytest.approx(problem.value(x, problem.c))
    assert [pyo.value(row.body) for row in model.psi.values()] == pytest.approx([r.value(x) for r in problem.constraints])
    assert [pyo.value(row.body) for row in model.rows.values()] == pytest.approx((problem.A @ x)[list(model.rows)])


@pytest.mark.parametrize("solver", [Ipopt(), PyomoSolver("highs")], ids=lambda s: s.name)
@pytest.mark.parametrize(
    ("rows", "limits", "bounds"),
    [
        ([[1, 1], [1, -1]], ([2, 0], [2, 0]), ([-INF, -INF], [INF, INF])),
        ([[1, 1], [1, -1], [2, 0]], ([2, 0, 2], [2, 0, 2]), ([-INF, -INF], [INF, INF])),
        ([[1, 1]], ([2], [2]), ([1, 1], [1, 1])),
        ([], ([], []), ([1, 1], [1, 1])),
        ([[1, 1], [1, 1]], ([2, 2], [2, 2]), ([1, 0], [INF, 1])),
        ([[1, 1], [1, 1]], ([2, -INF], [INF, 2]), ([1, 0], [INF, 1])),
        ([[0, 0], [1, 1]], ([-1, 2], [0, INF]), ([1, 0], [INF, 1])),
    ],
    ids=["square", "more equations than variables", "fixed", "fixed, no rows", "dependent", "no interior", "empty row"],
)
def test_problems_without_degrees_of_freedom_or_interior(solver, rows, limits, bounds):
    problem = subproblem([2.0, 1.0], rows, *limits, *bounds)
    answer = solve(solver, problem)
    assert_optimal(problem, problem.c, answer)
    assert answer.z == pytest.approx([1.0, 1.0], abs=1e-6)


# Sessions ------------------------------------------------------------------------------------------------------------------


def test_a_warm_start_takes_fewer_iterations_and_rebuilds_nothing():
    warm = cold = 0
    for seed in range(10):
        problem, (c, _) = random_problem(seed, "NLP")
        session = Ipopt().open(problem, {})
        z, loaded = session.solve(c, None, None).z, session._ipopt
        for near in (c * 1.001, c * 1.0011):
            warm += session.solve(near, z, None).iterations
            cold += solve(Ipopt(), problem, near, start=z).iterations
        assert session._ipopt is loaded
    assert warm < 0.8 * cold


def test_a_session_recovers_from_a_problem_it_could_not_solve():
    problem = subproblem([1.0, 1.0], lower=[0, -INF], upper=[5, INF])
    session = Ipopt().open(problem, {})
    assert session.solve(np.array([1.0, 1.0]), None, None).claim is Claim.UNBOUNDED
    assert_optimal(problem, np.array([-1.0, 0.0]), session.solve(np.array([-1.0, 0.0]), None, None))


def test_functions_without_a_hessian_and_quasi_newton_by_option():
    D = np.random.default_rng(0).normal(size=(6, 3))
    by_first, by_second = (
        subproblem(np.ones(3), smooth=SmoothSum([FunctionTerm(f(D), np.arange(3), 1.0)], 3), lower=-2 * np.ones(3))
        for f in (FirstOrder, Exponentials)
    )
    exact = solve(Ipopt(), by_second)
    for answer in (solve(Ipopt(), by_first), solve(Ipopt(), by_second, options={"hessian_approximation": "limited-memory"})):
        assert_optimal(by_first, by_first.c, answer)
        assert answer.z == pytest.approx(exact.z, abs=1e-5)
    with pytest.raises(CapabilityError, match=r"needs second derivatives and FirstOrder\(\) has none"):
        Ipopt().open(by_first, {"hessian_approximation": "exact"})
    with pytest.raises(FunctionError, match="cannot be written out for a plain Pyomo solver"):
        PyomoSolver("highs").open(by_first, {})


def test_a_step_out_of_the_domain_is_shortened():
    problem = subproblem([100.0, 2.0], smooth=SmoothSum([FunctionTerm(MinusLog(), np.arange(2), 1.0)], 2))
    assert solve(Ipopt(), problem, start=np.ones(2)).z == pytest.approx([0.01, 0.5], abs=1e-7)


def test_pyomo_uses_no_instance_again_that_has_raised():
    problem = subproblem([-1.0], lower=[0], upper=[2], Q=sp.csr_array([[1.0]]))
    session = PyomoSolver("appsi_highs").open(problem, {})  # takes no quadratic, and once it has said so answers z = 0
    for _ in range(3):
        answer = session.solve(problem.c, None, None)
        assert answer.claim is Claim.FAILED
        assert "DegreeError" in answer.message


# Claims --------------------------------------------------------------------------------------------------------------------

NO_POINT = subproblem([1.0, 1.0], [[1, 1], [1, 1]], [2, -INF], [INF, 1], [-5, -5], [5, 5])
NO_END = subproblem([-1.0, 0.0], [[1, -1]], [-INF], [1], [0, 0])
CROSSED = subproblem([1.0], lower=[1], upper=[0])


@pytest.mark.parametrize("solver", [Ipopt(), PyomoSolver("highs"), PyomoSolver("appsi_highs")], ids=lambda s: s.name)
@pytest.mark.parametrize(
    ("problem", "claim"), [(NO_POINT, Claim.INFEASIBLE), (NO_END, Claim.UNBOUNDED), (CROSSED, Claim.INFEASIBLE)]
)
def test_infeasible_and_unbounded_problems_are_named_so(solver, problem, claim):
    answer = solve(solver, problem)
    assert answer.claim is claim
    assert answer.message
    assert answer.z is None


def test_limits_of_time_and_iterations():
    D = np.random.default_rng(1).normal(size=(5, 3))
    function = Exponentials(D)
    problem = subproblem(np.ones(3), smooth=SmoothSum([FunctionTerm(function, np.arange(3), 1.0)], 3), lower=-np.ones(3))
    answer = solve(Ipopt(), problem, options={"max_iter": 1})
    assert answer.claim is Claim.FAILED
    assert "Maximum number of iterations" in answer.message
    function.pause = 0.02
    for options, limit in (({}, 0.05), ({"max_wall_time": 0.05}, None), ({"max_wall_time": 0.05}, 100.0)):
        begin = time.monotonic()
        assert solve(Ipopt(), problem, options=options, time_limit=limit).claim is Claim.TIME_LIMIT
        assert time.monotonic() - begin < 0.5


@pytest.mark.parametrize("name", ["highs", "appsi_highs"])
def test_the_time_limit_of_a_pyomo_solver_counts_from_each_solve(name):
    rng, (m, n) = np.random.default_rng(0), (100, 150)
    c, A = rng.normal(size=n), rng.normal(size=(m, n))
    session = PyomoSolver(name).open(subproblem(c, A, -np.ones(m), np.ones(m), np.zeros(n), np.ones(n)), {})
    solves = [(c, None), (-c, 1e-9), (c, 2.0), (-c, 1e-9), (-c, None)]
    claims = [session.solve(cost, None, limit).claim for cost, limit in solves]
    assert claims == [Claim.OPTIMAL, Claim.TIME_LIMIT, Claim.OPTIMAL, Claim.TIME_LIMIT, Claim.OPTIMAL]


# Exceptions ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["objective", "constraint"])
@pytest.mark.parametrize("method", ["value", "gradient", "hessian"])
@pytest.mark.parametrize("error", [ValueError("no such number"), KeyboardInterrupt()], ids=repr)
def test_an_exception_in_a_function_leaves_solve_as_it_is_and_the_session_lives_on(where, method, error):
    function = Exponentials(np.eye(2))
    total = SmoothSum([FunctionTerm(function, np.arange(2), 1.0), LinearTerm([0], [0.0], -4.0)], 2)
    parts = {"smooth": total} if where == "objective" else {"constraints": (total,)}
    problem = subproblem([-1.0, -1.0], lower=[-9, -9], upper=[9, 9], **parts)
    session = Ipopt().open(problem, {})
    function.raising = {method: error}
    expected = FunctionError if isinstance(error, Exception) else KeyboardInterrupt
    with pytest.raises(expected) as caught:
        session.solve(problem.c, None, None)
    assert error in (caught.value, caught.value.__cause__)
    function.raising = {}
    assert_optimal(problem, problem.c, session.solve(problem.c, None, None))


def test_control_c_ends_a_solve():
    class Interrupting(Exponentials):
        def gradient(self, x):
            signal.raise_signal(signal.SIGINT)
            return super().gradient(x)

    problem = subproblem([1.0], lower=[-1], smooth=SmoothSum([FunctionTerm(Interrupting([[1.0]]), np.arange(1), 1.0)], 1))
    with pytest.raises(KeyboardInterrupt):
        solve(Ipopt(), problem)


# Options, names, silence ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"max_itr": 5}, UnknownNameError, "unknown option of ipopt 'max_itr': did you mean max_iter"),
        ({"tol": -1}, CapabilityError, "Ipopt's option tol takes a number > 0, got -1"),
        ({"tol": "small"}, CapabilityError, "takes a number > 0, got 'small'"),
        ({"max_iter": 2.5}, CapabilityError, "takes an integer ≥ 0, got 2.5"),
        ({"mu_strategy": "fast"}, CapabilityError, "takes monotone or adaptive, got 'fast'"),
        ({"tol": None}, CapabilityError, "got None"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence_and_in_silence(options, error, message, capfd):
    with pytest.raises(error, match=message):
        Ipopt().open(NO_POINT, options)
    assert capfd.readouterr() == ("", "")


def test_options_take_the_type_that_ipopt_wants():
    options = {"tol": 1, "max_iter": np.int64(50), "mehrotra_algorithm": True, "acceptable_tol": np.float64(1.0)}
    problem = subproblem([1.0], lower=[0], upper=[1])
    loose = solve(Ipopt(), problem, options=options)
    assert loose.claim is Claim.OPTIMAL
    assert loose.iterations < solve(Ipopt(), problem).iterations
    assert len(known_options()) > 200


def test_options_that_ipopt_refuses_when_it_starts():
    with pytest.raises(CapabilityError, match=r"Ipopt refuses these options together or lacks .*'linear_solver': 'ma57'"):
        solve(Ipopt(), subproblem([1.0], lower=[0], upper=[1]), options={"linear_solver": "ma57"})


def test_an_option_file_in_the_working_directory_is_not_read(tmp_path, monkeypatch):
    (tmp_path / "ipopt.opt").write_text("max_iter 0\nprint_level 12\n")
    monkeypatch.chdir(tmp_path)
    assert solve(Ipopt(), subproblem([1.0], lower=[0], upper=[1])).claim is Claim.OPTIMAL


def test_pyomo_options_reach_the_solver():
    problem, _ = random_problem(5, "LP")
    answer = solve(PyomoSolver("appsi_highs"), problem, options={"simplex_iteration_limit": 0, "presolve": "off"})
    assert answer.claim is Claim.FAILED
    assert answer.message == "maxIterations"


def test_an_unknown_pyomo_name_is_refused_with_the_nearest_known_one(capfd):
    with pytest.raises(UnknownNameError, match="unknown Pyomo solver 'appsi_higs': did you mean 'appsi_highs'"):
        PyomoSolver("appsi_higs").available()
    with pytest.raises(UnknownNameError, match="unknown Pyomo solver 'nonesuch'"):
        solve(PyomoSolver("nonesuch"), NO_POINT)
    assert capfd.readouterr() == ("", "")


def test_a_pyomo_solver_that_is_not_there_says_so():
    solver = PyomoSolver("baron")
    if solver.available():
        pytest.skip("baron is installed here")
    assert "SolverFactory('baron')" in solver.missing(NO_POINT)
    assert PyomoSolver("highs").missing(NO_POINT) is None


@pytest.mark.parametrize("solver", [Ipopt(), PyomoSolver("highs"), PyomoSolver("appsi_highs")], ids=lambda s: s.name)
@pytest.mark.parametrize("problem", [NO_POINT, NO_END, subproblem([1.0], lower=[0])])
def test_no_solver_chatters(solver, problem, capfd):
    solve(solver, problem, start=np.zeros(problem.n), time_limit=10.0)
    assert capfd.readouterr() == ("", "")

"""Ipopt: optimality conditions in our sign convention, re-solves, limits, errors, options."""

from __future__ import annotations

import signal
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from random_nlps import INF, NO_POINT, Exponentials, MinusLog, assert_optimal, random_problem, seeds, solve, subproblem

from dcprog.convex.answer import Claim
from dcprog.convex.terms import FunctionTerm, LinearTerm, SmoothSum
from dcprog.errors import CapabilityError, FunctionError, UnknownNameError
from dcprog.functions.base import ConvexFunction
from dcprog.solvers.adapters.ipopt import Ipopt
from dcprog.solvers.adapters.ipopt_options import known_options
from dcprog.solvers.adapters.ipopt_problem import Callbacks
from dcprog.solvers.adapters.pyomo import PyomoSolver


class FirstOrder(ConvexFunction):
    """Exponentials without second derivatives, and without an expansion."""

    def __init__(self, D):
        self._same = Exponentials(D)

    def value(self, x):
        return self._same.value(x)

    def gradient(self, x):
        return self._same.gradient(x)


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


# Limits and exceptions -----------------------------------------------------------------------------------------------------


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


# Options -------------------------------------------------------------------------------------------------------------------


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

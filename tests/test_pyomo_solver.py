"""Pyomo's solvers: they agree with linprog and with Ipopt, also on what has no interior or no solution; names, silence."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from random_nlps import INF, NO_END, NO_POINT, assert_optimal, random_problem, seeds, solve, subproblem
from scipy.optimize import linprog

from dcprog.convex.answer import Claim
from dcprog.errors import UnknownNameError
from dcprog.solvers.adapters.ipopt import Ipopt
from dcprog.solvers.adapters.pyomo import PyomoSolver, _model
from dcprog.solvers.dispatch import Dispatcher

CROSSED = subproblem([1.0], lower=[1], upper=[0])


def quadratic_program(seed):
    """A strongly convex one with bounds, and three costs."""
    problem, costs = random_problem(seed, "QP")
    Q, lower = problem.Q + sp.eye_array(problem.n), np.minimum(problem.upper, -3.0)
    convex = subproblem(problem.c, Q=Q, lower=lower, upper=problem.upper)
    return convex, [*costs, np.random.default_rng(seed).normal(size=problem.n)]


# Optimality ----------------------------------------------------------------------------------------------------------------


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
    """By HiPO: the active-set solver of HiGHS leaves a gradient of 1e-4 where it is, see the next test."""
    convex, costs = quadratic_program(seed)
    session = PyomoSolver("highs").open(convex, {"solver": "hipo", "ipm_optimality_tolerance": 1e-9})
    for c in costs:
        answer = session.solve(c, None, 10.0)
        assert_optimal(convex, c, answer)
        assert convex.value(answer.z, c) == pytest.approx(convex.value(solve(Ipopt(), convex, c).z, c), rel=1e-6, abs=1e-6)


def test_what_the_active_set_solver_of_highs_leaves_undone_is_not_believed():
    """min ½z'Qz + c'z with c₁ = 0 has z₁ = −1e-4. HiGHS stops at z₁ = 0, at any tolerance, and calls it optimal."""
    convex, costs = quadratic_program(421)
    c = costs[1]
    claimed = PyomoSolver("highs").open(convex, {"qp_regularization_value": 0.0}).solve(c, None, 10.0)
    assert claimed.claim is Claim.OPTIMAL
    solution = Dispatcher(convex, "pyomo:highs").solve(c)
    exact = np.linalg.solve(convex.Q.toarray(), -c)
    assert solution.z == pytest.approx(exact, rel=1e-6)
    if claimed.z != pytest.approx(exact, rel=1e-6):  # not once HiGHS is mended
        assert "pyomo:highs: its claim does not hold" in solution.escalations[0]


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


# Claims --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", [Ipopt(), PyomoSolver("highs"), PyomoSolver("appsi_highs")], ids=lambda s: s.name)
@pytest.mark.parametrize(
    ("problem", "claim"), [(NO_POINT, Claim.INFEASIBLE), (NO_END, Claim.UNBOUNDED), (CROSSED, Claim.INFEASIBLE)]
)
def test_infeasible_and_unbounded_problems_are_named_so(solver, problem, claim):
    answer = solve(solver, problem)
    assert answer.claim is claim
    assert answer.message
    assert answer.z is None


@pytest.mark.parametrize("name", ["highs", "appsi_highs"])
def test_the_time_limit_of_a_pyomo_solver_counts_from_each_solve(name):
    rng, (m, n) = np.random.default_rng(0), (100, 150)
    c, A = rng.normal(size=n), rng.normal(size=(m, n))
    session = PyomoSolver(name).open(subproblem(c, A, -np.ones(m), np.ones(m), np.zeros(n), np.ones(n)), {})
    solves = [(c, None), (-c, 1e-9), (c, 2.0), (-c, 1e-9), (-c, None)]
    claims = [session.solve(cost, None, limit).claim for cost, limit in solves]
    assert claims == [Claim.OPTIMAL, Claim.TIME_LIMIT, Claim.OPTIMAL, Claim.TIME_LIMIT, Claim.OPTIMAL]


def test_pyomo_uses_no_instance_again_that_has_raised():
    problem = subproblem([-1.0], lower=[0], upper=[2], Q=sp.csr_array([[1.0]]))
    session = PyomoSolver("appsi_highs").open(problem, {})  # takes no quadratic, and once it has said so answers z = 0
    for _ in range(3):
        answer = session.solve(problem.c, None, None)
        assert answer.claim is Claim.FAILED
        assert "DegreeError" in answer.message


# Options, names, silence ---------------------------------------------------------------------------------------------------


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
    import pyomo.environ as pyo

    absent = next(name for name in pyo.SolverFactory if name[0] != "_" and not PyomoSolver(name).available())
    assert f"SolverFactory({absent!r})" in PyomoSolver(absent).missing(NO_POINT)
    assert PyomoSolver("highs").missing(NO_POINT) is None


@pytest.mark.parametrize("solver", [Ipopt(), PyomoSolver("highs"), PyomoSolver("appsi_highs")], ids=lambda s: s.name)
@pytest.mark.parametrize("problem", [NO_POINT, NO_END, subproblem([1.0], lower=[0])])
def test_no_solver_chatters(solver, problem, capfd):
    solve(solver, problem, start=np.zeros(problem.n), time_limit=10.0)
    assert capfd.readouterr() == ("", "")

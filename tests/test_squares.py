"""Solver ``squares``: rows zⱼ² ≤ zₖ are a QP with the costs for weights, and what is no such row is refused in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest
from arom_data import toy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import dcprog
from dcprog import DCProgram
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import verify
from dcprog.models.arom import l2_arom
from dcprog.solvers import registry
from dcprog.solvers.dispatch import Dispatcher
from dcprog.solvers.reductions.squares import Squares

NORMS = [{}, {"q": 0}, {"q": 1}, {"p": 2, "q": 0}]


def subproblem(seed=0, **norms):
    return l2_arom(*toy(12, 6, seed), **norms).compiled.subproblem


def solvable(seed=0, **norms):
    """A subproblem with a feasible point: not all of these samples are separable, as hard margins demand."""
    problem = subproblem(seed, **norms)
    rows = replace(problem, constraints=(), c=np.zeros(problem.n))
    assume(registry.get("highs").open(rows, {}).solve(rows.c, None, None).claim is Claim.OPTIMAL)
    return problem


def costs(problem, rng, spread):
    """Random ones of the squares, over so many decades, beside the program's own."""
    outer = [row.terms[0].support[0] for row in problem.constraints]
    c = problem.c.copy()
    c[outer] = 10.0 ** rng.uniform(-spread, spread, len(outer))
    return c


@pytest.mark.parametrize("norms", NORMS, ids=str)
@given(seed=st.integers(0, 1000))
@settings(max_examples=10)
def test_the_optimum_is_that_of_ipopt(norms, seed):
    problem, rng = solvable(seed, **norms), np.random.default_rng(seed)
    c = costs(problem, rng, spread=1)
    answer = Squares().open(problem, {}).solve(c, None, None)
    best = problem.value(Dispatcher(problem, "ipopt").solve(c).z, c)
    assert answer.claim is Claim.OPTIMAL
    assert problem.value(answer.z, c) == pytest.approx(best, rel=1e-6)
    assert verify(problem, c, answer).holds(1e-9)


@pytest.mark.parametrize("norms", NORMS, ids=str)
@given(seed=st.integers(0, 1000))
@settings(max_examples=20)
def test_costs_over_twelve_decades_are_certified(norms, seed):
    problem, rng = solvable(seed, **norms), np.random.default_rng(seed)
    c = costs(problem, rng, spread=6)
    answer = Squares().open(problem, {}).solve(c, None, None)
    assert answer.claim is Claim.OPTIMAL
    assert verify(problem, c, answer).holds()


def test_auto_takes_it_where_it_can():
    assert [s.name for s in registry.chain("auto", subproblem())] == ["squares", "ipopt", "clarabel", "scipy"]


def test_scaled_squares_and_two_over_one_variable():
    """min t + 3s − 4x subject to 2x² ≤ 5t, x² ≤ s has its minimum where (4/5 + 6)x = 4."""
    m = pyo.ConcreteModel()
    m.x, m.t, m.s = pyo.Var(initialize=1.0), pyo.Var(initialize=9.0), pyo.Var(initialize=9.0)
    m.first, m.second = pyo.Constraint(expr=2 * m.x**2 <= 5 * m.t), pyo.Constraint(expr=m.x**2 <= m.s)
    result = dcprog.solve(DCProgram(m, g=m.t + 3 * m.s - 4 * m.x, h=0), solver="squares")
    assert {state.solver for state in result.history if state.solver} == {"squares"}
    assert result["x"] == pytest.approx(4 / 6.8)
    assert result["t"] == pytest.approx(0.4 * (4 / 6.8) ** 2)


def test_problems_without_a_solution_are_called_by_their_name():
    problem = subproblem()
    outer = problem.constraints[0].terms[0].support[0]
    assert Squares().open(problem, {}).solve(-np.eye(problem.n)[outer], None, None).claim is Claim.UNBOUNDED
    X = np.array([[0.0], [1.0], [2.0]])
    apart = l2_arom(X, [0, 1, 0]).compiled.subproblem
    c = np.where(apart.lower == 0, 1.0, 0.0)
    assert Squares().open(apart, {}).solve(c, None, None).claim is Claim.INFEASIBLE


ROWS = {
    "sum of squares": lambda m: m.x[0] ** 2 + m.x[1] ** 2 <= m.t,
    "mixed": lambda m: (m.x[0] + m.x[1]) ** 2 <= m.t,
    "constant": lambda m: m.x[0] ** 2 <= m.t + 1,
    "two": lambda m: m.x[0] ** 2 <= m.t + m.x[1],
    "exponential": lambda m: pyo.exp(m.x[0]) <= m.t,
    "a ball": lambda m: m.x[0] ** 2 <= 4,
}


@pytest.mark.parametrize("name", ROWS)
def test_other_rows_are_refused(name):
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var([0, 1], initialize=0.0), pyo.Var(initialize=5.0)
    m.row = pyo.Constraint(expr=ROWS[name](m))
    problem = DCProgram(m, g=m.t, h=0, assume_convex=[m.row]).compiled.subproblem
    assert "zⱼ² ≤ zₖ" in Squares().missing(problem)


def test_variables_of_other_use_are_refused():
    problem = subproblem(q=1)
    outer = problem.constraints[0].terms[0].support[0]
    one = np.eye(problem.n)[outer]
    changes = [{"lower": problem.lower + one}, {"upper": np.where(one > 0, 9.0, problem.upper)}]
    for change in changes:
        assert "zₖ" in Squares().missing(replace(problem, **change))
    assert Squares().missing(problem) is None


@pytest.mark.parametrize(("lower", "upper", "x"), [(2.0, None, 2.0), (None, -2.0, -2.0)])
def test_bounds_of_a_variable_with_a_weight(lower, upper, x):
    """min 3t with x² ≤ t: scaled by √6, x meets its own bound."""
    m = pyo.ConcreteModel()
    m.x, m.t = pyo.Var(bounds=(lower, upper), initialize=x), pyo.Var(initialize=9.0)
    m.row = pyo.Constraint(expr=m.x**2 <= m.t)
    problem = DCProgram(m, g=3 * m.t, h=0).compiled.subproblem
    answer = Squares().open(problem, {}).solve(problem.c, None, None)
    assert problem.value(answer.z, problem.c) == pytest.approx(12.0)
    assert x in answer.z.round(9)


def test_a_negative_cost_of_a_square_without_a_feasible_point_is_infeasible():
    problem = l2_arom(np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]).compiled.subproblem
    outer = problem.constraints[0].terms[0].support[0]
    assert Squares().open(problem, {}).solve(-np.eye(problem.n)[outer], None, None).claim is Claim.INFEASIBLE

"""What mutation testing found that no test looked at in algorithms and solvers: each against the formula that it states."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

from dcprog import DCProgram, Step
from dcprog.algorithms import DCA, Boosted
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.functions import ConvexFunction, LogSumExp
from dcprog.program.curvature.nodes import Graph
from dcprog.program.points import _along_equations, _satisfies
from dcprog.solvers import registry
from dcprog.solvers.rays import is_empty, is_ray


def slow():
    """2x² − 1.9x²: DCA multiplies x by 0.95, and every λ < 19 goes on downhill."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=4)
    return DCProgram(m, g=2 * m.x**2, h=1.9 * m.x**2)


def test_the_trial_of_the_line_search_grows_after_two_that_were_taken():
    """λ = 1, 1, γ, γ² with γ = 4."""
    algorithm = Boosted(slow(), stop=Step(1e-6))
    lengths, before = [], None
    for state in algorithm:
        if before is not None:
            lengths.append(float((state.x[0] - algorithm.y[0]) / (algorithm.y[0] - before)))
        before = state.x[0]
    np.testing.assert_allclose(lengths[:4], [1, 1, 4, 16], rtol=1e-4)


def test_the_slack_of_the_line_search_follows_its_recursion():
    """νₖ₊₁ = (1 − δ)(f(xᵏ) + νₖ − f(xᵏ⁺¹)) with δ = ½, where g has a kink."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-5, 5), initialize={0: 3.0, 1: -2.0})
    g = abs(m.x[0] - 0.3) + m.x[0] ** 2 + 2 * m.x[1] ** 2 + abs(m.x[0] + m.x[1])
    algorithm = Boosted(DCProgram(m, g=g, h=0.5 * m.x[0] ** 2 + m.x[1] ** 2), stop=Step(1e-9))
    slack, before, positive = 0.0, None, 0
    for state in algorithm:
        if before is not None:
            slack = 0.5 * (before + slack - state.level)
            assert algorithm.slack == pytest.approx(max(slack, 0.0), abs=1e-12)
            slack, positive = algorithm.slack, positive + (algorithm.slack > 0)
        before = state.level
    assert positive >= 2


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_way_to_the_boundary_of_c(unit):
    """x + td in a box cut by a row: t is where the first limit is met, whatever the length of d."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(0, 10), initialize=1.0)
    m.row = pyo.Constraint(expr=m.x[0] + 2 * m.x[1] <= 12)
    algorithm = DCA(DCProgram(m, g=m.x[0] ** 2 + m.x[1] ** 2, h=0))
    next(iter(algorithm))
    x = np.array([1.0, 2.0])
    for d, t in (((2, -1), 2.0), ((-4, 1), 0.25), ((1, 2), 1.4), ((5, 0), 1.4), ((0, -8), 0.25)):
        assert algorithm.reach(x, unit * np.array(d, dtype=float)) == pytest.approx(t / unit, rel=1e-9)


class NoHessian(ConvexFunction):
    """Σ xᵢ⁴ without second derivatives."""

    smooth, separable = True, True

    def value(self, x):
        return float((x**4).sum())

    def gradient(self, x):
        return 4 * x**3


@pytest.mark.parametrize(("function", "first"), [(NoHessian(), "scipy"), (LogSumExp(), "scipy"), (None, "ipopt")])
def test_scipy_comes_first_on_a_box_where_hessians_are_dense_or_missing(function, first):
    none, n = np.zeros(0), 3
    terms = [FunctionTerm(function, np.arange(n), 1.0)] if function else []
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-1, 1), initialize=0.5)
    if function is None:
        problem = DCProgram(m, g=sum(pyo.exp(m.x[i]) for i in range(n)), h=0).compiled.subproblem
    else:
        problem = ConvexProblem(
            np.ones(n), sp.csr_array((0, n)), none, none, np.full(n, -1.0), np.ones(n), smooth=SmoothSum(terms, n)
        )
    names = [solver.name for solver in registry.chain("auto", problem)]
    assert min(("scipy", "ipopt"), key=names.index) == first


def half(n, rows):
    """A problem with the given QuadraticTerm constraints on R^n."""
    none = np.zeros(0)
    return ConvexProblem(
        np.zeros(n), sp.csr_array((0, n)), none, none, np.full(n, -np.inf), np.full(n, np.inf), constraints=rows
    )


def square_below(n, i, constant):
    """xᵢ² + constant ≤ 0."""
    square = QuadraticTerm(sp.csc_array(([2.0], ([i], [i])), shape=(n, n)))
    return SmoothSum([square, LinearTerm([], [], constant)], n)


def test_a_square_ends_a_ray_and_what_does_not_see_it_goes_on():
    problem = half(2, (square_below(2, 0, -1.0),))
    c = np.array([-1.0, -1.0])
    assert is_ray(problem, c, np.array([0.0, 1.0]))
    assert not is_ray(problem, c, np.array([1.0, 0.0]))
    assert not is_ray(problem, c, np.array([1.0, 1.0]))


def test_two_discs_are_empty_together_only():
    """x₀² ≤ 1 holds at 0, (x₀ − 3)² ≤ 1 does not: all of them have to."""
    n = 1
    away = SmoothSum([QuadraticTerm(sp.csc_array([[2.0]])), LinearTerm([0], [-6.0], 8.0)], n)  # (x − 3)² − 1
    assert is_empty(half(n, (square_below(n, 0, -1.0), away)))
    assert not is_empty(half(n, (square_below(n, 0, -4.5), away)))


def test_points_of_c_satisfy_all_rows_and_ways_keep_equations():
    rows = ConvexProblem(
        np.zeros(2),
        sp.csr_array([[1.0, 1.0], [1.0, -1.0]]),
        np.array([1.0, -np.inf]),
        np.array([1.0, 0.5]),
        np.full(2, -5.0),
        np.full(2, 5.0),
    )
    points = np.array([[0.5, 0.5], [2.0, -1.0], [0.0, 0.0], [6.0, -5.0]])
    assert _satisfies(rows, points).tolist() == [True, False, False, False]
    ways = np.random.default_rng(0).normal(size=(6, 2))
    np.testing.assert_allclose(_along_equations(rows, ways) @ [1.0, 1.0], 0, atol=1e-9)
    free = ConvexProblem(rows.c, sp.csr_array((0, 2)), np.zeros(0), np.zeros(0), rows.lower, rows.upper)
    assert _along_equations(free, ways) is ways


def test_bounds_of_functions_that_are_not_defined_everywhere():
    """log on [−1, e] has values up to 1; tan across a pole has all values, and away from poles those at the ends."""
    graph = Graph([-1.0, 1.0, -1.0], [float(np.e), 2.0, 1.0], ["x", "y", "z"])
    log, across, away = (graph.apply(name, graph.variable(i)) for i, name in enumerate(("log", "tan", "tan")))
    assert log.upper == pytest.approx(1.0)
    assert (across.lower, across.upper) == (-np.inf, np.inf)
    assert (away.lower, away.upper) == (pytest.approx(-np.tan(1.0)), pytest.approx(np.tan(1.0)))

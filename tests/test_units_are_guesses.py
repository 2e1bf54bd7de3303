"""Units are guessed from slopes and curvatures: no guess may make a violation, a negative gap or a slow run look small."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from known_problems import problem_5

import dcprog
from dcprog import DCProgram, Status
from dcprog.algorithms.further import farther
from dcprog.convex.certificate import violation
from dcprog.convex.scaling import scaling_of
from dcprog.functions import GroupNorm
from dcprog.solvers.dispatch import Dispatcher
from dcprog.testing import criticality


def two_rows(unit: float, second: float = 1.0) -> DCProgram:
    """Quartic terms, whose curvature at the start says nothing of the size of x, over a strip cut by a disc."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(), pyo.Var()
    s, t = m.x / unit, m.y / second
    m.strip = pyo.Constraint(expr=(0.9 * s + 0.1 * t + 0.1) ** 2 <= 0.04)
    m.disc = pyo.Constraint(expr=(s - 0.3) ** 2 + (t + 0.3) ** 2 <= 1.9)
    return DCProgram(m, g=s + 0.5 * t + 0.1 * (s**4 + t**4), h=0.43 * abs(s) + 0.3 * abs(t))


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e4, 1e5, 1e6, 1e-6])
def test_a_quartic_in_any_unit_stays_in_its_set(unit):
    """At 1e6 the unit of x was 2e18, and a point with 1.96 ≤ 0.04 was called feasible, converged, with gap 0."""
    result = dcprog.solve(two_rows(unit))
    assert result.status is Status.CONVERGED
    assert result.objective == pytest.approx(-1.0392072237, rel=1e-8)
    assert result.violation <= 1e-8


@pytest.mark.parametrize("units", [(1e3, 1e-3), (1e4, 1e-4)])
def test_the_gap_is_right_where_the_units_of_two_variables_differ(units):
    """It was said to be 0, and was 1e-5 and 1e-3."""
    program = two_rows(*units)
    result = dcprog.solve(program, max_iter=60)
    assert result.status is Status.CONVERGED
    assert result.gap == pytest.approx(criticality(program, result.x), abs=1e-8)


@pytest.mark.parametrize("unit", [1e-5, 1e-6])
def test_no_step_beyond_a_step_leaves_a_curved_set(unit):
    """In such units, what a unit of x brings to a row is enormous, and with it what counted as rounding of the row was."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=0.0)
    x, y = m.x[0] / unit, m.x[1] / unit
    m.disc = pyo.Constraint(expr=(x - 1) ** 2 + (y - 1) ** 2 <= 0.4)
    compiled = DCProgram(m, g=0, h=x + y).compiled
    middle, edge = np.full(2, unit), np.full(2, (1 + np.sqrt(0.2)) * unit)
    end, _ = farther(compiled, middle, middle + 0.50000012 * (edge - middle))
    assert ((end / unit - 1) ** 2).sum() <= 0.4 + 1e-8


def test_noise_beside_a_bound_does_not_keep_steps_short():
    """With a proximal term of 6e5 in both, answers are 1e-6 off beside a bound, and steps of 7e-6 were not taken for short
    ones, nor lengthened: 1000 of them led nowhere."""
    upper = [0.89, 2.09, 1.88, 0.61, 0.7]
    centre = [-0.42, 0.36, 1.89, -0.06, 0.55]
    c = [2.06, 0.0, 1.03, 0.05, -0.8]
    A = [[0.3, 0.47, -1.19, -0.99, 0.86], [-0.1, 0.05, 0.92, 1.56, -1.25], [0.06, -0.79, 0.47, -0.22, 0.72]]
    b = [0.15, -0.84, 1.07]
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5))
    for v, bound in zip(m.x.values(), upper, strict=True):
        v.setlb(0)
        v.setub(bound)
    x = list(m.x.values())
    common = 6.4e5 * sum((v - at) ** 2 for v, at in zip(x, centre, strict=True))
    square = sum((sum(a * v for a, v in zip(row, x, strict=True)) - value) ** 2 for row, value in zip(A, b, strict=True))
    linear = sum(slope * v for slope, v in zip(c, x, strict=True))
    result = dcprog.solve(DCProgram(m, g=linear + common, h=1.37 * square + common), x0=[0, 0, 1.24, 0.61, 0.7])
    plain = DCProgram(m, g=linear, h=1.37 * square)
    assert result.status is Status.CONVERGED
    assert result.objective < -25
    assert criticality(plain, result.x) <= 1e-5


@pytest.mark.parametrize("z", [[1.5, 0.0], [1.2, -1.2]])
def test_sizes_of_the_point_say_what_a_violation_is(z):
    """The last word on feasibility: 1 for a row that is violated by all that it is made of, whatever units were guessed."""
    compiled = two_rows(1.0).compiled
    outside = violation(compiled.feasible_set, np.array(z), np.ones(2))
    assert 0.05 < outside < 1
    for unit in (1e-6, 1e6):
        scaled = two_rows(unit, 1 / unit).compiled
        point = np.array([z[0] * unit, z[1] / unit])
        assert violation(scaled.feasible_set, point, np.array([unit, 1 / unit])) == pytest.approx(outside, rel=1e-6)
    assert violation(compiled.feasible_set, np.array([0.1, -0.9]), np.ones(2)) == 0


@pytest.mark.parametrize("epsilon", [1e-14, 1e-12, 1e-9])
def test_a_slope_next_to_nothing_makes_no_unit_of_it(epsilon):
    """Of y slope and curvature are alike at 1e-13, of x at 1e12: neither says what counts as 1."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-3, 2), initialize=1.5), pyo.Var(bounds=(0, 1), initialize=0.5)
    noise = epsilon * (m.x**2 + m.y**2)
    result = dcprog.solve(DCProgram(m, g=m.y**2 + noise, h=m.x**2 + noise))
    assert result.success
    assert result.objective == pytest.approx(-4.0)


@pytest.mark.parametrize("factor", [1e-10, 1e-8, 1e-6, 1e6, 1e8])
def test_the_top_of_a_kink_has_the_unit_of_what_is_below_it(factor):
    """Of norms and maxima of 1e-7 the epigraph variable counted as 1, and points that are 1e-4 of f off were certified."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1, 2], bounds=(-3, 3), initialize=0.5)
    x, y, z = m.x.values()
    m.row = pyo.Constraint(expr=x + y + z <= 2)
    norms = GroupNorm([[0, 1], [2]], [factor, 2 * factor])(m.x)
    maximum = dcprog.maximum(factor * (x - y), factor * (y + z - 1), 0)
    program = DCProgram(m, g=norms + maximum - factor * x, h=factor * abs(x + 0.3 * y))
    p = program.compiled.subproblem
    scaling = scaling_of(p, p.c, program.compiled.lift(np.full(3, 0.5)))
    assert scaling is not None
    assert (scaling.column[3:] >= factor).all()
    assert (scaling.column[3:] <= 30 * factor).all()
    result = dcprog.solve(program)
    assert result.success
    assert criticality(program, result.x) <= 1e-6 * factor


def test_a_variable_between_rows_is_no_top_of_a_kink():
    """max |aᵢ'x| states x between rows of both signs; read as a t ≥ f, its smallest entry gave it a unit of 1e5, and what is
    off by a thousandth of f was verified beside that."""
    program, _ = problem_5(5)
    rng = np.random.default_rng(0)
    start = rng.uniform(0, 9, 5)
    algorithm = dcprog.algorithms.Inertial(program, x0=start, stop=dcprog.MaxIter(1))
    list(algorithm)
    assert algorithm.dispatcher.units.column.max() <= 1e3
    u = algorithm.subgradient(start) + start
    cost, least = program.compiled.cost(u), []
    for solver in ("piqp", "clarabel", "active-set"):
        opened = Dispatcher(algorithm.opened(program), solver, fallback=False)
        opened.change(algorithm.curved(1.0))
        solution = opened.solve(cost, program.compiled.lift(start))
        x = solution.z[:5]
        least.append(program.compiled.g.value(x) + 0.5 * x @ x - u @ x)
    np.testing.assert_allclose(least, least[0], rtol=1e-6)


def test_inertia_on_common_kinks_ends_where_f_is_least():
    program, optimum = problem_5(5)
    x0 = [8.25511155, 2.13271552, 4.58993122, 0.87249983, 8.70144848]
    result = dcprog.solve(program, algorithm="inertial", x0=x0, max_iter=200)
    assert result.success, result
    assert result.objective == pytest.approx(optimum, abs=1e-6)

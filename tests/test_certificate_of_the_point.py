"""`converged` is a statement about the point that is returned: no start, factor or constant fools its certificate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from data_sets import load_real, needs_data
from hypothesis import given
from hypothesis import strategies as st
from pyomo.core.expr.calculus.derivatives import Modes, differentiate

import dcprog
from dcprog import DCProgram, Gap, MaxIter, State, Status
from dcprog.models import fsv
from dcprog.solvers import registry
from dcprog.solvers.adapters.piqp import PIQP
from dcprog.solvers.base import Session, Solver
from dcprog.testing import criticality


def on_interval(lower, upper, g, h, start=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(lower, upper), initialize=start)
    return DCProgram(m, g=g(m.x), h=h(m.x))


def test_a_start_where_h_is_flat_is_no_solution():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-1, 1)), pyo.Var(bounds=(-1, 2))
    program = DCProgram(m, g=m.x**2, h=m.x**2 + m.y**2)
    for x0 in (None, [0.0, 0.0]):
        result = dcprog.solve(program, x0=x0)
        assert result.success
        assert criticality(program, result.x) <= 1e-9
        assert result.objective in (pytest.approx(-4), pytest.approx(-1))


@given(seed=st.integers(0, 10_000), kind=st.sampled_from(["lp", "qp", "nlp"]))
def test_the_gap_is_that_of_the_point_returned(seed, kind):
    """Random polytopes, h = ‖x‖², no start."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-2, 2))
    A, c = rng.standard_normal((n, n)), rng.standard_normal(n)
    m.rows = pyo.Constraint(range(n), rule=lambda m, i: sum(A[i, j] * m.x[j] for j in range(n)) <= 1)
    g = sum(c[j] * m.x[j] for j in range(n))
    g += {"lp": 0, "qp": 0.3 * sum(v**2 for v in m.x.values()), "nlp": sum(pyo.exp(v) for v in m.x.values())}[kind]
    program = DCProgram(m, g=g, h=sum(v**2 for v in m.x.values()))
    result = dcprog.solve(program)
    gap = criticality(program, result.x)
    assert result.success
    assert gap <= 1e-5 * (1 + abs(result.objective))
    assert result.gap == pytest.approx(gap, abs=1e-6 * (1 + abs(result.objective)))
    assert result.violation <= 1e-7
    assert result.stationarity == "critical"


def state(gap, size=1.0):
    x = np.zeros(1)
    return State(iteration=1, x=x, f=0.0, g=0.0, h=0.0, level=0.0, size=size, scale=size, gap=gap)


def test_a_negative_gap_is_no_convergence():
    assert Gap(1e-8).check(state(-15.4)) is None
    assert Gap(1e-8).check(state(1e-9)) is Status.CONVERGED
    assert Gap(1e-8).check(state(1e-9, size=1e-3)) is None


@pytest.mark.parametrize(
    ("lower", "upper", "g", "h", "start", "truth"),
    [
        (0, 2e-6, lambda x: (1e6 * x) ** 4, lambda x: 3 * (1e6 * x) ** 2 + 1e6 * x, 1.9e-6, 1.3008395659e-6),
        (-100, 100, lambda x: 1e6 * x**2, lambda x: 1e6 * x**2 - x, 0.0, -100.0),
        (None, None, lambda x: 5 * x**2 + 1e9, lambda x: 4 * x**2 + 4 * x, 1.0, 2.0),
        (None, None, lambda x: 1e-10 * 5 * x**2, lambda x: 1e-10 * (4 * x**2 + 4 * x), 1.0, 2.0),
        (None, None, lambda x: 1e10 * 5 * x**2, lambda x: 1e10 * (4 * x**2 + 4 * x), 1.0, 2.0),
    ],
    ids=["x of size 1e-6", "proximal 1e6", "constant 1e9", "factor 1e-10", "factor 1e10"],
)
def test_short_steps_constants_and_factors(lower, upper, g, h, start, truth):
    result = dcprog.solve(on_interval(lower, upper, g, h, start))
    assert result.success
    assert result["x"] == pytest.approx(truth, rel=2e-5)


@needs_data
@pytest.mark.parametrize("unit", [1e6, 1e-6])
def test_fsv_in_other_units(unit):
    X, y = load_real("pima")
    program, rescaled = fsv(X, y, lam=0.05, alpha=5.0), fsv(X * unit, y, lam=0.05, alpha=5.0 * unit)
    start = program.arrays(program.vector({}))
    ours = dcprog.solve(program)
    theirs = dcprog.solve(rescaled, x0={"p": start["p"] / unit, "q": start["q"] / unit, "b": start["b"], "xi": start["xi"]})
    assert ours.success
    assert theirs.success
    assert theirs.objective == pytest.approx(ours.objective, rel=1e-6)
    assert theirs["w"] * unit == pytest.approx(ours["w"], rel=1e-6, abs=1e-9)


def test_a_rule_of_ones_own_ends_the_run_and_is_no_certificate():
    program = on_interval(0, 2, lambda x: x**4, lambda x: 3 * x**2 + x, 1.0)
    early = dcprog.solve(program, stop=lambda state: state.iteration == 2)
    assert early.status is Status.STOPPED_BY_RULE
    assert early.iterations == 2
    assert early.gap == pytest.approx(criticality(program, early.x))
    late = dcprog.solve(program, stop=lambda state: state.iteration == 40)
    assert late.status is Status.CONVERGED


def test_a_function_that_never_says_stop_is_no_run_without_end():
    program = on_interval(0, 2, lambda x: x**4, lambda x: 3 * x**2 + x, 1.0)
    endless = dcprog.solve(program, stop=lambda state: state.f < -1e9, max_iter=60)
    assert endless.iterations == 60
    assert endless.success


def test_at_the_iteration_limit_the_gap_is_known_and_a_critical_point_is_called_so():
    program = on_interval(0, 2, lambda x: x**4, lambda x: 3 * x**2 + x, 1.0)
    limited = dcprog.solve(program, max_iter=3)
    assert limited.status is Status.ITERATION_LIMIT
    assert limited.gap == pytest.approx(criticality(program, limited.x))
    assert dcprog.solve(program, x0=dcprog.solve(program).x, max_iter=0).status is Status.CONVERGED


def test_a_second_solve_has_nothing_to_do():
    program = on_interval(0, 2, lambda x: x**4, lambda x: 3 * x**2 + x, 1.0)
    first = dcprog.solve(program)
    second = dcprog.solve(program, x0=first.x)
    assert second.success
    assert second.iterations <= 3
    assert second.objective <= first.objective


def test_a_run_never_climbs():
    program = on_interval(-5, 5, lambda x: pyo.exp(x) + pyo.exp(-x), lambda x: 0.9 * x**2, 4.0)
    f = [record.f for record in dcprog.solve(program, tol=0.0).history]
    assert all(b <= a for a, b in pairwise(f))


class Standing(Solver):
    """PIQP, but for answers so near to the start that rounding swallows the step: those are the start."""

    name, module, distribution, install = "standing", "piqp", "piqp", ""
    classes, features = PIQP.classes, PIQP.features

    def open(self, problem, options):
        return StandingSession(PIQP().open(problem, options))


class StandingSession(Session):
    def __init__(self, session):
        self.session = session

    def solve(self, c, start, time_limit):
        answer = self.session.solve(c, start, time_limit)
        near = np.abs(answer.z - start) <= 1e-6 * np.abs(start)
        return replace(answer, z=np.where(near, start, answer.z))


@pytest.fixture
def standing():
    registry.register(Standing())
    yield "standing"
    registry._registered.clear()


def test_a_run_that_a_solver_stops_too_early_goes_on_by_the_direction_in_which_f_falls(standing):
    """A proximal term of 1e8 makes every step shorter than what this solver can tell from none."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-100, 100), initialize=50.0)
    program = DCProgram(m, g=1e8 * m.x**2, h=1e8 * m.x**2 - m.x)
    result = dcprog.solve(program, solver=standing)
    assert result.success
    assert result["x"] == pytest.approx(-100)


def test_the_result_of_a_variable_is_found_by_the_variable():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var([1, 2], bounds=(0, 1), initialize=0.5), pyo.Var(bounds=(0, 3), initialize=1)
    result = dcprog.solve(DCProgram(m, g=m.x[1] ** 2 + m.x[2] ** 2, h=m.y + 0.4 * m.x[2]), stop=Gap(1e-10) | MaxIter(50))
    assert result[m.y] == result["y"] == 3
    assert result[m.x] == pytest.approx(result["x"])
    assert float(result[m.x[2]]) == result["x"][1]
    assert m.x in result


@pytest.mark.parametrize(("kind", "factor"), [("root", 1e8), ("square of squares", 1.0)])
def test_an_optimum_at_which_all_terms_vanish_is_certified(kind, factor):
    """√(1 + a²) has one term in its gradient, which is 0 where a is, and (a² − 1)² none at all at its minimum: relative to
    these nothing was small, and runs along the set of minima ended as stalled, or at the iteration limit."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1, 2], bounds=(-3, 3), initialize={0: 0.2, 1: 1.2, 2: 0.6})
    x, y, z = m.x.values()
    a = 1.11 * x + 0.4 * y - 0.2 * z + 0.68
    m.curved = pyo.Constraint(expr=0.2 * z * pyo.cos(y) + 0.8 * y - 2.3 * x - 1.7 * z >= -1.5)
    m.ball = pyo.Constraint(expr=x**2 + y**2 + z**2 <= 4.2)
    m.cost = pyo.Objective(expr=factor * (pyo.sqrt(1 + a**2) if kind == "root" else (a**2 - 1) ** 2))
    result = dcprog.solve(m)
    assert str(result.status) == "converged"
    assert result.violation <= 1e-6
    result.load_into(m)
    slopes = differentiate(m.cost.expr, wrt_list=[x, y, z], mode=Modes.reverse_numeric)
    assert np.abs(slopes).max() <= 1e-4 * factor

"""Where a run begins when nobody said so: at a seeded point that is special in no way, and with a word about it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from curved_functions import model

import dcprog
from dcprog import DCProgram
from dcprog.algorithms.start import feasible_start
from dcprog.functions import Norm2
from dcprog.program.points import generic_point

WORD = "a seeded point was taken"


@pytest.mark.parametrize(("lower", "upper"), [(-1, 1), (-3, 2), (-1e6, 1e6), (-1e-6, 1e-6)])
def test_the_largest_norm_in_a_box_is_not_found_at_its_middle(lower, upper):
    m, x = model(4, lower, upper)
    for h in (sum(v**2 for v in x), Norm2()(m.x)):
        result = dcprog.solve(DCProgram(m, g=0, h=h))
        assert np.isin(result.x, [lower, upper]).all()
        assert WORD in result.messages[0]
        assert (dcprog.solve(DCProgram(m, g=0, h=h)).x == result.x).all()


def test_it_also_holds_where_c_has_rows():
    m, x = model(3, None, None)
    m.rows = pyo.Constraint([-1, 1], range(3), rule=lambda m, s, i: s * m.x[i] <= 2)
    result = dcprog.solve(DCProgram(m, g=0, h=sum(v**2 for v in x)))
    assert result.objective == pytest.approx(-12.0)


def test_a_start_that_was_given_is_kept_even_if_it_is_zero():
    m, x = model(3, -1, 1)
    program = DCProgram(m, g=0, h=sum(v**2 for v in x))
    for x0 in (np.zeros(3), {"x": 0.0}):
        start = feasible_start(program, x0)
        assert (start.x == 0).all()
        assert start.message is None
    m, x = model(3, -1, 1, initialize=0.0)
    start = feasible_start(DCProgram(m, g=0, h=sum(v**2 for v in x)), None)
    assert (start.x == 0).all()
    assert start.message is None


def test_values_that_were_given_are_kept_beside_those_that_were_not():
    m, x = model(3, -1, 1)
    m.y = pyo.Var(bounds=(2, 3))
    m.x[1].value = 0.0
    program = DCProgram(m, g=0, h=sum(v**2 for v in x) + m.y**2)
    start = feasible_start(program, {"y": 2.5})
    assert start.x[1] == 0.0
    assert start.x[3] == 2.5
    assert (start.x[[0, 2]] != 0).all()
    assert start.made_up == 2
    assert "2 variables have no start" in str(start.message)


def test_functions_are_finite_where_the_run_begins():
    m, x = model(2, 0, None)
    assert dcprog.solve(DCProgram(m, g=1 / x[0] + x[0] + x[1] ** 2, h=x[1])).success
    m, x = model(1, None, None)
    m.c = pyo.Constraint(expr=x[0] >= 0.1)
    assert dcprog.solve(DCProgram(m, g=-pyo.log(x[0]) + x[0], h=0)).success


def test_the_point_knows_the_bounds():
    lower, upper = np.array([0.0, -np.inf, -np.inf, 1e6, 5.0]), np.array([1e-3, np.inf, -7.0, np.inf, 5.0])
    x = generic_point(lower, upper)
    assert ((x >= lower) & (x <= upper)).all()
    assert 0 < x[0] < 1e-3
    assert x[3] > 1e6 + 1e5


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_a_start_at_the_edge_of_the_domain_is_moved_into_c(unit):
    """Shares of a budget that maximise Σ wⱼ log xⱼ are proportional to w; the start was projected onto a face."""
    w = np.array([1.0, 2.0, 3.0, 4.0])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(0, None), initialize={0: 10 * unit, 1: 0, 2: 0, 3: 0})
    m.budget = pyo.Constraint(expr=sum(m.x.values()) == unit)
    program = dcprog.DCProgram(m, g=-sum(w[j] * pyo.log(m.x[j]) for j in range(4)), h=0)
    result = dcprog.solve(program)
    assert result.success
    assert result["x"] / unit == pytest.approx(w / w.sum(), abs=1e-6)
    assert any("moved into C" in said for said in result.messages)
    with pytest.raises(dcprog.errors.FunctionError, match="pass an x0 where both are finite"):
        dcprog.solve(program, x0=[unit, 0, 0, 0])


def test_a_start_beside_a_pole_makes_no_enormous_units():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(0, None))
    m.budget = pyo.Constraint(expr=sum(m.x.values()) == 1)
    result = dcprog.solve(
        dcprog.DCProgram(m, g=-sum((j + 1) * pyo.log(m.x[j]) for j in range(4)), h=0), x0=[0.97, 0.01, 0.01, 0.01]
    )
    assert result.success
    assert result["x"] == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-6)


def test_a_projection_onto_steep_bounds_holds_nothing():
    """Σ√x over Ax = y, x ≥ 0 from a point outside: its projection has zeros, which √ never lets go; they are left."""
    rng = np.random.default_rng(4)
    A, true = rng.normal(size=(30, 60)), np.zeros(60)
    true[rng.choice(60, 8, replace=False)] = rng.uniform(0.5, 2, 8)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(60), bounds=(0, None))
    m.measured = dcprog.MatrixConstraint(A, m.x, lower=A @ true, upper=A @ true)
    program = dcprog.DCProgram(m, 0, -sum(pyo.sqrt(v + 1e-9) for v in m.x.values()))
    result = dcprog.solve(program, x0=np.random.default_rng(0).uniform(size=60))
    assert np.abs(result.x - true).max() <= 1e-6
    assert "first step of DCA" in result.messages[0]
    near = dcprog.solve(program, x0=true)
    assert not near.messages

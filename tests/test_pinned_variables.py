"""Variables that rows of one variable hold fast: the answer obeys them to the last digit, and is certified in any unit."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram

UNITS = (1e-6, 1.0, 1e6)


@pytest.mark.parametrize("unit", UNITS)
def test_a_row_pins_a_variable_that_enters_quadratically(unit):
    """A solver's 1e-17 in −0.98 v = 0 is all that v ever was: relative to that, the row is violated by 1."""
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(3), initialize=0)
    x = [unit * m.v[i] for i in m.v]
    m.pin = pyo.Constraint(expr=-0.98 * x[2] == 0)
    m.row = pyo.Constraint(expr=-0.08 * x[0] + 0.5 * x[1] + 1.28 * x[2] <= -0.16)
    h = pyo.sqrt((x[0] - 2 * x[1] - 0.7 * x[2]) ** 2 + 0.25) + dcprog.maximum(0, -0.5 * x[1] + x[2])
    result = dcprog.solve(DCProgram(m, sum(v**2 for v in x) + 0.5 * x[2], h))
    assert str(result.status) == "converged"
    assert result["v"][2] == 0


@pytest.mark.parametrize("unit", UNITS)
def test_rows_and_bounds_leave_one_point(unit):
    """x ≥ 0 and 0.41 x ≤ 0: an interior-point method ends beside it, and f would fall without end there."""
    m = pyo.ConcreteModel()
    m.v = pyo.Var(bounds=(0, 2 / unit), initialize=0)
    x = unit * m.v
    m.row = pyo.Constraint(expr=0.41 * x <= 0)
    result = dcprog.solve(DCProgram(m, pyo.exp(0.3 * x + 0.5) + abs(x - 0.4), dcprog.maximum(0, x) + 3 * x))
    assert str(result.status) == "converged"
    assert (result["v"], result.violation) == (0, 0)


def test_rows_of_one_variable_hold_exactly_where_they_end():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=0.2)
    m.low = pyo.Constraint(expr=-3 * m.x[0] <= 6)
    m.high = pyo.Constraint(expr=7 * m.x[1] <= 1)
    result = dcprog.solve(DCProgram(m, pyo.exp(m.x[0]) + pyo.exp(-m.x[1]), 0))
    assert str(result.status) == "converged"
    x = result["x"]
    assert x == pytest.approx([-2, 1 / 7], abs=1e-8)
    assert x[0] >= -2
    assert x[1] <= 1 / 7


@pytest.mark.parametrize("constant", [0.0, 1e9])
@pytest.mark.parametrize("unit", UNITS)
def test_a_set_of_one_point_that_no_single_row_says(constant, unit):
    """x ≥ 0 and x₀ + x₁ ≤ 0, x₀ + 2x₂ = 1, for a smooth f: Ipopt ends 1e-9 outside, and f would fall for ever there."""
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(3), bounds=(0, None))
    x = [unit * m.v[i] for i in m.v]
    m.row = pyo.Constraint(expr=x[0] + 0.5 * x[1] <= 0)
    m.sum = pyo.Constraint(expr=x[0] + 2 * x[2] == 1)
    g = pyo.log(pyo.exp(0.3 * x[0] + x[1]) + pyo.exp(-x[2])) + sum(v**2 for v in x) + constant
    program = DCProgram(m, g, 3 * x[0] + dcprog.maximum(x[1], 0.5 * x[0]))
    result = dcprog.solve(program, x0=[0, 0, 0.5 / unit])
    assert str(result.status) == "converged"
    assert result["v"] * unit == pytest.approx([0, 0, 0.5], abs=1e-8)


def test_answers_are_sharpened_where_nothing_moves():
    """C = {0} × [0, 1], which a row and a curved one say: f there is known, and its minimum is."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 1), initialize=0)
    m.row = pyo.Constraint(expr=m.x[0] ** 2 + m.x[0] <= 0)
    result = dcprog.solve(DCProgram(m, pyo.exp(m.x[1]) + pyo.exp(m.x[0]), 2 * m.x[1] + 5 * m.x[0]))
    assert str(result.status) == "converged"
    assert result.objective == pytest.approx(3 - 2 * np.log(2), abs=1e-6)

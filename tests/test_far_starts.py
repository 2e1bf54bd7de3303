"""Where a run comes from says nothing of where it is: far starts and dear neighbours hide no error."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram
from dcprog.testing import criticality


@pytest.mark.parametrize(
    ("g", "h", "start", "bounds", "truth"),
    [
        (lambda x: x**4 / 4, lambda x: x, 1e3, (None, None), 1.0),
        (lambda x: x**4 / 4, lambda x: x, 1e5, (None, None), 1.0),
        (lambda x: pyo.exp(x), lambda x: x, 40.0, (-50, 50), 0.0),
        (lambda x: x**4 / 4, lambda x: x**2 / 2, 1e4, (-1e4, 1e4), 1.0),
        (lambda x: x**2 / 2, lambda x: pyo.sqrt(1 + (x - 1) ** 2), 1e9, (None, None), -0.8832036),
        (lambda x: pyo.exp(x), lambda x: x**2 / 4 + x, 20.0, (-2, 50), 0.0),
        (lambda x: x**8 / 8, lambda x: x**2 / 2, 30.0, (-100, 100), 1.0),
    ],
)
def test_a_far_start(g, h, start, bounds, truth):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=start, bounds=bounds)
    program = DCProgram(m, g=g(m.x), h=h(m.x))
    result = dcprog.solve(program)
    assert result.success
    assert result["x"] == pytest.approx(truth, abs=2e-5)
    assert result.gap == pytest.approx(criticality(program, result.x), abs=1e-9)


@pytest.mark.parametrize("dear", [1e4, 1e6, 1e8])
def test_a_cheap_term_beside_a_dear_one(dear):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-2, 2), initialize=1.0), pyo.Var(bounds=(-2, 2), initialize=1.0)
    g, h = dear * abs(m.x - 0.3) + abs(m.y - 0.4), dear * m.x**2 / 8 + m.y**2 / 8
    result = dcprog.solve(DCProgram(m, g=g, h=h))
    assert result.success
    assert (float(result["x"]), float(result["y"])) == pytest.approx((0.3, 0.4), abs=1e-6)


def test_units_that_differ_by_twelve_decades():
    small, large = 1e-6, 1e6
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-2 * small, 2 * small), initialize=0.5 * small)
    m.y = pyo.Var(bounds=(-2 * large, 2 * large), initialize=0.5 * large)
    x, y = m.x / small, m.y / large
    result = dcprog.solve(DCProgram(m, g=0.5 * (x + y) ** 2 + abs(x) + abs(y), h=0.3 * x - 0.2 * y))
    assert result.success
    assert abs(result.objective) < 1e-9


@pytest.mark.parametrize("unit", [1.0, 10.0, 1e3])
def test_a_ball_from_its_centre(unit):
    centre = (1.5, -0.5, -1.1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-2.3 * unit, 2.3 * unit), initialize={i: c * unit for i, c in enumerate(centre)})
    x = [m.x[i] / unit for i in range(3)]
    m.ball = pyo.Constraint(expr=sum((v - c) ** 2 for v, c in zip(x, centre, strict=True)) <= 0.09)
    g = abs(x[0] + x[1] - 1) + dcprog.maximum(x[0] + x[2], x[1] - x[0], -x[2])
    result = dcprog.solve(DCProgram(m, g=g, h=sum(v**2 for v in x)))
    assert result.success
    assert result.objective == pytest.approx(-3.6217374898, abs=1e-6)

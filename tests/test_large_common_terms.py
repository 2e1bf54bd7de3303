"""Terms that stand in both g and h make steps short, but hide no slope: on curved sets, in any notation, without end."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram, Status


@pytest.mark.parametrize("rho", [1e2, 1e5, 1e7])
def test_over_a_curved_set(rho):
    """Directions of the linearised set leave an ellipse at once: f fell in none of them, at a point that is not critical.

    With smaller terms the run crept along the boundary until its iteration limit.
    """
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-10, 10))
    x, y = m.x[0], m.x[1]
    m.ellipse = pyo.Constraint(expr=(2.2 * x - 0.1 * y) ** 2 + (-0.1 * x - 0.5 * y) ** 2 <= 1)
    common = rho * (x**2 + y**2)
    result = dcprog.solve(DCProgram(m, g=0.6 * y + common, h=0.1 * x**2 + common), x0=[0.5, -0.3])
    plain = dcprog.solve(DCProgram(m, g=0.6 * y, h=0.1 * x**2), x0=[0.5, -0.3])
    assert result.status is plain.status is Status.CONVERGED
    assert result.objective == pytest.approx(plain.objective, rel=1e-6)


@pytest.mark.parametrize("rho", [1e7, 3e7, 1e8])
def test_in_two_notations(rho):
    """They do not cancel, and steps of 1e-7 say nothing of the size of x: f falls far beyond them."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-3, 3))
    program = DCProgram(m, g=1.7 * m.x + rho * pyo.sqrt(1 + m.x**2), h=rho * (1 + m.x**2) ** 0.5)
    result = dcprog.solve(program, x0=[0.0])
    assert (result.status, result.objective) == (Status.CONVERGED, pytest.approx(-5.1, rel=1e-6))


def test_a_fall_without_end_is_unbounded():
    """Far away a single step is lost in rounding; all steps together are a ray."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2))
    common = m.x[0] ** 2 + m.x[1] ** 2
    result = dcprog.solve(DCProgram(m, g=common, h=common + m.x[0]), x0=[1.0, 1.0])
    assert result.status is Status.UNBOUNDED

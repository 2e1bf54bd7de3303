"""The convergence plot draws the history, and nothing that a log axis cannot show."""

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog.plots import new_axes


@pytest.fixture(scope="module")
def result():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    return dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic"))


def test_it_draws_the_history(result):
    ax = new_axes()
    assert result.plot(ax) is ax
    (f,) = ax.get_lines()
    np.testing.assert_array_equal(f.get_xydata(), [(r.iteration, r.f) for r in result.history])
    assert ax.get_title() == "quartic: converged"


def test_the_gap_is_on_a_log_axis_and_positive(result):
    ax = new_axes()
    result.plot(ax)
    (right,) = [other for other in ax.figure.axes if other is not ax]
    drawn = right.get_lines()[0].get_ydata()
    assert right.get_yscale() == "log"
    expected = [r.gap for r in result.history if r.gap is not None and r.gap > 0]
    np.testing.assert_array_equal(drawn[np.isfinite(drawn)], expected)


def test_a_run_without_a_gap(result):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    start = dcprog.solve(dcprog.DCProgram(m, g=m.x**2, h=m.x), max_iter=0)
    ax = start.plot(new_axes())
    ax.figure.canvas.draw()
    assert len(ax.get_lines()[0].get_xdata()) == 1

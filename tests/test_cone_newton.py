"""Newton's method with cones: where it ends is a solution by a condition that is written down here, and others agree."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
import dcprog.functions as fn
from dcprog import DCProgram
from dcprog.errors import CapabilityError, DCProgError

C = np.array([0.6, -0.8, 1.2])


def model(n=3):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-4, 4), initialize=0.7)
    return m


def bent(m):
    """φ with ∇φ(0) = C, not conic as it is written."""
    return sum(pyo.cosh(m.x[i]) + m.x[i] ** 4 + C[i] * m.x[i] for i in m.x)


def slope(x):
    return np.sinh(x) + 4 * x**3 + C


def solved(m, g, h=0, solver="cone-newton"):
    result = dcprog.solve(DCProgram(m, g, h), solver=solver, fallback=False)
    assert (str(result.status), result.solver) == ("converged", solver)
    return result


@pytest.mark.parametrize("weight", [1.01, 3.0])
def test_a_norm_that_outweighs_the_slope_at_0_keeps_the_solution_there(weight):
    m = model()
    assert solved(m, weight * np.linalg.norm(C) * fn.Norm2()(m.x) + bent(m))["x"] == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("weight", [0.99, 0.3])
def test_one_that_does_not_lets_it_go_to_where_slope_and_pull_are_opposite(weight):
    m = model()
    lam = weight * np.linalg.norm(C)
    x = solved(m, lam * fn.Norm2()(m.x) + bent(m))["x"]
    assert slope(x) + lam * x / np.linalg.norm(x) == pytest.approx(0, abs=1e-5)


def test_smooth_rows_beside_norms_hold_with_multipliers():
    """The point of {Σ cosh xᵢ ≤ 4} next to p: p − x is a positive multiple of the row's gradient."""
    m, p = model(), np.array([2.0, -1.0, 1.5])
    m.c = pyo.Constraint(expr=sum(pyo.cosh(m.x[i]) for i in m.x) <= 4)
    x = solved(m, fn.Norm2()([m.x[i] - p[i] for i in m.x]))["x"]
    away, normal = p - x, np.sinh(x)
    assert np.cosh(x).sum() == pytest.approx(4, rel=1e-8)
    assert away @ normal == pytest.approx(np.linalg.norm(away) * np.linalg.norm(normal), rel=1e-8)


@pytest.mark.parametrize("f", [fn.LogSumExp(), fn.Logistic(), fn.SumExp(np.eye(3))], ids=["lse", "logistic", "exp"])
def test_what_has_a_conic_form_too_is_solved_alike_by_clarabel(f):
    results = []
    for solver in ("cone-newton", "clarabel"):
        m = model()
        norm = fn.Norm2()([m.x[0] - 1, m.x[1] + m.x[2]])
        results.append(solved(m, norm + f(m.x) + 0.1 * sum(m.x[i] ** 2 for i in m.x), m.x[0], solver))
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-8)


def test_auto_takes_it_for_norms_beside_what_has_no_conic_form():
    m = model(4)
    result = dcprog.solve(DCProgram(m, fn.NuclearNorm()(m.x) + sum(m.x[i] ** 4 for i in m.x), 2 * fn.Norm2()(m.x)))
    assert (str(result.status), result.solver) == ("converged", "cone-newton")


def test_far_from_the_solution_steps_are_shortened():
    """e^12 − … at the start: full Newton steps of the other branch would overflow."""
    m = model(1)
    m.x[0].value = -4.0
    result = solved(m, fn.Norm2()([m.x[0] - 3, 1.0 * m.x[0]]) + pyo.exp(-3 * m.x[0]) + pyo.exp(3 * m.x[0] - 6))
    x = float(result["x"][0])
    pull = (2 * x - 3) / np.hypot(x - 3, x)
    assert pull - 3 * np.exp(-3 * x) + 3 * np.exp(3 * x - 6) == pytest.approx(0, abs=1e-4)


def test_it_says_what_it_does_not_take():
    m = model()
    with pytest.raises(CapabilityError, match="beside cones"):
        dcprog.solve(DCProgram(m, bent(m), 0), solver="cone-newton")
    with pytest.raises(DCProgError, match="option"):
        dcprog.solve(DCProgram(m, bent(m) + fn.Norm2()(m.x), 0), solver="cone-newton", solver_options={"steps": 3})


def test_where_all_is_0_at_the_solution_it_is_found_in_any_unit():
    """x = 0, f = 0: nothing at the solution says what counts as small."""
    for factor in (1e-10, 1e-4, 1.0, 1e10):
        m = model()
        for i in m.x:
            m.x[i].setlb(0)
        g = fn.Norm2()(m.x) + fn.GroupNorm([[0, 1], [1, 2]])(m.x) + sum(m.x[i] ** 2 for i in m.x)
        result = dcprog.solve(DCProgram(m, factor * g, factor * 0.5 * fn.Norm2()(m.x)))
        assert str(result.status) == "converged"
        assert result["x"] == pytest.approx(0, abs=1e-8)

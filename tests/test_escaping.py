"""``escaping``: never above DCA, critical, and no lower point along a coordinate."""

from __future__ import annotations

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram
from dcprog.errors import DataError
from dcprog.functions import Quadratic


def box_qp(seed, n=7, concave=0.0):
    """min ½x'Qx + c'x over the unit box, Q indefinite, and f; ``concave`` is taken off the diagonal of Q."""
    rng = np.random.default_rng(seed)
    Q = rng.integers(-50, 51, size=(n, n)).astype(float)
    Q, c = Q + Q.T - concave * np.eye(n), rng.integers(-50, 51, size=n).astype(float)
    rho = max(0.0, -float(np.linalg.eigvalsh(Q)[0])) + 1.0
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(0, 1), initialize=0.5)
    linear = sum(c[i] * m.x[i] for i in range(n))
    program = DCProgram(m, g=Quadratic(Q + rho * np.eye(n))(m.x) + linear, h=Quadratic(rho * np.eye(n))(m.x))
    return program, lambda x: float(0.5 * x @ Q @ x + c @ x)


@pytest.mark.parametrize("seed", range(6))
def test_it_ends_no_higher_than_dca_and_no_coordinate_leads_lower(seed):
    program, f = box_qp(seed)
    dca, found = dcprog.solve(program), dcprog.solve(program, algorithm="escaping")
    assert found.success
    assert found.objective <= dca.objective + 1e-9
    assert found.objective == pytest.approx(f(found.x))
    for j, t in itertools.product(range(7), np.linspace(0, 1, 5)):
        x = found.x.copy()
        x[j] = t
        assert f(x) >= found.objective - 1e-4 * abs(found.objective)


def test_it_finds_the_least_vertex_more_often_than_dca():
    hits = {"dca": 0, "escaping": 0}
    for seed in range(10):
        program, f = box_qp(seed, n=10, concave=100.0)
        least = min(f(np.array(x)) for x in itertools.product((0.0, 1.0), repeat=10))
        for name in hits:
            value = dcprog.solve(program, algorithm=name, x0=np.full(10, float(seed % 2))).objective
            assert value >= least - 1e-6 * abs(least)
            hits[name] += value <= least + 1e-6 * abs(least)
    assert hits["escaping"] >= 8
    assert hits["escaping"] > hits["dca"]


@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e5])
def test_units_change_nothing(unit):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-3 * unit, 2 * unit), initialize=unit)
    s, t = m.x[0] / unit, m.x[1] / unit
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] >= -5 * unit)
    program = DCProgram(m, g=0.1 * (s + t) ** 2, h=s**2 + t**2)
    result = dcprog.solve(program, algorithm="escaping")
    assert result.objective == pytest.approx(0.1 - 9 - 4, rel=1e-6)
    assert result.violation <= 1e-6 * unit


def test_it_leaves_a_critical_point_within_rows_and_a_disc():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-2, 2), initialize={0: 1.0, 1: 0.0})
    m.disc = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= 2)
    m.row = pyo.Constraint(expr=m.x[0] <= 1)
    program = DCProgram(m, g=0, h=m.x[0] ** 2)
    assert dcprog.solve(program).objective == pytest.approx(-1.0)
    assert dcprog.solve(program, algorithm="escaping").objective == pytest.approx(-2.0)


def test_equations_leave_the_second_search():
    """On a simplex no coordinate moves alone: a subproblem linearised elsewhere finds the other corner."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(0, 1), initialize={0: 0.9, 1: 0.1})
    m.sum = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    program = DCProgram(m, g=0, h=m.x[0] ** 2 + 2 * m.x[1] ** 2)
    assert dcprog.solve(program).objective == pytest.approx(-1.0)
    assert dcprog.solve(program, algorithm="escaping").objective == pytest.approx(-2.0)
    alone = dcprog.algorithms.get("escaping")(most=0)
    assert dcprog.solve(program, algorithm=alone).objective == pytest.approx(-1.0)


def test_without_bounds_it_ends():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.1)
    program = DCProgram(m, g=m.x**4, h=2 * m.x**2 - 0.1 * m.x)
    result = dcprog.solve(program, algorithm="escaping")
    assert result.success
    assert result.x[0] == pytest.approx(-1.0124, abs=1e-3)


def test_a_time_limit_ends_the_search():
    program, _ = box_qp(0, n=40)
    result = dcprog.solve(program, algorithm="escaping", time_limit=0.3)
    assert np.isfinite(result.objective)
    assert str(result.status) in ("converged", "time_limit")


@pytest.mark.parametrize("most", [-1, 1.5, None])
def test_wrong_parameters_are_refused(most):
    with pytest.raises(DataError, match="most"):
        dcprog.algorithms.get("escaping")(most=most)

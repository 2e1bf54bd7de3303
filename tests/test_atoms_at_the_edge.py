"""Functions where they are awkward: at kinks, with fixed or repeated variables, rows of zeros, other units, and no end."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

import dcprog
from dcprog import DCProgram
from dcprog.functions import (
    GroupNorm,
    L1Norm,
    LargestEigenvalue,
    Logistic,
    LogSumExp,
    MaxNorm,
    Norm2,
    NuclearNorm,
    QuadOverLin,
    SquaredNorm,
)
from dcprog.solvers.rays import is_ray, recession_ray

A, b = np.random.default_rng(0).normal(size=(5, 3)), np.arange(5.0)


def model(n, lower=None, upper=None, start=None):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(lower, upper), initialize=start)
    return m


def solve(m, g, h=0):
    return dcprog.solve(DCProgram(m, g=g, h=h))


NORMS = [Norm2(), L1Norm(), MaxNorm(), GroupNorm([[0, 1], [2, 3]]), NuclearNorm()]


@pytest.mark.parametrize("start", [0.0, 1e-12, 1.0, 1e6])
@pytest.mark.parametrize("norm", NORMS, ids=lambda f: type(f).__name__)
def test_a_kink_is_the_solution_and_may_be_the_start(norm, start):
    m = model(4, start=start)
    result = solve(m, 3 * norm(m.x) - m.x[0])
    assert result.success, result.messages
    assert np.abs(result["x"]).max() <= 1e-9 * max(start, 1.0)
    assert 0 <= result.objective <= 1e-8 * max(start, 1.0)


def test_a_norm_in_h_that_starts_at_its_kink_is_critical_there():
    m = model(2, -1, 1, 0.0)
    result = solve(m, SquaredNorm()(m.x), Norm2()(m.x))
    assert result.success
    assert result.objective == 0.0  # 0 ∈ ∂g(0) ∩ ∂h(0)
    free = model(2, -1, 1)
    assert solve(free, SquaredNorm()(free.x), Norm2()(free.x)).objective == pytest.approx(-0.25, abs=1e-9)


def test_repeated_variables_count_each_time():
    for twice, scaled in ((Norm2(), np.diag([np.sqrt(2), 1])), (L1Norm(), np.diag([2.0, 1.0])), (MaxNorm(), np.eye(2))):
        values = []
        for f in (lambda m, f=twice: f([m.x[0], m.x[1], m.x[0]]), lambda m, f=twice, D=scaled: f(D, m.x)):
            m = model(2, -3, 3)
            values.append(solve(m, f(m) + (m.x[0] - 2) ** 2 + (m.x[1] + 1) ** 2).objective)
        assert values[0] == pytest.approx(values[1], abs=1e-7)


def test_fixed_variables_are_numbers():
    m = model(3)
    m.x[1].fix(2.0)
    left = model(2)
    columns = [0, 2]
    fixed = solve(m, Norm2()(A, m.x, -b) + L1Norm()(m.x))
    moved = solve(left, Norm2()(A[:, columns], left.x, 2 * A[:, 1] - b) + L1Norm()(left.x) + 2)
    assert fixed.objective == pytest.approx(moved.objective, abs=1e-7)
    m.x.fix(2.0)
    m.y = pyo.Var(bounds=(0, 1))
    assert solve(m, Norm2()(m.x) + Norm2()(m.x) ** 2 + m.y).objective == pytest.approx(np.sqrt(12) + 12, abs=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("f", [Norm2(), L1Norm(), SquaredNorm(), Logistic(), LogSumExp()], ids=lambda f: type(f).__name__)
def test_rows_of_zeros_are_constants(f, kind):
    Z = A.copy()
    Z[[1, 3]] = 0.0
    values = []
    for bound in (
        lambda m: f(kind(Z), m.x, -b),
        lambda m: f([sum(Z[i, j] * m.x[j] for j in range(3)) - b[i] for i in range(5)]),
    ):
        m = model(3, -9, 9)
        values.append(solve(m, bound(m) + 0.1 * SquaredNorm()(m.x)).objective)
    assert values[0] == pytest.approx(values[1], rel=1e-7)
    m = model(3, -9, 9)
    assert solve(m, f(kind(0 * A), m.x, -b) + L1Norm()(m.x)).objective == pytest.approx(f.value(-b), rel=1e-7)


def test_dependent_columns_leave_the_value_as_it_is():
    R = np.outer(np.arange(1, 6.0), [1, 2, 3.0])
    m = model(3)
    assert solve(m, Norm2()(R, m.x, -b)).objective == pytest.approx(np.sqrt(30 - 40**2 / 55), abs=1e-8)
    assert solve(m, SquaredNorm()(R, m.x, -b)).objective == pytest.approx(30 - 40**2 / 55, abs=1e-8)


def ball(u):
    m = model(3)
    m.ball = pyo.Constraint(expr=Norm2()(m.x) <= 2 * u)
    return m, Norm2()(A, m.x, -b * u) / u + 0.3 * L1Norm()(m.x) / u


def groups(u):
    m = model(3)
    return m, Logistic()(A / u, m.x) + 0.5 * GroupNorm([[0, 1], [2]])(m.x) / u - 0.2 * m.x[0] / u


def beside_exponentials(u):
    m = model(3)
    norm = Norm2()([m.x[0] / u - 1, m.x[1] / u - 1, m.x[2] / u])
    return m, pyo.exp(m.x[0] / u) + pyo.exp(-2 * m.x[1] / u) + 3 * norm


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("make", [ball, groups, beside_exponentials])
def test_units_and_factors_change_nothing(make, unit, factor):
    m, g = make(1.0)
    reference = solve(m, g)
    m, g = make(unit)
    result = solve(m, factor * g)
    assert result.success, result.messages
    assert result.objective == pytest.approx(factor * reference.objective, rel=1e-6)


def beyond(m):
    m.a = pyo.Constraint(expr=Norm2()(m.x) <= 1)
    m.b = pyo.Constraint(expr=m.x[0] >= 2)


def apart(m):
    m.a = pyo.Constraint(expr=Norm2()([m.x[0] - 3, m.x[1]]) <= 1)
    m.b = pyo.Constraint(expr=Norm2()([m.x[0] + 3, m.x[1]]) <= 1)


def negative(m):
    m.a = pyo.Constraint(expr=GroupNorm([[0, 1], [2]])(m.x) <= -1)


def eigenvalues(m):
    m.a = pyo.Constraint(expr=LargestEigenvalue()([[m.x[0], m.x[1]], [m.x[1], m.x[2]]]) <= -1)
    m.b = pyo.Constraint(expr=m.x[0] >= 0)


@pytest.mark.parametrize("rows", [beyond, apart, negative, eigenvalues])
def test_cones_without_a_point_are_infeasible_by_proof(rows):
    m = model(3)
    rows(m)
    assert solve(m, m.x[0] ** 2).status is dcprog.Status.INFEASIBLE


FALLING = {
    "norm": (lambda x: Norm2()(x) - 2 * x[0], 0),
    "norm in h": (lambda x: Norm2()(x), lambda x: 2 * Norm2()(x)),
    "groups": (lambda x: GroupNorm([[0, 1], [2, 3]])(x) - 1.5 * x[3], 0),
    "eigenvalue": (lambda x: LargestEigenvalue()(x), 0),
    "nuclear norm": (lambda x: NuclearNorm()(x) - 1.1 * x[0], 0),
    "logistic": (lambda x: Logistic()(x) - 2 * x[0], 0),
    "quadratic over linear": (lambda x: QuadOverLin()([x[0], x[1] + 1]) - x[1], 0),
}


@pytest.mark.parametrize("name", FALLING)
def test_what_falls_for_ever_is_unbounded_by_proof(name):
    g, h = FALLING[name]
    m = model(4)
    m.x[1].setlb(0)
    result = solve(m, g(m.x), h and h(m.x))
    assert result.status is dcprog.Status.UNBOUNDED, result.messages


@pytest.mark.parametrize("slope", [0.5, 1.0])
def test_what_a_norm_outweighs_has_no_ray(slope):
    """‖x‖ − s·x₀ is bounded below up to s = 1, where it does not grow along x₀."""
    m = model(3)
    problem = DCProgram(m, g=Norm2()(m.x) - slope * m.x[0], h=0).compiled.subproblem
    assert recession_ray(problem, problem.c) is None
    assert not is_ray(problem, problem.c, np.array([1.0, 0.0, 0.0, 1.0]))
    assert is_ray(problem, problem.c - 2 * np.eye(4)[0], np.array([1.0, 0.0, 0.0, 1.0]))
    assert not is_ray(problem, problem.c - 2 * np.eye(4)[0], np.array([1.0, 0.1, 0.0, 1.0]))  # leaves the cone


def test_quadratic_rows_without_a_point_are_infeasible_and_soon():
    """SciPy, which was asked after Ipopt, looked for a point of such sets for ever."""
    rng = np.random.default_rng(0)
    m = model(2, 0, None, 0.5)
    m.total = pyo.Constraint(expr=m.x[0] + m.x[1] == 1)
    m.rows = pyo.ConstraintList()
    for _ in range(30):
        a, c = rng.normal(size=2), rng.normal(size=2)
        m.rows.add((a[0] * m.x[0] + a[1] * m.x[1]) ** 2 + (c[0] * m.x[0] + c[1] * m.x[1]) ** 2 <= 0.1)
    assert solve(m, (m.x[0] - m.x[1]) ** 2).status is dcprog.Status.INFEASIBLE

"""Tangents of DC constraints in a trust region: slopes against differences, the merit that falls, known optima."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dcprog
from dcprog.algorithms import Tangents
from dcprog.algorithms.tangents import TangentProblem
from dcprog.errors import DataError
from dcprog.testing import kkt_gap


def pooling(first=100, dear=16):
    """Haverly's pooling problems (1978): products of a pooled quality and flows."""
    m = pyo.ConcreteModel()
    m.A, m.B, m.Cx, m.Cy, m.Px, m.Py = (pyo.Var(bounds=(0, 500), initialize=0) for _ in range(6))
    m.p = pyo.Var(bounds=(1, 3), initialize=2)
    m.x = pyo.Expression(expr=m.Px + m.Cx)
    m.y = pyo.Expression(expr=m.Py + m.Cy)
    m.profit = pyo.Objective(expr=9 * m.x + 15 * m.y - 6 * m.A - dear * m.B - 10 * (m.Cx + m.Cy), sense=pyo.maximize)
    m.pool = pyo.Constraint(expr=m.Px + m.Py == m.A + m.B)
    m.sulphur = pyo.Constraint(expr=m.p * (m.Px + m.Py) == 3 * m.A + m.B)
    m.first = pyo.Constraint(expr=m.p * m.Px + 2 * m.Cx <= 2.5 * m.x)
    m.second = pyo.Constraint(expr=m.p * m.Py + 2 * m.Cy <= 1.5 * m.y)
    m.most = pyo.ConstraintList()
    m.most.add(m.x <= first)
    m.most.add(m.y <= 200)
    return m


def random_rows(seed):
    """Random bilinear and quartic rows through a known point, and a strictly convex objective."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(-2, 2))
    inside = rng.uniform(-1.5, 1.5, 4)
    for i, v in m.x.items():
        v.set_value(float(rng.uniform(-2, 2)))
        inside[i] = float(inside[i])
    M, t = rng.normal(size=(2, 4, 4)), rng.normal(size=2)

    def body(x, k):
        return sum(M[k, i, j] * x[i] * x[j] for i in range(4) for j in range(i)) + t[k] * x[k] ** 3

    m.equal = pyo.Constraint(expr=body(m.x, 0) == body(inside, 0))
    m.below = pyo.Constraint(expr=body(m.x, 1) <= body(inside, 1))
    centre = rng.normal(size=4)
    m.cost = pyo.Objective(expr=sum((m.x[i] - centre[i]) ** 2 for i in range(4)))
    return m


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_slopes_are_those_of_the_rows(seed):
    program = dcprog.from_pyomo(random_rows(seed))
    c = program.compiled
    tangents = TangentProblem(c.dc, c.subproblem)
    rng = np.random.default_rng(seed)
    x, d = rng.uniform(-1, 1, c.n), rng.normal(size=c.n)
    change = tangents.at(x)

    def rows(t):
        return c.dc.p.values(x + t * d) - c.dc.q.values(x + t * d)

    slope = (rows(1e-6) - rows(-1e-6)) / 2e-6
    np.testing.assert_allclose(tangents.rises(d), slope, atol=1e-6 * (1 + np.abs(slope).max()))
    # the matrix says the same: A (x + d) − s ≤ upper exactly where the tangent at x + d is at most s
    z = np.zeros(c.subproblem.n)
    z[: c.n] = x + d
    mine = slice(c.dc.first, c.dc.first + c.dc.count)
    over = (change.A @ z)[mine] - change.row_upper[mine]
    np.testing.assert_allclose(over, rows(0) + tangents.rises(d), atol=1e-9)
    z[c.dc.s] = 1.0
    np.testing.assert_allclose((change.A @ z)[mine] - change.row_upper[mine], over - 1, atol=1e-9)
    others = [i for i in range(c.subproblem.A.shape[0]) if not c.dc.first <= i < c.dc.first + c.dc.count]
    assert abs(change.A - c.subproblem.A)[others].sum() == 0


@pytest.mark.parametrize("seed", [1, 3, 17, 170, 1234, 5000])
def test_the_merit_falls_while_weights_stay_and_the_end_is_a_kkt_point(seed):
    algorithm = Tangents(dcprog.from_pyomo(random_rows(seed)), most=0)
    before = None
    for state in algorithm:
        if before is not None and np.array_equal(before[1], algorithm.weights):
            assert algorithm.merit(state.x) <= before[0] + 1e-7 * (1 + abs(before[0]))
        before = algorithm.merit(state.x), algorithm.weights.copy()
    if str(algorithm.status) == "converged":
        assert algorithm.relative_violation(state.x) <= algorithm.tol
        assert kkt_gap(algorithm.program, state.x) <= 1e-4 * (1 + abs(state.f))
    else:
        assert str(algorithm.status) in ("stalled", "infeasible_stationary", "iteration_limit"), algorithm.messages


@pytest.mark.parametrize(("first", "dear", "best"), [(100, 16, 400), (600, 16, 600), (100, 13, 750)])
def test_pooling_problems_end_at_their_best_from_a_start_that_is_a_kkt_point(first, dear, best):
    m = pooling(first, dear)
    result = dcprog.solve(m)
    assert result.algorithm == "tangents"
    assert result.success
    assert result.violation <= 1e-6
    assert result.objective == pytest.approx(best, rel=1e-5)
    stuck = dcprog.solve(m, algorithm=Tangents(most=0))
    assert stuck.success
    assert stuck.objective <= best + 1e-3


def test_a_number_of_points_is_asked_for():
    with pytest.raises(DataError, match="most is -1: pass an integer ≥ 0"):
        Tangents(most=-1)


def test_feasible_is_meant_by_the_terms_of_the_row_not_by_those_of_its_halves():
    """1/(x + y) needs a large shift near 0: p and q are of the size of its second derivatives, the row is of size 1."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1e-4, 1), initialize=0.9), pyo.Var(bounds=(1e-4, 1), initialize=0.1)
    m.row = pyo.Constraint(expr=m.x * m.y / (m.x + 2 * m.y) ** 2 >= 0.12)
    m.line = pyo.Constraint(expr=m.x + m.y == 1)
    m.cost = pyo.Objective(expr=m.y)
    result = dcprog.solve(m, time_limit=5)
    assert not result.success or result.violation <= 1e-5

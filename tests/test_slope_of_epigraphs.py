"""The slope that the certificate looks at is that of the subproblem in all of its variables, those of epigraphs included."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import DCProgram, Status
from dcprog.functions import L1Norm, MaxNorm, Norm2


def rosenbrock():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize=1.5)
    m.cost = pyo.Objective(expr=100 * (m.x[1] - m.x[0] ** 2) ** 2 + (1 - m.x[0]) ** 2)
    return m


def test_squares_of_kinks_hide_no_slope():
    """Without bounds g has 100·max(x₁, 0)², whose t² was left out: `converged` at (1.27, 1.61), ∇f = (−0.1, 0.3)."""
    result = dcprog.solve(rosenbrock(), algorithm="dca", max_iter=300)
    x, y = result["x"]
    slope = np.array([-400 * x * (y - x**2) - 2 * (1 - x), 200 * (y - x**2)])
    assert result.status is not Status.CONVERGED or np.abs(slope).max() < 1e-2


G = {
    "a square of a maximum": lambda x: dcprog.maximum(x[0], 0) ** 2 + 3 * x[1] ** 2,
    "a maximum inside with others": lambda x: (x[0] + 2 * dcprog.maximum(x[1], x[2]) + 9) ** 2 + (x[0] + x[2]) ** 2,
    "quadratic pieces": lambda x: dcprog.maximum(x[0] ** 2, (x[1] - 1) ** 2 + x[2]) + 2 * x[0] ** 2 + x[0],
    "exponents of kinks": lambda x: pyo.exp(abs(x[0])) + 2 * x[0] ** 2 - 4 * x[2],
    "linear kinks": lambda x: 2 * abs(x[0]) + dcprog.maximum(x[1], -x[2], 1) + x[0] + 5 * x[1] ** 2,
    "norms": lambda x: Norm2()(list(x.values())) + 3 * x[0] ** 2 + x[1],
    "vectorised kinks": lambda x: L1Norm()(list(x.values())) + 2 * MaxNorm()(list(x.values())) + x[2] ** 2 - x[0],
}


@cache
def program(g):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-2, 2))
    return DCProgram(m, g=G[g](m.x), h=m.x[0] ** 2 + 3 * m.x[1] + pyo.exp(m.x[2]))


@pytest.mark.parametrize("g", G)
@given(x=st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array))
def test_it_is_the_gradient_of_the_subproblem(g, x):
    compiled = program(g).compiled
    problem, u = compiled.subproblem, compiled.h.gradient(x)
    z = compiled.lift(x)
    assert compiled.model_slope(z, u) == pytest.approx(problem.gradient(z, compiled.cost(u)), abs=1e-9)

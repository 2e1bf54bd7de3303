"""A variable may stand in several arguments of a vectorised function: value, derivatives and answers stay right."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcprog
import dcprog.functions as fn
from dcprog import DCProgram
from dcprog.learning.kernel_sums import BlockSum, GaussianSum
from dcprog.learning.kernels import Gaussian
from dcprog.program.compile import oracle
from dcprog.program.expressions import take_apart
from dcprog.testing import check_program

N, ARGUMENTS = 3, 6
rng = np.random.default_rng(11)
A, B = rng.normal(size=(5, ARGUMENTS)), rng.normal(size=(ARGUMENTS, ARGUMENTS))
POINTS = rng.normal(size=(4, ARGUMENTS))


class Own(dcprog.ConvexFunction):
    """√(1 + ‖Bx‖²), a user's function that is neither separable nor in our catalogue."""

    def value(self, x):
        return float(np.sqrt(1 + (B @ x) @ (B @ x)))

    def gradient(self, x):
        return B.T @ (B @ x) / self.value(x)

    def hessian(self, x):
        u = self.gradient(x)
        return (B.T @ B - np.outer(u, u)) / self.value(x)


IN_G = {
    "Exponential": fn.Exponential(2.0),
    "Logarithmic": fn.Logarithmic(0.5),
    "Lp": fn.Lp(0.5, 0.3),
    "CappedL1": fn.CappedL1(0.7),
    "SCAD": fn.SCAD(0.4),
    "MCP": fn.MCP(0.5),
    "Remainder": fn.Remainder(fn.Exponential(2.0)),
    "Linear": fn.Linear(B[0]),
    "Quadratic": fn.Quadratic(B @ B.T, B[1], 3.0),
    "diagonal Quadratic": fn.Quadratic(np.diag(B[2] ** 2), B[1]),
    "LogSumExp": fn.LogSumExp(A, A[:, 0]),
    "LogSumExp of x": fn.LogSumExp(),
    "SumExp": fn.SumExp(A / 2, weights=A[:, 1] ** 2),
    "PiecewiseMaximum": fn.PiecewiseMaximum(A, A[:, 2]),
    "L1Norm": fn.L1Norm(B[3] ** 2),
    "MaxNorm": fn.MaxNorm(),
    "SquaredNorm": fn.SquaredNorm(),
    "Huber": fn.Huber(0.7),
    "Hinge": fn.Hinge(),
    "SquaredHinge": fn.SquaredHinge(),
    "Logistic": fn.Logistic(),
    "OfAffine": fn.OfAffine(fn.Logistic(), A, A[:, 0]),
    "squares of linear forms": fn.OfAffine(fn.SquaredNorm(), A, A[:, 0]),
    "Entropy": fn.Entropy(),
    "LargestSum": fn.LargestSum(2),
    "Continued": fn.Continued("power", 0.0, float("inf"), power=3),
    "Norm2": fn.Norm2(),
    "GroupNorm": fn.GroupNorm([[0, 2], [1, 2, 3], [5]], [1, 2, 0.5]),
    "NuclearNorm": fn.NuclearNorm(columns=3),
    "GaussianSum": GaussianSum(Gaussian(2.0), POINTS),
    "BlockSum": BlockSum(lambda x, z: np.abs(x - z), POINTS),
    "Own": Own(),
}
IN_H_ONLY = {
    "L1MinusL2": fn.L1MinusL2(),
    "capped Remainder": fn.Remainder(fn.CappedL1(0.7)),
    "OfSum": fn.OfSum(fn.Exponential(2.0)),
    "OfSum of three": fn.OfSum(fn.Logarithmic(0.5), parts=3),
}
ALL = IN_G | IN_H_ONLY
SEEDS = st.integers(0, 100_000)


def bound(function, seed):
    """The function bound to six arguments drawn from three variables, and which stands where."""
    random = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(N), bounds=(0 if np.isfinite(function.domain_lower) else -1, 2), initialize=0.5)
    which = random.integers(0, N, size=ARGUMENTS)
    return m, function([m.x[i] for i in which]), which, random


def test_every_function_is_in_this_file():
    elsewhere = {"LargestEigenvalue", "QuadOverLin"}  # no function of any six variables of one sign: test_norms_in_g.py
    assert {entry.name for entry in fn.catalogue()} - elsewhere <= {type(f).__name__ for f in ALL.values()}


@pytest.mark.parametrize("name", ALL)
@given(seed=SEEDS)
def test_value_gradient_and_hessian(name, seed):
    function = ALL[name]
    m, expression, which, random = bound(function, seed)
    f = oracle(take_apart(-3.0 + 2.0 * expression, {id(v): i for i, v in enumerate(m.x.values())}, N))
    x = random.uniform(0.1, 1.4, N)
    S = np.eye(N)[which]
    assert f.value(x) == pytest.approx(2 * function.value(S @ x) - 3)
    assert f.gradient(x) == pytest.approx(2 * S.T @ function.gradient(S @ x))
    if function.has_hessian:
        H = np.asarray(function.hessian(S @ x))
        H = np.diag(H) if function.separable else H
        assert f.hessian(x).toarray() == pytest.approx(2 * S.T @ H @ S)


@pytest.mark.parametrize("name", IN_G)
@given(seed=SEEDS)
def test_minimisers_with_the_function_in_g(name, seed):
    function = IN_G[name]
    m, expression, which, random = bound(function, seed)
    a = random.uniform(-1, 2, N)
    result = dcprog.solve(DCProgram(m, g=expression + sum((m.x[i] - a[i]) ** 2 for i in range(N)), h=0))
    assert result.success, result

    def f(x):
        return function.value(x[which]) + float((x - a) @ (x - a))

    x = result["x"]
    assert result.objective == pytest.approx(f(x), rel=1e-9, abs=1e-9)
    low = m.x[0].lb
    steps = random.normal(size=(200, N)) * 10.0 ** random.uniform(-4, 0, (200, 1))
    for y in np.clip(x + steps, low, 2):
        assert f(y) >= f(x) - 1e-6 * (1 + abs(f(x)))


@pytest.mark.parametrize("name", [name for name in ALL if name != "Entropy"])  # no subgradient at 0, where DCA goes
def test_programs_with_the_function_in_h(name):
    m, expression, which, _ = bound(ALL[name], 5)
    program = DCProgram(m, g=sum(v**4 + v for v in m.x.values()), h=expression)
    check_program(program).raise_if_failed()
    result = dcprog.solve(program)
    x = result["x"]
    assert result.objective == pytest.approx(float((x**4 + x).sum()) - ALL[name].value(x[which]))


@given(seed=SEEDS)
def test_functions_in_constraints(seed):
    random = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(N), bounds=(-3, 3), initialize=0.0)
    which, weights = random.integers(0, N, size=ARGUMENTS), random.uniform(0.5, 2, ARGUMENTS)
    m.ball = pyo.Constraint(expr=fn.L1Norm(weights)([m.x[i] for i in which]) <= 2)
    c = random.normal(size=N)
    result = dcprog.solve(DCProgram(m, g=sum(c[i] * m.x[i] for i in range(N)), h=0))
    on_x = np.bincount(which, weights, N)  # min c'x over Σ wᵢ|xᵢ| ≤ 2, |x| ≤ 3: a knapsack, filled by falling |c|/w
    room, best = 2.0, 0.0
    for i in np.argsort(-np.abs(c) / np.maximum(on_x, 1e-300)):
        step = min(3.0, room / on_x[i]) if on_x[i] > 0 else 3.0
        room, best = room - step * on_x[i], best - abs(c[i]) * step
    assert result.objective == pytest.approx(best, abs=1e-6)


def test_the_same_variable_twice():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-5, 5), initialize=1.0)
    result = dcprog.solve(DCProgram(m, g=fn.L1Norm()([m.x, m.x]) + (m.x - 2) ** 2, h=0))
    assert (result.objective, float(result["x"])) == pytest.approx((3.0, 1.0), abs=1e-6)


def test_each_variable_stands_once_in_what_the_solvers_get():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1), initialize=0.5), pyo.Var(bounds=(0, 1), initialize=0.5)
    m.alias = pyo.Reference(m.x)
    parts = DCProgram(m, g=fn.MaxNorm()(m.y, m.x, m.alias, m.y), h=0).compiled.g_parts
    (function,) = parts.functions
    assert function.indices.tolist() == [1, 0]
    assert repr(function.function) == "Repeated(MaxNorm(), [0, 1, 1, 0])"


def test_a_function_in_g_and_in_h_is_one_object():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 1), initialize=0.5)
    f = fn.Exponential(2.0)
    both = DCProgram(m, g=f(m.x, m.x[0]) + m.x[0] ** 2, h=3 * f(m.x, m.x[0]) + f(m.x[0], m.x[0])).compiled
    (in_g,), (in_h, other) = both.g_parts.functions, both.h_parts.functions
    assert in_g.function is in_h.function
    assert in_g.function is not other.function

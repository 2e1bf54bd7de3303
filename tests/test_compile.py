"""Pyomo → arrays: every part of an expression keeps its value and derivatives, and every way to write a model agrees."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import DCProgram, MatrixConstraint, maximum
from dcprog.functions import Exponential, L1Norm, PiecewiseMaximum
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.program.compile import oracle
from dcprog.program.expressions import take_apart

POINT = st.lists(st.floats(0.2, 1.8), min_size=3, max_size=3).map(np.array)


def three_variables():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), initialize=1.0)
    return m, m.x


EXPRESSIONS = {
    "linear": lambda x: 3 * x[0] - x[1] / 2 + 7,
    "quadratic": lambda x: (x[0] - 2 * x[1]) ** 2 + x[0] * x[2] - 1,
    "products of sums": lambda x: (x[0] + x[1]) * (x[1] - 3 * x[2]),
    "same shape, many terms": lambda x: sum((i + 1) * pyo.exp(x[i] - i * x[(i + 1) % 3]) for i in range(3)),
    "powers": lambda x: x[0] ** 4 + x[1] ** 1.5 + 2 ** x[2] + x[0] ** x[1] + x[2] ** -1,
    "quotients": lambda x: x[0] ** 2 / x[1] + 1 / (x[2] + x[0]),
    "unary": lambda x: (
        pyo.log(x[0]) + pyo.sqrt(x[1]) + pyo.sin(x[2]) * pyo.cos(x[0]) + pyo.tan(x[1] / 3) + pyo.log10(x[2]) + pyo.exp(x[0])
    ),
    "hyperbolic": lambda x: pyo.sinh(x[0]) + pyo.cosh(x[1]) + pyo.tanh(x[2]) + pyo.asinh(x[0]) + pyo.acosh(x[1] + 1.5),
    "inverse": lambda x: pyo.asin(x[0] / 2) + pyo.acos(x[1] / 2) + pyo.atan(x[2]) + pyo.atanh(x[0] / 2),
    "kinks": lambda x: 2 * abs(x[0] - 0.77) + maximum(x[0] ** 2, x[1], 0.31) - x[2],
    "nested": lambda x: pyo.exp(maximum(x[0], abs(x[1] - 0.77))) + abs(x[2]) ** 3,
    "vectorised": lambda x: x[0] ** 2 + 0.5 * Exponential(3)(x) - 2 * Exponential(1)(x[1]),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@given(point=POINT)
def test_value_gradient_and_hessian_of_expressions(name, point):
    _, x = three_variables()
    expression = EXPRESSIONS[name](x)
    f = oracle(take_apart(expression, {id(x[i]): i for i in range(3)}, 3))
    for i in range(3):
        x[i].set_value(point[i])
    assert f.value(point) == pytest.approx(pyo.value(expression), rel=1e-12, abs=1e-12)
    steps = 1e-6 * np.eye(3)
    slopes = [(f.value(point + e) - f.value(point - e)) / 2e-6 for e in steps]
    right = [(f.value(point + e) - f.value(point)) / 1e-6 for e in steps]
    if np.abs(np.subtract(slopes, right)).max() < 1e-3:  # no kink nearby
        assert f.gradient(point) == pytest.approx(slopes, rel=1e-5, abs=1e-5)
        bends = np.array([(f.gradient(point + e) - f.gradient(point - e)) / 2e-6 for e in steps])
        if np.isfinite(bends).all() and np.abs(bends).max() < 1e4:
            assert f.hessian(point).toarray() == pytest.approx(bends, rel=1e-4, abs=1e-4)


def test_subgradients_at_kinks_follow_the_documented_rule():
    _, x = three_variables()
    index = {id(x[i]): i for i in range(3)}
    at_zero = oracle(take_apart(abs(x[0]), index, 3)).gradient(np.zeros(3))
    tie = oracle(take_apart(maximum(2 * x[0], 3 * x[1]), index, 3)).gradient(np.zeros(3))
    assert at_zero.tolist() == [0, 0, 0]
    assert tie.tolist() == [2, 0, 0]


def test_terms_of_one_shape_share_a_tape():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(1000), initialize=1.0)
    f = oracle(take_apart(sum(pyo.exp(-m.x[i]) for i in range(1000)), {id(v): i for i, v in enumerate(m.x.values())}, 1000))
    assert len(f.terms) == 2  # the linear part and one batch
    assert f.hessian(np.ones(1000)).diagonal() == pytest.approx(np.full(1000, np.exp(-1)))


def test_fixed_variables_and_parameters_count_with_their_values():
    m, x = three_variables()
    m.p = pyo.Param(initialize=3.0, mutable=True)
    x[2].fix(2.0)
    m.c = pyo.Constraint(expr=x[0] + x[2] <= 2.5)
    m.rows = MatrixConstraint([[1.0, 1.0, 1.0]], m.x, lower=2.25)
    result = dcprog.solve(DCProgram(m, g=m.p * x[0] ** 2 + x[1] ** 2 * x[2], h=0))
    assert result["x"][2] == 2.0
    assert result["x"][:2] == pytest.approx([0.1, 0.15], abs=1e-6)  # min 3a² + 2b² with a + b ≥ 1/4


def test_named_expressions_blocks_and_grids():
    m = pyo.ConcreteModel()
    m.blk = pyo.Block()
    m.blk.W = pyo.Var(["a", "b"], [1, 2, 3], bounds=(-1, 1), initialize=0.1)
    m.e = pyo.Expression(expr=sum(v**2 for v in m.blk.W.values()))
    result = dcprog.solve(DCProgram(m, g=2 * m.e + 1, h=abs(m.blk.W["a", 1])))
    assert result["blk.W"].shape == (2, 3)
    assert result["blk.W"][0, 0] == pytest.approx(0.25, abs=1e-6)
    result.load_into(m)
    assert m.blk.W["a", 1].value == pytest.approx(0.25, abs=1e-6)


def test_vectors_given_to_a_matrix_constraint_may_be_in_any_order():
    m = pyo.ConcreteModel()
    m.a, m.b = pyo.Var(initialize=0), pyo.Var(range(2), initialize=0)
    m.rows = MatrixConstraint([np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3.0, 4.0])], [m.b, m.a], lower=[1, 2])
    assert DCProgram(m, g=m.a**2, h=0).compiled.subproblem.A.toarray().tolist() == [[3, 1, 0], [4, 0, 2]]


KINKS = {
    "abs": lambda x: abs(x[0] - 1) + 2 * abs(x[1]) + abs(x[2] + 1),
    "maximum": lambda x: maximum(x[0] - 1, 1 - x[0]) + 2 * maximum(x[1], -x[1]) + maximum(-x[2] - 1, x[2] + 1),
    "functions": lambda x: (
        PiecewiseMaximum([[1.0], [-1.0]], [-1.0, 1.0])(x[0])
        + L1Norm([2.0])(x[1])
        + PiecewiseMaximum([[1.0], [-1.0]], [1.0, -1.0])(x[2])
    ),
}


@pytest.mark.parametrize("name", KINKS)
def test_three_ways_to_write_a_kink_in_g_give_the_same_linear_program(name):
    m, x = three_variables()
    m.c = pyo.Constraint(expr=x[0] + x[1] + x[2] == 3)
    program = DCProgram(m, g=KINKS[name](x), h=0)
    assert str(program.compiled.subproblem.problem_class) == "LP"
    assert dcprog.solve(program).objective == pytest.approx(3.0, abs=1e-9)


def test_kinks_and_quadratics_in_constraints():
    m, x = three_variables()
    m.diamond = pyo.Constraint(expr=sum(abs(x[i]) for i in range(3)) <= 1)
    m.low = pyo.Constraint(expr=-maximum(x[0], x[1]) >= -0.5)
    m.ball = pyo.Constraint(expr=x[0] ** 2 + x[1] ** 2 <= 0.5)
    result = dcprog.solve(DCProgram(m, g=-x[0] - x[1] / 2, h=0))
    assert result["x"] == pytest.approx([0.5, 0.5, 0.0], abs=1e-5)


def test_a_range_whose_curvature_cancels_is_a_range():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=1.5), pyo.Var(initialize=0.0)
    m.c = pyo.Constraint(expr=(1, m.x + m.y**2 - m.y**2, 2))
    program = DCProgram(m, g=m.x**2 + m.y**2, h=0)
    assert str(program.compiled.subproblem.problem_class) == "QP"
    assert float(dcprog.solve(program)["x"]) == pytest.approx(1.0, abs=1e-7)


def test_both_limits_of_a_kinked_range_hold():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=1.0), pyo.Var(bounds=(-5, 5), initialize=0.0)
    m.upper = pyo.Constraint(expr=m.x + abs(m.y) <= 2)
    m.lower = pyo.Constraint(expr=m.x - abs(m.y) >= 1)
    assert dcprog.solve(DCProgram(m, g=m.x, h=0)).objective == pytest.approx(1.0, abs=1e-7)
    assert dcprog.solve(DCProgram(m, g=-m.x, h=0)).objective == pytest.approx(-2.0, abs=1e-7)


def test_a_declared_convex_constraint_is_taken():
    m, x = three_variables()
    m.c = pyo.Constraint(expr=sum(pyo.exp(v) + pyo.exp(-v) - v**2 for v in (x[0], x[1])) <= 5)  # the Hessian is 0 at 0
    with pytest.raises(dcprog.errors.ConvexityError, match="declare"):
        DCProgram(m, g=-x[0] - x[1], h=0)
    m.x[2].setlb(0)
    result = dcprog.solve(DCProgram(m, g=-x[0] - x[1] + x[2], h=0, assume_convex=[m.c]))
    t = result["x"][:2]
    assert t[0] == pytest.approx(t[1], abs=1e-5)
    assert 2 * np.cosh(t) - t**2 == pytest.approx([2.5, 2.5], abs=1e-5)


def test_a_constraint_that_is_proved_needs_no_declaration():
    m, x = three_variables()
    m.c = pyo.Constraint(expr=pyo.exp(x[0]) + pyo.exp(x[1]) <= 4)
    m.x[2].setlb(0)
    result = dcprog.solve(DCProgram(m, g=-x[0] - x[1] + x[2], h=0))
    assert result["x"][:2] == pytest.approx(np.log([2, 2]), abs=1e-5)


@given(seed=st.integers(0, 1000), size=st.sampled_from([3, 40, 450]), rank=st.integers(1, 3), shift=st.sampled_from([0, -1]))
def test_positive_semidefiniteness_against_eigenvalues(seed, size, rank, shift):
    rng = np.random.default_rng(seed)
    B = sp.random_array((size, rank * 2), density=0.3, rng=rng)
    Q = sp.csc_array(B @ B.T + shift * sp.diags_array((rng.random(size) < 0.3).astype(float)))
    smallest = np.linalg.eigvalsh(Q.toarray())[0]
    expected = smallest >= -1e-9 * max(np.abs(Q.toarray()).max(), 1e-300)
    assert is_positive_semidefinite(Q) == expected

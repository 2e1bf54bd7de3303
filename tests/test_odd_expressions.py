"""Odd g, h, constraints and models: an answer that is right, or one of our errors that says what to do."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pyomo.environ as pyo
import pytest
from pyomo.core.expr.numeric_expr import MinExpression

import dcprog
from dcprog import DCProgram, errors, maximum
from dcprog.functions import Exponential, L1Norm, Linear, MaxNorm, Norm2, OfSum
from dcprog.program.compile import oracle
from dcprog.program.expressions import take_apart


def model(initialize=0.5):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-1, 1), initialize=initialize)
    m.p, m.zero = pyo.Param(mutable=True), pyo.Param(initialize=0.0, mutable=True)
    m.two, m.text = pyo.Param(initialize=2.0, mutable=True), pyo.Param(initialize="abc", within=pyo.Any, mutable=True)
    m.e = pyo.Expression()
    m.X = pyo.Var(range(2), range(3), bounds=(-1, 1), initialize=initialize)
    m.I = pyo.Set(initialize=[1, 2])
    return m


REFUSED = {
    "None": (lambda m: None, "is None .*pass 0"),
    "a string": (lambda m: "x**2", r"is 'x\*\*2' \(str\)"),
    "an array": (lambda m: np.array([1.0, 2.0]), "ndarray.*sum its entries"),
    "an array of variables": (lambda m: np.array([m.x[0], m.x[1]]), "ndarray.*sum its entries"),
    "a list": (lambda m: [m.x[0]], "list.*sum its entries"),
    "an inequality": (lambda m: m.x[0] <= 1, r"a relation, expected a value"),
    "an equation": (lambda m: m.x[0] == 1, r"a relation, expected a value"),
    "a logical expression": (lambda m: pyo.land(m.x[0] <= 1, m.x[1] <= 1), "no numeric value"),
    "a Boolean": (lambda m: True, "pass 0 or 1"),
    "a complex number": (lambda m: 1j, "complex"),
    "too large a number": (lambda m: 10**400, "no real value"),
    "an indexed variable": (lambda m: m.x, "several components"),
    "a slice": (lambda m: m.x[:], r"x\[:\].*several components"),
    "a set": (lambda m: m.I, "no numeric value"),
    "an unbound function": (lambda m: Norm2(), r"bind it to variables, as in Norm2\(…\)\(m.x\)"),
    "a Python function": (lambda m: lambda x: x, "expected a Pyomo expression"),
    "a condition": (lambda m: pyo.Expr_if(IF=m.x[0] >= 0, THEN=m.x[0], ELSE=-m.x[0]), r"Expr_if.*dcprog\.maximum"),
    "an inner condition": (lambda m: pyo.exp(pyo.Expr_if(IF=m.x[0] >= 0, THEN=m.x[0], ELSE=1)), "Expr_if"),
    "floor": (lambda m: 2 * pyo.floor(m.x[0]), "floor.*no derivative"),
    "parameter as a factor": (lambda m: m.p * m.x[0], "p has no value: give it one"),
    "parameter in a product": (lambda m: 2 * m.p * m.x[0], r"2\*p has no value, since p has none"),
    "parameter as a term": (lambda m: m.p + m.x[0], "p has no value"),
    "parameter in a function": (lambda m: pyo.exp(m.p * m.x[0]), "p has no value"),
    "parameter as an exponent": (lambda m: m.x[0] ** m.p, "p has no value"),
    "parameter in a kink": (lambda m: abs(m.p * m.x[0]), "p has no value"),
    "parameter in a square": (lambda m: (m.p + m.x[0]) ** 2, "p has no value"),
    "parameter before a function": (lambda m: m.p * L1Norm()(m.x), "p has no value"),
    "parameter that is a text": (lambda m: m.text * m.x[0], "text has no real value"),
    "empty named expression": (lambda m: m.e + m.x[0], "e has no value"),
    "empty named expression inside": (lambda m: pyo.exp(m.e + m.x[0]), "e has no value"),
    "division by zero": (lambda m: m.x[0] / m.zero, "division by zero"),
    "constant division by zero": (lambda m: 1 / m.zero + m.x[0], "division by zero"),
    "inner division by zero": (lambda m: pyo.exp(m.x[0] / m.zero), "division by zero"),
    "logarithm of zero": (lambda m: pyo.log(m.zero) * m.x[0], "no real value"),
    "root of a negative number": (lambda m: (m.zero - 1) ** 0.5 * m.x[0], "no real value"),
    "powers of a negative number": (lambda m: (-2) ** m.x[0], "base -2.*take a base > 0"),
    "variable of another model": (lambda m: model().x[0] ** 2, "another model"),
    "function of a set": (lambda m: Norm2()(m.I), "takes variables"),
    "function of a text": (lambda m: Norm2()("x"), "expected Pyomo variables, got str"),
    "function of a parameter": (lambda m: Norm2()(m.two), "takes variables"),
    "function of nothing": (lambda m: Norm2()(None), "expected Pyomo variables, got NoneType"),
    "maximum of a text": (lambda m: maximum("a", m.x[0]), "piece 0 of maximum"),
    "maximum of a list": (lambda m: maximum([m.x[0], 1]), "piece 0 of maximum"),
    "maximum of a relation": (lambda m: maximum(0, m.x[0] <= 1), "piece 1 of maximum.*relation"),
    "halves of an odd number": (lambda m: OfSum(Exponential())(m.x, m.x[0]), "OfSum"),
}


@pytest.mark.parametrize("initialize", [0.5, None])
@pytest.mark.parametrize("where", ["g", "h"])
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_function(name, where, initialize):
    make, says = REFUSED[name]
    m = model(initialize)
    with pytest.raises(errors.DCProgError, match=says):
        DCProgram(m, **({"g": m.x[0] ** 2, "h": 0} | {where: make(m)}))


def test_an_objective_to_be_maximised():
    m = model()
    m.o = pyo.Objective(expr=m.x[0], sense=pyo.maximize)
    m.o.deactivate()
    with pytest.raises(errors.ModelError, match="maximised"):
        DCProgram(m, g=m.o, h=0)
    m.o.sense = pyo.minimize
    assert dcprog.solve(DCProgram(m, g=m.o, h=0)).objective == pytest.approx(-1)


TAKEN = {
    "no variable left": (lambda m: (2 + 0.0 * m.x[0]) ** 4, 16.0),
    "no variable left inside": (lambda m: pyo.exp(0.0 * m.x[0]), 1.0),
    "power zero": (lambda m: m.x[0] ** 0 + m.x[0] ** 1, 0.0),
    "power zero of something curved": (lambda m: (m.x[0] * m.x[1] * m.x[1]) ** 0 + pyo.exp(m.x[0] - m.x[0]) ** 0, 2.0),
    "functions of power zero": (lambda m: pyo.exp(m.x[0] ** 0 - 1) + abs(m.x[1] ** 0) + maximum(2, m.x[0] ** 0), 4.0),
    "a parameter as an exponent": (lambda m: (m.x[0] - 0.5) ** m.two, 0.0),
    "a NumPy number": (lambda m: np.float64(3), 3.0),
    "an array without dimensions": (lambda m: np.array(3.0), 3.0),
    "a fraction": (lambda m: Fraction(1, 2), 0.5),
    "a slice": (lambda m: L1Norm()(m.X[0, :]) + 1, 1.0),
    "a generator": (lambda m: MaxNorm()(m.x[i] for i in m.x) + 1, 1.0),
    "an array of variables": (lambda m: L1Norm()(np.array([[m.x[0], m.x[1]]])) + 1, 1.0),
    "a minimum": (lambda m: -MinExpression((m.x[0], m.x[1], 0.5)), -0.5),
    "a constant maximum": (lambda m: maximum(1, m.two), 2.0),
    "a quadratic in disguise": (lambda m: ((m.x[0] + 1) * 2) ** 2 / 4 + (m.x[1] * 3) * m.x[1] / 3, 0.0),
    "a reciprocal of numbers": (lambda m: m.x[0] ** 2 / (m.two**2) ** 0.5 + 1, 1.0),
}


@pytest.mark.parametrize("initialize", [0.5, None])
@pytest.mark.parametrize("name", TAKEN)
def test_what_looks_odd_and_is_taken(name, initialize):
    make, expected = TAKEN[name]
    m = model(initialize)
    program = DCProgram(m, g=make(m), h=0)
    assert dcprog.solve(program).objective == pytest.approx(expected, abs=1e-7)
    assert not program.compiled.g_parts.tapes or name == "no variable left inside"


def test_fixed_variables_are_numbers_wherever_they_stand():
    m = model()
    m.f = pyo.Var(initialize=3.0)
    m.f.fix()
    x, f = m.x, m.f
    index = {id(x[0]): 0, id(x[1]): 1}
    for expression, kinks in (
        (f * abs(x[0]) + x[0] * f**2, 1),
        ((x[0] + f) * (f + x[1]) / f, 0),
        (maximum(f, x[0]) * (f + 1) + maximum(f, 1), 1),
        (L1Norm()(f, f) + (f + x[0]) ** 2, 0),
        (f * (f * (x[0] + f) + pyo.exp(f)), 0),
    ):
        parts = take_apart(expression, index, 2)
        assert (len(parts.kinks), parts.tapes, parts.functions) == (kinks, [], [])
        value = oracle(parts).value(np.array([x[0].value, x[1].value]))
        assert value == pytest.approx(pyo.value(expression))


@pytest.mark.parametrize("value", [None, float("nan"), float("inf")])
def test_a_fixed_variable_without_a_value(value):
    m = model()
    m.x[1].fix(value, skip_validation=True) if value is not None else m.x[1].set_value(None)
    m.x[1].fixed = True
    m.rows = dcprog.MatrixConstraint([[1.0, 1.0]], m.x, lower=0.0)
    with pytest.raises(errors.DataError, match=r"variable x\[1\] is fixed at .*: fix it at a number, or unfix it"):
        DCProgram(m, g=m.x[0], h=0)


def test_limits_without_a_value():
    m = model()
    m.c = pyo.Constraint(expr=m.x[0] <= m.p)
    with pytest.raises(errors.DCProgError, match=r"constraint c cannot be read.*p"):
        DCProgram(m, g=m.x[0], h=0)
    m = model()
    m.c = pyo.Constraint(expr=pyo.inequality(m.x[1], m.x[0], 1))
    with pytest.raises(errors.ModelError, match="constraint c cannot be read"):
        DCProgram(m, g=m.x[0], h=0)
    m = model()
    m.x[0].setub(m.p)
    with pytest.raises(errors.DataError, match=r"bound ub of variable x\[0\] has no value"):
        DCProgram(m, g=m.x[0], h=0)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"tol": -1}, "tol is -1"),
        ({"tol": float("nan")}, "tol is nan"),
        ({"tol": float("inf")}, "tol is inf"),
        ({"tol": "small"}, "tol is 'small'"),
        ({"tol": True}, "tol is True"),
        ({"stop_on": 3}, "unknown variable 3"),
        ({"stop_on": ["z"]}, "unknown variable 'z'"),
        ({"derived": 3}, "derived is 3"),
        ({"derived": {"a": 3}}, "derived is"),
        ({"derived": {"x": len}}, "derived has 'x', which is a variable"),
        ({"interpret": 3}, "interpret is 3"),
        ({"assume_convex": 3}, "assume_convex is 3"),
        ({"assume_convex": "c"}, "assume_convex is 'c'"),
        ({"assume_convex": [3]}, "assume_convex lists 3"),
    ],
)
def test_arguments_of_a_program(arguments, says):
    m = model()
    with pytest.raises(errors.DCProgError, match=says):
        DCProgram(m, g=m.x[0] ** 2, h=0, **arguments)


def test_one_name_one_variable_and_one_constraint():
    m = model()
    m.c = pyo.Constraint(expr=pyo.exp(m.x[0]) <= 2)
    for stop_on in ("x", m.x, [m.x], ["x"]):
        assert DCProgram(m, g=m.x[0] ** 2, h=0, stop_on=stop_on, assume_convex=m.c).stop_on == ("x",)


@pytest.mark.parametrize(
    ("x0", "says"),
    [
        ("abc", "x0 does not hold real numbers"),
        (["a"] * 8, "x0 does not hold real numbers"),
        ([1j] * 8, "x0 does not hold real numbers"),
        ([10**400] * 8, "x0 does not hold real numbers"),
        ([[1], [2, 3]], "x0 does not hold real numbers"),
        ({1, 2}, "x0 does not hold real numbers"),
        (object(), "x0 does not hold real numbers"),
        ([None] * 8, "NaN"),
        (3, "1 entries, but the program has 8"),
        ({"x": "abc"}, r"x0\['x'\] does not hold real numbers"),
        ({"x": {0: 1.0}}, r"x0\['x'\] does not hold real numbers"),
        ({"x": [[1], [2, 3]]}, r"x0\['x'\] does not hold real numbers"),
        ({"x": None}, "NaN"),
        ({3: 1}, "unknown variable 3"),
    ],
)
def test_starts(x0, says):
    m = model()
    program = DCProgram(m, g=Linear(np.ones(2))(m.x), h=0)
    with pytest.raises(errors.DCProgError, match=says):
        dcprog.solve(program, x0=x0)


def test_a_start_by_variable():
    m = model()
    program = DCProgram(m, g=m.x[0] ** 2, h=0)
    assert program.vector({m.x: [0.25, -0.25]})[:2].tolist() == [0.25, -0.25]


DEEP = {
    "roots": lambda e, m: pyo.sqrt(1 + e**2),
    "halves": lambda e, m: 0.5 * (e + m.x[0]),
    "quotients": lambda e, m: e / 1.01,
    "reciprocals": lambda e, m: 1 / (1 + e),
    "exponentials": lambda e, m: pyo.exp(0.1 * e),
    "squares": lambda e, m: 0.5 * (e + m.x[0] ** 2),
    "powers": lambda e, m: e**1.0,
    "maxima": lambda e, m: maximum(e, m.x[0]),
    "fixed": lambda e, m: (e + 1) * (m.f * m.f),
}


@pytest.mark.parametrize("where", ["g", "h"])
@pytest.mark.parametrize("name", DEEP)
def test_thousands_of_nested_operations(name, where):
    m = model(0.3)
    m.f = pyo.Var(initialize=0.5)
    m.f.fix()
    e = m.x[0]
    for _ in range(3000):
        e = DEEP[name](e, m)
    assert sys.getrecursionlimit() < 3000
    index = {id(m.x[0]): 0}
    f = oracle(take_apart(e, index, 1, where))
    x = np.array([0.3])
    assert f.value(x) == pytest.approx(pyo.value(e), rel=1e-9)
    slope = (f.value(x + 1e-6) - f.value(x - 1e-6)) / 2e-6
    assert f.gradient(x)[0] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_named_expressions_within_named_expressions():
    m = model()
    e = m.x[0]
    for i in range(3000):
        m.add_component(f"e{i}", pyo.Expression(expr=e + 0.001))
        e = m.component(f"e{i}")
    assert dcprog.solve(DCProgram(m, g=e, h=0)).objective == pytest.approx(2.0)


def test_maxima_too_deep_for_rows():
    m = model()
    e = m.x[0]
    for _ in range(150):
        e = 0.9 * maximum(e, -m.x[1])
    with pytest.raises(errors.ModelError, match="nested more than 100 deep in g"):
        DCProgram(m, g=e, h=0)
    assert DCProgram(m, g=m.x[0] ** 2, h=e)

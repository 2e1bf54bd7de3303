"""Constraints that are not quadratic: declared convex they are taken, unless two points of C refute it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from curved_functions import NOT_CONVEX, model

import dcprog
from dcprog import DCProgram, maximum
from dcprog.errors import ConvexityError
from dcprog.program.claims import Finding
from dcprog.testing import check_program

NOT_A_CONVEX_SET = {
    "outside of a circle": (2, -2, 2, lambda x: x[0] ** 2 + x[1] ** 2 >= 1),
    "corner cut by a circle": (2, 0.5, 3, lambda x: x[0] ** 2 + x[1] ** 2 >= 1),
    "outside of a circle, no bounds": (2, None, None, lambda x: x[0] ** 2 + x[1] ** 2 >= 1),
    "outside of a ball": (10, -2, 2, lambda x: sum(v**2 for v in x) >= 1),
    "sine": (1, -3, 3, lambda x: pyo.sin(x[0]) <= 0.5),
    "below a hyperbola": (2, 0.1, 5, lambda x: x[0] * x[1] <= 1),
    "star": (2, 0, 2, lambda x: pyo.sqrt(x[0]) + pyo.sqrt(x[1]) <= 1),
    "above a sine": (2, -3, 3, lambda x: x[1] >= pyo.sin(x[0])),
    "below an exponential": (2, 0.1, 5, lambda x: x[1] <= pyo.exp(x[0])),
    "above a cubic": (2, -2, 2, lambda x: x[1] >= x[0] ** 3),
    "sum of exponentials": (2, -2, 2, lambda x: pyo.exp(x[0]) + pyo.exp(x[1]) >= 2),
    "two intervals": (1, -3, 3, lambda x: x[0] ** 4 - x[0] ** 2 >= 0.1),
    "above a tanh": (2, -3, 3, lambda x: x[1] >= pyo.tanh(2 * x[0])),
    "a maximum": (1, -3, 3, lambda x: maximum(pyo.sin(x[0]), -2) <= 0.5),
}

A_CONVEX_SET = {
    "sum of exponentials": (2, -2, 2, lambda x: pyo.exp(x[0]) + pyo.exp(x[1]) <= 4),
    "geometric mean": (2, 0.01, 5, lambda x: pyo.sqrt(x[0] * x[1]) >= 1),
    "above a hyperbola": (2, 0.01, 5, lambda x: x[0] * x[1] >= 1),
    "below a logarithm": (2, 0.1, 5, lambda x: x[1] <= pyo.log(x[0])),
    "square over linear": (2, 0.1, 5, lambda x: x[0] ** 2 / x[1] <= 1),
    "norm": (3, -5, 5, lambda x: pyo.sqrt(sum(v**2 for v in x) + 1e-9) <= 2),
    "quartic": (2, -3, 3, lambda x: x[0] ** 4 + x[1] ** 4 <= 1),
    "cubic, an interval": (1, -2, 2, lambda x: x[0] ** 3 <= 1),
    "entropy": (3, 0.001, 1, lambda x: sum(v * pyo.log(v) for v in x) <= -0.5),
    "above an exponential": (2, None, None, lambda x: pyo.exp(x[0]) <= x[1]),
    "a maximum": (2, -3, 3, lambda x: maximum(pyo.exp(x[0]), x[1]) <= 2),
    "cone": (2, 0, 5, lambda x: x[0] ** 2 <= x[1] ** 2),
}


@pytest.mark.parametrize("name", NOT_A_CONVEX_SET)
def test_a_declaration_that_is_wrong_is_refuted(name):
    n, lower, upper, make = NOT_A_CONVEX_SET[name]
    m, x = model(n, lower, upper)
    m.c = pyo.Constraint(expr=make(x))
    with pytest.raises(ConvexityError, match="constraint c"):
        DCProgram(m, g=sum(v**2 for v in x), h=0, assume_convex=[m.c])


@pytest.mark.parametrize("name", A_CONVEX_SET)
def test_a_declaration_that_is_right_is_taken_and_recorded(name):
    n, lower, upper, make = A_CONVEX_SET[name]
    m, x = model(n, lower, upper)
    m.c = pyo.Constraint(expr=make(x))
    program = DCProgram(m, g=sum(v**2 for v in x), h=0, assume_convex=[m.c])
    said = [s for s in (*program.assumptions, *program.proofs) if s.startswith("constraint c is convex: ")]
    assert len(said) == 1
    assert (said[0] in program.proofs) == (name not in ("cubic, an interval", "cone", "above a hyperbola"))
    of_one_family = dcprog.Family(m, assume_convex=[m.c]).program(g=sum((v - 1) ** 2 for v in x), h=0)
    assert of_one_family.assumptions == program.assumptions


def test_check_program_refutes_a_wrong_declaration_too(monkeypatch):
    m, x = model(2, -2, 2, initialize=1.0)
    m.c = pyo.Constraint(expr=x[0] ** 2 + x[1] ** 2 >= 1)
    with monkeypatch.context() as blind:
        blind.setattr("dcprog.program.convex_model.check_set", lambda points: Finding(("believed",)))
        program = DCProgram(m, g=x[0] + x[1], h=0, assume_convex=[m.c])
    report = check_program(program)
    assert any("declared convex, but is not" in check.detail for check in report if not check.passed)


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_pieces_of_kinked_rows_are_convex_on_c(name):
    n, lower, upper, make = NOT_CONVEX[name]
    m, x = model(n, lower, upper)
    m.c = pyo.Constraint(expr=maximum(make(x), -1e12) <= 1e12)
    with pytest.raises(ConvexityError, match="constraint c is not convex"):
        DCProgram(m, g=x[0], h=0)


class Sine(dcprog.ConvexFunction):
    """Not convex, whatever its class says."""

    separable = True

    def value(self, x):
        return float(np.sin(x).sum())

    def gradient(self, x):
        return np.cos(x)


def test_a_users_function_in_a_constraint_is_sampled():
    m, x = model(2, -3, 3)
    m.c = pyo.Constraint(expr=Sine()(m.x) <= 0.5)
    with pytest.raises(ConvexityError, match="constraint c is not convex"):
        DCProgram(m, g=x[0], h=0)

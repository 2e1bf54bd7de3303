"""Roots that are zero: a subgradient where there is one, and an error with the variable's name where there is none."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram, errors
from dcprog.program.compile import oracle
from dcprog.program.expressions import take_apart


def model(bounds=(-1, 2), n=2):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=bounds, initialize=0.0)
    return m, m.x


NORMS = {
    "root of squares": lambda x: pyo.sqrt(x[0] ** 2 + x[1] ** 2),
    "power of squares": lambda x: (x[0] ** 2 + x[1] ** 2) ** 0.5,
    "root of one square": lambda x: 2 * pyo.sqrt(x[0] ** 2) + x[1],
    "power 3/4": lambda x: (x[0] ** 2 + x[1] ** 2) ** 0.75 - x[0],
    "exponential of a norm": lambda x: pyo.exp(pyo.sqrt(x[0] ** 2 + 3 * x[1] ** 2)) + x[1],
    "square of a norm": lambda x: pyo.sqrt(x[0] ** 2 + x[1] ** 2) ** 2 + x[0],
    "shifted norm": lambda x: (1 + pyo.sqrt(x[0] ** 2 + x[1] ** 2)) ** 2,
    "arcosh": lambda x: pyo.acosh(1 + x[0] ** 2 / 9) + x[1] ** 2,
}


@pytest.mark.parametrize("name", NORMS)
def test_subgradients_of_norms_at_zero(name):
    _, x = model()
    f = oracle(take_apart(NORMS[name](x), {id(x[0]): 0, id(x[1]): 1}, 2))
    u, at_zero = f.gradient(np.zeros(2)), f.value(np.zeros(2))
    assert np.isfinite(u).all()
    for y in np.random.default_rng(0).uniform(-1, 1, (200, 2)):
        assert f.value(y) >= at_zero + u @ y - 1e-12


def test_a_norm_in_h_from_zero():
    m, x = model()
    program = DCProgram(m, g=x[0] ** 2 + x[1] ** 2 + 0.1 * x[0], h=pyo.sqrt(x[0] ** 2 + x[1] ** 2))
    result = dcprog.solve(program)
    assert result.success
    assert result.objective == pytest.approx(-0.3025, abs=1e-6)  # x = (−0.55, 0)


NONE = {
    "minus a root": (lambda x: -pyo.sqrt(x[0]) + x[1], (0, 1)),
    "minus a power": (lambda x: -(x[0] ** 0.3) + x[1], (0, 1)),
    "geometric mean": (lambda x: -pyo.sqrt(x[0] * x[1]), (0, 1)),
    "half a circle": (lambda x: -pyo.sqrt(1 - (x[0] - 1) ** 2) + x[1], (0, 2)),
}


@pytest.mark.parametrize("name", NONE)
def test_no_subgradient_at_zero_is_said_with_the_variable_and_what_to_do(name):
    make, bounds = NONE[name]
    m, x = model(bounds)
    program = DCProgram(m, g=x[0] ** 2 + x[1] ** 2, h=make(x))
    with pytest.raises(
        errors.FunctionError, match=r"gradient of h is .* in x\[0\] at 0.*bound x\[0\] away.*start elsewhere"
    ):
        dcprog.solve(program, x0=[0, 0])


def test_what_the_error_advises_helps():
    m, x = model((0, 1), n=1)
    f = lambda e: DCProgram(m, g=x[0] ** 2 + 2 * x[0], h=-pyo.sqrt(x[0] + e))  # x² + 2x + √x, least at 0
    assert dcprog.solve(f(1e-6)).objective == pytest.approx(1e-3, abs=1e-6)
    x[0].setlb(1e-6)
    assert dcprog.solve(f(0.0), x0=[1e-6]).objective == pytest.approx(1e-3 + 2e-6, abs=1e-6)

"""A wrong gradient of a user's function is found at a point, and a right one never is."""

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog.functions import OfSum
from dcprog.functions.base import proved
from dcprog.program.gradients import wrong_gradient


def function(value, gradient):
    class Mine(dcprog.ConvexFunction):
        def value(self, x):
            return float(value(x))

        def gradient(self, x):
            return gradient(x)

    return Mine()


VALUES = {
    "squares": (lambda x: x @ x, lambda x: 2 * x),
    "l1": (lambda x: np.abs(x).sum(), np.sign),
    "huber": (lambda x: np.where(np.abs(x) <= 1, x**2 / 2, np.abs(x) - 0.5).sum(), lambda x: np.clip(x, -1, 1)),
    "exponentials": (lambda x: np.exp(x).sum(), np.exp),
    "largest": (lambda x: x.max(), lambda x: (np.arange(len(x)) == x.argmax()).astype(float)),
    "norm": (lambda x: np.linalg.norm(x), lambda x: x / max(np.linalg.norm(x), 1e-300)),
    "far from zero": (lambda x: 1e6 + x @ x, lambda x: 2 * x),
    "quartic": (lambda x: (x**4).sum(), lambda x: 4 * x**3),
}
WRONG = {
    "half": lambda u: u / 2,
    "twice": lambda u: 2 * u,
    "turned": lambda u: -u,
    "shifted": lambda u: u + 1.0,
    "one component": lambda u: np.concatenate([[u[0] + 0.5], u[1:]]),
    "none": lambda u: 0 * u,
}


def program(phi, letter, n=3):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-4, 4), initialize=0.5)
    other = sum(v**2 for v in m.x.values())
    return dcprog.DCProgram(m, **{letter: phi(m.x), "h" if letter == "g" else "g": other})


@pytest.mark.parametrize("letter", ["g", "h"])
@pytest.mark.parametrize("error", WRONG)
@pytest.mark.parametrize("name", VALUES)
def test_a_wrong_one_is_found(name, error, letter):
    value, gradient = VALUES[name]
    wrong = function(value, lambda x: WRONG[error](gradient(x)))
    said = wrong_gradient(program(wrong, letter), np.array([1.3, -0.7, 2.1]))
    assert said is not None
    assert f"in {letter} is wrong" in said
    assert "check_program" in said


@pytest.mark.parametrize("name", VALUES)
@given(st.lists(st.floats(-4, 4).map(lambda v: round(v, 6)), min_size=3, max_size=3))  # ‖x‖ in floats is 0 below 1e-162
def test_a_right_one_never_is(name, x):
    assert wrong_gradient(program(function(*VALUES[name]), "h"), np.array(x)) is None


@pytest.mark.parametrize("x", [(-4.0, 4.0, 0.0), (1e-9, 1e-3, 4.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("name", VALUES)
def test_a_right_one_never_is_at_corners_and_kinks(name, x):
    assert wrong_gradient(program(function(*VALUES[name]), "g" if name == "squares" else "h"), np.array(x)) is None


def test_behind_a_wrapper_as_well():
    wrong = function(lambda x: x @ x, lambda x: x)
    assert wrong_gradient(program(OfSum(wrong), "h", 4), np.full(4, 1.5)) is not None


def test_functions_of_dcprog_are_not_evaluated_again():
    @proved
    class Counted(dcprog.functions.LogSumExp):
        calls = 0

        def value(self, x):
            Counted.calls += 1
            return super().value(x)

    p = program(Counted(), "h")
    Counted.calls = 0
    assert wrong_gradient(p, np.ones(3)) is None
    assert Counted.calls == 0

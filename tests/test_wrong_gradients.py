"""A wrong gradient of a user's function is found at a point, and a right one never is."""

from functools import cache

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_functions import FUNCTIONS

import dcprog
from dcprog.functions import OfSum
from dcprog.functions.base import proved
from dcprog.program.gradients import wrong_gradient, wrong_hessian


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
    "1 % too long": lambda u: 1.01 * u,
    "1 % too short": lambda u: 0.99 * u,
    "off by 1e-3": lambda u: u + 1e-3 * np.abs(u).max(),
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
@pytest.mark.parametrize("name", VALUES)
def test_a_wrong_one_is_found(name, letter):
    value, gradient = VALUES[name]
    wrong = function(value, gradient)
    p = program(wrong, letter)
    for error in WRONG:
        wrong.gradient = lambda x, error=error: WRONG[error](gradient(x))
        said = wrong_gradient(p, np.array([1.3, -0.7, 2.1]))
        assert said is not None, error
        assert f"in {letter} is wrong" in said
        assert "check_program" in said


@cache
def right(name):
    return program(function(*VALUES[name]), "h")


@pytest.mark.parametrize("name", VALUES)
@given(st.lists(st.floats(-4, 4).map(lambda v: round(v, 6)), min_size=3, max_size=3))  # ‖x‖ in floats is 0 below 1e-162
def test_a_right_one_never_is(name, x):
    assert wrong_gradient(right(name), np.array(x)) is None


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


@pytest.mark.parametrize("factor", [1.01, 0.99, 1.001])
def test_no_run_converges_with_a_gradient_that_is_a_little_wrong(factor):
    """g = Σ e^x + x² written in NumPy, its gradient and Hessian 1 % off: what is found is not critical."""

    class Mine(dcprog.ConvexFunction):
        def value(self, x):
            return float(np.exp(x).sum() + x @ x)

        def gradient(self, x):
            return factor * (np.exp(x) + 2 * x)

        def hessian(self, x):
            return factor * np.diag(np.exp(x) + 2)

    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-4, 4), initialize=0.5)
    result = dcprog.solve(dcprog.DCProgram(m, g=Mine()(m.x), h=0.5 * sum(v**2 for v in m.x.values()) + m.x[0]))
    assert result.status is dcprog.Status.DEFECTIVE
    assert result.gap is None
    assert "gradient" in result.messages[-1]


class Foreign(dcprog.ConvexFunction):
    """A function of dcprog in other units, as a user might have written it: nothing about it is proved."""

    def __init__(self, function, unit=1.0, factor=1.0, constant=0.0):
        self.function, self.unit, self.factor, self.constant = function, unit, factor, constant
        self.smooth, self.separable = function.smooth, function.separable
        self.domain_lower = function.domain_lower * unit

    def value(self, x):
        return self.factor * self.function.value(x / self.unit) + self.constant

    def gradient(self, x):
        return self.factor / self.unit * np.asarray(self.function.gradient(x / self.unit))

    def hessian(self, x):
        hessian = self.function.hessian(x / self.unit)
        return None if hessian is None else self.factor / self.unit**2 * np.asarray(hessian)


@cache
def declared(letter, unit, factor):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(0, 4 * unit), initialize=unit)
    other = factor / unit**2 * sum(v**2 for v in m.x.values())
    phi = Foreign(FUNCTIONS["quadratic, diagonal"], unit, factor)
    return dcprog.DCProgram(m, **{letter: phi(m.x), "h" if letter == "g" else "g": other})


def exchanged(letter, phi, unit=1.0, factor=1.0):
    """A program with ``phi`` in the place of the function that was declared, whose convexity is not the matter."""
    p = declared(letter, unit, factor)
    getattr(p.compiled, f"{letter}_parts").functions[0].function = phi
    return p


POINTS = [
    np.array([0.0, 0.5, 1.5, 1.6]),  # kinks of the functions
    np.array([1.5, 1.5, 1.5, 1.5]),
    np.array([1e-9, 3.0, 1e-4, 0.0]),
    np.array([2.3, 0.7, 1.1, 2.9]),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_false_alarm_about_any_function_of_dcprog_in_any_units(name):
    for unit, factor, constant in ((1e-6, 1, 0), (1e6, 1e-10, 0), (1, 1, 1e9)):
        p = exchanged("h", Foreign(FUNCTIONS[name], unit, factor, constant), unit, factor)
        for x in POINTS:
            assert wrong_gradient(p, unit * x) is None, (unit, factor, constant, x)


def test_noise_is_measured():
    """Values that are sums of terms of 1e6 which cancel."""
    noisy = function(lambda x: ((x + 1e3) ** 2).sum() - ((x - 1e3) ** 2).sum() - 4e3 * x.sum() + x @ x, lambda x: 2 * x)
    for x in POINTS:
        assert wrong_gradient(program(noisy, "h", 4), x) is None


def test_one_wrong_component_among_hundreds():
    n = 300
    right, wrong = np.ones(n), np.ones(n)
    wrong[217] = 1.02
    x = np.random.default_rng(0).uniform(-2, 2, n)
    for factors, found in ((right, False), (wrong, True)):
        phi = function(lambda x: x @ x, lambda x, factors=factors: 2 * factors * x)
        assert (wrong_gradient(program(phi, "h", n), x) is not None) == found


def test_a_value_that_raises_or_is_nan_beside_the_point_says_nothing():
    def value(x):
        if x.max() > 1.5:
            raise ValueError("outside")
        return -np.log(2 - x).sum() if x.min() > 0 else np.nan

    for x in ([1.5, 1e-9, 1.5], [1.5, 0.3, 0.2]):
        assert wrong_gradient(program(function(value, lambda x: 1 / (2 - x)), "h"), np.array(x)) is None


def test_an_epigraph_or_a_quadratic_form_of_another_function_is_found():
    class Norm(dcprog.ConvexFunction):
        smooth = False

        def value(self, x):
            return float(np.abs(x).sum())

        def gradient(self, x):
            return np.sign(x)

        def epigraph(self, n):
            return dcprog.functions.L1Norm(np.full(n, 1.01)).epigraph(n)

    class Squares(Norm):
        smooth = True

        def value(self, x):
            return float(x @ x)

        def gradient(self, x):
            return 2 * x

        def quadratic(self, n):
            return dcprog.functions.Quadratic(1.98 * np.eye(n)).quadratic(n)

    for phi, oracle in ((Norm(), "epigraph"), (Squares(), "quadratic form")):
        said = wrong_gradient(program(phi, "g"), np.array([0.5, -1.0, 2.0]))
        assert said is not None
        assert oracle in said


def smooth(hessian):
    class Mine(dcprog.ConvexFunction):
        def value(self, x):
            return float(np.exp(x).sum())

        def gradient(self, x):
            return np.exp(x)

        def hessian(self, x):
            return hessian(x)

    return Mine()


@pytest.mark.parametrize("factor", [0.9, 1.05, 2.0])
def test_a_wrong_hessian_is_worth_a_message(factor):
    wrong = program(smooth(lambda x: factor * np.diag(np.exp(x))), "g")
    assert "Hessian" in (wrong_hessian(wrong, np.array([0.3, -1.0, 2.0])) or "")


@pytest.mark.parametrize("name", [name for name, f in FUNCTIONS.items() if f.smooth and f.has_hessian])
def test_a_right_hessian_is_not(name):
    for unit in (1.0, 1e-6):
        p = exchanged("g", Foreign(FUNCTIONS[name], unit), unit)
        for x in POINTS:
            assert wrong_hessian(p, unit * x) is None, (unit, x)


def test_rounding_beside_zero_is_no_sign_of_a_missing_convexity():
    """Where |w| is below θ the function is 0 up to rounding of terms of size 1; a midpoint exceeded the mean by 7e-17."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(4), bounds=(0, 4), initialize=1)
    phi = Foreign(FUNCTIONS["remainder of capped"])
    assert dcprog.DCProgram(m, g=sum(v**2 for v in m.x.values()), h=phi(m.x)).assumptions

"""Convex compositions in g: kinks inside of functions that rise with them, roots of squares, and sums of exponentials."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import dcprog
from dcprog import DCProgram, maximum
from dcprog.convex.problem import ProblemClass
from dcprog.errors import ConvexityError, ModelError
from dcprog.functions import GroupNorm, L1Norm, Logistic, LogSumExp, MaxNorm, Norm2, NuclearNorm, SumExp
from dcprog.program.compile import oracle
from dcprog.program.composition import range_of
from dcprog.program.expressions import take_apart
from dcprog.program.recorder import Recorder


def model(lower=-5.0, upper=5.0):
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(lower, upper), initialize=0.7), pyo.Var(bounds=(lower, upper), initialize=0.3)
    return m, m.x, m.y


TAKEN = {
    "squared hinge": lambda x, y: maximum(x, 0) ** 2 + (x - y - 1) ** 2 + maximum(-y, 0) ** 2 - x,
    "cube of |·|": lambda x, y: abs(x - 1) ** 3 - x + y**2,
    "power of |·|": lambda x, y: abs(x - 1) ** 1.5 - x + y**2,
    "exp of a hinge": lambda x, y: pyo.exp(maximum(x, 0)) - 2 * x + y**2,
    "negative minimum": lambda x, y: x**2 + y**2 + x + 3 * maximum(-x, -y),
    "|convex ≥ 0|": lambda x, y: abs(x**2 + 1 + y**2) + x,
    "|concave ≤ 0|": lambda x, y: abs(-(x**2) - y**4) + x,
    "|exp|": lambda x, y: abs(pyo.exp(x) + 1) - x + y**2,
    "kinks in kinks": lambda x, y: maximum(abs(x) - 1, maximum(y, 0) ** 2) ** 2 + abs(x - 2) + abs(y - 1),
    "sum of kinks": lambda x, y: (abs(x) + abs(y) + 1) ** 2 - 3 * x,
    "exp of kinks": lambda x, y: pyo.exp(abs(x) + maximum(y, x)) + (x - 2) ** 2 + (y + 1) ** 2,
    "cosh of |·|": lambda x, y: pyo.cosh(abs(x - 1)) + (x + y) ** 2,
    "reciprocal": lambda x, y: 1 / (6 - maximum(x, y)) - 0.1 * x - 0.2 * y,
    "log Σ exp of kinks": lambda x, y: pyo.log(pyo.exp(abs(x)) + pyo.exp(maximum(y, 0))) + 0.1 * (x - 1) ** 2 + y**2,
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_rises_with_its_kinks_is_taken(name):
    m, x, y = model()
    expression = TAKEN[name](x, y)

    def f(point):
        x.value, y.value = point
        return pyo.value(expression)

    starts = [(0.1, 0.2), (1.0, 1.0), (-1.0, 0.5)]
    best = min(
        minimize(f, s, method="Nelder-Mead", bounds=[(-5, 5)] * 2, options={"xatol": 1e-9, "fatol": 1e-12}).fun
        for s in starts
    )
    result = dcprog.solve(DCProgram(m, g=expression, h=0))
    assert result.success
    assert result.objective == pytest.approx(best, abs=1e-7)


REFUSED = {
    "a square below 0": lambda x, y: maximum(x, -2) ** 2,
    "a falling exponential": lambda x, y: pyo.exp(-abs(x)),
    "a product": lambda x, y: maximum(x, 0) * maximum(y, 0),
    "a concave root": lambda x, y: pyo.sqrt(abs(x)),
    "a logarithm": lambda x, y: pyo.log(1 + abs(x)),
    "|·| of either sign": lambda x, y: abs(x**2 - 1),
    "a concave inner function": lambda x, y: pyo.exp(-maximum(x, y)),
    "a difference": lambda x, y: (maximum(x, 0) - abs(y)) ** 2,
    "an odd power": lambda x, y: maximum(x, -1) ** 3,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_convex_is_refused(name):
    m, x, y = model()
    with pytest.raises((ModelError, ConvexityError)):
        DCProgram(m, g=REFUSED[name](x, y) + x**2 + y**2, h=0)


def test_kinks_inside_of_constraints():
    m, x, y = model()
    m.c = pyo.Constraint(expr=maximum(x, 0) ** 2 + abs(y) <= 4)
    program = DCProgram(m, g=-x - y, h=0)
    result = dcprog.solve(program)
    assert result.objective == pytest.approx(-4.25, abs=1e-6)  # x = ½, y = 4 − ¼
    assert program.assumptions == ()


def test_epigraph_variables_stay_where_the_outer_function_rises():
    m, x, y = model()
    compiled = DCProgram(m, g=abs(x) ** 3 + maximum(y, -1) + maximum(x, 1) ** 2, h=0).compiled
    assert sorted(compiled.subproblem.lower[compiled.n :].tolist()) == [-np.inf, 0.0, 1.0]
    point = np.array([-2.0, 0.5])
    assert sorted(compiled.lift(point)[compiled.n :].tolist()) == [0.5, 1.0, 2.0]


@given(low=st.floats(-3, 3), width=st.floats(0, 3), seed=st.integers(0, 1000))
def test_ranges_hold_all_values(low, width, seed):
    _, x, y = model()
    expressions = [
        x**2, x * y - 2 * x, abs(x) - y**3, pyo.exp(x) * y, maximum(x, y, 0.5) ** 2, pyo.sqrt(x**2 + 1) / 2, pyo.cosh(x + y),
        1 / (x + 9), pyo.log(x + 9), pyo.log(pyo.exp(x) + pyo.exp(y)), abs(x + 4) ** 1.5, pyo.sin(x) + pyo.tanh(y),
        (x * x) ** -1,
    ]  # fmt: skip
    recorder = Recorder({id(x): 0, id(y): 1}, read=None)
    for expression in expressions:
        least, most = range_of(recorder.record(expression, 1.0), lambda i: (low, low + width))
        for x.value, y.value in np.random.default_rng(seed).uniform(low, low + width, (5, 2)):
            if x.value == 0 and "**(-1)" in str(expression):
                continue
            assert least - 1e-9 <= pyo.value(expression) <= most + 1e-9 * (1 + abs(most)), str(expression)


# ── roots of sums of squares ────────────────────────────────────────────────────────────────────────────────────────────

ROOTS = {
    "a norm": (lambda x, y: pyo.sqrt(x**2 + y**2), ProblemClass.CONIC),
    "scaled, shifted": (lambda x, y: ((x - 2 * y + 1) ** 2 / 4 + 3 * y * y) ** 0.5, ProblemClass.CONIC),
    "multiplied out": (lambda x, y: pyo.sqrt(x**2 - x * y + y**2 - 2 * x + 4), ProblemClass.NLP),
    "multiplied out, with a tip": (lambda x, y: pyo.sqrt(x**2 - 2 * x * y + 2 * y**2), ProblemClass.CONIC),
    "with a constant": (lambda x, y: pyo.sqrt(x**2 + y**2 + 2), ProblemClass.NLP),
    "a modulus": (lambda x, y: pyo.sqrt((x - y) ** 2), ProblemClass.QP),
    "many": (lambda x, y: sum(pyo.sqrt((x - i) ** 2 + (y - i % 3) ** 2) for i in range(30)), ProblemClass.CONIC),
}


@pytest.mark.parametrize("name", ROOTS)
def test_roots_of_squares_are_norms(name):
    make, kind = ROOTS[name]
    m, x, y = model()
    program = DCProgram(m, g=make(x, y) + (x - 0.5) ** 2 + y**2, h=0)
    assert program.compiled.subproblem.problem_class is kind
    assert program.assumptions == ()
    for x.value, y.value in ((0.3, -1.2), (2.0, 1.0), (0.0, 0.0)):
        assert program.compiled.g.value(np.array([x.value, y.value])) == pytest.approx(
            pyo.value(make(x, y)) + (x.value - 0.5) ** 2 + y.value**2, abs=1e-7
        )
    result = dcprog.solve(program)
    assert result.success
    for step in np.random.default_rng(0).normal(size=(40, 2)):
        x.value, y.value = np.clip(result.x + 1e-3 * step, -5, 5)
        assert pyo.value(make(x, y)) + (x.value - 0.5) ** 2 + y.value**2 >= result.objective - 1e-9


@pytest.mark.parametrize("make", [lambda x, y: pyo.sqrt(x**2 - 2 * y**2 + 90), lambda x, y: -pyo.sqrt(x**2 + 1) - y**2])
def test_other_roots_are_no_norms(make):
    m, x, y = model()
    with pytest.raises(ConvexityError):
        DCProgram(m, g=make(x, y), h=0)


def test_the_same_root_in_g_and_h_cancels():
    m, x, y = model()
    root = pyo.sqrt((x - y) ** 2 + 4 * y**2)
    compiled = DCProgram(m, g=root + x**2 + y**2, h=root + x).compiled
    assert compiled.f.rest.terms == ()
    assert DCProgram(m, g=Norm2()(x, y) + x**2, h=Norm2()(x, y)).compiled.f.value(np.ones(2)) == pytest.approx(1.0)


# ── sums of exponentials ────────────────────────────────────────────────────────────────────────────────────────────────

LOGS = {
    "softplus": lambda x, y: pyo.log(1 + pyo.exp(x - y)),
    "log-sum-exp": lambda x, y: pyo.log(pyo.exp(2 * x - 1) + 3 * pyo.exp(y) + pyo.exp(x + y) / 7 + 0.5),
    "a factor outside": lambda x, y: pyo.log(2 * (pyo.exp(x) + 1)) + y,
    "inside of others": lambda x, y: pyo.log(1 + pyo.exp(x)) ** 2 + y / pyo.log(3 + pyo.exp(y)),
    "subtracted": lambda x, y: pyo.log(1 + pyo.exp(x)) - pyo.log(1 + pyo.exp(y)),
}


@pytest.mark.parametrize("name", LOGS)
def test_sums_of_exponentials_do_not_overflow(name):
    _, x, y = model()
    expression = LOGS[name](x, y)
    f = oracle(take_apart(expression, {id(x): 0, id(y): 1}, 2))
    for point in (np.array([0.4, -0.8]), np.array([900.0, -950.0]), np.array([-1200.0, 1100.0])):
        x.value, y.value = point
        if abs(point[0]) < 1:
            assert f.value(point) == pytest.approx(pyo.value(expression))
        assert np.isfinite(f.value(point))
        steps = 1e-5 * np.eye(2)
        slopes = [(f.value(point + e) - f.value(point - e)) / 2e-5 for e in steps]
        bends = [(f.gradient(point + e) - f.gradient(point - e)) / 2e-5 for e in steps]
        np.testing.assert_allclose(f.gradient(point), slopes, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(f.hessian(point).toarray(), bends, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda x: pyo.log(pyo.exp(x) - 1), lambda x: pyo.log(x + pyo.exp(x)), lambda x: pyo.log(2 - pyo.exp(-x))]
)
def test_other_logarithms_are_what_they_are(make):
    _, x, _ = model()
    f = oracle(take_apart(make(x), {id(x): 0}, 1))
    assert f.value(np.array([0.7])) == pytest.approx(pyo.value(make(x)))


def test_logistic_losses_far_out():
    """DCA on a start where e^x is infinite, and the optimum of the convex part by its derivative."""
    m, x, y = model(-2000, 2000)
    x.value = 1500
    result = dcprog.solve(DCProgram(m, g=pyo.log(1 + pyo.exp(x)) - 0.25 * x + (y - x) ** 2, h=0))
    assert result.success
    assert float(result["x"]) == pytest.approx(-np.log(3), abs=1e-5)


INSIDE = {
    "square of a norm": lambda f, x, y: f(Norm2(), [x, y]) ** 2,
    "maximum of functions": lambda f, x, y: maximum(f(Norm2(), [x, y]), f(SumExp([[1.0, -1.0]]), [x, y]), x + 1),
    "exp of a norm": lambda f, x, y: pyo.exp(f(Norm2(), [x - 1, y])),
    "power of a sum": lambda f, x, y: (f(L1Norm(), [x, y]) + f(MaxNorm(), [x, 2 * y]) + 1) ** 1.5,
    "maximum, then a square": lambda f, x, y: maximum(f(Norm2(), [x, y]) - 1, 0) ** 2,
    "log Σ exp": lambda f, x, y: pyo.log(pyo.exp(f(Norm2(), [x, y])) + pyo.exp(x)),
    "a smooth one": lambda f, x, y: pyo.exp(f(LogSumExp(), [x, y])) + f(Logistic(), [x, y]) ** 2,
    "minus a concave one": lambda f, x, y: -pyo.log(60 - f(Norm2(), [x, y]) ** 2),
    "a groups' norm": lambda f, x, y: f(GroupNorm([[0, 1], [1]], [1, 2]), [x, y]) ** 3,
}


@pytest.mark.parametrize("name", INSIDE)
def test_functions_inside_of_others(name):
    """The same value as with variables t ≥ f(x) in their places, which a user may declare."""
    values = []
    for by_hand in (False, True):
        m, x, y = model()
        m.t, m.rows = pyo.VarList(bounds=(None, 50)), pyo.ConstraintList()

        def function(f, arguments, m=m, by_hand=by_hand):
            if not by_hand:
                return f(arguments)
            t = m.t.add()
            t.setlb(f.lowest if np.isfinite(f.lowest) else None)
            m.rows.add(f(arguments) <= t)
            return t

        g = INSIDE[name](function, x, y) + (x - 0.8) ** 2 + 0.5 * (y + 1.3) ** 2 - x
        result = dcprog.solve(DCProgram(m, g=g, h=0))
        assert result.success, result.messages
        values.append(result.objective)
    assert values[0] == pytest.approx(values[1], abs=1e-6)


@pytest.mark.parametrize("name", INSIDE)
@given(point=st.tuples(st.floats(-4, 4), st.floats(-4, 4)))
def test_derivatives_of_functions_inside_of_others(name, point):
    _, x, y = model()
    f = oracle(take_apart(INSIDE[name](lambda f, arguments: f(arguments), x, y), {id(x): 0, id(y): 1}, 2))
    z, h = np.array(point), 1e-6
    ways = h * np.eye(2)
    ahead, behind = (np.array([f.value(z + side * d) for d in ways]) for side in (1, -1))
    slopes = np.minimum(ahead - f.value(z), f.value(z) - behind) / h, np.maximum(ahead - f.value(z), f.value(z) - behind) / h
    size = 1e-4 * (1 + abs(f.value(z)) + np.abs(f.gradient(z)))
    assert (f.gradient(z) >= slopes[0] - size).all()  # at a kink between the slopes on both sides
    assert (f.gradient(z) <= slopes[1] + size).all()
    x.value, y.value = point
    assert f.value(z) == pytest.approx(pyo.value(INSIDE[name](lambda f, arguments: f(arguments), x, y)), rel=1e-12)


def test_the_hessian_of_a_composition():
    _, x, y = model()
    f = oracle(take_apart(Norm2()([x, y]) ** 3 + pyo.exp(LogSumExp()([x, y])), {id(x): 0, id(y): 1}, 2))
    z, h = np.array([0.6, -1.1]), 1e-6
    differences = np.array([f.gradient(z + h * d) - f.gradient(z - h * d) for d in np.eye(2)]) / (2 * h)
    assert f.hessian(z).toarray() == pytest.approx(differences, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("letter", ["g", "h"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: Norm2()([x, y]) * Norm2()([x - 1, y]),
        lambda x, y: (Norm2()([x, y]) - 1) ** 2,
        lambda x, y: pyo.exp(-Norm2()([x, y])),
        lambda x, y: pyo.sqrt(Norm2()([x, y])),
        lambda x, y: abs(Norm2()([x, y]) - 1),
        lambda x, y: -(Norm2()([x, y]) ** 2),
        lambda x, y: x * Logistic()([x, y]),
    ],
)
def test_functions_inside_of_what_does_not_rise_are_refused(make, letter):
    m, x, y = model()
    with pytest.raises((ConvexityError, ModelError), match=r"rise with|not convex|negative coefficient"):
        DCProgram(m, **{"g": 100 * (x**2 + y**2), "h": 0, letter: make(x, y)})


def test_functions_inside_are_proved_and_cancelled():
    m, x, y = model()
    square = Norm2()([x, y]) ** 2
    program = DCProgram(m, g=square + x**4, h=square + y)
    assert program.assumptions == ()
    assert any("Norm2" in proof for proof in program.proofs)
    assert len(program.compiled.f.rest.terms) == 1  # x⁴ alone: the square stands in both
    assert program.compiled.f.value(np.array([1.0, 2.0])) == -1.0


@pytest.mark.parametrize("seed", range(4))
def test_smooth_functions_beside_cones(seed):
    """The same program with its exponentials and logistic losses in cones, and as smooth functions beside cones."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(8, 3)), rng.normal(size=8)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-3, 3), initialize=0.0)
    rows = [
        sum(a * v for a, v in zip(row, m.x.values(), strict=True)) + c for row, c in zip(A.tolist(), b.tolist(), strict=True)
    ]
    kinked = rng.uniform(0.5, 8) * GroupNorm([[0, 1], [2]])(m.x) + NuclearNorm()([[m.x[0], m.x[1]], [m.x[1], m.x[2]]])
    if seed % 2:
        m.ball = pyo.Constraint(expr=Norm2()(m.x) <= 0.5)
        m.curved = pyo.Constraint(expr=pyo.exp(m.x[0]) + m.x[1] ** 4 <= 1.2)
    written = sum(pyo.exp(row) for row in rows[:3]) + sum(pyo.log(1 + pyo.exp(row)) for row in rows[3:])
    ours = SumExp(A[:3], b[:3])(m.x) + Logistic()(A[3:], m.x, b[3:])
    smooth = dcprog.solve(DCProgram(m, g=written + kinked, h=0.1 * m.x[0] ** 2), solver="cone-newton", fallback=False)
    assert smooth.success, smooth.messages
    if seed % 2:
        assert smooth.violation <= 1e-7
        del m.curved
        assert dcprog.solve(DCProgram(m, g=ours + kinked, h=0.1 * m.x[0] ** 2)).objective <= smooth.objective + 1e-6
        return
    conic = dcprog.solve(DCProgram(m, g=ours + kinked, h=0.1 * m.x[0] ** 2), solver="clarabel", fallback=False)
    assert smooth.objective == pytest.approx(conic.objective, abs=1e-6)
    assert smooth["x"] == pytest.approx(conic["x"], abs=1e-4)

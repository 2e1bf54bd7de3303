"""What a step of DCA brings, as theorems: on any program by the gap, on smooth ones without constraints by gradients."""

from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import RandomProgram

import dcprog
from dcprog.functions import LogSumExp, Quadratic
from dcprog.program.moduli import moduli

SEED = st.integers(0, 10_000)
ROUNDING = 1e-9


@given(seed=SEED)
def test_the_gap_and_the_moduli_bound_the_decrease(seed):
    """f_k − f_{k+1} ≥ gap_k + σ_h/2‖Δ‖² and gap_k ≥ σ_g/2‖Δ‖²."""
    program, x0, _ = RandomProgram.draw(seed).build()
    sigma = moduli(program.compiled)
    states = list(dcprog.DCA(program, x0=x0, stop=dcprog.MaxIter(15)))
    for before, after in pairwise(states):
        square, noise = float((after.x - before.x) @ (after.x - before.x)), 1e-7 * (1 + before.size)
        assert before.level - after.level >= after.gap + sigma.h / 2 * square - noise
        assert after.gap >= sigma.g / 2 * square - noise
    gaps = [s.gap for s in states[1:]]
    fall = states[0].level - states[-1].level
    assert sum(gaps) <= fall + 1e-6 * (1 + states[0].size), "Σ gap_k ≤ f₀ − f*"
    assert min(gaps) <= fall / len(gaps) + 1e-6 * (1 + states[0].size)


def test_the_bounds_are_attained():
    """g = ½ax², h = ½bx²: x⁺ = bx/a, so both inequalities are equations, and a factor that is wrong is seen."""
    a, b = 5.0, 3.0
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=2.0)
    program = dcprog.DCProgram(m, g=a / 2 * m.x**2, h=b / 2 * m.x**2)
    assert moduli(program.compiled) == pytest.approx((a, b))
    zero, one = list(dcprog.DCA(program, stop=dcprog.MaxIter(1)))
    square = float((one.x - zero.x) @ (one.x - zero.x))
    assert one.gap == pytest.approx(a / 2 * square)
    assert zero.f - one.f == pytest.approx(one.gap + b / 2 * square)


def smooth_program(seed, n=4):
    """g and h quadratics plus log-sum-exp: L is the largest eigenvalue plus that of A'A/2, a bound of its Hessian."""
    rng = np.random.default_rng(seed)
    sides, constants = [], []
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=dict(enumerate(rng.normal(scale=3.0, size=n))))
    for shift in (2.0, 0.5):
        B, A = rng.standard_normal((n, n)), 0.3 * rng.standard_normal((3, n))
        Q = B @ B.T / n + shift * np.eye(n)
        if shift == 0.5:
            Q *= 1.5 / float(np.linalg.eigvalsh(Q)[-1])  # f stays coercive
        sides.append(Quadratic(Q, q=rng.standard_normal(n))(m.x) + LogSumExp(A)(m.x))
        constants.append(float(np.linalg.eigvalsh(Q)[-1] + np.linalg.eigvalsh(A.T @ A)[-1] / 2))
    return dcprog.DCProgram(m, *sides), *constants


@given(seed=SEED)
@settings(max_examples=6)
def test_what_gradients_say_of_a_step_and_the_rate(seed):
    """Abbaszadehpeivasti, de Klerk & Zamani (2023), without constraints: f_k − f_{k+1} ≥ ‖∇f_k‖²/2L_g + ‖∇f_{k+1}‖²/2L_h."""
    program, Lg, Lh = smooth_program(seed)
    c = program.compiled
    states = list(dcprog.DCA(program, stop=dcprog.MaxIter(12)))
    squares = [float(np.sum((c.g.gradient(s.x) - c.h.gradient(s.x)) ** 2)) for s in states]
    for (before, after), (here, there) in zip(pairwise(states), pairwise(squares), strict=True):
        assert before.f - after.f >= here / (2 * Lg) + there / (2 * Lh) - ROUNDING * (1 + before.size)
    optimum = dcprog.solve(program).objective
    for N in range(1, len(states)):
        rate = 2 * Lg * Lh * (states[0].f - optimum) / ((Lg + Lh) * N + Lh)
        assert min(squares[: N + 1]) <= rate + ROUNDING * (1 + states[0].size)


def test_the_inequality_of_gradients_is_tight():
    """g = ½L_g x² and h = ½L_h x²: ∇f = (L_g − L_h)x, x⁺ = L_h x/L_g, and both sides agree."""
    Lg, Lh, x = 4.0, 1.0, 3.0
    step = Lh / Lg * x
    fall = (Lg - Lh) / 2 * (x**2 - step**2)
    bound = ((Lg - Lh) * x) ** 2 / (2 * Lg) + ((Lg - Lh) * step) ** 2 / (2 * Lh)
    assert fall == pytest.approx(bound)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=x)
    zero, one = list(dcprog.DCA(dcprog.DCProgram(m, Lg / 2 * m.x**2, Lh / 2 * m.x**2), stop=dcprog.MaxIter(1)))
    assert zero.f - one.f == pytest.approx(bound)

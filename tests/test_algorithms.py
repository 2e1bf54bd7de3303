"""What every algorithm promises of each step, as inequalities on random programs, and that it ends at critical points."""

from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import RandomProgram
from strategies import MAKERS

import dcprog
from dcprog.algorithms import ALGORITHMS, Accelerated, Boosted, Inertial, Proximal, State
from dcprog.errors import DataError
from dcprog.functions import ConvexFunction
from dcprog.program.claims import Finding
from dcprog.program.moduli import moduli
from dcprog.testing import assert_lockstep, criticality

SEED = st.integers(0, 10_000)
OWN = ["boosted", "accelerated", "inertial", "proximal", "dstationary", "escaping"]
STEPS = dcprog.MaxIter(12)


def noise(state: State) -> float:
    """What verified solutions may be off."""
    return 1e-7 * (1 + state.size)


def square(v: np.ndarray) -> float:
    return float(v @ v)


def drawn(seed):
    program, x0, _ = RandomProgram.draw(seed).build()
    return program, x0


def line(a=2.0, b=1.9, start=4.0):
    """½ax² − ½bx², where all inequalities of strong convexity are equations."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=start)
    return dcprog.DCProgram(m, g=a / 2 * m.x**2, h=b / 2 * m.x**2)


# ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", OWN)
@given(seed=SEED)
@settings(max_examples=6)
def test_all_end_at_critical_points_that_the_plain_model_certifies(name, seed):
    program, x0 = drawn(seed)
    result = dcprog.solve(program, algorithm=name, x0=x0)
    assert result.success, result
    assert result.algorithm == name
    assert result.gap is not None
    assert result.violation <= 1e-6
    assert criticality(program, result.x) <= 2e-6 * (1 + abs(result.objective) + abs(result.history[-1].g))


@pytest.mark.parametrize("name", ["accelerated", "inertial", "proximal"])
def test_the_gap_comes_from_a_plain_solve_that_is_counted(name):
    result = dcprog.solve(MAKERS["QP"](1), algorithm=name)
    others = [r for r in result.history if r.iteration > 2 and r.gap is None]
    assert others, "steps that do not minimise the plain model have no gap"
    assert result.success
    assert result.gap >= 0
    assert result.subproblems > result.iterations


# ── boosted ───────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("alpha", [None, 1e-3])
@given(seed=SEED)
@settings(max_examples=8)
def test_a_boosted_step_brings_more_than_that_of_dca(alpha, seed):
    """f(xᵏ⁺¹) ≤ f(yᵏ) − αλ²‖d‖² + ν, and f(xᵏ) + νₖ descends."""
    program, x0 = drawn(seed)
    algorithm = Boosted(program, alpha=alpha, x0=x0, stop=STEPS)
    before, slack = None, 0.0
    for state in algorithm:
        if before is not None:
            least = moduli(program.compiled)
            share = 0.01 * sum(least) / 2 if alpha is None else alpha
            level = algorithm.f(algorithm.y)
            assert state.level <= level + slack - share * square(state.x - algorithm.y) + noise(before)
            assert level <= before.level - sum(least) / 2 * square(algorithm.y - before.x) + noise(before)
            assert state.level + algorithm.slack <= before.level + slack + noise(before)
        before, slack = state, algorithm.slack
        assert not (algorithm.monotone and slack)


def test_the_search_goes_beyond_y_along_d_and_grows():
    program = line()
    algorithm = Boosted(program)
    ratios = []
    for state in algorithm:
        if state.previous is not None and state.iteration < 6:
            y = 1.9 / 2 * state.previous
            assert algorithm.y == pytest.approx(y, rel=1e-6)
            ratios.append(float(((state.x - y) / (y - state.previous))[0]))
    assert ratios[0] == pytest.approx(1.0)
    assert max(ratios) >= 4.0, "the trial grows after two searches that took it"


def test_boosted_halves_the_iterations_on_a_long_way():
    dca, boosted = (dcprog.solve(line(), algorithm=a) for a in ("dca", "boosted"))
    assert boosted.success
    assert 2 * boosted.iterations <= dca.iterations


def test_where_a_row_ends_the_way_it_is_dca_and_along_a_bound_it_goes_on():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-9, 1), initialize={0: 0.5, 1: -4.0})
    program = dcprog.DCProgram(m, g=m.x[0] ** 2 + m.x[1] ** 2, h=2 * m.x[0] ** 2 + 0.9 * m.x[1] ** 2 + m.x[0])
    boosted = list(Boosted(program, stop=dcprog.MaxIter(1)))
    assert boosted[1].x[0] == pytest.approx(1.0)
    assert boosted[1].x[1] == pytest.approx(-3.6 + 0.4)
    m.row = pyo.Constraint(expr=m.x[0] + 1e-9 * m.x[1] <= 0.9)
    ended = dcprog.DCProgram(m, g=m.x[0] ** 2 + m.x[1] ** 2, h=2 * m.x[0] ** 2 + 0.9 * m.x[1] ** 2 + m.x[0])
    assert_lockstep(dcprog.DCA(ended, stop=dcprog.MaxIter(1)), Boosted(ended, stop=dcprog.MaxIter(1)), tol=1e-7)


# ── accelerated ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("q", [0, 3])
@given(seed=SEED)
@settings(max_examples=6)
def test_the_largest_of_the_last_values_descends(q, seed):
    program, x0 = drawn(seed)
    levels: list[float] = []
    for state in Accelerated(program, q=q, x0=x0, stop=STEPS):
        if levels:
            assert state.level <= max(levels[-q - 1 :]) + noise(state)
        levels.append(state.level)


def test_the_extrapolation_is_nesterovs():
    """On ½ax² − ½bx² with q large xᵏ⁺¹ = (b/a) zᵏ, as computed by hand."""
    states = list(Accelerated(line(), q=50, stop=dcprog.MaxIter(6)))
    x = [4.0]
    t, before = 1.0, 4.0
    for _ in range(6):
        last, t = t, (1 + np.sqrt(1 + 4 * t**2)) / 2
        z = x[-1] + (last - 1) / t * (x[-1] - before)
        before = x[-1]
        x.append(0.95 * z)
    np.testing.assert_allclose([float(s.x[0]) for s in states], x, rtol=1e-6)


# ── inertial ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(seed=SEED)
@settings(max_examples=10)
def test_the_inertial_merit_descends(seed):
    """f_{k+1} + γ/2‖Δ_{k+1}‖² ≤ f_k + γ/2‖Δ_k‖² − ((σ_g + σ_h)/2 − γ)‖Δ_{k+1}‖²; ρ adds 2ρ to σ_g + σ_h."""
    program, x0 = drawn(seed)
    algorithm = Inertial(program, gamma=0.8, x0=x0, stop=STEPS)
    merit: float | None = None
    for state in algorithm:
        sigma = sum(moduli(program.compiled)) + 2 * algorithm.added
        assert algorithm.gamma == pytest.approx(0.4 * sigma)
        step = 0.0 if state.previous is None else square(state.x - state.previous)
        here = state.level + algorithm.gamma / 2 * step
        if merit is not None:
            assert here <= merit - (sigma / 2 - algorithm.gamma) * step + noise(state)
        merit = here


def test_inertia_on_a_line_is_what_the_formula_says_and_f_may_rise():
    """x⁺ = (bx + γ(x − x₋))/a."""
    a, b, gamma = 2.0, 0.2, 0.9 * 2.2 / 2
    states = list(Inertial(line(a, b), gamma=0.9, stop=dcprog.MaxIter(6)))
    x = [4.0, 0.4]
    while len(x) < 7:
        x.append((b * x[-1] + gamma * (x[-1] - x[-2])) / a)
    np.testing.assert_allclose([float(s.x[0]) for s in states], x, rtol=1e-5, atol=1e-7)
    assert any(after.f > before.f for before, after in pairwise(states))


def test_what_is_added_stands_in_both_sides():
    """g = x⁴ and h = 2x: 4x⁺³ + ρx⁺ = 2 + ρx + γ(x − x₋)."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-9, 9), initialize=3.0)
    program = dcprog.DCProgram(m, g=m.x**4, h=2 * m.x)
    assert sum(moduli(program.compiled)) == 0
    states = list(Inertial(program, rho=1.5, gamma=0.8, stop=dcprog.MaxIter(5)))
    x = [3.0, 3.0]
    for _ in range(5):
        roots = np.roots([4.0, 0.0, 1.5, -(2.0 + 1.5 * x[-1] + 0.8 * 1.5 * (x[-1] - x[-2]))])
        x.append(float(roots[np.abs(roots.imag) < 1e-9].real[0]))
    np.testing.assert_allclose([float(s.x[0]) for s in states], x[1:], rtol=1e-5)


def test_without_inertia_it_is_dca():
    program = MAKERS["QP"](2)
    assert sum(moduli(program.compiled)) > 0
    assert assert_lockstep(dcprog.DCA(program, stop=STEPS), Inertial(program, gamma=0.0, stop=STEPS), tol=1e-6) >= 2


def test_what_is_added_is_said():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-1, 2), initialize=0.5)
    result = dcprog.solve(dcprog.DCProgram(m, g=0, h=abs(m.x)), algorithm="inertial")
    assert result.objective == pytest.approx(-2.0)
    assert "added to both" in " ".join(result.messages)


# ── proximal ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("backtracking", [False, True])
@given(seed=SEED)
@settings(max_examples=6)
def test_what_a_proximal_step_brings(backtracking, seed):
    """f_k − f_{k+1} ≥ (ρ + (σ_g + σ_h)/2)‖Δ‖²; with backtracking for the ρ of that step, which convex h leaves as it is."""
    program, x0 = drawn(seed)
    sigma = sum(moduli(program.compiled))
    algorithm = Proximal(program, rho=0.5, backtracking=backtracking, x0=x0, stop=STEPS)
    rho = 0.5
    for state in algorithm:
        if state.previous is not None:
            fall = algorithm.trace.values[-2] - state.level
            assert fall >= (rho + sigma / 2) * square(state.x - state.previous) - noise(state)
            rho = rho / 2 if backtracking else rho
        assert algorithm.now == pytest.approx(rho)


def test_the_proximal_bound_is_attained():
    a, b, rho = 4.0, 3.0, 2.0
    zero, one = list(Proximal(line(a, b), rho=rho, stop=dcprog.MaxIter(1)))
    assert one.x == pytest.approx((b + rho) / (a + rho) * zero.x)
    assert zero.f - one.f == pytest.approx((rho + (a + b) / 2) * square(one.x - zero.x))


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_a_proximal_step_is_dca_with_the_term_in_both(seed):
    drawing = RandomProgram.draw(seed)
    program, x0, _ = drawing.build()
    m = program.model
    term = sum(v**2 for v in m.v.values())
    g, h = drawing.functions([m.v[i] for i in range(drawing.n)], m, np.ones(drawing.n))
    both = dcprog.DCProgram(m, g + term, h + term)
    walks = Proximal(program, rho=2.0, x0=x0, stop=STEPS), dcprog.DCA(both, x0=x0, stop=STEPS)
    assert assert_lockstep(*walks, tol=1e-5) >= 2


class Wavy(ConvexFunction):
    """Σ x²/2 − 2cos x, which is not convex: its curvature goes down to −1. Where it was looked at, nobody noticed."""

    def value(self, x):
        return float((x**2 / 2 - 2 * np.cos(x)).sum())

    def gradient(self, x):
        return x + 2 * np.sin(x)


def test_backtracking_finds_the_curvature_that_h_is_short_of(monkeypatch):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0], bounds=(-6, 6), initialize=2.5)
    monkeypatch.setattr("dcprog.program.convex_model.check_functions", lambda *given: Finding(("h is taken as convex",)))
    program = dcprog.DCProgram(m, g=0.3 * m.x[0] ** 2 + 0.4 * np.pi * m.x[0], h=Wavy()(m.x))  # DCA leaps over π, and f rises
    algorithm, falls, bounds = Proximal(program, rho=1e-3, backtracking=True), [], []
    states = []
    for state in algorithm:
        if states:
            falls.append(states[-1].f - state.f)
            bounds.append(algorithm.now * square(state.x - states[-1].x))  # halved since: ρ was twice that
        states.append(state)
    assert (np.array(falls) >= np.array(bounds) - 1e-9).all(), "f_k − f_{k+1} ≥ ρₖ/2‖Δ‖²"
    assert max(bounds) > 1e-2
    result = dcprog.solve(program, algorithm=Proximal(rho=1e-3, backtracking=True))
    assert result.x[0] == pytest.approx(np.pi, abs=1e-4)


# ── parameters ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", OWN)
def test_by_name_class_and_instance(name):
    program = MAKERS["QP"](4)
    kind = ALGORITHMS[name]
    named, by_class, made = (dcprog.solve(program, algorithm=a).x for a in (name, kind, kind()))
    np.testing.assert_array_equal(named, by_class)
    np.testing.assert_array_equal(named, made)


def test_an_instance_brings_its_parameters_along():
    program = line()
    one, two = (dcprog.solve(program, algorithm=Boosted(growth=g)).iterations for g in (1.0, 8.0))
    assert two < one
    together = dcprog.solve(program, algorithm=Boosted(growth=8.0), starts=3, seed=0, n_jobs=1)
    assert together.runs[0]["iterations"] == two


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Boosted(beta=1.0), "beta in"),
        (lambda: Boosted(alpha=-1.0), "alpha > 0"),
        (lambda: Accelerated(q=-1), "integer ≥ 0"),
        (lambda: Inertial(gamma=1.0), r"gamma in \[0, 1\)"),
        (lambda: Proximal(rho=0.0), "number > 0"),
        (lambda: ALGORITHMS["dstationary"](epsilon=0.0), "epsilon > 0"),
    ],
)
def test_bad_parameters(make, words):
    with pytest.raises(DataError, match=words):
        make()

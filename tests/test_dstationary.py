"""Directional stationarity: the pieces of h, and what is claimed of a point."""

import itertools

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_problems import CASES, PROBLEMS, problem_4, problem_10
from strategies import MAKERS

import dcprog
from dcprog import DCProgram, maximum
from dcprog.algorithms import DStationary
from dcprog.functions import (
    CappedL1,
    ConvexFunction,
    Exponential,
    GroupNorm,
    Hinge,
    L1MinusL2,
    L1Norm,
    LargestSum,
    MaxNorm,
    Norm2,
    OfSum,
    PiecewiseMaximum,
    Remainder,
)
from dcprog.functions.affine import OfAffine
from dcprog.functions.compose import Repeated
from dcprog.program.pieces import Pieces, slopes
from dcprog.testing import assert_lockstep

SEED = st.integers(0, 10_000)
RADIUS = 1e-6


# ── the figures ───────────────────────────────────────────────────────────────────────────────────────────────────────────

KINKS = {"problem_2", "problem_7"}
"""Where DCA stops at a kink from which a direction leads down."""
LOCAL = {"problem_9", "problem_10, n = 5"}
"""Where the start leads to a local minimum: no direction leads down from there."""


@pytest.mark.parametrize("name", CASES)
def test_what_the_twenty_cases_end_at(name):
    """From the published starts DCA reaches f* in 16, and ``dstationary`` in 18; nothing is below f*."""
    for algorithm, stays in (("dca", KINKS | LOCAL), ("dstationary", LOCAL)):
        program, optimum = CASES[name]()
        result = dcprog.solve(program, algorithm=algorithm)
        assert result.success, result
        assert result.iterations <= 100
        assert result.objective >= optimum - 1e-6
        assert (result.objective <= optimum + 1e-6) == (name not in stays), algorithm
        if name in stays:
            assert result.stationarity == ("critical" if name in KINKS else result.stationarity)
            assert (least_slope(program, result.x) >= -1e-4) == (name not in KINKS)


@pytest.mark.parametrize("name", [f"problem_{i}" for i in (1, 2, 3, 6, 7, 8, 9)])
def test_known_problems_end_at_directional_stationary_points(name):
    program, optimum = PROBLEMS[name]()
    result = dcprog.solve(program, algorithm="dstationary")
    assert result.success
    assert result.stationarity == "d-stationary"
    assert least_slope(program, result.x) >= -1e-4, "no direction leads down"
    reached = result.objective <= optimum + 1e-6
    assert reached == (name != "problem_9"), "problem 9 ends at a local minimum, where no direction leads down"


def test_where_dca_stops_at_a_kink_a_piece_leads_on():
    for name in ("problem_2", "problem_7"):
        program, optimum = PROBLEMS[name]()
        stays, leaves = (dcprog.solve(program, algorithm=a) for a in ("dca", "dstationary"))
        assert stays.stationarity == "critical"
        assert least_slope(program, stays.x) < -0.1
        assert leaves.objective == pytest.approx(optimum, abs=1e-6)
        assert stays.objective >= optimum + 0.4


@pytest.mark.parametrize("n", [2, 4, 5, 10])
def test_it_is_never_worse_than_dca(n):
    program, optimum = problem_10(n)
    ours, dca = (dcprog.solve(program, algorithm=a).objective for a in ("dstationary", "dca"))
    assert optimum - 1e-6 <= ours <= dca + 1e-9


def least_slope(program, x, count=100):
    """The least directional derivative of f, by differences, over random directions, into C where it is a box."""
    c = program.compiled
    directions = np.random.default_rng(0).normal(size=(count, len(x)))
    eye = np.vstack([np.eye(len(x)), -np.eye(len(x)), np.ones(len(x)), -np.ones(len(x))])
    directions = np.vstack([directions / np.abs(directions).max(axis=1, keepdims=True), eye])
    t = 1e-5
    return min((c.f.value(x + t * d) - c.f.value(x)) / t for d in directions)


# ── what is claimed ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", MAKERS)
@given(seed=SEED)
@settings(max_examples=3)
def test_what_is_called_directional_stationary_is(kind, seed):
    program = MAKERS[kind](seed)
    result = dcprog.solve(program, algorithm="dstationary")
    assert result.success
    assert result.stationarity == "d-stationary"
    points = dcprog.testing.feasible_points(program, 40, np.random.default_rng(seed))
    f, x = program.compiled.f.value, result.x
    for y in points:
        assert f(x + 1e-5 * (y - x)) >= f(x) - 1e-5 * 1e-3 * (1 + abs(f(x)))


def sphere(h, n=2, start=0.0):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=start)
    return DCProgram(m, g=sum(v**2 for v in m.x.values()) / 2, h=h(m))


def test_a_norm_at_its_kink_has_too_many_slopes_to_claim_anything():
    result = dcprog.solve(sphere(lambda m: Norm2()(m.x)), algorithm="dstationary")
    assert (result.status, result.stationarity) == ("converged", "critical")
    assert "not known to be directional stationary" in " ".join(result.messages)
    away = dcprog.solve(sphere(lambda m: Norm2()(m.x), start=0.5), algorithm="dstationary")
    assert away.stationarity == "d-stationary"
    assert away.objective == pytest.approx(-0.5)


class Tent(ConvexFunction):
    """Σ |xⱼ|, of which nobody knows the pieces."""

    smooth = False

    def value(self, x):
        return float(np.abs(x).sum())

    def gradient(self, x):
        return np.sign(x)


class OpenTent(Tent):
    def corners(self, x, radius):
        return L1Norm().corners(x, radius)


def test_a_function_of_yours_is_unknown_until_it_says_its_corners():
    silent, open_ = (dcprog.solve(sphere(lambda m, f=f: f()(m.x)), algorithm="dstationary") for f in (Tent, OpenTent))
    assert (silent.stationarity, abs(silent.objective) <= 1e-9) == ("critical", True)
    assert (open_.stationarity, open_.objective) == ("d-stationary", pytest.approx(-1.0))


@pytest.mark.parametrize("inside", [lambda x: pyo.exp(maximum(x, 0)), lambda x: maximum(x, 0) ** 3])
def test_a_kink_inside_of_something_else_is_unknown(inside):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0, bounds=(-2, 2))
    program = DCProgram(m, g=3 * m.x**2, h=inside(m.x))
    near = Pieces(program.compiled).near(np.zeros(1), np.full(1, RADIUS))
    assert not near.known
    assert Pieces(program.compiled).near(np.ones(1), np.full(1, RADIUS)).known


def test_more_pieces_than_can_be_looked_at_are_said():
    program, _ = problem_4(10)
    result = dcprog.solve(program, algorithm="dstationary")
    assert (result.status, result.stationarity) == ("converged", "critical")
    assert "10 kinks meet there, and 64 of their combinations" in " ".join(result.messages)
    program, _ = problem_4(5)
    assert dcprog.solve(program, algorithm="dstationary").stationarity == "d-stationary"


def test_where_h_is_smooth_it_is_dca():
    program = MAKERS["NLP"](1)
    assert assert_lockstep(dcprog.DCA(program), DStationary(program)) >= 2


def test_a_rule_of_ones_own_ends_the_run_without_a_claim():
    program, _ = PROBLEMS["problem_2"]()
    result = dcprog.solve(program, algorithm="dstationary", stop=dcprog.MaxIter(1))
    assert result.stationarity in (None, "critical")


# ── the pieces ────────────────────────────────────────────────────────────────────────────────────────────────────────────

CORNERED = [
    (L1Norm([1.0, 2.0, 0.0]), [0.0, 0.0, 0.0]),
    (L1Norm(), [0.0, 3.0, 0.0]),
    (MaxNorm(), [1.0, -1.0, 0.5]),
    (MaxNorm(), [0.0, 0.0, 0.0]),
    (PiecewiseMaximum([[1, 0, 0], [0, 1, 0], [-1, -1, 0], [0, 0, 1]], b=[0, 0, 3, 0]), [1.0, 1.0, 0.0]),
    (CappedL1(theta=2.0), [2.0, 1.0, 2.0]),
    (Remainder(CappedL1(theta=2.0)), [-2.0, 0.0, 2.0]),
    (Repeated(L1Norm([1.0, 2.0, 4.0]), np.array([0, 1, 0])), [0.0, 1.0]),
    (OfSum(CappedL1(theta=2.0)), [1.5, 1.0, 0.5, 1.0]),
    (Exponential(alpha=2.0), [1.0, 2.0]),
    (LargestSum(2), [1.0, 3.0, 1.0, 1.0, 0.0]),
    (LargestSum(1), [2.0, 2.0]),
    (Hinge(), [0.0, 1.0, 0.0]),
    (OfAffine(L1Norm([1.0, 2.0]), [[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]], [0.0, 1.0]), [-2.0, 1.0, 2.0]),
    (GroupNorm([[0, 1], [2]]), [1.0, 0.0, 2.0]),
    (L1MinusL2(), [1.0, 2.0]),
]


@pytest.mark.parametrize(("function", "point"), CORNERED, ids=[repr(f) for f, _ in CORNERED])
def test_the_pieces_support_the_function_and_give_its_slope_in_every_direction(function, point):
    """f'(x; d) = max {⟨s, d⟩ : s a slope of a piece}, and each s ∈ ∂f(x)."""
    x = np.array(point)
    corners = function.corners(x, np.full(len(x), RADIUS))
    found, complete = slopes(function.gradient(x), corners, 64, np.random.default_rng(0))
    assert complete
    assert len({tuple(s.round(9)) for s in found}) == len(found), "no piece twice"
    eye = np.eye(len(x))
    for d in [*np.random.default_rng(1).normal(size=(20, len(x))), *eye, *-eye]:
        t = 1e-7
        slope = (function.value(x + t * d) - function.value(x)) / t
        assert max(s @ d for s in found) == pytest.approx(slope, abs=1e-5)
    assert function.corners(x, np.zeros(len(x))) is not None


@pytest.mark.parametrize("distance", [0.0, 0.5, 2.0])
def test_a_piece_counts_as_far_as_the_radius_goes(distance):
    x, radius = np.array([distance * RADIUS, 5.0]), np.full(2, RADIUS)
    for function in (L1Norm(), PiecewiseMaximum([[1, 0], [-1, 0]])):
        assert len(function.corners(x, radius)) == (distance <= 1)
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-9, 9), initialize=1.0)
    program = DCProgram(m, g=m.x[0] ** 2, h=abs(m.x[0]) + 0.5 * maximum(m.x[0], -m.x[0]))
    assert len(Pieces(program.compiled).near(x, radius).corners) == 2 * (distance <= 1)


def test_kinks_of_expressions_nested_ones_included():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-9, 9), initialize=1.0)
    x, y = m.x[0], m.x[1]
    program = DCProgram(
        m, g=x**2 + y**2, h=3 * maximum(2 * abs(x) + y**2, maximum(y, 0.0)) + L1Norm([2.0, 4.0])(x, y) + abs(y - 1)
    )
    near = Pieces(program.compiled).near(np.zeros(2), np.full(2, RADIUS))
    assert near.known
    found, _ = slopes(program.compiled.h.gradient(np.zeros(2)), near.corners, 64, np.random.default_rng(0))
    outer = [np.array(s) for s in ((6.0, 0.0), (-6.0, 0.0), (0.0, 3.0), (0.0, 0.0))]
    norms = [np.array(s) for s in itertools.product((2.0, -2.0), (4.0, -4.0))]
    expected = {tuple(a + b + (0.0, -1.0)) for a in outer for b in norms}
    assert {tuple(s) for s in found} == expected


def test_random_choices_begin_with_the_oracle_and_are_seeded():
    corners = L1Norm().corners(np.zeros(10), np.ones(10))
    one, two = (slopes(np.zeros(10), corners, 8, np.random.default_rng(3)) for _ in range(2))
    assert not one[1]
    assert len(one[0]) == 8
    np.testing.assert_array_equal(one[0][0], np.zeros(10))
    np.testing.assert_array_equal(one[0], two[0])
    assert all((np.abs(s) == 1).all() for s in one[0][1:])

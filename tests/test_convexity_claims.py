"""g, h and the pieces of maxima: what is not convex on C is refused with a witness, what is convex is taken."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from curved_functions import CONVEX, NOT_CONVEX, model
from hypothesis import given
from hypothesis import strategies as st

from dcprog import DCProgram, maximum
from dcprog.errors import ConvexityError
from dcprog.testing import check_program

NO_VALUE_AT_ZERO = {"xlogx 0", "1/x 0"}
WITHOUT_PROOF = {"x4 cross"}
"""Convex, with a Hessian that is singular along lines: sampled, and said to be assumed."""


def test_there_are_enough_of_both():
    assert min(len(CONVEX), len(NOT_CONVEX)) >= 40


@pytest.mark.parametrize("name", NOT_CONVEX)
def test_functions_that_are_not_convex_are_refused(name):
    n, lower, upper, make = NOT_CONVEX[name]
    for place in ("g", "h", "a piece in g", "a piece in h"):
        m, x = model(n, lower, upper)
        f = make(x) if "piece" not in place else maximum(make(x), -1e12)
        with pytest.raises(ConvexityError, match="not convex"):
            DCProgram(m, g=f, h=0) if place.endswith("g") else DCProgram(m, g=0, h=f)


@pytest.mark.parametrize("name", CONVEX)
def test_functions_that_are_convex_are_proved_or_taken_and_said_to_be_assumed(name):
    n, lower, upper, make = CONVEX[name]
    for place in ("g", "h", "a piece in g", "a piece in h"):
        if place.endswith("h") and name in NO_VALUE_AT_ZERO:
            continue
        m, x = model(n, lower, upper)
        f = make(x) if "piece" not in place else maximum(make(x), x[0])
        program = DCProgram(m, g=f, h=0) if place.endswith("g") else DCProgram(m, g=0, h=f)
        assert any("sampled at" in a for a in program.assumptions) == (name in WITHOUT_PROOF)


@pytest.mark.parametrize("name", [n for n, case in CONVEX.items() if case[1] is not None])
def test_a_function_only_has_to_be_convex_on_c(name):
    n, lower, upper, make = CONVEX[name]
    m, x = model(n, None, None)
    m.low = pyo.Constraint(range(n), rule=lambda m, i: m.x[i] >= lower)
    m.high = pyo.Constraint(range(n), rule=lambda m, i: m.x[i] <= upper)
    assert bool(DCProgram(m, g=make(x), h=0).assumptions) == (name in WITHOUT_PROOF)


@pytest.mark.parametrize("name", [n for n, case in NOT_CONVEX.items() if case[1] is not None])
def test_c_given_by_rows_is_searched_as_a_box_is(name):
    n, lower, upper, make = NOT_CONVEX[name]
    m, x = model(n, None, None)
    m.low = pyo.Constraint(range(n), rule=lambda m, i: m.x[i] >= lower)
    m.high = pyo.Constraint(range(n), rule=lambda m, i: m.x[i] <= upper)
    with pytest.raises(ConvexityError, match="not convex"):
        DCProgram(m, g=make(x), h=0)


def test_equations_leave_only_the_directions_in_c():
    m, x = model(3, 0, 1)
    m.simplex = pyo.Constraint(expr=sum(x) == 1)
    constant_on_c = sum(x) ** 3 - sum(x) ** 4
    assert DCProgram(m, g=constant_on_c, h=0).assumptions
    with pytest.raises(ConvexityError, match="direction"):
        DCProgram(m, g=constant_on_c - x[0] * x[1] * x[2], h=0)


def test_a_kink_that_bends_down_is_found_though_it_is_hidden_by_curvature():
    m, x = model(1, -5, 5)
    m.y = pyo.Var(bounds=(0.5, 1))
    with pytest.raises(ConvexityError, match="kink"):
        DCProgram(m, g=0, h=10 * x[0] ** 2 + m.y**2 + pyo.exp(0.1 - maximum(0, x[0] - 0.3)))


def test_quadratic_pieces_and_rows_are_decided_exactly_and_nothing_is_assumed():
    m, x = model(2, -1, 1)
    m.ball = pyo.Constraint(expr=x[0] ** 2 + x[1] ** 2 <= 1)
    program = DCProgram(m, g=maximum(x[0] ** 2, abs(x[1])) + x[0] ** 2, h=abs(x[0] - x[1]) + 2 * maximum(x[0], 0, -x[1]))
    assert program.assumptions == ()
    with pytest.raises(ConvexityError, match="negative eigenvalue"):
        DCProgram(m, g=0, h=x[0] * x[1] + abs(x[0]))


def test_a_sum_may_be_convex_though_a_term_is_not():
    m, x = model(2, -1, 1)
    f = 2 * x[0] ** 2 + pyo.sin(x[0]) - x[1] ** 2 + pyo.exp(3 * x[1]) + 4 * x[1] ** 2
    program = DCProgram(m, g=f, h=0, strict=True)
    assert program.assumptions == ()
    assert "interval arithmetic" in program.proofs[0]


def test_an_empty_c_is_a_status_of_the_run_and_nothing_is_sampled():
    m, x = model(2, 0, 1)
    m.c = pyo.Constraint(expr=x[0] + x[1] >= 3)
    f = x[0] ** 4 + x[1] ** 4 + 6 * x[0] ** 2 * x[1] ** 2
    assert DCProgram(m, g=f, h=0).assumptions == ("g is convex: no point of C was found to sample it at",)


def test_check_program_looks_at_other_points_and_tells_what_is_assumed():
    m, x = model(2, -1, 1, initialize=0.3)
    g = x[0] ** 4 + x[1] ** 4 + 6 * x[0] ** 2 * x[1] ** 2
    report = check_program(DCProgram(m, g=g, h=x[0] ** 2))
    (check,) = [c for c in report if "witness" in c.statement]
    assert check.passed
    assert "g is convex: sampled at" in check.detail


@given(seed=st.integers(0, 10_000), bad=st.booleans(), n=st.integers(2, 12), factor=st.sampled_from([1e-9, 1.0, 1e9]))
def test_random_sums_of_quartics_against_their_construction(seed, bad, n, factor):
    """Σ (aᵢ'x − bᵢ)⁴ + ½x'Qx; with one negative eigenvalue that the quartics leave free, it is not convex."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n - 1, n)) * 10.0 ** rng.uniform(-2, 2, (n - 1, 1))
    free = np.linalg.svd(A)[2][-1]
    m, x = model(n, -1, 1)
    f = sum((sum(float(a) * v for a, v in zip(row, x, strict=True)) - float(rng.normal())) ** 4 for row in A)
    f += (-0.01 if bad else 0.01) * sum(float(a) * v for a, v in zip(free, x, strict=True)) ** 2
    if bad:
        with pytest.raises(ConvexityError):
            DCProgram(m, g=factor * f, h=0)
    else:
        assert DCProgram(m, g=factor * f, h=0, strict=True).assumptions == ()

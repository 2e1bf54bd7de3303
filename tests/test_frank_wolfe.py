"""DCA is the Frank–Wolfe method with unit step on the epigraph lift (Yurtsever & Sra, 2022), for any convex g."""

from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import concave_on_polytope, lp_program, nlp_program, qp_program

import dcprog
from dcprog.testing import FrankWolfe, assert_lockstep, feasible_points

SEED = st.integers(0, 10_000)
TIGHT = dcprog.Gap(1e-7) | dcprog.MaxIter(30)


@pytest.mark.parametrize("make", [qp_program, nlp_program])
@given(seed=SEED)
@settings(max_examples=4)
def test_where_g_is_strictly_convex_the_points_are_the_same(make, seed):
    program = make(seed)
    shared = assert_lockstep(dcprog.DCA(program, stop=TIGHT), FrankWolfe(program, tol=1e-7, max_iter=30), tol=2e-5)
    assert shared >= 2


@pytest.mark.parametrize("make", [lp_program, concave_on_polytope])
@given(seed=SEED)
@settings(max_examples=4)
def test_where_it_is_not_the_objectives_are(make, seed):
    program = make(seed)
    walks = dcprog.DCA(program, stop=TIGHT), FrankWolfe(program, tol=1e-7, max_iter=30)
    assert assert_lockstep(*walks, tol=1e-6, objective_only=True) >= 2


@given(seed=SEED)
@settings(max_examples=3)
def test_the_lift_has_a_concave_objective_so_that_no_shorter_step_is_better(seed):
    """t − h(x) along the segment of each step: least at its end, which is why the step is 1."""
    program = concave_on_polytope(seed)
    c = program.compiled
    states = list(FrankWolfe(program, max_iter=5))
    for before, after in pairwise(states):
        for s in np.linspace(0, 1, 5):
            x, t = (1 - s) * before.x + s * after.x, (1 - s) * before.g + s * after.g
            assert t - c.h.value(x) >= after.f - 1e-8 * (1 + abs(after.f))
            assert c.g.value(x) <= t + 1e-8 * (1 + abs(t)), "and the lift is convex"


def test_the_frank_wolfe_gap_is_the_gap_of_criticality():
    program = qp_program(3)
    for x0 in feasible_points(program, 4, np.random.default_rng(0)):
        wolfe, dca = (list(a)[1].gap for a in (FrankWolfe(program, x0=x0, max_iter=1), dcprog.DCA(program, x0=x0)))
        assert wolfe == pytest.approx(dca, rel=1e-6, abs=1e-7)


def test_lockstep_notices_another_start():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=3.0)

    program = dcprog.DCProgram(m, g=m.x**2, h=m.x)
    with pytest.raises(AssertionError, match="iterates differ"):
        assert_lockstep(dcprog.DCA(program, x0=[1.0]), FrankWolfe(program), tol=1e-6)

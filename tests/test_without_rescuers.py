"""Parts that another part would rescue if they were wrong, each alone: first-order gaps, multipliers of curved rows,
pricing, and the look at a matrix that decides whether it is scaled at all."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import DCProgram
from dcprog.algorithms.criticality import Criticality, Trace, _curved_gap, _linear_gap
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.scaling import WELL_SCALED, _well_scaled
from dcprog.solvers.reductions.columns import PRICE_TOLERANCE, ColumnsSession

seeds = st.integers(0, 2**32 - 1)


def _disc():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-2, 2))
    m.disc = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= 1)
    return DCProgram(m, g=3 * m.x[0] + 4 * m.x[1], h=0)


def test_the_first_order_gap_over_a_disc():
    """Of the slope (3, 4) it is 5 at 0, 10 at (3, 4)/5 and 0 at −(3, 4)/5, where the direction has no length."""
    problem, slope, D = _disc().compiled.subproblem, np.array([3.0, 4.0]), np.full(2, 2.0)
    for z, expected in (([0, 0], 5), ([0.6, 0.8], 10), ([-0.6, -0.8], 0)):
        theta, direction = _curved_gap(problem, np.array(z, float), slope, D)
        assert theta == pytest.approx(expected, abs=1e-5)
        assert np.array(z) + direction == pytest.approx([-0.6, -0.8], abs=1e-3)


def test_the_first_order_gap_over_a_box():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-1, 1))
    problem = DCProgram(m, g=m.x[0] - m.x[1], h=0).compiled.subproblem
    theta, direction = _linear_gap(problem, np.zeros(2), np.array([1.0, -2.0]), np.array([1.0, 0.25]))
    assert theta == pytest.approx(1.5)
    assert direction == pytest.approx([-1, 0.25])


def test_multipliers_of_curved_rows_certify_alone():
    """At −(3, 4)/5 the pull of the disc is all of the slope: no linear program is needed to see it."""
    program = _disc()
    algorithm = dcprog.DCA(program, x0=[0.5, 0.5])
    trace, states = Trace(), []
    for state in algorithm:
        trace.add(state)
        states.append(state)
    last = states[-1]
    ahead = algorithm.advance(last)
    criticality = Criticality(program.compiled, algorithm.dispatcher.units.column, 1e-6)
    found = criticality.certificate(last, ahead, trace)
    assert found.holds
    assert found.first_order_gap <= 1e-5


@given(seed=seeds)
def test_prices_of_columns(seed):
    """Those that enter are exactly those with a reduced cost below minus rounding of its terms, doubtful ones included."""
    rng = np.random.default_rng(seed)
    m, n = 4, 30
    A = rng.integers(-2, 3, (m, n)) * (rng.random((m, n)) < 0.8).astype(float)
    y = rng.integers(-3, 4, m).astype(float)
    c = A.T @ y + rng.choice([0.0, -1e-13, 1e-13, -1e-6, 1.0, -1.0], n)
    problem = ConvexProblem(
        c=c,
        A=sp.csc_array(A),
        row_lower=np.full(m, -1.0),
        row_upper=np.full(m, np.inf),
        lower=np.zeros(n),
        upper=np.full(n, np.inf),
    )
    session = ColumnsSession(problem, {})
    terms = np.abs(c) + np.abs(A).T @ np.abs(y)
    expected = np.flatnonzero(session._outside & (c - A.T @ y < -PRICE_TOLERANCE * terms))
    assert session._priced(c, np.zeros(n), y, n).tolist() == expected.tolist()


@given(seed=seeds)
def test_well_scaled_matrices(seed):
    """The largest entry of every row and column that has one is within the range."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 5, 2)
    entries = rng.choice([0.0, 1.0, -1.0, WELL_SCALED / 2, 2 / WELL_SCALED, 0.1 / WELL_SCALED, 10 * WELL_SCALED], shape)
    entries *= rng.random(shape) < 0.7
    largest = np.concatenate([np.abs(entries).max(axis=k) for k in (0, 1)])
    largest = largest[largest > 0]
    expected = bool(((largest >= 1 / WELL_SCALED) & (largest <= WELL_SCALED)).all())
    assert _well_scaled(sp.csc_array(entries)) == expected

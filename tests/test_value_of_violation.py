"""A point outside of C may lie below the optimum by what its violation is worth, and no more: no defect, and no gap."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pyomo.environ as pyo
import pytest

from dcprog import DCA, DCProgram
from dcprog.algorithms.criticality import Around, Criticality
from dcprog.algorithms.endings import AlgorithmStopped, refuse_defects
from dcprog.convex.certificate import value_of_violation


@pytest.fixture
def disc():
    """min x over x² ≤ 1: −1, and the multiplier of the row is ½."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    m.disc = pyo.Constraint(expr=m.x**2 <= 1)
    algorithm = DCA(DCProgram(m, g=m.x, h=0))
    states = list(algorithm)
    return algorithm, states[0], states[-1]


@pytest.mark.parametrize("far", [1e-6, 1e-3, 0.1])
def test_the_value_is_a_bound(disc, far):
    algorithm, _, last = disc
    problem, y, mu = algorithm.program.compiled.subproblem, last.multipliers.rows, last.multipliers.constraints
    value = value_of_violation(problem, np.array([-1.0 - far]), y, mu)
    assert far <= value + 1e-7
    assert value == pytest.approx(0.5 * ((1 + far) ** 2 - 1), rel=1e-4, abs=1e-9)
    assert value_of_violation(problem, np.array([-1.0 + far]), y, mu) == 0


def test_a_negative_gap_is_made_up_for_by_what_leaving_the_set_is_worth(disc):
    algorithm, _, last = disc
    compiled, one = algorithm.program.compiled, np.ones(1)
    outside = Around(np.array([-1.0 - 1e-4]), one, 1.0, one, 0 * one, one, one, np.empty(0), one, 0.0)
    criticality = Criticality(compiled, one, 1e-6)
    assert criticality._gap(replace(last, gap=-1e-4), outside, np.inf) == pytest.approx(5e-9, abs=2e-9)
    assert criticality._gap(replace(last, gap=-3e-4), outside, 7.0) == 7.0
    assert criticality._gap(replace(last, gap=0.5), outside, 7.0) == 0.5


def test_a_rise_by_that_much_is_no_defect(disc):
    algorithm, first, _ = disc
    compiled, state = algorithm.program.compiled, replace(first, x=np.array([-1.01]), level=-1.01, f=-1.01, size=1.01)
    values = compiled.f.evaluate(np.array([-1.0]))
    solution = algorithm.dispatcher.solve(compiled.cost(np.zeros(1)), np.zeros(1))
    seen = -0.01, solution, algorithm.dispatcher.units
    refuse_defects(algorithm.program, state, values.f, values.level - state.level, *seen, fall=0.0)
    lower = replace(state, level=-1.05, f=-1.05)
    with pytest.raises(AlgorithmStopped, match="f rose"):
        refuse_defects(algorithm.program, lower, values.f, values.level + 1.05, *seen, fall=0.0)


@pytest.mark.parametrize(("fall", "refused"), [(1e9, False), (1e6, True)])
def test_a_rise_that_is_nothing_beside_the_fall_is_no_defect(disc, fall, refused):
    algorithm, first, _ = disc
    solution = algorithm.dispatcher.solve(algorithm.program.compiled.cost(np.zeros(1)), np.zeros(1))
    seen = 0.0, solution, algorithm.dispatcher.units
    with pytest.raises(AlgorithmStopped, match="f rose") if refused else nullcontext():
        refuse_defects(algorithm.program, first, 1e-4, 1e-4, *seen, fall=fall)

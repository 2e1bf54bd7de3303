"""The same program written in other units, with other factors and constants, has the same answer of the same quality."""

from __future__ import annotations

import numpy as np
import pytest
from random_programs import RESCALINGS, RandomProgram, Units

import dcprog
from dcprog.testing import criticality

PROGRAMS = 90


@pytest.fixture(scope="module")
def originals():
    """Program, result and how far f fell, for each seed; at least 98 % of them converge."""
    found = {}
    for seed in range(PROGRAMS):
        drawn = RandomProgram.draw(seed)
        program, start, _ = drawn.build()
        result = dcprog.solve(program, x0=start)
        fall = max(program.value(start) - result.objective, 1e-3 * (1 + abs(result.objective)))
        found[seed] = drawn, program, result, fall
    return found


def test_random_programs_converge(originals):
    converged = [
        criticality(program, result.x) <= 1e-5 * fall for _, program, result, fall in originals.values() if result.success
    ]
    assert all(converged)
    assert len(converged) >= 0.98 * PROGRAMS


@pytest.mark.parametrize("name", RESCALINGS)
def test_none_is_worse_in_other_units(originals, name):
    units, converged = RESCALINGS[name], 0
    for drawn, original, result, fall in originals.values():
        program, start, D = drawn.build(units)
        rescaled = dcprog.solve(program, x0=start)
        if not rescaled.success:
            continue
        converged += 1
        x = drawn.in_original_order(rescaled.x * D, units)
        assert criticality(original, x) <= 1e-4 * fall, f"seed {drawn.seed}"
        assert original.value(x) <= result.objective + 1e-4 * fall, f"seed {drawn.seed}"
    assert converged >= 0.98 * PROGRAMS


@pytest.mark.parametrize("rho", [1e2, 6e3])
def test_a_proximal_term_in_both_hides_no_gradient(originals, rho):
    converged = 0
    for drawn, original, _, fall in list(originals.values())[:30]:
        program, start, _ = drawn.build(Units(proximal=rho))
        result = dcprog.solve(program, x0=start)
        converged += result.success
        if result.success:
            assert criticality(original, result.x) <= 1e-4 * fall, f"seed {drawn.seed}"
    assert converged >= 27


@pytest.mark.parametrize("factor", [1e-10, 1e-4, 1e4, 1e10])
def test_a_factor_of_f_is_a_factor_of_the_gap(factor):
    drawn = RandomProgram.draw(1)
    program, start, _ = drawn.build()
    scaled, _, _ = drawn.build(Units(factor=factor))
    one, two = (dcprog.solve(p, x0=start, max_iter=3) for p in (program, scaled))
    assert two.gap == pytest.approx(factor * one.gap, rel=1e-4)
    assert np.allclose(one.x, two.x, rtol=1e-6)

"""Signs of polynomials with known roots: exact, whatever meets at a double root or at the end of an interval."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest

from dcprog.program.curvature.polynomials import is_nonnegative, second_derivative


def times(p, q):
    return [Fraction(a) for a in np.convolve(np.array(p, dtype=object), np.array(q, dtype=object))]


def of_roots(roots, leading, extra):
    """leading · Π (x − r) · (x² + extra)."""
    factors = [[-Fraction(r), Fraction(1)] for r in roots]
    return reduce(times, factors, [Fraction(leading) * Fraction(extra), Fraction(0), Fraction(leading)])


def nonnegative(roots, leading, lower, upper):
    """By the signs between the roots that lie inside."""
    inside = sorted({r for r in roots if lower < r < upper})
    ends = [max(lower, -1e3), *inside, min(upper, 1e3)]
    middles = [Fraction(a + b) / 2 for a, b in pairwise(ends) if a < b]
    return all(leading * math.prod((x - r for r in roots), start=Fraction(1)) >= 0 for x in middles)


@pytest.mark.parametrize("seed", range(40))
def test_signs_of_products_of_linear_factors(seed):
    rng = np.random.default_rng(seed)
    distinct = [Fraction(int(k), 4) for k in rng.choice(np.arange(-12, 13), size=3, replace=False)]
    roots = [r for r in distinct for _ in range(int(rng.integers(0, 4)))]
    leading = Fraction(int(rng.choice([-3, 1, 5])), 7)
    p = of_roots(roots, leading, int(rng.integers(1, 4)))
    ends = sorted({*distinct, Fraction(-5), Fraction(1, 3), Fraction(5)})
    intervals = [(a, b) for i, a in enumerate(ends) for b in ends[i + 1 :]]
    for lower, upper in [*intervals, (-math.inf, math.inf), (-math.inf, distinct[0]), (distinct[0], math.inf)]:
        got = is_nonnegative(p, float(lower), float(upper))
        if all(math.isinf(x) or Fraction(float(x)) == x for x in (lower, upper)):
            assert got == nonnegative(roots, leading, lower, upper), (roots, leading, lower, upper)


def test_derivatives_are_those_of_numpy():
    p = [Fraction(int(a)) for a in np.random.default_rng(0).integers(-9, 9, 8)]
    expected = np.polynomial.Polynomial([float(a) for a in p]).deriv(2).coef
    np.testing.assert_array_equal([float(a) for a in second_derivative(p)], expected)


def test_a_polynomial_that_is_zero_and_one_that_touches_zero():
    assert is_nonnegative([Fraction(0), Fraction(0)], -1.0, 1.0)
    almost = times([Fraction(-1), Fraction(3)], [Fraction(-1), Fraction(3)])  # (3x − 1)², whose root is no float
    assert is_nonnegative(almost, 0.0, 1.0)
    assert not is_nonnegative([almost[0] - Fraction(1, 10**30), *almost[1:]], 0.0, 1.0)

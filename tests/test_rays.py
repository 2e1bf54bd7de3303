"""Infeasible and unbounded are said only with a proof: rays that are verified, tangents without a common point."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from degenerate_problems import degenerate_problem, truth
from hypothesis import given, settings
from hypothesis import strategies as st
from known_qps import INF, problem
from random_nlps import Exponentials, MinusLog

import dcprog
from dcprog import DCProgram
from dcprog.convex.answer import Claim
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.solvers import registry
from dcprog.solvers.rays import falls_along, is_empty, is_ray, proved, recession_ray

seeds = st.integers(0, 2**32 - 1)


def smooth(n, *terms):
    return SmoothSum([t if not isinstance(t, tuple) else FunctionTerm(*t) for t in terms], n)


def exponential(d, indices, weight=1.0):
    return (Exponentials(np.atleast_2d(d)), np.asarray(indices), weight)


@pytest.mark.parametrize("curved", [False, True], ids=["LP", "QP"])
@given(seed=seeds)
@settings(max_examples=40)
def test_linear_and_quadratic_problems(curved, seed):
    p = degenerate_problem(seed, curved)
    claim = truth(p)[0]
    assert proved(p, p.c) is (None if claim is Claim.OPTIMAL else claim)
    d = recession_ray(p, p.c)
    if d is not None:
        assert p.c @ d < 0
        assert np.all((p.A @ d >= -1e-9) | np.isinf(p.row_lower))
        assert np.all((p.A @ d <= 1e-9) | np.isinf(p.row_upper))
        assert np.all((d >= 0) | np.isinf(p.lower))
        assert np.all((d <= 0) | np.isinf(p.upper))
        assert p.Q is None or np.abs(p.Q @ d).max() <= 1e-9


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@given(seed=seeds)
@settings(max_examples=20)
def test_units_do_not_matter(unit, seed):
    p = degenerate_problem(seed, curved=True)
    rng = np.random.default_rng(seed)
    columns, rows = np.where(rng.random(p.n) < 0.5, unit, 1.0), np.where(rng.random(p.m) < 0.5, unit, 1.0)
    D, R = sp.diags_array(columns), sp.diags_array(rows)
    scaled = type(p)(
        p.c * columns,
        sp.csr_array(R @ p.A @ D) if p.m else p.A,
        p.row_lower * rows,
        p.row_upper * rows,
        p.lower / columns,
        p.upper / columns,
        sp.csc_array(D @ p.Q @ D),
    )
    assert (recession_ray(scaled, scaled.c) is None) == (recession_ray(p, p.c) is None)


def line(c, lower=-INF, **parts):
    return problem([c], bounds=[(lower, INF)], **parts)


EXP, LOG = smooth(1, exponential([[1.0]], [0])), smooth(1, (MinusLog(), np.array([0]), 1.0))


@pytest.mark.parametrize(
    ("p", "ends"),
    [
        (line(-1.0, smooth=EXP), True),  # eˣ − x has a minimum
        (line(1.0, smooth=EXP), False),  # eˣ + x has none
        (line(0.0, smooth=EXP), True),  # eˣ has an infimum
        (line(0.0, 1.0, smooth=LOG), False),  # −log x falls for ever, though ever more slowly
        (line(1e-3, 1.0, smooth=LOG), True),
        (line(0.0, smooth=smooth(1, LinearTerm([0], [2.0]))), False),
        (line(-1.0, smooth=smooth(1, QuadraticTerm(sp.eye_array(1)))), True),
        (line(-1.0, constraints=(smooth(1, exponential([[1.0]], [0]), LinearTerm([0], [0.0], -5.0)),)), True),  # eˣ ≤ 5
        (line(1.0, constraints=(smooth(1, exponential([[1.0]], [0]), LinearTerm([0], [0.0], -5.0)),)), False),
        (line(-1.0, constraints=(smooth(1, QuadraticTerm(sp.eye_array(1)), LinearTerm([0], [0.0], -5.0)),)), True),
    ],
)
def test_smooth_parts(p, ends):
    assert (recession_ray(p, p.c) is None) == ends


def test_constraints_that_hold_one_direction_back_leave_another():
    """(x − y)² ≤ 1 and e^(−x) ≤ 2: x + y grows along (1, 1) alone."""
    square = smooth(2, QuadraticTerm(2 * sp.csr_array([[1.0, -1.0], [-1.0, 1.0]])), LinearTerm([0], [0.0], -1.0))
    fence = smooth(2, exponential([[-1.0]], [0]), LinearTerm([0], [0.0], -2.0))
    p = problem([-1.0, -1.0], constraints=(square, fence))
    d = recession_ray(p, p.c)
    assert d[0] == pytest.approx(d[1])
    assert d[0] > 0
    assert recession_ray(p, -p.c) is None
    assert not is_ray(p, p.c, np.array([1.0, 0.0]))
    assert not is_ray(p, p.c, np.zeros(2))
    assert not is_ray(p, p.c, np.array([np.nan, 1.0]))


def test_steps_that_shrink_prove_nothing():
    t = 2.0 ** np.arange(12)
    assert falls_along(-np.sqrt(t))
    assert not falls_along(np.exp(-t))
    assert not falls_along(t - 2 * np.minimum(t, 500.0))
    assert not falls_along([*(-t[:-1]), np.nan])
    assert not falls_along(1e9 - 1e-9 * t)


@given(seed=seeds)
@settings(max_examples=25)
def test_a_disc_and_a_line_meet_or_not(seed):
    """‖z − a‖² ≤ r² and n'z ≥ b, by the distance."""
    rng = np.random.default_rng(seed)
    a, normal = rng.standard_normal(2), rng.standard_normal(2)
    normal /= np.linalg.norm(normal)
    distance = rng.choice([0.5, 0.99, 1.01, 2.0])
    disc = smooth(2, QuadraticTerm(2 * sp.eye_array(2)), LinearTerm([0, 1], -2 * a, a @ a - 1.0))
    p = problem([0.0, 0.0], [normal], [(normal @ a + distance, INF)], [(-9, 9)] * 2, constraints=(disc,))
    assert is_empty(p) == (distance > 1)


@pytest.mark.parametrize("name", ["ipopt", "scipy", "pyomo:highs", "piqp", "clarabel", "osqp", "active-set", "highs"])
def test_no_solver_calls_a_problem_names_without_a_proof(name):
    """Infeasible and unbounded ones are called so, one that is both infeasible, and one with an end far away neither."""
    Q = np.diag([1.0, 0.0])
    solver = registry.get(name)
    cases = [
        (problem([0.0, -1.0], [[1.0, 1.0]], [(1, INF)], [(0, INF)] * 2, Q), Claim.UNBOUNDED),
        (problem([0.0, -1.0], [[1.0, 0.0]], [(-INF, -1)], [(0, INF)] * 2, Q), Claim.INFEASIBLE),
    ]
    for p, claim in cases:
        assert solver.open(p, {}).solve(p.c, None, 20.0).claim in (claim, Claim.FAILED)
    far = problem([-1.0, -1.0], [[1.0, 1.0]], [(-INF, 1e9)], [(0, INF)] * 2, Q)
    assert solver.open(far, {}).solve(far.c, None, 20.0).claim not in (Claim.INFEASIBLE, Claim.UNBOUNDED)


def test_values_far_from_one_at_the_start_are_not_called_unbounded():
    """g = (n−1)·max c(xᵢ, xᵢ₊₁), h = Σ c(xᵢ, xᵢ₊₁), g − h ≥ 0. Ipopt took an epigraph variable of 7e11 for divergence."""
    n = 5
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n))

    def parts(a, b):
        return [a**4 + b**2, (2 - a) ** 2 + (2 - b) ** 2, 2 * pyo.exp(b - a)]

    pairs = [parts(m.x[i], m.x[i + 1]) for i in range(n - 1)]
    g = (n - 1) * dcprog.maximum(*[part for pair in pairs for part in pair])
    program = DCProgram(m, g=g, h=sum(dcprog.maximum(*pair) for pair in pairs))
    start = np.array([10.379, 7.446, 18.282, -16.403, 10.161])
    result = dcprog.solve(program, x0=start, time_limit=20)
    assert result.status != "unbounded"
    compiled = program.compiled
    problem_, cost = compiled.subproblem, compiled.cost(compiled.h.gradient(start))
    answer = registry.get("ipopt").open(problem_, {}).solve(cost, compiled.lift(start), 20.0)
    assert answer.claim is Claim.OPTIMAL


def test_a_quadratic_constraint_is_left_along_the_direction_in_which_its_linear_part_falls():
    """x² ≤ y goes on for ever towards larger y, not towards smaller ones; whatever the cost says."""
    bowl = smooth(2, QuadraticTerm(2 * sp.diags_array([1.0, 0.0])), LinearTerm([1], [-1.0]))
    p = problem([0.0, -1.0], constraints=(bowl,))
    assert is_ray(p, p.c, np.array([0.0, 1.0]))
    assert not is_ray(p, -p.c, np.array([0.0, -1.0]))
    assert recession_ray(p, -p.c) is None

"""Theorem 1 and Corollary 2 of Neumann, Schnörr & Steidl (2005), as tests on random programs."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given
from hypothesis import strategies as st
from known_problems import PROBLEMS
from strategies import MAKERS, concave_on_polytope

import dcprog
from dcprog.functions import Quadratic
from dcprog.testing import assert_lockstep, check_program, criticality

SEED = st.integers(0, 10_000)


@pytest.mark.parametrize("kind", MAKERS)
@given(seed=SEED)
def test_theorem_1_descent_and_critical_limit(kind, seed):
    program = MAKERS[kind](seed)
    assert str(program.compiled.subproblem.problem_class) == kind
    result = dcprog.solve(program)
    assert result.success, result
    f = np.array([r.f for r in result.history])
    assert (np.diff(f) <= 1e-7 * (1 + np.abs(f[:-1]))).all()
    assert criticality(program, result.x) <= 1e-6 * (1 + abs(result.objective))
    assert result.rebuilds == 0


@given(seed=SEED)
def test_the_gap_bounds_the_decrease(seed):
    states = list(dcprog.DCA(concave_on_polytope(seed)))
    for before, after in pairwise(states):
        assert -1e-9 <= after.gap <= before.f - after.f + 1e-8 * (1 + abs(before.f))


@given(seed=SEED, n=st.integers(1, 8), rows=st.integers(1, 12))
def test_corollary_2_sla_is_dca(seed, n, rows):
    program = concave_on_polytope(seed, n, rows)
    tight = dcprog.Step(0.0) | dcprog.MaxIter(100)
    shared = assert_lockstep(dcprog.SLA(program, solver="highs"), dcprog.DCA(program, solver="highs", stop=tight))
    assert shared >= 2


def test_lockstep_notices_a_difference():
    program = concave_on_polytope(1)
    with pytest.raises(AssertionError, match="iterates differ"):
        assert_lockstep(dcprog.DCA(program), dcprog.DCA(program, x0=np.full(5, 0.05)))


def test_sla_shares_no_code_with_dca():
    tree = ast.parse(Path(inspect.getfile(dcprog.SLA)).read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "dcprog.algorithms.dca" not in imported
    assert dcprog.DCA not in dcprog.SLA.__mro__


def test_sla_refuses_what_is_not_concave():
    with pytest.raises(dcprog.errors.CapabilityError, match="use DCA"):
        dcprog.SLA(MAKERS["QP"](0))


@pytest.mark.parametrize("name", PROBLEMS)
def test_known_problems_descend_to_critical_points_and_never_below_the_optimum(name):
    program, optimum = PROBLEMS[name]()
    result = dcprog.solve(program)
    assert result.success, result
    f = np.array([r.f for r in result.history])
    assert (np.diff(f) <= 1e-8 * (1 + np.abs(f[:-1]))).all()
    assert criticality(program, result.x) <= 1e-6
    assert result.objective >= optimum - 1e-6


def test_random_starts_reach_the_optimum_of_problem_9():
    program, optimum = PROBLEMS["problem_9"]()
    result = dcprog.solve(program, starts=12, seed=0, n_jobs=1)
    assert result.objective == pytest.approx(optimum, abs=1e-6)
    assert len(result.runs) == 12
    assert min(run["objective"] for run in result.runs) == result.objective


def test_quartic_with_nothing_tuned():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    result = dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x))
    assert float(result["x"]) == pytest.approx(1.3008395, abs=1e-6)  # the root of 4x³ = 6x + 1


def trust_region(seed, n=6, radius=1.0):
    """min ½x'Ax + b'x, ‖x‖ ≤ r: g = ½ρ‖x‖² + b'x, h = ½x'(ρI − A)x (Pham Dinh & Le Thi, SIAM J. Optim. 8, 1998)."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A, b = (A + A.T) / 2, rng.standard_normal(n)
    rho = float(np.linalg.eigvalsh(A)[-1]) + 0.1
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), initialize=0.0)
    m.ball = pyo.Constraint(expr=sum(m.x[i] ** 2 for i in range(n)) <= radius**2)
    g = rho / 2 * sum(m.x[i] ** 2 for i in range(n)) + sum(b[i] * m.x[i] for i in range(n))
    return dcprog.DCProgram(m, g=g, h=Quadratic(rho * np.eye(n) - A)(m.x)), A, b


def is_global_trust_region_solution(A, b, x, radius=1.0, tol=1e-4):
    """(A + λI)x = −b, λ ≥ 0, λ(r − ‖x‖) = 0 and A + λI positive semidefinite."""
    lam = max(float(-(x @ (A @ x + b)) / (x @ x)), 0.0)
    stationary = np.linalg.norm(A @ x + lam * x + b) <= tol * (1 + np.linalg.norm(b))
    complementary = lam * abs(radius - np.linalg.norm(x)) <= tol
    return bool(stationary and complementary and np.linalg.eigvalsh(A)[0] + lam >= -tol)


def test_trust_region_subproblems_are_solved_globally():
    found = 0
    for seed in range(20):
        program, A, b = trust_region(seed)
        result = dcprog.solve(program)
        assert result.success, result
        assert np.linalg.norm(result.x) <= 1 + 1e-7
        found += is_global_trust_region_solution(A, b, result.x)
    assert found >= 18, f"{found} of 20"


def test_check_program_passes_and_names_the_solvers_that_agree():
    report = check_program(MAKERS["QP"](3))
    report.raise_if_failed()
    assert report.passed
    assert "ok    solvers agree" in str(report)


class WrongGradient(dcprog.ConvexFunction):
    def value(self, x):
        return float(x @ x)

    def gradient(self, x):
        return x


def test_check_program_finds_a_wrong_gradient():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-1, 1), initialize=0.5)
    report = check_program(dcprog.DCProgram(m, g=sum(m.x[i] ** 4 for i in range(3)), h=WrongGradient()(m.x)))
    assert not report.passed
    assert {c.statement for c in report if not c.passed} >= {"gradient of h against differences"}
    with pytest.raises(AssertionError, match="gradient of h"):
        report.raise_if_failed()

"""SciPy on what it alone of the small adapters takes: smooth functions and nonlinear constraints."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from known_qps import INF, assert_kkt, few, known_problem, limits_around, problem, seeds

from dcprog.convex.answer import Claim
from dcprog.convex.multipliers import multipliers
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import FunctionError
from dcprog.functions.base import ConvexFunction
from dcprog.solvers.adapters.scipy import SciPy


class SumExp(ConvexFunction):
    """Σ exp(aᵢ'x)."""

    def __init__(self, A):
        self.A = A

    def value(self, x):
        return float(np.exp(self.A @ x).sum())

    def gradient(self, x):
        return self.A.T @ np.exp(self.A @ x)

    def hessian(self, x):
        return (self.A.T * np.exp(self.A @ x)) @ self.A


class SumExpFirstOrder(ConvexFunction):
    """The same without second derivatives."""

    value, gradient, __init__ = SumExp.value, SumExp.gradient, SumExp.__init__


class Barrier(ConvexFunction):
    """−Σ log xⱼ, NaN off its domain."""

    separable, domain_lower = True, 0.0

    def value(self, x):
        return float(-np.log(x).sum()) if (x > 0).all() else float("nan")

    def gradient(self, x):
        return np.where(x > 0, -1 / np.where(x > 0, x, 1.0), np.nan)

    def hessian(self, x):
        return np.where(x > 0, 1 / np.where(x > 0, x, 1.0) ** 2, np.nan)


class Broken(ConvexFunction):
    def value(self, x):
        if np.abs(x).max() > 0.5:
            raise ZeroDivisionError("too far")
        return float(x @ x)

    def gradient(self, x):
        return 2 * x


def smooth(function, n):
    return SmoothSum([FunctionTerm(function, np.arange(n), 1.0)], n)


class TestSmooth:
    """What only SciPy takes."""

    @given(seed=seeds, kind=st.sampled_from([SumExp, SumExpFirstOrder]))
    def test_box(self, seed, kind):
        """c is chosen so that z solves the problem, with multipliers μ at the bounds."""
        rng = np.random.default_rng(seed)
        n = rng.integers(1, 8)
        A, z = rng.standard_normal((3 * n, n)), rng.uniform(-1, 1, n)
        lower, upper, mu = limits_around(rng, z, rng.exponential)
        phi = smooth(kind(A), n)
        p = problem(mu - phi.gradient(z), bounds=np.column_stack([lower, upper]), smooth=phi)
        answer = SciPy().open(p, {}).solve(p.c, None, None)
        assert_kkt(p, p.c, answer)
        np.testing.assert_allclose(answer.z, z, atol=1e-5)

    def test_newton_steps_go_on_where_the_line_search_ends(self):
        rng = np.random.default_rng(0)
        A, z = rng.standard_normal((100, 30)), rng.uniform(-1, 1, 30)
        for kind, tol in ((SumExp, 1e-10), (SumExpFirstOrder, 1e-4)):
            phi = smooth(kind(A), 30)
            p = problem(-phi.gradient(z), smooth=phi)
            answer = SciPy().open(p, {}).solve(p.c, np.zeros(30), None)
            assert np.abs(p.gradient(answer.z, p.c)).max() <= tol

    def test_the_start_is_used(self):
        p = problem([-1.0, 0.0], bounds=[(-5, 5)] * 2, smooth=smooth(SumExp(np.eye(2)), 2))
        cold = SciPy().open(p, {}).solve(p.c, np.array([4.0, -4.0]), None)
        warm = SciPy().open(p, {}).solve(p.c, cold.z, None)
        assert warm.iterations <= 1 < cold.iterations

    def test_unbounded(self):
        p = problem([1.0, 0.0], bounds=[(-INF, INF), (0, 1)], smooth=smooth(SumExp(np.eye(2)), 2))
        assert SciPy().open(p, {}).solve(p.c, None, None).claim is Claim.UNBOUNDED

    @pytest.mark.parametrize("kind", [SumExp, SumExpFirstOrder])
    def test_rows(self, kind):
        """min Σ exp(xⱼ) with Σ xⱼ = 3, x₁ ≤ 0: x = (0, 1.5, 1.5), and the multiplier of the row is exp(1.5)."""
        p = problem([0.0] * 3, [[1, 1, 1]], [(3, 3)], [(-5, 0), (-5, 5), (-5, 5)], smooth=smooth(kind(np.eye(3)), 3))
        answer = SciPy().open(p, {}).solve(p.c, None, None)
        assert_kkt(p, p.c, answer)
        np.testing.assert_allclose(answer.z, [0, 1.5, 1.5], atol=1e-5)
        np.testing.assert_allclose(answer.row_duals, [np.exp(1.5)], rtol=1e-4)

    @given(seed=seeds)
    @few
    def test_nonlinear_constraint(self, seed):
        """min c'z on the ball ‖z‖² ≤ r²: z = −r c/‖c‖, and the multiplier is −‖c‖/2r."""
        rng = np.random.default_rng(seed)
        n, r = rng.integers(1, 6), rng.uniform(0.5, 3.0)
        ball = SmoothSum([QuadraticTerm(2 * sp.eye_array(n)), LinearTerm(np.arange(0), np.zeros(0), -(r**2))], n)
        c = rng.standard_normal(n)
        p = problem(c, bounds=[(-10, 10)] * n, constraints=(ball,))
        answer = SciPy().open(p, {}).solve(c, None, None)
        assert_kkt(p, c, answer)
        np.testing.assert_allclose(answer.z, -r * c / np.linalg.norm(c), atol=1e-4)
        np.testing.assert_allclose(answer.constraint_duals, [-np.linalg.norm(c) / (2 * r)], rtol=1e-4)

    def test_steps_off_the_domain_are_taken_back(self):
        """min −Σ log xⱼ with Σ xⱼ ≤ 1 has x = (½, ½), and bounds that a path from the corner runs out of."""
        p = problem([0.0, 0.0], [[1, 1]], [(-INF, 1)], [(1e-3, INF)] * 2, smooth=smooth(Barrier(), 2))
        answer = SciPy().open(p, {}).solve(p.c, np.full(2, 1e-3), None)
        assert_kkt(p, p.c, answer)
        np.testing.assert_allclose(answer.z, [0.5, 0.5], atol=1e-6)

    @pytest.mark.parametrize("rows", [False, True])
    def test_a_start_off_the_domain_is_a_failure_not_a_crash(self, rows):
        A, limits = ([[1.0, 1.0]], [(-INF, 1)]) if rows else (None, ())
        p = problem([1.0, 1.0], A, limits, smooth=smooth(Barrier(), 2))
        assert SciPy().open(p, {}).solve(p.c, np.array([-1.0, 1.0]), None).claim is Claim.FAILED

    @pytest.mark.parametrize("rows", [False, True])
    def test_an_error_in_a_function_comes_through(self, rows):
        A, limits = ([[1.0, 1.0]], [(-INF, 9)]) if rows else (None, ())
        p = problem([-9.0, 0.0], A, limits, [(-5, 5)] * 2, smooth=smooth(Broken(), 2))
        with pytest.raises(FunctionError, match="too far"):
            SciPy().open(p, {}).solve(p.c, None, None)

    @few
    @given(seed=seeds)
    def test_multipliers_of_a_solution_are_found(self, seed):
        """From the point alone, with every kind of limit and dependent ones."""
        p, z, _ = known_problem(seed)
        row_duals, _ = multipliers(p, p.c, z)
        reduced = p.gradient(z, p.c) - p.A.T @ row_duals
        for values, dual, lower, upper in ((z, reduced, p.lower, p.upper), (p.A @ z, row_duals, p.row_lower, p.row_upper)):
            assert np.all((dual <= 1e-6) | (values - lower < 1e-9))
            assert np.all((dual >= -1e-6) | (upper - values < 1e-9))

"""PIQP, Clarabel, OSQP and SciPy on problems whose solutions are known, because they were made from their multipliers."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dcprog.errors import CapabilityError, FunctionError, UnknownNameError
from dcprog.functions.base import ConvexFunction
from dcprog.multipliers import multipliers
from dcprog.smooth import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.solvers._rays import is_empty, is_endless, proves_infeasible, proves_unbounded
from dcprog.solvers.base import Claim
from dcprog.solvers.clarabel import Clarabel
from dcprog.solvers.osqp import OSQP
from dcprog.solvers.piqp import PIQP
from dcprog.solvers.scipy import SciPy
from dcprog.subproblem import ProblemClass, Subproblem

INF = np.inf
SOLVERS = [PIQP(), Clarabel(), OSQP(), SciPy()]
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=6)  # trust-constr takes 0.1 s for each
many = settings(max_examples=60)


def needed(solver):
    if not solver.available():
        pytest.skip(f"{solver.name} is not installed: {solver.install}")
    return solver


@pytest.fixture(params=SOLVERS, ids=lambda s: s.name, scope="module")
def solver(request):
    return needed(request.param)


@pytest.fixture(params=SOLVERS[:3], ids=lambda s: s.name, scope="module")
def qp_solver(request):
    return needed(request.param)


@pytest.fixture(params=[s for s in SOLVERS if ProblemClass.LP in s.classes], ids=lambda s: s.name, scope="module")
def lp_solver(request):
    return needed(request.param)


def problem(c, A=None, rows=(), bounds=None, Q=None, smooth=None, constraints=()):
    """A subproblem from plain lists; ``rows`` and ``bounds`` are pairs (lower, upper)."""
    n = len(c)
    A = np.zeros((0, n)) if A is None else np.asarray(A, dtype=float)
    row_lower, row_upper = np.array(rows, dtype=float).reshape(-1, 2).T
    lower, upper = (np.full(n, -INF), np.full(n, INF)) if bounds is None else np.array(bounds, dtype=float).T
    Q = None if Q is None else sp.csr_array(np.asarray(Q, dtype=float))
    return Subproblem(
        np.asarray(c, dtype=float), sp.csr_array(A), row_lower, row_upper, lower, upper, Q, smooth, constraints
    )


def known_problem(seed, rank=None):
    """A problem with every kind of row and bound that z solves: c is what the chosen multipliers make it.

    ``rank`` 0 gives an LP; otherwise Q has rank at least n/2.
    """
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 8), rng.integers(0, 9)
    A = rng.standard_normal((m, n)) * (rng.random((m, n)) < rng.choice([0.4, 1.0]))
    A[np.arange(m), rng.integers(0, n, m)] = 1.0  # no row is empty
    z, scale = rng.standard_normal(n), rng.exponential
    lower, upper, mu = _limits(rng, z, scale)
    row_lower, row_upper, lam = _limits(rng, A @ z, scale)
    M = rng.standard_normal((n, rng.integers(n // 2 + 1, n + 1) if rank is None else rank))
    Q = M @ M.T
    c = A.T @ lam + mu - Q @ z
    rows, bounds = np.column_stack([row_lower, row_upper]), np.column_stack([lower, upper])
    return problem(c, A, rows, bounds, None if rank == 0 else Q), z, lam


def _limits(rng, values, size):
    """Limits around ``values`` and multipliers that fit: free, fixed, at one limit or at one of two, inside, one-sided."""
    k = len(values)
    lower, upper, dual = np.full(k, -INF), np.full(k, INF), np.zeros(k)
    kind = rng.integers(0, 8, k)
    at_lower, at_upper, fixed, inside, loose = (np.isin(kind, s) for s in ([1, 2], [3, 4], [5], [6], [7]))
    lower[at_lower | fixed] = values[at_lower | fixed]
    upper[at_upper | fixed] = values[at_upper | fixed]
    lower[(kind == 4) | inside] = (values - 0.1 - size(1.0, k))[(kind == 4) | inside]
    upper[(kind == 2) | inside | loose] = (values + 0.1 + size(1.0, k))[(kind == 2) | inside | loose]
    dual[at_lower], dual[at_upper] = size(1.0, at_lower.sum()), -size(1.0, at_upper.sum())
    dual[fixed] = rng.standard_normal(fixed.sum())
    return lower, upper, dual


def assert_kkt(p, c, answer, tol=1e-6):
    """Feasible, stationary and complementary, in the signs that Answer promises."""
    assert answer.claim is Claim.OPTIMAL, answer.message
    z, lam = answer.z, answer.row_duals
    activity, gradient = p.A @ z, p.gradient(z, c)
    reduced = gradient - p.A.T @ lam
    for i, psi in enumerate(p.constraints):
        reduced = reduced - answer.constraint_duals[i] * psi.gradient(z)
        assert psi.value(z) <= tol
        assert answer.constraint_duals[i] <= tol
        assert abs(answer.constraint_duals[i] * psi.value(z)) <= tol
    tol = tol * (1 + np.abs(gradient).max())
    for values, multiplier, lower, upper in (
        (z, reduced, p.lower, p.upper),
        (activity, lam, p.row_lower, p.row_upper),
    ):
        assert np.all(values >= lower - tol)
        assert np.all(values <= upper + tol)
        limit = np.where(multiplier > 0, lower, upper)
        there = np.isfinite(limit)
        assert np.all(there | (np.abs(multiplier) <= tol)), "a multiplier has no limit to belong to"
        assert np.all(np.abs(multiplier[there] * (values - limit)[there]) <= tol)


def assert_solves(solver, seed, rank=None):
    p, z, _ = known_problem(seed, rank)
    answer = solver.open(p, {}).solve(p.c, None, None)
    assert_kkt(p, p.c, answer)
    assert p.value(answer.z, p.c) == pytest.approx(p.value(z, p.c), rel=1e-6, abs=1e-6)


class TestKnownSolutions:
    @few
    @given(seed=seeds)
    def test_qp(self, solver, seed):
        assert_solves(solver, seed)

    @many
    @given(seed=seeds)
    def test_many_qps(self, qp_solver, seed):
        assert_solves(qp_solver, seed)

    @many
    @given(seed=seeds)
    def test_lp(self, lp_solver, seed):
        assert_solves(lp_solver, seed, rank=0)

    @few
    @given(seed=seeds)
    def test_the_only_solution_is_found(self, solver, seed):
        """With Q positive definite there is one solution, and it is the one the problem was made from."""
        p, z, _ = known_problem(seed, rank=40)
        np.testing.assert_allclose(solver.open(p, {}).solve(p.c, None, None).z, z, atol=1e-5)

    @few
    @given(seed=seeds)
    def test_another_cost_gives_what_a_fresh_session_gives(self, solver, seed):
        p, z, _ = known_problem(seed, rank=40)
        other = p.c + 0.1 * np.random.default_rng(seed).standard_normal(p.n)
        session = solver.open(p, {})
        first = session.solve(p.c, None, None)
        again = session.solve(other, first.z, None)
        fresh = solver.open(p, {}).solve(other, None, None)
        np.testing.assert_allclose(again.z, fresh.z, atol=2e-5)
        back = session.solve(p.c, again.z, None)
        np.testing.assert_allclose(back.z, z, atol=1e-5)

    @pytest.mark.parametrize("share", [0.05, 1.0])
    def test_piqp_is_the_same_sparse_and_dense(self, share):
        """The rule that picks the linear algebra changes no answer."""
        import piqp

        rng = np.random.default_rng(7)
        A = rng.standard_normal((20, 15)) * (rng.random((20, 15)) < share)
        p = problem(rng.standard_normal(15), A, [(-1, 1)] * 20, [(-1, 1)] * 15, np.eye(15))
        dense, sparse = (
            PIQP().open(p, {"kkt_solver": k}).solve(p.c, None, None) for k in (piqp.dense_cholesky, piqp.sparse_ldlt)
        )
        np.testing.assert_allclose(dense.z, sparse.z, atol=1e-6)
        np.testing.assert_allclose(dense.z, PIQP().open(p, {}).solve(p.c, None, None).z, atol=1e-6)


class TestShapes:
    def test_no_rows_and_no_bounds(self, solver):
        p = problem([1.0, -2.0], Q=np.eye(2))
        answer = solver.open(p, {}).solve(p.c, None, None)
        np.testing.assert_allclose(answer.z, [-1.0, 2.0], atol=1e-8)
        assert answer.row_duals.shape == (0,)

    def test_only_free_rows_and_limits_too_large_to_mean_anything(self, solver):
        p = problem([1.0, -2.0], [[1, 1], [3, 1]], [(-INF, INF), (-1e30, 1e25)], [(-1e30, INF), (-INF, 1e30)], np.eye(2))
        answer = solver.open(p, {}).solve(p.c, None, None)
        np.testing.assert_allclose(answer.z, [-1.0, 2.0], atol=1e-7)
        np.testing.assert_array_equal(answer.row_duals, [0.0, 0.0])

    def test_everything_fixed(self, solver):
        p = problem([1.0, -2.0], [[1, 1]], [(0, 5)], [(1, 1), (2, 2)], np.eye(2))
        np.testing.assert_allclose(solver.open(p, {}).solve(p.c, None, None).z, [1.0, 2.0], atol=1e-7)

    def test_equations_that_follow_from_one_another(self, solver):
        p = problem([1.0, 1.0, 0.0], [[1, 1, 0], [2, 2, 0], [0, 0, 0]], [(1, 1), (2, 2), (0, 0)], Q=np.eye(3))
        answer = solver.open(p, {}).solve(p.c, None, None)
        assert_kkt(p, p.c, answer)
        np.testing.assert_allclose(answer.z, [0.5, 0.5, 0.0], atol=1e-7)

    def test_the_sign_of_a_row_dual(self, solver):
        """min ½x² with x ≥ 1 as a row: one more unit of the limit costs x = 1; with x ≤ −1 it gains as much."""
        for rows, dual in (([(1, INF)], 1.0), ([(-INF, -1)], -1.0), ([(1, 1)], 1.0), ([(1, 4)], 1.0)):
            p = problem([0.0], [[1]], rows, Q=[[1]])
            np.testing.assert_allclose(solver.open(p, {}).solve(p.c, None, None).row_duals, [dual], atol=1e-6)

    def test_nothing_is_printed(self, solver, capfd):
        inner = problem([1.0, -2.0], [[1, 1], [1, 0]], [(-9, 9), (-INF, INF)], [(-9, 9)] * 2, np.eye(2))
        session = solver.open(inner, {})
        session.solve(inner.c, None, None)
        session.solve(inner.c, None, 0.0)
        impossible = problem([1.0], [[1]], [(2, 3)], [(0, 1)], [[1]])
        solver.open(impossible, {}).solve(impossible.c, None, None)
        assert capfd.readouterr() == ("", "")


class TestNoSolution:
    @pytest.mark.parametrize(
        ("A", "rows", "bounds"),
        [
            ([[1.0, 1.0]], [(3, INF)], [(0, 1), (0, 1)]),
            ([[1.0, 1.0], [1.0, 1.0]], [(0, 0), (1, 1)], [(-INF, INF)] * 2),
            ([[1.0, 0.0], [1.0, 1.0]], [(-INF, 0), (5, INF)], [(-INF, INF), (1, 1)]),
            ([[0.0, 0.0]], [(1, INF)], [(-INF, INF)] * 2),
        ],
        ids=["bounds", "equations", "fixed variable", "empty row"],
    )
    def test_infeasible(self, solver, A, rows, bounds):
        p = problem([1.0, 1.0], A, rows, bounds, np.eye(2))
        answer = solver.open(p, {}).solve(p.c, None, None)
        assert answer.claim is Claim.INFEASIBLE, answer.message
        assert answer.z is None
        assert answer.message

    @pytest.mark.parametrize(
        ("A", "rows", "bounds"),
        [
            (None, (), [(-INF, INF)] * 2),
            (None, (), [(0, INF)] * 2),
            ([[1.0, -1.0]], [(-1, 1)], [(0, INF)] * 2),
        ],
        ids=["free", "quadrant", "strip"],
    )
    def test_unbounded(self, solver, A, rows, bounds):
        """Flat along (1, 1), and falling there."""
        p = problem([-1.0, -1.0], A, rows, bounds, [[1.0, -1.0], [-1.0, 1.0]])
        answer = solver.open(p, {}).solve(p.c, None, None)
        assert answer.claim is Claim.UNBOUNDED, answer.message
        assert answer.z is None

    def test_lp_without_solution(self, lp_solver):
        p = problem([-1.0, 0.0], [[1.0, 1.0]], [(1, INF)], [(0, INF)] * 2)
        assert lp_solver.open(p, {}).solve(p.c, None, None).claim is Claim.UNBOUNDED
        p = problem([1.0, 0.0], [[1.0, 1.0]], [(3, INF)], [(0, 1)] * 2)
        assert lp_solver.open(p, {}).solve(p.c, None, None).claim is Claim.INFEASIBLE

    @given(seed=seeds)
    def test_what_a_ray_proves_is_true(self, seed):
        """A problem with a solution is never proved infeasible or unbounded, whatever a solver left behind."""
        p, z, lam = known_problem(seed)
        rng = np.random.default_rng(seed)
        for ray in (lam, rng.standard_normal(p.m), np.maximum(rng.standard_normal(p.m), 0)):
            assert not proves_infeasible(p, ray)
        for d in (z, rng.standard_normal(p.n)):
            assert not proves_unbounded(p, p.c, d)
        assert not is_empty(p)
        assert not is_endless(p, p.c)

    @given(seed=seeds)
    def test_a_farkas_ray_proves_infeasibility(self, seed):
        """Rows that hold, and one that contradicts a combination of them."""
        p, _, _ = known_problem(seed)
        rng = np.random.default_rng(seed)
        sides = np.where(np.isfinite(p.row_lower), 1.0, np.where(np.isfinite(p.row_upper), -1.0, 0.0))
        lam = sides * rng.uniform(0.1, 1.0, p.m)
        reach = np.where(lam > 0, p.row_lower, np.where(lam < 0, p.row_upper, 0.0)) @ lam
        rows = [*zip(p.row_lower, p.row_upper, strict=True), (-INF, reach - 1.0)]
        q = problem(p.c, np.vstack([p.A.toarray(), lam @ p.A]), rows, np.column_stack([p.lower, p.upper]))
        assert proves_infeasible(q, 1e8 * np.append(lam, -1.0))
        assert is_empty(q)


class TestOptions:
    def test_unknown(self, solver):
        p = problem([1.0], [[1]], [(0, 1)], Q=[[1]])
        misspelt = "maxitr" if solver.name == "scipy" else "max_itr"
        with pytest.raises(UnknownNameError, match=f"unknown {solver.name} option '{misspelt}': did you mean 'max_?iter'"):
            solver.open(p, {misspelt: 3})

    def test_of_the_wrong_type(self, solver):
        p = problem([1.0], [[1]], [(0, 1)], Q=[[1]])
        with pytest.raises(CapabilityError, match="'many'"):
            solver.open(p, {"maxiter" if solver.name == "scipy" else "max_iter": "many"})

    @pytest.mark.parametrize(("solver", "option"), [(Clarabel(), {"direct_solve_method": "x"}), (OSQP(), {"eps_abs": -1.0})])
    def test_of_a_value_that_is_refused(self, solver, option, capfd):
        p = problem([1.0], [[1]], [(0, 1)], Q=[[1]])
        with pytest.raises(CapabilityError, match="does not take"):
            needed(solver).open(p, option)

    def test_reaches_the_solver(self, solver):
        """One iteration is not enough."""
        rng = np.random.default_rng(0)
        p = problem(rng.standard_normal(8), rng.standard_normal((8, 8)), [(-1, 1)] * 8, [(-1, 1)] * 8, np.eye(8))
        answer = solver.open(p, {"maxiter" if solver.name == "scipy" else "max_iter": 1}).solve(p.c, None, None)
        assert answer.claim is Claim.FAILED
        assert answer.iterations <= 1

    def test_no_time(self, solver):
        rng = np.random.default_rng(0)
        p = problem(rng.standard_normal(8), rng.standard_normal((8, 8)), [(-1, 1)] * 8, [(-1, 1)] * 8, np.eye(8))
        session = solver.open(p, {})
        assert session.solve(p.c, None, 0.0).claim is Claim.TIME_LIMIT
        assert_kkt(p, p.c, session.solve(p.c, None, 60.0))

    def test_no_solver_is_imported_before_one_is_opened(self):
        code = (
            "import sys\n"
            "from dcprog.solvers import clarabel, osqp, piqp, scipy\n"
            "assert not {'clarabel', 'osqp', 'piqp'} & set(sys.modules), set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


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
        lower, upper, mu = _limits(rng, z, rng.exponential)
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

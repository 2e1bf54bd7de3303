"""PIQP, Clarabel, OSQP and SciPy on problems whose solutions are known."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from known_qps import INF, assert_kkt, few, known_problem, problem, seeds

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ProblemClass
from dcprog.errors import CapabilityError, UnknownNameError
from dcprog.solvers.adapters.clarabel import Clarabel
from dcprog.solvers.adapters.osqp import OSQP
from dcprog.solvers.adapters.piqp import PIQP
from dcprog.solvers.adapters.scipy import SciPy
from dcprog.solvers.rays import is_empty, recession_ray

SOLVERS = [PIQP(), Clarabel(), OSQP(), SciPy()]
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
    def test_what_is_proved_is_true(self, seed):
        """A problem with a solution is never proved infeasible or unbounded."""
        p, _, _ = known_problem(seed)
        assert not is_empty(p)
        assert recession_ray(p, p.c) is None

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
            "from dcprog.solvers.adapters import clarabel, osqp, piqp, scipy\n"
            "assert not {'clarabel', 'osqp', 'piqp'} & set(sys.modules), set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)

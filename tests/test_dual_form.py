"""The dual of an LP or QP: the same value up to its sign, and the way back to a solution of the primal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from degenerate_problems import INF, degenerate_problem, truth
from hypothesis import assume, given, settings
from known_qps import assert_kkt, problem, seeds

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.solvers.adapters.piqp import PIQP
from dcprog.solvers.reductions.dual_form import DualForm, obstacle
from dcprog.solvers.reductions.highs_dual import HighsDual


@pytest.mark.parametrize("curved", [False, True], ids=["LP", "QP"])
@given(seed=seeds)
@settings(max_examples=40)
def test_values_are_opposite_and_the_primal_is_recovered(curved, seed):
    p = degenerate_problem(seed, curved, nonnegative=True)
    assume(obstacle(p) is None)
    claim, value = truth(p)
    form = DualForm(p)
    dual = form.problem(p.c)
    if dual is None:
        crossing = curved and (form.curvature[form.rows.head[form.rows.tail >= 0]] > 0).any()
        assert claim is not Claim.OPTIMAL or crossing
        return
    assume(claim is Claim.OPTIMAL)
    answer = PIQP().open(dual, {}).solve(dual.c, None, None)
    assume(answer.claim is Claim.OPTIMAL)
    z, y = form.recover(answer.row_duals), answer.z[: p.m]
    # Feasible points of both with opposite values: by weak duality each is a proof that the other one is optimal.
    assert np.all((p.A @ z >= p.row_lower - 1e-6) & (p.A @ z <= p.row_upper + 1e-6))
    assert np.all((z >= p.lower) & (z <= p.upper))
    assert_kkt(dual, dual.c, answer)
    assert p.value(z, p.c) == pytest.approx(-dual.value(answer.z, dual.c), rel=1e-6, abs=1e-6)
    assert value is None or p.value(z, p.c) == pytest.approx(value, rel=1e-6, abs=1e-6)
    assert np.isfinite(p.row_lower[y > 1e-5]).all()
    assert np.isfinite(p.row_upper[y < -1e-5]).all()


def every_part():
    """Rows ≥, ≤ and =, a slack in each inequality, a mirror pair, a free and a lone column: x, in this order, is optimal."""
    #        p    q    free lone s≥   s≤
    A = [
        [1.0, -1.0, 1.0, 0.5, 2.0, 0.0],
        [1.0, -1.0, 0.0, 1.0, 0.0, -1.0],
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
    ]
    return problem(
        [1.0, 1.0, 0.3, 0.9, 4.0, 3.0], A, [(4, INF), (-INF, 1), (2, 2)], [(0, INF)] * 2 + [(-INF, INF)] + [(0, INF)] * 3
    )


def test_the_parts_of_a_dual():
    p = every_part()
    form = DualForm(p)
    np.testing.assert_array_equal(form.slack, [4, 5, -1])
    np.testing.assert_array_equal(form.slack_coefficient, [2.0, -1.0, 1.0])
    np.testing.assert_array_equal(form.rows.head, [0, 2, 3])
    np.testing.assert_array_equal(form.rows.tail, [1, -1, -1])
    row_lower, row_upper, lower, upper = form.limits(p.c)
    np.testing.assert_array_equal(row_lower, [-1.0, 0.3, -INF])
    np.testing.assert_array_equal(row_upper, [1.0, 0.3, 0.9])
    np.testing.assert_array_equal(lower, [0.0, -3.0, -INF])  # a slack costs 3 for each unit of the ≤ row
    np.testing.assert_array_equal(upper, [2.0, 0.0, INF])  # and 4 for each two units of the ≥ row
    np.testing.assert_array_equal(form.problem(p.c).c, [-4.0, -1.0, -2.0])


def test_highs_solves_the_dual_for_every_part():
    p = every_part()
    session = HighsDual().open(p, {})
    for c in (p.c, 2 * p.c, np.array([0.2, 3.0, -0.1, 0.5, 0.1, 0.2])):
        answer = session.solve(c, None, None)
        assert answer.message == "dual: Optimal"
        assert_kkt(p, c, answer)
        assert p.value(answer.z, c) == pytest.approx(truth(p, c)[1])


@given(seed=seeds)
@settings(max_examples=20)
def test_a_form_that_grows_is_the_form_of_the_whole(seed):
    p = degenerate_problem(seed, nonnegative=True)
    assume(obstacle(p) is None)
    assume(p.n > 2)
    k = p.n // 2
    part = ConvexProblem(p.c[:k], p.A[:, :k], p.row_lower, p.row_upper, p.lower[:k], p.upper[:k])
    session = HighsDual().open(part, {})
    session.solve(part.c, None, None)
    session.grow(p, p.n - k)
    answer = session.solve(p.c, None, None)
    claim, value = truth(p)
    assert answer.claim is claim
    if claim is Claim.OPTIMAL:
        assert p.value(answer.z, p.c) == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_curvature_is_a_variable_of_its_own():
    """min ½·2x² − 3x, x ≥ 1: ½·2w² − y with y − 2w ≤ −3; x = w = 1.5."""
    p = problem([-3.0], [[1.0]], [(1, INF)], [(0, INF)], [[2.0]])
    dual = DualForm(p).problem(p.c)
    np.testing.assert_array_equal(dual.A.toarray(), [[1.0, -2.0]])
    np.testing.assert_array_equal(dual.Q.toarray(), np.diag([0.0, 2.0]))
    answer = PIQP().open(dual, {}).solve(dual.c, None, None)
    assert answer.z[1] == pytest.approx(1.5, abs=1e-8)
    assert DualForm(p).recover(answer.row_duals) == pytest.approx([1.5], abs=1e-8)


@pytest.mark.parametrize(
    ("A", "rows", "costs", "claim"),
    [
        ([[1.0, 1.0]], [(1, INF)], [1.0, -1.0], Claim.UNBOUNDED),
        ([[1.0, 1.0], [0.0, 0.0]], [(1, INF), (1, INF)], [1.0, -1.0], Claim.INFEASIBLE),
        ([[1.0, 1.0]], [(-INF, -1)], [1.0, 1.0], Claim.INFEASIBLE),
        ([[1.0, -1.0]], [(1, INF)], [1.0, -2.0], Claim.UNBOUNDED),
    ],
    ids=["a slack of negative cost", "beside an empty row that is violated", "no point", "mirrors of negative cost"],
)
def test_what_an_infeasible_dual_says_of_the_primal(A, rows, costs, claim):
    p = problem(costs, A, rows, [(0, INF)] * 2)
    assert HighsDual().open(p, {}).solve(p.c, None, None).claim is claim


def test_costs_are_scaled_back():
    p = every_part()
    for factor in (1e-6, 1e6):
        scaled = ConvexProblem(factor * p.c, p.A, p.row_lower, p.row_upper, p.lower, p.upper)
        plain, other = (HighsDual().open(q, {}).solve(q.c, None, None) for q in (p, scaled))
        np.testing.assert_allclose(other.row_duals, factor * plain.row_duals)
        np.testing.assert_allclose(other.z, plain.z)


def test_stored_zeros_are_no_entries():
    A = sp.csc_array(np.array([[1.0, 2.0], [3.0, 4.0]]))
    A.data[1] = 0.0
    p = problem([1.0, 1.0], np.zeros((2, 2)), [(1, INF)] * 2, [(0, INF)] * 2)
    form = DualForm(ConvexProblem(p.c, A, p.row_lower, p.row_upper, p.lower, p.upper))
    np.testing.assert_array_equal(form.slack, [0, -1])

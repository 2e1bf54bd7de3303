"""Norms, eigenvalues and other functions with conic forms in g: the forms are right, solvers agree, and no lie passes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dcprog
import dcprog.functions as fn
import dcprog.testing
from dcprog import DCProgram
from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import verify
from dcprog.convex.problem import ProblemClass
from dcprog.convex.scaling import scaling_of
from dcprog.errors import CapabilityError, DataError, DomainError, ModelError
from dcprog.solvers.registry import get

N = 4
RNG = np.random.default_rng(5)
A, b = RNG.normal(size=(6, N)), RNG.normal(size=6)
SUBLINEAR = {
    "norm": (fn.Norm2(), 6),
    "groups": (fn.GroupNorm([[0, 1], [2, 3, 4], [5]], [1, 0.5, 2]), 6),
    "eigenvalue": (fn.LargestEigenvalue(), 9),
    "nuclear": (fn.NuclearNorm(), 9),
    "nuclear, rows": (fn.NuclearNorm(columns=2), 6),
}
CONIC = {
    **{name: f for name, (f, _) in SUBLINEAR.items()},
    "overlapping groups": fn.GroupNorm([[0, 1, 2], [2, 3]], [1, 0.5]),
    "squares": fn.SquaredNorm(),
    "huber": fn.Huber(0.5),
    "squared hinge": fn.SquaredHinge(),
    "logistic": fn.Logistic(),
    "log-sum-exp": fn.LogSumExp(),
    "log-sum-exp, forms": fn.LogSumExp(A, b),
    "sum of exponentials": fn.SumExp(A, b, weights=[1, 2, 0, 1, 0.5, 1]),
    "entropy": fn.Entropy(),
    "quadratic over linear": fn.QuadOverLin(),
    "of linear forms": fn.OfAffine(fn.Norm2(), A, b),
}


def model(n=N, lower=-5.0, upper=5.0):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(lower, upper), initialize=0.3)
    return m


def solve(m, g, solver, h=0, **how):
    return dcprog.solve(DCProgram(m, g=g, h=h), solver=solver, fallback=False, **how)


# ── the oracles of a cone ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", CONIC)
def test_a_conic_form_has_the_value_of_its_function(name):
    """min c't + ½t'Pt over the rows, at a fixed x, by Clarabel's own interface."""
    clarabel = pytest.importorskip("clarabel")
    from dcprog.solvers.adapters.clarabel_cones import _cone

    f = CONIC[name]
    n = {"groups": 6, "eigenvalue": 9, "nuclear": 9, "nuclear, rows": 6}.get(name, N)
    x = np.random.default_rng(1).uniform(0.2, 2, n)
    form = f.conic(n)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    P = sp.csc_matrix((len(form.c),) * 2) if form.P is None else sp.triu(sp.csc_matrix(form.P), format="csc")
    cones = [_cone(kind, size) for kind, size in form.cones]
    found = clarabel.DefaultSolver(P, form.c, sp.csc_matrix(-form.B), form.A @ x + form.b, cones, settings).solve()
    assert found.obj_val == pytest.approx(f.value(x), rel=1e-6)


@pytest.mark.parametrize("name", SUBLINEAR)
@given(seed=st.integers(0, 10_000))
def test_the_nearest_slope_is_that(name, seed):
    """v is the projection onto ∂f(0) = {v: ⟨v, x⟩ ≤ f(x) for all x}: it lies in it, and w − v supports it at v."""
    f, n = SUBLINEAR[name]
    rng = np.random.default_rng(seed)
    w, x = 2 * rng.normal(size=n), rng.normal(size=n)
    v = f.nearest_slope(w)
    assert v @ x <= f.value(x) + 1e-9
    assert f.value(2.5 * x) == pytest.approx(2.5 * f.value(x))
    assert (w - v) @ (f.gradient(x) - v) <= 1e-9
    np.testing.assert_allclose(f.nearest_slope(v), v, atol=1e-9)


# ── solvers agree ───────────────────────────────────────────────────────────────────────────────────────────────────────

WITH_NORMS = {
    "norm": lambda x: fn.Norm2()(A, x, b),
    "norm and l1": lambda x: fn.Norm2()(A, x, b) + 0.3 * fn.L1Norm()(x),
    "group lasso": lambda x: fn.SquaredNorm()(A, x, b) + fn.GroupNorm([[0, 1], [2, 3]], [1, 2])(x),
    "logistic": lambda x: fn.Logistic()(A, x, b) + fn.Norm2()(x),
    "huber": lambda x: fn.Huber(0.5)(A, x, b) + 0.1 * fn.Norm2()(x),
    "squared hinge": lambda x: fn.SquaredHinge()(A, x, b) + 0.1 * fn.Norm2()(x),
    "exponentials": lambda x: fn.SumExp(A, b)(x) + fn.Norm2()(x),
    "entropy": lambda x: fn.Entropy()([v + 5 for v in x.values()]) + fn.Norm2()(x),
    "maximum of a norm": lambda x: dcprog.maximum(pyo.sqrt((x[0] - 2) ** 2 + x[1] ** 2), 1 - x[3]) + fn.SquaredNorm()(x),
    "root": lambda x: pyo.sqrt((x[0] - 2 * x[1] + 1) ** 2 + 3 * x[1] ** 2) + (x[0] - 1) ** 2 + x[2] ** 2 + x[3] ** 2,
}


@pytest.mark.parametrize("name", WITH_NORMS)
def test_clarabel_and_ipopt_agree(name):
    pytest.importorskip("cyipopt")
    m = model()
    program = DCProgram(m, g=WITH_NORMS[name](m.x), h=0)
    assert program.compiled.subproblem.problem_class is ProblemClass.CONIC
    one, other = (dcprog.solve(program, solver=solver, fallback=False) for solver in ("clarabel", "ipopt"))
    assert one.success
    assert other.success
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    for step in np.random.default_rng(0).normal(size=(50, N)):  # by the value alone
        for v, value in zip(m.x.values(), np.clip(one["x"] + 1e-2 * step, -5, 5), strict=True):
            v.value = value
        assert pyo.value(WITH_NORMS[name](m.x)) >= one.objective - 1e-9


@pytest.mark.parametrize("name", ["logistic", "log-sum-exp", "huber", "squared hinge"])
def test_smooth_functions_with_conic_forms_are_taken_by_clarabel_ipopt_and_scipy(name):
    m = model()
    found = {
        s: solve(m, CONIC[name](A, m.x, b) + fn.SquaredNorm()(m.x), s).objective for s in ("clarabel", "ipopt", "scipy")
    }
    assert found["clarabel"] == pytest.approx(found["scipy"], rel=1e-7)
    assert found["ipopt"] == pytest.approx(found["scipy"], rel=1e-7)


def test_minimisers_at_the_tip_of_a_cone():
    """‖x − p‖ with p nearest to where the other term pulls: the solution is p, where the norm has no gradient."""
    m, p = model(), np.array([1.0, -2.0, 0.5, 0.0])
    result = solve(m, 3 * fn.Norm2()([m.x[i] - p[i] for i in range(N)]) + sum(m.x[i] for i in range(N)), "clarabel")
    assert result.success
    np.testing.assert_allclose(result["x"], p, atol=1e-7)


def test_largest_eigenvalue_and_nuclear_norm():
    """min λ_max(X) over the trace is the trace/k; the nearest matrix in the nuclear norm's sense shrinks singular values."""
    m = model(9)
    m.trace = pyo.Constraint(expr=m.x[0] + m.x[4] + m.x[8] == 6)
    X = [[m.x[0], m.x[1], m.x[2]], [m.x[1], m.x[4], m.x[5]], [m.x[2], m.x[5], m.x[8]]]
    assert solve(m, fn.LargestEigenvalue()(X), "clarabel").objective == pytest.approx(2.0, abs=1e-7)
    M = RNG.normal(size=(3, 3))
    m = model(9)
    result = solve(
        m, 0.5 * fn.SquaredNorm()([m.x[i] - M.ravel()[i] for i in range(9)]) + 0.7 * fn.NuclearNorm()(m.x), "clarabel"
    )
    U, s, V = np.linalg.svd(M)
    np.testing.assert_allclose(result["x"].reshape(3, 3), (U * np.maximum(s - 0.7, 0)) @ V, atol=1e-6)


def test_norms_in_constraints():
    m = model(2)
    m.ball = pyo.Constraint(expr=fn.Norm2()(m.x) <= 2)
    m.cone = pyo.Constraint(expr=pyo.sqrt((m.x[0] - 1) ** 2 + m.x[1] ** 2) + m.x[1] <= 1)
    program = DCProgram(m, g=-m.x[0] - 2 * m.x[1], h=0)
    assert program.assumptions == ()
    results = [dcprog.solve(program, solver=s, fallback=False) for s in ("clarabel", "ipopt")]
    assert results[0].objective == pytest.approx(results[1].objective, rel=1e-7)
    assert results[0].violation <= 1e-7


def test_dca_with_norms_in_g_is_certified():
    """ℓ2,1 − ℓ2: group sparse least squares with a concave part. A group is 0 at the end, where its norm has a kink."""
    m = model(8)
    D = np.random.default_rng(2).normal(size=(12, 8))
    y = D[:, :3] @ [1.0, -1.0, 2.0]
    g = fn.SquaredNorm()(D, m.x, -y) + 2 * fn.GroupNorm([range(4), range(4, 8)])(m.x)
    program = DCProgram(m, g=g, h=2 * fn.Norm2()(m.x))
    states = list(dcprog.DCA(program, solver="clarabel", fallback=False))
    assert all(later.f <= earlier.f + 1e-9 for earlier, later in pairwise(states))
    result = dcprog.solve(program, solver="clarabel", fallback=False)
    assert result.status.value == "converged"
    assert -1e-9 <= result.gap <= 1e-6
    np.testing.assert_allclose(result["x"][4:], 0, atol=1e-7)
    assert dcprog.testing.criticality(program, result.x) <= 1e-5


# ── claims ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def subproblem():
    m = model()
    compiled = DCProgram(m, g=fn.Norm2()(A, m.x, b) + 0.1 * fn.Norm2()(m.x), h=0).compiled
    return compiled.subproblem


def right_answer(problem):
    answer = get("clarabel").open(problem, {}).solve(problem.c, None, None)
    assert verify(problem, problem.c, answer).holds()
    return answer


LIES = {
    "another dual": lambda a: replace(a, cone_duals=tuple(None if v is None else -v for v in a.cone_duals)),
    "a dual outside": lambda a: replace(a, cone_duals=tuple(None if v is None else v + 1e-3 for v in a.cone_duals)),
    "a longer dual": lambda a: replace(a, cone_duals=tuple(None if v is None else 3 * v[::-1] for v in a.cone_duals)),
    "a smaller multiplier": lambda a: replace(a, constraint_duals=a.constraint_duals * (1 - 1e-4)),
    "a point outside": lambda a: replace(a, z=a.z - 1e-4 * (np.arange(len(a.z)) >= N)),
    "a point inside": lambda a: replace(a, z=a.z + 1e-4 * (np.arange(len(a.z)) >= N)),
    "another point": lambda a: replace(a, z=a.z + 1e-4),
    "NaN": lambda a: replace(a, cone_duals=tuple(None if v is None else v * np.nan for v in a.cone_duals), z=a.z + 1e-4),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_cones_are_seen(lie):
    problem = subproblem()
    assert not verify(problem, problem.c, LIES[lie](right_answer(problem))).holds()


def test_a_multiplier_at_the_tip_has_to_lie_in_the_dual_cone():
    """min 3‖x‖ + c'x: x = 0 is optimal for ‖c‖ ≤ 3, by v = −c/3, and for no longer c whatever the dual."""
    m = model(2)
    problem = DCProgram(m, g=3 * fn.Norm2()(m.x), h=0).compiled.subproblem
    for length, optimal in ((2.9, True), (3.1, False)):
        c = problem.c + np.array([length, 0.0, 0.0])
        claim = Answer(Claim.OPTIMAL, np.zeros(3), np.empty(0), np.array([-3.0]), cone_duals=(np.array([-length / 3, 0.0]),))
        assert verify(problem, c, claim).holds() is optimal


@given(
    units=st.lists(st.sampled_from([1e-6, 1e-3, 1.0, 1e4]), min_size=N, max_size=N), factor=st.sampled_from([1e-8, 1.0, 1e6])
)
def test_units_and_factors_leave_the_certificate(units, factor):
    """min factor·(‖A D x + b‖ + 0.1‖D x‖): the same answers in other units, found and certified."""
    D = np.array(units)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(N), initialize=lambda m, i: 0.3 / D[i])
    g = factor * (fn.Norm2()(A * D, m.x, b) + 0.1 * fn.Norm2()(np.diag(D), m.x))
    m0 = model()
    expected = solve(m0, fn.Norm2()(A, m0.x, b) + 0.1 * fn.Norm2()(m0.x), "clarabel")
    result = dcprog.solve(DCProgram(m, g=g, h=0))
    assert result.success
    assert result.objective == pytest.approx(factor * expected.objective, rel=1e-6)
    np.testing.assert_allclose(D * result["x"], expected["x"], atol=1e-4)


def test_scaling_keeps_the_cone_and_its_dual():
    problem = subproblem()
    answer = right_answer(problem)
    scaling = scaling_of(problem, problem.c, answer.z, always=True)
    scaling = replace(scaling, column=scaling.column * 2.0 ** np.arange(problem.n), constraint=scaling.constraint * 8.0)
    scaled = scaling.problem(problem)
    assert scaled.problem_class is ProblemClass.CONIC
    theirs = get("clarabel").open(scaled, {}).solve(scaled.c, None, None)
    assert verify(problem, problem.c, scaling.answer(theirs)).holds()


def test_solvers_that_take_no_cones_say_so():
    m = model(9)
    for solver, says in (("highs", "CONIC"), ("scipy", "CONIC|cones"), ("piqp", "CONIC")):
        with pytest.raises(CapabilityError, match=says):
            solve(m, fn.Norm2()(m.x) + m.x[0], solver)
    with pytest.raises(CapabilityError, match="second-order cones only"):
        solve(m, fn.LargestEigenvalue()(m.x), "ipopt")


def test_bad_arguments():
    m = model()
    for make, error, says in (
        (lambda: fn.GroupNorm([]), DataError, "no group"),
        (lambda: fn.GroupNorm([[0, 0]]), DataError, "twice"),
        (lambda: fn.GroupNorm([["a"]]), DataError, "positions"),
        (lambda: fn.GroupNorm([[7]])(m.x), DataError, "position 7"),
        (lambda: fn.LargestSum(0), DataError, "k has to be"),
        (lambda: fn.LargestSum(9)(m.x), ModelError, "at least 9"),
        (lambda: fn.LargestEigenvalue()(m.x[0], m.x[1]), ModelError, "square matrix"),
        (lambda: fn.NuclearNorm(columns=3)(m.x), ModelError, "rows of 3"),
        (lambda: fn.QuadOverLin()(m.x[0]), ModelError, "x and then y"),
        (lambda: DCProgram(m, g=fn.QuadOverLin()(m.x), h=0), DomainError, "not defined everywhere"),
        (lambda: DCProgram(m, g=fn.Entropy()([m.x[0] + 4]), h=0), DomainError, "linear form"),
    ):
        with pytest.raises(error, match=says):
            make()

"""NLPSVM: the formulas of Fung & Mangasarian (2004), and the exact least 2-norm solution they promise."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from data_sets import load_real, needs_data
from hypothesis import given
from hypothesis import strategies as st
from l1_programs import random_points, random_program, seeds, subproblem
from scipy.optimize import approx_fprime, linprog
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.datasets import generators
from dcprog.errors import DataError, UnknownNameError
from dcprog.methods.nlpsvm import kernel_nlpsvm, lp_svm, nlpsvm
from dcprog.solvers import registry
from dcprog.solvers.reductions.active_l1 import from_active_sets
from dcprog.solvers.reductions.dual_penalty import (
    L1Program,
    Primal,
    armijo_step,
    solve_small,
    solve_square,
)
from dcprog.solvers.reductions.l1_newton import L1Newton
from dcprog.solvers.reductions.least_norm import TOLERANCE, least_norm, minimise


def stacked(lp):
    """Costs c, rows A z ≥ r and lower bounds of the linear program over z = (p, q, β, ξ), without slacks that cost ∞."""
    soft = np.isfinite(lp.nu)
    B = lp.B.toarray() if sp.issparse(lp.B) else lp.B
    A = np.hstack([B, -B, lp.G, np.eye(lp.m)[:, soft]])
    c = np.concatenate([lp.s, lp.t, lp.c, lp.nu[soft]])
    lower = np.zeros(len(c))
    lower[2 * B.shape[1]] = -np.inf
    return c, A, lower


def by_highs(lp):
    c, A, lower = stacked(lp)
    return linprog(c, A_ub=-A, b_ub=-lp.r, bounds=[(low, None) for low in lower], method="highs")


def as_vector(lp, z):
    return np.concatenate([z.p, z.q, z.beta, z.xi[np.isfinite(lp.nu)]])


def distance_to_optimal_points(lp, z, best):
    """Of the least 2-norm point of the optimal set from z, by PIQP on min ‖x‖² subject to A x ≥ r and c'x = best."""
    c, A, lower = stacked(lp)
    problem = ConvexProblem(
        c=np.zeros(len(c)),
        A=sp.csc_array(np.vstack([A, c])),
        row_lower=np.append(lp.r, best),
        row_upper=np.append(np.full(lp.m, np.inf), best),
        lower=lower,
        upper=np.full(len(c), np.inf),
        Q=sp.eye_array(len(c), format="csc"),
    )
    answer = registry.get("piqp").open(problem, {}).solve(problem.c, None, None)
    assert answer.claim is Claim.OPTIMAL
    return np.abs(answer.z - as_vector(lp, z)).max()


# The formulas


@given(seeds)
def test_the_gradient_is_that_of_the_penalty_function(seed):
    lp, rng = random_program(seed), np.random.default_rng(seed)
    u, eps, alpha = rng.normal(0.3, 1.0, lp.m), 0.1, 7.0
    numeric = approx_fprime(u, lambda u: lp.value(lp.at(u), eps, alpha), 1e-7)
    assert numeric == pytest.approx(lp.gradient(lp.at(u), eps, alpha), abs=1e-4)


@given(seeds, st.sampled_from([(12, 5), (5, 12)]))
def test_the_newton_direction_solves_the_system_with_the_generalised_hessian(seed, shape):
    """(2.25) and (3.28), the Hessian written out; m ≫ n and m ≪ n take different roads to it."""
    lp, rng = random_program(seed, *shape), np.random.default_rng(seed)
    at, delta, alpha = lp.at(rng.normal(0.3, 1.0, lp.m)), 0.01, 7.0
    violated = (at.a > lp.s).astype(float) + (-at.a > lp.t)
    hessian = lp.B @ np.diag(violated) @ lp.B.T + lp.G @ lp.G.T + np.diag((at.u > lp.nu) + alpha * (at.u < 0))
    gradient = lp.gradient(at, 0.1, alpha)
    direction = lp.newton_direction(at, gradient, delta, alpha)
    assert (hessian + delta * np.eye(lp.m)) @ direction.u == pytest.approx(-gradient, abs=1e-8)
    assert direction.a == pytest.approx(lp.B.T @ direction.u)


@given(seeds, st.integers(1, 8), st.integers(1, 8))
def test_sherman_morrison_woodbury_solves_the_same_system(seed, m, k):
    rng = np.random.default_rng(seed)
    H, F, g = rng.standard_normal((m, k)), rng.uniform(0.1, 3.0, m), rng.standard_normal(m)
    assert solve_small(H, F, g) == pytest.approx(solve_square(H, F, g), abs=1e-10)


@given(seeds, st.sampled_from([1e-6, 1e-2, 1.0]))
def test_an_armijo_step_descends_as_promised(seed, delta):
    """(3.27), and the step before it in the sequence 1, ½, ¼, … does not."""
    lp, rng = random_program(seed), np.random.default_rng(seed)
    at, eps, alpha = lp.at(rng.normal(0.3, 1.0, lp.m)), 0.1, 1e3
    step = armijo_step(lp, at, eps, delta, alpha)
    gradient = lp.gradient(at, eps, alpha)
    direction = lp.newton_direction(at, gradient, delta, alpha)

    def enough(length):
        decrease = lp.value(at, eps, alpha) - lp.value(at.moved(length, direction), eps, alpha)
        return decrease >= -0.25 * length * gradient @ direction.u - 1e-10

    assert step.point.u == pytest.approx(at.u + step.length * direction.u)
    assert enough(step.length)
    assert step.length == 1.0 or not enough(2 * step.length)


# The exact solution


@given(seeds, st.sampled_from([(12, 5), (4, 9), (20, 2)]), st.sampled_from([0.01, 0.3, 1.0, 30.0, 1e3, 1e5]))
def test_the_lp_svm_has_the_objective_of_highs_and_a_dual_solution(seed, shape, nu):
    X, y = random_points(seed, *shape)
    plane = lp_svm(X, y, nu)
    lp = L1Program(
        y[:, None] * X,
        y[:, None],
        np.ones(len(y)),
        np.ones(X.shape[1]),
        np.ones(X.shape[1]),
        np.zeros(1),
        np.full(len(y), nu),
    )
    best = by_highs(lp).fun
    assert plane.converged
    assert np.abs(plane.w).sum() + nu * plane.slacks.sum() == pytest.approx(best, abs=1e-6 * (1 + best))
    assert (y * (X @ plane.w - plane.gamma) + plane.slacks).min() >= 1 - 1e-9
    assert plane.slacks.min() >= 0
    assert np.abs(X.T @ (y * plane.u)).max() <= 1 + 1e-7  # (2.8)
    assert abs(y @ plane.u) <= 1e-7 * (1 + nu)
    assert -1e-12 <= plane.u.min() <= plane.u.max() <= nu + 1e-12
    assert plane.u.sum() == pytest.approx(best, abs=1e-6 * (1 + best))


SCALES = {
    "small integers": lambda rng, n, d: rng.integers(-2, 3, (n, d)).astype(float),
    "columns over six decades": lambda rng, n, d: rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d),
    "large": lambda rng, n, d: 1e2 * rng.standard_normal((n, d)),
    "small": lambda rng, n, d: 1e-6 * rng.standard_normal((n, d)),
    "equal columns": lambda rng, n, d: rng.standard_normal((n, d))[:, rng.integers(0, d, d)],
}


@pytest.mark.parametrize("nu", [0.1, 3.0, 100.0, 1e4])
@pytest.mark.parametrize("scale", SCALES)
def test_large_costs_and_bad_scaling_are_certified(scale, nu):
    """The minimiser alone was not exact enough in a fifth of these."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, d = rng.integers(4, 60, 2)
        y = np.concatenate([[1.0, -1.0], rng.choice([-1.0, 1.0], n - 2)])
        X = SCALES[scale](rng, n, d)
        plane = lp_svm(X, y, nu)
        one = np.ones(d)
        best = by_highs(L1Program(y[:, None] * X, y[:, None], np.ones(n), one, one, np.zeros(1), np.full(n, nu))).fun
        assert plane.converged
        assert np.abs(plane.w).sum() + nu * plane.slacks.sum() == pytest.approx(best, abs=1e-6 * (1 + best))


@given(seeds, st.booleans())
def test_active_sets_give_the_last_digits(seed, soft):
    lp = random_program(seed, soft=soft)
    found, rng = least_norm(lp), np.random.default_rng(seed)
    at, _ = minimise(lp, lp.at(found.u), found.epsilon)
    rough = Primal(*(part * (1 + 1e-4 * rng.standard_normal(len(part))) for part in found.z))
    z, u = from_active_sets(lp, rough, at.u, found.u, 1e-9)
    assert as_vector(lp, z) == pytest.approx(as_vector(lp, found.z), abs=1e-6 * (1 + np.abs(as_vector(lp, z)).max()))
    assert lp.cost(z) == pytest.approx(lp.r @ u, abs=1e-7 * (1 + lp.cost(z)))


def test_what_cannot_be_proved_is_said():
    X, y = random_points(0, 30, 5)
    with pytest.warns(ConvergenceWarning, match="standardise"):
        plane = lp_svm(1e12 * (X + 0.1 * np.arange(150).reshape(30, 5)), y, 1e5)
    assert not plane.converged
    with pytest.warns(ConvergenceWarning, match="standardise"):
        kernel_nlpsvm(X, y, lambda X, Z: 1e12 * (1 + X @ Z.T) ** 2, 1e5, method=lp_svm)


@given(seeds, st.booleans())
def test_any_weights_with_and_without_slacks_give_the_least_norm_solution(seed, soft):
    lp = random_program(seed, soft=soft)
    found, best = least_norm(lp), by_highs(lp).fun
    assert found.residual <= TOLERANCE
    assert lp.cost(found.z) == pytest.approx(best, abs=1e-6 * (1 + best))
    assert distance_to_optimal_points(lp, found.z, best) <= 1e-4 * (1 + np.abs(as_vector(lp, found.z)).max())


@given(seeds)
def test_a_smaller_epsilon_changes_nothing(seed):
    """Remark 3.1: the point of (2.15) is the same for the ε that was found, its half, and its quarter."""
    lp = random_program(seed)
    found = least_norm(lp)
    z = as_vector(lp, found.z)
    for divisor in (2, 4):
        eps = found.epsilon / divisor
        at, _ = minimise(lp, lp.at(found.u), eps)
        assert as_vector(lp, lp.primal(at, eps)) == pytest.approx(z, abs=1e-5 * (1 + np.abs(z).max()))


def test_a_large_epsilon_is_not_exact():
    lp = random_program(3)
    eps = 1e3 * least_norm(lp).epsilon
    at, _ = minimise(lp, lp.at(np.zeros(lp.m)), eps)
    assert lp.cost(lp.primal(at, eps)) > by_highs(lp).fun + 1e-3


def test_equal_features_share_their_weight_equally():
    X, y = random_points(1, 14, 3)
    alone, copied = lp_svm(X, y, 2.0), lp_svm(X[:, [0, 1, 2, 0, 0]], y, 2.0)
    assert copied.w[[0, 3, 4]] == pytest.approx(copied.w[0] * np.ones(3), abs=1e-8)
    assert np.abs(copied.w).sum() + 2 * copied.slacks.sum() == pytest.approx(np.abs(alone.w).sum() + 2 * alone.slacks.sum())


@pytest.mark.parametrize("seed", [0, 13, 14])  # with the BLAS kernels of Haswell, SkylakeX, Sandybridge and Zen
def test_algorithm_3_1_converges_to_the_exact_solution(seed):
    """Theorem 3.1, with tol → 0. (From other seeds α is too large to go on before u is near: see dcprog/least_norm.py.)"""
    X, y = generators.weston_linear(20, d=8, seed=seed)
    X = X / X.std(axis=0)
    exact = lp_svm(X, y, 1.0)
    plane = nlpsvm(X, y, 1.0, delta=1.0, epsilon=exact.epsilon, doubling=True, tol=1e-12, max_iter=2000)
    assert plane.w == pytest.approx(exact.w, abs=1e-6)
    assert plane.gamma == pytest.approx(exact.gamma, abs=1e-6)


def test_algorithm_3_1_stops_when_told():
    X, y = random_points(0, 12, 5)
    assert nlpsvm(X, y, max_iter=3).steps == 3
    assert not nlpsvm(X, y, max_iter=3).converged
    settled = nlpsvm(X, y, 0.1, tol=1e-3)
    assert settled.converged
    assert nlpsvm(X, y, 0.1, u0=settled.u, alpha=1e3 * 2.0**settled.steps).steps <= 2


@pytest.mark.parametrize("train", [nlpsvm, lp_svm])
def test_sparse_points_give_the_same_plane(train):
    X, y = random_points(5, 15, 30)
    X[np.abs(X) < 2] = 0.0
    dense, sparse = train(X, y, 0.5), train(sp.csr_array(X), y, 0.5)
    assert sparse.w == pytest.approx(dense.w, abs=1e-9)
    assert sparse.gamma == pytest.approx(dense.gamma, abs=1e-9)


def test_labels_of_any_kind():
    X, y = random_points(7, 12, 4)
    names = np.where(y > 0, "yes", "no")
    plane = lp_svm(X, names)
    assert plane.w == pytest.approx(lp_svm(X, y).w)
    assert set(plane.classifier.predict(X)) <= {"yes", "no"}


# Kernels


def test_the_kernel_version_is_the_linear_one_with_another_matrix():
    """(2.20) and (2.21)."""
    X, y = random_points(2, 12, 3)
    kernel = partial(rbf_kernel, gamma=0.3)
    surface = kernel_nlpsvm(X, y, kernel, 2.0, method=lp_svm)
    plane = lp_svm(kernel(X, X) * y, y, 2.0)
    assert surface.plane.w == pytest.approx(plane.w)
    values = kernel(X, X) @ (y * plane.w) - plane.gamma  # (2.22)
    assert surface.decision_function(X) == pytest.approx(values, abs=1e-8)
    assert (surface.predict(X) == np.where(values >= 0, 1, -1)).all()


def test_a_reduced_kernel_separates_a_circle_with_few_kernel_functions():
    X, y = generators.circle(120, seed=0)
    basis = np.random.default_rng(0).choice(120, 24, replace=False)
    surface = kernel_nlpsvm(X, y, partial(rbf_kernel, gamma=1.0), 10.0, basis=basis, method=lp_svm)
    assert (surface.predict(X) == y).mean() > 0.95
    assert 0 < len(surface.used()) < 24
    everything = kernel_nlpsvm(X, y, partial(rbf_kernel, gamma=1.0), 10.0, basis=range(120), method=lp_svm)
    assert everything.weights == pytest.approx(
        kernel_nlpsvm(X, y, partial(rbf_kernel, gamma=1.0), 10.0, method=lp_svm).weights
    )


def test_a_surface_without_kernel_functions_is_constant():
    """With u ≤ ν the dual (2.8) has |K'Du| < 1: no kernel function is worth its cost, and γ suits the larger class."""
    A, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([1, -1, -1, -1, 1])
    surface = kernel_nlpsvm(A, y, partial(rbf_kernel, gamma=1.0), nu=1e-3, method=lp_svm)
    assert surface.used().size == 0
    assert not surface.weights.any()
    assert surface.decision_function([[0.5], [9.0]]) == pytest.approx([-surface.plane.gamma] * 2)
    assert surface.plane.gamma == pytest.approx(1.0)
    assert (surface.predict(A) == -1).all()


# Bad input, and the paper's data


@pytest.mark.parametrize("name", ["nu", "delta", "epsilon", "alpha", "tol"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "much"])
def test_parameters_have_to_be_positive(name, value):
    X, y = random_points(0, 6, 2)
    with pytest.raises(DataError, match=name):
        nlpsvm(X, y, **{name: value})


def test_bad_input_is_refused():
    X, y = random_points(0, 6, 2)
    with pytest.raises(DataError, match="u0"):
        nlpsvm(X, y, u0=np.ones(5))
    with pytest.raises(DataError, match="epsilon"):
        lp_svm(X, y, epsilon=-1)
    with pytest.raises(DataError, match="class"):
        lp_svm(X, np.ones(6))
    with pytest.raises(DataError, match="basis"):
        kernel_nlpsvm(X, y, rbf_kernel, basis=[6])
    with pytest.raises(DataError, match="kernel"):
        kernel_nlpsvm(X, y, lambda X, Z: np.ones((2, 2)))
    with pytest.raises(DataError, match="2 features"):
        kernel_nlpsvm(X, y, rbf_kernel).predict(np.ones((1, 3)))
    with pytest.raises(UnknownNameError, match="epsilon"):
        L1Newton().open(subproblem(), {"epsilom": 0.1})


@needs_data
@pytest.mark.parametrize(
    ("name", "nu", "published"), [("liver", 1.0, 68.8), ("ionosphere", 2.0**-4, 88.0), ("pima", 2.0**-5, 77.1)]
)
def test_correctness_of_table_2(name, nu, published):
    """Tenfold test correctness within two points; ν is fixed here, and tuned in benchmarks/nlpsvm.py."""
    X, y = load_real(name)
    folds = StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
    correct = [(lp_svm(X[train], y[train], nu).classifier.predict(X[test]) == y[test]).mean() for train, test in folds]
    assert 100 * np.mean(correct) == pytest.approx(published, abs=2.0)

"""The radius–margin and span bounds are what their theorems say, their gradients are exact, and minimising them pays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from dcprog.datasets import generators
from dcprog.errors import ConvexityError, DataError, UnknownNameError
from dcprog.radius_margin import (
    Gaussian,
    Linear,
    Polynomial,
    forward_selection,
    minimise_scaling,
    optimal_basis,
    penalised,
    r2w2,
    r2w2_path,
    r2w2_penalised,
    radius_margin,
    ridged,
    span_bound,
    train,
)
from dcprog.radius_margin.bound import without_features
from dcprog.radius_margin.penalised import project
from dcprog.radius_margin.qps import gram, hyperplane, sphere

KERNELS = [Linear(), Polynomial(degree=3, c=0.5), Gaussian(width=2.0)]
seeds = st.integers(0, 10**6)


def two_clouds(seed=0, n=24, d=6, distance=1.0):
    """Two Gaussian classes that differ in the first two features, standardised."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, :2] += distance * y[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# The two QPs


@pytest.mark.parametrize("kernel", KERNELS)
def test_hyperplane_is_that_of_libsvm(kernel):
    X, y = two_clouds()
    K = ridged(kernel(X, X), 0.5)
    ours = hyperplane(gram(K), y)
    theirs = SVC(kernel="precomputed", C=1e10, tol=1e-8).fit(K, y)
    np.testing.assert_allclose((y * ours.alpha)[theirs.support_], theirs.dual_coef_[0], rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(ours.support, np.sort(theirs.support_))
    assert ours.b == pytest.approx(theirs.intercept_[0], abs=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=seeds, kernel=st.sampled_from(KERNELS), scale=st.sampled_from([1e-3, 1.0, 1e3]))
def test_optimality_of_both_solutions(seed, kernel, scale):
    """The margin is 1/‖w‖ for every support vector and more for the rest; the sphere touches where β > 0 and holds all."""
    X, y = two_clouds(seed)
    K = scale * ridged(kernel(X, X), 0.1)
    g = gram(K)
    plane, ball = hyperplane(g, y), sphere(g)
    signed = y * plane.alpha
    margins = y * (K @ signed + plane.b)
    np.testing.assert_allclose(margins[plane.support], 1, atol=1e-4)
    assert margins.min() > 1 - 1e-4
    assert signed @ K @ signed == pytest.approx(plane.w2, rel=1e-6)
    squared = K.diagonal() - 2 * K @ ball.beta + ball.beta @ K @ ball.beta
    assert squared.max() <= ball.radius2 * (1 + 1e-5)
    np.testing.assert_allclose(squared[ball.beta > 1e-4], ball.radius2, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=seeds, factor=st.floats(1e-4, 1e4), shift=st.floats(0, 100))
def test_bound_is_at_least_one_and_blind_to_scale_and_shift(seed, factor, shift):
    X, y = two_clouds(seed, n=14)
    bound = radius_margin(ridged(X @ X.T, 0.1), y)
    other = radius_margin(factor * ridged(X @ X.T + shift, 0.1), y)
    assert bound.value >= 1
    assert other.value == pytest.approx(bound.value, rel=1e-6)
    assert other.margin == pytest.approx(bound.margin * factor**0.5, rel=1e-6)
    assert other.radius == pytest.approx(bound.radius * factor**0.5, rel=1e-6)


@pytest.mark.parametrize("solver", ["piqp", "clarabel", "ipopt"])
def test_solvers_swap_by_name(solver):
    X, y = two_clouds()
    K = ridged(X @ X.T, 1.0)
    assert radius_margin(K, y, solver=solver).value == pytest.approx(radius_margin(K, y).value, rel=1e-6)
    assert train(X, y, Linear(), solver=solver).margin == pytest.approx(train(X, y, Linear()).margin, rel=1e-6)


# Gradients


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
@pytest.mark.parametrize("ridge", [0.1, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_with_respect_to_a_basis_is_exact(kernel, ridge, criterion):
    """Along random directions of S, for which σ on the diagonal is a special case."""
    X, y = two_clouds(seed=3)
    rng = np.random.default_rng(0)

    def evaluate(S):
        Z = X @ S
        bound = criterion(ridged(kernel(Z, Z), ridge), y)
        return bound.value, X.T @ kernel.pullback(Z, bound.gradient)

    for S in (np.diag(rng.uniform(0.5, 1.5, 6)), rng.normal(size=(6, 6)) / 2, rng.normal(size=(6, 3)) / 2):
        V, t = rng.normal(size=S.shape), 1e-5
        central = (evaluate(S + t * V)[0] - evaluate(S - t * V)[0]) / (2 * t)
        assert (evaluate(S)[1] * V).sum() == pytest.approx(central, rel=2e-3, abs=2e-3)


def test_gradient_without_a_ridge_and_with_respect_to_it():
    X, y = two_clouds(distance=4.0)
    t, V = 1e-5, np.random.default_rng(0).normal(size=6)
    value = lambda ridge, sigma=1.0: radius_margin(ridged((X * sigma) @ (X * sigma).T, ridge), y)
    slope = (X * Linear().pullback(X, value(0.0).gradient)).sum(axis=0) @ V
    assert (value(0.0, 1 + t * V).value - value(0.0, 1 - t * V).value) / (2 * t) == pytest.approx(slope, rel=1e-4)
    assert (value(1 + t).value - value(1 - t).value) / (2 * t) == pytest.approx(np.trace(value(1.0).gradient), rel=1e-4)


def test_the_printed_gradients_are_slips():
    """Weston et al. (11) has labels under the sum; Fortuna & Capson (16) has no second term. Neither is ∂R²/∂σ."""
    X, y = two_clouds()
    k = Gaussian(width=2.0)
    t, ball = 1e-5, sphere(gram(k(X, X)))
    radius2 = lambda sigma: sphere(gram(k(X * sigma, X * sigma))).radius2
    central = np.array([(radius2(1 + t * e) - radius2(1 - t * e)) / (2 * t) for e in np.eye(6)])
    along = lambda gamma: (X * k.pullback(X, gamma)).sum(axis=0)
    own, beta = np.diag(ball.beta), ball.beta
    np.testing.assert_allclose(along(own - np.outer(beta, beta)), central, rtol=1e-4, atol=1e-6)
    assert np.abs(along(own - np.outer(y * beta, y * beta)) - central).max() > 0.01
    assert np.abs(along(own) - central).max() > 0.01


# The span bound


def test_span_foretells_leave_one_out():
    """yₚfᵖ(xₚ) = 1 − αₚSₚ² wherever the other support vectors remain; without the border of M the formula fails."""
    checked = misled = 0
    for seed in range(4):
        X, y = two_clouds(seed, n=20)
        K = ridged(Gaussian(width=3.0)(X, X), 0.2)
        span = span_bound(K, y)
        printed = span.hyperplane.alpha[span.support] / np.linalg.inv(K[np.ix_(span.support, span.support)]).diagonal()
        for p, without_border in zip(span.support, printed, strict=True):
            rest = np.delete(np.arange(len(y)), p)
            plane = hyperplane(gram(K[np.ix_(rest, rest)]), y[rest])
            output = y[p] * (K[p, rest] @ (y[rest] * plane.alpha) + plane.b)
            if set(rest[plane.support]) == set(span.support) - {p}:
                assert output == pytest.approx(1 - span.change[p], abs=1e-4)
                checked += 1
                misled += abs(1 - without_border - output) > 0.01
        assert span.errors == (span.change > 1).sum()
        assert span_bound(K, y, eta=1e-6, steepness=1e4).value == pytest.approx(span.errors, abs=0.1)
    assert checked >= 10
    assert misled >= 10


def test_span_of_dependent_support_vectors():
    """Twins span each other: leaving out one changes nothing. The value is there, the derivative is not."""
    X, y = np.array([[0.0], [0.0], [2.0], [2.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    span = span_bound(X @ X.T, y)
    np.testing.assert_allclose(span.change, 0, atol=1e-6)
    with pytest.raises(DataError, match="ridge > 0"):
        _ = span.gradient


# Machines


def test_machine_classifies_and_keeps_labels():
    X, y = two_clouds(distance=2.0)
    labels = np.where(y > 0, "yes", "no")
    machine = train(X, labels, Gaussian(width=3.0), ridge=0.1)
    assert (machine.predict(X) == labels).mean() > 0.95
    training = machine.decision_function(X) * y  # without the ridge, so the slack is 1 − training = ridge·α
    alpha = np.zeros(len(y))
    alpha[machine.support] = np.abs(machine.coefficients)
    np.testing.assert_allclose(training[machine.support], 1 - 0.1 * alpha[machine.support], atol=1e-4)
    assert machine.bound.value == pytest.approx((machine.radius / machine.margin) ** 2)


# R²W²


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
@pytest.mark.parametrize("select", [r2w2, r2w2_penalised, forward_selection])
def test_each_way_finds_the_two_features(select, criterion):
    X, y = two_clouds(n=40, d=8, distance=1.5)
    X = np.insert(X, 3, 7.0, axis=1)  # constant features are never selected
    result = select(X, y, 2, Linear(), criterion=criterion)
    np.testing.assert_array_equal(result.selected, [0, 1])
    np.testing.assert_array_equal(np.flatnonzero(result.sigma), [0, 1])
    assert (result.predict(X) == y).mean() > 0.9
    np.testing.assert_array_equal(result.transform(X), X[:, :2])


def test_elimination_goes_by_q_and_each_minimisation_lowers_the_bound():
    X, y = two_clouds(n=30, d=7)
    assert [r.features for r in r2w2(X, y, 3, Linear(), q=2).history] == [7, 5]
    assert [r.features for r in r2w2(X, y, 1, Linear(), q=0.5).history] == [7, 4, 2]
    assert r2w2(X, y, 7, Linear()).history == ()
    start = radius_margin(ridged(X @ X.T, 1.0), y).value
    found = minimise_scaling(X, y, Linear())
    assert found.value < start
    np.testing.assert_allclose(minimise_scaling(X, y, Linear(), sigma=-np.ones(7)).sigma, found.sigma, rtol=1e-6)


@settings(max_examples=50, deadline=None)
@given(seed=seeds, d=st.integers(2, 9), cap=st.sampled_from([1.0, 1.5, np.inf]), size=st.sampled_from([0.1, 1.0, 1e6]))
def test_projection_is_the_nearest_point(seed, d, cap, size):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, d + 1))
    v = size * rng.normal(size=d)
    near = project(v, m, cap)
    assert near.sum() == pytest.approx(m)
    assert near.min() >= 0
    assert near.max() <= cap
    for _ in range(5):  # the angle with the way to any other feasible point is obtuse
        other = project(rng.normal(size=d), m, cap)
        assert (v - near) @ (other - near) <= 1e-9 * size * d


@settings(max_examples=50, deadline=None)
@given(seed=seeds, d=st.integers(2, 9), p=st.floats(0.05, 0.95))
def test_penalty_is_least_at_binary_vectors_and_only_with_the_cap(seed, d, p):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, d + 1))
    assert (project(rng.normal(size=d), m) ** p).sum() >= m - 1e-9  # m is its value at every 0/1 vector with m ones
    assert m == 1 or (np.append(np.zeros(d - 1), m) ** p).sum() < m


def test_penalised_form_holds_the_sum_and_its_printed_form_loses_features():
    X, y = two_clouds(n=40, d=8)
    for lam in (0.0, 1.0, 1e3):
        sigma = penalised(X, y, 3, Linear(), lam=lam).sigma
        assert sigma.sum() == pytest.approx(3)
        assert sigma.max() <= 1
    assert np.count_nonzero(sigma) == 3
    start = np.r_[2.0, 0.6, 0.4, np.zeros(5)]
    assert np.count_nonzero(penalised(X, y, 3, Linear(), lam=1e4, cap=np.inf, sigma=start).sigma > 1e-6) < 3


def test_penalised_selection_ends_with_twin_features():
    X, y = two_clouds(n=20, d=2)
    result = r2w2_penalised(X[:, [0, 0, 0]], y, 2, Linear())
    assert len(result.selected) == 2


def product(seed):
    """The sign of x₃x₆ among 12 features: with a polynomial kernel T > n for whatever features, at any scale."""
    X = np.random.default_rng(seed).standard_normal((60, 12))
    return X, np.where(X[:, 2] * X[:, 5] > 0, 1.0, -1.0)


@pytest.mark.parametrize("ridge", [1.0, 0.1, 0.01])
def test_features_are_found_where_the_bound_prefers_none(ridge):
    """Without constraints it is downhill to σ = 0, and a hundredth of some feature is selected: [3 4] for the first seed."""
    found = [r2w2(*product(seed), 2, Polynomial(degree=2), ridge=ridge, max_iter=40) for seed in range(300, 304)]
    for selection in found:
        np.testing.assert_array_equal(selection.selected, [2, 5])
        assert selection.sigma.max() > 0.5
    assert any(step.held for selection in found for step in selection.history)


def test_length_is_held_where_the_bound_prefers_no_features():
    X, y = product(300)
    found = minimise_scaling(X, y, Polynomial(degree=2))
    assert found.held
    assert np.linalg.norm(found.sigma) == pytest.approx(np.sqrt(12))
    assert found.value < radius_margin(ridged(Polynomial(degree=2)(X, X), 1.0), y).value


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
def test_length_is_free_where_features_tell_something(criterion):
    X, y = two_clouds(distance=2.0)
    nothing = without_features(criterion, y, 1.0)
    assert criterion(ridged(1e-9 * X @ X.T, 1.0), y).value == pytest.approx(nothing, rel=1e-4)
    found = minimise_scaling(X, y, Linear(), criterion=criterion)
    assert not found.held
    assert found.value < 0.5 * nothing


@settings(max_examples=25, deadline=None)
@given(seed=seeds, n=st.integers(2, 30), ridge=st.floats(1e-3, 1e3))
def test_bound_without_features_is_its_formula(seed, n, ridge):
    y = np.random.default_rng(seed).choice([-1.0, 1.0], n)
    y[:2] = -1, 1
    positive = (y > 0).sum()
    formula = 4 * positive * (n - positive) * (n - 1) / n**2
    assert without_features(radius_margin, y, ridge) == pytest.approx(formula, rel=1e-5)


def test_basis_does_not_shrink_to_nothing():
    X = np.random.default_rng(0).standard_normal((40, 3))
    basis = optimal_basis(X, X[:, 0] * X[:, 1] > 0, 3, Polynomial(degree=2))
    assert basis.held
    assert np.linalg.norm(basis.S) == pytest.approx(np.sqrt(3))
    assert (np.diff(basis.history) <= 0).all()
    assert basis.history[-1] == pytest.approx(basis.bound.value, rel=1e-6)


# The optimal basis


def test_basis_lowers_the_bound_step_by_step_and_classifies_new_points():
    X, y = two_clouds(seed=2, n=40, d=12, distance=1.5)
    X *= np.r_[1, 1, np.full(10, 3.0)]  # the variance is where the classes do not differ
    X_new, y_new = two_clouds(seed=5, n=400, d=12, distance=1.5)
    X_new *= np.r_[1, 1, np.full(10, 3.0)]
    basis = optimal_basis(X, y, 12, Gaussian(width=8.0))
    assert (np.diff(basis.history) <= 0).all()
    assert basis.history[0] == pytest.approx(basis.start.bound.value)
    assert basis.history[-1] == pytest.approx(basis.bound.value, rel=1e-6)
    assert basis.bound.value < 0.6 * basis.start.bound.value
    assert basis.bound.margin > basis.start.margin
    np.testing.assert_allclose(basis.W.T @ basis.W, np.eye(12), atol=1e-12)
    np.testing.assert_allclose(basis.transform(X), (X - X.mean(axis=0)) @ basis.W @ basis.S)
    assert (basis.predict(X_new) == y_new).mean() > 0.9
    np.testing.assert_array_equal(basis.decision_function(X_new) > 0, basis.predict(X_new) > 0)


def test_any_orthogonal_start_walks_the_same_way():
    X, y = two_clouds(seed=4, n=30, d=4)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))
    first, second = (optimal_basis(X, y, 4, Gaussian(width=4.0), S=S, max_iter=3) for S in (np.eye(4), Q))
    np.testing.assert_allclose(first.history, second.history, rtol=1e-4)
    assert str(first.stopped) == "iteration_limit"
    assert len(first.history) == 4


def test_run_ends_before_the_basis_is_singular():
    X, y = two_clouds(seed=1, n=40, d=5, distance=2.0)
    basis = optimal_basis(X, y, 5, Gaussian(width=5.0), rcond=1e-4)
    assert str(basis.stopped) == "singular"
    assert np.linalg.cond(basis.S @ basis.S.T) < 1e4


# The problems of the papers; benchmarks/radius_margin.py has all of it


@pytest.mark.parametrize(
    ("generate", "kernel"), [(generators.weston_linear, Linear()), (generators.weston_nonlinear, Polynomial(degree=2))]
)
def test_selection_pays_where_the_machine_alone_is_poor(generate, kernel):
    """Weston et al., Fig. 1 at 50 points: two features of 202 and of 52."""
    alone, selected = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = generate(50, seed=rng), generate(500, seed=rng)
        mean, scale = X.mean(axis=0), X.std(axis=0)
        X, X_new = (X - mean) / scale, (X_new - mean) / scale
        alone.append((train(X, y, kernel, ridge=0.1).predict(X_new) != y_new).mean())
        selected.append((r2w2(X, y, 2, kernel, ridge=0.1, max_iter=30).predict(X_new) != y_new).mean())
    assert np.mean(alone) > 0.15
    assert np.mean(selected) < 0.5 * np.mean(alone)


@pytest.mark.parametrize(
    ("generate", "width", "options"),
    [
        (generators.difficult, 10.0, {}),
        (generators.banana, 100.0, {"spread": 17.0}),
        (generators.highleyman, 5.0, {}),
        (generators.lithuanian, 20.0, {"spread": 6.0}),
    ],
)
def test_basis_improves_what_table_1_says_it_improves(generate, width, options):
    """Fortuna & Capson: the bound and the number of support vectors fall, the margin grows."""
    X, y = generate(100, seed=0, **options)
    basis = optimal_basis(X, y, 10, Gaussian(width))
    assert basis.bound.value < 0.7 * basis.start.bound.value
    assert basis.machine.margin > 1.2 * basis.start.margin
    assert len(basis.machine.support) < 0.95 * len(basis.start.support)


# Bad input

X3, Y3 = np.array([[0.0, 1.0], [1.0, 3.0], [3.0, 2.0]]), np.array([1, 1, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: radius_margin(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, -1.0])), ConvexityError, "eigenvalue -1"),
        (lambda: radius_margin(-np.eye(2), np.array([1.0, -1.0])), ConvexityError, "positive semidefinite"),
        (lambda: radius_margin(np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([1.0, -1.0])), DataError, "symmetric"),
        (lambda: radius_margin(np.ones((2, 2)), np.array([1.0, -1.0])), DataError, "radius zero"),
        (lambda: train(np.ones((4, 2)), [0, 0, 1, 1], Linear(), ridge=0), DataError, "radius zero"),
        (lambda: train([[0.0], [1.0], [2.0]], [0, 1, 0], Linear(), ridge=0), DataError, "no hyperplane separates"),
        (lambda: train([[0.0], [0.0], [2.0]], [0, 1, 0], Linear(), ridge=0), DataError, "no hyperplane separates"),
        (lambda: train(X3, [1, 1, 1], Linear()), DataError, "1 class"),
        (lambda: train(X3, [1, 2, 3], Linear()), DataError, "3 class"),
        (lambda: train(X3, Y3, Linear(), ridge=-1), DataError, "ridge has to be a number ≥ 0"),
        (lambda: train(X3, Y3, Linear(), solver="higs"), UnknownNameError, "did you mean 'highs'"),
        (lambda: train(X3, Y3, Linear()).predict([[1.0]]), DataError, "1 features"),
        (lambda: Polynomial(degree=0), DataError, "integer ≥ 1"),
        (lambda: Polynomial(c=-1), DataError, "c ≥ 0"),
        (lambda: Gaussian(width=0), DataError, "width"),
        (lambda: r2w2(X3, Y3, 3, Linear()), DataError, "from 1 to 2"),
        (lambda: r2w2(X3 * [1, 0], Y3, 2, Linear()), DataError, "not constant"),
        (lambda: r2w2(X3, Y3, 1, Linear(), q=0), DataError, "q has to be"),
        (lambda: r2w2(X3, Y3, 1, Linear()).predict([[1.0]]), DataError, "1 features"),
        (lambda: forward_selection(X3, Y3, 0, Linear()), DataError, "from 1 to 2"),
        (lambda: minimise_scaling(X3, Y3, Linear(), sigma=[0, 0]), DataError, "zero for all"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p=2), DataError, "concave"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=-1), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap=0.5), DataError, "cap"),
        (lambda: penalised(X3, Y3, 4, Linear(), lam=1), DataError, "from 1 to 2"),
        (lambda: span_bound(np.eye(2), np.array([1.0, -1.0]), eta=0), DataError, "eta"),
        (lambda: optimal_basis(X3, Y3, 3, Linear()), DataError, "from 1 to the 2"),
        (lambda: optimal_basis(X3 @ np.ones((2, 2)), Y3, 2, Linear()), DataError, "span 1 dimensions"),
        (lambda: optimal_basis(X3, Y3, 2, Linear(), S=np.ones((2, 2))), DataError, "singular"),
        (lambda: optimal_basis(X3, Y3, 2, Linear(), S=np.eye(3)), DataError, "2 × 2"),
        (lambda: optimal_basis(X3, Y3, 2, Linear()).transform([[1.0]]), DataError, "1 features"),
        (lambda: train(np.ones((4, 2)), [0, 0, 1, 1], Linear()), DataError, "radius zero"),
        (lambda: train(X3, Y3, Gaussian(width=1e10)), DataError, "radius zero"),
        (lambda: Gaussian("1"), DataError, "width has to be a number"),
        (lambda: Gaussian(1e300), DataError, "less than 1e150"),
        (lambda: Gaussian(None), DataError, "width has to be a number"),
        (lambda: Polynomial(2, "x"), DataError, "c = 'x'"),
        (lambda: Polynomial(2, None), DataError, "c = None"),
        (lambda: Polynomial(2.5), DataError, "degree has to be an integer"),
        (lambda: optimal_basis(X3, Y3, True, Linear()), DataError, "from 1 to the 2"),
        (lambda: r2w2(X3, Y3, True, Linear()), DataError, "from 1 to 2"),
        (lambda: r2w2_path(X3, Y3, 1, Linear()), DataError, "list of numbers"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam="x"), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=None), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p="x"), DataError, "p has to be"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p=None), DataError, "p has to be"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap="x"), DataError, "cap"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap=None), DataError, "cap"),
        (lambda: minimise_scaling(X3, Y3, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: forward_selection(X3, Y3, 1, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: optimal_basis(X3, Y3, 1, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
    ],
)
def test_bad_input_is_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()


K3 = ridged(X3 @ X3.T, 1.0)


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(3), "for all 3 points"),
        (2 * np.array([1.0, -1.0, 1.0]), "got 2.0 at position 0"),
        (np.array([1.0, np.nan, -1.0]), "finite"),
        ([True, False, True], "got 0.0 at position 1"),
        (["a", "b", "a"], "numbers"),
        ([1.0, -1.0], "3 numbers"),
        (np.array([[1.0], [-1.0], [1.0]]), "3 numbers"),
        (None, "y has to"),
    ],
)
def test_labels_are_checked_before_a_solver_runs(criterion, y, words):
    with pytest.raises(DataError, match=words):
        criterion(K3, y, solver="none of them")


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
def test_labels_may_be_a_list(criterion):
    assert criterion(K3, [1, -1, 1]).value == criterion(K3, np.array([1.0, -1.0, 1.0])).value


ENTRIES = {
    "minimise_scaling": lambda **given: minimise_scaling(X3, Y3, **{"kernel": Linear(), **given}),
    "r2w2": lambda **given: r2w2(X3, Y3, 1, **{"kernel": Linear(), **given}),
    "forward_selection": lambda **given: forward_selection(X3, Y3, 1, **{"kernel": Linear(), **given}),
    "penalised": lambda **given: penalised(X3, Y3, 1, **{"kernel": Linear(), "lam": 1, **given}),
    "r2w2_penalised": lambda **given: r2w2_penalised(X3, Y3, 1, **{"kernel": Linear(), **given}),
    "optimal_basis": lambda **given: optimal_basis(X3, Y3, 1, **{"kernel": Linear(), **given}),
    "train": lambda **given: train(X3, Y3, **{"kernel": Linear(), **given}),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_kernels_come_by_name(entry):
    for name in ("linear", "polynomial", "gaussian"):
        ENTRIES[entry](kernel=name)
    for kernel, error, words in [
        ("gausian", UnknownNameError, "did you mean 'gaussian'"),
        (None, DataError, "derive from"),
        (Linear, DataError, r"pass Linear\(\)"),
        (lambda Z, V: Z @ V.T, DataError, "derive from"),
    ]:
        with pytest.raises(error, match=words):
            ENTRIES[entry](kernel=kernel)


@pytest.mark.parametrize("criterion", [None, "span"])
@pytest.mark.parametrize("entry", [name for name in ENTRIES if name != "train"])
def test_criterion_is_a_function(entry, criterion):
    with pytest.raises(DataError, match="pass radius_margin or span_bound"):
        ENTRIES[entry](criterion=criterion)


@pytest.mark.parametrize("max_iter", ["x", None, -1, 0, 1.5, True])
@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("train", "forward_selection")])
def test_max_iter_is_a_count(entry, max_iter):
    with pytest.raises(DataError, match="max_iter has to be an integer ≥ 1"):
        ENTRIES[entry](max_iter=max_iter)


@pytest.mark.parametrize("rcond", ["x", None, -1, np.nan, 1.0])
def test_rcond_is_a_share(rcond):
    with pytest.raises(DataError, match="0 ≤ rcond < 1"):
        optimal_basis(X3, Y3, 1, Linear(), rcond=rcond)

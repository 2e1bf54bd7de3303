"""Minimising the radius–margin and span bounds pays: R²W² finds the features, and the optimal basis widens the margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from radius_margin_data import seeds, two_clouds

from dcprog.datasets import generators
from dcprog.methods.radius_margin import (
    Gaussian,
    Linear,
    Polynomial,
    forward_selection,
    minimise_scaling,
    optimal_basis,
    penalised,
    r2w2,
    r2w2_penalised,
    radius_margin,
    ridged,
    span_bound,
    train,
)
from dcprog.methods.radius_margin.bound import without_features
from dcprog.methods.radius_margin.penalised import EPSILON, project
from dcprog.methods.radius_margin.scaling import scaled

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


def random_program(seed, d):
    """Points of which the first feature tells the class, m of d features, a kernel, a penalty, a cap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, d))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=30) > 0, 1.0, -1.0)
    kernel = [Linear(), Polynomial(degree=2), Gaussian(width=1.0)][rng.integers(3)]
    return X, y, int(rng.integers(1, d + 1)), kernel, rng.choice([0.01, 1.0, 10.0, 50.0]), rng.choice([1.0, np.inf])


def residual(sigma, X, y, m, kernel, lam, cap):
    """‖P(σ − ∇) − σ‖ for ∇ of (13) with p = ½: zero at stationary points, and only there."""
    _, gradient = scaled(X, y, kernel, 1.0, radius_margin, "auto", np.ones(X.shape[1]))(sigma)
    gradient += 0.5 * lam * (sigma + EPSILON) ** -0.5
    return np.abs(project(sigma - gradient, m, cap) - sigma).max()


@settings(max_examples=25, deadline=None)
@given(seed=seeds, d=st.integers(2, 8))
def test_penalised_form_ends_in_a_stationary_point(seed, d):
    X, y, m, kernel, lam, cap = random_program(seed, d)
    found = penalised(X, y, m, kernel, lam=lam, cap=cap, max_iter=2000)
    assert found.iterations < 2000
    assert residual(found.sigma, X, y, m, kernel, lam, cap) < 1e-5


@pytest.mark.parametrize("seed", [11, 19, 29])
def test_penalised_form_does_not_return_to_a_point_it_passed(seed):
    """Steps may go uphill. Where one ended in a stationary point, a lower point on the way, which was none, was returned."""
    X, y, m, *_ = random_program(seed, 6)
    sigma = penalised(X, y, m, Linear(), lam=50.0).sigma
    assert residual(sigma, X, y, m, Linear(), 50.0, 1.0) < 1e-5


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


def test_basis_does_not_shrink_to_nothing():
    X = np.random.default_rng(0).standard_normal((40, 3))
    basis = optimal_basis(X, X[:, 0] * X[:, 1] > 0, 3, Polynomial(degree=2))
    assert basis.held
    assert np.linalg.norm(basis.S) == pytest.approx(np.sqrt(3))
    assert (np.diff(basis.history) <= 0).all()
    assert basis.history[-1] == pytest.approx(basis.bound.value, rel=1e-6)


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

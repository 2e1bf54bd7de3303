"""Margin problems: neither the unit of the points nor a small margin matters, and inseparable points get the least slack."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from dcprog.methods.zero_norm import (
    NotSeparableError,
    arom_features,
    kernel_updates,
    l1_updates,
    l2_updates,
    multiclass_updates,
    retrain,
    rfe_features,
    separation,
)
from dcprog.methods.zero_norm.kernel import polynomial_features
from dcprog.methods.zero_norm.margin import MarginProblem, separating_plane
from dcprog.methods.zero_norm.separation import maximal_margin

seeds = st.integers(0, 10**6)
units = st.sampled_from([1e-9, 1e-6, 1e-3, 1e3, 1e6])


def apart(seed, n=14, d=3):
    """Points with a hyperplane between the classes."""
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    X = X[np.argsort(X @ w)]
    cut = rng.integers(2, n - 1)
    return X, np.where(np.arange(n) < cut, -1.0, 1.0)


def mixed(seed, n=20, d=3):
    """Points that no hyperplane separates: two of them are in both classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), np.tile([-1.0, 1.0], n // 2)
    X[1], X[3] = X[0], X[2]
    X[4:] += 0.5 * y[4:, None]
    return X, y


def least_slack(M, y):
    """min Σξ, by SciPy."""
    n, d = M.shape
    scale = np.abs(M).max(axis=0)
    A = -np.hstack([M / scale, y[:, None], np.eye(n)])
    c = np.concatenate([np.zeros(d + 1), np.ones(n)])
    return linprog(c, A, -np.ones(n), bounds=[(None, None)] * (d + 1) + [(0, None)] * n).fun


@settings(max_examples=25, deadline=None)
@given(seeds, units, st.sampled_from([1, 2]))
def test_hard_margins_scale_with_the_points(seed, unit, p):
    X, y = apart(seed)
    known, scaled = (maximal_margin(y[:, None] * factor * X, y[:, None], p) for factor in (1.0, unit))
    np.testing.assert_allclose(unit * scaled.w, known.w, rtol=1e-5, atol=1e-6 * np.abs(known.w).max())
    assert (y * (unit * X @ scaled.w + scaled.b)).min() >= 1 - 1e-6
    assert not scaled.xi.any()


@settings(max_examples=25, deadline=None)
@given(seeds, units, st.sampled_from([1, 2]), st.sampled_from([0.1, 1.0, 100.0]))
def test_soft_margins_scale_with_the_points_and_the_costs(seed, unit, p, lam):
    X, y = mixed(seed)
    known = maximal_margin(y[:, None] * X, y[:, None], p, lam)
    scaled = maximal_margin(y[:, None] * unit * X, y[:, None], p, lam / unit**p)
    size = np.abs(known.w).max()
    assert np.linalg.norm(unit * scaled.w, p) <= np.linalg.norm(known.w, p) + 1e-5 * (1 + size)
    assert abs(scaled.xi.sum() - known.xi.sum()) <= 1e-5 * len(y)


@pytest.mark.filterwarnings("ignore:the hyperplane has the least total slack")  # where columns differ by five decades
@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([1.0, 1e-5, 1e5]), st.sampled_from([1.0, 1e-5, 1e4]), st.sampled_from([1, 2]))
def test_inseparable_points_have_the_least_slack(seed, unit, column, p):
    X, y = mixed(seed)
    X = unit * X * np.array([1.0, column, 1.0])
    plane = maximal_margin(y[:, None] * X, y[:, None], p)
    slacks = np.maximum(1 - y * (X @ plane.w + plane.b), 0)
    np.testing.assert_allclose(plane.xi, slacks, atol=1e-9)
    assert slacks.sum() == pytest.approx(least_slack(y[:, None] * X, y), rel=2e-6)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([1, 2]))
def test_of_the_least_slack_the_smallest_norm(seed, p):
    """A cost of the slacks that is large enough gives it, too."""
    X, y = mixed(seed)
    limit, large = (maximal_margin(y[:, None] * X, y[:, None], p, lam) for lam in (np.inf, 1e7))
    assert np.linalg.norm(limit.w, p) <= np.linalg.norm(large.w, p) * (1 + 1e-5)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_the_face_of_the_least_slack_needs_no_large_costs(seed, p, monkeypatch):
    X, y = mixed(seed)
    large = maximal_margin(y[:, None] * X, y[:, None], p, 1e7)
    monkeypatch.setattr(separation, "_at_large_costs", lambda *given: pytest.fail("the multipliers did not tell the face"))
    limit = maximal_margin(y[:, None] * X, y[:, None], p)
    assert np.linalg.norm(limit.w, p) == pytest.approx(np.linalg.norm(large.w, p), rel=1e-4)


@pytest.mark.parametrize("solver", ["piqp", "clarabel", "ipopt"])
def test_of_the_least_slack_by_other_solvers(solver):
    X, y = mixed(0)
    known, other = (maximal_margin(y[:, None] * X, y[:, None], 2, solver=name) for name in ("auto", solver))
    np.testing.assert_allclose(other.w, known.w, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_thin_margins_are_found(seed):
    """A thousand points in the plane leave a gap of a thousandth of their size between the classes."""
    X = 0.1 * np.random.default_rng(seed).standard_normal((1000, 2))
    y = np.sign(X[:, 0])
    for first in (next(l2_updates(X, y)), next(l1_updates(X, y))):
        assert (y * first.classifier.decision_function(X)).min() >= 1 - 1e-6
        assert 1 / np.abs(X[:, 0]).min() >= np.linalg.norm(first.w) * (1 - 1e-6), "x₁ alone separates, with a larger norm"


def test_monomials_of_small_inputs_are_separated():
    rng = np.random.default_rng(2)
    X = rng.uniform(-0.01, 0.01, (30, 4))
    Z, y = polynomial_features(X, 2), np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    assert (y * next(l2_updates(Z, y)).classifier.decision_function(Z)).min() >= 1 - 1e-6


@pytest.mark.parametrize("unit", [1e-7, 1e-4, 1e4])
def test_every_method_is_blind_to_the_unit(unit):
    X, y = apart(1, n=20, d=6)
    three = np.digitize(X[:, 0] + 0.1 * X[:, 1], [-0.5, 0.5])
    for norm in (1, 2):
        assert arom_features(unit * X, y, 2, norm=norm).tolist() == arom_features(X, y, 2, norm=norm).tolist()
        walks = (islice(multiclass_updates(factor * X, three, norm=norm), 2) for factor in (1.0, unit))
        for known, scaled in zip(*walks, strict=True):
            np.testing.assert_allclose(unit * scaled.sizes, known.sizes, rtol=1e-4, atol=1e-6 * known.sizes.max())
    assert rfe_features(unit * X, y, 2).tolist() == rfe_features(X, y, 2).tolist()
    known, scaled = next(kernel_updates(X, y, 1)), next(kernel_updates(unit * X, y, 1))
    np.testing.assert_allclose(scaled.decision_function(unit * X), known.decision_function(X), rtol=1e-4, atol=1e-5)


def test_classifiers_that_are_trained_again_are_blind_to_the_unit():
    X, y = mixed(3)
    for features in ([0], [0, 2]):
        known, scaled = retrain(X, y, features), retrain(1e-5 * X, y, features)
        np.testing.assert_allclose(1e-5 * scaled.w, known.w, atol=1e-6)


def test_separation_is_proved_or_denied():
    X, y = apart(0)
    w, b = separating_plane(y[:, None] * X, y[:, None])
    assert (y * (X @ w + b)).min() > 0
    X, y = mixed(0)
    with pytest.raises(NotSeparableError):
        separating_plane(y[:, None] * X, y[:, None])
    with pytest.raises(NotSeparableError):
        MarginProblem(y[:, None] * X, y[:, None], sized=False, square=1.0).solve()


@pytest.mark.parametrize("spread", [1e2, 1e3])
@pytest.mark.parametrize("offset", [1e3, 1e4, 1e5])
def test_points_far_from_the_origin_are_separated(offset, spread):
    """b makes up for the mean of each feature, so that it does not matter."""
    Z = np.random.default_rng(39).standard_normal((30, 6))
    y = np.where(Z[:, 0] > 0, 1.0, -1.0)
    X = (Z + offset) * np.array([1 / spread, 1, 1, 1, 1, spread])
    for arom in (l1_updates, l2_updates):
        there, here = next(arom(X, y)), next(arom(X - X.mean(axis=0), y))
        np.testing.assert_allclose(there.w, here.w, rtol=1e-3, atol=1e-3 * np.abs(here.w).max())
        assert (y * there.classifier.decision_function(X)).min() >= 1 - 1e-5


@pytest.mark.filterwarnings("ignore:the hyperplane has the least total slack")
@pytest.mark.parametrize("p", [1, 2])
def test_columns_of_any_unit_have_the_least_slack(p):
    """Whether the norm is proved to be the smallest, too, is for a warning to say."""
    base = np.random.default_rng(0).standard_normal((40, 2))
    y = np.where(base[:, 1] > 0, 1.0, -1.0)
    rule = retrain(base * [1e7, 1e-7], y, [0, 1], p=p)
    assert rule.predict(base * [1e7, 1e-7]).tolist() == y.tolist()
    y[:4] *= -1
    X = base * [1e5, 1e-5]
    rule = retrain(X, y, [0, 1], p=p)
    slack = np.maximum(1 - y * rule.decision_function(X), 0).sum()
    assert slack == pytest.approx(least_slack(y[:, None] * X, y), rel=2e-6)


@pytest.mark.filterwarnings("ignore:the hyperplane has the least total slack")
@pytest.mark.parametrize("seed", [0, 9, 11])
def test_coefficients_that_a_solver_refuses_go_to_the_next(seed):
    Z = np.random.default_rng(seed).standard_normal((120, 3))
    rng = np.random.default_rng(seed + 1)
    X, y = Z * 10 ** rng.uniform(-9, 9, 3), np.sign(Z @ np.random.default_rng(seed + 1).standard_normal(3))
    assert retrain(X, y, range(3), p=1).predict(X).tolist() == y.tolist()

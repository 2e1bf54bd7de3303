"""The radius–margin and span bounds are what their theorems say, and their gradients are exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from radius_margin_data import seeds, two_clouds
from sklearn.svm import SVC

from dcprog.errors import DataError
from dcprog.methods.radius_margin import Gaussian, Linear, Polynomial, radius_margin, ridged, span_bound, train
from dcprog.methods.radius_margin.qps import gram, hyperplane, sphere

KERNELS = [Linear(), Polynomial(degree=3, c=0.5), Gaussian(width=2.0)]


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

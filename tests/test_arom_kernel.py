"""The zero norm in the feature space of a polynomial kernel: the same as with the map written out."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from arom_data import SEED, far, inseparable
from hypothesis import given, settings
from hypothesis import strategies as st

from dcprog.algorithms.result import Status
from dcprog.errors import DataError, UnknownNameError
from dcprog.methods.zero_norm import (
    KernelIterate,
    converge,
    kernel_updates,
    l2_updates,
    polynomial_features,
    polynomial_kernel,
)
from dcprog.methods.zero_norm.kernel import Anchors, Expansion


@given(seed=SEED, degree=st.integers(1, 3))
def test_products_in_feature_space_are_products_of_inputs(seed, degree):
    x, y, u, v = np.random.default_rng(seed).standard_normal((4, 1, 3))
    phi = lambda a: polynomial_features(a, degree)
    assert np.allclose(phi(x) * phi(y), phi(x * y))
    assert np.allclose(phi(x) @ phi(y).T, polynomial_kernel(x, y, degree))
    product = Expansion(x, np.array([2.0]), degree) * Expansion(y, np.array([3.0]), degree)
    assert np.allclose(product @ v, 6 * (phi(x) * phi(y)) @ phi(v).T)
    anchors = Anchors(np.vstack([x, y, u, v]), degree, 100)
    assert np.allclose(anchors.project(product) @ u, product @ u, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("degree", "n", "d"), [(1, 12, 15), (2, 40, 6), (3, 25, 4)])
@given(seed=SEED)
@settings(max_examples=4)
def test_kernels_predict_what_the_explicit_map_does(degree, n, d, seed):
    rng = np.random.default_rng(seed)
    X, T = rng.uniform(-1, 1, (n, d)), rng.uniform(-1, 1, (100, d))
    y = X[:, 0] > 0 if degree == 1 else X[:, 0] * X[:, 1] + 0.1 * X[:, 2] > 0
    explicit = islice(l2_updates(polynomial_features(X, degree), y), 5)
    for a, b in zip(explicit, islice(kernel_updates(X, y, degree), 5), strict=True):
        values = a.classifier.decision_function(polynomial_features(T, degree))
        assert far(b.decision_function(T), values) < 1e-3
        clear = np.abs(values) > 1e-2
        assert (b.predict(T) == a.classifier.predict(polynomial_features(T, degree)))[clear].all()


@pytest.mark.parametrize(("degree", "n", "d"), [(1, 12, 15), (2, 40, 6), (3, 25, 4)])
def test_the_limit_is_that_of_the_explicit_map(degree, n, d):
    """Of a step, 2-norms in feature space are what kernels can measure: for large ones that is enough."""
    rng = np.random.default_rng(0)
    X, T = rng.uniform(-1, 1, (n, d)), rng.uniform(-1, 1, (100, d))
    y = X[:, 0] > 0 if degree == 1 else X[:, 0] * X[:, 1] + 0.1 * X[:, 2] > 0
    limit, status = converge(kernel_updates(X, y, degree))
    explicit, _ = converge(l2_updates(polynomial_features(X, degree), y))
    assert status is Status.CONVERGED
    assert abs(limit.iteration - explicit.iteration) <= 1
    assert far(limit.decision_function(T), explicit.classifier.decision_function(polynomial_features(T, degree))) < 1e-4


@given(seed=SEED)
def test_steps_are_measured_in_feature_space(seed):
    rng = np.random.default_rng(seed)
    anchors, classes, (b, c) = rng.uniform(-1, 1, (4, 3)), (-1, 1), rng.standard_normal((2, 4))
    step = KernelIterate(2, Expansion(anchors, c, 2), 0.5, classes).moved_from(
        KernelIterate(1, Expansion(anchors, b, 2), 0.5, classes)
    )
    w, v = c @ polynomial_features(anchors, 2), b @ polynomial_features(anchors, 2)
    assert step == pytest.approx(np.linalg.norm(w - v) / np.linalg.norm(v))


def test_a_bias_that_moves_is_no_limit():
    u = Expansion(np.ones((1, 2)), np.ones(1), 2)
    before, after = (KernelIterate(i, u, b, (-1, 1)) for i, b in enumerate((0.0, 0.25)))
    assert after.moved_from(before) == 0.25
    assert converge([before, after], tol=0.3)[1] is Status.CONVERGED
    assert converge([before, after], tol=0.2)[1] is Status.ITERATION_LIMIT


def test_a_ridge_on_the_kernel_is_a_squared_slack():
    X, y = inseparable(1)
    explicit = islice(l2_updates(polynomial_features(X, 2), y, q=2, lam=4.0), 3)
    for a, b in zip(explicit, islice(kernel_updates(X, y, 2, lam=4.0), 3), strict=True):
        assert far(b.decision_function(X), a.classifier.decision_function(polynomial_features(X, 2))) < 1e-3


@given(seed=SEED)
@settings(max_examples=4)
def test_products_are_projected_onto_the_span_of_the_training_points(seed):
    """Appendix C: of all vectors of the span the nearest one, by least squares with the map written out."""
    rng = np.random.default_rng(seed)
    X, c = rng.uniform(-1, 1, (9, 4)), rng.standard_normal(9)  # 9 points in 14 dimensions
    anchors = Anchors(X, 2, 1, projected=True)
    vector = Expansion(X, c, 2) * Expansion(X, c, 2)
    phi = polynomial_features(X, 2)
    explicit = polynomial_features(vector.points, 2).T @ vector.coefficients
    nearest = phi.T @ np.linalg.lstsq(phi.T, explicit, rcond=None)[0]
    found = anchors.project(vector)
    assert polynomial_features(found.points, 2).T @ found.coefficients == pytest.approx(nearest, abs=1e-6)


def test_more_dimensions_than_max_terms_are_projected():
    """560 dimensions; where the points span all of them both spans give the same."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (30, 32))
    y = X[:, 0] > 0
    with pytest.raises(DataError, match="span='training'"):
        kernel_updates(X, y)
    first, *_, last = islice(kernel_updates(X, y, span="training"), 3)
    assert (first.predict(X) == y).all(), "the SVM, which nothing is lost of"
    assert (last.predict(X) == y).mean() > 0.6, "what the products lose is lost"
    few, labels = X[:, :3], X[:, 0] * X[:, 1] > 0
    one, other = (list(islice(kernel_updates(few, labels, lam=10.0, span=span), 3))[-1] for span in ("all", "training"))
    assert other.decision_function(X[:, :3]) == pytest.approx(one.decision_function(X[:, :3]), abs=1e-4)
    with pytest.raises(UnknownNameError, match="span"):
        kernel_updates(few, labels, span="some")

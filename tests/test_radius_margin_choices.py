"""R²W² as an estimator: other searches, the span bound, the fewest features for an error, kernel and C by the bound."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators import R2W2
from dcprog.learning.samples import Data
from dcprog.methods.radius_margin import (
    Gaussian,
    Linear,
    backward_selection,
    forward_selection,
    r2w2_path,
    r2w2_penalised,
    radius_margin,
    ridged,
    smallest_sufficient,
    span_bound,
    tune_kernel,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))
Y = X[:, 2] + X[:, 4] > 0
SIGNS = np.where(Y, 1.0, -1.0)


def bound(features, kernel=None, ridge=1.0, criterion=radius_margin, scale=1.0):
    Z = scale * X[:, features]
    K = Z @ Z.T if kernel is None else kernel(Z, Z)
    return criterion(ridged(K, ridge), SIGNS).value


def test_backward_selection_drops_what_leaves_the_least_bound():
    left = list(range(5))
    history = []
    while len(left) > 2:
        left = list(min(combinations(left, len(left) - 1), key=lambda f: bound(list(f))))
        history.append(bound(left))
    found = backward_selection(X, Y, 2, Linear())
    assert found.selected.tolist() == left
    assert [step.value for step in found.history] == pytest.approx(history)
    assert [step.features for step in found.history] == [4, 3, 2]


@pytest.mark.parametrize(
    ("search", "method"), [("forward", forward_selection), ("backward", backward_selection), ("penalised", r2w2_penalised)]
)
def test_the_estimator_searches_as_asked(search, method):
    machine = R2W2(2, search=search, criterion="span").fit(X, Y)
    found = method(X, Y, 2, Linear(), criterion=span_bound)
    assert machine.get_support(indices=True).tolist() == found.selected.tolist()
    assert machine.decision_function(X) == pytest.approx(found.decision_function(X))


def test_the_criterion_is_what_is_minimised():
    plain, own = R2W2(2).fit(X, Y), R2W2(2, criterion=radius_margin).fit(X, Y)
    assert (plain.decision_function(X) == own.decision_function(X)).all()
    spans = {step.value for step in R2W2(2, criterion="span").fit(X, Y).outcome_.history}
    assert spans.isdisjoint(step.value for step in plain.outcome_.history)


def test_the_fewest_features_for_an_error():
    path = r2w2_path(X, Y, range(1, 6), Linear(), ridge=0.05, criterion=span_bound)
    bounds = [bound(one.selected, ridge=0.05, criterion=span_bound) / 40 for one in path]
    for error in (bounds[1] + 1e-9, max(bounds) + 1e-9):
        m = next(size for size, value in enumerate(bounds, 1) if value <= error)
        found = smallest_sufficient(path, X, Y, Linear(), error, ridge=0.05, criterion=span_bound)
        assert len(found.selected) == m
        machine = R2W2(max_error=error, criterion="span", ridge=0.05).fit(X, Y)
        assert machine.get_support(indices=True).tolist() == found.selected.tolist()
    with pytest.raises(DataError, match="no number of features has a bound"):
        R2W2(max_error=1e-6, ridge=0.05).fit(X, Y)


def test_kernel_and_ridge_are_at_a_minimum_of_the_bound():
    found = tune_kernel(X, Y, Gaussian(30.0), ridge=1.0)
    everything = list(range(5))
    at = lambda s, ridge: bound(everything, Gaussian(30.0), ridge, scale=s)
    best = at(found.kernel.scale, found.ridge)
    assert found.value == pytest.approx(best)
    assert best < 0.8 * at(1.0, 1.0)
    for factor in (0.5, 2.0):
        assert at(factor * found.kernel.scale, found.ridge) >= best * (1 - 1e-3)
        assert at(found.kernel.scale, factor * found.ridge) >= best * (1 - 1e-3)
    gaussian = Gaussian(30.0 / found.kernel.scale)
    assert found.kernel(X, X) == pytest.approx(gaussian(X, X))
    gamma = radius_margin(ridged(gaussian(X, X), 1.0), SIGNS).gradient
    assert found.kernel.pullback(X, gamma) == pytest.approx(gaussian.pullback(X, gamma))


def test_the_estimator_tunes_before_and_after_the_selection():
    T = np.random.default_rng(1).standard_normal((300, 5))
    labels = T[:, 2] + T[:, 4] > 0
    wrong = Gaussian(0.05)
    few, own = X[:24], Y[:24]
    plain, tuned = R2W2(2, kernel=wrong).fit(few, own), R2W2(2, kernel=wrong, tune=True).fit(few, own)
    assert tuned.score(T, labels) > plain.score(T, labels)
    assert tuned.get_support(indices=True).tolist() == [2, 4]
    again = tune_kernel(few[:, [2, 4]], own, tuned.kernel_, ridge=tuned.ridge_, max_iter=10)
    assert again.value >= tuned.result_.objective * 0.99, "the objective is the bound on the selected features"
    assert (plain.kernel_, plain.ridge_) == (wrong, 1.0)


def test_samples_that_count_twice_are_two():
    few, labels = X[:16, [2, 4]], Y[:16]
    repeated = tune_kernel(np.vstack([few, few[:5]]), np.append(labels, labels[:5]), Gaussian(2.0), max_iter=8)
    counts = np.where(np.arange(16) < 5, 2.0, 1.0)
    weighted = tune_kernel(Data(few, SIGNS[:16], (False, True), None, counts), None, Gaussian(2.0), max_iter=8)
    assert weighted.value == pytest.approx(repeated.value, rel=1e-4)
    assert weighted.ridge == pytest.approx(repeated.ridge, rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"search": "foreward"}, UnknownNameError, "did you mean 'forward'"),
        ({"criterion": "spam"}, UnknownNameError, "did you mean 'span'"),
        ({"max_error": 0.1, "m": 2}, DataError, "takes the place of m"),
        ({"max_error": -1.0}, DataError, "max_error"),
        ({"tune": 3}, DataError, "tune"),
        ({"tune": True, "ridge": 0.0}, DataError, "ridge"),
    ],
)
def test_bad_choices_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        R2W2(**wrong).fit(X, Y)

"""An SVM that loses features: from its last active sets it is the one that is trained anew, at every step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcprog.learning.samples import trusted_samples
from dcprog.methods.zero_norm import retrain, rfe_features, rfe_path
from dcprog.methods.zero_norm.elimination import ShrinkingSVM
from dcprog.methods.zero_norm.separation import maximal_margin
from dcprog.methods.zero_norm.steps import Margins


def samples(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n))
    y[:2] = 1, -1
    return X, y, rng


@pytest.mark.parametrize("lam", [0.05, 1.0, 50.0, np.inf])
@pytest.mark.parametrize(("n", "d"), [(12, 40), (30, 8), (20, 20)])
@given(seed=st.integers(0, 1000))
def test_weights_are_those_of_the_svm_trained_anew(n, d, lam, seed):
    X, y, rng = samples(seed, n, d)
    svm = ShrinkingSVM(y, lam, "auto")
    kept = np.arange(d)
    while len(kept) > max(2, d - 8):
        part = X[:, kept]
        anew = maximal_margin(y[:, None] * part, y[:, None], 2, lam).w
        np.testing.assert_allclose(svm.weights(part, part @ part.T), anew, atol=1e-5 * (1 + np.abs(anew).max()))
        kept = np.delete(kept, rng.integers(len(kept)))


@pytest.mark.parametrize(("n", "d", "most"), [(40, 120, 0), (300, 40, 2)])
def test_most_steps_need_no_qp(n, d, most, monkeypatch):
    """With many points features that go change many active sets: libsvm's are near enough."""
    X, y, _ = samples(3, n, d)
    trained = []
    anew = ShrinkingSVM._anew
    monkeypatch.setattr(ShrinkingSVM, "_anew", lambda self, part: trained.append(part.shape[1]) or anew(self, part))
    svm = ShrinkingSVM(y, 1.0, "auto")
    for left in range(d, d // 2, -1):
        svm.weights(X[:, :left], X[:, :left] @ X[:, :left].T)
    assert len(trained) <= most


def test_a_solver_by_name_is_asked(monkeypatch):
    X, y, _ = samples(3, 40, 12)
    trained = []
    anew = ShrinkingSVM._anew
    monkeypatch.setattr(ShrinkingSVM, "_anew", lambda self, part: trained.append(part.shape[1]) or anew(self, part))
    by_name, auto = (ShrinkingSVM(y, 1.0, solver).weights(X, X @ X.T) for solver in ("clarabel", "auto"))
    assert trained == [12]
    np.testing.assert_allclose(by_name, auto, atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("r", [1, 3, 6])
def test_retraining_by_active_sets_is_the_quadratic_program(classes, r):
    """The dual's active sets give the plane that a QP in w, b and ξ gives: sign, bias and weights of samples included."""
    rng = np.random.default_rng(r)
    X = rng.standard_normal((45, 6))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(45), [-0.3, 0.5][: classes - 1])
    weights = rng.integers(1, 4, 45).astype(float)
    samples = trusted_samples(X, y, weights)
    rule = retrain(samples, None, range(r), lam=0.7, constraints="one_vs_rest")
    margins = Margins(samples, "one_vs_rest")
    plane = maximal_margin(*margins.rows(X[:, :r]), 2, 0.7, "piqp", counts=margins.counts)
    np.testing.assert_allclose(np.atleast_2d(rule.w)[:, :r], plane.w.reshape(-1, r), atol=1e-6)
    sides = np.where(y == np.arange(classes)[:, None], 1, -1)[1 if classes == 2 else 0 :]
    for side, w, ours, theirs in zip(sides, np.atleast_2d(rule.w), np.atleast_1d(rule.b), plane.b, strict=True):
        slacks = [weights @ np.maximum(0, 1 - side * (X @ w + b)) for b in (ours, theirs)]  # b need not be the only best one
        assert slacks[0] <= slacks[1] + 1e-5


@pytest.mark.parametrize("halving", [False, True])
def test_one_elimination_passes_every_number(halving):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 21))
    y = X[:, 7] + X[:, 11] + 0.3 * rng.standard_normal(30) > 0
    found = rfe_path(X, y, [21, 13, 10, 9, 5, 3, 1], halving=halving, lam=1.0)
    for r, features in found.items():
        np.testing.assert_array_equal(features, rfe_features(X, y, r, halving=halving, lam=1.0))

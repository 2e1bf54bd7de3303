"""An SVM that loses features: from its last active sets it is the one that is trained anew, at every step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcprog.methods.zero_norm.elimination import ShrinkingSVM
from dcprog.methods.zero_norm.separation import maximal_margin


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

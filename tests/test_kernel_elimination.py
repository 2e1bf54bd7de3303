"""RFE for any kernel, by its definition; AROM with other norms, and from ℓ2 to ℓ1."""

from __future__ import annotations

from functools import partial
from itertools import islice

import numpy as np
import pytest
from arom_data import SEED
from hypothesis import given, settings
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

import dcprog
from dcprog import models
from dcprog.errors import DataError
from dcprog.estimators import AROM, KernelRFE
from dcprog.methods.zero_norm import (
    converge,
    kernel_rfe,
    l1_updates,
    l2_updates,
    rfe_features,
    switching_updates,
)

RBF = partial(rbf_kernel, gamma=1.0)
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (70, 5))
Y = X[:, 1] * X[:, 3] > 0


def printed(X, y, r, kernel, C):
    """Section 4.3, line by line: W²(α) − W²₍₋ₚ₎(α), the least goes."""
    left = list(range(X.shape[1]))
    while len(left) > r:
        svc = SVC(C=C, kernel=kernel, tol=1e-6).fit(X[:, left], y)
        a, S = svc.dual_coef_[0], X[svc.support_][:, left]
        W = a @ kernel(S, S) @ a
        change = [abs(W - a @ kernel(np.delete(S, p, 1), np.delete(S, p, 1)) @ a) for p in range(len(left))]
        del left[int(np.argmin(change))]
    return left


@settings(max_examples=5)
@given(seed=SEED)
def test_features_go_as_the_paper_says(seed):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((30, 5))
    y = Z[:, 0] * Z[:, 2] + 0.3 * rng.standard_normal(30) > 0
    found = kernel_rfe(Z, y, 2, RBF, lam=2.0)
    assert found.selected.tolist() == printed(Z, y, 2, RBF, 2.0)
    assert sorted([*found.selected, *found.dropped]) == [0, 1, 2, 3, 4]
    svc = SVC(C=2.0, kernel=RBF, tol=1e-6).fit(Z[:, found.selected], y)
    assert found.decision_function(Z) == pytest.approx(svc.decision_function(Z[:, found.selected]), abs=1e-3)


@settings(max_examples=5)
@given(seed=SEED)
def test_of_the_linear_kernel_it_is_the_usual_elimination(seed):
    rng = np.random.default_rng(seed)
    Z, y = rng.standard_normal((25, 6)), rng.permutation(np.arange(25) % 3)
    labels = y if seed % 2 else y > 0
    linear = lambda A, B: A @ B.T
    assert kernel_rfe(Z, labels, 3, linear, lam=1.0).selected.tolist() == rfe_features(Z, labels, 3, lam=1.0).tolist()


def test_the_estimator_finds_a_product_that_no_plane_sees():
    machine = KernelRFE(2, kernel=RBF, lam=10.0).fit(X, Y)
    assert machine.get_support(indices=True).tolist() == [1, 3]
    assert machine.score(X, Y) > 0.9
    assert machine.n_iter_ == 3
    margins = np.where(Y, 1, -1) * machine.decision_function(X)
    K = RBF(X[:, [1, 3]], X[:, [1, 3]])
    a = machine.outcome_.coefficients[0]
    objective = 0.5 * a @ K @ a + 10.0 * np.maximum(1 - margins, 0).sum()
    assert machine.result_.objective == pytest.approx(objective)
    halved = KernelRFE(1, kernel=RBF, halving=True).fit(X, Y)
    assert len(halved.outcome_.dropped) == 4
    three = np.where(X[:, 1] > 0.3, "a", np.where(X[:, 3] > 0, "b", "c"))
    classes = KernelRFE(2, lam=10.0).fit(X, three)
    assert classes.get_support(indices=True).tolist() == [1, 3]
    assert classes.score(X, three) > 0.9
    for wrong in ({"r": 9}, {"kernel": 3}, {"lam": 0.0}, {"halving": "a"}):
        with pytest.raises(DataError):
            KernelRFE(**wrong).fit(X, Y)


# AROM with other norms


def test_norms_of_weights_and_slacks_are_those_of_the_updates():
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((40, 6))
    y = Z[:, 0] + 0.8 * rng.standard_normal(40) > 0
    for norm, updates, cases in (
        (1, l1_updates, [(0, 0), (1, 0), (0, 2), (2, 0)]),
        (2, l2_updates, [(0, 0), (2, 0), (0, 2)]),
    ):
        for p, q in cases:
            machine = AROM(norm=norm, lam=2.0, p=p, q=q, max_iter=300).fit(Z, y)
            last, _ = converge(updates(Z, y, p=p, q=q, lam=2.0), max_iter=300)
            assert machine.coef_[0] == pytest.approx(last.w, abs=1e-9)
            w, xi = np.abs(machine.coef_[0]), np.maximum(1 - np.where(y, 1, -1) * machine.decision_function(Z), 0)
            sizes = {0: lambda v, zero: (v > zero).sum(), 1: lambda v, _: v.sum(), 2: lambda v, _: 0.5 * v @ v}
            value = sizes[p](w, 1e-8 * w.max()) + 2.0 * sizes[q](xi, 1e-8)
            assert machine.result_.objective == pytest.approx(value)


def test_counting_errors_leaves_fewer_of_them_than_their_sum():
    """p = 2, q = 0: "it is also possible to derive a system to minimize the training error of SVMs"."""
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((60, 2))
    y = Z[:, 0] > 0
    Z[:4, 0] *= -6  # far on the wrong side
    counted, summed = AROM(norm=1, p=2, q=0, lam=100.0).fit(Z, y), dcprog.solve(models.svm(Z, y, lam=0.01, weighting="sum"))
    errors = [int((rule.predict(Z) != y).sum()) for rule in (counted, summed.classifier)]
    assert errors[0] < errors[1]


def test_after_few_features_linear_programs_take_over():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((30, 60))
    y = Z[:, 7] + Z[:, 11] > 0
    iterates = list(islice(switching_updates(Z, y, few=20), 12))
    plain = list(islice(l2_updates(Z, y), 12))
    sizes = [len(one.features) for one in iterates]
    at = next(i for i, size in enumerate(sizes) if size <= 20)
    assert [one.iteration for one in iterates] == list(range(1, 13))
    for ours, theirs in zip(iterates[: at + 1], plain, strict=False):
        assert ours.w == pytest.approx(theirs.w)
    z = np.abs(iterates[at].w)
    kept = z > 1e-8 * z.max()
    signed = np.where(y, 1.0, -1.0)[:, None]
    step = dcprog.solve(models.l1_svm(signed * signed * Z[:, kept] * z[kept], y, lam=1e-6, weighting="sum"))
    assert np.abs(iterates[at + 1].w[kept] / z[kept]).sum() == pytest.approx(np.abs(step["w"]).sum(), rel=1e-5)
    assert set(iterates[at + 1].features) <= set(np.flatnonzero(kept))
    machine = AROM(lam=None, switch=20).fit(Z, y)
    assert machine.coef_[0] == pytest.approx(converge(switching_updates(Z, y, few=20))[0].w)


@pytest.mark.parametrize(
    "wrong", [{"p": 2, "q": 1}, {"p": 3}, {"q": 5}, {"p": 2, "q": 0, "r": 2}, {"switch": 3, "norm": 1}, {"switch": 0}]
)
def test_norms_that_cannot_be(wrong):
    with pytest.raises(DataError):
        AROM(**wrong).fit(X, Y)
    with pytest.raises(DataError):
        AROM(p=2, q=0).fit(X, np.arange(70) % 3)

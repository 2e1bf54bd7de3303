"""Exactly r features, Weston et al. (2003): by the zero norm, by what it is compared to, and a rule retrained on them."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from arom_data import SEED, UPDATES, far, inseparable, three_classes, toy
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from dcprog.methods.filters import fisher_score
from dcprog.methods.zero_norm import arom_features, converge, corr_features, l1_updates, retrain, rfe_features

METHODS = {
    "l1": lambda X, y, r: arom_features(X, y, r, norm=1),
    "l2": arom_features,
    "soft": lambda X, y, r: arom_features(X, y, r, lam=1.0),
    "corr": corr_features,
    "rfe": rfe_features,
    "halving": lambda X, y, r: rfe_features(X, y, r, halving=True),
}


@pytest.mark.parametrize("method", METHODS)
@given(seed=SEED, r=st.integers(1, 12))
@settings(max_examples=6)
def test_exactly_r_features(method, seed, r):
    X, y = toy(10, 12, seed)
    features = METHODS[method](X, y, r)
    assert len(set(features)) == len(features) == r
    assert (np.diff(features) > 0).all()
    assert (np.flatnonzero(retrain(X, y, features).w)[:, None] == features).any(axis=1).all()


@pytest.mark.parametrize("method", METHODS)
def test_relevant_features_are_found(method):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 30))
    y = np.sign(X[:, 4] + X[:, 9])
    X[:, [4, 9]] += 0.5 * y[:, None]
    assert METHODS[method](X, y, 2).tolist() == [4, 9]


def test_the_last_iterate_above_r_decides():
    """Section 4.5, to the letter, which is not the first iterate with no more than r features."""
    different = 0
    for seed in range(20):
        X, y = toy(20, 40, seed)
        iterates = list(islice(l1_updates(X, y), 6))
        above = [i for i in iterates if len(i.features) > 5]
        selected = arom_features(X, y, 5, norm=1)
        assert (selected == np.sort(np.argsort(-above[-1].sizes)[:5])).all()
        after = next((i for i in iterates if len(i.features) <= 5), above[-1])
        different += len(after.features) == 5 and (selected != after.features).any()
    assert different


@given(seed=SEED)
@settings(max_examples=5)
def test_rfe_is_that_of_scikit_learn(seed):
    X, y = toy(20, 8, seed)
    theirs = RFE(SVC(kernel="linear", C=1.0, tol=1e-8), n_features_to_select=3).fit(X, y)
    assert (rfe_features(X, y, 3, lam=1.0) == np.flatnonzero(theirs.support_)).all()


def test_multiclass_rfe_is_that_of_scikit_learn():
    X, y = three_classes(4)
    machines = OneVsRestClassifier(SVC(kernel="linear", C=1.0, tol=1e-8))
    theirs = RFE(machines, n_features_to_select=3, importance_getter=lambda m: np.vstack([e.coef_ for e in m.estimators_]))
    assert (rfe_features(X, y, 3, lam=1.0) == np.flatnonzero(theirs.fit(X, y).support_)).all()


@given(seed=SEED)
@settings(max_examples=10)
def test_retrained_on_separable_classes_it_is_the_hard_margin(seed):
    X, y = toy(10, 30, seed)
    features = np.arange(0, 30, 2)
    rule = retrain(X, y, features)
    svm = SVC(kernel="linear", C=1e10, tol=1e-8).fit(X[:, features], y)
    assert far(rule.w[features], svm.coef_[0]) < 1e-4
    assert (rule.w[1::2] == 0).all()


@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("p", [1, 2])
@given(seed=SEED)
@settings(max_examples=8)
def test_retrained_on_inseparable_classes_it_has_the_least_slack(p, seed, scale):
    X, y = inseparable(seed)
    X = scale * X  # the smaller the data, the larger has λ to be
    rows = np.hstack([y[:, None] * X, y[:, None], np.eye(40)])
    least = linprog(np.r_[np.zeros(5), np.ones(40)], -rows, -np.ones(40), bounds=[(None, None)] * 5 + [(0, None)] * 40)
    rule = retrain(X, y, range(4), p=p)
    assert np.maximum(1 - y * rule.decision_function(X), 0).sum() == pytest.approx(least.fun, rel=1e-4)


def test_corr_is_a_score_function():
    X, y = toy(20, 6, 0)
    up, down = X[y > 0], X[y < 0]
    scores = (up.mean(axis=0) - down.mean(axis=0)) ** 2 / (up.std(axis=0) ** 2 + down.std(axis=0) ** 2)
    assert (corr_features(X, y, 3) == np.sort(np.argsort(-scores)[:3])).all()
    assert (SelectKBest(fisher_score, k=2).fit(X, y).get_support(indices=True) == corr_features(X, y, 2)).all()


@pytest.mark.parametrize("method", [m for m in METHODS if m != "halving"])
def test_sparse_data_and_names(method):
    import pandas as pd
    import scipy.sparse as sp

    X, y = toy(16, 10, 3)
    X[np.abs(X) < 0.3] = 0.0
    expected = METHODS[method](X, y, 2).tolist()
    assert METHODS[method](sp.csr_array(X), y, 2).tolist() == expected
    assert METHODS[method](pd.DataFrame(X, columns=list("abcdefghij")), np.where(y > 0, "yes", "no"), 2).tolist() == expected
    rule = retrain(pd.DataFrame(X, columns=list("abcdefghij")), np.where(y > 0, "yes", "no"), expected)
    assert set(rule.predict(X)) <= {"yes", "no"}
    assert set(rule.selected_names()) <= {"abcdefghij"[j] for j in expected}


def test_constant_features_get_no_weight():
    X, y = toy(16, 10, 3)
    X[:, 0] = 7.0
    for norm, updates in UPDATES.items():
        assert converge(updates(X, y))[0].w[0] == pytest.approx(0, abs=1e-8)
        assert 0 not in arom_features(X, y, 9, norm=norm)
    assert 0 not in corr_features(X, y, 9)

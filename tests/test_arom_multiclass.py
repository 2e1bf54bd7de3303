"""The zero norm of many classes, Weston et al. (2003): one norm for all of them, and DCA as well."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from arom_data import SEED, UPDATES, far, three_classes, toy, walk
from hypothesis import given, settings
from sklearn.svm import SVC

from dcprog.methods.zero_norm import arom_features, converge, multiclass_updates, retrain
from dcprog.models.arom import multiclass_arom


@pytest.mark.parametrize("constraints", ["weston_watkins", "one_vs_rest"])
@given(seed=SEED)
@settings(max_examples=8)
def test_multiclass_l1_updates_are_dca(constraints, seed):
    X, y = three_classes(seed)
    options = {"constraints": constraints, "lam": 2.0}
    updates = islice(multiclass_updates(X, y, norm=1, solver="highs", **options), 4)
    for state, iterate in zip(walk(multiclass_arom(X, y, eps=1e-8, **options), 4, "highs"), updates, strict=False):
        assert far(state["v"], iterate.sizes) < 1e-6


@pytest.mark.parametrize("norm", UPDATES)
@given(seed=SEED)
@settings(max_examples=8)
def test_with_two_classes_the_joint_norm_is_the_plain_one(norm, seed):
    """w₁ − w₂ = w costs least as w₁ = −w₂ = w/2."""
    X, y = toy(12, 15, seed)
    for joint, plain in zip(islice(multiclass_updates(X, y, norm=norm), 4), islice(UPDATES[norm](X, y), 4), strict=True):
        assert far(joint.sizes, plain.sizes) < 1e-4


@given(seed=SEED)
@settings(max_examples=8)
def test_problem_11_is_one_svm_a_class(seed):
    X, y = three_classes(seed, d=20)
    z = np.ones(20)
    for iterate in islice(multiclass_updates(X, y, constraints="one_vs_rest"), 3):
        W = np.array([SVC(kernel="linear", C=1e10, tol=1e-8).fit(X * z, y == k).coef_[0] for k in range(3)])
        assert far(iterate.w, z * W) < 1e-3
        z = z * np.abs(W).sum(axis=0)


@pytest.mark.parametrize("constraints", ["weston_watkins", "one_vs_rest"])
@pytest.mark.parametrize("norm", UPDATES)
def test_three_classes_are_told_apart_by_their_features(norm, constraints):
    X, y = three_classes(0, n=30, d=40)
    labels = np.array(["a", "b", "c"])[y]
    limit, status = converge(multiclass_updates(X, labels, norm=norm, constraints=constraints))
    assert str(status) == "converged"
    assert set(limit.features) <= {0, 1}
    assert (limit.classifier.predict(X) == labels).all()
    assert arom_features(X, labels, 2, norm=norm, constraints=constraints).tolist() == [0, 1]
    assert (retrain(X, labels, [0, 1], constraints=constraints).predict(X) == labels).all()

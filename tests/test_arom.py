"""Zero-norm minimisation, Weston et al. (2003): the updates are DCA, the variants agree, and so does scikit-learn."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import dcprog
from dcprog.errors import DataError, UnknownNameError
from dcprog.filters import fisher_score
from dcprog.models.arom import arom, l2_arom, multiclass_arom
from dcprog.testing import check_program
from dcprog.zero_norm import (
    NotSeparableError,
    arom_features,
    converge,
    corr_features,
    kernel_arom,
    polynomial_features,
    polynomial_kernel,
    retrain,
    rfe_features,
)
from dcprog.zero_norm import l1_arom as l1_updates
from dcprog.zero_norm import l2_arom as l2_updates
from dcprog.zero_norm import multiclass_arom as multiclass_updates
from dcprog.zero_norm.kernel import Anchors, Expansion

SEED = st.integers(0, 10_000)
UPDATES = {1: l1_updates, 2: l2_updates}


def toy(n, d, seed, relevant=2):
    """Two classes that the first features tell apart by a wide margin, and the others may by chance."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, :relevant] += y[:, None]
    return X, y


def three_classes(seed, n=18, d=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d))
    X[:, 0] += 8 * (y - 1)
    X[:, 1] += 8 * (y == 1)
    return X, y


def inseparable(seed):
    X, y = toy(40, 4, seed)
    y[:4] = -y[:4]
    X[4] = X[5]  # one point with both labels: no kernel of one point each separates them
    y[4], y[5] = 1.0, -1.0
    return X, y


def walk(program, count, solver="auto"):
    """The iterates after the start."""
    return list(islice(dcprog.DCA(program, solver=solver), 1, count + 1))


def far(a, b):
    return np.abs(a - b).max() / (1e-12 + np.abs(b).max())


# --- updates as the paper has them


@given(seed=SEED)
def test_l1_updates_rescale_the_data(seed):
    """Problem 7 to the letter, by scipy."""
    X, y = toy(12, 20, seed)
    z = np.ones(20)
    for iterate in islice(l1_updates(X, y), 4):
        rows = y[:, None] * (X * z)
        A = -np.hstack([rows, -rows, y[:, None]])
        lp = linprog(np.r_[np.ones(40), 0], A, -np.ones(12), bounds=[(0, None)] * 40 + [(None, None)])
        z = z * (lp.x[:20] - lp.x[20:40])
        assert far(iterate.sizes, np.abs(z)) < 1e-6


@given(seed=SEED)
def test_l2_updates_rescale_the_data(seed):
    """Problem 8 to the letter, by libsvm."""
    X, y = toy(12, 20, seed)
    z = np.ones(20)
    for iterate in islice(l2_updates(X, y), 4):
        svm = SVC(kernel="linear", C=1e10, tol=1e-8).fit(X * z, y)
        z = z * svm.coef_[0]
        assert far(iterate.sizes, np.abs(z)) < 1e-3
        assert iterate.b == pytest.approx(svm.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("norm", UPDATES)
@given(seed=SEED)
def test_the_zero_norm_falls_to_a_separating_hyperplane(norm, seed):
    X, y = toy(14, 30, seed)
    iterates = list(islice(UPDATES[norm](X, y), 12))
    for iterate in iterates:
        assert (y * iterate.rule.decision_function(X)).min() >= 1 - 1e-5
    objective = [np.log(1e-9 + i.sizes).sum() for i in iterates]
    counts = [len(i.features) for i in iterates]
    assert all(after <= before + 1e-4 for before, after in pairwise(objective))
    assert all(after <= before for before, after in pairwise(counts))
    limit, status = converge(UPDATES[norm](X, y))
    assert str(status) == "converged"
    assert len(limit.features) < 14


def test_what_does_not_converge_in_time_says_so():
    X, y = toy(14, 30, 0)
    iterate, status = converge(l2_updates(X, y), max_iter=2)
    assert (iterate.iteration, str(status)) == (2, "iteration_limit")


# --- updates as DCA

LINEAR = [{}, {"q": 0}, {"q": 0, "lam": 3.0}, {"q": 1, "lam": 2.0}, {"p": 1, "q": 0, "lam": 0.5}]
QUADRATIC = [{"q": 2, "lam": 5.0}, {"p": 2, "q": 0, "lam": 0.2}]


@pytest.mark.parametrize("norms", LINEAR, ids=str)
@given(seed=SEED)
@settings(max_examples=8)
def test_l1_updates_are_dca_on_the_logarithm(norms, seed):
    """For ε small enough the same vertices: not in the limit only, since there are finitely many."""
    X, y = toy(12, 16, seed)
    updates = islice(l1_updates(X, y, solver="highs", **norms), 5)
    for state, iterate in zip(walk(arom(X, y, eps=1e-8, **norms), 5, "highs"), updates, strict=False):
        assert far(state["w"], iterate.w) < 1e-6
        assert np.abs(state["xi"] - iterate.xi).max() < 1e-6


@pytest.mark.parametrize("norms", QUADRATIC, ids=str)
def test_l1_updates_are_dca_with_squares_too(norms):
    X, y = toy(14, 12, 3)
    distances = []
    for eps in (1e-3, 1e-5, 1e-7):
        updates = islice(l1_updates(X, y, **norms), 4)
        pairs = zip(walk(arom(X, y, eps=eps, **norms), 4), updates, strict=False)
        distances.append(max(far(state["w"], iterate.w) for state, iterate in pairs))
    assert distances[-1] < 1e-5
    assert distances[-1] <= distances[0]


@pytest.mark.parametrize("norms", [{}, {"q": 0}, {"q": 1, "lam": 2.0}, {"q": 2, "lam": 2.0}, {"p": 2, "q": 0}], ids=str)
def test_l2_updates_are_dca_on_the_logarithm_of_squares(norms):
    """… which the paper calls an approximation only. The distance falls as ε²."""
    X, y = toy(10, 6, 1)
    distances = []
    for eps in (3e-2, 1e-2):
        updates = islice(l2_updates(X, y, **norms), 4)
        pairs = zip(walk(l2_arom(X, y, eps=eps, **norms), 4), updates, strict=False)
        distances.append(max(far(state["w"], iterate.w) for state, iterate in pairs))
    assert distances[1] < 5e-3
    assert distances[1] <= 1e-5 + distances[0] / 4


@pytest.mark.parametrize(("factory", "updates", "tol"), [(arom, l1_updates, 1e-6), (l2_arom, l2_updates, 2e-2)])
@pytest.mark.parametrize("norms", [{}, {"q": 0}, {"q": 1}, {"p": 2, "q": 0}], ids=str)
def test_they_end_at_the_same_point(factory, updates, tol, norms):
    X, y = toy(12, 5, 3)
    result = dcprog.solve(factory(X, y, **norms))
    limit, status = converge(updates(X, y, **norms))
    assert str(result.status) == str(status) == "converged"
    assert far(result["w"], limit.w) < tol
    assert (result.rule.selected(1e-2) == limit.rule.selected(1e-2)).all()


@pytest.mark.parametrize("constraints", ["weston_watkins", "one_vs_rest"])
@given(seed=SEED)
@settings(max_examples=8)
def test_multiclass_l1_updates_are_dca(constraints, seed):
    X, y = three_classes(seed)
    options = {"constraints": constraints, "lam": 2.0}
    updates = islice(multiclass_updates(X, y, norm=1, solver="highs", **options), 4)
    for state, iterate in zip(walk(multiclass_arom(X, y, eps=1e-8, **options), 4, "highs"), updates, strict=False):
        assert far(state["v"], iterate.sizes) < 1e-6


@pytest.mark.parametrize(
    "program",
    [
        arom(*toy(10, 6, 0)),
        arom(*toy(10, 6, 0), eps=1e-2, q=0, form="paper"),
        arom(*toy(10, 6, 0), eps=1e-2, p=2, q=0),
        arom(*toy(10, 6, 0), p=1, q=2),
        multiclass_arom(*three_classes(0), eps=1e-2),
        multiclass_arom(*three_classes(0), eps=1e-2, constraints="one_vs_rest", lam=1.0),
    ],
    ids=repr,
)
def test_the_programs_keep_the_contract(program):
    check_program(program).raise_if_failed()


def test_the_two_forms_agree():
    X, y = toy(14, 10, 2)
    split, paper = (dcprog.solve(arom(X, y, form=form), solver="highs") for form in ("split", "paper"))
    assert split.objective == pytest.approx(paper.objective, rel=1e-6)
    assert far(split["w"], paper["w"]) < 1e-6
    assert split.rebuilds == 0


def test_a_hard_margin_start_is_even():
    """|w| stays even under the projection, so that DCA begins where the updates do, and nobody is told of a moved start."""
    program = arom(*toy(12, 30, 0))
    start = next(iter(dcprog.DCA(program)))
    assert np.ptp(start["v"]) < 1e-6
    assert dcprog.solve(program).messages == []


# --- slacks


@pytest.mark.parametrize("norm", UPDATES)
@given(seed=SEED)
@settings(max_examples=10)
def test_two_zero_norms_are_hard_margins_on_extended_data(norm, seed):
    """Section 3.2 for λ = 1: x ← (x, δ), a slack is the weight of a feature of its own."""
    X, y = inseparable(seed)
    extended = np.hstack([X, np.eye(len(y))])
    for a, b in zip(islice(UPDATES[norm](X, y, q=0), 4), islice(UPDATES[norm](extended, y), 4), strict=True):
        assert far(a.w, b.w[:4]) < 1e-4
        assert np.abs(a.xi - np.maximum(y * b.w[4:], 0)).max() < 1e-4


@given(seed=SEED)
@settings(max_examples=10)
def test_squared_slacks_are_a_ridge_on_the_kernel(seed):
    X, y = inseparable(seed)
    first = next(l2_updates(X, y, q=2, lam=3.0))
    svm = SVC(kernel="precomputed", C=1e10, tol=1e-8).fit(X @ X.T + np.eye(len(y)) / 3.0, y)
    assert far(first.w, X[svm.support_].T @ svm.dual_coef_[0]) < 1e-4


@given(seed=SEED)
@settings(max_examples=10)
def test_linear_slacks_are_the_soft_margin(seed):
    X, y = inseparable(seed)
    first = next(l2_updates(X, y, q=1, lam=3.0))
    svm = SVC(kernel="linear", C=3.0, tol=1e-8).fit(X, y)
    assert far(first.w, svm.coef_[0]) < 1e-4


@pytest.mark.parametrize("norm", UPDATES)
def test_the_zero_norm_of_slacks_counts_training_errors(norm):
    """p = 2, q = 0: fewer points in the margin than the SVM it starts from, on the average over problems."""
    slacks = []
    for seed in range(5):
        X, y = inseparable(seed)
        first = next(UPDATES[norm](X, y, p=2, q=0, lam=1.0))
        limit, _ = converge(UPDATES[norm](X, y, p=2, q=0, lam=1.0))
        slacks.append([(i.xi > 1e-6).sum() for i in (first, limit)])
    before, after = np.mean(slacks, axis=0)
    assert 1 <= after < before


def test_without_slacks_inseparable_classes_are_refused():
    X, y = inseparable(0)
    for iterates in (l1_updates(X, y), l2_updates(X, y), kernel_arom(X, y), multiclass_updates(X, y)):
        with pytest.raises(NotSeparableError, match="allow errors"):
            next(iterates)


def test_a_weight_that_does_not_pay_leaves_a_constant():
    X, y = toy(30, 3, 0, relevant=0)
    limit, _ = converge(l1_updates(X, y, q=1, lam=1e-3))
    assert (limit.w == 0).all()
    assert len(limit.features) == 0


# --- many classes


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
    assert (limit.rule.predict(X) == labels).all()
    assert arom_features(X, labels, 2, norm=norm, constraints=constraints).tolist() == [0, 1]
    assert (retrain(X, labels, [0, 1], constraints=constraints).predict(X) == labels).all()


# --- kernels


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
    for a, b in zip(explicit, islice(kernel_arom(X, y, degree), 5), strict=True):
        values = a.rule.decision_function(polynomial_features(T, degree))
        assert far(b.decision_function(T), values) < 1e-3
        clear = np.abs(values) > 1e-2
        assert (b.predict(T) == a.rule.predict(polynomial_features(T, degree)))[clear].all()


def test_a_ridge_on_the_kernel_is_a_squared_slack():
    X, y = inseparable(1)
    explicit = islice(l2_updates(polynomial_features(X, 2), y, q=2, lam=4.0), 3)
    for a, b in zip(explicit, islice(kernel_arom(X, y, 2, lam=4.0), 3), strict=True):
        assert far(b.decision_function(X), a.rule.decision_function(polynomial_features(X, 2))) < 1e-3


# --- selection

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


# --- bad input

X0, Y0 = toy(10, 4, 0)
HOLED = X0.copy()
HOLED[2, 1] = np.nan
CONSTANT = X0.copy()
CONSTANT[:, 0] = 1.0


@pytest.mark.parametrize("call", [l1_updates, l2_updates, multiclass_updates, kernel_arom, arom, l2_arom, multiclass_arom])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X0, np.ones(10), "1 class"),
        (HOLED, Y0, "NaN"),
        (X0, Y0[:5], "one label a sample"),
        (X0[0], Y0, "expected 2"),
        (X0[:, :0], Y0, "at least one"),
    ],
)
def test_bad_data_are_refused_before_any_step(call, X, y, message):
    with pytest.raises(DataError, match=message):
        call(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: l1_updates(X0, Y0, p=3), "p is 3, expected one of 0, 1, 2"),
        (lambda: l2_updates(X0, Y0, p=1), "p is 1, expected one of 0, 2"),
        (lambda: l1_updates(X0, Y0, q=0.5), "q is 0.5"),
        (lambda: l1_updates(X0, Y0, p=1, q=1), "no zero norm"),
        (lambda: l1_updates(X0, Y0, q=1, lam=0), "lam"),
        (lambda: l1_updates(X0, [0, 1, 2] * 3 + [0]), "3 class"),
        (lambda: multiclass_updates(X0, Y0, norm=3), "norm is 3"),
        (lambda: multiclass_updates(X0, Y0, lam=-1.0), "lam"),
        (lambda: kernel_arom(X0, Y0, degree=0), "degree is 0"),
        (lambda: kernel_arom(X0, Y0, degree=9), "714 dimensions"),
        (lambda: polynomial_features(X0, 1.5), "degree is 1.5"),
        (lambda: arom(X0, Y0, eps=0), "eps"),
        (lambda: arom(X0, Y0, p=4), "p is 4"),
        (lambda: l2_arom(X0, Y0, p=1), "p is 1"),
        (lambda: arom(X0, Y0, q=7), "q is 7"),
        (lambda: multiclass_arom(X0, Y0, lam=np.nan), "lam"),
        (lambda: arom_features(X0, Y0, 5), "r is 5, expected an integer from 1 to 4"),
        (lambda: rfe_features(X0, Y0, 0), "r is 0"),
        (lambda: corr_features(X0, Y0, 1.5), "r is 1.5"),
        (lambda: arom_features(CONSTANT, Y0, 4), "from 1 to 3"),
        (lambda: arom_features(X0, np.ones(10), 2), "at least 2"),
        (lambda: arom_features(X0, Y0, 2, norm=0), "norm is 0"),
        (lambda: retrain(X0, Y0, [0], p=0), "p is 0"),
        (lambda: retrain(X0, Y0, [4]), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, []), "positions"),
        (lambda: retrain(X0, Y0, [0.5]), "positions"),
        (lambda: retrain(X0, Y0, [0], lam=-1), "lam"),
        (lambda: next(kernel_arom(X0, Y0)).predict(X0[:, :2]), "4 features"),
        (lambda: next(multiclass_updates(X0, Y0, lam=1.0)).rule.predict(X0[:, :2]), "4 features"),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="weston_watkins"):
        multiclass_updates(X0, Y0, constraints="weston")
    with pytest.raises(UnknownNameError, match="one_vs_rest"):
        multiclass_arom(X0, Y0, constraints="one-vs-rest")
    with pytest.raises(UnknownNameError, match="highs"):
        next(l1_updates(X0, Y0, solver="higs"))

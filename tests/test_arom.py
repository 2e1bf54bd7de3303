"""Zero-norm minimisation, Weston et al. (2003): the updates rescale the data, are DCA, and take slacks."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest
from arom_data import SEED, UPDATES, far, inseparable, three_classes, toy, walk
from hypothesis import given, settings
from scipy.optimize import linprog
from sklearn.svm import SVC

import dcprog
from dcprog.methods.zero_norm import NotSeparableError, converge, kernel_updates, l1_updates, l2_updates, multiclass_updates
from dcprog.models.arom import arom, l2_arom, multiclass_arom
from dcprog.testing import check_program

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
        assert (y * iterate.classifier.decision_function(X)).min() >= 1 - 1e-5
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


def test_iterates_that_end_have_a_last_one():
    X, y = toy(14, 30, 0)
    iterate, status = converge(islice(l1_updates(X, y), 2), tol=0)
    assert (iterate.iteration, status) == (2, dcprog.Status.ITERATION_LIMIT)
    first = list(islice(l1_updates(X, y), 1))
    assert converge(first) == (first[0], dcprog.Status.ITERATION_LIMIT)
    limit, status = converge(l1_updates(X, y))
    assert status is dcprog.Status.CONVERGED
    kept, again = converge(list(islice(l1_updates(X, y), limit.iteration + 5)))
    assert (kept.iteration, again) == (limit.iteration, status)


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
    X, y = toy(14, 20, 0)
    distances = []
    for eps in (1e-2, 1e-3, 1e-4, 1e-6):
        updates = islice(l2_updates(X, y, **norms), 5)
        pairs = zip(walk(l2_arom(X, y, eps=eps, **norms), 5), updates, strict=False)
        distances.append(max(far(state["w"], iterate.w) for state, iterate in pairs))
    coarse, fine, finer, finest = distances
    assert coarse < 5e-2
    assert fine <= 1e-7 + coarse / 50
    assert finer <= 1e-7 + fine / 50
    assert finest < 1e-7


@given(seed=SEED)
@settings(max_examples=5)
def test_l2_updates_are_dca_on_random_data(seed):
    X, y = toy(14, 20, seed)
    result = dcprog.solve(l2_arom(X, y))
    assert str(result.status) == "converged"
    assert result.messages == []
    for state, iterate in zip(walk(l2_arom(X, y), 5), l2_updates(X, y), strict=False):
        assert far(state["w"], iterate.w) < 1e-6


@pytest.mark.parametrize(("factory", "updates", "tol"), [(arom, l1_updates, 1e-6), (l2_arom, l2_updates, 1e-4)])
@pytest.mark.parametrize("norms", [{}, {"q": 0}, {"q": 1}, {"p": 2, "q": 0}], ids=str)
def test_they_end_at_the_same_point(factory, updates, tol, norms):
    X, y = toy(12, 5, 3)
    result = dcprog.solve(factory(X, y, **norms))
    limit, status = converge(updates(X, y, **norms))
    assert str(result.status) == str(status) == "converged"
    assert far(result["w"], limit.w) < tol
    assert (result.classifier.selected(1e-2) == limit.classifier.selected(1e-2)).all()


@pytest.mark.parametrize(
    "program",
    [
        arom(*toy(10, 6, 0)),
        arom(*toy(10, 6, 0), eps=1e-2, q=0, form="paper"),
        arom(*toy(10, 6, 0), eps=1e-2, p=2, q=0),
        arom(*toy(10, 6, 0), p=1, q=2),
        l2_arom(*toy(10, 6, 0), eps=0.1, q=1),
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
    for iterates in (l1_updates(X, y), l2_updates(X, y), kernel_updates(X, y), multiclass_updates(X, y)):
        with pytest.raises(NotSeparableError, match="allow errors"):
            next(iterates)


def test_a_weight_that_does_not_pay_leaves_a_constant():
    X, y = toy(30, 3, 0, relevant=0)
    limit, _ = converge(l1_updates(X, y, q=1, lam=1e-3))
    assert (limit.w == 0).all()
    assert len(limit.features) == 0

"""Samples, labels and parameters that no method can use are refused in words, in training and in prediction."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from arom_data import three_classes, toy
from sklearn.metrics.pairwise import rbf_kernel

from dcprog.errors import DataError, DCProgError, FunctionError, UnknownNameError
from dcprog.estimators import AROM, R2W2, SVMRFE, RadiusMarginBasis, SVMRanking
from dcprog.learning import samples
from dcprog.learning.samples import check_data, check_samples
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.methods.nlpsvm import kernel_nlpsvm, lp_svm, nlpsvm
from dcprog.methods.radius_margin import optimal_basis, r2w2, r2w2_penalised
from dcprog.methods.zero_norm import (
    arom_features,
    converge,
    corr_features,
    kernel_updates,
    l1_updates,
    l2_updates,
    multiclass_updates,
    polynomial_features,
    polynomial_kernel,
    retrain,
    rfe_features,
)
from dcprog.models import fsv
from dcprog.models.arom import l2_arom as l2_program

X0, Y0 = toy(12, 4, 0)
RBF = partial(rbf_kernel, gamma=0.5)
RULES = {
    "LinearRule": lambda: lp_svm(X0, Y0).classifier,
    "ArgmaxRule": lambda: next(multiclass_updates(*three_classes(0, d=4), lam=1.0)).classifier,
    "KernelIterate": lambda: next(kernel_updates(X0, Y0)),
    "KernelSurface": lambda: kernel_nlpsvm(X0, Y0, RBF, method=lp_svm),
    "KernelRule": lambda: kernel_svm(X0, Y0),
}


def changed(value):
    X = X0.copy()
    X[1, 2] = value
    return X


# --- prediction


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (changed(np.nan), "1 NaN or infinite"),
        (sp.csr_array(changed(np.inf)), "1 NaN or infinite"),
        ([["a"] * 4], "not numeric"),
        ([[1.0, 2.0], [1.0]], "not numeric"),
        (X0[:, :3], "expected samples with 4 features"),
        (X0[0], "1 dimension"),
        (X0[None], "3 dimension"),
        (None, "not numeric|dimension"),
        (X0 + 1j, "complex"),
    ],
)
def test_points_that_cannot_be_classified_are_refused(rule, X, message):
    with pytest.raises(DataError, match=message):
        RULES[rule]().predict(X)


@pytest.mark.parametrize("rule", RULES)
def test_sparse_points_are_classified_as_dense_ones(rule):
    rule = RULES[rule]()
    assert rule.decision_function(sp.csr_matrix(X0)) == pytest.approx(rule.decision_function(X0))
    assert (rule.predict(X0.tolist()) == rule.predict(X0)).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("none", [X0[:0], sp.csr_array(X0[:0])], ids=["dense", "sparse"])
def test_of_no_points_there_are_no_classes(rule, none):
    rule = RULES[rule]()
    assert rule.predict(none).shape == (0,)
    assert rule.predict(none).dtype == rule.predict(X0).dtype
    assert rule.decision_function(none).shape == (0, *rule.decision_function(X0).shape[1:])


# --- labels and data


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, 1] * 6, "missing"),
        (np.array([None, 1] * 6, dtype=object), "missing"),
        (np.array([np.nan, 1.0] * 6, dtype=object), "missing"),
        (["a", 1] * 6, "6 strings among 12"),
        (np.array(["a", 1] * 6, dtype=object), "6 strings among 12"),
        (np.array([{}, 1] * 6, dtype=object), "cannot be sorted"),
        ([[1], [1, 2]] * 6, "no vector of labels"),
        ([0.0, np.inf] * 6, "NaN or infinite"),
    ],
)
def test_labels_have_to_be_of_one_kind(y, message):
    for check in (check_samples, check_data, lp_svm, fsv):
        with pytest.raises(DataError, match=message):
            check(X0, y)


def test_labels_of_any_one_kind_are_taken():
    for y in (["a", "b"] * 6, np.array(["a", "b"] * 6, dtype=object), [True, False] * 6, [True, 2] * 6, [b"x", b"y"] * 6):
        assert len(check_data(X0, y).classes) == 2


TRAINED = {
    "l1_arom": lambda X: converge(l1_updates(X, Y0)),
    "l2_arom": lambda X: converge(l2_updates(X, Y0)),
    "kernel_arom": lambda X: next(kernel_updates(X, Y0)),
    "nlpsvm": lambda X: nlpsvm(X, Y0),
    "lp_svm": lambda X: lp_svm(X, Y0),
    "rfe": lambda X: rfe_features(X, Y0, 2),
    "fsv": lambda X: fsv(X, Y0),
    "l2_program": lambda X: l2_program(X, Y0),
}


@pytest.mark.parametrize("size", [1e80, 1e160, 1e200])
@pytest.mark.parametrize("train", TRAINED)
def test_numbers_that_overflow_are_refused(train, size, capfd):
    for X in (changed(-size), sp.csr_array(size * X0)):
        with pytest.raises(DataError, match="rescale the features"):
            TRAINED[train](X)
    assert capfd.readouterr().out == ""


def test_powers_that_overflow_are_refused():
    with pytest.raises(DataError, match="powers overflow in a kernel of degree 2"):
        kernel_updates(1e60 * X0, Y0)


@pytest.mark.parametrize("train", TRAINED)
def test_complex_numbers_are_refused(train):
    with pytest.raises(DataError, match="complex"):
        TRAINED[train](X0 + 1j)


# --- parameters


@pytest.mark.parametrize("value", [0, np.nan, -1, "1", None, [1.0]])
def test_costs_of_slacks_are_positive_numbers(value):
    for train in (rfe_features, retrain):
        with pytest.raises(DataError, match="lam is"):
            train(X0, Y0, *([2] if train is rfe_features else [[0, 1]]), lam=value)


@pytest.mark.parametrize("value", ["x", None, -1, 0, 1.5, True])
def test_counts_are_integers(value):
    for call in (
        lambda: converge(l1_updates(X0, Y0), max_iter=value),
        lambda: nlpsvm(X0, Y0, max_iter=value),
        lambda: kernel_updates(X0, Y0, max_terms=value),
        lambda: kernel_updates(X0, Y0, degree=value),
        lambda: polynomial_features(X0, value),
        lambda: polynomial_kernel(X0, X0, value),
    ):
        with pytest.raises(DataError, match="expected an integer ≥ 1"):
            call()


@pytest.mark.parametrize("X", [X0[0], [["a", "b"]], [[1.0], [1.0, 2.0]], None, [], changed(np.nan)], ids=str)
def test_polynomials_take_points(X):
    for call in (
        lambda: polynomial_features(X, 2),
        lambda: polynomial_kernel(X, X0, 2),
        lambda: polynomial_kernel(X0, X, 2),
    ):
        with pytest.raises(DataError):
            call()


def test_polynomials_have_a_size_and_one_number_of_features():
    with pytest.raises(DataError, match="lower the degree"):
        polynomial_features(X0[:2, :2], 50)
    with pytest.raises(DataError, match="expected 4"):
        polynomial_kernel(X0, X0[:, :2], 2)
    assert polynomial_kernel(sp.csr_array(X0), X0.tolist(), 2) == pytest.approx(X0 @ X0.T + (X0 @ X0.T) ** 2)


@pytest.mark.parametrize("value", ["x", [], None, 3])
def test_constraints_have_a_name(value):
    for call in (
        lambda: multiclass_updates(*three_classes(0), constraints=value),
        lambda: arom_features(X0, Y0, 2, constraints=value),
        lambda: retrain(X0, Y0, [0], constraints=value),
    ):
        with pytest.raises(UnknownNameError, match="one_vs_rest"):
            call()


def fails(X, Z):
    raise ZeroDivisionError("boom")


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (None, DataError, "kernel is None"),
        ("rbf", DataError, "rbf_kernel"),
        (fails, FunctionError, "ZeroDivisionError: boom"),
        (lambda X, Z: "text", DataError, "matrix of numbers"),
        (lambda X, Z: np.ones(3), DataError, "shape"),
        (lambda X, Z: np.full((len(X), len(Z)), np.nan), DataError, "NaN"),
    ],
)
def test_kernels_are_functions_that_give_matrices(kernel, error, message):
    with pytest.raises(error, match=message):
        kernel_nlpsvm(X0, Y0, kernel)


METHODS = {
    "print": print,
    "sorted": sorted,
    "max": max,
    "int": int,
    "two": lambda A, y: None,
    "four": lambda A, y, nu, more: None,
}


def test_methods_take_their_own_parameters():
    with pytest.raises(UnknownNameError, match=r"parameter of lp_svm 'delta'.*epsilon"):
        kernel_nlpsvm(X0, Y0, RBF, method=lp_svm, delta=1)
    with pytest.raises(DataError, match="pass nlpsvm or lp_svm"):
        kernel_nlpsvm(X0, Y0, RBF, method="lp_svm")
    with pytest.raises(DCProgError):
        kernel_nlpsvm(X0, Y0, RBF, delta=-1)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_methods_that_do_not_train_are_refused_before_they_run(method, capsys):
    with pytest.raises(DataError, match=r"expected a function of \(A, y, nu\).*pass nlpsvm or lp_svm"):
        kernel_nlpsvm(X0, Y0, RBF, method=method)
    assert capsys.readouterr().out == ""


def test_methods_give_a_plane():
    with pytest.raises(DataError, match="method gave NoneType, expected a Separation"):
        kernel_nlpsvm(X0, Y0, RBF, method=lambda A, y, nu: None)
    own = kernel_nlpsvm(X0, Y0, RBF, method=lambda A, y, nu: lp_svm(A, y, 2 * nu))
    assert own.plane.w == pytest.approx(kernel_nlpsvm(X0, Y0, RBF, 2.0, method=partial(lp_svm, epsilon=0.1)).plane.w)


# --- once


@pytest.fixture
def checks(monkeypatch):
    """How often samples are checked entry by entry."""
    counted, check = [], samples.check_matrix
    monkeypatch.setattr(samples, "check_matrix", lambda X: counted.append(1) or check(X))
    return counted


ONCE = {
    "arom_features": lambda: arom_features(X0, Y0, 2, lam=1.0),
    "corr_features": lambda: corr_features(X0, Y0, 2),
    "rfe_features": lambda: rfe_features(X0, Y0, 2, lam=1.0),
    "retrain": lambda: retrain(X0, Y0, [0, 1], lam=1.0),
    "r2w2": lambda: r2w2(X0, Y0, 2, "linear"),
    "r2w2_penalised": lambda: r2w2_penalised(X0, Y0, 2, "linear", max_iter=2),
    "optimal_basis": lambda: optimal_basis(X0, Y0, 2, "linear", max_iter=2),
}


@pytest.mark.parametrize("method", ONCE)
def test_methods_check_samples_once(method, checks):
    ONCE[method]()
    assert len(checks) == 1


@pytest.mark.parametrize(
    "machine", [AROM(), AROM(r=2), AROM(r=2, norm=1), SVMRFE(lam=1.0), R2W2(2), RadiusMarginBasis(2), SVMRanking()], ids=str
)
def test_estimators_leave_the_check_to_scikit_learn(machine, checks):
    machine.fit(X0, Y0)
    assert checks == []

"""Probabilities, results, objectives and sparse samples of every estimator, with weights and without."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimator_cases import CROSS_VALIDATED, METHODS, each, samples
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import make_scorer

from dcprog import estimators as est
from dcprog.algorithms.result import Result
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators.training import Training

ALL = METHODS + CROSS_VALIDATED


@pytest.mark.parametrize("way", ["sigmoid", "isotonic"])
def test_probabilities_are_those_of_scikit_learns_calibration(way):
    X, y = samples(100, seed=4)
    machine = est.L1SVM(0.05, calibration=way).fit(X, y)
    theirs = CalibratedClassifierCV(est.L1SVM(0.05), method=way, cv=5, ensemble=False).fit(X, y)
    assert machine.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-9)
    order = np.argsort(machine.decision_function(X))
    assert (np.diff(machine.predict_proba(X)[order, 1]) >= -1e-12).all()


def test_probabilities_of_several_classes_and_of_tuned_methods():
    rng = np.random.default_rng(0)
    y = np.repeat(["high", "low", "mid"], 20)
    X = rng.standard_normal((60, 4)) + 4 * np.eye(4)[np.unique(y, return_inverse=True)[1]]
    machine = est.SVMRFE(3, lam=1.0, calibration="sigmoid").fit(X, y)
    assert machine.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(60))
    assert (machine.classes_[machine.predict_proba(X).argmax(axis=1)] == y).mean() > 0.9
    tuned = est.FSVCV([0.05, 0.1], cv=2, calibration="sigmoid").fit(*samples(60))
    plain = est.FSV(**tuned.best_params_, calibration="sigmoid").fit(*samples(60))
    X = samples(60)[0]
    assert (tuned.predict_proba(X) == plain.predict_proba(X)).all()


def test_probabilities_have_to_be_asked_for():
    assert not hasattr(est.FSV().fit(*samples()), "predict_proba")
    with pytest.raises(UnknownNameError, match="did you mean 'sigmoid'"):
        est.FSV(calibration="sigmoidal").fit(*samples())
    X, y = samples(5)
    y[:] = ["a", "b", "b", "b", "b"]
    with pytest.raises(DataError, match="at least two samples of each class"):
        est.RLP(calibration="sigmoid").fit(X, y)


@each(ALL)
def test_results_are_results(estimator):
    X, y = samples()
    machine = clone(estimator).fit(pd.DataFrame(X, columns=list("abcde")), y)
    result = machine.result_
    assert isinstance(result, Result)
    assert np.isfinite(result.objective)
    assert result.success or result.status == "stopped_by_rule"
    assert result.violation <= 1e-6
    assert result.x.size == sum(result[name].size for name in result) or result.history
    if hasattr(machine, "coef_"):
        assert {"w"} <= set(result)
        named = machine.classifier_.selected_names()
        assert list(named) == list(machine.get_feature_names_out()) or not machine.get_support().all()
        assert set(named) <= set("abcde")


def test_objectives_are_those_that_docstrings_state():
    X, y = samples()
    signs = np.where(y == "yes", 1, -1)
    slack = lambda machine: np.maximum(1 - signs * machine.decision_function(X), 0).sum()
    svm = est.LinearSVM(0.2, solver="libsvm").fit(X, y)
    exact = est.LinearSVM(0.2).fit(X, y)
    assert svm.result_.objective == pytest.approx(exact.result_.objective, rel=1e-3)
    newton, simplex = est.NLPSVM(2.0).fit(X, y), est.L1SVM(1 / 3, weighting="sum").fit(X, y)
    assert newton.result_.objective == pytest.approx(3 * simplex.result_.objective)
    arom = est.AROM(2, lam=0.5).fit(X, y)
    assert arom.result_.objective == pytest.approx(2 + 0.5 * slack(arom))
    rfe = est.SVMRFE(2, lam=0.5).fit(X, y)
    assert rfe.result_.objective == pytest.approx(0.5 * (rfe.coef_**2).sum() + 0.5 * slack(rfe))
    hard = est.AROM(lam=None).fit(*samples(12, 8))
    assert hard.result_.violation <= 1e-6
    kernel = est.KernelSVM(0.5).fit(X, y)
    dual = kernel.result_["alpha"]
    K = kernel.classifier_.kernel(kernel.classifier_.vectors, kernel.classifier_.vectors)
    assert kernel.result_.objective == pytest.approx(np.abs(dual).sum() - 0.5 * dual @ K @ dual, rel=1e-5)  # strong duality


@each([est.AROM(), est.AROM(norm=1), est.AlignmentSVM(), est.KernelSVM(kernel="chi2"), est.SVMRFE()])
def test_sparse_samples(estimator):
    X, y = samples()
    convert = sp.csc_matrix if isinstance(estimator, est.AROM) else sp.csr_array
    X = np.where(np.abs(X) < 0.5, 0.0, np.abs(X))
    dense, sparse = clone(estimator).fit(X, y), clone(estimator).fit(convert(X), y)
    assert sparse.decision_function(convert(X)) == pytest.approx(dense.decision_function(X), abs=1e-6)
    assert (sparse.get_support() == dense.get_support()).all() if hasattr(sparse, "get_support") else True


def test_equal_samples_are_one_and_support_vectors_are_counted_as_they_came():
    X, y = samples()
    twice = Training(np.vstack([X, X]), np.concatenate([y, y])).weighed(None)
    assert len(twice.y) == len(y)
    assert (twice.X[twice.origin[: len(y)]] == X).all()
    once, machine = est.KernelSVM(0.3).fit(X, y), est.KernelSVM(0.3).fit(np.vstack([X, X]), np.concatenate([y, y]))
    assert machine.n_support_ == 2 * len(machine.classifier_.support)
    assert once.n_support_ == len(once.classifier_.support)
    sparse = Training(sp.csr_array(np.vstack([X, X])), np.concatenate([y, y])).weighed(None)
    assert len(sparse.y) == len(y)
    mixed = Training(np.vstack([X, X]), np.concatenate([y, np.where(y == "yes", "no", "yes")])).weighed(None)
    assert len(mixed.y) == 2 * len(y)


def test_a_class_of_almost_no_weight_is_given_up():
    """The weights of ℓ2-AROM go to 0 as a whole then, and the bias is that of the other class."""
    X, y = samples()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = est.AROM(class_weight={"yes": 1e-4, "no": 1000.0}).fit(20 * X, y)
    assert not machine.get_support().any()
    assert (machine.predict(X) == "no").all()


def test_scorers_get_weights():
    X, y = samples()
    seen = []

    def score(truth, found, sample_weight=None):
        seen.append(sample_weight)
        return 1.0

    est.RLP().fit(X, y)
    est.L1SVMCV([0.1], cv=2, scoring=make_scorer(score)).fit(X, y, sample_weight=np.arange(1, 41))
    assert sorted(np.concatenate(seen)) == list(range(1, 41))

"""Estimators: scikit-learn's own checks and uses, the same answers as the functions behind, and points on the boundary."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from data_sets import load_real, needs_data
from estimator_cases import CROSS_VALIDATED, METHODS, each, name_of, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import dcprog
from dcprog import estimators as est
from dcprog import models
from dcprog.algorithms.result import Status
from dcprog.estimators.training import Training
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.methods.nlpsvm import nlpsvm
from dcprog.methods.radius_margin import Gaussian, optimal_basis, r2w2
from dcprog.methods.svm_ranking import svm_ranking
from dcprog.methods.zero_norm import arom_features, converge, l1_updates, retrain, rfe_features

SELECTORS = [method for method in METHODS if hasattr(method, "get_support")]
SPARSE = [method for method in [*METHODS, est.AROM(norm=1)] if method.__sklearn_tags__().input_tags.sparse]


@parametrize_with_checks(METHODS + CROSS_VALIDATED)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    regressors = {"SparseRegressor", "SparseRegressorCV"}  # in test_sparse_regressor.py
    public = {name for name in est.__all__ if isinstance(getattr(est, name), type)}
    assert {type(e).__name__ for e in METHODS + CROSS_VALIDATED} == public - regressors


# --- The same answers as the functions behind ------------------------------------------------------------------------------


FORMULATIONS = [
    (est.RLP(weighting="class"), models.rlp, {"weighting": "class"}),
    (est.LinearSVM(lam=0.2, weighting="mean"), models.svm, {"lam": 0.2}),
    (est.L1SVM(lam=0.03), models.l1_svm, {"lam": 0.03}),
    (est.FSV(lam=0.03, alpha=3.0), models.fsv, {"lam": 0.03, "alpha": 3.0}),
    (est.FSV(lam=0.03, penalty="capped_l1"), models.fsv, {"lam": 0.03, "penalty": "capped_l1"}),
    (est.L2L1SVM(mu=20.0, nu=0.5), models.l2_l1_svm, {"mu": 20.0, "nu": 0.5}),
    (est.L2L0SVM(mu=20.0, nu=0.2, alpha=4.0), models.l2_l0_svm, {"mu": 20.0, "nu": 0.2, "alpha": 4.0}),
    (est.QuadraticFSV(lam=0.05, degree=3), models.quadratic_fsv, {"lam": 0.05, "degree": 3}),
]


@pytest.mark.parametrize(("estimator", "factory", "parameters"), FORMULATIONS)
def test_formulations_are_those_of_the_factories(estimator, factory, parameters):
    X, y = samples()
    result = dcprog.solve(factory(X, y, **parameters))
    estimator = clone(estimator).fit(X, y)
    assert estimator.result_.objective == pytest.approx(result.objective, abs=1e-9)
    assert estimator.n_iter_ == result.iterations
    assert (estimator.decision_function(X) == result.classifier.decision_function(X)).all()
    assert (estimator.predict(X) == result.classifier.predict(X)).all()
    assert (estimator.get_support(indices=True) == result.classifier.selected()).all()
    if hasattr(estimator, "coef_"):
        assert (estimator.coef_ == result["w"][None]).all()
        assert estimator.intercept_ == result["b"]


def test_alignment_is_the_weighted_kernel_and_its_svm():
    X, y = samples()
    machine = est.AlignmentSVM(lam=0.2, sigma=1.5, lam_svm=0.25, bias=True).fit(X, y)
    theta = dcprog.solve(models.alignment(X, y, lam=0.2, sigma=1.5))["theta"]
    rule = kernel_svm(X, y, theta, C=3.0, sigma=1.5, bias=True)
    assert (machine.theta_ == theta).all()
    assert (machine.decision_function(X) == rule.decision_function(X)).all()
    assert (machine.get_support(indices=True) == np.flatnonzero(theta > 1e-2)).all()


def test_linear_svm_is_scikit_learns():
    X, y = samples()
    ours, theirs = est.LinearSVM(lam=0.25).fit(X, y), SVC(kernel="linear", C=3.0, tol=1e-8).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-5)


def test_nlpsvm_as_printed():
    X, y = samples()
    machine = est.NLPSVM(nu=0.5, algorithm="printed", delta=0.5, tol=1e-2).fit(X, y)
    plane = nlpsvm(X, y, 0.5, delta=0.5, tol=1e-2)
    assert (machine.coef_[0] == plane.w).all()
    assert (machine.intercept_, machine.n_iter_) == (-plane.gamma, plane.steps)


@pytest.mark.parametrize("nu", [0.1, 1.0, 10.0, 100.0])
def test_nlpsvm_solves_its_linear_program_and_takes_the_least_norm(nu):
    X, labels = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine, simplex = est.NLPSVM(nu).fit(X, labels), est.L1SVM(lam=1 / (1 + nu), weighting="sum").fit(X, labels)

    def objective_and_norm(fitted):
        slacks = np.maximum(1 - np.where(labels == 1, 1, -1) * fitted.decision_function(X), 0)
        parts = np.concatenate([fitted.coef_[0], fitted.intercept_, slacks])
        return nu * slacks.sum() + np.abs(fitted.coef_).sum(), np.linalg.norm(parts)

    (objective, norm), (least, other) = objective_and_norm(machine), objective_and_norm(simplex)
    assert machine.outcome_.converged
    assert objective == pytest.approx(least, rel=1e-7)
    assert norm <= other * (1 + 1e-6)


def test_r2w2():
    X, y = samples()
    machine, found = est.R2W2(2, kernel=Gaussian(width=3.0), ridge=0.5).fit(X, y), r2w2(X, y, 2, Gaussian(3.0), ridge=0.5)
    assert (machine.get_support(indices=True) == found.selected).all()
    assert (machine.decision_function(X) == found.decision_function(X)).all()


def test_radius_margin_basis():
    X, y = samples()
    machine, basis = est.RadiusMarginBasis(3, max_iter=500).fit(X, y), optimal_basis(X, y, 3, Gaussian(), max_iter=500)
    assert (machine.transform(X) == basis.transform(X)).all()
    assert (machine.decision_function(X) == basis.decision_function(X)).all()
    assert machine.n_iter_ == len(basis.history) - 1


@pytest.mark.parametrize(("norm", "lam"), [(1, None), (2, None), (2, 3.0)])
def test_arom_with_exactly_r_features(norm, lam):
    X, y = samples(20, 30)
    machine = est.AROM(3, norm=norm, lam=lam).fit(X, y)
    features = arom_features(X, y, 3, norm=norm, lam=lam)
    rule = retrain(X, y, features, p=norm, lam=np.inf if lam is None else lam)
    assert (machine.get_support(indices=True) == features).all()
    assert (machine.coef_[0] == rule.w).all()
    assert machine.n_iter_ == machine.outcome_.iteration == machine.result_.iterations


def test_arom_to_the_limit():
    X, y = samples()
    machine = est.AROM(norm=1, lam=0.5).fit(X, y)
    last, status = converge(l1_updates(X, y, q=1, lam=0.5))
    assert (machine.coef_[0] == last.w).all()
    assert status is Status.CONVERGED
    assert (machine.get_support(indices=True) == last.features).all()


@pytest.mark.parametrize("constraints", ["weston_watkins", "one_vs_rest"])
def test_arom_of_several_classes_counts_a_feature_once(constraints):
    rng = np.random.default_rng(0)
    y = np.repeat(["low", "mid", "high"], 8)
    X = rng.standard_normal((24, 10))
    X[:, 3] += np.repeat([-9, 0, 9], 8)
    X[:, 5] += np.repeat([0, 9, 0], 8)
    machine = est.AROM(2, constraints=constraints).fit(X, y)
    assert list(machine.get_support(indices=True)) == [3, 5]
    assert machine.coef_.shape == (3, 10)
    assert machine.decision_function(X).shape == (24, 3)
    assert machine.score(X, y) == 1.0
    assert list(est.SVMRFE(2).fit(X, y).get_support(indices=True)) == [3, 5]


def test_rfe():
    X, y = samples()
    machine = est.SVMRFE(2, halving=True, lam=1.0).fit(X, y)
    features = rfe_features(X, y, 2, halving=True, lam=1.0)
    assert (machine.get_support(indices=True) == features).all()
    assert (machine.coef_[0] == retrain(X, y, features, lam=1.0).w).all()


def test_svm_ranking():
    X, y = samples(80)
    machine = est.SVMRanking(lam=0.1, random_state=3).fit(X, y)
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.5, stratify=y, random_state=3)
    found = svm_ranking(X1, y1, X2, y2, lam=0.1)
    assert (machine.coef_[0] == found.classifier.w).all()
    assert (machine.get_support(indices=True) == found.selected).all()


# --- As scikit-learn uses them ---------------------------------------------------------------------------------------------


@each(METHODS + CROSS_VALIDATED)
def test_pickled_and_cloned(estimator):
    X, y = samples()
    fitted = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.decision_function(X) == fitted.decision_function(X)).all()
    assert clone(fitted).get_params() == estimator.get_params()
    with pytest.raises(NotFittedError):
        clone(fitted).predict(X)


@each(SELECTORS)
@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 99))
def test_transform_keeps_the_selected_columns_and_predict_follows_the_sign(estimator, seed):
    X, y = samples(seed=seed)
    fitted = clone(estimator).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # none may be selected
        assert (fitted.transform(X) == X[:, fitted.get_support()]).all()
    assert (fitted.predict(X) == np.where(fitted.decision_function(X) > 0, "yes", "no")).all()


@each(SELECTORS)
def test_features_that_are_not_selected_do_not_matter(estimator):
    X, y = samples()
    fitted = clone(estimator).fit(X, y)
    noise = np.where(fitted.get_support(), X, np.random.default_rng(1).standard_normal(X.shape))
    kept = 1e-2 if name_of(estimator) == "AlignmentSVM" else 1e-6  # θ up to its threshold still weighs
    assert fitted.decision_function(noise) == pytest.approx(fitted.decision_function(X), abs=20 * kept)


@each(SPARSE)
def test_sparse_data_give_the_dense_answer(estimator):
    X, y = samples(30, 8)
    X[np.abs(X) < 0.5] = 0.0
    dense, sparse = clone(estimator).fit(X, y), clone(estimator).fit(sp.csr_array(X), y)
    assert sparse.decision_function(sp.csr_array(X)) == pytest.approx(dense.decision_function(X), abs=1e-6)
    if hasattr(dense, "get_support"):
        assert (sparse.get_support() == dense.get_support()).all()


@each([method for method in METHODS if hasattr(method, "transform")])
def test_pandas_in_and_out(estimator):
    X, y = samples()
    frame = pd.DataFrame(X, columns=list("abcde"))
    machine = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform="pandas").fit(frame, y)
    out = machine.transform(frame)
    assert list(out.columns) == list(machine.get_feature_names_out())
    if hasattr(machine[-1], "get_support"):
        assert list(out.columns) == [name for name, kept in zip("abcde", machine[-1].get_support(), strict=True) if kept]


def test_selection_before_another_classifier():
    X, y = samples(60, 8)
    assert make_pipeline(StandardScaler(), est.FSV(lam=0.05), SVC()).fit(X, y).score(X, y) > 0.8


def test_cross_validation_and_grid_search():
    X, y = samples(60)
    scores = cross_val_score(make_pipeline(StandardScaler(), est.FSV(lam=0.05)), X, y, cv=3)
    assert scores.mean() > 0.7
    search = GridSearchCV(est.AlignmentSVM(), {"lam": [0.1, 0.5], "lam_svm": [0.1, 0.9]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    kernels = GridSearchCV(est.R2W2(2), {"kernel": ["linear", Gaussian(2.0)]}, cv=2).fit(X, y)
    assert kernels.best_estimator_.get_support()[:2].all()


def test_one_against_the_rest():
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = np.argmax(X[:, :3], axis=1)
    assert OneVsRestClassifier(est.L1SVM(lam=0.01)).fit(X, y).score(X, y) > 0.85


def test_the_package_has_them_without_loading_them():
    assert "estimators" in dir(dcprog)
    assert dcprog.estimators is est
    assert "estimators" not in dcprog.__all__


# --- Points on the boundary ------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-40, 40), min_size=3, max_size=8), st.integers(0, 99), st.sampled_from([1e-3, 1.0, 1e3]))
def test_points_on_the_boundary_are_of_one_class_whatever_rounding_makes_of_them(tenths, seed, scale):
    """w'x + b = 0 in exact arithmetic: w of tenths, x of integers, and b = −w'x₀ for all permutations of (w, x₀)."""
    rng = np.random.default_rng(seed)
    w, x = scale * np.array(tenths) / 10, rng.integers(-9, 9, len(tenths)).astype(float)
    machine = est.L1SVM().fit(*samples(d=len(tenths)))
    on, beside = [], []
    for _ in range(10):
        order = rng.permutation(len(w))
        machine.classifier_ = replace(machine.classifier_, w=w[order], b=-float(w @ x))
        on.append(machine.decision_function(x[order][None])[0])
        beside += list(machine.decision_function(np.stack([x[order]] * 3) * [[1], [1 + 1e-9], [1 - 1e-9]])[1:])
        assert (machine.predict(x[order][None]) == machine.classes_[0]).all()
    assert on == [0.0] * 10
    terms = np.abs(w) @ np.abs(x)
    assert all(value != 0 for value in beside) or abs(w @ x) <= 1e-3 * terms


def test_points_on_the_boundary_of_a_quadratic_classifier():
    X, y = samples(d=2)
    machine = est.QuadraticFSV().fit(X, y)
    machine.classifier_ = replace(machine.classifier_, w=np.array([0.1, 0.2, -0.3, 0.0, 0.0]), b=0.0)
    point = np.array([[-1.0, 2.0]])
    rounded = machine.classifier_.feature_map.transform(point) @ machine.classifier_.w
    assert 0 < abs(rounded[0]) < 1e-15
    assert machine.classifier_.decision_function(point) == machine.decision_function(point) == 0
    assert machine.predict(point) == machine.classes_[0]


@needs_data
def test_paths_and_refits_classify_points_on_the_boundary_alike():
    X, y = load_real("liver")
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        walked = dcprog.path(models.fsv, X[train], y[train], lam=[0.05, 0.1, 0.2, 0.5])
        for point, result in zip(walked.parameters, walked, strict=True):
            machine = est.FSV(**point).fit(X[train], y[train])
            refitted = machine.predict(X[test])
            machine._accept(machine._read(result, Training(X[train], y[train])))
            assert (machine.predict(X[test]) == refitted).all()

"""Estimators: scikit-learn's own checks, the same answers as the functions behind them, and what goes wrong."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from data_sets import load_real, needs_data
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import dcprog
from dcprog import estimators as est
from dcprog import models
from dcprog.errors import DataError, NotSolvedError, UnknownNameError
from dcprog.estimators.base import check_end
from dcprog.functions import Exponential
from dcprog.nlpsvm import nlpsvm
from dcprog.radius_margin import Gaussian, optimal_basis, r2w2
from dcprog.result import Status
from dcprog.zero_norm import NotSeparableError, arom_features, converge, l1_arom, retrain, rfe_features

METHODS = [
    est.RLP(),
    est.LinearSVM(),
    est.L1SVM(),
    est.FSV(),
    est.L2L1SVM(),
    est.L2L0SVM(),
    est.QuadraticFSV(),
    est.AlignmentSVM(),
    est.AROM(),
    est.RFE(),
    est.NLPSVM(),
    est.R2W2(),
    est.RadiusMarginBasis(),
    est.SVMRanking(random_state=0),
]
CROSS_VALIDATED = [
    est.LinearSVMCV(lam=0.1, cv=2),
    est.L1SVMCV(lam=0.05, cv=2),
    est.FSVCV(lam=[0.05, 0.1], cv=2),
    est.L2L1SVMCV(mu=100.0, nu=0.1, cv=2),
    est.L2L0SVMCV(mu=100.0, nu=0.1, cv=2),
    est.QuadraticFSVCV(lam=0.05, cv=2),
    est.AlignmentSVMCV(lam=0.1, C=1.0, cv=2),
]
EXPECTED_FAILURES = {
    "RFE": {"check_classifiers_train": "one feature of two is left, by which no line separates the middle of three classes"},
}
if parse_version(sklearn.__version__) < parse_version("1.8"):
    noise = "labels are drawn for which the bound is least with no feature at all, and that is an error"
    EXPECTED_FAILURES["R2W2"] = {"check_n_features_in_after_fitting": noise}
SELECTORS = [method for method in METHODS if hasattr(method, "get_support")]
SPARSE = [method for method in [*METHODS, est.AROM(norm=1)] if method.__sklearn_tags__().input_tags.sparse]
name_of = lambda estimator: type(estimator).__name__
each = lambda estimators: pytest.mark.parametrize("estimator", estimators, ids=name_of)


def samples(n=40, d=5, seed=0):
    """Two classes that two features tell apart, but for a few; one is smaller, so that b is unique also where w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n) > 0.5, "yes", "no")


@parametrize_with_checks(METHODS + CROSS_VALIDATED, expected_failed_checks=lambda e: EXPECTED_FAILURES.get(name_of(e), {}))
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    assert {type(e).__name__ for e in METHODS + CROSS_VALIDATED} == set(est.__all__)


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
    assert (estimator.decision_function(X) == result.rule.decision_function(X)).all()
    assert (estimator.predict(X) == result.rule.predict(X)).all()
    assert (estimator.get_support(indices=True) == result.rule.selected()).all()
    if hasattr(estimator, "coef_"):
        assert (estimator.coef_ == result["w"][None]).all()
        assert estimator.intercept_ == result["b"]


def test_alignment_is_the_weighted_kernel_and_its_svm():
    X, y = samples()
    machine = est.AlignmentSVM(lam=0.2, sigma=1.5, C=3.0, bias=True).fit(X, y)
    theta = dcprog.solve(models.alignment(X, y, lam=0.2, sigma=1.5))["theta"]
    rule = models.kernel_svm(X, y, theta, C=3.0, sigma=1.5, bias=True)
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
    assert machine.result_.converged
    assert objective == pytest.approx(least, rel=1e-7)
    assert norm <= other * (1 + 1e-6)


def test_nlpsvm_that_has_not_converged_says_what_to_do():
    X, y = samples()
    with pytest.warns(ConvergenceWarning, match=r"NLPSVM has not converged .* tune delta .* algorithm='exact'"):
        est.NLPSVM(algorithm="printed", max_iter=1).fit(X, y)
    assert est.NLPSVM(max_iter=1).fit(X, y).result_.converged
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raw = est.NLPSVM(1e6).fit(*load_breast_cancer(return_X_y=True))
    assert ["standardise the features" in str(w.message) for w in caught] == [True] * (not raw.result_.converged)


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
    assert machine.n_iter_ == machine.result_.iteration


def test_arom_to_the_limit():
    X, y = samples()
    machine = est.AROM(norm=1, lam=0.5).fit(X, y)
    last, status = converge(l1_arom(X, y, q=1, lam=0.5))
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
    assert list(est.RFE(2).fit(X, y).get_support(indices=True)) == [3, 5]


def test_rfe():
    X, y = samples()
    machine = est.RFE(2, halving=True, lam=1.0).fit(X, y)
    features = rfe_features(X, y, 2, halving=True, lam=1.0)
    assert (machine.get_support(indices=True) == features).all()
    assert (machine.coef_[0] == retrain(X, y, features, lam=1.0).w).all()


def test_svm_ranking():
    X, y = samples(80)
    machine = est.SVMRanking(lam=0.1, random_state=3).fit(X, y)
    X1, X2, y1, y2 = train_test_split(X, y, test_size=0.5, stratify=y, random_state=3)
    found = models.svm_ranking(X1, y1, X2, y2, lam=0.1)
    assert (machine.coef_[0] == found.rule.w).all()
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
    assert (sparse.get_support() == dense.get_support()).all()


@each(METHODS)
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
    search = GridSearchCV(est.AlignmentSVM(), {"lam": [0.1, 0.5], "C": [0.1, 10.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    kernels = GridSearchCV(est.R2W2(2), {"kernel": ["linear", Gaussian(2.0)]}, cv=2).fit(X, y)
    assert kernels.best_estimator_.get_support()[:2].all()


@each([est.FSV(), est.R2W2(), est.RadiusMarginBasis(), est.FSVCV()])
def test_binary_methods_say_what_to_do_with_more_classes(estimator):
    X, y = samples()
    y[:5] = "perhaps"
    with pytest.raises(DataError, match=rf"y has 3: wrap it, as in .*OneVsRestClassifier\({name_of(estimator)}\(\)\)"):
        estimator.fit(X, y)


def test_one_against_the_rest():
    X = np.random.default_rng(0).standard_normal((60, 4))
    y = np.argmax(X[:, :3], axis=1)
    assert OneVsRestClassifier(est.L1SVM(lam=0.01)).fit(X, y).score(X, y) > 0.85


def test_the_package_has_them_without_loading_them():
    assert "estimators" in dir(dcprog)
    assert dcprog.estimators is est
    assert "estimators" not in dcprog.__all__


# --- What goes wrong -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (est.FSV(lam=1.5), DataError, "lam is 1.5"),
        (est.FSV(alpha=0.0), DataError, "alpha is 0.0"),
        (est.FSV(penalty="expontial"), UnknownNameError, "did you mean 'exponential'"),
        (est.FSV(solver="higs"), UnknownNameError, "did you mean 'highs'"),
        (est.FSV(threshold=-1), DataError, "threshold is -1"),
        (est.L2L0SVM(mu=0.0), DataError, "mu is 0.0"),
        (est.L2L1SVM(weighting="men"), UnknownNameError, "did you mean 'mean'"),
        (est.QuadraticFSV(degree=0), DataError, "degree is 0"),
        (est.AlignmentSVM(C=0.0), ValueError, "C"),
        (est.AlignmentSVM(kernel="gausian"), UnknownNameError, "did you mean 'gaussian'"),
        (est.AlignmentSVM(kernel="chi2"), ValueError, "Negative values"),
        (est.AlignmentSVM(kernel=lambda x, z: ((x - z) ** 2)[..., :2]), DataError, "2 elementary distances for 5 features"),
        (est.AROM(norm=3), DataError, "norm is 3"),
        (est.AROM(r=6), DataError, "from 1 to 5"),
        (est.AROM(lam=None), NotSeparableError, r"lam=None allows no slacks: pass a number, as lam=1\.0$"),
        (est.AROM(r=2, lam=None), NotSeparableError, r"lam=None allows no slacks"),
        (est.RFE(r=0), DataError, "from 1 to 5"),
        (est.NLPSVM(nu=-1.0), DataError, "nu is -1.0"),
        (est.NLPSVM(algorithm="exat"), UnknownNameError, "did you mean 'exact'"),
        (est.NLPSVM(algorithm=["exact"]), UnknownNameError, "unknown algorithm"),
        (est.AROM(constraints=["x"]), UnknownNameError, "unknown kind of constraints"),
        (est.NLPSVM(tol=None), DataError, "tol is None"),
        (est.AROM(tol=-1), DataError, "tol is -1"),
        (est.AROM(tol=None), DataError, "tol is None"),
        (est.AROM(constraints="x"), UnknownNameError, "unknown kind of constraints 'x'"),
        (est.AlignmentSVM(bias="yes"), DataError, "bias is 'yes'"),
        (est.RFE(halving="a"), DataError, "halving is 'a'"),
        (est.R2W2(m=9), DataError, "from 1 to 5"),
        (est.R2W2(kernel="liner"), UnknownNameError, "did you mean 'linear'"),
        (est.RadiusMarginBasis(m=0), DataError, "from 1 to the 5"),
        (est.SVMRanking(lam=1.0), DataError, "lam"),
        (est.SVMRanking(validation_fraction=2.0), ValueError, "test_size"),
        (est.FSVCV(lam=[]), DataError, "non-empty list"),
        (est.FSVCV(lam=[0.1, 1.5], cv=2), DataError, "lam is 1.5"),
        (est.FSVCV(lam="small", cv=2), DataError, "lam is 'small'"),
        (est.FSVCV(scoring="acuracy"), ValueError, "acuracy"),
        (est.FSVCV(lam=0.1, cv=2, scoring=lambda machine, X, y: np.nan), DataError, "scoring gave NaN"),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else "",
)
def test_bad_parameters_are_named(estimator, error, message):
    with pytest.raises(error, match=message):
        estimator.fit(*samples())


LIMITED = [method for method in METHODS + CROSS_VALIDATED if hasattr(method, "max_iter")]


@each(LIMITED)
@pytest.mark.parametrize("max_iter", [-1, 1.5, "many", None])
def test_numbers_of_iterations_are_checked_before_any_run(estimator, max_iter):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=rf"max_iter is {max_iter!r}: pass an integer"):
            clone(estimator).set_params(max_iter=max_iter).fit(*samples())


@each([method for method in LIMITED if hasattr(method, "tol")])
@pytest.mark.parametrize("tol", [-1, "a", float("nan")])
def test_tolerances_are_checked_before_any_run(estimator, tol):
    with pytest.raises(DataError, match=f"tol is {tol!r}"):
        clone(estimator).set_params(tol=tol).fit(*samples())


@each([est.RFE(), est.RFE(1), est.R2W2(), est.R2W2(1), est.RadiusMarginBasis(), est.RadiusMarginBasis(1), est.AROM(1)])
def test_there_is_nothing_to_select_from_constant_features(estimator):
    with pytest.raises(DataError, match="all 3 features are constant"):
        estimator.fit(np.ones((6, 3)), [0, 1] * 3)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@each([est.RLP(), est.FSV(lam=0.0), est.L1SVM(lam=0.0), est.LinearSVM(), est.NLPSVM(), est.AROM(norm=1), est.SVMRanking()])
def test_constant_features_are_not_selected(estimator, convert):
    X, y = samples(60)
    padded = np.column_stack([np.full(len(X), 3.0), X, np.zeros(len(X)), np.full(len(X), -50.0)])
    machine = clone(estimator).fit(convert(padded), y)
    assert not machine.get_support()[[0, -2, -1]].any()
    assert not machine.coef_[0, [0, -2, -1]].any()


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_bias_takes_the_weight_of_constant_features(convert):
    X, y = samples()
    padded = convert(np.column_stack([X, np.full(len(X), -50.0)]))
    machine = est.RLP().fit(padded, y)
    result = replace(machine.result_, rule=replace(machine.rule_, w=np.append(machine.rule_.w[:-1], 2.0), b=7.0))
    rule = machine._read(result, padded, y).rule
    assert (rule.w[-1], rule.b) == (0, -93.0)
    assert rule.decision_function(padded) == pytest.approx(result.rule.decision_function(padded), abs=1e-9)


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
        machine.rule_ = replace(machine.rule_, w=w[order], b=-float(w @ x))
        on.append(machine.decision_function(x[order][None])[0])
        beside += list(machine.decision_function(np.stack([x[order]] * 3) * [[1], [1 + 1e-9], [1 - 1e-9]])[1:])
        assert (machine.predict(x[order][None]) == machine.classes_[0]).all()
    assert on == [0.0] * 10
    terms = np.abs(w) @ np.abs(x)
    assert all(value != 0 for value in beside) or abs(w @ x) <= 1e-3 * terms


def test_points_on_the_boundary_of_a_quadratic_classifier():
    X, y = samples(d=2)
    machine = est.QuadraticFSV().fit(X, y)
    machine.rule_ = replace(machine.rule_, w=np.array([0.1, 0.2, -0.3, 0.0, 0.0]), b=0.0)
    point = np.array([[-1.0, 2.0]])
    rounded = machine.rule_.feature_map.transform(point) @ machine.rule_.w
    assert 0 < abs(rounded[0]) < 1e-15
    assert machine.rule_.decision_function(point) == machine.decision_function(point) == 0
    assert machine.predict(point) == machine.classes_[0]


@needs_data
def test_paths_and_refits_classify_points_on_the_boundary_alike():
    X, y = load_real("liver")
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        walked = dcprog.path(models.fsv, X[train], y[train], lam=[0.05, 0.1, 0.2, 0.5])
        for point, result in zip(walked.parameters, walked, strict=True):
            machine = est.FSV(**point).fit(X[train], y[train])
            refitted = machine.predict(X[test])
            machine._accept(machine._read(result, X[train], y[train]))
            assert (machine.predict(X[test]) == refitted).all()


def test_one_class():
    with pytest.raises(DataError, match="one class only, 'a'"):
        est.FSV().fit([[1.0], [2.0]], ["a", "a"])


@each(
    [
        est.FSV(lam=0.01, max_iter=1),
        est.AROM(max_iter=1),
        est.NLPSVM(algorithm="printed", max_iter=1),
        est.RadiusMarginBasis(max_iter=1),
    ]
)
def test_limits_are_warnings(estimator):
    with pytest.warns(ConvergenceWarning, match=rf"{name_of(estimator)} has not converged \(iteration_limit\)"):
        estimator.fit(*samples())
    assert estimator.n_iter_ == 1


@pytest.mark.parametrize("status", [Status.SUBPROBLEM_FAILED, Status.UNBOUNDED, Status.INFEASIBLE, Status.NOT_CONVEX])
def test_failures_are_errors(status):
    with pytest.raises(NotSolvedError, match=rf"FSV was not trained \({status}\): why"):
        check_end("FSV", status, ["why"])


class Interrupted(Exponential):
    """A penalty during whose evaluation the user presses Ctrl-C."""

    def gradient(self, v):
        raise KeyboardInterrupt


@each([est.FSV(penalty=Interrupted(5.0)), est.FSVCV(penalty=Interrupted(5.0))])
def test_ctrl_c_ends_training(estimator):
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*samples())

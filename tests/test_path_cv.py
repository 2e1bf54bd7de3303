"""Weights chosen by cross-validation: paths choose what refits would choose, and the largest where scores are equal."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from estimator_cases import Interrupted, name_of, samples
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, StratifiedShuffleSplit
from sklearn.svm import SVC

import dcprog
from dcprog import DCA, models
from dcprog import estimators as est
from dcprog.algorithms.result import Status
from dcprog.algorithms.stopping import Step
from dcprog.errors import DataError
from dcprog.estimators.tuning import Validation, accuracy
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.methods.svm_ranking import svm_ranking


@pytest.mark.parametrize(
    ("chosen", "plain", "grid"),
    [
        (est.LinearSVMCV(cv=3), est.LinearSVM(), {"lam": [1 / (1 + np.exp(k)) for k in range(-5, 6)]}),
        (est.L1SVMCV(cv=3), est.L1SVM(), {"lam": [0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95]}),
        (est.FSVCV(lam=[0.05, 0.1, 0.3], cv=3), est.FSV(), {"lam": [0.05, 0.1, 0.3], "alpha": [0.5, 5.0]}),
        (est.L2L1SVMCV(mu=[1, 10, 100], nu=[0.1, 1], cv=2), est.L2L1SVM(), {"nu": [0.1, 1], "mu": [1, 10, 100]}),
        (est.L2L0SVMCV(mu=[1, 10, 100], nu=[0.1, 1], cv=2), est.L2L0SVM(), {"nu": [0.1, 1], "mu": [1, 10, 100]}),
        (est.QuadraticFSVCV(lam=[0.05, 0.2], cv=2), est.QuadraticFSV(), {"lam": [0.05, 0.2]}),
        (est.AlignmentSVMCV(lam_svm=0.25, cv=2), est.AlignmentSVM(lam_svm=0.25), {"lam": np.arange(10) / 10}),
    ],
    ids=lambda value: name_of(value) if hasattr(value, "fit") else "",
)
def test_paths_choose_what_refits_choose(chosen, plain, grid):
    X, y = samples(60, seed=1)
    found = clone(chosen).fit(X, y)
    refits = GridSearchCV(plain, {name: list(values) for name, values in grid.items()}, cv=chosen.cv).fit(X, y)

    def scores(table):
        points = [tuple(round(float(point[name]), 9) for name in grid) for point in table["params"]]
        return dict(zip(points, np.round(table["mean_test_score"], 9), strict=True))

    expected = scores(refits.cv_results_)
    assert scores(found.cv_results_) == expected
    best = max(expected, key=lambda point: (expected[point], point))  # of equal scores the larger (ν, µ), λ
    assert tuple(found.best_params_[name] for name in grid) == pytest.approx(best)
    assert found.best_score_ == pytest.approx(expected[best])
    assert found.cv_results_["rank_test_score"][found.best_index_] == 1
    once = clone(plain).set_params(**found.best_params_).fit(X, y)
    assert (found.decision_function(X) == once.decision_function(X)).all()
    assert (found.get_support() == once.get_support()).all()


def test_the_model_is_built_once_along_a_path():
    X, y = samples()
    assert dcprog.path(models.l2_l0_svm, X, y, mu=[1.0, 10.0], nu=[0.1, 1.0], tol=1e-4).builds == 1


def test_lam_of_the_alignment_svm_is_chosen_with_all_features():
    X, y = samples(60, seed=2)
    folds = StratifiedKFold(3)
    found = est.AlignmentSVMCV(cv=folds).fit(X, y)
    errors = {}
    for k in range(-5, 6):
        wrong = [
            np.mean(kernel_svm(X[train], y[train], C=np.exp(k)).predict(X[test]) != y[test])
            for train, test in folds.split(X, y)
        ]
        errors[k] = round(float(np.mean(wrong)), 9)
    assert np.log(1 / found.best_params_["lam_svm"] - 1) == pytest.approx(min(errors, key=lambda k: (errors[k], k)))
    assert set(found.best_params_) == {"lam", "lam_svm"}


def test_jobs_splitters_and_scorers():
    X, y = samples(60)
    paper = StratifiedShuffleSplit(2, test_size=0.5, random_state=0)
    one = est.FSVCV(alpha=5.0, cv=paper, scoring="balanced_accuracy").fit(X, y)
    two = est.FSVCV(alpha=5.0, cv=paper, scoring="balanced_accuracy", n_jobs=2).fit(X, y)
    assert (one.cv_results_["mean_test_score"] == two.cv_results_["mean_test_score"]).all()
    assert (one.coef_ == two.coef_).all()
    table = pd.DataFrame(one.cv_results_)
    assert {"param_lam", "split1_test_score", "std_test_score", "mean_n_features"} <= set(table.columns)
    assert (np.diff(table["mean_n_features"]) <= 0).mean() > 0.8
    assert one.selected_shares_.shape == (len(table), X.shape[1])
    assert one.selected_shares_.sum(axis=1) == pytest.approx(table["mean_n_features"])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=3, max_size=12), st.randoms(use_true_random=False))
def test_of_equal_scores_the_largest_parameter_wins(scores, random):
    sizes = list(range(len(scores)))
    random.shuffle(sizes)
    points = np.array([[{"lam": size} for size in sizes]] * 2)
    table = np.array([scores, scores]) / 10
    table[0], table[1] = table[0] + 0.1, table[1] - 0.1  # equal up to rounding
    found = Validation(points, table, np.zeros((*table.shape, 1)), np.zeros_like(table), np.zeros_like(table))
    best = found.best(lambda point: point["lam"])
    assert scores[best] == max(scores)
    assert sizes[best] == max(size for size, score in zip(sizes, scores, strict=True) if score == max(scores))


def test_a_class_of_ones_own():
    class Mine(est.FSVCV):
        """No other weights than FSVCV's."""

    assert Mine(lam=[0.1, 0.2], cv=2).fit(*samples()).best_params_["lam"] in (0.1, 0.2)


def test_signatures_are_those_of_the_method_and_of_cross_validation():
    plain, chosen = inspect.signature(est.FSV), inspect.signature(est.FSVCV)
    assert [*plain.parameters, "cv", "scoring"] == list(chosen.parameters)
    with pytest.raises(TypeError, match="lamda"):
        est.FSVCV(lamda=[0.1])


def test_limits_in_cross_validation_are_one_warning():
    with pytest.warns(ConvergenceWarning) as caught:
        est.FSVCV(lam=[0.01, 0.02], alpha=5.0, cv=2, max_iter=0).fit(*samples())
    assert [str(w.message).split(":")[0] for w in caught] == [
        "4 of 4 runs in cross-validation have not converged",
        "FSV has not converged (iteration_limit)",
    ]


@pytest.mark.parametrize(("limit", "message"), [({"max_iter": -1}, "max_iter is -1"), ({"tol": "a"}, "tol is 'a'")])
def test_limits_of_a_path_are_checked(limit, message):
    with pytest.raises(DataError, match=message):
        dcprog.path(models.fsv, *samples(), lam=[0.1, 0.2], **limit)


def test_ctrl_c_ends_a_path():
    walked = dcprog.path(models.fsv, *samples(), lam=[0.1, 0.2, 0.3], penalty=Interrupted(5.0))
    assert [result.status for result in walked] == [Status.INTERRUPTED]
    assert len(walked.parameters) == 1


# --- What the published tables need ----------------------------------------------------------------------------------------


def test_the_papers_rule_ends_runs_whether_the_certificate_holds_or_not():
    X, y = samples(60)
    stop = DCA.default_rule
    for machine, factory in (
        (est.FSV(0.05, stop=stop), models.fsv),
        (est.QuadraticFSV(0.05, stop=stop), models.quadratic_fsv),
    ):
        result = dcprog.path(factory, X, y, lam=[0.05], stop=stop)[0]
        found = machine.fit(X, y).result_
        assert (found.iterations, found.status, found.objective) == (result.iterations, result.status, result.objective)


def test_a_run_that_the_rule_ends_is_no_warning():
    X, y = samples(60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = est.FSV(0.05, stop=Step(1e9, None)).fit(X, y)
    assert found.result_.status in (Status.STOPPED_BY_RULE, Status.CONVERGED)
    assert found.result_.iterations == 1


def test_libsvm_trains_the_linear_svm():
    X, y = samples(60)
    machine, theirs = est.LinearSVM(0.2, solver="libsvm").fit(X, y), SVC(kernel="linear", C=4.0).fit(X, y)
    assert machine.coef_ == pytest.approx(theirs.coef_)
    assert machine.n_support_ == theirs.n_support_.sum()
    assert (machine.predict(X) == theirs.predict(X)).all()
    assert machine.n_iter_ == 0
    exact = est.LinearSVM(0.2).fit(X, y)
    assert machine.coef_ == pytest.approx(exact.coef_, abs=0.02)
    assert not hasattr(exact, "n_support_")


def test_libsvm_that_meets_its_limit_is_a_warning(monkeypatch):
    monkeypatch.setattr("dcprog.estimators.linear.LONGEST", 3)
    X, y = samples(60)
    with pytest.warns(ConvergenceWarning, match="LinearSVM has not converged"):
        est.LinearSVM(solver="libsvm").fit(X, y)
    with pytest.warns(ConvergenceWarning, match="4 of 4 runs in cross-validation"):
        est.LinearSVMCV([0.1, 0.2], solver="libsvm", cv=2).fit(X, y)


def test_the_kernel_svm_is_the_method_of_that_name():
    X, y = samples(60)
    machine, rule = est.KernelSVM(0.2).fit(X, y), kernel_svm(X, y, C=4.0)
    assert (machine.decision_function(X) == rule.decision_function(X)).all()
    assert machine.n_support_ == rule.n_support
    found = est.KernelSVMCV([0.2, 0.5], cv=2).fit(X, y)
    assert found.cv_results_["mean_n_features"].tolist() == [5.0, 5.0]


def test_svm_ranking_takes_the_lam_of_the_linear_svm_and_the_first_fold():
    X, y = samples(80)
    fold = (np.arange(40), np.arange(40, 80))
    found = est.SVMRankingCV([0.01, 0.5], cv=[fold]).fit(X, y)
    svms = est.LinearSVMCV([0.01, 0.5], solver="libsvm", cv=[fold]).fit(X, y)
    assert found.best_params_ == svms.best_params_
    assert (found.cv_results_["mean_test_score"] == svms.cv_results_["mean_test_score"]).all()
    ranking = svm_ranking(X[:40], y[:40], X[40:], y[40:], lam=found.best_params_["lam"])
    assert (found.coef_[0] == ranking.classifier.w).all()
    assert (found.get_support(indices=True) == ranking.selected).all()


def test_one_fold_is_a_validation_set_and_the_table_says_what_each_run_took():
    X, y = samples(60)
    found = est.FSVCV([0.05, 0.3], 5.0, cv=[(np.arange(30), np.arange(30, 60))]).fit(X, y)
    runs = [est.FSV(lam).fit(X[:30], y[:30]) for lam in (0.05, 0.3)]
    assert found.cv_results_["mean_n_iter"].tolist() == [run.n_iter_ for run in runs]
    assert found.cv_results_["mean_n_features"].tolist() == [run.get_support().sum() for run in runs]
    assert found.cv_results_["n_unconverged"].tolist() == [0, 0]
    assert found.refit_time_ >= 0.0


def test_samples_are_checked_once(monkeypatch):
    """By scikit-learn: the factory, and every point of a path, take them as they are."""
    seen = []
    monkeypatch.setattr("dcprog.learning.samples.check_matrix", lambda X: seen.append(X))
    X, y = samples(60)
    est.FSV(0.1).fit(X, y)
    est.NLPSVM().fit(X, y)
    est.KernelSVM().fit(X, y)
    assert seen == []


def test_over_several_folds_svm_ranking_keeps_the_number_that_is_best_on_average():
    """Computed here anew by scikit-learn's SVC: a ranking and SVMs on 1, 2, 4, … features in every fold."""
    X, y = samples(60, seed=4)
    folds = list(StratifiedKFold(3).split(X, y))
    found = est.SVMRankingCV(lam=0.5, cv=folds).fit(X, y)
    signs, numbers = np.where(y == "yes", 1.0, -1.0), [1, 2, 4, 5]
    wrong = np.zeros(len(numbers))
    for train, test in folds:
        order = np.argsort(-np.abs(SVC(kernel="linear", C=1.0).fit(X[train], signs[train]).coef_[0]))
        for i, k in enumerate(numbers):
            svm = SVC(kernel="linear", C=1.0).fit(X[np.ix_(train, order[:k])], signs[train])
            wrong[i] += (svm.predict(X[np.ix_(test, order[:k])]) != signs[test]).sum()
    np.testing.assert_allclose(found.outcome_.errors * len(y), wrong)
    best = numbers[int(np.argmin(wrong))]
    everything = np.abs(SVC(kernel="linear", C=1.0).fit(X, signs).coef_[0])
    assert set(found.get_support(indices=True)) == set(np.argsort(-everything)[:best])


def test_accuracy_is_the_score_of_scikit_learn():
    X, y = samples(60)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    machine = est.L1SVM().fit(X, y)
    assert accuracy(machine, X, y) == pytest.approx(machine.score(X, y), abs=1e-15)
    assert accuracy(machine, X, y, weights) == pytest.approx(machine.score(X, y, weights), abs=1e-15)

"""Estimators refuse bad parameters and data in words that help, ignore constant features, and say when a run fails."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from estimator_cases import CROSS_VALIDATED, METHODS, Interrupted, each, name_of, samples
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning

from dcprog import estimators as est
from dcprog.algorithms.result import Status
from dcprog.errors import DataError, NotSolvedError, UnknownNameError
from dcprog.estimators.base import check_end
from dcprog.estimators.training import Training
from dcprog.methods.zero_norm import NotSeparableError


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
        (est.AlignmentSVM(lam_svm=0.0), DataError, "lam_svm is 0.0"),
        (est.KernelSVM(lam=1.0), DataError, "lam is 1.0"),
        (est.LinearSVM(weighting="mean", solver="libsvm"), DataError, "libsvm sums the errors"),
        (est.AlignmentSVM(kernel="gausian"), UnknownNameError, "did you mean 'gaussian'"),
        (est.AlignmentSVM(kernel="chi2"), ValueError, "Negative values"),
        (est.AlignmentSVM(kernel=lambda x, z: ((x - z) ** 2)[..., :2]), DataError, "2 elementary distances for 5 features"),
        (est.AROM(norm=3), DataError, "norm is 3"),
        (est.AROM(r=6), DataError, "from 1 to 5"),
        (est.AROM(lam=None), NotSeparableError, r"lam=None allows no slacks: pass a number, as lam=1\.0$"),
        (est.AROM(r=2, lam=None), NotSeparableError, r"lam=None allows no slacks"),
        (est.SVMRFE(r=0), DataError, "from 1 to 5"),
        (est.NLPSVM(nu=-1.0), DataError, "nu is -1.0"),
        (est.NLPSVM(algorithm="exat"), UnknownNameError, "did you mean 'exact'"),
        (est.NLPSVM(algorithm=["exact"]), UnknownNameError, "unknown algorithm"),
        (est.AROM(constraints=["x"]), UnknownNameError, "unknown kind of constraints"),
        (est.NLPSVM(tol=None), DataError, "tol is None"),
        (est.AROM(tol=-1), DataError, "tol is -1"),
        (est.AROM(tol=None), DataError, "tol is None"),
        (est.AROM(constraints="x"), UnknownNameError, "unknown kind of constraints 'x'"),
        (est.AlignmentSVM(bias="yes"), DataError, "bias is 'yes'"),
        (est.SVMRFE(halving="a"), DataError, "halving is 'a'"),
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


@each([est.SVMRFE(), est.SVMRFE(1), est.R2W2(), est.R2W2(1), est.RadiusMarginBasis(), est.RadiusMarginBasis(1), est.AROM(1)])
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
    result = replace(
        machine.result_, classifier=replace(machine.classifier_, w=np.append(machine.classifier_.w[:-1], 2.0), b=7.0)
    )
    rule = machine._read(result, Training(padded, y)).classifier
    assert (rule.w[-1], rule.b) == (0, -93.0)
    assert rule.decision_function(padded) == pytest.approx(result.classifier.decision_function(padded), abs=1e-9)


def test_one_class():
    with pytest.raises(DataError, match="one class only, 'a'"):
        est.FSV().fit([[1.0], [2.0]], ["a", "a"])


@each([est.RLP(), est.R2W2(), est.RadiusMarginBasis(), est.LinearSVMCV()])
def test_binary_methods_say_what_to_do_with_more_classes(estimator):
    X, y = samples()
    y[:5] = "perhaps"
    with pytest.raises(DataError, match=rf"y has 3: wrap it, as in .*OneVsRestClassifier\({name_of(estimator)}\(\)\)"):
        estimator.fit(X, y)


@each(
    [
        est.QuadraticFSV(lam=0.01, max_iter=1),
        est.AROM(max_iter=1),
        est.NLPSVM(algorithm="printed", max_iter=1),
        est.RadiusMarginBasis(max_iter=1),
    ]
)
def test_limits_are_warnings(estimator):
    with pytest.warns(ConvergenceWarning, match=rf"{name_of(estimator)} has not converged \(iteration_limit\)"):
        estimator.fit(*samples())
    assert estimator.n_iter_ == 1


def test_nlpsvm_that_has_not_converged_says_what_to_do():
    X, y = samples()
    with pytest.warns(ConvergenceWarning, match=r"NLPSVM has not converged .* tune delta .* algorithm='exact'"):
        est.NLPSVM(algorithm="printed", max_iter=1).fit(X, y)
    assert est.NLPSVM(max_iter=1).fit(X, y).outcome_.converged
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        raw = est.NLPSVM(1e6).fit(*load_breast_cancer(return_X_y=True))
    assert ["standardise the features" in str(w.message) for w in caught] == [True] * (not raw.outcome_.converged)


@pytest.mark.parametrize("status", [Status.SUBPROBLEM_FAILED, Status.UNBOUNDED, Status.INFEASIBLE, Status.NOT_CONVEX])
def test_failures_are_errors(status):
    with pytest.raises(NotSolvedError, match=rf"FSV was not trained \({status}\): why"):
        check_end("FSV", status, ["why"])


@each([est.FSV(penalty=Interrupted(5.0)), est.FSVCV(penalty=Interrupted(5.0))])
def test_ctrl_c_ends_training(estimator):
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(*samples())

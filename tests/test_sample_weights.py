"""A sample of weight s counts as s equal ones: in every formulation, in every classifier, and for weights of classes."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from estimator_cases import CROSS_VALIDATED, METHODS, each, samples
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dcprog
from dcprog import estimators as est
from dcprog import models
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators.training import class_weights
from dcprog.learning.kernel_sums import BlockSum, GaussianSum
from dcprog.learning.kernels import ChiSquare, Gaussian
from dcprog.learning.samples import trusted, trusted_samples
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.methods.nlpsvm import lp_svm, nlpsvm
from dcprog.methods.radius_margin import optimal_basis, r2w2
from dcprog.methods.svm_ranking import svm_ranking
from dcprog.methods.zero_norm import multiclass_updates, retrain, rfe_features
from dcprog.methods.zero_norm.multiplicative import l1_updates, l2_updates

ALL = METHODS + CROSS_VALIDATED
TIMES = np.random.default_rng(5).integers(1, 4, 40)


def both_ways(classes=2):
    """The same samples, weighed and repeated, as checked samples: no merging of equal ones is between them and a method."""
    X, y = samples()
    if classes == 3:
        y = np.where(X[:, 2] > 0.5, "maybe", y)
    make = trusted if classes == 2 else trusted_samples
    return make(X, y, TIMES.astype(float)), make(np.repeat(X, TIMES, axis=0), np.repeat(y, TIMES))


# --- In the methods --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factory", "parameters"),
    [
        (models.rlp, {}),
        (models.rlp, {"weighting": "sum"}),
        (models.rlp, {"weighting": "class"}),
        (models.svm, {"weighting": "sum"}),
        (models.svm_dual, {"weighting": "class"}),
        (models.l1_svm, {"lam": 0.03}),
        (models.fsv, {"lam": 0.03}),
        (models.l2_l1_svm, {"mu": 20.0, "nu": 0.5}),
        (models.l2_l1_svm_dual, {"mu": 20.0, "nu": 0.5}),
        (models.l2_l0_svm, {"mu": 20.0, "nu": 0.2}),
        (models.quadratic_fsv, {"lam": 0.05}),
        (models.alignment, {"lam": 0.2}),
        (models.alignment, {"lam": 0.2, "kernel": lambda x, z: np.abs(x - z)}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_formulations_have_the_optimum_of_repeated_samples(factory, parameters):
    weighed, repeated = (dcprog.solve(factory(data, None, **parameters)) for data in both_ways())
    assert weighed.success
    assert weighed.objective == pytest.approx(repeated.objective, abs=1e-7)
    X = samples()[0]
    if factory is not models.alignment and factory is not models.rlp:  # solutions of (1) need not be unique
        assert weighed.classifier.decision_function(X) == pytest.approx(repeated.classifier.decision_function(X), abs=1e-3)


@pytest.mark.parametrize("steps", [l1_updates, l2_updates])
@pytest.mark.parametrize(("p", "q"), [(0, 1), (0, 2), (2, 0), (0, 0)])
def test_updates_are_those_of_repeated_samples(steps, p, q):
    weighed, repeated = (steps(data, None, p=p, q=q, lam=0.7) for data in both_ways())
    for _, one, other in zip(range(2 if q == 0 else 4), weighed, repeated, strict=False):
        assert one.w == pytest.approx(other.w, abs=1e-4 * np.abs(other.w).max())
        assert np.repeat(one.xi, TIMES) == pytest.approx(other.xi, abs=1e-4)


@pytest.mark.parametrize("constraints", ["weston_watkins", "one_vs_rest"])
@pytest.mark.parametrize("norm", [1, 2])
def test_updates_of_several_classes(constraints, norm):
    how = {"constraints": constraints, "norm": norm, "lam": 0.7}
    one, other = (next(multiclass_updates(data, None, **how)) for data in both_ways(3))
    assert one.w == pytest.approx(other.w, abs=1e-5)


@pytest.mark.parametrize("lam", [0.3, np.inf])
@pytest.mark.parametrize("p", [1, 2])
def test_machines_of_the_selected_features(lam, p):
    weighed, repeated = both_ways()
    one, other = (retrain(data, None, [0, 2], p=p, lam=lam) for data in (weighed, repeated))
    assert one.w == pytest.approx(other.w, abs=1e-5)
    if lam == 0.3:
        assert (rfe_features(weighed, None, 2, lam=lam) == rfe_features(repeated, None, 2, lam=lam)).all()


@pytest.mark.parametrize("method", [lp_svm, nlpsvm])
def test_newton_steps_are_those_of_repeated_samples(method):
    one, other = (method(data, None, 0.4) for data in both_ways())
    assert one.w == pytest.approx(other.w, abs=1e-6)
    assert np.repeat(one.slacks, TIMES) == pytest.approx(other.slacks, abs=1e-6)
    assert np.repeat(one.u, TIMES) == pytest.approx(other.u, abs=1e-6)
    if method is nlpsvm:  # the same steps; the other starts at an ε that sees the size of the rows
        assert one.steps == other.steps


@pytest.mark.parametrize("bias", [True, False])
def test_kernel_svms(bias):
    X = samples()[0]
    one, other = (kernel_svm(data, None, C=0.8, bias=bias) for data in both_ways())
    assert one.decision_function(X) == pytest.approx(other.decision_function(X), abs=1e-4)


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
def test_the_radius_margin_bound(kernel):
    X = samples()[0]
    one, other = (r2w2(data, None, 2, kernel, ridge=0.5) for data in both_ways())
    assert (one.selected == other.selected).all()
    assert one.machine.bound.value == pytest.approx(other.machine.bound.value, rel=1e-6)
    assert one.decision_function(X) == pytest.approx(other.decision_function(X), abs=1e-5)
    first, second = (optimal_basis(data, None, 2, kernel, ridge=0.5, max_iter=3) for data in both_ways())
    assert first.mean == pytest.approx(second.mean)
    assert first.history == pytest.approx(second.history, rel=1e-5)


def test_rankings_are_validated_by_weight():
    one, other = (svm_ranking(data, None, data, None, lam=0.1) for data in both_ways())
    assert one.errors == pytest.approx(other.errors)
    assert (one.selected == other.selected).all()


@pytest.mark.parametrize("kind", [GaussianSum, BlockSum])
@pytest.mark.parametrize("one_set", [True, False])
def test_kernel_sums_count_points(kind, one_set):
    rng = np.random.default_rng(0)
    X, Z, theta, v = rng.uniform(0, 2, (7, 3)), rng.uniform(0, 2, (5, 3)), rng.uniform(size=3), rng.standard_normal(3)
    s, t = rng.integers(1, 4, 7), rng.integers(1, 4, 5)
    distances = Gaussian(1.3) if kind is GaussianSum else ChiSquare(1.0)
    if one_set:
        f, g = kind(distances, X, counts=(s * 1.0, s * 1.0)), kind(distances, np.repeat(X, s, axis=0))
    else:
        f = kind(distances, X, Z, counts=(s * 1.0, t * 1.0))
        g = kind(distances, np.repeat(X, s, axis=0), np.repeat(Z, t, axis=0))
    assert f.value(theta) == pytest.approx(g.value(theta))
    assert f.gradient(theta) == pytest.approx(g.gradient(theta))
    assert f.hessian(theta) == pytest.approx(g.hessian(theta))
    assert f.hessian_product(theta, v) == pytest.approx(g.hessian_product(theta, v))
    assert f.expand(theta, np.exp, np.log) == pytest.approx(f.value(theta))


# --- In the estimators -----------------------------------------------------------------------------------------------------


@each(METHODS)
def test_weights_order_and_repetition_are_one_problem(estimator):
    X, y = samples()
    times, order = np.random.default_rng(1).integers(0, 4, len(y)), np.random.default_rng(2).permutation(len(y))
    repeated = clone(estimator).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighed = clone(estimator).fit(X[order], y[order], sample_weight=times[order])
    assert (weighed.decision_function(X) == repeated.decision_function(X)).all()
    origin = weighed.sample_origin_
    assert ((origin < 0) == (times[order] == 0)).all()
    assert origin.max() + 1 == (times > 0).sum()


@each(ALL)
def test_weights_of_one_change_nothing(estimator):
    X, y = samples()
    plain, weighed = clone(estimator).fit(X, y), clone(estimator).fit(X, y, sample_weight=np.ones(len(y)))
    assert (plain.decision_function(X) == weighed.decision_function(X)).all()
    assert plain.sample_origin_ is None


@each(
    [
        est.L1SVM(lam=0.05),
        est.LinearSVM(),
        est.AROM(norm=1),
        est.NLPSVM(),
        est.KernelSVM(),
        est.SVMRFE(2, lam=1.0),
    ]
)
def test_weights_of_classes_are_weights_of_their_samples(estimator):
    X, y = samples()
    by_class = clone(estimator).set_params(class_weight={"yes": 3.0}).fit(X, y)
    by_sample = clone(estimator).fit(X, y, sample_weight=np.where(y == "yes", 3.0, 1.0))
    assert (by_class.decision_function(X) == by_sample.decision_function(X)).all()
    balanced = clone(estimator).set_params(class_weight="balanced").fit(X, y)
    counts = {label: len(y) / (2 * (y == label).sum()) for label in ("no", "yes")}
    assert (
        balanced.decision_function(X) == clone(estimator).set_params(class_weight=counts).fit(X, y).decision_function(X)
    ).all()


def test_balanced_classes_weigh_the_same_whatever_their_samples_weigh():
    y, s = np.array([0, 0, 1, 1, 1, 2]), np.array([1.0, 2.0, 0.5, 0.0, 1.0, 7.0])
    total = np.bincount(y, weights=s * class_weights("balanced", y, s))
    assert total == pytest.approx(np.full(3, s.sum() / 3))


def test_a_constant_weight_changes_means_not_at_all_and_sums_by_a_factor():
    X, y = samples()
    mean, sums = est.L1SVM(lam=0.05), est.LinearSVM(lam=0.5)
    assert mean.fit(X, y, sample_weight=7.0).coef_ == pytest.approx(clone(mean).fit(X, y).coef_, abs=1e-9)
    thrice = sums.fit(X, y, sample_weight=3.0).coef_  # C = (1−λ)/λ = 1 becomes 3
    assert thrice == pytest.approx(est.LinearSVM(lam=0.25).fit(X, y).coef_, abs=1e-6)


def test_scores_in_cross_validation_count_weights():
    X, y = samples(60, seed=3)
    s = np.random.default_rng(0).integers(1, 5, 60)
    folds = [(np.arange(30), np.arange(30, 60))]
    found = est.L1SVMCV([0.05, 0.3], cv=folds).fit(X, y, sample_weight=s)
    for i, lam in enumerate((0.05, 0.3)):
        machine = est.L1SVM(lam).fit(X[:30], y[:30], sample_weight=s[:30])
        assert found.cv_results_["mean_test_score"][i] == machine.score(X[30:], y[30:], s[30:])
    plain = est.L1SVMCV([0.05, 0.3], cv=folds, scoring=lambda machine, X, y: machine.score(X, y)).fit(X, y, sample_weight=s)
    assert plain.cv_results_["mean_test_score"][0] == est.L1SVM(0.05).fit(X[:30], y[:30], s[:30]).score(X[30:], y[30:])


def test_groups_stay_together():
    X, y = samples(60)
    groups = np.repeat(np.arange(6), 10)
    found = est.L1SVMCV([0.05, 0.3], cv=GroupKFold(3)).fit(X, y, groups=groups)
    folds = list(GroupKFold(3).split(X, y, groups))
    assert found.best_score_ == est.L1SVMCV([0.05, 0.3], cv=folds).fit(X, y).best_score_


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 39, r"shape \(39,\) for 40 samples"),
        (np.ones((40, 1)), r"shape \(40, 1\)"),
        ([-1.0] * 40, "the entry -1.0"),
        ([np.nan] * 40, "the entry nan"),
        (np.zeros(40), "zero for all samples"),
        (["a"] * 40, "not numeric"),
    ],
)
def test_bad_weights_are_named(weights, message):
    with pytest.raises(DataError, match=message):
        est.FSV().fit(*samples(), sample_weight=weights)


@pytest.mark.parametrize(
    ("class_weight", "error", "message"),
    [
        ("balansed", UnknownNameError, "did you mean 'balanced'"),
        ({"yes": -1.0}, DataError, "class_weight of 'yes' is -1.0"),
        ({"yes": "many"}, DataError, "class_weight of 'yes' is 'many'"),
        ({"perhaps": 1.0}, DataError, "has the label 'perhaps', and the classes are 'no', 'yes'"),
        (3, DataError, "class_weight is 3"),
        ({"yes": 0.0}, DataError, "one class only, 'no'"),
    ],
)
def test_bad_weights_of_classes_are_named(class_weight, error, message):
    with pytest.raises(error, match=message):
        est.FSV(class_weight=class_weight).fit(*samples())


def test_pipelines_and_searches_route_weights():
    X, y = samples(60)
    s = np.random.default_rng(0).uniform(0.5, 2, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        machine = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            est.L1SVM(0.05).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        ).fit(X, y, sample_weight=s)
        cross_validate(machine, X, y, params={"sample_weight": s}, cv=2)
    direct = est.L1SVM(0.05).fit(StandardScaler().fit_transform(X), y, sample_weight=s)
    assert (machine[-1].coef_ == direct.coef_).all()

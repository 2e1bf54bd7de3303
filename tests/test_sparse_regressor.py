"""Sparse regression as an estimator: its objective, optimality conditions, λ_max, weights, groups and cross-validation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import dcprog
from dcprog import functions as fn
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators import SparseRegressor, SparseRegressorCV
from dcprog.estimators.training import Training
from dcprog.functions.groups import GroupRemainder, Partition
from dcprog.functions.weighted import WeightedLoss
from dcprog.models import sparse_regression
from dcprog.models.sparse_regression import penalty_of_slope

LOSSES = ("squared", "huber", "logistic", "squared_hinge")
BY_NAME = ("l1", "mcp", "scad", "capped_l1", "exponential", "log")


def data(loss="squared", n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = 1.0 + 3 * X[:, 1] - 2 * X[:, 4] + 0.5 * rng.standard_normal(n)
    return X, y if loss in ("squared", "huber") else np.where(y + 2 * rng.standard_normal(n) > 0.5, "yes", "no")


def mean_loss(loss, X, y, w, b, delta=1.0, s=None):
    """From the formulas, in a few lines of their own."""
    s = np.ones(len(y)) if s is None else s
    score = X @ w + b
    if loss in ("squared", "huber"):
        r = np.abs(y - score)
        each = r**2 / 2 if loss == "squared" else np.where(r <= delta, r**2 / 2, delta * (r - delta / 2))
    else:
        margin = np.where(y == "yes", 1, -1) * score
        each = np.logaddexp(0, -margin) if loss == "logistic" else np.maximum(1 - margin, 0) ** 2
    return s @ each / s.sum()


def rho(penalty, v, lam, gamma=3.0, a=3.7, alpha=5.0, eps=0.1):
    """ρ(v) of each penalty from its formula."""
    if penalty == "mcp":
        return np.where(v <= gamma * lam, lam * v - v**2 / (2 * gamma), gamma * lam**2 / 2)
    if penalty == "scad":
        middle = (2 * a * lam * v - v**2 - lam**2) / (2 * (a - 1))
        return np.where(v <= lam, lam * v, np.where(v <= a * lam, middle, lam**2 * (a + 1) / 2))
    formulas = {
        "l1": lam * v,
        "capped_l1": lam * np.minimum(v, gamma * lam / 2),
        "exponential": lam * (1 - np.exp(-alpha * v)) / alpha,
        "log": lam * eps * np.log(1 + v / eps),
    }
    return formulas[penalty]


@parametrize_with_checks([SparseRegressor(), SparseRegressorCV(n_lam=2, cv=2), SparseRegressor(loss="logistic")])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", BY_NAME)
@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(4), 3)], ids=["", "groups"])
def test_the_objective_and_its_first_order_conditions(loss, penalty, groups):
    """At w_G = 0 the slope of the loss is at most λ√|G|; elsewhere it and that of the penalty cancel."""
    X, y = data(loss)
    if groups is not None and loss == "logistic" and penalty not in ("l1", "scad"):
        pytest.skip("takes seconds")
    machine = SparseRegressor(0.05, loss=loss, penalty=penalty, groups=groups).fit(X, y)
    w, b = machine.coef_, machine.intercept_
    codes = np.arange(len(w)) if groups is None else groups
    sizes, lengths = np.bincount(codes), np.sqrt(np.bincount(codes, weights=w**2))
    value = mean_loss(loss, X, y, w, b) + np.sqrt(sizes) @ rho(penalty, lengths, 0.05)
    assert machine.result_.objective == pytest.approx(value, abs=1e-8)
    step = 1e-6
    both = lambda e, c: (mean_loss(loss, X, y, w + e, b + c) - mean_loss(loss, X, y, w - e, b - c)) / (2 * step)
    slope = np.array([both(step * e, 0.0) for e in np.eye(len(w))])
    assert both(0.0, step) == pytest.approx(0, abs=1e-4)
    for G in range(len(sizes)):
        inside = codes == G
        if lengths[G] == 0:
            assert np.linalg.norm(slope[inside]) <= 0.05 * np.sqrt(sizes[G]) + 1e-4
        else:
            turn = (rho(penalty, lengths[G] + step, 0.05) - rho(penalty, lengths[G] - step, 0.05)) / (2 * step)
            assert slope[inside] == pytest.approx(-np.sqrt(sizes[G]) * turn * w[inside] / lengths[G], abs=2e-3)


def test_l1_is_the_lasso_and_logistic_regression():
    X, y = data()
    ours, theirs = SparseRegressor(0.2, penalty="l1").fit(X, y), Lasso(0.2, tol=1e-10).fit(X, y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    X, y = data("logistic")
    ours = SparseRegressor(0.05, loss="logistic", penalty="l1", fit_intercept=False).fit(X, y)
    C = 1 / (0.05 * len(y))
    theirs = LogisticRegression(C=C, l1_ratio=1.0, solver="liblinear", fit_intercept=False, tol=1e-8, max_iter=10_000).fit(
        X, y
    )
    assert ours.coef_ == pytest.approx(theirs.coef_[0], abs=1e-4)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-4)
    assert ours.score(X, y) == np.mean(ours.predict(X) == y) > 0.8


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["mcp", "log"])
@pytest.mark.parametrize("how", [{}, {"fit_intercept": False}, {"groups": np.repeat(np.arange(6), 2)}], ids=str)
def test_no_feature_from_lam_max_on(loss, penalty, how):
    X, y = data(loss)
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    lam_max = SparseRegressor(loss=loss, penalty=penalty, **how).fit(X, y, sample_weight=s).lam_max_
    above, below = (SparseRegressor(part * lam_max, loss=loss, penalty=penalty, **how) for part in (1.001, 0.98))
    assert not above.fit(X, y, sample_weight=s).get_support().any()
    assert below.fit(X, y, sample_weight=s).get_support().any()
    assert below.lam_max_ == lam_max


def test_lam_max_knows_the_slope_of_a_penalty_of_ones_own():
    X, y = data()
    named = SparseRegressor(penalty="exponential", alpha=2.0).fit(X, y)
    own = SparseRegressor(penalty=fn.Exponential(2.0)).fit(X, y)
    assert own.lam_max_ == pytest.approx(named.lam_max_ / 2)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 99), st.floats(0.1, 10.0))
def test_units_of_the_target_and_order_of_features(seed, unit):
    """MCP(cv; cλ) = c² MCP(v; λ): with y and λ in other units w is in those."""
    X, y = data(seed=seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    plain, other = SparseRegressor(0.3).fit(X, y), SparseRegressor(0.3 * unit).fit(X[:, order], unit * y + 7)
    assert other.coef_ == pytest.approx(unit * plain.coef_[order], abs=2e-3 * unit)
    assert other.intercept_ == pytest.approx(unit * plain.intercept_ + 7, abs=2e-3 * unit)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetition(loss):
    X, y = data(loss)
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighed = SparseRegressor(0.1, loss=loss).fit(X, y, sample_weight=times)
    repeated = SparseRegressor(0.1, loss=loss).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert (weighed.coef_ == repeated.coef_).all()
    value = mean_loss(loss, X, y, weighed.coef_, weighed.intercept_, s=times) + rho("mcp", np.abs(weighed.coef_), 0.1).sum()
    assert weighed.result_.objective == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_samples(loss, fit_intercept):
    X, y = data(loss)
    X[np.abs(X) < 0.7] = 0
    s = np.random.default_rng(0).uniform(0.5, 2, len(y))
    machine = SparseRegressor(0.1, loss=loss, fit_intercept=fit_intercept)
    dense = machine.fit(X, y, sample_weight=s)
    w, scores = dense.coef_.copy(), dense.predict(X)
    sparse = machine.fit(sp.csr_array(X), y, sample_weight=s)
    assert sparse.coef_ == pytest.approx(w, abs=1e-5)
    assert (sparse.predict(sp.csc_matrix(X)) == scores).all() or loss in ("squared", "huber")
    assert (sparse.transform(sp.csr_array(X)) != X[:, sparse.get_support()]).sum() == 0


def test_warm_starts():
    X, y = data(d=100)
    machine = SparseRegressor(0.1, warm_start=True).fit(X, y)
    w, cold = machine.coef_.copy(), machine.n_iter_
    assert machine.fit(X, y).n_iter_ < cold
    assert machine.coef_ == pytest.approx(w, abs=2e-3)  # DCA ends where steps are 1e-3
    assert machine.fit(X[:, :5], y).coef_.shape == (5,)  # other features: a start of another size is no start


def test_groups_of_one_are_features():
    X, y = data()
    one, other = SparseRegressor(0.2, groups=list("abcdefghijkl")).fit(X, y), SparseRegressor(0.2).fit(X, y)
    assert one.coef_ == pytest.approx(other.coef_, abs=1e-5)
    assert one.lam_max_ == pytest.approx(other.lam_max_)


# --- Cross-validation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_are_those_of_the_path(loss):
    X, y = data(loss)
    folds = list(KFold(2).split(X))
    s = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    found = SparseRegressorCV(loss=loss, n_lam=6, lam_min_ratio=0.05, cv=folds).fit(X, y, sample_weight=s)
    assert found.lams_ == pytest.approx(found.lam_max_ * np.geomspace(1, 0.05, 6))
    for k, (train, test) in enumerate(folds):
        machine = SparseRegressor(loss=loss, warm_start=True)
        for i, lam in enumerate(found.lams_):
            machine.set_params(lam=float(lam)).fit(X[train], y[train], sample_weight=s[train])
            value = mean_loss(loss, X[test], y[test], machine.coef_, machine.intercept_, s=s[test])
            assert found.cv_results_[f"split{k}_test_score"][i] == pytest.approx(-value, abs=2e-3)
    mean = found.cv_results_["mean_test_score"]
    assert found.lam_ == found.lams_[mean.argmax()]
    assert found.best_score_ == mean.max()
    assert found.cv_results_["rank_test_score"][found.best_index_] == 1


def test_rules_scorers_and_given_values():
    X, y = data()
    best = SparseRegressorCV([0.1, 0.5, 0.2], cv=3).fit(X, y)
    assert best.lams_.tolist() == [0.5, 0.2, 0.1]
    sparser = SparseRegressorCV(n_lam=10, cv=3, rule="1se").fit(X, y)
    most = SparseRegressorCV(n_lam=10, cv=3).fit(X, y)
    assert sparser.lam_ >= most.lam_
    scores = most.cv_results_["mean_test_score"]
    errors = np.array([most.cv_results_[f"split{k}_test_score"] for k in range(3)]).std(axis=0, ddof=1) / np.sqrt(3)
    enough = scores.max() - errors[scores.argmax()]
    assert sparser.lam_ == most.lams_[np.argmax(scores >= enough)]
    errors = SparseRegressorCV(n_lam=4, cv=3, scoring="neg_mean_absolute_error").fit(X, y)
    assert (errors.cv_results_["mean_test_score"] < 0).all()
    flat = SparseRegressorCV(n_lam=4, cv=3, scoring=lambda machine, X, y: 1.0).fit(X, y)
    assert flat.lam_ == flat.lams_[0] == flat.lam_max_
    assert cross_val_score(SparseRegressorCV(n_lam=5, cv=2), X, y, cv=2).mean() > 0.8


def test_a_target_that_does_not_vary():
    X, _ = data()
    machine = SparseRegressorCV(n_lam=3, cv=2).fit(X, np.full(len(X), 4.0))
    assert (machine.lam_max_, machine.intercept_) == (pytest.approx(0, abs=1e-12), pytest.approx(4.0))
    assert not machine.get_support().any()


# --- Bad input, and the functions behind -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "error", "message"),
    [
        (SparseRegressor(0.0), DataError, "lam is 0.0"),
        (SparseRegressor(loss="sqared"), UnknownNameError, "did you mean 'squared'"),
        (SparseRegressor(penalty="mpc"), UnknownNameError, "did you mean 'mcp'"),
        (SparseRegressor(penalty="exponential", alpha=-1.0), DataError, "alpha"),
        (SparseRegressor(groups=[0, 1]), DataError, "2 labels for 12 features|groups"),
        (SparseRegressor(groups=[[0], [1]]), DataError, "one label a variable"),
        (SparseRegressor(fit_intercept="yes"), DataError, "fit_intercept is 'yes'"),
        (SparseRegressor(max_iter=-1), DataError, "max_iter is -1"),
        (SparseRegressorCV([]), DataError, "pass numbers > 0"),
        (SparseRegressorCV([0.1, -1.0]), DataError, "pass numbers > 0"),
        (SparseRegressorCV(n_lam=0), DataError, "n_lam is 0"),
        (SparseRegressorCV(rule="2se"), UnknownNameError, "unknown rule"),
        (SparseRegressorCV(n_lam=2, scoring=lambda machine, X, y: np.nan), DataError, "NaN"),
    ],
)
def test_bad_parameters_are_named(machine, error, message):
    with pytest.raises(error, match=message):
        machine.fit(*data())


def test_a_loss_of_two_classes_takes_two():
    X, y = data("logistic")
    with pytest.raises(DataError, match="y has 3 classes"):
        SparseRegressor(loss="logistic").fit(X, np.arange(len(y)) % 3)
    assert not hasattr(SparseRegressor().fit(*data()), "decision_function")
    assert not hasattr(SparseRegressor(loss="squared_hinge").fit(X, y), "predict_proba")


def test_limits_are_warnings():
    with pytest.warns(ConvergenceWarning, match="SparseRegressor has not converged"):
        SparseRegressor(0.05, penalty="log", max_iter=0).fit(*data())
    with pytest.warns(ConvergenceWarning, match="of 4 runs in cross-validation"):
        SparseRegressorCV([0.05, 0.1], cv=2, penalty="log", max_iter=0).fit(*data())


@pytest.mark.parametrize("name", BY_NAME[1:])
def test_penalties_by_name_have_the_slope_lam_and_their_formula(name):
    factor, penalty = penalty_of_slope(name, 0.4)
    v = np.linspace(0, 3, 50)
    assert factor * penalty.rho(v) == pytest.approx(rho(name, v, 0.4))
    assert factor * penalty.slope(np.zeros(1))[0] == pytest.approx(0.4)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999), st.sampled_from([fn.MCP(0.8, 2.0), fn.SCAD(0.5), fn.CappedL1(0.7), fn.Exponential(3.0)]))
def test_group_remainders_are_convex_and_their_gradients_subgradients(seed, penalty):
    rng = np.random.default_rng(seed)
    h = GroupRemainder(penalty, Partition([0, 1, 0, 2, 1]), rng.uniform(0, 2, 3))
    x, z = rng.standard_normal(5) * rng.integers(0, 2, 5), 2 * rng.standard_normal(5)
    assert h.value(z) >= h.value(x) + h.gradient(x) @ (z - x) - 1e-9
    group = fn.GroupNorm(h.partition.members, h.slope_at_zero * h.weights)
    lengths = np.array([np.linalg.norm(z[part]) for part in h.partition.members])
    assert group.value(z) - h.value(z) == pytest.approx(h.weights @ penalty.rho(lengths))


def test_lengths_of_groups_neither_overflow_nor_underflow():
    partition = Partition([0, 0, 1])
    assert partition.lengths(np.array([3e200, 4e200, 0.0])) == pytest.approx([5e200, 0.0])
    assert partition.lengths(np.array([3e-200, 4e-200, 0.0])) == pytest.approx([5e-200, 0.0])


def test_weighted_losses_are_sums():
    rng = np.random.default_rng(0)
    s, x = np.array([1.0, 3.0, 0.0]), rng.standard_normal(3)
    for loss in (fn.Huber(0.5), fn.Logistic(), fn.SquaredHinge()):
        f, repeated = WeightedLoss(loss, s), np.repeat(x, s.astype(int))
        assert f.value(x) == pytest.approx(loss.value(repeated))
        assert f.gradient(x) == pytest.approx(s * loss.gradient(x))
        assert f.hessian(x) == pytest.approx(s * loss.hessian(x))
        assert f.proved_convex
    with pytest.raises(dcprog.errors.DCProgError, match="≥ 0"):
        WeightedLoss(fn.Huber(), [-1.0])


def test_the_factory_takes_groups_and_families_with_weights():
    X, y = data()
    program = sparse_regression(X, y, 0.1, groups=np.repeat(np.arange(4), 3))
    assert program.assumptions == ()
    assert dcprog.solve(program).success
    assert Training(X, y).weighed(None).weights is None

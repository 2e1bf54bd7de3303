"""More than two classes: one v, or θ, for the classifiers of all classes, and one against the rest beside it."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from estimator_cases import each, name_of
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler

import dcprog
from dcprog import errors, models
from dcprog import estimators as est
from dcprog.learning.multiclass import against_rest
from dcprog.learning.samples import check_samples
from dcprog.models import alignment, fsv, l1_svm, l2_l0_svm, l2_l1_svm, quadratic_fsv
from dcprog.models._shared import SharedWeights, shared_model
from dcprog.testing import check_program

SEED = st.integers(0, 1000)
LINEAR = {
    "l1_svm": lambda X, y=None, **k: l1_svm(X, y, lam=0.05, **k),
    "fsv": lambda X, y=None, **k: fsv(X, y, lam=0.1, **k),
    "l2_l1_svm": lambda X, y=None, **k: l2_l1_svm(X, y, mu=20.0, nu=0.3, **k),
    "l2_l0_svm": lambda X, y=None, **k: l2_l0_svm(X, y, mu=20.0, nu=0.3, **k),
    "quadratic_fsv": lambda X, y=None, **k: quadratic_fsv(X, y, lam=0.1, **k),
}
ESTIMATORS = [
    est.L1SVM(lam=0.05),
    est.FSV(lam=0.05),
    est.L2L1SVM(mu=30.0, nu=0.5),
    est.L2L0SVM(mu=30.0, nu=0.5),
    est.QuadraticFSV(lam=0.05),
    est.AlignmentSVM(lam=0.02, lam_svm=0.1),
]


def samples(seed, n=36, d=4, K=3, noise=0.3):
    """Classes that the first two features tell apart, but for some samples."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    angle = np.arctan2(X[:, 1], X[:, 0]) + noise * rng.standard_normal(n)
    y = np.floor((angle % (2 * np.pi)) / (2 * np.pi) * K).astype(int)
    y[:K] = np.arange(K)
    return X, y


def hinges(X, y, k, w, b):
    signs = np.where(y == k, 1.0, -1.0)
    return np.maximum(0.0, 1.0 - signs * (X @ w + b))


@pytest.mark.parametrize("form", ["split", "paper"])
@pytest.mark.parametrize("name", ["l1_svm", "l2_l1_svm"])
@settings(max_examples=4)
@given(seed=SEED)
def test_the_convex_models_are_what_plain_pyomo_and_highs_find(form, name, seed):
    """min meanₖ (loss + ½‖wₖ‖²) + penalty of max|wₖⱼ|, written out row by row."""
    X, y = samples(seed, n=15, d=2)
    (n, d), K = X.shape, 3
    m = pyo.ConcreteModel()
    m.w, m.v, m.b = pyo.Var(range(K), range(d)), pyo.Var(range(d)), pyo.Var(range(K))
    m.xi = pyo.Var(range(K), range(n), bounds=(0, None))
    m.rows = pyo.ConstraintList()
    for k in range(K):
        for i in range(n):
            sign = 1 if y[i] == k else -1
            m.rows.add(sign * (sum(X[i, j] * m.w[k, j] for j in range(d)) + m.b[k]) + m.xi[k, i] >= 1)
        for j in range(d):
            m.rows.add(m.w[k, j] <= m.v[j])
            m.rows.add(-m.w[k, j] <= m.v[j])
    loss, size = sum(m.xi.values()) / (n * K), sum(m.v.values())
    square = sum(w**2 for w in m.w.values()) / (2 * K)
    m.cost = pyo.Objective(expr=0.95 * loss + 0.05 * size if name == "l1_svm" else 20 * loss + square + 0.3 * size)
    pyo.SolverFactory("highs").solve(m)
    program = LINEAR[name](X, y, form=form)
    assert dcprog.solve(program).objective == pytest.approx(pyo.value(m.cost), abs=1e-6)


@pytest.mark.parametrize("weighting", ["mean", "sum", "class"])
@settings(max_examples=3)
@given(seed=SEED)
def test_the_objective_is_the_formula(weighting, seed):
    X, y = samples(seed, K=4)
    K, n = 4, len(y)
    sizes = [(y == k).sum() for k in range(K)]
    c = [
        {"mean": np.full(n, 1 / n), "sum": np.ones(n), "class": np.where(y == k, 1 / sizes[k], 1 / (n - sizes[k]))}[
            weighting
        ]
        for k in range(K)
    ]
    r = dcprog.solve(fsv(X, y, lam=0.1, alpha=4.0, weighting=weighting))
    loss = np.mean([c[k] @ hinges(X, y, k, r["w"][k], r["b"][k]) for k in range(K)])
    v = np.abs(r["w"]).max(axis=0)
    assert r.objective == pytest.approx(0.9 * loss + 0.1 * (1 - np.exp(-4.0 * v)).sum(), abs=1e-8)
    assert r["v"] == pytest.approx(v, abs=1e-8)
    r = dcprog.solve(l2_l0_svm(X, y, mu=9.0, nu=0.2, alpha=3.0, weighting=weighting))
    w = r["w"]
    loss = np.mean([c[k] @ hinges(X, y, k, w[k], r["b"][k]) for k in range(K)])
    f = 9.0 * loss + 0.5 * (w**2).sum() / K + 0.2 * (1 - np.exp(-3.0 * np.abs(w).max(axis=0))).sum()
    assert r.objective == pytest.approx(f, abs=1e-6)


@pytest.mark.parametrize("name", ["l1_svm", "l2_l1_svm", "fsv"])
@settings(max_examples=3)
@given(seed=SEED)
def test_two_mirrored_classifiers_are_the_binary_model(name, seed):
    """What the mean over classifiers is for: one class against the other, and the other against it, are the binary model."""
    X, y = samples(seed, K=2)
    both = [against_rest(check_samples(X, y), k) for k in (0, 1)]
    m = shared_model(X, [data.y for data in both], sp.eye_array(X.shape[1]), "split")
    family = SharedWeights(m, both, "sizes |w| with form='split'", {"w": lambda a: a["p"] - a["q"]}, lambda a: None)
    mirrored, binary = dcprog.solve(LINEAR[name](family)), dcprog.solve(LINEAR[name](X, y))
    first = [list(dcprog.DCA(p, stop=dcprog.MaxIter(1))) for p in (LINEAR[name](family), LINEAR[name](X, y))]
    assert first[0][0].f - first[0][1].gap == pytest.approx(first[1][0].f - first[1][1].gap, abs=1e-7)
    if name == "l2_l1_svm":
        assert mirrored["w"][1] == pytest.approx(binary["w"], abs=1e-6)
        assert mirrored["w"][0] == pytest.approx(-binary["w"], abs=1e-6)
    if name != "fsv":
        assert mirrored.objective == pytest.approx(binary.objective, abs=1e-8)


@pytest.mark.parametrize("name", LINEAR)
def test_two_classes_have_the_model_that_they_had(name):
    program = LINEAR[name](*samples(1, K=2))
    assert program.model.b.dim() == 0
    assert dcprog.solve(program)["w"].ndim == 1


@pytest.mark.parametrize("name", ["l2_l1_svm", "l2_l0_svm"])
@settings(max_examples=3)
@given(seed=SEED)
def test_other_names_of_the_classes_permute_the_classifiers(name, seed):
    X, y = samples(seed)
    order = np.array([2, 0, 1])  # class k is called order[k] now
    one, other = dcprog.solve(LINEAR[name](X, y)), dcprog.solve(LINEAR[name](X, order[y]))
    assert other.objective == pytest.approx(one.objective, rel=1e-7)
    assert other["w"][order] == pytest.approx(one["w"], abs=1e-5)


@given(seed=SEED)
def test_alignment_is_the_mean_of_all_classes_against_the_rest(seed):
    X, y = samples(seed, n=20)
    program = alignment(X, y, lam=0.2)
    theta = np.random.default_rng(seed).uniform(0, 1, 4)
    binary = [alignment(X, y == k, lam=0.2).value(theta) for k in range(3)]
    assert program.value(theta) == pytest.approx(np.mean(binary), abs=1e-12)
    yn = [np.where(y == k, 1 / (y == k).sum(), -1 / (y != k).sum()) for k in range(3)]
    D = (X[:, None] - X[None]) ** 2 / (2 * (np.sqrt(4) / 2) ** 2)
    K = np.exp(-D @ theta)
    f = -0.8 / 2 * np.mean([u @ K @ u for u in yn]) + 0.2 / 4 * (1 - np.exp(-5.0 * theta)).sum()
    assert program.value(theta) == pytest.approx(f, abs=1e-12)


def test_a_pair_of_classes_may_attract_each_other():
    """Two tiny classes beside two large ones: C_ab > 0 for the tiny pair or the large one, which then stands in h."""
    C = models.alignment.__globals__["target"](np.array([1.0, 1.0, 1.0, 97.0]))
    X, y = samples(3, n=100)
    y = np.where(np.arange(100) < 3, np.arange(100), 3)
    assert (C[np.triu_indices(4, 1)] > 0).any() or (C[np.triu_indices(4, 1)] < 0).all()
    check_program(alignment(X, y, lam=0.1)).raise_if_failed()


@pytest.mark.parametrize("name", [*LINEAR, "alignment"])
def test_what_all_programs_promise(name):
    X, y = samples(2, n=24, d=3)
    program = alignment(X, y) if name == "alignment" else LINEAR[name](X, y)
    check_program(program).raise_if_failed()


@each(ESTIMATORS)
@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_scores_labels_and_features(estimator, multi_class):
    X, y = samples(4, n=60)
    labels = np.array(["c", "a", "b"])[y]
    machine = type(estimator)(**{**estimator.get_params(), "multi_class": multi_class}).fit(X, labels)
    scores = machine.decision_function(X)
    assert scores.shape == (60, 3)
    assert (machine.predict(X) == machine.classes_[scores.argmax(axis=1)]).all()
    assert machine.score(X, labels) > 0.65
    assert machine.get_support()[0]
    assert machine.get_support()[1] or name_of(estimator) == "AlignmentSVM"  # one θ for all may do without it
    if hasattr(machine, "coef_"):
        assert machine.coef_.shape == (3, 4)
        assert scores == pytest.approx(X @ machine.coef_.T + machine.intercept_, abs=1e-12)
        assert (machine.get_support() == (np.abs(machine.coef_) > 1e-8).any(axis=0)).all()
    assert isinstance(machine.result_, dcprog.Result)


@each(ESTIMATORS[:4])
def test_one_against_the_rest_is_scikit_learns(estimator):
    X, y = samples(5, n=50)
    ours = type(estimator)(**{**estimator.get_params(), "multi_class": "ovr"}).fit(X, y)
    theirs = OneVsRestClassifier(estimator).fit(X, y)
    assert ours.coef_ == pytest.approx(np.vstack([m.coef_ for m in theirs.estimators_]), abs=1e-9)
    assert ours.result_.objective == pytest.approx(np.mean([m.result_.objective for m in theirs.estimators_]))


@each([est.L1SVM(lam=0.05), est.L2L0SVM(mu=30.0, nu=0.5), est.AlignmentSVM(lam=0.1)])
@settings(max_examples=3)
@given(seed=SEED)
def test_a_weight_is_repetition(estimator, seed):
    X, y = samples(seed, n=24)
    weights = np.random.default_rng(seed).integers(1, 4, len(y))
    weighed = estimator.fit(X, y, sample_weight=weights).decision_function(X)
    repeated = type(estimator)(**estimator.get_params()).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighed == pytest.approx(repeated.decision_function(X), abs=1e-9)


@each(ESTIMATORS[:4])
def test_sparse_samples_and_constant_features(estimator):
    X, y = samples(6)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    dense, sparse = (type(estimator)(**estimator.get_params()).fit(A, y) for A in (X, sp.csr_array(X)))
    assert sparse.coef_ == pytest.approx(dense.coef_, abs=1e-8)
    padded = type(estimator)(**estimator.get_params()).fit(np.column_stack([X, np.full(len(X), 3.0)]), y)
    assert not padded.get_support()[-1]
    assert padded.decision_function(np.column_stack([X, np.full(len(X), 3.0)])).shape == (36, 3)


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
@each([est.FSVCV(lam=[0.05, 0.2, 0.9], alpha=5.0, cv=2), est.AlignmentSVMCV(lam=[0.0, 0.2], lam_svm=[0.1, 0.5], cv=2)])
def test_parameters_are_chosen_along_warm_paths(estimator, multi_class):
    X, y = samples(7, n=60)
    machine = type(estimator)(**{**estimator.get_params(), "multi_class": multi_class}).fit(X, y)
    again = machine._method(**machine.best_params_, multi_class=multi_class).fit(X, y)
    assert machine.decision_function(X) == pytest.approx(again.decision_function(X), abs=1e-6)
    assert len(machine.cv_results_["params"]) == (3 if name_of(estimator) == "FSVCV" else 2)


def test_probabilities_of_all_classes():
    X, y = samples(8, n=60)
    machine = est.FSV(lam=0.02, calibration="sigmoid").fit(X, y)
    assert machine.predict_proba(X).shape == (60, 3)
    assert machine.predict_proba(X).sum(axis=1) == pytest.approx(1.0)


def test_wine_needs_fewer_features_at_once():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    shared, apart = est.FSV(lam=0.1).fit(X, y), est.FSV(lam=0.1, multi_class="ovr").fit(X, y)
    assert shared.score(X, y) > 0.95
    assert shared.get_support().sum() < apart.get_support().sum()


def test_an_unknown_way_and_one_class():
    X, y = samples(9)
    with pytest.raises(errors.UnknownNameError, match="did you mean 'ovr'"):
        est.FSV(multi_class="ovo").fit(X, y)
    for factory in (fsv, quadratic_fsv, alignment):
        with pytest.raises(errors.DataError, match="1 class"):
            factory(X, np.zeros(len(X)))

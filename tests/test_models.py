"""The linear and quadratic formulations: each equals what it should equal, in every form, with every kind of data."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from data_sets import load_real, needs_data
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.svm import SVC

import dcprog
from dcprog import errors, models
from dcprog.functions import CappedL1, Exponential, Lp
from dcprog.learning.monomials import Monomials
from dcprog.methods.svm_ranking import svm_ranking
from dcprog.models import fsv, l1_svm, l2_l0_svm, l2_l1_svm, l2_l1_svm_dual, quadratic_fsv, rlp, svm, svm_dual
from dcprog.testing import assert_lockstep, check_program, criticality

SEED = st.integers(0, 10_000)
LINEAR = {
    "rlp": lambda X, y, **k: rlp(X, y, **k),
    "svm": lambda X, y, **k: svm(X, y, lam=0.2, **k),
    "l1_svm": lambda X, y, **k: l1_svm(X, y, lam=0.05, **k),
    "fsv": lambda X, y, **k: fsv(X, y, lam=0.1, **k),
    "l2_l1_svm": lambda X, y, **k: l2_l1_svm(X, y, mu=20.0, nu=0.3, **k),
    "l2_l0_svm": lambda X, y, **k: l2_l0_svm(X, y, mu=20.0, nu=0.3, **k),
    "quadratic_fsv": lambda X, y, **k: quadratic_fsv(X, y, lam=0.1, **k),
    "quadratic_l2_l0_svm": lambda X, y, **k: models.quadratic_l2_l0_svm(X, y, mu=20.0, nu=0.3, **k),
    "quadratic_l2_l1_svm": lambda X, y, **k: models.quadratic_l2_l1_svm(X, y, mu=20.0, nu=0.3, **k),
}
WITH_FORMS = [name for name in LINEAR if name not in ("rlp", "svm")]


def samples(seed, n=40, d=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] - 0.5 * X[:, 1] + 0.6 * rng.standard_normal(n))
    y[:2] = 1, -1
    return X, y


def hinge(X, y, w, b):
    return np.maximum(0, 1 - y * (X @ w + b))


@given(seed=SEED, lam=st.sampled_from([0.05, 0.3, 0.8]))
def test_svm_is_scikit_learns(seed, lam):
    X, y = samples(seed)
    ours = dcprog.solve(svm(X, y, lam=lam, weighting="sum"))
    theirs = SVC(kernel="linear", C=(1 - lam) / lam, tol=1e-8).fit(X, y)
    w, b = theirs.coef_.ravel(), theirs.intercept_[0]
    value = (1 - lam) * hinge(X, y, w, b).sum() + lam / 2 * w @ w
    assert value * (1 - 1e-5) <= ours.objective <= value * (1 + 1e-9)  # libsvm stops up to 3e-6 above the minimum
    assert ours["w"] == pytest.approx(w, abs=1e-3)
    assert (ours.classifier.predict(X) == theirs.predict(X)).all()


@given(seed=SEED, lam=st.sampled_from([0.01, 0.1, 0.5]))
def test_l1_svm_is_scipys_linear_program(seed, lam):
    X, y = samples(seed)
    n, d = X.shape
    D = y[:, None] * X
    c = np.concatenate([np.full(2 * d, lam), [0], np.full(n, 1 - lam)])
    A = -np.hstack([D, -D, y[:, None], np.eye(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    reference = linprog(c, A_ub=A, b_ub=-np.ones(n), bounds=bounds).fun
    assert dcprog.solve(l1_svm(X, y, lam=lam, weighting="sum")).objective == pytest.approx(reference, abs=1e-7)


@given(seed=SEED)
def test_fsv_without_a_penalty_is_rlp(seed):
    X, y = samples(seed)
    assert dcprog.solve(fsv(X, y, lam=0.0)).objective == pytest.approx(dcprog.solve(rlp(X, y)).objective, abs=1e-9)


@given(seed=SEED, lam=st.sampled_from([0.05, 0.5]))
def test_l2_l0_without_a_penalty_is_the_svm(seed, lam):
    X, y = samples(seed)
    ours = dcprog.solve(l2_l0_svm(X, y, mu=(1 - lam) / lam, nu=0.0))
    reference = dcprog.solve(svm(X, y, lam=lam))
    assert lam * ours.objective == pytest.approx(reference.objective, rel=1e-7)
    assert ours["w"] == pytest.approx(reference["w"], abs=1e-5)


@given(seed=SEED)
def test_l2_l1_is_one_dca_step_of_l2_l0_from_zero(seed):
    X, y = samples(seed)
    alpha, nu = 5.0, 0.05
    program = l2_l0_svm(X, y, mu=20.0, nu=nu, alpha=alpha)
    start = {"p": 0, "q": 0, "b": 0, "xi": 1}
    states = list(dcprog.DCA(program, x0=start, stop=dcprog.MaxIter(1)))
    assert states[1]["w"] == pytest.approx(dcprog.solve(l2_l1_svm(X, y, mu=20.0, nu=alpha * nu))["w"], abs=1e-6)


@pytest.mark.parametrize("name", WITH_FORMS)
@given(seed=SEED)
def test_both_forms_of_w_have_the_same_optimum(name, seed):
    """The convex problem of the first iteration has; where its solution is unique DCA then ends at the same point, too."""
    X, y = samples(seed, n=25, d=3)
    split, paper = (list(dcprog.DCA(LINEAR[name](X, y, form=form))) for form in ("split", "paper"))
    optima = [states[0].f - states[1].gap for states in (split, paper)]
    assert optima[0] == pytest.approx(optima[1], abs=1e-7)
    if "l2" in name:
        assert np.abs(split[1]["w"]) == pytest.approx(np.abs(paper[1]["w"]), abs=1e-4)
        assert split[-1].f == pytest.approx(paper[-1].f, abs=1e-6)


@pytest.mark.parametrize("weighting", ["mean", "sum", "class"])
@given(seed=SEED)
def test_the_objective_is_the_formulations_own(weighting, seed):
    X, y = samples(seed)
    c = {"mean": 1 / len(y), "sum": 1.0, "class": np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())}[weighting]
    r = dcprog.solve(fsv(X, y, lam=0.1, alpha=4.0, weighting=weighting))
    w, b = r["w"], float(r["b"])
    f = 0.9 * (c * hinge(X, y, w, b)).sum() + 0.1 * (1 - np.exp(-4.0 * np.abs(w))).sum()
    assert r.objective == pytest.approx(f, abs=1e-8)
    assert r["v"] == pytest.approx(np.abs(w), abs=1e-9)
    r = dcprog.solve(l2_l0_svm(X, y, mu=9.0, nu=0.2, alpha=3.0, weighting=weighting))
    w, b = r["w"], float(r["b"])
    f = 9.0 * (c * hinge(X, y, w, b)).sum() + 0.5 * w @ w + 0.2 * (1 - np.exp(-3.0 * np.abs(w))).sum()
    assert r.objective == pytest.approx(f, abs=1e-6)


@given(seed=SEED, tall=st.booleans())
def test_dual_values_equal_primal_values_and_give_w_and_b_back(seed, tall):
    X, y = samples(seed, *((40, 5) if tall else (15, 25)))
    pairs = [
        (svm(X, y, lam=0.1), svm_dual(X, y, lam=0.1)),
        (l2_l1_svm(X, y, mu=20.0, nu=0.3), l2_l1_svm_dual(X, y, mu=20.0, nu=0.3)),
    ]
    for primal_program, dual_program in pairs:
        primal, dual = dcprog.solve(primal_program), dcprog.solve(dual_program)
        assert primal.objective == pytest.approx(-dual.objective, abs=1e-6)
        assert dual["w"] == pytest.approx(primal["w"], abs=1e-4)
        margins = y * (X @ dual["w"] + float(dual["b"]))
        assert primal_program.value(primal.x) <= _primal_value(primal_program, X, y, dual) + 1e-6
        assert _primal_value(primal_program, X, y, dual) == pytest.approx(primal.objective, abs=1e-5)
        assert set(np.flatnonzero(margins < 1 - 1e-4)) <= set(dual["support"])
        assert not set(np.flatnonzero(margins > 1 + 1e-4)) & set(dual["support"])


def _primal_value(program, X, y, dual):
    """The primal objective at the dual's (w, b)."""
    w, b = dual["w"], float(dual["b"])
    point = {"b": b, "xi": hinge(X, y, w, b)}
    point |= {"w": w} if program.name == "svm" else {"p": np.maximum(w, 0), "q": np.maximum(-w, 0)}
    return program.value(program.vector(point))


@pytest.mark.parametrize("name", LINEAR)
def test_all_kinds_of_data_give_the_same(name):
    X, y = samples(7, n=30, d=4)
    reference = dcprog.solve(LINEAR[name](X, y))
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    words = np.where(y > 0, "yes", "no")
    for data in ((frame, words), (sp.csr_matrix(X), y > 0), (sp.coo_array(X), y.reshape(-1, 1)), (X.tolist(), list(y))):
        assert dcprog.solve(LINEAR[name](*data)).objective == pytest.approx(reference.objective, abs=1e-7)
    rule = dcprog.solve(LINEAR[name](frame, words)).classifier
    assert set(rule.predict(frame)) <= {"yes", "no"}
    assert set(rule.selected_names()) <= {"a", "b", "c", "d"}


def test_sparse_data_stay_sparse():
    X = sp.random_array((200, 3000), density=0.002, format="csr", rng=np.random.default_rng(0))
    y = np.where(np.asarray(X.sum(axis=1)).ravel() > 3, 1, -1)
    assert fsv(X, y).compiled.subproblem.A.nnz == 2 * X.nnz + 2 * len(y)


@pytest.mark.parametrize(
    "penalty", ["exponential", "logarithmic", "lp", "capped_l1", "scad", "mcp", Exponential(2), Lp(0.3)]
)
def test_every_penalty_descends_to_a_critical_point(penalty):
    X, y = samples(3)
    program = fsv(X, y, lam=0.1, penalty=penalty)
    result = dcprog.solve(program)
    assert result.success
    assert criticality(program, result.x) <= 1e-7
    f = [r.f for r in result.history]
    assert all(b <= a + 1e-9 for a, b in pairwise(f))


def test_a_penalty_object_means_what_its_name_does():
    X, y = samples(4)
    one, two = (dcprog.solve(fsv(X, y, lam=0.2, penalty=p)).objective for p in ("capped_l1", CappedL1(0.2)))
    assert one == two


@pytest.mark.parametrize("name", LINEAR)
def test_programs_keep_their_contract(name):
    X, y = samples(1, n=12, d=3)
    check_program(LINEAR[name](X, y), samples=6).raise_if_failed()


def test_fsv_by_sla_and_dca_in_lockstep():
    for seed in range(3):
        program = fsv(*samples(seed, 60, 12), lam=0.05)
        tight = dcprog.Step(0.0) | dcprog.MaxIter(100)
        assert assert_lockstep(dcprog.SLA(program), dcprog.DCA(program, stop=tight)) >= 3


@needs_data
@pytest.mark.parametrize("name", ["ionosphere", "sonar", "musk", "microarray"])
def test_fsv_by_sla_and_dca_in_lockstep_on_real_data(name):
    program = fsv(*load_real(name), lam=0.1)
    for solver in ("highs", "auto"):
        tight = dcprog.Step(0.0) | dcprog.MaxIter(100)
        assert assert_lockstep(dcprog.SLA(program, solver=solver), dcprog.DCA(program, solver=solver, stop=tight)) >= 3


@needs_data
@pytest.mark.parametrize("name", ["wpbc60", "liver", "ionosphere", "bcw"])
def test_a_slice_of_the_sweep(name):
    """benchmarks/sweep.py runs all formulations on all data sets over the whole published grid."""
    X, y = load_real(name)
    runs = [
        *dcprog.path(fsv, X, y, lam=[0.05, 0.4, 0.95]),
        *dcprog.path(l2_l0_svm, X, y, mu=[1.0, np.exp(5)], nu=[np.exp(-3), np.exp(3)]),
        *dcprog.path(l2_l1_svm, X, y, mu=[np.exp(10)], nu=[np.exp(-5), np.exp(5)]),
        dcprog.solve(svm(X, y, lam=1 / (1 + np.exp(5)))),
    ]
    for result in runs:
        assert result.success, result
        assert not result.messages
        assert max(max(r.primal_residual, r.dual_residual, r.gap_residual) for r in result.history[1:]) <= 1e-6
        f = np.array([r.f for r in result.history])
        assert (np.diff(f) <= 1e-7 * (1 + np.abs(f[:-1]))).all()


def test_circle_quadratic_fsv_selects_exactly_the_two_features():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (64, 4))
    y = np.where((X[:, :2] ** 2).sum(axis=1) > 1, 1, -1)
    results = dcprog.path(quadratic_fsv, X, y, lam=[0.05, 0.1, 0.2, 0.3, 0.4])
    chosen = [tuple(r.classifier.selected()) for r in results]
    assert chosen.count((0, 1)) >= 3, chosen
    assert np.mean(results[1].classifier.predict(X) == y) > 0.95


def test_monomials():
    X = np.array([[2.0, 3.0, 5.0]])
    phi = Monomials(3, 3)
    assert phi.size == len(phi.exponents) == 19
    assert set(phi.transform(X).ravel()) == {2, 3, 5, 4, 6, 10, 9, 15, 25, 8, 12, 20, 18, 30, 50, 27, 45, 75, 125}
    assert phi.contains.sum() == sum(len(set(e)) for e in phi.exponents)
    assert Monomials(6, 2).size == 6 * 9 // 2


def test_a_path_builds_once_and_gives_what_single_solves_give():
    X, y = samples(11, 60, 8)
    grid = [0.02, 0.1, 0.3]
    walk = dcprog.path(fsv, X, y, lam=grid, weighting="sum")
    assert walk.builds == 1
    assert [p["lam"] for p in walk.parameters] == grid
    for lam, result in zip(grid, walk, strict=True):
        assert result.objective == pytest.approx(dcprog.solve(fsv(X, y, lam=lam, weighting="sum")).objective, abs=1e-7)
    qp = dcprog.path(l2_l0_svm, X, y, mu=[5.0, 50.0], nu=[0.1, 1.0])
    assert [(p["mu"], p["nu"]) for p in qp.parameters] == [(5.0, 0.1), (5.0, 1.0), (50.0, 0.1), (50.0, 1.0)]
    assert qp.builds == 1
    assert all(r.timings["solve"] <= r.timings["total"] for r in [*walk, *qp])
    assert dcprog.path(fsv, X, y, lam=grid, form="paper").builds == 1
    assert all(r.success for r in dcprog.path(fsv, X, y, lam=grid, continuation=True))
    with pytest.raises(errors.DataError, match="pass the grid as lists"):
        dcprog.path(fsv, X, y, lam=0.1)


def test_ranking_includes_features_while_the_error_drops():
    X, y = samples(5, 120, 8)
    ranking = svm_ranking(X[:60], y[:60], X[60:], y[60:])
    assert ranking.order[0] == 0
    assert 0 in ranking.selected
    assert (ranking.errors[: len(ranking.selected)].argmin()) == len(ranking.selected) - 1
    assert np.array_equal(ranking.classifier.selected(), ranking.selected)


@pytest.mark.parametrize("seed", range(8))
def test_ranking_ends_after_five_features_in_a_row_that_do_not_help(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 30))
    y = np.sign(X[:, :6].sum(axis=1) + rng.standard_normal(120))
    errors = svm_ranking(X[:60], y[:60], X[60:], y[60:]).errors
    best = np.minimum.accumulate(errors)
    steps = np.flatnonzero(np.diff(np.append(np.inf, best)) < 0)  # where the error dropped
    assert len(errors) == min(steps[-1] + 6, 30)
    assert np.diff(steps).max(initial=0) <= 5


def test_constant_columns_get_no_weight():
    X, y = samples(2)
    X[:, 3] = 7.0
    for name in ("fsv", "l1_svm", "l2_l0_svm"):
        assert abs(dcprog.solve(LINEAR[name](X, y))["w"][3]) < 1e-6


BAD = {
    "one class": (lambda X, y: (X, np.ones_like(y)), "1 class"),
    "NaN": (lambda X, y: (np.where(X > 2, np.nan, X) * np.r_[np.nan, np.ones(X.shape[1] - 1)], y), "NaN or infinite"),
    "infinite": (lambda X, y: (X * np.inf, y), "NaN or infinite"),
    "no features": (lambda X, y: (X[:, :0], y), "at least one"),
    "one sample": (lambda X, y: (X[:1], y[:1]), "1 class"),
    "labels of the wrong length": (lambda X, y: (X, y[:-1]), "one label a sample"),
    "labels that are NaN": (lambda X, y: (X, np.where(y > 0, np.nan, y)), "NaN or infinite labels"),
    "sparse with NaN": (
        lambda X, y: (sp.csr_matrix(np.where(np.arange(X.size).reshape(X.shape) == 3, np.nan, X)), y),
        "NaN",
    ),
    "a vector": (lambda X, y: (X[:, 0], y), "expected 2: samples in rows"),
    "text": (lambda X, y: (X.astype(str).astype(object) + "?", y), "not numeric"),
}


@pytest.mark.parametrize("mistake", BAD)
@pytest.mark.parametrize("name", LINEAR)
def test_bad_data_is_a_value_error_before_any_solver_runs(name, mistake):
    change, message = BAD[mistake]
    with pytest.raises(ValueError, match=message) as caught:
        LINEAR[name](*change(*samples(0)))
    assert isinstance(caught.value, errors.DataError)


@pytest.mark.parametrize("factory", [rlp, svm, svm_dual, l2_l1_svm_dual, models.arom])
def test_what_is_of_two_classes_refuses_three(factory):
    X, y = samples(0)
    with pytest.raises(errors.DataError, match="3 class"):
        factory(X, np.arange(len(y)) % 3, **({"q": 1} if factory is models.arom else {}))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: fsv(X, y, lam=1.0), r"lam is 1.0, expected a number in \[0, 1\)"),
        (lambda X, y: fsv(X, y, lam=-0.1), "lam"),
        (lambda X, y: fsv(X, y, lam=np.nan), "lam"),
        (lambda X, y: fsv(X, y, alpha=0), "alpha"),
        (lambda X, y: l1_svm(X, y, lam="much"), "lam"),
        (lambda X, y: svm(X, y, lam=0.0), "lam is 0.0, expected a number > 0"),
        (lambda X, y: l2_l0_svm(X, y, mu=0.0), "mu"),
        (lambda X, y: l2_l0_svm(X, y, nu=-1.0), "nu"),
        (lambda X, y: l2_l1_svm(X, y, mu=np.inf), "mu"),
        (lambda X, y: quadratic_fsv(X, y, degree=0), "degree"),
        (lambda X, y: fsv(X, y, form="papr"), "did you mean 'paper'"),
        (lambda X, y: fsv(X, y, weighting="men"), "did you mean 'mean'"),
        (lambda X, y: fsv(X, y, penalty="expo"), "did you mean 'exponential'"),
        (lambda X, y: svm_ranking(X, y, X[:, :2], y), "have to match"),
        (lambda X, y: dcprog.solve(fsv(X, y)).classifier.predict(X[:, :2]), "expected samples with 5 features"),
    ],
)
def test_bad_parameters_are_value_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call(*samples(0))


def test_hard_margins_are_kept_by_few_features():
    """Problem 2 of Weston et al. (2003): every margin is 1 at least, and no fewer features would do here."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 6))
    y = np.where(X[:, 2] > 0, "up", "down")
    X[:, 2] += np.sign(X[:, 2])
    result = dcprog.solve(models.separating_fsv(X, y))
    assert result.success
    assert result.classifier.selected().tolist() == [2]
    assert (np.where(y == "up", 1.0, -1.0) * result.classifier.decision_function(X) >= 1.0 - 1e-6).all()
    assert (result.classifier.predict(X) == y).all()
    mixed = dcprog.solve(models.separating_fsv(np.zeros((4, 1)), [0, 1, 0, 1]))
    assert mixed.status == "infeasible"
    with pytest.raises(errors.DataError, match="alpha is 0"):
        models.separating_fsv(X, y, alpha=0)

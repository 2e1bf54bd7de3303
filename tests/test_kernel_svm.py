"""Kernel support vector machines: optimal by duality, equal to scikit-learn's where it solves the same problem."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import chi2_kernel
from sklearn.svm import SVC

import dcprog
from dcprog import models
from dcprog.errors import ConvexityError, DataError
from dcprog.estimators import AlignmentSVM, KernelSVM, alignment_scorer
from dcprog.learning.kernels import ChiSquare, Gaussian, kernel_matrix
from dcprog.methods.kernel_svm import kernel_alignment, kernel_svm

RNG = np.random.default_rng(2)
X = RNG.normal(size=(60, 4))
Y = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=60) > 0, 1, -1)
NEW = RNG.normal(size=(25, 4))
HISTOGRAMS = RNG.poisson(30, (60, 4)).astype(float)
HISTOGRAMS[:, 0] += 12 * (Y > 0)
THETA = np.array([1.0, 0.6, 0.0, 0.1])


def primal(rule, C, x=X, y=Y):
    """½‖w‖² + C Σ hinge for the w that the rule stands for."""
    K = rule.kernel(rule.vectors, rule.vectors)
    hinge = np.maximum(0, 1 - y * rule.decision_function(x)).sum()
    return 0.5 * rule.coefficients @ K @ rule.coefficients + C * hinge


@settings(max_examples=15, deadline=None)
@given(log_c=st.floats(-5, 5), theta=st.lists(st.floats(0.05, 1), min_size=4, max_size=4))
def test_without_bias_primal_and_dual_values_are_equal(log_c, theta):
    """Weak duality makes this a proof of optimality, for w and for α, whatever solved it."""
    C = np.exp(log_c)
    rule = kernel_svm(X, Y, theta, C)
    K = rule.kernel(rule.vectors, rule.vectors)
    a = rule.coefficients
    dual = np.abs(a).sum() - 0.5 * a @ K @ a
    assert rule.intercept == 0
    assert np.abs(a).max() <= C * (1 + 1e-9)
    assert primal(rule, C) == pytest.approx(dual, rel=1e-6)


def test_without_bias_equals_libsvm_on_mirrored_data():
    """With every (φ, y) comes (−φ, −y), which makes b = 0 optimal: 2n points that libsvm can train on."""
    rule = kernel_svm(X, Y, THETA, C=3.0, sigma=1.1)
    K = kernel_matrix(Gaussian(1.1), X, X, THETA)
    mirrored = SVC(kernel="precomputed", C=1.5, tol=1e-8).fit(np.block([[K, -K], [-K, K]]), np.concatenate([Y, -Y]))
    values = kernel_matrix(Gaussian(1.1), NEW, X, THETA)
    np.testing.assert_allclose(
        rule.decision_function(NEW), mirrored.decision_function(np.hstack([values, -values])), atol=1e-5
    )


def test_with_bias_equals_the_usual_gaussian_svm():
    rule = kernel_svm(X, Y, C=2.0, sigma=1.1, bias=True)
    usual = SVC(kernel="rbf", gamma=1 / (2 * 1.1**2), C=2.0, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(rule.decision_function(NEW), usual.decision_function(NEW), atol=1e-4)
    assert rule.n_support == usual.n_support_.sum()
    assert rule.intercept != 0


def test_chi2_has_a_bias_and_equals_scikit_learns_kernel():
    new = HISTOGRAMS[:9] + 1
    rule = kernel_svm(HISTOGRAMS, Y, C=50.0, kernel="chi2")
    usual = SVC(kernel=lambda a, b: chi2_kernel(a, b, gamma=ChiSquare().rho), C=50.0, tol=1e-6).fit(HISTOGRAMS, Y)
    np.testing.assert_allclose(rule.decision_function(new), usual.decision_function(new), atol=1e-4)
    assert rule.intercept != 0
    assert kernel_svm(HISTOGRAMS, Y, C=50.0, kernel="chi2", bias=False).intercept == 0


def test_support_vectors_are_the_points_inside_or_on_the_margin():
    """αᵢ > 0 implies yᵢ f(xᵢ) ≤ 1 (section 2.2.1), and with C small all points are."""
    rule = kernel_svm(X, Y, THETA, C=4.0)
    margins = Y * rule.decision_function(X)
    supported = np.array([bool((rule.vectors == x).all(axis=1).any()) for x in X])
    assert margins[supported].max() <= 1 + 1e-6
    assert margins[~supported].min() >= 1 - 1e-6
    assert 0 < rule.n_support < len(X)
    assert kernel_svm(X, Y, C=1e-3).n_support == len(X)


def test_discarded_features_do_not_matter_to_the_classifier():
    rule, changed = kernel_svm(X, Y, THETA), NEW.copy()
    changed[:, 2] = 1e9
    np.testing.assert_array_equal(rule.predict(changed), rule.predict(NEW))
    assert rule.kernel.selected().tolist() == [0, 1, 3]
    assert rule.kernel.selected(threshold=0.5).tolist() == [0, 1]


def test_labels_come_back_as_they_were_given():
    rule = kernel_svm(X, np.where(Y > 0, "yes", "no"), C=100.0)
    assert (rule.predict(X) == np.where(Y > 0, "yes", "no")).mean() > 0.95
    np.testing.assert_array_equal(rule.predict(NEW) == "yes", rule.decision_function(NEW) > 0)


def test_an_own_kernel():
    rule = kernel_svm(X, Y, THETA, kernel=lambda x, z: np.abs(x - z), C=10.0)
    assert primal(rule, 10.0) == pytest.approx(np.abs(rule.coefficients).sum() - (primal(rule, 0.0)), rel=1e-6)


@pytest.mark.parametrize(
    ("error", "changes", "says"),
    [
        (DataError, {"C": 0.0}, "C has to be a number with 0 < C"),
        (DataError, {"theta": [1.0, 1.0]}, "vector of 4 numbers"),
        (DataError, {"theta": [1.0, -1.0, 0.0, 0.0]}, "theta has -1, expected weights ≥ 0"),
        (DataError, {"kernel": "chi2"}, "features ≥ 0"),
        (DataError, {"y": np.ones(60)}, "class"),
        (ConvexityError, {"kernel": lambda x, z: np.minimum(1, np.abs(x - z) ** 4)}, "negative eigenvalue"),
    ],
)
def test_bad_input(error, changes, says):
    with pytest.raises(error) as raised:
        kernel_svm(**({"X": X, "y": Y} | changes))
    assert says in str(raised.value)


def test_new_points_of_another_space():
    with pytest.raises(DataError, match="expected samples with 4 features"):
        kernel_svm(X, Y).predict(NEW[:, :3])


# The dual as a model, and the alignment of a kernel


def by_clarabel(K, y, C, bias):
    """max e'α − ½α'DKDα by CVXPY: another road from formula to solver."""
    cvxpy = pytest.importorskip("cvxpy")
    alpha = cvxpy.Variable(len(y))
    rows = [alpha >= 0, alpha <= C, *([y @ alpha == 0] if bias else [])]
    root = np.linalg.cholesky(K + 1e-12 * np.eye(len(y)))
    value = cvxpy.Maximize(cvxpy.sum(alpha) - 0.5 * cvxpy.sum_squares(root.T @ cvxpy.multiply(y, alpha)))
    return cvxpy.Problem(value, rows).solve(solver="CLARABEL")


@pytest.mark.parametrize("kernel", ["gaussian", "chi2"])
@pytest.mark.parametrize("bias", [None, True, False])
def test_the_dual_model_is_the_machine(kernel, bias):
    points = X if kernel == "gaussian" else HISTOGRAMS
    new = NEW if kernel == "gaussian" else RNG.poisson(30, (25, 4))
    result = dcprog.solve(models.kernel_svm_dual(points, Y, THETA, 0.25, kernel, bias=bias))
    rule = kernel_svm(points, Y, THETA, 3.0, kernel, bias=bias)
    K = rule.kernel(points, points)
    best = by_clarabel(K, Y, 3.0, kernel == "chi2" if bias is None else bias)
    assert result.status is dcprog.Status.CONVERGED
    assert -result.objective == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(result.classifier.decision_function(new), rule.decision_function(new), atol=2e-3)
    assert result.classifier.n_support == len(result["support"]) < len(points)
    assert result.classifier.kernel.selected().tolist() == [0, 1, 3]


def test_a_plain_pyomo_solver_takes_the_dual_model():
    program = models.kernel_svm_dual(X[:20], Y[:20], lam=0.3, sigma=1.0)
    m = program.model.clone()
    K = np.exp(-((X[:20, None] - X[None, :20]) ** 2).sum(axis=2) / 2)
    Q = K * np.outer(Y[:20], Y[:20])
    m.cost = pyo.Objective(
        expr=sum(0.5 * Q[i, j] * m.u[i] * m.u[j] for i in range(20) for j in range(20)) - sum(m.u.values())
    )
    pyo.SolverFactory("highs").solve(m)
    assert dcprog.solve(program).objective == pytest.approx(pyo.value(m.cost), rel=1e-6)


def test_samples_that_count_more_have_larger_limits():
    repeated = dcprog.solve(models.kernel_svm_dual(np.vstack([X, X[:5]]), np.append(Y, Y[:5]), lam=0.25))
    rule = KernelSVM(0.25).fit(X, Y, sample_weight=np.where(np.arange(60) < 5, 2.0, 1.0))
    np.testing.assert_allclose(repeated.classifier.decision_function(NEW), rule.decision_function(NEW), atol=1e-3)


def test_the_estimator_weights_features():
    machine = KernelSVM(0.25, theta=THETA, sigma=1.1).fit(X, Y)
    rule = kernel_svm(X, Y, THETA, C=3.0, sigma=1.1)
    assert (machine.decision_function(NEW) == rule.decision_function(NEW)).all()
    assert (machine.decision_function(NEW + np.array([0, 0, 9, 0])) == machine.decision_function(NEW)).all()
    with pytest.raises(DataError, match="theta"):
        KernelSVM(theta=[-1, 0, 0, 0]).fit(X, Y)


@given(st.integers(0, 10**6))
def test_the_alignment_is_a_cosine(seed):
    """Â(K, yy') = ⟨K, yy'⟩ / (‖K‖ ‖yy'‖), and neither a factor of K nor the order of points changes it."""
    rng = np.random.default_rng(seed)
    A, y = rng.standard_normal((7, 4)), np.array([1, -1, 1, 1, -1, 1, -1])
    K, target = A @ A.T, np.outer(y, y)
    value = kernel_alignment(K, y)
    assert value == pytest.approx((K * target).sum() / (np.linalg.norm(K) * np.linalg.norm(target)))
    order = rng.permutation(7)
    assert kernel_alignment(3.0 * K[np.ix_(order, order)], y[order]) == pytest.approx(value)
    assert value <= 1.0 + 1e-12


def test_the_alignment_as_a_score():
    machine = AlignmentSVM(0.1).fit(X, Y)
    K = machine.classifier_.kernel(NEW, NEW)
    labels = np.where(NEW[:, 0] * NEW[:, 1] > 0, 1, -1)
    assert alignment_scorer(machine, NEW, labels) == pytest.approx(labels @ K @ labels / (25 * np.sqrt((K**2).sum())))
    for K in (np.ones((2, 3)), np.zeros((2, 2))):
        with pytest.raises(DataError, match="K"):
            kernel_alignment(K, [0, 1])

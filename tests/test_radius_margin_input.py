"""Bad input to the radius–margin bounds and to what minimises them is refused in one clear error; kernels come by name."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from radius_margin_data import seeds, two_clouds

from dcprog.errors import ConvexityError, DataError, FunctionError, UnknownNameError
from dcprog.methods.radius_margin import (
    Gaussian,
    Kernel,
    Linear,
    Polynomial,
    forward_selection,
    minimise_scaling,
    optimal_basis,
    penalised,
    r2w2,
    r2w2_path,
    r2w2_penalised,
    radius_margin,
    ridged,
    span_bound,
    train,
)
from dcprog.methods.radius_margin.qps import spread

X3, Y3 = np.array([[0.0, 1.0], [1.0, 3.0], [3.0, 2.0]]), np.array([1, 1, 2])


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: radius_margin(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, -1.0])), ConvexityError, "eigenvalue -1"),
        (lambda: radius_margin(-np.eye(2), np.array([1.0, -1.0])), ConvexityError, "positive semidefinite"),
        (lambda: radius_margin(np.array([[1.0, 0.5], [0.0, 1.0]]), np.array([1.0, -1.0])), DataError, "symmetric"),
        (lambda: radius_margin(np.ones((2, 2)), np.array([1.0, -1.0])), DataError, "radius zero"),
        (lambda: train(np.ones((4, 2)), [0, 0, 1, 1], Linear(), ridge=0), DataError, "radius zero"),
        (lambda: train([[0.0], [1.0], [2.0]], [0, 1, 0], Linear(), ridge=0), DataError, "no hyperplane separates"),
        (lambda: train([[0.0], [0.0], [2.0]], [0, 1, 0], Linear(), ridge=0), DataError, "no hyperplane separates"),
        (lambda: train(X3, [1, 1, 1], Linear()), DataError, "1 class"),
        (lambda: train(X3, [1, 2, 3], Linear()), DataError, "3 class"),
        (lambda: train(X3, Y3, Linear(), ridge=-1), DataError, "ridge has to be a number ≥ 0"),
        (lambda: train(X3, Y3, Linear(), solver="higs"), UnknownNameError, "did you mean 'highs'"),
        (lambda: train(X3, Y3, Linear()).predict([[1.0]]), DataError, "1 features"),
        (lambda: Polynomial(degree=0), DataError, "integer ≥ 1"),
        (lambda: Polynomial(c=-1), DataError, "c ≥ 0"),
        (lambda: Gaussian(width=0), DataError, "width"),
        (lambda: r2w2(X3, Y3, 3, Linear()), DataError, "from 1 to 2"),
        (lambda: r2w2(X3 * [1, 0], Y3, 2, Linear()), DataError, "not constant"),
        (lambda: r2w2(X3, Y3, 1, Linear(), q=0), DataError, "q has to be"),
        (lambda: r2w2(X3, Y3, 1, Linear()).predict([[1.0]]), DataError, "1 features"),
        (lambda: forward_selection(X3, Y3, 0, Linear()), DataError, "from 1 to 2"),
        (lambda: minimise_scaling(X3, Y3, Linear(), sigma=[0, 0]), DataError, "zero for all"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p=2), DataError, "concave"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=-1), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap=0.5), DataError, "cap"),
        (lambda: penalised(X3, Y3, 4, Linear(), lam=1), DataError, "from 1 to 2"),
        (lambda: span_bound(np.eye(2), np.array([1.0, -1.0]), eta=0), DataError, "eta"),
        (lambda: optimal_basis(X3, Y3, 3, Linear()), DataError, "from 1 to the 2"),
        (lambda: optimal_basis(X3 @ np.ones((2, 2)), Y3, 2, Linear()), DataError, "span 1 dimensions"),
        (lambda: optimal_basis(X3, Y3, 2, Linear(), S=np.ones((2, 2))), DataError, "singular"),
        (lambda: optimal_basis(X3, Y3, 2, Linear(), S=np.eye(3)), DataError, "2 × 2"),
        (lambda: optimal_basis(X3, Y3, 2, Linear()).transform([[1.0]]), DataError, "1 features"),
        (lambda: train(np.ones((4, 2)), [0, 0, 1, 1], Linear()), DataError, "radius zero"),
        (lambda: train(X3, Y3, Gaussian(width=1e10)), DataError, "radius zero"),
        (lambda: Gaussian("1"), DataError, "width has to be a number"),
        (lambda: Gaussian(1e300), DataError, "less than 1e150"),
        (lambda: Gaussian(None), DataError, "width has to be a number"),
        (lambda: Polynomial(2, "x"), DataError, "c = 'x'"),
        (lambda: Polynomial(2, None), DataError, "c = None"),
        (lambda: Polynomial(2.5), DataError, "degree has to be an integer"),
        (lambda: optimal_basis(X3, Y3, True, Linear()), DataError, "from 1 to the 2"),
        (lambda: r2w2(X3, Y3, True, Linear()), DataError, "from 1 to 2"),
        (lambda: r2w2_path(X3, Y3, 1, Linear()), DataError, "list of numbers"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam="x"), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=None), DataError, "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p="x"), DataError, "p has to be"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p=None), DataError, "p has to be"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap="x"), DataError, "cap"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap=None), DataError, "cap"),
        (lambda: minimise_scaling(X3, Y3, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: forward_selection(X3, Y3, 1, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: optimal_basis(X3, Y3, 1, Linear(), ridge=1e9), DataError, "pass a ridge of about"),
        (lambda: ridged(np.ones((2, 3)), 1.0), DataError, "K has to be square, got shape \\(2, 3\\)"),
        (lambda: ridged(np.ones(2), 1.0), DataError, "K has to be a matrix"),
        (lambda: ridged("a", 1.0), DataError, "K has to hold numbers"),
        (lambda: ridged([[np.nan]], 1.0), DataError, "K has to be finite"),
    ],
)
def test_bad_input_is_one_clear_error(call, error, words):
    with pytest.raises(error, match=words):
        call()


K3 = ridged(X3 @ X3.T, 1.0)


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(3), "for all 3 points"),
        (2 * np.array([1.0, -1.0, 1.0]), "got 2.0 at position 0"),
        (np.array([1.0, np.nan, -1.0]), "finite"),
        ([True, False, True], "got 0.0 at position 1"),
        (["a", "b", "a"], "numbers"),
        ([1.0, -1.0], "3 numbers"),
        (np.array([[1.0], [-1.0], [1.0]]), "3 numbers"),
        (None, "y has to"),
    ],
)
def test_labels_are_checked_before_a_solver_runs(criterion, y, words):
    with pytest.raises(DataError, match=words):
        criterion(K3, y, solver="none of them")


@pytest.mark.parametrize("criterion", [radius_margin, span_bound])
def test_labels_may_be_a_list(criterion):
    assert criterion(K3, [1, -1, 1]).value == criterion(K3, np.array([1.0, -1.0, 1.0])).value


ENTRIES = {
    "minimise_scaling": lambda X=X3, **given: minimise_scaling(X, Y3, **{"kernel": Linear(), **given}),
    "r2w2": lambda X=X3, **given: r2w2(X, Y3, 1, **{"kernel": Linear(), **given}),
    "forward_selection": lambda X=X3, **given: forward_selection(X, Y3, 1, **{"kernel": Linear(), **given}),
    "penalised": lambda X=X3, **given: penalised(X, Y3, 1, **{"kernel": Linear(), "lam": 1, **given}),
    "r2w2_penalised": lambda X=X3, **given: r2w2_penalised(X, Y3, 1, **{"kernel": Linear(), **given}),
    "optimal_basis": lambda X=X3, **given: optimal_basis(X, Y3, 1, **{"kernel": Linear(), **given}),
    "train": lambda X=X3, **given: train(X, Y3, **{"kernel": Linear(), **given}),
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_kernels_come_by_name(entry):
    for name in ("linear", "polynomial", "gaussian"):
        ENTRIES[entry](kernel=name)
    for kernel, error, words in [
        ("gausian", UnknownNameError, "did you mean 'gaussian'"),
        (None, DataError, "derive from"),
        (Linear, DataError, r"pass Linear\(\)"),
        (lambda Z, V: Z @ V.T, DataError, "derive from"),
    ]:
        with pytest.raises(error, match=words):
            ENTRIES[entry](kernel=kernel)


@pytest.mark.parametrize("criterion", [None, "span"])
@pytest.mark.parametrize("entry", [name for name in ENTRIES if name != "train"])
def test_criterion_is_a_function(entry, criterion):
    with pytest.raises(DataError, match="pass radius_margin or span_bound"):
        ENTRIES[entry](criterion=criterion)


@pytest.mark.parametrize("max_iter", ["x", None, -1, 0, 1.5, True])
@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("train", "forward_selection")])
def test_max_iter_is_a_count(entry, max_iter):
    with pytest.raises(DataError, match="max_iter has to be an integer ≥ 1"):
        ENTRIES[entry](max_iter=max_iter)


@pytest.mark.parametrize("rcond", ["x", None, -1, np.nan, 1.0])
def test_rcond_is_a_share(rcond):
    with pytest.raises(DataError, match="0 ≤ rcond < 1"):
        optimal_basis(X3, Y3, 1, Linear(), rcond=rcond)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: r2w2(X3, Y3, 1, Linear(), q=True), "q"),
        (lambda: train(X3, Y3, Linear(), ridge=True), "ridge"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=True), "lam"),
        (lambda: r2w2_penalised(X3, Y3, 1, Linear(), lam=True), "lam"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, p=True), "p"),
        (lambda: penalised(X3, Y3, 1, Linear(), lam=1, cap=True), "cap"),
        (lambda: optimal_basis(X3, Y3, 1, Linear(), rcond=False), "rcond"),
        (lambda: span_bound(K3, [1, -1, 1], eta=True), "eta"),
        (lambda: span_bound(K3, [1, -1, 1], steepness=np.True_), "steepness"),
        (lambda: Gaussian(True), "width"),
        (lambda: Polynomial(2, True), "c"),
    ],
)
def test_booleans_are_no_numbers(call, name):
    with pytest.raises(DataError, match=rf"\b{name}\b.*(True|False)"):
        call()


# Kernels and criteria of one's own


class Own(Kernel):
    """The linear kernel, but for what is passed."""

    def __init__(self, values=lambda Z, V: Z @ V.T, pullback=lambda Z, gamma: 2 * gamma @ Z):
        self.values, self.derivative = values, pullback

    def __call__(self, Z, V):
        return self.values(Z, V)

    def pullback(self, Z, gamma):
        return self.derivative(Z, gamma)


def fails(*_, **__):
    raise KeyError("lost")


VALUES = [
    (fails, FunctionError, r"kernel\(X, Z\) raised KeyError: 'lost'"),
    (lambda Z, V: np.ones(3), DataError, r"shape \(3,\), expected \(3, 3\)"),
    (lambda Z, V: np.ones((2, 3)), DataError, r"shape \(2, 3\), expected \(3, 3\)"),
    (lambda Z, V: None, DataError, r"shape \(\), expected \(3, 3\)"),
    (lambda Z, V: "text", DataError, "matrix of numbers"),
    (lambda Z, V: [[1], [1, 2]], DataError, "matrix of numbers"),
    (lambda Z, V: 1j * Z @ V.T, DataError, "complex"),
    (lambda Z, V: np.full((3, 3), np.nan), DataError, "NaN or infinite"),
]
PULLBACKS = [
    (fails, FunctionError, r"kernel.pullback\(Z, gamma\) raised KeyError: 'lost'"),
    (lambda Z, gamma: gamma, DataError, r"pullback.* shape \(3, 3\), expected \(3, .\)"),
    (lambda Z, gamma: "text", DataError, "pullback.* matrix of numbers"),
    (lambda Z, gamma: np.full(Z.shape, np.inf), DataError, "pullback.* NaN or infinite"),
]
EVALUATIONS = [
    (fails, FunctionError, "as radius_margin does, and raised KeyError: 'lost'"),
    (lambda K, y, solver: 3, FunctionError, "'int' object has no attribute 'value'"),
    (lambda K, y, solver: SimpleNamespace(value=1.0), FunctionError, "no attribute 'gradient'"),
    (lambda K, y, solver: SimpleNamespace(value="x", gradient=K), DataError, "the value 'x', expected a finite number"),
    (lambda K, y, solver: SimpleNamespace(value=np.nan, gradient=K), DataError, "the value nan"),
    (lambda K, y, solver: SimpleNamespace(value=1.0, gradient=y), DataError, r"gradient has shape \(3,\), expected \(3, 3"),
    (lambda K, y: radius_margin(K, y), FunctionError, "unexpected keyword argument 'solver'"),
]


@pytest.mark.parametrize("entry", ENTRIES)
def test_own_kernels_are_checked_before_a_solver_runs(entry):
    for values, error, words in VALUES:
        with pytest.raises(error, match=words):
            ENTRIES[entry](kernel=Own(values), solver="none of them")


@pytest.mark.parametrize("entry", [name for name in ENTRIES if name != "train"])
def test_own_derivatives_and_criteria_are_checked_before_a_solver_runs(entry):
    for pullback, error, words in PULLBACKS:
        with pytest.raises(error, match=words):
            ENTRIES[entry](kernel=Own(pullback=pullback), solver="none of them")
    for criterion, error, words in EVALUATIONS:
        with pytest.raises(error, match=words):
            ENTRIES[entry](criterion=criterion, solver="none of them")


def test_own_kernel_and_criterion_do_what_the_built_in_ones_do():
    X, y = two_clouds()
    plain = lambda bound: SimpleNamespace(value=bound.value, gradient=bound.gradient.tolist())
    own = minimise_scaling(X, y, Own(), criterion=lambda K, y, solver: plain(radius_margin(K, y)))
    np.testing.assert_array_equal(own.sigma, minimise_scaling(X, y, Linear()).sigma)


def test_a_kernel_that_fails_on_the_way_does_not_pass_for_the_end_of_it():
    """A kernel matrix beyond what the QPs can solve is where a descent ends; an exception is not."""
    calls = []

    def fails_later(Z, V):
        calls.append(1)
        return Z @ V.T if len(calls) < 5 else fails()

    with pytest.raises(FunctionError, match="KeyError"):
        minimise_scaling(*two_clouds(), Own(fails_later))


def test_own_kernel_is_checked_for_new_points():
    machine = train(X3, Y3, Own(lambda Z, V: V @ V.T))
    with pytest.raises(DataError, match=r"shape \(3, 3\), expected \(1, 3\)"):
        machine.predict([[1.0, 2.0]])


@pytest.mark.parametrize("entry", [name for name in ENTRIES if name not in ("train", "minimise_scaling")])
def test_constant_features_are_nothing_to_select_from(entry):
    with pytest.raises(DataError, match="nothing to select from, since all 2 features are constant: pass some that vary"):
        ENTRIES[entry](np.ones((3, 2)))


NEGATIVE = Own(lambda Z, V: -Z @ V.T, lambda Z, gamma: -2 * gamma @ Z)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_negative_kernel_is_told_from_points_that_are_one(entry):
    for options in ({}, {"ridge": 100.0}):
        with pytest.raises(ConvexityError, match="positive semidefinite"):
            ENTRIES[entry](kernel=NEGATIVE, **options)


@given(seed=seeds)
def test_spread_is_positive_or_says_why_not(seed):
    """Also where a point is in the middle, at the distance 0 from the mean."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(1, 6)), 2))
    X = np.vstack([X, -X, np.zeros(2)])
    assert spread(X @ X.T) == pytest.approx((X**2).sum(axis=1).max())
    with pytest.raises(ConvexityError, match="positive semidefinite"):
        spread(-X @ X.T)

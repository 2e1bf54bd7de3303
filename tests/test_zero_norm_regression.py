"""Zero-norm regression with an ε-insensitive loss: the formula, its first step, its support, and what it refuses."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import dcprog
from dcprog import errors
from dcprog.models import zero_norm_regression
from dcprog.testing import check_program

SEED = st.integers(0, 1000)


def samples(seed, n=30, d=5, noise=0.05):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, 2.0 * X[:, 0] - 1.5 * X[:, 1] + 0.7 + noise * rng.standard_normal(n)


def least(X, y, cost, lam, tube):
    """min cost'|w| + λ Σ (|y − Xw − b| − ε)₊ by SciPy, with a slack for each sample."""
    n, d = X.shape
    c = np.concatenate([cost, cost, [0.0], np.full(n, lam)])
    rows = np.hstack([X, -X, np.ones((n, 1))])
    A = np.vstack([np.hstack([rows, -np.eye(n)]), np.hstack([-rows, -np.eye(n)])])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(c, A_ub=A, b_ub=np.concatenate([y + tube, tube - y]), bounds=bounds)


@settings(max_examples=5)
@given(seed=SEED)
def test_the_objective_is_the_formula(seed):
    X, y = samples(seed)
    r = dcprog.solve(zero_norm_regression(X, y, lam=2.0, tube=0.1, eps=1e-2))
    outside = np.maximum(np.abs(y - X @ r["w"] - r["b"]) - 0.1, 0.0)
    assert r.status is dcprog.Status.CONVERGED
    assert r.objective == pytest.approx(np.log1p(np.abs(r["w"]) / 1e-2).sum() + 2.0 * outside.sum(), abs=1e-7)


@given(seed=SEED)
def test_each_step_is_scipys_weighted_linear_program(seed):
    X, y = samples(seed)
    program = zero_norm_regression(X, y, lam=2.0, tube=0.1, eps=1e-2)
    states = list(dcprog.DCA(program, stop=dcprog.MaxIter(2)))
    for before, after in pairwise(states):
        cost = 1.0 / (1e-2 + before["v"])
        outside = np.maximum(np.abs(y - X @ after["w"] - after["b"]) - 0.1, 0.0).sum()
        assert cost @ after["v"] + 2.0 * outside == pytest.approx(least(X, y, cost, 2.0, 0.1).fun, rel=1e-7)


@settings(max_examples=5)
@given(seed=SEED)
def test_the_true_features_and_no_other_support_does_better_with_fewer(seed):
    """Of all supports of one feature the best loss is worse than what the second feature costs."""
    X, y = samples(seed, n=40, noise=0.01)
    r = dcprog.solve(zero_norm_regression(X, y, lam=10.0, tube=0.1))
    assert np.flatnonzero(r["v"] > 1e-8).tolist() == [0, 1]
    assert r["w"][:2] == pytest.approx([2.0, -1.5], abs=0.1)
    few = [c for k in (0, 1) for c in combinations(range(5), k)]
    fits = [least(X[:, list(c)], y, np.zeros(len(c)), 10.0, 0.1).fun for c in few]
    assert min(fits) > 2 * np.log(2.0 / 1e-6)


@settings(max_examples=5)
@given(seed=SEED, scale=st.sampled_from([0.5, 4.0]), shift=st.sampled_from([-20.0, 3.0]))
def test_other_units_of_y(seed, scale, shift):
    """y → s·y + t takes w, ε and ε₀ to s times themselves, λ to λ/s, and b to s·b + t; f stays."""
    X, y = samples(seed)
    one = dcprog.solve(zero_norm_regression(X, y, lam=2.0, tube=0.1, eps=1e-2), x0={"p": 0.5, "q": 0.5, "b": 0.0})
    other = dcprog.solve(
        zero_norm_regression(X, scale * y + shift, lam=2.0 / scale, tube=0.1 * scale, eps=1e-2 * scale),
        x0={"p": 0.5 * scale, "q": 0.5 * scale, "b": shift},
    )
    assert other.objective == pytest.approx(one.objective, rel=1e-6)


def test_sparse_samples_and_what_all_programs_promise():
    X, y = samples(3)
    X = np.where(np.abs(X) < 0.3, 0.0, X)
    program = zero_norm_regression(sp.csr_array(X), y, eps=1e-2)
    assert dcprog.solve(program).objective == pytest.approx(dcprog.solve(zero_norm_regression(X, y, eps=1e-2)).objective)
    check_program(program).raise_if_failed()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tube": -0.1}, "tube is -0.1, expected a number ≥ 0"),
        ({"lam": 0}, "lam is 0, expected a number > 0"),
        ({"eps": np.nan}, "eps is nan"),
        ({"y": ["a"] * 30}, "y"),
        ({"y": np.ones(29)}, "29 entries for 30 samples"),
        ({"X": np.full((30, 2), np.inf)}, "X"),
    ],
)
def test_bad_input(given, message):
    X, y = samples(0)
    with pytest.raises(errors.DataError, match=message):
        zero_norm_regression(**{"X": X, "y": y, **given})


def test_a_family_has_one_tube():
    X, y = samples(0)
    family = zero_norm_regression.family(X, y, tube=0.1)
    with pytest.raises(errors.DataError, match=r"tube is 0.2, and the family has 0.1"):
        zero_norm_regression(family, tube=0.2)
    with pytest.raises(errors.DataError, match="one of another model"):
        zero_norm_regression(dcprog.models.fsv.family(X, np.sign(y)))

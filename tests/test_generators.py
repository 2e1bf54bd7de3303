"""The generators have the moments that the papers state; the filters are the formulas, and see what they can see."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.feature_selection import SelectKBest

from dcprog.datasets import generators as make
from dcprog.errors import DataError, UnknownNameError
from dcprog.methods.filters import fisher_score, kolmogorov_smirnov_score, pearson_score

ALL = {
    "weston_linear": lambda n, seed: make.weston_linear(n, seed=seed),
    "weston_nonlinear": lambda n, seed: make.weston_nonlinear(n, seed=seed),
    "sparse_polynomial": lambda n, seed: make.sparse_polynomial(n, 0.9, seed=seed),
    "circle": lambda n, seed: make.circle(n, 2, seed),
    "chess_board": lambda n, seed: make.chess_board(n, 2, seed),
    "difficult": lambda n, seed: make.difficult(n, seed=seed),
    "banana": lambda n, seed: make.banana(n, seed=seed),
    "highleyman": lambda n, seed: make.highleyman(n, seed=seed),
    "lithuanian": lambda n, seed: make.lithuanian(n, seed=seed),
    "organs": lambda n, seed: make.organs(n, seed=seed),
}
MANY = 20_000


@pytest.mark.parametrize("name", ALL)
def test_seeded_shaped_and_of_two_classes(name):
    (X, y), (again, same), (other, _) = ALL[name](50, 3), ALL[name](50, 3), ALL[name](50, 4)
    assert X.shape[0] == len(y) == 50
    assert np.isfinite(X).all()
    assert set(y) == {-1.0, 1.0}
    assert np.array_equal(X, again)
    assert np.array_equal(y, same)
    assert not np.array_equal(X, other)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 2.5, "x", None, np.nan, True])
def test_number_of_samples_is_checked(name, n):
    with pytest.raises(DataError, match="n has to be an integer ≥ 2"):
        ALL[name](n, 0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", ["x", -1, 2.5])
def test_seed_is_checked(name, seed):
    with pytest.raises(DataError, match="seed has to be an integer ≥ 0"):
        ALL[name](10, seed)


@pytest.mark.parametrize("value", ["x", 6.5, None, 0, -1])
def test_numbers_of_features_are_checked(value):
    for generate in (make.weston_linear, make.weston_nonlinear, make.sparse_polynomial, make.difficult, make.organs):
        with pytest.raises(DataError, match="d has to be an integer"):
            generate(10, d=value)
    for generate in (make.banana, make.highleyman, make.lithuanian):
        with pytest.raises(DataError, match="copies has to be an integer"):
            generate(10, copies=value)
    for generate in (make.circle, make.chess_board):
        with pytest.raises(DataError, match="noise_features has to be an integer"):
            generate(10, noise_features=value if value != 0 else -2)


@pytest.mark.parametrize("name", ALL)
def test_both_classes_are_there_however_few_points(name):
    for seed in range(20):
        assert set(ALL[name](2, seed)[1]) == {-1.0, 1.0}
    for seed in range(20):  # one term, which may be a square and have one sign
        assert len(set(make.sparse_polynomial(2, 0.99, 3, seed)[1])) == 2


def test_a_draw_with_both_classes_is_the_first_one():
    """What a seed gave before draws with one class were made again, it gives now."""
    X, _ = make.circle(64, 2, 5)
    assert np.array_equal(X, np.random.default_rng(5).uniform(-2, 2, (64, 4)))
    X, _ = make.chess_board(64, 2, 5)
    assert np.array_equal(X, np.random.default_rng(5).uniform(0, 4, (64, 4)))
    X, _ = make.sparse_polynomial(64, 0.9, seed=5)
    assert np.array_equal(X, np.random.default_rng(5).standard_normal((64, 10)))


@pytest.mark.parametrize("generate", [make.banana, make.lithuanian])
def test_spread_is_that_of_the_noise(generate):
    (one, y), (large, same), (default, _) = (generate(500, 3, 0, **s) for s in ({"spread": 1.0}, {"spread": 9.0}, {}))
    (arcs, _) = generate(500, 3, 0, spread=1e-12)
    assert np.array_equal(y, same)
    assert np.array_equal(one, default)
    np.testing.assert_allclose(large - arcs, 9 * (one - arcs), atol=1e-9)
    assert (large - arcs).std() == pytest.approx(9, rel=0.05)
    for spread in (0, -1, np.nan, np.inf, "x", None):
        with pytest.raises(DataError, match="spread"):
            generate(10, spread=spread)


def test_weston_linear_moments():
    X, y = make.weston_linear(MANY, seed=0)
    means = (X * y[:, None]).mean(axis=0)
    assert X.shape == (MANY, 202)
    assert means[:6] == pytest.approx([0.7, 1.4, 2.1, 0.3, 0.6, 0.9], abs=0.06)
    assert np.abs(means[6:]).max() < 0.6
    assert X[:, 6:].std() == pytest.approx(20.0, rel=0.01)
    signal = 0.7 * np.array([1, 4, 9]) + 1 - (0.7 * np.array([1, 2, 3])) ** 2
    assert (X * y[:, None])[:, :3].var(axis=0) == pytest.approx(signal, rel=0.05)
    assert (X[:, 0] * X[:, 3]).mean() == pytest.approx(0.0, abs=0.05)  # one of the two triples is always silent
    assert make.weston_linear(10, 100, 0)[0].shape == (10, 100)


def test_weston_nonlinear_moments():
    X, y = make.weston_nonlinear(MANY, seed=0)
    assert X.shape == (MANY, 52)
    for label, product in ((-1, 0.75 * 3), (1, -9.0)):
        part = X[y == label]
        assert part[:, :2].mean(axis=0) == pytest.approx([0, 0], abs=0.1)
        assert (part[:, 0] * part[:, 1]).mean() == pytest.approx(product, abs=0.15)


def test_targets_of_sparse_polynomials():
    X, y = make.sparse_polynomial(500, "product", seed=1)
    assert np.array_equal(y, np.where(X[:, 0] * X[:, 1] + X[:, 2] >= 0, 1, -1))
    X, y = make.sparse_polynomial(500, "linear", seed=1)
    assert np.array_equal(y, np.sign(X[:, 0]))
    X, y = make.sparse_polynomial(4000, 0.95, seed=2)
    i, j = np.triu_indices(10)
    terms = np.hstack([X, X[:, i] * X[:, j]])
    scores = np.linalg.lstsq(terms, y, rcond=None)[0]
    assert (np.sort(np.abs(scores))[::-1][3:] < 0.1).all()  # 5 % of 65 coefficients are three
    with pytest.raises(UnknownNameError):
        make.sparse_polynomial(10, "cubic")


def test_circle_and_chess_board_labels():
    X, y = make.circle(MANY, 2, 0)
    assert np.array_equal(y > 0, (X[:, :2] ** 2).sum(axis=1) >= 1)
    assert (y < 0).mean() == pytest.approx(np.pi / 16, abs=0.01)
    X, y = make.chess_board(MANY, 2, 0)
    assert np.array_equal(y > 0, (X[:, 0] >= 2) != (X[:, 1] >= 2))


def test_prtools_moments():
    X, y = make.difficult(MANY, seed=0)
    back = X[:, :2] @ np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    assert (back[y > 0].mean(axis=0) - back[y < 0].mean(axis=0)) == pytest.approx([3, 3], abs=0.3)
    assert back[y > 0].var(axis=0) == pytest.approx([1, 40], rel=0.05)
    X, y = make.highleyman(MANY, 3, 0)
    assert X[y > 0][:, [0, 3]].mean(axis=0) == pytest.approx([1, 1], abs=0.03)
    assert X[y < 0][:, [0, 3]].std(axis=0) == pytest.approx([0.1, 2.0], rel=0.03)
    X, y = make.lithuanian(MANY, 1, 0)
    radius = np.hypot(*X.T)
    assert radius[y > 0].mean() == pytest.approx(10, abs=0.1)
    assert radius[y < 0].mean() == pytest.approx(6.28, abs=0.1)
    X, y = make.banana(MANY, 1, 0)
    assert np.hypot(*X[y > 0].T).mean() == pytest.approx(5.1, abs=0.05)
    assert np.hypot(*(X[y < 0] + 3.75).T).mean() == pytest.approx(5.1, abs=0.05)
    assert make.banana(10, seed=0)[0].shape == (10, 100)


def test_organs_are_histograms():
    X, _ = make.organs(60, 100, 0)
    assert (X >= 0).all()
    assert (X.reshape(60, 10, 10).sum(axis=2) == 1000).all()
    with pytest.raises(DataError, match="multiple of 10"):
        make.organs(60, 101)


def test_filters_are_their_formulas():
    X, y = make.weston_linear(200, 10, 1)
    X[:, 9] = 3.0
    X[:, 8] = np.round(X[:, 8])
    for j in range(9):
        assert pearson_score(X, y)[j] == pytest.approx(abs(np.corrcoef(X[:, j], y)[0, 1]))
        a, b = X[y > 0, j], X[y < 0, j]
        assert fisher_score(X, y)[j] == pytest.approx((a.mean() - b.mean()) ** 2 / (a.var() + b.var()))
        assert kolmogorov_smirnov_score(X, y)[j] == pytest.approx(np.sqrt(200) * ks_2samp(X[:, j], a).statistic)
    for score in (pearson_score, fisher_score, kolmogorov_smirnov_score):
        assert score(X, y)[9] == 0
        assert score(sp.csr_matrix(X), y) == pytest.approx(score(X, y))


@pytest.mark.parametrize("score", [pearson_score, fisher_score, kolmogorov_smirnov_score])
@pytest.mark.parametrize("value", [0.1, -1e-30, 1e70, 3.3e15])
def test_constant_features_score_nothing(score, value):
    """0.1 is not the mean of ten 0.1 in floating point, so that variances and differences of means are noise."""
    X, y = make.weston_linear(10, 6, 1)
    X[:, 2] = value
    X[:, 3] = np.where(np.arange(10) % 3, 0.3, 0.1 + 0.2)  # one number, computed in two ways
    for data in (X, sp.csr_array(X)):
        assert score(data, y)[2] == 0
        assert score(data, y)[3] == 0
    assert 2 not in SelectKBest(score, k=4).fit(X, y).get_support(indices=True)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), factor=st.sampled_from([1e-200, 1e-3, 7.0, 1e70]), shift=st.floats(-10, 10))
def test_filters_are_blind_to_units_and_two_of_them_rank_alike(seed, factor, shift):
    """r² = f/(f + 2) for classes of one size: the reason to read the Fisher score with the square."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 4)) + shift, np.repeat([-1.0, 1.0], 10)
    f, r = fisher_score(X, y), pearson_score(X, y)
    np.testing.assert_allclose(r**2, f / (f + 2), rtol=1e-9)
    for score in (pearson_score, fisher_score, kolmogorov_smirnov_score):
        np.testing.assert_allclose(score(factor * X, y), score(X, y), rtol=1e-9)


def test_kolmogorov_smirnov_is_blind_to_the_last_digits():
    """One number, computed in two ways, is one value; SciPy's statistic is that of the rounded ones."""
    x, y = np.array([[0.3], [0.1 + 0.2], [0.3], [0.1 + 0.2], [1.0], [2.0]]), np.tile([0, 1], 3)
    expected = np.sqrt(6) * ks_2samp(x.round(9).ravel(), x.round(9)[y > 0].ravel()).statistic
    assert kolmogorov_smirnov_score(x, y) == pytest.approx([expected])
    assert kolmogorov_smirnov_score(-1e30 * x, y) == pytest.approx([expected])


@given(seed=st.integers(0, 10**6))
def test_kolmogorov_smirnov_sees_order_alone(seed):
    """Of numbers over 60 decades, some of them equal, it is SciPy's statistic, and that of their logarithms."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-70, 70, (30, 3)).round(1), rng.permutation(np.arange(30) % 2)
    score = kolmogorov_smirnov_score(np.exp(x), y)
    assert score == pytest.approx([np.sqrt(30) * ks_2samp(column, column[y > 0]).statistic for column in x.T])
    assert score == pytest.approx(kolmogorov_smirnov_score(x, y))


def test_fisher_score_of_classes_without_spread_is_infinite():
    X = np.array([[0.3], [0.1 + 0.2], [0.7], [0.7]])
    assert fisher_score(X, [0, 0, 1, 1])[0] == np.inf


def test_the_printed_kolmogorov_smirnov_score_is_the_same_for_all_features():
    X, y = make.weston_linear(100, 6, 1)
    below = X[:, None, :] <= X[None, :, :]
    joint = below.mean(axis=0) - (below & (y > 0)[:, None, None]).mean(axis=0)
    assert joint.max(axis=0) == pytest.approx((y < 0).mean())


def test_filters_find_linear_signals_and_miss_the_chess_board():
    X, y = make.weston_linear(500, seed=0)
    for score in (pearson_score, fisher_score, kolmogorov_smirnov_score):
        assert set(SelectKBest(score, k=3).fit(X, y).get_support(indices=True)) <= set(range(6))
    X, y = make.chess_board(2000, 2, 0)
    assert pearson_score(X, y).max() < 0.1
    with pytest.raises(DataError, match="1 class"):
        fisher_score(X, np.ones(2000))

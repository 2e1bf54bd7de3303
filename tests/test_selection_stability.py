"""How stable selections are: Nogueira's formula and the mean Jaccard index, by hand, by their bounds, by another formula."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcprog.studies.statistics import jaccard, stability, standard_error

selections = st.tuples(st.integers(2, 8), st.integers(2, 10), st.integers(0, 10**6)).map(
    lambda given: np.random.default_rng(given[2]).integers(0, 2, given[:2])
)


def test_by_hand():
    """Three runs choose {1, 2}, {1, 3}, {1, 2} of four features.

    p = (1, 2/3, 1/3, 0), s² = 3/2 p(1 − p) = (0, 1/3, 1/3, 0), mean 1/6; k̄/d = 1/2, so Φ = 1 − (1/6)/(1/4) = 1/3.
    The pairs share 1 of 3, 2 of 2 and 1 of 3 features: (1/3 + 1 + 1/3)/3 = 5/9.
    """
    Z = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])
    assert stability(Z) == pytest.approx(1 / 3, abs=1e-15)
    assert jaccard(Z) == pytest.approx(5 / 9, abs=1e-15)


def test_the_lowest_values_are_reached():
    """Runs that choose one feature each, all of them different: Φ = −1/(M − 1), and no pair shares any."""
    for M in (2, 3, 6):
        assert stability(np.eye(M)) == pytest.approx(-1 / (M - 1))
        assert jaccard(np.eye(M)) == 0.0


def test_runs_that_select_nothing_agree():
    Z = np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]])
    assert jaccard(Z) == pytest.approx(1 / 3)


@pytest.mark.parametrize("Z", [np.zeros((4, 3)), np.ones((4, 3)), np.array([[1, 0, 1]])], ids=["none", "all", "one run"])
def test_without_a_choice_there_is_no_stability(Z):
    assert stability(Z) is None
    assert jaccard(Z) is None


@given(selections)
def test_bounds(Z):
    if stability(Z) is None:
        assert jaccard(Z) is None
        return
    assert -1 / (len(Z) - 1) - 1e-12 <= stability(Z) <= 1 + 1e-12
    assert 0 <= jaccard(Z) <= 1
    same = np.tile(Z[:1], (len(Z), 1))
    if Z[0].any() and not Z[0].all():
        assert stability(same) == pytest.approx(1.0)
        assert jaccard(same) == 1.0


@given(selections, st.integers(0, 99))
def test_the_order_of_runs_and_features_does_not_matter(Z, seed):
    rng = np.random.default_rng(seed)
    other = Z[rng.permutation(len(Z))][:, rng.permutation(Z.shape[1])]
    assert stability(other) == (None if stability(Z) is None else pytest.approx(stability(Z)))
    assert jaccard(other) == (None if jaccard(Z) is None else pytest.approx(jaccard(Z)))


@given(st.integers(2, 7), st.integers(3, 9), st.data())
def test_for_selections_of_one_size_it_is_kunchevas_index(M, d, data):
    """There Φ is the mean over pairs of (|A ∩ B| − k²/d) / (k − k²/d) (Kuncheva 2007), computed here in fractions."""
    k = data.draw(st.integers(1, d - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    chosen = [set(rng.permutation(d)[:k].tolist()) for _ in range(M)]
    Z = np.array([[j in one for j in range(d)] for one in chosen])
    chance = Fraction(k * k, d)
    pairs = [(len(one & two) - chance) / (k - chance) for one, two in combinations(chosen, 2)]
    assert stability(Z) == pytest.approx(float(sum(pairs) / len(pairs)), abs=1e-12)


def test_the_standard_error_is_that_of_the_mean():
    values = np.random.default_rng(0).normal(size=(4000, 9))
    assert np.mean([standard_error(row) for row in values]) == pytest.approx(values.mean(axis=1).std(), rel=0.05)
    assert standard_error([4.0]) == 0.0

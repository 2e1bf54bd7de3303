"""Comparisons: statistics that are right, and no winner where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from study_tools import QUICK, SMALL, small_data

from dcprog import datasets
from dcprog.datasets import Dataset
from dcprog.errors import UnknownNameError
from dcprog.studies import compare
from dcprog.studies.compare import Line, _verdict
from dcprog.studies.statistics import corrected_t_test, holm, mean_and_variance, stability

differences = st.lists(st.floats(-1, 1, allow_nan=False).map(lambda v: round(v, 3)), min_size=2, max_size=20)


@pytest.mark.filterwarnings("ignore:Precision loss")
@given(differences, st.floats(0.01, 1))
def test_the_corrected_test_is_milder_than_students(d, share):
    from scipy.stats import ttest_1samp

    assert corrected_t_test(d, share) >= np.nan_to_num(ttest_1samp(d, 0.0).pvalue, nan=0.0) - 1e-12


@given(differences, st.floats(0.01, 1))
def test_the_test_has_no_side_and_no_order(d, share):
    p = corrected_t_test(d, share)
    assert 0 <= p <= 1
    assert corrected_t_test([-v for v in d], share) == pytest.approx(p)
    assert corrected_t_test(d[::-1], share) == pytest.approx(p)


def test_without_the_correction_it_is_students():
    from scipy.stats import ttest_1samp

    d = np.random.default_rng(0).normal(0.1, 0.2, 10)
    assert corrected_t_test(d, 0.0) == pytest.approx(ttest_1samp(d, 0.0).pvalue)


def test_noise_is_rejected_as_often_as_promised():
    """Of studies of pure noise the corrected test finds a difference in some 5 % at the level 5 %, Student's in far more."""
    rng = np.random.default_rng(1)
    found = {"corrected": 0, "student": 0}
    for _ in range(300):
        sample = rng.normal(size=100)  # the difference of two methods on each sample
        d = []
        for _ in range(20):  # random splits overlap
            d.append(sample[rng.permutation(100)[:33]].mean())
        found["corrected"] += corrected_t_test(d, 33 / 67) < 0.05
        found["student"] += corrected_t_test(d, 0.0) < 0.05
    assert found["corrected"] <= 0.08 * 300
    assert found["student"] > 0.2 * 300


def test_equal_differences_on_few_samples_prove_little():
    assert corrected_t_test([0.1] * 5, 0.25) == 0.0
    few, many = (corrected_t_test([0.1] * 5, 0.25, tests) for tests in (10, 1000))
    assert few > 0.05 > many
    d = [0.3, -0.2, 0.4, 0.1, 0.0]
    assert corrected_t_test(d, 0.25, 20) == corrected_t_test(d, 0.25)  # where they vary enough nothing is added


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_only_raises(p):
    adjusted = holm(p)
    assert all(a >= q for a, q in zip(adjusted, p, strict=True))
    assert max(adjusted) <= 1
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


@given(st.integers(2, 8), st.integers(2, 10), st.integers(0, 99))
def test_stability_is_one_for_the_same_selection_and_at_most_one(M, d, seed):
    Z = np.random.default_rng(seed).integers(0, 2, (M, d))
    value = stability(Z)
    assert value is None or -1 / (M - 1) - 1e-12 <= value <= 1 + 1e-12
    same = np.zeros((M, d))
    same[:, 0] = 1
    assert stability(same) == 1.0


def test_random_selections_are_unstable():
    rng = np.random.default_rng(0)
    Z = np.array([rng.permutation([1] * 10 + [0] * 30) for _ in range(200)])
    assert abs(stability(Z)) < 0.02
    assert stability(np.zeros((3, 4))) is None


def test_a_mean_of_one_value_has_no_variance():
    assert mean_and_variance([3.0]) == (3.0, 0.0)


def line(name, error, p):
    return Line(name, name.upper(), error, 1.0, 2.0, 1.0, 0.1, p)


def test_no_winner_where_one_difference_may_be_noise():
    winner, said = _verdict([line("a", 1.0, None), line("b", 5.0, 0.001), line("c", 2.0, 0.3)], 10)
    assert winner is None
    assert said.startswith("no winner: A has the lowest error, but its difference to C may be noise (p ≥ 0.3")
    winner, said = _verdict([line("a", 1.0, None), line("b", 5.0, 0.001)], 10)
    assert winner == "a"
    assert _verdict([line("a", 1.0, None)], 10)[0] is None
    winner, said = _verdict([line("a", 1.0, None), line("b", 5.0, 0.001)], 4)
    assert winner is None
    assert "4 splits are too few" in said


def test_a_useful_method_beats_a_useless_one(tmp_path):
    """No line cuts a disc out of the plane; the Gaussian SVM does."""
    X, y = datasets.generators.circle(160, seed=0)
    data = Dataset("circle", X, y, ("a", "b"), "")
    found = compare(data, tmp_path / "out", methods=["svm", "gaussian_svm"], folds=5, grids=SMALL)
    assert found.winner == "gaussian_svm"
    assert [row.method for row in found.lines] == ["gaussian_svm", "svm"]


def test_equal_methods_have_no_winner(tmp_path):
    found = compare(small_data(), tmp_path / "out", methods=QUICK, folds=5, grids=SMALL)
    assert found.winner is None
    assert "may be noise" in found.verdict
    assert found.to_dict()["methods"][0]["p"] is None
    assert {row.method for row in found.lines} == set(QUICK)


def test_a_line_has_what_each_split_gave(tmp_path):
    """Bars, chosen parameters and the stability of the selection are drawn from these."""
    found = compare(small_data(), tmp_path / "out", methods=QUICK, folds=5, grids=SMALL)
    assert found.feature_names == small_data().feature_names
    for row in found.lines:
        cells = [result for cell, result in sorted(found.results.items()) if cell.method == row.method]
        assert row.errors_by_split == pytest.approx([100 * cell["error"] for cell in cells])
        assert row.error == pytest.approx(np.mean(row.errors_by_split))
        assert list(row.parameters_by_split) == [cell["parameters"] for cell in cells]
        assert [list(chosen) for chosen in row.selected_by_split] == [cell["selected"] for cell in cells]
        assert row.features == pytest.approx(np.mean([len(chosen) for chosen in row.selected_by_split]))
        assert row.seconds == pytest.approx(np.mean(row.seconds_by_split))
    line = found.to_dict()["methods"][0]
    assert {"errors_by_split", "parameters_by_split", "selected_by_split", "seconds_by_split"} <= set(line)


def test_methods_by_name_and_by_default(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'svm'"):
        compare(small_data(), tmp_path / "out", methods=["svmm"])
    from dcprog.studies.compare import _chosen

    names, left_out = _chosen(None, 166)
    assert "quadratic_fsv" not in names
    assert "name it to run it" in left_out["quadratic_fsv"]
    assert _chosen(["quadratic_fsv"], 166) == (["quadratic_fsv"], {})
    assert "quadratic_fsv" in _chosen(None, 30)[0]

"""Comparisons: statistics that are right, and no winner where there is none."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import ClassifierMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from study_tools import QUICK, SMALL, small_data

from dcprog import datasets
from dcprog import estimators as est
from dcprog.datasets import Dataset
from dcprog.errors import DataError, UnknownNameError
from dcprog.studies import METHODS, compare
from dcprog.studies.candidates import candidates, default_names, parsed
from dcprog.studies.compare import _verdict
from dcprog.studies.findings import Finding
from dcprog.studies.machines import used_features
from dcprog.studies.statistics import corrected_t_test, holm, mean_and_variance, stability
from dcprog.studies.store import StudyWarning

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
    return Finding(name, name.upper(), 2, (error,), ({},), ((0, 1),), (0.1,), p)


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
    names = default_names(166)
    assert "quadratic_fsv" not in names
    assert "quadratic_fsv" in default_names(30)
    chosen, left_out = candidates(None, SMALL, 100, 166)
    assert [one.name for one in chosen] == names
    assert "name it to run it" in left_out["quadratic_fsv"]
    chosen, left_out = candidates(["quadratic_fsv"], SMALL, 100, 166)
    assert ([one.name for one in chosen], left_out) == (["quadratic_fsv"], {})


def test_every_estimator_has_a_name_in_comparisons():
    """Those that are tuned stand for those that are not; comparisons are of classifiers."""
    machines = [entry.machine(SMALL, 8) for entry in METHODS.values()]
    inner = [getattr(machine, "estimator", machine) for machine in machines]
    known = {type(machine).__name__.removesuffix("CV") for machine in inner}
    public = {name: getattr(est, name) for name in est.__all__}
    classifiers = [name for name, kind in public.items() if isinstance(kind, type) and issubclass(kind, ClassifierMixin)]
    assert known == {name.removesuffix("CV") for name in classifiers}


def test_estimators_are_compared_with_any_classifier(tmp_path):
    search, stump = GridSearchCV(LinearSVC(), {"C": [0.01, 1.0]}), DecisionTreeClassifier(max_depth=1)
    methods = ["rlp", est.AROM(r=2), search, ("mine", stump)]
    found = compare(small_data(), tmp_path / "out", methods=methods, folds=5, grids=SMALL, n_jobs=2)
    assert found.complete
    lines = {line.method: line for line in found.lines}
    assert set(lines) == {
        "rlp",
        "AROM(r=2)",
        "GridSearchCV(estimator=LinearSVC(), param_grid={'C': [0.01, 1.0]})",
        "mine",
    }
    assert lines["AROM(r=2)"].features == 2.0
    assert lines["mine"].features == 1.0, "a stump uses one feature"
    tuned = next(line for name, line in lines.items() if name.startswith("GridSearchCV"))
    assert {chosen["C"] for chosen in tuned.parameters_by_split} <= {0.01, 1.0}
    again = compare(small_data(), tmp_path / "out", methods=methods, folds=5, grids=SMALL)
    assert again.results == found.results, "taken from what was kept, with its times"


def test_a_classifier_with_other_parameters_is_another_one(tmp_path):
    data = small_data()
    compare(data, tmp_path / "out", methods=[("tree", DecisionTreeClassifier(max_depth=1))], folds=3)
    with pytest.warns(StudyWarning, match="other data, parameters"):
        found = compare(data, tmp_path / "out", methods=[("tree", DecisionTreeClassifier(max_depth=2))], folds=3)
    assert found.lines[0].features > 1.0


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ([], "no method is named"),
        ([LinearSVC], r"pass an instance, LinearSVC\(\)"),
        ([LinearRegression()], "no classifier"),
        ([3], "no classifier"),
        ([("a", est.FSV()), ("a", est.RLP())], "two methods are called 'a'"),
    ],
)
def test_what_cannot_be_compared_is_said(methods, message, tmp_path):
    with pytest.raises(DataError, match=message):
        compare(small_data(), tmp_path / "out", methods=methods)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("LinearSVC", "write it as sklearn.svm.LinearSVC"),
        ("sklearn.svm.LinearSVC(0.1)", "write it as"),
        ("sklearn.svm.LinearSVC(C=", "write it as"),
        ("sklearn.svm.LinearSVC(C=open)", "write it as"),
        ("sklearn.svm.LinearSVC(**{'C': 1})", "write it as"),
        ("sklearn.svn.LinearSVC", "there is no sklearn.svn.LinearSVC"),
        ("sklearn.svm.LinearSCV", "there is no sklearn.svm.LinearSCV"),
        ("sklearn.svm.LinearSVC(D=1)", "cannot be made a classifier"),
        ("sklearn.svm.LinearSVC(D=[1])", "has no parameter 'D'"),
        ("math.pi", "cannot be made a classifier"),
    ],
)
def test_words_that_are_no_classifier(words, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        parsed(words)


@pytest.mark.parametrize(
    ("machine", "used"),
    [
        (LinearSVC(C=0.01, penalty="l1", dual=False), [3]),
        (make_pipeline(SelectKBest(k=2), DecisionTreeClassifier(max_depth=1)), [3]),
        (make_pipeline(StandardScaler(), est.SVMRFE(1)), [3]),
        (make_pipeline("passthrough", est.SVMRFE(1)), [3]),
        (make_pipeline(PCA(2), LinearSVC()), list(range(5))),
        (KNeighborsClassifier(), list(range(5))),
    ],
)
def test_the_features_that_a_classifier_uses(machine, used):
    X = np.random.default_rng(0).normal(size=(80, 5))
    assert used_features(machine.fit(X, X[:, 3] > 0), 5).tolist() == used

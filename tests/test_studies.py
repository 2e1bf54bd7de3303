"""Studies: the protocol does what section 5.2.2 says, and a run's results do not depend on how it was run."""

import json
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from data_sets import needs_data
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_tools import SMALL, small_data

from dcprog import DCA, datasets
from dcprog.datasets import standardised
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators import FSV, FSVCV
from dcprog.studies import METHODS, papers, reproduce
from dcprog.studies.methods import find
from dcprog.studies.protocol import TENFOLD, Grids, Protocol, judged
from dcprog.studies.published import Entry, published
from dcprog.studies.splits import fold, thirds


@pytest.fixture(scope="module")
def data():
    return small_data()


# ── the protocol ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(12, 60), st.integers(2, 10), st.integers(0, 1000))
def test_folds_are_a_partition_and_validation_is_half_of_the_rest(n, k, seed):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    splits = [fold(y, k, i, seed) for i in range(k)]
    assert sorted(int(j) for split in splits for j in split.test) == list(range(n))
    for split in splits:
        together = np.concatenate(split)
        assert sorted(together) == list(range(n))
        assert abs(len(split.fit) - len(split.validation)) <= 1
        assert len(set(y[split.fit])) == len(set(y[split.validation])) == 2


def test_thirds_are_equal():
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    split = thirds(y, "name", 0)
    assert sorted(len(part) for part in split) == [6, 7, 7]
    assert sorted(np.concatenate(split)) == list(range(20))


def test_folds_are_not_stratified():
    """Else the variances of Table III on wpbc24 could not be 1 %."""
    y = np.where(np.arange(155) < 28, 1.0, -1.0)
    shares = [np.mean(y[fold(y, 10, i, "wpbc24").test] > 0) for i in range(10)]
    assert np.var(shares, ddof=1) > 0.002


def test_too_few_of_a_class():
    y = np.where(np.arange(30) < 2, 1.0, -1.0)
    with pytest.raises(DataError, match="only 2 are of the smaller class"):
        fold(y, 10, 0, "seed")
    with pytest.raises(DataError, match="31 folds of 30 samples"):
        fold(y, 31, 0, "seed")


def test_the_published_grids():
    grids = Grids()
    np.testing.assert_allclose(np.log(grids.mu), range(11), atol=1e-12)
    np.testing.assert_allclose(np.log(grids.nu), range(-5, 6), atol=1e-12)
    np.testing.assert_allclose(np.log([(1 - lam) / lam for lam in grids.lam_svm]), range(-5, 6), atol=1e-9)
    assert grids.lam_fsv[:3] == (0.05, 0.1, 0.2)
    assert grids.lam_fsv[-1] == 0.95
    assert grids.lam_alignment == tuple(k / 10 for k in range(10))


def test_scaling_looks_at_the_training_part_only(data):
    split = Protocol("five", 5).split(data, 0)
    inside = np.concatenate([split.fit, split.validation])
    X = standardised(data.X, inside)
    np.testing.assert_allclose(X[inside].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X[inside].std(axis=0), 1.0)
    assert abs(X[split.test].mean(axis=0)).max() > 1e-3
    changed = data.X.copy()
    changed[split.test] *= 7.0
    np.testing.assert_allclose(standardised(changed, inside)[inside], X[inside], atol=1e-12)


class Watched(ClassifierMixin, BaseEstimator):
    """Says always 1, and remembers on how many samples it was trained, with which parameter."""

    seen: ClassVar[list] = []

    def __init__(self, lam=0.5, random_state=None):
        self.lam = lam
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        self.seen.append((len(y), self.lam, self.random_state))
        return self

    def predict(self, X):
        return np.ones(len(X))


def test_validation_trains_on_one_half_and_the_final_classifier_on_both(data):
    Watched.seen.clear()
    result = judged(data, GridSearchCV(Watched(random_state=0), {"lam": [0.1, 0.9]}), Protocol("five", 5), 0)
    assert Watched.seen == [(80, 0.1, 0), (80, 0.9, 0), (160, 0.1, 0)]
    assert result["parameters"] == {"lam": 0.1}
    assert result["features"] == 8, "who does not say what it uses may use everything"


def test_a_classifier_that_is_random_is_so_in_the_same_way_every_time(data):
    Watched.seen.clear()
    for split in (0, 1, 0):
        judged(data, make_pipeline(StandardScaler(), Watched()), Protocol("five", 5), split)
    first, second, again = (seed for _, _, seed in Watched.seen)
    assert first == again != second


def test_what_has_a_cv_of_its_own_keeps_it(data):
    Watched.seen.clear()
    judged(data, GridSearchCV(Watched(), {"lam": [0.1]}, cv=4), Protocol("five", 5), 0)
    assert [count for count, _, _ in Watched.seen] == [120, 120, 120, 120, 160]


def test_trials_are_those_of_the_validation_half_and_the_fewest_mistakes_win(data):
    """What FSVCV does inside a study is section 5.2.2, done by hand with FSV."""
    protocol, stop = Protocol("five", 5, grids=SMALL), DCA.default_rule
    result = judged(data, METHODS["fsv"].machine(SMALL, 8), protocol, 1)
    split = protocol.split(data, 1)
    inside = np.concatenate([split.fit, split.validation])
    X, y = standardised(data.X, inside), data.y
    by_hand = {lam: FSV(lam, stop=stop).fit(X[split.fit], y[split.fit]) for lam in SMALL.lam_fsv}
    mistakes = {lam: int((m.predict(X[split.validation]) != y[split.validation]).sum()) for lam, m in by_hand.items()}
    assert {trial["parameters"]["lam"]: trial["mistakes"] for trial in result["trials"]} == mistakes
    assert [trial["features"] for trial in result["trials"]] == [m.get_support().sum() for m in by_hand.values()]
    best = min(mistakes, key=lambda lam: (mistakes[lam], -lam))
    assert result["parameters"] == {"lam": best, "alpha": 5.0}
    final = FSV(best, stop=stop).fit(X[inside], y[inside])
    assert result["selected"] == np.flatnonzero(final.get_support()).tolist()
    assert result["mistakes"] == (final.predict(X[split.test]) != y[split.test]).sum()
    assert result["iterations"] == final.n_iter_ + sum(m.n_iter_ for m in by_hand.values())
    assert result["history"] == [record.f for record in final.result_.history]


def test_runs_that_meet_a_limit_are_counted(data):
    result = judged(data, FSVCV([0.05, 0.1], alpha=[5.0], max_iter=0), Protocol("five", 5), 0)
    assert result["unconverged"] == 3
    assert [trial["converged"] for trial in result["trials"]] == [False, False]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_learns(name, data):
    """Better than the larger class, with parameters of the grid; the selected features are features."""
    results = [judged(data, METHODS[name].machine(SMALL, 8), Protocol("five", 5, grids=SMALL), i) for i in range(2)]
    assert np.mean([result["error"] for result in results]) < 0.2
    result = results[0]
    assert result["features"] == len(result["selected"]) <= data.X.shape[1]
    assert result["unconverged"] == 0
    assert result["seconds"] <= result["total_seconds"]
    json.dumps(result, allow_nan=False)


def test_splits_belong_to_the_samples_not_to_their_name(data):
    renamed = replace(data, name="copy")
    moved = replace(data, X=data.X + 1.0)
    assert all(map(np.array_equal, TENFOLD.split(data, 3), TENFOLD.split(renamed, 3)))
    assert not all(map(np.array_equal, TENFOLD.split(data, 3), TENFOLD.split(moved, 3)))


# ── papers ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_unknown_names_get_suggestions(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'neumann2005'"):
        papers.find("neuman2005")
    with pytest.raises(UnknownNameError, match="unknown table of neumann2005 '9'"):
        reproduce("neumann2005", tmp_path / "out", tables=["9"])
    with pytest.raises(UnknownNameError, match="did you mean 'liver'"):
        reproduce("neumann2005", tmp_path / "out", data=["livre"])
    with pytest.raises(UnknownNameError, match="did you mean 'fsv'"):
        reproduce("neumann2005", tmp_path / "out", methods=["fvs"])
    with pytest.raises(UnknownNameError, match="did you mean 'alignment'"):
        find("alingment")
    assert not (tmp_path / "out").exists()


def test_data_that_is_not_here(tmp_path, monkeypatch):
    monkeypatch.delenv("DCPROG_DATA", raising=False)
    monkeypatch.setenv("DCPROG_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="'liver' is not here"):
        reproduce("neumann2005", tmp_path / "out", data=["liver"])
    with pytest.raises(DataError, match="nothing to compute: data set 'wpbc60' is not here"):
        reproduce("neumann2005", tmp_path / "out", tables=["3"])  # 7 and 8 have a generator, and would run for hours


@pytest.mark.parametrize("name", papers.NAMES)
def test_the_published_figures_belong_to_tables(name):
    """Every printed figure of a table that is computed here has its place in it, or is of data that nobody has."""
    study = papers.find(name)
    for entry, figure in published(name).items():
        if entry.table in study.tables:
            table = study.tables[entry.table]
            lines = [line for of_data in getattr(table, "lines", {}).values() for line in of_data]
            assert entry.data.startswith((*table.data, *lines, "galaxy")), entry
        assert np.isfinite(figure.value)


def test_figures_as_printed():
    figures = published("neumann2005")
    assert figures[Entry("3", "wpbc24", "svm", "error")].value == 18.1
    assert figures[Entry("4", "musk", "alignment", "iterations")].value == 676.5
    assert Entry("4", "musk", "quadratic_fsv", "error") not in figures
    assert not figures[Entry("5", "wpbc60", "rlp", "time")].sure


@needs_data
def test_table_3_of_liver_agrees_with_the_paper(tmp_path):
    """The published grids, ten folds: errors and features within what the folds explain."""
    found = reproduce("neumann2005", tmp_path / "out", tables=["3"], data=["liver"], methods=["rlp", "svm", "fsv"])
    assert found.complete
    rows = {(row.method, row.quantity): row for row in found.rows}
    assert len(rows) == 9
    assert rows["fsv", "features"].ours == pytest.approx(2.1, abs=0.5)
    assert not any(row.outside for row in rows.values())
    assert sum(result["tests"] for cell, result in found.results.items() if cell.method == "svm") == 345


@needs_data
def test_tables_share_their_cells(tmp_path):
    """Table V is about the same runs as III and IV, and relative to the fastest."""
    found = reproduce("neumann2005", tmp_path / "out", tables=["3", "5"], data=["liver"], methods=["rlp", "fsv"])
    assert len(found.results) == 20
    times = [row.ours for row in found.rows if row.table == "5"]
    assert min(times) == 1.0
    assert datasets.TABLE_I["liver"].n == 345

"""The studies of the other papers: every table runs, on draws that all methods share, and is set beside what is printed."""

from dataclasses import replace

import numpy as np
import pytest
from data_sets import needs_data

from dcprog.datasets import generators
from dcprog.studies import papers
from dcprog.studies.execute import execute
from dcprog.studies.outputs import cells
from dcprog.studies.papers import fortuna2005, fung2004, organs, weston2001, weston2003
from dcprog.studies.protocol import Grids, Part, Training
from dcprog.studies.store import Store
from dcprog.studies.study import Row


def run(table, out, data, methods, trials):
    few = replace(table, trials=trials)
    outcome = execute(few.tasks(data, methods), Store(out, few.study))
    assert outcome.failures == {}
    return few.rows(outcome.results, data, methods)


def test_two_features_of_a_hundred(tmp_path):
    """Weston et al. (2003), Table 1: with 30 points ℓ2-AROM finds what the SVM on all features cannot use."""
    rows = run(weston2003.TABLES[0], tmp_path / "out", ["linear_30"], ["svm", "l2_arom"], 6)
    found = {(row.method, row.quantity): row for row in rows}
    assert found["l2_arom", "error"].ours < found["svm", "error"].ours
    assert found["l2_arom", "hits"].ours > 50
    assert found["svm", "error"].paper.value == 16.4
    assert found["svm", "error"].spread > 0.39


def test_every_method_of_the_toy_problem_chooses_two_features():
    for method in weston2003.TITLES:
        assert 0 <= weston2003.toy("linear_20", method, 0)["linear_20"]["error"] <= 60
    assert weston2003.toy("linear_20", "l1_arom", 0) == weston2003.toy("linear_20", "l1_arom", 0)


def test_a_filter_of_2001_beats_all_features():
    errors = {method: weston2001.toy("linear_50", method, 0)["linear_50"]["error"] for method in ("svm", "fisher")}
    assert errors["fisher"] < errors["svm"]


def test_the_learned_basis_has_a_lower_bound_than_pca(tmp_path):
    """Fortuna & Capson, Table 1: what the method promises."""
    rows = run(fortuna2005.TABLES[0], tmp_path / "out", ["difficult"], ["basis", "pca"], 2)
    bound = {row.method: row.ours for row in rows if row.quantity == "bound"}
    margin = {row.method: row.ours for row in rows if row.quantity == "margin"}
    assert bound["basis"] < bound["pca"]
    assert margin["basis"] > margin["pca"]


@needs_data
def test_the_lp_svm_on_liver(tmp_path):
    rows = run(fung2004.TABLES[0], tmp_path / "out", ["liver"], ["cplex_svm"], 3)
    figures = {row.quantity: row.ours for row in rows}
    assert 55 < figures["test"] < 80
    assert figures["features"] <= 6


@needs_data
def test_genes(tmp_path):
    rows = run(weston2003.TABLES[1], tmp_path / "out", ["microarray"], ["corr", "l2_arom"], 1)
    assert [row.data for row in rows[::2]] == [f"microarray_{r}" for r in weston2003.GENES]
    with_all = [row.ours for row in rows if row.data == "microarray_2000"]
    assert len(set(with_all)) == 1, "with all genes every method is the same SVM"
    assert weston2001.colon("microarray", "fisher", 0)["microarray"]["error"] <= 100


def test_organs():
    """The shape of section 5.3: 650 features, and better than chance on a test set that is unlike the training set."""
    figures = organs.organs("organs", "svm", 0, Grids(lam_svm=(0.5, 0.9)))["organs"]
    assert figures["features"] == 650
    assert figures["error"] < 20


@pytest.mark.parametrize("method", organs.ON_HISTOGRAMS)
def test_histograms_are_classified_as_they_are(method):
    X, y = generators.organs(150, 20, seed=0)
    fit, validation, whole, test = (Part(X[i], y[i]) for i in (slice(0, 50), slice(50, 100), slice(0, 100), slice(100, 150)))
    grids = Grids(lam_svm=(0.01, 0.1), lam_alignment=(0.0, 0.2))
    found = organs.ON_HISTOGRAMS[method](Training(fit, validation, whole, grids)).fit
    assert (found.rule.predict(test.X) != test.y).mean() < 0.35
    assert found.support > 0


def test_unfinished_trials_are_said_to_be(tmp_path):
    table = weston2003.TABLES[0]
    rows = table.rows({}, ["linear_10"], ["svm"])
    assert rows[0].note == "0 of 100 trials"
    assert cells(rows[0]) == ("33.8", "0 of 100 trials", "–")


@pytest.mark.parametrize("name", papers.NAMES)
def test_every_line_of_a_table_has_printed_figures(name):
    for table in papers.find(name).tables.values():
        rows = table.rows({}, table.data, table.methods)
        assert rows
        if table.data == ("organs",):
            assert all(row.paper is None for row in rows), "what is printed is about other data"
            continue
        printed = {(row.data, row.method) for row in rows if row.paper is not None}
        assert len(printed) >= len(table.methods) // 2
        assert all(isinstance(row, Row) for row in rows)
        assert np.isfinite([row.paper.value for row in rows if row.paper is not None]).all()

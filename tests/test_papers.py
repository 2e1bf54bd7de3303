"""The studies of the other papers: every table runs, on draws that all methods share, and is set beside what is printed."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from data_sets import needs_data
from scipy.io import savemat
from sklearn.svm import LinearSVC

from dcprog import datasets
from dcprog.cli import main
from dcprog.datasets import generators
from dcprog.datasets.yeast import COPY, load_yeast
from dcprog.errors import DataError
from dcprog.methods.radius_margin import Linear, r2w2, r2w2_path
from dcprog.studies import papers
from dcprog.studies.cells import Cell
from dcprog.studies.execute import execute
from dcprog.studies.machines import train
from dcprog.studies.outputs import cells
from dcprog.studies.papers import fortuna2005, fung2004, fung_machines, myeloma, organs, weston2001, weston2003
from dcprog.studies.papers.trials import levelled
from dcprog.studies.protocol import Grids
from dcprog.studies.store import Store
from dcprog.studies.study import Row

THREE = "brown_yeast_3of5"


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
    for method in weston2003.TABLES[0].methods:
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
def test_linear_classifiers_on_liver(tmp_path):
    """Fung & Mangasarian, Table 2: correctness within 2 points, by a linear and by a quadratic program."""
    rows = run(fung2004.TABLES[0], tmp_path / "out", ["liver"], ["cplex_svm", "nsvm"], 2)
    figures = {(row.method, row.quantity): row for row in rows}
    for method in ("cplex_svm", "nsvm"):
        for quantity in ("train", "test"):
            row = figures[method, quantity]
            assert abs(row.ours - row.paper.value) < 2.5, (method, quantity)
        assert figures[method, "features"].ours == 6


def test_kernels_separate_what_no_plane_does(monkeypatch):
    """Table 3: a tenth of the points is basis enough; one choice of parameters for all folds."""
    monkeypatch.setattr(fung_machines, "POWERS", (0.125, 0.5, 2.0))
    X = np.random.default_rng(0).standard_normal((80, 2))
    data = datasets.Dataset("quadrants", X, np.sign(X[:, 0] * X[:, 1]), ("a", "b"), "drawn")
    linear = fung2004.linear(data, "nsvm", 0)["quadrants"]
    reduced = fung2004.gaussian(data, "reduced_cplex_svm", 0)["quadrants"]
    assert linear["test"] < 65.0
    assert reduced["test"] > 80.0
    assert 0 < reduced["functions"] <= 8


def test_one_point_of_the_myeloma_data_is_left_out(monkeypatch):
    """Table 1: linear programs use few features, the quadratic one those that vary."""
    monkeypatch.setitem(myeloma.GENES, "myeloma_350", 100)
    for name in ("nlpsvm", "code_4_1"):
        machine = fung_machines.METHODS[name][0]
        monkeypatch.setitem(fung_machines.METHODS, name, (machine, {"nu": (0.25, 1.0), "delta": (0.1, 10.0)}))
    found = {method: myeloma.left_out("myeloma_350", method, 7)["myeloma_350"] for method in myeloma.TABLE.methods}
    assert all(line["test"] == 100.0 for line in found.values())
    assert max(found[method]["features"] for method in ("nlpsvm", "code_4_1", "cplex_svm")) < 60 < found["nsvm"]["features"]
    X, y = generators.myeloma(100, seed=0)
    part = fung_machines.Fold(X[1:], y[1:], X[:1], y[:1], np.arange(10), np.arange(10, 104))
    Z, T, V = myeloma.in_their_span(part)
    assert pytest.approx(part.X @ part.X.T, abs=1e-8) == Z @ Z.T
    assert Z @ T[0] == pytest.approx(part.X @ part.T[0], abs=1e-8)
    whole, inside = (LinearSVC(C=0.1, dual=False, tol=1e-10).fit(points, part.y) for points in (part.X, Z))
    assert V @ inside.coef_[0] == pytest.approx(whole.coef_[0], abs=1e-5)


def test_parameters_are_those_of_all_folds_together():
    assert fung_machines.best([np.array([1.0, 0.8, 0.0]), np.array([0.0, 0.8, 1.0])]) == 1
    assert fung_machines.best([np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.1, 0.0])]) == 0, "the first of several"


def test_folds_of_a_partition_test_every_point_once():
    X, y = generators.weston_linear(45, 8, seed=0)
    data = datasets.Dataset("toy", X, y, tuple("abcdefgh"), "drawn")
    first, second = fung_machines.folds(data, 0), fung_machines.folds(data, 1)
    for folds in (first, second):
        assert sum(len(part.labels) for part in folds) == 45
        for part in folds:
            assert sorted([*part.tuning, *part.rest]) == list(range(len(part.y)))
            assert len(part.tuning) == len(part.y) // 10
    assert any(a.T.shape != b.T.shape or not np.array_equal(a.labels, b.labels) for a, b in zip(first, second, strict=True))


def test_figures_of_one_run_scatter_more_than_means_of_several():
    table = fung2004.TABLES[0]
    cells = {
        Cell("table-2", "liver", "nsvm", i): {"lines": {"liver": dict.fromkeys(table.quantities, float(i))}}
        for i in range(table.trials)
    }
    row = table.rows(cells, ["liver"], ["nsvm"])[0]
    variance = np.var(range(table.trials), ddof=1)
    assert row.spread == pytest.approx(np.sqrt(variance * (1 + 1 / table.trials)))


@needs_data
def test_tasks_carry_their_data(monkeypatch):
    """A worker of a cluster needs no data files."""
    task = fung2004.TABLES[0].tasks(["liver"], ["cplex_svm"])[0]
    monkeypatch.delenv("DCPROG_DATA")
    assert 0 < pickle.loads(pickle.dumps(task.work))()["lines"]["liver"]["test"] <= 100


@needs_data
def test_genes(tmp_path):
    rows = run(weston2003.TABLES[1], tmp_path / "out", ["microarray"], ["corr", "l2_arom"], 1)
    assert [row.data for row in rows[::2]] == [f"microarray_{r}" for r in (2000, 1000, 500, 250, 100, 50, 20)]
    with_all = [row.ours for row in rows if row.data == "microarray_2000"]
    assert len(set(with_all)) == 1, "with all genes every method is the same SVM"


@needs_data
@pytest.mark.parametrize(("method", "trial"), [("fisher", 0), ("pearson", 12), ("kolmogorov_smirnov", 25)])
def test_fifteen_genes(method, trial):
    """Weston et al. (2001), section 5.2; in two of these splits fifteen genes hardly separate the classes."""
    assert weston2001.colon(levelled("microarray"), method, trial)["microarray"]["error"] < 60


def test_intensities_are_logarithms_scaled_sample_by_sample(tmp_path):
    file = tmp_path / "intensities.csv"
    file.write_text("a,b,c,label\n1,10,100,0\n1000,100,10,1\n")
    side = np.sqrt(1.5)
    np.testing.assert_allclose(levelled(str(file)).X, [[-side, 0, side], [side, 0, -side]], atol=1e-12)
    file.write_text("a,b,c,label\n-5,10,100,0\n1000,100,10,1\n")
    with pytest.raises(DataError, match="features ≤ 0"):
        levelled(str(file))
    np.testing.assert_allclose(levelled(str(file), 1.0, 100.0).X[0], [-side, 0, side], atol=1e-12)
    for table in (weston2003.TABLES[1], weston2001.TABLES[2]):
        assert table.load is levelled, "cells that were computed from intensities are computed again"
        assert "logarithms" in table.note()


def test_one_trial_has_no_variance_to_explain_differences():
    table = weston2001.TABLES[1]
    lines = {"leukemia_20": {"mistakes": 3.0}, "leukemia_5": {"mistakes": 4.0}}
    rows = table.rows({Cell("table-leukemia", "leukemia", "svm", 0): {"lines": lines}}, ["leukemia"], ["svm"])
    assert [row.ours for row in rows] == [3.0, 4.0]
    assert not any(row.comparable for row in rows)


@needs_data
def test_every_method_on_lymphoma(monkeypatch):
    """Weston et al. (2003), Table 3: every method does better than to guess the larger class, 12.75 of 36 wrong."""
    monkeypatch.setitem(weston2003.ARRAYS, "lymphoma", weston2003.ARRAYS["lymphoma"]._replace(genes=(4026, 100, 20)))
    lymphoma = datasets.load("lymphoma")
    errors = {method: weston2003.microarrays(lymphoma, method, 0) for method in weston2003.TABLES[2].methods}
    assert all(list(lines) == ["lymphoma_4026", "lymphoma_100", "lymphoma_20"] for lines in errors.values())
    assert len({lines["lymphoma_4026"]["error"] for lines in errors.values()}) == 1, "the same SVM on all genes"
    assert max(line["error"] for lines in errors.values() for line in lines.values()) < 30
    assert len({lines["lymphoma_20"]["error"] for lines in errors.values()}) > 1, "methods that choose different genes"


@needs_data
def test_every_method_on_yeast(tmp_path, monkeypatch):
    """Weston et al. (2003), Table 4, but three classes: 65 of 186 genes are not of the largest."""
    monkeypatch.setattr(weston2003, "CONDITIONS", (10, 79))
    for method in weston2003.TABLES[3].methods:
        errors = weston2003.yeast(weston2003.genes_of_yeast(THREE), method, 0)
        assert list(errors) == ["brown_yeast_3of5_10", "brown_yeast_3of5_79"]
        assert max(line["error"] for line in errors.values()) < 15


@pytest.fixture
def clusters(tmp_path, monkeypatch):
    """In DCPROG_DATA, a file with 16 samples in each of three clusters, far apart in three features; a value is missing."""
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b", "c"], 16)
    X = rng.standard_normal((48, 79)) + 6.0 * (labels[:, None] == np.array([*"abc", *76 * "-"]))
    rows = [",".join([*(f"{value:.3f}" for value in x), label]) for x, label in zip(X, labels, strict=True)]
    rows[5] = rows[5][rows[5].index(",") :]
    (tmp_path / f"{THREE}.csv").write_text("\n".join([",".join([*(f"f{j}" for j in range(79)), "label"]), *rows]))
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    monkeypatch.setenv("DCPROG_CACHE", str(tmp_path))
    return X


def test_several_classes_are_read_and_filled(clusters):
    data = weston2003.genes_of_yeast(THREE)
    assert data.y.tolist() == [0.0] * 16 + [1.0] * 16 + [2.0] * 16
    assert data.X[5, 0] == pytest.approx(np.delete(clusters[:, 0], 5).mean(), abs=1e-3)
    assert data.description.endswith("0 = a, 1 = b, 2 = c")


@pytest.mark.parametrize("method", weston2003.TABLES[3].methods)
def test_clusters_are_told_apart(clusters, monkeypatch, method):
    """Of a fold that is not trained on; 16 of 24 are wrong by chance."""
    monkeypatch.setattr(weston2003, "CONDITIONS", (3, 79))
    assert weston2003.yeast(weston2003.genes_of_yeast(THREE), method, 2)[f"{THREE}_3"]["error"] == 0


def test_a_table_on_other_data_says_so_and_absent_data_are_named(clusters, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["reproduce", "weston2003", "--table", "3,4", "--methods", "arom_1vsr", "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert "another problem than the paper" in said
    assert "lymphoma is left out: data set 'lymphoma' is not here" in said
    assert "62 samples are malignant" not in said, "a note on a table that is not there"
    assert "another problem than the paper" in (out / "report.html").read_text(encoding="utf-8")
    assert "another problem than the paper" in (out / "results.json").read_text(encoding="utf-8")


def test_yeast_that_is_not_here(tmp_path, monkeypatch):
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    monkeypatch.setenv("DCPROG_CACHE", str(tmp_path))
    assert "brown_yeast_3of5.csv" in weston2003.TABLES[3].absent(THREE)
    assert "yeastXYmc5norm.mat" in weston2003.TABLES[3].absent("brown_yeast")


def test_yeast_as_its_authors_ship_it(tmp_path, monkeypatch):
    """A MATLAB file of the right shape is read, another one refused."""
    monkeypatch.setenv("DCPROG_DATA", str(tmp_path))
    classes = np.arange(208) % 5
    Y = np.where(np.arange(5) == classes[:, None], 1, -1)
    X = np.random.default_rng(0).standard_normal((208, 79))
    savemat(tmp_path / COPY.file, {"X": X, "Y": Y})
    data = load_yeast()
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.y, classes)
    savemat(tmp_path / COPY.file, {"X": X[:9], "Y": Y})
    with pytest.raises(DataError, match=r"X \(9, 79\)"):
        load_yeast()
    (tmp_path / COPY.file).write_text("text")
    with pytest.raises(DataError, match="no MATLAB file"):
        load_yeast()


def test_one_elimination_gives_all_numbers_of_features():
    """What R²W² selects on its way to fewer features is what it selects when it ends there."""
    X, y = generators.weston_linear(20, 24, seed=3)
    X = X / X.std(axis=0)
    sizes = (3, 24, 11, 12, 6)
    chosen = weston2003.nested("r2w2", X, y, sizes)
    assert sorted(chosen) == sorted(sizes)
    for r in sizes:
        np.testing.assert_array_equal(chosen[r], r2w2(X, y, r, Linear(), ridge=1e-6).selected)
    alone, among = r2w2(X, y, 10, Linear(), q=8), r2w2_path(X, y, [3, 10, 24], Linear(), q=8)[1]
    np.testing.assert_array_equal(among.sigma, alone.sigma)
    assert among.history == alone.history
    with pytest.raises(DataError, match="sizes"):
        r2w2_path(X, y, [], Linear())
    with pytest.raises(DataError, match="25"):
        r2w2_path(X, y, [3, 25], Linear())


def test_organs():
    """The shape of section 5.3: 650 features, and better than chance on a test set that is unlike the training set."""
    figures = organs.organs("organs", "svm", 0, Grids(lam_svm=(0.5, 0.9)))["organs"]
    assert figures["features"] == 650
    assert figures["error"] < 20


@pytest.mark.parametrize("method", organs.ON_HISTOGRAMS)
def test_histograms_are_classified_as_they_are(method):
    X, y = generators.organs(150, 20, seed=0)
    grids = Grids(lam_svm=(0.01, 0.1), lam_alignment=(0.0, 0.2))
    machine = organs.ON_HISTOGRAMS[method](grids)
    found = train(machine, X[:100], y[:100], np.arange(50), np.arange(50, 100), seed=0)
    assert (found.machine.predict(X[100:]) != y[100:]).mean() < 0.35
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

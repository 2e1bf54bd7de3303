"""χ² SVM ranking by its definition, the column of Table VIII, and the tests of Weston et al. (2003), Table 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, rankdata
from sklearn.model_selection import StratifiedKFold

from dcprog.datasets import generators
from dcprog.errors import DataError
from dcprog.methods.kernel_ranking import kernel_ranking, left_out_changes
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.studies.cells import Cell
from dcprog.studies.papers import organs, weston2003
from dcprog.studies.protocol import Grids

RNG = np.random.default_rng(0)
X = RNG.poisson(30, (60, 5)).astype(float)
Y = np.where(np.arange(60) % 2, 1, -1)
X[:, 1] += 20 * (Y > 0)
X[:, 3] += 12 * (Y > 0)


def chi2(A, B):
    return np.exp(-(2.0**-11) * ((A[:, None] - B[None]) ** 2 / (A[:, None] + B[None])).sum(axis=2))


def test_the_scores_are_the_changes_of_the_squared_norm():
    rule = kernel_svm(X, Y, C=1e3, kernel="chi2")
    a, S = rule.coefficients, rule.vectors
    W = a @ chi2(S, S) @ a
    changes = [abs(W - a @ chi2(np.delete(S, p, 1), np.delete(S, p, 1)) @ a) for p in range(5)]
    assert left_out_changes(rule) == pytest.approx(changes, rel=1e-6)


def test_ranking_and_number_are_those_of_cross_validation():
    found = kernel_ranking(X, Y, 1e3, sizes=[1, 2, 5], folds=3, seed=4)
    scores, mistakes = np.zeros(5), np.zeros(3)
    for train, test in StratifiedKFold(3, shuffle=True, random_state=4).split(X, Y):
        score = left_out_changes(kernel_svm(X[train], Y[train], C=1e3, kernel="chi2"))
        scores += score / score.max() / 3
        best = np.argsort(-score)
        for k, m in enumerate((1, 2, 5)):
            rule = kernel_svm(X[train][:, best[:m]], Y[train], C=1e3, kernel="chi2")
            mistakes[k] += (rule.predict(X[test][:, best[:m]]) != Y[test]).sum()
    assert found.scores == pytest.approx(scores)
    assert found.errors == pytest.approx(mistakes / 60)
    assert len(found.selected) == (1, 2, 5)[int(np.argmin(mistakes))]
    assert set(found.order[:2]) == {1, 3}
    rule = kernel_svm(X[:, found.selected], Y, C=1e3, kernel="chi2")
    assert (found.predict(X) == rule.predict(X[:, found.selected])).all()
    for wrong in ({"sizes": [9]}, {"folds": 1}, {"C": 0.0}):
        with pytest.raises(DataError):
            kernel_ranking(X, Y, **{"C": 1.0, **wrong})


def test_the_column_of_table_8(monkeypatch):
    monkeypatch.setattr(organs, "TUNING", 40)
    Z, y = generators.organs(140, 20, seed=0)
    selected, machine = organs.ranked(Z[:80], y[:80], Grids(lam_svm=(0.001, 0.1)), 0)
    assert 1 <= len(selected) <= 20
    assert (machine.predict(Z[80:]) != y[80:]).mean() < 0.4
    assert "chi2_ranking" in organs.TABLES[1].methods


def test_the_signed_rank_test_is_wilcoxons():
    """By the normal approximation of T = Σ ranks of positive differences, as in any textbook."""
    rng = np.random.default_rng(0)
    errors, others = rng.normal(0.4, 1, 100), rng.normal(0, 1, 100)
    d = errors - others
    T, n = rankdata(abs(d))[d > 0].sum(), 100
    z = (T - n * (n + 1) / 4) / np.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    assert weston2003.signed_rank(errors, others) == pytest.approx(2 * norm.sf(abs(z)), rel=1e-2)
    table = weston2003.TABLES[0]
    cells = {
        Cell("table-1", "linear_30", method, i): {"lines": {"linear_30": {"error": float(e), "hits": 0.0}}}
        for method, found in (("svm", errors), ("l2_arom", others))
        for i, e in enumerate(found)
    }
    (row,) = (row for row in table.rows(cells, ["linear_30"], ["svm", "l2_arom"]) if row.quantity == "p")
    assert (row.method, row.ours) == ("svm", pytest.approx(weston2003.signed_rank(errors, others)))

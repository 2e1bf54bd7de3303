"""SVM ranking ends in whatever unit the features are measured: libsvm has no limit of its own."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from dcprog import datasets
from dcprog.estimators import SVMRanking
from dcprog.methods.libsvm import linear_by_libsvm
from dcprog.methods.svm_ranking import _linear_svm
from dcprog.methods.svm_ranking import svm_ranking as module_function


def noisy(n=300, d=6, seed=0):
    """Two classes that overlap: with a large C libsvm goes on for hours."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(n) > 0, 1.0, -1.0)


def machine_of(X, y, C):
    """The same C for all samples, which could have one each."""
    return _linear_svm(X, y, np.full(len(y), C))


def loss(X, y, C, w, b):
    return 0.5 * w @ w + C * np.maximum(0.0, 1.0 - y * (X @ w + b)).sum()


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e2, 1e4, 1e8, 1e30])
def test_it_ends_in_every_unit(unit):
    X, y = noisy()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        fitted = SVMRanking(random_state=0).fit(X * unit, y)
    assert np.isfinite(fitted.coef_).all()
    if unit >= 1.0:
        assert fitted.score(X * unit, y) > 0.7


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e4])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_the_machine_is_the_one_that_was_asked_for(unit, make):
    """In other units it is the machine with C times the square, which the QP of the first unit knows, too."""
    X, y = noisy()
    w, b = machine_of(make(X * unit), y, 1.0)
    w_same, b_same = machine_of(X, y, unit**2)
    C = unit**2
    assert loss(X, y, C, w * unit, b) == pytest.approx(loss(X, y, C, w_same, b_same), rel=1e-4)


def test_easy_machines_are_those_of_libsvm_to_the_last_digit():
    X, y = noisy()
    machine = SVC(kernel="linear", C=1.0).fit(X, y)
    w, b = machine_of(X, y, 1.0)
    assert (w == machine.coef_[0]).all()
    assert b == machine.intercept_[0]


def test_where_nothing_ends_there_is_a_warning(monkeypatch):
    """Both ways cut short."""
    import sys

    module = sys.modules["dcprog.methods.svm_ranking"]
    monkeypatch.setattr(module, "LONGEST", 50)
    monkeypatch.setattr(module, "SECONDS", 1e-9)
    X, y = noisy()
    assert not linear_by_libsvm(X, y, 1e8, 50).converged
    with pytest.warns(ConvergenceWarning, match="after 50 iterations"):
        machine_of(X, y, 1e8)


def test_raw_data_of_many_units():
    data = datasets.load("breast_cancer")
    half = len(data.y) // 2
    found = module_function(data.X[:half], data.y[:half], data.X[half:], data.y[half:])
    assert found.errors.min() < 0.1

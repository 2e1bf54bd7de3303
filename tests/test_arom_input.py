"""Bad input to zero-norm minimisation is refused before any step, in words that help."""

from __future__ import annotations

import numpy as np
import pytest
from arom_data import toy

from dcprog.errors import DataError, UnknownNameError
from dcprog.methods.zero_norm import (
    arom_features,
    arom_iterates,
    arom_reduced,
    converge,
    corr_features,
    kernel_updates,
    l1_updates,
    l2_updates,
    multiclass_updates,
    polynomial_features,
    retrain,
    rfe_features,
)
from dcprog.models.arom import arom, l2_arom, multiclass_arom

X0, Y0 = toy(10, 4, 0)
HOLED = X0.copy()
HOLED[2, 1] = np.nan
CONSTANT = X0.copy()
CONSTANT[:, 0] = 1.0


@pytest.mark.parametrize(
    "call", [l1_updates, l2_updates, multiclass_updates, kernel_updates, arom, l2_arom, multiclass_arom]
)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (X0, np.ones(10), "1 class"),
        (HOLED, Y0, "NaN"),
        (X0, Y0[:5], "one label a sample"),
        (X0[0], Y0, "expected 2"),
        (X0[:, :0], Y0, "at least one"),
    ],
)
def test_bad_data_are_refused_before_any_step(call, X, y, message):
    with pytest.raises(DataError, match=message):
        call(X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: l1_updates(X0, Y0, p=3), "p is 3, expected one of 0, 1, 2"),
        (lambda: l2_updates(X0, Y0, p=1), "p is 1, expected one of 0, 2"),
        (lambda: l1_updates(X0, Y0, q=0.5), "q is 0.5"),
        (lambda: l1_updates(X0, Y0, p=1, q=1), "no zero norm"),
        (lambda: l1_updates(X0, Y0, q=1, lam=0), "lam"),
        (lambda: l1_updates(X0, [0, 1, 2] * 3 + [0]), "3 class"),
        (lambda: multiclass_updates(X0, Y0, norm=3), "norm is 3"),
        (lambda: multiclass_updates(X0, Y0, lam=-1.0), "lam"),
        (lambda: kernel_updates(X0, Y0, degree=0), "degree is 0"),
        (lambda: kernel_updates(X0, Y0, degree=9), "714 dimensions"),
        (lambda: polynomial_features(X0, 1.5), "degree is 1.5"),
        (lambda: arom(X0, Y0, eps=0), "eps"),
        (lambda: arom(X0, Y0, p=4), "p is 4"),
        (lambda: l2_arom(X0, Y0, p=1), "p is 1"),
        (lambda: arom(X0, Y0, q=7), "q is 7"),
        (lambda: multiclass_arom(X0, Y0, lam=np.nan), "lam"),
        (lambda: arom_features(X0, Y0, 5), "r is 5, expected an integer from 1 to 4"),
        (lambda: rfe_features(X0, Y0, 0), "r is 0"),
        (lambda: corr_features(X0, Y0, 1.5), "r is 1.5"),
        (lambda: arom_features(CONSTANT, Y0, 4), "from 1 to 3"),
        (lambda: arom_features(X0, np.ones(10), 2), "at least 2"),
        (lambda: arom_features(X0, Y0, 2, norm=0), "norm is 0"),
        (lambda: retrain(X0, Y0, [0], p=0), "p is 0"),
        (lambda: retrain(X0, Y0, [4]), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, []), "positions"),
        (lambda: retrain(X0, Y0, [0.5]), "positions"),
        (lambda: retrain(X0, Y0, 3), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, [[0, 1]]), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, [[0], [0, 1]]), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, [True, False, True, True]), "positions from 0 to 3"),
        (lambda: retrain(X0, Y0, [0], lam=-1), "lam"),
        (lambda: next(kernel_updates(X0, Y0)).predict(X0[:, :2]), "4 features"),
        (lambda: next(multiclass_updates(X0, Y0, lam=1.0)).classifier.predict(X0[:, :2]), "4 features"),
    ],
)
def test_bad_parameters_are_refused(call, message):
    with pytest.raises(DataError, match=message):
        call()


@pytest.mark.parametrize("select", [arom_features, arom_reduced, corr_features, rfe_features])
@pytest.mark.parametrize("r", [True, np.True_, 2.0, "2", None, [2]])
def test_the_number_of_features_is_an_integer(select, r):
    with pytest.raises(DataError, match="expected an integer from 1 to 4"):
        select(X0, Y0, r)


def test_any_integer_is_one():
    assert all((select(X0, Y0, np.int8(2)) == select(X0, Y0, 2)).all() for select in (corr_features, rfe_features))


@pytest.mark.parametrize("halving", ["a", 2, 1, None])
def test_halving_is_true_or_false(halving):
    with pytest.raises(DataError, match="pass True or False"):
        rfe_features(X0, Y0, 2, halving=halving)


def test_what_converges_are_iterates():
    for iterates in ([], iter([]), (n for n in range(0)), 3, None, [1, 2], "text", [next(l1_updates(X0, Y0)), 1]):
        with pytest.raises(DataError, match=r"as in converge\(l1_updates\(X, y\)\)"):
            converge(iterates)


@pytest.mark.parametrize("call", [multiclass_updates, kernel_updates, arom_iterates])
@pytest.mark.parametrize("solver", ["higs", None, ["highs"]], ids=str)
def test_solvers_are_known_before_any_step(call, solver):
    with pytest.raises(UnknownNameError, match="unknown solver"):
        call(X0, Y0, solver=solver)


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="weston_watkins"):
        multiclass_updates(X0, Y0, constraints="weston")
    with pytest.raises(UnknownNameError, match="one_vs_rest"):
        multiclass_arom(X0, Y0, constraints="one-vs-rest")
    with pytest.raises(UnknownNameError, match="highs"):
        next(l1_updates(X0, Y0, solver="higs"))

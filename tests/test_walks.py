"""Grids that one run of a method serves: machines are those of single fits, choices those of a search."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from dcprog.estimators import AROM, AROMCV, NLPSVM, NLPSVMCV, SVMRFE, SVMRFECV
from dcprog.estimators.training import Training
from dcprog.estimators.tuning import along


@pytest.mark.parametrize("machine", [AROM(), AROM(norm=1), SVMRFE(halving=True, lam=1.0), NLPSVM()], ids=repr)
def test_walks_along_a_grid_select_what_single_fits_do(machine):
    """One run for a whole grid is for speed: the machines, their features and their ends are those of single fits."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((50, 12))
    y = X[:, 7] - X[:, 11] + 0.5 * rng.standard_normal(50) > 0
    name, values = ("nu", [0.01, 0.1, 1.0]) if isinstance(machine, NLPSVM) else ("r", [12, 1, 4])
    training = Training(X, y)
    for (walked, step), value in zip(along(machine, {name: values}, training), values, strict=True):
        alone = clone(machine).set_params(**{name: value}).fit(X, y)
        assert step.point == {name: value}
        np.testing.assert_array_equal(walked.support_, alone.support_)
        np.testing.assert_allclose(walked.coef_, alone.coef_, atol=1e-7)
        np.testing.assert_allclose(walked.intercept_, alone.intercept_, atol=1e-7)


@pytest.mark.parametrize(
    ("tuned", "single", "name", "values"),
    [
        (AROMCV(norm=1), AROM(norm=1), "r", [1, 2, 4, 6]),
        (SVMRFECV(), SVMRFE(lam=1.0), "r", [1, 2, 4, 6]),
        (NLPSVMCV(), NLPSVM(), "nu", [2.0**k for k in range(-12, 13)]),
    ],
    ids=repr,
)
def test_what_is_chosen_is_what_a_search_over_single_fits_chooses(tuned, single, name, values):
    """Of equal scores the first, and so the fewest features, by default from all powers of two, or from the paper's ν."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 6))
    y = np.where(X[:, 2] + X[:, 4] + rng.standard_normal(60) > 0, "yes", "no")
    search = GridSearchCV(single, {name: values}, cv=3).fit(X, y)
    ours = clone(tuned).set_params(cv=3).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])
    assert ours.best_params_ == search.best_params_
    np.testing.assert_array_equal(ours.get_support(), search.best_estimator_.get_support())

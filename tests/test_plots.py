"""Displays draw what they say: the history, the features along a path, the boundary of a classifier."""

import warnings

import numpy as np
import pandas as pd
import pyomo.environ as pyo
import pytest
from sklearn.exceptions import NotFittedError

import dcprog
from dcprog.algorithms.path import Path
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators import AROM, FSV, FSVCV, L2L0SVMCV
from dcprog.models import alignment, fsv, l2_l1_svm
from dcprog.plots import BoundaryDisplay, ConvergenceDisplay, PathDisplay, new_axes, plot_convergence


@pytest.fixture(scope="module")
def result():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    return dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic"))


def test_it_draws_the_history(result):
    ax = new_axes()
    assert result.plot(ax) is ax
    (f,) = ax.get_lines()
    np.testing.assert_array_equal(f.get_xydata(), [(r.iteration, r.f) for r in result.history])
    assert ax.get_title() == "quartic: converged"


def test_the_gap_is_on_a_log_axis_and_positive(result):
    ax = new_axes()
    result.plot(ax)
    (right,) = [other for other in ax.figure.axes if other is not ax]
    drawn = right.get_lines()[0].get_ydata()
    assert right.get_yscale() == "log"
    expected = [r.gap for r in result.history if r.gap is not None and r.gap > 0]
    np.testing.assert_array_equal(drawn[np.isfinite(drawn)], expected)


def test_a_run_without_a_gap(result):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    start = dcprog.solve(dcprog.DCProgram(m, g=m.x**2, h=m.x), max_iter=0)
    ax = start.plot(new_axes())
    ax.figure.canvas.draw()
    assert len(ax.get_lines()[0].get_xdata()) == 1


def test_the_function_draws_the_display(result):
    ax = new_axes()
    shown = ConvergenceDisplay.from_result(result, ax=ax)
    assert shown.ax_ is ax
    assert shown.figure_ is ax.figure
    assert plot_convergence(result, new_axes()).get_title() == ax.get_title()


@pytest.fixture(scope="module")
def two_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.where(X[:, 1] > 0.2, "big", "small")


def test_a_path_draws_the_selected_features(two_features):
    path = dcprog.path(fsv, *two_features, lam=[0.1, 0.5, 0.95])
    shown = PathDisplay.from_path(path, ax=new_axes())
    expected = [(lam, j + 1) for lam, r in zip([0.1, 0.5, 0.95], path, strict=True) for j in r.rule.selected()]
    (dots,) = shown.ax_.collections
    np.testing.assert_allclose(dots.get_offsets(), expected)
    assert shown.counts() == [len(r.rule.selected()) for r in path]
    assert shown.ax_.get_xlabel() == "lam"


def test_a_path_of_weights_of_a_kernel(two_features):
    path = dcprog.path(alignment, *two_features, lam=[0.1, 0.9])
    assert PathDisplay.from_path(path, ax=new_axes()).counts() == [len(r.rule.selected()) for r in path]


def test_a_path_along_two_parameters_is_refused(two_features):
    path = dcprog.path(l2_l1_svm, *two_features, mu=[1.0, 10.0], nu=[0.1, 1.0])
    with pytest.raises(DataError, match="mu, nu change along the path"):
        PathDisplay.from_path(path, "nu", ax=new_axes())
    with pytest.raises(UnknownNameError, match="'lam'"):
        PathDisplay.from_path(path, "lam", ax=new_axes())


def test_the_boundary_is_where_the_decision_changes(two_features):
    X, y = two_features
    rule = dcprog.solve(fsv(X, y, lam=0.05)).rule
    shown = BoundaryDisplay.from_estimator(rule, X, y, features=(1, 2), ax=new_axes())
    shown.figure_.canvas.draw()
    grid = np.tile(X.mean(axis=0), (shown.xx0.size, 1))
    grid[:, 1], grid[:, 2] = shown.xx0.ravel(), shown.xx1.ravel()
    np.testing.assert_array_equal(np.where(shown.response.ravel() >= 0, *rule.classes[::-1]), rule.predict(grid))
    assert shown.ax_.get_xlabel() == "x2"
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["big", "small"]


def test_a_boundary_needs_two_features_and_two_classes(two_features):
    X, y = two_features
    rule = dcprog.solve(fsv(X, y)).rule
    for features in [(0, 3), (0,), (1, 1), (0, 1, 2), 0, ("a", "b")]:
        with pytest.raises(DataError, match="positions of two columns, from 0 to 2"):
            BoundaryDisplay.from_estimator(rule, X, y, features=features, ax=new_axes())

    class Three:
        def decision_function(self, X):
            return np.zeros((len(X), 3))

    with pytest.raises(DataError, match="two classes only"):
        BoundaryDisplay.from_estimator(Three(), X, y, ax=new_axes())


def test_a_classifier_that_never_changes_its_mind(two_features):
    class Constant:
        def decision_function(self, X):
            return np.ones(len(X))

    shown = BoundaryDisplay.from_estimator(Constant(), two_features[0], ax=new_axes())
    shown.figure_.canvas.draw()
    assert shown.ax_.get_legend() is None


def test_a_boundary_takes_names_from_a_data_frame(two_features):
    X, y = two_features
    frame = pd.DataFrame(X, columns=["height", "age", "mass"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = BoundaryDisplay.from_estimator(FSV().fit(frame, y), frame, y, features=(1, 2), ax=new_axes())
        unnamed = BoundaryDisplay.from_estimator(FSV().fit(X, y), frame, y, features=(1, 2), ax=new_axes())
    assert (named.ax_.get_xlabel(), named.ax_.get_ylabel()) == ("age", "mass")
    np.testing.assert_array_equal(named.response, unnamed.response)


def test_bad_input_of_a_boundary_is_named(two_features):
    X, y = two_features
    rule = dcprog.solve(fsv(X, y)).rule
    draw = lambda *given, **how: BoundaryDisplay.from_estimator(*given, **{"ax": new_axes(), **how})
    with pytest.raises(DataError, match=r"y has shape \(3,\) for 60 samples"):
        draw(rule, X, y[:3])
    with pytest.raises(DataError, match="estimator is of type int without decision_function"):
        draw(3, X, y)
    with pytest.raises(DataError, match="ax is of type int, expected axes"):
        draw(rule, X, y, ax=3)
    with pytest.raises(DataError, match="names has 1 entries"):
        draw(rule, X, y, names=("a",))
    with pytest.raises(DataError, match="grid_resolution is 0"):
        draw(rule, X, y, grid_resolution=0)
    with pytest.raises(DataError, match="X has shape"):
        draw(rule, X[:, 0], y)
    with pytest.raises(DataError, match="X is not numeric"):
        draw(rule, [["a", "b"]], y)


def test_an_estimator_shows_how_it_was_trained(two_features):
    machine = FSV(lam=0.05).fit(*two_features)
    shown = ConvergenceDisplay.from_estimator(machine, ax=new_axes())
    assert list(shown.objectives) == [record.f for record in machine.result_.history]
    with pytest.raises(DataError, match="of type FSV, expected a Result: draw estimators with from_estimator"):
        ConvergenceDisplay.from_result(machine, ax=new_axes())
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(FSV(), ax=new_axes())


def test_what_has_no_history_is_refused(two_features):
    machine = AROM().fit(*two_features)
    with pytest.raises(DataError, match="expected a Result: pass what"):
        ConvergenceDisplay.from_result(machine.result_, ax=new_axes())
    with pytest.raises(DataError, match="AROM is not trained by one DC program"):
        ConvergenceDisplay.from_estimator(machine, ax=new_axes())
    with pytest.raises(DataError, match="expected an estimator"):
        ConvergenceDisplay.from_estimator(machine.result_, ax=new_axes())


def test_cross_validation_shows_the_features_of_its_folds(two_features):
    X, y = two_features
    chosen = FSVCV(cv=3).fit(pd.DataFrame(X, columns=["height", "age", "mass"]), y)
    shown = PathDisplay.from_estimator(chosen, ax=new_axes())
    np.testing.assert_array_equal(shown.sizes, chosen.selected_shares_)
    np.testing.assert_array_equal(shown.values, chosen.cv_results_["param_lam"])
    assert [label.get_text() for label in shown.ax_.get_yticklabels()] == ["height", "age", "mass"]
    assert shown.ax_.get_xscale() == "linear"
    with pytest.raises(DataError, match=r"FSV has no selected_shares_: .* such as FSVCV"):
        PathDisplay.from_estimator(FSV().fit(X, y), ax=new_axes())


def test_of_two_weights_one_is_drawn_at_the_best_of_the_other(two_features):
    chosen = L2L0SVMCV(mu=[1.0, 30.0, 1000.0], nu=[0.1, 1.0], cv=2).fit(*two_features)
    shown = PathDisplay.from_estimator(chosen, "mu", ax=new_axes())
    table = chosen.cv_results_
    np.testing.assert_array_equal(shown.sizes, chosen.selected_shares_[table["param_nu"] == chosen.best_params_["nu"]])
    assert shown.ax_.get_xscale() == "log"
    assert shown.ax_.get_xlim()[0] > 0
    with pytest.raises(UnknownNameError, match="'lam'"):
        PathDisplay.from_estimator(chosen, "lam", ax=new_axes())


def test_bad_input_of_a_path_is_named(two_features, result):
    path = dcprog.path(fsv, *two_features, lam=[0.1, 0.5])
    with pytest.raises(DataError, match="path is of type list, expected a Path"):
        PathDisplay.from_path(list(path), ax=new_axes())
    with pytest.raises(DataError, match="2 feature_names for 3 features"):
        PathDisplay.from_path(path, feature_names=["a", "b"], ax=new_axes())
    with pytest.raises(DataError, match="ax is of type str, expected axes"):
        PathDisplay.from_path(path, ax="here")
    with pytest.raises(DataError, match="no rule that selects features"):
        PathDisplay.from_path(Path(({"a": 1},), (result,), 1), ax=new_axes())

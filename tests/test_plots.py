"""Displays draw what they say: the history of a run, the features along a path."""

from itertools import pairwise

import matplotlib
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
from dcprog.plots import ConvergenceDisplay, PathDisplay, new_axes, plot_convergence


@pytest.fixture(scope="module")
def result():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    return dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic"))


def test_it_draws_the_history(result):
    ax = new_axes()
    assert plot_convergence(result, ax) is ax
    (f,) = ax.get_lines()
    np.testing.assert_array_equal(f.get_xydata(), [(r.iteration, r.f) for r in result.history])
    assert ax.get_title() == "quartic: converged"


def test_each_point_has_its_own_gap_on_a_log_axis(result):
    shown = ConvergenceDisplay.from_result(result, ax=new_axes())
    np.testing.assert_array_equal(shown.gaps, [*(record.gap for record in result.history[1:]), result.gap])
    curve, marks = shown.gap_ax_.get_lines()
    assert shown.gap_ax_.get_yscale() == "log"
    np.testing.assert_array_equal(curve.get_xydata(), np.column_stack([shown.iterations, shown.gaps]))
    np.testing.assert_array_equal(marks.get_xydata(), curve.get_xydata())


def test_the_gap_drawn_at_the_start_is_that_of_the_start(result):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    start = dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x), max_iter=0)
    shown = ConvergenceDisplay.from_result(start, ax=new_axes())
    shown.figure_.draw_without_rendering()
    assert list(shown.iterations) == [0]
    assert shown.gaps == [pytest.approx(ConvergenceDisplay.from_result(result, ax=new_axes()).gaps[0])]


def test_a_gap_of_zero_is_at_the_floor_of_the_axis_and_marked(two_features):
    result = dcprog.solve(fsv(*two_features, lam=0.05))
    assert result.gap == 0.0
    shown = ConvergenceDisplay.from_result(result, ax=new_axes())
    shown.figure_.draw_without_rendering()
    right = shown.gap_ax_
    (marks,) = [line for line in right.get_lines() if line.get_marker() == "v"]
    positive = [gap for gap in shown.gaps if gap > 0]
    low, high = right.get_ylim()
    assert list(marks.get_xdata()) == [k for k, gap in zip(shown.iterations, shown.gaps, strict=True) if gap == 0]
    assert all(low < y < 0.2 * min(positive) for y in marks.get_ydata())
    assert low < max(positive) < high
    ticks = dict(zip(right.get_yticks(), (label.get_text() for label in right.get_yticklabels()), strict=True))
    assert ticks[marks.get_ydata()[0]] == "0"
    assert [text for text in ticks.values() if text == "0"] == ["0"]
    assert "gap 0, at the floor of the axis" in [text.get_text() for text in right.get_legend().get_texts()]


@pytest.mark.parametrize(
    ("gaps", "drawn", "said"),
    [
        ([0.0, 0.0], [1e-16, 1e-16], "gap 0, at the floor of the axis"),
        ([1e-3, -1e-9], [1e-4], "gap ≤ 0, at the floor of the axis"),
        ([1e-3, np.nan], [], None),
    ],
)
def test_what_a_log_axis_does_not_show_is_inside_its_limits(gaps, drawn, said):
    shown = ConvergenceDisplay([0, 1], [2.0, 1.0], gaps).plot(new_axes())
    shown.figure_.draw_without_rendering()
    marks = [line for line in shown.gap_ax_.get_lines() if line.get_marker() == "v"]
    low, high = shown.gap_ax_.get_ylim()
    assert [y for line in marks for y in line.get_ydata()] == pytest.approx(drawn)
    assert all(low < y < high for y in drawn)
    assert (said in [text.get_text() for text in shown.gap_ax_.get_legend().get_texts()]) == (said is not None)


def test_a_result_does_not_know_how_it_is_drawn(result):
    """Result is below the pictures: an import of them there would be an arrow back."""
    assert not hasattr(result, "plot")


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
    expected = [(lam, j + 1) for lam, r in zip([0.1, 0.5, 0.95], path, strict=True) for j in r.classifier.selected()]
    (dots,) = shown.ax_.collections
    np.testing.assert_allclose(dots.get_offsets(), expected)
    assert shown.counts() == [len(r.classifier.selected()) for r in path]
    assert shown.ax_.get_xlabel() == "lam"


def test_a_path_of_weights_of_a_kernel(two_features):
    path = dcprog.path(alignment, *two_features, lam=[0.1, 0.9])
    assert PathDisplay.from_path(path, ax=new_axes()).counts() == [len(r.classifier.selected()) for r in path]


def test_a_path_along_two_parameters_is_refused(two_features):
    path = dcprog.path(l2_l1_svm, *two_features, mu=[1.0, 10.0], nu=[0.1, 1.0])
    with pytest.raises(DataError, match="mu, nu change along the path"):
        PathDisplay.from_path(path, "nu", ax=new_axes())
    with pytest.raises(UnknownNameError, match="'lam'"):
        PathDisplay.from_path(path, "lam", ax=new_axes())


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
        ConvergenceDisplay.from_result(machine.outcome_, ax=new_axes())
    with pytest.raises(DataError, match="the result of arom has no history"):
        ConvergenceDisplay.from_result(machine.result_, ax=new_axes())
    with pytest.raises(DataError, match="AROM is not trained by one DC program"):
        ConvergenceDisplay.from_estimator(machine, ax=new_axes())
    with pytest.raises(DataError, match="expected an estimator"):
        ConvergenceDisplay.from_estimator(machine.result_, ax=new_axes())


def test_cross_validation_shows_the_features_of_its_folds(two_features):
    X, y = two_features
    chosen = FSVCV(alpha=5.0, cv=3).fit(pd.DataFrame(X, columns=["height", "age", "mass"]), y)
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


NAMES = [f"expression level of the gene number {j}" for j in range(120)]


def along(d, share, seed=0):
    """Sizes along a path of 8 values on which every feature is selected with the given probability."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((8, d)) < share, rng.random((8, d)), 0.0)


def outside(figure, texts):
    """The texts that are not wholly inside the figure, once it is arranged."""
    figure.draw_without_rendering()
    width, height = figure.bbox.width, figure.bbox.height
    boxes = {text.get_text(): text.get_window_extent() for text in texts if text.get_text()}
    return [t for t, box in boxes.items() if box.x0 < 0 or box.y0 < 0 or box.x1 > width or box.y1 > height]


def subplots():
    with matplotlib.rc_context({"backend": "agg"}):
        from matplotlib import pyplot

        return pyplot.subplots()[1]


@pytest.mark.parametrize("make_axes", [lambda: None, new_axes, subplots], ids=["own", "new_axes", "subplots"])
@pytest.mark.parametrize("d", [3, 30, 120])
def test_no_name_is_cut_and_none_hides_another(make_axes, d):
    shown = PathDisplay(np.linspace(0.1, 0.9, 8), along(d, 0.5), "lam", NAMES[:d]).plot(make_axes())
    labels = shown.ax_.get_yticklabels()
    assert outside(shown.figure_, [*labels, shown.ax_.xaxis.label, shown.ax_.yaxis.label]) == []
    assert {text.get_text() for text in labels} - set(NAMES) <= {f"{d - len(labels) + 1} more"}
    heights = sorted((box.y0, box.y1) for box in (text.get_window_extent() for text in labels))
    assert all(one[1] <= two[0] + 1 for one, two in pairwise(heights))
    assert shown.ax_.get_window_extent().width > 0.25 * shown.figure_.bbox.width
    matplotlib.pyplot.close("all")


def test_very_long_names_get_a_smaller_font():
    names = [f"{'a name that says everything one could wish to know' * 2} {j}" for j in range(5)]
    shown = PathDisplay(np.linspace(0.1, 0.9, 8), along(5, 0.5), "lam", names).plot(new_axes())
    assert outside(shown.figure_, shown.ax_.get_yticklabels()) == []
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == names


def test_the_layout_of_a_figure_that_arranges_itself_stays():
    ax = subplots()
    ax.figure.subplots_adjust(left=0.4)
    PathDisplay(np.array([0.1, 0.9]), along(3, 0.5)[:2], "lam").plot(ax)
    assert ax.figure.get_layout_engine() is None
    assert ax.figure.subplotpars.left == 0.4
    matplotlib.pyplot.close("all")


def test_of_many_features_the_most_important_have_names_and_the_rest_is_grey():
    sizes = along(120, 0.3)
    sizes[:, 100:] = 0.0
    shown = PathDisplay(np.linspace(0.1, 0.9, 8), sizes, "lam", NAMES).plot(new_axes())
    shown.figure_.draw_without_rendering()
    *named, rest = [text.get_text() for text in shown.ax_.get_yticklabels()]
    order = np.argsort(-sizes.mean(axis=0), kind="stable")
    selected = int(np.count_nonzero(sizes.any(axis=0)))
    assert named == [NAMES[j] for j in order[: len(named)]]
    assert 10 < len(named) < 60
    assert rest == f"{selected - len(named)} more"
    assert shown.ax_.get_ylabel() == f"feature ({120 - selected} are never selected)"
    coloured, grey = shown.ax_.collections
    assert len(coloured.get_offsets()) + len(grey.get_offsets()) == np.count_nonzero(sizes)
    red, green, blue, _ = grey.get_facecolor()[0]
    assert red == green == blue
    low, high = sorted(shown.ax_.get_ylim())
    assert all(low < y < high for dots in (coloured, grey) for y in dots.get_offsets()[:, 1])
    assert grey.get_offsets()[:, 1].max() < coloured.get_offsets()[:, 1].min(), "the most important are on top"


def test_a_path_that_selects_nothing_has_an_empty_picture():
    shown = PathDisplay(np.linspace(0.1, 0.9, 8), np.zeros((8, 120)), "lam", NAMES).plot(new_axes())
    shown.figure_.draw_without_rendering()
    assert shown.ax_.get_ylabel() == "feature (120 are never selected)"


def test_names_are_no_formulas():
    shown = PathDisplay(np.array([0.1, 0.9]), np.ones((2, 2)), "a$_{", ["$x_{", "50 $"]).plot(new_axes())
    shown.figure_.draw_without_rendering()
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["$x_{", "50 $"]

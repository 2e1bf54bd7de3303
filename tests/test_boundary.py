"""The decision boundary is drawn in the features that were selected, and where the class changes."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import dcprog
from dcprog.errors import DataError, UnknownNameError
from dcprog.estimators import AROM, FSV, AlignmentSVM
from dcprog.models import fsv
from dcprog.plots import BoundaryDisplay, new_axes


@pytest.fixture(scope="module")
def cancer():
    return dcprog.datasets.load("breast_cancer", standardise=True)


@pytest.fixture(scope="module")
def two_of_five():
    """Features 3 and 1 tell the classes apart, 3 more than 1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    return X, np.where(2 * X[:, 3] + X[:, 1] > 0.2, "big", "small")


def draw(*given, **how):
    return BoundaryDisplay.from_estimator(*given, **{"ax": new_axes(), **how})


def points_on(boundary):
    return np.vstack([path.vertices for path in boundary.get_paths()])


def full(shown, drawn, X):
    """Samples with the features drawn, the others at their medians."""
    samples = np.tile(np.median(X, axis=0), (len(drawn), 1))
    samples[:, list(shown.features)] = drawn
    return samples


def check_boundary(shown, predict, X):
    """A step to either side of every contour the predicted class differs, so each is between points of two classes."""
    (x0, x1), (y0, y1) = shown.ax_.get_xlim(), shown.ax_.get_ylim()
    step = np.array([x1 - x0, y1 - y0]) / 60
    assert shown.boundaries_
    for boundary in shown.boundaries_:
        vertices = points_on(boundary)
        assert len(vertices) > 5
        around = [vertices + step * turn for turn in ([1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1], [1, -1], [-1, 1])]
        classes = np.array([predict(full(shown, moved, X)) for moved in around])
        assert all(len(set(column)) > 1 for column in classes.T)


def test_the_selected_features_are_drawn_the_most_important_first(two_of_five):
    X, y = two_of_five
    machine = FSV(lam=0.05).fit(X, y)
    assert machine.get_support(indices=True).tolist() == [1, 3]
    shown = draw(machine, X, y)
    assert shown.features == (3, 1)
    assert shown.names == ("x4", "x2")
    assert (shown.ax_.get_xlabel(), shown.ax_.get_ylabel()) == ("x4", "x2")
    assert shown.title == ""
    np.testing.assert_array_equal(shown.points, X[:, [3, 1]])
    check_boundary(shown, machine.predict, X)


def test_importance_counts_the_scale_of_a_feature(two_of_five):
    """In other units the weights change, and what the decision depends on does not."""
    X, y = two_of_five
    scaled = X * np.array([1.0, 1e-3, 1.0, 1e3, 1.0])
    machine = SVC(kernel="linear", C=10.0).fit(X, y)

    class Scaled:
        classes_ = machine.classes_

        def decision_function(self, Z):
            return machine.decision_function(Z / np.array([1.0, 1e-3, 1.0, 1e3, 1.0]))

    assert draw(machine, X, y).features == draw(Scaled(), scaled, y).features == (3, 1)


def test_the_regions_are_the_predictions(two_of_five):
    X, y = two_of_five
    rule = dcprog.solve(fsv(X, y, lam=0.05)).classifier
    shown = draw(rule, X, y)
    grid = full(shown, np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()]), X)
    np.testing.assert_array_equal(np.where(shown.response.ravel() > 0, *rule.classes[::-1]), rule.predict(grid))
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["big", "small", "boundary"]


def test_samples_are_on_top_in_the_colour_of_their_region(two_of_five):
    X, y = two_of_five
    shown = draw(FSV(lam=0.05).fit(X, y), X, y)
    shown.figure_.draw_without_rendering()
    clouds = [c for c in shown.ax_.collections if len(c.get_offsets()) > 1]
    regions = [c for c in shown.ax_.collections if c not in clouds and c not in shown.boundaries_]
    for k, label in enumerate(("big", "small")):
        np.testing.assert_array_equal(clouds[k].get_offsets(), X[y == label][:, [3, 1]])
        np.testing.assert_array_equal(clouds[k].get_facecolor()[0, :3], regions[k].get_facecolor()[0, :3])
        assert clouds[k].get_zorder() > max(c.get_zorder() for c in [*regions, *shown.boundaries_])


def test_other_selected_features_are_held_and_the_title_says_so(cancer):
    rule = dcprog.solve(fsv(cancer.X, cancer.y, lam=0.1)).classifier
    assert len(rule.selected()) == 3
    shown = draw(rule, cancer.X, cancer.y, feature_names=cancer.feature_names)
    assert set(shown.features) < set(rule.selected())
    assert shown.ax_.get_title() == "1 more selected feature, held at its median"
    assert set(shown.names) < set(cancer.feature_names)
    check_boundary(shown, rule.predict, cancer.X)


def test_a_boundary_beyond_the_medians_is_found():
    """At the median of the third feature the first two decide nothing; the slice goes where the classes meet."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.standard_normal((90, 2)), np.repeat([-100.0, -90.0, 100.0], 30)])
    y = X @ [0.1, 0.1, 1.0] > 0

    class Third:
        classes_ = np.array([False, True])

        def decision_function(self, Z):
            return Z @ [0.1, 0.1, 1.0]

    shown = draw(Third(), X, y, features=(0, 1))
    assert shown.boundaries_
    assert shown.ax_.get_title() == "1 more selected feature, held where two classes meet"
    inside = points_on(shown.boundaries_[0])
    assert np.ptp(inside @ [0.1, 0.1]) < 1e-9


@pytest.mark.parametrize(
    "machine", [SVC(), AlignmentSVM(), make_pipeline(StandardScaler(), SVC())], ids=["svm", "alignment", "pipeline"]
)
def test_a_nonlinear_boundary_is_drawn(machine):
    X, y = dcprog.datasets.generators.circle(200, seed=0)
    machine.fit(X, y)
    shown = draw(machine, X, y)
    check_boundary(shown, machine.predict, X)
    angles = np.arctan2(*points_on(shown.boundaries_[0]).T)
    assert np.ptp(angles) > 6, "it goes around the disc"


def test_several_classes_have_several_boundaries():
    iris = load_iris(as_frame=True)
    machine = AROM().fit(iris.data, iris.target)
    shown = draw(machine, iris.data, iris.target)
    assert shown.response.shape == (200, 200, 3)
    assert set(shown.names) == {"petal length (cm)", "petal width (cm)"}
    plain = AROM().fit(iris.data.to_numpy(), iris.target)
    check_boundary(shown, plain.predict, iris.data.to_numpy())
    grid = full(shown, np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()]), iris.data.to_numpy())
    np.testing.assert_array_equal(shown.response.reshape(-1, 3).argmax(axis=1), plain.predict(grid))
    assert [text.get_text() for text in shown.ax_.get_legend().get_texts()] == ["0", "1", "2", "boundary"]


def test_the_slice_shows_as_many_classes_as_it_can():
    wine = load_wine(as_frame=True)
    machine = make_pipeline(StandardScaler(), SVC()).fit(wine.data, wine.target)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = draw(machine, wine.data, wine.target)
    assert len(np.unique(shown.response.reshape(-1, 3).argmax(axis=1))) == 3
    assert shown.ax_.get_title() == "11 more selected features, held where two classes meet"


def test_one_selected_feature_is_drawn_along_a_line(cancer):
    rule = dcprog.solve(fsv(cancer.X, cancer.y, lam=0.5)).classifier
    (j,) = rule.selected()
    shown = draw(rule, cancer.X, cancer.y, feature_names=cancer.feature_names)
    assert shown.features == (j,)
    assert shown.xx1 is None
    assert shown.ax_.get_xlabel() == cancer.feature_names[j]
    (line,) = shown.boundaries_
    assert line.get_xdata()[0] == pytest.approx(-rule.b / rule.w[j], abs=1e-6)
    assert [text.get_text() for text in shown.ax_.get_yticklabels()] == ["-1", "1"]
    assert shown.ax_.get_ylabel() == "class"
    negative, positive = shown.ax_.collections
    np.testing.assert_array_equal(negative.get_offsets()[:, 0], cancer.X[cancer.y < 0, j])
    assert negative.get_offsets()[:, 1].max() < 0.5 < positive.get_offsets()[:, 1].min()
    regions = {patch.get_facecolor()[:3]: patch.get_extents() for patch in shown.ax_.patches}
    assert len(regions) == 2


def test_three_classes_along_a_line_have_two_boundaries():
    X = np.linspace(0, 3, 60)[:, None]
    y = np.repeat(["low", "mid", "high"], 20)
    machine = SVC(C=10.0).fit(X, y)
    shown = draw(machine, X, y)
    found = [line.get_xdata()[0] for line in shown.boundaries_]
    for at, (left, right) in zip(found, [("low", "mid"), ("mid", "high")], strict=True):
        assert machine.predict([[at - 0.02], [at + 0.02]]).tolist() == [left, right]


def test_no_selected_feature_is_a_clear_message(two_of_five):
    X, y = two_of_five
    machine = FSV(lam=0.99).fit(X, y)
    assert machine.get_support().sum() == 0
    with pytest.raises(DataError, match=r"FSV uses no feature, so it has no boundary .* smaller penalty"):
        draw(machine, X, y)
    shown = draw(machine, X, y, features=(0, 1))
    (predicted,) = set(machine.predict(X))
    assert shown.ax_.get_title() == f"no boundary here: all of it is class {predicted}"
    assert shown.boundaries_ == []


def test_features_are_asked_for_by_name_or_position(two_of_five):
    X, y = two_of_five
    machine = FSV(lam=0.05).fit(X, y)
    names = ["a", "b", "c", "d", "e"]
    assert draw(machine, X, y, features=("d", 0), feature_names=names).names == ("d", "a")
    assert draw(machine, X, y, features=["d"], feature_names=names).xx1 is None
    assert draw(machine, X, y, features=3).features == (3,)
    with pytest.raises(UnknownNameError, match="unknown feature 'f'"):
        draw(machine, X, y, features=("f", "a"), feature_names=names)
    for features in [(0, 5), (-1, 0), (1, 1), (0, 1, 2), (), (0.5, 1)]:
        with pytest.raises(DataError, match="pass one or two columns, as names or positions from 0 to 4"):
            draw(machine, X, y, features=features)


def test_names_come_from_a_data_frame_or_the_training(two_of_five):
    X, y = two_of_five
    frame = pd.DataFrame(X, columns=["a$_{", "b", "c", "d", "e"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = draw(FSV(lam=0.05).fit(frame, y), frame, y)
        unnamed = draw(FSV(lam=0.05).fit(X, y), frame, y)
        trained = draw(dcprog.solve(fsv(frame, y, lam=0.05)).classifier, X, y)
    assert named.names == unnamed.names == trained.names == ("d", "b")
    np.testing.assert_allclose(named.response, unnamed.response, atol=1e-9)  # X and the frame differ in memory order
    draw(FSV().fit(frame, y), frame, y, features=("a$_{", "b")).figure_.draw_without_rendering()


def test_sparse_samples_are_drawn(two_of_five):
    X, y = two_of_five
    kept = np.where(np.abs(X) > 0.5, X, 0.0)
    machine = LogisticRegression().fit(sp.csr_array(kept), y)
    np.testing.assert_array_equal(draw(machine, sp.csr_array(kept), y).response, draw(machine, kept, y).response)


def test_a_classifier_that_never_changes_its_mind(two_of_five):
    class Constant:
        def decision_function(self, X):
            return np.ones(len(X))

    with pytest.raises(DataError, match="Constant uses no feature"):
        draw(Constant(), two_of_five[0])
    shown = draw(Constant(), two_of_five[0], features=(0, 1))
    shown.figure_.draw_without_rendering()
    assert shown.ax_.get_legend() is None
    assert shown.boundaries_ == []


@pytest.mark.parametrize("names", [["a"] * 5, ["the concentration of a substance with a very long name"] * 5])
def test_no_label_is_cut(two_of_five, names):
    X, y = two_of_five
    shown = draw(FSV(lam=0.05).fit(X, y), X, y, feature_names=names)
    shown.figure_.draw_without_rendering()
    texts = [shown.ax_.xaxis.label, shown.ax_.yaxis.label, *shown.ax_.get_legend().get_texts()]
    boxes = [text.get_window_extent() for text in texts]
    assert all(box.x0 >= 0 and box.y0 >= 0 for box in boxes)
    assert all(box.x1 <= shown.figure_.bbox.width and box.y1 <= shown.figure_.bbox.height for box in boxes)
    axes = shown.ax_.get_window_extent()
    assert all(box.x0 >= axes.x1 for box in boxes[2:]), "the legend hides no sample"


def test_columns_that_are_pairs_of_classes_are_refused():
    iris = load_iris()
    X, y = iris.data, iris.target
    with pytest.raises(DataError, match="decision_function_shape='ovr'"):
        draw(SVC(decision_function_shape="ovo").fit(X, y), X, y)
    wide = np.vstack([X, X + 20])
    four = np.concatenate([y, np.full(150, 3)])
    with pytest.raises(DataError, match=r"6 column\(s\) for 4 classes"):
        draw(SVC(decision_function_shape="ovo").fit(wide, four), wide, four)


def test_bad_input_is_named(two_of_five):
    X, y = two_of_five
    rule = dcprog.solve(fsv(X, y, lam=0.05)).classifier
    for given, how, message in [
        ((rule, X, y[:3]), {}, r"y has shape \(3,\) for 80 samples"),
        ((rule, X, np.where(y == "big", "large", y)), {}, "y has the labels large, and the classifier knows big, small"),
        ((3, X, y), {}, "estimator is of type int without decision_function"),
        ((rule, X, y), {"ax": 3}, "ax is of type int, expected axes"),
        ((rule, X, y), {"feature_names": ("a",)}, "1 feature_names for 5 features"),
        ((rule, X, y), {"grid_resolution": 0}, "grid_resolution is 0"),
        ((rule, X[:, 0], y), {}, "X has 1 dimension"),
        ((rule, [["a", "b"]], y), {}, "X is not numeric"),
        ((rule, np.where(X > 2, np.nan, X), y), {}, "NaN or infinite entries"),
    ]:
        with pytest.raises(DataError, match=message):
            draw(*given, **how)

    class Fewer:
        def decision_function(self, X):
            return np.zeros(3)

    with pytest.raises(DataError, match=r"gave shape \(3,\) for 80 samples"):
        draw(Fewer(), X, y)

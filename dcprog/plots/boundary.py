"""The decision boundary of a classifier, in the features that it selected."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.plots.axes import axes_for, kind
from dcprog.plots.regions import draw_line, draw_plane, label, legend_beside
from dcprog.plots.selection import Decision, used_features
from dcprog.plots.slices import codes_of, slice_of
from dcprog.typing import Indices, Matrix, Vector

LETTERS = 32
"""How many letters fit along the height of the axes; longer names are wrapped."""
UNLIKE = 0.1
"""Only ties may make the class of the largest score another than the predicted one. If they differ for more than this share
of the samples, the scores are no scores of classes."""


@dataclass
class BoundaryDisplay:
    """The decision boundary of a classifier: its regions shaded, the boundary as a line, the samples on top.

    Of the features that the classifier uses, the two that its decision depends on most are drawn, and the others held at
    their medians, or at a point where two classes meet if that shows more classes. With one feature the samples are drawn
    along it, class by class.

    >>> import dcprog
    >>> from dcprog.models import fsv
    >>> from dcprog.plots import new_axes
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> rule = dcprog.solve(fsv(data.X, data.y, lam=0.1)).classifier
    >>> shown = BoundaryDisplay.from_estimator(rule, data.X, data.y, feature_names=data.feature_names, ax=new_axes())
    >>> shown.names, shown.title
    (('worst perimeter', 'mean concave points'), '1 more selected feature, held at its median')
    """

    features: tuple[int, ...]
    """The positions of the features drawn, one or two."""
    names: tuple[str, ...]
    xx0: Matrix | Vector
    xx1: Matrix | None
    """The grid, as of ``numpy.meshgrid``; of one feature xx0 is a line and xx1 None."""
    response: Matrix
    """The decision function on the grid, 0 on the boundary; with several classes a last axis has a score for each."""
    points: Matrix
    y: Any
    classes: tuple[Any, ...]
    title: str = ""
    boundaries_: list[Any] = field(default_factory=list, init=False, repr=False)
    """Contours; of one feature vertical lines."""
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[int | str] | None = None,
        feature_names: Sequence[str] | None = None,
        grid_resolution: int = 200,
        ax: Any = None,
    ) -> BoundaryDisplay:
        """Anything with a ``decision_function``: rules, estimators, pipelines; for two classes or more.

        ``features`` are the positions or names of one or two columns to draw instead of the most important ones.
        ``feature_names`` has a name for each column of X; by default those of X, or those the classifier was trained with.
        """
        if not hasattr(estimator, "decision_function"):
            raise DataError(f"estimator is {kind(estimator)} without decision_function: pass a rule, or a classifier")
        if not (isinstance(grid_resolution, Integral) and grid_resolution >= 2):
            raise DataError(f"grid_resolution is {grid_resolution!r}: pass an integer ≥ 2")
        samples = _samples(X)
        decision = _decision(estimator, X)
        classes = _classes(estimator, decision(samples), samples, y)
        names = _names(estimator, X, samples.shape[1], feature_names)
        used, _ = used_features(estimator, decision, samples)
        drawn = _most_important(estimator, used) if features is None else _asked(features, names)
        cut = slice_of(decision, samples, drawn, int(grid_resolution))
        grid = np.meshgrid(*cut.axes)
        shape = grid[0].shape if cut.scores.shape[1] == 1 else (*grid[0].shape, cut.scores.shape[1])
        shown = cls(
            tuple(int(j) for j in drawn),
            tuple(names[j] for j in drawn),
            grid[0],
            grid[1] if len(grid) == 2 else None,
            cut.scores.reshape(shape),
            samples[:, drawn],
            y,
            classes,
            _title(len(np.setdiff1d(used, drawn)), cut.at),
        )
        return shown.plot(ax)

    def plot(self, ax: Any = None) -> BoundaryDisplay:
        self.ax_ = ax = axes_for(ax)
        self.figure_ = ax.figure
        scores = self.response.reshape(self.xx0.size, -1)
        codes = None if self.y is None else _codes(self.y, self.classes)
        if self.xx1 is None:
            self.boundaries_ = draw_line(ax, self.xx0, scores, self.points[:, 0], codes, self.classes)
            ax.set_xlabel(self.names[0], parse_math=False)
        else:
            self.boundaries_ = draw_plane(ax, self.xx0, self.xx1, scores, self.points, codes, self.classes)
            ax.set_xlabel(self.names[0], parse_math=False)
            ax.set_ylabel(textwrap.fill(self.names[1], LETTERS), parse_math=False)
            if codes is not None:
                legend_beside(ax, self.boundaries_, self.classes)
        said = (
            [] if self.boundaries_ else [f"no boundary here: all of it is class {label(self.classes[codes_of(scores)[0]])}"]
        )
        ax.set_title("\n".join([*said, self.title]).strip(), fontsize="medium", parse_math=False)
        return self


def _samples(X: Any) -> Matrix:
    try:
        samples = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"X is not numeric ({error}): pass the samples that the classifier takes") from None
    if samples.ndim != 2 or 0 in samples.shape:
        raise DataError(f"X has shape {samples.shape}: pass samples in rows, with at least one column")
    if not np.isfinite(samples).all():
        raise DataError("X has NaN or infinite entries: impute or drop them first")
    return samples


def _decision(estimator: Any, frame: Any) -> Decision:
    """The decision function as columns. What was trained on a data frame is asked with one."""
    named = hasattr(frame, "iloc") and hasattr(estimator, "feature_names_in_")

    def scores(X: Matrix) -> Matrix:
        given = type(frame)(X, columns=frame.columns) if named else X
        found = np.asarray(estimator.decision_function(given), dtype=float)
        if found.ndim not in (1, 2) or len(found) != len(X):
            raise DataError(f"the decision function gave shape {found.shape} for {len(X)} samples, expected a row for each")
        return found.reshape(len(X), -1)

    return scores


def _classes(estimator: Any, scores: Matrix, X: Matrix, y: Any) -> tuple[Any, ...]:
    """The labels, in the order of the scores."""
    if y is not None and np.shape(y) != (len(X),):
        raise DataError(f"y has shape {np.shape(y)} for {len(X)} samples: pass one label a sample")
    known = getattr(estimator, "classes_", getattr(estimator, "classes", None))
    if known is None:
        known = np.arange(max(scores.shape[1], 2)) if y is None else np.unique(y)
    classes = tuple(np.asarray(known).tolist())
    columns = scores.shape[1]
    if columns != (1 if len(classes) == 2 else len(classes)) and columns != len(classes):
        raise DataError(
            f"the decision function has {columns} column(s) for {len(classes)} classes: a boundary needs one score for two "
            "classes, or one for each class (for scikit-learn's SVC, decision_function_shape='ovr')"
        )
    if y is not None:
        _codes(y, classes)
    if columns > 2 and hasattr(estimator, "classes_"):
        _check_meaning(estimator, scores, X)
    return classes


def _check_meaning(estimator: Any, scores: Matrix, X: Matrix) -> None:
    """Three columns may be pairs of classes, too, as scikit-learn's SVC has them with "ovo"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # names of columns play no part here
        predicted = estimator.predict(X)
    if (estimator.classes_[codes_of(scores)] != predicted).mean() > UNLIKE:
        raise DataError(
            "the class of the largest score is not the one that is predicted: the columns are no scores of classes "
            "(for scikit-learn's SVC, pass decision_function_shape='ovr')"
        )


def _codes(y: Any, classes: Sequence[Any]) -> Indices:
    """The position of each label among the classes."""
    labels = np.asarray(y).tolist()
    unknown = sorted({str(label) for label in labels if label not in classes})
    if unknown:
        known = ", ".join(map(str, classes))
        raise DataError(
            f"y has the labels {', '.join(unknown[:5])}, and the classifier knows {known}: pass those of its training"
        )
    return np.array([classes.index(label) for label in labels])


def _names(estimator: Any, frame: Any, d: int, given: Sequence[str] | None) -> list[str]:
    """The first of: those given, those of X, those the classifier was trained with; else x1, x2, …"""
    if given is not None and len(given) != d:
        raise DataError(f"{len(given)} feature_names for {d} features: pass one for each")
    trained = getattr(estimator, "feature_names_in_", getattr(estimator, "feature_names", None))
    for names in (given, getattr(frame, "columns", None), trained):
        if names is not None and len(names) == d:
            return [str(name) for name in names]
    return [f"x{j + 1}" for j in range(d)]


def _most_important(estimator: Any, used: Indices) -> Indices:
    if not len(used):
        raise DataError(
            f"{type(estimator).__name__} uses no feature, so it has no boundary to draw: every sample gets the same class. "
            "Train it with a smaller penalty on features, or pass features=(…) to draw the plane all the same"
        )
    return used[:2]


def _asked(features: Any, names: Sequence[str]) -> Indices:
    """Positions of the columns asked for by position or name."""
    chosen = list(features) if isinstance(features, Sequence | np.ndarray) and not isinstance(features, str) else [features]
    for name in chosen:
        if isinstance(name, str) and name not in names:
            raise unknown_name("feature", name, names)
    positions = [names.index(j) if isinstance(j, str) else j for j in chosen]
    inside = all(isinstance(j, Integral) and 0 <= int(j) < len(names) for j in positions)
    if not inside or len(positions) not in (1, 2) or len(set(positions)) < len(positions):
        raise DataError(
            f"features is {features!r}: pass one or two columns, as names or positions from 0 to {len(names) - 1}"
        )
    return np.array([int(j) for j in positions])


def _title(others: int, at: str) -> str:
    """What happens to the features that are used and not drawn."""
    if not others:
        return ""
    place = at.replace("their medians", "its median") if others == 1 else at
    return f"{others} more selected feature{'s' if others > 1 else ''}, held {place}"

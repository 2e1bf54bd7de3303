"""Which features are selected along a grid of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dcprog.algorithms.path import Path
from dcprog.errors import DataError, unknown_name
from dcprog.plots.axes import POINTS, axes_for, fitted, kind, padded, size_in_points
from dcprog.typing import Indices, Matrix, Vector

ROWS = 40
"""A new figure is made tall enough for up to so many named features."""
LINE, SMALLEST, LARGEST = 1.3, 6.0, 10.0
"""A name needs 1.3 times its font size; fonts have 6 to 10 points."""
LETTER = 0.62
"""The mean width of a letter in font sizes, estimated on the safe side."""
SIDE = 0.6
"""Names may take up this part of the width."""
FRAME = 1.0
"""Inches around the axes, for ticks, the label and margins."""
BAND = 0.2
"""The unnamed features share this part of the axes."""
DECADES = 3
"""Positive values that span as many are drawn on a logarithmic axis."""


@dataclass
class PathDisplay:
    """Which features are selected along a path of parameters, as in Figs. 1 and 2: a dot for each, its area the weight.

    Where the axes have no room to name every feature, the most important ones, by their mean area along the path, get a row
    with a name, the most important on top; the others that are selected somewhere follow in grey.

    >>> import dcprog
    >>> from dcprog.models import fsv
    >>> from dcprog.plots import new_axes
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> path = dcprog.path(fsv, data.X, data.y, lam=[0.05, 0.5, 0.95])
    >>> PathDisplay.from_path(path, ax=new_axes()).counts()
    [3, 1, 0]
    """

    values: Vector
    sizes: Matrix
    """A row for each value: |w| or θ of the features that are selected, or how often they are; 0 for the others."""
    parameter: str
    feature_names: Sequence[str] | None = None
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_path(
        cls, path: Path, parameter: str | None = None, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> PathDisplay:
        """A path along one ``parameter``, by default the one that changes."""
        if not isinstance(path, Path):
            raise DataError(f"path is {kind(path)}, expected a Path: pass what dcprog.path returns")
        if any(not hasattr(result.classifier, "selected") for result in path):
            raise DataError("a run along the path has no rule that selects features: draw paths that all found classifiers")
        name = _parameter(path.parameters, parameter)
        changing = _changing(path.parameters)
        if set(changing) - {name}:
            raise DataError(f"{', '.join(changing)} change along the path: draw one of them, with the others fixed")
        sizes = np.array([selected_sizes(result.classifier) for result in path])
        names = getattr(path[0].classifier, "feature_names", None) if feature_names is None else feature_names
        return cls(np.array([point[name] for point in path.parameters]), sizes, name, names).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, parameter: str | None = None, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> PathDisplay:
        """What cross-validation selected, for the estimators whose names end in CV: areas are shares of the folds.

        ``parameter`` is by default the first that changes; the others are the best ones.

        >>> import dcprog
        >>> from dcprog.estimators import FSVCV
        >>> from dcprog.plots import new_axes
        >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
        >>> shown = PathDisplay.from_estimator(FSVCV(lam=[0.1, 0.5], cv=2).fit(data.X, data.y), ax=new_axes())
        >>> shown.ax_.get_xlabel(), shown.sizes.shape
        ('lam', (2, 30))
        """
        shares = fitted(estimator, "selected_shares_", "PathDisplay draws those whose names end in CV, such as FSVCV")
        points = estimator.cv_results_["params"]
        name, best = _parameter(points, parameter), estimator.best_params_
        shown = [i for i, point in enumerate(points) if all(point[other] == best[other] for other in point if other != name)]
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        return cls(np.array([points[i][name] for i in shown]), shares[shown], name, names).plot(ax)

    def counts(self) -> list[int]:
        """The number of features at each value."""
        return [int(n) for n in np.count_nonzero(self.sizes, axis=1)]

    def plot(self, ax: Any = None) -> PathDisplay:
        names = self._names()
        self.ax_ = ax = axes_for(ax, *self._figure_size(names))
        self.figure_ = ax.figure
        rows = _room(ax)
        if len(names) <= rows:
            self._draw_all(names)
        else:
            self._draw_most_important(names, rows)
        ax.set_xlabel(self.parameter, parse_math=False)
        ax.grid(axis="y", color="0.93", linewidth=0.8)
        ax.set_axisbelow(True)
        if self.values.min() > 0 and self.values.max() >= 10**DECADES * self.values.min():
            ax.set_xscale("log")
            ax.set_xlim(*np.exp(padded(np.log(self.values))))
        else:
            ax.set_xlim(*padded(self.values))
        return self

    def _names(self) -> list[str]:
        d = self.sizes.shape[1]
        if self.feature_names is None:
            return [f"x{j + 1}" for j in range(d)]
        if len(self.feature_names) != d:
            raise DataError(f"{len(self.feature_names)} feature_names for {d} features: pass one for each")
        return [str(name) for name in self.feature_names]

    def _figure_size(self, names: Sequence[str]) -> tuple[float, float]:
        """Inches for a figure with up to ``ROWS`` names, and room for the longest of them beside the axes."""
        named = names if len(names) <= ROWS else [names[j] for j in self.by_importance()[:ROWS]]
        longest = max(map(len, named), default=0)
        return 6.0 + longest * LETTER * LARGEST / POINTS, max(3.0, FRAME + len(named) * LINE * LARGEST / POINTS)

    def _draw_all(self, names: Sequence[str]) -> None:
        """A row for each feature, in their order."""
        positions: Vector = np.arange(1.0, len(names) + 1.0)
        self._dots(np.arange(len(names)), positions, "C0")
        self.ax_.set(ylabel="feature", ylim=(0.5, len(names) + 0.5))
        self._label(positions, names)

    def _draw_most_important(self, names: Sequence[str], rows: int) -> None:
        """Rows with names from the top, and a band below for all others that are selected somewhere."""
        order = self.by_importance()
        height = max(1.0, BAND * rows) if len(order) > rows else 0.0  # of the band, in rows
        named, others = np.split(order, [max(1, int(rows - height))])
        positions: Vector = -np.arange(1.0, len(named) + 1)
        bottom = -max(len(named), 1) - 0.5
        self._dots(named, positions, "C0")
        ticks, labels = list(positions), [names[j] for j in named]
        if len(others):
            band: Vector = bottom - height * (np.arange(len(others)) + 0.5) / len(others)
            self._dots(others, band, "0.65", largest=min(60.0, 2000.0 / len(others)))
            self.ax_.axhline(bottom, color="0.8", linewidth=0.8)
            ticks, labels = [*ticks, bottom - height / 2], [*labels, f"{len(others)} more"]
            bottom -= height
        never = len(names) - len(order)
        self.ax_.set(ylabel=f"feature ({never} are never selected)" if never else "feature", ylim=(bottom, -0.5))
        self._label(ticks, labels)

    def by_importance(self) -> Indices:
        """The features that are selected somewhere, those of the largest mean size first."""
        mean = self.sizes.mean(axis=0)
        order = np.argsort(-mean, kind="stable")
        return np.asarray(order[mean[order] > 0])

    def _dots(self, features: Indices, positions: Vector, colour: str, largest: float = 60.0) -> None:
        at, column = np.nonzero(self.sizes[:, features])
        shares = self.sizes[at, features[column]] / max(self.sizes.max(initial=0.0), 1e-300)
        self.ax_.scatter(self.values[at], positions[column], s=largest * (1 + 5 * shares) / 6, color=colour, linewidths=0)

    def _label(self, ticks: Sequence[float] | Vector, labels: Sequence[str]) -> None:
        """Names in a font that leaves them their row, and the axes a part of the width."""
        width, height = size_in_points(self.ax_)
        fits = min(height / (LINE * max(len(labels), 1)), SIDE * width / (LETTER * max(map(len, labels), default=1)))
        self.ax_.set_yticks(ticks, labels=labels, fontsize=float(np.clip(fits, SMALLEST, LARGEST)), parse_math=False)


def selected_sizes(rule: Any) -> Vector:
    """|w| or θ of the selected features, 0 for the others."""
    sizes = np.asarray(rule.theta if hasattr(rule, "theta") else rule.sizes(), dtype=float)
    kept = np.zeros_like(sizes)
    kept[rule.selected()] = sizes[rule.selected()]
    return kept


def _room(ax: Any) -> int:
    """How many names fit beside the axes in the smallest font."""
    return int(size_in_points(ax)[1] / (LINE * SMALLEST))


def _changing(points: Sequence[dict[str, Any]]) -> list[str]:
    """The parameters that are not the same at all points."""
    return [name for name in points[0] if len({point[name] for point in points}) > 1]


def _parameter(points: Sequence[dict[str, Any]], given: str | None) -> str:
    """The parameter to draw, by default the first that changes."""
    name = next(iter(_changing(points) or points[0])) if given is None else given
    if name not in points[0]:
        raise unknown_name("parameter of the path", name, points[0])
    return name

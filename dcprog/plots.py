"""Pictures (extra ``[plot]``), scikit-learn style: a Display holds what is drawn, ``plot(ax)`` draws it; axes in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dcprog._typing import Matrix, Vector
from dcprog.errors import DataError, MissingExtraError, unknown_name
from dcprog.result import Result

if TYPE_CHECKING:
    from dcprog.paths import Path


@dataclass
class ConvergenceDisplay:
    """f(x_k) over the iterations k, and the gap of criticality on a second, logarithmic axis.

    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1)
    >>> result = dcprog.solve(dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x))
    >>> ConvergenceDisplay.from_result(result, ax=new_axes()).ax_.get_ylabel()
    'objective f'
    """

    iterations: Sequence[int]
    objectives: Sequence[float]
    gaps: Sequence[float]
    """NaN where there is none, or none that a logarithm shows."""
    title: str = ""
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_result(cls, result: Result, *, ax: Any = None) -> ConvergenceDisplay:
        """The history of ``result``, drawn on ``ax``, by default on axes of a new figure."""
        gaps = [np.nan if record.gap is None or record.gap <= 0 else record.gap for record in result.history]
        shown = cls(
            [record.iteration for record in result.history],
            [record.f for record in result.history],
            gaps,
            f"{result.name or 'DC program'}: {result.status}",
        )
        return shown.plot(ax)

    def plot(self, ax: Any = None) -> ConvergenceDisplay:
        self.ax_ = ax = _axes(ax)
        self.figure_ = ax.figure
        (f,) = ax.plot(self.iterations, self.objectives, "o-", color="C0", label="objective f")
        right = ax.twinx()
        (gap,) = right.plot(self.iterations, self.gaps, "s--", color="C1", label="gap")
        if np.isfinite(self.gaps).any():
            right.set_yscale("log")
        ax.set(xlabel="iteration", ylabel="objective f", title=self.title)
        right.set_ylabel("gap")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(handles=[f, gap])
        return self


@dataclass
class PathDisplay:
    """Which features are selected along a path of parameters, as in Figs. 1 and 2: a dot for each, its area the weight.

    >>> import dcprog
    >>> from dcprog.models import fsv
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> path = dcprog.path(fsv, data.X, data.y, lam=[0.05, 0.5, 0.95])
    >>> PathDisplay.from_path(path, ax=new_axes()).counts()
    [3, 1, 0]
    """

    values: Vector
    sizes: Matrix
    """A row for each value: |w| or θ of the features that are selected, 0 for the others."""
    parameter: str
    feature_names: Sequence[str] | None = None
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_path(
        cls, path: Path, parameter: str | None = None, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> PathDisplay:
        """A path along one ``parameter``, by default the one that changes."""
        changing = [name for name in path.parameters[0] if len({point[name] for point in path.parameters}) > 1]
        name = parameter or next(iter(changing or path.parameters[0]))
        if name not in path.parameters[0]:
            raise unknown_name("parameter of the path", name, path.parameters[0])
        if set(changing) - {name}:
            raise DataError(f"{', '.join(changing)} change along the path: draw one of them, with the others fixed")
        sizes = np.array([_selected_sizes(result.rule) for result in path])
        return cls(np.array([point[name] for point in path.parameters]), sizes, name, feature_names).plot(ax)

    def counts(self) -> list[int]:
        """The number of features at each value."""
        return [int(n) for n in np.count_nonzero(self.sizes, axis=1)]

    def plot(self, ax: Any = None) -> PathDisplay:
        self.ax_ = ax = _axes(ax)
        self.figure_ = ax.figure
        at, features = np.nonzero(self.sizes)
        shares = self.sizes[at, features] / max(self.sizes.max(initial=0.0), 1e-300)
        ax.scatter(self.values[at], features + 1, s=10 + 50 * shares)
        d = self.sizes.shape[1]
        ax.set(xlabel=self.parameter, ylabel="feature", ylim=(0.5, d + 0.5), xlim=_around(self.values))
        if self.feature_names is not None:
            ax.set_yticks(range(1, d + 1), labels=list(self.feature_names))
        else:
            ax.yaxis.get_major_locator().set_params(integer=True)
        return self


@dataclass
class BoundaryDisplay:
    """The decision boundary of a classifier of two features, its half planes shaded, with the samples.

    >>> import dcprog
    >>> from dcprog.models import svm
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]), [-1, -1, 1, 1]
    >>> rule = dcprog.solve(svm(X, y)).rule
    >>> BoundaryDisplay.from_estimator(rule, X, y, ax=new_axes()).response.shape
    (200, 200)
    """

    xx0: Matrix
    xx1: Matrix
    response: Matrix
    """The decision function on the grid: 0 on the boundary."""
    points: Matrix
    y: Any = None
    names: tuple[str, str] = ("x1", "x2")
    ax_: Any = field(default=None, init=False, repr=False)
    figure_: Any = field(default=None, init=False, repr=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: tuple[int, int] = (0, 1),
        grid_resolution: int = 200,
        names: tuple[str, str] | None = None,
        ax: Any = None,
    ) -> BoundaryDisplay:
        """Anything with a ``decision_function``: rules, estimators. Other features than the two are kept at their means."""
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] < 2 or not all(0 <= j < X.shape[1] for j in features):
            raise DataError(f"X has shape {X.shape}: features {features} need samples in rows, with these two columns")
        points = X[:, list(features)]
        axes = [np.linspace(*_around(column), grid_resolution) for column in points.T]
        xx0, xx1 = np.meshgrid(*axes)
        grid = np.tile(X.mean(axis=0), (xx0.size, 1))
        grid[:, features[0]], grid[:, features[1]] = xx0.ravel(), xx1.ravel()
        response = np.asarray(estimator.decision_function(grid), dtype=float)
        if response.shape != (xx0.size,):
            raise DataError(f"the decision function gave shape {response.shape}: a boundary is drawn for two classes only")
        names = names or (f"x{features[0] + 1}", f"x{features[1] + 1}")
        return cls(xx0, xx1, response.reshape(xx0.shape), points, y, names).plot(ax)

    def plot(self, ax: Any = None) -> BoundaryDisplay:
        self.ax_ = ax = _axes(ax)
        self.figure_ = ax.figure
        largest = max(float(np.abs(self.response).max()), 1e-300)
        ax.contourf(self.xx0, self.xx1, self.response, levels=[-largest, 0.0, largest], colors=["C0", "C1"], alpha=0.25)
        if self.response.min() < 0 < self.response.max():
            ax.contour(self.xx0, self.xx1, self.response, levels=[0.0], colors="black")
        labels = [None] if self.y is None else list(np.unique(self.y))
        for i, label in enumerate(labels):
            chosen = self.points if label is None else self.points[np.asarray(self.y) == label]
            ax.scatter(*chosen.T, s=15, color=f"C{i}", label=None if label is None else str(label))
        if self.y is not None:
            ax.legend()
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        return self


def plot_convergence(result: Result, ax: Any = None) -> Any:
    """The axes of a :class:`ConvergenceDisplay` of ``result``."""
    return ConvergenceDisplay.from_result(result, ax=ax).ax_


def new_axes() -> Any:
    """Axes of a figure that no window shows, to be saved with ``axes.figure.savefig(…)``."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def require_matplotlib() -> None:
    """MissingExtraError if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError("plots need matplotlib, which is not installed: pip install 'dcprog[plot]'") from None


def _axes(ax: Any) -> Any:
    """``ax``, or those of a new figure of pyplot's."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure().add_subplot()


def _selected_sizes(rule: Any) -> Vector:
    """|w| or θ of the selected features, 0 for the others."""
    sizes = np.asarray(rule.theta if hasattr(rule, "theta") else rule.sizes(), dtype=float)
    kept = np.zeros_like(sizes)
    kept[rule.selected()] = sizes[rule.selected()]
    return kept


def _around(values: Vector) -> tuple[float, float]:
    """The range of the values with a margin."""
    low, high = float(np.min(values)), float(np.max(values))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin

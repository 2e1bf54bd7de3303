"""Pictures (extra ``[plot]``), scikit-learn style: a Display holds what is drawn, ``plot(ax)`` draws it; axes in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np

from dcprog.algorithms.path import Path
from dcprog.algorithms.result import Result
from dcprog.errors import DataError, MissingExtraError, unknown_name
from dcprog.typing import Matrix, Vector

READABLE = 60
"""So many names of features fit beside an axis."""
DECADES = 3
"""Positive values that span as many are drawn on a logarithmic axis."""


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
        if not isinstance(result, Result):
            hint = "draw estimators with from_estimator" if hasattr(result, "fit") else "pass what dcprog.solve returns"
            raise DataError(f"result is {_kind(result)}, expected a Result: {hint}")
        gaps = [np.nan if record.gap is None or record.gap <= 0 else record.gap for record in result.history]
        shown = cls(
            [record.iteration for record in result.history],
            [record.f for record in result.history],
            gaps,
            f"{result.name or 'DC program'}: {result.status}",
        )
        return shown.plot(ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> ConvergenceDisplay:
        """The run that trained ``estimator``, of those that a DC program gives."""
        result = _fitted(estimator, "result_")
        if not isinstance(result, Result):
            raise DataError(
                f"{type(estimator).__name__} is not trained by one DC program, its result_ is {_kind(result)} without "
                "history to draw: pass FSV, L2L0SVM, QuadraticFSV, AlignmentSVM, or another with a Result"
            )
        return cls.from_result(result, ax=ax)

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
            raise DataError(f"path is {_kind(path)}, expected a Path: pass what dcprog.path returns")
        if any(not hasattr(result.rule, "selected") for result in path):
            raise DataError("a run along the path has no rule that selects features: draw paths that all found classifiers")
        name = _parameter(path.parameters, parameter)
        changing = _changing(path.parameters)
        if set(changing) - {name}:
            raise DataError(f"{', '.join(changing)} change along the path: draw one of them, with the others fixed")
        sizes = np.array([_selected_sizes(result.rule) for result in path])
        names = getattr(path[0].rule, "feature_names", None) if feature_names is None else feature_names
        return cls(np.array([point[name] for point in path.parameters]), sizes, name, names).plot(ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, parameter: str | None = None, *, feature_names: Sequence[str] | None = None, ax: Any = None
    ) -> PathDisplay:
        """What cross-validation selected, for the estimators whose names end in CV: areas are shares of the folds.

        ``parameter`` is by default the first that changes; the others are the best ones.

        >>> import dcprog
        >>> from dcprog.estimators import FSVCV
        >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
        >>> shown = PathDisplay.from_estimator(FSVCV(lam=[0.1, 0.5], cv=2).fit(data.X, data.y), ax=new_axes())
        >>> shown.ax_.get_xlabel(), shown.sizes.shape
        ('lam', (2, 30))
        """
        shares = _fitted(estimator, "selected_shares_", "PathDisplay draws those whose names end in CV, such as FSVCV")
        points = estimator.cv_results_["params"]
        name, best = _parameter(points, parameter), estimator.best_params_
        shown = [i for i, point in enumerate(points) if all(point[other] == best[other] for other in point if other != name)]
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        return cls(np.array([points[i][name] for i in shown]), shares[shown], name, names).plot(ax)

    def counts(self) -> list[int]:
        """The number of features at each value."""
        return [int(n) for n in np.count_nonzero(self.sizes, axis=1)]

    def plot(self, ax: Any = None) -> PathDisplay:
        self.ax_ = ax = _axes(ax)
        self.figure_ = ax.figure
        at, features = np.nonzero(self.sizes)
        shares = self.sizes[at, features] / max(self.sizes.max(initial=0.0), 1e-300)
        d = self.sizes.shape[1]
        if self.feature_names is not None and len(self.feature_names) != d:
            raise DataError(f"{len(self.feature_names)} feature_names for {d} features: pass one for each")
        ax.scatter(self.values[at], features + 1, s=10 + 50 * shares)
        if self.values.min() > 0 and self.values.max() >= 10**DECADES * self.values.min():
            ax.set_xscale("log")
            ax.set_xlim(*np.exp(_around(np.log(self.values))))
        else:
            ax.set_xlim(*_around(self.values))
        ax.set(xlabel=self.parameter, ylabel="feature", ylim=(0.5, d + 0.5))
        if self.feature_names is not None and d <= READABLE:
            ax.set_yticks(range(1, d + 1), labels=list(map(str, self.feature_names)))
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
        """Anything with a ``decision_function``: rules, estimators. Other features than the two are kept at their means.

        ``names`` of the axes are by default those of the columns of X, if it has some.
        """
        if not hasattr(estimator, "decision_function"):
            raise DataError(f"estimator is {_kind(estimator)} without decision_function: pass a rule, or a classifier")
        frame, X = X, _samples(X)
        first, second = _two_features(features, X.shape)
        if y is not None and np.shape(y) != (len(X),):
            raise DataError(f"y has shape {np.shape(y)} for {len(X)} samples: pass one label a sample")
        if not (isinstance(grid_resolution, Integral) and grid_resolution >= 2):
            raise DataError(f"grid_resolution is {grid_resolution!r}: pass an integer ≥ 2")
        columns = [str(name) for name in getattr(frame, "columns", [f"x{j + 1}" for j in range(X.shape[1])])]
        names = (columns[first], columns[second]) if names is None else names
        if len(names) != 2:
            raise DataError(f"names has {len(names)} entries: pass one for each of the two axes")
        points = X[:, [first, second]]
        axes = [np.linspace(*_around(column), grid_resolution) for column in points.T]
        xx0, xx1 = np.meshgrid(*axes)
        grid = np.tile(X.mean(axis=0), (xx0.size, 1))
        grid[:, first], grid[:, second] = xx0.ravel(), xx1.ravel()
        named = hasattr(frame, "iloc") and hasattr(estimator, "feature_names_in_")  # trained with names, it expects them
        response = np.asarray(
            estimator.decision_function(type(frame)(grid, columns=frame.columns) if named else grid), dtype=float
        )
        if response.shape != (xx0.size,):
            raise DataError(f"the decision function gave shape {response.shape}: a boundary is drawn for two classes only")
        return cls(xx0, xx1, response.reshape(xx0.shape), points, y, (names[0], names[1])).plot(ax)

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
        if not hasattr(ax, "scatter"):
            raise DataError(f"ax is {_kind(ax)}, expected axes: pass some, as pyplot.subplots() gives")
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.figure().add_subplot()


def _kind(thing: Any) -> str:
    return f"of type {type(thing).__name__}"


def _fitted(estimator: Any, attribute: str, hint: str = "pass a fitted estimator of dcprog.estimators") -> Any:
    """An attribute that a fitted estimator has."""
    if not hasattr(estimator, "fit"):
        raise DataError(f"estimator is {_kind(estimator)}, expected an estimator: {hint}")
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise DataError(f"{type(estimator).__name__} has no {attribute}: {hint}")
    return getattr(estimator, attribute)


def _changing(points: Sequence[dict[str, Any]]) -> list[str]:
    """The parameters that are not the same at all points."""
    return [name for name in points[0] if len({point[name] for point in points}) > 1]


def _parameter(points: Sequence[dict[str, Any]], given: str | None) -> str:
    """The parameter to draw, by default the first that changes."""
    name = next(iter(_changing(points) or points[0])) if given is None else given
    if name not in points[0]:
        raise unknown_name("parameter of the path", name, points[0])
    return name


def _samples(X: Any) -> Matrix:
    try:
        samples = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"X is not numeric ({error}): pass the samples that the classifier takes") from None
    if samples.ndim != 2 or samples.shape[1] < 2 or not len(samples):
        raise DataError(f"X has shape {samples.shape}: pass samples in rows, with at least two columns")
    return samples


def _two_features(features: Any, shape: tuple[int, ...]) -> tuple[int, int]:
    chosen = list(features) if isinstance(features, Sequence | np.ndarray) else [features]
    inside = all(isinstance(j, Integral) and 0 <= int(j) < shape[1] for j in chosen)
    if not inside or len(chosen) != 2 or chosen[0] == chosen[1]:
        raise DataError(f"features is {features!r}: pass the positions of two columns, from 0 to {shape[1] - 1}")
    return int(chosen[0]), int(chosen[1])


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

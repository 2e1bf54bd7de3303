"""Weights chosen by cross-validation along warm-started paths, as in section 5.2.2 of Neumann, Schnörr & Steidl (2005)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from dcprog.algorithms.path import path
from dcprog.algorithms.result import Status
from dcprog.errors import DataError
from dcprog.estimators.base import LIMITS, Formulation, Trained, check_end
from dcprog.machine.processes import serve
from dcprog.typing import Mask, Matrix, Vector

Point = dict[str, Any]
Folds = Sequence[tuple[np.ndarray, np.ndarray]]
Grid = Mapping[str, Sequence[float]]

VALUES = "Sequence[float] | float | None"
ROUNDING = 1e-12
"""Mean scores that differ by less are equal."""


def _initialiser(method: type, grid: Grid) -> Callable[..., None]:
    """``__init__`` of the cross-validated version: stores the method's parameters, those on the grid None by default."""
    own = signature(method.__init__).parameters.values()  # type: ignore[misc]
    known = [p.replace(default=None, annotation=VALUES) if p.name in grid else p for p in own]
    new = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("cv", "scoring", "n_jobs")]
    declared = Signature([*known, *new])

    def __init__(self: Any, *weights: Any, **parameters: Any) -> None:  # noqa: N807
        given = declared.bind(self, *weights, **parameters)
        given.apply_defaults()
        for name in list(declared.parameters)[1:]:
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = declared  # type: ignore[attr-defined]
    return __init__


class Step(NamedTuple):
    """What is trained at a point of the grid, and how that ended."""

    point: Point
    trained: Trained
    status: Status = Status.CONVERGED


Walk = Callable[[Formulation, Any, np.ndarray], Iterator[Step]]
"""Trains a method on (X, y) at every point of a grid."""


class PathCV(Formulation):
    """A formulation whose weights are chosen by cross-validation, and trained with these on all samples.

    To derive one: ``class FSVCV(PathCV, FSV, grid={"lam": …})`` takes the parameters of FSV, and those below. The grid has
    the published values by name, those first that count most where scores are equal.

    Parameters
    ----------
    the weights of the formulation : sequence of float, float, or None
        The values to choose from; by default those of section 5.2.2. Of equal scores the largest values win.
    the other parameters
        As for the formulation.
    cv : int, splitter or iterable, optional
        Five folds by default. The paper's validation set is ``StratifiedShuffleSplit(1, test_size=0.5)``.
    scoring : str or callable, optional
        Accuracy by default.
    n_jobs : int, optional
        Processes that joblib may start; each walks the paths of some folds.

    Attributes
    ----------
    best_params_, best_score_, best_index_
        The weights chosen, their mean score, and their position in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV, and the mean number of features; ``pandas.DataFrame(cv_results_)`` is a table.
    selected_shares_ : ndarray
        The share of the folds that selects each feature, a row for each point of ``cv_results_``.
    """

    _method: ClassVar[type[Formulation]]
    _grid: ClassVar[Grid]

    if TYPE_CHECKING:

        def __init__(self, *weights: Any, **parameters: Any) -> None: ...

    def __init_subclass__(cls, grid: Grid | None = None, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if grid is not None:
            cls._method, cls._grid = cls.__bases__[1], grid
            cls.__init__ = _initialiser(cls._method, grid)  # type: ignore[method-assign]

    def fit(self, X: Any, y: Any) -> Any:
        """Choose the weights by cross-validation, then train on all of (X, y)."""
        X, y = self._checked(X, y)
        folds = list(check_cv(self.cv, y, classifier=True).split(X, y))
        own = self.get_params(deep=False)
        method = self._method(**{name: own[name] for name in self._method().get_params() if name not in self._grid})
        before = self._chosen_before(method, X, y, folds)
        method.set_params(**before)
        grid = {name: self._values(name) for name in self._grid if name not in before}
        found = self._validated(method, partial(along_path, grid), X, y, folds)
        self.best_index_ = found.best(lambda point: tuple(point[name] for name in grid))
        self.best_params_ = {**before, **found.points[self.best_index_]}
        self.best_score_ = float(found.mean[self.best_index_])
        self.cv_results_ = found.table()
        self.selected_shares_ = found.selected.mean(axis=0)
        return self._accept(method.set_params(**self.best_params_)._train(X, y))

    def _chosen_before(self, method: Formulation, X: Any, y: np.ndarray, folds: Folds) -> Point:
        """Weights that are chosen before, and not along the path: none."""
        return {}

    def _values(self, name: str) -> list[float]:
        given = getattr(self, name)
        values: list[float] = np.ravel(self._grid[name] if given is None else given).tolist()
        return values

    def _validated(self, method: Formulation, walk: Walk, X: Any, y: np.ndarray, folds: Folds) -> Validation:
        score = check_scoring(method, scoring=self.scoring)
        workers = Parallel(n_jobs=self.n_jobs, initializer=serve, initargs=(os.getpid(),))
        runs = workers(delayed(_walk_fold)(method, walk, X, y, *fold, score) for fold in folds)
        found = Validation(*(np.array(part) for part in zip(*runs, strict=True)))
        if found.limited.any():
            message = f"{found.limited.sum()} of {found.limited.size} runs in cross-validation have not converged"
            warnings.warn(f"{message}: raise max_iter, or tol", ConvergenceWarning, stacklevel=3)
        return found


def along_path(grid: Grid, method: Formulation, X: Any, y: np.ndarray) -> Iterator[Step]:
    """The method at every point of ``grid``, by one :func:`dcprog.path`."""
    fixed = {name: value for name, value in method._parameters().items() if name not in grid}
    parameters: dict[str, Any] = {**method._settings(), **fixed, **grid}
    walked = path(method._factory, X, y, **parameters)
    for point, result in zip(walked.parameters, walked, strict=True):
        if result.status not in LIMITS:
            check_end(f"{type(method).__name__} with {point}", result.status, result.messages)
        yield Step(point, method._read(result, X, y), result.status)


def _walk_fold(
    method: Formulation, walk: Walk, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray, score: Callable[..., float]
) -> tuple[list[Point], list[float], list[Mask], list[bool]]:
    """Points of the grid; score, selected features, and whether a limit was met at each."""
    machine = clone(method)
    X_train, y_train = machine._checked(X[train], y[train])
    points, scores, selected, limited = [], [], [], []
    for step in walk(machine, X_train, y_train):
        machine._accept(step.trained)
        points.append(step.point)
        scores.append(float(score(machine, X[test], y[test])))
        selected.append(machine.get_support())
        limited.append(step.status in LIMITS)
    return points, scores, selected, limited


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of a grid: arrays with a row for each fold and a column for each point; ``selected`` has their masks.

    >>> found = Validation(
    ...     grids=np.array([[{"lam": 0.1}, {"lam": 0.5}, {"lam": 0.9}]] * 2),
    ...     scores=np.array([[0.8, 0.9, 0.5], [0.9, 0.8, 0.5]]),
    ...     selected=np.array([[[True, True], [True, False], [False, False]]] * 2),
    ...     limited=np.zeros((2, 3)),
    ... )
    >>> found.points[found.best(lambda point: point["lam"])]
    {'lam': 0.5}
    """

    grids: np.ndarray
    scores: Matrix
    selected: np.ndarray
    limited: np.ndarray

    @property
    def points(self) -> list[Point]:
        return list(self.grids[0])

    @property
    def mean(self) -> Vector:
        mean: Vector = self.scores.mean(axis=0)
        return mean

    def best(self, size: Callable[[Point], Any]) -> int:
        """Position of the best mean score, of equal ones that with the largest ``size``."""
        if not np.isfinite(self.scores).all():
            raise DataError("scoring gave NaN or infinite scores: choose one that is defined on every fold")
        equal = np.flatnonzero(self.mean >= self.mean.max() - ROUNDING)
        return int(max(equal, key=lambda i: size(self.points[i])))

    def table(self) -> dict[str, Any]:
        """As GridSearchCV's ``cv_results_``."""
        columns = {f"param_{name}": np.array([point[name] for point in self.points]) for name in self.points[0]}
        splits = {f"split{k}_test_score": scores for k, scores in enumerate(self.scores)}
        return {
            **columns,
            "params": self.points,
            **splits,
            "mean_test_score": self.mean,
            "std_test_score": self.scores.std(axis=0),
            "rank_test_score": rankdata(-self.mean.round(12), method="min").astype(int),
            "mean_n_features": self.selected.sum(axis=2).mean(axis=0),
        }

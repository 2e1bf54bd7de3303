"""Parameters chosen by cross-validation, along warm paths where there are any: the one place where methods are tuned.

Section 5.2.2 of Neumann, Schnörr & Steidl (2005) is the case of one fold, ``cv=[(fit, validation)]``: the fewest validation
errors win, and the larger parameters where they are equal; the final classifier is trained on both halves together.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from dcprog.errors import DataError
from dcprog.estimators.base import ENDED, Grid, Method, Point, Step, Trained
from dcprog.estimators.training import Training
from dcprog.learning.rules import labels_of
from dcprog.machine.processes import serve
from dcprog.typing import Mask, Matrix, Vector

Folds = Sequence[tuple[np.ndarray, np.ndarray]]
Values: TypeAlias = Any  # a sequence of numbers, a number, or None for the published ones
ROUNDING = 1e-12
"""Mean scores that differ by less are equal."""


@dataclass(eq=False, repr=False, kw_only=True)
class TunedMethod(Method):
    """A method whose parameters are chosen by cross-validation, and which is trained with these on all samples.

    To derive one: ``_method`` is the class that is tuned, ``_grid`` has the published values of its parameters by name, the
    last one varies fastest; where scores are equal, the first of ``_prefer`` counts most. It derives from ``_method``
    as well, whose parameters it inherits; those on the grid are declared anew, None by default.

    Parameters
    ----------
    the parameters on the grid : sequence of float, float, or None
        The values to choose from; by default those of section 5.2.2. Of equal scores the largest values win.
    the other parameters
        As for the method itself.
    cv : int, splitter or iterable, optional
        Five folds by default. The paper's validation set is ``StratifiedShuffleSplit(1, test_size=0.5)``.
    scoring : str or callable, optional
        Accuracy by default.
    n_jobs : int, optional
        Processes that joblib may start; each walks the paths of some folds.

    Samples of a weight count with it in training and in scores, unless ``scoring`` is a function without ``sample_weight``.
    With ``calibration`` the parameters chosen on all samples are taken in its folds, too.

    Attributes
    ----------
    best_params_, best_score_, best_index_
        The parameters chosen, their mean score, and their position in ``cv_results_``.
    cv_results_ : dict of arrays
        As in GridSearchCV, and the mean numbers of features and of iterations of DCA, and how many runs have not converged;
        ``pandas.DataFrame(cv_results_)`` is a table.
    selected_shares_ : ndarray
        The share of the folds that selects each feature, a row for each point of ``cv_results_``.
    refit_time_ : float
        CPU seconds of the final training.
    """

    _method: ClassVar[type[Method]]
    _grid: ClassVar[Mapping[str, Sequence[float]]]
    _prefer: ClassVar[tuple[str, ...]] = ("lam",)
    cv: Any = None
    scoring: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose the parameters by cross-validation, then train on all of (X, y); ``groups`` go to the splitter ``cv``."""
        training = self._checked(X, y, sample_weight)
        folds = list(check_cv(self.cv, training.y, classifier=True).split(training.X, training.y, groups))
        before = self._chosen_before(training, folds)
        grid = {name: self._values(name, training, folds) for name in self._grid if name not in before}
        found = self._validated(self._judged(before), grid, training, folds)
        self.best_index_ = found.best(self._size)
        self.best_params_ = {**before, **found.points[self.best_index_]}
        self.best_score_ = float(found.mean[self.best_index_])
        self.cv_results_ = found.table()
        self.selected_shares_ = found.selected.mean(axis=0)
        began = time.process_time()
        trained = self._final(self._configured(self.best_params_), training, folds)
        self.refit_time_ = time.process_time() - began
        self._accept(trained)
        self.sample_origin_ = training.weighed(self.class_weight).origin
        return self._calibrate(training)

    def _uncalibrated(self) -> Method:
        plain: Method = self._configured(self.best_params_).set_params(calibration=None)
        return plain

    def _configured(self, chosen: Point) -> Any:
        """The method with these parameters, the others as they are given here."""
        own = self.get_params(deep=False)
        known = self._method().get_params(deep=False)
        given = {name: value for name, value in own.items() if name in known and name not in self._grid}
        return self._method(**given).set_params(**chosen)

    def _judged(self, before: Point) -> Method:
        """What is trained in cross-validation: the method itself."""
        machine: Method = self._configured(before)
        return machine

    def _chosen_before(self, training: Training, folds: Folds) -> Point:
        """Parameters that are chosen before the others: none."""
        return {}

    def _final(self, method: Any, training: Training, folds: Folds) -> Trained:
        """The training with the chosen parameters, on all samples."""
        trained: Trained = method._train(training.weighed(self.class_weight))
        return trained

    def _size(self, point: Point) -> Any:
        """Of points with equal scores that with the largest size wins."""
        return tuple(point[name] for name in self._prefer)

    def _published(self, name: str, training: Training, folds: Folds) -> Sequence[float]:
        """The values of a parameter to choose from where none are given."""
        return self._grid[name]

    def _values(self, name: str, training: Training, folds: Folds) -> list[float]:
        given = getattr(self, name)
        values: list[float] = np.ravel(self._published(name, training, folds) if given is None else given).tolist()
        if not values:
            raise DataError(f"{name} is {given!r}: pass a non-empty list of values to choose from, or None for the paper's")
        return values

    def _validated(self, method: Method, grid: Grid, training: Training, folds: Folds) -> Validation:
        score = accuracy if self.scoring is None else check_scoring(method, scoring=self.scoring)
        workers = Parallel(n_jobs=self.n_jobs, initializer=serve, initargs=(os.getpid(),))
        runs = workers(delayed(trials)(method, grid, training, *fold, score) for fold in folds)
        found = Validation(*(np.array([[trial[part] for trial in run] for run in runs]) for part in range(PARTS)))
        if found.limited.any():
            message = f"{found.limited.sum()} of {found.limited.size} runs in cross-validation have not converged"
            warnings.warn(f"{message}: raise max_iter, or tol", ConvergenceWarning, stacklevel=3)
        return found


class Trial(NamedTuple):
    """A point of the grid on one fold: its score, the features it uses, iterations of DCA, and whether it met a limit."""

    point: Point
    score: float
    selected: Mask
    iterations: int
    limited: bool


PARTS = len(Trial._fields)


def trials(
    method: Method, grid: Grid, training: Training, train: np.ndarray, test: np.ndarray, score: Callable[..., float]
) -> list[Trial]:
    """Train at every point of the grid on some of the samples, which were checked before, and score on others."""
    made = []
    others = training.part(test)
    counts = {"sample_weight": others.weights} if others.weights is not None and takes_weights(score) else {}
    for machine, (point, trained, status) in along(method, grid, training.part(train)):
        selected = np.zeros(others.X.shape[1], dtype=bool)
        selected[trained.selected] = True
        value = float(score(machine, others.X, others.y, **counts))
        made.append(Trial(point, value, selected, trained.n_iter, status not in ENDED))
    return made


def accuracy(machine: Method, X: Any, y: np.ndarray, sample_weight: Vector | None = None) -> float:
    """The share of right labels, as ``machine.score``; X was checked before, which takes longer than to classify it."""
    right = labels_of(machine.classifier_.decision_function(X), machine.classes_) == y
    return float(np.average(right, weights=sample_weight))


def takes_weights(score: Callable[..., float]) -> bool:
    """Whether a scorer takes ``sample_weight``: scikit-learn's do, functions of (machine, X, y) need not.

    >>> takes_weights(lambda machine, X, y: 0.0), takes_weights(lambda machine, X, y, sample_weight=None: 0.0)
    (False, True)
    """
    parameters = signature(score).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)


def along(method: Method, grid: Grid, training: Training) -> Iterator[tuple[Method, Step]]:
    """The method at every point of the grid, on checked samples: one machine, which holds what each step has trained."""
    machine = clone(method)
    training = training.weighed(machine.class_weight)
    machine.n_features_in_ = training.X.shape[1]
    machine._take_classes(training.y)
    for step in machine._walk(grid, training):
        machine._accept(step.trained)
        yield machine, step


@dataclass(frozen=True, eq=False)
class Validation:
    """Cross-validation of a grid: arrays with a row for each fold and a column for each point; ``selected`` has their masks.

    >>> found = Validation(
    ...     grids=np.array([[{"lam": 0.1}, {"lam": 0.5}, {"lam": 0.9}]] * 2),
    ...     scores=np.array([[0.8, 0.9, 0.5], [0.9, 0.8, 0.5]]),
    ...     selected=np.array([[[True, True], [True, False], [False, False]]] * 2),
    ...     iterations=np.zeros((2, 3)),
    ...     limited=np.zeros((2, 3)),
    ... )
    >>> found.points[found.best(lambda point: point["lam"])]
    {'lam': 0.5}
    """

    grids: np.ndarray
    scores: Matrix
    selected: np.ndarray
    iterations: np.ndarray
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
            "mean_n_iter": self.iterations.mean(axis=0),
            "n_unconverged": self.limited.sum(axis=0),
        }

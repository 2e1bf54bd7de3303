"""What the estimators share: checked data, one way to train, to classify, to select features, and to say how it ended.

Estimators are dataclasses: their parameters are fields, the generated ``__init__`` stores them and does nothing else, which
is what scikit-learn asks of one. ``eq=False, repr=False`` keep identity and scikit-learn's own way to print an estimator.
"""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from dcprog.algorithms.path import path
from dcprog.algorithms.result import Result, Status
from dcprog.algorithms.run import check_limits, solve
from dcprog.algorithms.stopping import StoppingRule
from dcprog.errors import DataError, NotSolvedError
from dcprog.estimators.calibration import calibrated, check_calibration, folds_of
from dcprog.estimators.training import Training, check_class_weight, sample_weights
from dcprog.learning.rules import labels_of
from dcprog.learning.samples import check_nonnegative, check_one_type, varying
from dcprog.machine.processes import serve
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Mask, Matrix, Vector

SETTINGS = ("solver", "tol", "max_iter", "stop")
"""Parameters that go to the engine; all others are those of the formulation, or the estimator's own."""
LIMITS = (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.STALLED)
"""Ends with a point that is not critical, but classifies."""
ENDED = (Status.CONVERGED, Status.STOPPED_BY_RULE)
"""Ends as asked for: by the certificate, or by the rule that was passed as ``stop``."""
Point = dict[str, Any]
Grid = Mapping[str, Sequence[Any]]
Stop = StoppingRule | Callable[[DCProgram], StoppingRule] | None
ADVICE = "the last point is used; raise max_iter, or tol, or standardise the features"


class Trained(NamedTuple):
    """What training gives: ``result_``, ``classifier_``, ``n_iter_``, positions of the features used, and ``outcome_``."""

    result: Result
    classifier: Any
    n_iter: int
    selected: Any = ()
    outcome: Any = None
    """What the method's own function returned, if it was not the result."""


class Step(NamedTuple):
    """What is trained at a point of a grid, and how that ended."""

    point: Point
    trained: Trained
    status: Status = Status.CONVERGED


def watched(point: Point, train: Callable[[], Trained]) -> Step:
    """The step to a point of a grid; a ConvergenceWarning, which is not shown, is its status."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        trained = train()
    limited = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    return Step(point, trained, Status.ITERATION_LIMIT if limited else Status.CONVERGED)


@dataclass(eq=False, repr=False, kw_only=True)
class Method(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier. To derive one: a dataclass with the parameters as fields, and ``_train``.

    Equal samples are trained on as one of their total weight. Where there are such, or weights, ``sample_origin_`` has the
    position of each sample of X in those arrays of ``result_`` that have one entry a sample, −1 where its weight is 0.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        What the errors of each class weigh, by label; ``"balanced"`` weighs all classes the same in sum.
    calibration : "sigmoid", "isotonic" or None
        How ``predict_proba`` turns scores into probabilities, fitted to scores from cross-validation with five folds; with
        None there is no ``predict_proba``. ``predict`` follows the sign of the score in any case.
    n_jobs : int, optional
        Processes that joblib may start, for the folds of ``calibration``.
    """

    _multi_class: ClassVar[bool] = False
    _sparse: ClassVar[bool] = False

    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None

    @abstractmethod
    def _train(self, training: Training) -> Trained:
        """Train on checked data: X of floats, dense or CSR, at least two labels, and weights > 0 if there are any."""

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        """Train on checked data at every point of ``grid``, the last parameter varying fastest."""
        for values in product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            machine = clone(self).set_params(**point)
            yield watched(point, partial(machine._train, training))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on the samples in the rows of X and their labels y; a sample of weight s counts as s equal ones do."""
        training = self._checked(X, y, sample_weight)
        counted = training.weighed(self.class_weight)
        self._accept(self._train(counted))
        self.sample_origin_ = counted.origin
        return self._calibrate(training)

    def decision_function(self, X: Any) -> Vector | Matrix:
        """One value a row, > 0 for ``classes_[1]``; with more than two classes a column for each, the largest wins.

        On the boundary of a linear or quadratic classifier it is exactly 0, also where rounding gives 1e-17.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, accept_sparse=self._formats())
        scores: Vector | Matrix = self.classifier_.decision_function(X)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row; on the boundary ``classes_[0]``."""
        return labels_of(self.decision_function(X), self.classes_)

    @available_if(lambda self: self.calibration is not None)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """The probability of every class, a column for each of ``classes_``."""
        probabilities: Matrix = self.calibrator_.predict_proba(_columns(self.decision_function(X)))
        return probabilities

    def _calibrate(self, training: Training) -> Any:
        """Fit the map from scores to probabilities to scores of samples that the classifier was not trained on."""
        if self.calibration is None:
            return self
        counted = training.weighed(None)
        folds = folds_of(counted.y)
        machines = Parallel(n_jobs=self.n_jobs, initializer=serve, initargs=(os.getpid(),))(
            delayed(scored)(self._uncalibrated(), counted, *fold) for fold in folds
        )
        scores = np.empty((len(counted.y), *machines[0].shape[1:]))
        for (_, test), values in zip(folds, machines, strict=True):
            scores[test] = values
        self.calibrator_ = calibrated(self.calibration, scores, counted.y, counted.weights)
        return self

    def _uncalibrated(self) -> Method:
        """What gives the scores that calibration is fitted to."""
        plain: Method = clone(self).set_params(calibration=None)
        return plain

    def _check_parameters(self) -> None:
        """Check the parameters for which the error would else be unclear, or come only after a solver ran."""
        own = self.get_params(deep=False)
        check_calibration(self.calibration)
        if "max_iter" in own:
            check_limits(own.get("tol"), own["max_iter"])

    def _checked(self, X: Any, y: Any, sample_weight: Any = None) -> Training:
        self._check_parameters()
        check_one_type(y)
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._formats())
        check_classification_targets(y)
        check_class_weight(self.class_weight, np.unique(y))
        names = getattr(self, "feature_names_in_", None)
        training = Training(X, y, sample_weights(sample_weight, len(y)), None if names is None else tuple(names.tolist()))
        self._take_classes(training.weighed(self.class_weight).y)
        return training

    def _take_classes(self, y: np.ndarray) -> None:
        self.classes_ = np.unique(y)
        name = type(self).__name__
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise DataError(f"{name} separates classes, but y has one class only, {only!r}: pass samples of two")
        if len(self.classes_) > 2 and not self._multi_class:
            raise DataError(
                f"Only binary classification is supported. {name} separates two classes, and y has {len(self.classes_)}: "
                f"wrap it, as in sklearn.multiclass.OneVsRestClassifier({name}())"
            )

    def _counted(self, positions: Any) -> int:
        """How many samples, as they came, these positions among those trained on stand for: equal ones were one there."""
        origin = self.sample_origin_
        return len(positions) if origin is None else int(np.isin(origin, positions).sum())

    def _accept(self, trained: Trained) -> Any:
        self.result_, self.classifier_, self.n_iter_ = trained.result, trained.classifier, trained.n_iter
        if trained.outcome is not None:
            self.outcome_ = trained.outcome
        return self

    def _formats(self) -> list[str] | bool:
        return ["csr"] if get_tags(self).input_tags.sparse else False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        tags.input_tags.sparse = self._sparse
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class SelectingMethod(SelectorMixin, Method):  # type: ignore[misc]
    """A classifier that selects features, ``support_``."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nonnegative(threshold=self.get_params(deep=False).get("threshold", 0.0))

    def _counted(self, positions: Any) -> int:
        """How many samples, as they came, these positions among those trained on stand for: equal ones were one there."""
        origin = self.sample_origin_
        return len(positions) if origin is None else int(np.isin(origin, positions).sum())

    def _accept(self, trained: Trained) -> Any:
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[trained.selected] = True
        return super()._accept(trained)

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_


@dataclass(eq=False, repr=False, kw_only=True)
class LinearMethod(SelectingMethod):
    """A classifier sgn(w'x + b)."""

    @property
    def coef_(self) -> Matrix:
        """w, as scikit-learn shapes it: one row, or one a class if there are more than two."""
        return np.atleast_2d(self.classifier_.w)

    @property
    def intercept_(self) -> Vector:
        """b, with an entry for each row of ``coef_``."""
        return np.atleast_1d(self.classifier_.b)


@dataclass(eq=False, repr=False, kw_only=True)
class Formulation(SelectingMethod):
    """A classifier that a DC program gives: its factory is called with the parameters of the same names."""

    _factory: ClassVar[Callable[..., DCProgram]]
    solver: str = "auto"
    threshold: float = 1e-8
    """Features with a weight above it are selected."""

    def _train(self, training: Training) -> Trained:
        program = self._factory(training.samples, None, **self._parameters())
        settings = self._settings()
        if callable(settings.get("stop")) and not isinstance(settings["stop"], StoppingRule):
            settings["stop"] = settings["stop"](program)
        result = solve(program, algorithm="dca", **settings)
        check_end(type(self).__name__, result.status, result.messages)
        return self._read(result, training)

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        """By one :func:`dcprog.path`, along which solvers stay warm."""
        fixed = {name: value for name, value in self._parameters().items() if name not in grid}
        parameters: dict[str, Any] = {**self._settings(), **fixed, **grid}
        walked = path(self._factory, training.samples, None, **parameters)
        for point, result in zip(walked.parameters, walked, strict=True):
            if result.status not in LIMITS:
                check_end(f"{type(self).__name__} with {point}", result.status, result.messages)
            yield Step(point, self._read(result, training), result.status)

    def _read(self, result: Result, training: Training) -> Trained:
        """The classifier that the solution for these samples stands for."""
        return Trained(result, result.classifier, result.iterations, result.classifier.selected(self.threshold))

    def _parameters(self) -> dict[str, Any]:
        own = self.get_params(deep=False)
        return {name: own[name] for name in signature(self._factory).parameters if name in own}

    def _settings(self) -> dict[str, Any]:
        own = self.get_params(deep=False)
        return {name: own[name] for name in SETTINGS if name in own}


@dataclass(eq=False, repr=False, kw_only=True)
class Iterated(Formulation):
    """A classifier that DCA finds in more than one iteration: with the parameters that end a run."""

    tol: float | None = None
    max_iter: int = 1000
    stop: Stop = None


def check_end(what: str, status: Status, messages: Sequence[str] = (), advice: str = ADVICE) -> None:
    """Warn if a run ended at a limit, and raise if it found no classifier; return after convergence or a stop as asked for.

    >>> check_end("FSV", Status.INFEASIBLE, ["no point satisfies the constraints"])
    Traceback (most recent call last):
    dcprog.errors.NotSolvedError: FSV was not trained (infeasible): no point satisfies the constraints
    """
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    if status in LIMITS:
        warnings.warn(f"{what} has not converged ({status}): {advice}", ConvergenceWarning, stacklevel=4)
    elif status not in ENDED:
        raise NotSolvedError(f"{what} was not trained ({status}): {'; '.join(messages) or 'try another solver'}")


def scored(machine: Method, training: Training, train: np.ndarray, test: np.ndarray) -> Matrix:
    """Train on some of the samples, which were checked before, and give the others' scores, a column for each class."""
    part = training.part(train).weighed(machine.class_weight)
    machine.n_features_in_ = part.X.shape[1]
    machine._take_classes(part.y)
    machine._accept(machine._train(part))
    return _columns(machine.classifier_.decision_function(training.X[test]))


def _columns(scores: Vector | Matrix) -> Matrix:
    return scores[:, None] if scores.ndim == 1 else scores


def half(X: Any) -> int:
    """Half as many features as are not constant, at least one."""
    return max(1, int(varying(X).sum()) // 2)

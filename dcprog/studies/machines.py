"""Any scikit-learn classifier in a study: tuned on the validation half, trained, and read."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline

from dcprog.algorithms.result import Result
from dcprog.estimators.base import ENDED
from dcprog.estimators.tuning import TunedMethod
from dcprog.typing import Indices, Matrix, Vector

USED = 1e-8
"""Features with a weight above it count as selected; smaller weights are rounding errors."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A classifier that was trained on a whole training part, and the CPU seconds that this took, without the search."""

    machine: Any
    caught: tuple[type[Warning], ...]
    seconds: float

    @property
    def final(self) -> Any:
        """The classifier itself, where ``machine`` is a search."""
        return self.machine.best_estimator_ if isinstance(self.machine, BaseSearchCV) else self.machine

    @property
    def selected(self) -> Indices:
        """Positions of the features that the classifier uses."""
        return used_features(self.final, int(self.machine.n_features_in_))

    @property
    def parameters(self) -> dict[str, Any]:
        """What was chosen on the validation half, in plain types."""
        return {name: plain(value) for name, value in getattr(self.machine, "best_params_", {}).items()}

    @property
    def result(self) -> Result | None:
        """The result of DCA, if that trained the classifier; else None."""
        found = getattr(self.final, "result_", None)
        return found if isinstance(found, Result) and found.history else None

    @property
    def support(self) -> int | None:
        """The number of support vectors, where there are any."""
        counts = getattr(self.final, "n_support_", None)
        return None if counts is None else int(np.sum(counts))

    @property
    def converged(self) -> bool:
        found = getattr(self.final, "result_", None)
        if isinstance(found, Result):
            return found.status in ENDED
        return not any(issubclass(kind, ConvergenceWarning) for kind in self.caught)

    def trials(self, validation: int) -> list[dict[str, Any]]:
        """What was tried on the validation half of so many samples, where accuracy chose."""
        if not isinstance(self.machine, TunedMethod) or self.machine.scoring is not None:
            return []
        table = self.machine.cv_results_
        return [
            {
                "parameters": point,
                "mistakes": round((1.0 - table["mean_test_score"][i]) * validation),
                "features": int(table["mean_n_features"][i]),
                "iterations": int(table["mean_n_iter"][i]),
                "converged": not table["n_unconverged"][i],
                "error": round((1.0 - table["mean_test_score"][i]) * validation) / validation,
            }
            for i, point in enumerate(table["params"])
        ]


def train(estimator: Any, X: Matrix, y: Vector, fit: Indices, validation: Indices, seed: int) -> Trained:
    """Train a copy on (X, y). Estimators that tune parameters, and have ``cv=None``, do so on these validation samples.

    These are the ``…CV`` of :mod:`dcprog.estimators` and scikit-learn's searches. A ``random_state`` of None becomes
    ``seed``, so that results repeat.
    """
    machine = clone(estimator)
    open_ended = {name: seed for name, value in machine.get_params().items() if _is_seed(name) and value is None}
    machine.set_params(**open_ended)
    if isinstance(machine, TunedMethod | BaseSearchCV) and machine.cv is None:
        machine.set_params(cv=[(fit, validation)])
    began, clock = time.process_time(), time.time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        machine.fit(X, y)
    seconds, waited = time.process_time() - began, time.time() - clock
    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning):  # those are counted
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    if isinstance(machine, BaseSearchCV):  # it says what the last fit took by the clock on the wall
        seconds *= min(machine.refit_time_ / max(waited, 1e-9), 1.0)
    elif isinstance(machine, TunedMethod):
        seconds = machine.refit_time_
    return Trained(machine, tuple(warning.category for warning in caught), seconds)


def _is_seed(name: str) -> bool:
    return name.rpartition("__")[2] == "random_state"


def used_features(machine: Any, d: int) -> Indices:
    """Positions of the features, of d, that a trained classifier uses, as far as it can be asked: else all of them.

    >>> from sklearn.feature_selection import SelectKBest
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> X, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
    >>> X[:, 2] += 3 * y
    >>> used_features(make_pipeline(SelectKBest(k=1), LinearSVC()).fit(X, y), 4)
    array([2])
    """
    if isinstance(machine, Pipeline):
        return _through(machine, d)
    if hasattr(machine, "get_support"):
        return np.flatnonzero(machine.get_support())
    if hasattr(machine, "coef_") and np.shape(machine.coef_)[-1] == d:
        return np.flatnonzero((np.abs(np.atleast_2d(_dense(machine.coef_))) > USED).any(axis=0))
    if hasattr(machine, "feature_importances_"):
        return np.flatnonzero(np.asarray(machine.feature_importances_) > 0)
    return np.arange(d)


def _through(pipeline: Pipeline, d: int) -> Indices:
    """The features that all steps keep and the last one uses; if a step makes new features, all that came so far."""
    kept = np.arange(d)
    for _, step in pipeline.steps[:-1]:
        if hasattr(step, "get_support"):
            kept = kept[step.get_support()]
        elif step not in ("passthrough", None) and len(step.get_feature_names_out()) != len(kept):
            return kept
    return kept[used_features(pipeline.steps[-1][1], len(kept))]


def _dense(matrix: Any) -> Matrix:
    full: Matrix = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
    return full


def plain(value: Any) -> Any:
    """The value as a JSON type: numbers, strings and None as they are, everything else as text."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)

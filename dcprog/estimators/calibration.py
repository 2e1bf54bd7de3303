"""Probabilities from scores: a monotone map, fitted to scores that the classifier gives to samples it was not trained on.

Platt's sigmoid (1999) and isotonic regression (Zadrozny & Elkan 2002) are scikit-learn's; of several classes each one's map
is fitted against the rest, and the probabilities are scaled to sum 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedKFold

from dcprog.errors import DataError, unknown_name
from dcprog.learning.rules import labels_of
from dcprog.typing import Indices, Matrix, Vector

WAYS = ("sigmoid", "isotonic")
FOLDS = 5


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose samples are the scores of another one: what scikit-learn's calibration is put on."""

    def fit(self, X: Matrix, y: np.ndarray) -> Scores:
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def decision_function(self, X: Matrix) -> Vector | Matrix:
        return X[:, 0] if len(self.classes_) == 2 else X

    def predict(self, X: Matrix) -> np.ndarray:
        return labels_of(self.decision_function(X), self.classes_)


def check_calibration(way: str | None) -> None:
    """A known way, or none."""
    if way is not None and way not in WAYS:
        raise unknown_name("calibration", way, WAYS)


def folds_of(y: np.ndarray) -> list[tuple[Indices, Indices]]:
    """Five folds, or as many as the smallest class has samples."""
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < 2:
        raise DataError("calibration needs at least two samples of each class: pass more, or calibration=None")
    return list(StratifiedKFold(min(FOLDS, smallest)).split(np.zeros(len(y)), y))


def calibrated(way: str, scores: Matrix, y: np.ndarray, weights: Vector | None) -> Any:
    """The map from scores, a column for each class if there are more than two, to probabilities."""
    everything = np.arange(len(y))
    machine = CalibratedClassifierCV(
        FrozenEstimator(Scores().fit(scores, y)), method=way, cv=[(everything, everything)], ensemble=False
    )
    return machine.fit(scores, y, sample_weight=weights)

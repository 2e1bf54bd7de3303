"""The filter of section 5.2 of Neumann, Schnörr & Steidl (2005), after Heiler et al. (2001), as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from dcprog.errors import DataError
from dcprog.estimators.base import LinearMethod, Trained
from dcprog.estimators.outcomes import outcome
from dcprog.estimators.training import Training
from dcprog.methods.svm_ranking import Ranking, ranking_by_folds, svm_ranking


@dataclass(eq=False, repr=False)
class SVMRanking(LinearMethod):
    """Features ranked by |w| of the linear SVM (3), included while the error on validation samples drops.

    Two classes; X may be sparse, and stays so.

    Parameters
    ----------
    lam : float
        λ of (3) with summed errors, i.e. C = (1−λ)/λ.
    validation_fraction : float
        Share of the samples, drawn by class, that validate; the paper takes half. The final SVM is trained on all.
    random_state : int, RandomState or None
        Of the draw.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w, zero where a feature is not selected, and b.
    result_ : Result
        Its objective is the validation error with the features selected.
    outcome_ : Ranking
        The order of the features, and the validation error with the first k of them.
    classifier_ : LinearRule
    n_iter_ : int
        Numbers k of features that were tried.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((80, 6)); y = X[:, 3] + 0.1 * rng.standard_normal(80) > 0
    >>> SVMRanking(random_state=0).fit(X, y).get_support(indices=True)
    array([3])
    """

    _sparse = True

    lam: float = 0.5
    _: KW_ONLY
    validation_fraction: float = 0.5
    random_state: Any = None

    def _train(self, training: Training) -> Trained:
        codes, counts = np.unique(training.y, return_inverse=True, return_counts=True)[1:]
        alone = counts[codes] == 1  # the only sample of a class trains and validates
        train, validation = train_test_split(
            np.flatnonzero(~alone),
            test_size=self.validation_fraction,
            stratify=training.y[~alone],
            random_state=self.random_state,
        )
        both = np.flatnonzero(alone)
        return self._rank(training, np.concatenate([train, both]), np.concatenate([validation, both]))

    def _rank(self, training: Training, train: np.ndarray, validation: np.ndarray) -> Trained:
        """Rank by some of the samples, and validate by others."""
        first, second = (training.part(rows).weighed(self.class_weight) for rows in (train, validation))
        return self._found(svm_ranking(first.data, None, second.data, None, lam=self.lam))

    def _ranked_by_folds(self, training: Training, folds: Sequence[tuple[np.ndarray, np.ndarray]]) -> Trained:
        """Rank by all samples, and keep as many features as is best on average over the folds."""
        parts = [[training.part(rows).weighed(self.class_weight) for rows in fold] for fold in folds]
        both = [(train.data, test.data) for train, test in parts if len(set(train.y)) == 2 == len(set(test.y))]
        if not both:
            raise DataError("no fold has both classes on both of its sides: choose fewer folds, or StratifiedKFold")
        return self._found(ranking_by_folds(training.weighed(self.class_weight).data, both, self.lam))

    def _found(self, found: Ranking) -> Trained:
        rule, tried = found.classifier, len(found.errors)
        arrays = {"w": rule.w, "b": rule.b}
        how: dict[str, Any] = {"iterations": tried, "algorithm": "ranking", "solver": "libsvm"}
        result = outcome("svm_ranking", float(found.errors.min()), arrays, rule, **how)
        return Trained(result, rule, tried, found.selected, found)

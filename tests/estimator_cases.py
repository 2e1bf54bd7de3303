"""Every estimator, the samples that they are tried on, and a user who interrupts."""

from __future__ import annotations

import numpy as np
import pytest

from dcprog import estimators as est
from dcprog.functions import Exponential

METHODS = [
    est.RLP(),
    est.LinearSVM(),
    est.L1SVM(),
    est.FSV(),
    est.L2L1SVM(),
    est.L2L0SVM(),
    est.QuadraticFSV(),
    est.AlignmentSVM(),
    est.KernelSVM(),
    est.AROM(),
    est.SVMRFE(),
    est.KernelRFE(),
    est.NLPSVM(),
    est.R2W2(),
    est.RadiusMarginBasis(),
    est.SVMRanking(random_state=0),
]
CROSS_VALIDATED = [
    est.LinearSVMCV(lam=0.1, cv=2),
    est.L1SVMCV(lam=0.05, cv=2),
    est.FSVCV(lam=[0.05, 0.1], cv=2),
    est.L2L1SVMCV(mu=100.0, nu=0.1, cv=2),
    est.L2L0SVMCV(mu=100.0, nu=0.1, cv=2),
    est.QuadraticFSVCV(lam=0.05, cv=2),
    est.AlignmentSVMCV(lam=0.1, lam_svm=0.5, cv=2),
    est.KernelSVMCV(lam=0.5, cv=2),
    est.SVMRankingCV(lam=0.5, cv=2),
    est.NLPSVMCV(nu=[0.1, 1.0], cv=2),
    est.AROMCV(cv=2),
    est.SVMRFECV(cv=2),
]
name_of = lambda estimator: type(estimator).__name__
each = lambda estimators: pytest.mark.parametrize("estimator", estimators, ids=name_of)


def samples(n=40, d=5, seed=0):
    """Two classes that two features tell apart, but for a few; one is smaller, so that b is unique also where w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n) > 0.5, "yes", "no")


class Interrupted(Exponential):
    """A penalty during whose evaluation the user presses Ctrl-C."""

    def gradient(self, v):
        raise KeyboardInterrupt

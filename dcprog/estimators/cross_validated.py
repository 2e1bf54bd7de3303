"""The formulations of Neumann, Schnörr & Steidl (2005) with their weights chosen by cross-validation.

Parameters are those of the formulation without ``CV`` in its name, and those of :class:`~dcprog.estimators.path_cv.PathCV`;
by default the weights are chosen from the values of section 5.2.2, and of equal scores the largest weights win.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from dcprog.estimators.base import Formulation, Trained
from dcprog.estimators.linear import FSV, L1SVM, L2L0SVM, L2L1SVM, LinearSVM
from dcprog.estimators.nonlinear import AlignmentSVM, QuadraticFSV
from dcprog.estimators.path_cv import Folds, PathCV, Point, Step
from dcprog.learning import grids
from dcprog.methods.kernel_svm import kernel_svm


class LinearSVMCV(PathCV, LinearSVM, grid={"lam": grids.LAM_SVM}):
    """:class:`~dcprog.estimators.LinearSVM` with the best of (1−λ)/λ = e⁻⁵, …, e⁵."""


class L1SVMCV(PathCV, L1SVM, grid={"lam": grids.LAM_FSV}):
    """:class:`~dcprog.estimators.L1SVM` with the best of λ = 0.05, 0.1, 0.2, …, 0.9, 0.95."""


class FSVCV(PathCV, FSV, grid={"lam": grids.LAM_FSV}):
    """:class:`~dcprog.estimators.FSV` with the best of λ = 0.05, 0.1, 0.2, …, 0.9, 0.95.

    >>> import dcprog
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> fsv = FSVCV(cv=3).fit(data.X, data.y)
    >>> fsv.best_params_, fsv.get_support().sum()
    ({'lam': 0.1}, np.int64(3))
    """


class L2L1SVMCV(PathCV, L2L1SVM, grid={"nu": grids.NU, "mu": grids.MU}):
    """:class:`~dcprog.estimators.L2L1SVM` with the best of ln µ = 0, …, 10 and ln ν = −5, …, 5."""


class L2L0SVMCV(PathCV, L2L0SVM, grid={"nu": grids.NU, "mu": grids.MU}):
    """:class:`~dcprog.estimators.L2L0SVM` with the best of ln µ = 0, …, 10 and ln ν = −5, …, 5."""


class QuadraticFSVCV(PathCV, QuadraticFSV, grid={"lam": grids.LAM_FSV}):
    """:class:`~dcprog.estimators.QuadraticFSV` with the best of λ = 0.05, 0.1, 0.2, …, 0.9, 0.95."""


class AlignmentSVMCV(PathCV, AlignmentSVM, grid={"lam": grids.LAM_ALIGNMENT, "C": grids.C_SVM}):
    """:class:`~dcprog.estimators.AlignmentSVM` with the best of λ = 0, 0.1, …, 0.9.

    C comes first, as in the paper independently of the selected features: the best of e⁻⁵, …, e⁵ for the kernel with all
    weights one, and the smallest of equally good ones. It is among ``best_params_`` too.
    """

    def _chosen_before(self, method: Formulation, X: Any, y: np.ndarray, folds: Folds) -> Point:
        found = self._validated(method, partial(_with_all_features, self._values("C")), X, y, folds)
        return found.points[found.best(lambda point: -point["C"])]


def _with_all_features(Cs: list[float], method: Formulation, X: Any, y: np.ndarray) -> Iterator[Step]:
    own = method.get_params()
    for C in Cs:
        rule = kernel_svm(X, y, None, C, own["kernel"], own["sigma"], own["bias"])
        yield Step({"C": C}, Trained(None, rule, 0))

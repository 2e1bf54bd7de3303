"""The linear SVM (3) by libsvm, which has no limit of its own: every call says after how many iterations it has to end."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.typing import Indices, Vector


@dataclass(frozen=True, eq=False)
class LibsvmSolution:
    """w, b, the positions of the support vectors, and whether libsvm ended before its limit."""

    w: Vector
    b: float
    support: Indices
    converged: bool


def linear_by_libsvm(X: Any, y: Vector, C: float, max_iter: int) -> LibsvmSolution:
    """min ½‖w‖² + C Σξᵢ subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, in libsvm's own precision, 1e-3.

    >>> found = linear_by_libsvm(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0]), 99.0, 1000)
    >>> found.w.round(3), round(found.b, 3), found.support, found.converged
    (array([2.]), -3.0, array([1, 2]), True)
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = SVC(kernel="linear", C=C, max_iter=max_iter).fit(X, y)
    w = machine.coef_.toarray() if sp.issparse(machine.coef_) else machine.coef_
    support = machine.support_.astype(np.int64)
    return LibsvmSolution(np.ravel(w), float(machine.intercept_[0]), support, machine.fit_status_ == 0)

"""SVMs by libsvm, as scikit-learn has it. It has no limit of its own: who cannot be sure that it ends passes one."""

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


def linear_by_libsvm(X: Any, y: Vector, C: float | Vector, max_iter: int) -> LibsvmSolution:
    """min ½‖w‖² + Σ Cᵢξᵢ subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, in libsvm's own precision, 1e-3.

    >>> found = linear_by_libsvm(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0]), 99.0, 1000)
    >>> found.w.round(3), round(found.b, 3), found.support, found.converged
    (array([2.]), -3.0, array([1, 2]), True)
    """
    machine = quiet_svc("linear", X, y, C, max_iter=max_iter)
    w = machine.coef_.toarray() if sp.issparse(machine.coef_) else machine.coef_
    support = machine.support_.astype(np.int64)
    return LibsvmSolution(np.ravel(w), float(machine.intercept_[0]), support, machine.fit_status_ == 0)


def quiet_svc(kernel: str, X: Any, y: Vector, C: float | Vector, *, max_iter: int = -1, tol: float = 1e-3) -> Any:
    """scikit-learn's SVC, trained; instead of a warning at ``max_iter`` it has ``fit_status_`` 1. C may differ by sample.

    >>> quiet_svc("precomputed", np.diag([0.0, 4.0]), np.array([-1.0, 1.0]), 99.0).dual_coef_
    array([[-0.5,  0.5]])
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        largest = float(np.max(C))
        shares = None if np.ndim(C) == 0 or np.ptp(C) == 0 else C / largest
        return SVC(kernel=kernel, C=largest, max_iter=max_iter, tol=tol).fit(X, y, sample_weight=shares)

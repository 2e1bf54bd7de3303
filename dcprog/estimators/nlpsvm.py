"""NLPSVM of Fung & Mangasarian (2004) as an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.estimators.base import LinearMethod, Trained, check_end
from dcprog.nlpsvm import nlpsvm
from dcprog.result import Status


class NLPSVM(LinearMethod):
    """The LP support vector machine min ν e'y + ‖w‖₁ subject to D(Aw − eγ) + y ≥ e, y ≥ 0, by Newton's method, (2.6).

    Two classes; X may be sparse, and stays so. Algorithm 3.1 stops early; exact solutions of the same linear program come
    from :class:`~dcprog.estimators.L1SVM` with (1−λ)/λ = ν and ``weighting="sum"``.

    Parameters
    ----------
    nu : float
        ν > 0, the weight of the slacks; a smaller one leaves fewer features.
    delta, epsilon, alpha : float
        As for :func:`dcprog.nlpsvm.nlpsvm`.
    tol, max_iter : float, int
        When to stop.
    threshold : float
        Features with |w| above it are selected.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w and −γ.
    result_ : Separation
    rule_ : LinearRule
    n_iter_ : int
        Newton steps.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [-1, -1, 1, 1]
    >>> machine = NLPSVM(nu=10).fit(X, y)
    >>> machine.coef_.round(2), machine.get_support()
    (array([[2., 0.]]), array([ True, False]))
    """

    _sparse = True

    def __init__(
        self,
        nu: float = 1.0,
        *,
        delta: float = 0.1,
        epsilon: float = 0.1,
        alpha: float = 1e3,
        tol: float = 1e-3,
        max_iter: int = 50,
        threshold: float = 1e-8,
    ) -> None:
        self.nu = nu
        self.delta = delta
        self.epsilon = epsilon
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold

    def _train(self, X: Any, y: np.ndarray) -> Trained:
        penalty = {"delta": self.delta, "epsilon": self.epsilon, "alpha": self.alpha}
        plane = nlpsvm(X, y, self.nu, **penalty, tol=self.tol, max_iter=self.max_iter)
        check_end(type(self).__name__, Status.CONVERGED if plane.converged else Status.ITERATION_LIMIT)
        return Trained(plane, plane.rule, plane.steps, plane.rule.selected(self.threshold))

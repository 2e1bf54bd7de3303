"""NLPSVM of Fung & Mangasarian (2004) as an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from dcprog.algorithms.result import Status
from dcprog.errors import unknown_name
from dcprog.estimators.base import Grid, LinearMethod, Step, Trained, check_end, watched
from dcprog.estimators.outcomes import outcome, total_slack
from dcprog.estimators.training import Training
from dcprog.learning.samples import Data, check_positive
from dcprog.methods.nlpsvm import Separation, code_4_1, lp_svm, nlpsvm
from dcprog.typing import Vector

ALGORITHMS = ("exact", "printed", "code")
ADVICE = (
    "its w may be far from the solution of the linear program; tune delta over 1e-3, …, 1e3 as in the paper, or take "
    "algorithm='exact'"
)


@dataclass(eq=False, repr=False)
class NLPSVM(LinearMethod):
    """The LP support vector machine min ν e'y + ‖w‖₁ subject to D(Aw − eγ) + y ≥ e, y ≥ 0, by Newton's method, (2.6).

    Two classes; X may be sparse, and stays so. Of all solutions it is that of least 2-norm.

    Parameters
    ----------
    nu : float
        ν > 0, the weight of the slacks; a smaller one leaves fewer features. The paper tunes it over 2⁻¹², …, 2¹².
    algorithm : str
        ``"exact"`` takes Newton steps until the solution is proved (:func:`dcprog.methods.nlpsvm.lp_svm`). ``"printed"`` is
        Algorithm 3.1 (:func:`dcprog.methods.nlpsvm.nlpsvm`) and ``"code"`` Code 4.1
        (:func:`dcprog.methods.nlpsvm.code_4_1`), whose ends depend on δ and ε: the paper tunes δ too.
    delta, epsilon, alpha, tol, max_iter
        Of Algorithm 3.1 and Code 4.1, which the paper stops after 50 steps.
    doubling : bool
        Whether Algorithm 3.1 doubles α after every step, as printed; it converges better without.
    threshold : float
        Features with |w| above it are selected.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w and −γ.
    result_ : Result
    outcome_ : Separation
    classifier_ : LinearRule
    n_iter_ : int
        Newton steps.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [-1, -1, 1, 1]
    >>> machine = NLPSVM(nu=10).fit(X, y)
    >>> machine.coef_.round(9), machine.get_support()
    (array([[2., 0.]]), array([ True, False]))
    """

    _sparse = True

    nu: float = 1.0
    _: KW_ONLY
    algorithm: str = "exact"
    delta: float = 0.1
    epsilon: float = 0.1
    alpha: float = 1e3
    doubling: bool = False
    tol: float = 1e-3
    max_iter: int = 1000
    threshold: float = 1e-8

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive(delta=self.delta, epsilon=self.epsilon, alpha=self.alpha, tol=self.tol)
        if self.algorithm not in ALGORITHMS:
            raise unknown_name("algorithm", self.algorithm, ALGORITHMS)

    def _train(self, training: Training) -> Trained:
        return self._from(training.data, None)

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        """From the multipliers for the ν before; where they start makes no difference to the exact solution."""
        if list(grid) != ["nu"] or self.algorithm != "exact":
            yield from super()._walk(grid, training)
            return
        data, u = training.data, None
        for nu in grid["nu"]:
            machine = clone(self).set_params(nu=nu)
            step = watched({"nu": nu}, partial(machine._from, data, u))
            u = step.trained.outcome.u
            yield step

    def _from(self, data: Data, u: Vector | None) -> Trained:
        """The machine, found from these multipliers."""
        check_positive(nu=self.nu)
        plane = lp_svm(data, None, self.nu, u0=u) if self.algorithm == "exact" else self._approximate(data)
        rule = plane.classifier
        result = outcome(
            "nlpsvm",
            self.nu * total_slack(data.X @ rule.w + rule.b, data) + float(np.abs(rule.w).sum()),
            {"w": rule.w, "gamma": plane.gamma, "u": plane.u},
            rule,
            status=_status(plane),
            iterations=plane.steps,
            algorithm=f"Newton ({self.algorithm})",
            solver="none",
        )
        return Trained(result, rule, plane.steps, rule.selected(self.threshold), plane)

    def _approximate(self, data: Data) -> Separation:
        settings: dict[str, Any] = {name: getattr(self, name) for name in ("delta", "epsilon", "alpha", "tol", "max_iter")}
        if self.algorithm == "code":
            plane = code_4_1(data, None, self.nu, **settings)
        else:
            plane = nlpsvm(data, None, self.nu, doubling=self.doubling, **settings)
        check_end(type(self).__name__, _status(plane), advice=ADVICE)
        return plane


def _status(plane: Separation) -> Status:
    return Status.CONVERGED if plane.converged else Status.ITERATION_LIMIT

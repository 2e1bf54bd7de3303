"""Zero-norm minimisation and recursive elimination, Weston, Elisseeff, Schölkopf & Tipping, JMLR 3 (2003), as estimators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from dcprog.algorithms.result import Status
from dcprog.estimators.base import Grid, LinearMethod, Step, Trained, check_end, half, watched
from dcprog.estimators.outcomes import margin_slacks, outcome
from dcprog.estimators.training import Training
from dcprog.learning.multiclass import check_constraints
from dcprog.learning.samples import Samples, check_flag, check_nonnegative, check_varying, varying
from dcprog.methods.zero_norm import NotSeparableError, arom_iterates, arom_path, converge, retrain, rfe_path
from dcprog.methods.zero_norm.iterates import Iterate
from dcprog.typing import Indices

FINAL = "one_vs_rest"
"""The machine of several classes that SVMRFE trains on the features that are left: those that ranked them."""


@dataclass(eq=False, repr=False)
class AROM(LinearMethod):
    """Approximation of the zero norm: min ‖w‖₀ + λ e'ξ subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, by multiplicative updates.

    Of more than two classes the zero norm is joint, ‖Σₖ|wₖ|‖₀: a feature counts once, whichever classes use it (section
    3.3). X may be sparse. With ``norm=1`` it stays so; with ``norm=2`` each step has a dense copy of the features left.

    Parameters
    ----------
    r : int, optional
        Stop at r features, and train the SVM of the same norm on these (section 4.1); by default the updates go on until
        nothing changes, and the last w classifies.
    norm : 1 or 2
        ℓ1-AROM, an LP an iteration, or ℓ2-AROM, an SVM an iteration.
    lam : float or None
        λ > 0, the cost of slacks. None allows no slacks, and takes separable classes.
    constraints : str
        Of more than two classes: ``"weston_watkins"`` (Problem 10) or ``"one_vs_rest"`` (Problem 11).
    solver : str
        A name that ``dcprog.available_solvers()`` lists.
    tol, max_iter : float, int
        When the updates stop if r is None.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w and b; one row a class if there are more than two.
    result_ : Result
        Its objective is ‖w‖₀ + λ e'ξ at the classifier.
    outcome_ : Iterate
        The last one.
    classifier_ : LinearRule, or ArgmaxRule of more than two classes
    n_iter_ : int

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 50)); y = X[:, 7] + X[:, 11] > 0
    >>> AROM(r=2, lam=None).fit(X, y).get_support(indices=True)
    array([ 7, 11])
    """

    _multi_class = True
    _sparse = True

    r: int | None = None
    _: KW_ONLY
    norm: int = 2
    lam: float | None = 1.0
    constraints: str = "weston_watkins"
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 200

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nonnegative(tol=self.tol)
        check_constraints(self.constraints)

    def _train(self, training: Training) -> Trained:
        if self.r is not None:
            return next(self._reduced(training, [self.r]))
        samples = training.samples
        with _slacks_advised():
            iterates = arom_iterates(samples, None, norm=self.norm, lam=self.lam, **self._how)
            last, status = converge(iterates, self.tol, self.max_iter)
        check_end(type(self).__name__, status)
        return self._found(samples, last.classifier, last, status, last.features)

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        """By one run of the updates, where only the number of features varies."""
        if list(grid) != ["r"] or None in grid["r"]:
            yield from super()._walk(grid, training)
            return
        machines = self._reduced(training, grid["r"])
        yield from (watched({"r": r}, partial(next, machines)) for r in grid["r"])

    def _reduced(self, training: Training, numbers: Sequence[int]) -> Iterator[Trained]:
        """The machines with so many features."""
        check_varying(type(self).__name__, training.X)
        samples, lam = training.samples, np.inf if self.lam is None else self.lam
        with _slacks_advised():
            for last, features in arom_path(samples, None, numbers, norm=self.norm, lam=self.lam, **self._how):
                rule = retrain(samples, None, features, p=self.norm, lam=lam, **self._how)
                yield self._found(samples, rule, last, Status.STOPPED_BY_RULE, features)

    @property
    def _how(self) -> dict[str, Any]:
        return {"constraints": self.constraints, "solver": self.solver}

    def _found(self, samples: Samples, rule: Any, last: Iterate, status: Status, features: Indices) -> Trained:
        slacks, counts = margin_slacks(rule, samples, self.constraints)
        result = outcome(
            "arom",
            len(features) + (0.0 if self.lam is None else self.lam * float(counts @ slacks)),
            {"w": rule.w, "b": rule.b},
            rule,
            status=status,
            iterations=last.iteration,
            algorithm=f"ℓ{self.norm}-AROM",
            solver=self.solver,
            violation=float(slacks.max()) if self.lam is None else 0.0,
        )
        return Trained(result, rule, last.iteration, features, last)


@contextmanager
def _slacks_advised() -> Iterator[None]:
    """Say what to do where the classes are not separable."""
    try:
        yield
    except NotSeparableError as error:
        error.args = ("no hyperplane separates the classes, and lam=None allows no slacks: pass a number, as lam=1.0",)
        raise


@dataclass(eq=False, repr=False)
class SVMRFE(LinearMethod):
    """Recursive feature elimination: train the SVM, drop the features with the smallest Σₖ wₖⱼ², until r are left.

    Of more than two classes, k runs over SVMs of one against the rest. X may be sparse; a dense copy is trained on.
    scikit-learn's RFE with SVC does the same where its SVC returns, which it does not from hard margins on classes that are
    not separable, and there a fractional step is a share of all features, where this one halves those that are left.

    Parameters
    ----------
    r : int, optional
        How many features to select, by default half, and two where there are.
    halving : bool
        Drop half of the features at a time, not one.
    lam : float
        λ > 0, the cost of slacks; ∞ has hard margins where classes are separable, else the least total slack.
    solver : str
        A name that ``dcprog.available_solvers()`` lists.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        Of the SVM on the selected features, w zero for the others; one row a class if there are more than two.
    classifier_ : LinearRule, or ArgmaxRule of more than two classes
    result_ : Result
        Its objective is that of the SVM on the selected features, ½‖w‖² + λ e'ξ; for λ = ∞ its ½‖w‖².
    n_iter_ : int
        Features dropped.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20)); y = X[:, 7] + X[:, 11] > 0
    >>> SVMRFE(r=2, halving=True).fit(X, y).get_support(indices=True)
    array([ 7, 11])
    """

    _multi_class = True
    _sparse = True

    r: int | None = None
    _: KW_ONLY
    halving: bool = False
    lam: float = np.inf
    solver: str = "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(halving=self.halving)

    def _train(self, training: Training) -> Trained:
        X = training.X
        check_varying(type(self).__name__, X)
        r = max(half(X), min(2, int(varying(X).sum()))) if self.r is None else self.r
        return self._on(training.samples, self._eliminated(training, [r])[r])

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        """By one elimination, where only the number of features varies."""
        if list(grid) != ["r"] or None in grid["r"]:
            yield from super()._walk(grid, training)
            return
        check_varying(type(self).__name__, training.X)
        found, samples = self._eliminated(training, grid["r"]), training.samples
        yield from (watched({"r": r}, partial(self._on, samples, found[r])) for r in grid["r"])

    def _eliminated(self, training: Training, numbers: Sequence[int]) -> dict[int, Indices]:
        """The features that are left, by their number."""
        return rfe_path(training.samples, None, numbers, halving=self.halving, lam=self.lam, solver=self.solver)

    def _on(self, samples: Samples, features: Indices) -> Trained:
        """The machine with these features."""
        rule = retrain(samples, None, features, lam=self.lam, constraints=FINAL, solver=self.solver)
        objective, dropped = 0.5 * float(np.sum(rule.w**2)), samples.X.shape[1] - len(features)
        if np.isfinite(self.lam):
            slacks, counts = margin_slacks(rule, samples, FINAL)
            objective += self.lam * float(counts @ slacks)
        arrays = {"w": rule.w, "b": rule.b}
        how: dict[str, Any] = {"iterations": dropped, "algorithm": "elimination", "solver": self.solver}
        return Trained(outcome("svm_rfe", objective, arrays, rule, **how), rule, dropped, features)

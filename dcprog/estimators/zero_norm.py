"""Zero-norm minimisation and recursive elimination, Weston, Elisseeff, Schölkopf & Tipping, JMLR 3 (2003), as estimators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any

import numpy as np

from dcprog.algorithms.result import Status
from dcprog.errors import DataError
from dcprog.estimators.base import Grid, LinearMethod, SelectingMethod, Step, Trained, check_end, half, watched
from dcprog.estimators.outcomes import margin_slacks, outcome
from dcprog.estimators.training import Training
from dcprog.learning.multiclass import check_constraints
from dcprog.learning.samples import Samples, check_flag, check_nonnegative, check_varying, varying
from dcprog.methods.radius_margin.kernels import as_kernel
from dcprog.methods.zero_norm import (
    NotSeparableError,
    arom_iterates,
    arom_path,
    converge,
    kernel_rfe,
    l1_updates,
    l2_updates,
    retrain,
    rfe_path,
    switching_updates,
)
from dcprog.methods.zero_norm.iterates import ZERO, Iterate
from dcprog.typing import Indices

FINAL = "one_vs_rest"
"""The machine of several classes that SVMRFE trains on the features that are left: those that ranked them."""


@dataclass(eq=False, repr=False)
class AROM(LinearMethod):
    """Approximation of the zero norm: min ‖w‖_p + λ‖ξ‖_q subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, by multiplicative updates.

    By default p = 0 and q = 1: ‖w‖₀ + λ e'ξ. p = 2, q = 0 is an SVM that counts its training errors; ‖·‖₂ stands for ½‖·‖₂².

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
    p, q : int
        Norms of the weights, 0 or 2 (with ``norm=1`` also 1), and of the slacks, 0, 1 or 2, one of them 0. Other ones than 0
        and 1 take two classes, and p ≠ 0 selects no r features.
    switch : int, optional
        Of ℓ2-AROM for two classes: with so many features or fewer go on by ℓ1-AROM.
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
        Its objective is ‖w‖_p + λ‖ξ‖_q at the classifier.
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
    p: int = 0
    q: int = 1
    switch: int | None = None
    constraints: str = "weston_watkins"
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 200

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_nonnegative(tol=self.tol)
        check_constraints(self.constraints)
        if (self.p, self.q) != (0, 1) and self.r is not None:
            raise DataError(f"r = {self.r} features are those of p = 0, q = 1: leave p and q at these, or r at None")
        if self.switch is not None and (self.norm != 2 or self.p != 0 or self.r is not None):
            raise DataError("switch goes from ℓ2 to ℓ1, with norm=2, p=0 and r=None: leave these at their defaults")

    def _train(self, training: Training) -> Trained:
        if self.r is not None:
            return next(self._reduced(training, [self.r]))
        samples = training.samples
        with _slacks_advised():
            last, status = converge(self._iterates(samples), self.tol, self.max_iter)
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

    def _iterates(self, samples: Samples) -> Iterator[Iterate]:
        usual = (self.p, self.q) == (0, 1) and self.switch is None
        if usual:
            return arom_iterates(samples, None, norm=self.norm, lam=self.lam, **self._how)
        if len(samples.classes) > 2:
            raise DataError(f"p, q and switch are those of two classes, y has {len(samples.classes)}: leave them out")
        norms: dict[str, Any] = {"q": None if self.lam is None else self.q, "solver": self.solver}
        if self.lam is not None:
            norms["lam"] = self.lam
        if self.switch is not None:
            return switching_updates(samples, None, few=self.switch, **norms)
        return (l1_updates if self.norm == 1 else l2_updates)(samples, None, p=self.p, **norms)

    def _value(self, rule: Any, features: Indices, slacks: Any, counts: Any) -> float:
        """‖w‖_p + λ‖ξ‖_q."""
        w = np.abs(rule.w)
        value = float({0: len(features), 1: w.sum(), 2: 0.5 * (w**2).sum()}[self.p])
        if self.lam is None:
            return value
        norm = {0: slacks > ZERO, 1: slacks, 2: 0.5 * slacks**2}[self.q]
        return value + self.lam * float(counts @ norm)

    def _found(self, samples: Samples, rule: Any, last: Iterate, status: Status, features: Indices) -> Trained:
        slacks, counts = margin_slacks(rule, samples, self.constraints)
        result = outcome(
            "arom",
            self._value(rule, features, slacks, counts),
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


@dataclass(eq=False, repr=False)
class KernelRFE(SelectingMethod):
    """Recursive feature elimination for any kernel: drop the feature without which ‖w‖² of the SVM changes least.

    Of more than two classes Σₖ |Wₖ² − W²ₖ,₍₋ₚ₎| over the machines of one class against the rest. X may be sparse; a dense
    copy is trained on. Features should be of one scale.

    Parameters
    ----------
    r : int, optional
        How many features to select, by default half, and two where there are.
    kernel : str or callable
        ``"gaussian"`` (of width 1), ``"polynomial"`` (of degree 2), ``"linear"``, one of
        :mod:`dcprog.methods.radius_margin` with other parameters, or any ``kernel(X, Z)`` that gives a matrix.
    lam : float
        λ > 0, the cost of slacks.
    halving : bool
        Drop half of the features at a time, not one.

    Attributes
    ----------
    classifier_, outcome_ : KernelElimination
        The features, the order in which the others went, and the machines on those that are left.
    result_ : Result
        Its objective is ½‖w‖² + λ e'ξ, over all machines.
    n_iter_ : int
        Features dropped.

    >>> X = np.random.default_rng(0).uniform(-1, 1, (80, 6))
    >>> KernelRFE(2, lam=10.0).fit(X, X[:, 1] * X[:, 4] > 0).get_support(indices=True)
    array([1, 4])
    """

    _multi_class = True
    _sparse = True

    r: int | None = None
    _: KW_ONLY
    kernel: Any = "gaussian"
    lam: float = 1.0
    halving: bool = False

    def _train(self, training: Training) -> Trained:
        samples = training.samples
        check_varying(type(self).__name__, samples.X)
        r = max(half(samples.X), min(2, int(varying(samples.X).sum()))) if self.r is None else self.r
        kernel = as_kernel(self.kernel) if isinstance(self.kernel, str) else self.kernel
        found = kernel_rfe(samples, None, r, kernel, lam=self.lam, halving=self.halving)
        result = outcome(
            "kernel_rfe",
            found.objective(samples, self.lam),
            {"alpha": found.coefficients, "b": found.intercepts},
            found,
            iterations=len(found.dropped),
            algorithm="elimination",
            solver="libsvm",
        )
        return Trained(result, found, len(found.dropped), found.selected, found)

"""Features and bases chosen by the radius–margin bound (Weston et al. 2001; Fortuna & Capson 2005), as estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dcprog.algorithms.result import Result, Status
from dcprog.errors import DataError, unknown_name
from dcprog.estimators.base import Method, SelectingMethod, Trained, check_end, half
from dcprog.estimators.outcomes import outcome
from dcprog.estimators.training import Training
from dcprog.learning.samples import Data, check_flag, check_varying, dense, varying
from dcprog.methods.radius_margin import (
    Basis,
    Criterion,
    Kernel,
    Machine,
    Selection,
    backward_selection,
    forward_selection,
    optimal_basis,
    r2w2,
    r2w2_path,
    r2w2_penalised,
    radius_margin,
    smallest_sufficient,
    span_bound,
    train,
    tune_kernel,
)
from dcprog.methods.radius_margin.kernels import as_kernel
from dcprog.typing import Matrix

SEARCHES: dict[str, Callable[..., Selection]] = {
    "elimination": r2w2,
    "penalised": r2w2_penalised,
    "forward": forward_selection,
    "backward": backward_selection,
}
CRITERIA: dict[str, Criterion] = {"radius_margin": radius_margin, "span": span_bound}


@dataclass(eq=False, repr=False)
class R2W2(SelectingMethod):
    """R²W²: minimise R²‖w‖² over a factor σₖ for each feature, drop those with the smallest σₖ, until m are left.

    Other ways to the m features of a small bound are to choose by ``search``, and the bound itself by ``criterion``.

    Two classes. Features should be of one scale.

    Parameters
    ----------
    m : int, optional
        How many features to select, by default half.
    search : str
        ``"elimination"`` as above; ``"penalised"``, (13); ``"forward"`` or ``"backward"``, one feature at a time.
    criterion : str or callable
        ``"radius_margin"``, ``"span"``, the bound by the span of support vectors, or a function of a kernel and labels.
    max_error : float, optional
        Instead of m: the fewest features for which T/n, the bound on the share of errors, is no more than that.
    tune : bool
        Whether the scale of the kernel and the ridge 1/C are those of the least bound, on all features and again on those
        selected.
    kernel : str or Kernel
        ``"linear"``, ``"polynomial"`` (of degree 2), ``"gaussian"`` (of width 1), or one of
        :mod:`dcprog.methods.radius_margin` with other parameters, or your own.
    q : int or float
        How many features go at a time, or if q < 1 which share of those left.
    ridge : float
        1/λ ≥ 0, added to the diagonal of the kernel matrix; 0 allows no training error.
    solver : str
        A QP solver by name.

    Attributes
    ----------
    kernel_, ridge_
        Those of the final machine.
    result_ : Result
        Its objective is R²‖w‖² of the machine on the selected features.
    outcome_, classifier_ : Selection
        The features, their σ, the machine trained on them, the bound in each round.
    n_iter_ : int
        Rounds.

    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> R2W2(2, kernel="gaussian").fit(X, X[:, 2] * X[:, 5] > 0).get_support(indices=True)
    array([2, 5])
    """

    m: int | None = None
    _: KW_ONLY
    search: str = "elimination"
    criterion: str | Criterion = "radius_margin"
    max_error: float | None = None
    tune: bool = False
    kernel: str | Kernel = "linear"
    q: float = 0.5
    ridge: float = 1.0
    solver: str = "auto"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag(tune=self.tune)
        if self.search not in SEARCHES:
            raise unknown_name("search", self.search, SEARCHES)
        if isinstance(self.criterion, str) and self.criterion not in CRITERIA:
            raise unknown_name("criterion", self.criterion, CRITERIA)
        if self.max_error is not None and (self.m is not None or self.search != "elimination"):
            raise DataError("max_error takes the place of m, by search='elimination': leave the others at their defaults")

    def _train(self, training: Training) -> Trained:
        data = training.data
        check_varying(type(self).__name__, data.X)
        criterion = CRITERIA[self.criterion] if isinstance(self.criterion, str) else self.criterion
        how: dict[str, Any] = {"criterion": criterion, "solver": self.solver}
        kernel, ridge = as_kernel(self.kernel), self.ridge
        if self.tune:
            kernel, ridge, _ = tune_kernel(data, None, kernel, ridge=ridge, **how)
        found = self._selection(data, kernel, {"ridge": ridge, **how})
        if self.tune:
            part = replace(data, X=dense(data.X)[:, found.selected], names=None)
            kernel, ridge, _ = tune_kernel(part, None, kernel, ridge=ridge, **how)
            found = replace(found, machine=train(part, None, kernel, ridge=ridge, solver=self.solver))
        self.kernel_, self.ridge_ = kernel, ridge
        result = _outcome("r2w2", found, found.machine, {"sigma": found.sigma}, Status.STOPPED_BY_RULE, self.solver)
        return Trained(result, found, len(found.history), found.selected, found)

    def _selection(self, data: Data, kernel: Kernel, how: dict[str, Any]) -> Selection:
        if self.max_error is not None:
            sizes = range(1, int(varying(data.X).sum()) + 1)
            path = r2w2_path(data, None, sizes, kernel, q=self.q, **how)
            return smallest_sufficient(path, data, None, kernel, self.max_error, **how)
        m = half(data.X) if self.m is None else self.m
        q = {"q": self.q} if self.search == "elimination" else {}
        return SEARCHES[self.search](data, None, m, kernel, **q, **how)


@dataclass(eq=False, repr=False)
class RadiusMarginBasis(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Method):  # type: ignore[misc]
    """The optimal basis: z = S'W'(x − x̄) with PCA to m dimensions by W, and S that minimises R²‖w‖² of the machine on z.

    Two classes. It extracts features rather than selecting some: ``transform`` gives z, and there is no ``get_support``.

    Parameters
    ----------
    m : int, optional
        Dimensions, by default half as many as there are features, or as the points can span.
    kernel, ridge, solver
        As for :class:`R2W2`.
    max_iter : int
        Steps of L-BFGS.

    Attributes
    ----------
    result_ : Result
        Its objective is the bound of the machine on z.
    outcome_, classifier_ : Basis
        W, S, the machine, the bound after each step, and why the run ended.
    n_iter_ : int

    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([-1, 1], 20)
    >>> X = rng.normal(size=(40, 5)) @ np.diag([5, 1, 1, 1, 1]) + 1.5 * np.outer(y, [0, 1, 1, 0, 0])
    >>> basis = RadiusMarginBasis(3).fit(X, y)
    >>> basis.transform(X).shape, list(basis.get_feature_names_out())
    ((40, 3), ['radiusmarginbasis0', 'radiusmarginbasis1', 'radiusmarginbasis2'])
    """

    m: int | None = None
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    ridge: float = 1.0
    solver: str = "auto"
    max_iter: int = 200

    def transform(self, X: Any) -> Matrix:
        """z of every row."""
        check_is_fitted(self)
        Z: Matrix = self.classifier_.transform(validate_data(self, X, reset=False, dtype=np.float64))
        return Z

    def _train(self, training: Training) -> Trained:
        data = training.data
        check_varying(type(self).__name__, data.X)
        m = min(half(data.X), max(1, data.n - 1)) if self.m is None else self.m
        found = optimal_basis(data, None, m, self.kernel, ridge=self.ridge, solver=self.solver, max_iter=self.max_iter)
        limited = found.stopped.value == Status.ITERATION_LIMIT.value
        status = Status.ITERATION_LIMIT if limited else Status.STOPPED_BY_RULE
        check_end(type(self).__name__, status)
        result = _outcome("radius_margin_basis", found, found.machine, {"W": found.W, "S": found.S}, status, self.solver)
        return Trained(result, found, len(found.history) - 1, outcome=found)

    @property
    def _n_features_out(self) -> int:
        return int(self.classifier_.S.shape[1])


def _outcome(
    name: str, found: Selection | Basis, machine: Machine, arrays: dict[str, Any], status: Status, solver: str
) -> Result:
    """The bound R²‖w‖² of the machine that was trained, and what was learned."""
    arrays = {**arrays, "alpha": machine.coefficients, "b": machine.b}
    how: dict[str, Any] = {"iterations": len(found.history), "algorithm": "L-BFGS", "solver": solver, "status": status}
    return outcome(name, machine.bound.value, arrays, found, **how)

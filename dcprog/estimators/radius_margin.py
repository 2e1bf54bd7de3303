"""Features and bases chosen by the radius–margin bound (Weston et al. 2001; Fortuna & Capson 2005), as estimators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from dcprog.algorithms.result import Result, Status
from dcprog.estimators.base import Method, SelectingMethod, Trained, check_end, half
from dcprog.estimators.outcomes import outcome
from dcprog.estimators.training import Training
from dcprog.learning.samples import check_varying
from dcprog.methods.radius_margin import Basis, Kernel, Machine, Selection, optimal_basis, r2w2
from dcprog.typing import Matrix


@dataclass(eq=False, repr=False)
class R2W2(SelectingMethod):
    """R²W²: minimise R²‖w‖² over a factor σₖ for each feature, drop those with the smallest σₖ, until m are left.

    Two classes. Features should be of one scale.

    Parameters
    ----------
    m : int, optional
        How many features to select, by default half.
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
    result_ : Result
        Its objective is the bound of the machine on the selected features.
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
    kernel: str | Kernel = "linear"
    q: float = 0.5
    ridge: float = 1.0
    solver: str = "auto"

    def _train(self, training: Training) -> Trained:
        data = training.data
        check_varying(type(self).__name__, data.X)
        m = half(data.X) if self.m is None else self.m
        found = r2w2(data, None, m, self.kernel, q=self.q, ridge=self.ridge, solver=self.solver)
        result = _outcome("r2w2", found, found.machine, {"sigma": found.sigma}, Status.STOPPED_BY_RULE, self.solver)
        return Trained(result, found, len(found.history), found.selected, found)


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

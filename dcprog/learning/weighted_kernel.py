"""A kernel with one weight per feature as an object that classifiers evaluate, and the classifiers by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.checks import vector
from dcprog.learning.kernels import Distances, kernel_matrix, pair_distances
from dcprog.learning.rules import Classifier, names_of
from dcprog.learning.samples import check_points, dense
from dcprog.typing import Indices, Matrix, Vector


@dataclass(frozen=True, eq=False)
class WeightedKernel:
    """The kernel K_θ with one weight per feature: what a solution of alignment means.

    >>> from dcprog.learning.kernels import Gaussian
    >>> kernel = WeightedKernel(Gaussian(sigma=1.0), np.array([1.0, 0.0, 0.3]), ("height", "age", "weight"))
    >>> kernel.selected(), kernel.selected_names()
    (array([0, 2]), ('height', 'weight'))
    """

    distances: Distances
    theta: Vector
    feature_names: tuple[str, ...] | None = None

    def __call__(self, X: Matrix, Z: Matrix) -> Matrix:
        """K_θ(xᵢ, zⱼ) for all rows of X and Z."""
        return kernel_matrix(self.distances, X, Z, self.theta)

    def selected(self, threshold: float = 1e-2) -> Indices:
        """Positions of the features with θₖ above the threshold, by default the paper's."""
        return np.flatnonzero(self.theta > threshold)

    def selected_names(self, threshold: float = 1e-2) -> tuple[str, ...]:
        """Names of the selected features; f1, f2, … where the data had none."""
        return names_of(self.selected(threshold), self.feature_names)


def weights_of_features(theta: Any, distances: Distances, Z: Matrix) -> Vector:
    """θ ≥ 0 with one entry per elementary distance; e if none is given."""
    d = pair_distances(distances, Z[:1], Z[:1]).shape[2]
    weights = np.ones(d) if theta is None else vector("theta", theta, d)
    if weights.min(initial=0.0) < 0:
        raise DataError(f"theta has {weights.min():g}, expected weights ≥ 0: those of alignment lie in [0, 1]")
    return weights


@dataclass(frozen=True, eq=False)
class KernelRule(Classifier):
    """The classifier F(x) = sgn(Σᵢ aᵢ K_θ(sᵢ, x) + b) with support vectors sᵢ."""

    kernel: WeightedKernel
    vectors: Matrix
    coefficients: Vector
    intercept: float
    classes: tuple[Any, Any]
    support: Indices
    """Positions of the support vectors among the training points."""

    @property
    def n_support(self) -> int:
        """The number of support vectors."""
        return len(self.coefficients)

    def decision_function(self, X: Any) -> Vector:
        """Σᵢ aᵢ K_θ(sᵢ, x) + b for each row x: positive for the class that sorts last."""
        X = dense(check_points(X, self.vectors.shape[1]))
        return np.asarray(self.kernel(X, self.vectors) @ self.coefficients + self.intercept)

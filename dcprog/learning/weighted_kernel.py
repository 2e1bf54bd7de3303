"""A kernel with one weight per feature as an object that classifiers evaluate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcprog.learning.kernels import Distances, kernel_matrix
from dcprog.learning.rules import names_of
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

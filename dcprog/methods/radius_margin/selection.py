"""What the three ways to select m of d features share: which features can be selected, and what comes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from dcprog.errors import DataError
from dcprog.learning.kernels import points
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import Data, check_data, check_varying, dense, varying
from dcprog.methods.radius_margin.kernels import Kernel
from dcprog.methods.radius_margin.machine import Machine, train
from dcprog.typing import Indices, Matrix, Vector


class Round(NamedTuple):
    """One minimisation on the way: over how many features, to which value of the bound."""

    features: int
    value: float
    held: bool = False
    """Whether ‖σ‖ was held, since the bound would have had no features at all."""


@dataclass(frozen=True, eq=False)
class Selection(Classifier):
    """The features selected, and the machine trained on them with σ ∈ {0, 1}."""

    selected: Indices
    sigma: Vector
    """The real factors of all features from which the selection was read, zero for those that are out."""
    machine: Machine
    history: tuple[Round, ...]

    def transform(self, X: Any) -> Matrix:
        """The selected features of each row."""
        Z: Matrix = points("X", X)
        if Z.shape[1] != len(self.sigma):
            raise DataError(f"X has {Z.shape[1]} features, they were selected from {len(self.sigma)}: pass those")
        return Z[:, self.selected]

    @property
    def classes(self) -> tuple[Any, Any]:
        return self.machine.classes

    def decision_function(self, X: Any) -> Vector:
        """Positive for the class that sorts last."""
        return self.machine.decision_function(self.transform(X))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Training data without the constant features."""

    data: Data
    columns: Indices
    """The positions of its features among all of them."""
    d: int
    """How many there are in all."""

    def part(self, chosen: Indices) -> Data:
        """The data with these of its features alone."""
        return replace(self.data, X=self.data.X[:, chosen])

    def select(
        self, chosen: Indices, sigma: Vector, kernel: Kernel | str, ridge: float, solver: str, history: Iterable[Round]
    ) -> Selection:
        """The selection of these candidates, with the machine trained on it."""
        factors = np.zeros(self.d)
        factors[self.columns[chosen]] = sigma[chosen]
        machine = train(self.part(chosen), None, kernel, ridge=ridge, solver=solver)
        return Selection(self.columns[chosen], factors, machine, tuple(history))


def candidates(X: Any, y: Any, *sizes: int) -> Candidates:
    """Check (X, y), and that so many features can be selected.

    >>> candidates([[0.0, 1.0, 2.0], [1.0, 1.0, 5.0]], [0, 1], 2).columns
    array([0, 2])
    """
    data = check_data(X, y)
    full = dense(data.X)
    check_varying("R²W²", full)
    columns = np.flatnonzero(varying(full))
    for m in sizes:
        if not (isinstance(m, Integral) and not isinstance(m, bool) and 1 <= m <= len(columns)):
            raise DataError(
                f"m, the number of features to select, has to be an integer from 1 to {len(columns)}, the number of "
                f"features that are not constant, got {m!r}: pass such a number"
            )
    return Candidates(replace(data, X=full[:, columns], names=None), columns, data.d)

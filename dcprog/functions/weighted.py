"""A loss of which every sample counts so many times."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.errors import ModelError
from dcprog.functions.base import proved
from dcprog.functions.checks import nonnegative
from dcprog.functions.losses import Loss
from dcprog.typing import Vector


@proved
class WeightedLoss(Loss):
    """Σᵢ sᵢ ℓ(xᵢ) for a loss ℓ and weights s ≥ 0, which make it convex.

    >>> from dcprog.functions import Huber
    >>> f = WeightedLoss(Huber(1.0), [2.0, 1.0])
    >>> x = np.array([0.5, -3.0])
    >>> f.value(x), f.gradient(x)
    (2.75, array([ 1., -1.]))
    """

    def __init__(self, inner: Loss, weights: Any) -> None:
        if not isinstance(inner, Loss):
            raise ModelError(f"WeightedLoss takes a loss, got {inner!r}: pass one such as Huber()")
        self.inner, self.weights = inner, nonnegative("weights", weights)
        self.smooth = inner.smooth
        self.dimension = len(self.weights)

    def loss(self, x: Vector) -> Vector:
        return self.weights * self.inner.loss(x)

    def slope(self, x: Vector) -> Vector:
        return self.weights * self.inner.slope(x)

    def curvature(self, x: Vector) -> Vector:
        return self.weights * np.asarray(self.inner.curvature(x))

    def rests_on(self) -> tuple[Loss, ...]:
        return (self.inner,)

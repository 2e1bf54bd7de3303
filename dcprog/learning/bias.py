"""The bias of a linear or kernel classifier whose weights are known."""

from __future__ import annotations

import numpy as np

from dcprog.typing import Vector


def best_bias(scores: Vector, y: Vector, weights: Vector) -> float:
    """argmin_b Σ wᵢ(1 − yᵢ(sᵢ + b))₊, the middle of the minimisers if there are several.

    The slope of this piecewise linear function rises by wᵢ at each b = yᵢ − sᵢ, from −Σ_{yᵢ=1} wᵢ.

    >>> best_bias(np.array([0.0, 1.0, 2.0, 3.0]), np.array([-1.0, -1.0, 1.0, 1.0]), np.ones(4))
    -1.5
    """
    kinks = y - scores
    order = np.argsort(kinks)
    slopes = np.cumsum(weights[order]) - weights[y > 0].sum()
    flat = 1e-12 * weights.sum()
    first = int(np.argmax(slopes >= -flat))
    last = first + 1 if abs(slopes[first]) <= flat and first + 1 < len(kinks) else first
    return float(0.5 * (kinks[order[first]] + kinks[order[last]]))

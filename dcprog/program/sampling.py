"""Random points of a box, and pairs of points that show that a function is not convex."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcprog.typing import Matrix, Vector


def sample_box(lower: Vector, upper: Vector, centre: Vector, count: int, rng: np.random.Generator) -> Matrix:
    """``count`` points of the box; where it has no end they spread around ``centre`` on the scales 1 and 10."""
    spread = np.where(np.arange(count) % 2 == 0, 1.0, 10.0)[:, None] * (1.0 + np.abs(centre))
    low = np.where(np.isfinite(lower), np.maximum(lower, centre - spread), centre - spread)
    high = np.where(np.isfinite(upper), np.minimum(upper, centre + spread), centre + spread)
    return np.clip(rng.uniform(np.minimum(low, high), np.maximum(low, high)), lower, upper)


def midpoint_violation(
    f: Callable[[Vector], float], points: Matrix, tol: float = 1e-9
) -> tuple[Vector, Vector, float] | None:
    """Two points a, b with f((a+b)/2) > (f(a)+f(b))/2 beyond rounding, and by how much; None if no pair shows it."""
    for a, b in zip(points[::2], points[1::2], strict=False):
        fa, fb, middle = f(a), f(b), f(0.5 * (a + b))
        excess = middle - 0.5 * (fa + fb)
        if np.isfinite([fa, fb, middle]).all() and excess > tol * (1.0 + abs(fa) + abs(fb) + abs(middle)):
            return a, b, excess
    return None

"""Anderson's extrapolation of a fixed-point iteration x ← T(x), from its last few points."""

from __future__ import annotations

from collections import deque

import numpy as np

from dcprog.typing import Vector

CONDITION = 1e-8
"""Combinations of residuals below this share of the largest are rounding."""

PROMISING = 0.3


class Extrapolation:
    """The affine combination Σ αᵢT(xᵢ), Σ αᵢ = 1, whose residual Σ αᵢ(T(xᵢ) − xᵢ) is least: where T is affine, so are the
    residuals, and with n + 1 points it is the fixed point.

    Anderson, J. ACM 12 (1965); Walker & Ni, SIAM J. Numer. Anal. 49 (2011). T is that of a majorisation here, whose steps are short
    where g and h are much more curved than g − h. Whether the proposal is any good is for the caller to see.

    Parameters
    ----------
    memory : int
        How many of the last points are combined, beside the present one.

    >>> A, b = np.array([[0.9, 0.2], [0.0, 0.7]]), np.array([1.0, -1.0])
    >>> extrapolation, x = Extrapolation(), np.zeros(2)
    >>> for _ in range(4):
    ...     better = extrapolation.proposal(x, A @ x + b, np.ones(2))
    ...     x = A @ x + b if better is None else better
    >>> bool(np.allclose(A @ x + b, x))
    True
    """

    def __init__(self, memory: int = 8) -> None:
        self._points: deque[tuple[Vector, Vector]] = deque(maxlen=memory + 1)
        self.far = 0.5

    def forget(self) -> None:
        """Begin anew: T became another one."""
        self._points.clear()
        self.far = 0.5

    def proposal(self, x: Vector, there: Vector, units: Vector) -> Vector | None:
        """The extrapolated point from x and T(x); None from the first point alone. Residuals are compared in ``units``."""
        self._points.append((there, (there - x) / units))
        if len(self._points) == 1:
            return None
        images, residuals = (np.array(side).T for side in zip(*self._points, strict=True))
        changes = np.diff(residuals)
        size = np.linalg.norm(changes, axis=0)
        kept = size > 0
        if not kept.any():
            return None
        weights = np.linalg.lstsq(changes[:, kept] / size[kept], residuals[:, -1], rcond=CONDITION)[0] / size[kept]
        better: Vector = there - np.diff(images)[:, kept] @ weights
        left = residuals[:, -1] - changes[:, kept] @ weights
        if not np.linalg.norm(left) <= PROMISING * np.linalg.norm(residuals[:, -1]):
            self.far *= 2.0
            better = there + self.far * (there - images[:, -2])
        return better if np.isfinite(better).all() else None

"""Where a sequence xᵏ⁺¹ = T(xᵏ) that converges linearly seems to go: Anderson's extrapolation of its last members.

Anderson, Iterative procedures for nonlinear integral equations, J. ACM 12 (1965); Walker & Ni, Anderson acceleration for
fixed-point iterations, SIAM J. Numer. Anal. 49 (2011).
"""

from __future__ import annotations

import numpy as np

from dcprog.typing import Vector

MEMORY = 6
"""So many differences of pairs (x, T(x)) are combined."""
FEWEST = 3
"""With fewer pairs nothing is said."""
RANK = 1e-10
"""Differences that are so much alike count once."""


class Extrapolation:
    """The last pairs (x, T(x)), and the combination z = Σ αᵢT(xᵢ), Σ αᵢ = 1, for which Σ αᵢ(T(xᵢ) − xᵢ) is least.

    A linear map is at its fixed point after as many pairs as it has dimensions, and one:

    >>> A, b = np.array([[0.9, 0.1], [0.0, 0.5]]), np.array([1.0, 2.0])
    >>> known, x = Extrapolation(), np.zeros(2)
    >>> for _ in range(3):
    ...     known.add(x, A @ x + b)
    ...     x = A @ x + b
    >>> z = known.limit(np.ones(2))
    >>> bool(np.allclose(A @ z + b, z))
    True
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Vector, Vector]] = []

    def add(self, x: Vector, image: Vector) -> None:
        """Another pair."""
        self._pairs = [*self._pairs[-MEMORY:], (x, image)]

    def clear(self) -> None:
        """Forget all: the map is another one."""
        self._pairs = []

    def limit(self, sizes: Vector) -> Vector | None:
        """z, with components measured by their ``sizes``; None where too little is known, or it is no number."""
        if len(self._pairs) < FEWEST:
            return None
        images = np.array([image for _, image in self._pairs])
        rests = images - np.array([x for x, _ in self._pairs])
        scaled = rests / np.where(sizes > 0, sizes, 1.0)
        share = np.linalg.lstsq(np.diff(scaled, axis=0).T, scaled[-1], rcond=RANK)[0]
        z: Vector = images[-1] - share @ np.diff(images, axis=0)
        return z if np.isfinite(z).all() else None

"""What was computed at the last few points: one iteration asks for the same product with the data many times."""

from __future__ import annotations

import numpy as np

from dcprog.typing import Vector

POINTS = 4
"""An iteration goes to and fro between the point that it left and the one that it found."""


class Remembered:
    """Vectors by name at the last few points.

    >>> memory = Remembered()
    >>> memory.at(np.array([1.0, 2.0]))["Ax"] = np.array([3.0])
    >>> memory.at(np.array([1.0, 2.0]))["Ax"], memory.at(np.array([1.0, 3.0]))
    (array([3.]), {})
    """

    def __init__(self) -> None:
        self._points: list[tuple[Vector, dict[str, Vector]]] = []

    def at(self, x: Vector) -> dict[str, Vector]:
        """What is known at x; whoever adds to it does so for the next to ask."""
        for i, (point, known) in enumerate(self._points):
            if point.shape == x.shape and np.equal(point, x).all():
                if i:
                    self._points.insert(0, self._points.pop(i))
                return known
        known = {}
        self._points = [(x.copy(), known), *self._points[: POINTS - 1]]
        return known

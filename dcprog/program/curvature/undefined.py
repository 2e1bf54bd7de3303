"""Points at which a part of an expression has no value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcprog.program.curvature.domains import demanded
from dcprog.program.curvature.nodes import Node
from dcprog.program.curvature.spaces import Space
from dcprog.program.curvature.values import enclosed
from dcprog.typing import Vector

STEPS = 80


def where(space: Space, defects: Sequence[Node]) -> Vector | None:
    """A point of the space at which one of the nodes has no value; None if none was found."""
    for node in defects:
        for arg, low, high in demanded(node):
            found = _outside(space, arg, low, high) if low != high else _root(space, arg)
            if found is not None:
                return found
    return None


def _outside(space: Space, arg: Node, low: float, high: float) -> Vector | None:
    values = enclosed([(1.0, arg)], space.points)
    bad = np.flatnonzero((values.upper < low) | (values.lower > high))
    if not len(bad):
        return None
    worst = bad[np.argmax(np.maximum(low - values.upper, values.lower - high)[bad])]
    point: Vector = space.points[worst]
    return point


def _root(space: Space, arg: Node) -> Vector | None:
    """Where the argument changes its sign between two points, by bisection."""
    values = enclosed([(1.0, arg)], space.points)
    zero = np.flatnonzero((values.lower == 0) & (values.upper == 0))
    if len(zero):
        first: Vector = space.points[zero[0]]
        return first
    above, below = np.flatnonzero(values.lower > 0), np.flatnonzero(values.upper < 0)
    if not len(above) or not len(below):
        return None
    a: Vector = space.points[above[0]]
    b: Vector = space.points[below[0]]
    for _ in range(STEPS):
        middle: Vector = 0.5 * (a + b)
        value = enclosed([(1.0, arg)], middle[None])
        if value.lower[0] > 0:
            a = middle
        elif value.upper[0] < 0:
            b = middle
        else:
            return middle
    return a

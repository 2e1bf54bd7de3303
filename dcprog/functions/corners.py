"""Where a maximum of smooth functions has a kink: the slopes that meet there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dcprog.typing import Indices, Matrix, Vector


class Corner(NamedTuple):
    """One kink near a point x: of a summand max {pᵢ}, the pieces pᵢ that meet there.

    Row i of ``turns`` is what the gradient of piece i adds, in the components ``indices``, to the subgradient that the
    function's oracle gives at x.
    """

    indices: Indices
    turns: Matrix


def corner(slopes: Matrix, taken: Vector, indices: Indices | None = None) -> Corner | None:
    """The corner of the different ``slopes``, the rows, at a point where the oracle took ``taken``; None if they are one."""
    turns = np.unique(slopes, axis=0) - taken
    if len(turns) < 2:
        return None
    moving = np.flatnonzero((turns != 0).any(axis=0))
    return Corner(moving if indices is None else np.asarray(indices)[moving], turns[:, moving])


def near(values: Vector, slopes: Matrix, radius: Vector) -> Matrix:
    """The rows of ``slopes`` of those pieces, affine with these ``values`` at x, that attain the maximum, or may at a y with
    |y − x| ≤ ``radius``."""
    top = int(np.argmax(values))
    close: Matrix = slopes[values[top] - values <= np.abs(slopes - slopes[top]) @ radius]
    return close


def separable(at: Iterable[int], left: Vector, right: Vector, taken: Vector) -> list[Corner]:
    """Kinks of the components ``at``, with the slopes ``left`` and ``right`` of them."""
    return [
        Corner(np.array([j]), np.array([[left[j] - taken[j]], [right[j] - taken[j]]])) for j in at if left[j] != right[j]
    ]

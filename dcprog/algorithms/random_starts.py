"""Random points of C to start from, of the sizes that variables have there."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.algorithms.start import feasible_start
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Matrix, Vector

FAR = 1e20
"""Bounds beyond this are none."""
ROUNDING = 1e-9
"""Entries of a point below this share of its largest are 0, up to the accuracy of a projection."""


def centre_of(program: DCProgram, x0: Any, time_limit: float | None) -> Vector:
    """A point of C: it has the sizes that variables have there, whatever their units."""
    try:
        return feasible_start(program, x0, time_limit).x
    except DCProgError:  # that C is empty, or its points are out of reach, is for the runs to say
        return np.clip(program.vector({} if x0 is None else x0), program.compiled.lower, program.compiled.upper)


def spread(lower: Vector, upper: Vector, centre: Vector, count: int, rng: np.random.Generator) -> Matrix:
    """Points of a box: by turns of the part around ``centre`` that is twice its size, and of all of it.

    Where the box has no end, all of it is what lies within ten times the size of ``centre``.

    >>> low, high = np.array([0.0, 0.0]), np.array([1e6, np.inf])
    >>> points = spread(low, high, np.array([1.0, 1e-3]), 1000, np.random.default_rng(0))
    >>> bool(points[:, 0].max() > 9e5), bool(9e-3 < points[:, 1].max() < 1.2e-2)
    (True, True)
    """
    size = _sizes(lower, upper, centre)
    far = (np.arange(count) % 2 == 1)[:, None]
    near = np.where(far, 10.0, 2.0) * size
    whole = far & (np.abs(lower) < FAR) & (np.abs(upper) < FAR)
    low = np.where(whole, lower, np.maximum(lower, centre - near))
    high = np.where(whole, upper, np.minimum(upper, centre + near))
    return np.clip(rng.uniform(np.minimum(low, high), np.maximum(low, high)), lower, upper)


def _sizes(lower: Vector, upper: Vector, centre: Vector) -> Vector:
    """|centre|; for entries that are 0 the size of the others, or of the bounds, or 1 where nothing has any."""
    entries = np.abs(np.concatenate([centre, lower, upper]))
    known = [part[(part > 0) & (part < FAR)] for part in (entries[: len(centre)], entries[len(centre) :])]
    typical = next((float(np.median(part)) for part in known if part.size), 1.0)
    own = np.abs(centre)
    return np.where(own <= ROUNDING * own.max(initial=0.0), typical, own)


def point_of(program: DCProgram, x: Vector, centre: Vector, time_limit: float | None = None) -> Vector:
    """The point of C nearest to x, moved towards ``centre`` if g or h is not finite there; x if none is found."""
    try:
        nearest = feasible_start(program, x, time_limit).x
    except DCProgError:
        return x
    for share in (0.0, 0.01, 0.1, 0.5, 0.9, 0.99):
        point = nearest + share * (centre - nearest)
        if np.isfinite([program.compiled.g.value(point), program.compiled.h.value(point)]).all():
            return point
    return nearest

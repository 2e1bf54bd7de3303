"""Answers with zeros and bounds in the place of what an interior-point method left beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dcprog.convex.answer import Answer
from dcprog.convex.certificate import verify
from dcprog.convex.problem import ConvexProblem, Units
from dcprog.typing import Vector

NEXT_TO = 1e-6
"""So near to 0 or to a bound, in the units of the problem, a component may be there."""
SHARP = 1e-7
"""Residuals that need no better."""


def snapped(problem: ConvexProblem, found: Answer, near: float = NEXT_TO) -> Answer:
    """The answer with 0, or the bound, in the place of components that are next to it."""
    assert found.z is not None
    z = np.where(np.abs(found.z) <= near, 0.0, found.z)
    for bound in problem.box:
        z = np.where(np.abs(found.z - bound) <= near, bound, z)
    return replace(found, z=z)


def better_of(
    problem: ConvexProblem, c: Vector, one: Answer, other: Answer, units: Units | None = None, enough: float = SHARP
) -> Answer:
    """The one that verification thinks more of; the first where its residuals are small ``enough``, or the same.

    2x + |y| with x ≥ 0, and an answer beside the solution 0:

    >>> import scipy.sparse as sp
    >>> from dcprog.convex.answer import Claim
    >>> p = ConvexProblem(c=np.array([2.0, 1e-9]), A=sp.csc_array((0, 2)), row_lower=np.empty(0), row_upper=np.empty(0),
    ...                lower=np.zeros(2), upper=np.full(2, np.inf))
    >>> beside = Answer(Claim.OPTIMAL, np.array([1e-8, 0.0]), np.empty(0), np.empty(0))
    >>> better_of(p, p.c, beside, snapped(p, beside)).z
    array([0., 0.])
    """
    first = verify(problem, c, one, units)
    if first.holds(enough) or other.z is None:
        return one
    return other if verify(problem, c, other, units).worst < first.worst else one

"""Problems with DC constraints: each stated for dcprog and for dccp, and judged by NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog import DCProgram

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Problem:
    """A problem, and what is true of a point of it."""

    title: str
    ours: Callable[[], DCProgram]
    peer: Callable[[], tuple[Any, Mapping[str, Any]]]
    """The problem in CVXPY, and its variables by the names that they have in ours."""
    start: Callable[[np.random.Generator], dict[str, np.ndarray]]
    judged: Callable[[Arrays], tuple[float, float]]
    """Objective, to be small, and largest violation of a constraint, from the arrays of the variables."""
    known: float = np.nan
    """The least objective that is known."""
    times: float = 20.0
    """How many times as fast as dccp it is meant to be."""


def largest(*violations: Any) -> float:
    """The largest of violations, which are arrays or numbers, and of 0."""
    return float(max((np.max(v, initial=0.0) for v in map(np.asarray, violations)), default=0.0))

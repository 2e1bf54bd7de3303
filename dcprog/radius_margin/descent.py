"""L-BFGS on a bound: from a start downhill to where nothing is gained any more, or to where the bound cannot be followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from scipy.optimize import OptimizeResult, minimize

from dcprog._typing import Vector
from dcprog.errors import DCProgError

Smooth: TypeAlias = Callable[[Vector], tuple[float, Vector]]
"""A function with its gradient."""


class Stopped(str, Enum):
    """Why a run ended."""

    CONVERGED = "converged"
    """No step lowers the bound any more."""
    SINGULAR = "singular"
    """The next point would have been singular."""
    OUT_OF_RANGE = "out_of_range"
    """The next point had a kernel matrix with which the QPs cannot be solved: the least value lies at infinity."""
    ITERATION_LIMIT = "iteration_limit"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class Descent:
    """The last point, the values at the start and after each iteration, and why there are no more."""

    x: Vector
    values: tuple[float, ...]
    stopped: Stopped


def descend(f: Smooth, start: Vector, max_iter: int, singular: Callable[[Vector], bool] = lambda x: False) -> Descent:
    """Minimise ``f`` from ``start``, without going to points that are ``singular``.

    >>> import numpy as np
    >>> descent = descend(lambda x: (float(x @ x), 2 * x), np.array([3.0, 4.0]), max_iter=50)
    >>> descent.x.round(6) + 0.0, descent.values[0], str(descent.stopped)
    (array([0., 0.]), 25.0, 'converged')
    """
    values, last, stopped = [f(start)[0]], start, Stopped.CONVERGED

    def accept(intermediate_result: OptimizeResult) -> None:
        nonlocal last, stopped
        if singular(intermediate_result.x):
            stopped = Stopped.SINGULAR
            raise StopIteration
        values.append(float(intermediate_result.fun))
        last = intermediate_result.x.copy()
        if len(values) > max_iter:
            stopped = Stopped.ITERATION_LIMIT
            raise StopIteration

    # The QPs are solved to 1e-9, so that changes of a bound below 1e-8 say nothing.
    options = {"maxiter": max_iter + 1, "maxfun": 20 * (max_iter + 1), "ftol": 1e-8}
    try:
        minimize(f, start, jac=True, method="L-BFGS-B", callback=accept, options=options)
    except DCProgError:  # not at the start, which was evaluated above
        stopped = Stopped.OUT_OF_RANGE
    return Descent(last, tuple(values), stopped)

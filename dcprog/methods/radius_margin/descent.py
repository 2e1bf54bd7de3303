"""L-BFGS on a bound: from a start downhill to where nothing is gained any more, or to where the bound cannot be followed.

At x = 0 the kernel matrix is ridge·I but for a shift, and around it lies a plateau, on which the bound has about the value
T₀ that it has without features. From a start where T ≫ T₀, as with points next to the other class or far from all others, a
descent ends on the plateau, at factors near 0.01 that do not rank the features. The problem compares features at one scale,
σ ∈ {0, 1}, so a run that ends on the plateau is repeated with ‖x‖ fixed at its value at the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from dcprog.errors import DCProgError, FunctionError
from dcprog.typing import Vector

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
    """The last point, the values and points at the start and after each iteration, and why there are no more."""

    x: Vector
    values: tuple[float, ...]
    stopped: Stopped
    path: tuple[Vector, ...] = ()
    held: bool = False
    """Whether ‖x‖ was held."""


PLATEAU = 0.1
"""A bound that differs from that without features by no more than this share of it is on the plateau."""


def descend_to_features(
    f: Smooth, start: Vector, max_iter: int, plateau: float, singular: Callable[[Vector], bool] = lambda x: False
) -> Descent:
    """Minimise ``f``, and if that ends on the ``plateau``, minimise f(ρu) for u = x/‖x‖ and ρ = ‖start‖.

    ``plateau`` is the value there, NaN if there is none.

    >>> import numpy as np
    >>> valley = lambda x: (1 + float(x[0] ** 2 + 4 * x[1] ** 2), np.array([2 * x[0], 8 * x[1]]))
    >>> descend_to_features(valley, np.array([3.0, 4.0]), 50, plateau=1.0).x.round(4) + 0.0
    array([5., 0.])
    """
    free = descend(f, start, max_iter, singular)
    if not abs(free.values[-1] - plateau) <= PLATEAU * abs(plateau):
        return free
    rho = float(np.linalg.norm(start))

    def held(x: Vector) -> tuple[float, Vector]:
        length = float(np.linalg.norm(x))
        u = x / length
        value, gradient = f(rho * u)
        return value, (rho / length) * (gradient - (gradient @ u) * u)

    found = descend(held, start, max_iter, singular)
    path = tuple(x * (rho / float(np.linalg.norm(x))) for x in found.path)
    return Descent(path[-1], found.values, found.stopped, path, held=True)


def descend(f: Smooth, start: Vector, max_iter: int, singular: Callable[[Vector], bool] = lambda x: False) -> Descent:
    """Minimise ``f`` from ``start``, without going to points that are ``singular``.

    >>> import numpy as np
    >>> descent = descend(lambda x: (float(x @ x), 2 * x), np.array([3.0, 4.0]), max_iter=50)
    >>> descent.x.round(6) + 0.0, descent.values[0], str(descent.stopped)
    (array([0., 0.]), 25.0, 'converged')
    """
    values, path, stopped = [f(start)[0]], [start], Stopped.CONVERGED

    def accept(intermediate_result: OptimizeResult) -> None:
        nonlocal stopped
        if singular(intermediate_result.x):
            stopped = Stopped.SINGULAR
            raise StopIteration
        values.append(float(intermediate_result.fun))
        path.append(intermediate_result.x.copy())
        if len(values) > max_iter:
            stopped = Stopped.ITERATION_LIMIT
            raise StopIteration

    # The QPs are solved to 1e-9: smaller changes of a bound than 1e-8 are errors of the solver.
    options = {"maxiter": max_iter + 1, "maxfun": 20 * (max_iter + 1), "ftol": 1e-8}
    try:
        minimize(f, start, jac=True, method="L-BFGS-B", callback=accept, options=options)
    except FunctionError:  # the caller's own kernel or criterion
        raise
    except DCProgError:  # not at the start, which was evaluated above
        stopped = Stopped.OUT_OF_RANGE
    return Descent(path[-1], tuple(values), stopped, tuple(path))

"""Scale of the kernel and ridge 1/C by the bound itself, and the smallest number of features for a given error.

"Of the techniques described only R2W2 provides an obvious mechanism" for choosing kernel and soft margin with the features
(Weston et al. 2003, section 4.6), after Chapelle, Vapnik, Bousquet & Mukherjee, Machine Learning 46 (2002), 131–159: T is
minimised over ln s and ln ridge of the machine with the kernel k(sx, sz) + ridge·δ. The smallest number of features whose
error is bounded by a given one is the second problem that Weston et al. (2001) state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from dcprog.errors import DataError, DCProgError, FunctionError
from dcprog.functions.checks import count, number
from dcprog.learning.samples import Data, check_data, check_varying, dense
from dcprog.methods.radius_margin.bound import Criterion, check_seen, counted, evaluate, radius_margin, ridged
from dcprog.methods.radius_margin.kernels import Kernel, as_kernel
from dcprog.methods.radius_margin.selection import Selection
from dcprog.typing import Matrix, Vector

FARTHEST = 1e4
"""Scale and ridge change by no more than this factor."""


@dataclass(frozen=True)
class Rescaled(Kernel):
    """k(sz, sv): of a Gaussian kernel one of width/s.

    >>> from dcprog.methods.radius_margin.kernels import Gaussian
    >>> Z = np.array([[0.0], [2.0]])
    >>> bool(np.allclose(Rescaled(Gaussian(3.0), 2.0)(Z, Z), Gaussian(1.5)(Z, Z)))
    True
    """

    kernel: Kernel
    scale: float

    def __call__(self, Z: Matrix, V: Matrix) -> Matrix:
        return self.kernel(self.scale * Z, self.scale * V)

    def pullback(self, Z: Matrix, gamma: Matrix) -> Matrix:
        out: Matrix = self.scale * self.kernel.pullback(self.scale * Z, gamma)
        return out


class Parameters(NamedTuple):
    """A kernel with its scale, a ridge, and the bound there."""

    kernel: Kernel
    ridge: float
    value: float


def bound_on(data: Data, kernel: Kernel, ridge: float, criterion: Criterion, solver: str) -> float:
    """The criterion of the machine on these points, each as often as it counts."""
    ridges, criterion = counted(data, ridge, criterion)
    Z = dense(data.X)
    K = kernel(Z, Z)
    check_seen(K, ridges)
    return evaluate(criterion, ridged(K, ridges), data.y, solver)[0]


def tune_kernel(
    X: Any,
    y: Any,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
    max_iter: int = 60,
) -> Parameters:
    """The scale of the kernel and the ridge with which the bound is least, by Nelder and Mead's simplices from three scales.

    Parameters
    ----------
    X, y : array_like
        Training points in rows, dense or sparse, and their labels of two kinds.
    kernel : Kernel or str
        As for :func:`dcprog.methods.radius_margin.r2w2`.
    ridge : float
        1/λ > 0 to start from.
    criterion : callable
        ``radius_margin``, ``span_bound``, or your own.
    solver : str
        A QP solver by name, or ``"auto"``.
    max_iter : int
        No more than so many iterations from each.

    A width of 50 is far too large for points at distances of about 1:

    >>> from dcprog.methods.radius_margin.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> found = tune_kernel(X, X[:, 0] * X[:, 1] > 0, Gaussian(width=50.0), ridge=0.1)
    >>> bool(0.3 < 50.0 / found.kernel.scale < 10)
    True
    """
    data, kernel, ridge = check_data(X, y), as_kernel(kernel), number("ridge", ridge, 0, such_as=1.0)
    count("max_iter", max_iter, such_as=60)
    check_varying("the kernel", dense(data.X))
    limit = np.log(FARTHEST)

    def bound_at(at: Vector) -> float:
        if np.abs(at).max() > limit:
            return np.inf
        try:
            return bound_on(data, Rescaled(kernel, float(np.exp(at[0]))), ridge * float(np.exp(at[1])), criterion, solver)
        except FunctionError:  # the caller's own kernel or criterion
            raise
        except DCProgError:  # a kernel matrix with which the QPs cannot be solved
            return np.inf

    corners = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, -1.5]])
    runs = []
    for away in (0.0, -3.0, 3.0):
        options = {"maxiter": max_iter, "xatol": 1e-2, "fatol": 1e-4, "initial_simplex": corners + np.array([away, 0.0])}
        runs.append(minimize(bound_at, [away, 0.0], method="Nelder-Mead", options=options))
    best = min(runs, key=lambda run: float(run.fun))
    if not np.isfinite(best.fun):
        raise DataError("the bound has no value near this scale and ridge: standardise the features, or pass another ridge")
    return Parameters(Rescaled(kernel, float(np.exp(best.x[0]))), ridge * float(np.exp(best.x[1])), float(best.fun))


def smallest_sufficient(
    selections: Sequence[Selection],
    X: Any,
    y: Any,
    kernel: Kernel | str,
    max_error: float,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
) -> Selection:
    """The selection of the fewest features whose bound T, over the number of points n, is at most ``max_error``.

    T/n bounds the expected error, by Theorem 1 for ``radius_margin`` and Theorem 2 for ``span_bound``, which is much closer.
    It takes no account of the search for features.

    Parameters
    ----------
    selections : sequence of Selection
        Such as :func:`dcprog.methods.radius_margin.r2w2_path` gives for all sizes.
    X, y, kernel
        As for :func:`dcprog.methods.radius_margin.r2w2`.
    max_error : float
        The share of errors, from 0 to 1.
    ridge, criterion, solver
        As for :func:`dcprog.methods.radius_margin.r2w2`.

    >>> from dcprog.methods.radius_margin import Linear, r2w2_path, span_bound
    >>> X = np.random.default_rng(0).normal(size=(60, 8)); y = X[:, 2] + X[:, 5] > 0
    >>> path = r2w2_path(X, y, range(1, 9), Linear(), ridge=0.01)
    >>> smallest_sufficient(path, X, y, Linear(), 0.15, ridge=0.01, criterion=span_bound).selected
    array([2, 5])
    """
    data, k = check_data(X, y), as_kernel(kernel)
    share = number("max_error", max_error, 0, such_as=0.1)
    Z, n = dense(data.X), float(data.counts.sum())
    bounds = {}
    for found in sorted(selections, key=lambda one: len(one.selected)):
        part = Data(Z[:, found.selected], data.y, data.classes, None, data.weights)
        bounds[len(found.selected)] = bound_on(part, k, ridge, criterion, solver) / n
        if bounds[len(found.selected)] <= share:
            return found
    m = min(bounds, key=lambda size: bounds[size])
    raise DataError(
        f"no number of features has a bound ≤ {share:g} on the share of errors, the least is {bounds[m]:.2g} with {m}: pass "
        "a larger max_error, or criterion='span', which is closer"
    )

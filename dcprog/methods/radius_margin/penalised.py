"""R²W² with a penalty that drives σ to {0, 1} (Weston et al. 2001, (13)):

    min  T(σ) + λ Σₖ σₖᵖ    subject to    Σσₖ = m,   0 ≤ σ ≤ 1,    0 < p ≤ 1

The paper leaves out σ ≤ 1, and says that for large λ as p → 0 only m elements stay non-zero. Without it the penalty is least
where one σₖ is m and all others are 0, as mᵖ < m. With it the feasible set is the convex hull of the 0/1 vectors with m
ones; a concave function is least at vertices, and these are what is sought. ``cap=np.inf`` gives the problem as printed.

Σσ = m also fixes the scale of the kernel beside the ridge. Where classes overlap and the ridge is small, T would have σ
shrink, and features without use take up the sum instead: standardise the features, and choose the ridge for that scale.
Where d ≫ m the start σ = m/d is small, and there a polynomial kernel is next to a linear one: take the stepwise way for it.

σᵖ has an infinite slope at 0, so (σ + ε)ᵖ stands for it, which is concave as well. The penalty is concave, but T has no DC
decomposition: this is not a DC program. It is solved by the spectral projected gradient method of Birgin, Martínez & Raydan
(SIAM J. Optim. 10, 2000), λ doubling until no more than m features are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.checks import count, is_number, number, vector
from dcprog.learning.samples import check_data, dense
from dcprog.methods.radius_margin.bound import Criterion, counted, radius_margin
from dcprog.methods.radius_margin.descent import Smooth
from dcprog.methods.radius_margin.kernels import Kernel
from dcprog.methods.radius_margin.scaling import Scaling, scaled
from dcprog.methods.radius_margin.selection import Round, Selection, candidates
from dcprog.typing import Vector

EPSILON = 1e-3
ZERO = 1e-6
"""A factor below this is zero."""
DOUBLINGS = 40
MEMORY = 10
RESOLUTION = 1e-8
"""Smaller relative changes of a bound are errors of the QP solver, which stops at 1e-9."""


def penalised(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    lam: float,
    p: float = 0.5,
    cap: float = 1.0,
    sigma: Any = None,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
    max_iter: int = 200,
) -> Scaling:
    """A stationary point of (13) for one λ, unless ``max_iter`` iterations did not lead to one.

    Parameters
    ----------
    X, y : array_like
        Training points in rows, dense or sparse, and their labels of two kinds.
    m : int
        The sum of the factors: how many features to select.
    kernel : Kernel or str
        As for :func:`~dcprog.methods.radius_margin.r2w2.r2w2`.
    lam : float
        λ ≥ 0, the weight of the penalty.
    p : float
        The power of the penalty, 0 < p ≤ 1.
    cap : float
        The largest a factor may be, ≥ 1; ``np.inf`` for (13) as printed.
    sigma : array_like, optional
        Where to start, or next to there if it is not feasible; by default m/d each.
    ridge, criterion, solver
        As for :func:`~dcprog.methods.radius_margin.r2w2.r2w2`.
    max_iter : int
        No more than so many gradient steps. If they are all taken, the lowest point on the way is returned, which need not
        be stationary.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> for lam in (0.01, 20.0):
    ...     sigma = penalised(X, X[:, 2] + X[:, 5] > 0, 2, Linear(), lam=lam).sigma
    ...     print((sigma > 0).sum(), sigma.sum().round(9))
    8 2.0
    3 2.0
    """
    data = check_data(X, y)
    candidates(data, None, m)
    if not (is_number(p) and 0 < p <= 1):
        raise DataError(f"p has to be a number with 0 < p ≤ 1, or the penalty is not concave, got {p!r}: pass e.g. p=0.5")
    if not (is_number(cap) and cap >= 1):
        raise DataError(f"cap, the bound of each factor, has to be ≥ 1, got {cap!r}: pass 1, or np.inf for the printed (13)")
    if not (is_number(lam) and 0 <= lam < np.inf):
        raise DataError(f"lam, the weight of the penalty, has to be a number ≥ 0, got {lam!r}: pass for example lam=1")
    X, max_iter = dense(data.X), count("max_iter", max_iter, such_as=200)
    start = project(np.full(data.d, m / data.d) if sigma is None else vector("sigma", sigma, data.d), m, cap)
    ridges, criterion = counted(data, ridge, criterion)
    T = scaled(X, data.y, kernel, ridges, criterion, solver, start)

    def objective(s: Vector) -> tuple[float, Vector]:
        value, gradient = T(s)
        return value + lam * float(((s + EPSILON) ** p).sum()), gradient + lam * p * (s + EPSILON) ** (p - 1)

    found, iterations = spectral_gradient(objective, start, lambda v: project(v, m, cap), max_iter)
    return Scaling(found, T(found)[0], iterations)


def r2w2_penalised(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    lam: float = 1.0,
    p: float = 0.5,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
    max_iter: int = 100,
) -> Selection:
    """Select ``m`` features by (13), λ doubling until no other factor is left; each λ starts where the last one ended.

    Parameters
    ----------
    X, y, m, kernel
        As for :func:`~dcprog.methods.radius_margin.r2w2.r2w2`.
    lam : float
        The first λ > 0.
    p : float
        The power of the penalty, 0 < p ≤ 1.
    ridge, criterion, solver
        As for :func:`~dcprog.methods.radius_margin.r2w2.r2w2`.
    max_iter : int
        No more than so many gradient steps for each λ.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> y = np.repeat([-1, 1], 20)
    >>> X = np.random.default_rng(0).normal(size=(40, 8)) + 2 * y[:, None] * np.array([0, 0, 1, 0, 0, 1, 0, 0])
    >>> r2w2_penalised(X / X.std(axis=0), y, 2, Linear()).selected
    array([2, 5])
    """
    c, lam = candidates(X, y, m), number("lam", lam, 0, such_as=1)
    sigma, history = np.full(len(c.columns), m / len(c.columns)), []
    for doubling in range(DOUBLINGS):
        found = penalised(
            c.data, None, m, kernel,
            lam=lam * 2**doubling, p=p, sigma=sigma, ridge=ridge, criterion=criterion, solver=solver, max_iter=max_iter,
        )  # fmt: skip
        sigma = found.sigma
        history.append(Round(int((sigma > ZERO).sum()), found.value))
        if history[-1].features <= m:
            break
    # Equal features have equal factors for any λ: then some m of the largest are as good as any others.
    chosen = np.sort(np.argsort(-sigma, kind="stable")[:m])
    return c.select(chosen, sigma, kernel, ridge, solver, history)


def project(v: Vector, m: float, cap: float = 1.0) -> Vector:
    """The point of {σ : Σσₖ = m, 0 ≤ σ ≤ cap} next to v: clip(v − τ, 0, cap) for the τ that makes the sum right.

    >>> project(np.array([3.0, 0.4, 0.2, -1.0]), 2).round(6)
    array([1. , 0.6, 0.4, 0. ])
    """
    low, high = float(v.min()) - min(cap, m), float(v.max())
    while True:
        tau = 0.5 * (low + high)
        if tau in (low, high):
            break
        low, high = (tau, high) if np.clip(v - tau, 0, cap).sum() > m else (low, tau)
    free, full = (v - tau > 0) & (v - tau < cap), v - tau >= cap
    if free.any():  # exact, since bisection alone leaves an error in the sum where |v| is large
        rest = m - cap * full.sum() if full.any() else m
        tau = float(v[free].sum() - rest) / int(free.sum())
    return np.clip(v - tau, 0.0, cap)


class Visited(NamedTuple):
    """A point on the way, with value and gradient there."""

    value: float
    x: Vector
    gradient: Vector


def spectral_gradient(
    f: Smooth, x: Vector, projection: Callable[[Vector], Vector], max_iter: int, tol: float = 1e-7
) -> tuple[Vector, int]:
    """A stationary point of f on a convex set, and the number of iterations; the lowest point if these are ``max_iter``.

    f may rise, while it stays below the largest of its last ``MEMORY`` values. So the search may end in a stationary point
    above one that it has passed. Then it goes on from the lowest, downhill only.

    >>> two_wells = lambda x: (float(((x**2 - 1) ** 2).sum()), 4 * x * (x**2 - 1))
    >>> spectral_gradient(two_wells, np.array([3.0]), lambda v: np.clip(v, 0.0, 4.0), 50)[0].round(6)
    array([1.])
    """
    here = lowest = _visit(f, projection(x))
    recent, memory, step = [here.value], MEMORY, _first_step(here)
    for k in range(max_iter):
        stationary = np.abs(projection(here.x - here.gradient) - here.x).max() <= tol
        there = None if stationary else _downhill(f, here, projection(here.x - step * here.gradient) - here.x, max(recent))
        if there is not None:
            moved, bent = there.x - here.x, float((there.x - here.x) @ (there.gradient - here.gradient))
            step = min(max(float(moved @ moved) / bent, 1e-10), 1e10) if bent > 0 else 1e10
            here, recent = there, [*recent, there.value][-memory:]
            lowest = min(lowest, here, key=lambda visited: visited.value)
        elif here.value > lowest.value + RESOLUTION * abs(lowest.value):
            here, recent, memory, step = lowest, [lowest.value], 1, _first_step(lowest)
        else:
            return here.x, k
    return lowest.x, max_iter


def _visit(f: Smooth, x: Vector) -> Visited:
    value, gradient = f(x)
    return Visited(value, x, gradient)


def _first_step(start: Visited) -> float:
    return 1 / max(float(np.abs(start.gradient).max()), 1e-10)


def _downhill(f: Smooth, here: Visited, direction: Vector, ceiling: float) -> Visited | None:
    """The point after the longest of the steps 1, ½, ¼, … that ends clearly below the ``ceiling``; None if there is none."""
    slope, t = float(here.gradient @ direction), 1.0
    while t >= 1e-10:
        there = _visit(f, here.x + t * direction)
        if there.value <= ceiling + 1e-4 * t * slope:
            return there
        t *= 0.5
    return None

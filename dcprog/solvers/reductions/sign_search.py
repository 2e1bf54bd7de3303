"""Quadratic functions of few variables plus a kink or a bound in each: the exact minimiser, by active sets of signs.

    min  q'x + ½x'Hx + Σⱼ κⱼ(xⱼ),    κⱼ(x) = leftⱼ·x for x ≤ 0, rightⱼ·x for x ≥ 0, ∞ outside of [lowerⱼ, upperⱼ]

A variable rests at a node, which is 0 or a bound, or it is free. Free variables, and those at nodes that the gradient pulls
away, go along d = −H⁻¹·pull to the best point of the piecewise quadratic function on the ray; what stops it there rests.
Lee, Battle, Raina & Ng (2006), feature-sign search, with several variables at a time, exact steps and bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from dcprog.typing import Indices, Mask, Matrix, Vector

RIDGE = 1e-12
"""Share of its diagonal added to H in a factor: dependent columns have one, and steps become long along what they span."""
PATIENCE, MOST_STEPS = 25, 2000
"""After so many steps gradients help; after so many the search is given up."""
ROUNDING = 8 * np.finfo(float).eps
"""The error of a gradient, as a share of its terms."""
SLOPE = 1e-9
"""A slope along a ray below this share of its terms is rounding."""


class Endless(Exception):
    """The function falls for ever along a ray."""


class NotEnded(Exception):
    """The signs did not settle, or the time was over."""


class Kinks(NamedTuple):
    """The κⱼ."""

    left: Vector
    right: Vector
    lower: Vector
    upper: Vector

    def of(self, columns: Indices) -> Kinks:
        """Those of some variables."""
        return Kinks(self.left[columns], self.right[columns], self.lower[columns], self.upper[columns])

    def slopes(self, x: Vector) -> tuple[Vector, Vector]:
        """∂κⱼ(xⱼ) as intervals: their ends."""
        down = np.where(x > 0, self.right, self.left)
        up = np.where(x < 0, self.left, self.right)
        down[x <= self.lower], up[x >= self.upper] = -np.inf, np.inf
        return down, up

    def pull(self, x: Vector, gradient: Vector) -> Vector:
        """The element of least size of gradient + ∂κ(x): 0 at a minimiser.

        >>> one = np.ones(3)
        >>> Kinks(-one, one, -np.inf * one, np.inf * one).pull(np.array([0.0, 0.0, 2.0]), np.array([0.5, -3.0, -1.0]))
        array([ 0., -2.,  0.])
        """
        down, up = self.slopes(x)
        pull: Vector = np.maximum(gradient + down, 0.0) + np.minimum(gradient + up, 0.0)
        return pull

    def value(self, x: Vector) -> float:
        """Σ κⱼ(xⱼ) for an x within the bounds."""
        return float(np.where(x > 0, self.right, self.left) @ x)

    def resting(self, x: Vector) -> Mask:
        """Which variables are at a node."""
        at_node: Mask = ((x == 0) & (self.left < self.right)) | (x <= self.lower) | (x >= self.upper)
        return at_node


class Factor:
    """Cholesky factors of blocks of a matrix that grows: of one block to the next, what they begin with in common is kept.

    >>> factor = Factor(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> factor.solve(np.array([0, 1]), np.array([3.0, 3.0])).round(9)
    array([1., 1.])
    """

    def __init__(self, H: Matrix) -> None:
        self.H, self.ridge = H, RIDGE
        self._order: Indices = np.empty(0, dtype=np.int64)
        self._L = np.empty((0, 0), order="F")

    def solve(self, columns: Indices, right: Vector) -> Vector:
        """The solution y of H[columns, columns] y = right."""
        self._factorise(columns)
        position = np.empty(len(self.H), dtype=np.int64)
        position[columns] = np.arange(len(columns))
        place = position[self._order]
        y = np.empty(len(columns))
        y[place] = dpotrs(self._L, right[place], lower=1)[0]
        return y

    def _factorise(self, columns: Indices) -> None:
        wanted = np.zeros(len(self.H), dtype=bool)
        wanted[columns] = True
        stays = wanted[self._order]
        kept = len(stays) if stays.all() else int(np.argmin(stays))
        order = np.concatenate([self._order[:kept], self._order[kept:][stays[kept:]]])
        wanted[order] = False
        order = np.concatenate([order, np.flatnonzero(wanted)])
        while not self._extended(order, kept):
            self.ridge, kept = 100 * self.ridge, 0
            if self.ridge > 1e-2:
                raise NotEnded("its Gram matrix cannot be factorised")

    def _extended(self, order: Indices, kept: int) -> bool:
        """Whether the factor of the first ``kept`` columns could be completed."""
        first, rest = order[:kept], order[kept:]
        if len(rest) == 0:
            self._order, self._L = order, np.asfortranarray(self._L[:kept, :kept])
            return True
        S = self.H[np.ix_(rest, rest)]
        S.flat[:: len(rest) + 1] *= 1.0 + self.ridge
        L = np.zeros((len(order), len(order)), order="F")
        if kept:
            L[:kept, :kept] = self._L[:kept, :kept]
            B, _ = dtrtrs(L[:kept, :kept], self.H[np.ix_(first, rest)], lower=1)
            S -= B.T @ B
            L[kept:, :kept] = B.T
        L[kept:, kept:], failed = dpotrf(S, lower=1, clean=1)
        if failed:
            return False
        self._order, self._L = order, L
        return True


def sign_search(
    factor: Factor, q: Vector, x: Vector, kinks: Kinks, tol: Vector, clock: Callable[[], None] = lambda: None
) -> tuple[Vector, int]:
    """The minimiser, up to pulls of size ``tol`` and rounding, from ``x`` on, and the number of steps; ``clock`` may raise
    NotEnded.

    ½(x₁ − 3)² + ½(x₂ − ½)² + |x₁| + |x₂|:

    >>> one = np.ones(2)
    >>> kinks = Kinks(-one, one, -np.inf * one, np.inf * one)
    >>> sign_search(Factor(np.eye(2)), np.array([-3.0, -0.5]), np.zeros(2), kinks, 1e-9 * one)[0].round(6)
    array([2., 0.])
    """
    H, x = factor.H, x.copy()
    roots = np.sqrt(np.maximum(H.diagonal(), 0.0))
    for steps in range(1, MOST_STEPS):
        clock()
        if steps % PATIENCE == 0:  # many variables of about the same worth: gradients sort them faster
            x = _accelerated(H, q, x, kinks, 8 * steps)
        used = np.flatnonzero(x)
        gradient = q + H[:, used] @ x[used]
        pull = kinks.pull(x, gradient)
        noise = ROUNDING * (np.abs(q) + roots * float(roots @ np.abs(x)))  # |Hᵢⱼ| ≤ √HᵢᵢHⱼⱼ: no less than that of |H||x|
        if (np.abs(pull) <= tol + noise).all():
            return x, steps - 1
        F, d = _direction(factor, x, pull, kinks, tol)
        there = _step(H[np.ix_(F, F)], factor.ridge, gradient[F], pull[F], x[F], d, kinks.of(F))
        if np.array_equal(there, x[F]):  # what pulls is rounding
            return x, steps
        x[F] = there
    raise NotEnded("its signs did not settle")


def _direction(factor: Factor, x: Vector, pull: Vector, kinks: Kinks, tol: Vector) -> tuple[Indices, Vector]:
    """The variables that move, and where to: those at nodes only where they are pulled to."""
    resting = kinks.resting(x)
    free, pulled = np.flatnonzero(~resting), np.flatnonzero(resting & (np.abs(pull) > tol))
    F = np.concatenate([free, pulled])
    while len(F) > len(free):
        d = factor.solve(F, -pull[F])
        right = d * pull[F] < 0
        right[: len(free)] = True
        if right.all():
            return F, d
        F = F[right]
    if (np.abs(pull[free]) > tol[free]).any():
        return free, factor.solve(free, -pull[free])
    best = pulled[np.argmax(pull[pulled] ** 2 / factor.H.diagonal()[pulled])]
    F = np.append(free, best)
    return F, factor.solve(F, -pull[F] * (best == F))


def _step(H: Matrix, ridge: float, gradient: Vector, pull: Vector, x: Vector, d: Vector, kinks: Kinks) -> Vector:
    """The best point on the ray x + t·d, or x + d with what changes its sign on the way there at its node, if that is
    better: it lets several variables rest at a time."""
    bend = H @ d
    least = ridge * float(H.diagonal() @ d**2)
    exact, met = _best_on_ray(x, d, kinks, pull, float(d @ bend), least)
    if met < 2:
        return exact
    ahead = x + d
    crossed = (ahead * np.where(x == 0, d, x) < 0) & (kinks.left < kinks.right)
    folded = np.clip(np.where(crossed, 0.0, ahead), kinks.lower, kinks.upper)
    gains = []
    for there in (exact, folded):
        change = there - x
        gains.append(float(gradient @ change + 0.5 * change @ (H @ change)) + kinks.value(there))
    return folded if gains[1] < gains[0] else exact


def _accelerated(H: Matrix, q: Vector, x: Vector, kinks: Kinks, count: int) -> Vector:
    """``count`` accelerated proximal gradient steps with restarts, in units in which H has a unit diagonal; x where they
    bring nothing. Beck & Teboulle (2009), O'Donoghue & Candès (2015)."""
    diagonal = H.diagonal()
    largest = np.ones(len(x))
    for _ in range(20):
        largest = H @ (largest / np.sqrt(diagonal)) / np.sqrt(diagonal)
        norm = float(np.linalg.norm(largest))
        largest /= norm
    M = 1.1 * norm * diagonal
    at, ahead, t = x, x, 1.0
    for _ in range(count):
        v = ahead - (q + H @ ahead) / M
        there = np.clip(np.maximum(v - kinks.right / M, 0.0) + np.minimum(v - kinks.left / M, 0.0), kinks.lower, kinks.upper)
        if (ahead - there) @ (M * (there - at)) > 0:
            t = 1.0
        longer = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * t * t))
        at, ahead, t = there, there + (t - 1.0) / longer * (there - at), longer
    change = at - x
    gain = float((q + H @ x) @ change + 0.5 * change @ (H @ change)) + kinks.value(at) - kinks.value(x)
    return at if gain < 0 else x


def _best_on_ray(x: Vector, d: Vector, kinks: Kinks, pull: Vector, curvature: float, least: float) -> tuple[Vector, int]:
    """The best point x + t·d, t ≥ 0, and how many nodes were met before it, where the slope jumps. A curvature below
    ``least`` is rounding, and the ray endless if nothing else stops it."""
    slope, flat = float(pull @ d), curvature < least
    curvature = max(curvature, least)
    bound = np.where(d > 0, kinks.upper, kinks.lower)
    with np.errstate(divide="ignore", invalid="ignore"):
        to_zero = np.where(x * d < 0, -x / d, np.inf)
        to_bound = np.where(d != 0, (bound - x) / d, np.inf)
    times = np.concatenate([to_zero, to_bound])
    met = np.flatnonzero(times < (np.inf if flat else -slope / curvature))
    met = met[np.argsort(times[met], kind="stable")]
    jumps = np.concatenate([(kinks.right - kinks.left) * np.abs(d), np.full(len(x), np.inf)])[met]
    after = slope + curvature * times[met] + np.cumsum(jumps)
    i = int(np.searchsorted(after >= 0, True))
    passed = slope + float(jumps[:i].sum())
    if flat and i == len(met) and passed < -SLOPE * float(np.abs(pull) @ np.abs(d)):
        raise Endless
    if i == len(met) or passed + curvature * times[met[i]] >= 0:
        return x - passed / curvature * d, i
    t = times[met[i]]
    there = np.clip(x + t * d, kinks.lower, kinks.upper)
    there[to_zero == t] = 0.0
    at_bound = to_bound == t
    there[at_bound] = bound[at_bound]
    return there, i + 1

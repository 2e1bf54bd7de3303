"""A smooth convex function of many variables plus a kink in each, minimised over a few variables at a time.

    min  φ(x) + Σⱼ κⱼ(xⱼ),   κ as in :mod:`dcprog.solvers.reductions.sign_search`

One gradient of φ prices all variables; those that are pulled join the working set, and over that one φ is minimised exactly:
by signs where it is quadratic, by Newton steps with such models elsewhere. The working set, its Gram matrix and its
factor stay from one set of kinks to the next. Massias, Gramfort & Salmon (2018) for working sets; Lee, Sun & Saunders (2014)
for proximal Newton steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dcprog.solvers.reductions.l1_smooth import AffineLoss, QuadraticForm
from dcprog.solvers.reductions.sign_search import Endless, Factor, Kinks, NotEnded, sign_search
from dcprog.typing import Indices, Matrix, Vector

TOLERANCE = 1e-10
"""Pulls below this share of the slopes of the kink are none."""
BATCH = 50
"""At least so many variables may join the working set at a time, or twice as many as are free."""
MOST = 1000
"""A working set that is larger than this, and four times the free variables, is pruned."""
PRICINGS = 200
NEWTON_STEPS = 100
DAMPING, LEAST_DAMPING, MOST_DAMPING = 1e-4, 1e-10, 1e6
FLAT = 0.25
"""A Newton step is as long as its model says where the slope at its end is at most this share of that at its beginning."""
Clock = Callable[[], None]


class WorkingSet:
    """Minimises φ plus kinks, again and again with other kinks. ``steps`` counts the systems that were solved."""

    def __init__(self, smooth: AffineLoss | QuadraticForm) -> None:
        self.smooth, self.steps = smooth, 0
        self.W: Indices = np.empty(0, dtype=np.int64)
        self._factor = Factor(np.empty((0, 0)))

    def bend(self, to: QuadraticForm | Vector) -> None:
        """Go on with another form ½x'Qx, or with other d of a loss."""
        if isinstance(to, QuadraticForm):
            self.smooth = to
        else:
            assert isinstance(self.smooth, AffineLoss)
            self.smooth = self.smooth.with_diagonal(to)
        W = self.W if self.smooth.is_quadratic else self.W[:0]
        self._factor = Factor(self.smooth.gram(W, W))

    def minimise(self, kinks: Kinks, x: Vector, clock: Clock = lambda: None) -> Vector:
        """The minimiser, from ``x`` on; raises Endless, or what ``clock`` raises."""
        x = np.clip(x, kinks.lower, kinks.upper)
        slopes = TOLERANCE * (np.abs(kinks.left) + np.abs(kinks.right))
        for _ in range(PRICINGS):
            clock()
            gradient = self.smooth.gradient(x)
            pull = kinks.pull(x, gradient)
            tol = slopes + self.smooth.noise(x) if (np.abs(pull) > slopes).any() else slopes
            wrong = np.flatnonzero(np.abs(pull) > tol)
            if not len(wrong):
                return x
            there = self._flat_ones(kinks, x, wrong)
            self._grow(kinks, x, wrong, pull)
            there[self.W] = self._minimised(kinks, x, gradient, tol, clock)
            if np.array_equal(there, x):
                return x
            x = there
        raise NotEnded("its working set did not settle")

    def _flat_ones(self, kinks: Kinks, x: Vector, wrong: Indices) -> Vector:
        """x with those variables where they are best that have a kink and nothing else."""
        there: Vector = x.copy()
        flat = wrong[self.smooth.curvature[wrong] == 0]
        if len(flat):
            k = kinks.of(flat)
            best = np.where(k.right < 0, k.upper, np.where(k.left > 0, k.lower, np.clip(0.0, k.lower, k.upper)))
            if not np.isfinite(best).all():
                raise Endless
            there[flat] = best
        return there

    def _grow(self, kinks: Kinks, x: Vector, wrong: Indices, pull: Vector) -> None:
        """The free variables and the most wrong ones join."""
        curvature = self.smooth.curvature
        free = np.flatnonzero(~kinks.resting(x) & (curvature > 0))
        if len(self.W) > max(MOST, 4 * len(free)):
            self.W, self._factor = np.empty(0, dtype=np.int64), Factor(np.empty((0, 0)))
        inside = np.zeros(self.smooth.n, dtype=bool)
        inside[self.W] = True
        fresh = wrong[~inside[wrong] & (curvature[wrong] > 0)]
        count = max(BATCH, 2 * len(free))
        if len(fresh) > count:
            gain = pull[fresh] ** 2 / curvature[fresh]
            fresh = fresh[np.argpartition(-gain, count)[:count]]
        inside[fresh] = inside[free] = True
        inside[self.W] = False
        new = np.flatnonzero(inside)
        if len(new):
            if self.smooth.is_quadratic:
                self._factor.H = _bordered(self._factor.H, self.smooth.gram(self.W, new), self.smooth.gram(new, new))
            self.W = np.concatenate([self.W, new])

    def _minimised(self, kinks: Kinks, x: Vector, gradient: Vector, tol: Vector, clock: Clock) -> Vector:
        """The best values of the variables in the working set, the others at x."""
        W = self.W
        if isinstance(self.smooth, AffineLoss) and not self.smooth.is_quadratic:
            newton = Newton(self.smooth, W, x, kinks.of(W), tol[W], clock)
            v, steps = newton.minimise()
        else:
            q = gradient[W] - self._factor.H @ x[W]
            v, steps = sign_search(self._factor, q, x[W], kinks.of(W), tol[W], clock)
        self.steps += steps
        return v


class Newton:
    """Proximal Newton steps for a loss over the variables W, the others at x."""

    def __init__(self, loss: AffineLoss, W: Indices, x: Vector, kinks: Kinks, tol: Vector, clock: Clock) -> None:
        self.loss, self.kinks, self.tol, self.clock = loss, kinks, tol, clock
        self.A, self.d = loss.columns(W), loss.d[W]
        self.v, self.z = x[W], loss.function.inner(x)
        self.damping = DAMPING

    def minimise(self) -> tuple[Vector, int]:
        """The best v, and how many models were minimised."""
        for step in range(NEWTON_STEPS):
            self.clock()
            gradient = self.A.T @ self.loss.slopes(self.z) + self.d * self.v
            pull = self.kinks.pull(self.v, gradient)
            if (np.abs(pull) <= self.tol).all():
                return self.v, step
            active = np.flatnonzero(~self.kinks.resting(self.v) | (np.abs(pull) > self.tol))
            target = self._model_minimiser(active, gradient[active])
            if np.array_equal(target, self.v[active]) or not self._move(active, target, gradient[active]):
                return self.v, step
        raise NotEnded("its Newton steps did not settle")

    def _model_minimiser(self, active: Indices, gradient: Vector) -> Vector:
        """Where the damped quadratic model at v is least."""
        A, bends, kinks = self.A[:, active], self.loss.bends(self.z), self.kinks.of(active)
        while True:
            H = _weighted_gram(A, bends + self.damping * self._typical_bend(bends))
            H.flat[:: len(active) + 1] += self.d[active]
            q = gradient - H @ self.v[active]
            try:
                return sign_search(Factor(H), q, self.v[active], kinks, self.tol[active], self.clock)[0]
            except Endless:
                if self.damping > MOST_DAMPING:
                    raise
                self.damping *= 100

    def _typical_bend(self, bends: Vector) -> float:
        """The largest second derivative, or what brings slopes to an end within the size of z where there is none."""
        largest = float(bends.max())
        if largest > 0:
            return largest
        return float(np.abs(self.loss.slopes(self.z)).max()) / (float(np.abs(self.z).max()) or 1.0)

    def _move(self, active: Indices, target: Vector, gradient: Vector) -> bool:
        """Go to ``target``, less far where the loss bends more than its model; False where nothing falls any more."""
        v, kinks, d = self.v[active], self.kinks.of(active), self.d[active]
        change = target - v
        along = self.A[:, active] @ change
        beginning = float(gradient @ change) + _slope(kinks, v, change, ahead=True)
        before = self._value(self.z, v, kinks, d)
        t = 1.0
        for _ in range(60):
            z, there = self.z + t * along, target if t == 1.0 else np.clip(v + t * change, kinks.lower, kinks.upper)
            end = float(along @ self.loss.slopes(z) + (d * there) @ change) + _slope(kinks, there, change, ahead=False)
            after = self._value(z, there, kinks, d)
            if end <= FLAT * abs(beginning) and after <= before + 1e-14 * (abs(before) + abs(after)):
                break
            t *= float(np.clip(beginning / (beginning - end), 0.1, 0.9)) if end > beginning else 0.5
        else:
            return False
        self.damping = np.clip(self.damping * (0.1 if t == 1.0 else 10.0 if t < 0.5 else 1.0), LEAST_DAMPING, MOST_DAMPING)
        self.v = self.v.copy()
        self.v[active], self.z = there, z
        return True

    def _value(self, z: Vector, v: Vector, kinks: Kinks, d: Vector) -> float:
        return self.loss.loss(z) + 0.5 * float(d @ v**2) + kinks.value(v)


def _slope(kinks: Kinks, x: Vector, d: Vector, *, ahead: bool) -> float:
    """The slope of Σκ along d at x, just after it or just before."""
    side = d if ahead else -d
    positive = (x > 0) | ((x == 0) & (side > 0))
    return float(np.where(positive, kinks.right, kinks.left) @ d)


def _weighted_gram(A: Matrix, weights: Vector) -> Matrix:
    if isinstance(A, np.ndarray):
        dense: Matrix = A.T @ (weights[:, None] * A)
        return dense
    sparse: Matrix = (A.T @ A.multiply(weights[:, None])).toarray()
    return sparse


def _bordered(H: Matrix, side: Matrix, corner: Matrix) -> Matrix:
    return np.block([[H, side], [side.T, corner]])

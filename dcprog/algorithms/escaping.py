"""DCA that leaves critical points: a search along the coordinates, and subproblems linearised at points far away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.criticality import ROUNDING
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.result import State, Status
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import Solution
from dcprog.typing import Matrix, Vector

SHARES = np.array([1.0, 0.5, 0.25, 0.75, 0.1, 0.02])
"""Of the way to the end of C along a coordinate: where f is looked at."""
TIMES = np.array([0.5, 1.0, 2.0, 5.0, 20.0, 1e3])
"""And so many sizes of the variable away, as far as C goes."""
LAST_SECONDS = 0.05
"""What is left of a time limit when the search ends: the point is critical, and is returned as such."""
ACROSS = 10.0
"""And this many for the points at which h is linearised."""


class Escaping(Algorithm):
    """DCA to a critical point x, then two searches for a lower one, and on from there until both find none:

    1. f at points x + t·eⱼ of C, for every coordinate j and t up to the end of C in both directions;
    2. yᶻ ∈ argmin {g(y) − ⟨∇h(z), y⟩ : y ∈ C}, for the points z that are x with one coordinate at the other end of its
       bounds, in C or not: is f(yᶻ) < f(x)? f(yᶻ) ≤ g(yᶻ) − h(z) − ⟨∇h(z), yᶻ − z⟩ by convexity, so that a z outside of C
       serves as well.

    The second is a step of Strekalovsky's global search, which linearises h all over a level surface: On solving
    optimization problems with hidden nonconvex structures, in: Optimization in Science and Engineering (2014).

    Assumptions: those of DCA.

    Guarantee: f falls from one critical point to the next by more than the certificate's tolerance, so that there are
    finitely many. The last one is critical, and no point on the lines through it along the coordinates that was looked at
    is lower. That it is a global minimum is not proved.

    Parameters
    ----------
    most : int
        Subproblems of the second search at each critical point.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram, solve
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    >>> program = DCProgram(m, g=0, h=m.x**2)
    >>> [solve(program, algorithm=algorithm).objective for algorithm in ("dca", "escaping")]
    [-4.0, -9.0]
    """

    name = "escaping"
    plain = True

    def __init__(self, program: DCProgram | None = None, *, most: int = 200, **settings: Any) -> None:
        if not (isinstance(most, int) and most >= 0):
            raise DataError(f"most is {most!r}: pass an integer ≥ 0")
        self.most = most
        super().__init__(program, **settings)

    def advance(self, state: State) -> State:
        return self.linearised(state)

    def improved(self, state: State) -> State | None:
        """A lower point beside the critical one, or one that a subproblem linearised elsewhere leads to."""
        assert self.certificate is not None
        allowed = self.tol * self.certificate.scale + ROUNDING * state.size
        x = self._along_coordinates(state.x)
        if x is not None and self.f(x) < state.level - allowed:
            return self.moved(state, x)
        began = time.perf_counter()
        for z in self._elsewhere(state.x):
            if (self.seconds_left() or np.inf) <= LAST_SECONDS:
                break
            solution = self._linearised_at(z, state.x)
            if solution is not None and self.f(solution.x) < state.level - allowed:
                return self.next_state(state, solution, began=began)
        return None

    def _along_coordinates(self, x: Vector) -> Vector | None:
        """The lowest of the points of C on the lines through x; None if there is no other."""
        points = np.array(list(self._points(x))).reshape(-1, len(x))
        if not len(points):
            return None
        with np.errstate(all="ignore"):
            values = np.array([self.f(p) for p in points])
        best = int(np.argmin(np.where(np.isfinite(values), values, np.inf)))
        found: Vector = points[best]
        return found

    def _points(self, x: Vector) -> Iterator[Vector]:
        c = self.program.compiled
        sizes = np.where(self.sizes(x) > 0, self.sizes(x), 1.0)
        for sign, ends in zip((-1.0, 1.0), self._ends(x), strict=True):
            for j in np.flatnonzero(ends > 0).tolist():
                end = min(ends[j], TIMES[-1] * sizes[j])
                if c.feasible_set.constraints:
                    direction = np.zeros(c.n)
                    direction[j] = sign
                    end = self.reach(x, direction, end)
                for t in np.concatenate([SHARES * end, TIMES[TIMES * sizes[j] < end] * sizes[j]]):
                    point = x.copy()
                    point[j] = np.clip(x[j] + sign * t, c.lower[j], c.upper[j])
                    yield point

    def _ends(self, x: Vector) -> Matrix:
        """How far each coordinate may fall and rise by the bounds and linear rows."""
        c = self.program.compiled
        down, up = x - c.lower, c.upper - x
        C = c.feasible_set
        if C.m:
            A = sp.csc_array(C.A)[:, : c.n].tocoo()
            activity = C.A @ c.lift(x)[: C.n]
            above, below = np.maximum(C.row_upper - activity, 0.0), np.maximum(activity - C.row_lower, 0.0)
            with np.errstate(all="ignore"):
                rise = np.where(A.data > 0, above[A.row], below[A.row]) / np.abs(A.data)
                fall = np.where(A.data > 0, below[A.row], above[A.row]) / np.abs(A.data)
            np.minimum.at(up, A.col, rise)
            np.minimum.at(down, A.col, fall)
        return np.array([down, up])

    def _elsewhere(self, x: Vector) -> Iterator[Vector]:
        """x with one coordinate at the farther end of its bounds, those first that have the longest way."""
        c = self.program.compiled
        around = ACROSS * np.where(self.sizes(x) > 0, self.sizes(x), 1.0)
        low, high = np.maximum(c.lower, x - around), np.minimum(c.upper, x + around)
        ends = np.where(high - x > x - low, high, low)
        matters = np.flatnonzero(np.bincount(np.concatenate([t.support for t in c.h.terms]), minlength=c.n) > 0)
        for j in matters[np.argsort(-np.abs(ends - x)[matters], kind="stable")][: self.most].tolist():
            z = x.copy()
            z[j] = ends[j]
            yield z

    def _linearised_at(self, z: Vector, x: Vector) -> Solution | None:
        u = self.program.compiled.h.gradient(z)
        if not np.isfinite(u).all():
            return None
        try:
            return self.minimise(u, x)
        except AlgorithmStopped as stopped:
            if stopped.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                raise
            return None

"""Rows that state kinks: what is where in them, and the multipliers that a point gives them.

    tₖ ≥ rise·x[j(k)],   tₖ ≥ −fall·x[j(k)],   tₖ in no other row and without bounds

With a cost γₖ ≥ 0 the best tₖ is on its rays, and γₖtₖ a function of x[j(k)] alone, with the slopes −γₖfallₖ and γₖriseₖ on
both sides of 0. ‖x‖₁ with weights compiles to such rows.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.typing import Indices, Vector


class Envelopes(NamedTuple):
    """The tₖ, one above two rays of one variable each."""

    t: Indices
    x: Indices
    """Of each its variable, as a component of z."""
    above: Indices
    """The row tₖ ≥ rise·x."""
    below: Indices
    rise: Vector
    fall: Vector
    scale_above: Vector
    """The coefficient of tₖ in its row."""
    scale_below: Vector

    def slopes(self, c: Vector) -> tuple[Vector, Vector]:
        """The slopes that the kinks have in each component of z, with linear costs ``c``, left and right of 0."""
        gamma, n = c[self.t], len(c)
        left: Vector = -np.bincount(self.x, gamma * self.fall, n).astype(float)
        right: Vector = np.bincount(self.x, gamma * self.rise, n).astype(float)
        return left, right

    def values(self, z: Vector) -> Vector:
        """The least tₖ."""
        at = z[self.x]
        return np.maximum(self.rise * at, -self.fall * at)

    def duals(self, gradient: Vector, z: Vector) -> Vector:
        """Multipliers of all rows with which each tₖ is stationary, and each x as far as its kinks can make it so: where x
        is 0 their slope is what balances its part of ``gradient``, all tₖ at the same share of theirs.

        |x| with the cost 2 beside x and −5x, at 0:

        >>> ends = np.full(2, np.inf)
        >>> problem = ConvexProblem(c=np.zeros(2), A=sp.csc_array([[1.0, -1.0], [-1.0, -1.0]]), row_lower=-ends,
        ...                         row_upper=np.zeros(2), lower=-ends, upper=ends)
        >>> kinks = envelopes(problem)
        >>> kinks.duals(np.array([1.0, 2.0]), np.zeros(2)), kinks.duals(np.array([-5.0, 2.0]), np.zeros(2))
        (array([-0.5, -1.5]), array([-2., -0.]))
        """
        gamma, at = gradient[self.t], z[self.x]
        left, right = self.slopes(gradient)
        width = right - left
        share = np.clip((-gradient - left) / np.where(width > 0, width, 1.0), 0.0, 1.0)[self.x]
        upper = np.where(at > 0, 1.0, np.where(at < 0, 0.0, share))
        y = np.zeros(len(self.above) + len(self.below))
        y[self.above], y[self.below] = gamma * upper / self.scale_above, gamma * (1.0 - upper) / self.scale_below
        return y


_KNOWN: WeakKeyDictionary[ConvexProblem, tuple[Envelopes | None]] = WeakKeyDictionary()


def envelopes(problem: ConvexProblem) -> Envelopes | None:
    """The kinks, if the rows of ``problem`` state kinks and nothing else; asked again, it knows."""
    found = _KNOWN.get(problem)
    if found is None:
        found = _KNOWN[problem] = (_envelopes(problem),)
    return found[0]


def _envelopes(problem: ConvexProblem) -> Envelopes | None:
    """The tₖ if all rows belong to one, two to each."""
    if problem.m == 0:
        none, empty = np.empty(0, dtype=np.int64), np.empty(0)
        return Envelopes(none, none, none, none, empty, empty, empty, empty)
    if problem.m % 2 or problem.A.nnz != 2 * problem.m:
        return None
    A = sp.csr_array(problem.A)
    if (np.diff(A.indptr) != 2).any():
        return None
    low, high = problem.row_lower, problem.row_upper
    sign = np.where(low == 0, 1.0, -1.0)
    if not (((low == 0) & (high == np.inf)) | ((low == -np.inf) & (high == 0))).all():
        return None
    columns, data = A.indices.reshape(-1, 2), A.data.reshape(-1, 2) * sign[:, None]
    later = np.argmax(columns, axis=1)  # an epigraph variable comes after all others
    row = np.arange(problem.m)
    t, x, a, b = columns[row, later], columns[row, 1 - later], data[row, 1 - later], data[row, later]
    rows_of = np.bincount(t, minlength=problem.n)
    is_t = rows_of > 0
    if not (rows_of[t] == 2).all() or is_t[x].any() or not ((a != 0) & (b > 0)).all():
        return None
    t_free = (problem.lower[is_t] == -np.inf).all() and (problem.upper[is_t] == np.inf).all()
    up, down = np.flatnonzero(a < 0), np.flatnonzero(a > 0)
    up, down = up[np.argsort(t[up], kind="stable")], down[np.argsort(t[down], kind="stable")]
    if not t_free or not (np.array_equal(t[up], t[down]) and np.array_equal(x[up], x[down])):
        return None
    return Envelopes(
        t=t[up].astype(np.int64),
        x=x[up].astype(np.int64),
        above=up,
        below=down,
        rise=-a[up] / b[up],
        fall=a[down] / b[down],
        scale_above=(sign * b)[up],
        scale_below=(sign * b)[down],
    )

"""Second derivatives of a sum of terms at many points at once, with the sizes that their rounding is relative to."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
import scipy.sparse as sp

from dcprog.convex.tape import TapeBatch
from dcprog.convex.terms import FunctionTerm, SmoothSum, SmoothTerm
from dcprog.errors import FunctionError
from dcprog.functions.definiteness import DENSE_LIMIT, Blocks
from dcprog.typing import Matrix, Vector

TOLERANCE = 1e-9
"""A second derivative or an excess over a chord counts beyond this part of the sizes that it is the sum of."""
ROUNDING = 1e-14
"""Of a function whose terms nobody knows, relative to its usual value."""
DIFFERENCES_LIMIT = 64
"""Up to so many variables a Hessian is taken by differences of the gradient where a function gives none."""


class SecondDerivatives:
    """A sum of terms in n variables, its second derivatives at many points at once."""

    def __init__(self, terms: Sequence[SmoothTerm], n: int, names: Sequence[str] = ()) -> None:
        self.terms, self.n = [_untouched(t) for t in terms], n
        self.names = names or [f"x[{i}]" for i in range(n)]
        self.sum = SmoothSum(self.terms, n)
        self.foreign = any(_is_foreign(t) for t in self.terms)
        curved = [t for t in self.terms if not (isinstance(t, TapeBatch) and t.is_polyhedral)]
        self.curved: list[SmoothTerm | _Differences] = [_with_hessian(t) for t in curved]
        self.complete = all(_gives_hessian(t) for t in self.curved)
        if not self.complete:
            self.curved = []
        rows = np.concatenate([t.rows for t in self.curved] or [np.empty(0, dtype=np.int64)])
        cols = np.concatenate([t.cols for t in self.curved] or [np.empty(0, dtype=np.int64)])
        keys, where = np.unique(rows * n + cols, return_inverse=True)
        self._collect = sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), where)), shape=(len(rows), len(keys)))
        support = np.unique(np.concatenate([keys // n, keys % n]))
        self.support = support
        self.blocks = Blocks(np.searchsorted(support, keys // n), np.searchsorted(support, keys % n), len(support))

    @property
    def entries(self) -> int:
        """How many numbers the second derivatives at one point take."""
        batches = [t for t in self.curved if isinstance(t, TapeBatch)]
        tapes = sum(len(t.operations) * len(t.variables) ** 2 * len(t.weights) for t in batches)
        return 1 + tapes + len(self.blocks.row) + len(self.support) * min(self.blocks.largest, DENSE_LIMIT)

    def at(self, points: Matrix) -> tuple[Matrix, Matrix]:
        """Entries of the Hessians at the points, (points, entries), and the sizes that their rounding is relative to."""
        pairs = [_hessians(t, points, self.n) for t in self.curved]
        values, sizes = (np.hstack([pair[k] for pair in pairs]) for k in (0, 1))
        with np.errstate(all="ignore"):
            return (self._collect.T @ values.T).T, (self._collect.T @ sizes.T).T

    def hessian(self, x: Vector) -> Matrix:
        """The whole Hessian at x, dense."""
        values, _ = self.at(x[None])
        H = np.zeros((self.n, self.n))
        i, j = self.support[self.blocks.row], self.support[self.blocks.col]
        H[i, j] = H[j, i] = values[0]
        return H

    def values(self, points: Matrix) -> tuple[Vector, Vector]:
        """The values at the points, and the sizes of what they are made of; NaN where a user's function raises."""
        values, sizes = np.zeros(len(points)), np.zeros(len(points))
        with np.errstate(all="ignore"):
            for term in self.terms:
                value, size = _values_and_sizes(term, points)
                values, sizes = values + value, sizes + size
        return values, sizes


def _untouched(term: SmoothTerm) -> SmoothTerm:
    """A copy of a user's function, so that one which counts its calls does not count these."""
    if not _is_foreign(term):
        return term
    assert isinstance(term, FunctionTerm)
    return FunctionTerm(copy(term.function), term.indices, term.weight)


def _is_foreign(term: SmoothTerm) -> bool:
    return isinstance(term, FunctionTerm) and not term.function.proved_convex


def _gives_hessian(term: object) -> bool:
    if not isinstance(term, FunctionTerm):
        return True
    return term.function.has_hessian and (term.function.separable or len(term.indices) <= DENSE_LIMIT)


def _with_hessian(term: SmoothTerm) -> SmoothTerm | _Differences:
    """The term itself, or for a function of few variables that gives no Hessian one with differences in its place."""
    if isinstance(term, FunctionTerm) and not term.function.has_hessian and len(term.indices) <= DIFFERENCES_LIMIT:
        return _Differences(term)
    return term


def _values_and_sizes(term: SmoothTerm, points: Matrix) -> tuple[Vector, Vector]:
    if isinstance(term, TapeBatch):
        many, shape = term.at_points(*points.shape), (len(points), len(term.weights))
        at = points.ravel()
        return many.values(at).reshape(shape) @ term.weights, many.value_sizes(at).reshape(shape).sum(axis=1)
    values = np.array([_value_or_nan(term, x) for x in points])
    sizes = np.abs(values)
    usual = float(np.median(sizes[np.isfinite(sizes)])) if np.isfinite(sizes).any() else 0.0
    return values, np.maximum(sizes, ROUNDING / TOLERANCE * usual)  # what is 0 may be the rounding of larger terms


def _value_or_nan(term: SmoothTerm, x: Vector) -> float:
    try:
        return term.value(x)
    except FunctionError:
        return np.nan


def _hessians(term: SmoothTerm | _Differences, points: Matrix, n: int) -> tuple[Matrix, Matrix]:
    if isinstance(term, TapeBatch):
        many = term.at_points(len(points), n)
        width, tapes = len(term.rows) // max(len(term.weights), 1), len(term.weights)
        values, sizes = (
            v.reshape(width, len(points), tapes).transpose(1, 0, 2).reshape(len(points), -1)
            for v in many.hessian_and_sizes(points.ravel())
        )
        return values, sizes
    if isinstance(term, _Differences):
        pairs = [term.hessian(x) for x in points]
        return np.array([v for v, _ in pairs]), np.array([s for _, s in pairs])
    values = np.array([_hessian_or_nan(term, x) for x in points])
    return values, np.abs(values)


def _hessian_or_nan(term: SmoothTerm, x: Vector) -> Vector:
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(term.hessian_values(x), dtype=float)
    except (FunctionError, IndexError, TypeError, ValueError):
        return np.full(len(term.rows), np.nan)
    return values if values.shape == (len(term.rows),) else np.full(len(term.rows), np.nan)


class _Differences:
    """The Hessian of a function that gives none, by differences of its gradient."""

    def __init__(self, term: FunctionTerm) -> None:
        self.term = term
        self._tril = np.array(np.tril_indices(len(term.indices)))
        i, j = term.indices[self._tril]
        self.rows, self.cols = np.maximum(i, j), np.minimum(i, j)

    def hessian(self, x: Vector) -> tuple[Vector, Vector]:
        """Its lower triangle, and sizes beside which the errors of the differences are small."""
        try:
            H, noise = self._differences(x)
        except FunctionError:
            H = noise = np.full((len(self.term.indices),) * 2, np.nan)
        lower = tuple(self._tril)
        both, error = 0.5 * (H + H.T), noise + np.abs(H - H.T)
        return both[lower], np.abs(both[lower]) + error[lower] / TOLERANCE

    def _differences(self, x: Vector) -> tuple[Matrix, Matrix]:
        indices, k = self.term.indices, len(self.term.indices)
        H, noise = np.empty((k, k)), np.empty((k, k))
        for a, i in enumerate(indices):
            step = 1e-5 * (1.0 + abs(x[i]))
            ahead, behind = x.copy(), x.copy()
            ahead[i] += step
            behind[i] -= step
            up, down = self._gradient(ahead), self._gradient(behind)
            H[a] = (up - down) / (2 * step)
            noise[a] = 1e-13 * (np.abs(up) + np.abs(down)) / step
        return H, noise

    def _gradient(self, x: Vector) -> Vector:
        out = np.zeros(len(x))
        with np.errstate(all="ignore"):
            self.term.add_gradient(x, out)
        return out[self.term.indices]

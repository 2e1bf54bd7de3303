"""Euclidean norms, of all variables or of groups of them: smooth away from 0, and second-order cones in g."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.functions.checks import nonnegative
from dcprog.functions.conic import ConicForm
from dcprog.functions.corners import Corner
from dcprog.typing import Indices, Matrix, Sparse, Vector


@proved
class Norm2(ConvexFunction):
    """‖x‖₂ = √(Σⱼ xⱼ²), with subgradient 0 at x = 0.

    >>> f = Norm2()
    >>> x = np.array([3.0, 4.0])
    >>> f.value(x), f.gradient(x), f.gradient(0 * x)
    (5.0, array([0.6, 0.8]), array([0., 0.]))
    """

    smooth, lowest = False, 0.0

    def value(self, x: Vector) -> float:
        return float(np.linalg.norm(x))

    def gradient(self, x: Vector) -> Vector:
        # Scaled first: the squares of tiny components underflow, and a subgradient longer than 1 would be none.
        largest = np.abs(x).max()
        if largest == 0:
            return np.zeros_like(x)
        scaled = x / largest
        gradient: Vector = scaled / np.linalg.norm(scaled)
        return gradient

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        return None if (np.abs(x) <= radius).all() else []

    def hessian(self, x: Vector) -> Matrix | None:
        length = self.value(x)
        if length == 0:
            return None
        u = self.gradient(x)
        hessian: Matrix = (np.eye(len(x)) - np.outer(u, u)) / length
        return hessian

    def nearest_slope(self, v: Vector) -> Vector:
        """∂f(0) is the unit ball."""
        return v / max(1.0, self.value(v))

    def conic(self, n: int) -> ConicForm:
        """min t with ‖x‖ ≤ t."""
        A = sp.vstack([sp.csr_array((1, n)), sp.eye_array(n)], "csr")
        B = sp.csr_array(([1.0], ([0], [0])), shape=(n + 1, 1))
        return ConicForm(A, B, np.zeros(n + 1), np.ones(1), (("second-order", n + 1),))

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(v**2 for v in x) ** 0.5


@proved
class GroupNorm(ConvexFunction):
    """Σ_G w_G ‖x_G‖₂ over groups G of positions, weights w_G ≥ 0 (1 if not given): the penalty of the group lasso.

    With subgradient 0 in a group where x_G = 0. Groups may overlap, and need not hold every variable. Yuan & Lin (2006).

    >>> f = GroupNorm([[0, 1], [2]], weights=[1, 2])
    >>> x = np.array([3.0, 4.0, -1.0])
    >>> f.value(x), f.gradient(x)
    (7.0, array([ 0.6,  0.8, -2. ]))
    """

    smooth, lowest = False, 0.0

    def __init__(self, groups: Iterable[Sequence[int]], weights: object = None) -> None:
        listed = [_positions(group, i) for i, group in enumerate(groups)]
        if not listed:
            raise DataError("groups has no group: pass lists of positions, as in [[0, 1], [2, 3]]")
        self.positions: Indices = np.concatenate(listed)
        self.sizes: Indices = np.array([len(group) for group in listed])
        self.weights = np.ones(len(listed)) if weights is None else nonnegative("weights", weights, len(listed))

    def __call__(self, *variables: Any) -> Any:
        expression = super().__call__(*variables)
        self._check(expression.nargs() if expression.function is self else expression.function.A.shape[0])
        return expression

    def value(self, x: Vector) -> float:
        return float(self.weights @ self._lengths(x[self.positions]))

    def gradient(self, x: Vector) -> Vector:
        gradient = np.zeros_like(x)
        np.add.at(gradient, self.positions, self._units(x[self.positions]) * np.repeat(self.weights, self.sizes))
        return gradient

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        away = np.logical_or.reduceat((np.abs(x) > radius)[self.positions], self._ends[:-1])
        return [] if (away | (self.weights == 0)).all() else None

    def hessian(self, x: Vector) -> Matrix | None:
        part = x[self.positions]
        lengths, u = self._lengths(part), self._units(part)
        if (lengths == 0).any():
            return None
        hessian = np.zeros((len(x), len(x)))
        for w, length, (lo, hi) in zip(self.weights, lengths, pairwise(self._ends), strict=True):
            at = self.positions[lo:hi]
            hessian[np.ix_(at, at)] += w / length * (np.eye(hi - lo) - np.outer(u[lo:hi], u[lo:hi]))
        return hessian

    def linear_forms(self, n: int) -> tuple[ConvexFunction, Sparse, Vector]:
        """The same of groups that stand one after the other, at copies of the variables."""
        k = len(self.positions)
        if k == n and (self.positions == np.arange(n)).all():
            return super().linear_forms(n)
        S = sp.csr_array((np.ones(k), (np.arange(k), self.positions)), shape=(k, n))
        apart = GroupNorm([range(lo, hi) for lo, hi in pairwise(self._ends)], self.weights)
        return apart, S, np.zeros(k)

    def nearest_slope(self, v: Vector) -> Vector:
        """∂f(0) is the product of the balls of radius w_G; of groups that stand apart, and hold every variable."""
        part = v[self.positions]
        lengths = self._lengths(part)
        shrink = np.minimum(1.0, self.weights / np.where(lengths > 0, lengths, 1.0))
        nearest = np.zeros_like(v)
        nearest[self.positions] = part * np.repeat(np.where(lengths > 0, shrink, 1.0), self.sizes)
        return nearest

    def conic(self, n: int) -> ConicForm:
        """min w't with ‖x_G‖ ≤ t_G."""
        k, groups = len(self.positions), len(self.sizes)
        heads = self._ends[:-1] + np.arange(groups)
        tails = np.arange(k) + np.repeat(np.arange(groups), self.sizes) + 1
        A = sp.csr_array((np.ones(k), (tails, self.positions)), shape=(k + groups, n))
        B = sp.csr_array((np.ones(groups), (heads, np.arange(groups))), shape=(k + groups, groups))
        cones = tuple(("second-order", int(size) + 1) for size in self.sizes)
        return ConicForm(A, B, np.zeros(k + groups), self.weights, cones)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        groups = [self.positions[lo:hi] for lo, hi in pairwise(self._ends)]
        return sum(float(w) * sum(x[i] ** 2 for i in g) ** 0.5 for w, g in zip(self.weights, groups, strict=True))

    @property
    def _ends(self) -> Indices:
        return np.append(0, np.cumsum(self.sizes))

    def _largest(self, part: Vector) -> Vector:
        largest: Vector = np.maximum.reduceat(np.abs(part), self._ends[:-1])
        return largest

    def _scaled(self, part: Vector) -> Vector:
        """Each group divided by its largest entry: the squares of tiny or huge ones would be 0 or infinite."""
        largest = self._largest(part)
        scaled: Vector = part / np.repeat(np.where(largest > 0, largest, 1.0), self.sizes)
        return scaled

    def _lengths(self, part: Vector) -> Vector:
        lengths: Vector = self._largest(part) * np.sqrt(np.add.reduceat(self._scaled(part) ** 2, self._ends[:-1]))
        return lengths

    def _units(self, part: Vector) -> Vector:
        scaled = self._scaled(part)
        lengths = np.sqrt(np.add.reduceat(scaled**2, self._ends[:-1]))
        units: Vector = scaled / np.repeat(np.where(lengths > 0, lengths, 1.0), self.sizes)
        return units

    def _check(self, n: int) -> None:
        if self.positions.max() >= n:
            raise DataError(f"groups name position {self.positions.max()}, and there are {n} variables: count from 0")


def _positions(group: Any, i: int) -> Indices:
    positions = np.asarray(list(group))
    if not positions.size or positions.dtype.kind not in "iu" or positions.min() < 0:
        raise DataError(f"group {i} is {group!r}, expected positions of variables: pass integers from 0 on")
    if len(np.unique(positions)) < len(positions):
        raise DataError(f"group {i} names a position twice: list each once")
    return positions.astype(np.int64)

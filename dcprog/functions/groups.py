"""Concave penalties of groups of variables: few groups are non-zero in place of few variables."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.errors import DataError, ModelError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.functions.checks import nonnegative
from dcprog.functions.norms import GroupNorm
from dcprog.functions.penalties import SeparablePenalty
from dcprog.typing import Indices, Vector


class Partition:
    """Positions 0, …, n − 1 sorted into groups that do not overlap, from one label a position.

    >>> Partition([1, 0, 1]).members
    [[1], [0, 2]]
    """

    def __init__(self, labels: Any) -> None:
        given = np.asarray(labels)
        if given.ndim != 1 or not given.size:
            raise DataError(f"groups have shape {given.shape}: pass one label a variable, as in [0, 0, 1, 1]")
        self.codes: Indices = np.unique(given, return_inverse=True)[1].astype(np.int64)
        self.sizes: Indices = np.bincount(self.codes)
        self.order: Indices = np.argsort(self.codes, kind="stable")
        self.starts: Indices = np.append(0, np.cumsum(self.sizes)[:-1])

    @property
    def members(self) -> list[list[int]]:
        """The positions in each group."""
        return [part.tolist() for part in np.split(self.order, self.starts[1:])]

    def lengths(self, w: Vector) -> Vector:
        """‖w_G‖₂ of each group, without overflow or underflow."""
        largest = float(np.abs(w).max(initial=0.0))
        if largest == 0:
            return np.zeros(len(self.sizes))
        lengths: Vector = largest * np.sqrt(np.add.reduceat((w[self.order] / largest) ** 2, self.starts))
        return lengths


@proved
class GroupRemainder(ConvexFunction):
    """Σ_G c_G (ρ'(0)‖w_G‖ − ρ(‖w_G‖)) for a separable penalty ρ and weights c ≥ 0: the h of the pair of Σ_G c_G ρ(‖w_G‖).

    r ↦ ρ'(0)r − ρ(r) is convex and rises from 0 on r ≥ 0, so that its composition with a norm is convex. Its g is ρ'(0)
    times the group norm, :meth:`norm`. Huang, Breheny & Ma, Statistical Science 27 (2012), section 2.

    >>> from dcprog.functions import MCP
    >>> h = GroupRemainder(MCP(lam=1, gamma=2), Partition([0, 0, 1]), [1.0, 1.0])
    >>> w = np.array([3.0, 4.0, 0.0])
    >>> h.value(w), h.gradient(w)
    (4.0, array([0.6, 0.8, 0. ]))
    """

    def __init__(self, penalty: SeparablePenalty, partition: Partition, weights: Any) -> None:
        if not isinstance(penalty, SeparablePenalty):
            raise ModelError(f"GroupRemainder takes a separable penalty, got {penalty!r}: pass one such as MCP(lam=0.1)")
        self.penalty, self.partition = penalty, partition
        self.weights = nonnegative("weights", weights, len(partition.sizes))
        self.slope_at_zero = float(penalty.slope(np.zeros(1))[0])
        self.smooth = penalty.smooth
        self.dimension = len(partition.codes)

    def norm(self, *w: Any) -> Any:
        """The expression ρ'(0) Σ_G c_G ‖w_G‖."""
        return GroupNorm(self.partition.members, self.slope_at_zero * self.weights)(*w)

    def value(self, x: Vector) -> float:
        r = self.partition.lengths(x)
        return float(self.weights @ (self.slope_at_zero * r - self.penalty.rho(r)))

    def gradient(self, x: Vector) -> Vector:
        r = self.partition.lengths(x)
        along = self.weights * (self.slope_at_zero - self.penalty.slope(r))
        gradient: Vector = np.divide(along, r, out=np.zeros_like(r), where=r > 0)[self.partition.codes] * x
        return gradient

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        return (self.penalty,)

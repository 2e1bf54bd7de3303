"""What the iterations of zero-norm minimisation yield, which weights count as zero, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog._typing import Indices, Mask, Vector
from dcprog.models._multiclass import ArgmaxRule
from dcprog.models.rules import LinearRule
from dcprog.result import Status
from dcprog.samples import check_count, check_nonnegative

ZERO = 1e-8
"""A weight below this share of the largest, or a slack below this share of the margin, is zero."""


@dataclass(frozen=True, eq=False)
class Iterate:
    """One iterate: the classifier in terms of the data as they came, and the slack of every margin constraint."""

    iteration: int
    rule: LinearRule | ArgmaxRule
    xi: Vector

    @property
    def w(self) -> Any:
        """Weights, one row a class if there are more than two."""
        return self.rule.w

    @property
    def b(self) -> Any:
        return self.rule.b

    @property
    def sizes(self) -> Vector:
        """|w|, or Σₖ|wₖ|, by which features are ranked."""
        return self.rule.sizes()

    @property
    def features(self) -> Indices:
        """Positions of the features that count towards the zero norm."""
        return np.flatnonzero(non_zero(self.sizes))


def non_zero(sizes: Vector) -> Mask:
    """Which features count towards the zero norm.

    >>> non_zero(np.array([3.0, 1e-9, 0.0]))
    array([ True, False, False])
    """
    mask: Mask = sizes > ZERO * sizes.max(initial=0.0)
    return mask


def converge(iterates: Iterator[Iterate], tol: float = 1e-6, max_iter: int = 200) -> tuple[Iterate, Status]:
    """Walk until no weight moves by more than ``tol`` of the largest and no slack by more than ``tol`` of the margin.

    Returns the last iterate and whether it has converged or ``max_iter`` steps were made.

    >>> from dcprog.zero_norm import l1_arom
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> iterate, status = converge(l1_arom(X, y))
    >>> iterate.iteration, iterate.features, str(status)
    (2, array([0]), 'converged')
    >>> str(converge(l1_arom(X, y), max_iter=1)[1])
    'iteration_limit'
    """
    check_nonnegative(tol=tol)
    check_count(max_iter=max_iter)
    iterate = next(iterates)
    while iterate.iteration < max_iter:
        before, iterate = iterate, next(iterates)
        largest = max(float(np.abs(before.w).max()), np.finfo(float).tiny)
        step = max(float(np.abs(iterate.w - before.w).max()) / largest, float(np.abs(iterate.xi - before.xi).max()))
        if step <= tol:
            return iterate, Status.CONVERGED
    return iterate, Status.ITERATION_LIMIT

"""What the iterations of zero-norm minimisation yield, which weights count as zero, and when to stop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from dcprog.algorithms.result import Status
from dcprog.errors import DataError
from dcprog.learning.multiclass import ArgmaxRule
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import check_count, check_nonnegative
from dcprog.typing import Indices, Mask, Vector

ZERO = 1e-8
"""A weight below this share of the largest, or a slack below this share of the margin, is zero."""


@runtime_checkable
class Moving(Protocol):
    """What :func:`converge` needs to know of an iterate."""

    @property
    def iteration(self) -> int: ...

    def moved_from(self, before: Any) -> float:
        """The size of the step from the iterate before, relative to what is there."""


Moved = TypeVar("Moved", bound=Moving)


@dataclass(frozen=True, eq=False)
class Iterate:
    """One iterate: the classifier in terms of the data as they came, and the slack of every margin constraint."""

    iteration: int
    classifier: LinearRule | ArgmaxRule
    xi: Vector

    @property
    def w(self) -> Any:
        """Weights, one row a class if there are more than two."""
        return self.classifier.w

    @property
    def b(self) -> Any:
        return self.classifier.b

    @property
    def sizes(self) -> Vector:
        """|w|, or Σₖ|wₖ|, by which features are ranked."""
        return self.classifier.sizes()

    @property
    def features(self) -> Indices:
        """Positions of the features that count towards the zero norm."""
        return np.flatnonzero(non_zero(self.sizes))

    def moved_from(self, before: Iterate) -> float:
        """By how much a weight has moved, of the largest, or a slack, of the margin, which is 1."""
        largest = max(float(np.abs(before.w).max()), np.finfo(float).tiny)
        return max(float(np.abs(self.w - before.w).max()) / largest, float(np.abs(self.xi - before.xi).max()))


def non_zero(sizes: Vector) -> Mask:
    """Which features count towards the zero norm.

    >>> non_zero(np.array([3.0, 1e-9, 0.0]))
    array([ True, False, False])
    """
    mask: Mask = sizes > ZERO * sizes.max(initial=0.0)
    return mask


def converge(iterates: Iterable[Moved], tol: float = 1e-6, max_iter: int = 200) -> tuple[Moved, Status]:
    """Walk until no weight moves by more than ``tol`` of the largest and no slack by more than ``tol`` of the margin.

    In the feature space of :func:`dcprog.methods.zero_norm.kernel_updates`, of whose weights there is only the 2-norm, until
    the classifier moves by no more than ``tol`` of that, and its bias by no more than ``tol`` of the margin.

    Parameters
    ----------
    iterates : iterable
        Such as :func:`dcprog.methods.zero_norm.l1_updates` and the others give; those without end are taken one at a time.
    tol : float
        ≥ 0.
    max_iter : int
        The last iteration to wait for.

    Returns
    -------
    iterate, status
        The last iterate and whether it has converged, or ``max_iter`` was reached or there are no more.

    Examples
    --------
    >>> from dcprog.methods.zero_norm import kernel_updates, l1_updates
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> iterate, status = converge(l1_updates(X, y))
    >>> iterate.iteration, iterate.features, str(status)
    (2, array([0]), 'converged')
    >>> str(converge(l1_updates(X, y), max_iter=1)[1])
    'iteration_limit'
    >>> limit, status = converge(kernel_updates(X, y))
    >>> limit.predict(X), str(status)
    (array([0, 0, 1, 1]), 'converged')
    """
    check_nonnegative(tol=tol)
    check_count(max_iter=max_iter)
    before: Moved | None = None
    for iterate in iterates if isinstance(iterates, Iterable) else ():
        if not isinstance(iterate, Moving):
            raise _no_iterates(iterates)
        if before is not None and iterate.moved_from(before) <= tol:
            return iterate, Status.CONVERGED
        before = iterate
        if iterate.iteration >= max_iter:
            break
    if before is None:
        raise _no_iterates(iterates)
    return before, Status.ITERATION_LIMIT


def _no_iterates(iterates: object) -> DataError:
    return DataError(f"iterates are {iterates!r}, expected at least one iterate of AROM, as in converge(l1_updates(X, y))")

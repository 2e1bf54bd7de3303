"""The two quadratic programs behind the radius–margin bound, given a kernel matrix K of n points.

    the optimal hyperplane      ½‖w‖² = max  Σαᵢ − ½ Σ αᵢαⱼyᵢyⱼKᵢⱼ,    Σαᵢyᵢ = 0,  α ≥ 0
    the enclosing sphere         R²   = max  Σβᵢ Kᵢᵢ − Σ βᵢβⱼKᵢⱼ,       Σβᵢ = 1,    β ≥ 0

(4) and (9) of Weston et al. (2001), whose (4) calls ½‖w‖² what (5), (10) and (12) use as ‖w‖² = 1/M². Here W² is ‖w‖².

Both are unchanged by a shift of the points in feature space; a factor s of K divides α by s and does not change β. K is
centred and scaled before it goes to a solver, so that the solver's absolute tolerances fit: then ¼ ≤ R² ≤ 1 ≤ ‖w‖².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.errors import ConvexityError, DataError, DCProgError
from dcprog.functions.checks import symmetric, vector
from dcprog.methods.quadratic import maximise, svm_dual
from dcprog.solvers.dispatch import SubproblemUnsolved
from dcprog.typing import Indices, Matrix, Vector

ROUNDING = 1e-12
"""If R² is smaller than this share of the largest Kᵢᵢ, it consists of rounding errors."""


@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The hyperplane of the largest margin: α, b and ‖w‖² = 1/margin²."""

    alpha: Vector
    b: float
    w2: float

    @property
    def margin(self) -> float:
        """M = 1/‖w‖, the distance from the hyperplane to the points next to it."""
        return float(self.w2**-0.5)

    @property
    def support(self) -> Indices:
        """Positions of the support vectors, αᵢ > 0."""
        return np.flatnonzero(self.alpha)


@dataclass(frozen=True, eq=False)
class Sphere:
    """The smallest sphere around all points: its centre Σβᵢφ(xᵢ), and R²."""

    beta: Vector
    radius2: float

    @property
    def radius(self) -> float:
        return float(self.radius2**0.5)


@dataclass(frozen=True, eq=False)
class Gram:
    """A kernel matrix K that was checked; it is ``scale``·``unit`` but for a shift of the points."""

    K: Matrix
    unit: Matrix
    scale: float


def gram(K: Any) -> Gram:
    """Check ``K``, centre it, and scale it to a largest distance 1 from the mean.

    >>> gram(np.array([[9.0, 3.0], [3.0, 1.0]])).unit
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> gram(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    dcprog.errors.ConvexityError: the kernel matrix has to be positive semidefinite, ...
    """
    K = symmetric("the kernel matrix K", K.toarray() if sp.issparse(K) else K)
    centred = _centred(K)
    scale = float(centred.diagonal().max())
    _check_positive(K, centred, "take a positive semidefinite kernel, or a larger ridge")
    _check_radius(scale, float(np.abs(K).max()))
    return Gram(K, centred / scale, scale)


def spread(K: Matrix) -> float:
    """The largest squared distance of a point from the mean of all in feature space, which must not be 0.

    >>> spread(np.array([[9.0, 3.0], [3.0, 1.0]]))
    1.0
    >>> spread(np.ones((2, 2)))
    Traceback (most recent call last):
    dcprog.errors.DataError: the sphere around the points has radius zero, ...
    """
    K = symmetric("the kernel matrix K", K)
    centred, largest = _centred(K), float(np.abs(K).max())
    squared = float(centred.diagonal().max())
    if not squared > ROUNDING * largest:  # if K is not positive semidefinite, that is the error to report
        _check_positive(K, centred, "take a positive semidefinite kernel")
    _check_radius(squared, largest)
    return squared


def signs(y: object, n: int) -> Vector:
    """``y`` as n labels ±1, of which both are there.

    >>> signs([1, 0], 2)
    Traceback (most recent call last):
    dcprog.errors.DataError: y has to hold −1 and 1, got 0.0 at position 1: pass np.where(y == positive, 1.0, -1.0)
    """
    labels = vector("y", y, n)
    strange = np.abs(labels) != 1
    if strange.any():
        i = int(np.argmax(strange))
        raise DataError(f"y has to hold −1 and 1, got {labels[i]} at position {i}: pass np.where(y == positive, 1.0, -1.0)")
    if np.ptp(labels) == 0:
        raise DataError(f"y has to hold −1 and 1, got {labels[0]:g} for all {n} points: pass points of both classes")
    return labels


def hyperplane(g: Gram, y: Vector, solver: str = "auto") -> Hyperplane:
    """The optimal hyperplane for labels y = ±1, by the QP solver of that name.

    >>> X, y = np.array([[0.0], [2.0], [5.0]]), np.array([-1.0, 1.0, 1.0])
    >>> h = hyperplane(gram(X @ X.T), y)
    >>> round(h.margin, 6), round(h.b, 6), h.support
    (1.0, -1.0, array([0, 1]))
    """
    try:
        alpha = svm_dual(g.unit, y, solver=solver)
    except SubproblemUnsolved as unsolved:
        if unsolved.claim in (Claim.UNBOUNDED, Claim.INFEASIBLE):
            raise _inseparable() from None
        raise _unsolved("optimal hyperplane", unsolved) from None
    # Interior-point solvers return no exact zeros. αᵢ times its slack is 0: the smaller of the two counts as 0.
    values = g.unit @ (y * alpha)
    total = float(alpha.sum())
    slack = y * (values + float(alpha @ (y - values)) / total) - 1
    if slack.min() < -0.01:
        raise _inseparable()
    alpha = np.where(alpha * len(y) > slack * total, alpha, 0.0)
    w2 = float(2 * alpha.sum() - (y * alpha) @ g.unit @ (y * alpha))
    alpha = alpha / g.scale
    b = float(alpha @ (y - g.K @ (y * alpha))) / float(alpha.sum())
    return Hyperplane(alpha, b, w2 / g.scale)


def sphere(g: Gram, solver: str = "auto", lift: float | Vector = 0.0) -> Sphere:
    """The smallest sphere around all points, by the QP solver of that name.

    With a ``lift`` max Σβᵢ(Kᵢᵢ + liftᵢ) − Σ βᵢβⱼKᵢⱼ, as :func:`~dcprog.methods.radius_margin.bound.counted` needs it.

    >>> X = np.array([[0.0], [2.0], [5.0]])
    >>> ball = sphere(gram(X @ X.T))
    >>> ball.beta.round(6), round(ball.radius, 6)
    (array([0.5, 0. , 0.5]), 2.5)
    """
    diagonal = g.unit.diagonal() + np.asarray(lift) / g.scale
    try:
        beta = maximise(diagonal, 2 * g.unit, np.ones(len(diagonal)), 1.0, solver=solver)
    except SubproblemUnsolved as unsolved:
        raise _unsolved("enclosing sphere", unsolved) from None
    beta = np.maximum(beta, 0.0)
    beta /= beta.sum()
    return Sphere(beta, float(diagonal @ beta - beta @ g.unit @ beta) * g.scale)


def _centred(K: Matrix) -> Matrix:
    """The kernel matrix of the points less their mean."""
    mean = K.mean(axis=0)
    centred: Matrix = K - mean - mean[:, None] + mean.mean()
    return centred


def _check_positive(K: Matrix, centred: Matrix, advice: str) -> None:
    scale, largest = max(float(centred.diagonal().max()), 0.0), float(np.abs(K).max())
    if not _positive(K, 1e-9 * largest) or not _positive(centred, 1e-9 * scale + ROUNDING * largest):
        least = min(np.linalg.eigvalsh(K)[0], np.linalg.eigvalsh(centred)[0])
        raise ConvexityError(
            f"the kernel matrix has to be positive semidefinite, got one with the eigenvalue {least:.3g} and the largest "
            f"entry {largest:.3g}: {advice}"
        )


def _check_radius(squared: float, largest: float) -> None:
    if not squared > ROUNDING * largest:
        raise DataError(
            "the sphere around the points has radius zero, since the kernel takes all points for one: "
            "pass points that differ, or a kernel and scales that tell them apart"
        )


def _positive(K: Matrix, shift: float) -> bool:
    """Whether no eigenvalue of K is below −shift: a tenth of the time that the eigenvalues themselves take."""
    try:
        np.linalg.cholesky(K + shift * np.eye(len(K)))
    except np.linalg.LinAlgError:
        return False
    return True


def _inseparable() -> DataError:
    return DataError(
        "no hyperplane separates the two classes with this kernel: pass a larger ridge, which penalises errors instead of "
        "excluding them, or a richer kernel"
    )


def _unsolved(what: str, unsolved: SubproblemUnsolved) -> DCProgError:
    return DCProgError(f'no solver found the {what} ({unsolved}): try solver="clarabel" or rescale the data')

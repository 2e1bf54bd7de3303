"""The span bound: how many leave-one-out errors a support vector machine makes, from one training.

While the others stay support vectors, leaving out support vector p changes the output there by yₚ(f(xₚ) − fᵖ(xₚ)) = αₚSₚ²,
the span Sₚ being the distance from φ(xₚ) to the affine hull of the others. Since yₚf(xₚ) = 1, xₚ is lost if αₚSₚ² > 1:

    errors ≤ Σₚ Ψ(αₚSₚ² − 1),    Sₚ² = 1/(M⁻¹)ₚₚ,    M = [K_SV  e; e'  0],    Ψ the step function

Weston et al. (2001), Theorem 2, (6), after Vapnik & Chapelle. Printed is Ψ(αₚ/(K_SV⁻¹)ₚₚ − 1), which is right for a machine
without b; theirs has one, for which M has the border e: tests/test_radius_margin.py compares with retraining.

The step has no derivative, and Sₚ jumps when a support vector comes or goes. Chapelle, Vapnik, Bousquet & Mukherjee (Machine
Learning 46, 2002) smooth both: Ψ(t) = 1/(1 + e^(−5t)), and with η/αᵢ on the diagonal of K_SV, η = 0.1,

    αₚSₚ² = αₚ/(M⁻¹)ₚₚ − η,

which goes to 0 with αₚ. For the derivative let N be M⁻¹ without its border, uₚ = αₚ/Nₚₚ and aₚ = Ψ'ₚαₚ/Nₚₚ². Then

    dT = Σₚ Ψ'ₚ dαₚ/Nₚₚ + Σₚ aₚ (N dM N)ₚₚ,    dM = dK − η diag(dα/α²),
    [YKY  y; y'  0] (dα, db) = −(Y dK Yα, 0)    on the support vectors, Y = diag(y).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dcprog.errors import DataError
from dcprog.functions.checks import number
from dcprog.methods.radius_margin.qps import Gram, Hyperplane, gram, hyperplane, signs
from dcprog.typing import Indices, Matrix, Vector

LIMIT = 1e-9
"""η of the spans without smoothing; not 0, since K_SV may be singular."""


@dataclass(frozen=True, eq=False)
class Span:
    """The span bound at one kernel matrix. (6) has the mean over all points, this is the sum: a number of errors."""

    hyperplane: Hyperplane
    gram: Gram
    y: Vector
    eta: float
    steepness: float

    @property
    def support(self) -> Indices:
        """Positions of the support vectors."""
        return self.hyperplane.support

    @property
    def value(self) -> float:
        """Σₚ Ψ(αₚSₚ² − 1), smoothed, over all points: a sum over support vectors alone would jump when their set changes."""
        others = len(self.y) - len(self.support)
        return float(self._psi(self._inverse(self.eta)).sum() + others * expit(-self.steepness))

    @property
    def change(self) -> Vector:
        """αₚSₚ² without smoothing, by how much leaving out p lowers yₚf(xₚ): zero but for support vectors."""
        out = np.zeros(len(self.y))
        out[self.support] = self._alpha / self._inverse(LIMIT).diagonal() - LIMIT
        return out

    @property
    def errors(self) -> int:
        """Σₚ Ψ(αₚSₚ² − 1) with the step function: the bound (6)."""
        return int((self.change > 1).sum())

    @property
    def gradient(self) -> Matrix:
        """∂T/∂K; it is exact where every point on the margin has α > 0."""
        s, y, alpha, N = self.support, self.y[self.support], self._alpha, self._inverse(self.eta)
        diagonal, psi = N.diagonal(), self._psi(N)
        slope = self.steepness * psi * (1 - psi)
        a = slope * alpha / diagonal**2
        by_alpha = slope / diagonal - self.eta * ((N * N) @ a) / alpha**2
        system = _bordered(y[:, None] * self._kernel * y, y)
        if np.linalg.cond(system) > 1e13:
            raise DataError(
                "the span bound has no derivative here, since the support vectors depend on each other in feature space: "
                "pass a ridge > 0"
            )
        moved = np.outer(y * np.linalg.solve(system, np.append(by_alpha, 0.0))[:-1], y * alpha)
        out = np.zeros((len(self.y), len(self.y)))
        out[np.ix_(s, s)] = ((N * a) @ N - 0.5 * (moved + moved.T)) / self.gram.scale
        return out

    # The rest uses the centred and scaled kernel matrix: αₚSₚ² is the same, and ∂T/∂K differs by the scale only.

    @property
    def _alpha(self) -> Vector:
        return self.hyperplane.alpha[self.support] * self.gram.scale

    @property
    def _kernel(self) -> Matrix:
        return self.gram.unit[np.ix_(self.support, self.support)]

    def _inverse(self, eta: float) -> Matrix:
        """M⁻¹ without its border."""
        M = _bordered(self._kernel + np.diag(eta / self._alpha), np.ones(len(self.support)))
        return np.asarray(np.linalg.inv(M)[:-1, :-1], dtype=float)

    def _psi(self, N: Matrix) -> Vector:
        psi: Vector = expit(self.steepness * (self._alpha / N.diagonal() - self.eta - 1))
        return psi


def span_bound(K: Matrix, y: Vector, *, solver: str = "auto", eta: float = 0.1, steepness: float = 5.0) -> Span:
    """The span bound for a positive semidefinite kernel matrix ``K`` and labels y = ±1.

    Parameters
    ----------
    K, y, solver
        As for :func:`~dcprog.methods.radius_margin.bound.radius_margin`.
    eta : float
        η > 0, which smooths the spans: the smaller, the less, and the nearer they come to jumping.
    steepness : float
        Of Ψ(t) = 1/(1 + exp(−steepness·t)), > 0: the larger, the nearer to the step function.

    >>> X, y = np.array([[0.0], [2.0], [5.0], [6.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> bound = span_bound(X @ X.T, y)
    >>> bound.change.round(6), bound.errors
    (array([0., 2., 2., 0.]), 2)
    """
    number("eta", eta, 0, such_as=0.1)
    number("steepness", steepness, 0, such_as=5)
    g = gram(K)
    y = signs(y, len(g.K))
    return Span(hyperplane(g, y, solver), g, y, eta, steepness)


def _bordered(A: Matrix, border: Vector) -> Matrix:
    return np.block([[A, border[:, None]], [border[None, :], np.zeros((1, 1))]])

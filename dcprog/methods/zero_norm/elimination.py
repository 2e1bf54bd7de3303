"""A linear SVM while features are taken away from it, one by one: its active sets hardly ever change.

With K = XX' the SVM min ½‖w‖² + λ Σξ has w = Σᵢ αᵢyᵢxᵢ, 0 ≤ α ≤ λ, y'α = 0, and its optimality conditions say which αᵢ are 0
(margin ≥ 1), which are λ (margin ≤ 1), and which are between, F, where the margin is 1. For given sets that is a linear
system

    yᵢ (Σⱼ αⱼyⱼKᵢⱼ + b) = 1 for i ∈ F,    y'α = 0

in as many unknowns as there are support vectors. If its solution satisfies all conditions it is *the* solution; else what
violates one changes its set. If that does not end from the sets of the last SVM, it is tried from those that libsvm finds to
low accuracy; and if that does not end either, the QP is solved anew. Where samples count s times, λ stands for λs.
"""

from __future__ import annotations

import numpy as np

from dcprog.methods.libsvm import quiet_svc
from dcprog.methods.zero_norm.margin import rotated
from dcprog.methods.zero_norm.separation import maximal_margin
from dcprog.typing import Mask, Matrix, Vector

ROUNDS = 10
"""How often active sets are corrected before the QP is solved anew."""
LONGEST = 100_000
"""The limit of libsvm's iterations."""
TOLERANCE = 1e-9


class ShrinkingSVM:
    """The weights of the SVM for labels y = ±1, on fewer and fewer columns of X.

    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> svm = ShrinkingSVM(y, np.inf, "auto")
    >>> [svm.weights(part, part @ part.T).round(6).tolist() for part in (X, X[:, :1])]
    [[2.0, 0.0], [2.0]]
    """

    def __init__(self, y: Vector, lam: float, solver: str, counts: Vector | None = None) -> None:
        self._counts = np.ones(len(y)) if counts is None else counts
        self._y, self._lam, self._most, self._solver = y, lam, lam * self._counts, solver
        self._between: Mask | None = None
        self._at_lam = np.zeros(len(y), dtype=bool)

    def weights(self, X: Matrix, K: Matrix | None = None) -> Vector:
        """w for the columns X that are left, from the active sets before if K = XX' is given."""
        return self.plane(X, K)[0]

    def plane(self, X: Matrix, K: Matrix | None = None) -> tuple[Vector, float]:
        """w and b."""
        if K is None:
            return self._anew(X)
        solved = None if self._between is None else self._mended(K, self._between, self._at_lam)
        if solved is None and np.isfinite(self._lam) and self._solver == "auto":
            solved = self._mended(K, *self._predicted(K))
        if solved is None:
            return self._anew(X)
        alpha, b = solved
        return X.T @ (alpha * self._y), b

    def _predicted(self, K: Matrix) -> tuple[Mask, Mask]:
        """The sets that libsvm finds: 0 < αᵢ < λ, and αᵢ = λ."""
        svm = quiet_svc("precomputed", K, self._y, self._most, max_iter=LONGEST)
        alpha = np.zeros(len(self._y))
        alpha[svm.support_] = np.abs(svm.dual_coef_[0])
        at_lam = alpha >= self._most * (1.0 - 1e-9)
        return (alpha > 0.0) & ~at_lam, at_lam

    def _anew(self, X: Matrix) -> tuple[Vector, float]:
        R, U = rotated(X)
        y = self._y[:, None]
        plane = maximal_margin(y * R, y, 2, self._lam, self._solver, counts=self._counts)
        margins = self._y * (R @ plane.w + plane.b[0])
        self._at_lam = plane.xi > 1e-7
        separable = np.isfinite(self._lam) or not self._at_lam.any()
        self._between = (margins < 1.0 + 1e-6) & ~self._at_lam if separable else None
        return U @ plane.w, float(plane.b[0])

    def _mended(self, K: Matrix, between: Mask, at_lam: Mask) -> tuple[Vector, float] | None:
        """α and b from active sets, exchanged where they violate a condition; None if that does not end."""
        y = self._y
        for _ in range(ROUNDS):
            solved = self._solved(K, between, at_lam)
            if solved is None:
                return None
            alpha, b = solved
            margins = y * (K @ (alpha * y) + b)
            slack = TOLERANCE * max(1.0, float(np.abs(alpha).max()))
            negative, above = between & (alpha < -slack), between & (alpha > self._most + slack)
            inside, outside = ~between & ~at_lam & (margins < 1.0 - TOLERANCE), at_lam & (margins > 1.0 + TOLERANCE)
            if not (negative | above | inside | outside).any():
                self._between, self._at_lam = between, at_lam
                return np.clip(alpha, 0.0, self._most), b
            between = (between & ~negative & ~above) | inside | outside
            at_lam = (at_lam | above) & ~outside
        return None

    def _solved(self, K: Matrix, between: Mask, at_lam: Mask) -> tuple[Vector, float] | None:
        """α and b of the linear system; None if it has no definite solution."""
        F = np.flatnonzero(between)
        if F.size == 0:
            return None
        y, alpha = self._y, np.where(at_lam, self._most, 0.0) if at_lam.any() else np.zeros(len(self._y))
        signs = y[F]
        system = np.zeros((len(F) + 1, len(F) + 1))
        system[:-1, :-1] = signs[:, None] * K[np.ix_(F, F)] * signs
        system[:-1, -1] = system[-1, :-1] = signs
        right = np.append(1.0 - signs * (K[F] @ (alpha * y)), -alpha @ y)
        try:
            solution = np.linalg.solve(system, right)
        except np.linalg.LinAlgError:
            return None
        residual = np.abs(system @ solution - right).max()
        if not residual <= TOLERANCE * (1.0 + np.abs(right).max()):
            return None
        alpha[F] = solution[:-1]
        return alpha, float(solution[-1])

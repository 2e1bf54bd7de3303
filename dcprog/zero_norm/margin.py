"""The convex problem inside every step of zero-norm minimisation: weighted norms under margin constraints.

    min  a'|w| + ½κ‖w‖² + c'ξ + ½ Σ νᵢξᵢ²    subject to    M w + B b + ξ ≥ e,  ξ ≥ 0

For two classes M = DX and B = y; for more, :mod:`dcprog.models._multiclass` has M and B. Between the steps of ℓ1-AROM only
the costs a and c change: rescaling the columns of X by z, as Problem 7 of Weston et al. (2003) does, is dividing a by z.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Mask, Matrix, Vector
from dcprog.errors import DataError
from dcprog.solvers.base import Claim
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved
from dcprog.subproblem import Subproblem


class NotSeparableError(DataError):
    """No hyperplane satisfies the margin constraints without slack."""

    def __init__(self) -> None:
        super().__init__(
            "expected linearly separable classes, got some that no hyperplane separates: allow errors, as in q=1, lam=10"
        )


class Hyperplane(NamedTuple):
    """A solution: weights, biases (one a column of B), and slacks (one a row)."""

    w: Vector
    b: Vector
    xi: Vector


class MarginProblem:
    """The problem above, loaded once.

    Parameters
    ----------
    M, B : matrices
        Dense or scipy.sparse; a row for each margin constraint.
    sized : bool
        Whether |w| has a cost. Then w = p − q with p, q ≥ 0, and costs stay linear.
    square : float
        κ.
    slack : boolean vector, optional
        The rows that may have ξᵢ > 0; by default none: hard margins.
    slack_square : float or vector
        ν, for all rows.
    solver : str
        Of the LP or QP, by name.

    Examples
    --------
    The maximal margin on a line:

    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> w, b, xi = MarginProblem(y[:, None] * X, y[:, None], sized=False, square=1.0).solve()
    >>> w.round(6), b.round(6)
    (array([1.]), array([-2.]))
    """

    def __init__(
        self,
        M: Any,
        B: Any,
        *,
        sized: bool,
        square: float = 0.0,
        slack: Mask | None = None,
        slack_square: float | Vector = 0.0,
        solver: str = "auto",
    ) -> None:
        self.rows, self.d = M.shape
        self.slack = np.zeros(self.rows, dtype=bool) if slack is None else slack
        self.sized = sized
        signs = (1.0, -1.0) if sized else (1.0,)
        slacks = sp.eye_array(self.rows, format="csc")[:, np.flatnonzero(self.slack)]
        blocks = [sp.csc_array(sign * M) for sign in signs] + [sp.csc_array(B), slacks]
        A = sp.csc_array(sp.hstack(blocks))
        self.biases = B.shape[1]
        self._starts = np.cumsum([block.shape[1] for block in blocks])[:-1]
        weights = self.d * len(signs)
        nu = np.broadcast_to(np.asarray(slack_square, dtype=float), (self.rows,))[self.slack]
        curvature = np.concatenate([np.full(weights, square), np.zeros(self.biases), nu])
        free = [np.full(weights, not sized), np.full(self.biases, True), np.full(slacks.shape[1], False)]
        problem = Subproblem(
            c=np.zeros(A.shape[1]),
            A=A,
            row_lower=np.ones(self.rows),
            row_upper=np.full(self.rows, np.inf),
            lower=np.where(np.concatenate(free), -np.inf, 0.0),
            upper=np.full(A.shape[1], np.inf),
            Q=sp.csc_array(sp.diags_array(curvature)) if curvature.any() else None,
        )
        self.dispatcher = Dispatcher(problem, solver)

    def solve(self, size: float | Vector = 0.0, slack: float | Vector = 0.0) -> Hyperplane:
        """The solution for the costs a = ``size`` and c = ``slack``, each a number or as long as w and ξ.

        Raises :class:`NotSeparableError` if there is none.
        """
        a = np.broadcast_to(np.asarray(size, dtype=float), (self.d,))
        c = np.broadcast_to(np.asarray(slack, dtype=float), (self.rows,))[self.slack]
        cost = np.concatenate([a, a] if self.sized else [np.zeros(self.d)])
        try:
            z = self.dispatcher.solve(np.concatenate([cost, np.zeros(self.biases), c])).z
        except SubproblemUnsolved as unsolved:
            if unsolved.claim is Claim.INFEASIBLE:
                raise NotSeparableError from unsolved
            raise
        parts = np.split(z, self._starts)
        xi = np.zeros(self.rows)
        xi[self.slack] = parts[-1]
        return Hyperplane(parts[0] - parts[1] if self.sized else parts[0], parts[-2], np.maximum(xi, 0.0))


def maximal_margin(M: Any, B: Any, p: int = 2, lam: float = np.inf, solver: str = "auto") -> Hyperplane:
    """min ‖w‖₁ or ½‖w‖₂² (p = 1, 2) plus λ Σξ, under the margin constraints.

    λ = ∞ is the limit λ → ∞: hard margins if there is a separating hyperplane, else the smallest norm among all hyperplanes
    with the least total slack, which every large enough λ gives.

    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0], [0.5]]), np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    >>> maximal_margin(y[:, None] * X, y[:, None]).xi.round(4)
    array([0.    , 0.6667, 0.    , 0.    , 1.6667])
    """
    if p not in (1, 2):
        raise DataError(f"p is {p!r}, expected 1 or 2: the norm of the classifier that is trained")
    norm: dict[str, Any] = {"sized": p == 1, "square": float(p == 2), "solver": solver}
    size = float(p == 1)
    everywhere = np.ones(M.shape[0], dtype=bool)
    if np.isfinite(lam):
        return MarginProblem(M, B, slack=everywhere, **norm).solve(size, lam)
    try:
        return MarginProblem(M, B, **norm).solve(size)
    except NotSeparableError:
        pass
    least = MarginProblem(M, B, sized=False, slack=everywhere, solver=solver).solve(slack=1.0).xi.sum()
    soft = MarginProblem(M, B, slack=everywhere, **norm)
    for lam in 10.0 ** np.arange(2, 9):
        plane = soft.solve(size, lam)
        if plane.xi.sum() <= least * (1 + 1e-6):
            break
    return plane


def rotated(X: Matrix) -> tuple[Matrix, Matrix]:
    """(R, U) with X = R U', U'U = I and R with at most as many columns as rows: ‖w‖₂ does not see the rotation, w = U v.

    >>> R, U = rotated(np.array([[1.0, 2.0, 2.0]]))
    >>> abs(R).round(6), bool(np.allclose(R @ U.T, [[1, 2, 2]]))
    (array([[3.]]), True)
    """
    if X.shape[1] <= X.shape[0]:
        return X, np.eye(X.shape[1])
    U, R = np.linalg.qr(X.T)
    return R.T, U

"""The convex problem inside every step of zero-norm minimisation: weighted norms under margin constraints.

    min  a'|w| + ½κ‖w‖² + c'ξ + ½ Σ νᵢξᵢ²    subject to    M w + B b + ξ ≥ e,  ξ ≥ 0

For two classes M = DX and B = y; for more, :mod:`dcprog.learning.multiclass` has M and B. Between the steps of ℓ1-AROM only
the costs a and c change: rescaling the columns of X by z, as Problem 7 of Weston et al. (2003) does, is dividing a by z.

Tolerances of solvers are absolute. So a dense M is centred, M ← M − BC with C = B⁺M, which b makes up for, and brought
to the size of 1: with w = v/u the problem is, times u² (u if κ = 0),

    min  u a'|v| + ½κ‖v‖² + u² c'ξ + ½ u² Σ νᵢξᵢ²    subject to    (M/u) v + B (b + Cw) + ξ ≥ e,  ξ ≥ 0
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DataError
from dcprog.solvers.dispatch import Dispatcher, Solution, SubproblemUnsolved
from dcprog.typing import Mask, Matrix, Vector

SMALLEST_MARGIN = 1e-10
"""Relative to the largest entries of the columns; what is smaller is rounding."""


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
    least, most : float or vector
        Limits of Mw + Bb + ξ, in place of 1 and ∞.
    solver : str
        Of the LP or QP, by name.

    Examples
    --------
    The maximal margin on a line:

    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> w, b, xi = MarginProblem(y[:, None] * X, y[:, None], sized=False, square=1.0).solve()
    >>> w.round(6), b.round(6)
    (array([1.]), array([-2.]))

    The unit of X does not matter, nor does a margin that is small beside it:

    >>> problem = MarginProblem(y[:, None] * (X + 1e7), y[:, None], sized=False, square=1.0)
    >>> problem.solve().w.round(6)
    array([1.])
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
        least: float | Vector = 1.0,
        most: float | Vector = np.inf,
        solver: str = "auto",
    ) -> None:
        self.rows, self.d = M.shape
        self.biases = B.shape[1]
        self.slack = np.zeros(self.rows, dtype=bool) if slack is None else slack
        self.sized, self._square = sized, square
        self._M, self._shift = _centred(M, B)
        self._B, self._solver = B, solver
        self._slack_square = np.broadcast_to(np.asarray(slack_square, dtype=float), (self.rows,))[self.slack]
        self._limits = tuple(np.broadcast_to(np.asarray(limit, dtype=float), (self.rows,)) for limit in (least, most))
        self._hard = not self.slack.any() and bool((self._limits[0] == 1.0).all() and np.isinf(self._limits[1]).all())
        self._bias_unit: float | None = None
        self._load(unit_of(self._M), 1.0)

    def _load(self, unit: float, bias_unit: float) -> None:
        """With w = v/unit and b = β/bias_unit."""
        self._unit, self._factor = unit, unit**2 if self._square else unit if self.sized else 1.0
        signs = (1.0, -1.0) if self.sized else (1.0,)
        slacks = sp.eye_array(self.rows, format="csc")[:, np.flatnonzero(self.slack)]
        blocks = [sp.csc_array(self._M * (sign / unit)) for sign in signs] + [sp.csc_array(self._B / bias_unit), slacks]
        A = sp.csc_array(sp.hstack(blocks))
        self._starts = np.cumsum([block.shape[1] for block in blocks])[:-1]
        weights = self.d * len(signs)
        curvature = [np.full(weights, self._square), np.zeros(self.biases), self._factor * self._slack_square]
        free = [np.full(weights, not self.sized), np.full(self.biases, True), np.full(slacks.shape[1], False)]
        Q = np.concatenate(curvature)
        problem = ConvexProblem(
            c=np.zeros(A.shape[1]),
            A=A,
            row_lower=self._limits[0],
            row_upper=self._limits[1],
            lower=np.where(np.concatenate(free), -np.inf, 0.0),
            upper=np.full(A.shape[1], np.inf),
            Q=sp.csc_array(sp.diags_array(Q)) if Q.any() else None,
        )
        self.dispatcher = Dispatcher(problem, self._solver)

    def solve(self, size: float | Vector = 0.0, slack: float | Vector = 0.0) -> Hyperplane:
        """The solution for the costs a = ``size`` and c = ``slack``, each a number or as long as w and ξ.

        Raises :class:`NotSeparableError` if there is none.
        """
        return self.solve_with_duals(size, slack)[0]

    def solve_with_duals(self, size: float | Vector = 0.0, slack: float | Vector = 0.0) -> tuple[Hyperplane, Vector | None]:
        """The same, and the multipliers of the rows if the solver gives them."""
        a = np.broadcast_to(np.asarray(size, dtype=float), (self.d,))
        c = np.broadcast_to(np.asarray(slack, dtype=float), (self.rows,))[self.slack]
        try:
            solution = self._solution(a, c)
        except SubproblemUnsolved as unsolved:
            if not self._hard:
                if unsolved.claim is Claim.INFEASIBLE and not self.slack.all():
                    raise NotSeparableError from unsolved
                raise
            if self._bias_unit is not None:
                raise
            self._examine()
            solution = self._solution(a, c)
        parts = np.split(solution.z, self._starts)
        xi = np.zeros(self.rows)
        xi[self.slack] = parts[-1]
        v = parts[0] - parts[1] if self.sized else parts[0]
        w, b = v / self._unit, parts[-2] / (self._bias_unit or 1.0)
        if self._hard:
            margin = float((self._M @ w + self._B @ b).min())
            w, b = (w / margin, b / margin) if margin > 0 else (w, b)
        plane = Hyperplane(w, b - self._shift @ w, np.maximum(xi, 0.0))
        return plane, None if solution.row_duals is None else solution.row_duals / self._factor

    def _solution(self, a: Vector, c: Vector) -> Solution:
        a, c = self._factor / self._unit * a, self._factor * c
        cost = np.concatenate([a, a] if self.sized else [np.zeros(self.d)])
        return self.dispatcher.solve(np.concatenate([cost, np.zeros(self.biases), c]))

    def _examine(self) -> None:
        """Solvers fail on hard margins where w has to be large: try again in units of a plane that separates."""
        w, b = separating_plane(self._M, self._B)
        self._bias_unit = margin = float((self._M @ w + self._B @ b).min())
        self._load(margin / float(np.linalg.norm(w)), margin)


def _centred(M: Any, B: Any) -> tuple[Any, Matrix]:
    """(M − BC, C) with C = B⁺M; a sparse M is left as it is."""
    if sp.issparse(M):
        return M, np.zeros((B.shape[1], M.shape[1]))
    dense = B.toarray() if sp.issparse(B) else B
    C: Matrix = np.linalg.lstsq(dense, M, rcond=None)[0]
    return M - dense @ C, C


def separating_plane(M: Any, B: Any) -> tuple[Vector, Vector]:
    """(w, b) with Mw + Bb > 0: the largest margin with weights of at most 1 where the columns of M are of size 1.

    The margin is computed from (w, b), so that the answer is a proof; :class:`NotSeparableError` if it is not positive.

    >>> w, b = separating_plane(np.array([[0.0], [2e-9]]), np.array([[-1.0], [1.0]]))
    >>> bool(b[0] < 0 < 2e-9 * w[0] + b[0])
    True
    """
    rows, d = M.shape
    scale = column_sizes(M)
    unit = sp.csc_array(M @ sp.diags_array(1.0 / scale))
    biases = B.shape[1]
    problem = ConvexProblem(
        c=np.append(np.zeros(d + biases), -1.0),
        A=sp.csc_array(sp.hstack([unit, sp.csc_array(B), sp.csc_array(-np.ones((rows, 1)))])),
        row_lower=np.zeros(rows),
        row_upper=np.full(rows, np.inf),
        lower=np.concatenate([np.full(d, -1.0), np.full(biases + 1, -np.inf)]),
        upper=np.concatenate([np.full(d, 1.0), np.full(biases, np.inf), [1.0]]),
    )
    z = Dispatcher(problem).solve(problem.c).z
    u, b = z[:d], z[d:-1]
    if not (unit @ u + B @ b).min() > SMALLEST_MARGIN:
        raise NotSeparableError
    return u / scale, b


def column_sizes(M: Any) -> Vector:
    """The largest entries of the columns; 1 for those without any.

    >>> column_sizes(np.array([[3.0, 0.0], [-4.0, 0.0]]))
    array([4., 1.])
    """
    sizes = np.asarray(abs(M).max(axis=0).todense() if sp.issparse(M) else np.abs(M).max(axis=0)).ravel()
    return np.where(sizes > 0, sizes, 1.0)


def unit_of(M: Any) -> float:
    """A power of two, by which nothing is rounded, of the size of M.

    >>> unit_of(np.array([[3.0, -1000.0]]))
    1024.0
    """
    largest = float(abs(M).max()) if M.shape[1] else 0.0
    return float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0


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

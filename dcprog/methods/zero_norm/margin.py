"""The convex problem inside every step of zero-norm minimisation: weighted norms under margin constraints.

    min  a'|w| + ½κ‖w‖² + c'ξ + ½ Σ νᵢξᵢ²    subject to    M w + B b + ξ ≥ e,  ξ ≥ 0

For two classes M = DX and B = y; for more, :mod:`dcprog.learning.multiclass` has M and B. Between the steps of ℓ1-AROM only
the costs a and c change: to rescale the columns of X by z, as Problem 7 of Weston et al. (2003) does, is to divide a by z.

:class:`MarginProblem` is this problem for one M and B. It chooses the units, since solvers stop at absolute tolerances, and
decides what an unsolved problem means. :class:`MarginArrays` is the problem in given units, as arrays for a solver.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DataError
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved
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
    """The problem above for matrices M and B, loaded once and solved for one pair of costs (a, c) after the other.

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
        everywhere = (M.shape[0],)
        self._slack = np.zeros(everywhere, dtype=bool) if slack is None else slack
        nu, least, most = (np.broadcast_to(np.asarray(v, dtype=float), everywhere) for v in (slack_square, least, most))
        self._hard = not self._slack.any() and bool((least == 1.0).all() and np.isinf(most).all())
        self._terms = Terms(sized, square, self._slack, nu, least, most)
        self._M, self._shift = _centred(M, B)
        self._B, self._solver = B, solver
        self._arrays = MarginArrays(self._M, B, self._terms, unit_of(self._M), 1.0, solver)
        self._separates = False

    def solve(self, size: float | Vector = 0.0, slack: float | Vector = 0.0) -> Hyperplane:
        """The solution for the costs a = ``size`` and c = ``slack``, each a number or as long as w and ξ.

        Raises :class:`NotSeparableError` if there is none.
        """
        return self.solve_with_duals(size, slack)[0]

    def solve_with_duals(self, size: float | Vector = 0.0, slack: float | Vector = 0.0) -> tuple[Hyperplane, Vector | None]:
        """The same, and the multipliers of the rows if the solver gives them."""
        a = np.broadcast_to(np.asarray(size, dtype=float), (self._M.shape[1],))
        c = np.broadcast_to(np.asarray(slack, dtype=float), self._slack.shape)
        try:
            plane, duals = self._arrays.solve(a, c)
        except SubproblemUnsolved as unsolved:
            self._examine(unsolved)
            plane, duals = self._arrays.solve(a, c)
        if self._hard:
            margin = float((self._M @ plane.w + self._B @ plane.b).min())
            plane = plane._replace(w=plane.w / margin, b=plane.b / margin) if margin > 0 else plane
        return plane._replace(b=plane.b - self._shift @ plane.w), duals

    def _examine(self, unsolved: SubproblemUnsolved) -> None:
        """Solvers fail on hard margins where w has to be large. Then the units of a plane that separates are taken, in
        which w and b are of size 1; if there is no such plane, or no use in it, the error says why nothing was found.
        """
        if not self._hard and unsolved.claim is Claim.INFEASIBLE and not self._slack.all():
            raise NotSeparableError from unsolved
        if not self._hard or self._separates:
            raise unsolved
        w, b = separating_plane(self._M, self._B)
        margin = float((self._M @ w + self._B @ b).min())
        unit = margin / float(np.linalg.norm(w))
        self._arrays, self._separates = MarginArrays(self._M, self._B, self._terms, unit, margin, self._solver), True


class Terms(NamedTuple):
    """Which terms and rows a margin problem has: those of :class:`MarginProblem`, vectors with an entry for each row."""

    sized: bool
    square: float
    slack: Mask
    slack_square: Vector
    least: Vector
    most: Vector


class MarginArrays:
    """A margin problem for w = v/u and b = β/t as an LP or QP. Multiplied by f = u² (f = u if κ = 0) it is

        min  f/u a'|v| + ½κ‖v‖² + f c'ξ + ½ f Σ νᵢξᵢ²    subject to    (M/u) v + (B/t) β + ξ ≥ e,  ξ ≥ 0

    with the variables v, or its positive and its negative part if |w| has a cost, then β, then the slacks that there are.
    """

    def __init__(self, M: Any, B: Any, terms: Terms, unit: float, bias_unit: float, solver: str) -> None:
        self._terms, self._unit, self._bias_unit = terms, unit, bias_unit
        self._factor = unit**2 if terms.square else unit if terms.sized else 1.0
        slacks = sp.eye_array(M.shape[0], format="csc")[:, np.flatnonzero(terms.slack)]
        parts = [sp.csc_array(M * (sign / unit)) for sign in ((1.0, -1.0) if terms.sized else (1.0,))]
        blocks = [*parts, sp.csc_array(B / bias_unit), slacks]
        A = sp.csc_array(sp.hstack(blocks))
        weights, self._biases = len(parts) * M.shape[1], B.shape[1]
        self._starts = np.cumsum([block.shape[1] for block in blocks])[:-1]
        lower = np.concatenate(
            [np.full(weights, 0.0 if terms.sized else -np.inf), np.full(self._biases, -np.inf), np.zeros(slacks.shape[1])]
        )
        Q = np.concatenate(
            [np.full(weights, terms.square), np.zeros(self._biases), self._factor * terms.slack_square[terms.slack]]
        )
        problem = ConvexProblem(
            c=np.zeros(A.shape[1]),
            A=A,
            row_lower=terms.least,
            row_upper=terms.most,
            lower=lower,
            upper=np.full(A.shape[1], np.inf),
            Q=sp.csc_array(sp.diags_array(Q)) if Q.any() else None,
        )
        self._dispatcher = Dispatcher(problem, solver)

    def solve(self, a: Vector, c: Vector) -> tuple[Hyperplane, Vector | None]:
        """The solution for the costs a and c, and the multipliers of the rows, in the units of M and B."""
        sized, slack = self._terms.sized, self._terms.slack
        size = self._factor / self._unit * a
        cost = [size, size] if sized else [np.zeros(len(a))]
        solution = self._dispatcher.solve(np.concatenate([*cost, np.zeros(self._biases), self._factor * c[slack]]))
        *parts, b, slacks = np.split(solution.z, self._starts)
        xi = np.zeros(len(slack))
        xi[slack] = np.maximum(slacks, 0.0)
        w = (parts[0] - parts[1] if sized else parts[0]) / self._unit
        duals = None if solution.row_duals is None else solution.row_duals / self._factor
        return Hyperplane(w, b / self._bias_unit, xi), duals


def _centred(M: Any, B: Any) -> tuple[Any, Matrix]:
    """(M − BC, C) with C = B⁺M, which b makes up for: Mw + Bb = (M − BC)w + B(b + Cw). A sparse M is left as it is."""
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

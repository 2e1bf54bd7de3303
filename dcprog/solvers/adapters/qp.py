"""What the adapters of QP solvers share: bounds as rows, options onto a settings object, vectors into an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.change import same_pattern
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import CapabilityError, unknown_name
from dcprog.solvers.rays import proved
from dcprog.typing import Indices, Mask, Sparse, Vector

INFINITY = 1e20
"""A limit beyond this limits nothing: the convention of HiGHS and Clarabel."""
PROOF_SECONDS = 10.0
"""A proof that a problem has no point, or no end, is given up after this."""


@dataclass(frozen=True, eq=False)
class Rows:
    """lower ≤ K z ≤ upper: the rows of A that limit something, then one row zⱼ for each variable whose bounds are rows."""

    K: Sparse
    lower: Vector
    upper: Vector
    kept: Indices
    """Which rows of A come first in K."""
    bounded: Indices
    """The variables whose bounds are the others."""
    m: int
    """How many rows A has."""
    off: Mask | None = None
    """Rows that were switched off: 0'z, between −1 and 1 or equal to 0."""

    @property
    def equality(self) -> Mask:
        """Mask of the rows that are equations."""
        return np.equal(self.lower, self.upper)

    def follow(self, problem: ConvexProblem, bounds: Mask, kinds: bool = True) -> Rows | str:
        """These rows with the numbers of ``problem``, where ``bounds`` names the variables whose bounds are rows; or why
        what holds them cannot take those in place. A row that limits nothing any more is switched off. With ``kinds``
        equations stay equations, and the others others.
        """
        limited = _limited(problem.row_lower, problem.row_upper)
        limited[self.kept] = False
        if limited.any():
            return "a row was switched on that was off when the problem was opened"
        come = bounds.copy()
        come[self.bounded] = False
        if come.any():
            return "a variable was fixed, or got a bound that it had not when the problem was opened"
        now = _rows(problem, self.kept, self.bounded)
        if not same_pattern(now.K, self.K):
            return "a matrix has another pattern"
        off = np.isinf(now.lower) & np.isinf(now.upper)
        if kinds and (now.equality != self.equality)[~off].any():
            return "a row became an equation, or is none any more"
        if not off.any():
            return now
        K = now.K.copy()
        K.data[off[K.indices]] = 0.0
        room = np.where(self.equality, 0.0, 1.0)
        return replace(now, K=K, lower=np.where(off, -room, now.lower), upper=np.where(off, room, now.upper), off=off)

    def duals(self, y: Vector) -> Vector:
        """Duals of all rows of A, given those of K."""
        out = np.zeros(self.m)
        k = len(self.kept)
        out[self.kept] = y[:k] if self.off is None else np.where(self.off[:k], 0.0, y[:k])
        return out


def rows_of(problem: ConvexProblem, bounds: Mask) -> Rows:
    """The rows of ``problem``, and the bounds of the variables in the mask ``bounds``, with ±∞ for every absent limit.

    >>> p = ConvexProblem(c=np.zeros(2), A=sp.csr_array([[1.0, 1.0], [0.0, 3.0]]), row_lower=np.array([1.0, -np.inf]),
    ...                row_upper=np.array([1e30, np.inf]), lower=np.zeros(2), upper=np.array([0.0, 2.0]))
    >>> rows = rows_of(p, p.lower == p.upper)
    >>> rows.K.toarray().tolist(), rows.lower.tolist(), rows.upper.tolist()
    ([[1.0, 1.0], [1.0, 0.0]], [1.0, 0.0], [inf, 0.0])
    >>> rows.duals(np.array([5.0, 7.0])).tolist()
    [5.0, 0.0]
    """
    return _rows(problem, np.flatnonzero(_limited(problem.row_lower, problem.row_upper)), np.flatnonzero(bounds))


def _limited(lower: Vector, upper: Vector) -> Mask:
    limited: Mask = (lower > -INFINITY) | (upper < INFINITY)
    return limited


def _rows(problem: ConvexProblem, kept: Indices, bounded: Indices) -> Rows:
    units = sp.csr_array((np.ones(len(bounded)), (np.arange(len(bounded)), bounded)), shape=(len(bounded), problem.n))
    lower = np.concatenate([problem.row_lower[kept], problem.lower[bounded]])
    upper = np.concatenate([problem.row_upper[kept], problem.upper[bounded]])
    return Rows(
        K=sp.csc_matrix(sp.vstack([sp.csr_array(problem.A)[kept], units])),
        lower=np.where(lower > -INFINITY, lower, -np.inf),
        upper=np.where(upper < INFINITY, upper, np.inf),
        kept=kept,
        bounded=bounded,
        m=problem.m,
    )


class Held:
    """A problem whose fixed variables were put into its limits and costs: an interval of width zero has no interior. They
    stay in it as variables between their value ± 1 without entries and without cost, so that others may be fixed later.

    >>> p = ConvexProblem(c=np.ones(2), A=sp.csr_array([[1.0, 1.0]]), row_lower=np.array([3.0]), row_upper=np.array([9.0]),
    ...                lower=np.array([2.0, 0.0]), upper=np.array([2.0, 5.0]))
    >>> held = Held(p)
    >>> held.problem.row_lower.tolist(), held.problem.A.toarray().tolist(), held.point(np.array([2.5, 1.0])).tolist()
    ([1.0], [[0.0, 1.0]], [2.0, 1.0])
    """

    def __init__(self, problem: ConvexProblem) -> None:
        self._fixed = np.equal(problem.lower, problem.upper)
        self._values = np.where(self._fixed, problem.lower, 0.0)
        self._pull = np.zeros(problem.n)
        self.problem = problem
        if not self._fixed.any():
            return
        shift = problem.A @ self._values
        if problem.Q is not None:
            self._pull = problem.Q @ self._values
        self.problem = replace(
            problem,
            A=_without(problem.A, np.zeros(problem.m, dtype=bool), self._fixed),
            Q=None if problem.Q is None else _without(problem.Q, self._fixed, self._fixed),
            row_lower=problem.row_lower - shift,
            row_upper=problem.row_upper - shift,
            lower=np.where(self._fixed, problem.lower - 1.0, problem.lower),
            upper=np.where(self._fixed, problem.upper + 1.0, problem.upper),
        )

    @property
    def any(self) -> bool:
        """Whether a variable is fixed."""
        return bool(self._fixed.any())

    def cost(self, c: Vector) -> Vector:
        """Linear costs of what is left."""
        return np.where(self._fixed, 0.0, c + self._pull)

    def point(self, z: Vector) -> Vector:
        """A point with the fixed variables at their values."""
        return np.where(self._fixed, self._values, z)


def _without(matrix: Sparse, rows: Mask, columns: Mask) -> Sparse:
    """The matrix with zeros stored in some rows and columns."""
    M = sp.csc_array(matrix, copy=True)
    M.data[rows[M.indices] | np.repeat(columns, np.diff(M.indptr))] = 0.0
    return M


def hessian_of(problem: ConvexProblem) -> Sparse:
    """Q in CSC, a matrix of zeros for an LP."""
    return sp.csc_matrix((problem.n, problem.n)) if problem.Q is None else sp.csc_matrix(problem.Q)


def apply_options(solver: str, settings: Any, options: Mapping[str, Any]) -> None:
    """Set every option as an attribute of a solver's ``settings``."""
    known = {name for name in dir(settings) if not name.startswith("_") and not callable(getattr(settings, name))}
    for name, value in options.items():
        if name not in known:
            raise unknown_name(f"{solver} option", name, known)
        try:
            setattr(settings, name, value)
        except TypeError:
            raise refused(solver, name, value, getattr(settings, name)) from None


def refused(solver: str, name: str, value: object, default: object) -> CapabilityError:
    """Error for an option with a value of the wrong kind."""
    return CapabilityError(
        f"{solver} option {name!r} takes values like {default!r}, got {value!r}: pass a {type(default).__name__}"
    )


def answer(
    problem: ConvexProblem, c: Vector, claim: Claim, z: Vector, row_duals: Vector, message: str, iterations: int
) -> Answer:
    """The answer, in which infeasible and unbounded are what is proved to be so, and rays and NaN are not called a point."""
    if claim in (Claim.INFEASIBLE, Claim.UNBOUNDED, Claim.FAILED):
        claim = proved(problem, c, time_limit=PROOF_SECONDS) or Claim.FAILED
    if claim in (Claim.INFEASIBLE, Claim.UNBOUNDED) or not np.isfinite(z).all():
        return Answer(claim, message=message, iterations=iterations)
    return Answer(claim, z, row_duals if np.isfinite(row_duals).all() else None, message=message, iterations=iterations)

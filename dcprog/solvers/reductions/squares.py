"""Linear costs of squares: rows zⱼ² ≤ zₖ with a zₖ of no other use are a QP, whose weights are the costs.

    min ½z'Qz + c'z + Σₖ γₖzₖ   subject to   zⱼ² ≤ zₖ, …        =        min ½z'Qz + c'z + Σₖ γₖzⱼ²

An interior point has to approach zₖ = zⱼ² for costs that differ by 1/ε² in reweighted least squares. The QP is exact, and
dividing zⱼ by the root of its weight leaves numbers of one size. Each cost is a QP of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.rays import is_empty
from dcprog.solvers.reductions.active_set import ActiveSet, ActiveSetSession
from dcprog.typing import Indices, Vector


class Squares(Solver):
    """QPs written with rows zⱼ² ≤ zₖ, by active sets; options are those of ``active-set``.

    min z₂ subject to z₁ ≥ 3, z₁² ≤ z₂:

    >>> row = SmoothSum([QuadraticTerm(sp.csr_array([[2.0, 0.0], [0.0, 0.0]])), LinearTerm([1], [-1.0])], 2)
    >>> p = ConvexProblem(c=np.array([0.0, 1.0]), A=sp.csr_array([[1.0, 0.0]]), row_lower=np.array([3.0]),
    ...                row_upper=np.array([np.inf]), lower=np.array([-np.inf, 0.0]), upper=np.full(2, np.inf),
    ...                constraints=(row,))
    >>> answer = Squares().open(p, {}).solve(p.c, None, None)
    >>> answer.z.round(9).tolist(), answer.row_duals.round(9).tolist(), answer.constraint_duals.tolist()
    ([3.0, 9.0], [6.0], [-1.0])
    """

    name = "squares"
    module = "piqp"
    distribution = "piqp"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.NLP})
    features = Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.NLP: 10})
    interruptible = False

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        rows = square_rows(problem)
        return 0.0 if isinstance(rows, str) else ActiveSet().estimate_seconds(_quadratic(problem, rows, problem.c))

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        rows = square_rows(problem)
        return rows if isinstance(rows, str) else ActiveSet().missing(_quadratic(problem, rows, problem.c))

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return SquaresSession(problem, options)


EVERYTHING = frozenset({"A", "Q", "lower", "upper"})


class SquareRows(NamedTuple):
    """ψᵢ(z) = curvatureᵢ z[inner]² − slopeᵢ z[outer]."""

    inner: Indices
    outer: Indices
    curvature: Vector
    slope: Vector


class SquaresSession(Session):
    """Makes a QP of every cost."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        rows = square_rows(problem)
        assert isinstance(rows, SquareRows), rows
        self._problem, self._options, self._rows = problem, options, rows
        self._qp: ActiveSetSession | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        rows = self._rows
        if (c[rows.outer] < 0).any():
            rest = replace(self._problem, constraints=())  # each zₖ is free to hold its square
            claim = Claim.INFEASIBLE if is_empty(rest, time_limit=time_limit) else Claim.UNBOUNDED
            return Answer(claim, message="a square has a negative cost")
        qp = _quadratic(self._problem, rows, c)
        assert qp.Q is not None
        weights = qp.Q.diagonal()
        root = np.sqrt(np.where(weights > 0, weights, 1.0))
        scale = sp.diags_array(1 / root)
        scaled = replace(
            qp,
            c=qp.c / root,
            A=qp.A @ scale,
            Q=sp.csc_array(scale @ qp.Q @ scale),
            lower=qp.lower * root,
            upper=qp.upper * root,
        )
        if self._qp is None or self._qp.change(scaled, EVERYTHING) is not None:
            self._qp = ActiveSetSession(scaled, self._options)
        answer = self._qp.solve(scaled.c, None, time_limit)
        if answer.z is None:
            return answer
        z = np.zeros(self._problem.n)
        z[_others(self._problem, rows)] = answer.z / root
        z[rows.outer] = rows.curvature * z[rows.inner] ** 2 / rows.slope
        return replace(answer, z=z, constraint_duals=-c[rows.outer] / rows.slope)


def square_rows(problem: ConvexProblem) -> SquareRows | str:
    """The constraints of ``problem`` if each is a square below a variable of no other use, or what is against that."""
    if problem.smooth is not None or not problem.constraints:
        return "it takes linear and quadratic objectives with rows zⱼ² ≤ zₖ"
    found = [_square(row) for row in problem.constraints]
    if None in found:
        return "it takes rows zⱼ² ≤ zₖ, and this problem has other non-linear ones"
    inner, outer, curvature, slope = (np.array(part) for part in zip(*(f for f in found if f is not None), strict=True))
    rows = SquareRows(inner.astype(np.int64), outer.astype(np.int64), curvature, slope)
    used = np.diff(sp.csc_array(problem.A).indptr)[outer].any() or np.isin(inner, outer).any()
    curved = problem.Q is not None and problem.Q.diagonal()[outer].any()
    if used or curved or len(np.unique(outer)) < len(outer):
        return "it takes rows zⱼ² ≤ zₖ with a zₖ that stands nowhere else, and this problem has another one"
    if (problem.lower[outer] > 0).any() or np.isfinite(problem.upper[outer]).any():
        return "it takes rows zⱼ² ≤ zₖ with a zₖ ≥ 0 without upper bound, and this problem has another one"
    return rows


def _square(row: SmoothSum) -> tuple[int, int, float, float] | None:
    """(j, k, a, s) of a zⱼ² − s zₖ ≤ 0."""
    linear = [t for t in row.terms if isinstance(t, LinearTerm)]
    squares = [t for t in row.terms if isinstance(t, QuadraticTerm)]
    if len(linear) != 1 or len(squares) != 1 or len(row.terms) != 2:
        return None
    (line,), (square,) = linear, squares
    if len(line.support) != 1 or line.constant != 0.0 or len(square.rows) != 1 or square.rows[0] != square.cols[0]:
        return None
    a, s = 0.5 * float(square.hessian_values(np.empty(0))[0]), -float(line.coefficients[0])
    return (int(square.rows[0]), int(line.support[0]), a, s) if s > 0 else None


def _others(problem: ConvexProblem, rows: SquareRows) -> Indices:
    return np.setdiff1d(np.arange(problem.n), rows.outer)


def _quadratic(problem: ConvexProblem, rows: SquareRows, c: Vector) -> ConvexProblem:
    """The QP over the other variables."""
    keep = _others(problem, rows)
    weights = np.bincount(rows.inner, 2 * c[rows.outer] * rows.curvature / rows.slope, problem.n)
    Q = sp.diags_array(weights, format="csc") if problem.Q is None else sp.csc_array(problem.Q + sp.diags_array(weights))
    return replace(
        problem,
        c=c[keep],
        A=sp.csc_array(problem.A)[:, keep],
        Q=Q[keep][:, keep],
        lower=problem.lower[keep],
        upper=problem.upper[keep],
        constraints=(),
    )

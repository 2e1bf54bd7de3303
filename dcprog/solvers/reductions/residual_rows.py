"""Squares of residuals as a QP: least squares for solvers that take sparse quadratic programs and no ‖Ax + b‖².

    min  φ(Ax + b) + …      =      min  φ(r) + …   subject to   Ax − r = −b,        φ quadratic

A'A, which is dense where A has long rows, is not formed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm
from dcprog.functions.affine import OfAffine
from dcprog.solvers.adapters.piqp import PIQP
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.typing import Vector

REFUSAL = "it takes quadratic functions of Ax + b, and this problem has other smooth parts"


class ResidualRows(Solver):
    """Quadratic functions of Ax + b by PIQP, with the residuals r = Ax + b as variables; options are PIQP's.

    min (x₁ + x₂ − 3)² subject to x ≤ 1:

    >>> from dcprog.convex.terms import SmoothSum
    >>> from dcprog.functions import SquaredNorm
    >>> term = FunctionTerm(OfAffine(SquaredNorm(), np.array([[1.0, 1.0]]), [-3.0]), np.arange(2), 1.0)
    >>> p = ConvexProblem(c=np.zeros(2), A=sp.csc_array((0, 2)), row_lower=np.zeros(0), row_upper=np.zeros(0),
    ...                lower=np.full(2, -np.inf), upper=np.ones(2), smooth=SmoothSum([term], 2))
    >>> ResidualRows().open(p, {}).solve(p.c, None, None).z.round(6).tolist()
    [1.0, 1.0]
    """

    name = "residual-rows"
    module = "piqp"
    distribution = "piqp"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.NLP})
    features = Feature.DUALS | Feature.LINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.NLP: 15})
    interruptible = False

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        return REFUSAL if lack is None and not _is_quadratic(problem) else lack

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return PIQP().estimate_seconds(with_residuals(problem)) if _is_quadratic(problem) else 0.0

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return ResidualRowsSession(problem, options)


class ResidualRowsSession(Session):
    """PIQP's session on the QP."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._n, self._m = problem.n, problem.m
        qp = with_residuals(problem)
        self._more, self._inner = qp.c - np.append(problem.c, np.zeros(qp.n - problem.n)), PIQP().open(qp, options)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        answer = self._inner.solve(np.append(c, np.zeros(len(self._more) - self._n)) + self._more, None, time_limit)
        y = None if answer.row_duals is None else answer.row_duals[: self._m]
        return replace(answer, z=None if answer.z is None else answer.z[: self._n], row_duals=y)


def with_residuals(problem: ConvexProblem) -> ConvexProblem:
    """The QP over z and the residuals of each term behind it."""
    assert problem.smooth is not None
    n = problem.n
    Q, c, rows, right = [problem.Q if problem.Q is not None else sp.csc_array((n, n))], [problem.c.copy()], [], []
    for term in problem.smooth.terms:
        if isinstance(term, QuadraticTerm):
            where = sp.csr_array(
                (np.ones(len(term.support)), (term.support, np.arange(len(term.support)))), (n, len(term.support))
            )
            Q[0] = Q[0] + where @ term.matrix @ where.T
        elif isinstance(term, LinearTerm):
            np.add.at(c[0], term.support, term.coefficients)
        else:
            assert isinstance(term, FunctionTerm)
            f = term.function
            assert isinstance(f, OfAffine)
            form = f.function.quadratic(len(f.b))
            assert form is not None
            Q.append(term.weight * form.Q)
            c.append(term.weight * form.c)
            forms = sp.coo_array(f.A)
            rows.append(sp.coo_array((forms.data, (forms.row, term.indices[forms.col])), shape=(len(f.b), n)))
            right.append(-f.b)
    equations = np.concatenate(right)
    A = sp.block_array([[problem.A, None], [sp.vstack(rows), -sp.eye_array(len(equations))]], format="csc")
    free = np.full(len(equations), np.inf)
    return ConvexProblem(
        c=np.concatenate(c),
        A=A,
        row_lower=np.concatenate([problem.row_lower, equations]),
        row_upper=np.concatenate([problem.row_upper, equations]),
        lower=np.concatenate([problem.lower, -free]),
        upper=np.concatenate([problem.upper, free]),
        Q=sp.csc_array(sp.block_diag(Q)),
    )


def _is_quadratic(problem: ConvexProblem) -> bool:
    """Whether all smooth terms are quadratic, and at least one of them is a function of Ax + b."""
    if problem.smooth is None or problem.constraints:
        return False
    terms = [t for t in problem.smooth.terms if not isinstance(t, LinearTerm | QuadraticTerm)]
    return bool(terms) and all(
        isinstance(t, FunctionTerm)
        and isinstance(t.function, OfAffine)
        and t.function.function.quadratic(len(t.function.b)) is not None
        for t in terms
    )

"""The dual of a support vector machine with a kernel as a convex QP."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.solvers.dispatch import Dispatcher
from dcprog.typing import Matrix, Vector


def maximise(
    c: Vector, Q: Matrix, row: Vector | None = None, total: float = 0.0, *, most: float = np.inf, solver: str = "auto"
) -> Vector:
    """argmax c'z − ½z'Qz subject to row·z = total, if there is a row, and 0 ≤ z ≤ most; Q positive semidefinite.

    >>> maximise(np.ones(2), np.eye(2), np.array([1.0, 1.0]), 1.0).round(6), maximise(np.ones(2), np.eye(2), most=0.4)
    (array([0.5, 0.5]), array([0.4, 0.4]))
    """
    n = len(c)
    totals = np.empty(0) if row is None else np.array([total])
    problem = ConvexProblem(
        c=-c,
        A=sp.csr_array((0, n)) if row is None else sp.csr_array(row[None, :]),
        row_lower=totals,
        row_upper=totals,
        lower=np.zeros(n),
        upper=np.full(n, most),
        Q=sp.csc_array(Q),
    )
    return Dispatcher(problem, solver).solve(problem.c).z

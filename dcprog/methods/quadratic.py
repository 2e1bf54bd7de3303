"""The duals of support vector machines with a kernel, and of the sphere around points, as one convex QP."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.solvers.dispatch import Dispatcher
from dcprog.typing import Matrix, Vector


def svm_dual(K: Matrix, y: Vector, C: float | Vector = np.inf, *, bias: bool = True, solver: str = "auto") -> Vector:
    """α of the SVM with kernel matrix K: argmax e'α − ½α'DKDα subject to 0 ≤ α ≤ C and, if it has a bias, y'α = 0.

    With C = ∞ margins are hard, and the QP is unbounded where no hyperplane separates the classes.

    >>> svm_dual(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([-1.0, 1.0])).round(6)
    array([0.5, 0.5])
    """
    return maximise(np.ones(len(y)), y[:, None] * K * y, y if bias else None, most=C, solver=solver)


def maximise(
    c: Vector,
    Q: Matrix,
    row: Vector | None = None,
    total: float = 0.0,
    *,
    most: float | Vector = np.inf,
    solver: str = "auto",
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
        upper=np.broadcast_to(np.asarray(most, dtype=float), (n,)).copy(),
        Q=sp.csc_array(Q),
    )
    return Dispatcher(problem, solver).solve(problem.c).z

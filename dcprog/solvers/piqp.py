"""PIQP: a proximal interior-point method for LP and convex QP (Schwan, Jiang, Kuhn & Jones, CDC 2023)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dcprog._typing import Vector
from dcprog.solvers._qp import INFINITY, answer, apply_options, hessian_of, rows_of
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

DENSE_FROM = 0.11
"""Share of non-zeros in [Q; A] from which dense linear algebra is faster. Seconds dense : sparse on SVM-like QPs, at this
share: 0.015 29:1 (62 × 2000), 0.05 3.6:1 (351 × 34), 0.09 2:1 (62 × 500), 0.10 1.4:1 (208 × 60), 0.11 0.55:1 (476 × 166),
0.15 0.3:1, 0.17 0.3:1 (100 × 100), 1.0 0.04:1 (random, 400 variables); below 100 variables both take under 1 ms."""

CLAIMS = {
    "PIQP_SOLVED": Claim.OPTIMAL,
    "PIQP_PRIMAL_INFEASIBLE": Claim.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Claim.UNBOUNDED,
}


class PIQP(Solver):
    """PIQP by its own interface, at tolerance 1e-11. It knows no time limit: ``max_iter`` (250) is what bounds a solve.

    On 64 LPs and QPs of SVMs on eight data sets all were solved, and each decade of tolerance from 1e-9 to 1e-12 cost 4 %
    more iterations; of 3000 degenerate random ones one was not solved at 1e-11, and two at 1e-12.

    >>> import scipy.sparse as sp
    >>> p = Subproblem(c=np.array([-2.0, -3.0]), A=sp.csr_array([[1.0, 1.0]]), row_lower=np.array([-np.inf]),
    ...                row_upper=np.array([3.0]), lower=np.zeros(2), upper=np.full(2, np.inf), Q=sp.eye_array(2))
    >>> answer = PIQP().open(p, {}).solve(p.c, None, None)
    >>> answer.z.round(6).tolist(), answer.row_duals.round(6).tolist()
    ([1.0, 2.0], [-1.0])
    """

    name = "piqp"
    module = "piqp"
    distribution = "piqp"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.DUALS | Feature.LINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return PIQPSession(problem, options)


class PIQPSession(Session):
    """min ½z'Qz + c'z with equations, two-sided rows and bounds, each given apart."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        import piqp

        self.problem = problem
        # An interval of width zero has no interior: fixed variables are equations here.
        fixed = problem.lower == problem.upper
        self.rows = rows_of(problem, fixed)
        Q, K, eq = hessian_of(problem), self.rows.K.tocsr(), self.rows.equality
        share = (Q.nnz + K.nnz) / (problem.n * (problem.n + K.shape[0]))
        dense = options["kkt_solver"] == piqp.dense_cholesky if "kkt_solver" in options else share > DENSE_FROM
        self.solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
        settings = self.solver.settings
        settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-11
        apply_options("piqp", settings, options)
        equations, limits = K[eq].tocsc(), K[~eq].tocsc()
        if dense:
            Q, equations, limits = Q.toarray(), equations.toarray(), limits.toarray()
        lower = np.where(fixed | (problem.lower <= -INFINITY), -np.inf, problem.lower)
        upper = np.where(fixed | (problem.upper >= INFINITY), np.inf, problem.upper)
        sides = self.rows.lower[eq], limits, self.rows.lower[~eq], self.rows.upper[~eq]
        self.solver.setup(Q, problem.c, equations, *sides, lower, upper)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if time_limit is not None and time_limit <= 0:
            return Answer(Claim.TIME_LIMIT, message="no time left")
        self.solver.update(c=c)
        status = self.solver.solve().name
        found, eq = self.solver.result, self.rows.equality
        z, y = np.array(found.x), np.empty(len(eq))
        y[eq], y[~eq] = -found.y, found.z_l - found.z_u
        claim = CLAIMS.get(status, Claim.FAILED)
        return answer(self.problem, c, claim, z, self.rows.duals(y), status, found.info.iter)

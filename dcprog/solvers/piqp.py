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
    """PIQP by its own interface, at tolerance 1e-9. It knows no time limit: ``max_iter`` (250) is what bounds a solve."""

    name = "piqp"
    module = "piqp"
    distribution = "piqp"
    install = "pip install piqp"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.DUALS | Feature.LINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return PIQPSession(problem, options)


class PIQPSession(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        import piqp

        self.problem = problem
        # An interval of width zero has no interior: fixed variables are equations here.
        fixed = problem.lower == problem.upper
        self.rows = rows_of(problem, fixed)
        Q, K, eq = hessian_of(problem), self.rows.K, self.rows.equality
        dense = Q.nnz + K.nnz > DENSE_FROM * problem.n * (problem.n + K.shape[0])
        self.solver = piqp.DenseSolver() if dense else piqp.SparseSolver()
        settings = self.solver.settings
        settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-9
        apply_options("piqp", settings, options)
        array = (lambda M: M.toarray()) if dense else (lambda M: M)
        K = K.tocsr()
        self.solver.setup(
            array(Q), problem.c, array(K[eq].tocsc()), self.rows.lower[eq],
            array(K[~eq].tocsc()), self.rows.lower[~eq], self.rows.upper[~eq],
            np.where(fixed | (problem.lower <= -INFINITY), -np.inf, problem.lower),
            np.where(fixed | (problem.upper >= INFINITY), np.inf, problem.upper),
        )  # fmt: skip

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        self.solver.update(c=c)
        status = self.solver.solve().name
        found, eq = self.solver.result, self.rows.equality
        z, y = np.array(found.x), np.empty(len(eq))
        y[eq], y[~eq] = -found.y, found.z_l - found.z_u
        claim = CLAIMS.get(status, Claim.FAILED)
        return answer(self.problem, c, claim, z, self.rows.duals(y), status, found.info.iter)

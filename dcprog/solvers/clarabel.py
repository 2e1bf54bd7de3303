"""Clarabel: an interior-point method on the homogeneous embedding, for LP and convex QP (Goulart & Chen, 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Vector
from dcprog.errors import CapabilityError
from dcprog.solvers._qp import INFINITY, answer, apply_options, hessian_of, rows_of
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

CLAIMS = {
    "Solved": Claim.OPTIMAL,
    "AlmostSolved": Claim.OPTIMAL,  # to the reduced tolerances, which are set below
    "PrimalInfeasible": Claim.INFEASIBLE,
    "AlmostPrimalInfeasible": Claim.INFEASIBLE,
    "DualInfeasible": Claim.UNBOUNDED,
    "AlmostDualInfeasible": Claim.UNBOUNDED,
    "MaxTime": Claim.TIME_LIMIT,
}


class Clarabel(Solver):
    """Clarabel by its own interface, at tolerance 1e-10 and on one thread."""

    name = "clarabel"
    module = "clarabel"
    distribution = "clarabel"
    install = "pip install 'dcprog[solvers]'"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.DUALS | Feature.LINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        return ClarabelSession(problem, options)


class ClarabelSession(Session):
    """min ½z'Qz + q'z, Gz + s = b, with s = 0 for equations and s ≥ 0 for upper limits and for lower ones turned round."""

    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        import clarabel

        self.problem = problem
        self.rows = rows_of(problem, (problem.lower > -INFINITY) | (problem.upper < INFINITY))
        lower, upper, eq = self.rows.lower, self.rows.upper, self.rows.equality
        self.equal, self.above, self.below = (
            np.flatnonzero(k) for k in (eq, ~eq & (upper < np.inf), ~eq & (lower > -np.inf))
        )
        K = self.rows.K.tocsr()
        G = sp.csc_matrix(sp.vstack([K[self.equal], K[self.above], -K[self.below]]))
        b = np.concatenate([upper[self.equal], upper[self.above], -lower[self.below]])
        self.settings = settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.presolve_enable = False  # it would drop rows, and then the cost could not be changed any more
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = 1e-10
        settings.reduced_tol_feas = settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = 1e-7
        apply_options("clarabel", settings, options)
        self.limit = settings.time_limit
        cones = [clarabel.ZeroConeT(len(self.equal)), clarabel.NonnegativeConeT(len(self.above) + len(self.below))]
        try:
            self.solver = clarabel.DefaultSolver(
                sp.triu(hessian_of(problem), format="csc"), problem.c, G, b, cones, settings
            )
        except Exception as error:  # it has no class of its own for a value that a setting does not take
            raise CapabilityError(f"clarabel does not take the options {dict(options)}: {error}") from None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        self.settings.time_limit = self.limit if time_limit is None else min(self.limit, time_limit)
        self.solver.update(q=c, settings=self.settings)
        found = self.solver.solve()
        status = str(found.status)
        s, k = np.array(found.z), (len(self.equal), len(self.equal) + len(self.above))
        y = np.zeros(len(self.rows.lower))
        y[self.equal] = -s[: k[0]]
        y[self.above] -= s[k[0] : k[1]]
        y[self.below] += s[k[1] :]
        claim = CLAIMS.get(status, Claim.FAILED)
        return answer(self.problem, c, claim, np.array(found.x), self.rows.duals(y), status, found.iterations)

"""OSQP: operator splitting with polishing for convex QP (Stellato, Banjac, Goulart, Bemporad & Boyd, 2020)."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.change import same_pattern
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import CapabilityError
from dcprog.solvers.adapters.piqp import sparse_operations
from dcprog.solvers.adapters.qp import INFINITY, answer, apply_options, hessian_of, rows_of
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.typing import Mask, Sparse, Vector

DEFAULTS = {
    "verbose": False, "polishing": True, "eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 50_000,
    "eps_prim_inf": 1e-6, "eps_dual_inf": 1e-6,  # at OSQP's 1e-4 two of 3000 small problems with a solution were given up
}  # fmt: skip

CLAIMS = {
    "OSQP_SOLVED": Claim.OPTIMAL,
    "OSQP_PRIMAL_INFEASIBLE": Claim.INFEASIBLE,
    "OSQP_PRIMAL_INFEASIBLE_INACCURATE": Claim.INFEASIBLE,
    "OSQP_DUAL_INFEASIBLE": Claim.UNBOUNDED,
    "OSQP_DUAL_INFEASIBLE_INACCURATE": Claim.UNBOUNDED,
    "OSQP_TIME_LIMIT_REACHED": Claim.TIME_LIMIT,
}


SET_UP_RATE = 5e8
"""Operations of a factorisation for a second of set-up: 5e8 to 7e8 on dense problems of 700 to 1400 variables."""
UNLIMITED = 1e9


class OSQP(Solver):
    """OSQP by its own interface, with polishing, warm-started with the last solution."""

    name = "osqp"
    module = "osqp"
    distribution = "osqp"
    install = "pip install 'dcprog[solvers]'"
    classes = frozenset({ProblemClass.QP})
    features = Feature.DUALS | Feature.LINEAR_ROWS | Feature.WARM_START
    ranks = MappingProxyType({ProblemClass.QP: 60})
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper"})
    interruptible = False  # while it is set up

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return sparse_operations(problem) / SET_UP_RATE

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return OSQPSession(problem, options)


class OSQPSession(Session):
    """min ½z'Qz + q'z, lower ≤ Kz ≤ upper, in which bounds are rows too."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        import osqp

        self.problem = problem
        self.rows = rows_of(problem, _bounded(problem))
        self.statuses = {status.value: status.name for status in osqp.SolverStatus}
        self.solver = osqp.OSQP(algebra="builtin")  # the others use several threads, or a graphics card
        self.settings = self.solver.ext.OSQPSettings()
        self.solver.ext.osqp_set_default_settings(self.settings)
        self.options, self.ready = dict(options), False
        apply_options("osqp", self.settings, DEFAULTS | self.options)
        if options:  # refused ones are refused now, on the smallest problem there is
            self._set_up(
                osqp.OSQP(algebra="builtin"), sp.csc_matrix(np.eye(1)), np.zeros(1), np.eye(1), np.zeros(1), np.zeros(1)
            )

    def _load(self) -> None:
        """The set-up, which factors the matrix: seconds for a large one, so that it belongs to the first solve."""
        self._set_up(self.solver, hessian_of(self.problem), self.problem.c, *self._rows())
        self.ready = True

    def _rows(self) -> tuple[Sparse, Vector, Vector]:
        # A last equation 0'z = 0: without an active row OSQP does not polish, and says so on stdout whatever its verbosity.
        K = sp.csc_matrix(sp.vstack([self.rows.K, sp.csr_array((1, self.problem.n))]))
        return K, np.append(self.rows.lower, 0.0), np.append(self.rows.upper, 0.0)

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        rows = self.rows.follow(problem, _bounded(problem), kinds=False)
        if isinstance(rows, str):
            return rows
        if not same_pattern(hessian_of(problem), hessian_of(self.problem)):
            return "Q has another pattern"
        entries = moved & {"A", "Q"} or rows.off is not None or self.rows.off is not None
        self.problem, self.rows = problem, rows
        if self.ready:
            K, lower, upper = self._rows()
            P = sp.triu(hessian_of(problem), format="csc")
            self.solver.update(l=lower, u=upper, **({"Px": P.data, "Ax": K.data} if entries else {}))
        return None

    def _set_up(self, solver: Any, Q: Sparse, c: Vector, K: Sparse, lower: Vector, upper: Vector) -> None:
        import osqp

        try:
            solver.setup(Q, c, sp.csc_matrix(K), lower, upper, **(DEFAULTS | self.options))
        except osqp.OSQPException as error:
            reason = osqp.SolverError(error.args[0]).name if error.args else "unknown"
            raise CapabilityError(f"osqp does not take this problem with the options {self.options}: {reason}") from None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        limit = min(self.settings.time_limit, np.inf if time_limit is None else time_limit)
        end = time.monotonic() + limit
        if not self.ready:
            if limit < UNLIMITED and (estimate := OSQP().estimate_seconds(self.problem)) >= limit:
                return Answer(Claim.TIME_LIMIT, message=f"its set-up takes about {estimate:.1g} s")
            self._load()
        self.solver.update(q=c)
        if start is not None:
            self.solver.warm_start(x=start)
        # Splitting is slow at the end, and may stall: where polishing hits the active set earlier it is exact at once.
        rough, polished = self._run(c, 100.0, end - time.monotonic())
        if polished or rough.claim is not Claim.OPTIMAL:
            return rough
        tight, _ = self._run(c, 1.0, end - time.monotonic())
        best = tight if tight.claim is Claim.OPTIMAL else rough
        return dataclasses.replace(best, iterations=rough.iterations + tight.iterations)

    def _run(self, c: Vector, factor: float, limit: float) -> tuple[Answer, bool]:
        """The answer to ``factor`` times the tolerance, from where the solver is, and whether it was polished."""
        eps_abs, eps_rel = factor * self.settings.eps_abs, factor * self.settings.eps_rel
        self.solver.update_settings(eps_abs=eps_abs, eps_rel=eps_rel, time_limit=max(limit, 1e-9))  # 0 is refused
        found = self.solver.solve(raise_error=False)
        status = self.statuses[found.info.status_val]
        if status == "OSQP_SIGINT":  # OSQP takes Ctrl-C for itself
            raise KeyboardInterrupt
        row_duals = -self.rows.duals(np.array(found.y))
        claim = CLAIMS.get(status, Claim.FAILED)
        found_answer = answer(self.problem, c, claim, np.array(found.x), row_duals, status, found.info.iter)
        return found_answer, found.info.status_polish == 1


def _bounded(problem: ConvexProblem) -> Mask:
    """The variables that have a bound, which is a row here."""
    bounded: Mask = (problem.lower > -INFINITY) | (problem.upper < INFINITY)
    return bounded

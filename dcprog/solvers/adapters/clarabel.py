"""Clarabel: an interior-point method on the homogeneous embedding, for LP, QP and cones (Goulart & Chen, 2024)."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import verify
from dcprog.convex.change import same_pattern
from dcprog.convex.newton import has_model, model_at
from dcprog.convex.polish import SHARP, snapped
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import CapabilityError
from dcprog.solvers.adapters.clarabel_cones import Lifted, resized
from dcprog.solvers.adapters.piqp import sparse_operations
from dcprog.solvers.adapters.qp import INFINITY, Rows, answer, apply_options, hessian_of, rows_of
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.typing import Mask, Sparse, Vector

CLAIMS = {
    "Solved": Claim.OPTIMAL,
    "AlmostSolved": Claim.OPTIMAL,  # to the reduced tolerances, which are set below
    "PrimalInfeasible": Claim.INFEASIBLE,
    "AlmostPrimalInfeasible": Claim.INFEASIBLE,
    "DualInfeasible": Claim.UNBOUNDED,
    "AlmostDualInfeasible": Claim.UNBOUNDED,
    "MaxTime": Claim.TIME_LIMIT,
    "NumericalError": Claim.OPTIMAL,  # mostly next to the solution, too; what is not does not pass verification
    "InsufficientProgress": Claim.OPTIMAL,  # mostly a little short of 1e-10, which the certificate does not ask for
}
RESCUE = 25
NEWTON_STEPS = 3
"""As long as each of them brings digits."""
SET_UP_RATE = 5e8
"""Operations of one factorisation for a second of set-up: 4e8 to 2e9 on problems that take more than 0.05 s."""


class Clarabel(Solver):
    """Clarabel by its own interface, at tolerance 1e-10 and on one thread.

    It runs beside the thread that asks, which leaves it at the time limit or at Ctrl-C; only its set-up cannot be left.
    """

    name = "clarabel"
    careful = {}  # noqa: RUF012
    module = "clarabel"
    distribution = "clarabel"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP, ProblemClass.CONIC})
    features = Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS | Feature.CONES
    ranks = MappingProxyType({ProblemClass.LP: 20, ProblemClass.QP: 30, ProblemClass.CONIC: 10})
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper", "constraints"})
    interruptible = False

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return sparse_operations(problem) / SET_UP_RATE

    def rank(self, problem: ConvexProblem) -> int | None:
        """What is smooth and has a conic form goes to Ipopt, which begins warm, first: quadratic rows took 0.2 to 0.8 of the
        time there. What is said of sets without a point is said sooner here than by anybody else."""
        if problem.problem_class is ProblemClass.NLP:
            return RESCUE if problem.is_conic else None
        return super().rank(problem)

    def missing(self, problem: ConvexProblem) -> str | None:
        if problem.problem_class is ProblemClass.NLP:
            return None if problem.is_conic else "some function of this subproblem has no conic form"
        return super().missing(problem)

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return ClarabelSession(problem, options)


class ClarabelSession(Session):
    """min ½z'Qz + q'z, Gz + s = b, with s = 0 for equations and s ≥ 0 for upper limits and for lower ones turned round."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        import clarabel

        self.problem, self.rows = problem, rows_of(problem, _bounded(problem))
        lower, upper, eq = self.rows.lower, self.rows.upper, self.rows.equality
        self.equal, self.above, self.below = (
            np.flatnonzero(k) for k in (eq, ~eq & (upper < np.inf), ~eq & (lower > -np.inf))
        )
        self.settings = settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.presolve_enable = False  # it would drop rows, and then the cost could not be changed any more
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = 1e-10
        settings.reduced_tol_feas = settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = 1e-7
        if has_model(problem):  # a Newton step brings the last digits, where curved cones end with a numerical error
            settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = 1e-9
        apply_options("clarabel", settings, options)
        self.limit, settings.time_limit = settings.time_limit, np.inf
        cones = [clarabel.ZeroConeT(len(self.equal)), clarabel.NonnegativeConeT(len(self.above) + len(self.below))]
        self.lifted = Lifted(problem) if problem.smooth is not None or problem.constraints else None
        if self.lifted is not None:
            cones += self.lifted.rows()[2]
            settings.chordal_decomposition_enable = False  # it would forbid another cost, too
        self.cones = cones
        if options:
            self._check(options)
        self.solver: Any = None

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        rows = self.rows.follow(problem, _bounded(problem))
        if isinstance(rows, str):
            return rows
        if not self._has_sides(rows):
            return "a row or variable got a limit that it had not when the problem was opened"
        if not same_pattern(hessian_of(problem), hessian_of(self.problem)):
            return "Q has another pattern"
        before = self.problem, self.rows, self.lifted
        self.problem, self.rows = problem, rows
        if "constraints" in moved:
            self.lifted = Lifted(problem)
            if not self.lifted.is_laid_out_as(before[2]):
                self.problem, self.rows, self.lifted = before
                return "the cones of a constraint are laid out otherwise"
            self.__dict__.pop("_layout", None)
        if self.solver is not None:
            numbers = {"P": self._hessian().data} if "Q" in moved else {}
            entries, right = self._numbers()
            self.solver.update(A=entries, b=right, **numbers)
        return None

    def _has_sides(self, rows: Rows) -> bool:
        """Whether each limit has a row of G."""
        above, below = np.isfinite(rows.upper), np.isfinite(rows.lower)
        above[self.equal] = above[self.above] = below[self.equal] = below[self.below] = False
        if rows.off is not None:
            above[rows.off] = below[rows.off] = False
        return not (above.any() or below.any())

    def _hessian(self) -> Sparse:
        """The upper triangle of Q, with the quadratic costs of t."""
        P = hessian_of(self.problem)
        return sp.triu(P if self.lifted is None else self.lifted.hessian(P), format="csc")

    @cached_property
    def _layout(self) -> Sparse:
        """G, with ± the number of each entry in place of its value: from 1 on those of K, then those that cones bring."""
        K = self.rows.K
        numbered = sp.csr_array(sp.csc_array((np.arange(1.0, K.nnz + 1), K.indices, K.indptr), shape=K.shape))
        G = sp.vstack([numbered[self.equal], numbered[self.above], -numbered[self.below]])
        if self.lifted is not None:
            ours = sp.csc_array(self.lifted.rows()[0])
            data = np.arange(K.nnz + 1.0, K.nnz + ours.nnz + 1)
            G = sp.vstack([resized(G, self.lifted.size), sp.csc_array((data, ours.indices, ours.indptr), shape=ours.shape)])
        return sp.csc_matrix(G)

    def _numbers(self) -> tuple[Vector, Vector]:
        """The entries of G, and b; a side that limits nothing any more is 0'z ≤ 1."""
        lower, upper, which = self.rows.lower, self.rows.upper, self._layout.data
        values, b = self.rows.K.data, np.concatenate([upper[self.equal], upper[self.above], -lower[self.below]])
        idle = np.isinf(b)
        b[idle] = 1.0
        if self.lifted is not None:
            ours, right, _ = self.lifted.rows()
            values, b, idle = np.append(values, ours.data), np.append(b, right), np.append(idle, np.zeros(len(right), bool))
        entries = np.sign(which) * values[np.abs(which).astype(np.int64) - 1]
        if idle.any():
            entries[idle[self._layout.indices]] = 0.0
        return entries, b

    def _cost(self, c: Vector) -> Vector:
        return c if self.lifted is None else self.lifted.cost(c)

    def _check(self, options: Mapping[str, Any]) -> None:
        """Refuse values that a setting does not take, on the smallest problem there is."""
        import clarabel

        one = sp.csc_matrix(np.eye(1))
        try:
            clarabel.DefaultSolver(one, np.zeros(1), one, np.ones(1), [clarabel.NonnegativeConeT(1)], self.settings)
        except Exception as error:  # it has no class of its own for that
            raise CapabilityError(f"clarabel does not take the options {dict(options)}: {error}") from None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        import clarabel

        limit = min(self.limit, np.inf if time_limit is None else time_limit)
        deadline = time.perf_counter() + limit
        if self.solver is None:
            if limit < np.inf and (estimate := Clarabel().estimate_seconds(self.problem)) >= limit:
                return Answer(Claim.TIME_LIMIT, message=f"its set-up takes about {estimate:.1g} s")
            (entries, b), layout, cost = self._numbers(), self._layout, self._cost(self.problem.c)
            G = sp.csc_matrix((entries, layout.indices, layout.indptr), shape=layout.shape)
            self.solver = clarabel.DefaultSolver(self._hessian(), cost, G, b, self.cones, self.settings)
        self.solver.update(q=self._cost(c))
        # One that is left to itself ends at its next iteration, and is not used again.
        solver, self.solver = self.solver, None
        found = _run(solver, deadline)
        if found is None:
            return Answer(Claim.TIME_LIMIT, message="time limit reached")
        self.solver, status = solver, str(found.status)
        s, k = np.array(found.z), (len(self.equal), len(self.equal) + len(self.above))
        y = np.zeros(len(self.rows.lower))
        y[self.equal] = -s[: k[0]]
        y[self.above] -= s[k[0] : k[1]]
        k_end = k[1] + len(self.below)
        y[self.below] += s[k[1] : k_end]
        claim, z = CLAIMS.get(status, Claim.FAILED), np.array(found.x)[: self.problem.n]
        whole = answer(self.problem, c, claim, z, self.rows.duals(y), status, found.iterations)
        if self.lifted is None or whole.z is None:
            return whole
        mu, v = self.lifted.duals(s[k_end:])
        whole = replace(whole, constraint_duals=mu, cone_duals=v)
        return whole if claim is not Claim.OPTIMAL else self._refined(c, whole, deadline)

    def _refined(self, c: Vector, found: Answer, deadline: float) -> Answer:
        """Zeros for what is next to 0: where all is 0 at the solution, nothing else is small against it. Then Newton
        steps for what bends: in exponential and second-order cones z is as good as the root of the gap."""
        problem = self.problem
        worst = verify(problem, c, found).worst
        for k in range(1 + NEWTON_STEPS):
            if worst <= SHARP or (k and not has_model(problem)):
                break
            step = self._newton(c, found, deadline) if k else snapped(problem, found)
            if step is None or step.z is None:
                break
            if (after := verify(problem, c, step).worst) < worst:
                found, worst = step, after
            elif k:
                break
        return found

    def _newton(self, c: Vector, found: Answer, deadline: float) -> Answer | None:
        """The next point of Newton's method; None where it has no model."""
        problem = self.problem
        assert found.z is not None
        assert found.constraint_duals is not None
        z = np.clip(found.z, problem.lower, problem.upper)
        with np.errstate(all="ignore"):
            model = model_at(problem, c, z, found.constraint_duals)
            if not (np.isfinite(model.c).all() and np.isfinite(hessian_of(model).data).all()):
                return None
            step = ClarabelSession(model, {}).solve(model.c, None, max(deadline - time.perf_counter(), 0.0))
        return replace(step, iterations=found.iterations + step.iterations)


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options that Clarabel does not know."""
    import clarabel

    apply_options("clarabel", clarabel.DefaultSettings(), options)


def _bounded(problem: ConvexProblem) -> Mask:
    """The variables that have a bound, which is a row here."""
    bounded: Mask = (problem.lower > -INFINITY) | (problem.upper < INFINITY)
    return bounded


def _run(solver: Any, deadline: float) -> Any:
    """The solution; None at the deadline. Clarabel lets other threads run, so that an interrupt is heard at once."""
    left, found = threading.Event(), []

    def run() -> None:
        try:
            found.append(solver.solve())
        except BaseException as error:  # raised again below, in the thread that asked
            found.append(error)

    solver.set_termination_callback(lambda info: left.is_set())
    worker = threading.Thread(target=run, daemon=True)
    try:
        worker.start()
        worker.join(None if deadline == np.inf else max(deadline - time.perf_counter(), 0.0))
    finally:
        left.set()
    if worker.is_alive():
        return None
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]

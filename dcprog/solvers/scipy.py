"""SciPy's minimisers for smooth convex problems: L-BFGS-B (Byrd, Lu, Nocedal & Zhu, 1995) on a box, trust-constr (Byrd,
Hribar & Nocedal, 1999) beyond."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Sparse, Vector
from dcprog.errors import unknown_name
from dcprog.smooth import FunctionTerm
from dcprog.solvers._multipliers import multipliers
from dcprog.solvers._qp import rows_of
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

BOX = {"maxcor": 20, "ftol": 0.0, "gtol": 1e-9, "maxiter": 50_000, "maxfun": 100_000, "maxls": 20}
TRUST = {
    "gtol": 1e-9, "xtol": 1e-14, "barrier_tol": 1e-9, "maxiter": 3000, "initial_constr_penalty": 1.0,
    "initial_tr_radius": 1.0, "initial_barrier_parameter": 0.1, "initial_barrier_tolerance": 0.1,
    "factorization_method": None, "verbose": 0,
}  # fmt: skip
"""The options of the two methods, those for finite differences left out, at their values here."""

ENDLESS = 1e12
"""A value this many times below the size of the first is taken for a fall without end."""
STUCK = 1e-7
"""A run that can go no further has a solution if its residual, relative to the gradient, is at most this."""
NEWTON_STEPS = 10


class SciPy(Solver):
    """L-BFGS-B on a box, ended by Newton steps; trust-constr with any further constraint.

    The latter is an interior-point method written in Python: take it for small problems, and Ipopt where there is one.
    """

    name = "scipy"
    module = "scipy"
    distribution = "scipy"
    install = "pip install scipy"
    classes = frozenset({ProblemClass.QP, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        limited = bool(problem.constraints) or len(rows_of(problem, np.zeros(problem.n, dtype=bool)).kept) > 0
        defaults = TRUST if limited else BOX
        for name in options:
            if name not in defaults:
                raise unknown_name("scipy option", name, defaults)
        return (TrustSession if limited else BoxSession)(problem, {**defaults, **options})


class Watch:
    """Ends a run, from its callback, at the time limit or when it falls without end."""

    def __init__(self, first: float, time_limit: float | None) -> None:
        self.end = math.inf if time_limit is None else time.monotonic() + time_limit
        self.bottom = -ENDLESS * (1 + abs(first))
        self.claim: Claim | None = None

    def __call__(self, value: float) -> None:
        if value < self.bottom:
            self.claim = Claim.UNBOUNDED
        elif time.monotonic() > self.end:
            self.claim = Claim.TIME_LIMIT
        if self.claim is not None:
            raise StopIteration


class BoxSession(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        self.problem, self.options = problem, options

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        from scipy.optimize import Bounds, minimize

        p = self.problem
        z = np.clip(np.zeros(p.n) if start is None else start, p.lower, p.upper)
        watch = Watch(p.value(z, c), time_limit)
        found = minimize(
            lambda z: (p.value(z, c), p.gradient(z, c)),
            z,
            jac=True,
            bounds=Bounds(p.lower, p.upper),
            method="L-BFGS-B",
            options=self.options,
            callback=lambda intermediate_result: watch(intermediate_result.fun),
        )
        if watch.claim is Claim.UNBOUNDED:
            return Answer(watch.claim, message=str(found.message), iterations=found.nit)
        # The line search compares values, so it ends at about the square root of their precision; Newton steps do not:
        # 1.4e-5 → 1e-12 on a sum of 100 exponentials in 30 variables, 7e-4 → 8e-12 on a QP of condition 1e6.
        z = found.x
        if watch.claim is None and residual(p, c, z) > STUCK and has_hessian(p):
            z = newton(p, c, z, self.options["gtol"])
        solved = residual(p, c, z) <= STUCK * (1 + np.abs(p.gradient(z, c)).max())
        claim = watch.claim or (Claim.OPTIMAL if solved else Claim.FAILED)
        return Answer(claim, z, np.zeros(p.m), np.zeros(0), message=str(found.message), iterations=found.nit)


def residual(problem: Subproblem, c: Vector, z: Vector) -> float:
    """‖z − P(z − ∇f(z))‖, P the projection onto the box: zero exactly at the minimisers, NaN off the domain."""
    return float(np.abs(z - np.clip(z - problem.gradient(z, c), problem.lower, problem.upper)).max())


def newton(problem: Subproblem, c: Vector, z: Vector, tol: float) -> Vector:
    """Projected Newton steps (Bertsekas, 1982) on the variables that no bound holds back, while they help."""
    from scipy.sparse.linalg import spsolve

    for _ in range(NEWTON_STEPS):
        r = residual(problem, c, z)
        if r <= tol:
            break
        gradient = problem.gradient(z, c)
        held = ((z <= problem.lower) & (gradient > 0)) | ((z >= problem.upper) & (gradient < 0))
        free = np.flatnonzero(~held)
        step = np.zeros(problem.n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a singular Hessian gives a step of NaN, which does not help
            step[free] = spsolve(sp.csc_array(problem.hessian(z))[free][:, free], -gradient[free])
        trial = np.clip(z + step, problem.lower, problem.upper)
        if not np.isfinite(trial).all() or not residual(problem, c, trial) < r:
            break
        z = trial
    return z


def has_hessian(problem: Subproblem) -> bool:
    """Whether every vectorised function in the problem gives second derivatives."""
    sums = (() if problem.smooth is None else (problem.smooth,)) + problem.constraints
    return all(t.function.has_hessian for s in sums for t in s.terms if isinstance(t, FunctionTerm))


class TrustSession(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        from scipy.optimize import BFGS, Bounds, LinearConstraint, NonlinearConstraint

        self.problem = problem
        # SciPy widens bounds by one digit, and a fixed variable would have no more room than that: it is an equation here.
        fixed = problem.lower == problem.upper
        self.rows = rows = rows_of(problem, fixed)
        K, lower, upper = rows.K.tocsr(), rows.lower, rows.upper
        groups = (independent(K, np.flatnonzero(rows.equality)), np.flatnonzero(~rows.equality))
        self.bounds = Bounds(np.where(fixed, -np.inf, problem.lower), np.where(fixed, np.inf, problem.upper))
        self.constraints: list[Any] = [LinearConstraint(K[k], lower[k], upper[k]) for k in groups if len(k)]
        exact = has_hessian(problem)
        self.hessian = problem.hessian if exact else BFGS()
        if problem.constraints:
            psi = NonlinearConstraint(self._psi, -np.inf, 0.0, self._jacobian, self._curvature if exact else BFGS())
            self.constraints.append(psi)
        # SciPy's own test by gtol ends a run while the barrier is still high: it is switched off for that of `_done`.
        self.gtol, self.barrier_tol = options["gtol"], options["barrier_tol"]
        self.options = {**options, "gtol": 0.0, "sparse_jacobian": True}

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        from scipy.optimize import minimize

        p = self.problem
        z = np.clip(np.zeros(p.n) if start is None else start, p.lower, p.upper)
        watch = Watch(p.value(z, c), time_limit)

        def value(z: Vector) -> float:
            f = p.value(z, c)
            return math.inf if math.isnan(f) else f  # a step off the domain is one that does not help

        def callback(intermediate_result: Any) -> bool:
            watch(intermediate_result.fun)
            return self._done(intermediate_result)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a constraint is linear, that a Jacobian is singular
            found = minimize(
                value,
                z,
                jac=lambda z: p.gradient(z, c),
                hess=self.hessian,
                method="trust-constr",
                bounds=self.bounds,
                constraints=self.constraints,
                options=self.options,
                callback=callback,
            )
        if watch.claim is Claim.UNBOUNDED:
            return Answer(watch.claim, message=str(found.message), iterations=found.nit)
        z = np.clip(found.x, p.lower, p.upper)
        claim = watch.claim or self._claim(found, z)
        if claim is Claim.INFEASIBLE:
            return Answer(claim, message=str(found.message), iterations=found.nit)
        return Answer(claim, z, *multipliers(p, c, z), message=str(found.message), iterations=found.nit)

    def _done(self, state: Any) -> bool:
        small = max(state.optimality, state.constr_violation) <= self.gtol
        return bool(small and state.get("barrier_parameter", 0.0) <= self.barrier_tol)

    def _claim(self, found: Any, z: Vector) -> Claim:
        """What to say of a run that ended at z, if it is done or could go no further."""
        rows, activity = self.rows, self.rows.K @ z
        violation = np.concatenate([rows.lower - activity, activity - rows.upper, self._psi(z), [0.0]]).max()
        if violation > STUCK * (1 + np.abs(activity).max(initial=0.0)):
            return Claim.INFEASIBLE if no_point(self.problem) else Claim.FAILED
        low = found.get("barrier_parameter", 0.0) <= 100 * self.barrier_tol
        return Claim.OPTIMAL if low and found.optimality <= STUCK * (1 + np.abs(found.grad).max()) else Claim.FAILED

    def _psi(self, z: Vector) -> Vector:
        return np.nan_to_num(np.array([p.value(z) for p in self.problem.constraints]), nan=np.inf)

    def _jacobian(self, z: Vector) -> Sparse:
        return sp.csr_array(np.array([p.gradient(z) for p in self.problem.constraints]))

    def _curvature(self, z: Vector, v: Vector) -> Sparse:
        return sp.csr_array(sum(w * p.hessian(z) for w, p in zip(v, self.problem.constraints, strict=True)))


def independent(K: Sparse, equations: Indices) -> Indices:
    """Equations none of which follows from the others: trust-constr gets lost where its Jacobian is rank deficient."""
    from scipy.linalg import qr

    if not len(equations):
        return equations
    R, order = qr(K[equations].toarray().T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    return equations[order[: np.count_nonzero(size > 1e-10 * size[0])]]


def no_point(problem: Subproblem) -> bool:
    """Whether bounds and rows alone admit no point, asked of the LP solver within SciPy."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows = LinearConstraint(problem.A, problem.row_lower, problem.row_upper)
    infeasible = 2
    found = milp(np.zeros(problem.n), constraints=rows, bounds=Bounds(problem.lower, problem.upper))
    return bool(found.status == infeasible)

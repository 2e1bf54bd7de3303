"""SciPy's minimisers for smooth convex problems: L-BFGS-B (Byrd, Lu, Nocedal & Zhu, 1995) on a box, trust-constr (Byrd,
Hribar & Nocedal, 1999) beyond."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Sparse, Vector
from dcprog.errors import unknown_name
from dcprog.smooth import FunctionTerm, SmoothSum
from dcprog.solvers._multipliers import multipliers
from dcprog.solvers._qp import rows_of
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.subproblem import ProblemClass, Subproblem

BOX = {"maxcor": 20, "ftol": 0.0, "gtol": 1e-9, "maxiter": 50_000, "maxfun": 100_000, "maxls": 20}
TRUST = {
    "gtol": 1e-9, "xtol": 1e-14, "barrier_tol": 1e-10, "maxiter": 3000, "initial_constr_penalty": 1.0,
    "initial_tr_radius": 1.0, "initial_barrier_parameter": 0.1, "initial_barrier_tolerance": 0.1,
    "factorization_method": None, "verbose": 0,
}  # fmt: skip
"""The options of the two methods, those for finite differences left out, at their values here."""

ENDLESS = 1e12
"""A value this many times below the size of the first is taken for a fall without end."""
STUCK = 1e-7
"""A method that can go no further has a solution if the residual, relative to the gradient, is at most this."""
NEWTON_STEPS = 10
KEEP=True


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
    """Ends a run, by a callback, at its time limit and when it falls without end."""

    def __init__(self, first: float, time_limit: float | None) -> None:
        self.end = np.inf if time_limit is None else time.monotonic() + time_limit
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
        solved = residual(p, c, z) <= STUCK * (1 + np.abs(p.gradient(z, c)).max(initial=0.0))
        claim = watch.claim or (Claim.OPTIMAL if solved else Claim.FAILED)
        return Answer(claim, z, np.zeros(p.m), np.zeros(0), message=str(found.message), iterations=found.nit)


def residual(problem: Subproblem, c: Vector, z: Vector) -> float:
    """‖z − P(z − ∇f(z))‖, P the projection onto the box: zero exactly at the minimisers, NaN off the domain."""
    return float(np.abs(z - np.clip(z - problem.gradient(z, c), problem.lower, problem.upper)).max(initial=0.0))


def newton(problem: Subproblem, c: Vector, z: Vector, tol: float) -> Vector:
    """Projected Newton steps (Bertsekas, 1982) on the variables that no bound holds back, while they help."""
    from scipy.sparse.linalg import spsolve

    r = residual(problem, c, z)
    for _ in range(NEWTON_STEPS):
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
        z, r = trial, residual(problem, c, trial)
    return z


def has_hessian(problem: Subproblem) -> bool:
    """Whether every vectorised function in the problem gives second derivatives."""
    sums: list[SmoothSum] = [s for s in (problem.smooth, *problem.constraints) if s is not None]
    return all(t.function.has_hessian for s in sums for t in s.terms if isinstance(t, FunctionTerm))


class TrustSession(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        from scipy.optimize import BFGS, Bounds, LinearConstraint, NonlinearConstraint

        self.problem = problem
        # SciPy widens bounds by one digit: a fixed variable would have an interior of that width, so it becomes an equation.
        fixed = problem.lower == problem.upper
        rows = rows_of(problem, fixed)
        equal = independent(rows.K.tocsr(), np.flatnonzero(rows.equality))
        unequal = np.flatnonzero(~rows.equality)
        self.bounds = Bounds(np.where(fixed, -np.inf, problem.lower), np.where(fixed, np.inf, problem.upper), KEEP)
        self.constraints: list[Any] = [
            LinearConstraint(rows.K.tocsr()[k], rows.lower[k], rows.upper[k]) for k in (equal, unequal) if len(k)
        ]
        psi, exact = problem.constraints, has_hessian(problem)
        if psi:
            self.constraints.append(
                NonlinearConstraint(
                    lambda z: np.array([p.value(z) for p in psi]),
                    -np.inf,
                    0.0,
                    jac=lambda z: sp.csr_array(np.array([p.gradient(z) for p in psi])),
                    hess=(lambda z, v: sp.csr_array(sum(w * p.hessian(z) for w, p in zip(v, psi, strict=True)))) if exact else BFGS(),
                )
            )
        self.hessian = problem.hessian if exact else BFGS()
        # gtol alone would end the run before the barrier is gone, so SciPy's own test is switched off for that of `done`.
        self.gtol, self.barrier_tol = options["gtol"], options["barrier_tol"]
        self.options = {**options, "gtol": 0.0, "sparse_jacobian": True}

    def done(self, state: Any) -> bool:
        small = max(state.optimality, state.constr_violation) <= self.gtol
        return small and state.get("barrier_parameter", 0.0) <= self.barrier_tol

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        from scipy.optimize import minimize

        p = self.problem
        z = inside(p, np.zeros(p.n) if start is None else start)
        watch = Watch(p.value(z, c), time_limit)

        def callback(intermediate_result: Any) -> bool:
            watch(intermediate_result.fun)
            return self.done(intermediate_result)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on linear constraints with a constant Hessian, and on singular Jacobians
            found = minimize(
                lambda z: p.value(z, c),
                z,
                jac=lambda z: p.gradient(z, c),
                hess=self.hessian,
                method="trust-constr",
                bounds=self.bounds,
                constraints=self.constraints,
                options=self.options,
                callback=callback,
            )
        z = np.clip(found.x, p.lower, p.upper)
        solved = self.done(found) or found.optimality <= STUCK * (1 + np.abs(found.grad).max())
        claim = watch.claim or (Claim.OPTIMAL if solved else Claim.FAILED)
        return Answer(claim, z, *multipliers(p, c, z), message=str(found.message), iterations=found.nit)


def inside(problem: Subproblem, z: Vector) -> Vector:
    """The point of the box next to ``z`` that is a little away from every bound."""
    margin = np.minimum(1e-2, 0.25 * (problem.upper - problem.lower))
    return np.clip(z, problem.lower + margin, problem.upper - margin)


def independent(K: Sparse, equations: Indices) -> Indices:
    """Equations of which no one follows from the others: trust-constr gets lost where its Jacobian is rank deficient."""
    from scipy.linalg import qr

    if not len(equations):
        return equations
    R, order = qr(K[equations].toarray().T, mode="r", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(equations[order[: np.sum(size > 1e-10 * max(size[0], 1e-300))]])

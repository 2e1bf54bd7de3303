"""SciPy's minimisers for smooth convex problems: L-BFGS-B (Byrd, Lu, Nocedal & Zhu, 1995) on a box, trust-constr (Byrd,
Hribar & Nocedal, 1999) beyond."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import verify
from dcprog.convex.multipliers import multipliers
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.convex.terms import FunctionTerm
from dcprog.errors import DCProgError, unknown_name
from dcprog.solvers.adapters.qp import PROOF_SECONDS, refused, rows_of
from dcprog.solvers.base import Feature, Session, Solver, cost_scale
from dcprog.solvers.rays import is_empty, proved
from dcprog.typing import Indices, Sparse, Vector

BOX = {"maxcor": 20, "ftol": 0.0, "gtol": 1e-9, "maxiter": 50_000, "maxfun": 100_000, "maxls": 20}
TRUST = {
    "gtol": 1e-10, "xtol": 1e-15, "barrier_tol": 1e-10, "maxiter": 1000, "initial_constr_penalty": 1.0,
    "initial_tr_radius": 1.0, "initial_barrier_parameter": 0.1, "initial_barrier_tolerance": 0.1,
    "factorization_method": None, "verbose": 0,
}  # fmt: skip
"""The options of the two methods, those for finite differences left out, at their values here."""

TRUST_SIZE = 2000
"""Beyond this trust-constr and the dense fit of its multipliers take minutes."""
ENDLESS = 1e12
"""A value this many times below the size of the first is taken for a fall without end."""
STALLED = 1e-7
"""The residual above which a run of L-BFGS-B is followed by Newton steps."""
NEWTON_STEPS = 10
ROUNDS = 3
"""How often both are tried: a run that met infinity in a line search ends early, and goes on well when begun anew."""


class SciPy(Solver):
    """L-BFGS-B on a box, ended by Newton steps; trust-constr with any further constraint.

    The latter is an interior-point method written in Python: take it for small problems, and Ipopt where there is one.

    >>> p = ConvexProblem(c=np.array([-1.0, -4.0]), A=sp.csr_array((0, 2)), row_lower=np.zeros(0), row_upper=np.zeros(0),
    ...                lower=np.zeros(2), upper=np.full(2, 3.0), Q=sp.eye_array(2))
    >>> SciPy().open(p, {}).solve(p.c, None, None).z.round(6).tolist()
    [1.0, 3.0]
    """

    name = "scipy"
    careful = {}  # noqa: RUF012
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper", "constraints"})
    interruptible = True
    module = "scipy"
    distribution = "scipy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.QP, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.QP: 70, ProblemClass.NLP: 30})

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is None and not problem.is_box and problem.n + problem.m > TRUST_SIZE:
            return f"its trust-constr is for problems of up to {TRUST_SIZE} variables and rows"
        return lack

    def rank(self, problem: ConvexProblem) -> int | None:
        """Before Ipopt where there are bounds alone and a Hessian that is dense, or none."""
        before_ipopt = problem.problem_class is ProblemClass.NLP and problem.is_box and _hessian_is_costly(problem)
        return 15 if before_ipopt else super().rank(problem)

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        limited = bool(problem.constraints) or len(rows_of(problem, np.zeros(problem.n, dtype=bool)).kept) > 0
        defaults = TRUST if limited else BOX
        for name, value in options.items():
            if name not in defaults:
                raise unknown_name("scipy option", name, defaults)
            if defaults[name] is not None and not isinstance(value, int | float):
                raise refused("scipy", name, value, defaults[name])
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


def checked(problem: ConvexProblem, c: Vector, answer: Answer) -> Answer:
    """The answer, called a failure if it is not what it claims: SciPy's flags do not tell a stall from success."""
    if answer.claim is Claim.OPTIMAL and not verify(problem, c, answer).holds():
        return dataclasses.replace(answer, claim=Claim.FAILED)
    return answer


class BoxSession(Session):
    """Runs of L-BFGS-B, each followed by Newton steps where it stalled."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self.problem, self.options = problem, options

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        if not problem.is_box:
            return "a row was switched on"
        self.problem = problem
        return None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        from scipy.optimize import Bounds, minimize

        p = self.problem
        z = np.clip(np.zeros(p.n) if start is None else start, p.lower, p.upper)
        watch, iterations = Watch(p.value(z, c), time_limit), 0
        for _ in range(ROUNDS):
            found = minimize(
                lambda z: (p.value(z, c), p.gradient(z, c)),
                z,
                jac=True,
                bounds=Bounds(p.lower, p.upper),
                method="L-BFGS-B",
                options=self.options,
                callback=lambda intermediate_result: watch(intermediate_result.fun),
            )
            z, iterations = found.x, iterations + found.get("nit", 0)
            if watch.claim is not None or not residual(p, c, z) > STALLED:
                break
            # The line search compares values, so it ends at about the square root of their precision; Newton steps do not:
            # 1.4e-5 → 1e-12 on a sum of 100 exponentials in 30 variables, 7e-4 → 8e-12 on a QP of condition 1e6.
            z = newton(p, c, z, self.options["gtol"])
            if residual(p, c, z) <= STALLED:
                break
        if watch.claim is Claim.UNBOUNDED:
            claim = proved(p, c, z, PROOF_SECONDS) or Claim.FAILED
            return Answer(claim, message="it falls and falls", iterations=iterations)
        claim = watch.claim or Claim.OPTIMAL
        return checked(p, c, Answer(claim, z, np.zeros(p.m), np.zeros(0), str(found.message), iterations))


def residual(problem: ConvexProblem, c: Vector, z: Vector) -> float:
    """‖z − P(z − ∇f(z))‖, P the projection onto the box: zero exactly at the minimisers, NaN off the domain."""
    return float(np.abs(z - np.clip(z - problem.gradient(z, c), problem.lower, problem.upper)).max())


def newton(problem: ConvexProblem, c: Vector, z: Vector, tol: float) -> Vector:
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
            step[free] = spsolve(curvature(problem, c, z, free), -gradient[free])
        trial = np.clip(z + step, problem.lower, problem.upper)
        if not np.isfinite(trial).all() or not residual(problem, c, trial) < r:
            break
        z = trial
    return z


def curvature(problem: ConvexProblem, c: Vector, z: Vector, free: Indices) -> Sparse:
    """The Hessian over the variables in ``free``; where a function gives none, by differences of gradients into the box."""
    if has_hessian(problem):
        return sp.csc_array(problem.hessian(z))[free][:, free]
    gradient, H = problem.gradient(z, c), np.zeros((len(free), len(free)))
    for k, j in enumerate(free):
        there = z.copy()
        there[j] += 1e-7 * (1 + abs(z[j])) * (1 if problem.upper[j] - z[j] >= z[j] - problem.lower[j] else -1)
        H[k] = (problem.gradient(there, c) - gradient)[free] / (there[j] - z[j])
    return sp.csc_array((H + H.T) / 2)


def has_hessian(problem: ConvexProblem) -> bool:
    """Whether every vectorised function in the problem gives second derivatives."""
    sums = (() if problem.smooth is None else (problem.smooth,)) + problem.constraints
    return all(t.function.has_hessian for s in sums for t in s.terms if isinstance(t, FunctionTerm))


class TrustSession(Session):
    """Runs of trust-constr, with independent equations and a stopping test of our own."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        # SciPy's own test by gtol ends a run while the barrier is still high: it is switched off for that of `_done`.
        self.gtol, self.barrier_tol = options["gtol"], options["barrier_tol"]
        self.options = {**options, "gtol": 0.0, "sparse_jacobian": True}
        self._take(problem)

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        self._take(problem)  # SciPy keeps nothing from one run to the next
        return None

    def _take(self, problem: ConvexProblem) -> None:
        from scipy.optimize import BFGS, Bounds, LinearConstraint, NonlinearConstraint

        self.problem, self.empty = problem, is_empty(dataclasses.replace(problem, constraints=()), time_limit=PROOF_SECONDS)
        # SciPy widens bounds by one digit, and a fixed variable would have no more room than that: it is an equation here.
        fixed = problem.lower == problem.upper
        self.rows = rows = rows_of(problem, fixed)
        K, lower, upper = rows.K.tocsr(), rows.lower, rows.upper
        groups = (independent(K, np.flatnonzero(rows.equality)), np.flatnonzero(~rows.equality))
        self.bounds = Bounds(np.where(fixed, -np.inf, problem.lower), np.where(fixed, np.inf, problem.upper))
        self.constraints: list[Any] = [LinearConstraint(K[k], lower[k], upper[k]) for k in groups if len(k)]
        self.exact = has_hessian(problem)
        if problem.constraints:
            psi = NonlinearConstraint(self._psi, -np.inf, 0.0, self._jacobian, self._curvature if self.exact else BFGS())
            self.constraints.append(psi)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        from scipy.optimize import BFGS, minimize

        if self.empty:
            return Answer(Claim.INFEASIBLE, message="no point satisfies the rows and bounds")
        p = self.problem
        z = np.clip(np.zeros(p.n) if start is None else start, p.lower, p.upper)
        scale = max(cost_scale(c), 1.0)
        watch = Watch(scale * p.value(z, c), time_limit)

        def value(z: Vector) -> float:
            f = scale * p.value(z, c)
            return math.inf if math.isnan(f) else f  # a step off the domain is one that does not help

        def callback(intermediate_result: Any) -> bool:
            watch(intermediate_result.fun)
            return self._done(intermediate_result)

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a constraint is linear, that a Jacobian is singular
                found = minimize(
                    value,
                    z,
                    jac=lambda z: scale * p.gradient(z, c),
                    hess=(lambda z: scale * p.hessian(z)) if self.exact else BFGS(),
                    method="trust-constr",
                    bounds=self.bounds,
                    constraints=self.constraints,
                    options=self.options,
                    callback=callback,
                )
        except ValueError as error:  # the factorisations of SciPy refuse NaN and infinity
            if isinstance(error, DCProgError):
                raise
            return Answer(Claim.FAILED, message=str(error))
        message = "the optimality conditions hold" if self._done(found) else str(found.message)
        z = np.clip(found.x, p.lower, p.upper)
        if watch.claim is not Claim.UNBOUNDED:
            answer = checked(p, c, Answer(watch.claim or Claim.OPTIMAL, z, *multipliers(p, c, z), message, found.nit))
            if answer.claim is not Claim.FAILED:
                return answer
        claim = proved(p, c, z, PROOF_SECONDS)
        return Answer(claim or Claim.FAILED, None if claim else z, message=message, iterations=found.nit)

    def _done(self, state: Any) -> bool:
        small = max(state.optimality, state.constr_violation) <= self.gtol
        return bool(small and state.get("barrier_parameter", 0.0) <= self.barrier_tol)

    def _psi(self, z: Vector) -> Vector:
        psi = np.array([p.value(z) for p in self.problem.constraints])
        psi[np.isnan(psi)] = np.inf
        return psi

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
    kept: Indices = equations[order[: np.count_nonzero(size > 1e-10 * size[0])]]
    return kept


def _hessian_is_costly(problem: ConvexProblem) -> bool:
    """Whether a vectorised function has a dense Hessian, or none."""
    terms = [] if problem.smooth is None else problem.smooth.terms
    functions = [t.function for t in terms if isinstance(t, FunctionTerm)]
    return any(not f.separable or not f.has_hessian for f in functions)

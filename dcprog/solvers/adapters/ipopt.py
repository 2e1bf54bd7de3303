"""Ipopt (Wächter & Biegler, Math. Program. 106, 2006): an interior-point method for smooth problems of every class.

    min ½z'Qz + c'z + φ(z)   subject to   limits on [A z; ψ(z)],  lower ≤ z ≤ upper

The derivatives are exact, those of second order too. One ``cyipopt.Problem`` lives as long as its session: between two
solves only c changes, and the second starts from the primal-dual point where the first ended.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.convex.terms import FunctionTerm
from dcprog.errors import CapabilityError
from dcprog.solvers.adapters.ipopt_options import typed
from dcprog.solvers.adapters.ipopt_problem import Callbacks
from dcprog.solvers.adapters.piqp import sparse_operations
from dcprog.solvers.adapters.qp import PROOF_SECONDS
from dcprog.solvers.base import Feature, Session, Solver, version_of
from dcprog.solvers.rays import proved
from dcprog.typing import Vector

OPTIONS: dict[str, Any] = {
    "print_level": 0,
    "sb": "yes",
    "option_file_name": "",  # an ipopt.opt that happens to lie in the working directory is not ours
    "tol": 1e-10,  # the duality gap ends at about tol times the number of bounds
    "acceptable_tol": 1e-7,
}
# Mehrotra's predictor-corrector under Ipopt's filter took a third fewer iterations than the monotone rule on the LPs, QPs
# and NLPs of the papers; the perturbation keeps the multipliers of dependent equations bounded.
FAST: dict[str, Any] = {
    "mu_strategy": "adaptive",
    "mu_oracle": "probing",
    "corrector_type": "affine",
    "perturb_always_cd": "yes",
    "bound_relax_factor": 0.0,
    "max_iter": 300,
}
RUN_AWAY = 1e8
"""FAST may run away along a line of solutions: it is ended when it is so many times as far out as it was at the start."""
# Ipopt as it comes: better where there is no interior, and at telling that there is no feasible point.
SAFE: dict[str, Any] = {
    "mu_strategy": "monotone",
    "corrector_type": "none",
    "perturb_always_cd": "no",
    "bound_relax_factor": 1e-8,
    "diverging_iterates_tol": 1e20,
    "max_iter": 1000,
}
MEHROTRA = {"mu_strategy": "adaptive", "mu_oracle": "probing", "corrector_type": "none"}
"""What Ipopt demands beside mehrotra_algorithm=yes."""
COLD_MU = 0.1
COLD: dict[str, Any] = {"warm_start_init_point": "no", "mu_init": COLD_MU}
COSTLY_HESSIAN = 2.5e7
"""Operations of a dense Hessian beyond which limited memory is faster (benchmarks/alignment.py: between 1e7 and 4e7)."""
LIMITED_MEMORY: dict[str, Any] = {"tol": 1e-8, "limited_memory_max_history": 10}
"""Without second derivatives the last digits are slow: a fifth of the time for 1e-10, with the same objective to 1e-15."""
FACTORISATION_RATE = 1.2e9
"""Operations a second before it looks at the clock: 1.0e9 to 1.8e9 on dense problems of 700 to 1400 variables."""
INVALID_OPTION = -12
CLAIMS = {
    0: Claim.OPTIMAL,
    1: Claim.OPTIMAL,  # to the acceptable tolerance
    2: Claim.INFEASIBLE,
    4: Claim.UNBOUNDED,
    -4: Claim.TIME_LIMIT,
    -5: Claim.TIME_LIMIT,
    -11: Claim.INFEASIBLE,  # crossed bounds
}


class Ipopt(Solver):
    """Ipopt through cyipopt.

    Options are Ipopt's own. ``hessian_approximation="limited-memory"`` does without second derivatives, and is chosen where
    a function has none, or a costly one.

    >>> import numpy as np, scipy.sparse as sp
    >>> problem = ConvexProblem(c=np.array([-3.0]), A=sp.csr_array([[1.0]]), row_lower=np.array([-np.inf]),
    ...                      row_upper=np.array([1.0]), lower=np.array([0.0]), upper=np.array([np.inf]),
    ...                      Q=sp.csr_array([[1.0]]))
    >>> answer = Ipopt().open(problem, {}).solve(problem.c, None, None)
    >>> print(answer.claim.value, answer.z.round(6), answer.row_duals.round(6))
    optimal [1.] [-2.]
    """

    name = "ipopt"
    careful = {}  # noqa: RUF012
    module = "cyipopt"
    distribution = "cyipopt-wheels"
    install = "comes with dcprog where it has a wheel; else conda install -c conda-forge cyipopt; solver='auto' does without"
    classes = frozenset(ProblemClass)
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS | Feature.CONES
    ranks = MappingProxyType({ProblemClass.LP: 40, ProblemClass.QP: 50, ProblemClass.CONIC: 20, ProblemClass.NLP: 20})
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "constraints"})
    interruptible = False  # within a factorisation

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return sparse_operations(_with_hessian(problem)) / FACTORISATION_RATE

    def missing(self, problem: ConvexProblem) -> str | None:
        kinds = {kind for cone in problem.cones if cone is not None for kind in cone.kinds}
        if kinds - {"second-order"}:
            return "it takes second-order cones only, since others are nowhere smooth"
        return super().missing(problem)

    def version(self) -> str | None:
        return super().version() or version_of("cyipopt")

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        chosen = {name: typed(name, value) for name, value in options.items()}
        if chosen.get("mehrotra_algorithm") == "yes":
            chosen = {**MEHROTRA, **chosen}
        sums = problem.constraints if problem.smooth is None else (problem.smooth, *problem.constraints)
        terms = [term for s in sums for term in s.terms if isinstance(term, FunctionTerm)]
        lacking = [term.function for term in terms if not term.function.has_hessian]
        if lacking and chosen.setdefault("hessian_approximation", "limited-memory") == "exact":
            raise CapabilityError(
                f"hessian_approximation='exact' needs second derivatives and {lacking[0]!r} has none: give it a hessian "
                "method, or leave the option out"
            )
        if sum(term.function.hessian_operations for term in terms) > COSTLY_HESSIAN:
            chosen.setdefault("hessian_approximation", "limited-memory")
        if chosen.get("hessian_approximation") == "limited-memory":
            chosen = LIMITED_MEMORY | chosen
        return _Session(problem, chosen)


class _Point(NamedTuple):
    """Where Ipopt starts: z, and for a warm start the multipliers of rows and bounds as well."""

    z: Vector
    rows: Vector | tuple[()] = ()
    lower: Vector | tuple[()] = ()
    upper: Vector | tuple[()] = ()


class _Session(Session):
    def __init__(self, problem: ConvexProblem, chosen: Mapping[str, Any]) -> None:
        self._problem, self._chosen = problem, chosen
        self._callbacks = Callbacks(problem)
        self._ipopt = self._callbacks.load()
        self._last: tuple[Vector, _Point] | None = None

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        refusal = self._callbacks.change(problem)
        if refusal is None:
            self._problem = problem
        return refusal

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        deadline = time.monotonic() + (1e9 if time_limit is None else time_limit)
        if time_limit is not None and time_limit < self._factorisation:
            return Answer(Claim.TIME_LIMIT, message=f"a factorisation takes about {self._factorisation:.1g} s")
        cold = _Point(np.zeros(self._callbacks.size))
        if start is not None:
            cold.z[: self._problem.n] = start
        attempts = [({**FAST, **COLD}, cold), ({**SAFE, **COLD}, cold)]
        if self._last is not None and (mu := _first_mu(c, self._last[0])) < COLD_MU:
            attempts.insert(0, ({**FAST, **_warm(mu)}, self._last[1]))

        answer, iterations, last = Answer(Claim.FAILED), 0, cold.z[: self._problem.n]
        for options, point in attempts:
            info = self._run(c, options, point, deadline - time.monotonic())
            claim, message = CLAIMS.get(info["status"], Claim.FAILED), info["status_msg"].decode()
            iterations += self._callbacks.iterations
            if claim is Claim.OPTIMAL:
                self._last = c.copy(), _Point(info["x"], info["mult_g"], info["mult_x_L"], info["mult_x_U"])
                return self._optimal(info["x"], info["mult_g"], message, iterations)
            if claim is not Claim.FAILED or answer.claim is Claim.FAILED:
                answer = Answer(claim, message=message)
            last = info["x"][: self._problem.n]
            if claim is Claim.TIME_LIMIT:
                break
        if answer.claim in (Claim.INFEASIBLE, Claim.UNBOUNDED):
            answer = self._proved(c, last, answer, deadline - time.monotonic())
        return replace(answer, iterations=iterations)

    def _proved(self, c: Vector, last: Vector, answer: Answer, seconds: float) -> Answer:
        """Iterates that diverge, or end at a point that is not feasible, say little: only a proof says more."""
        with np.errstate(all="ignore"):
            points = [z for z in (last, None) if z is None or np.isfinite(z).all()]
            claims = [proved(self._problem, c, z, min(seconds, PROOF_SECONDS)) for z in points]
        return replace(answer, claim=next((claim for claim in claims if claim), Claim.FAILED))

    @cached_property
    def _factorisation(self) -> float:
        return Ipopt().estimate_seconds(self._problem)

    def _run(self, c: Vector, options: Mapping[str, Any], point: _Point, seconds: float) -> dict[str, Any]:
        ipopt, callbacks = self._ipopt or self._callbacks.load(), self._callbacks
        if options["mu_strategy"] == FAST["mu_strategy"]:
            options = {**options, "diverging_iterates_tol": RUN_AWAY * max(1.0, float(np.abs(point.z).max(initial=0.0)))}
        limit = {"max_wall_time": float(max(1e-3, min(seconds, self._chosen.get("max_wall_time", np.inf))))}
        for name, value in {**OPTIONS, **_constant_parts(self._problem), **options, **self._chosen, **limit}.items():
            ipopt.add_option(name, value)
        callbacks.reset(c)
        # An interrupt that hits cyipopt between two callbacks is raised by every later solve of that object: drop it then.
        self._ipopt = None
        with np.errstate(all="ignore"):  # a trial point may overflow: the callbacks tell Ipopt
            info: dict[str, Any] = ipopt.solve(*point)[1]
        self._ipopt = ipopt
        if callbacks.error is not None:
            raise callbacks.error
        if info["status"] == INVALID_OPTION:
            raise CapabilityError(
                f"Ipopt refuses these options together or lacks what one of them names: {self._chosen}; leave some out"
            )
        return info

    def _optimal(self, z: Vector, multipliers: Vector, message: str, iterations: int) -> Answer:
        """Ipopt's ∇f + J'λ − zₗ + zᵤ = 0 in our convention: y = −λ, without the rounding on the side of a missing limit."""
        p, rows = self._problem, self._callbacks.rows
        row_duals = np.zeros(p.m)
        row_duals[rows] = -multipliers[: len(rows)] * self._callbacks.factor
        lowest, highest = np.where(np.isinf(p.row_upper), 0.0, -np.inf), np.where(np.isinf(p.row_lower), 0.0, np.inf)
        return Answer(
            claim=Claim.OPTIMAL,
            z=np.clip(z[: p.n], p.lower, p.upper),
            row_duals=np.clip(row_duals, lowest, highest),
            constraint_duals=np.minimum(-multipliers[len(rows) :], 0.0),
            message=message,
            iterations=iterations,
        )


def _with_hessian(problem: ConvexProblem) -> ConvexProblem:
    """``problem`` as a QP whose Q has the structure of all second derivatives."""
    sums = problem.constraints if problem.smooth is None else (problem.smooth, *problem.constraints)
    if not sums:
        return problem
    rows, cols = (np.concatenate([getattr(s, name) for s in sums]) for name in ("rows", "cols"))
    lower = sp.csc_array((np.ones(len(rows)), (rows, cols)), shape=(problem.n, problem.n))
    known = sp.csc_array((problem.n, problem.n)) if problem.Q is None else abs(problem.Q)
    return replace(problem, Q=sp.csc_array(known + lower + lower.T), smooth=None, constraints=())


def _constant_parts(problem: ConvexProblem) -> dict[str, str]:
    """Derivatives that Ipopt need ask for only once per solve."""
    linear = {} if problem.constraints else {"jac_c_constant": "yes", "jac_d_constant": "yes"}
    return (
        linear if problem.problem_class in (ProblemClass.CONIC, ProblemClass.NLP) else {**linear, "hessian_constant": "yes"}
    )


def _first_mu(c: Vector, previous: Vector) -> float:
    """The barrier parameter to restart with: the change of cost is the dual infeasibility of the last point.

    0.01 ‖Δc‖∞ was the best of {1, 0.1, …, 1e-5} on DCA runs of FSV, ℓ2-ℓ0 and alignment; Ipopt scales gradients beyond 100.
    """
    return float(max(1e-10, 0.01 * np.abs(c - previous).max() / max(1.0, np.abs(c).max() / 100)))


def _warm(mu: float) -> dict[str, Any]:
    """Slacks and multipliers are kept √µ away from zero, hence their products at least µ: near the central path."""
    pushes = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push")
    return {"warm_start_init_point": "yes", "mu_init": mu, **{f"warm_start_{name}": mu**0.5 for name in pushes}}

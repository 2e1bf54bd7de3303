"""Ipopt (Wächter & Biegler, Math. Program. 106, 2006): an interior-point method for smooth problems of every class.

    min ½z'Qz + c'z + φ(z)   subject to   limits on [A z; ψ(z)],  lower ≤ z ≤ upper

The derivatives are exact, those of second order too. One ``cyipopt.Problem`` lives as long as its session: between two
solves only c changes, and the second starts from the primal-dual point where the first ended.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Vector
from dcprog.errors import CapabilityError
from dcprog.smooth import FunctionTerm, SmoothSum
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver, finite
from dcprog.solvers.ipopt_options import typed
from dcprog.subproblem import ProblemClass, Subproblem

OPTIONS: dict[str, Any] = {
    "print_level": 0,
    "sb": "yes",
    "option_file_name": "",  # an ipopt.opt that happens to lie in the working directory is not ours
    "tol": 1e-10,  # the duality gap ends at about tol times the number of bounds
    "acceptable_tol": 1e-7,
    "bound_relax_factor": 1e-10,
}
# Mehrotra's predictor-corrector under Ipopt's filter took a third fewer iterations than the monotone rule on the LPs, QPs
# and NLPs of the papers. Where it fails, the monotone rule has the last word.
FAST = {"mu_strategy": "adaptive", "mu_oracle": "probing", "corrector_type": "affine", "max_iter": 300}
SAFE = {"mu_strategy": "monotone", "corrector_type": "none", "max_iter": 3000}
COLD_MU = 0.1
COLD = {"warm_start_init_point": "no", "mu_init": COLD_MU}
CLAIMS = {
    0: Claim.OPTIMAL,
    1: Claim.OPTIMAL,  # to the acceptable tolerance
    2: Claim.INFEASIBLE,
    4: Claim.UNBOUNDED,
    -4: Claim.TIME_LIMIT,
    -5: Claim.TIME_LIMIT,
}


class Ipopt(Solver):
    """Ipopt through cyipopt.

    Options are Ipopt's own. ``hessian_approximation="limited-memory"`` does without second derivatives, and is chosen where
    a function has none.

    >>> inf, one = np.inf, np.ones(1)
    >>> problem = Subproblem(c=-3 * one, A=sp.csr_array([[1.0]]), row_lower=-inf * one, row_upper=one,
    ...                      lower=0 * one, upper=inf * one, Q=sp.csr_array([[1.0]]))
    >>> answer = Ipopt().open(problem, {}).solve(problem.c, None, None)
    >>> print(answer.claim.value, answer.z.round(6), answer.row_duals.round(6))
    optimal [1.] [-2.]
    """

    name = "ipopt"
    module = "cyipopt"
    distribution = "cyipopt-wheels"
    install = "pip install cyipopt-wheels==1.7.0.dev0"
    classes = frozenset(ProblemClass)
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS

    def open(self, problem: Subproblem, options: Mapping[str, Any]) -> Session:
        chosen = {name: typed(name, value) for name, value in options.items()}
        sums = problem.constraints if problem.smooth is None else (problem.smooth, *problem.constraints)
        terms = [term for s in sums for term in s.terms if isinstance(term, FunctionTerm)]
        lacking = [term.function for term in terms if not term.function.has_hessian]
        if lacking and chosen.setdefault("hessian_approximation", "limited-memory") == "exact":
            raise CapabilityError(
                f"hessian_approximation='exact' needs second derivatives and {lacking[0]!r} has none: give it a hessian "
                "method, or leave the option out"
            )
        return _Session(problem, chosen)


class _Point(NamedTuple):
    """Where Ipopt starts: z, and for a warm start the multipliers of rows and bounds as well."""

    z: Vector
    rows: Vector | tuple[()] = ()
    lower: Vector | tuple[()] = ()
    upper: Vector | tuple[()] = ()


class _Session(Session):
    def __init__(self, problem: Subproblem, options: Mapping[str, Any]) -> None:
        self._problem, self._options = problem, {**OPTIONS, **_constant_parts(problem)}
        self._chosen = options
        self._callbacks = _Callbacks(problem)
        self._ipopt = self._build()
        self._last: tuple[Vector, _Point] | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        deadline = time.monotonic() + (1e19 if time_limit is None else time_limit)
        cold = _Point(np.zeros(self._callbacks.size))
        if start is not None:
            cold.z[: self._problem.n] = start
        attempts: list[tuple[dict[str, Any], _Point]] = [({**FAST, **COLD}, cold), ({**SAFE, **COLD}, cold)]
        if self._last is not None and (mu := _first_mu(c, self._last[0])) < COLD_MU:
            attempts.insert(0, ({**FAST, **_warm(mu)}, self._last[1]))

        iterations = 0
        for options, point in attempts:
            info = self._run(c, options, point, deadline - time.monotonic())
            claim = CLAIMS.get(info["status"], Claim.FAILED)
            iterations += self._callbacks.iterations
            if claim in (Claim.OPTIMAL, Claim.TIME_LIMIT):
                break
        message = info["status_msg"].decode()
        if claim is not Claim.OPTIMAL:
            return Answer(claim, message=message, iterations=iterations)
        self._last = c.copy(), _Point(info["x"], info["mult_g"], info["mult_x_L"], info["mult_x_U"])
        return self._answer(info["x"], info["mult_g"], message, iterations)

    def _build(self) -> Any:
        import cyipopt

        p, pad = self._problem, np.ones(self._callbacks.padding)
        rows, none = self._callbacks.rows, np.full(len(p.constraints), -np.inf)
        return cyipopt.Problem(
            n=self._callbacks.size,
            m=len(rows) + len(none),
            problem_obj=self._callbacks,
            lb=finite(np.append(p.lower, -pad)),
            ub=finite(np.append(p.upper, pad)),
            cl=finite(np.append(p.row_lower[rows], none)),
            cu=finite(np.append(p.row_upper[rows], np.zeros(len(none)))),
        )

    def _run(self, c: Vector, options: Mapping[str, Any], point: _Point, seconds: float) -> dict[str, Any]:
        self._callbacks.reset(c)
        ipopt = self._ipopt or self._build()
        limit = {"max_wall_time": max(1e-3, min(seconds, self._chosen.get("max_wall_time", np.inf)))}
        for name, value in {**self._options, **options, **self._chosen, **limit}.items():
            ipopt.add_option(name, value)
        # An interrupt that hits cyipopt between two callbacks is raised by every later solve of that object: drop it then
        self._ipopt = None
        with np.errstate(all="ignore"):  # a trial point may overflow: the callbacks say so to Ipopt
            _, info = ipopt.solve(*point)
        self._ipopt = ipopt
        if self._callbacks.error is not None:
            raise self._callbacks.error
        return info  # type: ignore[no-any-return]

    def _answer(self, z: Vector, multipliers: Vector, message: str, iterations: int) -> Answer:
        """Ipopt's ∇f + J'λ − zₗ + zᵤ = 0 in our convention: y = −λ, without the rounding on the side of a missing limit."""
        p, rows = self._problem, self._callbacks.rows
        row_duals = np.zeros(p.m)
        row_duals[rows] = -multipliers[: len(rows)]
        lowest, highest = np.where(np.isinf(p.row_upper), 0.0, -np.inf), np.where(np.isinf(p.row_lower), 0.0, np.inf)
        return Answer(
            claim=Claim.OPTIMAL,
            z=np.clip(z[: p.n], p.lower, p.upper),
            row_duals=np.clip(row_duals, lowest, highest),
            constraint_duals=np.minimum(-multipliers[len(rows) :], 0.0),
            message=message,
            iterations=iterations,
        )


def _constant_parts(problem: Subproblem) -> dict[str, str]:
    """Derivatives that Ipopt need ask for only once per solve."""
    linear = {"jac_c_constant": "yes", "jac_d_constant": "yes"} if not problem.constraints else {}
    return linear if problem.problem_class is ProblemClass.NLP else {**linear, "hessian_constant": "yes"}


def _first_mu(c: Vector, last: Vector) -> float:
    """The barrier parameter to restart with: the change of cost is the dual infeasibility of the last point.

    0.01 ‖Δc‖∞ was the best of {1, 0.1, …, 1e-5} on DCA runs of FSV, ℓ2-ℓ0 and alignment; Ipopt scales gradients beyond 100.
    """
    return float(max(1e-10, 0.01 * np.abs(c - last).max() / max(1.0, np.abs(c).max() / 100)))


def _warm(mu: float) -> dict[str, Any]:
    """Slacks and multipliers are kept √µ away from zero, hence their products at least µ: near the central path."""
    pushes = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push")
    return {"warm_start_init_point": "yes", "mu_init": mu, **{f"warm_start_{name}": mu**0.5 for name in pushes}}


def _guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    """A callback of z: its exception waits until Ipopt has returned, its NaN or infinity makes Ipopt shorten the step."""

    @functools.wraps(callback)
    def call(self: _Callbacks, z: Vector, *args: Any) -> Any:
        from cyipopt import CyIpoptEvaluationError

        if self.error is None:
            try:
                value = callback(self, z[: self.problem.n], *args)
                if np.isfinite(value).all():
                    return value
            except BaseException as error:  # an interrupt too: Ipopt has to unwind before it can be raised
                self.error = error
        raise CyIpoptEvaluationError

    return call


class _Callbacks:
    """The subproblem as Ipopt asks for it, without free rows.

    Ipopt refuses more equations than variables, and of as many it solves the equations only, without multipliers: z is then
    padded with variables in [−1, 1] that appear nowhere.
    """

    def __init__(self, problem: Subproblem) -> None:
        self.problem, self.c = problem, problem.c
        self.rows = np.flatnonzero(np.isfinite(problem.row_lower) | np.isfinite(problem.row_upper))
        self.padding = max(0, int(problem.equality.sum() - (problem.lower < problem.upper).sum()) + 1)
        self.size = problem.n + self.padding
        self._A = sp.csr_array(problem.A)[self.rows].tocoo()
        if len(self.rows) and not self._A.nnz:  # Ipopt refuses rows without a single coefficient
            self._A = sp.coo_array(([0.0], ([0], [0])), shape=self._A.shape)
        self._Q = sp.coo_array((problem.n, problem.n) if problem.Q is None else sp.tril(problem.Q))
        self._phi = SmoothSum([], problem.n) if problem.smooth is None else problem.smooth
        self.error: BaseException | None = None
        self.iterations = 0

    def reset(self, c: Vector) -> None:
        self.c, self.error, self.iterations = c, None, 0

    @_guarded
    def objective(self, z: Vector) -> float:
        return self.problem.value(z, self.c)

    @_guarded
    def gradient(self, z: Vector) -> Vector:
        return np.append(self.problem.gradient(z, self.c), np.zeros(self.padding))

    @_guarded
    def constraints(self, z: Vector) -> Vector:
        return np.append(self._A @ z, [psi.value(z) for psi in self.problem.constraints])

    @_guarded
    def jacobian(self, z: Vector) -> Vector:
        return np.concatenate([self._A.data, *(psi.gradient(z)[psi.support] for psi in self.problem.constraints)])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        psis = self.problem.constraints
        rows = [np.full(len(psi.support), i) for i, psi in enumerate(psis, start=len(self.rows))]
        return np.concatenate([self._A.row, *rows]), np.concatenate([self._A.col, *(psi.support for psi in psis)])

    @_guarded
    def hessian(self, z: Vector, multipliers: Vector, factor: float) -> Vector:
        weighted = zip(multipliers[len(self.rows) :], self.problem.constraints, strict=True)
        objective = (factor * self._Q.data, factor * self._phi.hessian_values(z))
        return np.concatenate([*objective, *(weight * psi.hessian_values(z) for weight, psi in weighted)])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        parts = (self._Q.row, self._Q.col), *((s.rows, s.cols) for s in (self._phi, *self.problem.constraints))
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([cols for _, cols in parts])

    def intermediate(self, mode: int, iteration: int, *progress: float) -> bool:
        self.iterations = iteration
        return self.error is None

"""Newton's method for smooth functions beside cones: each step solves the second-order model, the cones left as they are.

    min  φ(z) + ⟨c, z⟩   subject to   ψᵢ(z) ≤ 0 smooth,  rows, bounds and cones (‖Mz + b‖ ≤ t and the like)

An interior-point method for smooth functions has no derivative where a norm is 0, and one for cones does not know φ. The
model at zᵏ with multipliers μᵏ is sequential quadratic programming (Wilson, 1963) with cones: its linearised rows hold
wherever ψᵢ ≤ 0 does, by convexity, so that it is never infeasible by itself. Steps are shortened until the exact penalty
function

    M(z) = φ(z) + ⟨c, z⟩ + σ Σᵢ max(ψᵢ(z), 0),   σ > |μᵢ|,

falls by a share of what the model says (Han, 1977); where it does not, a multiple of the identity is added to the Hessian.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import value_size, verify
from dcprog.convex.newton import has_model, model_at
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import unknown_name
from dcprog.solvers.adapters.clarabel import Clarabel, ClarabelSession
from dcprog.solvers.base import Feature, Session, Solver, cost_scale
from dcprog.typing import Vector

ENOUGH = 1e-9
"""Residuals at which no further step is taken."""
STEPS = 100
SHARE = 1e-4
"""Of the fall that the model foretells, what has to come true."""
SHORTEST = 1e-8
DAMPING = 1e-6
"""The first multiple of the identity, relative to the largest entry of the Hessian."""
NO_BETTER = 4
"""Steps without a better residual, after which the best point stands."""


class ConeNewton(Solver):
    """Newton's method with Clarabel for its models. No options."""

    name = "cone-newton"
    module = "clarabel"
    distribution = "clarabel"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.CONIC, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS | Feature.CONES
    interruptible = False  # in the set-up of a model

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return Clarabel().estimate_seconds(problem)

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        if not problem.has_cones:
            return "it takes smooth functions beside cones, such as norms in g, and this subproblem has none"
        return None if has_model(problem) else "it takes smooth functions that give second derivatives"

    def rank(self, problem: ConvexProblem) -> int | None:
        """After Clarabel, which takes what has a conic form, and before Ipopt, which has no derivative at kinks."""
        return 15 if problem.has_cones else None

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        for name in options:
            raise unknown_name("cone-newton option", name, [])
        return ConeNewtonSession(problem)


class ConeNewtonSession(Session):
    """Each solve begins where the last one ended, or at the start that is given."""

    def __init__(self, problem: ConvexProblem) -> None:
        self._problem = problem
        self._last: tuple[Vector, Vector] | None = None

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        self._problem = problem
        return None

    def rewind(self) -> None:
        self._last = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
        with np.errstate(all="ignore"):
            found = self._newton(c, *self._begin(start), deadline)
        if found.claim is Claim.OPTIMAL and found.z is not None and found.constraint_duals is not None:
            self._last = found.z, found.constraint_duals
        return found

    def _begin(self, start: Vector | None) -> tuple[Vector, Vector]:
        p, mu = self._problem, np.zeros(len(self._problem.constraints))
        if self._last is not None:
            return self._last
        return np.clip(np.zeros(p.n) if start is None else start, p.lower, p.upper), mu

    def _newton(self, c: Vector, z: Vector, mu: Vector, deadline: float) -> Answer:
        best, least, since = Answer(Claim.FAILED, message="no model was solved"), np.inf, 0
        damping, sigma = 0.0, 0.0
        for count in range(1, STEPS + 1):
            if time.perf_counter() >= deadline:
                return replace(best, claim=Claim.TIME_LIMIT, message="time limit reached")
            model, damping = self._damped(model_at(self._problem, c, z, mu), z, damping)
            step = _minimiser(model, deadline - time.perf_counter())
            if step.claim is not Claim.OPTIMAL or step.z is None or step.constraint_duals is None:
                if damping > 1.0 / DAMPING:
                    return best if np.isfinite(least) else replace(step, z=None)
                damping = max(1e3 * damping, DAMPING)
                continue
            worst = verify(self._problem, c, step).worst
            since = 0 if worst < 0.5 * least else since + 1
            if worst < least:
                best, least = replace(step, iterations=count), worst
            if least <= ENOUGH or (since > NO_BETTER and least <= np.sqrt(ENOUGH)):
                return best
            mu = step.constraint_duals
            sigma = max(sigma, 2.0 * float(np.abs(mu).max(initial=0.0)))
            t = self._length(c, z, step.z - z, model, sigma)
            if t is None:
                if damping > 1.0 / DAMPING:
                    return best
                damping = max(1e3 * damping, DAMPING)
                continue
            damping = 0.1 * damping if t == 1.0 and damping > DAMPING else 0.0 if t == 1.0 else max(10.0 * damping, DAMPING)
            z = z + t * (step.z - z)
        return best

    def _damped(self, model: ConvexProblem, z: Vector, damping: float) -> tuple[ConvexProblem, float]:
        """The model plus ½δ‖y − z‖², δ = ``damping`` times the largest entry of the Hessian."""
        assert model.Q is not None
        if damping == 0.0:
            return model, damping
        delta = damping * (float(np.abs(model.Q.data).max(initial=0.0)) or 1.0)
        Q = sp.csc_array(model.Q + delta * sp.eye_array(model.n, format="csc"))
        return replace(model, Q=Q, c=model.c - delta * z), damping

    def _length(self, c: Vector, z: Vector, d: Vector, model: ConvexProblem, sigma: float) -> float | None:
        """The first of 1, ½, ¼, … with which M falls by a share of what the model says; None if none does."""
        assert model.Q is not None
        here = self._penalty(c, z, sigma)
        rounding = 4.0 * np.finfo(float).eps * value_size(self._problem, c, z, self._problem.units())
        linear = model.c + model.Q @ z
        foretold = -float(linear @ d) - 0.5 * float(d @ (model.Q @ d)) + sigma * self._outside(z)
        t = 1.0
        while t >= SHORTEST:
            if self._penalty(c, z + t * d, sigma) <= here - SHARE * t * foretold + rounding:
                return t
            t *= 0.5
        return None

    def _penalty(self, c: Vector, z: Vector, sigma: float) -> float:
        value = self._problem.value(z, c) + sigma * self._outside(z)
        return value if np.isfinite(value) else np.inf

    def _outside(self, z: Vector) -> float:
        return float(sum(max(psi.value(z), 0.0) for psi in self._problem.constraints))


def _minimiser(model: ConvexProblem, seconds: float) -> Answer:
    """What Clarabel says of the model with costs of the size of 1: at the start they may have been 1e6 times what they are
    here, and its tolerances are absolute."""
    assert model.Q is not None
    scale = cost_scale(model.c)
    scaled = replace(model, c=scale * model.c, Q=scale * model.Q)
    found = ClarabelSession(scaled, {}).solve(scaled.c, None, seconds)
    y, mu = found.row_duals, found.constraint_duals
    return replace(found, row_duals=None if y is None else y / scale, constraint_duals=None if mu is None else mu / scale)

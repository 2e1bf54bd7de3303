"""Smooth functions together with cones: Newton's method whose steps are conic problems.

    min  φ(z) + c'z + …   subject to   ψᵢ(z) ≤ 0,  rows, bounds and cones

At z the smooth φ and ψᵢ are replaced by their models (:mod:`dcprog.convex.newton`), and the cones stay what they are: at
their tips, where solutions like to be, smooth solvers have no gradient. A step is shortened until the merit function
φ(z) + c'z + … + Σ ρᵢ max(ψᵢ(z), 0), ρᵢ beyond the multipliers, falls by a share of what the model promises.
Nocedal & Wright (2006), section 18.3; Lee, Sun & Saunders (2014) for proximal Newton steps.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import TOLERANCE, feasibility, verify
from dcprog.convex.newton import has_model, model_at
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.clarabel import Clarabel, ClarabelSession, check_options
from dcprog.solvers.base import Feature, Session, Solver, cost_scale
from dcprog.typing import Vector

RANK = 15
MOST_STEPS = 100
SHARP = 1e-9
"""Residuals that end the search; a later step that does not better them does, too."""
SHARE = 0.1
"""Of what the model promises, so much has to come."""
SHORTEST = 1e-10
DAMPING = 1e-6
"""Of the largest second derivative, where the model has no minimiser; a hundred times as much again and again."""


class ConicNewton(Solver):
    """Newton's method for smooth functions and cones together, its models solved by Clarabel, whose options it takes.

    e^x₁ − 2x₁ + ‖(x₁, x₂)‖, with the norm as the cone ‖(x₁, x₂)‖ ≤ t:

    >>> import pyomo.environ as pyo, dcprog
    >>> from dcprog.functions import Norm2
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(range(2), initialize=0)
    >>> program = dcprog.DCProgram(m, g=pyo.exp(m.x[0]) - 1.5 * m.x[0] + Norm2()(m.x), h=0)
    >>> result = dcprog.solve(program, solver="conic-newton", fallback=False)
    >>> print(result.status, result["x"].round(4) + 0)
    converged [0. 0.]
    """

    name = "conic-newton"
    module = "clarabel"
    distribution = "clarabel"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.CONIC, ProblemClass.NLP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS | Feature.NONLINEAR_ROWS | Feature.CONES
    interruptible = False

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return Clarabel().estimate_seconds(problem)

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is None and not has_model(problem):
            return "it takes smooth functions with second derivatives beside cones, and some function gives none"
        return lack

    def rank(self, problem: ConvexProblem) -> int | None:
        """After Clarabel, which takes what has a conic form, and before Ipopt, which has no gradient at the tips."""
        return RANK if problem.has_cones else None

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        check_options(options)  # here, not at the first model
        return ConicNewtonSession(problem, options)


class ConicNewtonSession(Session):
    """Keeps the last solution, and Clarabel's problem, whose numbers change from step to step."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._problem, self._options = problem, options
        self._model: ClarabelSession | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        problem, deadline = self._problem, np.inf if time_limit is None else time.perf_counter() + time_limit
        z = np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper)
        mu, rho = np.zeros(len(problem.constraints)), np.zeros(len(problem.constraints))
        best: Answer | None = None
        worst, steps, damping = np.inf, 0, 0.0
        with np.errstate(all="ignore"):
            for _ in range(MOST_STEPS):
                found = self._step(c, z, mu, damping, deadline)
                steps += found.iterations
                if found.claim is Claim.UNBOUNDED and damping < 1.0:
                    damping = max(DAMPING, 100 * damping)
                    continue
                if found.claim is not Claim.OPTIMAL or found.z is None:
                    return replace(found, iterations=steps)
                residual = verify(problem, c, found).worst
                if residual < worst:
                    best, worst = found, residual
                if worst <= SHARP or (worst <= TOLERANCE and residual > worst):
                    break
                mu = mu if found.constraint_duals is None else found.constraint_duals
                rho = np.maximum(rho, 2 * np.abs(mu))
                t = self._length(c, z, found.z, rho)
                if t == 0.0:
                    break
                z = z + t * (found.z - z)
                damping = damping / 100 if t == 1.0 else max(DAMPING, 10 * damping) if t < SHARE else damping
        if best is None:
            return Answer(Claim.FAILED, message="its models have no minimiser", iterations=steps)
        claim = Claim.OPTIMAL if worst <= TOLERANCE else Claim.FAILED
        return replace(best, claim=claim, iterations=steps, message=f"residual {worst:.1e}")

    def _step(self, c: Vector, z: Vector, mu: Vector, damping: float, deadline: float) -> Answer:
        """The minimiser of the model at z; of one with more curvature if it has none."""
        model = model_at(self._problem, c, z, mu)
        assert model.Q is not None
        if not (np.isfinite(model.c).all() and np.isfinite(model.Q.data).all()):
            return Answer(Claim.FAILED, message="a function has no value or derivatives where it began")
        if damping:
            more = damping * (float(np.abs(model.Q.diagonal()).max()) or 1.0)
            Q = sp.csc_array(model.Q + more * sp.eye_array(model.n))
            model = replace(model, Q=Q, c=model.c - more * z)
        return self._solved(model, deadline)

    def _solved(self, model: ConvexProblem, deadline: float) -> Answer:
        """By Clarabel, with costs of the size of 1: at the start they may have been 1e6 times what they are here, and its
        tolerances are absolute."""
        assert model.Q is not None
        scale = cost_scale(model.c)
        model = replace(model, c=scale * model.c, Q=scale * model.Q)
        smooth_rows = any(cone is None for cone in self._problem.cones)  # linearised anew: other numbers in cones
        if self._model is None or smooth_rows or self._model.change(model, frozenset({"Q"})) is not None:
            self._model = ClarabelSession(model, self._options)
        left = None if deadline == np.inf else max(deadline - time.perf_counter(), 0.0)
        found = self._model.solve(model.c, None, left)
        y, mu = found.row_duals, found.constraint_duals
        return replace(
            found, row_duals=None if y is None else y / scale, constraint_duals=None if mu is None else mu / scale
        )

    def _length(self, c: Vector, z: Vector, there: Vector, rho: Vector) -> float:
        """How far to go from z to ``there``; 0 where nothing falls any more. From outside of C as far as all is finite."""
        problem, d, outside = self._problem, there - z, feasibility(self._problem, z) > TOLERANCE
        smooth = [(psi, r) for psi, cone, r in zip(problem.constraints, problem.cones, rho, strict=True) if cone is None]

        def over(y: Vector) -> float:
            return float(sum(r * max(psi.value(y), 0.0) for psi, r in smooth))

        def merit(y: Vector) -> float:
            return problem.value(y, c) + over(y)

        before = merit(z)
        promised = float(problem.gradient(z, c) @ d) - over(z)
        t = 1.0
        while t > SHORTEST:
            after = merit(z + t * d)
            if np.isfinite(after) and (outside or promised >= 0 or after <= before + SHARE * t * promised):
                return t
            t *= 0.5
        return 0.0

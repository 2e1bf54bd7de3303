"""A solver's claim, checked: residuals of the optimality conditions, recomputed from the compiled arrays.

At an optimal z of the subproblem with multipliers y of the rows and μ ≤ 0 of the constraints ψ ≤ 0 the reduced gradient

    r = ∇objective(z) − A'y − Σ μᵢ ∇ψᵢ(z)

is ≥ 0 where z is at its lower bound, ≤ 0 at its upper and 0 in between. Since the problem is convex this is sufficient, and
the duality gap is Σ |rⱼ|·(distance of zⱼ to the bound that the sign of rⱼ belongs to), plus the same for the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dcprog._typing import Vector
from dcprog.multipliers import multipliers
from dcprog.solvers.base import Answer
from dcprog.subproblem import Subproblem

TOLERANCE = 1e-6
"""Largest relative residual with which a claim of optimality is accepted."""
SMALLEST_SCALE = 1e-3
"""Gradients below this size are taken as this large: against less, rounding would fail the check."""


@dataclass(frozen=True)
class Residuals:
    """Relative residuals of the optimality conditions: infeasibility, stationarity, duality gap."""

    primal: float
    dual: float
    gap: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return float(np.max([self.primal, self.dual, self.gap]))  # NaN stays NaN, and is no certificate

    def holds(self, tol: float = TOLERANCE) -> bool:
        """Whether all three are at most ``tol``."""
        return self.worst <= tol

    def __str__(self) -> str:
        return f"primal {self.primal:.1e}, dual {self.dual:.1e}, gap {self.gap:.1e}"


def verify(problem: Subproblem, c: Vector, answer: Answer) -> Residuals:
    """Residuals of ``answer`` to ``problem`` with linear cost ``c``."""
    assert answer.z is not None
    z = answer.z
    if not np.isfinite(z).all():
        return Residuals(np.inf, np.inf, np.inf)
    gradient = problem.gradient(z, c)
    activity = problem.A @ z if problem.m else np.empty(0)
    psi = np.array([row.value(z) for row in problem.constraints])
    y, mu = answer.row_duals, answer.constraint_duals
    if (y is None and problem.m) or (mu is None and problem.constraints):
        y, mu = multipliers(problem, c, z)
    scale = _gradient_scale(problem, z, c)
    reduced = gradient - (problem.A.T @ y if problem.m else 0.0)
    for multiplier, row in zip(mu if mu is not None else (), problem.constraints, strict=True):
        reduced = reduced - multiplier * row.gradient(z)
    signs, gaps = _conditions(reduced, z, problem.lower, problem.upper, scale)
    if problem.m:
        row_signs, row_gaps = _conditions(y, activity, problem.row_lower, problem.row_upper, scale)
        signs, gaps = max(signs, row_signs), gaps + row_gaps
    if problem.constraints:
        psi_signs, psi_gaps = _conditions(mu, psi, np.full_like(psi, -np.inf), np.zeros_like(psi), scale)
        signs, gaps = max(signs, psi_signs), gaps + psi_gaps
    return Residuals(
        primal=feasibility(problem, z, activity, psi),
        dual=signs / scale,
        gap=gaps / (1.0 + abs(problem.value(z, c))),
    )


def _gradient_scale(problem: Subproblem, z: Vector, c: Vector) -> float:
    """Size of the parts of the gradient, before they cancel: what a stationarity residual is small against."""
    parts = [float(np.abs(c).max(initial=0.0)), SMALLEST_SCALE]
    if problem.Q is not None:
        parts.append(float(np.abs(problem.Q @ z).max(initial=0.0)))
    if problem.smooth is not None:
        parts.append(float(np.abs(problem.smooth.gradient(z)).max(initial=0.0)))
    return max(parts)


def feasibility(problem: Subproblem, z: Vector, activity: Vector | None = None, psi: Vector | None = None) -> float:
    """Largest violation of a bound, row or constraint, relative to the size of its limit."""
    if activity is None:
        activity = problem.A @ z if problem.m else np.empty(0)
    if psi is None:
        psi = np.array([row.value(z) for row in problem.constraints])
    violations = [
        _violation(z, problem.lower, problem.upper),
        _violation(activity, problem.row_lower, problem.row_upper),
        float(psi.max(initial=0.0)),
    ]
    return float(np.max(violations))


def _violation(values: Vector, lower: Vector, upper: Vector) -> float:
    below = (lower - values) / (1.0 + np.where(np.isfinite(lower), np.abs(lower), 0.0))
    above = (values - upper) / (1.0 + np.where(np.isfinite(upper), np.abs(upper), 0.0))
    return float(np.maximum(below, above).max(initial=0.0))


def _conditions(
    multipliers: Vector | None, values: Vector, lower: Vector, upper: Vector, scale: float
) -> tuple[float, float]:
    """Largest multiplier whose sign has no limit to belong to, and Σ |multiplier|·slack over the others.

    Multipliers below rounding are left out of the sum: times a distant bound they would say nothing about the solution.
    """
    assert multipliers is not None
    slack = np.where(multipliers > 0, values - lower, upper - values)
    size = np.abs(multipliers)
    homeless = np.isinf(slack)
    significant = ~homeless & (size > 1e-9 * scale)
    return float(size[homeless].max(initial=0.0)), float((size[significant] * np.abs(slack[significant])).sum())

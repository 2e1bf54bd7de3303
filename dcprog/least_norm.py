"""The solution of least 2-norm of an ℓ1 program, exactly, from minimisers of the penalty function of its dual.

Algorithm 3.1 of Fung & Mangasarian (2004) leaves δ to a tuning procedure and doubles α at every step; when α gets large far
from the solution, its steps are cut to nothing at the kinks of f. To minimise f to rounding, δ falls here after every full
step and grows after every cut one, and α grows when a minimum is reached.

Two minimisers prove a solution. Let u₁ and u₂ minimise f for ε₁ > ε₂, and let z be what (2.15) makes of u₂. If it makes the
same of u₁, both lie on a line u* + εd, whose point at ε = 0 is u* = (ε₁u₂ − ε₂u₁)/(ε₁ − ε₂). When u* satisfies the
constraints of the dual and its objective equals that of z, then z is optimal; and since z also minimises the objective plus
½ε₂‖z‖², no other optimal point has a smaller norm. This is Remark 3.1 of the paper, with its "certain assumptions" checked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dcprog._typing import Vector
from dcprog.dual_penalty import L1Program, Point, Primal, armijo_step

EPSILON = 0.1
"""The paper's ε, relative to the costs of a program."""
FALL = 4.0
"""ε falls by this factor until nothing changes."""
STAGES = 16
"""At most so many values of ε: 0.1 to 1e-10 times the costs."""
TOLERANCE = 1e-8
"""Largest relative residual of a solution that is called one."""
ALPHA, ALPHA_GROWTH, LAST_ALPHA = 1e3, 1e3, 1e9
DELTA, LEAST_DELTA = 1e-2, 1e-12
"""δ to start with, and the least one relative to the squares of the columns: the Cholesky factor has to exist."""
STEPS = 5000
"""Newton steps for one ε, at most."""


@dataclass(frozen=True, eq=False)
class LeastNorm:
    """A point of the ℓ1 program, multipliers u ≥ 0 of its rows, the ε that sufficed, and the residual of optimality."""

    z: Primal
    u: Vector
    epsilon: float
    residual: float
    steps: int


def least_norm(
    lp: L1Program, *, epsilon: float | None = None, start: Vector | None = None, time_limit: float | None = None
) -> LeastNorm:
    """The optimal point of ``lp`` of least 2-norm; if none can be proved, the point of the least residual.

    Parameters
    ----------
    epsilon : float, optional
        Where ε starts; it falls by 4 until two minimisers prove the solution.
    start : vector, optional
        Multipliers to start from, such as those of a program with other costs.
    time_limit : float, optional
        Seconds, after which TimeoutError is raised.

    min p + q + 5ξ subject to 2(p − q) + ξ ≥ 1 has its solution at p = ½:

    >>> one = np.ones(1)
    >>> lp = L1Program(B=np.array([[2.0]]), G=np.empty((1, 0)), r=one, s=one, t=one, c=np.empty(0), nu=5 * one)
    >>> solution = least_norm(lp)
    >>> float(solution.z.p.round(9)[0]), float(solution.u.round(9)[0])
    (0.5, 0.5)
    """
    deadline = np.inf if time_limit is None else time.perf_counter() + time_limit
    eps = EPSILON * _scale(lp) if epsilon is None else epsilon
    u = np.zeros(lp.m) if start is None else start
    minimisers: list[Vector] = []
    solutions: list[LeastNorm] = []
    total = 0
    for _ in range(STAGES):
        at, steps = minimise(lp, lp.at(u), eps, deadline)
        total += steps
        u = at.u if not minimisers else (FALL * at.u - minimisers[-1]) / (FALL - 1)  # u* of the line u* + εd
        solutions.append(_solution(lp, at, eps, np.clip(u, 0, lp.nu), total))
        if solutions[-1].residual <= TOLERANCE or steps == STEPS:
            break  # without a minimiser, or one that rounding lets us reach, a smaller ε is harder still
        minimisers.append(at.u)
        eps /= FALL
        u = np.maximum(u + (at.u - u) / FALL, 0)  # where the line is at the next ε
    return min(solutions, key=lambda solution: solution.residual)


def minimise(lp: L1Program, at: Point, eps: float, deadline: float = np.inf) -> tuple[Point, int]:
    """A minimiser of f for α → ∞, and the Newton steps it took from ``at``."""
    alpha, least = ALPHA, LEAST_DELTA * lp.largest_square
    delta = max(DELTA, least)
    enough = 0.01 * TOLERANCE * eps * (1.0 + float(np.abs(lp.r).max()))
    for steps in range(STEPS):
        if time.perf_counter() > deadline:
            raise TimeoutError("time limit reached")
        step = armijo_step(lp, at, eps, delta, alpha)
        at = step.point
        exhausted = delta == least and not step.visible
        if exhausted or float(np.abs(lp.gradient(at, eps, alpha)).max()) <= enough:
            if alpha >= LAST_ALPHA:
                return at, steps + 1
            alpha *= ALPHA_GROWTH
        delta = max(delta / 4, least) if step.length == 1.0 else 2 * delta
    return at, STEPS


def _solution(lp: L1Program, at: Point, eps: float, u: Vector, steps: int) -> LeastNorm:
    """The point of (P) that belongs to the minimiser ``at``, with slacks made anew, and how far both are from optimal."""
    z = lp.primal(at, eps)
    short = np.maximum(lp.r - lp.activity(z.p - z.q, z.beta), 0)
    soft = np.isfinite(lp.nu)
    z = z._replace(xi=np.where(soft, short, 0.0))
    end = lp.at(u)
    infeasible = (end.a - lp.s, -end.a - lp.t, np.abs(end.b - lp.c))
    cost = lp.cost(z)
    residual = max(
        max(float(part.max(initial=0.0)) for part in infeasible) / (1.0 + _largest_cost(lp)),
        float(short[~soft].max(initial=0.0)) / (1.0 + float(np.abs(lp.r).max())),
        abs(cost - float(lp.r @ u)) / (1.0 + abs(cost)),
    )
    return LeastNorm(z, u, eps, residual, steps)


def _scale(lp: L1Program) -> float:
    """The smaller one of the mean costs of features and slacks: ε has to be small against both."""
    kinds = (np.concatenate([lp.s, lp.t]), lp.nu)
    means = [float(costs[np.isfinite(costs)].mean()) for costs in kinds if np.isfinite(costs).any()]
    return min((mean for mean in means if mean > 0), default=1.0)


def _largest_cost(lp: L1Program) -> float:
    costs = np.abs(np.concatenate([lp.s, lp.t, lp.c, lp.nu]))
    return float(costs[np.isfinite(costs)].max(initial=0.0))

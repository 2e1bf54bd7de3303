"""The solution of least 2-norm of an ℓ1 program, exactly, from minimisers of the penalty function of its dual.

Algorithm 3.1 of Fung & Mangasarian (2004) leaves δ to a tuning procedure and doubles α at every step; when α gets large far
from the solution, its steps are cut to nothing at the kinks of f. To minimise f to rounding, δ falls here after every full
step and grows after every cut one, and α grows when a minimum is reached.

Two minimisers prove a solution. Let u₁ and u₂ minimise f for ε₁ > ε₂, and let z be what (2.15) makes of u₂. If it makes the
same of u₁, both lie on a line u* + εd, whose point at ε = 0 is u* = (ε₁u₂ − ε₂u₁)/(ε₁ − ε₂). When u* satisfies the
constraints of the dual and its objective equals that of z, then z is optimal; and since z also minimises the objective plus
½ε₂‖z‖², no other optimal point has a smaller norm. This is Remark 3.1 of the paper, with its "certain assumptions" checked.

What floating point leaves of z and u* after a division by ε need not be optimal to the last digits. Then the active sets of
both determine a point that is (:mod:`dcprog.solvers.reductions.active_l1`), and it has the least norm if the minimiser is
next to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dcprog.solvers.reductions.active_l1 import from_active_sets
from dcprog.solvers.reductions.dual_penalty import L1Program, Point, Primal, armijo_step
from dcprog.typing import Vector

EPSILON = 0.1
"""The paper's ε, relative to the costs of a program."""
FALL = 4.0
"""ε falls by this factor until nothing changes."""
STAGES = 16
"""At most so many values of ε: 0.1 to 1e-10 times the costs."""
TOLERANCE = 1e-8
"""Largest relative residual of a solution that is called one."""
ROUGH = 1e-2
"""Where the residual is larger than this, active sets are not worth a look."""
THRESHOLDS = (1e-9, 1e-7, 1e-5, 1e-3)
"""What is smaller is taken for inactive, one after the other."""
NEAR = 1e-4
"""How far a solution with the same active sets may be from the minimiser."""
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
        solutions.append(_solution(lp, lp.primal(at, eps), np.clip(u, 0, lp.nu), eps, total))
        if TOLERANCE < solutions[-1].residual <= ROUGH:
            solutions.extend(_finished(lp, at, solutions[-1]))
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


def _solution(lp: L1Program, z: Primal, u: Vector, eps: float, steps: int) -> LeastNorm:
    """z with slacks made anew, and how far it and u are from optimal."""
    short = np.maximum(lp.r - lp.activity(z.p - z.q, z.beta), 0)
    soft = np.isfinite(lp.nu)
    z = z._replace(xi=np.where(soft, short, 0.0))
    end = lp.at(u)
    cost = lp.cost(z)
    residual = max(
        max(float((end.a - lp.s).max(initial=0.0)), float((-end.a - lp.t).max(initial=0.0))) / (1.0 + _largest(lp.s, lp.t)),
        float(np.abs(end.b - lp.c).max(initial=0.0)) / (1.0 + _largest(lp.c, lp.nu)),
        float(short[~soft].max(initial=0.0)) / (1.0 + float(np.abs(lp.r).max())),
        abs(cost - float(lp.r @ u)) / (1.0 + abs(cost)),
    )
    return LeastNorm(z, u, eps, residual, steps)


def _finished(lp: L1Program, at: Point, rough: LeastNorm) -> Iterator[LeastNorm]:
    """The solution with the active sets of a rough one, if it is one. If near, it is of least norm as the rough one is."""
    for threshold in THRESHOLDS:
        z, u = from_active_sets(lp, rough.z, at.u, rough.u, threshold)
        solution = _solution(lp, z, u, rough.epsilon, rough.steps)
        if solution.residual <= TOLERANCE and _distance(z, rough.z) <= NEAR:
            yield solution
            return


def _distance(z: Primal, other: Primal) -> float:
    apart = max(float(np.abs(a - b).max(initial=0.0)) for a, b in zip(z, other, strict=True))
    return apart / (1.0 + max(float(np.abs(part).max(initial=0.0)) for part in other))


def _scale(lp: L1Program) -> float:
    """The smaller one of the mean costs of slacks, and of features that do as much: ε has to be small against both."""
    unit = np.maximum(1.0, np.sqrt(lp.squares / lp.m))
    kinds = (np.concatenate([lp.s / unit, lp.t / unit]), lp.nu)
    means = [float(costs[np.isfinite(costs)].mean()) for costs in kinds if np.isfinite(costs).any()]
    return min((mean for mean in means if mean > 0), default=1.0)


def _largest(*costs: Vector) -> float:
    every = np.abs(np.concatenate(costs))
    return float(every[np.isfinite(every)].max(initial=0.0))

"""Directions in which cones never end: the recession cone of {z : w f(Mz + b) + a'z + α ≤ 0} is {d : w f(Md) + a'd ≤ 0}."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from dcprog.convex.cones import Cone
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, SmoothSum
from dcprog.functions.affine import OfAffine
from dcprog.typing import Vector

EXACT = 1e-9
"""How far beyond 0 the row of a ray may be, relative to its terms."""


def conic_ray(problem: ConvexProblem, c: Vector, time_limit: float | None = None) -> Vector | None:
    """A direction with the least c'd in the box |d| ≤ 1 in which rows, bounds and cones of ``problem`` never end and Q is
    flat, by Clarabel; None if none was found. Whoever uses it verifies it.

    ‖(x₁, x₂)‖ ≤ t with costs −2 of x₁ and 1 of t:

    >>> from dcprog.functions import Norm2
    >>> row = SmoothSum([FunctionTerm(Norm2(), np.arange(2), 1.0), LinearTerm([2], [-1.0])], 3)
    >>> free = np.full(3, np.inf)
    >>> p = ConvexProblem(c=np.zeros(3), A=sp.csc_array((0, 3)), row_lower=np.empty(0), row_upper=np.empty(0), lower=-free,
    ...                upper=free, constraints=(row,))
    >>> conic_ray(p, np.array([-2.0, 0.0, 1.0])).round(6) + 0
    array([1., 0., 1.])
    """
    from dcprog.solvers.adapters.clarabel import Clarabel

    cones = [cone for cone in problem.cones if cone is not None]
    if problem.smooth is not None or len(cones) < len(problem.constraints) or not Clarabel().available():
        return None
    limits = [np.where(np.isinf(side), side, 0.0) for side in (problem.row_lower, problem.row_upper)]
    Q = sp.csr_array((0, problem.n)) if problem.Q is None else sp.csr_array(problem.Q)
    flat = np.zeros(Q.shape[0])
    homogeneous = replace(
        problem,
        c=c,
        Q=None,
        A=sp.csc_array(sp.vstack([problem.A, Q])),
        row_lower=np.append(limits[0], flat),
        row_upper=np.append(limits[1], flat),
        lower=np.where(np.isinf(problem.lower), -1.0, 0.0),
        upper=np.where(np.isinf(problem.upper), 1.0, 0.0),
        constraints=tuple(_homogeneous(cone, problem.n) for cone in cones),
    )
    d = Clarabel().open(homogeneous, {}).solve(c, None, time_limit).z
    if d is None or not np.isfinite(d).all() or not float(c @ d) < 0:
        return None
    ray: Vector = np.where(np.abs(d) > EXACT * np.abs(d).max(), d, 0.0)
    return ray


def stays(cone: Cone, d: Vector) -> bool:
    """Whether a point with d added any number of times satisfies the cone as well as before."""
    outer, a = float(cone.function.value(cone.M @ d)), cone.linear.gradient(np.zeros(len(d)))
    terms = cone.weight * abs(outer) + float(np.abs(a) @ np.abs(d))
    return cone.weight * outer + float(a @ d) <= EXACT * terms


def _homogeneous(cone: Cone, n: int) -> SmoothSum:
    """w f(Md) + a'd."""
    used = np.unique(sp.coo_array(cone.M).col)
    a = cone.linear.gradient(np.zeros(n))
    row = [LinearTerm(np.flatnonzero(a), a[a != 0])]
    if not used.size:
        return SmoothSum(row, n)
    inner = OfAffine(cone.function, sp.csr_array(cone.M)[:, used])
    return SmoothSum([FunctionTerm(inner, used, cone.weight), *row], n)

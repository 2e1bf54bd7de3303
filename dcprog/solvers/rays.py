"""Proofs that a convex problem has no point or no end: what a solver says of that is only believed with one.

A point is excluded by a linear program over rows, bounds and tangents of the constraints. An end is excluded by a
direction d of the recession cone, along which

    c'd + φ∞(d) < 0,   Qd = 0,   ψᵢ∞(d) ≤ 0,   with the slope at infinity φ∞(d) = sup {∇φ(z)'d : z},

found by a linear program in which gradients far out stand for φ∞ and ψ∞, and then verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.solvers.conic_rays import conic_ray, stays
from dcprog.typing import Sparse, Vector

EXACT = 1e-9
"""How far a ray may be from where it has to lie, relative to the terms of each row and of each column."""
FAR = 2.0 ** np.arange(0, 41, 4)
"""Where functions are evaluated along a ray, in units of the start."""
PASSES = 8
ROUNDS = 20
"""So often tangents are added before a proof is given up."""


def proved(problem: ConvexProblem, c: Vector, start: Vector | None = None, time_limit: float | None = None) -> Claim | None:
    """INFEASIBLE or UNBOUNDED where that is proved, else None; ``start`` is where the functions are defined.

    >>> p = ConvexProblem(c=np.array([-1.0]), A=sp.csr_array([[1.0]]), row_lower=np.array([2.0]),
    ...                   row_upper=np.array([np.inf]), lower=np.zeros(1), upper=np.full(1, np.inf))
    >>> proved(p, p.c), proved(p, -p.c)
    (<Claim.UNBOUNDED: 'unbounded'>, None)
    """
    if is_empty(problem, start, time_limit):
        return Claim.INFEASIBLE
    return None if recession_ray(problem, c, start, time_limit) is None else Claim.UNBOUNDED


def is_empty(problem: ConvexProblem, start: Vector | None = None, time_limit: float | None = None) -> bool:
    """Whether it is proved that no point satisfies rows, bounds and constraints ψ ≤ 0.

    Tangents ψ(z) + ∇ψ(z)'(x − z) ≤ 0 are necessary, so rows, bounds and tangents without a common point are the proof; new
    ones are taken where those before are violated least.

    >>> disc = SmoothSum([QuadraticTerm(2.0 * sp.eye_array(2)), LinearTerm([0], [0.0], -1.0)], 2)
    >>> p = ConvexProblem(c=np.zeros(2), A=sp.csr_array([[1.0, 1.0]]), row_lower=np.array([1.5]),
    ...                   row_upper=np.array([np.inf]), lower=np.zeros(2), upper=np.ones(2), constraints=(disc,))
    >>> from dataclasses import replace
    >>> is_empty(p), is_empty(replace(p, row_lower=np.array([1.4])))
    (True, False)
    """
    if (problem.lower > problem.upper).any() or (problem.row_lower > problem.row_upper).any():
        return True
    if not problem.constraints:
        return bool(_Program.over(problem).solve(np.zeros(problem.n), time_limit).status == _INFEASIBLE)
    z = _inside(problem, start)
    tangents: list[tuple[Vector, float]] = []
    for _ in range(ROUNDS):
        psi = [(f.value(z), f.gradient(z)) for f in problem.constraints]
        if not all(np.isfinite(value) and np.isfinite(gradient).all() for value, gradient in psi):
            return False
        if tangents and all(value <= EXACT * (1.0 + np.abs(gradient) @ np.abs(z)) for value, gradient in psi):
            return False
        tangents += [(gradient, float(gradient @ z - value)) for value, gradient in psi]
        found = _Program.over(problem).with_least_violation(tangents).solve(np.eye(problem.n + 1)[-1], time_limit)
        if found.status == _INFEASIBLE:
            return True
        if found.x is None:
            return False
        if found.fun > 1e-7:
            return True
        z = found.x[:-1]
    return False


def recession_ray(
    problem: ConvexProblem, c: Vector, start: Vector | None = None, time_limit: float | None = None
) -> Vector | None:
    """A direction in which the set of ``problem`` never ends and its objective with cost ``c`` falls for ever, or None.

    None says that no such direction was found and verified, not that the problem has an end. The direction has entries of at
    most the sizes that rows and columns give their variables. With a non-empty set it proves unboundedness.

    >>> p = ConvexProblem(c=np.zeros(2), A=sp.csr_array([[1.0, -1.0]]), row_lower=np.zeros(1), row_upper=np.ones(1),
    ...                lower=np.zeros(2), upper=np.full(2, np.inf), Q=sp.csr_array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> recession_ray(p, np.array([1.0, -2.0])), recession_ray(p, np.array([2.0, -1.0]))
    (array([1., 1.]), None)
    """
    origin = _inside(problem, start)
    if problem.has_cones:
        found = conic_ray(problem, c, time_limit)
        if found is not None and is_ray(problem, c, found, origin):
            return found
    cone = _Program.recession_cone(problem, c)
    slopes = [] if problem.smooth is None else [problem.smooth.gradient(origin)]
    if not np.isfinite(slopes).all():
        return None
    for _ in range(ROUNDS):
        found = cone.with_slope(c, slopes, time_limit)
        if found is None or not np.any(found):
            return None
        if is_ray(problem, c, found, origin):
            return found
        with np.errstate(all="ignore"):
            more = _far_gradients(problem, found, origin)
        if more is None:
            return None
        objective, limits = more
        slopes.append(objective)
        cone = cone.with_rows(limits, -np.inf, 0.0)
        if problem.smooth is None and not limits:
            return None
    return None


def is_ray(problem: ConvexProblem, c: Vector, d: Vector, start: Vector | None = None) -> bool:
    """Whether the set of ``problem`` never ends in direction d, and its objective with cost ``c`` falls for ever there.

    Exact, up to rounding, for linear and quadratic parts; others are evaluated far out along the ray.
    """
    if not np.isfinite(d).all() or not d.any():
        return False
    size, origin = np.abs(d), _inside(problem, start)
    if _leaves(d, problem.lower, problem.upper, size):
        return False
    if problem.m and _leaves(problem.A @ d, problem.row_lower, problem.row_upper, abs(problem.A) @ size):
        return False
    if problem.Q is not None and np.any(np.abs(problem.Q @ d) > EXACT * (abs(problem.Q) @ size)):
        return False
    with np.errstate(all="ignore"):
        rows = zip(problem.constraints, problem.cones, strict=True)
        if not all(_never_grows(f, d, origin) if cone is None else stays(cone, d) for f, cone in rows):
            return False
        slope, terms = float(c @ d), float(np.abs(c) @ size)
        curved: list[Any] = []
        for term in () if problem.smooth is None else problem.smooth.terms:
            if isinstance(term, LinearTerm):
                slope += float(term.coefficients @ d[term.support])
                terms += float(np.abs(term.coefficients) @ size[term.support])
            elif not _is_flat(term, d):
                curved.append(term)
        if not curved:
            return slope < -EXACT * terms
        reach = _reach(origin, d)
        values = [slope * t + sum(term.value(origin + t * d) for term in curved) for t in reach]
    return falls_along(values)


def falls_along(values: Sequence[float]) -> bool:
    """Whether a convex function falls without end, by its ``values`` at distances that grow by a constant factor.

    One that has an infimum falls less and less, so that the steps shrink to nothing; those of −log are constant, and those
    of a function that falls faster grow. Steps that shrink prove nothing, in either direction.

    >>> t = 2.0 ** np.arange(10)
    >>> falls_along(-t), falls_along(-np.log(t)), falls_along(1 / t), falls_along((t - 300) ** 2), falls_along(0 * t)
    (True, True, False, False, False)
    """
    v = np.asarray(values, dtype=float)
    if len(v) < 4 or not np.isfinite(v).all():
        return False
    steps = v[:-1] - v[1:]
    visible = 1e-12 * np.abs(v).max()
    return bool((steps[-3:] > visible).all() and all(b >= (1 - 1e-6) * a for a, b in pairwise(steps[-3:])))


# Linear programs, by the solver within SciPy -------------------------------------------------------------------------------

_INFEASIBLE = 2


@dataclass(frozen=True, eq=False)
class _Program:
    """limits on A z and on z, with rows brought to the size of 1; z = scale · x."""

    A: Sparse
    row_lower: Vector
    row_upper: Vector
    lower: Vector
    upper: Vector
    scale: Vector = field(default_factory=lambda: np.empty(0))

    @classmethod
    def over(cls, problem: ConvexProblem) -> _Program:
        """The rows and bounds of ``problem``."""
        A, lower, upper = _unit_rows(problem.A, problem.row_lower, problem.row_upper)
        return cls(A, lower, upper, problem.lower, problem.upper)

    @classmethod
    def recession_cone(cls, problem: ConvexProblem, c: Vector) -> _Program:
        """Directions in the box |x| ≤ 1 in which rows and bounds never end and quadratic parts are flat."""
        flat, falling = _quadratic_parts(problem)
        blocks = [sp.csr_array(problem.A), *flat]
        k = sum(b.shape[0] for b in flat)
        lower, upper = _recession(problem.row_lower, problem.row_upper)
        lower, upper = np.append(lower, np.zeros(k)), np.append(upper, np.zeros(k))
        A = sp.vstack(blocks, format="csr")
        scale = _column_units(sp.vstack([A, *(sp.csr_array(row[None, :]) for row in (c, *falling))], format="csr"))
        A, lower, upper = _unit_rows(A @ sp.diags_array(scale), lower, upper)
        least, most = (np.clip(side, -1.0, 1.0) for side in _recession(problem.lower, problem.upper))
        return cls(A, lower, upper, least, most, scale).with_rows(falling, -np.inf, 0.0)

    def with_rows(self, rows: Sequence[Vector], lower: float, upper: float) -> _Program:
        """lower ≤ row'z ≤ upper besides."""
        if not len(rows):
            return self
        new, low, high = _unit_rows(
            sp.csr_array(np.array(rows) * self.scale), np.full(len(rows), lower), np.full(len(rows), upper)
        )
        return _Program(
            sp.vstack([self.A, new], format="csr"),
            np.append(self.row_lower, low),
            np.append(self.row_upper, high),
            self.lower,
            self.upper,
            self.scale,
        )

    def with_least_violation(self, tangents: Sequence[tuple[Vector, float]]) -> _Program:
        """A last variable t ≥ 0, by which the tangents g'z ≤ b may be violated, each relative to its own size."""
        G, b = np.array([g for g, _ in tangents]), np.array([b for _, b in tangents])
        size = np.maximum(np.abs(G).max(axis=1, initial=0.0), np.abs(b))
        size = np.where(size > 0, size, 1.0)
        new = sp.csr_array(np.column_stack([G / size[:, None], -np.ones(len(b))]))
        old = sp.hstack([self.A, sp.csr_array((self.A.shape[0], 1))])
        return _Program(
            sp.vstack([old, new], format="csr"),
            np.append(self.row_lower, np.full(len(b), -np.inf)),
            np.append(self.row_upper, b / size),
            np.append(self.lower, 0.0),
            np.append(self.upper, np.inf),
        )

    def with_slope(self, c: Vector, slopes: Sequence[Vector], time_limit: float | None) -> Vector | None:
        """The direction with the least slope c'd + max of slopes'd, None if none is negative."""
        cost = c * self.scale
        size = float(np.abs(cost).max(initial=0.0))
        if slopes:
            size = max(size, max(float(np.abs(s * self.scale).max()) for s in slopes))
        if size == 0.0:
            return None
        if not slopes:
            found = self.solve(cost / size, time_limit)
        else:
            n, k = len(c), len(slopes)
            tops = sp.hstack([sp.csr_array(np.array(slopes) * self.scale / size), -sp.csr_array(np.ones((k, 1)))])
            lifted = _Program(
                sp.vstack([sp.hstack([self.A, sp.csr_array((self.A.shape[0], 1))]), tops], format="csr"),
                np.append(self.row_lower, np.full(k, -np.inf)),
                np.append(self.row_upper, np.zeros(k)),
                np.append(self.lower, -np.inf),
                np.append(self.upper, np.inf),
            )
            found = lifted.solve(np.append(cost / size, 1.0), time_limit)
            found.x = None if found.x is None else found.x[:n]
        if found.x is None or not found.fun < -1e-9:
            return None
        x = np.where(np.abs(found.x) > 1e-11, found.x, 0.0)
        d: Vector = self.scale * np.clip(x, self.lower, self.upper)
        return d

    def solve(self, c: Vector, time_limit: float | None) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp

        options = {} if time_limit is None else {"time_limit": max(time_limit, 0.0)}
        rows = LinearConstraint(self.A, self.row_lower, self.row_upper)
        return milp(c, constraints=rows, bounds=Bounds(self.lower, self.upper), options=options)


def _unit_rows(A: Sparse, lower: Vector, upper: Vector) -> tuple[Sparse, Vector, Vector]:
    """Rows divided by a power of two near their largest coefficients, so that absolute tolerances are relative ones."""
    A = sp.csr_array(A)
    largest = np.asarray(abs(A).max(axis=1).todense()).ravel() if A.shape[1] and A.shape[0] else np.zeros(A.shape[0])
    size = 2.0 ** np.round(np.log2(np.where(largest > 0, largest, 1.0)))
    return sp.csr_array(sp.diags_array(1 / size) @ A) if A.shape[0] else A, lower / size, upper / size


def _column_units(A: Sparse) -> Vector:
    """Powers of two that, with some for the rows, bring the largest entries of all rows and columns near 1 (Ruiz, 2001)."""
    size = abs(A).tocoo()
    logs = np.log2(size.data, where=size.data > 0, out=np.full(size.nnz, -np.inf))
    rows, columns = np.zeros(A.shape[0]), np.zeros(A.shape[1])
    for _ in range(PASSES):
        now = logs + rows[size.row] + columns[size.col]
        for units, where in ((rows, size.row), (columns, size.col)):
            largest = np.full(len(units), -np.inf)
            np.maximum.at(largest, where, now)
            units -= np.where(np.isfinite(largest), 0.5 * largest, 0.0)
    return np.asarray(np.exp2(np.round(columns)), dtype=float)


# Functions along a ray -----------------------------------------------------------------------------------------------------


def _inside(problem: ConvexProblem, start: Vector | None) -> Vector:
    """The start within its bounds."""
    return np.clip(np.zeros(problem.n) if start is None else start, problem.lower, problem.upper)


def _reach(origin: Vector, d: Vector) -> Vector:
    """Distances at which origin + t·d is from as large to very much larger than the origin."""
    used = np.abs(d) > 0
    first = float((1.0 + np.abs(origin[used])).max(initial=1.0) / np.abs(d).max())
    return np.asarray(first * FAR, dtype=float)


def _quadratic_parts(problem: ConvexProblem) -> tuple[list[Sparse], list[Vector]]:
    """Matrices whose product with a ray is zero, and gradients of constraints, linear on a ray, that do not grow there."""
    flat = [] if problem.Q is None else [sp.csr_array(problem.Q)]
    if problem.smooth is not None:
        flat += [_matrix(t, problem.n) for t in problem.smooth.terms if isinstance(t, QuadraticTerm)]
    falling = []
    for f in problem.constraints:
        squares = [t for t in f.terms if isinstance(t, QuadraticTerm)]
        flat += [_matrix(t, problem.n) for t in squares]
        if all(isinstance(t, QuadraticTerm | LinearTerm) for t in f.terms):
            falling.append(f.gradient(np.zeros(problem.n)))
    return flat, falling


def _matrix(term: QuadraticTerm, n: int) -> Sparse:
    lower = sp.coo_array((term.hessian_values(np.empty(0)), (term.rows, term.cols)), shape=(n, n)).tocsr()
    return sp.csr_array(lower + sp.tril(lower, -1).T)


def _is_flat(term: Any, d: Vector) -> bool:
    """Whether a term does not change along d: it does not see it, or is a square that is flat there."""
    if not d[term.support].any():
        return True
    if not isinstance(term, QuadraticTerm):
        return False
    P = _matrix(term, len(d))
    return bool(np.all(np.abs(P @ d) <= EXACT * (abs(P) @ np.abs(d))))


def _never_grows(f: SmoothSum, d: Vector, origin: Vector) -> bool:
    """Whether f does not grow along d: exactly, if its parts are linear and quadratic, else as far as it is evaluated."""
    slope = terms = 0.0
    others = []
    for term in f.terms:
        if isinstance(term, LinearTerm):
            slope += float(term.coefficients @ d[term.support])
            terms += float(np.abs(term.coefficients) @ np.abs(d[term.support]))
        elif not _is_flat(term, d):
            others.append(term)
    if any(isinstance(term, QuadraticTerm) for term in others):
        return False
    if not others:
        return slope <= EXACT * terms
    values = [slope * t + sum(term.value(origin + t * d) for term in others) for t in _reach(origin, d)]
    return bool(np.isfinite(values).all() and values[-1] <= values[0] and values[-1] <= values[-2])


def _far_gradients(problem: ConvexProblem, d: Vector, origin: Vector) -> tuple[Vector, list[Vector]] | None:
    """Gradients of φ and of those ψ that are not quadratic, as far out along d as they are finite."""
    n = problem.n
    phi = SmoothSum([], n) if problem.smooth is None else problem.smooth
    curved = [f for f in problem.constraints if not all(isinstance(t, QuadraticTerm | LinearTerm) for t in f.terms)]
    for t in _reach(origin, d)[::-1]:
        there = origin + t * d
        objective, limits = phi.gradient(there), [f.gradient(there) for f in curved]
        if np.isfinite(objective).all() and all(np.isfinite(g).all() for g in limits):
            return objective, limits
    return None


def _recession(lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Limits of the directions in which lower ≤ x ≤ upper never ends."""
    return np.where(np.isinf(lower), -np.inf, 0.0), np.where(np.isinf(upper), np.inf, 0.0)


def _leaves(direction: Vector, lower: Vector, upper: Vector, terms: Vector) -> bool:
    """Whether some component that is limited on one side runs into that limit; ``terms`` is what it is made of."""
    small = EXACT * terms
    return bool(np.any((direction < -small) & (lower > -np.inf)) or np.any((direction > small) & (upper < np.inf)))

"""Points of C to try a claim at: its ends, its middle, 0, the start, neighbourhoods of all of these, and evenly spread ones.

C is convex, so a point of C and a target give a whole segment of candidates: the part of it that lies in C.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dcprog.convex.problem import ConvexProblem
from dcprog.program.compile import Compiled
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved
from dcprog.typing import Mask, Matrix, Vector

SCALES = (1.0, 10.0, 100.0, 1000.0)
"""How far points go where C has no end, relative to 1 + |the start|."""
NEAR = (0.3, 0.1, 0.03, 1e-2, 1e-3)
"""How near to a special point its neighbours lie, relative to the way to a point far from it."""
CORNERS = 6
VERTICES = 6
FEASIBLE = 1e-8
INWARDS = 1e-6
SECONDS = 2.0
"""For each linear program that looks for a point of C."""


def box_points(lower: Vector, upper: Vector, start: Vector, count: int, rng: np.random.Generator) -> Matrix:
    """``count`` points of a box and its special points: each coordinate meets every stretch of its range.

    >>> X = box_points(np.zeros(2), np.ones(2), np.full(2, 0.25), 10, np.random.default_rng(0))
    >>> float(X.min()), float(X.max()), len(X)
    (0.0, 1.0, 22)
    """
    wide, near = (count + 1) // 2, count // 2
    scale = np.resize(SCALES, wide)[:, None]
    low, high = _window(lower, upper, start, scale)
    strata = rng.permuted(np.tile(np.arange(wide), (len(lower), 1)), axis=1).T
    spread = low + (high - low) * (strata + rng.uniform(size=strata.shape)) / wide
    special = special_points(lower, upper, start, rng)
    anchors, targets = np.resize(np.arange(len(special)), near), np.resize(np.arange(wide), near)
    step = np.repeat(NEAR, -(-near // len(NEAR)))[:near, None]
    close = special[anchors] + step * (spread[targets] - special[anchors]) if near else np.empty((0, len(lower)))
    points: Matrix = np.clip(np.vstack([special, spread, close]), lower, upper)
    return points


def special_points(lower: Vector, upper: Vector, start: Vector, rng: np.random.Generator) -> Matrix:
    """The start, the middle, 0, and corners of the box."""
    low, high = _window(lower, upper, start, np.array([[SCALES[1]]]))
    low, high = low[0], high[0]
    signs = rng.integers(0, 2, size=(CORNERS, len(lower)))
    alternating = np.arange(len(lower)) % 2
    corners = np.vstack([np.zeros_like(alternating), np.ones_like(alternating), alternating, signs])
    return np.vstack([start, 0.5 * (low + high), np.clip(0.0, lower, upper), low + corners * (high - low)])


def _window(lower: Vector, upper: Vector, start: Vector, scale: Matrix) -> tuple[Matrix, Matrix]:
    """The box itself where it has an end, ``scale`` around the start where it has none."""
    reach = scale * (1.0 + np.abs(start))
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - reach, start - reach))
    high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + reach, start + reach))
    return low, high


def generic_point(lower: Vector, upper: Vector, seed: int = 0) -> Vector:
    """A point inside the box that is special in no way: off the middle, off 0, every coordinate in its own place.

    Between two bounds it lies 20 to 40 or 60 to 80 per cent of the way from one to the other; from a single bound b it keeps
    a distance of 0.2 to 0.8 times 1 + |b|; without bounds its size is 0.2 to 0.6.

    >>> generic_point(np.array([-1.0, 0.0, -np.inf]), np.array([1.0, np.inf, np.inf])).round(3)
    array([0.216, 0.603, 0.525])
    """
    rng = np.random.default_rng(seed)
    part = 0.5 + rng.choice((-1.0, 1.0), size=len(lower)) * rng.uniform(0.1, 0.3, size=len(lower))
    below, above = np.isfinite(lower), np.isfinite(upper)
    low, high = np.where(below, lower, 0.0), np.where(above, upper, 0.0)
    inside = low * (1 - part) + high * part
    return np.where(
        below & above,
        inside,
        np.where(below, low + part * (1 + np.abs(low)), np.where(above, high - part * (1 + np.abs(high)), 2 * part - 1)),
    )


def points_of_c(compiled: Compiled, count: int, *, without_smooth: bool = False, seed: int = 0) -> Matrix:
    """Points of C, none if none was found. ``without_smooth`` leaves the constraints ψ ≤ 0 out: points around C, too."""
    rng = np.random.default_rng(seed)
    C = compiled.feasible_set
    start = np.where(np.isnan(compiled.values), 0.0, compiled.values).clip(compiled.lower, compiled.upper)
    points = box_points(compiled.lower, compiled.upper, start, count, rng)
    if C.m:
        points = _within_rows(compiled, points, rng)
    if not C.constraints or without_smooth or not len(points):
        return points
    return _within_smooth(compiled, points)


def inside_smooth(compiled: Compiled, points: Matrix) -> Mask:
    """Which of the points satisfy every constraint ψ ≤ 0."""
    lifted = lift_all(compiled, points)
    inside = np.ones(len(points), dtype=bool)
    for psi in compiled.feasible_set.constraints:
        with np.errstate(all="ignore"):
            inside[inside] = psi.values(lifted[inside]) <= FEASIBLE
    return inside


def lift_all(compiled: Compiled, points: Matrix) -> Matrix:
    """The points with the variables that the kinks of C brought along."""
    size = compiled.feasible_set.n
    return points if size == compiled.n else np.array([compiled.lift(x)[:size] for x in points]).reshape(-1, size)


def _within_rows(compiled: Compiled, targets: Matrix, rng: np.random.Generator) -> Matrix:
    """Where the ways from an inner point to the targets leave the rows, points half way there, and vertices."""
    rows = replace(compiled.feasible_set, constraints=())
    lifted = lift_all(compiled, targets)
    lifted = lifted[np.isfinite(lifted).all(axis=1)]
    vertices = _vertices(rows, lifted, rng)
    if not len(vertices):
        return np.empty((0, compiled.n))
    inner = vertices.mean(axis=0)
    ways = _along_equations(rows, lifted - inner)
    reach = _reach(rows, inner, ways)[:, None]
    near = np.resize(np.arange(len(vertices)), len(ways))
    part = np.resize(NEAR, len(ways))[:, None]
    ends = inner + reach * ways
    inside = inner + reach * rng.uniform(size=reach.shape) * ways
    close = vertices[near] + part * (inside - vertices[near])
    points = _inwards(np.vstack([vertices, inner, ends[::2], inside, close[1::2]]), inner)
    return np.clip(points[_satisfies(rows, points), : compiled.n], compiled.lower, compiled.upper)


def _inwards(points: Matrix, inner: Matrix) -> Matrix:
    """The points, drawn in by more than the rounding of whoever found them: a function may be convex in C and no further."""
    return points + INWARDS * (inner - points)


def _vertices(rows: ConvexProblem, points: Matrix, rng: np.random.Generator) -> Matrix:
    """Where random linear functions are least, within a box around the targets; and those targets that satisfy the rows."""
    low, high = points.min(axis=0), points.max(axis=0)
    reach = 1.0 + high - low
    bounded = replace(
        rows,
        lower=np.where(np.isfinite(rows.lower), rows.lower, low - SCALES[1] * reach),
        upper=np.where(np.isfinite(rows.upper), rows.upper, high + SCALES[1] * reach),
        Q=None,
        smooth=None,
    )
    found = [z for z in points[: len(points) // 2] if _satisfies(rows, z[None])[0]][:VERTICES]
    dispatcher = Dispatcher(bounded)
    for cost in rng.standard_normal((VERTICES // 2, rows.n)) / reach:
        for c in (cost, -cost):
            try:
                found.append(dispatcher.solve(c, None, SECONDS).z)
            except SubproblemUnsolved:
                return np.array(found).reshape(-1, rows.n)
    return np.array(found)


def _along_equations(rows: ConvexProblem, ways: Matrix) -> Matrix:
    """The ways, projected so that no equation changes along them."""
    A = sp.csr_array(rows.A)[np.flatnonzero(rows.equality)]
    if not A.shape[0]:
        return ways
    gram = A @ A.T
    solver = splu(sp.csc_matrix(gram + 1e-13 * gram.diagonal().max() * sp.eye_array(A.shape[0])))
    for _ in range(3):
        ways = ways - (A.T @ solver.solve(np.ascontiguousarray(A @ ways.T))).T
    return ways


def _reach(rows: ConvexProblem, inner: Vector, ways: Matrix) -> Vector:
    """The largest t ≤ 1 of each way with inner + t·way in the rows and bounds."""
    free = ~rows.equality
    A = sp.csr_array(rows.A)[np.flatnonzero(free)]
    moves = np.hstack([(A @ ways.T).T, ways])
    at = np.concatenate([A @ inner, inner])
    low, high = np.concatenate([rows.row_lower[free], rows.lower]), np.concatenate([rows.row_upper[free], rows.upper])
    with np.errstate(all="ignore"):
        limit = np.where(moves > 0, (high - at) / moves, np.where(moves < 0, (low - at) / moves, np.inf))
    reach: Vector = np.clip(np.nanmin(limit, axis=1, initial=1.0), 0.0, 1.0)
    return reach


def _satisfies(rows: ConvexProblem, points: Matrix) -> Mask:
    activity = (rows.A @ points.T).T
    slack = FEASIBLE * (1.0 + (abs(rows.A) @ np.abs(points.T)).T)
    in_rows = ((activity >= rows.row_lower - slack) & (activity <= rows.row_upper + slack)).all(axis=1)
    margin = FEASIBLE * (1.0 + np.abs(points))
    inside: Mask = in_rows & ((points >= rows.lower - margin) & (points <= rows.upper + margin)).all(axis=1)
    return inside


def _within_smooth(compiled: Compiled, points: Matrix) -> Matrix:
    """The points that satisfy ψ ≤ 0, and for the others where the way to one that does enters C."""
    inside = inside_smooth(compiled, points)
    known = points[inside]
    if not len(known):
        found = _solved(compiled)
        if found is None:
            return np.empty((0, compiled.n))
        known = found[None]
    outside = points[~inside]
    origins = known[np.resize(np.arange(len(known)), len(outside))]
    entered, _ = enter(compiled, origins, outside)
    return np.vstack([known, _inwards(entered, origins)])


def enter(compiled: Compiled, inside: Matrix, outside: Matrix, steps: int = 30) -> tuple[Matrix, Matrix]:
    """On the ways from points of C to points that are not: the last ones in C and, next to them, the first ones outside."""
    low, high = np.zeros((len(inside), 1)), np.ones((len(inside), 1))
    for _ in range(steps):
        middle = 0.5 * (low + high)
        still = inside_smooth(compiled, inside + middle * (outside - inside))[:, None]
        low, high = np.where(still, middle, low), np.where(still, high, middle)
    return inside + low * (outside - inside), inside + high * (outside - inside)


def _solved(compiled: Compiled) -> Vector | None:
    C = compiled.feasible_set
    try:
        return Dispatcher(C).solve(np.zeros(C.n), None, SECONDS).z[: compiled.n]
    except SubproblemUnsolved:
        return None

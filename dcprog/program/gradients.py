"""Do the oracles of a user's function belong to one function? What a certificate says stands and falls with them.

u ∈ ∂φ(z) says φ(y) ≥ φ(z) + ⟨u, y − z⟩ for every y, at kinks as well. Along a ray y = z + td the excess

    e(t) = ⟨u, d⟩ − (φ(z + td) − φ(z))/t

of the slope over the difference quotient is at most 0 then, at every t; and where ⟨u, d⟩ is wrong, it grows towards the
whole error as t falls, since difference quotients of a convex function fall with t. So a gradient is refuted where e(t) is
positive beyond the rounding of φ and does not fall with t. The rounding is measured: fourth differences of φ over very short
distances (ECNoise: Moré & Wild, SIAM J. Sci. Comput. 33, 2011) show it, whatever φ is computed with.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import comb

import numpy as np

from dcprog.convex.epigraph import epigraph_point
from dcprog.errors import DCProgError
from dcprog.functions.base import ConvexFunction
from dcprog.program.dc_program import DCProgram
from dcprog.program.expressions import BoundFunction
from dcprog.typing import Matrix, Vector

STEPS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Lengths of the steps, relative to the sizes of the variables."""
MATERIAL = 1e-5
"""A slope that is off by less, relative to what it is made of, does not move a solution."""
NEGLIGIBLE = 1e-8
"""Neither does one below this share of all slopes together."""
GROUPS = 64
"""Each variable is looked at by itself, or in one of so many groups."""
SECONDS = 0.3
"""About so long a function is looked at, if it takes long; a few directions in any case."""
FEWEST = 2
SHORT = (1e-10, 1e-8, 1e-6)
"""Distances over which rounding is measured: of doubles, and of singles."""
ORDER = 4
ALLOWED = 8.0
"""So many times the rounding measured is no sign of anything."""
HESSIAN_STEPS = (1e-4, 1e-5)
HESSIAN = 1e-3
"""A Hessian that is off by less still leads a solver to the solution, in little more time."""


def wrong_gradient(program: DCProgram, x: Vector) -> str | None:
    """One sentence about a function of the user's whose gradient at ``x`` is no subgradient, or whose epigraph or quadratic
    form is that of another function; None if none is found."""
    for letter, bound, around in _foreign(program, x):
        other = _other_form(bound.function, around)
        if other is not None:
            return f"the {other} of {bound.function!r} in {letter} states other values than its method value does"
        if _is_refuted(around):
            return (
                f"the gradient of {bound.function!r} in {letter} is wrong at the point found: its values beside it are "
                "lower than the gradient allows; dcprog.testing.check_program(program) says where"
            )
    return None


def wrong_hessian(program: DCProgram, x: Vector) -> str | None:
    """One sentence about a function of the user's in g whose Hessian at ``x`` is not the derivative of its gradient."""
    for letter, bound, around in _foreign(program, x):
        if letter == "g" and bound.function.smooth and bound.function.has_hessian and _bends_otherwise(around):
            return (
                f"the Hessian of {bound.function!r} in g is not the derivative of its gradient at the point found: solvers "
                "take longer with it, or fail"
            )
    return None


@dataclass(frozen=True, eq=False)
class _Around:
    """A function around a point of its domain."""

    function: ConvexFunction
    z: Vector
    lower: Vector
    upper: Vector
    slopes: Vector
    """What the slopes of f are made of there, in units of φ: less than a small share of them does not matter."""

    def value(self, y: Vector) -> float:
        """φ(y), NaN where φ raises or returns no number."""
        return _number(lambda: self.function.value(y.copy()))

    def beside(self, step: Vector) -> Vector:
        """z + step, within the bounds."""
        return np.clip(self.z + step, self.lower, self.upper)

    @property
    def sizes(self) -> Vector:
        """What counts as 1 of each variable: its absolute value, its range, or 1."""
        width = self.upper - self.lower
        return np.maximum(np.abs(self.z), np.where(np.isfinite(width), np.minimum(width, 1.0), 1.0))


def _foreign(program: DCProgram, x: Vector) -> Iterator[tuple[str, BoundFunction, _Around]]:
    """The functions that are not proved to be convex, and where they are at x."""
    compiled = program.compiled
    if all(b.function.proved_convex for parts in (compiled.g_parts, compiled.h_parts) for b in parts.functions):
        return
    sizes = np.nan_to_num(compiled.f.gradient_size(x), nan=0.0, posinf=0.0)
    for letter, parts in (("g", compiled.g_parts), ("h", compiled.h_parts)):
        for bound in parts.functions:
            if not bound.function.proved_convex:
                at = bound.indices
                lower = np.maximum(compiled.lower[at], bound.function.lower_limits(len(at)))
                slopes = sizes[at] / abs(bound.weight) if bound.weight else np.zeros(len(at))
                yield letter, bound, _Around(bound.function, x[at].copy(), lower, compiled.upper[at], slopes)


# Gradients -----------------------------------------------------------------------------------------------------------------


def _is_refuted(around: _Around) -> bool:
    value, u = around.value(around.z), _vector(lambda: around.function.gradient(around.z.copy()), len(around.z))
    if not np.isfinite(value) or not np.isfinite(u).all():
        return False  # said elsewhere
    noise = _Noise(around, value)
    whole = NEGLIGIBLE * float(np.maximum(np.abs(u), around.slopes) @ around.sizes)
    return any(_falls_below(around, d, value, u, noise, whole) for d in _directions(around))


def _falls_below(around: _Around, d: Vector, value: float, u: Vector, noise: _Noise, whole: float) -> bool:
    """Whether φ(z + td) < φ(z) + t⟨u, d⟩ at two steps t in a row, beyond rounding and what does not matter, and the excess
    for a unit of t does not fall with t, as it would where u is right and φ bends down a little."""
    before = 0.0
    for t in STEPS:
        y = around.beside(t * d)
        beside, slopes = around.value(y), u * (y - around.z)
        excess = value + float(slopes.sum()) - beside
        parts = MATERIAL * (float(np.abs(slopes).sum()) + abs(beside - value)) + whole * t
        counts = bool(excess > parts) and excess > ALLOWED * noise.level + parts  # not where φ is NaN
        if counts and before > 0 and excess / t >= 0.5 * before:
            return True
        before = excess / t if counts else 0.0
    return False


def _directions(around: _Around) -> Iterator[Vector]:
    """Both signs of random directions: of all variables together, then of each, or of groups; in units of the sizes, and of
    the point itself where a variable is much smaller than its range. Fewer of them if the function takes long."""
    n, rng = len(around.z), np.random.default_rng(0)
    units = [around.sizes]
    own = np.where(around.z == 0, around.sizes, np.abs(around.z))
    if (own < STEPS[-1] / STEPS[0] * around.sizes).any():
        units.append(own)
    most = max(FEWEST, int(SECONDS / (2 * len(STEPS) * len(units) * _seconds(around))))
    groups = [np.arange(n), *np.array_split(rng.permutation(n), min(n, GROUPS, most))]
    for group in groups[:most] if n > 1 else groups[:1]:
        signs = np.zeros(n)
        signs[group] = rng.choice([-1.0, 1.0], len(group)) * rng.uniform(0.5, 1.0, len(group))
        for unit in units:
            yield signs * unit
            yield -signs * unit


class _Noise:
    """The rounding of φ near z: fourth differences along a ray are nothing but that where it is short."""

    def __init__(self, around: _Around, value: float) -> None:
        self.around, self.value = around, value

    @cached_property
    def level(self) -> float:
        """Measured when it is first asked for: a gradient that is right leaves nothing to be told from rounding."""
        around, rng = self.around, np.random.default_rng(1)
        found = [ALLOWED * float(np.finfo(float).eps) * abs(self.value)]
        for length in np.repeat(SHORT, 2):
            steps = length * rng.choice([-1.0, 1.0], len(around.z)) * around.sizes
            values = [self.value, *(around.value(around.beside(k * steps)) for k in range(1, 2 * ORDER))]
            differences = np.diff(values, ORDER)
            found.append(float(np.sqrt(np.mean(differences**2) / comb(2 * ORDER, ORDER))))
        return max(v for v in found if np.isfinite(v))


# Other oracles -------------------------------------------------------------------------------------------------------------


def _other_form(function: ConvexFunction, around: _Around) -> str | None:
    """The name of an oracle that states another function than the values do."""
    n = len(around.z)
    signs = np.random.default_rng(2).choice([-1.0, 1.0], n)
    points = [around.z, *(around.beside(t * side * signs * around.sizes) for t in (0.1, 1e-3) for side in (1, -1))]
    values = np.array([around.value(y) for y in points])
    form = function.quadratic(n)
    epigraph = None if form is not None or function.smooth else function.epigraph(n)
    if form is not None:
        Q, c, constant = form
        stated = _numbers(lambda y: 0.5 * (y @ (Q @ y)) + c @ y + constant, points)
    elif epigraph is not None:
        stated = _numbers(lambda y: epigraph.c @ epigraph_point(epigraph, y), points)
    else:
        return None
    known = np.isfinite(values) & np.isfinite(stated)
    spread = np.abs(values[known]).max(initial=0.0)
    if (np.abs(values - stated)[known] <= MATERIAL * spread).all():
        return None
    return "quadratic form" if form is not None else "epigraph"


def _bends_otherwise(around: _Around) -> bool:
    """Whether Hd is not the derivative of the gradient along d. Differences to both sides enclose it where the gradient has
    a kink, as that of a Huber function has; how they change with the step says how far off they may be."""
    n = len(around.z)
    given = _matrix(lambda: around.function.hessian(around.z.copy()), n, around.function.separable)
    here = _vector(lambda: around.function.gradient(around.z.copy()), n)
    if not (np.isfinite(given).all() and np.isfinite(here).all()):
        return False  # as at the edge of the domain of an entropy
    for seed in (3, 4):
        d = np.random.default_rng(seed).choice([-1.0, 1.0], n) * around.sizes
        errors = np.array([[_bend(around, given, here, t * side * d) for side in (1, -1)] for t in HESSIAN_STEPS])
        (coarse, fine), sizes = errors[:, :, 0], np.abs(errors[-1, :, 1:]).sum(axis=(0, 1))
        unsure = 2 * np.abs(fine - coarse).max(axis=0) + HESSIAN * np.maximum(sizes, NEGLIGIBLE * sizes.max())
        if ((fine.min(axis=0) > unsure) | (fine.max(axis=0) < -unsure)).any():  # where all is finite
            return True
    return False


def _bend(around: _Around, given: Matrix, here: Vector, step: Vector) -> Matrix:
    """Along a step: by how much Hd misses the difference quotient, that quotient, and the sizes and rounding of both."""
    y = around.beside(step)
    length = float(np.abs(step / around.sizes).max()) * (1.0 if step[0] >= 0 else -1.0)
    there = _vector(lambda: around.function.gradient(y.copy()), len(y))
    there[~np.isfinite(there)] = np.nan  # which no comparison counts
    quotient, way = (there - here) / length, (y - around.z) / length
    rounding = 1e-13 / HESSIAN * (np.abs(here) + np.abs(there)) / abs(length)
    return np.array([given @ way - quotient, quotient, np.abs(given) @ np.abs(way), rounding])


# What users' functions return ----------------------------------------------------------------------------------------------


def _seconds(around: _Around) -> float:
    """Of one value, the least of three: a busy machine must not thin the directions. By the clock, since a function may wait
    for something else than this processor."""
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        around.value(around.z)
        seconds.append(time.perf_counter() - began)
    return max(min(seconds), 1e-7)


def _number(call: Callable[[], object]) -> float:
    try:
        with np.errstate(all="ignore"):
            return float(np.asarray(call(), dtype=float))
    except (ArithmeticError, DCProgError, IndexError, TypeError, ValueError):
        return np.nan


def _numbers(call: Callable[[Vector], object], points: Iterable[Vector]) -> Vector:
    return np.array([_number(partial(call, y)) for y in points])


def _vector(call: Callable[[], object], n: int) -> Vector:
    try:
        with np.errstate(all="ignore"):
            values = np.array(call(), dtype=float)
    except (ArithmeticError, DCProgError, IndexError, TypeError, ValueError):
        return np.full(n, np.nan)
    return values if values.shape == (n,) else np.full(n, np.nan)


def _matrix(call: Callable[[], object], n: int, separable: bool) -> Matrix:
    try:
        with np.errstate(all="ignore"):
            values = np.array(call(), dtype=float)
    except (ArithmeticError, DCProgError, IndexError, TypeError, ValueError):
        return np.full((n, n), np.nan)
    full = np.diag(values) if separable and values.shape == (n,) else values
    return full if full.shape == (n, n) else np.full((n, n), np.nan)

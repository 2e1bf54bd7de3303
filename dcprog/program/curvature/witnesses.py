"""Two points with a value in the middle above the mean of the values at the ends: no convex function has them.

Where the search says so, interval arithmetic has proved it; ``check`` asks Pyomo for the three values once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from pyomo.core.expr.numvalue import value

from dcprog.program.curvature import kinks
from dcprog.program.curvature.hessians import Effort, blocks, hessians_at
from dcprog.program.curvature.nodes import Graph, support
from dcprog.program.curvature.programs import Compiled, Term, compile_in_variables, grouped
from dcprog.program.curvature.reading import Reader
from dcprog.program.curvature.spaces import Space
from dcprog.program.curvature.values import enclosed
from dcprog.typing import Matrix, Vector

ENTRIES = 400_000
"""Numbers in the Hessians that are looked at at once."""
WIDEST = 40
ROUNDS = 7
FOLLOWED = 12
"""Blocks of at most so many variables are searched where their curvature is least."""
CANDIDATES = 6
TRIALS = 40
SHORTER = (1.0, 0.96875, 0.5, 0.0625)


class Segment(NamedTuple):
    """middle ± half, and a number below the excess of the value in the middle over the mean of those at the ends."""

    middle: Vector
    half: Vector
    excess: float
    direction: Vector


@dataclass(frozen=True, eq=False)
class Witness:
    """Two points of the domain that refute convexity (``against`` says if it is concavity instead).

    ``points`` and ``middle`` map names of variables to values; ``excess`` is how far the value in the middle lies above the
    mean of those at the points (below it against concavity); ``direction`` leads from the middle to a point.
    """

    points: tuple[Mapping[str, float], Mapping[str, float]]
    middle: Mapping[str, float]
    excess: float
    against: str
    _expression: Any
    _variables: Sequence[Any]

    @property
    def direction(self) -> dict[str, float]:
        """The way from the middle to the second point, where it is not 0."""
        way = {name: self.points[1][name] - x for name, x in self.middle.items()}
        return {name: d for name, d in way.items() if d != 0.0}

    def check(self) -> bool:
        """Whether the expression, evaluated again at the three points, has the excess; where its rounding hides that,
        interval arithmetic decides. The model's values stay as they are."""
        sign = 1.0 if self.against == "convexity" else -1.0
        first, middle, last = (self._value(at) for at in (self.points[0], self.middle, self.points[1]))
        excess = sign * (middle - 0.5 * (first + last))
        noise = 1e-14 * (abs(first) + abs(middle) + abs(last))
        if not np.isfinite(excess):
            return False
        return bool(excess > noise or (excess > -noise and self._enclosed(sign) > 0))

    def _value(self, at: Mapping[str, float]) -> float:
        old = [(v.value, v.stale) for v in self._variables]
        try:
            for v in self._variables:
                v.set_value(at[v.name], skip_validation=True)
            found = value(self._expression, exception=False)
            return float("nan") if found is None else float(found)
        except (ArithmeticError, TypeError, ValueError):
            return float("nan")
        finally:
            for v, (was, stale) in zip(self._variables, old, strict=True):
                v.set_value(was, skip_validation=True)
                v.stale = stale

    def _enclosed(self, sign: float) -> float:
        names = [v.name for v in self._variables]
        graph = Graph([-np.inf] * len(names), [np.inf] * len(names), names)
        node = Reader(graph, {id(v): i for i, v in enumerate(self._variables)}).read(self._expression)
        at = np.array([[p[name] for name in names] for p in (self.points[0], self.middle, self.points[1])])
        moved = set(np.flatnonzero(at[0] != at[2]).tolist())
        return float(_excesses([(sign * c, t) for c, t in node.terms if support(t) & moved], at[1:2], at[2:] - at[1:2])[0])

    def __str__(self) -> str:
        moved = list(self.direction)
        where = [", ".join(f"{name} = {p[name]:.6g}" for name in moved[:4]) for p in self.points]
        more = f" (and {len(moved) - 4} more)" if len(moved) > 4 else ""
        side = "exceeds" if self.against == "convexity" else "falls below"
        return (
            f"between ({where[0]}) and ({where[1]}){more} the value in the middle {side} the mean of those at the ends by "
            f"{self.excess:.3g}"
        )


def witness(
    space: Space, terms: Sequence[Term], segment: Segment, sign: float, expression: Any, used: Sequence[int]
) -> Witness | None:
    """The segment as a witness that the expression itself confirms; shorter where it has no value at an end, as |x|/x at
    0."""
    for part in SHORTER:
        half = segment.half * part
        excess = segment.excess if part == 1.0 else float(_excesses(terms, segment.middle[None], half[None])[0])
        made = _named(space, segment._replace(half=half, excess=excess), sign, expression, used)
        if excess > 0 and made.check():
            return made
    return None


def _named(space: Space, segment: Segment, sign: float, expression: Any, used: Sequence[int]) -> Witness:
    """The segment in the names of the variables that the expression has."""

    def named(x: Vector) -> dict[str, float]:
        return {space.names[i]: float(x[i]) for i in used}

    ends = named(segment.middle - segment.half), named(segment.middle + segment.half)
    against = "convexity" if sign > 0 else "concavity"
    return Witness(ends, named(segment.middle), segment.excess, against, expression, [space.variables[i] for i in used])


def search(space: Space, terms: Sequence[Term], effort: Effort) -> Segment | None:
    """A segment in the space on which Σ c · node is not convex; None if none was found."""
    points = space.points
    if not len(points) or (space.equations and space.hull is None):
        return None
    open_blocks = [list(terms)] if space.hull is not None else [b for b in blocks(terms) if any(_is_open(t) for t in b)]
    made = [(b, compile_in_variables(space.graph, b)) for b in open_blocks]
    curved = [(b, c) for b, c in made if c is not None and len(c.forms) <= WIDEST]
    for group in grouped([c.program for _, c in curved]):
        found = _by_hessians(space, [curved[g] for g in group], effort)
        if found is not None:
            return found
    for block, _ in made:
        found = None if effort.spent else _by_values(space, block)
        if found is not None:
            return found
    return None


def _is_open(term: Term) -> bool:
    """Whether no rule says that the term is convex."""
    known = term[1].shape
    return known is None or (known.convex if term[0] > 0 else known.concave) is None


# Second derivatives


def _by_hessians(space: Space, chosen: Sequence[tuple[list[Term], Compiled]], effort: Effort) -> Segment | None:
    """Blocks of one signature at the points; then near to where their curvature is least, on all scales at once."""
    k = len(chosen[0][1].forms)
    keep = max(8, ENTRIES // (k**2 * len(chosen)))
    points = space.points[:: -(-len(space.points) // keep)]
    places = np.array([[f.coefficients[0][0] for f in c.forms] for _, c in chosen])
    local = points[:, places].transpose(1, 0, 2)  # blocks, points, variables
    rng = np.random.default_rng(1)
    best_score, best = np.full(len(chosen), np.inf), local[:, 0]
    others = local
    base = np.zeros(len(chosen), dtype=np.int64)
    for again in range(1 + (ROUNDS if k <= FOLLOWED else 0)):
        if effort.spent:
            return None
        eigenvalues, vectors, sizes = _least(space, [c for _, c in chosen], local, places)
        relative = eigenvalues / np.maximum(sizes, np.finfo(float).tiny)
        order = np.argsort(relative, axis=None)[:CANDIDATES]
        for b, p in zip(*np.unravel_index(order, relative.shape), strict=True):
            if relative[b, p] < -1e-13:
                x = points[base[b] if again else p].copy()
                x[places[b]] = local[b, p]
                d = np.zeros(len(x))
                d[places[b]] = vectors[b, p]
                found = confirmed(space, chosen[b][0], x, d)
                if found is not None:
                    return found
        at = np.argmin(eigenvalues, axis=1)
        least = eigenvalues[np.arange(len(at)), at]
        better = least < best_score
        best = np.where(better[:, None], local[np.arange(len(at)), at], best)
        if not again:
            base = at
        best_score = np.where(better, least, best_score)
        local = _around(space, best, others, places, rng)
    return None


def _around(space: Space, best: Matrix, others: Matrix, places: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Points between the best one and the others, from near to far; in a box each coordinate for itself, and to both
    sides."""
    boxes, count, _ = others.shape
    if space.rows:
        part = 10 ** rng.uniform(-3, 0, size=(boxes, count, 1))
        return best[:, None] + part * (others - best[:, None])
    lower, upper = space.bounds
    mixed = rng.permuted(others, axis=1)
    part = rng.choice((-1.0, 1.0), size=others.shape) * 10 ** rng.uniform(-4, 0, size=others.shape)
    return np.clip(best[:, None] + part * (mixed - best[:, None]), lower[places][:, None], upper[places][:, None])


def _least(
    space: Space, compiled: Sequence[Compiled], local: np.ndarray, places: np.ndarray
) -> tuple[Matrix, np.ndarray, Matrix]:
    """Of every block and point the least eigenvalue, its direction, and the size of the Hessian; 0 where there is none."""
    H = hessians_at(compiled, local)
    k = H.shape[-1]
    finite = np.all(np.isfinite(H), axis=(2, 3))
    H = np.where(finite[:, :, None, None], H, 0.0)
    size = np.abs(H).max(axis=(2, 3), initial=0.0)
    if space.hull is not None:
        basis = space.hull[places[0]]
        eigenvalues, vectors = np.linalg.eigh(basis.T @ H @ basis)
        return eigenvalues[..., 0], (basis @ vectors[..., :1])[..., 0], size
    diagonal = np.abs(np.einsum("bpii->bpi", H))
    t = np.where(diagonal > 0, diagonal, np.maximum(size[..., None], 1e-300)) ** -0.5
    t = np.where(t > 1e6 * t.min(axis=2, keepdims=True), 1e6 * t.min(axis=2, keepdims=True), t)
    eigenvalues, vectors = np.linalg.eigh(H * t[..., :, None] * t[..., None, :])
    return eigenvalues[..., 0] * np.where(k == 1, size, 1.0), vectors[..., 0] * t, np.where(k == 1, size, 1.0) + 0 * size


def confirmed(space: Space, terms: Sequence[Term], x: Vector, d: Vector) -> Segment | None:
    """A segment along d through a point near x that lies in the space, its excess proved by interval arithmetic."""
    if space.hull is not None:
        d = space.hull @ (space.hull.T @ d)
    length = float(np.abs(d).max(initial=0.0))
    if not np.isfinite(length) or length == 0.0:
        return None
    d = d / length
    lower, upper = space.bounds
    with np.errstate(all="ignore"):
        wide = np.where(np.isfinite(upper - lower), upper - lower, 2 * (1 + np.abs(x)))
        reach = float(np.min(np.where(d != 0, wide / np.abs(d), np.inf)))
    steps = 0.45 * reach * 0.5 ** np.arange(TRIALS)
    low, high = lower[None] + np.abs(steps[:, None] * d), upper[None] - np.abs(steps[:, None] * d)
    centres = np.where(d != 0, np.clip(x, low, np.maximum(low, high)), x)
    middles, halves = _short(centres, lower, upper, space), _short(steps[:, None] * d, None, None, space)
    return _best(space, terms, middles, halves)


def _short(x: Matrix, lower: Vector | None, upper: Vector | None, space: Space) -> Matrix:
    """Rounded to 24 bits, so that middle ± half are floats and the middle is the middle; kept where equations tie the
    values."""
    if space.hull is not None:
        return x
    short = x.astype(np.float32).astype(float)
    if lower is None or upper is None:
        return short
    return np.where((short < lower) | (short > upper), x, short)


def _best(space: Space, terms: Sequence[Term], middles: Matrix, halves: Matrix) -> Segment | None:
    halves = np.where(middles + halves - middles == halves, halves, 0.0) if space.hull is None else halves
    usable = (halves != 0).any(axis=1) & space.holds(middles + halves) & space.holds(middles - halves)
    if not usable.any():
        return None
    middles, halves = middles[usable], halves[usable]
    excess = _excesses(terms, middles, halves)
    k = int(np.argmax(excess))
    if not excess[k] > 0:
        return None
    return Segment(middles[k], halves[k], float(excess[k]), halves[k])


def _excesses(terms: Sequence[Term], middles: Matrix, halves: Matrix) -> Vector:
    """Lower bounds of f(m) − ½(f(m − h) + f(m + h)); −∞ where f has no value."""
    first, middle, last = (enclosed(terms, at) for at in (middles - halves, middles, middles + halves))
    with np.errstate(all="ignore"):
        mean = 0.5 * (first.upper + last.upper)
        excess = middle.lower - mean - 4e-16 * (np.abs(middle.lower) + np.abs(first.upper) + np.abs(last.upper))
        defined = np.isfinite(first.lower + first.upper + last.lower + last.upper + middle.lower + middle.upper)
    return np.where(defined, excess, -np.inf)


# Values


def _by_values(space: Space, block: Sequence[Term]) -> Segment | None:
    """Pairs of points, and pairs that differ in one variable, on all scales."""
    used = np.array(sorted(frozenset().union(*(support(t) for _, t in block))), dtype=np.int64)
    points = space.points
    rng = np.random.default_rng(2)
    others = points[rng.permutation(len(points))]
    half = 0.5 * (others - points) * np.resize((1.0, 0.1, 0.5, 0.01, 0.3, 1e-3), len(points))[:, None]
    if space.hull is None:
        masked = np.zeros_like(half)
        masked[:, used] = half[:, used]
        half = masked
        single = np.zeros_like(half)
        column = used[np.arange(len(points)) % len(used)]
        single[np.arange(len(points)), column] = half[np.arange(len(points)), column]
        middles, halves = np.vstack([points + half, points + single, points + half]), np.vstack([half, single, single])
        on_kinks = kinks.across(space.graph, block, points)
        middles, halves = np.vstack([middles, on_kinks[0]]), np.vstack([halves, on_kinks[1]])
    else:
        middles, halves = points + half, half
    return _best(space, block, _short(middles, *space.bounds, space), _short(halves, None, None, space))

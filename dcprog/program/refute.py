"""Looking for a witness against convexity: second derivatives at points of C, and values along segments of C.

A function is refuted by a direction d at a point x with d'∇²f(x)d < 0 beyond the rounding of that sum, or by two points of C
between which it lies above its chord. Nothing here proves convexity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from dcprog.convex.tape import TapeBatch
from dcprog.functions.definiteness import DENSE_LIMIT, equilibrated, is_positive_semidefinite
from dcprog.program.curvature.second_derivatives import TOLERANCE, SecondDerivatives
from dcprog.typing import Mask, Matrix, Vector

ENTRIES = 2_000_000
"""Numbers that are held at once."""
OPERATIONS = 4_000_000
"""For eigenvalues: points times the cube of the largest block."""
SMALL = 20
"""Up to this block size the search goes on where the curvature is least."""
ROUNDS = 5
"""How often the search goes on around the least curvature found so far, on all scales at once."""


@dataclass(frozen=True, eq=False)
class Witness:
    """Where a function is seen not to be convex."""

    x: Vector
    text: str

    def __str__(self) -> str:
        return self.text


def refute(
    f: SecondDerivatives, points: Matrix, box: tuple[Vector, Vector] | None, hull: Matrix | None = None
) -> Witness | None:
    """A witness against the convexity of f on C, of which ``points`` are points; None if none was found.

    ``box`` holds the bounds if C is nothing but a box; ``hull`` is a basis of the directions in C if it has equations.
    """
    found = _by_hessians(f, points, box, hull)
    if found is not None and (not f.foreign or _confirmed(f, found, points)):
        return found[0]
    if f.foreign or any(isinstance(t, TapeBatch) and not t.is_polyhedral and _has_kinks(t) for t in f.terms):
        return _by_segments(f, points, box)
    return None


# Second derivatives


def _by_hessians(
    f: SecondDerivatives, points: Matrix, box: tuple[Vector, Vector] | None, hull: Matrix | None
) -> tuple[Witness, Vector] | None:
    if not f.curved or not f.complete or not len(points):
        return None
    rng = np.random.default_rng(0)
    points = thinned(points, max(6, OPERATIONS // max(f.blocks.largest, 1) ** 3))
    least = np.full(f.n, np.inf)
    best = points[0]
    first = points
    for again in range(1 + (ROUNDS if f.blocks.largest <= SMALL else 0)):
        if again:
            points = _around(best, first, box, rng)
        found, scores = _at_points(f, points, hull)
        if found is not None:
            return found
        if f.blocks.largest > DENSE_LIMIT or not np.isfinite(scores).any():
            return None
        where = np.argmin(scores, axis=0)
        better = scores[where, np.arange(f.n)] < least
        if box is None:  # coordinates of different points do not make up a point of C: the worst one of all counts
            worst = int(np.argmin(scores.min(axis=1)))
            better = np.full(f.n, bool(scores[worst].min() < least.min()))
            where = np.full(f.n, worst)
        if not better.any():
            continue
        best = np.where(better, points[where, np.arange(f.n)], best)
        least = np.where(better, scores[where, np.arange(f.n)], least)
        if least.min() >= scores[np.isfinite(scores)].max() - 1e-6:  # as curved everywhere: nothing to follow
            return None
    return None


def thinned(points: Matrix, count: int) -> Matrix:
    """At most about ``count`` of the points: of the special ones, which stand first, and evenly of the others."""
    if len(points) <= count:
        return points
    first, rest = points[: count // 2], points[count // 2 :]
    return np.vstack([first, rest[:: -(-2 * len(rest) // count)]])


def _around(best: Vector, points: Matrix, box: tuple[Vector, Vector] | None, rng: np.random.Generator) -> Matrix:
    """Points between ``best`` and the others, from near to far; in a box for each coordinate alone, and beyond it, too."""
    count = min(len(points), 48)
    others = points[rng.permutation(len(points))[:count]]
    if box is None:
        return best + 10 ** rng.uniform(-3, 0, size=(count, 1)) * (others - best)
    others = rng.permuted(others, axis=0)
    ways = rng.choice((-1.0, 1.0), size=others.shape) * 10 ** rng.uniform(-3, 0, size=others.shape)
    return np.clip(best + ways * (others - best), *box)


def _at_points(f: SecondDerivatives, points: Matrix, hull: Matrix | None) -> tuple[tuple[Witness, Vector] | None, Matrix]:
    """The clearest witness among the Hessians at the points; and of each point and variable the least relative curvature
    of the block that the variable is in."""
    scores = np.full((len(points), f.n), np.inf)
    step = max(1, ENTRIES // f.entries)
    for first in range(0, len(points), step):
        part = slice(first, first + step)
        values, sizes = f.at(points[part])
        usable = np.isfinite(values) & np.isfinite(sizes)
        if f.blocks.largest > DENSE_LIMIT:
            found = _of_large(f, points[part], values, sizes, usable)
        else:
            found = _of_blocks(f, points[part], values, sizes, usable, scores[part])
        if found is not None and hull is not None:
            found = _within_hull(f, points[part], values, sizes, usable, hull)
        if found is not None:
            return found, scores
    return None, scores


def _of_blocks(
    f: SecondDerivatives, points: Matrix, values: Matrix, sizes: Matrix, usable: Mask, scores: Matrix
) -> tuple[Witness, Vector] | None:
    blocks, tiny = f.blocks, np.finfo(float).tiny
    values, sizes = np.where(usable, values, 0.0), np.where(usable, sizes, 0.0)
    blocked = blocks.row_maxima((~usable).astype(float)) > 0  # variables whose row has an entry that is not finite
    found: tuple[float, int, Vector] | None = None
    diagonal = blocks.row == blocks.col
    alone = np.flatnonzero(diagonal & blocks.single[blocks.row])
    if len(alone):
        variable = blocks.row[alone]
        relative = np.where(blocked[:, variable], np.inf, values[:, alone] / np.maximum(sizes[:, alone], tiny))
        scores[:, f.support[variable]] = relative
        p, k = np.unravel_index(int(np.argmin(relative)), relative.shape)
        if relative[p, k] < -TOLERANCE:
            found = float(relative[p, k]), int(p), _unit(f.n, int(f.support[variable[k]]))
    s = equilibrated(blocks, sizes)
    scaled = values * s[:, blocks.row] * s[:, blocks.col]
    scaled_sizes = sizes * s[:, blocks.row] * s[:, blocks.col]
    for (members, stack), (_, size_stack) in zip(blocks.stacks(scaled), blocks.stacks(scaled_sizes), strict=True):
        eigenvalues, vectors = np.linalg.eigh(stack)
        v = vectors[..., 0]
        size = np.einsum("pbi,pbij,pbj->pb", np.abs(v), size_stack, np.abs(v))
        broken = blocked[:, members].any(axis=2)
        relative = np.where(broken, np.inf, eigenvalues[..., 0] / np.maximum(size, tiny))
        scores[:, f.support[members]] = np.where(broken, np.inf, eigenvalues[..., 0])[:, :, None]
        p, b = np.unravel_index(int(np.argmin(relative)), relative.shape)
        if relative[p, b] < -TOLERANCE and (found is None or relative[p, b] < found[0]):
            d = np.zeros(f.n)
            d[f.support[members[b]]] = v[p, b] * s[p, members[b]]
            found = float(relative[p, b]), int(p), d
    return None if found is None else _second_derivative(f, points[found[1]], values[found[1]], found[2])


def _of_large(
    f: SecondDerivatives, points: Matrix, values: Matrix, sizes: Matrix, usable: Mask
) -> tuple[Witness, Vector] | None:
    """Blocks too large for eigenvectors: only whether each Hessian is semidefinite."""
    blocks = f.blocks
    for x, entries, whole in zip(points, values, _whole(usable), strict=True):
        if not whole:
            continue
        half = sp.coo_array((entries, (blocks.row, blocks.col)), shape=(blocks.n, blocks.n)).tocsr()
        if not is_positive_semidefinite(half + sp.tril(half, -1).T):
            text = f"at {short(x)} its matrix of second derivatives has a negative eigenvalue"
            return Witness(x, text), np.zeros(f.n)
    return None


def _within_hull(
    f: SecondDerivatives, points: Matrix, values: Matrix, sizes: Matrix, usable: Mask, hull: Matrix
) -> tuple[Witness, Vector] | None:
    """The same among the directions that C has."""
    basis = hull[f.support]
    for x, entries, size, whole in zip(points, values, sizes, _whole(usable), strict=True):
        if not whole:
            continue
        half = sp.coo_array((entries, (f.blocks.row, f.blocks.col)), shape=(f.blocks.n, f.blocks.n)).toarray()
        H = basis.T @ (half + np.tril(half, -1).T) @ basis
        eigenvalues, vectors = np.linalg.eigh(H)
        if len(eigenvalues) and eigenvalues[0] < -TOLERANCE * float(size.max(initial=0.0)):
            return _second_derivative(f, x, entries, hull @ vectors[:, 0])
    return None


def _whole(usable: Mask) -> Mask:
    whole: Mask = np.all(usable, axis=1)
    return whole


def _second_derivative(f: SecondDerivatives, x: Vector, entries: Vector, d: Vector) -> tuple[Witness, Vector]:
    d = d / np.linalg.norm(d)
    part, row, col = d[f.support], f.blocks.row, f.blocks.col
    twice = np.where(row == col, 1.0, 2.0)
    curvature = float((entries * twice * part[row] * part[col]).sum())
    main = np.sort(np.argsort(-np.abs(d), kind="stable")[:4])
    main = main[np.abs(d[main]) > 1e-3 * np.abs(d).max()]
    where = ", ".join(f"{f.names[i]} = {x[i]:.4g}" for i in main)
    along = f"along {f.names[main[0]]}" if len(main) == 1 else f"in the direction {short(d[main])} of these"
    return Witness(x, f"at {where} its second derivative {along} is {curvature:.3g}"), d


def _unit(n: int, i: int) -> Vector:
    d = np.zeros(n)
    d[i] = 1.0
    return d


# Values


def _by_segments(f: SecondDerivatives, points: Matrix, box: tuple[Vector, Vector] | None) -> Witness | None:
    """Midpoints of long and short segments between the points, and in a box along single coordinates."""
    rng = np.random.default_rng(1)
    others = points[rng.permutation(len(points))]
    lengths = np.resize((1.0, 0.1, 0.5, 0.01, 0.3, 1e-3), len(points))[:, None]
    pairs = [(points, points + lengths * (others - points))]
    if box is not None:
        for shift in range(min(f.n, 4)):
            i = (np.arange(len(points)) + shift) % f.n
            ends = points.copy()
            ends[np.arange(len(points)), i] = others[np.arange(len(points)), i]
            pairs.append((points, points + lengths * (ends - points)))
    for starts, ends in pairs:
        found = _above_chord(f, starts, ends)
        if found is not None:
            return found
    return _kinks_between(f, points, others)


def _above_chord(f: SecondDerivatives, a: Matrix, b: Matrix) -> Witness | None:
    """Two of the points a, b with a value between them above the mean of theirs."""
    middle = 0.5 * (a + b)
    (fa, sa), (fb, sb), (fm, sm) = map(f.values, (a, b, middle))
    with np.errstate(all="ignore"):
        excess = fm - 0.5 * (fa + fb)
        above = np.flatnonzero(np.isfinite(fa + fb + fm) & (excess > TOLERANCE * (sa + sb + sm)))
    if not len(above):
        return None
    i = int(above[np.argmax(excess[above])])
    return Witness(
        middle[i],
        f"between {short(a[i])} and {short(b[i])} its value at the midpoint exceeds the mean of the values at the ends by "
        f"{excess[i]:.3g}",
    )


def _kinks_between(f: SecondDerivatives, points: Matrix, others: Matrix) -> Witness | None:
    tapes = [t for t in f.terms if isinstance(t, TapeBatch) and _has_kinks(t)]
    if f.foreign or not any(t.at_points(*points.shape).bends_down(points.ravel()) for t in tapes):
        return None
    found = (_kink_between(f, tapes, a, b) for a, b in zip(points, others, strict=True))
    return next((w for w in found if w is not None), None)


def _kink_between(f: SecondDerivatives, tapes: list[TapeBatch], a: Vector, b: Vector, steps: int = 26) -> Witness | None:
    """A kink that bends down somewhere between a and b: the slope falls where a maximum or |·| changes its branch."""
    first = [t.branches(a) for t in tapes]
    low, high = 0.0, 1.0
    if all((u == t.branches(b)).all() for u, t in zip(first, tapes, strict=True)):
        return None
    for _ in range(steps):
        middle = 0.5 * (low + high)
        x = a + middle * (b - a)
        same = all((u == t.branches(x)).all() for u, t in zip(first, tapes, strict=True))
        low, high = (middle, high) if same else (low, middle)
    x, y = a + low * (b - a), a + high * (b - a)
    before, after = f.sum.gradient(x), f.sum.gradient(y)
    fall = float((before - after) @ (b - a))
    if np.isfinite(fall) and fall > 1e-6 * float((np.abs(before) + np.abs(after)) @ np.abs(b - a)):
        return Witness(x, f"at {short(x)} its slope along {short(b - a)} falls by {fall:.3g}: a kink that bends down")
    return None


def _confirmed(f: SecondDerivatives, found: tuple[Witness, Vector], points: Matrix) -> bool:
    """Whether the values of a user's function bend down where its Hessian says so."""
    witness, d = found
    low, high = points.min(axis=0), points.max(axis=0)
    room = float(np.linalg.norm(high - low)) or 1.0
    for length in (0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4):
        for shift in (0.0, 1.0, -1.0):
            step = length * room * d
            a, b = witness.x + (shift - 1.0) * step, witness.x + (shift + 1.0) * step
            near = (np.minimum(a, b) >= low - 1e-12).all() and (np.maximum(a, b) <= high + 1e-12).all()
            if near and _above_chord(f, a[None], b[None]):
                return True
    return False


def _has_kinks(tapes: TapeBatch) -> bool:
    return any(operation.name in ("abs", "max") for operation in tapes.operations)


def short(x: Vector) -> str:
    """The first entries of a vector."""
    shown = ", ".join(f"{v:.3g}" for v in x[:4])
    return f"({shown}{', …' if len(x) > 4 else ''})"

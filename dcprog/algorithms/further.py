"""Beyond a step: where f still falls along x → x⁺ the run need not creep, and where it falls for ever it is unbounded."""

from __future__ import annotations

import numpy as np

from dcprog.convex.certificate import no_farther_outside
from dcprog.program.compile import Compiled
from dcprog.typing import Vector

DOUBLINGS = 60
HALVINGS = 50
FEASIBLE = 1e-9
DECADES = 10
DIRECTION_NOISE = 1e-12


def further(compiled: Compiled, x: Vector, there: Vector) -> Vector:
    """The lowest of x + t(there − x), t = 1, 2, 4, … within C, while f falls; ``there`` itself if t = 1 is.

    A variable that comes to its bound stays there, and the others go on; where a row ends the way, its end is tried, too. A
    decomposition with large curvature in both g and h makes steps that are short everywhere: a proximal term of 1e6 would
    take a million of them for the way that this goes in twenty.
    """
    f, step = compiled.f, there - x
    best, value, t, is_end = there, f.value(there), 1.0, False
    for _ in range(DOUBLINGS):
        t *= 2
        trial, is_end = _up_to_rows(compiled, best, np.clip(x + t * step, compiled.lower, compiled.upper))
        with np.errstate(all="ignore"):
            value_there = f.value(trial)
        if not value_there < value or not _is_feasible(compiled, trial, x):
            break
        best, value = trial, value_there
        if is_end:
            break
    return best


def _up_to_rows(compiled: Compiled, x: Vector, there: Vector) -> tuple[Vector, bool]:
    """``there``, or the point on the way from x to it at which a linear row ends it, and whether one does."""
    C = compiled.feasible_set
    if not C.m or C.n != compiled.n:
        return there, False
    t = _until(C.A @ x, C.A @ (there - x), C.row_lower, C.row_upper)
    return (there, False) if t >= 1 else (x + max(t, 0.0) * (there - x), True)


def lowest(compiled: Compiled, x: Vector, there: Vector) -> tuple[Vector, float]:
    """The lowest of x + t(there − x), t = 1, ½, ¼, … within C, and how far f falls to it; x and 0 if it does not."""
    f, step = compiled.f, there - x
    here = f.value(x)
    best, fall = x, 0.0
    for t in 0.5 ** np.arange(HALVINGS):
        trial = np.clip(x + t * step, compiled.lower, compiled.upper)
        with np.errstate(all="ignore"):
            value = f.value(trial)
        if value < here - fall and _is_feasible(compiled, trial, x):
            best, fall = trial, here - value
    return best, fall


def farther(compiled: Compiled, x: Vector, there: Vector) -> tuple[Vector, float]:
    """The end of :func:`further`, and how far f falls to it; x and 0 if ``there`` is not in C or f does not fall."""
    if not _is_feasible(compiled, there, x):
        return x, 0.0
    end = further(compiled, x, there)
    with np.errstate(all="ignore"):
        fall = compiled.f.value(x) - compiled.f.value(end)
    return (end, fall) if fall > 0 else (x, 0.0)


def falls_for_ever(compiled: Compiled, x: Vector, there: Vector) -> bool:
    """Whether f falls at least linearly along x + t(there − x), all of which lies in C, over ten decades of t."""
    step = there - x
    size = float(np.abs(step).max(initial=0.0))
    if not 0 < size < np.inf or _longest(compiled, x, step) < np.inf:
        return False
    with np.errstate(all="ignore"):
        values = np.array([compiled.f.value(x + t * step) for t in 10.0 ** np.arange(DECADES)])
    falling = values[np.isfinite(values)]
    drops = falling[:-1] - falling[1:]
    in_set = _is_feasible(compiled, x + 10.0 ** (DECADES - 1) * step, x)
    return bool(in_set and len(drops) > 2 and (drops > 0).all() and (drops[1:] >= 5 * drops[:-1]).all())


def reach(compiled: Compiled, x: Vector, direction: Vector, most: float, unit: Vector) -> float:
    """The largest t ≤ ``most`` with x + t·direction in C, up to halving where C has curved rows; at least 0.

    What rounding leaves of a direction, for a variable at its bound or along a row, ends no way: components below 1e-12 of
    their variable's size, or of a row's terms, count as 0.
    """
    C, n = compiled.feasible_set, compiled.n
    step = np.where(np.abs(direction) > DIRECTION_NOISE * np.maximum(np.abs(x), unit[:n]), direction, 0.0)
    longest = min(most, _until(x, step, compiled.lower, compiled.upper))
    if C.m and C.n == n:
        along, terms = C.A @ step, C.A_size @ np.maximum(np.abs(step), DIRECTION_NOISE * np.abs(x))
        along = np.where(np.abs(along) > DIRECTION_NOISE * terms, along, 0.0)
        longest = min(longest, _until(C.A @ x, along, C.row_lower, C.row_upper))
    longest = max(longest, 0.0)
    if not C.constraints and C.n == n:
        return longest
    if longest == np.inf:
        longest = float((np.abs(x) + unit[:n]).max() / max(float(np.abs(step).max(initial=0.0)), 1e-300))
    for _ in range(HALVINGS):
        if _is_feasible(compiled, np.clip(x + longest * step, compiled.lower, compiled.upper), x):
            return longest
        longest /= 2
    return 0.0


def _longest(compiled: Compiled, x: Vector, step: Vector) -> float:
    """The largest t with x + t·step within the bounds and linear rows of C."""
    C = compiled.feasible_set
    longest = [_until(x, step, compiled.lower, compiled.upper)]
    if C.m and C.n == compiled.n:
        longest.append(_until(C.A @ x, C.A @ step, C.row_lower, C.row_upper))
    return max(1.0, min(longest))


def _until(value: Vector, step: Vector, lower: Vector, upper: Vector) -> float:
    with np.errstate(all="ignore"):
        room = np.where(step > 0, upper - value, np.where(step < 0, lower - value, np.inf)) / np.where(step == 0, 1.0, step)
    return float(room.min(initial=np.inf))


def _is_feasible(compiled: Compiled, x: Vector, before: Vector) -> bool:
    """Whether x is no farther outside of C than the point before was, or by rounding; as measured by the sizes of both."""
    C = compiled.feasible_set
    return C.is_box or no_farther_outside(C, _lifted(compiled, x), _lifted(compiled, before), FEASIBLE)


def _lifted(compiled: Compiled, x: Vector) -> Vector:
    return compiled.lift(x)[: compiled.feasible_set.n]

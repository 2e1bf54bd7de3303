"""Bounds at which something that is linearised is infinitely steep, as −√x is at 0: DCA cannot be there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dcprog.convex.tape import TapeBatch
from dcprog.program.compile import Compiled
from dcprog.program.curvature.compiled import Implied
from dcprog.typing import Vector

INSET = 1e-10
"""So far from such a bound it has to stay, relative to the width of the bounds, or to 1."""


def steep_bounds(compiled: Compiled) -> Implied:
    """The bounds of variables moved inside where the gradient of h, or of some q, is not finite at one of them.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 4), initialize=1.0); m.y = pyo.Var(bounds=(0, 4), initialize=1.0)
    >>> steep_bounds(DCProgram(m, g=m.y**2, h=-pyo.sqrt(m.x) + m.y**3).compiled)
    {0: (4e-10, 4.0)}
    """
    low, high = compiled.lower, compiled.upper
    finite_low, finite_high = np.isfinite(low), np.isfinite(high)
    with np.errstate(invalid="ignore"):
        middle = np.where(finite_low & finite_high, (low + high) / 2, np.where(finite_low, low + 1, high - 1))
    base = np.where(finite_low | finite_high, middle, 0.0)
    width = np.where(finite_low & finite_high, high - low, 1.0)
    moved = {}
    for j in _in_tapes(compiled):
        inside = [low[j], high[j]]
        for side, bound in enumerate(inside):
            if np.isfinite(bound) and width[j] > 0 and not _is_smooth(compiled, base, j, bound):
                inside[side] = bound + (1 - 2 * side) * max(INSET * width[j], 8 * float(np.spacing(abs(bound))))
        if inside != [low[j], high[j]]:
            moved[j] = (float(inside[0]), float(inside[1]))
    return moved


def _in_tapes(compiled: Compiled) -> list[int]:
    """The variables in what is neither linear nor quadratic."""
    tapes: list[Iterable[int]] = [t.variables for t in compiled.h_parts.tapes]
    if compiled.dc is not None:
        tapes += [compiled.dc.q.places[1].tolist()]
    tapes += [t.support.tolist() for t in compiled.h.terms if isinstance(t, TapeBatch)]
    return sorted({i for variables in tapes for i in variables if i < compiled.n})


def _is_smooth(compiled: Compiled, base: Vector, j: int, bound: float) -> bool:
    x = base.copy()
    x[j] = bound
    with np.errstate(all="ignore"):
        own = np.isfinite(compiled.h.gradient(x)[j])
        if compiled.dc is None:
            return bool(own)
        q = compiled.dc.q
        return bool(own and np.isfinite(q.partials(x)[q.places[1] == j]).all())

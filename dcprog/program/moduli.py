"""How strongly convex g and h are: moduli σ ≥ 0 such that g − σ/2‖·‖² is convex, as lower bounds, 0 where none is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.functions.definiteness import Blocks
from dcprog.program.compile import Compiled
from dcprog.program.merged import Side
from dcprog.typing import Vector

ROUNDING = 1e-10
"""Of the largest entry: so far off the least eigenvalue may be."""


class Moduli(NamedTuple):
    """Of g and of h."""

    g: float
    h: float


def moduli(compiled: Compiled) -> Moduli:
    """Lower bounds of the moduli of strong convexity of g and h.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2], bounds=(-1, 1))
    >>> program = DCProgram(m, g=2 * m.x[1] ** 2 + m.x[2] ** 2 + abs(m.x[1]), h=m.x[1] ** 2)
    >>> [round(sigma, 6) for sigma in moduli(program.compiled)]
    [2.0, 0.0]
    """
    return Moduli(_modulus(compiled.f.g), _modulus(compiled.f.h))


def _modulus(side: Side) -> float:
    """That of the quadratic terms, and of functions that declare one; what else there is, is convex."""
    n = len(side.c)
    diagonal = np.zeros(n)
    for bound in side.functions:
        diagonal[bound.indices] += bound.weight * bound.function.strong_convexity
    Q = sp.csc_array(sp.diags_array(diagonal))
    return _least_eigenvalue(Q if side.Q is None else sp.csc_array(side.Q + Q))


def _least_eigenvalue(Q: sp.csc_array) -> float:
    """From below, block by block; 0 where a block is too large for a dense matrix."""
    lower = sp.coo_array(sp.tril(Q))
    blocks = Blocks(lower.row, lower.col, Q.shape[0])
    diagonal: Vector = Q.diagonal()
    if next(blocks.large(lower.data), None) is not None:
        return 0.0
    least = [float(diagonal[blocks.single].min(initial=np.inf))]
    least += [float(np.linalg.eigvalsh(stack[0]).min()) for _, stack in blocks.stacks(lower.data[None])]
    return max(min(least) - ROUNDING * float(np.abs(lower.data).max(initial=0.0)), 0.0)

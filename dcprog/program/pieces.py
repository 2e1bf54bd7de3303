"""The pieces of h near a point: h = max of smooth functions, one for each choice of a piece at every kink that is near.

A kink of h is an ``abs`` or a ``maximum`` of its expression, or one of a function that knows its own
(:meth:`~dcprog.functions.ConvexFunction.corners`). Where a kink stands inside of something else, as in exp(max(x, 0)), or is
none of finitely many slopes, as ‖x‖₂ at 0, the pieces are unknown.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dcprog.convex.tape import KINKS, ROOTS, TapeBatch
from dcprog.convex.terms import SmoothSum
from dcprog.functions.corners import Corner, corner, near
from dcprog.program.compile import Compiled, oracle
from dcprog.program.expressions import BoundFunction, Kink, Parts, take_apart
from dcprog.typing import Indices, Matrix, Vector

MOST = 64
"""So many pieces of one maximum of maxima are written out."""
PROBES = 8
"""Directions in which a tape with kinks inside is looked at."""
JUMP = 0.1
"""A gradient that turns by more than this share of its length so near by has a kink."""


class Near(NamedTuple):
    """The corners near a point, and whether they are all that h has there."""

    corners: list[Corner]
    known: bool


class Pieces:
    """Those of h of a compiled program.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram, maximum
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2], bounds=(-3, 3), initialize=0)
    >>> program = DCProgram(m, g=m.x[1]**2 + m.x[2]**2, h=abs(m.x[1]) + maximum(m.x[2], 2 * m.x[2], 1))
    >>> pieces = Pieces(program.compiled)
    >>> [corner.turns.tolist() for corner in pieces.near(np.array([0.0, 0.5]), np.full(2, 1e-3)).corners]
    [[[-1.0], [1.0]], [[-2.0], [0.0]]]
    """

    def __init__(self, compiled: Compiled) -> None:
        parts = compiled.h_parts
        made = [_Maximum.of(kink, compiled.variables) for kink in parts.kinks]
        self._maxima = [m for m in made if m is not None]
        self._all_kinks = len(self._maxima) == len(made)
        self._functions = [b for b in parts.functions if not b.function.smooth]
        hidden = {"kinks": KINKS, "roots": ROOTS}
        self._hidden = [
            (kind, TapeBatch([t]))
            for t in parts.tapes
            for kind, names in hidden.items()
            if any(name in names for name, _ in t.operations)
        ]

    def near(self, x: Vector, radius: Vector) -> Near:
        """The corners of h at points y with |y − x| ≤ ``radius``."""
        known = self._all_kinks and not any(_hides(kind, tape, x, radius) for kind, tape in self._hidden)
        corners = [c for m in self._maxima if (c := m.near(x, radius)) is not None]
        for bound in self._functions:
            inner = bound.function.corners(x[bound.indices], radius[bound.indices])
            known = known and inner is not None
            corners += [_placed(c, bound) for c in inner or ()]
        return Near(corners, known)


def slopes(u: Vector, corners: Sequence[Corner], most: int, rng: np.random.Generator) -> tuple[list[Vector], bool]:
    """The gradients at x of the smooth functions that h is the maximum of, where its oracle gives ``u``, and whether these
    are all: of more than ``most`` so many are taken at random, after u itself."""
    count = float(np.prod([float(len(c.turns)) for c in corners]))
    if count <= most:
        return [_turned(u, corners, choice) for choice in itertools.product(*(range(len(c.turns)) for c in corners))], True
    chosen = ([int(rng.integers(len(c.turns))) for c in corners] for _ in range(most - 1))
    return [u, *(_turned(u, corners, choice) for choice in chosen)], False


def _turned(u: Vector, corners: Sequence[Corner], choice: Sequence[int]) -> Vector:
    out: Vector = u.copy()
    for c, i in zip(corners, choice, strict=True):
        out[c.indices] += c.turns[i]
    return out


def _placed(c: Corner, bound: BoundFunction) -> Corner:
    return Corner(bound.indices[c.indices], bound.weight * c.turns)


class _Maximum:
    """weight · max of pieces, over the variables that stand in it."""

    def __init__(self, indices: Indices, pieces: list[SmoothSum], whole: TapeBatch) -> None:
        self.indices, self.pieces, self.whole = indices, pieces, whole

    @classmethod
    def of(cls, kink: Kink, variables: Sequence[Any]) -> _Maximum | None:
        """None if the pieces are unknown."""
        local = {id(variables[i]): at for at, i in enumerate(kink.tape.variables)}
        pieces = _pieces(kink, local)
        whole = TapeBatch([kink.tape._replace(variables=tuple(range(len(local))))])
        return None if pieces is None else cls(np.array(kink.tape.variables, dtype=np.int64), pieces, whole)

    def near(self, x: Vector, radius: Vector) -> Corner | None:
        """The corner of the pieces that may be largest near x, by their slopes there."""
        z = x[self.indices]
        values = np.array([p.value(z) for p in self.pieces])
        gradients: Matrix = np.array([p.gradient(z) for p in self.pieces])
        taken = np.zeros(len(z))
        self.whole.add_gradient(z, taken)
        return corner(near(values, gradients, radius[self.indices]), taken, self.indices)


def _pieces(kink: Kink, index: dict[int, int]) -> list[SmoothSum] | None:
    """The smooth pieces of a kink times its weight; those of kinks inside of its pieces are written out."""
    inside = [kink.pieces[0], -kink.pieces[0]] if kink.is_abs else kink.pieces
    written: list[SmoothSum] = []
    for piece in inside:
        parts = take_apart(kink.weight * piece, index, len(index))
        some = _written_out(parts, index)
        if some is None or (kink.is_abs and not parts.is_affine):
            return None
        written += some
    return written if len(written) <= MOST else None


def _written_out(parts: Parts, index: dict[int, int]) -> list[SmoothSum] | None:
    """A piece as one smooth function for each choice at its own kinks; None if it is no maximum of such."""
    hidden = any(name in KINKS | ROOTS for t in parts.tapes for name, _ in t.operations)
    if hidden or parts.functions or any(k.weight < 0 for k in parts.kinks):
        return None
    smooth = Parts(parts.n, parts.constant, parts.linear, parts.quadratic, parts.tapes, forms=parts.forms)
    choices = [_pieces(kink, index) for kink in parts.kinks]
    if any(c is None for c in choices) or np.prod([float(len(c or ())) for c in choices]) > MOST:
        return None
    base = oracle(smooth).terms
    return [
        SmoothSum([*base, *(t for s in choice for t in s.terms)], parts.n)
        for choice in itertools.product(*(c or () for c in choices))
    ]


def _hides(kind: str, tape: TapeBatch, x: Vector, radius: Vector) -> bool:
    """Whether a tape has a kink near x: another branch, or a slope that jumps as that of a root does."""
    rng = np.random.default_rng(0)
    steps = radius * rng.uniform(-1.0, 1.0, (PROBES, len(x)))
    here = tape.branches(x) if kind == "kinks" else _gradient(tape, x)
    for z in (x + sign * step for step in steps for sign in (1.0, -1.0)):
        there = tape.branches(z) if kind == "kinks" else _gradient(tape, z)
        if kind == "kinks" and not np.array_equal(here, there):
            return True
        if not np.linalg.norm(there - here) <= JUMP * np.linalg.norm(here):
            return True
    return False


def _gradient(tape: TapeBatch, z: Vector) -> Vector:
    out = np.zeros(len(z))
    tape.add_gradient(z, out)
    return out

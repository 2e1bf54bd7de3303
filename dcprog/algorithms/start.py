"""A point of C to start from: the given one, or the nearest in C."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Claim
from dcprog.convex.certificate import feasibility
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.program.points import points_of_c
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved
from dcprog.typing import Vector

FEASIBLE = 1e-8
STEEP = 1e3
"""So many times as steep as at the start, and a bound lets nothing go."""
POINTS = 24
INWARDS = (0.05, 0.5, 1.0)
"""Shares of the way to a point inside of C."""


class Infeasible(DCProgError):
    """C is empty."""


class NoStart(DCProgError):
    """No point of C was found, though nothing says that there is none; ``claim`` is what the solvers said."""

    def __init__(self, claim: Claim, message: str) -> None:
        super().__init__(message)
        self.claim = claim


@dataclass(frozen=True, eq=False)
class Start:
    """A feasible start, how far it lies from the point that was asked for, and how many variables nothing was said about."""

    x: Vector
    moved: float = 0.0
    asked: bool = False
    made_up: int = 0
    inwards: bool = False
    """Whether f has no value at the point that was nearest, which lies at the edge of its domain."""
    stepped: bool = False
    """Whether it is what DCA's first step leads to, since h is steep at the point that was nearest."""

    @property
    def message(self) -> str | None:
        """What to tell the user, if the start that was asked for is not in C, or none was."""
        if self.inwards:
            return (
                f"g or h has no finite value at the start, which was moved into C by {self.moved:.3g}: to begin elsewhere "
                "pass an x0 where both are finite"
            )
        if self.made_up:
            count = "no start was given" if self.made_up == len(self.x) else f"{self.made_up} variables have no start"
            return (
                f"{count}: a seeded point was taken that is special in no way; another one, by x0 or the model's values, "
                "may lead to another critical point"
            )
        if not (self.asked and self.moved > 0):
            return None
        if self.stepped:
            return (
                "the start was not in C, and h is steep at its projection onto C, from where no step would lead: the first "
                "step of DCA from the start itself was taken instead"
            )
        return f"the start was not in C and was projected onto it, a distance of {self.moved:.3g}"


def feasible_start(program: DCProgram, x0: Any, time_limit: float | None = None) -> Start:
    """x0, else the model's values, else a point that is special in no way; projected onto C where it lies outside.

    0, the middle of a box or another symmetric point may be critical by accident, as the worst point of max ‖x‖ is. So
    variables in h that nothing was said about start at :func:`dcprog.program.points.generic_point`, the same in every run.
    """
    start = _nearest_in_c(program, x0, time_limit)
    return start if x0 is not None or _is_defined(program, start.x) else _moved_inwards(program, start)


def _nearest_in_c(program: DCProgram, x0: Any, time_limit: float | None) -> Start:
    compiled = program.compiled
    x = program.vector({} if x0 is None else x0)
    made_up = _made_up(program, x0)
    C = compiled.feasible_set
    if feasibility(C, _lifted(program, x), enough=FEASIBLE) <= FEASIBLE:
        return Start(np.clip(x, compiled.lower, compiled.upper), made_up=made_up)  # by rounding: at a bound h may be steep
    nearest = _project(program, x, time_limit)
    asked = x0 is not None or not np.isnan(compiled.values).any()
    ahead = _first_step(program, x, nearest, time_limit) if _is_held(program, x, nearest) else None
    there = nearest if ahead is None else ahead
    return Start(there, float(np.linalg.norm(there - x)), asked, made_up, stepped=ahead is not None)


def _is_held(program: DCProgram, x: Vector, nearest: Vector) -> bool:
    """Whether the projection put variables onto bounds at which h is so steep that they would stay, as √x is at 0."""
    c = program.compiled
    if c.dc is not None:
        return False
    at_bound = ((nearest <= c.lower + FEASIBLE) | (nearest >= c.upper - FEASIBLE)) & (x > c.lower) & (x < c.upper)
    if not at_bound.any():
        return False
    with np.errstate(all="ignore"):
        before, there = np.abs(c.h.gradient(x)), np.abs(c.h.gradient(nearest))
        return bool((np.isfinite(before) & (there > STEEP * before))[at_bound].any())


def _first_step(program: DCProgram, x: Vector, nearest: Vector, time_limit: float | None) -> Vector | None:
    """argmin {g − ⟨u, ·⟩ : C} with u ∈ ∂h(x), x in C or not; None where it cannot be had."""
    c = program.compiled
    try:
        found = Dispatcher(c.subproblem, own=c.n).solve(c.cost(c.h.gradient(x)), c.lift(nearest), time_limit, feasible=True)
    except DCProgError:
        return None
    return found.x


def _is_defined(program: DCProgram, x: Vector) -> bool:
    """Whether g and h are finite there."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(program.compiled.f.evaluate(x)).all())


def _moved_inwards(program: DCProgram, start: Start) -> Start:
    """The start on its way to a point in the midst of C, as far as f is finite, which x log x written out is not at x = 0;
    as it is where f is not finite in C either."""
    points = points_of_c(program.compiled, POINTS)
    for target in [points.mean(axis=0), *points] if len(points) else []:
        for share in INWARDS:
            x = start.x + share * (target - start.x)
            if _is_defined(program, x):
                return replace(start, x=x, moved=float(np.linalg.norm(x - start.x)), inwards=True)
    return start


def _made_up(program: DCProgram, x0: Any) -> int:
    """How many variables whose start matters have neither one in x0 nor a value of their own."""
    if x0 is not None and not isinstance(x0, Mapping):
        return 0
    unset = program.undecided
    for name in x0 or ():
        positions = program.compiled.slots[name].positions
        unset[positions[positions >= 0]] = False
    return int(unset.sum())


def _project(program: DCProgram, x: Vector, time_limit: float | None) -> Vector:
    """argmin ½‖y − x‖² over C."""
    C, n = program.compiled.feasible_set, program.compiled.n
    if C.is_box:
        return np.clip(x, C.lower, C.upper)
    on_x = np.zeros(C.n)
    on_x[:n] = 1.0
    distance = replace(C, Q=sp.csc_array(sp.diags_array(on_x)), c=np.zeros(C.n))
    c = np.zeros(C.n)
    c[:n] = -x
    lifted, began = _lifted(program, x), time.perf_counter()
    try:
        return Dispatcher(distance).solve(c, lifted, time_limit).z[:n]
    except SubproblemUnsolved as unsolved:
        left = None if time_limit is None else max(time_limit - (time.perf_counter() - began), 0.01)
        return _any_point(program, unsolved, left)


def _any_point(program: DCProgram, unsolved: SubproblemUnsolved, time_limit: float | None) -> Vector:
    """A second opinion when the projection fails: is there a point at all?"""
    C, n = program.compiled.feasible_set, program.compiled.n
    try:
        return Dispatcher(C).solve(np.zeros(C.n), None, time_limit).z[:n]
    except SubproblemUnsolved as second:
        if Claim.INFEASIBLE in (unsolved.claim, second.claim):
            raise Infeasible(f"no point satisfies the constraints ({second}): relax one of them") from second
        raise NoStart(second.claim, f"no point of C was found ({second}): pass a feasible x0") from second


def _lifted(program: DCProgram, x: Vector) -> Vector:
    return program.compiled.lift(x)[: program.compiled.feasible_set.n]

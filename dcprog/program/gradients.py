"""Is the gradient that a user's function returns a subgradient? What a certificate says stands and falls with it.

u ∈ ∂φ(z) says φ(z + d) ≥ φ(z) + ⟨u, d⟩ for every d, at kinks as well. Short steps to both sides of z refute what is wrong in
size, in sign or in one component; they cost a few values, and raise no alarm about a gradient that is right.
"""

from __future__ import annotations

import numpy as np

from dcprog.functions.base import ConvexFunction
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Vector

STEPS = (1e-3, 1e-5)
"""Lengths of the steps, relative to the sizes of the variables: a gradient is wrong where all of them say so."""
ROUNDING = 1e-13
"""Of a user's value, relative to it."""
MATERIAL = 1e-4
"""Slopes that differ by less, relative to what they are made of, do not move a solution."""


def wrong_gradient(program: DCProgram, x: Vector) -> str | None:
    """One sentence about a function of the user's whose gradient at ``x`` is no subgradient; None if none is found."""
    compiled = program.compiled
    for letter, parts in (("g", compiled.g_parts), ("h", compiled.h_parts)):
        for bound in parts.functions:
            at = bound.indices
            lower = np.maximum(compiled.lower[at], bound.function.lower_limits(len(at)))
            if not bound.function.proved_convex and _is_refuted(bound.function, x[at], lower, compiled.upper[at]):
                return (
                    f"the gradient of {bound.function!r} in {letter} is wrong at the point found: its values beside it are "
                    "lower than the gradient allows; dcprog.testing.check_program(program) says where"
                )
    return None


def _is_refuted(function: ConvexFunction, z: Vector, lower: Vector, upper: Vector) -> bool:
    value, u = float(function.value(z)), np.asarray(function.gradient(z), dtype=float)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(z)) * np.random.default_rng(1).uniform(0.5, 1.0, len(z))
    size = np.maximum(np.abs(z), np.where(np.isfinite(upper - lower), np.minimum(upper - lower, 1.0), 1.0))
    return any(
        all(_is_lower(function, z, np.clip(z + t * side * size, lower, upper), value, u) for t in STEPS)
        for side in (signs, -signs)
    )


def _is_lower(function: ConvexFunction, z: Vector, y: Vector, value: float, u: Vector) -> bool:
    """Whether φ(y) < φ(z) + ⟨u, y − z⟩ beyond rounding, and by more than a slope that does not matter."""
    beside, slopes = float(function.value(y)), u * (y - z)
    excess = value + float(slopes.sum()) - beside
    parts = float(np.abs(slopes).sum()) + abs(beside - value)
    return bool(excess > ROUNDING * (abs(value) + abs(beside)) and excess > MATERIAL * parts)

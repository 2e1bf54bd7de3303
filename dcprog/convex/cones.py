"""Rows that are cones: w f(Mz + b) + a'z + α ≤ 0 for a sublinear function f, as in ‖Mz + b‖ ≤ t.

{(x, t) : f(x) ≤ t} is a convex cone, and {(−τv, τ) : τ ≥ 0, v ∈ ∂f(0)} its dual: the second-order cone for the Euclidean
norm, one made of semidefinite matrices for the largest eigenvalue and the nuclear norm. Where f has a kink its gradient says
too little about optimality; the dual v does, by the minorant

    ψᵥ(z) = w⟨v, Mz + b⟩ + a'z + α ≤ ψ(z)    for every z and every v ∈ ∂f(0),

with equality where v ∈ ∂f(Mz + b). So a multiplier μ ≤ 0 of the row pulls by μ∇ψᵥ, and |μ ψᵥ(z)| is what it gives away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum
from dcprog.functions.base import ConvexFunction
from dcprog.typing import Sparse, Vector

Duals = tuple[Vector | None, ...]
"""For each constraint its v, None where it is no cone, or nothing is known."""


@dataclass(frozen=True, eq=False)
class Cone:
    """A row ψ(z) = w f(Mz + b) + a'z + α ≤ 0."""

    function: ConvexFunction
    weight: float
    M: Sparse
    b: Vector
    linear: SmoothSum

    def dual(self, z: Vector, given: Vector | None) -> Vector:
        """The element of ∂f(0) nearest to ``given``, by default to a subgradient at z."""
        x = self.M @ z + self.b
        if given is None or not np.isfinite(given).all():
            given = np.asarray(self.function.gradient(x), dtype=float)
        return self.function.nearest_slope(given)

    def minorant(self, z: Vector, v: Vector) -> float:
        """ψᵥ(z)."""
        return self.weight * float(v @ (self.M @ z + self.b)) + self.linear.value(z)

    def slope(self, z: Vector, v: Vector) -> Vector:
        """∇ψᵥ."""
        slope: Vector = self.weight * (self._M_transposed @ v) + self.linear.gradient(z)
        return slope

    def slope_size(self, z: Vector, v: Vector) -> Vector:
        """For each variable the sum of the absolute values that ∇ψᵥ is made of."""
        size: Vector = self.weight * (abs(self._M_transposed) @ np.abs(v)) + self.linear.gradient_size(z)
        return size

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The standard cones that it is made of."""
        form = self.function.conic(len(self.b))
        assert form is not None
        return frozenset(kind for kind, _ in form.cones)

    @cached_property
    def _M_transposed(self) -> Sparse:  # noqa: N802 (its name in the formula)
        return sp.csr_array(self.M.T)


def cone_of(row: SmoothSum) -> Cone | None:
    """The row as a cone; None if it is smooth."""
    kinked = [t for t in row.terms if isinstance(t, FunctionTerm) and not t.function.smooth]
    if len(kinked) != 1 or not all(t is kinked[0] or isinstance(t, LinearTerm) for t in row.terms):
        return None
    (term,) = kinked
    f, A, b = term.function.linear_forms(len(term.indices))
    if not (f.sublinear and f.has_conic) or term.weight < 0:
        return None
    place = sp.coo_array(A)
    M = sp.csr_array((place.data, (place.row, term.indices[place.col])), shape=(A.shape[0], row.n))
    return Cone(f, term.weight, M, b, SmoothSum([t for t in row.terms if t is not term], row.n))


def is_conic(sums: Sequence[SmoothSum]) -> bool:
    """Whether every term has a conic form: linear, quadratic, and functions that give one."""
    return all(
        isinstance(t, LinearTerm | QuadraticTerm) or (isinstance(t, FunctionTerm) and t.function.has_conic)
        for s in sums
        for t in s.terms
    )

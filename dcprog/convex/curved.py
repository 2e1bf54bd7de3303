"""All constraints ψᵢ(z) ≤ 0 of a convex problem at once: those with norms, and those that are quadratic, by a few products.

    ψᵢ(z) = wᵢ‖Mᵢz + bᵢ‖ + aᵢ'z + αᵢ        and        ψᵢ(z) = ½z'Qᵢz + aᵢ'z + αᵢ

stand in matrices that have the Mᵢ, or the entries of the Qᵢ, one below the other; any other constraint is asked by itself.
Fifty norms of two components take as long as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from dcprog.convex.cones import Cone, Duals
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.functions.norms import Norm2
from dcprog.typing import Indices, Sparse, Vector


class Block(Protocol):
    """Some constraints, at the positions ``at``."""

    at: Indices

    def values(self, z: Vector) -> Vector:
        """ψ(z) of each."""

    def sizes(self, z: Vector) -> Vector:
        """The sums of the absolute values that they are made of."""

    def gradients(self, z: Vector) -> Sparse:
        """∇ψ(z), a row of each; at a kink that of one subgradient."""

    def gradient_sizes(self, z: Vector) -> Sparse:
        """The same of the absolute values that the gradients are made of."""

    def duals(self, z: Vector, given: Sequence[Vector | None]) -> Sequence[Vector | None]:
        """The elements of ∂f(0) nearest to those given, by default to subgradients at z; None where it is no cone."""

    def minorants(self, z: Vector, duals: Sequence[Vector | None]) -> Vector:
        """ψᵥ(z) for the duals v of cones, ψ(z) of other constraints."""

    def pull(self, z: Vector, mu: Vector, duals: Sequence[Vector | None]) -> tuple[Vector, Vector]:
        """Σ μᵢ∇ψᵥ, and Σ |μᵢ| times the absolute values that these are made of."""


class Linear:
    """aᵢ'z + αᵢ of some constraints."""

    def __init__(self, rows: Sequence[SmoothSum], n: int) -> None:
        parts = [[t for t in row.terms if isinstance(t, LinearTerm)] for row in rows]
        at = np.concatenate([np.full(len(t.support), k) for k, terms in enumerate(parts) for t in terms] or [_NONE])
        columns = np.concatenate([t.support for terms in parts for t in terms] or [_NONE])
        data = np.concatenate([t.coefficients for terms in parts for t in terms] or [np.empty(0)])
        self.L = sp.csr_array(sp.coo_array((data, (at, columns)), shape=(len(rows), n)))
        self.size = abs(self.L)
        self.constant = np.array([sum(t.constant for t in terms) for terms in parts], dtype=float)
        self.constant_size = np.array([sum(abs(t.constant) for t in terms) for terms in parts], dtype=float)

    def values(self, z: Vector) -> Vector:
        """a'z + α."""
        values: Vector = self.L @ z + self.constant
        return values

    def sizes(self, z: Vector) -> Vector:
        """|a|'|z| + |α|."""
        sizes: Vector = self.size @ np.abs(z) + self.constant_size
        return sizes


class Norms:
    """w‖Mz + b‖ + a'z + α."""

    def __init__(self, at: Indices, rows: Sequence[SmoothSum], cones: Sequence[Cone], n: int) -> None:
        self.at, self.linear = at, Linear(rows, n)
        self.M = sp.csr_array(sp.vstack([cone.M for cone in cones]))
        self.b = np.concatenate([cone.b for cone in cones])
        counts = np.array([len(cone.b) for cone in cones])
        self.starts, self.group = np.cumsum([0, *counts[:-1]]), np.repeat(np.arange(len(cones)), counts)
        self.w = np.array([cone.weight for cone in cones])
        self._M_size = abs(self.M)
        self._transposed, self._transposed_size = sp.csr_array(self.M.T), sp.csr_array(self._M_size.T)

    def _units(self, y: Vector) -> tuple[Vector, Vector]:
        """The lengths of the groups of y, and y in units of them: 0 in one that is 0."""
        largest = np.maximum.reduceat(np.abs(y), self.starts)
        scaled = y / np.where(largest > 0, largest, 1.0)[self.group]
        lengths = np.sqrt(np.add.reduceat(scaled**2, self.starts))
        return largest * lengths, scaled / np.where(lengths > 0, lengths, 1.0)[self.group]

    def values(self, z: Vector) -> Vector:
        return self.w * self._units(self.M @ z + self.b)[0] + self.linear.values(z)

    def sizes(self, z: Vector) -> Vector:
        return self.w * self._units(self.M @ z + self.b)[0] + self.linear.sizes(z)

    def _along(self, z: Vector) -> Sparse:
        u = self._units(self.M @ z + self.b)[1]
        turn = sp.csr_array((self.w[self.group] * u, np.arange(len(u)), np.append(self.starts, len(u))))
        return turn @ self.M

    def gradients(self, z: Vector) -> Sparse:
        return self._along(z) + self.linear.L

    def gradient_sizes(self, z: Vector) -> Sparse:
        return abs(self._along(z)) + self.linear.size

    def duals(self, z: Vector, given: Sequence[Vector | None]) -> Sequence[Vector | None]:
        own = self._units(self.M @ z + self.b)[1]
        parts = [part if v is None else v for part, v in zip(np.split(own, self.starts[1:]), given, strict=True)]
        v = np.concatenate(parts)
        v = np.where(np.isfinite(v), v, own)
        lengths, units = self._units(v)
        return np.split(np.where((lengths > 1)[self.group], units, v), self.starts[1:])

    def minorants(self, z: Vector, duals: Sequence[Vector | None]) -> Vector:
        v = self._given(z, duals)
        return self.w * np.add.reduceat(v * (self.M @ z + self.b), self.starts) + self.linear.values(z)

    def pull(self, z: Vector, mu: Vector, duals: Sequence[Vector | None]) -> tuple[Vector, Vector]:
        turned = (mu * self.w)[self.group] * self._given(z, duals)
        pull = self._transposed @ turned + self.linear.L.T @ mu
        return pull, self._transposed_size @ np.abs(turned) + self.linear.size.T @ np.abs(mu)

    def _given(self, z: Vector, duals: Sequence[Vector | None]) -> Vector:
        known = [v for v in duals if v is not None]
        return np.concatenate(known if len(known) == len(duals) else [v for v in self.duals(z, duals) if v is not None])


class Quadratics:
    """½z'Qz + a'z + α."""

    def __init__(self, at: Indices, rows: Sequence[SmoothSum], n: int) -> None:
        self.at, self.n, self.linear = at, n, Linear(rows, n)
        found = [(k, t) for k, row in enumerate(rows) for t in row.terms if isinstance(t, QuadraticTerm)]
        entries = [(k, t.support, sp.coo_array(t.matrix)) for k, t in found]
        self.row = np.concatenate([np.full(Q.nnz, k) for k, _, Q in entries])
        self.i = np.concatenate([support[Q.row] for _, support, Q in entries])
        self.j = np.concatenate([support[Q.col] for _, support, Q in entries])
        self.q = np.concatenate([Q.data for _, _, Q in entries])

    def _sums(self, values: Vector) -> Vector:
        sums: Vector = np.bincount(self.row, values, minlength=len(self.at)).astype(float)
        return sums

    def values(self, z: Vector) -> Vector:
        return 0.5 * self._sums(self.q * z[self.i] * z[self.j]) + self.linear.values(z)

    def sizes(self, z: Vector) -> Vector:
        return 0.5 * self._sums(np.abs(self.q * z[self.i] * z[self.j])) + self.linear.sizes(z)

    def _slopes(self, values: Vector) -> Sparse:
        return sp.csr_array(sp.coo_array((values, (self.row, self.i)), shape=(len(self.at), self.n)))

    def gradients(self, z: Vector) -> Sparse:
        return self._slopes(self.q * z[self.j]) + self.linear.L

    def gradient_sizes(self, z: Vector) -> Sparse:
        return self._slopes(np.abs(self.q * z[self.j])) + self.linear.size

    def duals(self, z: Vector, given: Sequence[Vector | None]) -> Sequence[Vector | None]:
        return [None] * len(self.at)

    def minorants(self, z: Vector, duals: Sequence[Vector | None]) -> Vector:
        return self.values(z)

    def pull(self, z: Vector, mu: Vector, duals: Sequence[Vector | None]) -> tuple[Vector, Vector]:
        parts = mu[self.row] * self.q * z[self.j]
        pull = np.bincount(self.i, parts, minlength=self.n) + self.linear.L.T @ mu
        size = np.bincount(self.i, np.abs(parts), minlength=self.n) + self.linear.size.T @ np.abs(mu)
        return pull, size


class Others:
    """Any constraints, one after the other."""

    def __init__(self, at: Indices, rows: Sequence[SmoothSum], cones: Sequence[Cone | None], n: int) -> None:
        self.at, self.rows, self.cones, self.n = at, rows, cones, n

    def values(self, z: Vector) -> Vector:
        return np.array([row.value(z) for row in self.rows])

    def sizes(self, z: Vector) -> Vector:
        return np.array([row.size(z) for row in self.rows])

    def gradients(self, z: Vector) -> Sparse:
        return sp.csr_array(np.array([row.gradient(z) for row in self.rows]))

    def gradient_sizes(self, z: Vector) -> Sparse:
        return sp.csr_array(np.array([row.gradient_size(z) for row in self.rows]))

    def duals(self, z: Vector, given: Sequence[Vector | None]) -> Sequence[Vector | None]:
        return [None if cone is None else cone.dual(z, v) for cone, v in zip(self.cones, given, strict=True)]

    def minorants(self, z: Vector, duals: Sequence[Vector | None]) -> Vector:
        known = zip(self.rows, self.cones, duals, strict=True)
        return np.array([row.value(z) if k is None or v is None else k.minorant(z, v) for row, k, v in known])

    def pull(self, z: Vector, mu: Vector, duals: Sequence[Vector | None]) -> tuple[Vector, Vector]:
        pull, size = np.zeros(self.n), np.zeros(self.n)
        for weight, row, cone, v in zip(mu.tolist(), self.rows, self.cones, duals, strict=True):
            if weight:
                pull += weight * (row.gradient(z) if cone is None or v is None else cone.slope(z, v))
                size += abs(weight) * (row.gradient_size(z) if cone is None or v is None else cone.slope_size(z, v))
        return pull, size


class Curved:
    """The constraints ψ ≤ 0 of a problem with n variables; ``cones`` says which of them are cones."""

    def __init__(self, rows: Sequence[SmoothSum], cones: Sequence[Cone | None], n: int) -> None:
        self.count, self.n = len(rows), n
        kinds = [_kind(row, cone) for row, cone in zip(rows, cones, strict=True)]
        at = {kind: np.array([i for i, k in enumerate(kinds) if k == kind], dtype=np.int64) for kind in set(kinds)}
        self.blocks: list[Block] = []
        for kind, where in at.items():
            chosen, known = [rows[i] for i in where], [cones[i] for i in where]
            if kind == "norm":
                self.blocks.append(Norms(where, chosen, [cone for cone in known if cone is not None], n))
            elif kind == "quadratic":
                self.blocks.append(Quadratics(where, chosen, n))
            else:
                self.blocks.append(Others(where, chosen, known, n))

    def values(self, z: Vector) -> Vector:
        """ψ(z)."""
        return self._placed([block.values(z) for block in self.blocks])

    def sizes(self, z: Vector) -> Vector:
        """For each the sum of the absolute values that it is made of."""
        return self._placed([block.sizes(z) for block in self.blocks])

    def reach(self, z: Vector, units: Vector) -> Vector:
        """The most that a unit of one variable brings to each, to first order."""
        return self._placed([_largest(block.gradient_sizes(z), units) for block in self.blocks])

    def gradients(self, z: Vector) -> Sparse:
        """∇ψ(z), a row of each."""
        if not self.blocks:
            return sp.csr_array((0, self.n))
        stacked = sp.csr_array(sp.vstack([block.gradients(z) for block in self.blocks]))
        return stacked if len(self.blocks) == 1 else stacked[self._back]

    def duals(self, z: Vector, given: Duals | None) -> Duals:
        """Of those that are cones the element of ∂f(0) nearest to the one given; None of the others."""
        known = given or (None,) * self.count
        if len(self.blocks) == 1:
            return tuple(self.blocks[0].duals(z, known))
        found: list[Vector | None] = [None] * self.count
        for block in self.blocks:
            for i, v in zip(block.at.tolist(), block.duals(z, [known[i] for i in block.at]), strict=True):
                found[i] = v
        return tuple(found)

    def minorants(self, z: Vector, duals: Duals) -> Vector:
        """ψᵥ(z) of those that are cones, ψ(z) of the others."""
        return self._placed([block.minorants(z, self._of(block, duals)) for block in self.blocks])

    def pull(self, z: Vector, mu: Vector, duals: Duals) -> tuple[Vector, Vector]:
        """Σ μᵢ∇ψᵥ, and Σ |μᵢ| times the absolute values that these are made of."""
        pull, size = np.zeros(self.n), np.zeros(self.n)
        for block in self.blocks:
            weights = mu[block.at]
            if weights.any():
                one, its_size = block.pull(z, weights, self._of(block, duals))
                pull, size = pull + one, size + its_size
        return pull, size

    def _of(self, block: Block, duals: Duals) -> Sequence[Vector | None]:
        return duals if len(self.blocks) == 1 else [duals[i] for i in block.at]

    @cached_property
    def _back(self) -> Indices:
        """Where the constraints stand in the blocks, one after the other."""
        return np.argsort(np.concatenate([block.at for block in self.blocks]))

    def _placed(self, parts: Sequence[Vector]) -> Vector:
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts)[self._back] if parts else np.empty(0)


_NONE = np.empty(0, dtype=np.int64)


def _kind(row: SmoothSum, cone: Cone | None) -> str:
    if cone is not None:
        return "norm" if type(cone.function) is Norm2 else "other"
    quadratic = any(isinstance(t, QuadraticTerm) for t in row.terms)
    return "quadratic" if quadratic and all(isinstance(t, QuadraticTerm | LinearTerm) for t in row.terms) else "other"


def _largest(sizes: Sparse, units: Vector) -> Vector:
    """The largest of each row times its unit."""
    rows = sp.csr_array(sizes)
    scaled = rows.data * np.where(np.isfinite(units), units, 0.0)[rows.indices]
    largest, filled = np.zeros(rows.shape[0]), np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        largest[filled] = np.maximum.reduceat(scaled, rows.indptr[filled])
    return np.maximum(largest, 0.0)

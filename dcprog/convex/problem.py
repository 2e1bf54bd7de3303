"""The convex problem that one DCA iteration solves, as arrays and oracles.

    min  ½ z'Qz + c'z + φ(z)   subject to   row_lower ≤ A z ≤ row_upper,  lower ≤ z ≤ upper,  ψᵢ(z) ≤ 0

φ is smooth, and each ψᵢ is smooth or a cone (:mod:`dcprog.convex.cones`).

z holds the program's variables first and then the epigraph variables that non-smooth parts of g brought along. Between
iterations only c changes.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.cones import Cone, cone_of, is_conic
from dcprog.convex.curved import Curved
from dcprog.convex.terms import SmoothSum
from dcprog.typing import Indices, Mask, Sparse, Vector


class ProblemClass(str, Enum):
    """What kind of convex problem it is; each kind contains the ones before it."""

    LP = "LP"
    QP = "QP"
    CONIC = "CONIC"
    NLP = "NLP"

    def __str__(self) -> str:
        return self.value


DERIVED: dict[str, frozenset[str]] = {
    "cones": frozenset({"constraints"}),
    "curved": frozenset({"constraints"}),
    "has_cones": frozenset({"constraints"}),
    "is_conic": frozenset({"constraints", "smooth"}),
    "problem_class": frozenset({"constraints", "smooth", "Q"}),
    "diagonal_entries": frozenset({"Q"}),
    "Q_size": frozenset({"Q"}),
}
"""What is computed once, and of which fields."""
LARGE = 100_000
"""From so many entries on, picking columns takes less time than a product with all of them."""


@dataclass(frozen=True, eq=False)
class Units:
    """What counts as 1 of each variable (``column``), and of each row of A: the least of its terms."""

    A: Sparse
    column: Vector

    @cached_property
    def row(self) -> Vector:
        """The least |aᵢⱼ|·columnⱼ of each row i, 0 in empty ones."""
        rows = sp.csr_array(self.A)
        row = np.zeros(rows.shape[0])
        filled = np.flatnonzero(np.diff(rows.indptr))
        if filled.size:
            terms = np.abs(rows.data) * self.column[rows.indices]
            row[filled] = np.minimum.reduceat(np.where(terms > 0, terms, np.inf), rows.indptr[filled])
        return np.where(np.isfinite(row), row, 0.0)

    @cached_property
    def largest(self) -> float:
        """A bound of all units of rows."""
        data = self.A.data
        return float(max(data.max(initial=0.0), -data.min(initial=0.0)) * self.column.max(initial=0.0))

    def at_least(self, sizes: Vector) -> Vector:
        """Sizes of rows, and of each at least a thousandth of its unit."""
        return sizes if (sizes >= 1e-3 * self.largest).all() else np.maximum(sizes, 1e-3 * self.row)


@dataclass(frozen=True, eq=False)
class ConvexProblem:
    """The convex problem above. Rows and bounds may be infinite; Q is symmetric positive semidefinite or None."""

    c: Vector
    A: Sparse
    row_lower: Vector
    row_upper: Vector
    lower: Vector
    upper: Vector
    Q: Sparse | None = None
    smooth: SmoothSum | None = None
    constraints: tuple[SmoothSum, ...] = ()

    def copy(self) -> ConvexProblem:
        """The same with arrays of its own: for a solver that may write into what it is given."""
        arrays = ("c", "A", "row_lower", "row_upper", "lower", "upper", "Q")
        return replace(self, **{name: deepcopy(getattr(self, name)) for name in arrays})

    def moved(self, **fields: Any) -> ConvexProblem:
        """The same with other numbers in some fields; what was computed of the others is kept."""
        other = replace(self, **fields)
        kept = (name for name, needs in DERIVED.items() if name in self.__dict__ and not needs & fields.keys())
        other.__dict__.update({name: self.__dict__[name] for name in kept})
        return other

    @property
    def n(self) -> int:
        """The number of variables z."""
        return len(self.c)

    @property
    def m(self) -> int:
        """The number of rows of A."""
        return len(self.row_lower)

    @cached_property
    def cones(self) -> tuple[Cone | None, ...]:
        """Of each constraint the cone that it is, None where it is smooth."""
        return tuple(map(cone_of, self.constraints))

    @cached_property
    def curved(self) -> Curved:
        """All constraints at once."""
        return Curved(self.constraints, self.cones, self.n)

    @cached_property
    def has_cones(self) -> bool:
        """Whether some constraint is a cone."""
        return any(cone is not None for cone in self.cones)

    @cached_property
    def is_conic(self) -> bool:
        """Whether all that is not linear or quadratic has a conic form."""
        return is_conic(self.constraints if self.smooth is None else (self.smooth, *self.constraints))

    @cached_property
    def problem_class(self) -> ProblemClass:
        """The smallest class that it belongs to; what is smooth and could be written by cones is an NLP."""
        if self.smooth is not None or self.constraints:
            return ProblemClass.CONIC if self.has_cones and self.is_conic else ProblemClass.NLP
        return ProblemClass.LP if self.Q is None else ProblemClass.QP

    @cached_property
    def wide_columns(self) -> int:
        """Columns of A with more than one entry: those that are no slacks."""
        return int((np.diff(sp.csc_array(self.A).indptr) > 1).sum())

    def with_diagonal(self) -> ConvexProblem:
        """The same problem with a Q that stores its whole diagonal, zeros included: one that a
        :class:`~dcprog.convex.change.Change` may move in place. An LP becomes a QP."""
        if self.Q is not None and self.Q.format == "csc" and len(self.diagonal_entries) == self.n:
            return self
        entries = sp.coo_array((self.n, self.n) if self.Q is None else self.Q)
        on = np.arange(self.n)
        data = np.concatenate([entries.data, np.zeros(self.n)])
        places = np.concatenate([entries.row, on]), np.concatenate([entries.col, on])
        Q = sp.csc_array((data, places), shape=entries.shape)  # entries at one place are added up, and zeros stay
        Q.sort_indices()
        return replace(self, Q=Q)

    @cached_property
    def diagonal_entries(self) -> Indices:
        """Where Q stores its diagonal, in the order of the columns."""
        if self.Q is None:
            return np.empty(0, dtype=np.int64)
        column = np.repeat(np.arange(self.n), np.diff(self.Q.indptr))
        return np.flatnonzero(self.Q.indices == column)

    def unlike(self, other: ConvexProblem) -> frozenset[str]:
        """The fields in which a linear or quadratic problem differs from another one, costs aside."""
        limits = ("lower", "upper", "row_lower", "row_upper")
        moved = {name for name in limits if not np.array_equal(getattr(self, name), getattr(other, name))}
        moved |= {name for name in ("A", "Q") if not _equal_matrices(getattr(self, name), getattr(other, name))}
        return frozenset(moved)

    def differs_in_cost_alone(self, other: ConvexProblem) -> bool:
        """Whether solvers that hold one can go on with the other. Smooth functions cannot be compared: never with them."""
        if {self.problem_class, other.problem_class} & {ProblemClass.NLP, ProblemClass.CONIC}:
            return False
        return not self.unlike(other)

    @property
    def is_box(self) -> bool:
        """Constrained by bounds alone."""
        return self.m == 0 and not self.constraints

    @cached_property
    def box(self) -> tuple[Vector, Vector]:
        """The bounds, and those that rows of one variable state, where they do not cross.

        >>> p = ConvexProblem(c=np.zeros(2), A=sp.csr_array([[-2.0, 0.0], [1.0, 1.0]]), row_lower=np.full(2, -4.0),
        ...                row_upper=np.array([np.inf, 1.0]), lower=np.zeros(2), upper=np.full(2, 5.0))
        >>> p.box
        (array([0., 0.]), array([2., 5.]))
        """
        columns = sp.csc_array(self.A)
        alone = np.bincount(columns.indices, minlength=self.m) == 1
        if not alone.any():
            return self.lower, self.upper
        at = np.flatnonzero(alone[columns.indices] & (columns.data != 0))
        single, a, column = columns.indices[at], columns.data[at], np.searchsorted(columns.indptr, at, side="right") - 1
        ends = np.sort(np.array([self.row_lower[single] / a, self.row_upper[single] / a]), axis=0)
        lower, upper = self.lower.copy(), self.upper.copy()
        np.maximum.at(lower, column, ends[0])
        np.minimum.at(upper, column, ends[1])
        crossed = lower > upper
        return np.where(crossed, self.lower, lower), np.where(crossed, self.upper, upper)

    @cached_property
    def equality(self) -> Mask:
        """Mask of the rows that are equations."""
        return np.equal(self.row_lower, self.row_upper)

    @cached_property
    def row_limits(self) -> Vector:
        """The larger absolute limit of each row, of those that are finite."""
        both = np.abs(np.array([self.row_lower, self.row_upper]))
        limits: Vector = np.where(np.isfinite(both), both, 0.0).max(axis=0)
        return limits

    @cached_property
    def dual_limits(self) -> tuple[Vector, Vector]:
        """The signs that a row dual may have: it is 0 on the side on which the row has no limit."""
        return np.where(np.isfinite(self.row_upper), -np.inf, 0.0), np.where(np.isfinite(self.row_lower), np.inf, 0.0)

    @cached_property
    def has_stored_zeros(self) -> bool:
        """Whether A stores entries that are 0."""
        return bool(self.A.count_nonzero() < self.A.nnz)

    @cached_property
    def A_transposed(self) -> Sparse:  # noqa: N802
        """A', made once: SciPy makes a new matrix at every ``.T``."""
        return self.A.T

    @cached_property
    def A_size(self) -> Sparse:  # noqa: N802 (its name in the formula)
        """|A|, entry by entry."""
        return abs(self.A)

    def activity(self, z: Vector) -> Vector:
        """Az, by the columns with zⱼ ≠ 0 alone where that is faster."""
        if self.A.nnz >= LARGE:
            used = np.flatnonzero(z)
            if 4 * used.size <= self.n:
                few: Vector = self.A[:, used] @ z[used]
                return few
        activity: Vector = self.A @ z
        return activity

    def row_terms(self, z: Vector) -> Vector:
        """|A||z|, by the columns with zⱼ ≠ 0 alone where they are few."""
        used = np.flatnonzero(z)
        few = 2 * used.size <= self.n
        terms: Vector = abs(self.A[:, used]) @ np.abs(z[used]) if few else self.A_size @ np.abs(z)
        return terms

    @cached_property
    def rows_size(self) -> Sparse:
        """|A| by rows."""
        return sp.csr_array(self.A_size)

    @cached_property
    def Q_size(self) -> Sparse:  # noqa: N802
        """|Q|, entry by entry."""
        assert self.Q is not None
        return abs(self.Q)

    def units(self, column: Vector | None = None) -> Units:
        """What counts as 1 of each variable (``column``, by default 1) and row."""
        return self._plain_units if column is None else Units(self.A, column)

    @cached_property
    def _plain_units(self) -> Units:
        return Units(self.A, np.ones(self.n))

    def value(self, z: Vector, c: Vector) -> float:
        """Objective with linear cost c."""
        quadratic = 0.0 if self.Q is None else 0.5 * float(z @ (self.Q @ z))
        return quadratic + float(c @ z) + (0.0 if self.smooth is None else self.smooth.value(z))

    def gradient(self, z: Vector, c: Vector) -> Vector:
        """Gradient of the objective with linear cost c."""
        out = c.copy() if self.smooth is None else c + self.smooth.gradient(z)
        return out if self.Q is None else out + self.Q @ z

    def hessian(self, z: Vector) -> Sparse:
        """Hessian of the objective."""
        H = sp.csc_array((self.n, self.n)) if self.Q is None else self.Q
        return H if self.smooth is None else H + self.smooth.hessian(z)


def _equal_matrices(one: Sparse | None, other: Sparse | None) -> bool:
    """Equal entry by entry, which takes no time where it is one matrix that programs share."""
    if one is other or one is None or other is None:
        return one is other
    parts = ("indptr", "indices", "data")
    return one.shape == other.shape and all(np.array_equal(getattr(one, part), getattr(other, part)) for part in parts)

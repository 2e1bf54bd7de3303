"""What moves between two solves of one open problem, besides the linear cost: numbers, never the structure.

    min  ½ z'(Q + diag(d))z + c'z + φ(z)   subject to   row_lower ≤ A z ≤ row_upper,  lower ≤ z ≤ upper,  ψᵢ(z) ≤ 0

A change says what d, A, the limits and the ψᵢ are now, with respect to the problem as it was opened: what is None is as
it was then. A and the ψᵢ keep their pattern: an entry that is to move is stored, also where it is 0, and a ψᵢ keeps the
variables and the Hessian's structure of the one that it replaces. A row whose limits are infinite is switched off, and so is
a ψᵢ that ``active`` does not name: 0·ψᵢ(z) − 1 ≤ 0 stands in its place.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.errors import DataError
from dcprog.typing import Mask, Sparse, Vector

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Change:
    """New numbers for a :class:`~dcprog.convex.problem.ConvexProblem`.

    >>> import scipy.sparse as sp
    >>> from dcprog.convex.problem import ConvexProblem
    >>> problem = ConvexProblem(c=np.zeros(2), A=sp.csc_array([[1.0, 1.0]]), row_lower=np.ones(1), row_upper=np.ones(1),
    ...                         lower=np.zeros(2), upper=np.ones(2)).with_diagonal()
    >>> Change(diagonal=np.array([3.0, 0.0])).apply(problem).Q.toarray().tolist()
    [[3.0, 0.0], [0.0, 0.0]]
    >>> sorted(Change(row_lower=np.zeros(1)).moved)
    ['row_lower']
    """

    diagonal: Vector | None = None
    """d ≥ 0, added to the diagonal of Q."""
    A: Sparse | None = None
    row_lower: Vector | None = None
    row_upper: Vector | None = None
    lower: Vector | None = None
    upper: Vector | None = None
    constraints: tuple[SmoothSum, ...] | None = None
    active: Mask | None = None
    """Which of the ψᵢ hold."""

    def __or__(self, other: Change) -> Change:
        """Both together; where they speak of the same the second one holds.

        >>> both = Change(lower=np.zeros(1), upper=np.ones(1)) | Change(upper=np.full(1, 2.0))
        >>> both.lower.tolist(), both.upper.tolist()
        ([0.0], [2.0])
        """
        if not isinstance(other, Change):
            return NotImplemented
        given = {f.name: value for f in fields(other) if (value := getattr(other, f.name)) is not None}
        return replace(self, **given)

    @property
    def moved(self) -> frozenset[str]:
        """The fields of the problem that are other ones than when it was opened."""
        given = frozenset(f.name for f in fields(self) if getattr(self, f.name) is not None)
        return frozenset({"diagonal": "Q", "active": "constraints"}.get(name, name) for name in given)

    def apply(self, problem: ConvexProblem) -> ConvexProblem:
        """``problem``, as it was opened, with the new numbers."""
        self._check(problem)
        new = {name: value for name in self.moved - {"Q"} if (value := getattr(self, name)) is not None}
        if self.active is not None:
            rows = new.get("constraints", problem.constraints)
            new["constraints"] = tuple(psi if on else _idle(psi) for psi, on in zip(rows, self.active, strict=True))
        if self.diagonal is not None:
            new["Q"] = _with_diagonal(problem.with_diagonal(), self.diagonal)
        return problem.moved(**new)

    def _check(self, problem: ConvexProblem) -> None:
        for name in ("diagonal", "row_lower", "row_upper", "lower", "upper"):
            values = getattr(self, name)
            wanted = (problem.m if name.startswith("row") else problem.n,)
            if values is not None and (np.shape(values) != wanted or np.isnan(values).any()):
                raise DataError(f"{name} of a Change has shape {np.shape(values)} or NaN: expected {wanted} numbers")
        if self.diagonal is not None and not (np.isfinite(self.diagonal).all() and (self.diagonal >= 0).all()):
            raise DataError("the diagonal of a Change has to be finite and ≥ 0: the subproblem would not be convex")
        if self.active is not None and (self.active.dtype != bool or len(self.active) != len(problem.constraints)):
            raise DataError(f"active of a Change is {self.active!r}: expected {len(problem.constraints)} truth values")
        if self.A is not None:
            if not same_pattern(self.A, problem.A):
                raise DataError("A of a Change has another pattern than the problem's: store entries that are 0, too")
            if not np.isfinite(self.A.data).all():
                raise DataError("A of a Change has NaN or infinite entries")
        if self.constraints is not None and not _alike(self.constraints, problem.constraints):
            raise DataError("constraints of a Change touch other variables than the problem's: keep supports as they are")


UNCHANGED = Change()


def same_pattern(one: Sparse, other: Sparse) -> bool:
    """Whether two matrices store the same entries, in the same order."""
    return (
        type(one) is type(other)
        and one.shape == other.shape
        and all(
            getattr(one, part) is getattr(other, part) or np.array_equal(getattr(one, part), getattr(other, part))
            for part in ("indptr", "indices")
        )
    )


def _with_diagonal(problem: ConvexProblem, diagonal: Vector) -> Sparse:
    """Q + diag(d), entry by entry of the pattern of Q."""
    assert problem.Q is not None
    Q = problem.Q.copy()
    Q.data[problem.diagonal_entries] += diagonal
    return Q


def _idle(psi: SmoothSum) -> SmoothSum:
    """0·ψ − 1, of the same structure."""
    minus_one = LinearTerm(np.empty(0, dtype=np.int64), np.empty(0), -1.0)
    return SmoothSum([*(_without_value(term) for term in psi.terms), minus_one], psi.n)


def _without_value(term: SmoothTerm) -> SmoothTerm:
    """0 times a term; what has a conic form keeps it."""
    if isinstance(term, LinearTerm):
        return LinearTerm(term.support, 0.0 * term.coefficients, 0.0)
    if isinstance(term, FunctionTerm) and term.function.has_conic:
        return FunctionTerm(term.function, term.indices, 0.0)
    return Idle(term)


class Idle(QuadraticTerm):
    """0, where ``term`` has been: its variables and the structure of its Hessian stay."""

    def __init__(self, term: SmoothTerm) -> None:
        self.support, self.rows, self.cols = term.support, term.rows, term.cols
        self._values = np.zeros(len(term.rows))
        on = np.searchsorted(self.support, self.rows), np.searchsorted(self.support, self.cols)
        shape = (len(self.support), len(self.support))
        lower = sp.csr_array((self._values, on), shape=shape)
        self._Q = sp.csr_array(lower + sp.tril(lower, -1).T)


def _alike(new: tuple[SmoothSum, ...], old: tuple[SmoothSum, ...]) -> bool:
    return len(new) == len(old) and all(np.array_equal(a.support, b.support) for a, b in zip(new, old, strict=True))

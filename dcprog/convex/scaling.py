"""Equilibration: a badly scaled convex problem in other units, in which a solver's absolute tolerances mean something.

With z = D z̃, rows multiplied by R and the objective by σ the problem of :mod:`dcprog.convex.problem` is one of the same
kind. D is the natural unit of each variable where curvature, bounds or start tell it; for the others, and for R, Ruiz's
iteration (2001) brings the largest entry of every row and column to about 1. All are powers of two, so that scaling there
and back does not round. Most problems are well scaled as they are, and pass unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.functions.base import ConvexFunction
from dcprog.functions.conic import ConicForm
from dcprog.typing import Indices, Mask, Sparse, Vector

WELL_SCALED = 1e5
"""Rows and columns whose largest entries lie within this factor of 1 are left alone."""
PASSES = 8
TYPICAL = 1e3
BENDS = 12
"""Steps to a unit where slope and curvature are alike there, not at the start alone."""
CHEAP_HESSIAN = 1e7
"""Floating-point operations up to which a Hessian is computed just to see its size."""


@dataclass(frozen=True, eq=False)
class Scaling:
    """z = ``column`` ∘ z̃, rows times ``row``, constraints times ``constraint``, objective times ``cost``."""

    row: Vector
    column: Vector
    constraint: Vector
    cost: float

    def problem(self, p: ConvexProblem) -> ConvexProblem:
        """The problem in the new units."""
        return replace(
            p,
            c=self.costs(p.c),
            A=_entries_scaled(p.A, self.row, self.column) if p.m else p.A,
            row_lower=self.row * p.row_lower,
            row_upper=self.row * p.row_upper,
            lower=p.lower / self.column,
            upper=p.upper / self.column,
            Q=None if p.Q is None else _entries_scaled(p.Q, self.cost * self.column, self.column),
            smooth=None if p.smooth is None else _scaled(p.smooth, self.column, self.cost),
            constraints=tuple(_scaled(s, self.column, r) for s, r in zip(p.constraints, self.constraint, strict=True)),
        )

    def costs(self, c: Vector) -> Vector:
        """Linear costs in the new units."""
        scaled: Vector = self.cost * self.column * c
        return scaled

    def point(self, z: Vector | None) -> Vector | None:
        """A point in the new units."""
        return None if z is None else z / self.column

    def answer(self, a: Answer) -> Answer:
        """An answer to the scaled problem, in the units of the original."""
        return replace(
            a,
            z=None if a.z is None else a.z * self.column,
            row_duals=None if a.row_duals is None else a.row_duals * self.row / self.cost,
            constraint_duals=None if a.constraint_duals is None else a.constraint_duals * self.constraint / self.cost,
        )


def scaling_of(p: ConvexProblem, c: Vector, start: Vector | None, always: bool = False) -> Scaling | None:
    """The scaling that ``p`` with linear cost ``c`` wants, derivatives taken at ``start``; None if it is well
    scaled, unless ``always``.

    >>> p = ConvexProblem(c=np.ones(1), A=sp.csr_array([[1e-10]]), row_lower=np.array([1e-10]), row_upper=np.array([np.inf]),
    ...                lower=np.zeros(1), upper=np.full(1, np.inf))
    >>> scaling = scaling_of(p, p.c, None)
    >>> bool(0.1 < abs(scaling.problem(p).A).max() < 10), scaling_of(replace(p, A=sp.csr_array([[3.0]])), p.c, None)
    (True, None)
    """
    rows = sp.csc_array(sp.vstack([p.A, _constraint_gradients(p, start)]) if p.constraints else p.A)
    H, slopes = _curvature(p, start), _slopes(p, c, start)
    well = _in_range(_largest(slopes)) and _well_scaled(rows) and _well_scaled(H)
    if not always and well and _all_in_range(_below_tops(p, c, rows, np.ones(p.n))):
        return None
    rows, H = abs(rows), abs(H)
    natural = _natural(p, H, slopes, start)
    row, column = _ruiz(rows, H, natural)
    below = _below_tops(p, c, rows, column)
    if (foreign := (below > 0) & ((below < column / TYPICAL) | (below > column * TYPICAL))).any():
        row, column = _ruiz(rows, H, np.where(foreign, below, natural))
    largest = max(_largest(slopes * column), _largest((sp.diags_array(column) @ H @ sp.diags_array(column)).data))
    cost = float(_powers_of_two(np.array([1.0 / largest if largest > 0 else 1.0]))[0])
    return Scaling(row[: p.m], column, row[p.m :], cost)


def _entries_scaled(matrix: Sparse, row: Vector, column: Vector) -> Sparse:
    """diag(row)·matrix·diag(column) with every entry that is stored, zeros included: they may move later."""
    M = sp.csc_array(matrix)
    return sp.csc_array((M.data * row[M.indices] * np.repeat(column, np.diff(M.indptr)), M.indices, M.indptr), shape=M.shape)


def _ruiz(rows: Sparse, H: Sparse, natural: Vector) -> tuple[Vector, Vector]:
    """R and D that bring the largest entries of R·rows·D, and of D·H·D relative to a typical one, to 1 (to powers of two).

    Columns with a natural unit (> 0) keep it.
    """
    known = natural > 0
    linear, bent = _Entries(rows), _Entries(H)
    row, column = np.ones(rows.shape[0]), np.where(known, natural, 1.0)
    for _ in range(PASSES):
        curved = bent.by_column(column, column)
        typical = float(np.median(curved[curved > 0])) if curved.any() else 1.0
        along, across = np.maximum(linear.by_column(row, column), curved / typical), linear.by_row(row, column)
        along, across = np.where(known | (along == 0), 1.0, along), np.where(across > 0, across, 1.0)
        if _within_a_factor_of_two(along) and _within_a_factor_of_two(across):
            break
        column, row = column / np.sqrt(along), row / np.sqrt(across)
    across = linear.by_row(row, column)
    return _powers_of_two(row / np.where(across > 0, across, 1.0)), _powers_of_two(column)


def _within_a_factor_of_two(values: Vector) -> bool:
    return bool(((values >= 0.5) & (values <= 2.0)).all())


class _Entries:
    """The entries ≥ 0 of a matrix, by columns and by rows."""

    def __init__(self, matrix: Sparse) -> None:
        self._columns, self._rows = sp.csc_array(matrix), sp.csr_array(matrix)

    def by_column(self, row: Vector, column: Vector) -> Vector:
        """The largest entry of each column of diag(row)·matrix·diag(column), 0 in empty ones."""
        return column * _largest_of_each(self._columns, row)

    def by_row(self, row: Vector, column: Vector) -> Vector:
        """The largest entry of each row, 0 in empty ones."""
        return row * _largest_of_each(self._rows, column)


def _largest_of_each(lines: Sparse, weights: Vector) -> Vector:
    """The largest entry of each line (row or column, as the matrix is stored), each times the weight of its place there."""
    largest = np.zeros(len(lines.indptr) - 1)
    filled = np.flatnonzero(np.diff(lines.indptr))
    if len(filled):
        largest[filled] = np.maximum.reduceat(lines.data * weights[lines.indices], lines.indptr[filled])
    return largest


def _natural(p: ConvexProblem, H: Sparse, slopes: Vector, start: Vector | None) -> Vector:
    """What counts as 1 of each variable by what is known of it: where slope and curvature are alike, the width of its bounds
    and, in no row or cone, its size at the start; 0 where nothing is known."""
    width, curvature = p.upper - p.lower, H.diagonal()
    size = np.ones(p.n) if start is None else np.where(start == 0, 1.0, np.abs(start))
    in_rows = np.diff(sp.csc_array(p.A).indptr) > 0
    for psi, cone in zip(p.constraints, p.cones, strict=True):
        if cone is not None:  # all that stands in one has the same unit
            in_rows[psi.support] = True
    newton = _newton(slopes, curvature, np.where(np.isfinite(width) & (width > 0), width, np.inf))
    if start is not None:  # beside a minimum along this variable slope and curvature are alike next to nothing
        newton = np.where(newton > 0, np.maximum(newton, np.abs(start) / WELL_SCALED), newton)
    if p.smooth is not None:
        newton = _bent(p, slopes, start, newton)
    unit = np.where(newton > 0, newton, np.where(in_rows, 0.0, size))
    return np.where(np.isfinite(width) & (width > 0), np.where(unit > 0, np.minimum(unit, width), width), unit)


def _bent(p: ConvexProblem, slopes: Vector, start: Vector | None, unit: Vector) -> Vector:
    """Units t with t = slope/curvature(start + t): at the start itself the curvature of s⁴ may be next to nothing, and the
    unit 1e18. The geometric mean of both sides goes to the fixed point for all powers of s. Beside the pole of −log s the
    curvature falls with t and there is none: no unit becomes larger."""
    at = np.zeros(p.n) if start is None else start
    known, first = unit > 0, unit
    for _ in range(BENDS):
        there = np.clip(at + unit, p.lower, p.upper)
        with np.errstate(all="ignore"):
            curvature = _curvature(p, there).diagonal()
            wanted = np.where(known & (curvature > 0), slopes / np.where(curvature > 0, curvature, 1.0), unit)
        if (np.abs(np.log2(wanted[known] / unit[known])) <= 1.0).all():
            break
        unit = np.where(known & np.isfinite(wanted) & (wanted > 0), np.minimum(np.sqrt(unit * wanted), first), unit)
    return unit


def _newton(slopes: Vector, curvature: Vector, width: Vector) -> Vector:
    """Where slope and curvature are alike; 0 where one is missing. A curvature of rounding size makes no enormous unit: none
    is beyond the width of its bounds, and without bounds no variable counts for more in the objective than TYPICAL times
    what is usual."""
    with np.errstate(all="ignore"):
        unit = np.minimum(slopes / curvature, width)
    known = np.isfinite(unit) & (unit > 0)
    if not known.any():
        return np.zeros_like(slopes)
    with np.errstate(over="ignore"):
        usual = float(np.quantile((slopes * unit)[known], 0.5, method="lower"))
    most = np.where(np.isfinite(width), width, TYPICAL * usual / np.where(known, slopes, 1.0))
    return np.where(known, np.minimum(unit, most), 0.0)


def _in_range(largest: float) -> bool:
    return largest == 0 or 1.0 / WELL_SCALED <= largest <= WELL_SCALED


def _all_in_range(largest: Vector) -> bool:
    return bool(((largest == 0) | ((largest >= 1.0 / WELL_SCALED) & (largest <= WELL_SCALED))).all())


def _well_scaled(matrix: Sparse) -> bool:
    """Whether the largest entry of every row and column that has one is in the range: none is beyond it, and each row and
    column has one that is not below."""
    columns = sp.csc_array(matrix)
    data, least = columns.data, 1.0 / WELL_SCALED
    if not data.size:
        return True
    if max(data.max(), -data.min()) > WELL_SCALED:
        return False
    small = np.flatnonzero((data < least) & (data > -least))
    if not small.size:
        return True
    zero = data[small] == 0
    rows, in_column = columns.indices, np.searchsorted(columns.indptr, small, side="right") - 1
    return _has_a_large_entry(np.bincount(rows), rows[small], zero) and _has_a_large_entry(
        np.diff(columns.indptr), in_column, zero
    )


def _has_a_large_entry(entries: Indices, small: Indices, zero: Mask) -> bool:
    """Whether every line but those of zeros has more entries than small ones, which stand in the lines ``small``."""
    lines = len(entries)
    low, none = np.bincount(small, minlength=lines), np.bincount(small[zero], minlength=lines)
    return bool(((low < entries) | (none == entries)).all())


def _below_tops(p: ConvexProblem, c: Vector, rows: Sparse, column: Vector) -> Vector:
    """For each free variable t with a cost, in the rows f(x) ≤ t that say what it is: how large f is for units ``column`` of
    the others. 0 for all other variables. The entry of t itself keeps a row in the range, however small f is."""
    below = np.zeros(p.n)
    tops = np.flatnonzero(np.isneginf(p.lower) & np.isposinf(p.upper) & _is_pushed_to_its_rows(p, c))
    if tops.size:
        entries, others = sp.csr_array(abs(rows)), np.where(np.isin(np.arange(p.n), tops), 0.0, column)
        beside = _largest_of_each(entries, others)
        own = sp.csc_array(entries[:, tops])
        own.eliminate_zeros()
        below[tops] = _largest_of_each(own._with_data(1.0 / own.data), beside)
    return below


def _is_pushed_to_its_rows(p: ConvexProblem, c: Vector) -> Mask:
    """Which variables have a cost that pushes them to where all their rows bound them: t in f(x) ≤ t, but no x there, which
    rows of |x| bound on both sides and which a small entry would give a unit of any size."""
    if not p.m:
        any_cost: Mask = c != 0
        return any_cost
    A = sp.csc_array(p.A)
    column, upwards = np.repeat(np.arange(p.n), np.diff(A.indptr)), A.data > 0
    above, below = np.isfinite(p.row_upper)[A.indices], np.isfinite(p.row_lower)[A.indices]
    there = A.data != 0
    bounded_above, bounded_below = np.zeros(p.n, dtype=bool), np.zeros(p.n, dtype=bool)
    bounded_above[column[there & np.where(upwards, above, below)]] = True
    bounded_below[column[there & np.where(upwards, below, above)]] = True
    pushed: Mask = ((c > 0) & ~bounded_above) | ((c < 0) & ~bounded_below)
    return pushed


def _slopes(p: ConvexProblem, c: Vector, start: Vector | None) -> Vector:
    """The sizes of the parts of the gradient at ``start``, linear costs alone where there is none."""
    sizes = np.abs(c)
    if start is not None and p.smooth is not None:
        sizes = sizes + np.nan_to_num(p.smooth.gradient_size(start), nan=0.0, posinf=0.0, neginf=0.0)
    return sizes


def _curvature(p: ConvexProblem, start: Vector | None) -> Sparse:
    """Q, and the second derivatives at ``start`` of those terms of φ that give them cheaply."""
    H = sp.csc_array((p.n, p.n)) if p.Q is None else p.Q
    if p.smooth is None or start is None:
        return H
    for term in p.smooth.terms:
        if isinstance(term, FunctionTerm) and not _is_cheap(term):
            continue
        values = np.nan_to_num(term.hessian_values(start), nan=0.0, posinf=0.0, neginf=0.0)
        part = sp.coo_array((values, (term.rows, term.cols)), shape=H.shape)
        H = H + part + part.T
    return sp.csc_array(H)


def _is_cheap(term: FunctionTerm) -> bool:
    f = term.function
    return f.has_hessian and f.hessian_operations <= CHEAP_HESSIAN and (f.separable or len(term.indices) <= 300)


def _constraint_gradients(p: ConvexProblem, start: Vector | None) -> Sparse:
    at = np.zeros(p.n) if start is None else start
    gradients = np.array([psi.gradient_size(at) for psi in p.constraints]).reshape(len(p.constraints), p.n)
    return sp.csr_array(np.nan_to_num(gradients, nan=0.0, posinf=0.0, neginf=0.0))


def _largest(values: Any) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def _powers_of_two(values: Vector) -> Vector:
    return np.exp2(np.round(np.log2(values)))


def _scaled(f: SmoothSum, column: Vector, factor: float) -> SmoothSum:
    """factor · f(column ∘ z)."""
    return SmoothSum([_scaled_term(t, column, float(factor)) for t in f.terms], f.n)


def _scaled_term(term: SmoothTerm, column: Vector, factor: float) -> SmoothTerm:
    """Linear and quadratic terms stay what they are, so that solvers recognise them."""
    if isinstance(term, LinearTerm):
        return LinearTerm(term.support, factor * term.coefficients * column[term.support], factor * term.constant)
    if isinstance(term, QuadraticTerm):
        n = len(column)
        lower = sp.coo_array((term.hessian_values(column), (term.rows, term.cols)), shape=(n, n))
        D = sp.diags_array(column)
        return QuadraticTerm(sp.csc_array(factor * (D @ (lower + sp.tril(lower, -1).T) @ D)))
    if isinstance(term, FunctionTerm):
        return FunctionTerm(Rescaled(term.function, column[term.indices]), term.indices, factor * term.weight)
    return ScaledTerm(term, column, factor)


class Rescaled(ConvexFunction):
    """f(d ∘ x), d > 0: convex, smooth and separable as f is."""

    def __init__(self, function: ConvexFunction, d: Vector) -> None:
        self.function, self.d = function, d
        self.smooth, self.separable = function.smooth, function.separable
        self.hessian_operations, self.dimension = function.hessian_operations, function.dimension

    @property
    def has_hessian(self) -> bool:
        return self.function.has_hessian

    @property
    def has_conic(self) -> bool:
        return self.function.has_conic

    def conic(self, n: int) -> ConicForm | None:
        form = self.function.conic(n)
        return None if form is None else form._replace(A=sp.csr_array(form.A @ sp.diags_array(self.d)))

    def linear_forms(self, n: int) -> tuple[ConvexFunction, Sparse, Vector]:
        function, A, b = self.function.linear_forms(n)
        return function, sp.csr_array(A @ sp.diags_array(self.d)), b

    def value(self, x: Vector) -> float:
        return self.function.value(self.d * x)

    def gradient(self, x: Vector) -> Vector:
        gradient: Vector = self.d * np.asarray(self.function.gradient(self.d * x), dtype=float)
        return gradient

    def hessian(self, x: Vector) -> Vector:
        hessian = np.asarray(self.function.hessian(self.d * x), dtype=float)
        scaled: Vector = self.d**2 * hessian if self.separable else self.d[:, None] * hessian * self.d
        return scaled

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return self.function.expand([d * v for d, v in zip(self.d.tolist(), x, strict=True)], exp, log)

    def __repr__(self) -> str:
        return repr(self.function)


class ScaledTerm:
    """factor · term(column ∘ z)."""

    def __init__(self, term: SmoothTerm, column: Vector, factor: float) -> None:
        self.term, self.column, self.factor = term, column, factor
        self.support: Indices = term.support

    @property
    def rows(self) -> Indices:
        return self.term.rows

    @property
    def cols(self) -> Indices:
        return self.term.cols

    @cached_property
    def _products(self) -> Vector:
        products: Vector = self.column[self.rows] * self.column[self.cols]
        return products

    def value(self, z: Vector) -> float:
        return self.factor * self.term.value(self.column * z)

    def add_gradient(self, z: Vector, out: Vector) -> None:
        part = np.zeros_like(out)
        self.term.add_gradient(self.column * z, part)
        out += self.factor * self.column * part

    def size(self, z: Vector) -> float:
        return abs(self.factor) * self.term.size(self.column * z)

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        part = np.zeros_like(out)
        self.term.add_gradient_size(self.column * z, part)
        out += abs(self.factor) * self.column * part

    def hessian_values(self, z: Vector) -> Vector:
        values: Vector = self.factor * self._products * self.term.hessian_values(self.column * z)
        return values

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        return self.factor * self.term.expand([d * v for d, v in zip(self.column.tolist(), z, strict=True)], namespace)

"""The convex set C, and kinks of g, as rows of a smooth subproblem.

max(a, b) in g becomes a variable t with the rows a ≤ t and b ≤ t, |a| the rows ±a ≤ t, a polyhedral function its own linear
program: the subproblem stays linear or quadratic as long as the pieces are.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.composed import Composed
from dcprog.convex.epigraph import epigraph_point
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.tape import KINKS, Tape, TapeBatch, batch
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.errors import ConvexityError, ModelError
from dcprog.functions.base import Epigraph
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.program.composition import pieces, range_of, split, summands, takes
from dcprog.program.constants import body_and_limits, constant, shortened
from dcprog.program.curvature.compiled import Implied, intersected
from dcprog.program.expressions import BoundFunction, Kink, Parts, take_apart
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.program.parts import add_to, negated, parts_of
from dcprog.program.row_stack import RowStack, placed
from dcprog.typing import Indices, Vector

DEEPEST = 100
"""Levels of maxima within maxima; each costs as much as all that are inside it."""


class ConvexSet:
    """Collects bounds, rows and smooth constraints over the model's n variables and the epigraph variables behind them."""

    def __init__(self, lower: Vector, upper: Vector, index: Mapping[int, int]) -> None:
        self.n = self.size = len(lower)
        self._lower, self._upper, self.index = lower, upper, index
        self._rows = RowStack()
        self._smooth_rows: list[list[SmoothTerm]] = []
        self._kinks: list[tuple[int, Tape]] = []
        self._ranges: dict[int, tuple[float, float]] = {}
        """Bounds of epigraph variables: an outer function that is convex and rises between them may do anything beyond."""
        self._epigraphs: list[tuple[range, Indices, Epigraph]] = []
        self._values: list[tuple[int, BoundFunction]] = []
        """Variables t ≥ f(x), of norms and of functions inside of other operations."""
        self._depth = 0
        self.origins: list[tuple[str, bool]] = []
        """Of each smooth row: what it came from, and whether the user declared that convex."""
        self._origin = ("g", False)

    def copy(self) -> ConvexSet:
        """A set that can grow on its own; what is in it is shared."""
        other = copy(self)
        other._rows = self._rows.copy()
        other._epigraphs, other._values, other._ranges = list(self._epigraphs), list(self._values), dict(self._ranges)
        other._smooth_rows, other._kinks, other.origins = list(self._smooth_rows), list(self._kinks), list(self.origins)
        return other

    def stacked(self) -> ConvexSet:
        """The same set with all its rows as one matrix, which the programs that add no rows to it then share."""
        other = self.copy()
        other._rows = RowStack()
        other._rows.add_matrix(*self._rows.stacked(self.size))
        return other

    @property
    def lower(self) -> Vector:
        """Lower bounds of the model's variables."""
        return self._lower

    @property
    def upper(self) -> Vector:
        """Upper bounds of the model's variables."""
        return self._upper

    def within(self, implied: Implied) -> ConvexSet:
        """The same set with bounds that follow from its rows."""
        other = self.copy()
        other._lower, other._upper = intersected(self._lower, self._upper, implied)
        return other

    def add_matrix(self, component: MatrixConstraint) -> None:
        """The rows lower ≤ A x ≤ upper that hold; columns of fixed variables move to the limits."""
        matrix, lower, upper = component.matrix, component.lower, component.upper
        kept = component.unchanged()
        if not kept.all():
            matrix, lower, upper = sp.csc_array(sp.csr_array(matrix)[kept]), lower[kept], upper[kept]
        columns = np.array([self.index.get(id(v), -1) for v in component.variables], dtype=np.int64)
        away = np.flatnonzero(columns < 0)
        if away.size:
            absent = [component.variables[j] for j in away.tolist()]
            if not all(v.fixed for v in absent):
                raise ModelError(f"{component.name} has variables of another model: use variables of one model")
            shift = matrix[:, away] @ np.array([constant(v) for v in absent])
            matrix, lower, upper = matrix[:, np.flatnonzero(columns >= 0)], lower - shift, upper - shift
            columns = columns[columns >= 0]
        self._rows.add_matrix(placed(matrix, columns, self.n), lower, upper)

    def add_constraint(self, constraint: Any, declared: bool) -> None:
        """An ordinary Pyomo constraint: linear, convex quadratic, with kinks, or declared convex."""
        body, lower, upper = body_and_limits(constraint)
        parts = take_apart(body, self.index, self.n, f"constraint {constraint.name}")
        if parts.is_affine:
            self._rows.add(parts.linear, lower - parts.constant, upper - parts.constant)
            return
        if lower == upper:
            raise ConvexityError(
                f"constraint {constraint.name} is a non-linear equation, which does not give a convex set: relax it to ≤"
            )
        for side, excess in ((parts, -upper), (negated(parts), lower)):
            if np.isfinite(excess):
                below_zero = replace(side, constant=side.constant + excess)
                self._origin = (f"constraint {constraint.name}", declared)
                row = self._without_kinks(below_zero, f"constraint {constraint.name}", row=True)
                self._check_convex(row, constraint.name, declared)
                self._add_below_zero(row)

    def add_proved(self, parts: Parts, name: str) -> None:
        """A row parts ≤ 0 that is proved to be convex."""
        self._origin = (f"constraint {name}", False)
        self._add_below_zero(self._without_kinks(parts, f"constraint {name}", row=True))

    def epigraph_of(self, parts: Parts, where: str) -> int:
        """A new variable t with the row parts ≤ t."""
        self._origin = (where, False)
        row = self._without_kinks(parts, where, row=True)
        t = self._new_variables(1)[0]
        row.linear[t] = row.linear.get(t, 0.0) - 1.0
        self._add_below_zero(row)
        return t

    def slack_variables(self, count: int) -> Indices:
        """New variables s ≥ 0."""
        new = self._new_variables(count)
        self._ranges.update(dict.fromkeys(new, (0.0, np.inf)))
        return np.arange(new.start, new.stop, dtype=np.int64)

    def row_count(self) -> int:
        """How many rows lie before those that :meth:`add_rows` adds."""
        return self._rows.in_matrices

    def add_rows(self, matrix: Any) -> None:
        """Rows without limits yet."""
        none = np.full(matrix.shape[0], np.inf)
        self._rows.add_matrix(matrix, -none, none)

    def subproblem(self, g: Parts) -> ConvexProblem:
        """min g over C, its kinks as rows."""
        self._origin = ("a piece of a maximum in g", False)
        smooth = self._without_kinks(g, "g")
        N = self.size
        ranges = np.tile([-np.inf, np.inf], (N - self.n, 1))
        for i, bounds in self._ranges.items():
            ranges[i - self.n] = bounds
        A, row_lower, row_upper = self._rows.stacked(N)
        terms = self._nonlinear_terms(smooth)
        return ConvexProblem(
            c=smooth.c(N),
            Q=smooth.Q(N),
            A=A,
            row_lower=row_lower,
            row_upper=row_upper,
            lower=np.concatenate([self._lower, ranges[:, 0]]),
            upper=np.concatenate([self._upper, ranges[:, 1]]),
            smooth=SmoothSum(terms, N) if terms else None,
            constraints=tuple(SmoothSum(row, N) for row in self._smooth_rows),
        )

    def lift(self, x: Vector) -> Vector:
        """x followed by the values of the kinks and of the epigraph variables."""
        z = np.zeros(self.size)
        z[: self.n] = x
        for position, bound in self._values:
            z[position] = bound.function.value(x[bound.indices])
        for position, kink in self._kinks:
            z[position] = TapeBatch([kink]).values(z)[0]
        for t, indices, epigraph in self._epigraphs:
            z[t.start : t.stop] = epigraph_point(epigraph, x[indices])
        return z

    def _new_variables(self, count: int) -> range:
        self.size += count
        return range(self.size - count, self.size)

    def _without_kinks(self, parts: Parts, where: str, row: bool = False) -> Parts:
        """``parts`` with every kink and polyhedral function replaced by epigraph variables, and every cone but one that is
        alone in a row."""
        out = Parts(parts.n, parts.constant, dict(parts.linear), dict(parts.quadratic))
        for tape in parts.tapes:
            self._tape(tape, out, where)
        for kink in parts.kinks:
            _check_weight(kink.weight, "abs" if kink.is_abs else "maximum", where)
            if kink.weight > 0:
                self._kink(kink, out, where)
        for bound in parts.functions:
            _check_weight(bound.weight, repr(bound.function), where)
            if bound.weight > 0:
                alone = row and len(parts.functions) == 1 and not (parts.tapes or parts.quadratic or parts.forms)
                self._smooth_function(bound, out, where, alone)
        return out

    def _kink(self, kink: Kink, out: Parts, where: str) -> None:
        """weight · t in place of a kink; |a| where a has one sign is ±a itself."""
        inside = [take_apart(p, self.index, self.n) for p in kink.pieces]
        if kink.is_abs and not inside[0].is_affine:
            (absolute,) = split(kink.tape, self.size).inner
            low, high = range_of(pieces(absolute)[1][0], self._bounds_of)
            if low < 0 < high:
                raise ConvexityError(
                    f"abs({shortened(kink.pieces[0])}) in {where}: |·| of something non-linear is not convex in general, "
                    "and this may have either sign; use maximum(…)"
                )
            (one,) = self._inner_rows([inside[0] if low >= 0 else negated(inside[0])], where)
            add_to(out, one, kink.weight)
            return
        if kink.is_abs:
            inside.append(negated(inside[0]))
        t = self._epigraph_variable(inside, kink.tape, where)
        out.linear[t] = out.linear.get(t, 0.0) + kink.weight

    def _epigraph_variable(self, pieces: list[Parts], tape: Tape, where: str) -> int:
        """t with a row t ≥ piece for each; ``tape`` is their maximum."""
        rows = self._inner_rows(pieces, where)
        for row in rows:
            Q = row.Q(self.size)
            if not row.tapes and Q is not None and not is_positive_semidefinite(Q):
                raise ConvexityError(
                    f"a quadratic piece of a maximum in {where} is not convex: its matrix has a negative eigenvalue"
                )
        t = self._new_variables(1)[0]
        self._kinks.append((t, tape))
        for row in rows:
            row.linear[t] = row.linear.get(t, 0.0) - 1.0
            self._add_below_zero(row)
        return t

    def _tape(self, tape: Tape, out: Parts, where: str) -> None:
        """A tape as it is; of kinks inside, the outermost become epigraph variables if each summand rises with them."""
        if not _kinks_inside(tape):
            add_to(out, parts_of(tape, self.n), 1.0) if max(tape.variables) >= self.n else out.tapes.append(tape)
            return
        for part in summands(tape):
            self._summand(part, out, where) if _kinks_inside(part) else add_to(out, parts_of(part, self.n), 1.0)

    def _summand(self, tape: Tape, out: Parts, where: str) -> None:
        """A tape that is no sum, with kinks inside."""
        found = split(tape, self.size)
        ranges = [range_of(inner, self._bounds_of) for inner in found.inner]
        new = range(self.size, self.size + len(ranges))
        known = dict(zip(new, ranges, strict=True))
        if not takes(found.outer, new, lambda i: known[i] if i in known else self._bounds_of(i)):
            kink = _kinks_inside(tape).pop()
            raise ModelError(
                f"{kink} stands inside a product, power or function in {where} that is not known to be convex and "
                "to rise with it: add a variable t with the constraint t ≥ … to the model and use t"
            )
        renamed = {}
        for i, inner in zip(new, found.inner, strict=True):
            name, arguments = pieces(inner)
            parts = [parts_of(argument, self.n) for argument in arguments]
            if name == "abs":
                parts.append(negated(parts[0]))
            t = self._epigraph_variable(parts, inner, where)
            self._ranges[t] = known[i]
            renamed[i] = t
        variables = tuple(renamed.get(i, i) for i in found.outer.variables)
        add_to(out, parts_of(found.outer._replace(variables=variables), self.n), 1.0)

    def _composed(self, bound: BoundFunction, function: Composed, out: Parts, where: str) -> None:
        """weight · T with t ≥ f(x) in the place of each function inside, if T is convex and rises with it."""
        inner = [BoundFunction(1.0, f, bound.indices[at]) for f, at in function.inner]
        places = [*bound.indices.tolist(), *range(self.size, self.size + len(inner))]
        tape = function.tape._replace(variables=tuple(places[i] for i in function.tape.variables))
        tape = tape._replace(weight=bound.weight * tape.weight)
        lowest = {
            t: b.function.lowest if b.function.proved_convex else -np.inf
            for t, b in zip(places[-len(inner) :], inner, strict=True)
        }
        if not takes(tape, list(lowest), lambda i: (lowest[i], np.inf) if i in lowest else self._bounds_of(i)):
            raise ModelError(
                f"{function!r} in {where} is not known to be convex and to rise with the functions inside: add a variable t "
                "with the constraint t ≥ … to the model and use t"
            )
        renamed = {}
        rows = self._inner_rows([Parts(self.n, functions=[b]) for b in inner], where)
        for (t, low), b, row in zip(lowest.items(), inner, rows, strict=True):
            new = renamed[t] = self._new_variables(1)[0]
            self._values.append((new, b))
            self._ranges[new] = low, np.inf
            row.linear[new] = -1.0
            self._add_below_zero(row)
        self._tape(tape._replace(variables=tuple(renamed.get(i, i) for i in tape.variables)), out, where)

    def _bounds_of(self, i: int) -> tuple[float, float]:
        if i >= self.n:
            return self._ranges.get(i, (-np.inf, np.inf))
        return float(self._lower[i]), float(self._upper[i])

    def _nonlinear_terms(self, parts: Parts) -> list[SmoothTerm]:
        """Tapes of epigraph variables apart: they are convex by the rules they were made by."""
        own = [t for t in parts.tapes if max(t.variables, default=-1) < self.n]
        lifted = [t for t in parts.tapes if max(t.variables, default=-1) >= self.n]
        functions = [FunctionTerm(b.function, b.indices, b.weight) for b in parts.functions]
        return [*batch(own), *batch(lifted), *functions]

    def _inner_rows(self, pieces: list[Parts], where: str) -> list[Parts]:
        """The pieces of a kink without the kinks that they hold in turn."""
        if self._depth == DEEPEST:
            raise ModelError(f"maxima are nested more than {DEEPEST} deep in {where}: name inner ones by variables t, t ≥ …")
        self._depth += 1
        rows = [self._without_kinks(p, where, row=True) for p in pieces]
        self._depth -= 1
        return rows

    def _smooth_function(self, bound: BoundFunction, out: Parts, where: str, alone: bool) -> None:
        function, indices = bound.function, bound.indices
        if isinstance(function, Composed) and not function.smooth:
            self._composed(bound, function, out, where)
            return
        form = function.quadratic(len(indices))
        epigraph = None if form or function.smooth else function.epigraph(len(indices))
        if form is not None:
            scaled = form.times(bound.weight)
            out.forms.append((indices, scaled))
            out.constant += scaled.constant
        elif epigraph is not None:
            t = self._new_variables(len(epigraph.c))
            self._epigraphs.append((t, indices, epigraph))
            out.linear.update(zip(t, (bound.weight * epigraph.c).tolist(), strict=True))
            columns = np.concatenate([indices, np.arange(t.start, t.stop)])
            both = sp.hstack([sp.csc_array(epigraph.A), sp.csc_array(epigraph.B)], format="csc")
            b = np.asarray(epigraph.b, dtype=float)
            self._rows.add_matrix(placed(both, columns, self.size), np.full(len(b), -np.inf), b)
        elif function.smooth or (alone and _is_cone(bound)):
            out.functions.append(bound)
        elif _is_cone(bound):
            top = self._new_variables(1)[0]
            self._values.append((top, bound))
            out.linear[top] = bound.weight
            self._add_below_zero(Parts(self.n, linear={top: -1.0}, functions=[replace(bound, weight=1.0)]))
        else:
            raise ModelError(
                f"{function!r} in {where} has kinks and gives neither an epigraph nor a conic form: give it one, or put it "
                "into h"
            )

    def _check_convex(self, parts: Parts, name: str, declared: bool) -> None:
        """Quadratic rows; rows with tapes of their own are claims, which need a proof."""
        if declared or any(max(tape.variables, default=-1) < self.n for tape in parts.tapes):
            return
        Q = parts.Q(self.size)
        if Q is not None and not is_positive_semidefinite(Q):
            raise ConvexityError(f"constraint {name} is not convex: its quadratic part has an eigenvalue of the wrong sign")

    def _add_below_zero(self, row: Parts) -> None:
        """row ≤ 0, a linear row if it is affine."""
        c, Q = row.c(self.size), row.Q(self.size)
        columns = np.flatnonzero(c)
        if row.is_affine:
            self._rows.add(dict(zip(columns.tolist(), c[columns].tolist(), strict=True)), -np.inf, -row.constant)
            return
        terms: list[SmoothTerm] = [LinearTerm(columns, c[columns], row.constant)]
        if Q is not None:
            terms.append(QuadraticTerm(Q))
        self._smooth_rows.append(terms + self._nonlinear_terms(row))
        self.origins.append(self._origin)


def _kinks_inside(tape: Tape) -> set[str]:
    """Names of the kinks among its operations."""
    return {operation.name for operation in tape.operations} & KINKS


def _is_cone(bound: BoundFunction) -> bool:
    """Whether f(x) ≤ t is a cone."""
    f, _, _ = bound.function.linear_forms(len(bound.indices))
    return f.sublinear and f.has_conic


def _check_weight(weight: float, what: str, where: str) -> None:
    if weight < 0:
        raise ConvexityError(
            f"{what} has the negative coefficient {weight} in {where}, which makes it concave: move it to the other side"
        )

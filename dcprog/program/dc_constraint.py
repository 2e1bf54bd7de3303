"""p(x) − q(x) ≤ 0, p and q convex, as a component of a Pyomo model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo
from pyomo.core.base.initializer import Initializer
from pyomo.core.base.set import RangeSet

from dcprog.errors import DataError, ModelError
from dcprog.functions.binding import check_scalar, variables_in
from dcprog.functions.each import Rows
from dcprog.program.lazy_constraint import LazyConstraint
from dcprog.program.written_out import written_out
from dcprog.typing import Vector


class DCConstraint(LazyConstraint):
    """p(x) − q(x) ≤ 0 with p and q convex: a constraint of a :class:`~dcprog.DCProgram` that need not be convex.

    An ordinary, indexed Pyomo constraint: (de)activated, printed, cloned, and read as p − q ≤ 0 by a plain Pyomo solver,
    with vectorised functions written out.

    Parameters
    ----------
    *sets : Pyomo sets or iterables
        Indices, with a ``rule``.
    p, q : Pyomo expression, number, or rows of :class:`~dcprog.functions.Each`
        One constraint; or as many as the rows have, the other side being rows as well, or numbers.
    rule : callable
        ``rule(block, *index)`` returns (p, q), or ``Constraint.Skip``.
    equation : bool
        p(x) − q(x) = 0 instead.

    Examples
    --------
    Outside of the unit disc, and two points at least as far apart as a rule says:

    >>> from dcprog.functions import Norm2
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([0, 1], initialize=1.0); m.c = pyo.Var([0, 1], [0, 1], initialize=1.0)
    >>> m.ring = DCConstraint(p=1, q=m.x[0]**2 + m.x[1]**2)
    >>> print(m.ring[0].expr)
    1 - (x[0]**2 + x[1]**2)  <=  0.0
    >>> m.apart = DCConstraint([(0, 1)], rule=lambda m, i, j: (2, Norm2()([m.c[i, k] - m.c[j, k] for k in (0, 1)])))
    >>> len(m.apart)
    1
    """

    def __init__(
        self,
        *sets: Any,
        p: Any = None,
        q: Any = None,
        rule: Callable[..., Any] | None = None,
        equation: bool = False,
        **kwds: Any,
    ) -> None:
        if (rule is None) == (p is None and q is None):
            raise ModelError("a DCConstraint takes either p and q, or index sets and a rule that returns (p, q)")
        if rule is None and sets:
            raise ModelError("index sets go with a rule(block, *index) that returns (p, q): pass rule=, or no sets")
        if rule is not None and not callable(rule):
            raise ModelError(f"rule is {rule!r}, expected a function of the block and an index that returns (p, q)")
        if rule is None and (p is None or q is None):
            raise ModelError(f"{'p' if p is None else 'q'} is missing: pass both sides of p(x) − q(x) ≤ 0, 0 for none")
        self.equation = bool(equation)
        self.pairs: dict[Any, tuple[Any, Any]] = {}
        """p and q of each row, but for rows that are stated all at once."""
        self.rows: tuple[Rows | Vector, Rows | Vector] | None = None
        self._pair_rule = None if rule is None else Initializer(rule)
        if rule is None:
            if isinstance(p, Rows) or isinstance(q, Rows):
                self.rows = _rows(p, q)
            else:
                self.pairs = {0: _pair(p, q, "the DCConstraint")}
            sets = (RangeSet(0, self._row_count() - 1),)
        super().__init__(*sets, **kwds)

    def construct(self, data: Any = None) -> None:
        if self._constructed:
            return
        super().construct(data)
        if self._pair_rule is None:
            return
        block = self.parent_block()
        for index in self.index_set():
            given = self._pair_rule(block, index)
            if given is pyo.Constraint.Skip or given is None:
                continue
            if not (isinstance(given, tuple) and len(given) == 2):
                raise ModelError(f"the rule of {self.name} returned {given!r} at {index}, expected (p, q)")
            self.pairs[index] = _pair(*given, f"{self.name}[{index}]")
        self._built = None  # Pyomo may have looked before

    def holds(self) -> Iterator[tuple[Any, tuple[Any, Any]]]:
        """p and q of the rows that hold as they were stated; not of those that are stated all at once."""
        if self.active:
            yield from ((index, pair) for index, pair in self.pairs.items() if self.is_unchanged(index))

    def _row_count(self) -> int:
        if self.rows is None:
            return len(self.pairs)
        return next(len(side) for side in self.rows if isinstance(side, Rows))

    def _relations(self) -> Iterator[tuple[Any, Any]]:
        pairs = self.pairs.items() if self.rows is None else enumerate(zip(*map(_one_by_one, self.rows), strict=True))
        for index, (p, q) in pairs:
            body = written_out(p) - written_out(q)
            yield index, (body == 0.0) if self.equation else (body <= 0.0)


def _pair(p: Any, q: Any, where: str) -> tuple[Any, Any]:
    check_scalar(p, f"p of {where}")
    check_scalar(q, f"q of {where}")
    return p, q


def _rows(p: Any, q: Any) -> tuple[Rows | Vector, Rows | Vector]:
    """Both sides, of one length; numbers as a vector."""
    size = len(p) if isinstance(p, Rows) else len(q)
    sides = []
    for name, side in (("p", p), ("q", q)):
        if isinstance(side, Rows):
            if len(side) != size:
                raise DataError(f"p has {size} rows and q {len(side)}: they have to match")
            variables = variables_in(side.x, f"{name} of a DCConstraint")
            if len(variables) != side.A.shape[1]:
                raise DataError(f"{name} has a matrix of {side.A.shape[1]} columns for {len(variables)} variables")
            sides.append(Rows(side.function, side.size, side.A, side.b, variables))
            continue
        try:
            sides.append(np.broadcast_to(np.asarray(side, dtype=float), (size,)).copy())
        except (TypeError, ValueError):
            raise DataError(f"{name} is {side!r}, expected a number, {size} numbers, or rows of Each(…)") from None
        if not np.isfinite(sides[-1]).all():
            raise DataError(f"{name} has NaN or infinite entries: a row that does not hold is left out")
    return sides[0], sides[1]


def _one_by_one(side: Rows | Vector) -> Iterator[Any]:
    """Every row as a Pyomo expression."""
    if not isinstance(side, Rows):
        yield from side.tolist()
        return
    for k in range(len(side)):
        part = slice(k * side.size, (k + 1) * side.size)
        yield side.function(side.A[part].toarray(), side.x, side.b[part])

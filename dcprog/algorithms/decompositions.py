"""Decompositions of one expression beside each other: how coarse h is, what bound follows from it, how long DCA takes.

It is what ``dcprog.decompose(…, method="compare")`` returns; program/ may not import this room, so it asks for it by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo
from pyomo.core.expr.visitor import identify_variables, replace_expressions

from dcprog.algorithms.result import Result
from dcprog.algorithms.run import solve
from dcprog.errors import DCProgError, DecompositionError
from dcprog.program.dc_program import DCProgram
from dcprog.program.decompose import Decomposer, Decomposition

METHODS = ("auto", "eigenvalue", "shift")
ITERATIONS = 200


class Line(NamedTuple):
    """What one method gives.

    ``coarseness`` is what linearising h costs on average; ``bound`` a lower bound of the expression on the box, min g −
    chords of h, if h is a sum of functions of one bounded variable; ``objective`` and ``iterations`` are those of DCA.
    """

    method: str
    coarseness: float
    bound: float | None
    objective: float | None
    iterations: int | None
    found: Decomposition


class Comparison(Sequence[Line]):
    """Lines, the least coarse one first; it prints as a table."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = sorted(lines, key=lambda line: line.coarseness)

    def __getitem__(self, k: Any) -> Any:
        return self._lines[k]

    def __len__(self) -> int:
        return len(self._lines)

    def __str__(self) -> str:
        rows = [["method", "coarseness", "bound", "objective", "iterations"]]
        rows += [[line.method, *map(_shown, line[1:5])] for line in self]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows)

    __repr__ = __str__


def compare(expression: Any, over: Any) -> Comparison:
    """The methods that apply to the expression, on the bounds of its variables; DCA starts from their values."""
    lines = []
    for method in METHODS:
        try:
            found = Decomposer(over, method, expression=expression).decompose(expression)
        except DecompositionError:
            if method == METHODS[0]:
                raise
            continue
        lines.append(_line(found, expression))
    return Comparison(lines)


def _line(found: Decomposition, expression: Any) -> Line:
    variables = list(identify_variables(expression, include_fixed=False))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(variables)))
    held = {id(v): (low, high) for v, low, high in found.implied}
    for mine, v in zip(m.x.values(), variables, strict=True):
        low, high = held.get(id(v), v.bounds)
        mine.setlb(low)
        mine.setub(high)
        mine.set_value(v.value, skip_validation=True)
    image = {id(v): mine for v, mine in zip(variables, m.x.values(), strict=True)}
    g, h, *parts = (_moved(e, image) for e in (found.g, found.h, *found.h_parts))
    try:
        result = solve(DCProgram(m, g, h), algorithm="dca", max_iter=ITERATIONS)
    except DCProgError:
        result = None
    return Line(found.method, found.coarseness, _bound(m, g, parts), *_reached(result), found)


def _reached(result: Result | None) -> tuple[float | None, int | None]:
    return (None, None) if result is None else (result.objective, result.iterations)


def _bound(m: Any, g: Any, parts: Sequence[Any]) -> float | None:
    """min g − Σ chords, each part of h being a function of one bounded variable, below its chord."""
    chords = 0.0
    for part in parts:
        inside = list(identify_variables(part)) if hasattr(part, "is_expression_type") else []
        if len(inside) > 1 or any(None in v.bounds for v in inside):
            return None
        chords = chords + (_chord(part, inside[0]) if inside else part)
    try:
        result = solve(DCProgram(m, g - chords, 0.0))
    except DCProgError:
        return None
    return result.objective if result.success else None


def _chord(part: Any, v: Any) -> Any:
    start, ends = v.value, []
    for end in v.bounds:
        v.set_value(end, skip_validation=True)
        ends.append(float(pyo.value(part)))
    v.set_value(start, skip_validation=True)
    low, high = v.bounds
    slope = (ends[1] - ends[0]) / (high - low) if high > low else 0.0
    return slope * (v - low) + ends[0]


def _moved(expression: Any, image: dict[int, Any]) -> Any:
    """The expression in other variables."""
    if not hasattr(expression, "is_expression_type"):
        return expression
    return replace_expressions(expression, image, remove_named_expressions=True)


def _shown(value: float | None) -> str:
    return "–" if value is None or not np.isfinite(value) else f"{value:.6g}"

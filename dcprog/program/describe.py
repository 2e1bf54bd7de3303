"""A DC program as text: g, h, the rows, and the rule behind each part, for a researcher to take over and better."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dcprog.program.components import dc_constraints, matrices

if TYPE_CHECKING:
    from dcprog.program.dc_program import DCProgram
    from dcprog.program.from_pyomo import SplitRow

LONGEST = 400
"""Characters of an expression that are shown."""


def described(program: DCProgram) -> str:
    """What :meth:`dcprog.DCProgram.describe` returns."""
    return "\n".join(_lines(program))


def _lines(program: DCProgram) -> Iterator[str]:
    c = program.compiled
    goal = "min g − h" if program.sense > 0 else "max h − g"
    yield f"{program.name or 'DC program'}: {goal} over {c.n} variables, {c.subproblem.problem_class} subproblems"
    yield f"  g = {shown(program.g)}"
    yield f"  h = {shown(program.h)}"
    if program.origin is not None:
        yield from _rules(program.origin.objective)
    split = [] if program.origin is None else [row for row in program.origin.rows if not row.is_convex]
    kept = 0 if program.origin is None else len(program.origin.rows) - len(split)
    convex = kept or len(c.feasible_set.constraints)
    yield f"rows: {c.feasible_set.m} linear, {convex} convex, {_count(program, len(split))} DC"
    for component in matrices(program.model):
        yield f"  {component.name}: {component.matrix.shape[0]} rows of a matrix"
    for component in dc_constraints(program.model):
        yield f"  {component.name}: {len(component)} rows p − q {'=' if component.equation else '≤'} 0 of yours"
    for row in () if program.origin is None else program.origin.rows:
        yield from _row(row)
    for name, (low, high) in ({} if program.origin is None else program.origin.inset).items():
        yield f"kept within {low:g} ≤ {name} ≤ {high:g}: at its bound something that is linearised is infinitely steep"
    yield from (f"proved: {why}" for why in program.proofs)
    yield from (f"assumed: {what}" for what in program.assumptions)


def _count(program: DCProgram, split: int) -> int:
    return max(split, 0 if program.compiled.dc is None else len(set(program.compiled.dc.names)))


def _row(row: SplitRow) -> Iterator[str]:
    if row.is_convex:
        yield f"  {row.name}: convex as it is"
        return
    relation = f"= {row.upper:g}" if row.lower == row.upper else " and ".join(_limits(row))
    yield f"  {row.name}: p − q {relation}"
    yield f"    p = {shown(row.body.g)}"
    yield f"    q = {shown(row.body.h)}"
    yield from (f"  {line}" for line in _rules(row.body))


def _limits(row: SplitRow) -> Iterator[str]:
    if np.isfinite(row.upper):
        yield f"≤ {row.upper:g}"
    if np.isfinite(row.lower):
        yield f"≥ {row.lower:g}"


def _rules(body: Any) -> Iterator[str]:
    for piece in body.pieces:
        yield f"  - {shown(piece.term)}: {piece.rule}"
    for name, (low, high) in body.bounds.items():
        yield f"  - on {low:g} ≤ {name} ≤ {high:g}, which rows imply"


def shown(expression: Any) -> str:
    """An expression as a text of bearable length."""
    text = str(expression)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

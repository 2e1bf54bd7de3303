"""A plain Pyomo model as a DC program: its objective and every row that is not convex are split into g − h."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pyomo.common.enums import maximize
from pyomo.core.base.block import Block
from pyomo.core.base.objective import Objective

from dcprog.errors import DCProgError, ModelError
from dcprog.program.claims import Finding, together
from dcprog.program.compile import Compiled, compile_model
from dcprog.program.constants import body_and_limits
from dcprog.program.convex_model import ConvexModel
from dcprog.program.convex_set import ConvexSet
from dcprog.program.curvature.compiled import Implied, merged
from dcprog.program.dc_claims import check_dc
from dcprog.program.dc_program import DCProgram
from dcprog.program.dc_reader import DCReader
from dcprog.program.decompose import Decomposer, Decomposition
from dcprog.program.expressions import take_apart
from dcprog.program.steep import steep_bounds

SECONDS = 30.0
"""For the proofs of one model."""


def from_pyomo(model: Any, *, method: str = "auto", name: str = "", time_limit: float = SECONDS) -> DCProgram:
    """The DC program of a Pyomo model: min g − h over its convex rows, and a constraint p − q ≤ 0 for each other one.

    The objective may be of either sense; ``result.objective`` and ``result.bound`` are in the model's own. Rows that are
    proved convex stay as they are; of any other one body ≤ u becomes g − h ≤ u, body ≥ l becomes h − g ≤ −l, an equation
    both. The model is not changed, and is read once: parameters and fixed variables count with the values they have now.
    ``print(program.describe())`` shows g, h, the rows, and the rule behind each.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With one active objective; its variables are continuous.
    method : str
        How expressions are split, see :func:`dcprog.decompose`.
    name : str
        Shown in results; by default the model's.
    time_limit : float
        Seconds for the proofs.

    Examples
    --------
    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([0, 1], bounds=(-2, 2), initialize={0: 1.0, 1: 0.5})
    >>> m.cost = pyo.Objective(expr=m.x[0] * m.x[1], sense=pyo.maximize)
    >>> m.disc = pyo.Constraint(expr=m.x[0]**2 + m.x[1]**2 <= 2)
    >>> program = dcprog.from_pyomo(m)
    >>> result = dcprog.solve(program)
    >>> print(result.status, round(result.objective, 6))
    converged 1.0
    """
    shared = DecomposedModel(model, method, time_limit)
    found, sense = shared.objective, shared.sense
    g, h = (found.g, found.h) if sense > 0 else (found.h, found.g)
    program = DCProgram(shared, g, h, name)
    inset = steep_bounds(program.compiled)
    program.compiled = program.compiled.within(inset)
    names = [v.name for v in program.compiled.variables]
    program.sense, program.origin = sense, Origin(found, shared.rows, {names[j]: both for j, both in inset.items()})
    return program


@dataclass(frozen=True, eq=False)
class SplitRow:
    """A row lower ≤ body ≤ upper and what became of it."""

    name: str
    lower: float
    upper: float
    body: Decomposition

    @property
    def is_convex(self) -> bool:
        """Whether it was convex as it stood."""
        above, below = np.isfinite(self.upper), np.isfinite(self.lower)
        return (self.body.is_convex or not above) and (self.body.is_concave or not below) and self.lower != self.upper


@dataclass(frozen=True, eq=False)
class Origin:
    """What a program was made of: the objective and the rows that are not linear, split."""

    objective: Decomposition
    rows: tuple[SplitRow, ...]
    inset: Mapping[str, tuple[float, float]]
    """Variables kept off a bound at which something that is linearised is infinitely steep."""


@dataclass
class Splitter:
    """Puts the rows of a model into C, or among its DC constraints."""

    decomposer: Decomposer
    rows: list[SplitRow] = field(default_factory=list)

    def add(self, constraint: Any, into: ConvexSet, dc: DCReader) -> None:
        """One ordinary constraint."""
        body, lower, upper = body_and_limits(constraint)
        where = f"constraint {constraint.name}"
        with _named(where):
            parts = take_apart(body, into.index, into.n, where)
        if parts.is_affine:
            into.add_constraint(constraint, declared=False)
            return
        row = SplitRow(constraint.name, lower, upper, self.decompose(body, where))
        self.rows.append(row)
        if lower == upper:
            dc.add_pair(row.name, row.body.g - upper, row.body.h, equation=True)
            return
        for p, q, limit, convex in (
            (row.body.g, row.body.h, -upper, row.body.is_convex),
            (row.body.h, row.body.g, lower, row.body.is_concave),
        ):
            if not np.isfinite(limit):
                continue
            if convex:
                into.add_proved(take_apart(p - q + limit, into.index, into.n, f"constraint {row.name}"), row.name)
            else:
                dc.add_pair(row.name, p + limit, q)

    def decompose(self, expression: Any, where: str) -> Decomposition:
        """Errors say where they are."""
        with _named(where):
            return self.decomposer.decompose(expression)


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Errors say what they are about."""
    try:
        yield
    except DCProgError as error:
        if where in str(error):
            raise
        raise type(error)(f"{where} cannot be split into convex functions: {error}") from None


class DecomposedModel(ConvexModel):
    """A model whose objective and rows were split; nothing of what was proved then is proved again."""

    def __init__(self, model: Any, method: str, time_limit: float) -> None:
        self._method, self._time_limit = method, time_limit
        super().__init__(model)

    def _compile(self, model: Any, assume_convex: Any) -> Any:
        objective = _objective(model)
        splitter = Splitter(Decomposer(model, method=self._method, time_limit=self._time_limit))
        compiled = compile_model(model, splitter=splitter)
        self.sense = -1 if objective.sense == maximize else 1
        self.objective = splitter.decompose(objective.expr, f"objective {objective.name}")
        self.rows = tuple(splitter.rows)
        with _named(f"objective {objective.name}"):  # what is no number, or has no derivative
            take_apart(objective.expr, compiled.convex_set.index, len(compiled.variables), f"objective {objective.name}")
        implied = _implied(compiled.convex_set.index, [self.objective, *(row.body for row in self.rows)])
        return compiled.within(implied)

    def _check(self) -> Finding:
        """The DC constraints that the user declared on the model; the others were made of convex functions."""
        declared = [block for block in self.compiled.dc.blocks if not block.proved]
        found = check_dc(self.points, declared)
        return together(found, Finding(proofs=tuple(_proofs(self.rows))))

    def check_functions(self, compiled: Compiled) -> Finding:
        proofs = self.objective.proofs[:: self.sense]
        return Finding(proofs=tuple(f"{letter} is convex: {why}" for letter, why in zip("gh", proofs, strict=True)))


def _proofs(rows: tuple[SplitRow, ...]) -> Iterator[str]:
    for row in rows:
        for letter, why in zip("pq", row.body.proofs, strict=True):
            yield f"{letter} of {row.name} is convex: {why}"


def _implied(index: Any, found: list[Decomposition]) -> Implied:
    """The bounds that proofs rest on, by position."""
    return merged({index[id(v)]: (lower, upper)} for d in found for v, lower, upper in d.implied if id(v) in index)


def _objective(model: Any) -> Any:
    """The one active objective."""
    if isinstance(model, type) or not hasattr(model, "component_data_objects"):
        raise ModelError(f"expected a Pyomo ConcreteModel with an objective, got {type(model).__name__}")
    found = list(model.component_data_objects(Objective, active=True, descend_into=Block))
    if not found:
        raise ModelError("the model has no active objective: add one, or state g and h by dcprog.DCProgram(model, g, h)")
    if len(found) > 1:
        names = ", ".join(objective.name for objective in found[:5])
        raise ModelError(f"the model has {len(found)} active objectives ({names}): deactivate all but one")
    if found[0].expr is None:
        raise ModelError(f"objective {found[0].name} has no expression: give it one")
    return found[0]

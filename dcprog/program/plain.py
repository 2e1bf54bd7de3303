"""A DC program as a plain Pyomo model, for any other solver."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.core.base.block import Block
from pyomo.core.expr.visitor import replace_expressions

from dcprog.errors import ModelError
from dcprog.program.components import scalar_constraints
from dcprog.program.written_out import written_out

OBJECTIVE = "dc_objective"


def plain_model(model: Any, g: Any, h: Any, has_objective: bool) -> Any:
    """A copy of ``model`` for any Pyomo solver: vectorised functions are written out, and min g − h is its objective, unless
    it has one of its own.

    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(0, 2), initialize=1.0)
    >>> copy = plain_model(m, m.x**4, m.x**2, has_objective=False)
    >>> print(copy.dc_objective.expr, m.component("dc_objective"))
    x**4 - x**2 None
    """
    copy = model.clone()
    _write_rows(copy)
    if not has_objective:
        if copy.component(OBJECTIVE) is not None:
            raise ModelError(f"the model has a component {OBJECTIVE}, the name of the objective g − h: give it another one")
        goal = written_out(g) - written_out(h)
        copy.add_component(OBJECTIVE, pyo.Objective(expr=replace_expressions(goal, _counterparts(model, copy))))
    for objective in copy.component_data_objects(pyo.Objective, active=True, descend_into=Block):
        objective.set_value(written_out(objective.expr))
    return copy


def _counterparts(model: Any, copy: Any) -> dict[int, Any]:
    """The variables and parameters of the copy by the ids of their originals."""
    pairs = {}
    for kind in (pyo.Var, pyo.Param):
        for one, other in zip(model.component_objects(kind), copy.component_objects(kind), strict=True):
            if kind is pyo.Var or one.mutable:
                pairs.update({id(a): b for a, b in zip(one.values(), other.values(), strict=True)})
    return pairs


def _write_rows(copy: Any) -> None:
    """Vectorised functions in ordinary constraints; those kept as matrices or pairs show plain rows of themselves."""
    for row in scalar_constraints(copy):
        body = written_out(row.body)
        if body is not row.body:
            row.set_value(body == row.upper if row.equality else (row.lower, body, row.upper))

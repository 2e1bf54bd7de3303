"""What a Pyomo model consists of: the components that are read, those that say nothing, and no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyomo.core.base.action import BuildAction
from pyomo.core.base.block import Block
from pyomo.core.base.boolean_var import BooleanVar
from pyomo.core.base.check import BuildCheck
from pyomo.core.base.constraint import Constraint
from pyomo.core.base.expression import Expression
from pyomo.core.base.objective import Objective
from pyomo.core.base.param import Param
from pyomo.core.base.set import RangeSet, Set, SetOf
from pyomo.core.base.suffix import Suffix
from pyomo.core.base.var import Var

from dcprog.errors import ModelError
from dcprog.program.dc_constraint import DCConstraint
from dcprog.program.lazy_constraint import LazyConstraint
from dcprog.program.matrix_constraint import MatrixConstraint

READ = frozenset({Var, Constraint, Objective, Block})
"""Component types whose meaning the compiler takes in; an active objective it refuses by itself."""
SILENT = frozenset({Param, Set, RangeSet, SetOf, Expression, Suffix, BuildAction, BuildCheck})
"""Component types that restrict no variable by themselves."""
REMEDIES = {
    "SOSConstraint": "state a convex relaxation of it",
    "Disjunction": "transform the model (gdp.hull) and relax its binary variables, or solve each case by itself",
    "Disjunct": "transform the model (gdp.hull) and relax its binary variables, or solve each case by itself",
    "Complementarity": "put a penalty of the product into g − h",
    "LogicalConstraint": "transform it (core.logical_to_linear) and relax the binary variables",
    "BooleanVar": "use a Var with bounds 0 and 1",
    "ExternalFunction": "write it as a dcprog.ConvexFunction",
    "Arc": "apply TransformationFactory('network.expand_arcs') first",
    "Port": "connect it by an Arc and apply TransformationFactory('network.expand_arcs')",
    "ContinuousSet": "discretise the model (dae.collocation or dae.finite_difference) first",
    "DerivativeVar": "discretise the model (dae.collocation or dae.finite_difference) first",
    "Integral": "discretise the model (dae.collocation or dae.finite_difference) first",
    "PiecewiseLinearFunction": "write a convex one as dcprog.maximum of its pieces",
}


def refuse_unread(model: Any) -> None:
    """ModelError for the first active component whose meaning would be lost, also on active sub-blocks."""
    if not model.is_constructed():
        raise ModelError(
            "the model, or a part of it, is not constructed: pass a ConcreteModel, or abstract.create_instance()"
        )
    for component in model.component_objects(active=True, descend_into=Block):
        kind = component.ctype
        if kind in READ or kind in SILENT or not _says_something(component):
            continue
        name = kind.__name__
        remedy = REMEDIES.get(name, "state what it means as constraints")
        can_rest = hasattr(component, "deactivate")
        raise ModelError(
            f"the model has {component.name}, a component of type {name}, which dcprog does not read: {remedy}, or "
            f"{'deactivate' if can_rest else 'delete'} it"
        )


def _says_something(component: Any) -> bool:
    """Whether a component of an unknown type has any active entry, and is not just what a transformation left behind."""
    if hasattr(component, "get_discretization_info") and component.get_discretization_info():
        return False
    entries = list(component.values()) if hasattr(component, "is_indexed") and component.is_indexed() else [component]
    if component.ctype is BooleanVar:  # a view of a binary variable, once it has one
        return any(v.get_associated_binary() is None for v in entries)
    if component.ctype.__name__ == "Port":  # its arcs speak for it, and are inactive once they are expanded
        return any(p.arcs(active=True) or not p.arcs() for p in entries)
    return any(getattr(entry, "active", True) for entry in entries)


def matrices(model: Any) -> Iterator[MatrixConstraint]:
    """The active matrix constraints, none of whose rows is built."""
    for component in model.component_objects(Constraint, active=True, descend_into=Block):
        if isinstance(component, MatrixConstraint):
            yield component


def dc_constraints(model: Any) -> Iterator[DCConstraint]:
    """The active constraints p − q ≤ 0."""
    for component in model.component_objects(Constraint, active=True, descend_into=Block):
        if isinstance(component, DCConstraint):
            yield component


def scalar_constraints(model: Any) -> Iterator[Any]:
    """Every active constraint that is no row of a matrix, once, and rows that someone rewrote."""
    components = list(model.component_objects(Constraint, active=True, descend_into=Block))
    read = {id(c) for c in components if not c.is_reference()}
    seen: set[int] = set()
    for component in components:
        if isinstance(component, LazyConstraint):
            yield from component.rewritten()
            continue
        for constraint in component.values():
            elsewhere = component.is_reference() and (id(constraint.parent_component()) in read or id(constraint) in seen)
            if constraint.active and not elsewhere:
                seen.add(id(constraint))
                yield constraint

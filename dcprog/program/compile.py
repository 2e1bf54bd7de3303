"""Pyomo → arrays and oracles, once. Nothing behind this file imports Pyomo (but the Pyomo solvers)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from pyomo.core.base.block import Block
from pyomo.core.base.constraint import Constraint
from pyomo.core.base.objective import Objective
from pyomo.core.base.var import Var

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.tape import batch
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.errors import ConvexityError, DataError, ModelError
from dcprog.program.components import dc_constraints, matrices, refuse_unread, scalar_constraints
from dcprog.program.constants import is_finite_number
from dcprog.program.convex_set import ConvexSet
from dcprog.program.curvature.compiled import Implied, intersected
from dcprog.program.dc_reader import DCReader
from dcprog.program.dc_rows import DCRows
from dcprog.program.expressions import Parts, take_apart
from dcprog.program.merged import Merged, Side
from dcprog.typing import Indices, Vector


@dataclass(frozen=True, eq=False)
class Slot:
    """Where a named Pyomo variable lives in x. Fixed entries have position −1 and their value in ``fixed``."""

    positions: Indices
    fixed: Vector
    shape: tuple[int, ...]

    def read(self, x: Vector) -> Vector:
        """The variable's values at x, in its shape."""
        free = self.positions >= 0
        out: Vector = self.fixed.copy()
        out[free] = x[self.positions[free]]
        return out.reshape(self.shape)


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """A Pyomo model in NumPy: its variables, and C. What is added to it makes a program of its own."""

    variables: tuple[Any, ...]
    slots: Mapping[str, Slot]
    convex_set: ConvexSet
    feasible_set: ConvexProblem
    """C as a subproblem without an objective."""
    values: Vector
    """The values that the model's variables came with; NaN where they had none."""
    fixed: tuple[tuple[Any, Any], ...]
    """The fixed variables with their values."""
    outside: tuple[str, float] | None
    """The fixed variable that is farthest outside of its bounds, and how far."""
    dc: DCReader
    """The constraints that are not convex."""

    def check_unchanged(self) -> None:
        """Expressions are read with the variables that are fixed now, so these have to be the same as before."""
        changed = [v.name for v in self.variables if v.fixed]
        changed += [v.name for v, value in self.fixed if not v.fixed or v.value != value]
        if changed:
            raise ModelError(
                f"{changed[0]} was fixed, unfixed or fixed elsewhere since the model was read: make a new Family, or undo it"
            )

    def within(self, implied: Implied) -> CompiledModel:
        """The same with bounds that follow from its rows, and that proofs rest on."""
        if not implied:
            return self
        convex_set = self.convex_set.within(implied)
        return replace(self, convex_set=convex_set, feasible_set=convex_set.subproblem(Parts(len(self.variables))))

    def with_functions(self, g: Any, h: Any) -> Compiled:
        """min g − h over C."""
        n = len(self.variables)
        g_parts, h_parts = (take_apart(e, self.convex_set.index, n, where) for e, where in ((g, "g"), (h, "h")))
        with_g = self.convex_set.copy()
        dc = self.dc.rows(with_g)
        return Compiled(
            variables=self.variables,
            slots=self.slots,
            g=oracle(g_parts),
            h=oracle(h_parts),
            f=Merged(g_parts, h_parts),
            g_parts=g_parts,
            h_parts=h_parts,
            feasible_set=self.feasible_set,
            subproblem=self.feasible_set if dc is None and g_parts.is_constant else with_g.subproblem(g_parts),
            lifted_set=with_g,
            values=self.values,
            outside=self.outside,
            dc=dc,
        )


@dataclass(frozen=True, eq=False)
class Compiled:
    """A DC program in NumPy: min g(x) − h(x) over C, and the subproblem min g(x) − ⟨u, x⟩ over C without its u."""

    variables: tuple[Any, ...]
    slots: Mapping[str, Slot]
    g: SmoothSum
    h: SmoothSum
    f: Merged
    """g − h, with what stands in both cancelled."""
    g_parts: Parts
    h_parts: Parts
    feasible_set: ConvexProblem
    """C alone, as a subproblem without an objective."""
    subproblem: ConvexProblem
    lifted_set: ConvexSet
    """C with the epigraph variables of g."""
    values: Vector
    """The values that the model's variables came with; NaN where they had none."""
    outside: tuple[str, float] | None = None
    """The fixed variable that is farthest outside of its bounds, and how far: to Pyomo that is no constraint."""
    dc: DCRows | None = None
    """The constraints p − q ≤ 0; in the subproblem they have no limits until they are linearised."""

    @property
    def n(self) -> int:
        """The number of free variables."""
        return len(self.variables)

    @property
    def lower(self) -> Vector:
        """Lower bounds of x."""
        return self.subproblem.lower[: self.n]

    @property
    def upper(self) -> Vector:
        """Upper bounds of x."""
        return self.subproblem.upper[: self.n]

    def within(self, implied: Implied) -> Compiled:
        """The same with bounds that follow from the rows, and that proofs rest on, in every subproblem."""
        if not implied:
            return self
        return replace(self, feasible_set=_within(self.feasible_set, implied), subproblem=_within(self.subproblem, implied))

    def lift(self, x: Vector) -> Vector:
        """x with the epigraph variables at their values."""
        z = self.lifted_set.lift(x)
        if self.dc is not None:
            self.dc.fill(z, x)
        return z

    def cost(self, u: Vector) -> Vector:
        """Linear cost of the subproblem for the subgradient u."""
        c: Vector = self.subproblem.c.copy()
        c[: self.n] -= u
        return c

    def model_slope(self, z: Vector, u: Vector) -> Vector:
        """∇(g − ⟨u, ·⟩) at z in all variables of the subproblem, u ∈ ∂h(x); common parts of g and h cancel first."""
        slope = self.lifting.slope(z)
        slope[: self.n] += self.f.slope(z[: self.n], u)
        if self.subproblem.smooth is not None:
            slope += self.subproblem.smooth.gradient(z)
        return slope

    @cached_property
    def lifting(self) -> Side:
        """What epigraphs put into the subproblem beside the linear and quadratic terms of g, as the t² of max(x, 0)²."""
        return self.f.g.within(self.subproblem.c, self.subproblem.Q)


def _within(problem: ConvexProblem, implied: Implied) -> ConvexProblem:
    known = {i: bounds for i, bounds in implied.items() if i < problem.n}
    lower, upper = intersected(problem.lower, problem.upper, known)
    return replace(problem, lower=lower, upper=upper)


class Splitter(Protocol):
    """What takes in the ordinary constraints of a model, convex or not."""

    def add(self, constraint: Any, into: ConvexSet, dc: DCReader) -> None:
        """Put one into C, or among the constraints p − q ≤ 0."""


def compile_model(model: Any, assume_convex: Iterable[Any] = (), splitter: Splitter | None = None) -> CompiledModel:
    """Read the variables and constraints. ``assume_convex`` lists the constraints that the user declares convex. A
    ``splitter`` deals with constraints that need not be convex; it knows what to do with an objective, too."""
    if splitter is None:
        _refuse_objectives(model)
    refuse_unread(model)
    data = list(model.component_data_objects(Var, active=True, descend_into=Block))
    variables = [v for v in data if not v.fixed]
    if not variables:
        raise ModelError("the model has no free variable: add a Var, or unfix one")
    fixed = [v for v in data if v.fixed] if len(variables) < len(data) else []
    _check_fixed(fixed)
    index = {id(v): i for i, v in enumerate(variables)}
    lower, upper = _bounds(variables)
    convex_set = ConvexSet(lower, upper, index)
    for matrix in matrices(model):
        convex_set.add_matrix(matrix)
    declared = _declared(assume_convex)
    dc = DCReader(index, len(variables))
    for component in dc_constraints(model):
        dc.add(component)
    for constraint in scalar_constraints(model):
        if splitter is not None:
            splitter.add(constraint, convex_set, dc)
            continue
        try:
            convex_set.add_constraint(constraint, declared=id(constraint) in declared)
        except ConvexityError as error:
            dc.split(constraint, error)
    convex_set = convex_set.within(dc.implied).stacked()
    if (crossed := np.flatnonzero(~(convex_set.lower <= convex_set.upper))).size:
        raise DataError(f"variable {variables[crossed[0]].name} satisfies its bounds at no solution of its equation")
    feasible_set = convex_set.subproblem(Parts(len(variables)))
    values = _values(variables)
    slots, held = _slots(model, index), tuple((v, v.value) for v in fixed)
    return CompiledModel(tuple(variables), slots, convex_set, feasible_set, values, held, _outside(fixed), dc)


def oracle(parts: Parts) -> SmoothSum:
    """Value and (sub)gradient of an expression."""
    support = np.fromiter(parts.linear, dtype=np.int64, count=len(parts.linear))
    coefficients = np.fromiter(parts.linear.values(), dtype=float, count=len(parts.linear))
    terms: list[SmoothTerm] = [LinearTerm(support, coefficients, parts.constant)]
    Q = parts.Q(parts.n)
    if Q is not None:
        terms.append(QuadraticTerm(Q))
    terms += batch([*parts.tapes, *(k.tape for k in parts.kinks)])
    terms += [FunctionTerm(b.function, b.indices, b.weight) for b in parts.functions]
    return SmoothSum(terms, parts.n)


def _refuse_objectives(model: Any) -> None:
    for objective in model.component_data_objects(Objective, active=True, descend_into=Block):
        raise ModelError(
            f"the model has an objective ({objective.name}): a DC program minimises g − h, given to DCProgram, over the "
            "model's constraints; delete or deactivate the objective"
        )


def _check_fixed(fixed: list[Any]) -> None:
    for v in fixed:
        if not is_finite_number(v.value):
            raise DataError(f"variable {v.name} is fixed at {v.value}: fix it at a number, or unfix it")


def _outside(fixed: list[Any]) -> tuple[str, float] | None:
    """The fixed variable that is farthest outside of its bounds, and how far."""
    if not fixed:
        return None
    lower, upper = _limits(fixed)
    values = np.array([v.value for v in fixed], dtype=float)
    over = np.maximum(lower - values, values - upper)
    worst = int(np.argmax(over))
    return (fixed[worst].name, float(over[worst])) if over[worst] > 0 else None


def _declared(assume_convex: Iterable[Any] | None) -> set[int]:
    """Identities of the constraints that are declared convex: a component, one of its rows, or several of both."""
    if not isinstance(assume_convex, Iterable | None) or isinstance(assume_convex, str):
        raise ModelError(f"assume_convex is {assume_convex!r}, expected constraints of the model: pass [m.c]")
    components: list[Any] = [assume_convex] if hasattr(assume_convex, "ctype") else list(assume_convex or ())
    declared: set[int] = set()
    for component in components:
        if getattr(component, "ctype", None) is not Constraint:
            raise ModelError(f"assume_convex lists {component!r}, expected constraints of the model: pass [m.c]")
        declared.update(map(id, component.values() if component.is_indexed() else [component]))
    return declared


def _bounds(variables: list[Any]) -> tuple[Vector, Vector]:
    lower, upper = _limits(variables)
    for v in {id(v.domain): v for v in variables}.values():
        if not v.is_continuous():
            raise ModelError(f"variable {v.name} is discrete, but C has to be convex: relax it to Reals with bounds")
    bad = np.flatnonzero(~(lower <= upper) | (lower == np.inf) | (upper == -np.inf))
    if bad.size:
        i = bad[0]
        raise DataError(f"variable {variables[i].name} has bounds [{lower[i]}, {upper[i]}], which no value satisfies")
    return lower, upper


def _limits(variables: list[Any]) -> tuple[Vector, Vector]:
    """The bounds, infinite where there are none, all at once; one by one where one of them cannot be evaluated."""
    try:
        both = np.array([v.bounds for v in variables], dtype=float)  # None becomes NaN, which Pyomo takes for no bound
    except (ArithmeticError, TypeError, ValueError):
        both = np.array([(_bound(v, "lb"), _bound(v, "ub")) for v in variables])
    missing = np.isnan(both)
    return np.where(missing[:, 0], -np.inf, both[:, 0]), np.where(missing[:, 1], np.inf, both[:, 1])


def _bound(variable: Any, side: str) -> float:
    """v.lb or v.ub, infinite where there is none; Pyomo evaluates them, which a parameter without a value spoils."""
    try:
        bound = getattr(variable, side)
        return float(bound) if bound is not None else -np.inf if side == "lb" else np.inf
    except (ArithmeticError, TypeError, ValueError) as error:
        raise DataError(
            f"the bound {side} of variable {variable.name} has no value ({_one_line(error)}): give its parameters values"
        ) from None


def _values(variables: list[Any]) -> Vector:
    """The variables' values, NaN where there is none."""
    values = [v.value for v in variables]
    odd = {kind for kind in set(map(type, values)) if kind is not type(None) and not issubclass(kind, Real)}
    if odd:
        v = next(v for v in variables if type(v.value) in odd)
        raise DataError(f"variable {v.name} has the value {v.value!r}: give it a number, or None")
    return np.array(values, dtype=float)  # None becomes NaN


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _slots(model: Any, index: Mapping[int, int]) -> dict[str, Slot]:
    slots = {}
    for component in model.component_objects(Var, active=True, descend_into=Block):
        data = list(component.values())
        positions = np.array([index.get(id(v), -1) for v in data], dtype=np.int64)
        fixed = np.full(len(data), np.nan)
        for i in np.flatnonzero(positions < 0).tolist():
            fixed[i] = np.nan if data[i].value is None else data[i].value
        slots[component.name] = Slot(positions, fixed, _shape(component))
    return slots


def _shape(component: Any) -> tuple[int, ...]:
    """() for a scalar, (d,) for one index, (p, q, …) for a full grid of tuples."""
    if not component.is_indexed():
        return ()
    keys = list(component.keys())
    if keys and isinstance(keys[0], tuple):
        axes = [list(dict.fromkeys(key[a] for key in keys)) for a in range(len(keys[0]))]
        shape = tuple(map(len, axes))
        if int(np.prod(shape)) == len(keys):
            return shape
    return (len(keys),)

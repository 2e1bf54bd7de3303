"""Where an expression is looked at: its variables with the bounds and rows of a model, and points that satisfy them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from pyomo.core.base.block import Block
from pyomo.core.base.objective import Objective
from pyomo.core.base.var import Var
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.expr.visitor import identify_variables
from scipy.optimize import linprog

from dcprog.errors import DataError, ModelError
from dcprog.program.components import matrices, scalar_constraints
from dcprog.program.constants import constant, shortened
from dcprog.program.curvature.domains import demanded
from dcprog.program.curvature.nodes import Graph, Node, below
from dcprog.program.curvature.reading import Reader
from dcprog.program.curvature.rows import Row, linear_forms, tightened
from dcprog.program.curvature.values import enclosed
from dcprog.program.points import box_points
from dcprog.typing import Mask, Matrix, Vector

PASSES = 3
"""How often rows are asked for better bounds."""
POINTS = 96
FEW = 12
FEASIBLE = 1e-9
INWARDS = (1e-2, 1e-4, 1e-6)
HULL_LIMIT = 300


class Space:
    """Variables with bounds, and rows.

    ``own`` are the bounds that the variables have; ``graph`` has the bounds that follow from rows as well.
    """

    def __init__(
        self,
        variables: Sequence[Any],
        own: tuple[list[float], list[float]],
        rows: Sequence[tuple[Any, float, float]],
        defined: Sequence[Any] = (),
    ) -> None:
        """Where the expressions in ``defined`` have values holds as well, as far as it is linear: x ≥ y for log(x − y). Rows
        that say so are ``domains``."""
        self.variables, self.own = list(variables), own
        self.names = [v.name for v in variables]
        self.index = {id(v): i for i, v in enumerate(variables)}
        self.domains = _domains(own, self.variables, self.index, defined) if defined else []
        rows, (lower, upper) = [*rows, *self.domains], own
        for _ in range(PASSES):
            self.graph = Graph(lower, upper, self.names)
            self.rows = _read(self.graph, self.index, rows)
            if not self.rows:
                break
            better = tightened(self.graph, self.rows)
            if better == (list(lower), list(upper)):
                break
            lower, upper = better
        self.graph.lower, self.graph.upper = lower, upper
        if self.rows:
            forms = linear_forms(_read(Graph(lower, upper, self.names), self.index, rows))
            self.graph = Graph(lower, upper, self.names)
            self.graph.rows = forms
            self.rows = _read(self.graph, self.index, rows)
        self.reader = Reader(self.graph, self.index)
        self._broken: set[int] = set()  # ids of expressions, which the reader keeps alive
        self._defects: dict[int, list[Node]] = {}

    def read(self, expression: Any) -> Node:
        """The node of an expression."""
        return self.reader.read(expression)

    def parsed(self, expression: Any) -> tuple[Node, list[Node]]:
        """The node of an expression, and the parts of it that may have no value somewhere, those included that a normal form
        drops, as 0 · log x."""
        before, broken = len(self.graph.defects), self.graph.broken
        node = self.read(expression)
        parts = below([node])
        if self.graph.broken > broken or not all(math.isfinite(n.constant) for n in parts if n.kind == "affine"):
            self._broken.add(id(expression))
        if id(expression) in self._broken:
            raise DataError(f"a coefficient of {shortened(expression)} is NaN or infinite: check where it came from")
        inside = set(parts)
        new = [d for d in self.graph.defects[:before] if d in inside] + self.graph.defects[before:]
        return node, self._defects.setdefault(id(expression), new)

    def used_by(self, expression: Any) -> list[int]:
        """The variables in an expression, those included that its normal form has no more."""
        found = identify_variables(expression, include_fixed=False) if hasattr(expression, "is_expression_type") else ()
        return sorted(self.index[id(v)] for v in found if id(v) in self.index)

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lower and upper bounds."""
        return np.array(self.graph.lower), np.array(self.graph.upper)

    @cached_property
    def points(self) -> Matrix:
        """Points that satisfy bounds and rows; there may be none."""
        lower, upper = self.bounds
        start = np.array([0.0 if v.value is None else v.value for v in self.variables]).clip(lower, upper)
        count = POINTS if len(start) <= 100 * POINTS else FEW
        rng = np.random.default_rng(0)
        targets = box_points(lower, upper, start, count, rng)
        centre = targets[2 : 2 + max(4, len(targets) // 2)].mean(axis=0)
        targets = np.vstack([targets, *(targets[:8] + part * (centre - targets[:8]) for part in INWARDS)])
        if not self.rows:
            return targets
        inside = self.holds(targets)
        if inside.sum() < FEW:
            vertices = self._vertices(rng)
            if len(vertices):
                mixed = rng.dirichlet(np.ones(len(vertices)), size=count) @ vertices
                targets = np.vstack(
                    [targets[inside], mixed, 0.5 * (mixed + vertices[rng.integers(len(vertices), size=count)])]
                )
                inside = self.holds(targets)
        return targets[inside]

    def holds(self, points: Matrix) -> Mask:
        """Which points satisfy the bounds and the rows; equations that are not linear are left out, no segment satisfies
        them."""
        lower, upper = self.bounds
        good: Mask = np.all((points >= lower) & (points <= upper), axis=1)
        for row in self.rows:
            if row.lower == row.upper and row.body.kind != "affine":
                continue
            values = enclosed([(1.0, row.body)], points)
            with np.errstate(all="ignore"):
                middle = 0.5 * (values.lower + values.upper)
            slack = FEASIBLE * (1 + np.abs(middle))
            good &= (middle >= row.lower - slack) & (middle <= row.upper + slack)
        return good

    @cached_property
    def equations(self) -> list[Row]:
        """The linear equations."""
        return [r for r in self.rows if r.lower == r.upper and r.body.kind == "affine"]

    @cached_property
    def hull(self) -> Matrix | None:
        """A basis of the directions that the linear equations leave; None if there are none, or too many variables."""
        n = len(self.variables)
        if not self.equations or n > HULL_LIMIT:
            return None
        A = np.zeros((len(self.equations), n))
        for row, equation in zip(A, self.equations, strict=True):
            for i, a in equation.body.coefficients:
                row[i] = a
        _, values, directions = np.linalg.svd(A / np.linalg.norm(A, axis=1, keepdims=True))
        basis: Matrix = directions[int((values > 1e-10).sum()) :].T
        return basis

    def _vertices(self, rng: np.random.Generator) -> Matrix:
        """Where random linear functions are least on the bounds and linear rows."""
        lower, upper = self.bounds
        lines = [r for r in self.rows if r.body.kind == "affine"]
        A = np.zeros((len(lines), len(lower)))
        for row, line in zip(A, lines, strict=True):
            for i, a in line.body.coefficients:
                row[i] = a
        shift = np.array([r.body.constant for r in lines])
        low, high = np.array([r.lower for r in lines]) - shift, np.array([r.upper for r in lines]) - shift
        same = low == high
        up, down = ~same & np.isfinite(high), ~same & np.isfinite(low)
        box = np.array([np.maximum(lower, -1e3), np.minimum(upper, 1e3)]).T
        found = []
        for cost in rng.standard_normal((2 * FEW, len(lower))):
            answer = linprog(
                cost,
                np.vstack([A[up], -A[down]]),
                np.concatenate([high[up], -low[down]]),
                A[same] if same.any() else None,
                low[same] if same.any() else None,
                box,
                method="highs",
                options={"time_limit": 1.0},
            )
            if answer.x is None:
                break
            found.append(answer.x)
        vertices: Matrix = np.clip(np.array(found).reshape(-1, len(lower)), lower, upper)
        return vertices


def of_expression(expression: Any) -> Space:
    """The variables of an expression with their own bounds."""
    variables = (
        list(identify_variables(expression, include_fixed=False)) if hasattr(expression, "is_expression_type") else []
    )
    return Space(variables, _own_bounds(variables), [])


def of_model(model: Any, *, on_domains: bool = False, expressions: Sequence[Any] = ()) -> Space:
    """The free variables of a model with their bounds and its active rows; ``on_domains`` with the bounds as well on which
    its objectives and rows have values."""
    if isinstance(model, type) or not hasattr(model, "component_data_objects"):
        raise ModelError(
            f"over is {type(model).__name__}, expected the Pyomo model (or block) of the expression: pass over=m, or "
            "leave it out"
        )
    variables = [v for v in model.component_data_objects(Var, active=True, descend_into=Block) if not v.fixed]
    rows = rows_of(model)
    if not on_domains:
        return Space(variables, _own_bounds(variables), rows)
    objectives = [o.expr for o in model.component_data_objects(Objective, active=True, descend_into=Block)]
    return Space(variables, _own_bounds(variables), rows, [*objectives, *expressions, *(row[0] for row in rows)])


def rows_of(model: Any) -> list[tuple[Any, float, float]]:
    """(body, lower, upper) of the active rows."""
    rows: list[tuple[Any, float, float]] = []
    for matrix in matrices(model):
        for k in range(len(matrix)):
            rows.append((matrix[k].body, *_limits(matrix[k])))
    rows += [(c.body, *_limits(c)) for c in scalar_constraints(model)]
    return rows


def _limits(constraint: Any) -> tuple[float, float]:
    low, high = constraint.lb, constraint.ub
    return -np.inf if low is None else float(low), np.inf if high is None else float(high)


def _own_bounds(variables: Sequence[Any]) -> tuple[list[float], list[float]]:
    lower, upper = [], []
    for v in variables:
        low, high = v.bounds
        low, high = -np.inf if low is None else constant(low), np.inf if high is None else constant(high)
        if not low <= high:
            raise DataError(f"variable {v.name} has bounds [{low}, {high}], which no value satisfies")
        lower.append(low)
        upper.append(high)
    return lower, upper


def _domains(
    own: tuple[list[float], list[float]], variables: Sequence[Any], index: Mapping[int, int], expressions: Sequence[Any]
) -> list[tuple[Any, float, float]]:
    """(affine form, lower, upper) on which functions of it, as log x or √(2x − y), have values."""
    graph = Graph(*own, [v.name for v in variables])
    reader = Reader(graph, index)
    for expression in expressions:
        try:
            reader.read(expression)
        except ModelError:
            continue
    found = {}
    for node in graph.defects:
        for arg, low, high in demanded(node):
            if low < high and arg.kind == "affine" and arg.coefficients:
                pairs = arg.coefficients
                form = LinearExpression(
                    constant=arg.constant, linear_coefs=[a for _, a in pairs], linear_vars=[variables[i] for i, _ in pairs]
                )
                found[arg.number] = form, low, high
    return list(found.values())


def _read(graph: Graph, index: Mapping[int, int], rows: Sequence[tuple[Any, float, float]]) -> list[Row]:
    """The rows as nodes; a row that cannot be read says nothing."""
    reader, read = Reader(graph, index), []
    for body, lower, upper in rows:
        try:
            node = reader.read(body)
        except ModelError:
            continue
        if all(math.isfinite(part.constant) for part in below([node]) if part.kind == "affine"):
            read.append(Row(node, lower, upper))
    graph.defects.clear()
    return read

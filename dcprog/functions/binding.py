"""Vectorised functions and maxima as nodes of Pyomo expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from pyomo.core.expr.numeric_expr import MaxExpression, NumericExpression

from dcprog.errors import ModelError

if TYPE_CHECKING:
    from dcprog.functions.base import ConvexFunction


class FunctionExpression(NumericExpression):  # type: ignore[misc]
    """f(x₁, …, xₙ) for a :class:`~dcprog.functions.ConvexFunction` f; its arguments are Pyomo variables."""

    __slots__ = ("function",)
    PRECEDENCE = None

    def __init__(self, args: tuple[Any, ...], function: ConvexFunction) -> None:
        super().__init__(args)
        self.function = function

    def nargs(self) -> int:
        return len(self._args_)

    def create_node_with_local_data(self, args: Iterable[Any], classtype: Any = None) -> FunctionExpression:
        return FunctionExpression(tuple(args), self.function)

    def _apply_operation(self, result: list[float]) -> float:
        return float(self.function.value(np.asarray(result, dtype=float)))

    def getname(self, *args: Any, **kwds: Any) -> str:
        return type(self.function).__name__

    def _to_string(self, values: list[str], verbose: bool, smap: Any) -> str:
        shown = values if len(values) == 1 else [values[0], "...", values[-1]]
        return f"{self.getname()}({', '.join(shown)})"

    def _compute_polynomial_degree(self, result: Any) -> None:
        return None


def flatten(variables: Any) -> Iterator[Any]:
    """All scalar variables in ``variables``: scalar and indexed Pyomo components, and nested sequences of them, in order.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2]); m.b = pyo.Var()
    >>> [v.name for v in flatten([m.x, m.b])]
    ['x[1]', 'x[2]', 'b']
    """
    if hasattr(variables, "is_indexed"):
        if variables.is_indexed():
            yield from variables.values()
        else:
            yield variables
    elif isinstance(variables, Iterable) and not isinstance(variables, str):
        for part in variables:
            yield from flatten(part)
    elif hasattr(variables, "is_variable_type"):
        yield variables
    else:
        raise ModelError(f"expected Pyomo variables, got {type(variables).__name__}: pass m.x, m.x[1] or a list of them")


def bind(function: ConvexFunction, variables: Any) -> FunctionExpression:
    """The expression f(variables)."""
    arguments = tuple(flatten(variables))
    if not arguments:
        raise ModelError(f"{function!r} is bound to no variable: pass m.x, m.x[1] or a list of them")
    for v in arguments:
        if not v.is_variable_type():
            raise ModelError(
                f"{function!r} takes variables, got the expression {v}: declare a Var and a constraint that ties it to it"
            )
    if function.dimension not in (None, len(arguments)):
        raise ModelError(
            f"{function!r} takes {function.dimension} variables, got {len(arguments)}: bind it to one per column of its data"
        )
    return FunctionExpression(arguments, function)


def maximum(*pieces: Any) -> MaxExpression:
    """max(a, b, …) of Pyomo expressions and numbers, a convex function when every piece is.

    In g each piece becomes a row ``t ≥ piece`` of the subproblem; in h the subgradient is that of the first piece that
    attains the maximum.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=-3)
    >>> print(2 * maximum(0, m.x - 1))
    2*max(0, x - 1)
    >>> pyo.value(maximum(m.x, -m.x))
    3
    """
    if not pieces:
        raise ModelError("maximum() needs at least one piece: pass expressions or numbers, as in maximum(0, m.x - 1)")
    return MaxExpression(tuple(pieces))

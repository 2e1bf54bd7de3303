"""Expressions with vectorised functions written out in scalar operations, for plain Pyomo solvers."""

from __future__ import annotations

from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.visitor import ExpressionReplacementVisitor

from dcprog.errors import FunctionError
from dcprog.functions.binding import FunctionExpression


def written_out(expression: Any) -> Any:
    """``expression`` with each vectorised function in it replaced by what its ``expand`` says.

    >>> from dcprog.functions import Exponential
    >>> m = pyo.ConcreteModel(); m.v = pyo.Var([1, 2], bounds=(0, 1))
    >>> print(written_out(m.v[1] + Exponential(alpha=5)(m.v[2])))  # doctest: +SKIP
    """
    if not hasattr(expression, "is_expression_type") or not expression.is_expression_type():
        return expression
    return _Writer().walk_expression(expression)


class _Writer(ExpressionReplacementVisitor):  # type: ignore[misc]
    def exitNode(self, node: Any, data: Any) -> Any:  # noqa: N802 (Pyomo's name)
        if isinstance(node, FunctionExpression):
            body = node.function.expand(list(node.args), pyo.exp, pyo.log)
            if body is None:
                raise FunctionError(
                    f"{node.function!r} cannot be written out for a plain Pyomo solver: give it an expand method"
                )
            return body
        return super().exitNode(node, data)

"""Parts of Pyomo expressions that are numbers: parameters, fixed variables, and whatever is made of them alone."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np
import pyomo.core.expr.numeric_expr as px
from pyomo.core.expr.numvalue import is_potentially_variable, native_numeric_types, value

from dcprog.errors import DataError, ModelError


def is_finite_number(number: Any) -> bool:
    """Whether it is a real number, and neither NaN nor infinite."""
    return isinstance(number, Real) and math.isfinite(number)


def constant(node: Any) -> float:
    """The value of an expression without free variables. It may be NaN or infinite; that is checked where it ends up.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.p = pyo.Param(mutable=True)
    >>> constant(2 * m.p)
    Traceback (most recent call last):
    dcprog.errors.DataError: 2*p has no value, since p has none: give it one
    """
    try:
        return float(node if isinstance(node, Real | np.ndarray) else value(node))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise no_value(node, error) from None


def body_and_limits(constraint: Any) -> tuple[Any, float, float]:
    """The body of a constraint, and the numbers that it lies between."""
    try:
        body, low, high = constraint.body, constraint.lb, constraint.ub
        lower, upper = -np.inf if low is None else float(low), np.inf if high is None else float(high)
    except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
        raise ModelError(
            f"constraint {constraint.name} cannot be read ({' '.join(str(error).split())}): its limits have to be numbers, "
            "or parameters and fixed variables with a value"
        ) from None
    if not lower <= upper:
        raise DataError(f"constraint {constraint.name} has limits [{lower}, {upper}], which no point satisfies")
    return body, lower, upper


def no_value(node: Any, error: Exception) -> DataError:
    """What to say of a constant expression that cannot be evaluated."""
    missing = [leaf.name for leaf in _leaves(node) if not _has_value(leaf)]
    text = shortened(node)
    if missing:
        why = "" if missing[0] == text else f", since {missing[0]} has none"
        return DataError(f"{text} has no value{why}: give it one")
    return DataError(f"{text} has no real value ({' '.join(str(error).split())}): check where its numbers came from")


def _has_value(leaf: Any) -> bool:
    """A variable without one says None, a parameter raises."""
    try:
        return not leaf.is_expression_type() and leaf.value is not None
    except ValueError:
        return False


def shortened(expression: Any) -> str:
    """An expression as a text that fits into a message."""
    text = str(expression)
    return text if len(text) < 60 else text[:57] + "..."


class Fixed:
    """Remembers which subexpressions have no free variable, so that each is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._alive: list[Any] = []  # an id means something as long as its object lives

    def __call__(self, node: Any) -> bool:
        leaf = leaf_is_fixed(node)
        return self._expression(node) if leaf is None else leaf

    def _expression(self, root: Any) -> bool:
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in self._known:
                stack.pop()
                continue
            children = node.linear_vars if type(node) is px.LinearExpression else node.args
            if any(map(_is_free_variable, children[:1])):  # of thousands of arguments mostly the first says it
                self._alive.append(node)
                self._known[id(node)] = False
                continue
            leaves = [leaf_is_fixed(child) for child in children]
            inner = [child for child, leaf in zip(children, leaves, strict=True) if leaf is None]
            unknown = [child for child in inner if id(child) not in self._known]
            if unknown and False not in leaves:
                stack += unknown
                continue
            self._alive.append(node)
            self._known[id(node)] = False not in leaves and all(self._known[id(child)] for child in inner)
        return self._known[id(root)]


def _is_free_variable(node: Any) -> bool:
    return leaf_is_fixed(node) is False


def leaf_is_fixed(node: Any) -> bool | None:
    """Whether a leaf is a number; None for an expression that may hold variables."""
    if type(node) in native_numeric_types or not is_potentially_variable(node):
        return True
    return bool(node.fixed) if node.is_variable_type() else None


def _leaves(node: Any) -> list[Any]:
    """Parameters and variables below ``node``, and named expressions that name nothing."""
    stack, leaves = [node], []
    while stack:
        node = stack.pop()
        empty = hasattr(node, "is_named_expression_type") and node.is_named_expression_type() and node.arg(0) is None
        if hasattr(node, "is_expression_type") and node.is_expression_type() and not empty:
            stack.extend(node.args)
        elif empty or hasattr(type(node), "value"):
            leaves.append(node)
    return leaves

"""Nodes as Pyomo expressions; equal nodes become one expression object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from dcprog.functions.binding import maximum
from dcprog.program.curvature.nodes import Node, below

UNARY = {
    name: getattr(pyo, name)
    for name in (
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "sinh",
        "cosh",
        "tanh",
        "asin",
        "acos",
        "atan",
        "asinh",
        "acosh",
        "atanh",
    )
}


class Writer:
    """Writes nodes in the variables given."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self.variables = variables
        self._known: dict[Node, Any] = {}

    def write(self, node: Node) -> Any:
        """The node as an expression, or a number."""
        for part in below([node]):
            if part not in self._known:
                self._known[part] = self._made(part)
        return self._known[node]

    def sum(self, weights: Iterable[tuple[float, Node]], line: Mapping[int, float], constant: float) -> Any:
        """Σ w · node + line + constant."""
        parts = [_scaled(w, self.write(node)) for node, w in ((n, w) for w, n in weights)]
        affine = self._affine(line.items(), constant)
        if not parts:
            return affine
        total = parts[0] if len(parts) == 1 else pyo.quicksum(parts)
        return total if isinstance(affine, float) and affine == 0.0 else total + affine

    def _affine(self, pairs: Iterable[tuple[int, float]], constant: float) -> Any:
        kept = [(i, a) for i, a in pairs if a != 0.0]
        if not kept:
            return float(constant)
        if len(kept) == 1 and constant == 0.0:
            return _scaled(kept[0][1], self.variables[kept[0][0]])
        return LinearExpression(
            constant=float(constant), linear_coefs=[a for _, a in kept], linear_vars=[self.variables[i] for i, _ in kept]
        )

    def _made(self, node: Node) -> Any:
        args = [self._known[a] for a in node.args]
        if node.kind == "affine":
            return self._affine(node.coefficients, node.constant)
        if node.kind == "sum":
            parts = [_scaled(c, a) for c, a in zip(node.data, args[1:], strict=True)]
            line = node.args[0]
            return pyo.quicksum([*parts, *([] if line.is_constant and line.constant == 0.0 else [args[0]])])
        if node.kind == "product":
            if _is_square_of_kinks(node):
                args = [maximum(args[0], 0.0)]
            return self._product([_power(a, p) for a, p in zip(args, node.data, strict=True)], node.data)
        if node.kind == "apply":
            return UNARY[node.data](args[0])
        if node.kind == "abs":
            return abs(args[0])
        if node.kind == "max":
            return maximum(*args)
        return node.data(*args)

    @staticmethod
    def _product(powers: Sequence[Any], exponents: Sequence[float]) -> Any:
        above = [x for x, p in zip(powers, exponents, strict=True) if p > 0]
        under = [x for x, p in zip(powers, exponents, strict=True) if p < 0]
        top = _times(above)
        return top if not under else (1.0 if top is None else top) / _times(under)


def _is_square_of_kinks(node: Node) -> bool:
    """Whether it is p^k, k ≥ 1, for a p ≥ 0 with kinks that is convex by a proof which an expression does not show. As
    max(p, 0)^k it needs none: t^k rises with t ≥ p, t ≥ 0, and p has a row of its own."""
    if len(node.args) != 1 or node.data[0] < 1:
        return False
    base = node.args[0]
    has_kinks = any(part.kind in ("max", "abs") for part in below([base]))
    return has_kinks and base.kind not in ("max", "abs") and base.lower >= 0 and not _is_plainly_convex(base)


def _is_plainly_convex(node: Node) -> bool:
    """Whether the rules of disciplined convex programming say so of the node as it is written."""
    if node.kind == "affine":
        return True
    if node.kind == "sum":
        return all(c > 0 and _is_plainly_convex(term) for c, term in node.terms)
    if node.kind == "max":
        return all(_is_plainly_convex(a) for a in node.args)
    arg = node.args[0] if len(node.args) == 1 else None
    if arg is None:
        return False
    if node.kind == "abs" or (node.kind == "product" and node.data[0] == 2):
        return arg.kind == "affine" or (arg.lower >= 0 and _is_plainly_convex(arg))
    return node.kind == "apply" and node.data == "exp" and _is_plainly_convex(arg)


def _times(factors: Sequence[Any]) -> Any:
    total = None
    for factor in factors:
        total = factor if total is None else total * factor
    return total


def _power(base: Any, p: float) -> Any:
    """The base to the power |p|."""
    size = abs(p)
    if size == 1.0:
        return base
    if size == 0.5:
        return pyo.sqrt(base)
    return base ** (int(size) if size.is_integer() else size)


def _scaled(c: float, expression: Any) -> Any:
    return expression if c == 1.0 else -expression if c == -1.0 else c * expression

"""Pyomo expressions as nodes. No recursion: a sum of thousands of sums, and an expression that is used often, are read
once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import pyomo.core.expr.numeric_expr as px
from pyomo.core.expr.numvalue import is_potentially_variable, native_numeric_types

from dcprog.errors import ModelError
from dcprog.functions.binding import FunctionExpression
from dcprog.program.constants import constant, leaf_is_fixed, shortened
from dcprog.program.curvature import elementary
from dcprog.program.curvature.nodes import Graph, Node

Parts: TypeAlias = list[tuple[float, Any]]
SUMS = (px.SumExpression, px.LinearExpression)


class Reader:
    """Reads expressions into a graph; ``index`` says which number each variable has in it."""

    def __init__(self, graph: Graph, index: Mapping[int, int]) -> None:
        self.graph, self.index = graph, index
        self._known: dict[int, Node] = {}
        self._alive: list[Any] = []  # an id means something as long as its object lives

    def read(self, expression: Any) -> Node:
        """The node of an expression."""
        stack: list[tuple[Any, _Region | None]] = [(expression, None)]
        while stack:
            root, region = stack.pop()
            if id(root) in self._known:
                continue
            if region is None:
                region = self._region(root)
                missing = [a for node, _ in region.curved for a in self._arguments(node) if id(a) not in self._known]
                if missing:
                    stack += [(root, region), *((a, None) for a in missing)]
                    continue
            self._remember(
                root, self.graph.sum(region.constant, region.linear, [(w, self._curved(n)) for n, w in region.curved])
            )
        return self._known[id(expression)]

    def _remember(self, expression: Any, node: Node) -> None:
        self._alive.append(expression)
        self._known[id(expression)] = node

    def _region(self, root: Any) -> _Region:
        """What ``root`` is a sum of, through sums, multiples and named expressions; each of these is looked at once."""
        weights = {id(root): 1.0}
        region = _Region()
        for node, parts in _sums_first(root):
            weight = weights[id(node)]
            if parts is None:
                self._leaf(node, weight, region)
                continue
            for factor, part in parts:
                weights[id(part)] = weights.get(id(part), 0.0) + weight * factor
        return region

    def _leaf(self, node: Any, weight: float, region: _Region) -> None:
        if type(node) in native_numeric_types or not is_potentially_variable(node):
            region.constant += weight * constant(node)
        elif node.is_variable_type():
            if node.fixed:
                region.constant += weight * constant(node)
            elif id(node) in self.index:
                i = self.index[id(node)]
                region.linear[i] = region.linear.get(i, 0.0) + weight
            else:
                raise ModelError(
                    f"variable {node.name} belongs to another model, or to a deactivated block: use the variables of the "
                    "model given"
                )
        elif isinstance(node, px.Expr_ifExpression):
            raise ModelError(
                f"Expr_if in {shortened(node)} switches between cases: decide in Python if the condition is known, or write "
                "dcprog.maximum(…) of the two cases"
            )
        else:
            region.curved.append((node, weight))

    @staticmethod
    def _arguments(node: Any) -> Iterator[Any]:
        yield from node.args

    def _curved(self, node: Any) -> Node:
        """A node that is no sum, its arguments being known."""
        args = [self._known[id(a)] for a in node.args]
        kind, graph = type(node), self.graph
        if isinstance(node, FunctionExpression):
            return graph.function(node.function, args)
        if isinstance(node, px.ProductExpression):
            return graph.product(*args)
        if isinstance(node, px.DivisionExpression):
            return graph.product(args[0], graph.power(args[1], -1.0))
        if isinstance(node, px.PowExpression):
            return self._power(*args)
        if isinstance(node, px.AbsExpression):
            return graph.abs(args[0])
        if isinstance(node, px.MaxExpression):
            return graph.max(args)
        if isinstance(node, px.MinExpression):
            return graph.scaled(-1.0, graph.max([graph.scaled(-1.0, a) for a in args]))
        name = node.getname() if kind is px.UnaryFunctionExpression else ""
        if name == "sqrt":
            return graph.power(args[0], 0.5)
        if name == "log10":
            return graph.scaled(1.0 / math.log(10.0), graph.apply("log", args[0]))
        if name in elementary.NAMES:
            return graph.apply(name, args[0])
        raise ModelError(f"{node.getname()} in {shortened(node)} is no function whose curvature is known here")

    def _power(self, base: Node, exponent: Node) -> Node:
        if exponent.is_constant:
            return self.graph.power(base, exponent.constant)
        return self.graph.apply("exp", self.graph.product(exponent, self.graph.apply("log", base)))


class _Region:
    """constant + Σ linear + Σ weight · curved."""

    def __init__(self) -> None:
        self.constant = 0.0
        self.linear: dict[int, float] = {}
        self.curved: list[tuple[Any, float]] = []


def _additive(node: Any) -> Parts | None:
    """(factor, part) pairs that add up to the node; None if it is no sum."""
    kind = type(node)
    if kind in native_numeric_types or not is_potentially_variable(node) or node.is_variable_type():
        return None
    if kind is px.MonomialTermExpression:
        return [(constant(node.arg(0)), node.arg(1))]
    if isinstance(node, SUMS):
        return [(1.0, part) for part in node.args]
    if kind is px.NegationExpression:
        return [(-1.0, node.arg(0))]
    if node.is_named_expression_type():
        return [(1.0, constant(node) if node.arg(0) is None else node.arg(0))]
    if kind is px.ProductExpression and leaf_is_fixed(node.arg(0)):
        return [(constant(node.arg(0)), node.arg(1))]
    if kind is px.ProductExpression and leaf_is_fixed(node.arg(1)):
        return [(constant(node.arg(1)), node.arg(0))]
    if kind is px.DivisionExpression and leaf_is_fixed(node.arg(1)) and constant(node.arg(1)) != 0.0:
        return [(1.0 / constant(node.arg(1)), node.arg(0))]
    return None


def _sums_first(root: Any) -> list[tuple[Any, Parts | None]]:
    """The parts of a sum, every sum before what it is a sum of."""
    known: dict[int, Parts | None] = {}
    finished: list[tuple[Any, Parts | None]] = []
    done: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        if id(node) in known:
            stack.pop()
            if id(node) not in done:
                done.add(id(node))
                finished.append((node, known[id(node)]))
            continue
        known[id(node)] = parts = _additive(node)
        stack += [part for _, part in parts or () if id(part) not in known]
    return finished[::-1]

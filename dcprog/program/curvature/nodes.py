"""Expressions in a normal form in which equal parts are one node, each with an interval of its values.

    affine    b + Σ aᵢxᵢ
    sum       affine + Σ cₖ · node
    product   Π nodeᵢ^pᵢ, which holds powers, quotients and roots, too
    apply     exp, log, sin, … of a node;  abs;  max of nodes;  a vectorised function of variables

A child is made before its parent, so that the order of the numbers is one in which all nodes can be visited without
recursion.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from dcprog.program.curvature import elementary, quadratics
from dcprog.program.curvature.enclosures import has_pole, linear_end, product_bounds, rounded, sum_bounds

ROUNDING = 4e-16
"""What is left of a sum that cancels, relative to its terms, counts as 0 up to this."""


class Node:
    """One expression. ``args`` are its nodes, ``data`` what else makes it up; ``lower`` and ``upper`` bound its values."""

    __slots__ = ("args", "data", "kind", "lower", "number", "shape", "support", "upper")

    def __init__(self, number: int, kind: str, args: tuple[Node, ...], data: Any, bounds: tuple[float, float]) -> None:
        self.number, self.kind, self.args, self.data = number, kind, args, data
        self.lower, self.upper = bounds
        self.shape: Any = None
        """What is known of its curvature, see :mod:`dcprog.program.curvature.shapes`."""
        self.support: frozenset[int] | None = None

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.kind == "affine" and not self.data[0]

    @property
    def constant(self) -> float:
        """The number added in an affine form."""
        return float(self.data[1])

    @property
    def coefficients(self) -> tuple[tuple[int, float], ...]:
        """(variable, coefficient) pairs of an affine form."""
        pairs: tuple[tuple[int, float], ...] = self.data[0]
        return pairs

    @property
    def terms(self) -> list[tuple[float, Node]]:
        """(coefficient, node) pairs of a sum, without its affine part."""
        return list(zip(self.data, self.args[1:], strict=True)) if self.kind == "sum" else [(1.0, self)]

    @property
    def factors(self) -> list[tuple[Node, float]]:
        """(node, exponent) pairs of a product."""
        return list(zip(self.args, self.data, strict=True)) if self.kind == "product" else [(self, 1.0)]


class Graph:
    """Makes nodes; variables are numbers, with the bounds given."""

    def __init__(self, lower: Sequence[float], upper: Sequence[float], names: Sequence[str]) -> None:
        self.lower, self.upper, self.names = lower, upper, names
        self.nodes: list[Node] = []
        self.defects: list[Node] = []
        """Nodes whose function may be undefined somewhere."""
        self.rows: dict[tuple[tuple[int, float], ...], tuple[float, float]] = {}
        """Bounds of linear forms that rows give."""
        self.broken = 0
        """How many numbers and coefficients were NaN or infinite."""
        self._known: dict[Any, Node] = {}

    # makers

    def number(self, value: float) -> Node:
        """A constant."""
        return self.affine({}, value)

    def variable(self, i: int) -> Node:
        """xᵢ."""
        return self.affine({i: 1.0}, 0.0)

    def affine(self, coefficients: Mapping[int, float], constant: float) -> Node:
        """constant + Σ aᵢxᵢ. Variables between equal bounds are numbers."""
        fixed = [i for i in coefficients if self.lower[i] == self.upper[i]]
        if fixed:
            constant = math.fsum([constant, *(coefficients[i] * self.lower[i] for i in fixed)])
        self.broken += not all(map(math.isfinite, (constant, *coefficients.values())))
        pairs = tuple(sorted((i, a) for i, a in coefficients.items() if a != 0.0 and self.lower[i] != self.upper[i]))
        key = ("affine", pairs, constant)
        return self._known.get(key) or self._new(key, (), (pairs, constant), self._affine_bounds(pairs, constant))

    def sum(self, constant: float, linear: Mapping[int, float], terms: Iterable[tuple[float, Node]]) -> Node:
        """constant + Σ aᵢxᵢ + Σ c · node, sums within it merged."""
        linear, collected, sizes = dict(linear), {}, {}  # type: ignore[var-annotated]
        stack = list(terms)
        while stack:
            c, node = stack.pop()
            self.broken += not math.isfinite(c)
            if node.kind == "affine":
                constant += c * node.constant
                for i, a in node.coefficients:
                    linear[i] = linear.get(i, 0.0) + c * a
            elif node.kind == "sum":
                stack += [(c, node.args[0]), *((c * k, t) for k, t in node.terms)]
            else:
                collected[node] = collected.get(node, 0.0) + c
                sizes[node] = sizes.get(node, 0.0) + abs(c)
        kept = sorted((t.number, t, c) for t, c in collected.items() if abs(c) > ROUNDING * sizes[t])
        line = self.affine(linear, constant)
        if not kept:
            return line
        if len(kept) == 1 and kept[0][2] == 1.0 and line.is_constant and line.constant == 0.0:
            return kept[0][1]
        nodes, coefficients = tuple(t for _, t, _ in kept), tuple(c for _, _, c in kept)
        key = ("sum", line.number, coefficients, tuple(t.number for t in nodes))
        if key in self._known:
            return self._known[key]
        made = self._new(key, (line, *nodes), coefficients, sum_bounds(line, coefficients, nodes))
        if made.lower < 0 < made.upper:
            made.lower = max(made.lower, self._least_of_forms(line, coefficients, nodes))
        return made

    def _least_of_forms(self, line: Node, coefficients: Sequence[float], nodes: Sequence[Node]) -> float:
        """A lower bound of a sum whose quadratic terms, with or without the affine part, are never negative together."""
        forms = [(c, n) for c, n in zip(coefficients, nodes, strict=True) if quadratics.is_quadratic(n)]
        others = [(c, n) for c, n in zip(coefficients, nodes, strict=True) if not quadratics.is_quadratic(n)]
        if not forms or (others and len(forms) == 1 and line.is_constant):
            return -math.inf
        beside = sum_bounds(self.number(0.0), [c for c, _ in others], [n for _, n in others])[0] if others else 0.0
        if beside > -math.inf and quadratics.is_squared_norm(line, forms):
            return beside
        least = sum_bounds(line, [c for c, _ in others], [n for _, n in others])[0] if others else line.lower
        return least if least > -math.inf and quadratics.is_squared_norm(self.number(0.0), forms) else -math.inf

    def scaled(self, c: float, node: Node) -> Node:
        """c · node."""
        return node if c == 1.0 else self.sum(0.0, {}, [(c, node)])

    def product(self, a: Node, b: Node) -> Node:
        """a · b."""
        (c, p), (d, q) = self.split(a), self.split(b)
        return self.scaled(c * d, self._product([*p.factors, *q.factors]))

    def power(self, base: Node, p: float) -> Node:
        """baseᵖ."""
        if base.is_constant:
            return self.number(_real(lambda: base.constant**p))
        if p == 0.0:
            return self.number(1.0)
        c, core = self.split(base)
        whole = float(p).is_integer()
        if not whole and c < 0:
            c, core = 1.0, base
        if (
            core.kind == "product"
            and not any(p < 0 and q < 0 and has_pole(f, q) for f, q in core.factors)
            and all((whole and (float(q).is_integer() or f.lower >= 0)) or f.lower >= 0 for f, q in core.factors)
        ):
            made = self._product([(f, q * p) for f, q in core.factors])
        elif core.kind == "abs" and whole and p % 2 == 0:
            made = self._product([(core.args[0], p)])
        else:
            made = self._product([(core, p)])
        return self.scaled(_real(lambda: abs(c) ** p) * (-1.0 if c < 0 and p % 2 == 1 else 1.0), made)

    def apply(self, name: str, arg: Node) -> Node:
        """exp(arg), log(arg), …"""
        if arg.is_constant:
            return self.number(_real(lambda: getattr(math, name)(arg.constant)))
        if name == "log":
            c, core = self.split(arg)
            if c > 0 and c != 1.0:
                return self.sum(math.log(c), {}, [(1.0, self.apply("log", core))])
            if arg.kind == "apply" and arg.data == "exp":
                return arg.args[0]
        key = (name, arg.number)
        if key in self._known:
            return self._known[key]
        whole = elementary.defined(name, arg.lower, arg.upper)
        bounds = elementary.value_range(name, arg.lower, arg.upper) if whole or name != "tan" else (-math.inf, math.inf)
        node = self._new(key, (arg,), name, bounds, "apply")
        if not whole:
            self.defects.append(node)
        return node

    def abs(self, arg: Node) -> Node:
        """|arg|."""
        if arg.lower >= 0:
            return arg
        if arg.upper <= 0:
            return self.scaled(-1.0, arg)
        c, core = self.split(arg)
        if c != 1.0:
            return self.scaled(abs(c), self.abs(core))
        key = ("abs", arg.number)
        bounds = 0.0, max(-arg.lower, arg.upper)
        return self._known.get(key) or self._new(key, (arg,), None, bounds)

    def max(self, pieces: Sequence[Node]) -> Node:
        """max(pieces), those that never are the largest left out."""
        floor = max(p.lower for p in pieces)
        distinct = dict.fromkeys(
            q for p in pieces for q in (p.args if p.kind == "max" else (p,)) if q.upper > floor or q.lower == floor
        )
        kept = tuple(sorted(distinct, key=lambda p: p.number))
        if len(kept) == 1:
            return kept[0]
        key = ("max", *(p.number for p in kept))
        bounds = max(p.lower for p in kept), max(p.upper for p in kept)
        return self._known.get(key) or self._new(key, kept, None, bounds)

    def function(self, function: Any, arguments: Sequence[Node]) -> Node:
        """A vectorised function of the nodes."""
        key = ("function", id(function), *(a.number for a in arguments))
        lowest = float(function.lowest) if function.proved_convex else -math.inf
        return self._known.get(key) or self._new(key, tuple(arguments), function, (lowest, math.inf))

    def split(self, node: Node) -> tuple[float, Node]:
        """c and a node with node = c · that node, where that is seen at once."""
        if node.kind == "sum" and len(node.args) == 2 and node.args[0].is_constant and node.args[0].constant == 0.0:
            return float(node.data[0]), node.args[1]
        if node.kind == "affine" and len(node.coefficients) == 1 and node.constant == 0.0:
            i, a = node.coefficients[0]
            return a, self.variable(i)
        if node.is_constant:
            return node.constant, self.number(1.0)
        return 1.0, node

    # what makes them

    def _product(self, factors: Iterable[tuple[Node, float]]) -> Node:
        powers: dict[Node, float] = {}
        apart: list[tuple[Node, float]] = []
        for node, p in factors:
            if node.is_constant:  # a split leaves 1
                continue
            q = powers.get(node)
            if q is None:
                powers[node] = p
            elif p * q > 0 or node.lower > 0 or node.upper < 0 or (node.kind == "affine" and node.lower * node.upper >= 0):
                powers[node] = q + p
            else:
                apart.append((node, p))  # x · (1/x) has no value at 0
        kept = [(node, p) for node, p in powers.items() if p != 0.0] + apart
        kept.sort(key=lambda pair: (pair[0].number, pair[1]))
        if not kept:
            return self.number(1.0)
        if len(kept) == 1 and kept[0][1] == 1.0:
            return kept[0][0]
        if len(kept) == 1 and kept[0][1] == int(kept[0][1]) and kept[0][0].kind == "product":
            return self._product([(f, q * kept[0][1]) for f, q in kept[0][0].factors])
        key = ("product", tuple((node.number, p) for node, p in kept))
        if key in self._known:
            return self._known[key]
        nodes, exponents = tuple(n for n, _ in kept), tuple(float(p) for _, p in kept)
        made = self._new(key, nodes, exponents, product_bounds(kept), "product")
        if any(has_pole(node, p) for node, p in kept):
            self.defects.append(made)
        return made

    def _new(self, key: Any, args: tuple[Node, ...], data: Any, bounds: tuple[float, float], kind: str = "") -> Node:
        node = Node(len(self.nodes), kind or key[0], args, data, bounds)
        self.nodes.append(node)
        self._known[key] = node
        return node

    def _affine_bounds(self, pairs: tuple[tuple[int, float], ...], constant: float) -> tuple[float, float]:
        ends = [(self.lower[i], self.upper[i]) if a > 0 else (self.upper[i], self.lower[i]) for i, a in pairs]
        low = linear_end(pairs, [e[0] for e in ends], constant, -1.0)
        high = linear_end(pairs, [e[1] for e in ends], constant, 1.0)
        if self.rows and len(pairs) > 1:
            low, high = self._within_rows(pairs, constant, low, high)
        return low, high

    def _within_rows(
        self, pairs: tuple[tuple[int, float], ...], constant: float, low: float, high: float
    ) -> tuple[float, float]:
        """The bounds, no wider than a row on a multiple of the same linear form allows."""
        scale, unit = direction(pairs)
        if unit not in self.rows:
            return low, high
        ends = [
            Fraction(b) * Fraction(scale) + Fraction(constant) if math.isfinite(b) else math.copysign(1, scale) * b
            for b in self.rows[unit]
        ]
        bottom, top = sorted(ends)
        return max(low, rounded(bottom, -1.0)), min(high, rounded(top, 1.0))


def direction(pairs: Sequence[tuple[int, float]]) -> tuple[float, tuple[tuple[int, float], ...]]:
    """scale and a form with its first coefficient 1 such that pairs = scale · form exactly; else 1 and the pairs.

    >>> direction(((0, 2.0), (3, -4.0)))
    (2.0, ((0, 1.0), (3, -2.0)))
    """
    scale = pairs[0][1]
    if scale == 1.0:
        return 1.0, tuple(pairs)
    unit = tuple((i, a / scale) for i, a in pairs)
    if all(Fraction(u) * Fraction(scale) == Fraction(a) for (_, u), (_, a) in zip(unit, pairs, strict=True)):
        return scale, unit
    return 1.0, tuple(pairs)


def support(node: Node) -> frozenset[int]:
    """The variables that a node depends on."""
    stack = [node]
    while stack:
        top = stack[-1]
        if top.support is not None:
            stack.pop()
        elif top.kind == "affine":
            top.support = frozenset(i for i, _ in top.coefficients)
        elif unknown := [a for a in top.args if a.support is None]:
            stack += unknown
        else:
            top.support = frozenset().union(*(a.support for a in top.args if a.support is not None))
    return node.support if node.support is not None else frozenset()


def below(roots: Iterable[Node]) -> list[Node]:
    """The nodes that the roots are made of, children first."""
    seen: dict[int, Node] = {}
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node.number not in seen:
            seen[node.number] = node
            stack += node.args
    return [seen[k] for k in sorted(seen)]


def _real(value: Any) -> float:
    try:
        result = value()
    except (ValueError, ArithmeticError):
        return math.nan
    return float(result) if isinstance(result, int | float) else math.nan

"""Sums of nodes as straight-line programs, with their Hessians in interval arithmetic for many boxes at once.

Programs of one signature differ in their constants only, so that thousands of terms of one shape are evaluated together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dcprog.program.curvature import elementary
from dcprog.program.curvature.intervals import Interval, add, multiply, point, square
from dcprog.program.curvature.nodes import Graph, Node, below, direction
from dcprog.typing import Indices, Vector

Term: TypeAlias = tuple[float, Node]
KINKS = frozenset({"abs", "max", "function"})


class Program(NamedTuple):
    """``steps`` over ``size`` variables and then the results of the steps before; ``constants`` are their numbers."""

    size: int
    steps: tuple[tuple[Any, ...], ...]
    constants: tuple[float, ...]

    @property
    def signature(self) -> tuple[Any, ...]:
        """What programs that are evaluated together have in common."""
        return self.size, self.steps


class Compiled(NamedTuple):
    """A program and its variables: as many affine forms with their bounds."""

    program: Program
    forms: tuple[Node, ...]


class Jet(NamedTuple):
    """A value with first and second derivatives; None stands for zero."""

    value: Interval
    gradient: Interval | None
    hessian: Interval | None


def compile_in_variables(graph: Graph, terms: Sequence[Term]) -> Compiled | None:
    """The program of Σ c · node in the variables themselves; None if it is not twice differentiable in its domain."""
    nodes = _smooth_nodes(terms)
    if nodes is None:
        return None
    variables = sorted({i for n in nodes if n.kind == "affine" for i, _ in n.coefficients})
    places = {i: k for k, i in enumerate(variables)}
    lines = {n: [(places[i], a) for i, a in n.coefficients] for n in nodes if n.kind == "affine"}
    return Compiled(_program(nodes, terms, lines, len(variables)), tuple(map(graph.variable, variables)))


def compile_in_forms(graph: Graph, terms: Sequence[Term]) -> Compiled | None:
    """The program in the linear forms that the terms are made of, each of these counting as a variable of its own: as φ(a'x)
    is convex where φ is. None if there are no fewer forms than variables."""
    nodes = _smooth_nodes(terms)
    if nodes is None:
        return None
    leaves = [n for n in nodes if n.kind == "affine" and n.coefficients]
    places: dict[Any, int] = {}
    lines: dict[Node, list[tuple[int, float]]] = {}
    for leaf in leaves:
        scale, unit = direction(leaf.coefficients)
        lines[leaf] = [(places.setdefault(unit, len(places)), scale)]
    if len(places) >= len({i for leaf in leaves for i, _ in leaf.coefficients}):
        return None
    forms = tuple(graph.affine(dict(unit), 0.0) for unit in places)
    return Compiled(_program(nodes, terms, lines, len(forms)), forms)


def _smooth_nodes(terms: Sequence[Term]) -> list[Node] | None:
    """What the terms are made of; None unless all of it is twice differentiable inside of the domain."""
    nodes = below([t for _, t in terms])
    smooth = all(map(_is_smooth, nodes)) and not any(t.kind in KINKS for _, t in terms)
    return nodes if smooth else None


def _is_smooth(node: Node) -> bool:
    """Whether the step that makes it is twice differentiable inside of the domain, given that it is defined there."""
    if node.kind in ("affine", "sum", "apply") and any(a.kind in KINKS for a in node.args):
        return False
    if node.kind in ("affine", "sum"):
        return True
    if node.kind == "product":
        return all(_is_smooth_power(b, p) for b, p in node.factors)
    if node.kind == "apply":
        low, high = elementary.ELEMENTARY[node.data].domain if node.data in elementary.ELEMENTARY else (-np.inf, np.inf)
        arg = node.args[0]
        return (low < arg.lower and arg.upper < high) or (arg.kind == "affine" and low <= arg.lower and arg.upper <= high)
    return node.kind == "abs"  # in a power of at least 2: nothing else may have a kink in it


def _is_smooth_power(base: Node, p: float) -> bool:
    if base.kind in KINKS:
        return base.kind == "abs" and p >= 2
    if p >= 2 or p == 1:
        return float(p).is_integer() or base.lower >= 0
    if float(p).is_integer() and base.upper < 0:
        return True
    return base.lower > 0 or (base.kind == "affine" and base.lower >= 0)


def _program(
    nodes: Sequence[Node], terms: Sequence[Term], lines: Mapping[Node, list[tuple[int, float]]], size: int
) -> Program:
    steps: list[tuple[Any, ...]] = []
    constants: list[float] = []
    slots: dict[Node, int] = {}

    def emit(*step: Any, bounds: Node | None = None) -> int:
        if bounds is not None:
            constants.extend((bounds.lower, bounds.upper))
        steps.append((bounds is not None, *step))
        return size + len(steps) - 1

    for node in nodes:
        if node.kind == "affine":
            pairs = lines.get(node, [])
            constants.extend([node.constant, *(a for _, a in pairs)])
            slots[node] = emit("linear", tuple(k for k, _ in pairs), bounds=node)
        elif node.kind == "sum":
            constants.extend([0.0, 1.0, *node.data])
            slots[node] = emit("linear", tuple(slots[a] for a in node.args), bounds=node)
        elif node.kind == "apply":
            slots[node] = emit("apply", slots[node.args[0]], node.data, bounds=node)
        elif node.kind == "abs":
            slots[node] = slots[node.args[0]]
        else:
            slots[node] = _emit_product(emit, node, slots)
    constants.extend([0.0, *(c for c, _ in terms)])
    emit("linear", tuple(slots[t] for _, t in terms))
    return Program(size, tuple(steps), tuple(constants))


def _emit_product(emit: Any, node: Node, slots: Mapping[Node, int]) -> int:
    last: int | None = None
    factors = node.factors
    entropy = _entropy(factors)
    if entropy is not None:
        log, u = entropy
        last = emit("apply", slots[u], elementary.ENTROPY)
        factors = [(b, p) for b, p in factors if b is not log and b is not u]
    for base, p in factors:
        kind = "size" if base.kind == "abs" else "power"
        here = slots[base] if p == 1.0 else emit(kind, slots[base], p)
        last = here if last is None else emit("product", last, here)
    assert last is not None
    return last


def _entropy(factors: Sequence[tuple[Node, float]]) -> tuple[Node, Node] | None:
    """(log u, u) where both are factors."""
    single = [b for b, p in factors if p == 1.0]
    for log in single:
        if log.kind == "apply" and log.data == "log" and log.args[0] in single:
            return log, log.args[0]
    return None


def evaluate(program: Program, constants: Vector, boxes: Interval) -> Jet:
    """The last step on boxes, (size, count), with constants (number, count)."""
    k, count = boxes.lower.shape
    slots = [Jet(boxes.at(i), point(np.broadcast_to(np.eye(k)[i][:, None], (k, count))), None) for i in range(k)]
    used = 0
    with np.errstate(all="ignore"):
        for bounded, name, args, *rest in program.steps:
            if name == "linear":
                weights = constants[used : used + 1 + len(args)]
                used += 1 + len(args)
                jet = _linear(weights, [slots[a] for a in args])
            elif name == "product":
                jet = _product(slots[args], slots[rest[0]])
            else:
                jet = _composed(slots[args], _ranges(name, slots[args].value, rest[0]))
            if bounded:
                jet = jet._replace(value=_within(jet.value, constants[used], constants[used + 1]))
                used += 2
            slots.append(jet)
    return slots[-1]


def _ranges(name: str, x: Interval, data: Any) -> tuple[Interval, Interval, Interval]:
    if name == "apply":
        return elementary.ranges(data, x)
    if name == "power":
        return elementary.power_ranges(data, x)
    value, slope, bend = elementary.power_ranges(data, _size(x))  # |x|ᵖ with p ≥ 2
    side = Interval(np.where(x.lower < 0, -1.0, 1.0), np.where(x.upper > 0, 1.0, -1.0))
    return value, multiply(side, slope), bend


def _size(x: Interval) -> Interval:
    return Interval(np.where(x.lower > 0, x.lower, np.where(x.upper < 0, -x.upper, 0.0)), np.maximum(-x.lower, x.upper))


def _within(x: Interval, lower: Vector, upper: Vector) -> Interval:
    """The part of x that lies between bounds; where there is none, no point of the domain lies in the box."""
    low, high = np.maximum(x.lower, lower), np.minimum(x.upper, upper)
    return Interval(np.minimum(low, high), np.maximum(low, high))


def _linear(weights: Vector, jets: Sequence[Jet]) -> Jet:
    total = Jet(point(weights[0]), None, None)
    for weight, jet in zip(weights[1:], jets, strict=True):
        factor = point(weight)
        total = Jet(
            add(total.value, multiply(factor, jet.value)),
            _sum(total.gradient, _times(factor, jet.gradient)),
            _sum(total.hessian, _times(factor, jet.hessian)),
        )
    return total


def _product(a: Jet, b: Jet) -> Jet:
    cross = None
    if a.gradient is not None and b.gradient is not None:
        outer = multiply(_rows(a.gradient), _columns(b.gradient))
        cross = add(outer, Interval(outer.lower.swapaxes(0, 1), outer.upper.swapaxes(0, 1)))
    hessian = _sum(_sum(_times(a.value, b.hessian), _times(b.value, a.hessian)), cross)
    gradient = _sum(_times(a.value, b.gradient), _times(b.value, a.gradient))
    return Jet(multiply(a.value, b.value), gradient, hessian)


def _composed(a: Jet, ranges: tuple[Interval, Interval, Interval]) -> Jet:
    value, slope, bend = ranges
    if a.gradient is None:
        return Jet(value, None, None)
    outer = multiply(_rows(a.gradient), _columns(a.gradient))
    squares, diagonal = square(a.gradient), np.arange(len(a.gradient.lower))
    outer.lower[diagonal, diagonal], outer.upper[diagonal, diagonal] = squares
    return Jet(value, _times(slope, a.gradient), _sum(_times(bend, outer), _times(slope, a.hessian)))


def _rows(x: Interval) -> Interval:
    return Interval(x.lower[:, None], x.upper[:, None])


def _columns(x: Interval) -> Interval:
    return Interval(x.lower[None], x.upper[None])


def _times(a: Interval, b: Interval | None) -> Interval | None:
    return None if b is None else multiply(a, b)


def _sum(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None or b is None:
        return b if a is None else a
    return add(a, b)


def stacked(programs: Sequence[Program]) -> Vector:
    """The constants of programs of one signature, one column each."""
    constants: Vector = np.array([p.constants for p in programs], dtype=float).T
    return constants


def grouped(programs: Sequence[Program]) -> list[Indices]:
    """Which programs have the same signature."""
    groups: dict[Any, list[int]] = {}
    for k, program in enumerate(programs):
        groups.setdefault(program.signature, []).append(k)
    return [np.array(g) for g in groups.values()]

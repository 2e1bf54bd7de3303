"""Convex compositions with kinks inside, φ(x, max(a(x), b(x))): which of them an epigraph variable t ≥ a(x), b(x) takes.

Where φ is convex and does not fall as its argument t rises, min φ(x, t) over t ≥ max(a(x), b(x)) is φ(x, max(a(x), b(x))),
and it is convex where a and b are. Both are proved by the operations of a tape: intervals from the bounds of the variables,
the signs of slopes, and the rules of disciplined convex programming. Grant, Boyd & Ye (2006).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dcprog.convex.tape import KINKS, Operation, Tape
from dcprog.program.curvature import tapes

INF = math.inf
RISING = frozenset({"exp", "log", "log10", "sqrt", "sinh", "tanh", "atan", "asinh", "asin", "acosh", "atanh", "logsumexp"})
CONVEX_RISING = frozenset({"exp", "logsumexp"})
CONCAVE_RISING = frozenset({"log", "log10", "sqrt"})
TURNED = {"convex": "concave", "concave": "convex", "affine": "affine", "constant": "constant"}


class Slot(NamedTuple):
    """What is known of a slot of a tape: its range, and its shape as a function of the variables."""

    low: float
    high: float
    shape: str


class Split(NamedTuple):
    """A tape with its outermost kinks taken out: ``outer`` has them as variables, ``inner`` are they."""

    outer: Tape
    inner: tuple[Tape, ...]


def range_of(tape: Tape, bounds: Callable[[int], tuple[float, float]]) -> tuple[float, float]:
    """Between which numbers a tape, without its weight, lies.

    >>> square = Tape((0,), (2.0,), (Operation("power", (0, 1)),), 1.0)
    >>> range_of(square, lambda i: (-1.0, 3.0))
    (0.0, 9.0)
    """
    last = slots_of(tape, bounds)[-1]
    return last.low, last.high


def slots_of(tape: Tape, bounds: Callable[[int], tuple[float, float]]) -> list[Slot]:
    """Range and shape of every slot; ``bounds`` of a variable."""
    slots = [Slot(*bounds(i), "affine") for i in tape.variables]
    slots += [Slot(c, c, "constant") for c in tape.constants]
    for name, args in tape.operations:
        known = [slots[a] for a in args]
        same = len(args) == 2 and args[0] == args[1]
        low, high = _range("square" if same and name == "product" else name, known)
        shape = _square(known[0]) if same and name == "product" else _shape(name, known)
        slots.append(Slot(low if low == low else -INF, high if high == high else INF, shape))
    return slots


def takes(tape: Tape, variables: Sequence[int], bounds: Callable[[int], tuple[float, float]]) -> bool:
    """Whether weight · tape is convex and does not fall as one of these variables rises: by its operations one by one, or
    where these do not say so by all rules for curvature."""
    known = slots_of(tape, bounds)
    if rises(tape, variables, known) and is_convex(tape, known):
        return True
    exact = tapes.slots(tape, bounds)
    if exact is None:
        return False
    known = [
        Slot(max(a, s.low), min(b, s.high), w if w != "unknown" else s.shape)
        for (a, b, w), s in zip(exact, known, strict=True)
    ]
    return rises(tape, variables, known) and is_convex(tape, known)


def split(tape: Tape, first: int) -> Split:
    """The tape with its outermost kinks as variables ``first``, ``first`` + 1, …"""
    offset = len(tape.variables) + len(tape.constants)
    found: list[int] = []
    seen: set[int] = set()
    stack = [offset + len(tape.operations) - 1]
    while stack:
        at = stack.pop()
        if at < offset or at in seen:
            continue
        seen.add(at)
        name, args = tape.operations[at - offset]
        if name in KINKS:
            found.append(at)
        else:
            stack.extend(args)
    found.sort()
    outer = _part(tape, offset + len(tape.operations) - 1, {at: first + i for i, at in enumerate(found)})
    return Split(outer, tuple(_part(tape, at, {}) for at in found))


def pieces(tape: Tape) -> tuple[str, list[Tape]]:
    """The last operation of a tape, a kink, and its arguments as tapes."""
    name, args = tape.operations[-1]
    return name, [_part(tape, a, {}) for a in args]


def summands(tape: Tape) -> list[Tape]:
    """Tapes whose sum this one is; one that is no sum stands alone. Multiples by constants are weights."""
    offset = len(tape.variables) + len(tape.constants)
    found: list[Tape] = []
    stack = [(offset + len(tape.operations) - 1, tape.weight)]
    while stack:
        at, weight = stack.pop()
        name, args = tape.operations[at - offset] if at >= offset else ("", ())
        factors = [a for a in args if len(tape.variables) <= a < offset]
        if name == "sum":
            stack += [(a, weight) for a in reversed(args)]
        elif name == "product" and len(factors) == 1:
            stack.append((sum(args) - factors[0], weight * tape.constants[factors[0] - len(tape.variables)]))
        else:
            found.append(_part(tape, at, {})._replace(weight=weight))
    return found


def rises(tape: Tape, variables: Sequence[int], slots: Sequence[Slot]) -> bool:
    """Whether weight · tape does not fall as one of these variables rises."""
    signs: list[str] = ["0"] * len(slots)
    signs[-1] = "+" if tape.weight > 0 else "-"
    offset = len(tape.variables) + len(tape.constants)
    for at in range(len(slots) - 1, offset - 1, -1):
        name, args = tape.operations[at - offset]
        for k, a in enumerate(args):
            signs[a] = _both(signs[a], _times(signs[at], _slope(name, k, [slots[b] for b in args])))
    return all(signs[tape.variables.index(v)] in "0+" for v in variables)


def is_convex(tape: Tape, slots: Sequence[Slot]) -> bool:
    """Whether weight · tape is convex by the rules."""
    shape = slots[-1].shape if tape.weight > 0 else TURNED.get(slots[-1].shape, "unknown")
    return shape in ("constant", "affine", "convex")


def _part(tape: Tape, root: int, variables: dict[int, int]) -> Tape:
    """The tape of one slot, with some slots replaced by variables."""
    k = len(tape.variables)
    offset = k + len(tape.constants)
    needed: set[int] = set()
    stack = [root]
    while stack:
        at = stack.pop()
        if at in needed:
            continue
        needed.add(at)
        if at >= offset and at not in variables:
            stack.extend(tape.operations[at - offset].args)
    kept = sorted(needed)
    names = {at: tape.variables[at] for at in kept if at < k} | {at: variables[at] for at in kept if at in variables}
    constants = [at for at in kept if k <= at < offset]
    operations = [at for at in kept if at >= offset and at not in variables]
    new = {at: i for i, at in enumerate([*names, *constants, *operations])}
    steps = [Operation(o.name, tuple(new[a] for a in o.args)) for o in (tape.operations[at - offset] for at in operations)]
    if root < offset or root in variables:  # a tape ends with an operation
        steps.append(Operation("sum", (new[root],)))
    weight = tape.weight if root == offset + len(tape.operations) - 1 else 1.0
    return Tape(tuple(names.values()), tuple(tape.constants[at - k] for at in constants), tuple(steps), weight)


def _range(name: str, args: Sequence[Slot]) -> tuple[float, float]:
    low, high = args[0].low, args[0].high
    if name == "sum":
        return sum(a.low for a in args), sum(a.high for a in args)
    if name == "square":
        return _absolute(low, high)[0] ** 2, _absolute(low, high)[1] ** 2
    if name == "product":
        ends = [_multiplied(a, b) for a in (low, high) for b in (args[1].low, args[1].high)]
        return min(ends), max(ends)
    if name == "max":
        return max(a.low for a in args), max(a.high for a in args)
    if name == "abs":
        return _absolute(low, high)
    if name == "logsumexp":
        return max(a.low for a in args), max(a.high for a in args) + math.log(len(args))
    if name == "power":
        return _power_range(low, high, args[1].low)
    if name == "exp":
        return _exp(low), _exp(high)
    if name == "sqrt":
        return math.sqrt(max(low, 0.0)), math.sqrt(max(high, 0.0))
    if name == "cosh":
        return 1.0, INF
    if name == "reciprocal" and low > 0:
        return 1.0 / high, 1.0 / low
    if name in ("log", "log10") and low > 0:
        scale = 1.0 if name == "log" else math.log(10)
        return math.log(low) / scale, (math.log(high) if high < INF else INF) / scale
    if name in ("sin", "cos", "tanh"):
        return -1.0, 1.0
    return -INF, INF


def _absolute(low: float, high: float) -> tuple[float, float]:
    return max(low, -high, 0.0), max(high, -low)


def _multiplied(a: float, b: float) -> float:
    return 0.0 if a == 0 or b == 0 else a * b


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else INF


def _power_range(low: float, high: float, p: float) -> tuple[float, float]:
    if p > 0 and p == int(p) and int(p) % 2 == 0:
        low, high = _absolute(low, high)
    elif low < 0 or p <= 0:
        return (0.0, INF) if low >= 0 else (-INF, INF)
    try:
        return low**p, high**p
    except OverflowError:
        return 0.0 if low >= 0 else -INF, INF


def _square(base: Slot) -> str:
    return _power(base, 2.0)


def _power(base: Slot, p: float) -> str:
    """The shape of base^p."""
    if base.shape == "constant" or p in (0.0, 1.0):
        return "constant" if p == 0.0 else base.shape
    flat, even = base.shape == "affine", p > 0 and p == int(p) and int(p) % 2 == 0
    if (even and flat) or (p >= 1 and base.low >= 0 and (flat or base.shape == "convex")):
        return "convex"
    if even and base.shape == "concave" and base.high <= 0:
        return "convex"
    if p < 0 and base.low >= 0 and (flat or base.shape == "concave"):
        return "convex"
    return "concave" if 0 < p < 1 and base.low >= 0 and (flat or base.shape == "concave") else "unknown"


def _shape(name: str, args: Sequence[Slot]) -> str:
    shapes = {a.shape for a in args}
    first = args[0]
    if shapes == {"constant"}:
        return "constant"
    if name in ("sum", "max") or name in CONVEX_RISING:
        if shapes <= {"constant", "affine"} and name == "sum":
            return "affine"
        if shapes <= {"constant", "affine", "convex"}:
            return "convex"
        return "concave" if name == "sum" and shapes <= {"constant", "affine", "concave"} else "unknown"
    if name == "product":
        return _multiple(*args)
    if name == "power":
        return _power(first, args[1].low)
    if name == "cosh":
        return "convex" if first.shape == "affine" or (first.shape == "convex" and first.low >= 0) else "unknown"
    if name == "abs":
        return _absolute_shape(first)
    if name in CONCAVE_RISING:
        return "concave" if first.shape in ("affine", "concave") else "unknown"
    if name == "reciprocal":
        return "convex" if first.low >= 0 and first.shape in ("affine", "concave") else "unknown"
    return "unknown"


def _absolute_shape(a: Slot) -> str:
    if a.low >= 0 or a.high <= 0:
        return a.shape if a.low >= 0 else TURNED.get(a.shape, "unknown")
    return "convex" if a.shape == "affine" else "unknown"


def _multiple(a: Slot, b: Slot) -> str:
    factor, other = (a, b) if a.shape == "constant" else (b, a)
    if factor.shape != "constant":
        return "unknown"
    return other.shape if factor.low >= 0 else TURNED.get(other.shape, "unknown")


def _slope(name: str, k: int, args: Sequence[Slot]) -> str:
    """The sign of ∂/∂arg k: one of 0, +, −, ?."""
    x = args[0]
    if name in ("sum", "max") or name in RISING:
        return "+"
    if name == "product":
        return _sign(args[1 - k])
    if name in ("abs", "cosh"):
        return _sign(x)
    if name == "reciprocal":
        return "-"
    if name == "power" and k == 0:
        p = args[1].low
        odd = p == int(p) and int(p) % 2 != 0
        inner = "+" if x.low >= 0 or odd else _sign(x) if p == int(p) else "?"
        return _times(inner, "+" if p > 0 else "-")
    return "?"


def _sign(a: Slot) -> str:
    return "+" if a.low >= 0 else "-" if a.high <= 0 else "?"


def _times(a: str, b: str) -> str:
    if "0" in (a, b):
        return "0"
    return "?" if "?" in (a, b) else "+" if a == b else "-"


def _both(a: str, b: str) -> str:
    return b if a == "0" else a if b in ("0", a) else "?"

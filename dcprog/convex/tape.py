"""Scalar expressions as tapes, evaluated and differentiated for a whole batch of them at once.

Terms of a sum that have the same shape — exp(aᵢ − bᵢxᵢ) for i = 1, …, n — are recorded as one list of operations over arrays
of length n. Gradients come from one reverse sweep; Hessians from one forward and one reverse sweep with tangents for every
local variable, so a partially separable sum has the small dense Hessian blocks that its terms have.

At a kink the derivative is a fixed subgradient: 0 for |·| at 0, that of the first piece that attains a maximum, 0 for √a(x)
with a positive sign where a is 0. With a negative sign its slope is infinite there, and there is no subgradient.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from dcprog.functions.indices import distinct
from dcprog.typing import Indices, Vector

Array = np.ndarray[Any, Any]


class Operation(NamedTuple):
    """One step of a tape: apply ``name`` to the slots ``args``."""

    name: str
    args: tuple[int, ...]


class Tape(NamedTuple):
    """Slots 0 … k−1 are variables, the next ones constants, then one slot per operation; the last is the value."""

    variables: tuple[int, ...]
    constants: tuple[float, ...]
    operations: tuple[Operation, ...]
    weight: float

    @property
    def signature(self) -> tuple[Any, ...]:
        """Tapes with the same signature differ only in which variables, constants and weights they carry."""
        return len(self.variables), len(self.constants), self.operations


class Unary(NamedTuple):
    """A function of one variable with its first two derivatives; they take the argument x and the value y."""

    value: Callable[[Array], Array]
    first: Callable[[Array, Array], Array]
    second: Callable[[Array, Array], Array]


UNARY: dict[str, Unary] = {
    "exp": Unary(np.exp, lambda x, y: y, lambda x, y: y),
    "log": Unary(np.log, lambda x, y: 1 / x, lambda x, y: -1 / x**2),
    "log10": Unary(np.log10, lambda x, y: 1 / (x * np.log(10)), lambda x, y: -1 / (x**2 * np.log(10))),
    "sqrt": Unary(np.sqrt, lambda x, y: 0.5 / y, lambda x, y: -0.25 / (x * y)),
    "sin": Unary(np.sin, lambda x, y: np.cos(x), lambda x, y: -y),
    "cos": Unary(np.cos, lambda x, y: -np.sin(x), lambda x, y: -y),
    "tan": Unary(np.tan, lambda x, y: 1 + y**2, lambda x, y: 2 * y * (1 + y**2)),
    "sinh": Unary(np.sinh, lambda x, y: np.cosh(x), lambda x, y: y),
    "cosh": Unary(np.cosh, lambda x, y: np.sinh(x), lambda x, y: y),
    "tanh": Unary(np.tanh, lambda x, y: 1 - y**2, lambda x, y: -2 * y * (1 - y**2)),
    "asin": Unary(np.arcsin, lambda x, y: (1 - x**2) ** -0.5, lambda x, y: x * (1 - x**2) ** -1.5),
    "acos": Unary(np.arccos, lambda x, y: -((1 - x**2) ** -0.5), lambda x, y: -x * (1 - x**2) ** -1.5),
    "atan": Unary(np.arctan, lambda x, y: 1 / (1 + x**2), lambda x, y: -2 * x / (1 + x**2) ** 2),
    "asinh": Unary(np.arcsinh, lambda x, y: (1 + x**2) ** -0.5, lambda x, y: -x * (1 + x**2) ** -1.5),
    "acosh": Unary(np.arccosh, lambda x, y: (x**2 - 1) ** -0.5, lambda x, y: -x * (x**2 - 1) ** -1.5),
    "atanh": Unary(np.arctanh, lambda x, y: 1 / (1 - x**2), lambda x, y: 2 * x / (1 - x**2) ** 2),
    "reciprocal": Unary(lambda x: 1 / x, lambda x, y: -(y**2), lambda x, y: 2 * y**3),
    "abs": Unary(np.abs, lambda x, y: np.sign(x), lambda x, y: np.zeros_like(x)),
}


ROOTS = frozenset({"sqrt", "power", "acosh"})
"""Operations that have infinite slope where they have their least value."""
KINKS = frozenset(("max", "abs"))


def _as_it_is(factor: Any) -> Any:
    return factor


class TapeBatch:
    """Σᵢ weightᵢ · tape(z[variablesᵢ]; constantsᵢ) for tapes of one signature."""

    def __init__(self, tapes: Sequence[Tape]) -> None:
        variables: Indices = np.array([t.variables for t in tapes], dtype=np.int64).reshape(len(tapes), -1).T
        constants = np.array([t.constants for t in tapes], dtype=float).reshape(len(tapes), -1).T
        self._fill(tapes[0].operations, variables, constants, np.array([t.weight for t in tapes], dtype=float))

    def _fill(self, operations: tuple[Operation, ...], variables: Indices, constants: Array, weights: Vector) -> None:
        self.operations, self.variables, self.constants, self.weights = operations, variables, constants, weights
        self.support = distinct(self.variables)
        self._lower = np.tril_indices(len(self.variables))
        i, j = self.variables[self._lower[0]], self.variables[self._lower[1]]
        self.rows, self.cols = np.maximum(i, j).ravel(), np.minimum(i, j).ravel()
        # an off-diagonal pair that names one variable twice counts for both triangles
        self._twice = np.where((i == j) & (self._lower[0] != self._lower[1])[:, None], 2.0, 1.0)

    @property
    def has_kinks(self) -> bool:
        """Whether a maximum or |·| takes part."""
        return any(name in KINKS for name, _ in self.operations)

    def values(self, z: Vector) -> Vector:
        """The value of each tape, without its weight."""
        with np.errstate(all="ignore"):
            return np.broadcast_to(self._forward(z)[-1], self.weights.shape)

    def value(self, z: Vector) -> float:
        return float(self.weights @ self.values(z))

    def add_gradient(self, z: Vector, out: Vector) -> None:
        with np.errstate(all="ignore"):
            adjoints = self._reverse(self._forward(z))
        np.add.at(out, self.variables, adjoints[: len(self.variables)])

    def partials(self, z: Vector) -> Array:
        """∂(weighted value of tape k)/∂(its variable i), by i and k."""
        with np.errstate(all="ignore"):
            adjoints = self._reverse(self._forward(z))
        return np.array([np.broadcast_to(a, self.weights.shape) for a in adjoints[: len(self.variables)]])

    def size(self, z: Vector) -> float:
        """|·| and maxima are as large as what they are made of: Σ|aᵢxᵢ + bᵢ| of forms that all come to 0 would say that f
        has no size there."""
        if self.has_kinks:
            return float(self.value_sizes(z).sum())
        return float(np.abs(self.weights) @ np.abs(self.values(z)))

    def add_gradient_size(self, z: Vector, out: Vector) -> None:
        with np.errstate(all="ignore"):
            adjoints = self._reverse(self._forward(z))
        np.add.at(out, self.variables, np.abs(adjoints[: len(self.variables)]))

    def hessian_values(self, z: Vector) -> Vector:
        with np.errstate(all="ignore"):
            slots = self._forward(z)
            blocks = self._second_order(slots, self._reverse(slots))
        result: Vector = (blocks[self._lower] * self._twice).ravel()
        return result

    def at_points(self, count: int, n: int) -> TapeBatch:
        """The same tapes at ``count`` points of n components each, that are laid end to end in one vector."""
        shifted = (self.variables[:, None, :] + n * np.arange(count)[:, None]).reshape(len(self.variables), -1)
        return TapeBatch._of(self.operations, shifted, np.tile(self.constants, (1, count)), np.tile(self.weights, count))

    def hessian_and_sizes(self, z: Vector) -> tuple[Vector, Vector]:
        """:meth:`hessian_values`, and for each the sum of the sizes of all that was added up in it: its rounding error is
        that of this sum."""
        with np.errstate(all="ignore"):
            slots = self._forward(z)
            values = self._second_order(slots, self._reverse(slots))
            sizes = self._second_order(slots, self._reverse(slots, np.abs), np.abs)
        return (values[self._lower] * self._twice).ravel(), (sizes[self._lower] * self._twice).ravel()

    def value_sizes(self, z: Vector) -> Vector:
        """For each tape the size of what its value is made of, before it cancels: what its rounding is relative to."""
        with np.errstate(all="ignore"):
            slots = self._forward(z)
            sizes = [np.abs(slot) for slot in slots[: len(slots) - len(self.operations)]]
            for at, (name, args) in enumerate(self.operations, start=len(sizes)):
                partials = _partials(name, [slots[a] for a in args], slots[at])
                spread = sum((np.abs(p) * sizes[a] for a, p in zip(args, partials, strict=True)), 0.0)
                sizes.append(np.maximum(np.abs(slots[at]), spread))
            whole: Vector = np.abs(self.weights) * np.broadcast_to(sizes[-1], self.weights.shape)
        return whole

    def branches(self, z: Vector) -> Vector:
        """Which piece of every maximum is the largest, and the sign of what stands in every |·|."""
        with np.errstate(all="ignore"):
            slots = self._forward(z)
            taken = [_branch(name, [slots[a] for a in args]) for name, args in self.operations if name in KINKS]
        return np.concatenate([np.broadcast_to(t, self.weights.shape) for t in taken] or [np.empty(0)])

    def bends_down(self, z: Vector) -> bool:
        """Whether the value falls as some maximum or |·| inside rises: its kink is then one of a concave function."""
        with np.errstate(all="ignore"):
            slots = self._forward(z)
            adjoints = self._reverse(slots)
        return any(
            bool((adjoints[at] < 0).any())
            for at, (name, _) in enumerate(self.operations, len(slots) - len(self.operations))
            if name in KINKS
        )

    @cached_property
    def is_convex(self) -> bool:
        """Whether each value is, by its operations, convex: maxima, multiples and sums of linear forms and squares."""
        return _shape_of(self) in ("constant", "affine", "convex")

    @cached_property
    def is_polyhedral(self) -> bool:
        """Whether it is so without a square: linear in pieces."""
        squares = {"power", "logsumexp"} | {
            name for name, args in self.operations if name == "product" and args[0] == args[1]
        }
        return self.is_convex and not any(name in squares for name, _ in self.operations)

    @classmethod
    def _of(cls, operations: tuple[Operation, ...], variables: Indices, constants: Array, weights: Vector) -> TapeBatch:
        made = cls.__new__(cls)
        made._fill(operations, variables, constants, weights)
        return made

    def expand(self, z: Sequence[Any], namespace: Any) -> Any:
        total = 0.0
        for column, weight in enumerate(self.weights):
            slots = [z[i] for i in self.variables[:, column]] + self.constants[:, column].tolist()
            for name, args in self.operations:
                slots.append(_scalar(name, [slots[a] for a in args], namespace))
            total = total + weight * slots[-1]
        return total

    def _forward(self, z: Vector) -> list[Array]:
        """The value of every slot, for the whole batch."""
        slots: list[Array] = [*z[self.variables], *self.constants]
        for name, args in self.operations:
            slots.append(_apply(name, [slots[a] for a in args]))
        return slots

    def _reverse(self, slots: list[Array], part: Callable[[Any], Any] = _as_it_is) -> list[Array]:
        """∂(weighted value)/∂slot for every slot; ``part`` is applied to every factor."""
        adjoints: list[Array] = [np.zeros_like(self.weights) for _ in slots]
        adjoints[-1] = part(self.weights)
        for name, args, at in self._backwards(slots):
            for a, partial in zip(args, _partials(name, [slots[a] for a in args], slots[at]), strict=True):
                adjoints[a] = adjoints[a] + _chained(name, adjoints[at], part(partial))
        return adjoints

    def _second_order(self, slots: list[Array], adjoints: list[Array], part: Callable[[Any], Any] = _as_it_is) -> Array:
        """Hessian blocks, shape (k, k, batch): tangents in the direction of every local variable, forward and back."""
        k, batch = self.variables.shape
        zero = np.zeros((k, batch))
        tangents: list[Array] = [zero + np.eye(k)[i][:, None] for i in range(k)] + [zero] * len(self.constants)
        for at, (name, args) in enumerate(self.operations, start=len(tangents)):
            partials = _partials(name, [slots[a] for a in args], slots[at])
            tangents.append(sum((part(p) * tangents[a] for a, p in zip(args, partials, strict=True)), zero))
        backs: list[Array] = [zero] * len(slots)
        for name, args, at in self._backwards(slots):
            values = [slots[a] for a in args]
            partials = _partials(name, values, slots[at])
            turns = _partial_tangents(name, values, slots[at], [tangents[a] for a in args])
            for a, partial, turn in zip(args, partials, turns, strict=True):
                backs[a] = backs[a] + backs[at] * part(partial) + adjoints[at] * part(turn)
        return np.stack(backs[:k]) if k else np.empty((0, 0, batch))

    def _backwards(self, slots: list[Array]) -> Any:
        first = len(slots) - len(self.operations)
        for offset in range(len(self.operations) - 1, -1, -1):
            yield (*self.operations[offset], first + offset)


def batch(tapes: Sequence[Tape]) -> list[TapeBatch]:
    """The tapes, those of one signature together."""
    groups: dict[tuple[Any, ...], list[Tape]] = {}
    for t in tapes:
        groups.setdefault(t.signature, []).append(t)
    return [TapeBatch(group) for group in groups.values()]


def _branch(name: str, args: list[Array]) -> Array:
    if name == "max":
        largest: Array = np.argmax(np.stack(np.broadcast_arrays(*args)), axis=0)
        return largest
    return np.sign(args[0])


def _shape_of(tapes: TapeBatch) -> str:
    """constant, affine, convex, concave or unknown, by the rules for sums, multiples, maxima and squares."""
    shapes = ["affine"] * len(tapes.variables) + ["constant"] * len(tapes.constants)
    for name, args in tapes.operations:
        if name == "product" and args[0] == args[1] and shapes[args[0]] == "affine":
            shapes.append("convex")
            continue
        shapes.append(_shape(name, [shapes[a] for a in args], [_constant(tapes, a) for a in args]))
    turned = {"convex": "concave", "concave": "convex"}
    if (tapes.weights >= 0).all():
        return shapes[-1]
    return turned.get(shapes[-1], shapes[-1]) if (tapes.weights <= 0).all() else "unknown"


def _constant(tapes: TapeBatch, slot: int) -> Array | None:
    k = len(tapes.variables)
    return tapes.constants[slot - k] if k <= slot < k + len(tapes.constants) else None


def _shape(name: str, args: list[str], constants: list[Array | None]) -> str:
    kinds = set(args)
    if kinds == {"constant"}:
        return "constant"
    if name == "sum":
        for shape in ("affine", "convex", "concave"):
            if kinds <= {"constant", "affine", shape}:
                return shape
    if name in ("max", "logsumexp") and kinds <= {"constant", "affine", "convex"}:
        return "convex"
    if name == "abs" and kinds == {"affine"}:
        return "convex"
    if name == "power" and args[0] == "affine" and constants[1] is not None and (constants[1] == 2).all():
        return "convex"
    if name == "product" and "constant" in args:
        factor, shape = constants[args.index("constant")], args[1 - args.index("constant")]
        if shape == "affine" or (factor is not None and (factor >= 0).all()):
            return shape
        if factor is not None and (factor <= 0).all():
            return {"convex": "concave", "concave": "convex"}.get(shape, "unknown")
    return "unknown"


def _apply(name: str, args: list[Array]) -> Array:
    if name == "sum":
        return reduce(operator.add, args)
    if name == "product":
        return args[0] * args[1]
    if name == "power":
        result: Array = np.power(args[0], args[1])
        return result
    if name == "max":
        return reduce(np.maximum, args)
    if name == "logsumexp":
        return reduce(np.logaddexp, args)
    return UNARY[name].value(args[0])


def _partials(name: str, args: list[Array], y: Array) -> list[Array | float]:
    """∂y/∂arg for each argument. The exponent of a power is a constant, its partial is not asked for."""
    if name == "sum":
        return [1.0] * len(args)
    if name == "product":
        return [args[1], args[0]]
    if name == "power":
        x, p = args
        return [p * np.power(x, p - 1), 0.0]
    if name == "max":
        first = np.argmax(np.stack(np.broadcast_arrays(*args)), axis=0)
        return [(first == i).astype(float) for i in range(len(args))]
    if name == "logsumexp":
        return [np.exp(a - y) for a in args]  # ≤ 1: no exponent is larger than y
    return [UNARY[name].first(args[0], y)]


def _chained(name: str, adjoint: Array, partial: Array | float) -> Array:
    """adjoint · partial, and 0 where a root that counts positively is 0: there it has its least value, as ‖x‖ has at 0.

    0 is a subgradient then, where infinite slope times zero would be NaN: φ(√a(x)) ≥ φ(0) for every increasing φ.
    """
    product: Array = adjoint * partial
    if name not in ROOTS:
        return product
    return np.where(np.isposinf(partial) & (adjoint >= 0), 0.0, product)


def _partial_tangents(name: str, args: list[Array], y: Array, tangents: list[Array]) -> list[Array | float]:
    """How each partial turns along the tangents."""
    if name in ("sum", "max"):
        return [0.0] * len(args)
    if name == "product":
        return [tangents[1], tangents[0]]
    if name == "power":
        x, p = args
        curvature = p * (p - 1) * np.where(p == 1, 0.0, np.power(x, p - 2))
        return [curvature * tangents[0], 0.0]
    if name == "logsumexp":
        shares: list[Array] = [np.exp(a - y) for a in args]
        mean = sum((p * t for p, t in zip(shares, tangents, strict=True)), 0.0)
        return [p * (t - mean) for p, t in zip(shares, tangents, strict=True)]
    return [UNARY[name].second(args[0], y) * tangents[0]]


def _scalar(name: str, args: list[Any], namespace: Any) -> Any:
    """One operation on scalar objects such as Pyomo variables."""
    if name == "sum":
        return sum(args[1:], args[0])
    if name == "product":
        return args[0] * args[1]
    if name == "power":
        return args[0] ** args[1]
    if name == "reciprocal":
        return 1 / args[0]
    if name == "abs":
        return abs(args[0])
    if name == "logsumexp":
        return namespace.log(sum(namespace.exp(a) for a in args))
    return getattr(namespace, name)(*args)

"""Pyomo expressions written down as tapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pyomo.core.expr.numeric_expr as px
from pyomo.core.expr.numvalue import is_potentially_variable, native_numeric_types
from pyomo.core.expr.visitor import StreamBasedExpressionVisitor

from dcprog.convex.tape import UNARY, Operation, Tape
from dcprog.errors import ModelError
from dcprog.functions.binding import FunctionExpression
from dcprog.program.constants import constant, leaf_is_fixed, no_value, shortened

SMOOTH_FUNCTIONS = frozenset(UNARY) - {"abs", "reciprocal"}


def position(variable: Any, index: Mapping[int, int]) -> int:
    """Where a variable lives in x."""
    try:
        return index[id(variable)]
    except KeyError:
        if variable.fixed:
            raise ModelError(
                f"variable {variable.name} is fixed inside a vectorised function: unfix it, or leave it out"
            ) from None
        raise ModelError(
            f"variable {variable.name} belongs to another model, or to a deactivated block: use variables of the model given"
        ) from None


class _Constant(float):
    """A subexpression that is a number."""


class Recorder(StreamBasedExpressionVisitor):  # type: ignore[misc]
    """Writes the operations of expressions down; references are ('v', i), ('c', i), ('o', i) until all are known."""

    variables: dict[int, int]
    constants: list[float]
    operations: list[tuple[str, tuple[tuple[str, int], ...]]]
    superseded: bool
    """Whether some operations are no longer needed."""
    functions: list[Any]
    """The vectorised functions inside of the expression, as ``read`` returned them; −1, −2, … stand for their values."""

    def __init__(self, index: Mapping[int, int], read: Callable[[FunctionExpression], Any]) -> None:
        super().__init__()
        self.index, self.read = index, read
        self._forget()

    def record(self, expression: Any, weight: float) -> Tape:
        """The tape of weight · expression."""
        self._forget()
        self._emit("sum", self.walk_expression(expression))  # so that a variable alone, or a number, is an operation
        if self.superseded:
            self._drop_unused()
        k, m = len(self.variables), len(self.constants)
        offset = {"v": 0, "c": k, "o": k + m}
        operations = tuple(Operation(name, tuple(offset[kind] + i for kind, i in refs)) for name, refs in self.operations)
        return Tape(tuple(self.variables), tuple(self.constants), operations, weight)

    def _drop_unused(self) -> None:
        """Operations that no other one needs: the exponentials of a log Σ exp, which might overflow."""
        used = {len(self.operations) - 1}
        for at in range(len(self.operations) - 1, -1, -1):
            if at in used:
                used.update(i for kind, i in self.operations[at][1] if kind == "o")
        kept = sorted(used)
        new = {at: i for i, at in enumerate(kept)}
        constants = sorted({i for at in kept for kind, i in self.operations[at][1] if kind == "c"})
        place = {i: j for j, i in enumerate(constants)}
        move = {"v": lambda i: i, "c": place.__getitem__, "o": new.__getitem__}
        self.operations = [
            (name, tuple((kind, move[kind](i)) for kind, i in refs)) for name, refs in (self.operations[at] for at in kept)
        ]
        self.constants = [self.constants[i] for i in constants]

    def _forget(self) -> None:
        self.variables, self.constants, self.operations, self.superseded, self.functions = {}, [], [], False, []

    def initializeWalker(self, expr: Any) -> tuple[bool, Any]:  # noqa: N802 (Pyomo's name)
        return self.beforeChild(None, expr, 0)

    def beforeChild(self, node: Any, child: Any, child_idx: int) -> tuple[bool, Any]:  # noqa: N802
        if type(child) in native_numeric_types or not is_potentially_variable(child):
            return False, _Constant(constant(node if child is None else child))  # None: what an empty Expression holds
        if type(child) is FunctionExpression:
            return False, self._function(child)
        if child.is_variable_type():
            return False, _Constant(constant(child)) if child.fixed else self._variable(child)
        if type(child) is px.PowExpression and leaf_is_fixed(child.arg(1)) and constant(child.arg(1)) == 0.0:
            return False, _Constant(1.0)  # its slope as a power would be 0 · ∞ where the base is 0
        if isinstance(child, px.Expr_ifExpression):
            raise ModelError(
                f"Expr_if in {shortened(child)} has no derivative where it switches: decide in Python if the condition is "
                "known, or write dcprog.maximum(…) of the two cases"
            )
        return True, None

    def exitNode(self, node: Any, data: list[Any]) -> Any:  # noqa: N802
        if node.is_named_expression_type():
            return data[0]
        if all(isinstance(d, _Constant) for d in data):
            return _computed(node, data)
        if isinstance(node, px.SumExpression | px.LinearExpression):
            return self._emit("sum", *data)
        if isinstance(node, px.NegationExpression):
            return self._emit("product", _Constant(-1.0), data[0])
        if isinstance(node, px.ProductExpression):
            return self._emit("product", *data)
        if isinstance(node, px.DivisionExpression):
            return self._quotient(node, *data)
        if isinstance(node, px.PowExpression):
            return self._power(node, *data)
        if isinstance(node, px.MaxExpression):
            return self._emit("max", *data)
        if isinstance(node, px.MinExpression):
            negated = [self._emit("product", _Constant(-1.0), d) for d in data]
            return self._emit("product", _Constant(-1.0), self._emit("max", *negated))
        if isinstance(node, px.AbsExpression):
            return self._emit("abs", data[0])
        if isinstance(node, px.UnaryFunctionExpression) and node.getname() in SMOOTH_FUNCTIONS:
            exponents = self._exponents(data[0]) if node.getname() == "log" else None
            if exponents:
                self.superseded = True
                return self._emit("logsumexp", *exponents)
            return self._emit(node.getname(), data[0])
        raise ModelError(
            f"{node.getname()} in {shortened(node)} has no derivative here: use smooth functions, abs and dcprog.maximum"
        )

    def _variable(self, variable: Any) -> tuple[str, int]:
        return "v", self.variables.setdefault(position(variable, self.index), len(self.variables))

    def _function(self, node: FunctionExpression) -> Any:
        """The value of a function as a variable; a number where nothing in it varies."""
        found = self.read(node)
        if isinstance(found, float):
            return _Constant(found)
        self.functions.append(found)
        return "v", self.variables.setdefault(-len(self.functions), len(self.variables))

    def _exponents(self, a: Any) -> list[Any] | None:
        """The zᵢ where a is Σ e^zᵢ, a factor cᵢ > 0 and a constant among them as log cᵢ; None if it is no such sum."""
        if isinstance(a, _Constant):
            return None
        terms, exponents, found = [(a, 0.0)], [], False
        while terms:
            term, factor = terms.pop()
            inside = self._summands(term)
            if inside is None:
                return None
            name, args = inside
            if name == "sum":
                terms += [(arg, factor) for arg in reversed(args)]
            elif name == "product":
                terms.append((args[1], factor + math.log(float(args[0]))))
            elif name == "exp":
                found = True
                exponents.append(args[0] if factor == 0.0 else self._emit("sum", args[0], _Constant(factor)))
            else:
                exponents.append(_Constant(factor + math.log(float(args[0]))))
        return exponents if found else None

    def _summands(self, a: Any) -> tuple[str, list[Any]] | None:
        """What a is: a sum, (c > 0) times something, an exponential, or a constant > 0; None if none of these."""
        if not isinstance(a, _Constant) and a[0] == "c":
            a = _Constant(self.constants[a[1]])
        if isinstance(a, _Constant):
            return ("constant", [a]) if 0.0 < a < math.inf else None
        if a[0] != "o":
            return None
        name, refs = self.operations[a[1]]
        if name in ("sum", "exp"):
            return name, list(refs)
        if name != "product":
            return None
        factors = [self.constants[i] if kind == "c" else None for kind, i in refs]
        for c, other in ((factors[0], refs[1]), (factors[1], refs[0])):
            if c is not None and 0.0 < c < math.inf:
                return "product", [c, other]
        return None

    def _emit(self, name: str, *args: Any) -> tuple[str, int]:
        self.operations.append((name, tuple(self._reference(a) for a in args)))
        return "o", len(self.operations) - 1

    def _reference(self, a: Any) -> tuple[str, int]:
        if not isinstance(a, _Constant):
            reference: tuple[str, int] = a
            return reference
        self.constants.append(float(a))
        return "c", len(self.constants) - 1

    def _quotient(self, node: Any, a: Any, b: Any) -> tuple[str, int]:
        if isinstance(b, _Constant) and b == 0.0:
            raise no_value(node, ZeroDivisionError("division by zero"))
        inverse = _Constant(1.0 / b) if isinstance(b, _Constant) else self._emit("reciprocal", b)
        return self._emit("product", a, inverse)

    def _power(self, node: Any, base: Any, exponent: Any) -> tuple[str, int]:
        if isinstance(exponent, _Constant):
            return self._emit("power", base, exponent)
        if isinstance(base, _Constant) and base <= 0.0:
            raise ModelError(f"{shortened(node)} has the base {float(base):g}, whose powers are not real: take a base > 0")
        logarithm = _Constant(math.log(base)) if isinstance(base, _Constant) else self._emit("log", base)
        return self._emit("exp", self._emit("product", exponent, logarithm))


def _computed(node: Any, data: list[Any]) -> _Constant:
    """A node whose arguments are all numbers."""
    try:
        return _Constant(node._apply_operation([float(d) for d in data]))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise no_value(node, error) from None

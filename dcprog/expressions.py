"""Pyomo expressions taken apart: constant, linear, quadratic, smooth tapes, kinks and vectorised functions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyomo.core.expr.numeric_expr as px
import scipy.sparse as sp
from pyomo.core.expr.numvalue import is_potentially_variable, native_numeric_types, value
from pyomo.core.expr.visitor import StreamBasedExpressionVisitor
from pyomo.repn import generate_standard_repn

from dcprog._typing import Indices, Sparse, Vector
from dcprog.errors import DataError, ModelError
from dcprog.functions.base import ConvexFunction, QuadraticForm
from dcprog.functions.binding import FunctionExpression
from dcprog.tape import UNARY, Operation, Tape

SMOOTH_FUNCTIONS = frozenset(UNARY) - {"abs", "reciprocal"}


@dataclass
class BoundFunction:
    """weight · function(x[indices])."""

    weight: float
    function: ConvexFunction
    indices: Indices


@dataclass
class Kink:
    """weight · max(pieces), or weight · |piece|."""

    weight: float
    is_abs: bool
    pieces: tuple[Any, ...]
    tape: Tape


@dataclass
class Parts:
    """An expression as the sum of its parts."""

    n: int
    constant: float = 0.0
    linear: dict[int, float] = field(default_factory=dict)
    quadratic: dict[tuple[int, int], float] = field(default_factory=dict)
    tapes: list[Tape] = field(default_factory=list)
    kinks: list[Kink] = field(default_factory=list)
    functions: list[BoundFunction] = field(default_factory=list)
    forms: list[tuple[Indices, QuadraticForm]] = field(default_factory=list)
    """Quadratic forms of whole vectors, whose coefficients nobody looks at one by one."""

    def c(self, size: int) -> Vector:
        """The linear coefficients, as a vector of ``size`` variables."""
        out = np.zeros(size)
        if self.linear:
            out[list(self.linear)] = list(self.linear.values())
        for indices, form in self.forms:
            np.add.at(out, indices, form.c)
        return out

    def Q(self, size: int) -> Sparse | None:  # noqa: N802 (its name in the formula)
        """Symmetric Q of ½x'Qx over ``size`` variables; None if it is zero."""
        blocks = []
        if self.quadratic:
            i, j = np.array(list(self.quadratic), dtype=np.int64).T
            half = sp.coo_array((np.array(list(self.quadratic.values())), (i, j)), shape=(size, size))
            blocks.append(half + half.T)
        for indices, form in self.forms:
            q = sp.coo_array(form.Q)
            blocks.append(sp.coo_array((q.data, (indices[q.row], indices[q.col])), shape=(size, size)))
        Q = sp.csc_array(sum(blocks[1:], blocks[0])) if blocks else None
        if Q is not None:
            Q.eliminate_zeros()
        return None if Q is None or Q.nnz == 0 else Q

    @property
    def is_affine(self) -> bool:
        """Whether only the constant and the linear part are there."""
        return not (self.quadratic or self.tapes or self.kinks or self.functions or self.Q(self.n) is not None)


def take_apart(expression: Any, index: Mapping[int, int], n: int) -> Parts:
    """The parts of ``expression``; ``index`` maps id(variable) to its position among the n variables.

    Fixed variables and parameters count with their values.
    """
    parts = Parts(n)
    rest: list[Any] = []
    _split(expression, 1.0, parts, rest, index)
    kinked: list[Any] = []
    smooth: list[Any] = []
    for term in rest:
        (kinked if _has_inner_kink(term) else smooth).append(term)
    parts.tapes += [record(term, index, 1.0) for term in kinked]
    if smooth:
        _collect_smooth(smooth, parts, index)
    _check_finite(parts, expression)
    return parts


def _split(node: Any, weight: float, parts: Parts, rest: list[Any], index: Mapping[int, int]) -> None:
    """Sort the additive terms of ``node``: kinks and vectorised functions into ``parts``, smooth ones into ``rest``."""
    stack = [(node, weight)]
    while stack:
        node, weight = stack.pop()
        kind = type(node)
        if not is_potentially_variable(node):
            parts.constant += weight * float(value(node))
        elif kind is px.MonomialTermExpression and not node.arg(1).fixed:
            _add(parts.linear, _position(node.arg(1), index), weight * float(value(node.arg(0))))
        elif kind in (px.SumExpression, px.LinearExpression):
            stack.extend((term, weight) for term in reversed(node.args))
        elif kind is px.NegationExpression:
            stack.append((node.arg(0), -weight))
        elif kind is px.ProductExpression and not is_potentially_variable(node.arg(0)):
            stack.append((node.arg(1), weight * float(value(node.arg(0)))))
        elif kind is px.ProductExpression and not is_potentially_variable(node.arg(1)):
            stack.append((node.arg(0), weight * float(value(node.arg(1)))))
        elif kind is px.DivisionExpression and not is_potentially_variable(node.arg(1)):
            stack.append((node.arg(0), weight / float(value(node.arg(1)))))
        elif kind is FunctionExpression:
            positions = np.array([_position(v, index) for v in node.args], dtype=np.int64)
            parts.functions.append(BoundFunction(weight, node.function, positions))
        elif kind in (px.AbsExpression, px.MaxExpression):
            tape = record(node, index, weight)
            parts.kinks.append(Kink(weight, kind is px.AbsExpression, tuple(node.args), tape))
        elif node.is_expression_type() and node.is_named_expression_type():
            stack.append((node.expr, weight))
        else:
            rest.append(weight * node)


def _has_inner_kink(term: Any) -> bool:
    """Whether a maximum or a vectorised function stands inside; Pyomo's own collectors do not know these."""
    kinds = {type(node) for node in _nodes(term)}
    return not kinds.isdisjoint((px.MaxExpression, px.MinExpression, FunctionExpression))


def _nodes(expression: Any) -> Iterator[Any]:
    """Every expression node below ``expression``."""
    stack = [expression]
    while stack:
        node = stack.pop()
        if type(node) not in native_numeric_types and node.is_expression_type():
            yield node
            stack.extend(node.args)


def _collect_smooth(rest: Sequence[Any], parts: Parts, index: Mapping[int, int]) -> None:
    repn = generate_standard_repn(px.SumExpression(list(rest)), quadratic=True)
    parts.constant += float(value(repn.constant))
    for v, coefficient in zip(repn.linear_vars, repn.linear_coefs, strict=True):
        _add(parts.linear, _position(v, index), float(coefficient))
    for (a, b), coefficient in zip(repn.quadratic_vars, repn.quadratic_coefs, strict=True):
        i, j = sorted((_position(a, index), _position(b, index)))
        _add(parts.quadratic, (i, j), float(coefficient))
    parts.quadratic = {pair: q for pair, q in parts.quadratic.items() if q != 0.0}
    if repn.nonlinear_expr is not None:
        leftovers: list[Any] = []
        _split(repn.nonlinear_expr, 1.0, parts, leftovers, index)
        parts.tapes += [record(term, index, 1.0) for term in leftovers]


def _add(coefficients: dict[Any, float], key: Any, amount: float) -> None:
    coefficients[key] = coefficients.get(key, 0.0) + amount


def _position(variable: Any, index: Mapping[int, int]) -> int:
    try:
        return index[id(variable)]
    except KeyError:
        if variable.fixed:
            raise ModelError(
                f"variable {variable.name} is fixed inside a vectorised function: unfix it, or leave it out"
            ) from None
        raise ModelError(f"variable {variable.name} belongs to another model: use variables of the model given") from None


def _check_finite(parts: Parts, expression: Any) -> None:
    numbers = [parts.constant, *parts.linear.values(), *parts.quadratic.values(), *(b.weight for b in parts.functions)]
    numbers += [c for t in parts.tapes for c in (*t.constants, t.weight)]
    numbers += [c for k in parts.kinks for c in (*k.tape.constants, k.weight)]
    if not all(map(math.isfinite, numbers)):
        text = str(expression)
        raise DataError(
            f"a coefficient of {text if len(text) < 60 else text[:57] + '...'} is NaN or infinite: check where it came from"
        )


class _Constant(float):
    """A subexpression that is a number."""


class _Recorder(StreamBasedExpressionVisitor):  # type: ignore[misc]
    """Writes the operations of an expression down; references are ('v', i), ('c', i), ('o', i) until all are known."""

    def __init__(self, index: Mapping[int, int]) -> None:
        super().__init__()
        self.index = index
        self.variables: dict[int, int] = {}
        self.constants: list[float] = []
        self.operations: list[tuple[str, tuple[tuple[str, int], ...]]] = []

    def initializeWalker(self, expr: Any) -> tuple[bool, Any]:  # noqa: N802 (Pyomo's name)
        return self.beforeChild(None, expr, 0)

    def beforeChild(self, node: Any, child: Any, child_idx: int) -> tuple[bool, Any]:  # noqa: N802
        if type(child) in native_numeric_types or not is_potentially_variable(child):
            return False, _Constant(value(child))
        if child.is_variable_type():
            return False, _Constant(value(child)) if child.fixed else self._variable(child)
        return True, None

    def exitNode(self, node: Any, data: list[Any]) -> Any:  # noqa: N802
        if node.is_named_expression_type():
            return data[0]
        if all(isinstance(d, _Constant) for d in data):
            return _Constant(node._apply_operation([float(d) for d in data]))
        if isinstance(node, px.SumExpression | px.LinearExpression):
            return self._emit("sum", *data)
        if isinstance(node, px.NegationExpression):
            return self._emit("product", _Constant(-1.0), data[0])
        if isinstance(node, px.ProductExpression):
            return self._emit("product", *data)
        if isinstance(node, px.DivisionExpression):
            return self._quotient(*data)
        if isinstance(node, px.PowExpression):
            return self._power(*data)
        if isinstance(node, px.MaxExpression):
            return self._emit("max", *data)
        if isinstance(node, px.MinExpression):
            negated = [self._emit("product", _Constant(-1.0), d) for d in data]
            return self._emit("product", _Constant(-1.0), self._emit("max", *negated))
        if isinstance(node, px.AbsExpression):
            return self._emit("abs", data[0])
        if isinstance(node, px.UnaryFunctionExpression) and node.getname() in SMOOTH_FUNCTIONS:
            return self._emit(node.getname(), data[0])
        if isinstance(node, FunctionExpression):
            raise ModelError(f"{node.function!r} stands inside a product, power or function: it can only be added")
        raise ModelError(f"{node.getname()} in {node} has no derivative here: use smooth functions, abs and dcprog.maximum")

    def _variable(self, variable: Any) -> tuple[str, int]:
        position = _position(variable, self.index)
        return "v", self.variables.setdefault(position, len(self.variables))

    def _emit(self, name: str, *args: Any) -> tuple[str, int]:
        self.operations.append((name, tuple(self._reference(a) for a in args)))
        return "o", len(self.operations) - 1

    def _reference(self, a: Any) -> tuple[str, int]:
        if not isinstance(a, _Constant):
            reference: tuple[str, int] = a
            return reference
        self.constants.append(float(a))
        return "c", len(self.constants) - 1

    def _quotient(self, a: Any, b: Any) -> tuple[str, int]:
        inverse = _Constant(1.0 / b) if isinstance(b, _Constant) else self._emit("reciprocal", b)
        return self._emit("product", a, inverse)

    def _power(self, base: Any, exponent: Any) -> tuple[str, int]:
        if isinstance(exponent, _Constant):
            return self._emit("power", base, exponent)
        logarithm = _Constant(math.log(base)) if isinstance(base, _Constant) else self._emit("log", base)
        return self._emit("exp", self._emit("product", exponent, logarithm))


def record(expression: Any, index: Mapping[int, int], weight: float) -> Tape:
    """The tape of weight · expression."""
    recorder = _Recorder(index)
    recorder._emit("sum", recorder.walk_expression(expression))
    k, m = len(recorder.variables), len(recorder.constants)
    offset = {"v": 0, "c": k, "o": k + m}
    operations = tuple(
        Operation(name, tuple(offset[kind] + i for kind, i in references)) for name, references in recorder.operations
    )
    return Tape(tuple(recorder.variables), tuple(recorder.constants), operations, weight)

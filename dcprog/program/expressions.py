"""Pyomo expressions taken apart: constant, linear, quadratic, smooth tapes, kinks and vectorised functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
import pyomo.core.expr.numeric_expr as px
import scipy.sparse as sp
from pyomo.core.expr.numvalue import is_potentially_variable

from dcprog.convex.composed import Inner, composed
from dcprog.convex.tape import Tape, TapeBatch
from dcprog.errors import DataError, ModelError
from dcprog.functions.affine import of_affine
from dcprog.functions.base import ConvexFunction, QuadraticForm
from dcprog.functions.binding import FunctionExpression, check_scalar
from dcprog.functions.compose import merged
from dcprog.program.constants import Fixed, constant, shortened
from dcprog.program.polynomial import Polynomial, polynomial, product
from dcprog.program.recorder import Recorder, position
from dcprog.program.roots import Root, as_functions, completed_squares, radicand, squares
from dcprog.typing import Indices, Sparse, Vector


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
            if form.Q.nnz:
                q = sp.coo_array(form.Q)
                blocks.append(sp.coo_array((q.data, (indices[q.row], indices[q.col])), shape=(size, size)))
        Q = sp.csc_array(sum(blocks[1:], blocks[0])) if blocks else None
        if Q is not None:
            Q.eliminate_zeros()
        return None if Q is None or Q.nnz == 0 else Q

    @property
    def is_constant(self) -> bool:
        """Whether nothing but the constant is there."""
        return not (self.linear or self.quadratic or self.tapes or self.kinks or self.functions or self.forms)

    @property
    def is_affine(self) -> bool:
        """Whether only the constant and the linear part are there."""
        return not (self.quadratic or self.tapes or self.kinks or self.functions or self.Q(self.n) is not None)


def take_apart(expression: Any, index: Mapping[int, int], n: int, where: str = "the expression") -> Parts:
    """The parts of ``expression``; ``index`` maps id(variable) to its position among the n variables.

    Fixed variables and parameters count with their values. ``where`` says in errors what the expression is.
    """
    check_scalar(expression, where)
    if isinstance(expression, Real | np.ndarray):
        expression = constant(expression)
    reader = _Reader(Parts(n), index)
    try:
        reader.read(expression)
    except RecursionError:
        raise ModelError(f"{where} is nested too deeply to be read: name parts of it by variables and constraints") from None
    _check_finite(reader.parts, expression)
    return reader.parts


class _Reader:
    """Sorts the additive terms of an expression into ``parts``."""

    def __init__(self, parts: Parts, index: Mapping[int, int]) -> None:
        self.parts, self.index = parts, index
        self.roots: list[Root] = []

    @cached_property
    def fixed(self) -> Fixed:
        return Fixed()

    @cached_property
    def recorder(self) -> Recorder:
        return Recorder(self.index, self._bound)

    def read(self, expression: Any) -> None:
        stack = [(expression, 1.0)]
        while stack:
            node, weight = stack.pop()
            stack.extend(self._term(node, weight))
        self._norms()
        self.parts.quadratic = {pair: q for pair, q in self.parts.quadratic.items() if q != 0.0}

    def _term(self, node: Any, weight: float) -> list[tuple[Any, float]]:
        """Take weight · node in, or return the terms that it is the sum of."""
        kind = type(node)
        if not is_potentially_variable(node):
            self.parts.constant += weight * constant(node)
        elif kind is px.MonomialTermExpression:
            return [(node.arg(1), weight * constant(node.arg(0)))]
        elif kind in (px.SumExpression, px.LinearExpression):
            return [(term, weight) for term in reversed(node.args)]
        elif kind is px.NegationExpression:
            return [(node.arg(0), -weight)]
        elif node.is_variable_type() and not node.fixed:
            _add(self.parts.linear, position(node, self.index), weight)
        elif kind is px.ProductExpression and (self.fixed(node.arg(0)) or self.fixed(node.arg(1))):
            factor, other = node.args if self.fixed(node.arg(0)) else reversed(node.args)
            return [(other, weight * constant(factor))]
        elif kind is px.DivisionExpression and self.fixed(node.arg(1)):
            return [(node.arg(0), weight * constant(1 / node.arg(1)))]
        elif self.fixed(node):
            self.parts.constant += weight * constant(node)
        elif node.is_named_expression_type():
            return [(node.arg(0), weight)]
        elif kind is px.MinExpression:
            return [(px.MaxExpression(tuple(-piece for piece in node.args)), -weight)]
        else:
            self._curved(node, weight)
        return []

    def _curved(self, node: Any, weight: float) -> None:
        """A term that is no sum: a vectorised function, a kink, a product or power that may be quadratic, or a tape."""
        parts, kind = self.parts, type(node)
        if kind is FunctionExpression:
            self._function(node, weight)
        elif kind in (px.AbsExpression, px.MaxExpression):
            tape = self._record(node, weight)
            if tape is not None and not self._is_number(tape):
                pieces = tuple(node.args) if kind is px.AbsExpression else _pieces(node)
                parts.kinks.append(Kink(weight, kind is px.AbsExpression, pieces, tape))
        else:
            self._smooth(node, weight)

    def _function(self, node: Any, weight: float) -> None:
        """weight · f of variables, or of linear forms where some arguments are expressions, numbers or fixed."""
        found = self._bound(node)
        if isinstance(found, float):
            self.parts.constant += weight * found
        else:
            self.parts.functions.append(replace(found, weight=weight))

    def _bound(self, node: Any) -> BoundFunction | float:
        """A vectorised function, or its value if nothing in it varies."""
        positions = self._positions(node.args)
        if positions is not None:
            return BoundFunction(1.0, *merged(node.function, positions))
        forms = [self._linear_form(argument, node) for argument in node.args]
        b = np.array([form.constant for form in forms])
        columns = np.array(sorted({i for form in forms for i in form.linear}), dtype=np.int64)
        if not columns.size:
            return float(node.function.value(b))
        rows = np.repeat(np.arange(len(forms)), [len(form.linear) for form in forms])
        where = np.searchsorted(columns, [i for form in forms for i in form.linear])
        data = [c for form in forms for c in form.linear.values()]
        A = sp.csr_array((data, (rows, where)), shape=(len(forms), len(columns)))
        return BoundFunction(1.0, of_affine(node.function, A, b), columns)

    def _record(self, node: Any, weight: float) -> Tape | None:
        """weight · node as a tape; None if functions stand inside of it, and it was taken in as one of its own."""
        tape, inner = self.recorder.record(node, weight), self.recorder.functions
        if not inner:
            return tape
        own = [i for i in tape.variables if i >= 0]
        indices = np.unique(np.concatenate([np.array(own, dtype=np.int64), *(b.indices for b in inner)]))
        places = dict(zip(indices.tolist(), range(len(indices)), strict=True))
        local = tuple(places[i] if i >= 0 else len(indices) - 1 - i for i in tape.variables)
        functions = [Inner(b.function, np.searchsorted(indices, b.indices)) for b in inner]
        sign, text = (1.0, shortened(node)) if weight >= 0 else (-1.0, f"-({shortened(node)})")
        whole = composed(tape._replace(variables=local, weight=sign), functions, len(indices), text)
        self.parts.functions.append(BoundFunction(abs(weight), whole, indices))
        return None

    def _positions(self, arguments: Sequence[Any]) -> Indices | None:
        """Where free variables live in x; None if something else stands among them."""
        try:
            return np.array(list(map(self.index.__getitem__, map(id, arguments))), dtype=np.int64)
        except KeyError:
            if not all(map(_is_free, arguments)):
                return None
            return np.array([position(v, self.index) for v in arguments], dtype=np.int64)

    def _linear_form(self, argument: Any, node: Any) -> Polynomial:
        """An argument of a function."""
        if not is_potentially_variable(argument):
            return Polynomial(constant(argument), {}, {})
        form = self._affine(argument)
        if form is None:  # a product with a fixed factor, a division, a named expression
            parts = take_apart(argument, self.index, self.parts.n)
            if not parts.is_affine:
                raise ModelError(
                    f"{node.function!r} takes variables and affine expressions, got {shortened(argument)}: declare a Var t, "
                    "a constraint that ties it to that, and pass t"
                )
            form = Polynomial(parts.constant, {i: c for i, c in parts.linear.items() if c != 0.0}, {})
        return form

    def _smooth(self, node: Any, weight: float) -> None:
        """A quadratic form as such, a root of one as a norm, everything else as a tape."""
        inside = radicand(node) if weight > 0 else None
        root = None if inside is None else self._root(inside)
        if root is not None:
            self.roots.append(Root(weight, *root, node))
            return
        quadratic = self._product_of_affine(node)
        if quadratic is None:
            tape = self._record(node, weight)
            if tape is None:
                return
            quadratic = polynomial(tape)
            if quadratic is None:
                if not self._is_number(tape):
                    self.parts.tapes.append(tape)
                return
        self._add_polynomial(quadratic, weight)

    def _root(self, inside: Any) -> tuple[list[Polynomial], float] | None:
        """Linear forms and d ≥ 0 with √inside = ‖(forms, √d)‖."""
        found = squares(inside, self._affine)
        if found is None:
            tape = self.recorder.record(inside, 1.0)
            form = None if self.recorder.functions else polynomial(tape)
            found = None if form is None else completed_squares(form)
        return found if found is not None and any(form.linear for form in found[0]) else None

    def _norms(self) -> None:
        """The roots that were found, as functions, or as tapes where that is faster."""
        made, others = as_functions(self.roots)
        self.parts.functions += [BoundFunction(weight, function, indices) for weight, function, indices in made]
        self.parts.tapes += [self.recorder.record(root.node, root.weight) for root in others]

    def _is_number(self, tape: Tape) -> bool:
        """Whether no variable is left in a tape, as in exp(x⁰), which is then added to the constant."""
        if not tape.variables:
            self.parts.constant += TapeBatch([tape]).value(np.empty(0))
        return not tape.variables

    def _add_polynomial(self, polynomial: Polynomial, weight: float) -> None:
        self.parts.constant += weight * polynomial.constant
        for i, c in polynomial.linear.items():
            _add(self.parts.linear, i, weight * c)
        for pair, c in polynomial.quadratic.items():
            _add(self.parts.quadratic, pair, weight * c)

    def _product_of_affine(self, node: Any) -> Polynomial | None:
        """(a'x + b)² and (a'x + b)(c'x + d), the most frequent terms, without the detour of a tape."""
        if type(node) is px.PowExpression and type(node.arg(1)) in (int, float) and node.arg(1) == 2:
            form = self._affine(node.arg(0))
            return None if form is None else product(form, form)
        if type(node) is px.ProductExpression:
            one = self._affine(node.arg(0))
            two = None if one is None else self._affine(node.arg(1))
            return None if one is None or two is None else product(one, two)
        return None

    def _affine(self, expression: Any) -> Polynomial | None:
        """An expression of degree ≤ 1; None if its shape does not say at once that it is one."""
        form = Polynomial(0.0, {}, {})
        offset, stack = 0.0, [(expression, 1.0)]
        while stack:
            node, weight = stack.pop()
            kind = type(node)
            if not is_potentially_variable(node):
                offset += weight * constant(node)
            elif node.is_variable_type():
                if node.fixed:
                    offset += weight * constant(node)
                else:
                    _add(form.linear, position(node, self.index), weight)
            elif kind is px.MonomialTermExpression:
                stack.append((node.arg(1), weight * constant(node.arg(0))))
            elif kind in (px.SumExpression, px.LinearExpression):
                stack.extend((term, weight) for term in node.args)
            elif kind is px.NegationExpression:
                stack.append((node.arg(0), -weight))
            else:
                return None
        return form._replace(constant=offset, linear={i: c for i, c in form.linear.items() if c != 0.0})


def _is_free(argument: Any) -> bool:
    """Whether it is a variable that is not fixed."""
    return bool(is_potentially_variable(argument) and argument.is_variable_type() and not argument.fixed)


def _pieces(node: Any) -> tuple[Any, ...]:
    """The pieces of a maximum, those of maxima among them included: max(max(a, b), c) = max(a, b, c)."""
    stack, pieces = list(reversed(node.args)), []
    while stack:
        piece = stack.pop()
        if type(piece) is px.MaxExpression:
            stack.extend(reversed(piece.args))
        else:
            pieces.append(piece)
    return tuple(pieces)


def _add(coefficients: dict[Any, float], key: Any, amount: float) -> None:
    coefficients[key] = coefficients.get(key, 0.0) + amount


def _check_finite(parts: Parts, expression: Any) -> None:
    numbers = [parts.constant, *parts.linear.values(), *parts.quadratic.values(), *(b.weight for b in parts.functions)]
    numbers += [c for t in parts.tapes for c in (*t.constants, t.weight)]
    numbers += [c for k in parts.kinks for c in (*k.tape.constants, k.weight)]
    if not np.isfinite(numbers).all():
        raise DataError(f"a coefficient of {shortened(expression)} is NaN or infinite: check where it came from")

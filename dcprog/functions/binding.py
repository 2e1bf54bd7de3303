"""Vectorised functions and maxima as nodes of Pyomo expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from pyomo.common.enums import maximize, minimize
from pyomo.core.base.indexed_component_slice import IndexedComponent_slice
from pyomo.core.base.var import IndexedVar, VarData
from pyomo.core.expr.numeric_expr import MaxExpression, NumericExpression
from pyomo.core.expr.numvalue import is_potentially_variable, native_numeric_types
from pyomo.core.expr.relational_expr import RelationalExpression

from dcprog.errors import ModelError
from dcprog.functions.affine import OfAffine

if TYPE_CHECKING:
    from dcprog.functions.base import ConvexFunction


class FunctionExpression(NumericExpression):  # type: ignore[misc]
    """f(x₁, …, xₙ) for a :class:`~dcprog.functions.ConvexFunction` f; its arguments are Pyomo variables, or affine
    expressions and numbers, which are read as the linear forms that they are when a program is made."""

    __slots__ = ("function",)
    PRECEDENCE = None

    def __init__(self, args: tuple[Any, ...], function: ConvexFunction) -> None:
        super().__init__(args)
        self.function = function

    def nargs(self) -> int:
        return len(self._args_)

    def create_node_with_local_data(self, args: Iterable[Any], classtype: Any = None) -> FunctionExpression:
        return FunctionExpression(tuple(args), self.function)

    def _apply_operation(self, result: list[float]) -> float:
        return float(self.function.value(np.asarray(result, dtype=float)))

    def getname(self, *args: Any, **kwds: Any) -> str:
        return type(self.function).__name__

    def _to_string(self, values: list[str], verbose: bool, smap: Any) -> str:
        shown = values if len(values) == 1 else [values[0], "...", values[-1]]
        return f"{self.getname()}({', '.join(shown)})"

    def _compute_polynomial_degree(self, result: Any) -> None:
        return None


FORMS = "f(A, x, b) takes a matrix A with a row for each linear form (A[None, :] for one), then variables, then numbers"


def flatten(variables: Any) -> Iterator[Any]:
    """All scalar variables in ``variables``: scalar and indexed Pyomo components, slices, and nested sequences of them.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2]); m.b = pyo.Var()
    >>> [v.name for v in flatten([m.x, m.b, m.x[:]])]
    ['x[1]', 'x[2]', 'b', 'x[1]', 'x[2]']
    """
    if isinstance(variables, IndexedComponent_slice):  # first: a slice answers to every attribute
        yield from variables
    elif hasattr(variables, "is_indexed"):
        if variables.is_indexed():
            yield from variables.values()
        else:
            yield variables
    elif hasattr(variables, "is_variable_type"):
        yield variables
    elif isinstance(variables, Mapping):
        yield from flatten(variables.values())
    elif isinstance(variables, np.ndarray):
        yield from flatten(variables.ravel().tolist())
    elif isinstance(variables, Iterable) and not isinstance(variables, str):
        for part in variables:
            yield from flatten(part)
    elif isinstance(variables, Real) and not isinstance(variables, bool | np.bool_):
        yield variables if isinstance(variables, int) else float(variables)
    else:
        raise _no_variables(variables)


def variables_in(given: Any, what: str) -> list[Any]:
    """The scalar variables in ``given``, and nothing else; ``what`` takes them."""
    variables = list(_scalars(given))
    for v in {type(v): v for v in variables}.values():  # what a variable is, its class says
        if isinstance(v, int | float):
            raise _no_variables(v)
        if not is_numeric_variable(v):
            kind = "the expression" if hasattr(v, "is_expression_type") and v.is_expression_type() else type(v).__name__
            raise ModelError(f"{what} takes variables, got {kind} {v}: declare a Var and a constraint that ties it to it")
    return variables


def _no_variables(given: Any) -> ModelError:
    return ModelError(f"expected Pyomo variables, got {type(given).__name__}: pass m.x, m.x[1] or a list of them")


def is_numeric_variable(v: Any) -> bool:
    """Whether it is a scalar Pyomo variable, and not a Boolean one."""
    return hasattr(v, "is_variable_type") and v.is_variable_type() and v.is_numeric_type()


def bind(function: ConvexFunction, given: tuple[Any, ...]) -> FunctionExpression:
    """The expression f(given): of variables and affine expressions, or f(Ax + b) where a matrix A comes first."""
    given = tuple(_numbers(part, function) for part in given[:1]) + given[1:]
    if given and _is_matrix(given[0]):
        function, given = _of_matrix(function, given)
    elif any(_numbers_alone(part) for part in given):
        raise ModelError(
            f"{function!r} got an argument of numbers alone: {FORMS}; constants beside variables go into one list with them"
        )
    arguments = tuple(_arguments(given, repr(function)))
    if not any(map(is_potentially_variable, arguments)):
        raise ModelError(f"{function!r} takes variables, and got no variable: pass m.x, m.x[1] or a list of them")
    if function.dimension not in (None, len(arguments)):
        raise ModelError(
            f"{function!r} takes {function.dimension} variables, got {len(arguments)}: bind it to one per column of its data"
        )
    return FunctionExpression(arguments, function)


def _numbers(given: Any, function: ConvexFunction) -> Any:
    """The first argument; where it is a table of numbers in lists, as an array."""
    if not (isinstance(given, list | tuple) and len(given) and all(map(_numbers_alone, given))):
        return given
    if len({len(row) for row in given}) != 1 or any(map(_numbers_alone, given[0])):
        raise ModelError(f"{function!r} got lists of numbers that are no matrix: {FORMS}")
    return np.array(given, dtype=float)


def _numbers_alone(given: Any) -> bool:
    """Whether it is a sequence or an array of numbers, which nobody means to be so many constant components."""
    if isinstance(given, np.ndarray):
        return given.ndim > 0 and given.size > 0 and (given.dtype.kind in "biuf" or _numbers_alone(given.ravel().tolist()))
    if not isinstance(given, list | tuple) or not given:
        return False
    return all(isinstance(part, Real) or _numbers_alone(part) for part in given)


def _is_matrix(given: Any) -> bool:
    return sp.issparse(given) or (isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind in "biuf")


def _of_matrix(function: ConvexFunction, given: tuple[Any, ...]) -> tuple[ConvexFunction, tuple[Any, ...]]:
    """f(A · + b), and what it is bound to: (A, x) or (A, x, b)."""
    A, x, b = (*given, None, None)[:3]
    if len(given) not in (2, 3) or (b is not None and _holds_variables(b)):
        raise ModelError(
            f"{function!r} with a matrix first takes (A, x) or (A, x, b), a matrix, variables and numbers, got "
            f"{len(given)} arguments: put the variables into one list"
        )
    return OfAffine(function, A, b), (x,)


def _scalars(given: Any) -> Iterable[Any]:
    """What :func:`flatten` yields, all at once where it is one indexed variable, or a list of variables."""
    if isinstance(given, list) and all(issubclass(kind, VarData) for kind in set(map(type, given))):
        return given
    return given.values() if isinstance(given, IndexedVar) else flatten(given)


def _holds_variables(given: Any) -> bool:
    return hasattr(given, "is_expression_type") or (isinstance(given, list | tuple) and any(map(_holds_variables, given)))


def _arguments(given: Any, what: str) -> list[Any]:
    """The scalar variables, affine expressions and numbers in ``given``."""
    arguments = [a for part in given for a in _scalars(part)]
    plain = {kind for kind in set(map(type, arguments)) if kind in native_numeric_types or issubclass(kind, VarData)}
    for a in (a for a in arguments if type(a) not in plain):
        if not getattr(a, "is_numeric_type", bool)():
            raise ModelError(f"{what} takes variables, got {type(a).__name__} {a}: pass m.x, m.x[1] or a list of them")
        if a.is_expression_type() and a.polynomial_degree() not in (0, 1):
            raise ModelError(
                f"{what} takes variables and affine expressions, got {_shown(a)}: declare a Var t, a constraint that ties "
                "it to that, and pass t"
            )
    return arguments


def check_scalar(expression: Any, what: str) -> None:
    """ModelError unless ``expression`` is a number or a scalar, numeric Pyomo expression."""
    wrong = _not_a_scalar(expression)
    if wrong:
        raise ModelError(f"{what} is {_shown(expression)} ({type(expression).__name__}){wrong}")


def _not_a_scalar(expression: Any) -> str:
    if isinstance(expression, bool | np.bool_):
        return ", expected a number or a Pyomo expression: pass 0 or 1 if you mean it"
    if isinstance(expression, Real) or _is_real_scalar(expression):
        return ""
    if isinstance(expression, IndexedComponent_slice) or (hasattr(expression, "is_indexed") and expression.is_indexed()):
        return ", which has several components: sum them up, or pass one of them"
    if isinstance(expression, RelationalExpression):
        return ", a relation, expected a value: pass one side of it, or make it a Constraint"
    if not hasattr(expression, "is_numeric_type"):
        return f", expected a Pyomo expression or a number{_hint(expression)}"
    if getattr(expression, "sense", minimize) == maximize:
        return ", an objective to be maximised, and g − h is minimised: pass minus its expression"
    return "" if expression.is_numeric_type() else ", which has no numeric value: pass a Pyomo expression or a number"


def _is_real_scalar(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.shape == () and array.dtype.kind in "iuf"


def _shown(thing: Any) -> str:
    plain = not isinstance(thing, IndexedComponent_slice) and not hasattr(thing, "is_expression_type")
    text = repr(thing) if plain else str(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _hint(thing: Any) -> str:
    from dcprog.functions.base import ConvexFunction

    if isinstance(thing, ConvexFunction):
        return f": bind it to variables, as in {type(thing).__name__}(…)(m.x)"
    if thing is None:
        return ": pass 0 for none"
    if isinstance(thing, str):
        return ": build it from the model's variables, as in m.x**2"
    if isinstance(thing, Iterable):
        return ": sum its entries up"
    return ""


def maximum(*pieces: Any) -> MaxExpression:
    """max(a, b, …) of Pyomo expressions and numbers, a convex function when every piece is.

    In g each piece becomes a row ``t ≥ piece`` of the subproblem; in h the subgradient is that of the first piece that
    attains the maximum.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=-3)
    >>> print(2 * maximum(0, m.x - 1))
    2*max(0, x - 1)
    >>> pyo.value(maximum(m.x, -m.x))
    3
    """
    if not pieces:
        raise ModelError("maximum() needs at least one piece: pass expressions or numbers, as in maximum(0, m.x - 1)")
    for i, piece in enumerate(pieces):
        check_scalar(piece, f"piece {i} of maximum(…)")
    return MaxExpression(tuple(pieces))

"""Pyomo expressions evaluated with fifty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext

import pyomo.core.expr.numeric_expr as px
from pyomo.core.expr.numvalue import native_numeric_types, value

DIGITS = 50
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def precise(expression):
    """The value at the values of its variables, these floats being taken as they are."""
    with localcontext() as context:
        context.prec = DIGITS
        context.Emax, context.Emin = 10**9, -(10**9)
        return _at(expression)


def _at(node):
    if type(node) in native_numeric_types:
        return Decimal(node)
    if not node.is_expression_type():
        return Decimal(float(value(node)))
    args = [_at(a) for a in node.args]
    if isinstance(node, px.SumExpression | px.LinearExpression):
        return sum(args, Decimal(0))
    if isinstance(node, px.MonomialTermExpression | px.ProductExpression):
        return args[0] * args[1]
    if isinstance(node, px.DivisionExpression):
        return args[0] / args[1]
    if isinstance(node, px.NegationExpression):
        return -args[0]
    if isinstance(node, px.PowExpression):
        return _power(*args)
    if isinstance(node, px.AbsExpression):
        return abs(args[0])
    if isinstance(node, px.MaxExpression):
        return max(args)
    if isinstance(node, px.MinExpression):
        return min(args)
    if node.is_named_expression_type():
        return args[0]
    if hasattr(node, "function"):
        return _of_function(node.function, args)
    return FUNCTIONS[node.getname()](args[0])


def _power(x, p):
    if p == int(p):
        return x ** int(p)
    return (x.ln() * p).exp() if x else Decimal(0)


def _of_function(function, args):
    if hasattr(function, "Q"):
        Q = function.Q.toarray() if hasattr(function.Q, "toarray") else function.Q
        return sum(
            (Decimal(float(Q[i, j])) * args[i] * args[j] / 2 for i in range(len(args)) for j in range(len(args))),
            Decimal(float(function.constant)),
        ) + sum((Decimal(float(q)) * a for q, a in zip(function.q, args, strict=True)), Decimal(0))
    return sum((_continued(function, a) for a in args), Decimal(0))


def _continued(function, x):
    """A stretch of a curve, continued by its tangents."""
    inside = max(x, Decimal(function.lower)) if function.lower > -float("inf") else x
    inside = min(inside, Decimal(function.upper)) if function.upper < float("inf") else inside
    if function.name == "power":
        p = function.power
        value, slope = inside**p, p * inside ** (p - 1)
    else:
        value, slope = FUNCTIONS[function.name](inside), SLOPES[function.name](inside)
    return function.sign * (value + slope * (x - inside))


def _sine(x):
    x = x % (2 * PI)
    term = total = x
    k = 1
    while abs(term) > Decimal(10) ** -(DIGITS - 2):
        term *= -x * x / ((2 * k) * (2 * k + 1))
        total += term
        k += 1
    return total


def _tanh(x):
    a, b = x.exp(), (-x).exp()
    return (a - b) / (a + b)


FUNCTIONS = {
    "exp": lambda x: x.exp(),
    "log": lambda x: x.ln(),
    "log10": lambda x: x.log10(),
    "sqrt": lambda x: x.sqrt(),
    "sin": _sine,
    "cos": lambda x: _sine(x + PI / 2),
    "tan": lambda x: _sine(x) / _sine(x + PI / 2),
    "tanh": _tanh,
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "asinh": lambda x: (x + (x * x + 1).sqrt()).ln(),
    "acosh": lambda x: (x + (x * x - 1).sqrt()).ln(),
    "atanh": lambda x: ((1 + x) / (1 - x)).ln() / 2,
}

SLOPES = {
    "sin": FUNCTIONS["cos"],
    "cos": lambda x: -_sine(x),
    "tanh": lambda x: 1 - _tanh(x) ** 2,
    "sinh": FUNCTIONS["cosh"],
    "asinh": lambda x: 1 / (1 + x * x).sqrt(),
}

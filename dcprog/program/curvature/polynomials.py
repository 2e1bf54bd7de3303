"""Polynomials of one variable with the floats' exact rational coefficients: no rounding, so that double roots do no harm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from dcprog.program.curvature.nodes import Node, direction

Polynomial = list[Fraction]
"""Coefficients by rising degree."""
DEGREE = 24


def expanded(terms: Sequence[tuple[float, Node]], form: Node) -> Polynomial | None:
    """Σ c · node as a polynomial of the linear form that all of it is made of; None if it is none, or its degree is high."""
    total: Polynomial = []
    for c, node in terms:
        p = _of_node(node, form)
        if p is None:
            return None
        total = _add(total, [Fraction(c) * a for a in p])
    return total


def _of_node(node: Node, form: Node) -> Polynomial | None:
    if node.kind == "affine":
        scale = direction(node.coefficients)[0] if node.coefficients else 0.0
        return [Fraction(node.constant), Fraction(scale)]
    if node.kind == "sum":
        line, rest = _of_node(node.args[0], form), expanded(node.terms, form)
        return None if line is None or rest is None else _add(line, rest)
    if node.kind != "product":
        return None
    result: Polynomial = [Fraction(1)]
    for base, p in node.factors:
        inner = _of_node(base, form) if float(p).is_integer() and 0 < p <= DEGREE else None
        if inner is None or (len(inner) - 1) * p + len(result) > DEGREE:
            return None
        for _ in range(int(p)):
            result = _multiply(result, inner)
    return result


def second_derivative(p: Polynomial) -> Polynomial:
    """p″.

    >>> [int(a) for a in second_derivative([Fraction(1), Fraction(2), Fraction(3), Fraction(4)])]
    [6, 24]
    """
    return _derivative(_derivative(p))


def is_nonnegative(p: Polynomial, lower: float, upper: float) -> bool:
    """Whether p ≥ 0 on [lower, upper]: p is positive somewhere between, and no root of odd multiplicity lies between.

    >>> is_nonnegative([Fraction(1), Fraction(-2), Fraction(1)], -5.0, 5.0)
    True
    >>> is_nonnegative([Fraction(0), Fraction(1)], -1.0, 1.0)
    False
    """
    p = _trimmed(p)
    if not p:
        return True
    return _at(p, _between(p, lower, upper)) > 0 and _odd_roots(p, lower, upper) == 0


def _between(p: Polynomial, lower: float, upper: float) -> Fraction:
    """A point of the interval, inside if it has an inside, at which p is not 0."""
    low = Fraction(lower) if math.isfinite(lower) else (Fraction(upper) if math.isfinite(upper) else Fraction(0)) - 1
    high = Fraction(upper) if math.isfinite(upper) else low + 1
    for k in range(1, len(p) + 2):
        x = low + (high - low) * Fraction(k, len(p) + 2)
        if _at(p, x) != 0:
            return x
    return low


def _odd_roots(p: Polynomial, lower: float, upper: float) -> int:
    """Roots of odd multiplicity strictly between: those of the product of the square-free factors of odd order (Yun,
    1976)."""
    odd: Polynomial = [Fraction(1)]
    slope = _derivative(p)
    common = _gcd(p, slope)
    b, c = _divided(p, common), _divided(slope, common)
    order = 1
    while len(b) > 1:
        d = _add(c, [-a for a in _derivative(b)])
        factor = _gcd(b, d)
        if order % 2 == 1:
            odd = _multiply(odd, factor)
        b, c = _divided(b, factor), _divided(d, factor)
        order += 1
    return _roots_between(odd, lower, upper)


def _roots_between(p: Polynomial, lower: float, upper: float) -> int:
    """The number of roots of a square-free polynomial in the open interval (Sturm)."""
    if len(p) < 2:
        return 0
    chain = [p, _derivative(p)]
    while len(chain[-1]) > 1:
        rest = [-a for a in _remainder(chain[-2], chain[-1])]
        if not _trimmed(rest):
            break
        chain.append(_trimmed(rest))
    count = _changes(chain, lower) - _changes(chain, upper)  # in (lower, upper]
    return count - (1 if math.isfinite(upper) and _at(p, Fraction(upper)) == 0 else 0)


def _changes(chain: Sequence[Polynomial], x: float) -> int:
    if math.isfinite(x):
        values = [_at(p, Fraction(x)) for p in chain]
    else:
        values = [p[-1] * (1 if x > 0 or len(p) % 2 == 1 else -1) for p in chain]
    signs = [v > 0 for v in values if v != 0]
    return sum(a != b for a, b in pairwise(signs))


def _at(p: Polynomial, x: Fraction) -> Fraction:
    value = Fraction(0)
    for a in reversed(p):
        value = value * x + a
    return value


def _add(p: Polynomial, q: Polynomial) -> Polynomial:
    size = max(len(p), len(q))
    return _trimmed([(p[k] if k < len(p) else Fraction(0)) + (q[k] if k < len(q) else Fraction(0)) for k in range(size)])


def _multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    result = [Fraction(0)] * max(0, len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            result[i + j] += a * b
    return result


def _derivative(p: Polynomial) -> Polynomial:
    return [k * a for k, a in enumerate(p)][1:]


def _trimmed(p: Polynomial) -> Polynomial:
    p = list(p)
    while p and p[-1] == 0:
        p.pop()
    return p


def _remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    return _division(p, q)[1]


def _divided(p: Polynomial, q: Polynomial) -> Polynomial:
    return _division(p, q)[0]


def _division(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    rest, q = _trimmed(p), _trimmed(q)
    quotient = [Fraction(0)] * max(0, len(rest) - len(q) + 1)
    while len(rest) >= len(q):
        k, factor = len(rest) - len(q), rest[-1] / q[-1]
        quotient[k] = factor
        rest = _trimmed([a - (factor * q[i - k] if i >= k else 0) for i, a in enumerate(rest)][:-1])
    return _trimmed(quotient), rest


def _gcd(p: Polynomial, q: Polynomial) -> Polynomial:
    p, q = _trimmed(p), _trimmed(q)
    while q:
        p, q = q, _remainder(p, q)
        if q:
            q = [a / q[-1] for a in q]
    return [a / p[-1] for a in p] if p else [Fraction(1)]

"""Tapes that are polynomials of degree two at most, multiplied out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from dcprog.convex.tape import Tape

Linear = dict[int, float]
Quadratic = dict[tuple[int, int], float]


class Polynomial(NamedTuple):
    """constant + Σ linear[i] xᵢ + Σ quadratic[i, j] xᵢxⱼ, i ≤ j, without zero coefficients."""

    constant: float
    linear: Linear
    quadratic: Quadratic

    @property
    def degree(self) -> int:
        return 2 if self.quadratic else 1 if self.linear else 0


def polynomial(tape: Tape) -> Polynomial | None:
    """The value of a tape without its weight, if it is a polynomial of degree ≤ 2.

    >>> from dcprog.convex.tape import Operation
    >>> polynomial(Tape((7,), (2.0, 0.0, 4.0), (Operation("product", (2, 0)), Operation("sum", (1, 4)),
    ...                                          Operation("power", (5, 3))), 1.0))      # (2 + 0·x₇)⁴
    Polynomial(constant=16.0, linear={}, quadratic={})
    """
    if any(operation.name not in _RULES for operation in tape.operations):
        return None
    slots = [Polynomial(0.0, {i: 1.0}, {}) for i in tape.variables] + [Polynomial(c, {}, {}) for c in tape.constants]
    for name, args in tape.operations:
        result = _RULES[name](*(slots[a] for a in args))
        if result is None:  # every slot is used further on, and nothing makes it a polynomial again
            return None
        slots.append(result)
    return slots[-1]


def _sum(*terms: Polynomial) -> Polynomial:
    linear: Linear = {}
    quadratic: Quadratic = {}
    for term in terms:
        _add(linear, term.linear.items())
        _add(quadratic, term.quadratic.items())
    return Polynomial(sum(term.constant for term in terms), linear, quadratic)


def product(a: Polynomial, b: Polynomial) -> Polynomial | None:
    """ab, if its degree is at most 2."""
    if a.degree + b.degree > 2:
        return None
    if a.degree == 0 or b.degree == 0:
        factor, other = (a.constant, b) if a.degree == 0 else (b.constant, a)
        linear = {i: factor * c for i, c in other.linear.items() if factor * c != 0.0}
        quadratic = {ij: factor * c for ij, c in other.quadratic.items() if factor * c != 0.0}
        return Polynomial(factor * other.constant, linear, quadratic)
    linear, quadratic = {}, {}
    _add(linear, ((i, c * b.constant) for i, c in a.linear.items()))
    _add(linear, ((j, c * a.constant) for j, c in b.linear.items()))
    _add(quadratic, (((min(i, j), max(i, j)), c * d) for i, c in a.linear.items() for j, d in b.linear.items()))
    return Polynomial(a.constant * b.constant, linear, quadratic)


def _power(base: Polynomial, exponent: Polynomial) -> Polynomial | None:
    p = exponent.constant
    if base.degree == 0 and (base.constant > 0 or (base.constant == 0 and p > 0) or p == int(p) >= 0):
        return Polynomial(base.constant**p, {}, {})
    if p == 1:
        return base
    if p == 2:
        return product(base, base)
    return Polynomial(1.0, {}, {}) if p == 0 else None


def _reciprocal(a: Polynomial) -> Polynomial | None:
    return Polynomial(1.0 / a.constant, {}, {}) if a.degree == 0 and a.constant != 0.0 else None


def _add(into: dict, terms: Iterable) -> None:  # type: ignore[type-arg]
    for key, c in terms:
        total = into.get(key, 0.0) + c
        if total == 0.0:
            into.pop(key, None)
        else:
            into[key] = total


_RULES: dict[str, Callable[..., Polynomial | None]] = {
    "sum": _sum,
    "product": product,
    "power": _power,
    "reciprocal": _reciprocal,
}

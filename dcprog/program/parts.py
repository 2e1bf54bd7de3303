"""Parts of expressions multiplied and added up."""

from __future__ import annotations

from dataclasses import replace

from dcprog.convex.composed import Composed
from dcprog.convex.tape import Tape
from dcprog.program.expressions import BoundFunction, Kink, Parts
from dcprog.program.polynomial import polynomial


def parts_of(tape: Tape, n: int) -> Parts:
    """A tape with its weight, as a polynomial where it is one."""
    form = polynomial(tape)
    if form is None:
        return Parts(n, tapes=[tape])
    w = tape.weight
    return Parts(
        n, w * form.constant, {i: w * c for i, c in form.linear.items()}, {ij: w * q for ij, q in form.quadratic.items()}
    )


def add_to(out: Parts, parts: Parts, weight: float) -> None:
    """Add weight · parts to ``out``, which has no kinks."""
    out.constant += weight * parts.constant
    for key, c in parts.linear.items():
        out.linear[key] = out.linear.get(key, 0.0) + weight * c
    for pair, q in parts.quadratic.items():
        out.quadratic[pair] = out.quadratic.get(pair, 0.0) + weight * q
    out.tapes += [t._replace(weight=weight * t.weight) for t in parts.tapes]
    out.functions += [replace(b, weight=weight * b.weight) for b in parts.functions]
    out.forms += [(at, form.times(weight)) for at, form in parts.forms]


def negated(parts: Parts) -> Parts:
    """Minus the expression."""
    return Parts(
        parts.n,
        -parts.constant,
        {i: -c for i, c in parts.linear.items()},
        {ij: -q for ij, q in parts.quadratic.items()},
        [t._replace(weight=-t.weight) for t in parts.tapes],
        [Kink(-k.weight, k.is_abs, k.pieces, k.tape._replace(weight=-k.weight)) for k in parts.kinks],
        [_negated(b) for b in parts.functions],
        [(at, form.times(-1.0)) for at, form in parts.forms],
    )


def _negated(bound: BoundFunction) -> BoundFunction:
    """−weight · f; a composition takes the sign in, since it may well be concave."""
    if isinstance(bound.function, Composed):
        return replace(bound, function=bound.function.negated())
    return replace(bound, weight=-bound.weight)

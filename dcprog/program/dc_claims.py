"""What the DC constraints of a program claim: every p and q is convex."""

from __future__ import annotations

from collections.abc import Iterator

from dcprog.convex.terms import FunctionTerm, QuadraticTerm
from dcprog.errors import ConvexityError
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.program.claims import Claim, Finding, Samples, check_claims, curved_terms
from dcprog.program.dc_reader import DCBlock
from dcprog.program.expressions import Parts
from dcprog.program.row_oracle import Expressions, Grouped, RowBlock


def check_dc(points: Samples, blocks: list[DCBlock]) -> Finding:
    """What is assumed of p and q, not proved; raises a ConvexityError with a witness against what does not hold."""
    stated = [b for b in blocks if not b.proved]
    sides = [(f"{letter} of {b.name}", side) for b in stated for letter, side in (("p", b.p), ("q", b.q))]
    seen: set[int] = set()
    claims: list[Claim] = []
    for name, side in sides:
        if id(side) not in seen:  # both halves of an equation have the same two sides
            seen.add(id(side))
            claims += _claims(name, side)
    return check_claims(claims, points, points.compiled)


def _claims(name: str, side: RowBlock) -> Iterator[Claim]:
    if isinstance(side, Grouped) and not side.rows.function.proved_convex:
        yield Claim(name, (FunctionTerm(side.rows.function, side.columns[: side.rows.size], 1.0),))
    if not isinstance(side, Expressions):
        return
    for parts in side.parts:
        check_weights(parts, name)
        terms = curved_terms(parts)
        quadratic = [t for t in terms if isinstance(t, QuadraticTerm)]
        if len(quadratic) == len(terms):
            if quadratic and not is_positive_semidefinite(quadratic[0].matrix):
                raise ConvexityError(f"{name} is not convex: its quadratic part has a negative eigenvalue")
            continue
        yield Claim(name, terms)


def check_weights(parts: Parts, name: str) -> None:
    """Kinks and convex functions are added, not subtracted."""
    weights = [(k.weight, "abs" if k.is_abs else "maximum") for k in parts.kinks]
    weights += [(b.weight, repr(b.function)) for b in parts.functions]
    for weight, what in weights:
        if weight < 0:
            raise ConvexityError(f"{what} has the negative coefficient {weight} in {name}: move it to the other side")

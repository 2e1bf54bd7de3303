"""What rules of composition say of each node: whether it is convex, concave, or has a power that is.

A node f ≥ 0 is called a-convex if fᵃ is convex (a > 0), log f is convex (a = 0), or fᵃ is concave (a < 0); and b-concave
with "convex" and "concave" exchanged. An a-convex function is a′-convex for every a′ ≥ a, so the least a says most: a ≤ 1
is convex, a = 0 log-convex, a = 1/p a function whose p-th root is convex, as that of Σ|xᵢ|ᵖ. This one scale holds norms,
log-sum-exp, quadratic over linear, geometric and harmonic means (Avriel et al., Generalized Concavity, 1988).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dcprog.program.curvature import elementary, entropy, quadratics
from dcprog.program.curvature.enclosures import has_pole
from dcprog.program.curvature.intervals import Interval
from dcprog.program.curvature.nodes import Graph, Node, below

WIDEST = 40
"""Sums of more terms are not multiplied out."""
CLOSE = 1e-13
"""Exponents that add up to 1 up to this do add up to 1."""


class Proof(NamedTuple):
    """That ``node`` has a shape, by ``rule`` from ``parts``. ``uses`` are nodes whose bounds the rule looked at."""

    node: Node
    rule: str
    parts: tuple[Proof, ...] = ()
    uses: tuple[Node, ...] = ()


class Power(NamedTuple):
    """That a node is ``exponent``-convex, or -concave."""

    exponent: float
    proof: Proof


class Shape(NamedTuple):
    """What is proved of a node."""

    convex: Proof | None = None
    concave: Proof | None = None
    root_convex: Power | None = None
    root_concave: Power | None = None


NOTHING = Shape()


def shape(graph: Graph, root: Node) -> Shape:
    """The shape of a node, and of all nodes that it is made of."""
    defects = set(graph.defects)
    for node in below([root]):
        if node.shape is None:
            node.shape = NOTHING if node in defects else with_powers(node, _RULES[node.kind](graph, node))
    found: Shape = root.shape
    return found


def with_powers(node: Node, found: Shape) -> Shape:
    """A convex function that is not negative is 1-convex; a power of it at most 1 makes it convex."""
    convex, concave, above, below_ = found
    if node.lower >= 0:
        if convex and above is None:
            above = Power(1.0, convex)
        if concave and below_ is None:
            below_ = Power(1.0, concave)
        if above and above.exponent <= 1 + CLOSE and not convex:
            convex = above.proof
        if below_ and below_.exponent >= 1 - CLOSE and not concave:
            concave = below_.proof
    return Shape(convex, concave, above, below_)


def _affine(graph: Graph, node: Node) -> Shape:
    proof = Proof(node, "affine")
    if not node.is_constant:
        return Shape(proof, proof)
    return Shape(proof, proof, *((Power(-math.inf, proof), Power(math.inf, proof)) if node.constant > 0 else (None, None)))


# Sums


def _sum(graph: Graph, node: Node) -> Shape:
    convex, concave = (of_sum(graph, node, node.terms, sign) for sign in (1.0, -1.0))
    return Shape(convex, concave, _root_of_sum(graph, node), _concave_root_of_sum(node) or _lorentz(graph, node))


def of_sum(graph: Graph, node: Node, terms: Sequence[tuple[float, Node]], sign: float) -> Proof | None:
    """That sign · Σ terms is convex: term by term, and where that fails quadratic terms together, and u·log terms of one
    u."""
    proved, left = by_terms(terms, sign)
    if not left:
        return Proof(node, f"a sum of {_word(sign)} terms", tuple(proved))
    together, left = entropy.groups(graph, node, terms, left, sign)
    forms = [(c, t) for c, t in left if quadratics.is_quadratic(t)]
    if len(forms) != len(left):
        return None
    if forms:
        every = [(c, t) for c, t in terms if quadratics.is_quadratic(t)]
        if not quadratics.is_convex(graph, every, sign):
            return None
        together.append(Proof(node, f"its quadratic part has no {_eigenvalue(sign)} eigenvalue"))
    return Proof(
        node, f"a sum of {_word(sign)} parts", (*together, *(p for p in proved if not quadratics.is_quadratic(p.node)))
    )


def by_terms(terms: Sequence[tuple[float, Node]], sign: float) -> tuple[list[Proof], list[tuple[float, Node]]]:
    """The proofs of the terms that have one, and the other terms."""
    proved, left = [], []
    for c, term in terms:
        proof = term.shape.convex if c * sign > 0 else term.shape.concave
        if proof is None:
            left.append((c, term))
        else:
            proved.append(proof)
    return proved, left


def _word(sign: float) -> str:
    return "convex" if sign > 0 else "concave"


def _eigenvalue(sign: float) -> str:
    return "negative" if sign > 0 else "positive"


def _root_of_sum(graph: Graph, node: Node) -> Power | None:
    """Minkowski: sums of a-convex functions are a-convex for a ≤ 1; for a quadratic form ½ where it is a squared norm."""
    line, terms = node.args[0], node.terms
    roots = [t.shape.root_convex for _, t in terms]
    if line.lower >= 0 and all(c > 0 and r is not None and t.lower >= 0 for (c, t), r in zip(terms, roots, strict=True)):
        parts = [r for r in roots if r is not None] + ([] if line.is_constant else [Power(1.0, Proof(line, "affine"))])
        a = max(p.exponent for p in parts)
        if a <= 1 + CLOSE:
            return Power(a, Proof(node, f"a sum of {_name(a)} terms", tuple(p.proof for p in parts), (line,)))
    if all(quadratics.is_quadratic(t) for _, t in terms) and quadratics.is_squared_norm(line, terms):
        return Power(0.5, Proof(node, "a squared norm of affine forms"))
    return None


def _concave_root_of_sum(node: Node) -> Power | None:
    """Minkowski turned: sums of b-concave functions are b-concave for b ≥ 1, as (√x + √y)² is concave."""
    line, terms = node.args[0], node.terms
    roots = [t.shape.root_concave for _, t in terms]
    if line.lower < 0 or not all(c > 0 and r and t.lower >= 0 for (c, t), r in zip(terms, roots, strict=True)):
        return None
    parts = [r for r in roots if r is not None] + ([] if line.is_constant else [Power(1.0, Proof(line, "affine"))])
    b = min(p.exponent for p in parts)
    if not 1 < b < math.inf:
        return None
    return Power(b, Proof(node, f"a sum of {b:.4g}-concave terms", tuple(p.proof for p in parts), (line,)))


def _lorentz(graph: Graph, node: Node) -> Power | None:
    """√q is concave where q > 0 for a quadratic q that has, made homogeneous, a single positive eigenvalue."""
    if node.lower > 0 and all(quadratics.is_quadratic(t) for _, t in node.terms) and quadratics.has_one_positive(node):
        return Power(0.5, Proof(node, "a positive quadratic with one positive eigenvalue has a concave root", (), (node,)))
    return None


def _name(a: float) -> str:
    if a == 0:
        return "log-convex"
    return "convex" if a == 1 else f"{a:.4g}-convex"


# Products and powers


def _product(graph: Graph, node: Node) -> Shape:
    factors = node.factors
    above, below_ = _root_of_product(node, convex=True), _root_of_product(node, convex=False)
    convex = concave = None
    if len(factors) == 1:
        (base, p) = factors[0]
        convex, concave = _composed(node, base, elementary.power_ranges(p, _interval(base)), f"{p:g}-th power")
    elif quadratics.is_quadratic(node):
        convex, concave = (of_sum_of_one(graph, node, sign) for sign in (1.0, -1.0))
    else:
        convex, concave = (entropy.product(graph, node, sign) for sign in (1.0, -1.0))
        if convex is None and concave is None and above is None and below_ is None:
            convex, concave = _multiplied_out(graph, node)
    return Shape(convex, concave, above, below_)


def _multiplied_out(graph: Graph, node: Node) -> tuple[Proof | None, Proof | None]:
    """b·Σ tₖ as Σ b·tₖ, where something cancels."""
    for (total, p), (base, q) in (node.factors, node.factors[::-1]) if len(node.args) == 2 else ():
        if total.kind != "sum" or p != 1.0 or len(total.args) > WIDEST:
            continue
        factor = graph.power(base, q)
        apart = graph.sum(0.0, {}, [(c, graph.product(factor, t)) for c, t in ((1.0, total.args[0]), *total.terms)])
        known = shape(graph, apart)
        if known.convex or known.concave:
            return tuple(p and Proof(node, "multiplied out", (p,), (base,)) for p in known[:2])  # type: ignore[return-value]
    return None, None


def of_sum_of_one(graph: Graph, node: Node, sign: float) -> Proof | None:
    """A product of two affine forms that is a multiple of a square."""
    if not quadratics.is_convex(graph, [(1.0, node)], sign):
        return None
    return Proof(node, f"a quadratic form without a {_eigenvalue(sign)} eigenvalue")


def _root_of_product(node: Node, *, convex: bool) -> Power | None:
    """Hölder: 1/a adds up over the factors if all are log-convex, or one of them is not and the sum is positive; over
    log-concave factors always."""
    parts = [_root_of_power(base, p, convex=convex) for base, p in node.factors]
    found = [p for p in parts if p is not None]
    if len(found) < len(parts):
        return None
    exponents = [p.exponent for p in found]
    beyond = [a for a in exponents if (a > 0 if convex else a < 0)]
    if not convex and beyond:
        return None
    if len(exponents) > 1 and (len(beyond) > 1 or (beyond and 0.0 in exponents)):
        return None
    if 0.0 in exponents:
        a = 0.0
    else:
        total = math.fsum(1 / a for a in exponents)
        if total == 0 or (beyond and total < 0):
            return None
        a = 1 / total
    uses = tuple(base for base, _ in node.factors)
    return Power(
        a,
        Proof(
            node,
            f"a product: {_name(a) if convex else _name(a).replace('convex', 'concave')}",
            tuple(p.proof for p in found),
            uses,
        ),
    )


def _root_of_power(base: Node, p: float, *, convex: bool) -> Power | None:
    """(fᵖ)^(a/p) = fᵃ; a negative p exchanges convex and concave."""
    if has_pole(base, p):
        return None
    known: Power | None
    if base.lower >= 0:
        known = base.shape.root_convex if convex == (p > 0) else base.shape.root_concave
    elif p % 2 == 0 and p > 0 and convex and base.kind == "affine":
        known = Power(1.0, Proof(base, "|affine|"))
    else:
        known = None
    if known is None or math.isinf(known.exponent):
        return None
    return Power(known.exponent / p + 0.0, known.proof)


def _composed(
    node: Node, arg: Node, ranges: tuple[Interval, Interval, Interval], what: str
) -> tuple[Proof | None, Proof | None]:
    """φ(u): φ convex and u affine, or φ increasing and u convex, or φ decreasing and u concave; and the same turned."""
    if arg.kind == "affine" or not node.factors:
        steps: list[tuple[str, Proof | None, Proof | None]] = [("affine", arg.shape.convex, arg.shape.convex)]
    else:
        steps = []
        if ranges[1].lower >= 0:
            steps.append(("increasing", arg.shape.convex, arg.shape.concave))
        if ranges[1].upper <= 0:
            steps.append(("decreasing", arg.shape.concave, arg.shape.convex))
    result: list[Proof | None] = [None, None]
    for way, for_convex, for_concave in steps:
        for at, one_sign, inner, word in (
            (0, ranges[2].lower >= 0, for_convex, "convex"),
            (1, ranges[2].upper <= 0, for_concave, "concave"),
        ):
            if one_sign and inner is not None and result[at] is None:
                how = f"the {what} is {word}" if way == "affine" else f"the {what} is {word} and {way}"
                result[at] = Proof(node, f"{how} on {_text(arg)}", (inner,), (arg,))
    return result[0], result[1]


def _text(node: Node) -> str:
    return f"[{node.lower:.6g}, {node.upper:.6g}]"


def _interval(node: Node) -> Interval:
    return Interval(np.asarray(node.lower), np.asarray(node.upper))


# Functions


def _apply(graph: Graph, node: Node) -> Shape:
    arg = node.args[0]
    convex, concave = _composed(node, arg, elementary.ranges(node.data, _interval(arg)), node.data)
    above, under = arg.shape.root_convex, arg.shape.root_concave
    if node.data == "exp":
        a, b = arg.shape.convex, arg.shape.concave
        return Shape(convex, concave, *(Power(0.0, Proof(node, "exp of it", (p,))) if p else None for p in (a, b)))
    if node.data == "cosh" and convex:
        return Shape(convex, concave, Power(0.0, convex._replace(rule=f"{convex.rule}; its logarithm, too")))
    if node.data == "log" and arg.lower >= 0:
        if above and above.exponent <= 0 and not convex:
            convex = Proof(node, "the logarithm of a log-convex function", (above.proof,), (arg,))
        if under and under.exponent >= 0 and not concave:
            concave = Proof(node, "the logarithm of a log-concave function", (under.proof,), (arg,))
    return Shape(convex, concave)


def _abs(graph: Graph, node: Node) -> Shape:
    if node.args[0].kind != "affine":
        return NOTHING
    return Shape(Proof(node, "|affine|"))


def _max(graph: Graph, node: Node) -> Shape:
    convex = None
    if all(a.shape.convex for a in node.args):
        convex = Proof(node, "a maximum of convex functions", tuple(a.shape.convex for a in node.args))
    roots = [a.shape.root_convex for a in node.args]
    if not all(r is not None and a.lower >= 0 for r, a in zip(roots, node.args, strict=True)):
        return Shape(convex)
    a = max(r.exponent for r in roots)
    return Shape(
        convex, None, Power(a, Proof(node, f"a maximum of {_name(a)} functions", tuple(r.proof for r in roots), node.args))
    )


def _function(graph: Graph, node: Node) -> Shape:
    function = node.data
    inside = all(a.lower >= function.domain_lower for a in node.args) and all(a.kind == "affine" for a in node.args)
    if function.proved_convex and inside:
        return Shape(
            Proof(node, "convex by what its class proves", (), node.args if np.isfinite(function.domain_lower) else ())
        )
    return NOTHING


_RULES: dict[str, Callable[[Graph, Node], Shape]] = {
    "affine": _affine,
    "sum": _sum,
    "product": _product,
    "apply": _apply,
    "abs": _abs,
    "max": _max,
    "function": _function,
}

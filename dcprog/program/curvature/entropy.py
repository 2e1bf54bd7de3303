"""u·log u and relative entropy u·log(u/v); what is a product of two factors otherwise may be a perspective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dcprog.program.curvature import perspectives
from dcprog.program.curvature.nodes import Graph, Node

if TYPE_CHECKING:
    from dcprog.program.curvature.shapes import Proof

Terms = Sequence[tuple[float, Node]]


def product(graph: Graph, node: Node, sign: float) -> Proof | None:
    """sign · node, where node = u · log(…) or y · φ(u/y)."""
    split = _logarithm(node)
    found = None if split is None else _relative(node, split[0], split[1], sign)
    return found or perspectives.proof(graph, node, sign)


def groups(graph: Graph, node: Node, terms: Terms, left: Terms, sign: float) -> tuple[list[Proof], list[tuple[float, Node]]]:
    """Σ c · u · log(…) of one u, taken together: the proofs, and the terms of ``left`` that none of them covers."""
    by_factor: dict[Node, list[tuple[float, Node]]] = {}
    for c, term in terms:
        split = _logarithm(term)
        if split is not None:
            by_factor.setdefault(split[0], []).extend((c * p, base) for p, base in split[1])
    proofs: list[Proof] = []
    covered = set()
    for factor, logs in by_factor.items():
        proof = _relative(node, factor, logs, sign)
        if proof is not None:
            proofs.append(proof)
            covered.add(factor)
    rest = []
    for c, t in left:
        split = _logarithm(t)
        if split is None or split[0] not in covered:
            rest.append((c, t))
    return proofs, rest


def _logarithm(node: Node) -> tuple[Node, list[tuple[float, Node]]] | None:
    """u and the (p, b) of node = u · Σ p · log b + a multiple of u, for an affine u ≥ 0."""
    if node.kind != "product" or node.data != (1.0, 1.0):
        return None
    for u, other in (node.args, node.args[::-1]):
        logs = _logs(other)
        if u.kind == "affine" and u.lower >= 0 and logs:
            return u, logs
    return None


def _logs(node: Node) -> list[tuple[float, Node]]:
    """(p, b) with node = Σ p · log b + constant; none if it is not."""
    if node.kind == "sum" and not node.args[0].is_constant:
        return []
    found: list[tuple[float, Node]] = []
    for c, term in node.terms:
        if term.kind != "apply" or term.data != "log":
            return []
        inner = term.args[0]
        if all(b.lower >= 0 for b, _ in inner.factors):
            found += [(c * p, b) for b, p in inner.factors]
        else:
            found.append((c, inner))
    return found


def _relative(node: Node, u: Node, logs: Sequence[tuple[float, Node]], sign: float) -> Proof | None:
    """Σ pⱼ u log(u/bⱼ) + q u log u is convex for pⱼ, q ≥ 0, u ≥ 0 affine, bⱼ ≥ 0 concave (jointly convex and decreasing in
    b)."""
    from dcprog.program.curvature.shapes import Proof

    own = sign * sum(p for p, b in logs if b is u)
    powers: dict[Node, float] = {}
    for p, b in logs:
        if b is not u:
            powers[b] = powers.get(b, 0.0) - sign * p
    others = [(p, b) for b, p in powers.items() if p != 0.0]
    total = sum(p for p, _ in others)
    if any(p < 0 or b.lower < 0 or not b.shape.concave for p, b in others) or own < total - 1e-15 * abs(own):
        return None
    rule = "relative entropy" if others else "entropy u·log u"
    return Proof(node, rule, tuple(b.shape.concave for _, b in others), (u, *(b for _, b in others)))

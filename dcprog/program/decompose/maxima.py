"""|f| and max(f₁, …, f_k) of DC functions: max(gᵢ − hᵢ) = max(gᵢ + Σ_{j≠i} hⱼ) − Σⱼ hⱼ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcprog.program.curvature.nodes import Node
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.decompose.pairs import Pair, claim, sum_of

if TYPE_CHECKING:
    from dcprog.program.decompose.splitter import Splitter


def split(splitter: Splitter, node: Node) -> tuple[Pair, str] | None:
    """A maximum, or |f| = max(f, −f)."""
    graph = splitter.graph
    pieces = [splitter.split(a) for a in node.args]
    if any(p is None for p in pieces):
        return None
    known = [p for p in pieces if p is not None]
    if node.kind == "abs":
        known.append(known[0].scaled(-1.0))
    total = Pair()
    for piece in known:
        total.add(Pair(piece.h))
    raised = []
    for k, piece in enumerate(known):
        others = Pair(dict(piece.g), {}, dict(piece.line), piece.constant)
        for j, other in enumerate(known):
            if j != k:
                others.add(Pair(other.h))
        raised.append(sum_of(graph, others.g, others.line, others.constant))
    made = graph.max(raised)
    if not shape(graph, made).convex:
        proofs = tuple(p for r in raised if (p := shape(graph, r).convex) is not None)
        claim(made, Proof(made, "a maximum of convex functions", proofs))
    pair = Pair({made: 1.0} if made.kind != "affine" else {}, {})
    if made.kind == "affine":
        pair.line, pair.constant = dict(made.coefficients), made.constant
    return pair.add(total, -1.0), "max(gᵢ − hᵢ) = max(gᵢ + Σ_{j≠i} hⱼ) − Σ hⱼ"

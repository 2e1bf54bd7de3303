"""A proof that a node is convex: by rules, and where these end by second derivatives."""

from __future__ import annotations

from collections.abc import Sequence

from dcprog.program.curvature import entropy, hessians
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.nodes import Graph, Node, below, support
from dcprog.program.curvature.programs import Term
from dcprog.program.curvature.shapes import Proof, Shape, by_terms, shape, with_powers

INNER = 50
"""So many nodes inside of an expression are differentiated by themselves."""


def signed(node: Node, sign: float) -> list[Term]:
    """The terms of sign · node, without its affine part."""
    return [(sign * c, t) for c, t in node.terms]


def proved_convex(graph: Graph, node: Node, sign: float, effort: Effort) -> Proof | None:
    """A proof that sign · node is convex, by rules or by second derivatives."""
    known = shape(graph, node)
    return (known.convex if sign > 0 else known.concave) or by_hessians(graph, node, sign, effort)


def by_hessians(graph: Graph, node: Node, sign: float, effort: Effort) -> Proof | None:
    """A proof by second derivatives of what no rule covers: of the terms of a sum, or of nodes inside, from which rules
    lead on."""
    if any(d in set(below([node])) for d in graph.defects):
        return None
    shape(graph, node)
    found = _of_terms(graph, node, sign, effort)
    if found is None and not effort.spent and _inside(graph, node, effort):
        known = shape(graph, node)
        found = known.convex if sign > 0 else known.concave
    return found


def _inside(graph: Graph, root: Node, effort: Effort) -> bool:
    """Whether second derivatives say something of nodes inside of which rules say nothing; the shapes above are then made
    anew."""
    nodes = below([root])
    found = False
    for node in [n for n in nodes if n is not root and n.kind != "affine"][:INNER]:
        if node.shape.convex or node.shape.concave or effort.spent:
            continue
        for sign in (1.0, -1.0):
            proof = _of_terms(graph, node, sign, effort)
            if proof is not None:
                node.shape = with_powers(node, Shape(proof) if sign > 0 else Shape(None, proof))
                found = True
                break
    for node in nodes:
        if found and not (node.shape.convex or node.shape.concave):
            node.shape = None
    return found


def _of_terms(graph: Graph, node: Node, sign: float, effort: Effort) -> Proof | None:
    """The terms of a sum that no rule covers by themselves; and with those that rules cover where these make up for them."""
    terms = signed(node, sign)
    proved, left = by_terms(terms, 1.0)
    together, left = entropy.groups(graph, node, terms, left, 1.0)
    open_blocks = hessians.blocks(left)
    rules = hessians.prove(graph, open_blocks, effort)
    parts = [*together, *proved, *_proofs(open_blocks, rules)]
    failed = {id(t) for block, rule in zip(open_blocks, rules, strict=True) if not rule for _, t in block}
    if failed:
        whole = [b for b in hessians.blocks(terms) if any(id(t) in failed for _, t in b)]
        again = hessians.prove(graph, whole, effort)
        if not all(again):
            return None
        parts += _proofs(whole, again)
    return Proof(node, f"a sum of {'convex' if sign > 0 else 'concave'} parts", tuple(parts))


def _proofs(blocks: Sequence[Sequence[Term]], rules: Sequence[str]) -> list[Proof]:
    """One proof for each block that has a rule."""
    return [
        Proof(
            block[0][1],
            rule if len(block) == 1 else f"{rule} (with {len(block) - 1} further terms)",
            (),
            tuple(t for _, t in block),
        )
        for block, rule in zip(blocks, rules, strict=True)
        if rule
    ]


def bounds_used(proof: Proof) -> set[int]:
    """The variables whose bounds a proof looked at."""
    used: set[int] = set()
    stack, seen = [proof], set()
    while stack:
        p = stack.pop()
        if id(p) not in seen:
            seen.add(id(p))
            used.update(*(support(n) for n in p.uses))
            stack += p.parts
    return used

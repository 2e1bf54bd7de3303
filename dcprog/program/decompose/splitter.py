"""Which rule splits which node: every rule that applies is tried, and the pair with the least coarse h is taken."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from dcprog.errors import DecompositionError
from dcprog.program.curvature.hessians import Effort, blocks
from dcprog.program.curvature.nodes import Graph, Node, support
from dcprog.program.curvature.programs import Term
from dcprog.program.curvature.proofs import by_hessians
from dcprog.program.curvature.quadratics import is_quadratic
from dcprog.program.curvature.shapes import shape
from dcprog.program.curvature.texts import text
from dcprog.program.decompose import compositions, maxima, products, quadratics, shifts, univariate
from dcprog.program.decompose.measure import bends, coarseness
from dcprog.program.decompose.pairs import Pair, claim, convex, of_affine

SMALL = 8
"""Blocks of up to so many variables are also shifted as a whole."""
FACTORS = 6


class Piece(NamedTuple):
    """A part of an expression, its pair, and the rule that made it."""

    terms: tuple[Term, ...]
    pair: Pair
    rule: str


class Splitter:
    """Splits the nodes of one graph; what was split before is known."""

    def __init__(self, graph: Graph, method: str, effort: Effort) -> None:
        self.graph, self.method, self.effort = graph, method, effort
        self._known: dict[tuple[Node, bool], tuple[Pair, str] | None] = {}

    # of a whole expression

    def pieces(self, node: Node) -> tuple[Pair, list[Piece]]:
        """The node as a pair, and what it was made of: each set of coupled variables by itself."""
        line = node if node.kind == "affine" else node.args[0] if node.kind == "sum" else self.graph.number(0.0)
        total, pieces = of_affine(line), []
        for block in blocks(node.terms if node.kind != "affine" else []):
            found = self._of_block(block)
            total.add(self._together(found))
            pieces += found
        return total.without_common(), pieces

    def _of_block(self, block: Sequence[Term]) -> list[Piece]:
        node = self.graph.sum(0.0, {}, block)
        known = self._simple(node)
        if known is not None:
            return [Piece(tuple(block), *known)]
        whole = self._proved(block, node)
        if whole is not None:
            return [whole]
        found = [self._by_terms(block)]
        if len(block) > 1 and len(frozenset().union(*(support(t) for _, t in block))) <= SMALL:
            shifted = shifts.shifted(self.graph, block)
            if shifted is not None:
                found.append([Piece(tuple(block), *shifted)])
        good = [f for f in found if f is not None]
        if not good:
            raise self._refusal(block)
        return min(good, key=lambda pieces: self._coarseness(self._together(pieces)))

    def _coarseness(self, pair: Pair) -> float:
        return coarseness(self.graph, [(w, n) for n, w in pair.h.items()])

    def _together(self, pieces: Sequence[Piece], inner: bool = False) -> Pair:
        """The sum of the pieces. Their quadratic parts are split as one form where that is less coarse: convex ones make up
        for the shifts of others."""
        total = Pair()
        for piece in pieces:
            total.add(piece.pair)
        if len(pieces) < 2:
            return total
        merged = Pair().add(total)
        forms = self._quadratics_out(merged)
        if len({c > 0 for c, _ in forms}) == 2:
            for piece in self._of_forms(forms, inner):
                merged.add(piece.pair)
            if self._coarseness(merged) < self._coarseness(total):
                return merged
        return total

    def _proved(self, block: Sequence[Term], node: Node) -> Piece | None:
        """A block that second derivatives show to be convex or concave."""
        if all(is_quadratic(t) for _, t in block):
            return None
        for sign in bends(self.graph, block):
            proof = by_hessians(self.graph, node, sign, self.effort)
            if proof is not None:
                made = node if sign > 0 else self.graph.scaled(-1.0, node)
                shape(self.graph, made)
                claim(made, proof._replace(node=made))
                return Piece(tuple(block), Pair({made: 1.0}).scaled(sign), ("" if sign > 0 else "concave: ") + proof.rule)
        return None

    def _by_terms(self, block: Sequence[Term], inner: bool = False) -> list[Piece] | None:
        """Term by term, the quadratic ones together."""
        pieces: list[Piece] = []
        forms = [(c, term) for c, term in block if is_quadratic(term)]
        for c, term in block:
            found = None if is_quadratic(term) else self._of_node(term, inner)
            if found is not None:
                pieces.append(Piece(((c, term),), found[0].scaled(c), found[1]))
            elif not is_quadratic(term):
                return None
        return pieces + self._of_forms(forms, inner) if forms else pieces

    def _quadratics_out(self, pair: Pair) -> list[Term]:
        """The quadratic nodes of a pair, which are taken out of it."""
        taken: list[Term] = []
        for side, sign in ((pair.g, 1.0), (pair.h, -1.0)):
            for node in [n for n in side if all(is_quadratic(t) for _, t in n.terms) and n.kind in ("sum", "product")]:
                weight = sign * side.pop(node)
                taken += [(weight * c, t) for c, t in node.terms]
                if node.kind == "sum":
                    pair.add(of_affine(node.args[0], weight))
        return taken

    def _of_forms(self, forms: Sequence[Term], inner: bool = False) -> list[Piece]:
        form = quadratics.collected(forms)
        method = "eigenvalue" if self.method == "eigenvalue" else "diagonal"
        pieces = [
            Piece(tuple(forms), pair, rule) for pair, rule in quadratics.split(self.graph, form, method, written=inner)
        ]
        if form.constant or any(form.line.values()):
            pieces.append(Piece((), Pair({}, {}, form.line, form.constant), "affine"))
        return pieces

    # of nodes

    def split(self, node: Node) -> Pair | None:
        """The node as a pair, the parts of a sum included; None if there is no rule for it."""
        if node.kind == "affine":
            return of_affine(node)
        if node.kind != "sum":
            found = self._of_node(node, inner=True)
            return None if found is None else found[0]
        known = self._simple(node)
        if known is not None:
            return known[0]
        total = of_affine(node.args[0])
        pieces = self._by_terms(node.terms, inner=True)
        if pieces is None:
            return None
        return total.add(self._together(pieces, inner=True)).without_common()

    def quadratic(self, a: Node, b: Node) -> Pair:
        """a · b for affine forms."""
        node = self.graph.product(a, b)
        total = Pair()
        for c, term in node.terms if node.kind != "affine" else []:
            for piece in self._of_forms([(c, term)], inner=True):
                total.add(piece.pair)
        return (
            total.add(of_affine(node if node.kind == "affine" else node.args[0]))
            if node.kind in ("affine", "sum")
            else total
        )

    def _simple(self, node: Node) -> tuple[Pair, str] | None:
        known = shape(self.graph, node)
        if known.convex:
            return convex(self.graph, node), known.convex.rule
        if known.concave:
            made = self.graph.scaled(-1.0, node)
            if not shape(self.graph, made).convex:
                claim(made, known.concave._replace(node=made))
            return convex(self.graph, made, -1.0), f"concave: {known.concave.rule}"
        return None

    def _of_node(self, node: Node, inner: bool = False) -> tuple[Pair, str] | None:
        """The pair of a node that is no sum; ``inner`` if it becomes a part of products and powers, in which no vectorised
        function may stand."""
        key = node, inner
        if key not in self._known:
            self._known[key] = self._simple(node)
            if self._known[key] is None and node not in self.graph.defects:
                candidates = self._candidates(node, inner)
                if candidates:
                    self._known[key] = min(candidates, key=lambda found: self._coarseness(found[0]))
        return self._known[key]

    def _candidates(self, node: Node, inner: bool) -> list[tuple[Pair, str]]:
        graph = self.graph
        found: list[tuple[Pair, str] | None] = []
        if is_quadratic(node):
            return [(self.quadratic(node.args[0], node.args[-1]), "a quadratic form")]
        if node.kind in ("abs", "max"):
            found.append(maxima.split(self, node))
        else:
            found.append(shifts.shifted(graph, [(1.0, node)]))
        if self.method != "shift":
            found.append((univariate.of_power if inner else univariate.split)(graph, node))
        if self.method == "shift" and any(found):
            return [f for f in found if f is not None]
        if node.kind == "product" and len(node.args) == 1:
            base, p = node.factors[0]
            if p == 2.0:
                found += [compositions.square(self, base), compositions.expanded(self, base)]
            if base.kind != "affine":
                found.append(compositions.split(self, node, base, compositions.ranges_of(node, base)))
            if float(p).is_integer() and p > 2:
                half = p // 2
                found.append(products.split(self, graph.power(base, half), graph.power(base, p - half)))
        elif node.kind == "product":
            found += [products.split(self, *halves) for halves in self._halves(node)]
        elif node.kind == "apply" and node.args[0].kind != "affine":
            found.append(compositions.split(self, node, node.args[0], compositions.ranges_of(node, node.args[0])))
        return [f for f in found if f is not None]

    def _halves(self, node: Node) -> list[tuple[Node, Node]]:
        """The factors in two groups, in every way if they are few."""
        powers = [self.graph.power(base, p) for base, p in node.factors]
        ways = []
        for size in range(1, len(powers) // 2 + 1) if len(powers) <= FACTORS else [len(powers) // 2]:
            for chosen in itertools.combinations(range(len(powers)), size):
                if 2 * size == len(powers) and 0 not in chosen:
                    continue
                ways.append(
                    (
                        self._times([powers[k] for k in chosen]),
                        self._times([p for k, p in enumerate(powers) if k not in chosen]),
                    )
                )
                if len(powers) > FACTORS:
                    break
        return ways

    def _times(self, nodes: Sequence[Node]) -> Node:
        total = nodes[0]
        for node in nodes[1:]:
            total = self.graph.product(total, node)
        return total

    # what cannot be split

    def _refusal(self, block: Sequence[Term]) -> DecompositionError:
        graph = self.graph
        term = next((t for _, t in block if not is_quadratic(t) and self._of_node(t) is None), block[0][1])
        used = sorted(support(term))
        endless = [graph.names[i] for i in used if graph.lower[i] == -float("inf") or graph.upper[i] == float("inf")]
        what = text(graph, term)
        if endless:
            more = f" and {len(endless) - 6} more" if len(endless) > 6 else ""
            return DecompositionError(
                f"{what} needs bounds of {', '.join(endless[:6])}{more} to be split: give them, or rows that imply them"
            )
        return DecompositionError(
            f"{what} has no bounded second derivatives on its bounds, and no rule splits it: keep its variables "
            "away from where its slope is infinite"
        )

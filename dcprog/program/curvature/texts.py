"""Nodes and proofs as text."""

from __future__ import annotations

from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.shapes import Proof

DEEPEST = 6
LINES = 40
ALIKE = 4
"""So many parts of one proof are shown."""
LONGEST = 70


def readable(graph: Graph, proof: Proof) -> str:
    """A proof as indented lines: what is shown, and by which rule."""
    lines: list[str] = []
    _lines(graph, proof, 0, lines)
    if len(lines) > LINES:
        lines = [*lines[:LINES], "…"]
    return "\n".join(lines)


def _lines(graph: Graph, proof: Proof, depth: int, lines: list[str]) -> None:
    if len(lines) > LINES:
        return
    on = [f"{text(graph, n)} in [{n.lower:.6g}, {n.upper:.6g}]" for n in dict.fromkeys(proof.uses) if not n.is_constant]
    using = f"; {', '.join(on[:3])}{', …' if len(on) > 3 else ''}" if on else ""
    lines.append(f"{'  ' * depth}{text(graph, proof.node)}: {proof.rule}{using}")
    inner = [p for p in proof.parts if p.node.kind != "affine"]
    if depth < DEEPEST:
        for part in inner[:ALIKE]:
            _lines(graph, part, depth + 1, lines)
        if len(inner) > ALIKE:
            lines.append(f"{'  ' * (depth + 1)}… and {len(inner) - ALIKE} more parts")


def text(graph: Graph, node: Node, depth: int = 4) -> str:
    """A node as a formula, shortened."""
    whole = _text(graph, node, depth)
    return whole if len(whole) <= LONGEST else whole[: LONGEST - 1] + "…"


def _text(graph: Graph, node: Node, depth: int) -> str:
    if depth == 0:
        return "…"
    if node.kind == "affine":
        parts = [_scaled(a, graph.names[i]) for i, a in node.coefficients[:4]]
        parts += ["…"] if len(node.coefficients) > 4 else []
        return _joined(parts + ([f"{node.constant:.6g}"] if node.constant or not parts else []))
    if node.kind == "sum":
        parts = [_scaled(c, _text(graph, t, depth - 1)) for c, t in node.terms[:4]]
        parts += ["…"] if len(node.terms) > 4 else []
        line = node.args[0]
        return _joined(parts + ([] if line.is_constant and line.constant == 0.0 else [_text(graph, line, depth - 1)]))
    if node.kind == "product":
        return "·".join(_power(graph, base, p, depth) for base, p in node.factors)
    inner = ", ".join(_text(graph, a, depth - 1) for a in node.args[:3]) + (", …" if len(node.args) > 3 else "")
    name = node.data if node.kind == "apply" else type(node.data).__name__ if node.kind == "function" else node.kind
    return f"{name}({inner})"


def _power(graph: Graph, base: Node, p: float, depth: int) -> str:
    inner = _text(graph, base, depth - 1)
    if base.kind in ("sum", "product") or (base.kind == "affine" and (len(base.coefficients) > 1 or base.constant)):
        inner = f"({inner})"
    return inner if p == 1.0 else f"{inner}^{p:.4g}" if p > 0 else f"{inner}^({p:.4g})"


def _scaled(c: float, what: str) -> str:
    if c == 1.0:
        return what
    return f"-{what}" if c == -1.0 else f"{c:.6g}·{what}"


def _joined(parts: list[str]) -> str:
    return " + ".join(parts).replace("+ -", "- ")

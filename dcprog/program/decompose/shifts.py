"""f = [f + ½ Σ αₖ (aₖ'x)²] − ½ Σ αₖ (aₖ'x)²: the fallback, for whatever has bounded second derivatives.

α comes from interval Hessians on the pieces of a grid (Gershgorin's discs in the units of the ranges, or the least
eigenvalue of the midpoint less the radii, whichever adds less): αBB, Adjiman et al. (1998). Where f is made of fewer linear
forms than variables, the shift is in these, a rank-one term each, far less than a multiple of ‖x‖².
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dcprog.program.curvature.hessians import interval_hessians
from dcprog.program.curvature.intervals import Interval, magnitude
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.programs import Compiled, Term, compile_in_forms, compile_in_variables
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.decompose.pairs import Pair, claim, convex
from dcprog.typing import Matrix, Vector

CELLS = 600
ENTRIES = 60_000
WIDEST = 40
FAR = (1.0, 4.0, 16.0, 64.0, 1e3)
MARGIN = 1e-9


def shifted(graph: Graph, terms: Sequence[Term]) -> tuple[Pair, str] | None:
    """The pair for Σ c · node; None where its second derivatives are not bounded, or it has kinks."""
    for compiled in (compile_in_forms(graph, terms), compile_in_variables(graph, terms)):
        alpha = None if compiled is None or len(compiled.forms) > WIDEST else _alpha(compiled)
        if compiled is not None and alpha is not None:
            return _pair(graph, terms, compiled, alpha)
    return None


def _pair(graph: Graph, terms: Sequence[Term], compiled: Compiled, alpha: Vector) -> tuple[Pair, str]:
    squares = [
        (0.5 * float(a), graph.power(form, 2.0)) for a, form in zip(alpha.tolist(), compiled.forms, strict=True) if a > 0.0
    ]
    node = graph.sum(0.0, {}, [*terms, *squares])
    shape(graph, node)
    pair = Pair()
    if node.kind != "affine":
        rule = "its Hessian, bounded by interval arithmetic, is positive semidefinite"
        claim(node, Proof(node, rule, (), compiled.forms))
        pair.add(Pair({node: 1.0}))
    else:
        pair.add(convex(graph, node))
    for c, square in squares:
        pair.add(convex(graph, square, -c))
    where = "linear forms" if any(len(f.coefficients) > 1 for f in compiled.forms) else "variables"
    return pair, f"½ Σ α·t² in its {where} t added and taken off, α from bounds of the second derivatives"


def _alpha(compiled: Compiled) -> Vector | None:
    """αₖ ≥ 0 such that the Hessian in the forms plus diag(α) is positive semidefinite on the whole box."""
    grid = cells(compiled.forms)
    constants = np.repeat(np.array(compiled.program.constants)[:, None], grid.lower.shape[1], axis=1)
    hessian = interval_hessians(compiled.program, constants, grid)
    if hessian is None:
        return np.zeros(len(compiled.forms))
    if not (np.isfinite(hessian.lower).all() and np.isfinite(hessian.upper).all()):
        return None
    t = _ranges(compiled.forms)
    scaled = Interval(hessian.lower * t[:, None] * t, hessian.upper * t[:, None] * t)
    rounding = 1e-12 * magnitude(scaled).sum(axis=2).max(axis=0)
    found = min((_discs(scaled), _eigenvalues(scaled)), key=lambda alpha: float(alpha.sum()))
    alpha: Vector = np.where(found > 0, found * (1 + MARGIN) + rounding, 0.0)
    if len(alpha) > 1:
        alpha = np.where(rounding > 0, np.maximum(alpha, rounding), alpha)
    return alpha / t**2


def _discs(hessian: Interval) -> Vector:
    """Gershgorin: minus the least of Hᵢᵢ − Σⱼ |Hᵢⱼ|."""
    off = magnitude(hessian) * (1.0 - np.eye(hessian.lower.shape[1]))
    least = np.einsum("cii->ci", hessian.lower) - off.sum(axis=2)
    alpha: Vector = np.maximum(0.0, -least.min(axis=0))
    return alpha


def _eigenvalues(hessian: Interval) -> Vector:
    """Minus the least eigenvalue of the midpoint less the sums of the radii on its diagonal."""
    centre, radius = 0.5 * (hessian.lower + hessian.upper), 0.5 * (hessian.upper - hessian.lower)
    discs: Matrix = centre - radius.sum(axis=2)[:, :, None] * np.eye(centre.shape[1])
    return np.full(centre.shape[1], max(0.0, -float(np.linalg.eigvalsh(discs)[:, 0].min())))


def cells(forms: Sequence[Node], total: int = CELLS) -> Interval:
    """The pieces of a grid on the ranges of the forms, (forms, pieces)."""
    k = len(forms)
    each = max(1, int(min(total, ENTRIES / k**2) ** (1.0 / k)))
    knots = [_knots(form.lower, form.upper, each) for form in forms]
    lower = np.meshgrid(*(t[:-1] for t in knots), indexing="ij")
    upper = np.meshgrid(*(t[1:] for t in knots), indexing="ij")
    return Interval(np.array([a.ravel() for a in lower]), np.array([a.ravel() for a in upper]))


def _knots(lower: float, upper: float, pieces: int) -> Vector:
    """Ends of so many pieces; further and further out where there is no end."""
    if np.isfinite(lower) and np.isfinite(upper):
        inner = np.linspace(lower, upper, pieces + 1)[1:-1]
    else:  # near to where it ends, or to 0, and further and further out
        centre = lower if np.isfinite(lower) else upper if np.isfinite(upper) else 0.0
        steps = np.array(FAR[: max(0, (pieces - 1) // 2)])
        near = np.linspace(centre - 1, centre + 1, 9)[1:-1] if pieces >= 20 else np.empty(0)
        inner = np.concatenate([centre - steps[::-1], near, centre + steps])
    return np.concatenate([[lower], inner[(inner > lower) & (inner < upper)], [upper]])


def _ranges(forms: Sequence[Node]) -> Vector:
    with np.errstate(all="ignore"):
        wide = np.array([f.upper - f.lower for f in forms])
    known = wide[np.isfinite(wide) & (wide > 0)]
    usual = float(known.mean()) if len(known) else 1.0
    return np.where(np.isfinite(wide) & (wide > 0), wide, usual)

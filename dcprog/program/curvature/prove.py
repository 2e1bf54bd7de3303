"""``dcprog.curvature``: rules, then second derivatives in interval arithmetic, then points that refute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dcprog.functions.binding import check_scalar
from dcprog.program.curvature import undefined
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.nodes import Graph, Node
from dcprog.program.curvature.proofs import bounds_used, by_hessians, signed
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.curvature.spaces import Space, of_expression, of_model
from dcprog.program.curvature.texts import readable
from dcprog.program.curvature.witnesses import Witness, search, witness

SECONDS = 5.0
Bounds = Mapping[str, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Curvature:
    """What is known of an expression on a box with rows.

    Attributes
    ----------
    verdict : str
        affine, convex, concave, neither (each of them proved), or unknown.
    proof : str
        Which rules, on which bounds; for neither and unknown what stands against it.
    witness : Witness or None
        Against convexity, where it is not proved and one was found: two points and the excess over the chord.
    against_concavity : Witness or None
        The same against concavity, which was only looked for where that is not proved either.
    bounds : mapping
        The bounds of variables that the proof rests on, those implied by rows included.
    point : mapping or None
        Where the expression is undefined, if such a point is why nothing is known.
    """

    verdict: str
    proof: str
    witness: Witness | None = None
    against_concavity: Witness | None = None
    bounds: Bounds = field(default_factory=dict)
    point: Mapping[str, float] | None = None

    @property
    def is_convex(self) -> bool:
        """Proved to be convex."""
        return self.verdict in ("affine", "convex")

    @property
    def is_concave(self) -> bool:
        """Proved to be concave."""
        return self.verdict in ("affine", "concave")

    def __str__(self) -> str:
        return f"{self.verdict}: {self.proof}"


def curvature(expression: Any, over: Any = None, *, time_limit: float = SECONDS) -> Curvature:
    """Whether a Pyomo expression is affine, convex or concave, proved; or neither, with a witness; or unknown.

    Proofs hold on the bounds and rows of ``over`` (of the variables that appear, without it), limits at the boundary
    included: √x is concave on x ≥ 0. Rules of composition come first, then interval arithmetic on second derivatives, on
    the box and on pieces of it; points only refute. Fixed variables and parameters count with their values. The model is
    not changed.

    Parameters
    ----------
    expression : Pyomo expression
    over : Pyomo model or block, optional
        Whose bounds and active rows hold. Rows are used for the bounds of variables that they imply, and for those of the
        linear forms that they are.
    time_limit : float
        Seconds after which the search for proofs and witnesses ends; what is open then is unknown.

    Examples
    --------
    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-1, 1)); m.y = pyo.Var(bounds=(0, 5))
    >>> m.row = pyo.Constraint(expr=m.y >= 1)
    >>> dcprog.curvature(m.x**2 / m.y, over=m).verdict
    'convex'
    >>> found = dcprog.curvature(m.x**3)
    >>> found.verdict, found.witness.check()
    ('neither', True)
    """
    check_scalar(expression, "the expression")
    if not hasattr(expression, "is_expression_type"):
        expression = float(expression)
    space = of_expression(expression) if over is None else of_model(over)
    return of_expression_in(space, expression, Effort(time_limit))


def of_expression_in(space: Space, expression: Any, effort: Effort) -> Curvature:
    """The curvature of an expression in a space that was read before."""
    node, defects = space.parsed(expression)
    if defects:
        found = undefined.where(space, defects)
        if found is not None:
            point = {space.names[i]: float(found[i]) for i in space.used_by(expression)}
            at = ", ".join(f"{name} = {x:.6g}" for name, x in list(point.items())[:6])
            return Curvature("unknown", f"it has no value at {at}", point=point)
    return _judged(space, node, expression, effort)


def _judged(space: Space, node: Node, expression: Any, effort: Effort) -> Curvature:
    known = shape(space.graph, node)
    if known.convex and known.concave:
        return _proved("affine", space, known.convex)
    if known.convex:
        return _proved("convex", space, known.convex)
    used = space.used_by(expression)
    against: dict[float, Witness | None] = {1.0: None, -1.0: None}
    for sign in (1.0, -1.0):
        if sign > 0 or not known.concave:
            segment = search(space, signed(node, sign), effort)
            if segment is not None:
                against[sign] = witness(space, signed(node, sign), segment, sign, expression, used)
    if known.concave:
        return _proved("concave", space, known.concave, against[1.0])
    if against[1.0] and against[-1.0]:
        return Curvature("neither", f"{against[1.0]}; {against[-1.0]}", against[1.0], against[-1.0])
    for sign, verdict in ((1.0, "convex"), (-1.0, "concave")):
        proof = None if against[sign] else by_hessians(space.graph, node, sign, effort)
        if proof is not None:
            return _proved(verdict, space, proof, against[1.0], against[-1.0])
    why = "no rule and no bound of its second derivatives decides" if not effort.spent else "the time was up"
    seen = "; ".join(str(w) for w in against.values() if w)
    return Curvature("unknown", f"{why}{': ' if seen else ''}{seen}", against[1.0], against[-1.0])


def _proved(verdict: str, space: Space, proof: Proof, *against: Witness | None) -> Curvature:
    graph = space.graph
    used = bounds_used(proof)
    bounds = {space.names[i]: (graph.lower[i], graph.upper[i]) for i in sorted(used) if _is_bounded(graph, i)}
    first, second = (*against, None, None)[:2]
    return Curvature(verdict, readable(graph, proof), first, second, bounds)


def _is_bounded(graph: Graph, i: int) -> bool:
    return bool(np.isfinite(graph.lower[i]) or np.isfinite(graph.upper[i]))

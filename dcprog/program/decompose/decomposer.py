"""``dcprog.decompose`` and :class:`Decomposer`, which reads a model once and decomposes many expressions on it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dcprog.errors import DomainError, unknown_name
from dcprog.functions.binding import check_scalar
from dcprog.program.curvature import undefined
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.nodes import Node, support
from dcprog.program.curvature.proofs import bounds_used
from dcprog.program.curvature.prove import Curvature, of_expression_in
from dcprog.program.curvature.shapes import Proof, shape
from dcprog.program.curvature.spaces import of_expression, of_model
from dcprog.program.curvature.texts import readable, text
from dcprog.program.decompose import splitter as rules
from dcprog.program.decompose.decomposition import Decomposition, Piece
from dcprog.program.decompose.measure import coarseness
from dcprog.program.decompose.pairs import Pair, sum_of
from dcprog.program.decompose.splitter import Splitter
from dcprog.program.decompose.writing import Writer

METHODS = ("auto", "diagonal", "eigenvalue", "shift")
SECONDS = 30.0


def decompose(expression: Any, over: Any = None, method: str = "auto", *, time_limit: float = SECONDS) -> Any:
    """g and h, convex by the rules that make them, with g − h ≡ the expression on the bounds and rows of a model.

    Parameters
    ----------
    expression : Pyomo expression
    over : Pyomo model or block, optional
        Whose bounds and active rows hold; without it the bounds of the variables that appear.
    method : {"auto", "diagonal", "eigenvalue", "shift", "compare"}
        How quadratic forms are split: by the least diagonal (auto), or by eigenvalues; "shift" uses bounds of second
        derivatives for everything else instead of the rules of products and compositions.
    time_limit : float
        Seconds for proofs by second derivatives.

    Examples
    --------
    >>> import dcprog, pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-1, 1)); m.y = pyo.Var(bounds=(0, 2))
    >>> found = dcprog.decompose(pyo.exp(m.y) - m.x**2, over=m)
    >>> g, h = found
    >>> print(g, "|", h)
    exp(y) | x**2
    """
    if method == "compare":
        return import_module("dcprog.algorithms.decompositions").compare(expression, over)
    return Decomposer(over, method, time_limit=time_limit, expression=expression).decompose(expression)


class Decomposer:
    """Decomposes expressions on one model, which is read once; parts that several expressions share are split once."""

    def __init__(self, over: Any, method: str = "auto", *, time_limit: float = SECONDS, expression: Any = 0.0) -> None:
        if method not in METHODS:
            raise unknown_name("method", method, METHODS)
        self.method = method
        extra = _checked(expression)
        self.space = of_expression(extra) if over is None else of_model(over, on_domains=True, expressions=[extra])
        self.effort = Effort(time_limit)
        self.splitter = Splitter(self.space.graph, method, self.effort)
        self.writer = Writer(self.space.variables)

    def curvature(self, expression: Any) -> Curvature:
        """What is known of the expression's curvature, see :func:`dcprog.curvature`."""
        return of_expression_in(self.space, _checked(expression), self.effort)

    @property
    def domains(self) -> tuple[tuple[Any, float, float], ...]:
        """Rows of several variables on which the functions of the model have values, see :class:`Decomposition`."""
        return tuple(row for row in self.space.domains if row[0].nargs() > 1)

    def decompose(self, expression: Any) -> Decomposition:
        """The expression as g − h."""
        node = self._read(_checked(expression))
        pair, pieces = self.splitter.pieces(node)
        graph, writer = self.space.graph, self.writer
        g = writer.sum([(w, n) for n, w in pair.g.items()], pair.line, pair.constant)
        h = writer.sum([(w, n) for n, w in pair.h.items()], {}, 0.0)
        proofs = [sum_of(graph, pair.g, pair.line, pair.constant), sum_of(graph, pair.h)]
        found = [p for n in proofs if (p := shape(graph, n).convex) is not None]
        implied = self._implied([p for side in (pair.g, pair.h) for n in side if (p := shape(graph, n).convex) is not None])
        implied |= self._implied_numbers(expression)
        return Decomposition(
            g,
            h,
            expression,
            tuple(self._piece(piece) for piece in pieces),
            (readable(graph, found[0]), readable(graph, found[1])),
            {self.space.names[i]: bounds for i, bounds in implied.items()},
            tuple((self.space.variables[i], *bounds) for i, bounds in implied.items()),
            self.domains,
            tuple(writer.sum([(w, n)], {}, 0.0) for n, w in pair.h.items()),
            self.method,
            not pair.h,
            not pair.g,
        )

    def _read(self, expression: Any) -> Node:
        graph = self.space.graph
        node, defects = self.space.parsed(expression)
        if defects:
            found = undefined.where(self.space, defects)
            what = text(graph, defects[0])
            if found is not None:
                at = ", ".join(f"{self.space.names[i]} = {found[i]:.6g}" for i in sorted(support(defects[0]))[:6])
                raise DomainError(f"{what} has no value at {at}: bound the variables away from it")
            raise DomainError(
                f"{what} may have no value on its bounds: give bounds, or rows that imply them, on which it has"
            )
        return node

    def _piece(self, piece: rules.Piece) -> Piece:
        graph, pair = self.space.graph, piece.pair
        g = text(graph, graph.sum(pair.constant, pair.line, [(w, n) for n, w in pair.g.items()]))
        h = text(graph, graph.sum(0.0, {}, [(w, n) for n, w in pair.h.items()]))
        term = text(graph, graph.sum(0.0, {}, piece.terms)) if piece.terms else g
        return Piece(term, piece.rule, g, h, coarseness(graph, [(w, n) for n, w in pair.h.items()]))

    def _implied_numbers(self, expression: Any) -> dict[int, tuple[float, float]]:
        """The variables that rows fix: in the graph they are numbers, so no proof names them."""
        graph, (lower, upper) = self.space.graph, self.space.own
        fixed = [i for i in self.space.used_by(expression) if graph.lower[i] == graph.upper[i]]
        return {i: (graph.lower[i], graph.upper[i]) for i in fixed if lower[i] != upper[i]}

    def _implied(self, proofs: list[Proof]) -> dict[int, tuple[float, float]]:
        """The bounds that the proofs looked at and that the variables do not have by themselves."""
        graph, (lower, upper) = self.space.graph, self.space.own
        used = sorted(frozenset().union(*map(bounds_used, proofs))) if proofs else []
        return {
            i: (graph.lower[i], graph.upper[i]) for i in used if (graph.lower[i], graph.upper[i]) != (lower[i], upper[i])
        }


def _checked(expression: Any) -> Any:
    check_scalar(expression, "the expression")
    return expression if hasattr(expression, "is_expression_type") else float(expression)


__all__ = ["Decomposer", "Decomposition", "Pair", "decompose"]

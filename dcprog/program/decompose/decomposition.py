"""What a decomposition is: g and h, and for each part of the expression the rule that split it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Bounds = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Piece:
    """A part of the expression.

    Attributes
    ----------
    term : str
        The part, shortened.
    rule : str
        By which rule it was split.
    g, h : str
        Its convex functions, shortened.
    coarseness : float
        What linearising its h costs on average: the mean of ½(h(a) + h(b)) − h(½(a + b)) over segments of the box.
    """

    term: str
    rule: str
    g: str
    h: str
    coarseness: float

    def __str__(self) -> str:
        return f"{self.term}: {self.rule}\n  g: {self.g}\n  h: {self.h}"


@dataclass(frozen=True, eq=False)
class Decomposition:
    """g − h, both proved convex on the bounds and rows of the model. It unpacks: ``g, h = decompose(…)``.

    Attributes
    ----------
    g, h : Pyomo expressions, or numbers
    expression : Pyomo expression
        What was decomposed.
    pieces : tuple of Piece
        By which rule each part was split.
    proofs : (str, str)
        Why g and h are convex.
    bounds : mapping
        The bounds of variables that the proofs rest on beyond those that the variables have, implied by rows. They have to
        hold wherever g and h are used.
    implied : tuple
        The same as (variable, lower, upper).
    domains : tuple
        Rows (affine expression, lower, upper) of more than one variable on which the functions of the model have values, as
        x − y ≥ 0 for log(x − y). They have to be rows wherever g and h are used; those of one variable are in ``bounds``.
    method : str
        As it was asked for.
    """

    g: Any
    h: Any
    expression: Any
    pieces: tuple[Piece, ...]
    proofs: tuple[str, str]
    bounds: Bounds = field(default_factory=dict)
    implied: tuple[tuple[Any, float, float], ...] = ()
    domains: tuple[tuple[Any, float, float], ...] = ()
    method: str = "auto"
    is_convex: bool = False
    is_concave: bool = False

    def __iter__(self) -> Iterator[Any]:
        return iter((self.g, self.h))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, k: int) -> Any:
        return (self.g, self.h)[k]

    @property
    def coarseness(self) -> float:
        """The sum of that of the pieces."""
        return sum(p.coarseness for p in self.pieces)

    def describe(self) -> str:
        """g, h and the rule behind each part, as text."""
        lines = [f"g = {self.g}", f"h = {self.h}"]
        lines += [line for piece in self.pieces for line in f"- {piece}".split("\n")]
        if self.bounds:
            held = ", ".join(f"{low:.6g} ≤ {name} ≤ {high:.6g}" for name, (low, high) in self.bounds.items())
            lines.append(f"on bounds that rows imply: {held}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

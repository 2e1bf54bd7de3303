"""g − h for an expression, both proved convex by the rules that make them."""

from __future__ import annotations

from dcprog.program.decompose.decomposer import Decomposer, decompose
from dcprog.program.decompose.decomposition import Decomposition, Piece

__all__ = ["Decomposer", "Decomposition", "Piece", "decompose"]

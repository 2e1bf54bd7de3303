"""Convex functions as vectorised oracles, and how they enter Pyomo expressions."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

from dcprog.functions.affine import OfAffine
from dcprog.functions.base import ConvexFunction, Epigraph, QuadraticForm
from dcprog.functions.compose import OfSum
from dcprog.functions.conic import ConicForm
from dcprog.functions.continued import Continued
from dcprog.functions.each import Each
from dcprog.functions.losses import Hinge, Huber, Logistic, Loss, SquaredHinge, SquaredNorm
from dcprog.functions.norms import GroupNorm, Norm2
from dcprog.functions.penalties import (
    MCP,
    SCAD,
    CappedL1,
    Exponential,
    L1MinusL2,
    Logarithmic,
    Lp,
    Penalty,
    Remainder,
    SeparablePenalty,
)
from dcprog.functions.perspective import Entropy, QuadOverLin
from dcprog.functions.polyhedral import L1Norm, LargestSum, MaxNorm, PiecewiseMaximum
from dcprog.functions.smooth import Linear, LogSumExp, Quadratic, SumExp
from dcprog.functions.spectral import LargestEigenvalue, NuclearNorm

if TYPE_CHECKING:
    from dcprog.functions.binding import maximum as maximum

__all__ = [
    "MCP",
    "SCAD",
    "CappedL1",
    "ConicForm",
    "Continued",
    "ConvexFunction",
    "Each",
    "Entropy",
    "Epigraph",
    "Exponential",
    "GroupNorm",
    "Hinge",
    "Huber",
    "L1MinusL2",
    "L1Norm",
    "LargestEigenvalue",
    "LargestSum",
    "Linear",
    "LogSumExp",
    "Logarithmic",
    "Logistic",
    "Loss",
    "Lp",
    "MaxNorm",
    "Norm2",
    "NuclearNorm",
    "OfAffine",
    "OfSum",
    "Penalty",
    "PiecewiseMaximum",
    "QuadOverLin",
    "Quadratic",
    "QuadraticForm",
    "Remainder",
    "SeparablePenalty",
    "SquaredHinge",
    "SquaredNorm",
    "SumExp",
    "catalogue",
    "maximum",
]


def __getattr__(name: str) -> Any:
    """``maximum`` is a node of Pyomo expressions, and Pyomo is loaded on first use."""
    if name == "maximum":
        from dcprog.functions.binding import maximum

        return maximum
    raise AttributeError(f"module 'dcprog.functions' has no attribute {name!r}")


class Entry(NamedTuple):
    """A line of the :func:`catalogue`."""

    name: str
    signature: str
    formula: str


def catalogue() -> list[Entry]:
    """Every function with the arguments that make it and its formula: penalties, smooth ones, losses, polyhedral, norms.

    >>> for name, signature, formula in catalogue()[:2]:
    ...     print(signature, formula, sep="   ")
    Exponential(alpha=5.0)   −ρ(v), ρ(v) = Σⱼ 1 − e^(−αvⱼ): the exponential penalty, counts non-zeros as α → ∞.
    Logarithmic(eps=0.01)   −ρ(v), ρ(v) = Σⱼ ln(1 + vⱼ/ε): the logarithmic penalty of AROM.
    """
    penalties = (Exponential, Logarithmic, Lp, CappedL1, SCAD, MCP, L1MinusL2, Remainder)
    smooth = (Linear, Quadratic, LogSumExp, SumExp, QuadOverLin, Entropy, Continued)
    losses = (SquaredNorm, Huber, SquaredHinge, Logistic, Hinge)
    polyhedral = (PiecewiseMaximum, L1Norm, MaxNorm, LargestSum)
    norms = (Norm2, GroupNorm, LargestEigenvalue, NuclearNorm)
    return [_entry(cls) for cls in (*penalties, *smooth, *losses, *polyhedral, *norms, OfSum, OfAffine)]


def _entry(cls: type[ConvexFunction]) -> Entry:
    arguments = [
        name if p.default is p.empty else f"{name}={p.default}"
        for name, p in inspect.signature(cls).parameters.items()
        if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    return Entry(cls.__name__, f"{cls.__name__}({', '.join(arguments)})", (cls.__doc__ or "").partition("\n")[0])

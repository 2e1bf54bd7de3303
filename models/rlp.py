"""Robust Linear Programming, (1) of Neumann, Schnörr & Steidl (2005), after Bennett & Mangasarian (1992)."""

from __future__ import annotations

from typing import Any

from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._margin import error_weights, free_weights


@of_family(free_weights)
def rlp(X: Any, y: Any = None, *, weighting: str = "mean") -> DCProgram:
    """Robust Linear Programming: min Σ cᵢ(1 − yᵢ(w'xᵢ + b))₊, (1). A linear program.

    ``weighting``: c = 1/n (``"mean"``), 1 (``"sum"``, as printed) or 1/n± (``"class"``, as Bennett & Mangasarian do).

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, -1, 1, 1]
    >>> result = dcprog.solve(rlp(X, y))
    >>> result.status, round(abs(result.objective), 9), result.classifier.predict(X)
    (<Status.CONVERGED: 'converged'>, 0.0, array([-1, -1,  1,  1]))
    """
    weights = free_weights(X, y)
    g = weights.errors(error_weights(weights.data, weighting))
    return weights.program(g, 0, "rlp")

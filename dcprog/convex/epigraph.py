"""The epigraph variables of a polyhedral function at a point: t with c't = f(x) = min {c't : A x + B t ≤ b}."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dcprog.errors import FunctionError
from dcprog.functions.base import Epigraph
from dcprog.typing import Vector


def epigraph_point(epigraph: Epigraph, x: Vector) -> Vector:
    """The least t: row by row where each row limits one component from below, by a linear program otherwise.

    >>> from dcprog.functions import L1Norm, MaxNorm
    >>> x = np.array([3.0, 0.0, -4.0])
    >>> epigraph_point(L1Norm().epigraph(3), x), epigraph_point(MaxNorm().epigraph(3), x)
    (array([3., 0., 4.]), array([4.]))
    """
    if epigraph.point is not None:
        return epigraph.point(x)
    B, needed = sp.csr_array(epigraph.B), epigraph.A @ x - epigraph.b
    if (np.diff(B.indptr) == 1).all() and (B.data < 0).all():
        t = np.full(len(epigraph.c), -np.inf)
        np.maximum.at(t, B.indices, needed / -B.data)
        if np.isfinite(t).all():
            return t
    return _by_linear_program(epigraph, needed)


def _by_linear_program(epigraph: Epigraph, needed: Vector) -> Vector:
    from scipy.optimize import linprog

    found = linprog(epigraph.c, A_ub=sp.csr_array(epigraph.B), b_ub=-needed, bounds=(None, None), method="highs")
    if found.x is None:
        raise FunctionError(f"an epigraph has no least point ({found.message}): check what the function's epigraph returns")
    t: Vector = found.x
    return t

"""How coarse a decomposition is: the mean of ½(h(a) + h(b)) − h(½(a + b)) over random segments of the box.

It is what linearising h costs, on average, in the units of f; it does not change when variables are scaled or constants and
affine functions are added to h. A variable without an end counts from where it ends, or from 0, to 10 beyond.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dcprog.program.curvature.nodes import Graph, support
from dcprog.program.curvature.programs import Term
from dcprog.program.curvature.values import enclosed

SEGMENTS = 48
BEYOND = 10.0


def coarseness(graph: Graph, terms: Iterable[Term]) -> float:
    """The mean gap of Σ c · node; infinite where it has no value."""
    terms = list(terms)
    used = sorted(frozenset().union(*(support(t) for _, t in terms))) if terms else []
    if not used:
        return 0.0
    lower, upper = (np.array([b[i] for i in used]) for b in (graph.lower, graph.upper))
    start = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - BEYOND, -BEYOND))
    end = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + BEYOND, BEYOND))
    rng = np.random.default_rng(0)
    points = np.zeros((3 * SEGMENTS, len(graph.names)))
    a, b = (start + rng.uniform(size=(SEGMENTS, len(used))) * (end - start) for _ in range(2))
    points[:, used] = np.vstack([a, b, 0.5 * (a + b)])
    values = enclosed(terms, points)
    with np.errstate(all="ignore"):
        first, last, middle = (0.5 * (values.lower + values.upper)).reshape(3, SEGMENTS)
        gaps = 0.5 * (first + last) - middle
    finite = np.isfinite(gaps)
    return float(np.maximum(gaps[finite], 0.0).mean()) if finite.any() else np.inf

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
from dcprog.typing import Vector

SEGMENTS = 48
BEYOND = 10.0


def coarseness(graph: Graph, terms: Iterable[Term]) -> float:
    """The mean gap of Σ c · node; infinite where it has no value."""
    gaps = _gaps(graph, list(terms), 1.0)
    return float(np.maximum(gaps, 0.0).mean()) if len(gaps) else np.inf


def bends(graph: Graph, terms: Iterable[Term]) -> list[float]:
    """Which of the signs 1 (convex) and −1 (concave) no segment speaks against, long and short ones."""
    terms = list(terms)
    gaps = np.concatenate([_gaps(graph, terms, length) for length in (1.0, 0.1)])
    noise = 1e-9 * np.abs(gaps).max(initial=0.0)
    return [sign for sign in (1.0, -1.0) if not (sign * gaps < -noise).any()]


def _gaps(graph: Graph, terms: list[Term], length: float) -> Vector:
    """½(f(a) + f(b)) − f(½(a + b)) of Σ c · node on random segments, those without a value left out."""
    used = sorted(frozenset().union(*(support(t) for _, t in terms))) if terms else []
    if not used:
        return np.zeros(1)
    lower, upper = (np.array([b[i] for i in used]) for b in (graph.lower, graph.upper))
    start = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - BEYOND, -BEYOND))
    end = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + BEYOND, BEYOND))
    rng = np.random.default_rng(0)
    a, b = (start + rng.uniform(size=(SEGMENTS, len(used))) * (end - start) for _ in range(2))
    b = a + length * (b - a)
    points = np.zeros((3 * SEGMENTS, len(graph.names)))
    points[:, used] = np.vstack([a, b, 0.5 * (a + b)])
    values = enclosed(terms, points)
    with np.errstate(all="ignore"):
        first, last, middle = (0.5 * (values.lower + values.upper)).reshape(3, SEGMENTS)
        gaps = 0.5 * (first + last) - middle
    finite: Vector = gaps[np.isfinite(gaps)]
    return finite

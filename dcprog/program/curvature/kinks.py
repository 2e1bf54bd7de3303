"""Segments across the kinks of an expression: x² − 0.01|x| bends down only there, and points elsewhere do not show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from dcprog.program.curvature.nodes import Graph, Node, below
from dcprog.program.curvature.programs import Term
from dcprog.typing import Matrix, Vector

POINTS = 6
SCALES = (0.3, 1e-2, 1e-4)
MOST = 12
"""Kinks, at most."""


def across(graph: Graph, terms: Sequence[Term], points: Matrix) -> tuple[Matrix, Matrix]:
    """Middles on kinks of |a'x + b| and of maxima of affine forms, the nearest to some of the points, and halves along a."""
    middles, halves = [np.empty((0, points.shape[1]))], [np.empty((0, points.shape[1]))]
    for k, form in enumerate(_differences(graph, terms)):
        if form.kind != "affine" or not form.coefficients or k >= MOST:
            continue
        a = np.zeros(points.shape[1])
        for i, coefficient in form.coefficients:
            a[i] = coefficient
        near = points[:POINTS] - ((points[:POINTS] @ a + form.constant) / (a @ a))[:, None] * a
        for scale in SCALES:
            middles.append(near)
            halves.append(scale * _lengths(points, a)[None] * np.ones((len(near), 1)))
    return np.vstack(middles), np.vstack(halves)


def _lengths(points: Matrix, a: Vector) -> Vector:
    """Along a, about as long as the points are apart."""
    along = points @ a / (a @ a)
    lengths: Vector = 0.5 * (along.max() - along.min()) * a
    return lengths


def _differences(graph: Graph, terms: Sequence[Term]) -> Iterator[Node]:
    """What is 0 on a kink."""
    for node in below([t for _, t in terms]):
        if node.kind == "abs":
            yield node.args[0]
        elif node.kind == "max":
            for p, q in combinations(node.args[:4], 2):
                yield graph.sum(0.0, {}, [(1.0, p), (-1.0, q)])

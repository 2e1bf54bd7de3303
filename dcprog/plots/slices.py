"""A classifier on a line or a plane through the space of features: where the other features are held, and its scores."""

from __future__ import annotations

from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from dcprog.plots.axes import padded
from dcprog.plots.selection import Decision
from dcprog.typing import Indices, Matrix, Vector

HALVINGS = 60
MOST_PAIRS = 10
"""Slices are tried for so many pairs of classes."""


class Slice(NamedTuple):
    """Scores on a grid along one or two features."""

    axes: tuple[Vector, ...]
    scores: Matrix
    """In the order of the grid, the first feature varying fastest; a column, or one for each class."""
    held: Vector
    """The values of all other features."""
    at: str
    """Where that is, in words for the title."""


def slice_of(decision: Decision, X: Matrix, drawn: Indices, resolution: int) -> Slice:
    """The slice through the medians, or one through a point where two classes meet if that shows more of the classes."""
    axes = tuple(np.linspace(*padded(X[:, j]), resolution) for j in drawn)
    codes = codes_of(decision(X))
    medians = np.median(X, axis=0)
    best = Slice(axes, _on_grid(decision, axes, drawn, medians), medians, "at their medians")
    shown = _classes_on(best)
    pairs = combinations(range(codes.max() + 1), 2)
    for pair in islice(pairs, MOST_PAIRS):
        point = boundary_point(decision, X, codes, pair) if shown < len(np.unique(codes)) else None
        if point is not None:
            other = Slice(axes, _on_grid(decision, axes, drawn, point), point, "where two classes meet")
            if _classes_on(other) > shown:
                best, shown = other, _classes_on(other)
    return best


def boundary_point(decision: Decision, X: Matrix, codes: Indices, pair: tuple[int, int]) -> Vector | None:
    """Where the class changes between the means of the samples that the classifier takes for the two classes of ``pair``.

    None if no sample is of one of them, or both means are of one class.

    >>> X, decision = np.array([[0.0, 5.0], [1.0, 5.0], [7.0, 9.0]]), lambda X: X[:, :1] - 2.0
    >>> boundary_point(decision, X, codes_of(decision(X)), (0, 1)).round(6)
    array([2.      , 5.923077])
    """
    one, two = (codes == k for k in pair)
    if not (one.any() and two.any()):
        return None
    low, high = X[one].mean(axis=0), X[two].mean(axis=0)
    start, end = codes_of(decision(np.array([low, high])))
    if start == end:
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if codes_of(decision(middle[None]))[0] == start:
            low = middle
        else:
            high = middle
    return np.asarray((low + high) / 2)


def codes_of(scores: Matrix) -> Indices:
    """The class of each row, as a position: by the sign of one column, or the largest of several."""
    return np.asarray(scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int))


def margins(scores: Matrix) -> Matrix:
    """A column for each class: how far its score is above those of all others. 0 is the boundary.

    >>> margins(np.array([[2.0], [-1.0]]))
    array([[-2.,  2.],
           [ 1., -1.]])
    >>> margins(np.array([[1.0, 5.0, 2.0]]))
    array([[-4.,  3., -3.]])
    """
    if scores.shape[1] == 1:
        return np.hstack([-scores, scores])
    best_other = [np.delete(scores, k, axis=1).max(axis=1) for k in range(scores.shape[1])]
    return np.asarray(scores - np.column_stack(best_other))


def _classes_on(cut: Slice) -> int:
    return len(np.unique(codes_of(cut.scores)))


def _on_grid(decision: Decision, axes: tuple[Vector, ...], drawn: Indices, held: Vector) -> Matrix:
    grid = np.meshgrid(*axes)
    points = np.tile(held, (grid[0].size, 1))
    points[:, drawn] = np.column_stack([values.ravel() for values in grid])
    return decision(points)

"""Regions of classes, the boundaries between them and the samples on top, on a plane or along a line."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dcprog.plots.slices import codes_of, margins
from dcprog.typing import Indices, Matrix, Vector

MARKERS = "os^Dv<>pPX"
"""Classes differ in shape as well as in colour, for colour-blind readers and for print."""
SHADE = 0.22


def draw_plane(
    ax: Any, xx0: Matrix, xx1: Matrix, scores: Matrix, points: Matrix, codes: Indices | None, classes: Sequence[Any]
) -> list[Any]:
    """The regions of all classes; returns the contours between them."""
    boundaries = []
    above = margins(scores)
    for k in range(above.shape[1]):
        margin = above[:, k].reshape(xx0.shape)
        if margin.max() > 0:
            ax.contourf(xx0, xx1, margin, levels=[0.0, margin.max()], colors=[colour(k)], alpha=SHADE)
        if margin.min() < 0 < margin.max() and (k > 0 or above.shape[1] > 2):  # of two classes both have the same
            boundaries.append(ax.contour(xx0, xx1, margin, levels=[0.0], colors="black", linewidths=1.5))
    for k, chosen in _groups(codes, len(points)):
        ax.scatter(*points[chosen].T, **_look(k), zorder=3)
    return boundaries


def draw_line(
    ax: Any, x: Vector, scores: Matrix, values: Vector, codes: Indices | None, classes: Sequence[Any]
) -> list[Any]:
    """The regions along one feature, the samples of each class in a row of their own; returns the lines between."""
    found = codes_of(scores)
    changes = np.flatnonzero(np.diff(found))
    crossings = [_crossing(x[i : i + 2], margins(scores[i : i + 2])[:, found[i]]) for i in changes]
    ends = [float(x[0]), *crossings, float(x[-1])]
    for (left, right), k in zip(pairwise(ends), [*found[changes], found[-1]], strict=True):
        ax.axvspan(left, right, color=colour(int(k)), alpha=SHADE, linewidth=0)
    spread = np.random.default_rng(0).uniform(-0.3, 0.3, len(values))  # so that equal values do not hide each other
    for k, chosen in _groups(codes, len(values)):
        ax.scatter(values[chosen], k + spread[chosen], **_look(k), zorder=3)
    rows = range(1 if codes is None else len(classes))
    ax.set_yticks(rows, labels=["samples"] if codes is None else list(map(label, classes)), parse_math=False)
    ax.set(xlim=(ends[0], ends[-1]), ylim=(-0.5, len(rows) - 0.5), ylabel="" if codes is None else "class")
    return [ax.axvline(at, color="black", linewidth=1.5) for at in crossings]


def legend_beside(ax: Any, boundaries: Sequence[Any], classes: Sequence[Any]) -> None:
    """What shapes and lines mean, beside the axes where the layout makes room, and where it hides least elsewhere."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker=_look(k)["marker"], color=colour(k), label=label(name))
        for k, name in enumerate(classes)
    ]
    if boundaries:
        handles.append(Line2D([], [], color="black", label="boundary"))
    beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    legend = ax.legend(handles=handles, **({} if ax.figure.get_layout_engine() is None else beside))
    for text in legend.get_texts():
        text.set_parse_math(False)


def label(name: Any) -> str:
    """A class in words: 1.0 is 1.

    >>> label(-1.0), label("benign"), label(0.5)
    ('-1', 'benign', '0.5')
    """
    return f"{name:g}" if isinstance(name, float) else str(name)


def colour(k: int) -> str:
    """That of class k."""
    return f"C{k % 10}"


def _look(k: int) -> dict[str, Any]:
    return {"s": 18, "color": colour(k), "marker": MARKERS[k % len(MARKERS)], "edgecolors": "white", "linewidths": 0.4}


def _groups(codes: Indices | None, n: int) -> list[tuple[int, Indices]]:
    """The samples of each class, by position; of no class in particular if there are no labels."""
    if codes is None:
        return [(7, np.arange(n))]  # the grey of matplotlib's ten colours
    return [(int(k), np.flatnonzero(codes == k)) for k in np.unique(codes)]


def _crossing(x: Vector, margin: Vector) -> float:
    """Where the straight line through two margins is 0."""
    before, after = margin
    return float(x[0] + (x[1] - x[0]) * before / (before - after)) if before > after else float(x.mean())

"""Pictures for reports: errors with their bars, error against number of features, features over λ, convergence."""

from __future__ import annotations

import base64
import io
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dcprog.plots import require_matplotlib
from dcprog.plots.convergence import floor_of, mark_floor
from dcprog.studies.cells import Cell, Result
from dcprog.studies.statistics import standard_error
from dcprog.typing import Vector

COLUMNS, MOST_COLUMNS = 2, 3
"""Axes in a row: the first number, and the second if there would be more than two rows."""
MARKERS = "osD^vP"
ROUNDING = 1e-16
LETTERS = 36
"""Longer titles of methods are wrapped."""


class Picture(NamedTuple):
    """An SVG as a data URI, its caption, and a description for readers who cannot see it."""

    uri: str
    caption: str
    alt: str


class Point(NamedTuple):
    """A method on a data set: features and error in percent, of the paper or ours, with the lengths of their error bars."""

    data: str
    method: str
    features: float
    error: float
    paper: bool = False
    features_bar: float = 0.0
    error_bar: float = 0.0


class Look(NamedTuple):
    """How a method is drawn, and what it is called in legends."""

    title: str
    colour: str
    marker: str


class Curve(NamedTuple):
    """A line, with the half width of the band around it."""

    x: Vector
    y: Vector
    band: Vector | None = None


Looks = Mapping[str, Look]
Panels = Mapping[str, Mapping[str, Curve]]
"""The curves of each data set, by method."""


def looks(methods: Iterable[str], titles: Mapping[str, str]) -> dict[str, Look]:
    """A colour and a marker for each method, the same in all pictures; no two methods share both."""
    require_matplotlib()
    return {
        method: Look(textwrap.fill(titles.get(method, method), LETTERS), f"C{i % 10}", MARKERS[(i + i // 10) % len(MARKERS)])
        for i, method in enumerate(dict.fromkeys(methods))
    }


def errors(found: Mapping[str, Vector], drawn: Looks) -> Picture | None:
    """The mean error of each method with its standard error, over faint dots for the single splits."""
    if not found:
        return None
    figure, (ax,) = grid([""], height=1.3 + 0.34 * len(found))
    rows = np.arange(len(found))[::-1]
    for row, (method, values) in zip(rows, found.items(), strict=True):
        look = drawn[method]
        ax.plot(values, np.full(len(values), row), ".", color="0.72", zorder=1)
        ax.errorbar(values.mean(), row, xerr=standard_error(values), fmt=look.marker, color=look.colour, capsize=4, zorder=2)
    ax.set_yticks(rows, labels=[drawn[method].title for method in found], parse_math=False)
    ax.set(xlabel="error [%]", ylim=(-0.6, len(found) - 0.4))
    ax.grid(axis="x", color="0.9")
    ax.set_axisbelow(True)
    said = "; ".join(f"{drawn[m].title} {v.mean():.1f} ± {standard_error(v):.1f} %" for m, v in found.items())
    caption = "Test error: mean over the splits with its standard error; in grey the error of each split."
    return picture(figure, caption, f"Test errors, mean ± standard error: {said}.")


def error_against_features(points: Sequence[Point], drawn: Looks, bars: str) -> Picture | None:
    """One axes a data set: lower left is better, fewer features and errors. ``bars`` says what error bars mean."""
    names = list(dict.fromkeys(point.data for point in points))
    if not names:
        return None
    figure, axes = grid(names)
    for name, ax in zip(names, axes, strict=True):
        for point in points:
            if point.data == name:
                _draw_point(ax, point, drawn[point.method])
        ax.set(xlabel="features", ylabel="error [%]")
    legend(figure, {point.method for point in points}, drawn)
    hollow = "; hollow: as published" if any(point.paper for point in points) else ""
    said = "; ".join(
        f"{point.data}, {drawn[point.method].title}{', published' if point.paper else ''}: "
        f"{point.features:.1f} features, {point.error:.1f} %"
        for point in points
    )
    return picture(figure, f"Test error against number of features{hollow}; bars: {bars}.", f"Error and features. {said}.")


def features_over_lambda(results: Mapping[Cell, Result], drawn: Looks) -> Picture | None:
    """The mean number of features along the validation path, for the methods with a penalty λ on features."""
    paths: dict[str, dict[str, list[list[tuple[float, int]]]]] = defaultdict(lambda: defaultdict(list))
    for cell in sorted(results):
        trials = results[cell].get("trials", [])
        if results[cell].get("history") and len(trials) > 1 and set(trials[0]["parameters"]) == {"lam"}:
            paths[cell.data][cell.method].append([(trial["parameters"]["lam"], trial["features"]) for trial in trials])
    panels = {data: {method: _mean_curve(lines) for method, lines in by.items()} for data, by in paths.items()}
    caption = (
        "Number of selected features over λ, on half of the training part: mean over the splits, in a band of a standard "
        "error on either side."
    )
    return _lines(panels, "λ", "features", caption, drawn)


def convergence(results: Mapping[Cell, Result], drawn: Looks) -> Picture | None:
    """f(x_k) − f(x_end) of the final training of one split; convex programs are solved in one step, and left out."""
    panels: dict[str, dict[str, Curve]] = defaultdict(dict)
    for cell in sorted(results):
        f = np.array(results[cell].get("history", []))
        if cell.method not in panels[cell.data] and len(f) > 3 and f[0] > f[-1]:
            above = np.maximum(f - f[-1], 0.0) / (f[0] - f[-1])
            panels[cell.data][cell.method] = Curve(np.arange(float(len(f))), np.where(above > ROUNDING, above, 0.0))
    caption = "Convergence of DCA in the final training of the first split; the end, 0, is at the floor of the axis."
    filled = {data: curves for data, curves in panels.items() if curves}
    return _lines(filled, "iteration", "(f − f_end) / (f_0 − f_end)", caption, drawn, log=True)


def _draw_point(ax: Any, point: Point, look: Look) -> None:
    bars = {"xerr": point.features_bar or None, "yerr": point.error_bar or None, "capsize": 3, "elinewidth": 1}
    fill = "none" if point.paper else look.colour
    ax.errorbar(point.features, point.error, fmt=look.marker, color=look.colour, markerfacecolor=fill, **bars)


def _mean_curve(lines: list[list[tuple[float, int]]]) -> Curve:
    counts = np.array([[count for _, count in line] for line in lines], dtype=float)
    spread = np.array([standard_error(column) for column in counts.T])
    return Curve(np.array([lam for lam, _ in lines[0]]), counts.mean(axis=0), spread)


def _lines(panels: Panels, x: str, y: str, caption: str, drawn: Looks, log: bool = False) -> Picture | None:
    if not panels:
        return None
    figure = line_figure(panels, x, y, drawn, log)
    methods = {method for curves in panels.values() for method in curves}
    who = ", ".join(look.title for method, look in drawn.items() if method in methods)
    return picture(figure, caption, f"{caption} Methods: {who}. Data: {', '.join(panels)}.")


def line_figure(panels: Panels, x: str, y: str, drawn: Looks, log: bool = False) -> Any:
    """A figure with axes for each panel, and a curve for each method in it."""
    figure, axes = grid(list(panels))
    for curves, ax in zip(panels.values(), axes, strict=True):
        ax.set(xlabel=x, ylabel=y)
        if log:
            curves = _on_log_axis(ax, curves, drawn)
        for method, (xs, ys, band) in curves.items():
            ax.plot(xs, ys, "-", marker=drawn[method].marker, markersize=4, color=drawn[method].colour)
            if band is not None:
                ax.fill_between(xs, ys - band, ys + band, color=drawn[method].colour, alpha=0.2, linewidth=0)
    legend(figure, {method for curves in panels.values() for method in curves}, drawn)
    return figure


def _on_log_axis(ax: Any, curves: Mapping[str, Curve], drawn: Looks) -> dict[str, Curve]:
    """The curves with zeros at the floor of the axis, where hollow triangles mark them."""
    values = np.concatenate([curve.y for curve in curves.values()])
    floor = floor_of(values)
    ax.set_yscale("log")
    mark_floor(ax, floor, float(values.max()))
    for method, curve in curves.items():
        zero = curve.y == 0
        ax.plot(curve.x[zero], np.full(zero.sum(), floor), "v", color=drawn[method].colour, mfc="white", ms=8, zorder=3)
    return {method: Curve(curve.x, np.where(curve.y == 0, floor, curve.y)) for method, curve in curves.items()}


def grid(names: Sequence[str], height: float = 3.2, columns: int | None = None) -> tuple[Any, list[Any]]:
    """A figure with axes for each name, which is a title as it stands: a $ in it is no formula."""
    from matplotlib.figure import Figure

    columns = columns or min(COLUMNS if len(names) <= 2 * COLUMNS else MOST_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    width = {1: 7.5, 2: 9.2, 3: 11.5}[columns]
    figure = Figure(figsize=(width, height * rows), layout="constrained")
    axes = [figure.add_subplot(rows, columns, i + 1) for i in range(len(names))]
    for name, ax in zip(names, axes, strict=True):
        ax.set_title(name, parse_math=False)
    return figure, axes


def legend(figure: Any, methods: set[str], drawn: Looks) -> None:
    """Below the axes, in as many columns as the figure is wide enough for; the figure grows by its height."""
    from matplotlib.lines import Line2D

    shown = [look for method, look in drawn.items() if method in methods]
    handles = [Line2D([], [], marker=look.marker, color=look.colour, label=look.title) for look in shown]
    for columns in range(len(handles), 0, -1):
        below = figure.legend(handles=handles, loc="outside lower center", ncols=columns)
        for text in below.get_texts():
            text.set_parse_math(False)
        box = below.get_window_extent()
        if box.width <= 0.95 * figure.bbox.width or columns == 1:
            break
        below.remove()
    figure.set_figheight(figure.get_figheight() + box.height / figure.dpi)


def picture(figure: Any, caption: str, alt: str) -> Picture:
    """A figure of matplotlib as an SVG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    uri = "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Picture(uri, caption, " ".join(alt.split()))

"""Pictures for reports: convergence, features over λ, error against number of features."""

from __future__ import annotations

import base64
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dcprog.plots import require_matplotlib
from dcprog.studies.cells import Cell, Result
from dcprog.studies.methods import METHODS

COLUMNS = 3


class Picture(NamedTuple):
    """An SVG as a data URI, and what it shows."""

    uri: str
    caption: str


class Point(NamedTuple):
    """A method on a data set: features and error in percent, of the paper or ours."""

    data: str
    method: str
    features: float
    error: float
    paper: bool


def pictures(results: Mapping[Cell, Result], points: Sequence[Point]) -> list[Picture]:
    """All pictures that the results have something to show for, a method always in the same colour. Needs matplotlib."""
    require_matplotlib()
    methods = dict.fromkeys([*(point.method for point in points), *(cell.method for cell in sorted(results))])
    colours = {method: f"C{i}" for i, method in enumerate(methods)}
    drawn = [
        error_against_features(points, colours),
        features_over_lambda(results, colours),
        convergence(results, colours),
    ]
    return [picture for picture in drawn if picture is not None]


def error_against_features(points: Sequence[Point], colours: Mapping[str, str]) -> Picture | None:
    """One axes a data set: the lower left corner is where one wants to be."""
    names = list(dict.fromkeys(point.data for point in points))
    if not names:
        return None
    figure, axes = _grid(names)
    for name, ax in zip(names, axes, strict=True):
        for point in points:
            if point.data == name:
                colour = colours[point.method]
                ax.plot(point.features, point.error, "o", color=colour, markerfacecolor="none" if point.paper else colour)
        ax.set(xlabel="features", ylabel="error [%]")
    _legend(figure, {point.method for point in points}, colours)
    papers = any(point.paper for point in points)
    return _picture(figure, "Test error against number of features" + ("; hollow: as published." if papers else "."))


def features_over_lambda(results: Mapping[Cell, Result], colours: Mapping[str, str]) -> Picture | None:
    """The mean number of features along the validation path, for the methods with a penalty λ on features."""
    paths: dict[str, dict[str, list[list[tuple[float, int]]]]] = defaultdict(lambda: defaultdict(list))
    for cell in sorted(results):
        trials = results[cell].get("trials", [])
        if results[cell].get("history") and len(trials) > 1 and set(trials[0]["parameters"]) == {"lam"}:
            paths[cell.data][cell.method].append([(trial["parameters"]["lam"], trial["features"]) for trial in trials])
    return _lines(
        {data: {method: _mean_line(lines) for method, lines in by.items()} for data, by in paths.items()},
        "λ",
        "features",
        "Number of selected features over λ, on half of the training part, mean over the splits.",
        colours,
    )


def convergence(results: Mapping[Cell, Result], colours: Mapping[str, str]) -> Picture | None:
    """f(x_k) − f(x_end) of the final training of one split; convex programs are solved in one step, and left out."""
    shown: dict[str, dict[str, tuple[list[float], list[float]]]] = defaultdict(dict)
    for cell in sorted(results):
        f = np.array(results[cell].get("history", []))
        if cell.method not in shown[cell.data] and len(f) > 3 and f[0] > f[-1]:
            above = np.maximum(f - f[-1], 0.0) / (f[0] - f[-1])
            shown[cell.data][cell.method] = list(range(len(f))), np.where(above > 1e-16, above, np.nan).tolist()
    return _lines(
        {data: lines for data, lines in shown.items() if lines},
        "iteration",
        "(f − f_end) / (f_0 − f_end)",
        "Convergence of DCA in the final training of the first split.",
        colours,
        log=True,
    )


def _mean_line(lines: list[list[tuple[float, int]]]) -> tuple[list[float], list[float]]:
    values = [lam for lam, _ in lines[0]]
    return values, np.mean([[count for _, count in line] for line in lines], axis=0).tolist()


def _lines(
    content: Mapping[str, Mapping[str, tuple[list[float], list[float]]]],
    x: str,
    y: str,
    caption: str,
    colours: Mapping[str, str],
    log: bool = False,
) -> Picture | None:
    if not content:
        return None
    figure, axes = _grid(list(content))
    for lines, ax in zip(content.values(), axes, strict=True):
        for method, (xs, ys) in lines.items():
            ax.plot(xs, ys, ".-", color=colours[method])
        ax.set(xlabel=x, ylabel=y)
        if log:
            ax.set_yscale("log")
    _legend(figure, {method for lines in content.values() for method in lines}, colours)
    return _picture(figure, caption)


def _grid(names: Sequence[str]) -> tuple[Any, list[Any]]:
    """A figure with axes for each name, which is a title as it stands: a $ in it is no formula."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(4.0 * columns, 3.0 * rows + 0.6), layout="constrained")
    axes = [figure.add_subplot(rows, columns, i + 1) for i in range(len(names))]
    for name, ax in zip(names, axes, strict=True):
        ax.set_title(name, parse_math=False)
    return figure, axes


def _legend(figure: Any, methods: set[str], colours: Mapping[str, str]) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], marker="o", color=colours[name], label=_title(name)) for name in colours if name in methods]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 5))


def _title(method: str) -> str:
    return METHODS[method].title if method in METHODS else method


def _picture(figure: Any, caption: str) -> Picture:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None})
    return Picture("data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode(), caption)

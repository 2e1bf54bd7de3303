"""A report as one HTML file that needs nothing else: tables, and pictures where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

import dcprog
from dcprog.errors import MissingExtraError
from dcprog.plots import require_matplotlib
from dcprog.studies import figures
from dcprog.studies.cells import Cell
from dcprog.studies.compare import Comparison
from dcprog.studies.figures import Picture, Point
from dcprog.studies.findings import Finding, by_frequency
from dcprog.studies.html import Entry, figure, heading, page, paragraph, table
from dcprog.studies.outputs import MARK, cells, lines, quantities
from dcprog.studies.reproduce import Part, Reproduction
from dcprog.studies.statistics import standard_error

NBSP = "\u00a0"
"""A space at which no line breaks."""
MOST_ROWS = 60
"""The number of features with a row of their own; the others are listed below the table."""
OF_ERRORS = (
    "± is the standard error s/√J over the J splits, as are the error bars. The training sets of the splits overlap, so "
    "that it underestimates the true error; p, of the difference to the first method, is by the corrected resampled t-test "
    "(Nadeau & Bengio, Machine Learning 52, 2003, 239–281), adjusted after Holm. Seconds are CPU time of the final training."
)
OF_STABILITY = (
    "Stability, of the sets of features that the splits select: Φ = 1 − (1/d Σⱼ M/(M−1) pⱼ(1−pⱼ)) / (k̄/d (1 − k̄/d)) for M "
    "splits, d features, pⱼ the share of splits that select feature j and k̄ the mean number of features; 1: always the "
    "same, 0: as by chance, at least −1/(M−1) (Nogueira, Sechidis & Brown, On the stability of feature selection "
    "algorithms, Journal of Machine Learning Research 18(174), 2018, 1–54). Jaccard: the mean over all pairs of splits of "
    "|A ∩ B| / |A ∪ B|; it is not corrected for chance. – where every split selects all features, or none."
)


def write_reproduction(reproduction: Reproduction, path: Path) -> Path:
    """The tables beside the printed ones."""
    study = reproduction.study
    compared = [row for row in reproduction.rows if row.comparable]
    outside = sum(row.outside for row in compared)
    body = [
        paragraph(
            f"{study.citation}, by dcprog {dcprog.__version__}. Of {len(compared)} figures that can be compared {outside} "
            "differ from the published ones by more than two standard errors, as the variance over the splits has them; "
            f"they are marked {MARK}. A ? stands beside figures that are hard to read in print."
        ),
        *map(paragraph, study.remarks),
        *(paragraph(f"{name}: {why}") for name, why in reproduction.absent.items()),
        *_problems(reproduction.failures, reproduction.interrupted),
        *(_printed(reproduction, part) for part in reproduction.parts),
        *_drawn(lambda: [*_redrawn(reproduction), *_reproduced(reproduction)]),
    ]
    return _write(path, f"{study.name}: published and reproduced", body)


def write_comparison(comparison: Comparison, path: Path) -> Path:
    """The methods on the user's data: errors, features and how stable they are, parameters, runs."""
    found = comparison.lines
    body = [
        paragraph(
            f"{comparison.n} samples, {comparison.d} features, {comparison.splits} splits; dcprog {dcprog.__version__}."
        ),
        paragraph(f"{comparison.verdict[0].upper()}{comparison.verdict[1:]}.", "verdict"),
        *(paragraph(f"{why}.") for why in comparison.left_out.values()),
        *_problems(comparison.failures, comparison.interrupted),
        _errors(found),
        paragraph(OF_ERRORS, "note"),
        paragraph(OF_STABILITY, "note"),
        *_drawn(lambda: _compared(comparison, found)),
        *_features(found, comparison),
        *_parameters(found),
    ]
    return _write(path, f"Methods compared on {comparison.data}", body)


def _errors(found: Sequence[Finding]) -> str:
    header = [
        "method",
        "name",
        "error [%]",
        "± std. error",
        "features",
        "± std. error",
        "stability Φ",
        "Jaccard",
        "seconds",
        "p",
    ]
    rows = [
        [
            one.title,
            one.method,
            *(f"{value:.1f}" for value in (one.error, one.standard_error, one.features, standard_error(one.sizes))),
            *(_index(value) for value in (one.stability, one.jaccard)),
            f"{one.seconds:.3f}",
            "–" if one.p is None else "< 0.001" if one.p < 0.001 else f"{one.p:.3f}",
        ]
        for one in found
    ]
    return table("Methods by mean test error", header, rows)


def _index(value: float | None) -> str:
    """Two decimals, without the sign of a zero.

    >>> _index(-0.004), _index(-0.25), _index(None)
    ('0.00', '-0.25', '–')
    """
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}"


def _features(found: Sequence[Finding], comparison: Comparison) -> list[str]:
    """How often each feature was selected, by the methods that select."""
    selecting = [one for one in found if one.selects]
    using_all = ", ".join(one.title for one in found if not one.selects)
    body = [heading("Selected features")]
    if using_all:
        body.append(paragraph(f"All features on every split: {using_all}."))
    if not selecting:
        return body
    order = by_frequency(selecting)
    never = comparison.d - len(order)
    rows = [
        [comparison.feature_names[j], *(_share(int(one.chosen[j]), comparison.splits) for one in selecting)]
        for j in order[:MOST_ROWS]
    ]
    caption = f"On how many of the {comparison.splits} splits a method selects a feature"
    body.append(table(caption, ["feature", *(one.title for one in selecting)], rows, words=1))
    for one in selecting:
        rare = [f"{comparison.feature_names[j]} ({one.chosen[j]})" for j in order[MOST_ROWS:] if one.chosen[j]]
        if rare:
            body.append(paragraph(f"{one.title} also selects, on so many splits: {', '.join(rare)}.", "note"))
    if never:
        body.append(paragraph(f"{never} of {comparison.d} features are never selected by these methods."))
    return body


def _share(count: int, splits: int) -> Entry:
    return Entry(str(count) if count else "·", shade=count / splits)


def _parameters(found: Sequence[Finding]) -> list[str]:
    """How often each value was chosen on the validation halves."""
    rows = [
        [one.title, name, ", ".join(f"{value}{NBSP}({count}{NBSP}×)" for value, count in values)]
        for one in found
        for name, values in one.parameters.items()
    ]
    none = ", ".join(one.title for one in found if not one.parameters)
    body = [heading("Chosen parameters")]
    if rows:
        caption = "Values chosen on the validation halves, and on how many splits"
        body.append(table(caption, ["method", "parameter", "values"], rows, words=3))
    return [*body, paragraph(f"No parameter to choose: {none}.")] if none else body


def _compared(comparison: Comparison, found: Sequence[Finding]) -> list[Picture | None]:
    order = [*(one.method for one in found), *(cell.method for cell in sorted(comparison.results))]
    drawn = figures.looks(order, comparison.titles)
    points = [
        Point(comparison.data, one.method, one.features, one.error, False, standard_error(one.sizes), one.standard_error)
        for one in found
    ]
    return [
        figures.errors({one.method: np.array(one.errors_by_split) for one in found}, drawn),
        figures.error_against_features(points, drawn, "standard errors over the splits"),
        figures.features_over_lambda(comparison.results, drawn),
        figures.convergence(comparison.results, drawn),
    ]


def _redrawn(reproduction: Reproduction) -> list[Picture]:
    """The paper's figures."""
    pictures = []
    for one in reproduction.figures:
        figure = one.illustration
        if one.found:
            require_matplotlib()
            caption = f"Figure {figure.number}: {figure.title}. {figure.said(one.found)}"
            methods = ", ".join(dict.fromkeys(figure.method_title(m) for by in one.found.values() for m in by))
            alt = f"{caption} Methods: {methods}. Panels: {', '.join(one.found)}."
            pictures.append(figures.picture(figure.draw(one.found, figure.titles), caption, alt))
    return pictures


def _reproduced(reproduction: Reproduction) -> list[Picture | None]:
    points = list(_points(reproduction))
    order = [*(point.method for point in points), *(cell.method for cell in sorted(reproduction.results))]
    named = {method: part.table.method_title(method) for part in reproduction.parts for method in part.table.methods}
    drawn = figures.looks(order, named)
    return [
        figures.error_against_features(points, drawn, "standard errors of the difference to the published figures"),
        figures.features_over_lambda(reproduction.results, drawn),
        figures.convergence(reproduction.results, drawn),
    ]


def _points(reproduction: Reproduction) -> Iterable[Point]:
    for part in reproduction.parts:
        for (data, method), row in lines(reproduction.of(part.table)).items():
            if not {"features", "error"} <= row.keys():
                continue
            features, error = row["features"], row["error"]
            if features.ours is not None and error.ours is not None:
                yield Point(data, method, features.ours, error.ours, False, features.spread or 0.0, error.spread or 0.0)
            if features.paper is not None and error.paper is not None:
                yield Point(data, method, features.paper.value, error.paper.value, True)


def _printed(reproduction: Reproduction, part: Part) -> str:
    rows = reproduction.of(part.table)
    names = quantities(rows)
    header = ["data", "method", *(f"{name}: {kind}" for name in names for kind in ("paper", "ours", "difference"))]
    body: list[list[str | Entry]] = []
    for (data, method), found in lines(rows).items():
        shown: list[str | Entry] = [data, part.table.method_title(method)]
        for name in names:
            row = found.get(name)
            paper, ours, difference = cells(row)
            shown += [paper, ours, Entry(difference, marked=row is not None and row.outside)]
        body.append(shown)
    note = paragraph(part.table.note(), "note") if part.table.note() else ""
    return table(f"Table {part.table.number}: {part.table.title}", header, body) + note


def _drawn(draw: Callable[[], Sequence[Picture | None]]) -> list[str]:
    try:
        return [figure(*picture) for picture in draw() if picture is not None]
    except MissingExtraError as error:
        return [paragraph(f"This report has no pictures: {error}.")]


def _problems(failures: Mapping[Cell, str], interrupted: bool) -> list[str]:
    said = [paragraph(f"{cell} failed: {why}") for cell, why in failures.items()]
    return [*said, paragraph("The run was interrupted: figures are missing.")] if interrupted else said


def _write(path: Path, title: str, body: Sequence[str]) -> Path:
    path.write_text(page(title, body), encoding="utf-8")
    return path

"""A report as one HTML file that needs nothing else: tables, and pictures where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import dcprog
from dcprog.errors import MissingExtraError
from dcprog.studies.cells import Cell, Result
from dcprog.studies.compare import Comparison
from dcprog.studies.figures import Point, pictures
from dcprog.studies.outputs import MARK, cells, lines, quantities
from dcprog.studies.reproduce import Part, Reproduction

STYLE = """
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222; background: #fff; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
.outside { background: #fde9c9; font-weight: 600; }
figure { margin: 2rem 0; } img { max-width: 100%; } figcaption { color: #555; }
"""


def write_reproduction(reproduction: Reproduction, path: Path) -> Path:
    """The tables beside the printed ones."""
    study = reproduction.study
    compared = [row for row in reproduction.rows if row.comparable]
    outside = sum(row.outside for row in compared)
    body = [
        f"<p>{escape(study.citation)}, by dcprog {dcprog.__version__}. Of {len(compared)} figures that can be compared "
        f"{outside} differ from the published ones by more than two standard errors, as the variance over the splits has "
        f"them; they are marked {MARK}. A ? stands beside figures that are hard to read in print.</p>",
        *(f"<p>{escape(remark)}</p>" for remark in study.remarks),
        *(f"<p>{escape(name)}: {escape(why)}</p>" for name, why in reproduction.absent.items()),
        *_problems(reproduction.failures, reproduction.interrupted),
        *(_table(reproduction, part) for part in reproduction.parts),
        *_pictures(reproduction.results, _points(reproduction)),
    ]
    return _write(path, f"{study.name}: published and reproduced", body)


def write_comparison(comparison: Comparison, path: Path) -> Path:
    """The methods on the user's data."""
    rows = [
        [
            line.title,
            line.method,
            f"{line.error:.1f} ± {line.deviation:.1f}",
            f"{line.features:.1f}",
            "–" if line.stability is None else f"{line.stability:.2f}",
            f"{line.seconds:.3g}",
            "–" if line.p is None else f"{line.p:.2g}",
        ]
        for line in comparison.lines
    ]
    header = ["method", "name", "error [%]", "features", "stability", "seconds", "p"]
    points = [Point(comparison.data, line.method, line.features, line.error, False) for line in comparison.lines]
    body = [
        f"<p>{comparison.n} samples, {comparison.d} features, {comparison.splits} splits; dcprog {dcprog.__version__}.</p>",
        f"<p><strong>{escape(comparison.verdict)}.</strong></p>",
        *(f"<p>{escape(why)}.</p>" for why in comparison.left_out.values()),
        *_problems(comparison.failures, comparison.interrupted),
        _html_table("Methods by error; p: of the difference to the first", [header], [(row, [False] * 7) for row in rows]),
        *_pictures(comparison.results, points),
    ]
    return _write(path, f"Methods compared on {comparison.data}", body)


def _table(reproduction: Reproduction, part: Part) -> str:
    rows = reproduction.of(part.table)
    names = quantities(rows)
    header = ["data", "method", *(f"{name}: {kind}" for name in names for kind in ("paper", "ours", "difference"))]
    body: list[tuple[list[str], list[bool]]] = []
    for (data, method), figures in lines(rows).items():
        shown, marked = [data, part.table.method_title(method)], [False, False]
        for name in names:
            row = figures.get(name)
            shown += cells(row)
            marked += [False, False, row is not None and row.outside]
        body.append((shown, marked))
    note = f"<p>{escape(part.table.note())}</p>" if part.table.note() else ""
    return _html_table(f"Table {part.table.number}: {part.table.title}", [header], body) + note


def _points(reproduction: Reproduction) -> list[Point]:
    points: list[Point] = []
    for part in reproduction.parts:
        for (data, method), row in lines(reproduction.of(part.table)).items():
            if not {"features", "error"} <= row.keys():
                continue
            features, error = row["features"], row["error"]
            if features.ours is not None and error.ours is not None:
                points.append(Point(data, method, features.ours, error.ours, False))
            if features.paper is not None and error.paper is not None:
                points.append(Point(data, method, features.paper.value, error.paper.value, True))
    return points


def _pictures(results: Mapping[Cell, Result], points: Sequence[Point]) -> list[str]:
    try:
        drawn = pictures(results, points)
    except MissingExtraError as error:
        return [f"<p>This report has no pictures: {escape(str(error))}.</p>"]
    return [
        f'<figure><img src="{uri}" alt="{escape(caption)}"><figcaption>{escape(caption)}</figcaption></figure>'
        for uri, caption in drawn
    ]


def _problems(failures: Mapping[Cell, str], interrupted: bool) -> list[str]:
    said = [f"<p>{escape(str(cell))} failed: {escape(why)}</p>" for cell, why in failures.items()]
    return [*said, "<p>The run was interrupted: figures are missing.</p>"] if interrupted else said


def _html_table(caption: str, header: Sequence[Sequence[str]], body: Sequence[tuple[Sequence[str], Sequence[bool]]]) -> str:
    head = "".join("<tr>" + "".join(f'<th scope="col">{escape(cell)}</th>' for cell in row) + "</tr>" for row in header)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=outside' if marked else ''}>{escape(cell)}</td>" for cell, marked in zip(row, marks, strict=True)
        )
        + "</tr>"
        for row, marks in body
    )
    return f"<table><caption>{escape(caption)}</caption><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _write(path: Path, title: str, body: Sequence[str]) -> Path:
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    content = f"<h1>{escape(title)}</h1>{''.join(body)}"
    page = f'<!doctype html><html lang="en"><head>{head}</head><body>{content}</body></html>\n'
    path.write_text(page, encoding="utf-8")
    return path

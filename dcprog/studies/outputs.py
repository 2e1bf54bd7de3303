"""A reproduction as files: one CSV a table, one SVG and one PNG a figure, and one JSON of everything."""

from __future__ import annotations

import csv
import json
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dcprog
from dcprog.studies.reproduce import Reproduction
from dcprog.studies.study import Row

MARK = "*"


def quantities(rows: Sequence[Row]) -> list[str]:
    """The kinds of figures, in the order of the table."""
    return list(dict.fromkeys(row.quantity for row in rows))


def lines(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    """The figures of each data set and method, by quantity."""
    grouped: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        grouped.setdefault((row.data, row.method), {})[row.quantity] = row
    return grouped


def number(value: float | None, decimals: int = 1, signed: bool = False) -> str:
    """A figure as tables print it.

    >>> number(2.04), number(0.3, signed=True), number(None), number(0.4261, decimals=3)
    ('2.0', '+0.3', '–', '0.426')
    """
    return "–" if value is None else f"{value:{'+' if signed else ''}.{decimals}f}"


def cells(row: Row | None) -> tuple[str, str, str]:
    """Paper, ours, difference: ? marks a figure that is hard to read, * a difference that the splits do not explain."""
    if row is None:
        return ("–", "–", "–")
    decimals = 1 if row.paper is None else max(row.paper.decimals, 1)
    paper = "–" if row.paper is None else number(row.paper.value, row.paper.decimals) + ("" if row.paper.sure else "?")
    ours = row.note or number(row.ours, decimals)
    return paper, ours, number(row.difference, decimals, signed=True) + (MARK if row.outside else "")


def write_tables(reproduction: Reproduction, directory: Path) -> list[Path]:
    """``table3.csv``, …: a line for each data set and method, three columns for each quantity."""
    written = []
    for part in reproduction.parts:
        rows = reproduction.of(part.table)
        names = quantities(rows)
        path = directory / f"table{part.table.number}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            parts = ("paper", "ours", "difference", "outside")
            writer.writerow(["data", "method", *(f"{name}_{part}" for name in names for part in parts)])
            for (data, method), figures in lines(rows).items():
                writer.writerow([data, method, *(value for name in names for value in _values(figures.get(name)))])
        written.append(path)
    return written


def _values(row: Row | None) -> list[Any]:
    if row is None:
        return ["", "", "", ""]
    found = row.to_dict()
    return ["" if found[key] is None else found[key] for key in ("paper", "ours", "difference", "outside")]


def write_figures(reproduction: Reproduction, directory: Path) -> list[Path]:
    """``figure1.svg`` and ``figure1.png``, …, of the trials that are finished."""
    written = []
    for one in reproduction.figures:
        if one.found:
            figure = one.illustration.draw(one.found, one.illustration.titles)
            for ending in ("svg", "png"):
                written.append(directory / f"figure{one.illustration.number}.{ending}")
                figure.savefig(written[-1], dpi=150, metadata={"Date": None} if ending == "svg" else None)
    return written


def summary(reproduction: Reproduction) -> dict[str, Any]:
    """Everything but the cells, as plain types."""
    return {
        "study": reproduction.study.name,
        "citation": reproduction.study.citation,
        "dcprog": dcprog.__version__,
        "python": platform.python_version(),
        "complete": reproduction.complete,
        "notes": {part.table.number: part.table.note() for part in reproduction.parts if part.table.note()},
        "absent": reproduction.absent,
        "failures": {str(cell): why for cell, why in reproduction.failures.items()},
        "rows": [row.to_dict() for row in reproduction.rows],
        "figures": {one.illustration.number: one.found for one in reproduction.figures},
    }


def write_json(reproduction: Reproduction, path: Path) -> Path:
    path.write_text(json.dumps(summary(reproduction), indent=1, allow_nan=False, ensure_ascii=False), encoding="utf-8")
    return path

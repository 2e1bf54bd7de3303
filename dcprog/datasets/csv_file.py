"""A CSV file of two classes: read whole, or refused with the row and column that is wrong."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dcprog._typing import Matrix, Vector
from dcprog.errors import DataError

LABEL_NAMES = ("label", "target", "class", "y")
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


class Table(NamedTuple):
    """Numbers and labels of a CSV file; ``classes`` are the file's labels for −1 and +1."""

    X: Matrix
    y: Vector
    feature_names: tuple[str, ...]
    classes: tuple[str, str]


def read_header(path: Path) -> list[str]:
    """The names of the columns."""
    for _, row in islice(_rows(path), 1):
        return [cell.strip() for cell in row]
    raise DataError(f"{path} is empty: expected a header and one sample a row")


def read_csv(path: Path) -> Table:
    """Features and labels ±1 of ``path``: the label that sorts first is −1, numbers sort as numbers."""
    header = read_header(path)
    if len(header) < 2:
        raise DataError(f"{path} has the one column {header[0]!r}: expected features and a label, separated by commas")
    if all(map(_is_number, header)):
        raise DataError(f"{path} starts with numbers: expected a header that names the columns in its first row")
    lines, rows = _samples(path, len(header))
    label = _label_column(header)
    features = [j for j in range(len(header)) if j != label]
    _refuse_missing(path, header, lines, rows)
    X = _numbers(path, header, lines, rows, features)
    y, classes = _signs(path, header[label], [row[label].strip() for row in rows])
    return Table(X, y, tuple(header[j] for j in features), classes)


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with their line numbers."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            for row in reader:
                if row:
                    yield reader.line_num, row
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}): pass the path of a CSV file") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} is not a CSV file in UTF-8 ({error})") from None


def _samples(path: Path, width: int) -> tuple[list[int], list[list[str]]]:
    lines, rows = [], []
    for line, row in islice(_rows(path), 1, None):
        if len(row) != width:
            raise DataError(f"{path}, line {line} has {len(row)} cells, but the header has {width}: make them agree")
        lines.append(line)
        rows.append(row)
    if not rows:
        raise DataError(f"{path} has a header and no samples: expected one sample a row")
    return lines, rows


def _label_column(header: Sequence[str]) -> int:
    names = [name.lower() for name in header]
    return next((names.index(name) for name in LABEL_NAMES if name in names), len(header) - 1)


def _refuse_missing(path: Path, header: Sequence[str], lines: Sequence[int], rows: Sequence[Sequence[str]]) -> None:
    where = [
        (line, header[j]) for line, row in zip(lines, rows, strict=True) for j, v in enumerate(row) if v.strip().lower() in MISSING
    ]
    if where:
        line, name = where[0]
        raise DataError(
            f"{path} has {len(where)} missing value(s), the first in line {line}, column {name!r}: fill them in or drop the rows"
        )


def _numbers(
    path: Path, header: Sequence[str], lines: Sequence[int], rows: Sequence[Sequence[str]], features: Sequence[int]
) -> Matrix:
    try:
        X = np.array([[row[j] for j in features] for row in rows], dtype=float)
    except ValueError:
        X = None
    if X is not None and np.isfinite(X).all():
        return X
    line, j, cell = next(
        (line, j, row[j]) for line, row in zip(lines, rows, strict=True) for j in features if not _is_number(row[j])
    )
    raise DataError(
        f"{path}, line {line}, column {header[j]!r} holds {cell!r}, expected a finite number: encode or drop the column"
    )


def _signs(path: Path, name: str, labels: Sequence[str]) -> tuple[Vector, tuple[str, str]]:
    numeric = all(map(_is_number, labels))
    keys = [float(label) for label in labels] if numeric else labels
    classes, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    if len(classes) != 2:
        shown = ", ".join(labels[i] for i in first[:4]) + (", …" if len(classes) > 4 else "")
        raise DataError(f"{path}, column {name!r} has {len(classes)} different label(s) ({shown}), expected two classes")
    return 2.0 * codes - 1.0, (labels[first[0]], labels[first[1]])


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False

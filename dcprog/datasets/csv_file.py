"""A CSV file of samples and their classes: read whole, or refused with the line and column that is wrong."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dcprog.errors import DataError
from dcprog.typing import Matrix, Vector

LABEL_NAMES = ("label", "target", "class", "y")
MISSING = frozenset({"", "?", "na", "n/a", "nan", "null"})


class Labelled(NamedTuple):
    """Numbers of a CSV file, and its labels as they stand there, in the column ``label_name``."""

    X: Matrix
    labels: list[str]
    feature_names: tuple[str, ...]
    label_name: str


class Table(NamedTuple):
    """Numbers and labels of a CSV file; ``classes`` are the file's labels for −1 and +1."""

    X: Matrix
    y: Vector
    feature_names: tuple[str, ...]
    classes: tuple[str, str]


class _Sheet(NamedTuple):
    """The cells of a file, all rows as wide as the header, with their line numbers."""

    path: Path
    header: list[str]
    lines: list[int]
    rows: list[list[str]]

    def cells(self) -> Iterator[tuple[int, int, str]]:
        for line, row in zip(self.lines, self.rows, strict=True):
            for j, cell in enumerate(row):
                yield line, j, cell


def read_csv(path: Path, *, fill: bool = False) -> Table:
    """Features and labels ±1 of ``path``: the label that sorts first is −1, numbers sort as numbers."""
    X, labels, feature_names, label_name = read_labelled(path, fill=fill)
    y, classes = _signs(path, label_name, labels)
    return Table(X, y, feature_names, classes)


def read_labelled(path: Path, *, fill: bool = False) -> Labelled:
    """Features and labels of ``path``. Missing values are refused, or become the mean of their column with ``fill``."""
    sheet = _read(path)
    label = _label_column(sheet.header)
    features = [j for j in range(len(sheet.header)) if j != label]
    labels = [row[label].strip() for row in sheet.rows]
    X = _filled(sheet, features) if fill else _numbers(sheet, features)
    if X is None or any(map(_is_missing, labels)):
        raise _complaint(sheet, label, fill)
    return Labelled(X, labels, tuple(sheet.header[j] for j in features), sheet.header[label])


def read_header(path: Path) -> list[str]:
    """The names of the columns."""
    for _, row in _rows(path):
        return [cell.strip() for cell in row]
    raise DataError(f"{path} is empty: expected a header and one sample a row")


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
        raise DataError(f"{path} is not a CSV file in UTF-8 ({error}): export it as one") from None


def _read(path: Path) -> _Sheet:
    header = read_header(path)
    if len(header) < 2:
        raise DataError(f"{path} has the one column {header[0]!r}: expected features and a label, separated by commas")
    if _is_sample(header):
        raise DataError(f"{path} starts with numbers: expected a header that names the columns in its first line")
    sheet = _Sheet(path, header, [], [])
    for line, row in islice(_rows(path), 1, None):
        if len(row) != len(header):
            raise DataError(f"{path}, line {line} has {len(row)} cells, but the header has {len(header)}: make them agree")
        sheet.lines.append(line)
        sheet.rows.append(row)
    if not sheet.rows:
        raise DataError(f"{path} has a header and no samples: expected one sample a row")
    return sheet


def _is_sample(header: Sequence[str]) -> bool:
    """Whether the first line holds numbers, but for a label perhaps; 0,1,2,label is a header, as pandas writes it."""
    label = _label_column(header)
    return header[label].lower() not in LABEL_NAMES and all(_is_number(c) for j, c in enumerate(header) if j != label)


def _label_column(header: Sequence[str]) -> int:
    names = [name.lower() for name in header]
    return next((names.index(name) for name in LABEL_NAMES if name in names), len(header) - 1)


def _numbers(sheet: _Sheet, features: Sequence[int]) -> Matrix | None:
    """The feature columns; None if a cell is no finite number."""
    try:
        X = np.array([[row[j] for j in features] for row in sheet.rows], dtype=float)
    except ValueError:
        return None
    return X if np.isfinite(X).all() else None


def _filled(sheet: _Sheet, features: Sequence[int]) -> Matrix | None:
    """The feature columns, missing values replaced by the mean of the others; None if another cell is no finite number."""
    rows = [["nan" if _is_missing(row[j]) else row[j] for j in features] for row in sheet.rows]
    try:
        X = np.array(rows, dtype=float)
    except ValueError:
        return None
    if np.isinf(X).any():
        return None
    missing = np.isnan(X)
    empty = np.flatnonzero(missing.all(axis=0))
    if empty.size:
        raise DataError(f"{sheet.path}, column {sheet.header[features[empty[0]]]!r} has no value at all: drop it")
    X[missing] = np.broadcast_to(np.nanmean(X, axis=0), X.shape)[missing]
    return X


def _complaint(sheet: _Sheet, label: int, filled: bool) -> DataError:
    """What is wrong with the cells: missing values come first, then text in a column of numbers."""
    missing = [(line, j) for line, j, cell in sheet.cells() if _is_missing(cell) and (j == label or not filled)]
    if missing:
        line, j = missing[0]
        return DataError(
            f"{sheet.path} has {len(missing)} missing value(s), the first in line {line}, column {sheet.header[j]!r}: "
            "fill them in, or drop those rows"
        )
    line, j, cell = next(
        (line, j, cell) for line, j, cell in sheet.cells() if j != label and not _is_number(cell) and not _is_missing(cell)
    )
    return DataError(
        f"{sheet.path}, line {line}, column {sheet.header[j]!r} holds {cell!r}, expected a finite number: encode the column "
        "as numbers, or drop it"
    )


def _signs(path: Path, name: str, labels: Sequence[str]) -> tuple[Vector, tuple[str, str]]:
    keys = [float(label) for label in labels] if all(map(_is_number, labels)) else labels
    classes, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    if len(classes) != 2:
        shown = ", ".join(labels[i] for i in first[:4]) + (", …" if len(classes) > 4 else "")
        raise DataError(f"{path}, column {name!r} has {len(classes)} class(es) ({shown}), expected 2: keep the rows of two")
    return np.where(codes == 1, 1.0, -1.0), (labels[first[0]], labels[first[1]])


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in MISSING


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False

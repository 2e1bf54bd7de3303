"""The data sets as their owners publish them, and the recipe of each: what is dropped, and which label is +1.

The recipes give the shapes and class counts of Table I. For wpbc, +1 is a recurrence within so many months, and −1 a
patient who was followed for longer, with or without a recurrence; those followed for less are left out.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dcprog.errors import DataError
from dcprog.typing import Matrix, Vector

Cells = Sequence[str]
COPIES = "https://raw.githubusercontent.com"
BROWNLEE = f"{COPIES}/jbrownlee/Datasets/d20fcb6402ae34e653d4513b00f39257bb37ed7f"


@dataclass(frozen=True)
class Recipe:
    """How a file becomes samples: ``features`` are the columns to keep, ``label`` gives ±1 or None to leave a row out."""

    file: str
    title: str
    source: str
    features: slice
    label: Callable[[Cells], int | None]
    rule: str
    url: str
    sha256: str
    separator: str | None = ","
    """None: any blanks."""

    def read(self, path: Path) -> tuple[Matrix, Vector]:
        """The samples and their labels ±1; rows with a missing value are left out, as is a header."""
        X: list[list[float]] = []
        y: list[int] = []
        rows = _rows(path, self.separator)
        for position, (line, cells) in enumerate(rows):
            if any(cell in ("?", "") for cell in cells):
                continue
            try:
                label = self.label(cells)
                values = [float(cell) for cell in cells[self.features]]
            except (ValueError, IndexError):
                if position == 0:
                    continue
                raise DataError(f"{path}, line {line} is not as in {self.source}: download {self.file} anew") from None
            if label is not None:
                X.append(values)
                y.append(label)
        if not X or len({len(row) for row in X}) != 1:
            raise DataError(f"{path} is not as in {self.source}: download {self.file} anew")
        return np.array(X), np.array(y, dtype=float)


def _rows(path: Path, separator: str | None) -> list[tuple[int, list[str]]]:
    """The cells of the lines that are not blank, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read as text ({error}): download it anew") from None
    split = (lambda line: next(csv.reader([line]))) if separator else str.split
    lines = enumerate(text.splitlines(), start=1)
    return [(number, [cell.strip() for cell in split(line)]) for number, line in lines if line.strip()]


def _is(column: int, positive: str) -> Callable[[Cells], int]:
    """+1 where the column holds ``positive``, as a word or a number."""
    return lambda cells: 1 if _word(cells[column]) == positive else -1


def _word(cell: str) -> str:
    """Numbers in their shortest form: 1. and 1.0 are 1."""
    try:
        return f"{float(cell):g}"
    except ValueError:
        return cell


def _recurrence(months: int) -> Callable[[Cells], int | None]:
    def label(cells: Cells) -> int | None:
        outcome, time = cells[1], float(cells[2])
        if time > months:
            return -1
        return 1 if outcome == "R" else None

    return label


def _wpbc(months: int) -> Recipe:
    return Recipe(
        "wpbc.data",
        f"breast cancer (prognostic): recurrence within {months} months",
        "UCI: Breast Cancer Wisconsin (Prognostic)",
        slice(3, 35),
        _recurrence(months),
        f"+1 = recurred within {months} months, −1 = followed for longer",
        f"{COPIES}/StellinaM/Rpromesip_project/abddc79789ad3f350dcb506c9894e8952b6c728d/wpbc.data",
        "af8944849f93c653eae0006287b18b403af54189727409ab06e183498d721767",
    )


RECIPES: dict[str, Recipe] = {
    "wpbc60": _wpbc(60),
    "wpbc24": _wpbc(24),
    "liver": Recipe(
        "bupa.data",
        "liver disorders, blood tests",
        "UCI: Liver Disorders",
        slice(0, 6),
        _is(6, "1"),
        "+1 = selector 1, −1 = selector 2",
        f"{COPIES}/amritmaj/SVM-Tree/fe84201f69778d5c9405025d3c783f80ee5c6780/bupa.data",
        "975e8d89b140a487b16276cf3dacad97af63c4e367512b9973e7ab7b1626d419",
    ),
    "cleveland": Recipe(
        "processed.cleveland.data",
        "heart disease, Cleveland",
        "UCI: Heart Disease",
        slice(0, 13),
        _is(13, "0"),
        "+1 = no disease, −1 = disease",
        f"{COPIES}/EyedBread/naive-bayes/994f04619bf639588777b184cf1dfe65a9eab8f1/processed.cleveland.data",
        "c620b2f015f8e6309443511060daa06cc46abe0a7e9126bf423a463988d746f1",
    ),
    "ionosphere": Recipe(
        "ionosphere.data",
        "radar returns from the ionosphere",
        "UCI: Ionosphere",
        slice(0, 34),
        _is(34, "g"),
        "+1 = good, −1 = bad",
        f"{BROWNLEE}/ionosphere.csv",
        "fd6dd7864b55d56dac0a1e6e24af9ccc35bf2555ac79af8ab9f3d1daa065ab83",
    ),
    "pima": Recipe(
        "pima-indians-diabetes.data",
        "diabetes among Pima women",
        "UCI: Pima Indians Diabetes",
        slice(0, 8),
        _is(8, "0"),
        "+1 = tested negative, −1 = positive",
        f"{BROWNLEE}/pima-indians-diabetes.csv",
        "6bfe5d0f379d17a0e0819b996407e3c09bf80febd4287f2ed212190dfff154af",
    ),
    "bcw": Recipe(
        "breast-cancer-wisconsin.data",
        "breast cancer (original), cytology",
        "UCI: Breast Cancer Wisconsin (Original)",
        slice(1, 10),
        _is(10, "2"),
        "+1 = benign, −1 = malignant",
        f"{BROWNLEE}/breast-cancer-wisconsin.data",
        "402c585309c399237740f635ef9919dc512cca12cbeb20de5e563a4593f22b64",
    ),
    "sonar": Recipe(
        "sonar.all-data",
        "sonar signals off mines and rocks",
        "UCI: Connectionist Bench (Sonar, Mines vs. Rocks)",
        slice(0, 60),
        _is(60, "M"),
        "+1 = mine, −1 = rock",
        f"{BROWNLEE}/sonar.csv",
        "3079c09b5d2789a0f96aff82c28e5164fafe2495c5f8da96c6c256c1bd25763f",
    ),
    "musk": Recipe(
        "clean1.data",
        "conformations of musk molecules, version 1",
        "UCI: Musk (Version 1)",
        slice(2, 168),
        _is(168, "1"),
        "+1 = musk, −1 = no musk",
        f"{COPIES}/doanhlee04/MachineLearning/968f8ddbdbe121d00155327c59f98b19525cbfb4/clean1.data",
        "37d199d9c7c1c0763d58adb629a8a2e5ef410cdc088b28344b7c12c0bda5dcd1",
    ),
    "housing": Recipe(
        "housing.data",
        "Boston housing",
        "StatLib / UCI: Housing",
        slice(0, 13),
        lambda cells: 1 if float(cells[13]) > 21.0 else -1,
        "+1 = median value above 21 000 dollars (Fung & Mangasarian do not print their threshold)",
        f"{BROWNLEE}/housing.data",
        "e3e36f7b9e5435f9eb8320e106aebad00031fefa3064527da0c71dec59e49b76",
        separator=None,
    ),
}
"""By the name that :func:`dcprog.datasets.load` knows the set by."""
RECIPES["cleveland_severe"] = replace(
    RECIPES["cleveland"],
    title="heart disease, Cleveland: severe or not",
    label=lambda cells: 1 if float(cells[13]) <= 1.0 else -1,
    rule="+1 = diagnosis 0 or 1, −1 = 2 to 4: the labels that Fung & Mangasarian (2004) seem to have",
)

"""What a comparison found out about each method: errors by split, parameters chosen, features selected, how stably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.studies.cells import Result
from dcprog.studies.compare import Comparison
from dcprog.studies.statistics import jaccard, stability, standard_error
from dcprog.typing import Indices, Vector

Values = tuple[tuple[str, int], ...]
"""The values of a parameter, rising, and how often each was chosen."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A method over the splits, each of which has an entry in ``errors`` (in percent) and ``features``."""

    method: str
    title: str
    errors: Vector
    features: Vector
    seconds: float
    parameters: Mapping[str, Values]
    chosen: Indices
    """How often each feature was selected."""
    stability: float | None
    jaccard: float | None
    p: float | None

    @property
    def error(self) -> tuple[float, float]:
        """The mean, and its standard error."""
        return float(self.errors.mean()), standard_error(self.errors)

    @property
    def size(self) -> tuple[float, float]:
        """The mean number of features, and its standard error."""
        return float(self.features.mean()), standard_error(self.features)

    @property
    def selects(self) -> bool:
        """Whether some feature was left out on some split."""
        return bool((self.chosen < len(self.errors)).any())


def findings(comparison: Comparison) -> list[Finding]:
    """One for each finished method, by rising error."""
    by_method: dict[str, list[Result]] = {}
    for cell in sorted(comparison.results):
        by_method.setdefault(cell.method, []).append(comparison.results[cell])
    return [_finding(line.method, line.title, line.p, by_method[line.method], comparison.d) for line in comparison.lines]


def titles(comparison: Comparison) -> dict[str, str]:
    """Those of all methods; unfinished ones go by their names."""
    return {cell.method: cell.method for cell in comparison.results} | {line.method: line.title for line in comparison.lines}


def by_frequency(found: Sequence[Finding]) -> Indices:
    """The features that some method selected: by how often one of them did at most, then all together."""
    counts = np.array([finding.chosen for finding in found])
    total = counts.sum(axis=0)
    order = np.lexsort((-total, -counts.max(axis=0)))
    return np.asarray(order[total[order] > 0])


def _finding(method: str, title: str, p: float | None, results: Sequence[Result], d: int) -> Finding:
    selections = np.zeros((len(results), d), dtype=int)
    for i, result in enumerate(results):
        selections[i, result["selected"]] = 1
    return Finding(
        method,
        title,
        np.array([100.0 * result["error"] for result in results]),
        selections.sum(axis=1).astype(float),
        float(np.mean([result["seconds"] for result in results])),
        _counts([result["parameters"] for result in results]),
        selections.sum(axis=0),
        stability(selections),
        jaccard(selections),
        p,
    )


def _counts(chosen: Sequence[Mapping[str, Any]]) -> dict[str, Values]:
    """How often each value of each parameter was chosen.

    >>> _counts([{"C": 10.0, "kernel": "rbf"}, {"C": 0.1, "kernel": "rbf"}, {"C": 10.0, "kernel": None}])
    {'C': (('0.1', 1), ('10', 2)), 'kernel': (('None', 1), ('rbf', 2))}
    """
    values: dict[str, list[Any]] = {}
    for parameters in chosen:
        for name, value in parameters.items():
            values.setdefault(name, []).append(value)
    return {name: tuple(Counter(map(_words, sorted(found, key=_order))).items()) for name, found in values.items()}


def _words(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _order(value: Any) -> tuple[bool, float, str]:
    """Numbers by size, before everything else by its letters."""
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, str(value)

"""What a comparison found out about each method: errors by split, parameters chosen, features selected, how stably."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dcprog.studies.cells import Result
from dcprog.studies.statistics import jaccard, mean_and_variance, stability, standard_error
from dcprog.typing import Indices, Matrix

Values = tuple[tuple[str, int], ...]
"""The values of a parameter, rising, and how often each was chosen."""


@dataclass(frozen=True, eq=False)
class Finding:
    """A method over the splits of a comparison, each of which has an entry in every ``…_by_split``.

    >>> one = Finding("fsv", "FSV", 4, (1.0, 3.0), ({"lam": 0.1}, {"lam": 0.5}), ((0, 1), (0,)), (0.01, 0.03))
    >>> one.error, one.standard_error, one.features, one.seconds, one.chosen.tolist(), one.parameters
    (2.0, 1.0, 1.5, 0.02, [2, 1, 0, 0], {'lam': (('0.1', 1), ('0.5', 1))})
    """

    method: str
    title: str
    d: int
    """How many features there are."""
    errors_by_split: tuple[float, ...]
    """In percent."""
    parameters_by_split: tuple[dict[str, Any], ...]
    """Those chosen on the validation half; empty for a method without a choice."""
    selected_by_split: tuple[tuple[int, ...], ...]
    """Positions of the selected features."""
    seconds_by_split: tuple[float, ...]
    """CPU time of the final training."""
    p: float | None = None
    """Of the difference to the lowest error; None for the method that has it."""

    @property
    def error(self) -> float:
        """The mean over the splits, in percent."""
        return float(np.mean(self.errors_by_split))

    @property
    def deviation(self) -> float:
        """Standard deviation of the error over the splits."""
        return float(np.sqrt(mean_and_variance(self.errors_by_split)[1]))

    @property
    def standard_error(self) -> float:
        """Of the mean error, s/√J over J splits."""
        return standard_error(self.errors_by_split)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many features each split selects."""
        return tuple(map(len, self.selected_by_split))

    @property
    def features(self) -> float:
        """The mean number of features."""
        return float(np.mean(self.sizes))

    @property
    def seconds(self) -> float:
        return float(np.mean(self.seconds_by_split))

    @property
    def stability(self) -> float | None:
        return stability(self._selections)

    @property
    def jaccard(self) -> float | None:
        return jaccard(self._selections)

    @property
    def chosen(self) -> Indices:
        """How often each feature was selected."""
        return np.asarray(self._selections.sum(axis=0), dtype=np.int64)

    @property
    def selects(self) -> bool:
        """Whether some feature was left out on some split."""
        return bool((self.chosen < len(self.errors_by_split)).any())

    @property
    def parameters(self) -> dict[str, Values]:
        """How often each value of each parameter was chosen."""
        values: dict[str, list[Any]] = {}
        for parameters in self.parameters_by_split:
            for name, value in parameters.items():
                values.setdefault(name, []).append(value)
        return {name: tuple(Counter(map(_words, sorted(found, key=_order))).items()) for name, found in values.items()}

    @cached_property
    def _selections(self) -> Matrix:
        """A row for each split, 1 where it selects the feature."""
        marks = np.zeros((len(self.selected_by_split), self.d))
        for row, selected in zip(marks, self.selected_by_split, strict=True):
            row[list(selected)] = 1.0
        return marks

    def to_dict(self) -> dict[str, Any]:
        """The averages and what each split gave, as plain types."""
        averages = (
            "method",
            "title",
            "error",
            "deviation",
            "standard_error",
            "features",
            "stability",
            "jaccard",
            "seconds",
            "p",
        )
        by_split = ("errors_by_split", "parameters_by_split", "selected_by_split", "seconds_by_split")
        return {name: getattr(self, name) for name in (*averages, "p", *by_split)}


def finding(method: str, title: str, results: Sequence[Result], d: int, p: float | None) -> Finding:
    """What the finished cells of a method say together."""
    return Finding(
        method,
        title,
        d,
        tuple(100.0 * result["error"] for result in results),
        tuple(result["parameters"] for result in results),
        tuple(tuple(result["selected"]) for result in results),
        tuple(result["seconds"] for result in results),
        p,
    )


def by_frequency(found: Sequence[Finding]) -> Indices:
    """The features that some method selected: by how often one of them did at most, then all together."""
    counts = np.array([one.chosen for one in found])
    total = counts.sum(axis=0)
    order = np.lexsort((-total, -counts.max(axis=0)))
    return np.asarray(order[total[order] > 0])


def _words(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _order(value: Any) -> tuple[bool, float, str]:
    """Numbers by size, before everything else by its letters."""
    number = isinstance(value, int | float)
    return not number, float(value) if number else 0.0, str(value)

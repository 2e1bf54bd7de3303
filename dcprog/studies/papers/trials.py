"""Tables that average over trials: a training and a test set are drawn, or split off, so many times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dcprog import datasets
from dcprog.datasets import Dataset
from dcprog.errors import DataError
from dcprog.studies.cells import Cell, Result, Task, fingerprint
from dcprog.studies.published import Entry, published
from dcprog.studies.statistics import mean_and_variance
from dcprog.studies.study import Row, Table, why_absent
from dcprog.typing import Matrix, Vector

Lines = dict[str, dict[str, float]]
"""For each line of a table its quantities."""
Work = Callable[[Any, str, int], Lines]
"""``work(data, method, trial)``; data is a Dataset if it was loaded, else the name of what is to be drawn."""


class Drawn(NamedTuple):
    """Points to train on, points to test on, scaled to mean 0 and variance 1 over the former."""

    X: Matrix
    y: Vector
    T: Matrix
    labels: Vector


def drawn(X: Matrix, y: Vector, T: Matrix, labels: Vector) -> Drawn:
    mean, scale = X.mean(axis=0), X.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    return Drawn((X - mean) / scale, y, (T - mean) / scale, labels)


LEVELLED = (
    "Expressions are logarithms, and every sample has mean 0 and variance 1, as in the copy of the data that the authors "
    "ship with their toolbox."
)


def levelled(name: str, floor: float = 0.0, ceiling: float = np.inf) -> Dataset:
    """Intensities of microarrays, between ``floor`` and ``ceiling``: their logarithms, scaled sample by sample."""
    data = datasets.load(name)
    intensities = np.clip(data.X, floor, ceiling)
    if intensities.min() <= 0:
        raise DataError(f"{name} has features ≤ 0, expected intensities: they have no logarithms")
    logarithms = np.log(intensities)
    centred = logarithms - logarithms.mean(axis=1, keepdims=True)
    return replace(data, X=centred / centred.std(axis=1, keepdims=True))


def random_split(data: Dataset, n: int, rng: np.random.Generator) -> Drawn:
    """n samples to train on, drawn until they are of both classes, and the others to test on."""
    order = rng.permutation(len(data.y))
    while len(set(data.y[order[:n]])) < 2:
        order = rng.permutation(len(data.y))
    train, test = order[:n], order[n:]
    return drawn(data.X[train], data.y[train], data.X[test], data.y[test])


def wrong(predicted: Vector, labels: Vector) -> float:
    """Error in percent."""
    return float(100.0 * (predicted != labels).mean())


@dataclass(frozen=True)
class Trials(Table):
    """Means over trials. ``lines`` are the lines of the table for a data set, ``loaded`` the sets that have to be here.

    ``load`` gives them as the trials take them, ``remark`` says how the data or the protocol differ from the paper's, and
    ``of_paper`` how many trials are behind the published figures, if not as many as here.
    """

    trials: int
    quantities: tuple[str, ...]
    work: Work
    lines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    loaded: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    cost: float = 1.0
    load: Callable[[str], Dataset] = datasets.load
    remark: str = ""
    of_paper: int | None = None

    def note(self) -> str:
        return self.remark

    def method_title(self, method: str) -> str:
        return self.titles.get(method, method)

    def absent(self, data: str) -> str | None:
        return why_absent(self.load, data) if data in self.loaded else None

    def tasks(self, data: Sequence[str], methods: Sequence[str]) -> list[Task]:
        tasks: list[Task] = []
        for name in data:
            data_set = self.load(name) if name in self.loaded else None
            key = {"trials": self.study, "data": "" if data_set is None else fingerprint(data_set)}
            for method in methods:
                work = partial(_worked, self.work, data_set or name, method)
                cells = (Cell(self._protocol, name, method, i) for i in range(self.trials))
                tasks += [Task(cell, key, partial(work, cell.split), self.cost) for cell in cells]
        return tasks

    def rows(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        for name in data:
            for line in self.lines.get(name, (name,)):
                for method in methods:
                    cells = [Cell(self._protocol, name, method, i) for i in range(self.trials)]
                    found = [results[cell]["lines"][line] for cell in cells if cell in results]
                    rows += [self._figure(found, line, method, quantity) for quantity in self.quantities]
        return rows

    @property
    def _protocol(self) -> str:
        return f"table-{self.number}"

    def _figure(self, found: list[dict[str, float]], line: str, method: str, quantity: str) -> Row:
        if len(found) < self.trials:
            return self.row(line, method, quantity, None, None, f"{len(found)} of {self.trials} trials")
        ours, variance = mean_and_variance([values[quantity] for values in found])
        if self.trials == 1:
            return self.row(line, method, quantity, ours, None)
        printed = published(self.study).get(Entry(self.number, line, method, "standard_error"))
        if printed is not None and quantity == "error":
            theirs = printed.value
        else:
            theirs = float(np.sqrt(variance / (self.of_paper or self.trials)))
        return self.row(line, method, quantity, ours, float(np.hypot(np.sqrt(variance / self.trials), theirs)))


def _worked(work: Work, data: Any, method: str, trial: int) -> Result:
    return {"lines": work(data, method, trial)}

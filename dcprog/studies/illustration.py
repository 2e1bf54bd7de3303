"""What a paper's figure is: panels, the curves or methods in them, trials behind each, and a way to draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.figures import Curve
from dcprog.studies.statistics import standard_error
from dcprog.typing import Vector

Found: TypeAlias = Mapping[str, Mapping[str, Sequence[Result]]]
"""For each panel, by method, what its finished trials found."""


@dataclass(frozen=True)
class Illustration:
    """A published figure. It is drawn from the trials that are finished, and says so where some are not.

    ``work(panel, method, trial)`` computes a cell in plain types; ``draw(found, titles)`` makes a figure of matplotlib of
    them. ``data`` are the panels, called so since ``dcprog reproduce --data`` chooses among them.
    """

    study: str
    number: str
    title: str
    data: tuple[str, ...]
    methods: tuple[str, ...]
    trials: int
    work: Callable[[str, str, int], Result]
    draw: Callable[[Found, Mapping[str, str]], Any]
    caption: str
    titles: Mapping[str, str] = field(default_factory=dict)
    cost: float = 1.0

    def method_title(self, method: str) -> str:
        return self.titles.get(method, method)

    def tasks(self, data: Sequence[str], methods: Sequence[str]) -> list[Task]:
        cells = [self._cell(panel, method, i) for panel in data for method in methods for i in range(self.trials)]
        return [
            Task(cell, {"figure": self.number}, partial(self.work, cell.data, cell.method, cell.split), self.cost)
            for cell in cells
        ]

    def found(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> Found:
        by_panel: dict[str, dict[str, list[Result]]] = {}
        for panel in data:
            for method in methods:
                cells = [self._cell(panel, method, i) for i in range(self.trials)]
                finished = [results[cell] for cell in cells if cell in results]
                if finished:
                    by_panel.setdefault(panel, {})[method] = finished
        return by_panel

    def said(self, found: Found) -> str:
        """The caption, and how many trials it is drawn from if not all are finished."""
        counts = {len(trials) for by_method in found.values() for trials in by_method.values()}
        few = min(counts, default=0)
        return self.caption if few == self.trials else f"{self.caption} Unfinished: {few} of {self.trials} trials."

    def _cell(self, panel: str, method: str, trial: int) -> Cell:
        return Cell(f"figure-{self.number}", panel, method, trial)


def average(trials: Sequence[Result], x: str, y: str) -> Curve:
    """The mean of y over the trials at the x that they share, in a band of a standard error on either side.

    >>> average([{"n": [1, 2], "e": [0.0, 2.0]}, {"n": [1, 2], "e": [2.0, 2.0]}], "n", "e")
    Curve(x=array([1., 2.]), y=array([1., 2.]), band=array([1., 0.]))
    """
    values = np.array([trial[y] for trial in trials], dtype=float)
    return Curve(np.array(trials[0][x], dtype=float), values.mean(axis=0), _errors(values))


def extended(trials: Sequence[Result], y: str) -> Curve:
    """The mean of runs of different lengths, each extended by its last value to the longest of them.

    >>> extended([{"T": [4.0, 2.0, 1.0]}, {"T": [2.0]}], "T").y
    array([3. , 2. , 1.5])
    """
    longest = max(len(trial[y]) for trial in trials)
    values = np.array([[*trial[y], *[trial[y][-1]] * (longest - len(trial[y]))] for trial in trials], dtype=float)
    return Curve(np.arange(float(longest)), values.mean(axis=0), _errors(values))


def _errors(values: np.ndarray) -> Vector | None:
    return np.array([standard_error(column) for column in values.T]) if len(values) > 1 else None

"""Neumann, Schnörr & Steidl (2005), Tables II to VI, and VII and VIII on data of the same shape."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dcprog import datasets
from dcprog.datasets import TABLE_I
from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.methods import METHODS, find, with_solver
from dcprog.studies.papers import ground_truth, organs
from dcprog.studies.protocol import TENFOLD, THIRDS, Protocol
from dcprog.studies.published import Entry, published
from dcprog.studies.statistics import mean_and_variance
from dcprog.studies.study import Row, Study, Table, why_absent

NAME = "neumann2005"
ALL_TEN = tuple(TABLE_I)
NINE = tuple(name for name in ALL_TEN if name != "microarray")
LINEAR = ("rlp", "svm", "svm_ranking", "fsv", "l2_l1_svm", "l2_l0_svm")
NONLINEAR = ("gaussian_svm", "quadratic_fsv", "alignment")


@dataclass(frozen=True)
class Classified(Table):
    """A table of errors and features: averages over the splits of a protocol."""

    protocol: Protocol
    quantities: tuple[str, ...]
    solver: str | None = None
    """Of all methods that have such a parameter; by default each as the method says."""

    def with_solver(self, solver: str) -> Table:
        return replace(self, solver=solver)

    def method_title(self, method: str) -> str:
        return METHODS[method].title

    def absent(self, data: str) -> str | None:
        return why_absent(datasets.load, data)

    def tasks(self, data: Sequence[str], methods: Sequence[str]) -> list[Task]:
        tasks: list[Task] = []
        for name in data:
            loaded = datasets.load(name)
            for method in methods:
                entry = find(method)
                if self.feasible(name, method):
                    n, d = loaded.X.shape
                    machine, about = entry.machine(self.protocol.grids, d), ""
                    if self.solver is not None:
                        machine, about = with_solver(machine, self.solver), f"solver {self.solver}"
                    tasks += self.protocol.tasks(loaded, method, machine, entry.cost(n, d), about)
        return tasks

    def feasible(self, data: str, method: str) -> bool:
        """Quadratic FSV on musk is "not given due to the high problem dimension"."""
        most = METHODS[method].most_features
        return most is None or TABLE_I[data].d <= most

    def finished(self, results: Mapping[Cell, Result], data: str, method: str) -> list[Result]:
        cells = (Cell(self.protocol.name, data, method, i) for i in range(self.protocol.n_splits))
        return [results[cell] for cell in cells if cell in results]

    def rows(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> list[Row]:
        return [
            self._figure(self.finished(results, name, method), name, method, quantity)
            for name in data
            for method in methods
            if self.feasible(name, method)
            for quantity in self._quantities(method)
        ]

    def _quantities(self, method: str) -> list[str]:
        """Columns of the method: only those that the paper prints for it somewhere."""
        known = {(entry.method, entry.quantity) for entry in published(self.study) if entry.table == self.number}
        return [quantity for quantity in self.quantities if (method, quantity) in known]

    def _figure(self, found: list[Result], data: str, method: str, quantity: str) -> Row:
        wanted = self.protocol.n_splits
        if len(found) < wanted:
            return self.row(data, method, quantity, None, None, f"{len(found)} of {wanted} splits")
        errors = [100.0 * result["error"] for result in found]
        if quantity == "variance":  # of errors as fractions, in percent
            return self.row(data, method, quantity, mean_and_variance(errors)[1] / 100.0, None)
        values = errors if quantity == "error" else [_value(result, quantity) for result in found]
        ours, variance = mean_and_variance(values)
        return self.row(data, method, quantity, ours, self._spread(data, method, quantity, variance))

    def _spread(self, data: str, method: str, quantity: str, variance: float) -> float:
        """Standard error of the difference. The paper prints variances of errors; those of other figures are taken as ours.

        Table II is one split, so that its figure varies as a single one of ours does.
        """
        n = self.protocol.n_splits
        if not self.protocol.folds:
            return float(np.sqrt(variance * (1.0 + 1.0 / n)))
        theirs = published(self.study).get(Entry(self.number, data, method, "variance"))
        of_paper = 100.0 * (theirs.value + theirs.rounding) if theirs is not None and quantity == "error" else variance
        return float(np.sqrt((variance + of_paper) / n))


def _value(result: Result, quantity: str) -> float:
    """A figure of one split; λ*, ln µ* and ln ν* are the parameters that were chosen on it."""
    if quantity == "lam":
        return float(result["parameters"]["lam"])
    if quantity.startswith("ln_"):
        return math.log(result["parameters"][quantity.removeprefix("ln_")])
    return float(result[quantity])


@dataclass(frozen=True)
class Times(Classified):
    """Table V: CPU time of the final training relative to the fastest method, on average over the splits."""

    def note(self) -> str:
        return "Times are relative to the fastest of the methods that were run."

    def rows(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        for name in data:
            found = {m: self.finished(results, name, m) for m in methods if self.feasible(name, m)}
            wanted = self.protocol.n_splits
            seconds = {m: np.mean([r["seconds"] for r in got]) for m, got in found.items() if len(got) == wanted}
            fastest = min(seconds.values(), default=np.nan)
            for method, got in found.items():
                note = "" if method in seconds else f"{len(got)} of {wanted} splits"
                ours = float(seconds[method] / fastest) if method in seconds else None
                rows.append(self.row(name, method, "time", ours, None, note))
        return rows


TABLES = (
    Classified(
        NAME,
        "2",
        "one split into thirds, linear classifiers",
        ALL_TEN,
        LINEAR,
        THIRDS,
        ("features", "error", "lam", "ln_mu", "ln_nu"),
    ),
    Classified(
        NAME, "3", "tenfold cross-validation, linear classifiers", NINE, LINEAR, TENFOLD, ("features", "error", "variance")
    ),
    Classified(
        NAME,
        "4",
        "tenfold cross-validation, nonlinear classifiers",
        NINE,
        NONLINEAR,
        TENFOLD,
        ("features", "error", "variance", "support", "iterations"),
    ),
    Times(NAME, "5", "time of the final training, relative to the fastest", NINE, LINEAR + NONLINEAR, TENFOLD, ("time",)),
    Classified(
        NAME, "6", "tenfold cross-validation, alignment with λ = 0", NINE, ("alignment_0",), TENFOLD, ("features", "error")
    ),
)
STUDY = Study(
    NAME,
    "Neumann, Schnörr & Steidl, Machine Learning 61 (2005), 129–150",
    {table.number: table for table in (*TABLES, *organs.TABLES)},
    ("Tables VII and VIII are about CT scans that are not public; a generator of the same shape stands in for them.",),
    {figure.number: figure for figure in ground_truth.FIGURES},
)

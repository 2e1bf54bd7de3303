"""What a paper's study is: tables, each a set of cells to compute and a way to set them beside the printed figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcprog.errors import DataError, unknown_name
from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.illustration import Illustration
from dcprog.studies.published import Entry, Figure, published

EXPLAINED = 2.0
"""Differences within so many standard errors are explained by the variance over the splits."""


@dataclass(frozen=True)
class Row:
    """A figure of a table, printed and computed.

    ``spread`` is the standard error of the difference, from the variance over the splits; None where it is unknown.
    """

    table: str
    data: str
    method: str
    quantity: str
    paper: Figure | None
    ours: float | None
    spread: float | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        return None if self.paper is None or self.ours is None else self.ours - self.paper.value

    @property
    def outside(self) -> bool:
        """Whether the difference is more than rounding and the variance over splits explain, if the figure is certain.

        >>> Row("3", "liver", "fsv", "error", Figure(36.2), 40.0, spread=1.0).outside
        True
        """
        return self.comparable and abs(self.difference or 0.0) > (self.explained or 0.0)

    @property
    def explained(self) -> float | None:
        """The largest difference that rounding and two standard errors explain; None where no certain figure is printed."""
        if self.spread is None or self.paper is None or not self.paper.sure:
            return None
        return EXPLAINED * self.spread + self.paper.rounding + 1e-9

    @property
    def comparable(self) -> bool:
        return self.difference is not None and self.explained is not None

    def to_dict(self) -> dict[str, Any]:
        return {
            "table": self.table,
            "data": self.data,
            "method": self.method,
            "quantity": self.quantity,
            "paper": None if self.paper is None else self.paper.value,
            "ours": self.ours,
            "difference": self.difference,
            "spread": self.spread,
            "outside": self.outside,
            "sure": self.paper is None or self.paper.sure,
            "note": self.note,
        }


@dataclass(frozen=True)
class Table(ABC):
    """A published table."""

    study: str
    number: str
    title: str
    data: tuple[str, ...]
    methods: tuple[str, ...]

    @abstractmethod
    def tasks(self, data: Sequence[str], methods: Sequence[str]) -> list[Task]:
        """The cells to compute for these lines and columns."""

    @abstractmethod
    def rows(self, results: Mapping[Cell, Result], data: Sequence[str], methods: Sequence[str]) -> list[Row]:
        """The figures, as far as their cells are finished."""

    @abstractmethod
    def absent(self, data: str) -> str | None:
        """Why this data is not here and how to get it; None if it is."""

    def method_title(self, method: str) -> str:
        return method

    def with_solver(self, solver: str) -> Table:
        """The same table, computed with another solver."""
        raise DataError(
            f"table {self.number} of {self.study} says itself which solvers it takes: leave solver out, or this table"
        )

    def note(self) -> str:
        """What to know when comparing with the printed table, such as other data; empty if there is nothing."""
        return ""

    def row(self, data: str, method: str, quantity: str, ours: float | None, spread: float | None, note: str = "") -> Row:
        paper = published(self.study).get(Entry(self.number, data, method, quantity))
        return Row(self.number, data, method, quantity, paper, ours, spread, note)


def why_absent(load: Callable[[str], Any], data: str) -> str | None:
    """Why ``load`` cannot give this data set; None if it can."""
    try:
        load(data)
    except DataError as error:
        return str(error)
    return None


@dataclass(frozen=True)
class Study:
    """A paper: its name here, how to cite it, tables by number, remarks, as on data that are not available, and figures."""

    name: str
    citation: str
    tables: Mapping[str, Table]
    remarks: tuple[str, ...] = field(default=())
    figures: Mapping[str, Illustration] = field(default_factory=dict)

    def table(self, number: str) -> Table:
        if number not in self.tables:
            raise unknown_name(f"table of {self.name}", number, self.tables)
        return self.tables[number]

    def figure(self, number: str) -> Illustration:
        if number not in self.figures:
            raise unknown_name(f"figure of {self.name}", number, self.figures)
        return self.figures[number]

"""The figures that the papers print, as data of this package: ``tables/<study>.csv``."""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources
from typing import NamedTuple


class Entry(NamedTuple):
    """Where a figure stands."""

    table: str
    data: str
    method: str
    quantity: str


class Figure(NamedTuple):
    """A printed number; ``sure`` is False where the copy at hand is hard to read, or the paper contradicts itself."""

    value: float
    sure: bool = True
    decimals: int = 1

    @property
    def rounding(self) -> float:
        """Half a unit of the last printed digit."""
        return float(0.5 * 10.0**-self.decimals)


@cache
def published(study: str) -> dict[Entry, Figure]:
    """All figures of a paper.

    >>> published("neumann2005")[Entry("3", "liver", "fsv", "features")]
    Figure(value=2.1, sure=True, decimals=1)
    """
    text = resources.files("dcprog.studies").joinpath("tables").joinpath(f"{study}.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {Entry(r["table"], r["data"], r["method"], r["quantity"]): _figure(r["value"], r["sure"]) for r in rows}


def _figure(text: str, sure: str) -> Figure:
    return Figure(float(text), sure == "yes", len(text.partition(".")[2]))

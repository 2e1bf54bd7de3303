"""What each benchmark writes with ``--json``, as lines of one table.

``python -m benchmarks.rows FILE`` prints the lines of a file that a benchmark wrote; the file is called as the benchmark is.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Line:
    """A figure, and its ratio to the one that it is compared with."""

    benchmark: str
    case: str
    method: str
    quantity: str
    value: float
    ratio: float | None = None
    reference: str = ""


Rows = Any
"""Whatever the benchmark's JSON holds."""


def against(benchmark: str, rows: Rows, case: str, reference: str | None = None) -> Iterator[Line]:
    """Seconds of several methods on each case, as ratios to one of them, by default to the first."""
    known = [row for row in rows if math.isfinite(row["seconds"])]
    for title, those in groupby(known, key=lambda row: row[case]):
        group = list(those)
        base = next((row for row in group if row["method"] == reference), group[0])
        for row in group:
            compared = row is not base and base["seconds"] > 0
            ratio, to = (row["seconds"] / base["seconds"], base["method"]) if compared else (None, "")
            yield Line(benchmark, title, row["method"], "seconds", row["seconds"], ratio, to)


def plain(benchmark: str, rows: Rows, case: str, method: str) -> Iterator[Line]:
    """Seconds that are compared with nothing."""
    for row in rows:
        yield Line(benchmark, row[case], str(row[method]), "seconds", row["seconds"])


def selectors(rows: Rows) -> Iterator[Line]:
    for row in rows:
        yield Line("selectors", row["data"], row["selector"], "CPU seconds", row["dcprog"])
        ratio = row["peer"] / row["dcprog"] if row["dcprog"] > 0 else None
        yield Line("selectors", row["data"], f"{row['selector']}, peer", "CPU seconds", row["peer"], ratio, "dcprog")


def algorithms(rows: Rows) -> Iterator[Line]:
    from benchmarks.algorithms import summary

    for row in summary(rows):
        figures = {
            "subproblems, median ratio": row["subproblems"][1],
            "CPU seconds of all, ratio": row["total"],
            "runs with a lower f": row["better"],
            "runs with a higher f": row["worse"],
        }
        for quantity, value in figures.items():
            yield Line("algorithms", row["group"], row["algorithm"], quantity, value, None, "dca")


def weston2003(rows: Rows) -> Iterator[Line]:
    for row in rows:
        ratio = row["error"] / row["published"]
        yield Line("weston2003", f"{row['points']} points", row["method"], "test error %", row["error"], ratio, "published")


def readings(rows: Rows) -> Iterator[Line]:
    for row in rows:
        case = f"{row['source']}, scaled over {row['scaled_over']}, CORR {row['score']}"
        for name, ours, theirs in zip(row["figures"], row["errors"], row["published"], strict=True):
            yield Line("weston2003_readings", case, name, "test error %", ours, ours / theirs, "published")


def radius_margin(found: Rows) -> Iterator[Line]:
    for data, figures in found.get("fortuna", {}).items():
        for features, ours, theirs in zip(("PCA", "basis"), figures["ours"], figures["paper"], strict=True):
            for quantity, mine, other in zip(figures["quantities"], ours, theirs, strict=True):
                yield Line("radius_margin", data, features, quantity, mine, mine / other if other else None, "published")
    for title, row in found.get("weston", {}).items():
        problem, _, method = title.partition(", ")
        yield Line("radius_margin", problem, method, "test error %", 100 * row["error"])


def suites(rows: Rows) -> Iterator[Line]:
    """Of each kind, what share of its instances is at the best known value from any start, beside the peer's."""
    for kind in dict.fromkeys(row["kind"] for row in rows):
        those = [row for row in rows if row["kind"] == kind]
        found = {m: sum(any(end["hit"] for end in row.get(m) or []) for row in those) for m in ("ipopt", "dcprog")}
        yield Line("suites", kind, "ipopt", "at best known", found["ipopt"] / len(those))
        ratio = found["dcprog"] / found["ipopt"] if found["ipopt"] else None
        yield Line("suites", kind, "dcprog", "at best known", found["dcprog"] / len(those), ratio, "ipopt")


def dc_constraints(rows: Rows) -> Iterator[Line]:
    """Mean CPU seconds of a start, beside the peer's, and the best objective of all starts of each."""
    from benchmarks.dc_constraints import summary

    for row in summary(rows):
        yield Line("dc_constraints", row["problem"], row["method"], "CPU seconds a start", row["seconds"], row["times"],
                   "dcprog" if row["times"] is not None else "")  # fmt: skip
        yield Line("dc_constraints", row["problem"], row["method"], "best objective", row["best"])


READERS: dict[str, Callable[[Rows], Iterator[Line]]] = {
    "algorithms": algorithms,
    "alignment": lambda rows: against("alignment", rows, "problem", "auto"),
    "alignment_sweep": lambda rows: against("alignment_sweep", rows, "problem"),
    "dc_constraints": dc_constraints,
    "large": lambda rows: plain("large", rows, "case", "method"),
    "linear": lambda rows: against("linear", rows, "problem"),
    "nlpsvm": lambda rows: against("nlpsvm", rows, "case"),
    "radius_margin": radius_margin,
    "selectors": selectors,
    "several_classes": lambda rows: against("several_classes", rows, "case", "ovr"),
    "solvers": lambda rows: against("solvers", rows, "problem"),
    "sparse_regression": lambda rows: against("sparse_regression", rows, "problem", "skglm"),
    "suites": suites,
    "sweep": lambda rows: plain("sweep", rows, "data", "method"),
    "tuning": lambda rows: against("tuning", rows, "data"),
    "weston2003": weston2003,
    "weston2003_readings": readings,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    path = parser.parse_args().file
    for line in READERS[path.stem](json.loads(path.read_text(encoding="utf-8"))):
        print(line)


if __name__ == "__main__":
    main()

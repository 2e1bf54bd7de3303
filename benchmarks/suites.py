"""dcprog on public non-convex problems with known best values, beside Ipopt with exact derivatives from the same starts.

    python -m benchmarks.suites [--suites DIRECTORY] [--starts 20] [--only WORD] [--kind WORD] [--json FILE]

Every instance is a plain Pyomo model that ``dcprog.from_pyomo`` decomposes; no local solver but the peer sees the non-convex
problem. Counted are: stated (a DC program was made of it), and, of one start (the file's, then a neutral one) and of the
best of several, what is feasible to 1e-6 and at the best known value (gap < 1e-5), values and violations from the model
itself. With several starts a method goes on until it is there. The data lie beside the clone (../shared/suites) and are no
part of dcprog; where they are absent that is said in one line.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyomo.environ as pyo

import dcprog
from benchmarks import run
from benchmarks.ipopt_peer import Nonconvex, ipopt
from dcprog.algorithms.random_starts import spread
from dcprog.errors import DataError, DCProgError
from dcprog.typing import Matrix, Vector

HOME = Path(__file__).parents[2] / "shared" / "suites"
FEASIBLE, AT_BEST = 1e-6, 1e-5
STARTS = ("given", "neutral")
BOUNDLESS = 10.0
"""Half the width in which random starts of a variable without bounds lie."""


class Instance(NamedTuple):
    """A problem by name, the model of it, and how far a value lies above the best known one."""

    name: str
    kind: str
    model: Callable[[], Any]
    gap: Callable[[float], float]


def instances(home: Path) -> Iterator[Instance]:
    """All of both suites."""
    if not (home / "load.py").is_file():
        raise DataError(f"{home} has no suites: pass --suites with the directory that holds load.py")
    spec = importlib.util.spec_from_file_location("suites_data", home / "load.py")
    if spec is None or spec.loader is None:
        raise DataError(f"{home / 'load.py'} cannot be read: pass --suites with the directory of the suites")
    data = importlib.util.module_from_spec(spec)
    sys.modules["suites_data"] = data
    spec.loader.exec_module(data)
    for problem in data.minlplib():
        yield Instance(problem.name, problem.kind, problem.model, problem.gap)
    for name, Q, c, best in data.boxqp():
        yield Instance(name, "BoxQP", lambda Q=Q, c=c: box_qp(Q, c), lambda f, best=best: (best - f) / max(1.0, abs(best)))


def box_qp(Q: Matrix, c: Vector) -> Any:
    """max ½x'Qx + c'x over the unit box."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(len(c)), bounds=(0, 1))
    at = np.argwhere(np.triu(Q)).tolist()
    square = sum((0.5 if i == j else 1.0) * Q[i, j] * m.x[i] * m.x[j] for i, j in at)
    m.obj = pyo.Objective(expr=square + sum(c[i] * m.x[i] for i in range(len(c))), sense=pyo.maximize)
    return m


def neutral(box: Matrix) -> Vector:
    """The middle of the box, a bound and 1, or 0."""
    low, high = box.T
    one_sided = np.where(np.isfinite(low), low + 1, np.where(np.isfinite(high), high - 1, 0.0))
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(high - low), (low + high) / 2, one_sided)


def starting_points(problem: Nonconvex, count: int) -> list[Vector]:
    """The file's start, the neutral one, and random ones."""
    own = np.array([np.nan if v.value is None else v.value for v in problem.variables], dtype=float)
    middle = neutral(problem.box)
    given = np.clip(np.where(np.isnan(own), middle, own), *problem.box.T)
    low, high = problem.box.T
    rest = spread(low, high, middle, max(count - 2, 0), np.random.default_rng(0))
    return [given, middle, *rest]


class End(NamedTuple):
    """How a method fared from one start."""

    gap: float
    violation: float
    seconds: float
    status: str

    @property
    def feasible(self) -> bool:
        return self.violation <= FEASIBLE

    @property
    def hit(self) -> bool:
        return self.feasible and self.gap < AT_BEST


def ended(instance: Instance, problem: Nonconvex, solve: Callable[[], tuple[Vector, str]]) -> End:
    began = time.process_time()
    try:
        x, status = solve()
    except Exception as error:
        return End(np.inf, np.inf, time.process_time() - began, f"{type(error).__name__}: {error}")
    seconds = time.process_time() - began
    if not np.isfinite(x).all():
        return End(np.inf, np.inf, seconds, status)
    return End(instance.gap(problem.objective(x)), problem.violation(x), seconds, status)


def runs(instance: Instance, problem: Nonconvex, points: list[Vector], solve: Callable[[Vector], tuple[Vector, str]]) -> Any:
    """The ends from the first two starts, and from as many of the others as it takes."""
    ends: list[End] = []
    for k, x0 in enumerate(points):
        if k < len(STARTS) or not any(end.hit for end in ends):
            ends.append(ended(instance, problem, lambda x0=x0: solve(x0)))
    return ends


def measured(instance: Instance, given: argparse.Namespace) -> dict[str, Any]:
    """One row: both methods on one instance."""
    model = instance.model()
    problem = Nonconvex(model)
    points = starting_points(problem, given.starts)
    row: dict[str, Any] = {"name": instance.name, "kind": instance.kind, "variables": len(problem.variables)}
    began = time.process_time()
    try:
        program = dcprog.from_pyomo(model, method=given.method)
        row["error"] = None
    except Exception as error:
        program, row["error"] = None, f"{type(error).__name__}: {error}"
        row["one_sentence"] = isinstance(error, DCProgError) and "\n" not in str(error)
    row["seconds_to_state"] = time.process_time() - began
    solvers: dict[str, Callable[[Vector], tuple[Vector, str]]] = {}
    if program is not None:
        place = {id(v): i for i, v in enumerate(problem.variables)}
        order = np.array([place[id(v)] for v in program.compiled.variables])

        def ours(x0: Vector) -> tuple[Vector, str]:
            result = dcprog.solve(program, x0=x0[order], algorithm=given.algorithm, time_limit=given.limit)
            x = x0.copy()
            x[order] = result.x
            return x, str(result.status)

        solvers["dcprog"] = ours
    if not given.alone:
        solvers["ipopt"] = lambda x0: (ipopt(problem, x0, given.limit), "")
    for method, solve in solvers.items():
        row[method] = [
            end._asdict() | {"hit": end.hit, "feasible": end.feasible} for end in runs(instance, problem, points, solve)
        ]
    return row


def line(row: dict[str, Any]) -> str:
    parts = [f"{row['name']:28} {row['kind']:22} n={row['variables']:3}"]
    if row["error"]:
        parts.append(f"not stated: {row['error']}")
    for method in ("dcprog", "ipopt"):
        ends = row.get(method) or []
        first = " ".join(f"{'*' if e['hit'] else ' '}{e['gap']:9.1e}{'' if e['feasible'] else '!'}" for e in ends[:2])
        some = "hit" if any(e["hit"] for e in ends) else "-"
        status = f" {ends[0]['status'][:60]}" if method == "dcprog" and ends else ""
        parts.append(f"{method} {first} {some}@{len(ends)} {sum(e['seconds'] for e in ends):.2f}s{status}")
    return " | ".join(parts)


def table(rows: list[dict[str, Any]]) -> str:
    """Counts by kind."""
    head = "| kind | method | instances | stated | " + " | ".join(f"feasible, {s} | at best, {s}" for s in STARTS)
    text = [head + " | feasible, all starts | at best, all starts | s |", "|---|---|" + "---|" * 9]
    kinds = Counter(row["kind"] for row in rows)
    for kind in [*kinds, "all"]:
        those = [row for row in rows if kind in (row["kind"], "all")]
        for method in ("dcprog", "ipopt"):
            found = [row.get(method) or [] for row in those]
            if not any(found):
                continue
            stated = sum(row["error"] is None for row in those) if method == "dcprog" else len(those)
            counts = [sum(bool(e) and e[k][what] for e in found) for k in range(2) for what in ("feasible", "hit")]
            counts += [sum(any(x[what] for x in e) for e in found) for what in ("feasible", "hit")]
            seconds = sum(x["seconds"] for e in found for x in e)
            numbers = " | ".join(map(str, [len(those), stated, *counts]))
            text.append(f"| {kind} | {method} | {numbers} | {seconds:.1f} |")
    return "\n".join(text)


def suspicious(rows: list[dict[str, Any]]) -> list[str]:
    """Feasible points that are better than the best known, and errors that are no sentence."""
    better = [
        f"{row['name']}: better than the best known value by {-e['gap']:.2g} (violation {e['violation']:.1g})"
        for row in rows
        for e in (row.get("dcprog") or [])
        if e["feasible"] and e["gap"] < -AT_BEST
    ]
    return better + [f"{row['name']}: {row['error']}" for row in rows if row["error"] and not row["one_sentence"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suites", type=Path, default=HOME, help="the directory of the data")
    parser.add_argument("--starts", type=int, default=20, help="starts, the first two among them")
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="names that contain one of the words")
    parser.add_argument("--kind", default="", metavar="WORD", help="kinds that contain the word")
    parser.add_argument("--every", type=int, default=1, help="each so many-th instance only")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for each run")
    parser.add_argument("--method", default="auto", help="how to decompose")
    parser.add_argument("--algorithm", default="auto")
    parser.add_argument("--alone", action="store_true", help="without Ipopt")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    rows = []
    chosen = [i for i in instances(given.suites) if given.kind in i.kind and any(word in i.name for word in given.only)]
    for instance in chosen[:: given.every]:
        rows.append(measured(instance, given))
        print(line(rows[-1]), flush=True)
        if given.json:
            with contextlib.suppress(TypeError):
                given.json.write_text(json.dumps(rows, indent=1, default=float))
    print(table(rows))
    print("\n".join(suspicious(rows)) or "nothing is better than the best known value, and every error is one sentence")


if __name__ == "__main__":
    run(main)

"""Algorithms side by side: subproblems, CPU seconds and what f they end at, from the given start and from random ones.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.algorithms [--quick] [--groups NAME …] [--json FILE]

Groups: ten DC problems with known answers (``dc``), the models on data sets (``models``), the tutorial's clustering
(``clustering``), and BoxQP of Vandenbussche & Nemhauser / Burer (``boxqp``, from boxqp.npz beside the data, else left out),
with −½x'Qx − c'x written as a difference by a shift of the diagonal. The same starts for each algorithm. CPU seconds of one
run, after one that is not counted. Distributions, not means: a boosted run may end elsewhere, and later.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyomo.environ as pyo

import dcprog
from benchmarks import run
from dcprog import datasets, models
from dcprog.functions import Quadratic

ALGORITHMS = ("dca", "boosted", "accelerated", "inertial", "proximal", "dstationary")
STARTS = 4
"""Random ones, beside the program's own."""
EQUAL = 1e-6
"""Objectives this near, relative to 1 + |f|, are the same."""
Case = tuple[str, str, Callable[[], dcprog.DCProgram]]


def dc_problems(quick: bool) -> Iterator[Case]:
    from tests.known_problems import PROBLEMS

    for name in list(PROBLEMS)[: 4 if quick else None]:
        yield "dc", name, lambda make=PROBLEMS[name]: make()[0]


def of_models(quick: bool) -> Iterator[Case]:
    factories: dict[str, Callable[[Any, Any], dcprog.DCProgram]] = {
        "fsv": lambda X, y: models.fsv(X, y, lam=0.1),
        "l2_l0_svm": lambda X, y: models.l2_l0_svm(X, y, mu=np.exp(5), nu=np.exp(-1)),
        "alignment": lambda X, y: models.alignment(X, y, lam=0.3),
        "mcp": lambda X, y: models.sparse_regression(X, y, lam=0.05),
        "scad": lambda X, y: models.sparse_regression(X, y, lam=0.05, penalty="scad"),
        "arom": lambda X, y: models.arom(X, y),  # these two ask for classes that a plane separates
        "l2_arom": lambda X, y: models.l2_arom(X, y),
    }
    cases = (
        {"liver": ("fsv", "l2_l0_svm", "mcp")} if quick else {"ionosphere": tuple(factories)[:-2], "sonar": tuple(factories)}
    )
    for data, names in cases.items():
        given = datasets.load(data, standardise=True)
        for name in names:
            yield "models", f"{name}, {data}", lambda make=factories[name], given=given: make(given.X, given.y)


def clustering_program(points: np.ndarray, k: int) -> dcprog.DCProgram:
    """Σ_p minⱼ ‖p − cⱼ‖² = Σ_p Σⱼ ‖p − cⱼ‖² − Σ_p maxⱼ Σ_{i≠j} ‖p − cᵢ‖², from k of the points."""
    first = points[np.random.default_rng(1).choice(len(points), k, replace=False)]
    m = pyo.ConcreteModel()
    m.c = pyo.Var(range(k), range(points.shape[1]), initialize=lambda m, j, d: first[j, d])
    squares = [[sum((m.c[j, d] - p[d]) ** 2 for d in range(len(p))) for j in range(k)] for p in points]
    g = sum(sum(row) for row in squares)
    h = sum(dcprog.maximum(*(sum(row) - square for square in row)) for row in squares)
    return dcprog.DCProgram(m, g=g, h=h, name="clustering")


def clusterings(quick: bool) -> Iterator[Case]:
    for count, k in ((60, 3),) if quick else ((500, 5), (200, 3)):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(k, 2))[rng.integers(k, size=count)] * 4 + rng.normal(size=(count, 2))
        yield "clustering", f"{count} points, {k} centres", lambda points=points, k=k: clustering_program(points, k)


def boxqps(quick: bool) -> Iterator[Case]:
    file = Path(os.environ.get("DCPROG_DATA", ".")).parent / "suites" / "boxqp.npz"
    if not file.exists():
        return
    known = np.load(file)
    names = sorted({key.split("/")[0] for key in known.files})
    for name in names[:2] if quick else names[::6]:
        yield "boxqp", name, lambda Q=known[f"{name}/Q"], c=known[f"{name}/c"]: boxqp(Q.astype(float), c.astype(float))


def boxqp(Q: np.ndarray, c: np.ndarray) -> dcprog.DCProgram:
    """max ½x'Qx + c'x over [0, 1]ⁿ as g = ½s‖x‖² − c'x and h = ½x'(Q + sI)x, s the least that makes h convex."""
    n, shift = len(c), max(0.0, -float(np.linalg.eigvalsh(Q)[0])) * (1 + 1e-9)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(0, 1), initialize=0.5)
    g = Quadratic(shift * np.eye(n), q=-c)(m.x)
    return dcprog.DCProgram(m, g=g, h=Quadratic(Q + shift * np.eye(n))(m.x), name="boxqp")


GROUPS = {"dc": dc_problems, "models": of_models, "clustering": clusterings, "boxqp": boxqps}


def starts(program: dcprog.DCProgram, count: int) -> list[Any]:
    """The program's own start, and random points of C."""
    return [None, *dcprog.testing.feasible_points(program, count, np.random.default_rng(0))]


def measured(program: dcprog.DCProgram, algorithm: str, x0: Any) -> dict[str, Any]:
    began = time.process_time()
    try:
        result = dcprog.solve(program, algorithm=algorithm, x0=x0, time_limit=30.0)
    except dcprog.errors.DCProgError as error:
        return {"subproblems": 0, "seconds": np.inf, "objective": np.inf, "status": type(error).__name__}
    seconds = time.process_time() - began
    return {
        "subproblems": result.subproblems,
        "seconds": seconds,
        "objective": float(result.objective),
        "status": str(result.status),
    }


def compared(case: Case, algorithms: tuple[str, ...], count: int) -> list[dict[str, Any]]:
    group, name, make = case
    program = make()
    points, rows = starts(program, count), []
    measured(program, "dca", None)  # what is loaded or compiled on first use
    for i, x0 in enumerate(points):
        for algorithm in algorithms:
            rows.append(
                {"group": group, "problem": name, "start": i, "algorithm": algorithm} | measured(program, algorithm, x0)
            )
    return rows


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each group and algorithm quartiles of the ratios to DCA, and how often f is lower, the same or higher."""
    base = {(r["group"], r["problem"], r["start"]): r for r in rows if r["algorithm"] == "dca"}
    pairs = defaultdict(list)
    for row in rows:
        pairs[row["group"], row["algorithm"]].append((row, base[row["group"], row["problem"], row["start"]]))
    found = []
    for (group, algorithm), both in pairs.items():
        fine = [(a, b) for a, b in both if np.isfinite(a["objective"]) and np.isfinite(b["objective"])]
        lower = [(b["objective"] - a["objective"]) / (1 + abs(b["objective"])) for a, b in fine]
        ratio = {
            what: [float(q) for q in np.quantile([a[what] / max(b[what], 1e-12) for a, b in fine], (0.25, 0.5, 0.75, 1.0))]
            for what in ("subproblems", "seconds")
        }
        found.append(
            {
                "group": group,
                "algorithm": algorithm,
                "runs": len(both),
                "ended": sum(a["status"] == "converged" for a, _ in both),
                "better": sum(d > EQUAL for d in lower),
                "equal": sum(abs(d) <= EQUAL for d in lower),
                "worse": sum(d < -EQUAL for d in lower) + len(both) - len(fine),
                **ratio,
                "total": sum(a["seconds"] for a, _ in fine) / max(sum(b["seconds"] for _, b in fine), 1e-12),
            }
        )
    return found


def quartiles(values: list[float]) -> str:
    return " / ".join(f"{v:.2g}" for v in values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a few small cases of each group")
    parser.add_argument("--groups", nargs="+", default=list(GROUPS), choices=list(GROUPS), metavar="NAME")
    parser.add_argument("--algorithms", nargs="+", default=ALGORITHMS, metavar="NAME")
    parser.add_argument("--starts", type=int, default=STARTS, help="random starts beside the program's own")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    chosen = ("dca", *(name for name in given.algorithms if name != "dca"))
    rows: list[dict[str, Any]] = []
    for group in given.groups:
        for case in GROUPS[group](given.quick):
            rows += compared(case, chosen, 1 if given.quick else given.starts)
            if given.json:
                given.json.write_text(json.dumps(rows, indent=1))
    print("Ratios to DCA from the same start: quartiles and the largest; f better, equal, worse")
    print("| group | algorithm | converged | subproblems | CPU seconds | of all | f |")
    print("|---|---|---|---|---|---|---|")
    for row in summary(rows):
        print(
            f"| {row['group']} | {row['algorithm']} | {row['ended']} of {row['runs']} | {quartiles(row['subproblems'])} | "
            f"{quartiles(row['seconds'])} | {row['total']:.2g} | {row['better']}, {row['equal']}, {row['worse']} |"
        )


if __name__ == "__main__":
    run(main)

"""Problems with DC constraints: the penalty algorithm beside dccp, a start against a start.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks.dc_constraints [--quick] [--only NAME …] [--json FILE]

Both get the same arrays and the same starts in one process, in turn, and build their models anew for each start: CPU seconds
on one thread from the arrays to the result, after a first run of each that imports and compiles what there is to compile.
dccp has one start (k_ccp=1), otherwise its own settings. Objectives and violations are computed by NumPy from the points.
A point is an answer if it violates nothing by more than 1e-6; one of dccp's by more than 1e-3, which is its own tolerance,
whatever it says of it. ``times`` is the ratio of the seconds for those starts that both ran. dccp gets at most
``--peer-limit`` CPU seconds a start and ``--gigabytes``.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import dcprog
from benchmarks import run
from benchmarks.dc_problems import Problem
from benchmarks.dc_problems.geometry import hexagon, packing, path_planning, vehicles
from benchmarks.dc_problems.signals import boolean_least_squares, fir_filter, phase_retrieval
from benchmarks.dc_problems.sparsity import (
    complementarity,
    nonnegative_pca,
    portfolio,
    reverse_convex_regression,
    sparse_recovery,
    sparse_singular_vector,
)

FEASIBLE = 1e-6
PEER_FEASIBLE = 1e-3
"""dccp's own tolerance of a slack."""
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "packing-10": lambda: packing(10),
    "packing-50": lambda: packing(50),
    "packing-200": lambda: packing(200),
    "boolean": boolean_least_squares,
    "path": path_planning,
    "vehicles": vehicles,
    "fir": fir_filter,
    "singular": sparse_singular_vector,
    "phase-16": lambda: phase_retrieval(16),
    "phase-128": lambda: phase_retrieval(128),
    "recovery": sparse_recovery,
    "regression": reverse_convex_regression,
    "hexagon": hexagon,
    "portfolio": portfolio,
    "pca": nonnegative_pca,
    "complementarity": complementarity,
}
HEAVY = frozenset({"packing-200", "phase-128", "vehicles", "packing-50"})
"""Where one start of dccp takes minutes, or more memory than there is."""
QUICK = ("packing-10", "singular", "regression")


@dataclass(frozen=True)
class Run:
    """What one method made of one start."""

    problem: str
    method: str
    start: int
    status: str
    objective: float
    violation: float
    seconds: float
    iterations: int = 0
    rebuilds: int = 0

    @property
    def counts(self) -> bool:
        """Whether the point is an answer."""
        return self.violation <= (FEASIBLE if self.method == "dcprog" else PEER_FEASIBLE)


class OutOfTime(Exception):
    """The peer has had its seconds."""


@contextmanager
def limited(seconds: float, gigabytes: float) -> Iterator[None]:
    """CPU seconds and memory of what runs inside."""

    def stop(*_: Any) -> None:
        raise OutOfTime

    known, before = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30), known[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, known)


def by_dcprog(name: str, problem: Problem, start: int) -> Run:
    """Build the model and solve it."""
    x0 = problem.start(np.random.default_rng(start))
    began = time.process_time()
    program = problem.ours()
    result = dcprog.solve(program, x0=x0)
    seconds = time.process_time() - began
    found = {v: np.asarray(result[v]) for v in x0}
    objective, violation = problem.judged(found)
    return Run(name, "dcprog", start, str(result.status), objective, violation, seconds, result.iterations, result.rebuilds)


def by_dccp(name: str, problem: Problem, start: int, seconds: float, gigabytes: float) -> Run:
    """The same in CVXPY."""
    import dccp  # noqa: F401 (registers the method)

    x0 = problem.start(np.random.default_rng(start))
    began = time.process_time()
    status = "error"
    objective = violation = math.nan
    try:
        with limited(seconds, gigabytes):
            peer, variables = problem.peer()
            for v, variable in variables.items():
                variable.value = np.reshape(x0[v], variable.shape)
            peer.solve(method="dccp", k_ccp=1)
        status = str(peer.status)
        if all(variable.value is not None for variable in variables.values()):
            found = {v: np.asarray(variable.value) for v, variable in variables.items()}
            objective, violation = problem.judged(found)
    except OutOfTime:
        status = "out of time"
    except MemoryError:
        status = "out of memory"
    except Exception as error:  # whatever a solver of CVXPY raises is no answer
        status = type(error).__name__
    return Run(name, "dccp", start, status, objective, violation, time.process_time() - began)


def summary(runs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """For each problem and method: the first start, the best of all, means, and how many times as fast dcprog is."""
    known = [Run(**row) for row in runs]
    for name in dict.fromkeys(row.problem for row in known):
        ours = [row for row in known if (row.problem, row.method) == (name, "dcprog")]
        theirs = [row for row in known if (row.problem, row.method) == (name, "dccp")]
        both = {row.start for row in theirs}
        paired = [row.seconds for row in ours if row.start in both]
        for method, those in (("dcprog", ours), ("dccp", theirs)):
            if not those:
                continue
            answers = [row for row in those if row.counts]
            best = min(answers, key=lambda row: row.objective, default=None)
            yield {
                "problem": name,
                "method": method,
                "starts": len(those),
                "answers": len(answers),
                "objective": those[0].objective,
                "mean": float(np.mean([row.objective for row in answers])) if answers else math.nan,
                "best": best.objective if best else math.nan,
                "violation": max((row.violation for row in answers), default=math.nan),
                "seconds": float(np.mean([row.seconds for row in those])),
                "rebuilds": sum(row.rebuilds for row in those),
                "times": sum(row.seconds for row in theirs) / sum(paired) if method == "dccp" and paired else None,
                "statuses": {s: sum(row.status == s for row in those) for s in dict.fromkeys(r.status for r in those)},
            }


def table(runs: list[dict[str, Any]]) -> str:
    """One line for each problem and method."""
    head = (
        f"{'problem':16} {'method':7} {'answers':>8} {'first':>11} {'mean':>11} {'best':>11} {'violation':>9} {'CPU s':>9}"
    )
    lines = [f"{head} {'times':>7} rebuilds  statuses"]
    for row in summary(runs):
        figures = " ".join(f"{row[k]:11.6g}" for k in ("objective", "mean", "best"))
        times = "" if row["times"] is None else f"{row['times']:.1f}"
        said = ", ".join(f"{status} {count}" for status, count in row["statuses"].items())
        lines.append(
            f"{row['problem']:16} {row['method']:7} {row['answers']:>3} / {row['starts']:<2} {figures} "
            f"{row['violation']:9.1e} {row['seconds']:9.4f} {times:>7} {row['rebuilds']:>8}  {said}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three small problems from three starts")
    parser.add_argument("--only", nargs="+", choices=list(PROBLEMS), metavar="NAME", help=", ".join(PROBLEMS))
    parser.add_argument("--starts", type=int, default=20, help="starts of dcprog")
    parser.add_argument("--peer-starts", type=int, default=20, help="how many of them dccp gets; one where it is slow")
    parser.add_argument("--peer-limit", type=float, default=300.0, help="CPU seconds of dccp for one start")
    parser.add_argument("--gigabytes", type=float, default=8.0, help="memory of the process while dccp runs")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    starts = 3 if given.quick else given.starts
    warm = packing(2)
    by_dcprog("", warm, 0)
    if given.peer_starts:
        by_dccp("", warm, 0, given.peer_limit, given.gigabytes)
    runs: list[dict[str, Any]] = []
    for name in given.only or (QUICK if given.quick else PROBLEMS):
        problem = PROBLEMS[name]()
        for start in range(starts):
            runs.append(asdict(by_dcprog(name, problem, start)))
            if start < (min(given.peer_starts, 1) if name in HEAVY else given.peer_starts):
                runs.append(asdict(by_dccp(name, problem, start, given.peer_limit, given.gigabytes)))
        lines = table([row for row in runs if row["problem"] == name]).splitlines()
        print("\n".join(lines[bool(runs[0]["problem"] != name) :]), flush=True)
    if given.json:
        given.json.write_text(json.dumps(runs, indent=1), encoding="utf-8")


if __name__ == "__main__":
    run(main)

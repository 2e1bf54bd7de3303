"""Every solver on the papers' subproblems: the figures behind ``auto`` (docs/solvers.md).

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.solvers [--limit SECONDS] [--only WORD] [--json FILE]

Whole DCA runs from the compiled program on, seconds; "–" where a solver declares that it cannot, ">" where it took longer
than the limit, "*" where its claims did not hold and another solver took over.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import dcprog
from benchmarks import run
from benchmarks.linear import real, synthetic
from dcprog.models import alignment, fsv, l2_l0_svm, rlp
from dcprog.solvers import registry

MU, NU = float(np.exp(5)), float(np.exp(-1))
PROBLEMS: dict[str, Callable[[], dcprog.DCProgram]] = {
    "FSV ionosphere (LP 351 x 68)": lambda: fsv(*real("ionosphere"), 0.1),
    "FSV pima (LP 768 x 16)": lambda: fsv(*real("pima"), 0.1),
    "FSV musk (LP 476 x 332)": lambda: fsv(*real("musk"), 0.1),
    "FSV microarray (LP 62 x 4000)": lambda: fsv(*real("microarray"), 0.1),
    "FSV 1000 x 650 (LP)": lambda: fsv(*synthetic(1000, 650), 0.1),
    "RLP musk (LP 476 x 167)": lambda: rlp(*real("musk")),
    "l2-l0 ionosphere (QP)": lambda: l2_l0_svm(*real("ionosphere"), MU, NU),
    "l2-l0 sonar (QP)": lambda: l2_l0_svm(*real("sonar"), MU, NU),
    "l2-l0 musk (QP)": lambda: l2_l0_svm(*real("musk"), MU, NU),
    "l2-l0 microarray (QP)": lambda: l2_l0_svm(*real("microarray"), MU, NU),
    "alignment sonar (NLP on a box)": lambda: alignment(*real("sonar"), 0.3),
    "alignment musk (NLP on a box)": lambda: alignment(*real("musk"), 0.3),
}


def cell(program: dcprog.DCProgram, solver: str, limit: float) -> tuple[str, float]:
    """What the table shows, and the seconds if the run came to its end."""
    if solver not in registry.CHOICES and registry.get(solver).missing(program.compiled.subproblem) is not None:
        return "–", math.nan
    began = time.perf_counter()
    result = dcprog.solve(program, solver=solver, time_limit=limit)
    seconds = time.perf_counter() - began
    if result.status == "time_limit":
        return f">{limit:g}", math.nan
    return f"{seconds:.3g}{'*' if result.messages else ''}", seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for each run")
    parser.add_argument("--only", default="", metavar="WORD", help="problems whose title contains the word")
    parser.add_argument("--json", type=Path, help="where to write the seconds as JSON")
    given = parser.parse_args()
    rows = []
    names = [*registry.CHOICES, *(s.name for s in dcprog.available_solvers() if s.available)]
    print("| problem | " + " | ".join(names) + " |")
    print("|---|" + "---|" * len(names))
    for title, make in PROBLEMS.items():
        if given.only in title:
            program = make()
            cells = [cell(program, name, given.limit) for name in names]
            print(f"| {title} | " + " | ".join(text for text, _ in cells) + " |", flush=True)
            rows += [{"problem": title, "method": n, "seconds": s} for n, (_, s) in zip(names, cells, strict=True)]
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)

"""Every linear and quadratic formulation on all data sets of Table I, over the whole published grid of section 5.2.2.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.sweep [--data NAME …] [--methods NAME …] [--json FILE]

For each it prints how many runs there were, how many did not converge, the worst verified residual, the worst rise of f, how
many messages (a message says that a solver failed and another took over), iterations and seconds. All but counts, iterations
and seconds should be zero or rounding. The quadratic feature map of musk and microarray is left out, as in the paper: it has
14 027 and 2 003 000 monomials.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import dcprog
from benchmarks import run
from dcprog import datasets
from dcprog.algorithms.result import Result
from dcprog.learning import grids
from dcprog.models import fsv, l1_svm, l2_l0_svm, l2_l1_svm, l2_l1_svm_dual, quadratic_fsv, rlp, svm, svm_dual

DATA = ("wpbc60", "wpbc24", "liver", "cleveland", "ionosphere", "pima", "bcw", "sonar", "musk", "microarray")
LAM, SVM_LAM, MU, NU = (list(values) for values in (grids.LAM_FSV, grids.LAM_SVM, grids.MU, grids.NU))

METHODS: dict[str, Callable[[Any, Any], Iterable[Result]]] = {
    "rlp": lambda X, y: [dcprog.solve(rlp(X, y))],
    "svm": lambda X, y: dcprog.path(svm, X, y, lam=SVM_LAM),
    "svm_dual": lambda X, y: dcprog.path(svm_dual, X, y, lam=SVM_LAM),
    "l1_svm": lambda X, y: dcprog.path(l1_svm, X, y, lam=LAM),
    "fsv": lambda X, y: dcprog.path(fsv, X, y, lam=LAM),
    "l2_l1_svm": lambda X, y: dcprog.path(l2_l1_svm, X, y, mu=MU, nu=NU),
    "l2_l1_svm_dual": lambda X, y: dcprog.path(l2_l1_svm_dual, X, y, mu=MU, nu=NU),
    "l2_l0_svm": lambda X, y: dcprog.path(l2_l0_svm, X, y, mu=MU, nu=NU),
    "quadratic_fsv": lambda X, y: dcprog.path(quadratic_fsv, X, y, lam=LAM),
}
TOO_LARGE = {("quadratic_fsv", "musk"), ("quadratic_fsv", "microarray")}


def summary(results: list[Result], seconds: float) -> dict[str, float]:
    records = [record for r in results for record in r.history[1:]]
    rises = [float(np.diff([h.f for h in r.history]).max(initial=0.0)) for r in results]
    return {
        "runs": len(results),
        "not_converged": sum(not r.success for r in results),
        "residual": max(max(h.primal_residual, h.dual_residual, h.gap_residual) for h in records),
        "rise": max(0.0, *rises),
        "messages": sum(len(r.messages) for r in results),
        "iterations": sum(r.iterations for r in results),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", choices=DATA, default=list(DATA))
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    print("data        method           runs failed  residual      rise notes   iter  seconds")
    for name in arguments.data:
        data = datasets.load(name, standardise=True)
        for method in arguments.methods:
            if (method, name) in TOO_LARGE:
                continue
            began = time.perf_counter()
            results = list(METHODS[method](data.X, data.y))
            row = summary(results, time.perf_counter() - began)
            rows.append({"data": name, "method": method, **row})
            print(
                f"{name:11} {method:15} {row['runs']:5} {row['not_converged']:6} {row['residual']:9.1e} {row['rise']:9.1e} "
                f"{row['messages']:5} {row['iterations']:6} {row['seconds']:8.2f}",
                flush=True,
            )
            for note in sorted({m.partition(": ")[2] for r in results for m in r.messages})[:3]:
                print(f"            {note}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)

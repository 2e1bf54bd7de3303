"""Kernel-target alignment on the data sets of Table IV, over the published grid of λ (section 5.2.2), from θ⁰ = e/2.

    DCPROG_DATA=… python -m benchmarks.alignment_sweep [--solver NAME …] [--data NAME …] [--warm] [--json FILE]

Prints a line per data set, λ and solver. A run that does not converge, a residual above 1e-6, an ascent, or objectives of
the solvers that differ by more than 1e-8 are marked, and make the exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import dcprog
from benchmarks import run
from dcprog.datasets import load
from dcprog.models.alignment import alignment

SETS = ["wpbc60", "wpbc24", "liver", "cleveland", "ionosphere", "pima", "bcw", "sonar", "musk"]
GRID = np.arange(10) / 10
HEADER = (
    f"{'data':11}{'λ':>4}  {'solver':8}{'iterations':>10}{'features':>9}{'objective':>17}{'gap':>9}{'residual':>10}{'s':>8}"
)


def line(name: str, lam: float, solver: str, result: dcprog.Result, seconds: float) -> tuple[str, bool]:
    """A line of the table, and whether all is well."""
    f = [record.f for record in result.history]
    residuals = [max(r.primal_residual, r.dual_residual, r.gap_residual) for r in result.history if r.solver]
    faults = [str(result.status)] * (not result.success) + list(result.messages)
    faults += ["residual"] * (max(residuals) > 1e-6) + ["ascent"] * any(b > a + 1e-10 for a, b in itertools.pairwise(f))
    text = (
        f"{name:11}{lam:4.1f}  {solver:8}{result.iterations:10}{len(result.classifier.selected()):9}"
        f"{result.objective:17.10f}"
        f"{result.gap:9.1e}{max(residuals):10.1e}{seconds:8.2f}  {'; '.join(faults)}"
    )
    return text, not faults


def sweep(names: list[str], solvers: list[str], warm: bool) -> tuple[bool, list[dict[str, Any]]]:
    """Print the table; whether all is well, and the seconds of each run."""
    well, rows = True, []
    print(HEADER)
    for name in names:
        data = load(name, standardise=True)
        theta: dict[str, np.ndarray | None] = dict.fromkeys(solvers)
        for lam in GRID:
            program, objectives = alignment(data.X, data.y, lam), []
            for solver in solvers:
                began = time.perf_counter()
                result = dcprog.solve(program, solver=solver, x0=theta[solver])
                theta[solver] = result.x if warm else None
                seconds = time.perf_counter() - began
                rows.append({"problem": f"{name}, λ = {lam:.1f}", "method": solver, "seconds": seconds})
                text, good = line(name, lam, solver, result, seconds)
                print(text, flush=True)
                objectives.append(result.objective)
                well &= good
            if np.ptp(objectives) > 1e-8:
                print(f"{name:11}{lam:4.1f}  objectives differ by {np.ptp(objectives):.1e}")
                well = False
    return well, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solver", nargs="+", default=["auto"])
    parser.add_argument("--data", nargs="+", default=SETS)
    parser.add_argument("--warm", action="store_true", help="start each λ where the one before ended")
    parser.add_argument("--json", type=Path, help="where to write the seconds as JSON")
    arguments = parser.parse_args()
    began = time.perf_counter()
    well, rows = sweep(arguments.data, arguments.solver, arguments.warm)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    print(f"{'all converged and verified' if well else 'NOT ALL WELL'}, {time.perf_counter() - began:.0f} s in all")
    sys.exit(not well)


if __name__ == "__main__":
    run(main)

"""All benchmarks, one after the other, and one table of what they found.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks [--quick] [--only NAME …] [--out DIRECTORY]

Each runs in a process of its own. What it prints goes to DIRECTORY/NAME.txt, its rows to DIRECTORY/NAME.json, and the
table to DIRECTORY/table.md and table.json. A ratio is that of the value to the reference that the line names: seconds of a
peer to ours, so that 10 says that we are ten times faster, and our errors to published ones. ``--quick`` takes the smallest
case of each, in minutes; everything takes hours. A benchmark whose data or peers are missing is left out,
with a line that says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.rows import READERS, Line

QUICK: dict[str, list[str]] = {
    "algorithms": ["--quick"],
    "alignment": ["--quick"],
    "alignment_sweep": ["--data", "liver"],
    "dc_constraints": ["--quick"],
    "large": ["--shrink", "20"],
    "linear": ["--only", "ionosphere", "l2_l0_ionosphere"],
    "nlpsvm": ["--exact", "--data", "ionosphere"],
    "radius_margin": ["--only", "fortuna", "--runs", "1"],
    "selectors": ["--data", "sonar"],
    "several_classes": ["--only", "wine"],
    "solvers": ["--limit", "5", "--only", "ionosphere"],
    "sparse_regression": ["--quick"],
    "suites": ["--every", "25", "--starts", "2", "--limit", "2"],
    "sweep": ["--data", "liver", "--methods", "rlp", "svm", "fsv"],
    "tuning": ["--data", "sonar", "--methods", "L1SVMCV", "FSVCV", "SVMRFECV"],
    "weston2003": ["--trials", "3", "--points", "10", "--methods", "SVM", "CORR"],
    "weston2003_readings": ["--experiments", "11", "--readings", "1"],
}
FULL: dict[str, list[str]] = {name: ["--exact"] if name == "nlpsvm" else [] for name in QUICK}
"""``benchmarks.nlpsvm`` without an option repeats a published table; what is timed is behind ``--exact``."""


def ran(name: str, options: list[str], out: Path) -> str | None:
    """Run one benchmark; why it has no rows, if it has none."""
    rows = out / f"{name}.json"
    rows.unlink(missing_ok=True)
    words = [sys.executable, "-m", f"benchmarks.{name}", *options, "--json", str(rows)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False)
    (out / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
    last = (done.stdout.strip().splitlines() or ["it printed nothing"])[-1]
    return None if rows.exists() else f"exit code {done.returncode}: {last}"


def markdown(lines: list[Line], left_out: dict[str, str]) -> str:
    """The table."""
    text = ["| benchmark | case | method | quantity | value | ratio | to |", "|---|---|---|---|---|---|---|"]
    for x in lines:
        ratio = "" if x.ratio is None else f"{x.ratio:.3g}"
        text.append(f"| {x.benchmark} | {x.case} | {x.method} | {x.quantity} | {x.value:.4g} | {ratio} | {x.reference} |")
    text += ["", *(f"- {name}: left out: {why}" for name, why in left_out.items())]
    return "\n".join(text).strip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest case of each")
    parser.add_argument("--only", nargs="+", default=list(QUICK), choices=list(QUICK), metavar="NAME", help="which of them")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"), help="directory for tables and output")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    lines: list[Line] = []
    left_out: dict[str, str] = {}
    for name in given.only:
        began = time.perf_counter()
        why = ran(name, (QUICK if given.quick else FULL)[name], given.out)
        if why is None:
            lines += READERS[name](json.loads((given.out / f"{name}.json").read_text(encoding="utf-8")))
        else:
            left_out[name] = why
        print(f"{name:20} {time.perf_counter() - began:8.1f} s  {why or 'done'}", flush=True)
    table = markdown(lines, left_out)
    (given.out / "table.md").write_text(table, encoding="utf-8")
    summary = {"lines": [asdict(line) for line in lines], "left_out": left_out}
    (given.out / "table.json").write_text(json.dumps(summary, indent=1, ensure_ascii=False), encoding="utf-8")
    print(f"\n{table}\n{given.out / 'table.md'}")
    sys.exit(1 if not lines else 0)


if __name__ == "__main__":
    main()

"""Large data: FSV on many samples and on many sparse features, and χ² alignment, with CPU seconds and peak memory.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.large [--only NAME …] [--shrink K] [--json FILE]

Each case runs in a process of its own, whose peak memory counts everything, Python included. ``--shrink`` divides the number
of samples.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import dcprog
from benchmarks import run
from dcprog.models import alignment, fsv


def histograms(n: int) -> Any:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.random((n, 650))
    X[:, :10] += 0.3 * (y[:, None] > 0)
    return alignment(X / X.sum(axis=1, keepdims=True), y, lam=0.05, kernel="chi2")


def sparse_features(n: int) -> Any:
    """A hundred of 200 000 features in each sample, and twenty, in six of each, that tell the classes apart."""
    rng = np.random.default_rng(0)
    many = sp.random_array((n, 200_000), density=0.0005, rng=rng, format="csr")
    few = sp.random_array((n, 20), density=0.3, rng=rng, format="csc")
    signal = np.asarray(few @ rng.standard_normal(20)).ravel()
    y = np.where(signal + 0.05 * rng.standard_normal(n) > 0, 1, -1)
    return fsv(sp.hstack([many, few]).tocsr(), y, lam=0.3)


def many_samples(n: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 50))
    return fsv(X, np.where(X[:, :5].sum(axis=1) + rng.standard_normal(n) > 0, 1, -1), lam=0.1)


CASES: dict[str, tuple[int, Callable[[int], Any]]] = {
    "χ² alignment, 650 features": (1000, histograms),
    "FSV, 200 020 sparse features": (20_000, sparse_features),
    "FSV, 50 features": (1_000_000, many_samples),
}


def measured(case: str, n: int, results: Any) -> None:
    began = time.process_time()
    result = dcprog.solve(CASES[case][1](n))
    took, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    chosen = len(result.classifier.selected()) if result.classifier is not None else -1
    row = {"case": f"{case}, {n} samples", "method": "dcprog", "seconds": took, "megabytes": peak}
    results.put(row | {"status": str(result.status), "iterations": result.iterations, "features": chosen})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES), metavar="NAME", help="which cases")
    parser.add_argument("--shrink", type=int, default=1, help="divide the number of samples by this")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    rows = []
    context = multiprocessing.get_context("spawn")
    print("| case | CPU seconds | peak MB | status | iterations | features |\n|---|---|---|---|---|---|")
    for case in given.only:
        results = context.Queue()
        worker = context.Process(target=measured, args=(case, CASES[case][0] // given.shrink, results))
        worker.start()
        row = results.get()
        worker.join()
        cells = (row["case"], f"{row['seconds']:.1f}", f"{row['megabytes']:.0f}", row["status"])
        print("|", " | ".join(map(str, (*cells, row["iterations"], row["features"]))), "|", flush=True)
        rows.append(row)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)

"""Selectors side by side: dcprog's RFE and filters against scikit-learn's and SciPy's, in the same process.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.selectors [--data NAME …] [--json FILE]

CPU seconds, the best of three; the features that both select are counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import ks_2samp
from sklearn.feature_selection import RFE, f_classif
from sklearn.svm import SVC

from benchmarks import run
from dcprog import datasets
from dcprog.methods.filters import kolmogorov_smirnov_score, pearson_score
from dcprog.methods.zero_norm import rfe_features

SETS = ("sonar", "musk", "microarray", "leukemia")
KEPT, C = 20, 1.0


def peer_rfe(X: Any, y: Any) -> Any:
    return np.flatnonzero(RFE(SVC(kernel="linear", C=C), n_features_to_select=KEPT, step=1).fit(X, y).support_)


def our_rfe(X: Any, y: Any) -> Any:
    return rfe_features(X, y, KEPT, lam=C)


def by_score(score: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda X, y: np.argsort(-np.asarray(score(X, y)), kind="stable")[:KEPT]


def scipy_ks(X: Any, y: Any) -> Any:
    return [ks_2samp(x, x[y > 0]).statistic for x in X.T]


PAIRS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "RFE, one at a time": (our_rfe, peer_rfe),
    "Pearson, f_classif": (by_score(pearson_score), by_score(lambda X, y: f_classif(X, y)[0])),
    "Kolmogorov–Smirnov, ks_2samp": (by_score(kolmogorov_smirnov_score), by_score(scipy_ks)),
}


def timed(select: Callable[[Any, Any], Any], X: Any, y: Any) -> tuple[float, set[int]]:
    best = np.inf
    for _ in range(3):
        began = time.process_time()
        chosen = select(X, y)
        best = min(best, time.process_time() - began)
        if best > 20:
            break
    return best, set(map(int, chosen))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=SETS, help=f"which data sets (default: {' '.join(SETS)})")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    rows = []
    print("| data | selector | dcprog [s] | peer [s] | peer : dcprog | in common |")
    print("|---|---|---|---|---|---|")
    for name in given.data:
        data = datasets.load(name, standardise=True)
        for title, (ours, theirs) in PAIRS.items():
            if "RFE" in title and data.X.shape[1] > 2000:
                continue
            (a, chosen), (b, others) = timed(ours, data.X, data.y), timed(theirs, data.X, data.y)
            print(f"| {name} | {title} | {a:.3g} | {b:.3g} | {b / a:.2g} | {len(chosen & others)} of {KEPT} |", flush=True)
            rows.append({"data": name, "selector": title, "dcprog": a, "peer": b, "in_common": len(chosen & others)})
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)

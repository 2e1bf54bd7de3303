"""Several classes: one program for all classifiers (``multi_class="shared"``) beside one against the rest each.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.several_classes [--only WORD] [--json FILE]

Errors in % on three stratified folds, features in use, and CPU seconds of a training, on average over the folds. λ is the
same for both ways, and for all data. Features are standardised by the training part.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks import run
from dcprog.estimators import FSV, L1SVM, AlignmentSVM

GENES = 200


def table(name: str) -> np.ndarray:
    """The rows of a CSV file of $DCPROG_DATA, as text."""
    path = Path(os.environ["DCPROG_DATA"]) / f"{name}.csv"
    rows: np.ndarray = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    return rows


def numbers(entries: np.ndarray) -> np.ndarray:
    """The entries as numbers, an empty one as the mean of its column."""
    X = np.where(np.isin(entries, ["", "?"]), "nan", entries).astype(float)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def yeast() -> tuple[np.ndarray, np.ndarray]:
    """Expression of 186 genes in 79 experiments, of three of the five classes of Weston et al. (2003)."""
    rows = table("brown_yeast_3of5")
    return numbers(rows[:, :-1]), rows[:, -1]


def lymphoma() -> tuple[np.ndarray, np.ndarray]:
    """The genes of largest variance of 4026, of 96 samples in nine classes, of which those of six samples and more."""
    X, y = numbers(table("lymphoma")[:, :-1]), table("lymphoma_classes")[:, 1]
    X = X[:, np.argsort(-X.var(axis=0), kind="stable")[:GENES]]
    labels, counts = np.unique(y, return_counts=True)
    large = np.isin(y, labels[counts >= 6])
    return X[large], y[large]


def some_digits(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Some of scikit-learn's 1797 digits."""
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:n]
    return X[chosen], y[chosen]


DATA: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "yeast": yeast,
    "lymphoma": lymphoma,
    "digits": some_digits,
}
METHODS: dict[str, Callable[[str], Any]] = {
    "L1SVM(lam=0.02)": lambda way: L1SVM(lam=0.02, multi_class=way),
    "FSV(lam=0.02)": lambda way: FSV(lam=0.02, multi_class=way),
    "FSV(lam=0.005)": lambda way: FSV(lam=0.005, multi_class=way),
    "AlignmentSVM(lam=0.1)": lambda way: AlignmentSVM(lam=0.1, lam_svm=0.1, multi_class=way),
}


def judged(machine: Any, X: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Error in %, features, and CPU seconds, on average over three folds."""
    errors, features, seconds = [], [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        began = time.process_time()
        machine.fit(scaler.transform(X[train]), y[train])
        seconds.append(time.process_time() - began)
        errors.append(100.0 * (machine.predict(scaler.transform(X[test])) != y[test]).mean())
        features.append(int(machine.get_support().sum()))
    return float(np.mean(errors)), float(np.mean(features)), float(np.mean(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="data sets whose name contains the word")
    parser.add_argument("--json", type=Path, help="where to write the seconds, errors and features as JSON")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    warnings.simplefilter("ignore")
    print(
        "| data | samples × features, classes | method | error shared / ovr | features shared / ovr | CPU s shared / ovr |"
    )
    print("|---|---|---|---|---|---|")
    for name, load in DATA.items():
        if given.only not in name:
            continue
        X, y = load()
        for title, make in METHODS.items():
            (e, f, s), (e1, f1, s1) = (judged(make(way), X, y) for way in ("shared", "ovr"))
            shape = f"{X.shape[0]} × {X.shape[1]}, {len(np.unique(y))}"
            figures = f"{e:.1f} / {e1:.1f} | {f:.1f} / {f1:.1f} | {s:.2f} / {s1:.2f}"
            print(f"| {name} | {shape} | {title} | {figures} |", flush=True)
            for way, error, features, seconds in (("shared", e, f, s), ("ovr", e1, f1, s1)):
                case = {"case": f"{name} {title}", "method": way, "seconds": seconds}
                rows.append({**case, "error": error, "features": features})
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    run(main)

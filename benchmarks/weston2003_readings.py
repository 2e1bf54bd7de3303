"""What Table 1 of Weston et al. (2003) leaves open, and which reading of it the published errors agree with.

    python -m benchmarks.weston2003_readings [--experiments 60] [--readings 8] [--jobs 2] [--json FILE]
    DCPROG_DATA=… python -m benchmarks.weston2003_readings --microarrays [--jobs 2]

The paper does not say whether all trials draw from one collection of points, whose address it gives, nor over which points
the inputs are scaled; and CORR may rank with the sign of the difference of the means, against (4.2). Each reading is run as
so many whole experiments of 100 trials. Printed are, of the SVM, CORR, and the two largest weights of the SVM ("ℓ2 once",
section 4.5) at 10, 20 and 30 points, the mean error of these experiments and by how many of their standard deviations the
published one differs; and p, the probability that an experiment lies as far from their mean as the published one does, by
Hotelling's T² in all nine figures.

``--microarrays``: CORR with and without its sign in Tables 2 and 3, on the splits of ``dcprog reproduce weston2003``; χ² is
the sum of squared differences in their standard errors, as if the published means scattered as ours do.
"""

from __future__ import annotations

import argparse
import json
import os
from itertools import product
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from benchmarks import run
from dcprog.datasets import Dataset
from dcprog.datasets.generators import weston_linear
from dcprog.methods.zero_norm import corr_features, retrain
from dcprog.studies.cells import generator
from dcprog.studies.papers.trials import random_split
from dcprog.studies.papers.weston2003 import ARRAYS, NAME, TABLES, error_with
from dcprog.studies.published import Entry, published

POINTS, FEATURES, TESTED, TRIALS = (10, 20, 30), 100, 500, 100
METHODS = ("SVM", "CORR", "l2 once")
PUBLISHED = np.array([33.8, 23.2, 16.4, 23.58, 15.8, 14.3, 26.8, 16.302, 13.4])
SOURCES = ("fresh points", "one test set", "a file of 530", "a file of 100 and 500")
"""Where trials draw from: 530 points are as many as they need; 100 and 500 are to train and to test on."""


class Reading(NamedTuple):
    source: str
    scaled_over: str


READINGS = [Reading(*reading) for reading in product(SOURCES, ("training points", "all points"))]
SCORES = {"as printed": [0, 1, 3], "with its sign": [0, 2, 3]}
"""The methods of a trial that belong together."""


class Sample(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    T: np.ndarray
    labels: np.ndarray


class Source:
    """Draws training and test points for all trials of an experiment."""

    def __init__(self, reading: Reading, rng: np.random.Generator) -> None:
        self.reading, self.rng = reading, rng
        self.file = Sample(*weston_linear(100, FEATURES, rng), *weston_linear(TESTED, FEATURES, rng))

    def draw(self, n: int) -> Sample:
        X, y, T, labels = self._points(n)
        while len(set(y)) < 2:
            X, y, T, labels = self._points(n)
        known = X if self.reading.scaled_over == "training points" else np.vstack([X, T])
        mean, scale = known.mean(axis=0), known.std(axis=0)
        return Sample((X - mean) / scale, y, (T - mean) / scale, labels)

    def _points(self, n: int) -> Sample:
        X, y, T, labels = self.file
        match self.reading.source:
            case "fresh points":
                return Sample(*self._fresh(n), *self._fresh(TESTED))
            case "one test set":
                return Sample(*self._fresh(n), T, labels)
            case "a file of 530":
                X, y = np.vstack([X[:30], T]), np.concatenate([y[:30], labels])
                order = self.rng.permutation(len(y))
                train, test = order[:n], order[n : n + TESTED]
                return Sample(X[train], y[train], X[test], y[test])
            case _:
                train = self.rng.permutation(len(y))[:n]
                return Sample(X[train], y[train], T, labels)

    def _fresh(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        return weston_linear(n, FEATURES, self.rng)


def signed_features(X: np.ndarray, y: np.ndarray, r: int = 2) -> np.ndarray:
    """CORR of the features that are larger in the positive class; the others rank below."""
    positive, negative = X[y > 0], X[y < 0]
    difference = positive.mean(axis=0) - negative.mean(axis=0)
    spread = positive.var(axis=0) + negative.var(axis=0)
    return np.argsort(-difference * np.abs(difference) / np.where(spread > 0, spread, np.inf), kind="stable")[:r]


def trial(sample: Sample) -> list[float]:
    """Errors of the SVM, of CORR as printed and with its sign, and of the two largest weights."""
    X, y, T, labels = sample
    svm = retrain(X, y, np.arange(FEATURES))
    chosen = (corr_features(X, y, 2), signed_features(X, y), np.argsort(-np.abs(svm.w))[:2])
    rules = (svm, *(retrain(X, y, features) for features in chosen))
    return [100.0 * float((rule.predict(T) != labels).mean()) for rule in rules]


def experiment(reading: Reading, seed: int) -> np.ndarray:
    """Mean errors over 100 trials: a row for each method, a column for each number of points."""
    source = Source(reading, np.random.default_rng([2003, seed]))
    return np.array([np.mean([trial(source.draw(n)) for _ in range(TRIALS)], axis=0) for n in POINTS]).T


def agreement(errors: np.ndarray) -> tuple[np.ndarray, float]:
    """The published figures in standard deviations from the mean, and p."""
    k, d = errors.shape
    away = PUBLISHED - errors.mean(axis=0)
    t2 = away @ np.linalg.solve(np.cov(errors.T), away) * k / (k + 1)
    return away / errors.std(axis=0, ddof=1), float(stats.f.sf(t2 * (k - d) / (d * (k - 1)), d, k - d))


def genes(data: Dataset, split: int) -> list[list[float]]:
    """Errors by number of genes, CORR as printed and with either sign: which class is positive is arbitrary."""
    table, training, sizes = ARRAYS[data.name]
    sample = random_split(data, training, generator(NAME, table, data.name, split))
    fewer = [r for r in sizes if r < data.X.shape[1]]
    scores = (corr_features, signed_features, lambda X, y, r: signed_features(X, -y, r))
    return [[error_with(sample, score(sample.X, sample.y, r)) for r in fewer] for score in scores]


def microarrays(jobs: int) -> None:
    for table in TABLES[1:3]:
        (name,) = table.loaded
        data = table.load(name)
        runs = np.array(Parallel(n_jobs=jobs)(delayed(genes)(data, split) for split in range(table.trials)))
        fewer = [r for r in ARRAYS[name].genes if r < data.X.shape[1]]
        printed = np.array([published(NAME)[Entry(table.number, f"{name}_{r}", "corr", "error")].value for r in fewer])
        print(f"{name}, {' / '.join(map(str, fewer))} genes: published {' / '.join(f'{e:.1f}' for e in printed)}")
        for position, score in enumerate([*SCORES, "with the other sign"]):
            errors, squares = runs[:, position].mean(axis=0), 2 * runs[:, position].var(axis=0, ddof=1) / len(runs)
            chi2 = float(((errors - printed) ** 2 / squares).sum())
            print(f"   {score}: {' / '.join(f'{e:.1f}' for e in errors)}, χ² = {chi2:.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiments", type=int, default=60, help="at least 11, for T²")
    parser.add_argument("--readings", type=int, default=len(READINGS), help="only the first so many")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--microarrays", action="store_true")
    given = parser.parse_args()
    if given.microarrays:
        microarrays(given.jobs)
        return
    rows = []
    figures = [f"{method} {n}" for method in METHODS for n in POINTS]
    print("published: " + ", ".join(f"{name} {value:.1f}" for name, value in zip(figures, PUBLISHED, strict=True)))
    for reading in READINGS[: given.readings]:
        runs = np.array(Parallel(n_jobs=given.jobs)(delayed(experiment)(reading, i) for i in range(given.experiments)))
        for score, methods in SCORES.items():
            errors = runs[:, methods].reshape(len(runs), -1)
            z, p = agreement(errors)
            means = zip(errors.mean(axis=0), z, strict=True)
            print(f"{reading.source}, scaled over {reading.scaled_over}, CORR {score}: p = {p:.2g}")
            print("   " + "  ".join(f"{error:.1f} ({away:+.1f})" for error, away in means), flush=True)
            found = {"p": p, "figures": figures, "errors": errors.mean(axis=0).tolist(), "z": z.tolist()}
            rows.append({**reading._asdict(), "score": score, **found, "published": PUBLISHED.tolist()})
        if given.json:
            given.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    run(main)

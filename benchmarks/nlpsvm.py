"""Tables 1 and 2 of Fung & Mangasarian (2004), and the exact solution next to HiGHS and the working set.

    DCPROG_DATA=… python -m benchmarks.nlpsvm [--data NAME …] [--repeats 3] [--jobs 2] [--myeloma | --exact]

Table 2: tenfold cross-validation on standardised features; in each fold the parameters are those of the paper's grid that
classify best on a random tenth of the training data: ν and δ for Algorithm 3.1, which stops early, ν for the exact solution.
Galaxy Dim is not to be had; the labels of housing are a guess. Table 1 (``--myeloma``): seconds on synthetic points of that
data set's shape, 105 × 28032, of which the paper needs 75.16 a fold. ``--exact``: seconds of the linear program (2.6).

All are within 2 points of the paper but cleveland, 3.4 below. There the published training correctness of a quadratic
SVM, 87.2, suggests other labels: with 160/137 it has 85.2, with the diagnoses 0–1 against 2–4 (214/83) 87.3.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold

import dcprog
from dcprog.datasets import load
from dcprog.models import l1_svm
from dcprog.nlpsvm import Separation, lp_svm, nlpsvm

# Training correctness, test correctness [%] and number of features of NLPSVM in Table 2.
PUBLISHED = {
    "ionosphere": (90.7, 88.0, 11.2),
    "liver": (70.6, 68.8, 4.8),
    "pima": (76.8, 77.1, 4.9),
    "cleveland": (86.5, 85.9, 7.1),
    "housing": (87.0, 85.2, 6.5),
}
NUS = [2.0**i for i in range(-12, 13)]
DELTAS = [10.0**j for j in range(-3, 4)]
METHODS: dict[str, tuple[Callable[..., Separation], list[dict[str, float]]]] = {
    "3.1": (nlpsvm, [{"nu": nu, "delta": delta} for nu, delta in product(NUS, DELTAS)]),
    "exact": (lp_svm, [{"nu": nu} for nu in NUS]),
}


def folds(name: str, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Training points and labels, test points and labels, scaled by the training points."""
    data = load(name)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=seed).split(data.X, data.y):
        centre, scale = data.X[train].mean(axis=0), data.X[train].std(axis=0)
        scale[scale == 0] = 1.0
        yield (data.X[train] - centre) / scale, data.y[train], (data.X[test] - centre) / scale, data.y[test]


def tuned(method: str, X: np.ndarray, y: np.ndarray, seed: int) -> Separation:
    """Section 4.1.2: trained with the parameters that classify a random tenth of the data best; of several, the first."""
    train, grid = METHODS[method]
    order = np.random.default_rng(seed).permutation(len(y))
    tuning, rest = order[: len(y) // 10], order[len(y) // 10 :]

    def errors(parameters: dict[str, float]) -> int:
        return int((train(X[rest], y[rest], **parameters).rule.predict(X[tuning]) != y[tuning]).sum())

    return train(X, y, **min(grid, key=errors))


def fold_result(method: str, fold: tuple[np.ndarray, ...], seed: int) -> tuple[float, float, int]:
    """Training and test correctness [%] and number of features."""
    X, y, T, labels = fold
    rule = tuned(method, X, y, seed).rule
    return (
        100.0 * float((rule.predict(X) == y).mean()),
        100.0 * float((rule.predict(T) == labels).mean()),
        len(rule.selected()),
    )


def table_2(names: list[str], repeats: int, jobs: int) -> None:
    print(
        f"{'data':12}{'method':8}{'train':>7}{'ours':>7}{'test':>7}{'ours':>14}{'features':>10}{'ours':>6}{'difference':>12}"
    )
    for name, method in product(names, METHODS):
        tasks = [(method, fold, seed) for seed in range(repeats) for fold in folds(name, seed)]
        runs = np.array(Parallel(n_jobs=jobs)(delayed(fold_result)(*task) for task in tasks))
        (train, test, features), published = runs.mean(axis=0), PUBLISHED[name]
        error = runs[:, 1].std(ddof=1) / np.sqrt(len(runs))
        print(
            f"{name:12}{method:8}{published[0]:7.1f}{train:7.1f}{published[1]:7.1f}{test:7.1f} ±{error:5.2f}"
            f"{published[2]:10.1f}{features:6.1f}{test - published[1]:+11.1f}{' *' if abs(test - published[1]) > 2 else ''}",
            flush=True,
        )


def myeloma_like(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Section 4.1.1: 74 and 31 points, 7008 genes with a call of three levels, one of three coded, and a standardised value.

    40 genes differ between the classes by 2.4 standard deviations.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [74, 31])
    level = rng.standard_normal((105, 7008)) + np.where(np.arange(7008) < 40, 1.2 * y[:, None], 0.0)
    calls = np.digitize(level, [-0.4, 0.2])
    value = np.exp(level + 0.3 * rng.standard_normal(level.shape))
    return np.hstack([*(calls == k for k in range(3)), (value - value.mean(axis=0)) / value.std(axis=0)]), y


def table_1() -> None:
    X, y = myeloma_like()
    print(f"{'nu':>7}{'3.1':>9}{'features':>10}{'exact':>9}{'features':>10}{'working set':>13}   objectives")
    for nu in (2.0**-4, 1.0, 2.0**4):
        early, seconds = timed(nlpsvm, X, y, nu)
        exact, exact_seconds = timed(lp_svm, X, y, nu)
        other, other_seconds = timed(dcprog.solve, _l1_svm(X, y, nu), solver="columns")
        print(
            f"{nu:7g}{seconds:9.3f}{len(early.rule.selected()):10}{exact_seconds:9.3f}{len(exact.rule.selected()):10}"
            f"{other_seconds:13.3f}   {_objective(exact, nu):.8f} {other.objective * (1 + nu):.8f}",
            flush=True,
        )


def exact_solutions(names: list[str]) -> None:
    print(
        f"{'data':12}{'nu':>6}{'lp_svm':>9}{'highs':>9}{'columns':>9}{'epsilon':>9}   relative difference of the objectives"
    )
    for name, nu in product(names, (0.01, 1.0, 100.0)):
        data = load(name, standardise=True)
        exact, first = timed(lp_svm, data.X, data.y, nu)
        program = _l1_svm(data.X, data.y, nu)
        highs, second = timed(dcprog.solve, program, solver="highs")
        _, third = timed(dcprog.solve, program, solver="columns")
        difference = (_objective(exact, nu) / (1 + nu) - highs.objective) / (1 + highs.objective)
        print(
            f"{name:12}{nu:6g}{first:9.3f}{second:9.3f}{third:9.3f}{exact.epsilon:9.0e}   {difference:+.1e}",
            flush=True,
        )


def timed(run: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, float]:
    began = time.perf_counter()
    return run(*args, **options), time.perf_counter() - began


def _l1_svm(X: np.ndarray, y: np.ndarray, nu: float) -> dcprog.DCProgram:
    """(2.6) divided by 1 + ν."""
    return l1_svm(X, y, lam=1 / (1 + nu), weighting="sum")


def _objective(plane: Separation, nu: float) -> float:
    return float(np.abs(plane.w).sum() + nu * plane.slacks.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(PUBLISHED), choices=PUBLISHED)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--myeloma", action="store_true")
    parser.add_argument("--exact", action="store_true")
    given = parser.parse_args()
    if given.myeloma:
        table_1()
    elif given.exact:
        exact_solutions(given.data)
    else:
        table_2(given.data, given.repeats, given.jobs)


if __name__ == "__main__":
    main()

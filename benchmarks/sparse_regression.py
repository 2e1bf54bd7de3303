"""Least squares with MCP: DCA by ``l1-loss`` beside skglm's coordinate descent and reweighted Lassos of scikit-learn.

    OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 python -m benchmarks.sparse_regression [--quick] [--repeats N] [--json FILE]

(1/2n)‖y − Xw‖² + Σ MCP(|wⱼ|; λ, 3) on synthetic data, λ = 0.3, 0.2, 0.1 and 0.05 of the least λ at which 0 is the Lasso's
solution. CPU seconds on one thread, the least of several runs, after one run that compiles what is compiled; for dcprog from
the arrays to the result, which is Pyomo's time for the most part where there are many variables, and the solve alone.
Objectives are computed from the coefficients, the same way for all.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import dcprog
from benchmarks import run
from dcprog.models import sparse_regression

GAMMA = 3.0
PARTS = (0.3, 0.2, 0.1, 0.05)
LASSOS = 50


def dense(n: int, d: int, used: int) -> tuple[Any, np.ndarray]:
    """Normal samples, by columns as coordinate descent wants them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = np.zeros(d)
    w[rng.choice(d, used, replace=False)] = 2 * rng.standard_normal(used)
    return np.asfortranarray(X), X @ w + 0.5 * rng.standard_normal(n)


def sparse(n: int, d: int, used: int, density: float = 1e-3) -> tuple[Any, np.ndarray]:
    """Normal entries at random places, in CSC with the index type that skglm takes."""
    rng = np.random.default_rng(0)
    X = sp.csc_matrix(sp.random_array((n, d), density=density, rng=rng, data_sampler=rng.standard_normal, format="csc"))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    w = np.zeros(d)
    w[rng.choice(d, used, replace=False)] = 2 * rng.standard_normal(used)
    return X, X @ w + 0.05 * rng.standard_normal(n)


PROBLEMS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "300 x 1500": lambda: dense(300, 1500, 30),
    "500 x 5000": lambda: dense(500, 5000, 50),
    "1000 x 20000": lambda: dense(1000, 20000, 100),
    "20000 x 100000, 0.1 % filled": lambda: sparse(20000, 100000, 200),
}


def objective(X: Any, y: np.ndarray, w: np.ndarray, lam: float) -> float:
    """(1/2n)‖y − Xw‖² + Σ MCP(|wⱼ|; λ, γ)."""
    v = np.minimum(np.abs(w), GAMMA * lam)
    return float(np.sum((y - X @ w) ** 2) / (2 * len(y)) + np.sum(lam * v - v**2 / (2 * GAMMA)))


def by_skglm(X: Any, y: np.ndarray, lam: float) -> np.ndarray:
    """Coordinate descent with working sets and Anderson acceleration, to a violation of 1e-6."""
    from skglm import MCPRegression

    return np.asarray(MCPRegression(alpha=lam, gamma=GAMMA, fit_intercept=False, tol=1e-6).fit(X, y).coef_)


def by_lassos(X: Any, y: np.ndarray, lam: float) -> np.ndarray:
    """min (1/2n)‖y − Xw‖² + Σ ρ'(|wⱼᵏ|)|wⱼ| again and again by scikit-learn, until the objective stands still."""
    from sklearn.linear_model import Lasso

    w, last = np.zeros(X.shape[1]), np.inf
    for _ in range(LASSOS):
        share = np.maximum(1.0 - np.abs(w) / (GAMMA * lam), 1e-6)  # ρ'(|w|)/λ, a divisor of columns
        scaled = sp.csc_matrix(X @ sp.diags(1 / share)) if sp.issparse(X) else X / share
        w = Lasso(alpha=lam, fit_intercept=False, tol=1e-8, max_iter=10_000).fit(scaled, y).coef_ / share
        value = objective(X, y, w, lam)
        if last - value <= 1e-9 * abs(value):
            break
        last = value
    return np.asarray(w)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and its CPU seconds."""
    began = time.process_time()
    found = call()
    return found, time.process_time() - began


def by_dcprog(X: Any, y: np.ndarray, lam: float) -> tuple[np.ndarray, float, float]:
    """The coefficients, and CPU seconds for the program and for its solution."""
    program, build = timed(lambda: sparse_regression(X, y, lam, gamma=GAMMA, fit_intercept=False))
    result, solve = timed(lambda: dcprog.solve(program))
    assert result.success, result.status
    return result["w"], build, solve


def rows_of(title: str, X: Any, y: np.ndarray, lam: float, part: float, repeats: int) -> list[dict[str, Any]]:
    """A row for each method."""
    case = f"{title}, {part} of the largest λ"
    rows = []
    ours = [by_dcprog(X, y, lam) for _ in range(repeats)]
    value = objective(X, y, ours[0][0], lam)
    for method, seconds in (
        ("dcprog", min(build + solve for _, build, solve in ours)),
        ("dcprog, solve alone", min(solve for *_, solve in ours)),
    ):
        rows.append({"problem": case, "method": method, "seconds": seconds, "objective": value})
    for method, fit, times in (("skglm", by_skglm, repeats), ("reweighted Lasso", by_lassos, 1)):
        found = [timed(lambda fit=fit: fit(X, y, lam)) for _ in range(times)]
        best = min(seconds for _, seconds in found)
        rows.append({"problem": case, "method": method, "seconds": best, "objective": objective(X, y, found[0][0], lam)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smallest problem alone")
    parser.add_argument("--only", default="", metavar="WORD", help="problems whose title contains the word")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for title in [t for t in list(PROBLEMS)[: 1 if given.quick else None] if given.only in t]:
        X, y = PROBLEMS[title]()
        largest = float(np.abs(X.T @ y).max() / len(y))
        by_skglm(X, y, 0.5 * largest), by_dcprog(X, y, 0.5 * largest)  # compiled, imported
        for part in PARTS:
            rows += rows_of(title, X, y, part * largest, part, given.repeats)
            for row in rows[-4:]:
                print(f"{row['problem']:55} {row['method']:20} {row['seconds']:9.4f} s   {row['objective']:.9g}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    run(main)

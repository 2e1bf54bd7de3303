"""FSV and the ℓ2-ℓ0-SVM against peers, in one process and one run, from arrays to result including the model.

    DCPROG_DATA=… OPENBLAS_NUM_THREADS=1 python -m benchmarks.linear [--only NAME …] [--json FILE]

Peers are those of benchmarks/peers.py: a hand-written highspy loop in both forms, CVXPY with a Parameter, dccp. The same
stopping rule for all but dccp, which has its own; objectives have to agree to 1e-6, or ours has to be lower. Ratios are
peer : ours, so 10 says that we are ten times faster. Sizes beyond the peers' reach are run by us alone. CVXPY and dccp are
no part of dcprog's install (python -m pip install cvxpy dccp); what is not here, peer or data set, is left out with a line.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import dcprog
from benchmarks import PEERS, peers, run
from dcprog import datasets
from dcprog.errors import DataError
from dcprog.models import fsv, l2_l0_svm

LAM, MU, NU = 0.1, float(np.exp(5)), float(np.exp(-1))


@dataclass(frozen=True)
class Row:
    """One method on one problem."""

    problem: str
    method: str
    seconds: float
    objective: float
    iterations: int


def timed(problem: str, method: str, call: Callable[[], tuple[float, int]], repeats: int) -> Row:
    """The fastest of several runs."""
    best, outcome = np.inf, (np.nan, 0)
    for _ in range(repeats):
        began = time.perf_counter()
        try:
            outcome = call()
        except ModuleNotFoundError as error:
            print(f"{problem:28} {method:26} left out: {error}, {PEERS}", flush=True)
            return Row(problem, method, np.nan, np.nan, 0)
        except Exception as error:  # a peer that fails is a result too
            print(f"{problem:28} {method:26} failed: {str(error)[:80]}", flush=True)
            return Row(problem, method, np.nan, np.nan, 0)
        best = min(best, time.perf_counter() - began)
    return Row(problem, method, best, *outcome)


def ours(program: Callable[[], dcprog.DCProgram], solver: str = "auto") -> tuple[float, int]:
    result = dcprog.solve(program(), solver=solver)
    assert result.success, result
    return result.objective, result.iterations


def synthetic(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Ten informative features among d, labels with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sign(X[:, :10] @ (2 * rng.standard_normal(10)) + rng.standard_normal(n))


def text_like(n: int = 20_000, d: int = 50_000, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Sparse counts, 0.1 % of them not zero; fifty frequent words tell the classes apart."""
    rng = np.random.default_rng(seed)
    rare = sp.random_array((n, d - 50), density=0.001, format="csc", rng=rng, data_sampler=rng.standard_exponential)
    frequent = sp.random_array((n, 50), density=0.05, format="csc", rng=rng, data_sampler=rng.standard_exponential)
    scores = frequent @ (5 * rng.standard_normal(50)) + 0.5 * rng.standard_normal(n)
    return sp.csr_array(sp.hstack([frequent, rare])), np.where(scores > 0, 1.0, -1.0)


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = datasets.load(name, standardise=True)
    return data.X, data.y


def fsv_rows(name: str, repeats: int) -> Iterator[Row]:
    X, y = real(name)
    yield timed(name, "dcprog", lambda: ours(lambda: fsv(X, y, LAM, weighting="sum")), repeats)
    yield timed(name, "dcprog, highs", lambda: ours(lambda: fsv(X, y, LAM, weighting="sum"), "highs"), repeats)
    yield timed(name, "highspy split", lambda: peers.highspy_loop(X, y, LAM, "split"), repeats)
    yield timed(name, "highspy paper", lambda: peers.highspy_loop(X, y, LAM, "paper"), repeats)
    yield timed(name, "CVXPY + HiGHS", lambda: peers.cvxpy_loop_fsv(X, y, LAM, "HIGHS"), repeats)
    yield timed(name, "CVXPY + Clarabel", lambda: peers.cvxpy_loop_fsv(X, y, LAM, "CLARABEL"), 1)
    yield timed(name, "dccp", lambda: peers.dccp_fsv(X, y, LAM), 1)
    yield timed(name, "dccp + HiGHS", lambda: peers.dccp_fsv(X, y, LAM, "HIGHS"), 1)


def l2_l0_rows(name: str, repeats: int) -> Iterator[Row]:
    X, y = real(name)
    label = f"l2-l0 {name}"
    yield timed(label, "dcprog", lambda: ours(lambda: l2_l0_svm(X, y, MU, NU)), repeats)
    yield timed(label, "CVXPY + Clarabel", lambda: peers.cvxpy_loop_l2_l0(X, y, MU, NU), 1)


def wide_rows() -> Iterator[Row]:
    """105 × 28032, against the time that scalar Pyomo expressions take merely to be built."""
    X, y = synthetic(105, 28032)
    yield timed("105 x 28032", "dcprog", lambda: ours(lambda: fsv(X, y, LAM, weighting="sum")), 2)
    yield timed("105 x 28032", "scalar Pyomo, built only", lambda: (np.nan, scalar_pyomo(X, y)), 1)


def scalar_pyomo(X: np.ndarray, y: np.ndarray) -> int:
    """The margin constraints as ordinary Pyomo expressions; returns how many."""
    import pyomo.environ as pyo

    n, d = X.shape
    m = pyo.ConcreteModel()
    m.w, m.b, m.xi = pyo.Var(range(d)), pyo.Var(), pyo.Var(range(n), bounds=(0, None))
    m.margin = pyo.Constraint(
        range(n), rule=lambda m, i: y[i] * (sum(X[i, j] * m.w[j] for j in range(d)) + m.b) + m.xi[i] >= 1
    )
    return len(m.margin)


def compile_rows() -> Iterator[Row]:
    """The matrix path alone: the 105 × 28032 margin constraint from arrays to the compiled program's matrix."""
    import pyomo.environ as pyo

    X, y = synthetic(105, 28032)
    n, d = X.shape
    m = pyo.ConcreteModel()
    m.w, m.b, m.xi = pyo.Var(range(d)), pyo.Var(), pyo.Var(range(n), bounds=(0, None))

    def build() -> tuple[float, int]:
        blocks = [y[:, None] * X, y, sp.eye_array(n, format="csc")]
        component = dcprog.MatrixConstraint(blocks, [m.w, m.b, m.xi], lower=1.0)
        return np.nan, int(component.matrix.shape[0])

    yield timed("margin matrix 105 x 28032", "dcprog", build, 3)


def tall_rows() -> Iterator[Row]:
    X, y = synthetic(1000, 650)
    yield timed("1000 x 650", "dcprog", lambda: ours(lambda: fsv(X, y, LAM, weighting="sum")), 1)
    yield timed("1000 x 650", "highspy paper", lambda: peers.highspy_loop(X, y, LAM, "paper"), 1)


def large_rows() -> Iterator[Row]:
    """Sizes at which we stand alone."""
    X, y = text_like()
    yield timed("sparse 20000 x 50000", "dcprog", lambda: ours(lambda: fsv(X, y, 0.05)), 1)
    X, y = synthetic(100_000, 50)
    yield timed("100000 x 50", "dcprog", lambda: ours(lambda: fsv(X, y, LAM)), 1)


CASES: dict[str, Callable[[], Iterator[Row]]] = {
    **{name: (lambda name=name: fsv_rows(name, 5)) for name in ("wpbc60", "ionosphere", "pima")},
    **{name: (lambda name=name: fsv_rows(name, 3)) for name in ("musk", "microarray")},
    **{f"l2_l0_{name}": (lambda name=name: l2_l0_rows(name, 3)) for name in ("ionosphere", "sonar", "musk", "microarray")},
    "compile": compile_rows,
    "wide": wide_rows,
    "tall": tall_rows,
    "large": large_rows,
}


def report(rows: list[Row]) -> None:
    """Seconds, and peer : ours of the same problem; a higher objective than ours is marked."""
    for row in [row for row in rows if np.isfinite(row.seconds)]:
        reference = next(r for r in rows if r.problem == row.problem)
        ratio = f"{row.seconds / reference.seconds:9.2f}" if row is not reference else "        1"
        worse = row.objective > reference.objective + 1e-6 * (1 + abs(reference.objective))
        better = row.objective < reference.objective - 1e-6 * (1 + abs(reference.objective))
        mark = " (higher objective)" if worse else " (LOWER objective)" if better else ""
        print(
            f"{row.problem:28} {row.method:26} {row.seconds:9.4f} s {ratio} {row.objective:14.6f} {row.iterations:4}{mark}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(CASES), help="which cases (default: all)")
    parser.add_argument("--json", type=Path, help="where to write the rows as JSON")
    arguments = parser.parse_args()
    everything: list[Row] = []
    print(f"{'problem':28} {'method':26} {'seconds':>11} {'ratio':>9} {'objective':>14} iter")
    for name in arguments.only or CASES:
        try:
            rows = list(CASES[name]())
        except DataError as error:
            print(f"{name:28} left out: {error}", flush=True)
            continue
        report(rows)
        everything += rows
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in everything], indent=1))


if __name__ == "__main__":
    run(main)

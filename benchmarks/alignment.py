"""Kernel-target alignment against peers, in one process and one run, from arrays to result.

    python -m benchmarks.alignment [--quick] [--json FILE]

Peers: a SciPy L-BFGS-B loop written by hand for this one problem; on 60 samples also CVXPY with a Parameter, and dccp. All
start at θ = e/2 and stop on a step of 1e-3; objectives have to agree to 1e-6. One BLAS thread, if OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

import dcprog
from benchmarks import run
from dcprog.models.alignment import alignment

LAM, ALPHA, TOL = 0.3, 5.0, 1e-3
SHAPES = {"ionosphere": (225, 126, 34), "pima": (500, 268, 8), "sonar": (111, 97, 60), "musk": (207, 269, 166)}
"""n₊, n₋, d of the data sets whose names they carry; the points are synthetic."""
OURS = {
    "auto": ("auto", {}),
    "ipopt, exact Hessian": ("ipopt", {"hessian_approximation": "exact"}),
    "ipopt, limited memory": ("ipopt", {"hessian_approximation": "limited-memory"}),
}


def synthetic(n_plus: int, n_minus: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussian classes whose means differ in a tenth of the features, standardised."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [n_plus, n_minus])
    X = rng.normal(size=(len(y), d))
    X[:, : max(2, d // 10)] += 0.6 * y[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def histograms(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Counts like those of section 5.3: d/10 histograms of ten bins that vary from point to point; a tenth of them vary
    around another shape in each class."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], [n - n // 2, n // 2])
    plus, far = rng.dirichlet(np.ones(10), (2, d // 10))
    minus = np.where(np.arange(d // 10)[:, None] % 10 == 0, 0.7 * plus + 0.3 * far, plus)
    shapes = [[rng.dirichlet(10 * p + 1e-3) for p in (plus if label > 0 else minus)] for label in y]
    return rng.multinomial(1000, np.array(shapes)).reshape(n, d).astype(float), y


def lbfgsb_loop(X: np.ndarray, y: np.ndarray) -> float:
    """DCA as one would write it down for the Gaussian kernel and nothing else."""
    d = X.shape[1]
    Z = X / np.sqrt(2 * (np.sqrt(d) / 2) ** 2)
    P, N = Z[y > 0], Z[y < 0]
    squares = {id(A): A**2 for A in (P, N)}

    def mean_kernel(A: np.ndarray, B: np.ndarray, theta: np.ndarray) -> tuple[float, np.ndarray]:
        AA, BB = squares[id(A)], squares[id(B)]
        K = 2 * (A * theta) @ B.T
        K -= (AA @ theta)[:, None]
        K -= BB @ theta
        np.exp(K, out=K)
        gradient = 2 * np.einsum("ik,ik->k", A, K @ B) - K.sum(axis=1) @ AA - K.sum(axis=0) @ BB
        return float(K.mean()), gradient / K.size

    def h(theta: np.ndarray) -> tuple[float, np.ndarray]:
        (a, da), (b, db) = mean_kernel(P, P, theta), mean_kernel(N, N, theta)
        decay = np.exp(-ALPHA * theta)
        value = (1 - LAM) / 2 * (a + b) + LAM / d * (decay - 1).sum()
        return value, (1 - LAM) / 2 * (da + db) - LAM / d * ALPHA * decay

    def linearised(theta: np.ndarray, u: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = mean_kernel(P, N, theta)
        return (1 - LAM) * value - u @ theta, (1 - LAM) * gradient - u

    theta = np.full(d, 0.5)
    while True:
        u = h(theta)[1]
        options = {"maxcor": 20, "ftol": 1e-14, "gtol": 1e-8, "maxiter": 10_000}
        new = minimize(linearised, theta, (u,), "L-BFGS-B", jac=True, bounds=[(0, 1)] * d, options=options).x
        step, theta = np.abs(new - theta) / np.maximum(np.abs(theta), 1), new
        if step.max() <= TOL:
            return linearised(theta, 0 * u)[0] - h(theta)[0]


def pair_squares(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """(xₖ − zₖ)²/2σ² for the pairs between the classes and within each, one row per pair."""
    P, N, scale = X[y > 0], X[y < 0], 2 / X.shape[1]
    sets = {"between": (P, N), "plus": (P, P), "minus": (N, N)}
    return {name: scale * (A[:, None] - B).reshape(-1, X.shape[1]) ** 2 for name, (A, B) in sets.items()}


def cvxpy_loop(X: np.ndarray, y: np.ndarray) -> float:
    """DCA with CVXPY: one exponential cone per pair, the linear cost a Parameter."""
    import cvxpy as cp

    D, d = pair_squares(X, y), X.shape[1]
    variable, u = cp.Variable(d), cp.Parameter(d)
    g = (1 - LAM) * cp.sum(cp.exp(-D["between"] @ variable)) / len(D["between"])
    problem = cp.Problem(cp.Minimize(g - u @ variable), [variable >= 0, variable <= 1])
    within = ("plus", "minus")

    def h(theta: np.ndarray) -> tuple[float, np.ndarray]:
        K, decay = {s: np.exp(-D[s] @ theta) for s in within}, np.exp(-ALPHA * theta)
        value = (1 - LAM) / 2 * sum(K[s].mean() for s in within) + LAM / d * (decay - 1).sum()
        return value, -(1 - LAM) / 2 * sum(K[s] @ D[s] / len(D[s]) for s in within) - LAM / d * ALPHA * decay

    theta = np.full(d, 0.5)
    while True:
        u.value = h(theta)[1]
        problem.solve(solver=cp.CLARABEL)
        new = np.clip(variable.value, 0, 1)
        step, theta = np.abs(new - theta).max(), new
        if step <= TOL:
            return (1 - LAM) * np.exp(-D["between"] @ theta).mean() - h(theta)[0]


def dccp_solve(X: np.ndarray, y: np.ndarray) -> float:
    """dccp takes no difference in the objective: min t − s with g ≤ t and s ≤ h, the latter convexified by dccp."""
    import cvxpy as cp
    import dccp  # noqa: F401 (registers the method)

    D, d = pair_squares(X, y), X.shape[1]
    theta, t, s = cp.Variable(d), cp.Variable(), cp.Variable()
    mean = lambda name: cp.sum(cp.exp(-D[name] @ theta)) / len(D[name])
    h = (1 - LAM) / 2 * (mean("plus") + mean("minus")) + LAM / d * (cp.sum(cp.exp(-ALPHA * theta)) - d)
    theta.value = np.full(d, 0.5)
    problem = cp.Problem(cp.Minimize(t - s), [(1 - LAM) * mean("between") <= t, s <= h, theta >= 0, theta <= 1])
    problem.solve(method="dccp", solver=cp.CLARABEL, tau_ini=10, ep=1e-8)  # with τ < 1 the slack of s ≤ h is unbounded
    return float((1 - LAM) * mean("between").value - h.value)


def ours(name: str, X: np.ndarray, y: np.ndarray, **parameters: Any) -> float:
    solver, options = OURS[name]
    result = dcprog.solve(alignment(X, y, LAM, ALPHA, **parameters), solver=solver, solver_options=options)
    if not result.success:
        raise RuntimeError(str(result))
    return result.objective


def timed(run: Callable[[], float], repeats: int) -> tuple[float, float]:
    """The objective, and the least of some times."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        objective = run()
        seconds.append(time.perf_counter() - began)
    return objective, min(seconds)


def rows(quick: bool) -> Iterator[dict[str, Any]]:
    """One row per problem and method, each problem's reference first."""
    repeats = 1 if quick else 3
    for problem, shape in SHAPES.items():
        X, y = synthetic(*shape)
        methods: dict[str, Callable[[], float]] = {"L-BFGS-B by hand": lambda X=X, y=y: lbfgsb_loop(X, y)}
        methods |= {name: lambda name=name, X=X, y=y: ours(name, X, y) for name in OURS}
        yield from compared(f"{problem} {shape}", methods, repeats)
    for d in (10, 60):
        X, y = synthetic(30, 30, d)
        methods = {name: lambda name=name, X=X, y=y: ours(name, X, y) for name in OURS}
        methods |= {"CVXPY": lambda X=X, y=y: cvxpy_loop(X, y), "dccp": lambda X=X, y=y: dccp_solve(X, y)}
        yield from compared(f"60 × {d}", methods, repeats)
    if not quick:
        C, labels = synthetic(500, 500, 650)
        both = {"L-BFGS-B by hand": lambda: lbfgsb_loop(C, labels), "auto": lambda: ours("auto", C, labels)}
        yield from compared("1000 × 650", both, 1)
        H, labels = histograms(1000, 650)
        yield from compared("1000 × 650, χ²", {"auto": lambda: ours("auto", H, labels, kernel="chi2")}, 1)


def compared(problem: str, methods: dict[str, Callable[[], float]], repeats: int) -> Iterator[dict[str, Any]]:
    first: float | None = None
    for method, call in methods.items():
        try:
            objective, seconds = timed(call, repeats)
        except ImportError as error:
            print(f"{problem:28} {method:24} not installed ({error})")
            continue
        first = seconds if first is None else first
        row = {"problem": problem, "method": method, "seconds": seconds, "ratio": seconds / first, "objective": objective}
        print(f"{problem:28} {method:24} {seconds:9.3f} s {row['ratio']:8.2f} × {objective:18.10f}", flush=True)
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repetition, and no 1000 × 650")
    parser.add_argument("--json", type=Path, help="write the rows there")
    arguments = parser.parse_args()
    table = list(rows(arguments.quick))
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    run(main)

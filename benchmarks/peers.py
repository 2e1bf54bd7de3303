"""Peers of the FSV and ℓ2-ℓ0 models: what one would write without dcprog. Each returns (objective, iterations).

All start at v⁰ = e and stop when min(|Δv|, |Δv/v|) ≤ tol in every component, with summed errors for FSV and mean errors for
the ℓ2-ℓ0-SVM.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

ALPHA, TOL = 5.0, 1e-5


def highspy_loop(X: Any, y: np.ndarray, lam: float, form: str) -> tuple[float, int]:
    """FSV by HiGHS alone, the basis kept from LP to LP; ``form`` is "paper" (−v ≤ w ≤ v) or "split" (w = p − q)."""
    import highspy

    n, d = X.shape
    signed = y[:, None] * X
    eye, label = sp.eye(n), y[:, None]
    if form == "paper":
        rows = sp.vstack([
            sp.hstack([signed, sp.csc_matrix((n, d)), label, eye]),
            sp.hstack([sp.eye(d), sp.eye(d), sp.csc_matrix((d, 1 + n))]),
            sp.hstack([-sp.eye(d), sp.eye(d), sp.csc_matrix((d, 1 + n))]),
        ])  # fmt: skip
        lower = np.concatenate([np.full(d, -np.inf), np.zeros(d), [-np.inf], np.zeros(n)])
        limits = np.concatenate([np.ones(n), np.zeros(2 * d)])
    else:
        rows = sp.hstack([signed, -signed, label, eye])
        lower = np.concatenate([np.zeros(2 * d), [-np.inf], np.zeros(n)])
        limits = np.ones(n)
    A = sp.csc_matrix(rows)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = A.shape[1], A.shape[0]
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = np.zeros(A.shape[1]), lower, np.full(A.shape[1], np.inf)
    lp.row_lower_, lp.row_upper_ = limits, np.full(A.shape[0], np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    columns = np.arange(A.shape[1], dtype=np.int32)

    def step(weights: np.ndarray) -> tuple[np.ndarray, float]:
        sizes = [np.zeros(d), weights] if form == "paper" else [weights, weights]
        highs.changeColsCost(len(columns), columns, np.concatenate([*sizes, [0.0], np.full(n, 1 - lam)]))
        highs.run()
        highs.setOptionValue("simplex_strategy", 4)  # primal simplex for the LPs to come
        z = np.array(highs.getSolution().col_value)
        v = z[d : 2 * d] if form == "paper" else z[:d] + z[d : 2 * d]
        return v, (1 - lam) * z[2 * d + 1 :].sum()

    return _dca(step, d, lam)


def cvxpy_loop_fsv(X: Any, y: np.ndarray, lam: float, solver: str) -> tuple[float, int]:
    """FSV by CVXPY with the weights as a Parameter, so that the problem is compiled once."""
    import cvxpy as cp

    n, d = X.shape
    w, v, b, xi = cp.Variable(d), cp.Variable(d), cp.Variable(), cp.Variable(n, nonneg=True)
    weights = cp.Parameter(d, nonneg=True)
    constraints = [cp.multiply(y, X @ w + b) + xi >= 1, -v <= w, w <= v]
    problem = cp.Problem(cp.Minimize((1 - lam) * cp.sum(xi) + weights @ v), constraints)

    def step(values: np.ndarray) -> tuple[np.ndarray, float]:
        weights.value = values
        problem.solve(solver=solver)
        return np.abs(w.value), (1 - lam) * xi.value.sum()

    return _dca(step, d, lam)


def cvxpy_loop_l2_l0(X: Any, y: np.ndarray, mu: float, nu: float, solver: str = "CLARABEL") -> tuple[float, int]:
    """The ℓ2-ℓ0-SVM by CVXPY with a Parameter."""
    import cvxpy as cp

    n, d = X.shape
    w, v, b, xi = cp.Variable(d), cp.Variable(d), cp.Variable(), cp.Variable(n, nonneg=True)
    weights = cp.Parameter(d, nonneg=True)
    constraints = [cp.multiply(y, X @ w + b) + xi >= 1, -v <= w, w <= v]
    problem = cp.Problem(cp.Minimize(mu / n * cp.sum(xi) + 0.5 * cp.sum_squares(w) + weights @ v), constraints)

    def step(values: np.ndarray) -> tuple[np.ndarray, float]:
        weights.value = values
        problem.solve(solver=solver)
        return np.abs(w.value), mu / n * xi.value.sum() + 0.5 * w.value @ w.value

    return _dca(step, d, nu)


def dccp_fsv(X: Any, y: np.ndarray, lam: float, solver: str | None = None) -> tuple[float, int]:
    """FSV stated to dccp, which linearises the concave part itself; by default with the solver that it takes itself."""
    import cvxpy as cp
    import dccp  # noqa: F401 (registers the method)

    n, d = X.shape
    w, v, b, xi = cp.Variable(d), cp.Variable(d), cp.Variable(), cp.Variable(n, nonneg=True)
    constraints = [cp.multiply(y, X @ w + b) + xi >= 1, -v <= w, w <= v]
    problem = cp.Problem(cp.Minimize((1 - lam) * cp.sum(xi) + lam * cp.sum(1 - cp.exp(-ALPHA * v))), constraints)
    v.value, w.value, b.value, xi.value = np.ones(d), np.zeros(d), 0.0, np.ones(n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(method="dccp", ep=TOL, max_iter=100, **({} if solver is None else {"solver": solver}))
    if w.value is None:
        raise RuntimeError("dccp found no point")
    errors = np.maximum(0, 1 - y * (X @ w.value + b.value)).sum()
    return (1 - lam) * errors + lam * (1 - np.exp(-ALPHA * np.abs(w.value))).sum(), 0


def _dca(step: Callable[[np.ndarray], tuple[np.ndarray, float]], d: int, weight: float) -> tuple[float, int]:
    v, change, iterations, rest = np.ones(d), np.inf, 0, np.nan
    while change > TOL and iterations < 1000:
        new, rest = step(weight * ALPHA * np.exp(-ALPHA * v))
        change = float((np.abs(new - v) / np.maximum(np.abs(v), 1.0)).max())
        v, iterations = new, iterations + 1
    return rest + weight * (1 - np.exp(-ALPHA * v)).sum(), iterations


if __name__ == "__main__":
    print(__doc__ + "\nThese are measured by python -m benchmarks.linear.")

"""Few entries, spheres and complements: sparse singular vectors, sparse recovery, portfolios, PCA, x'y = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from benchmarks.dc_problems import Arrays, Problem, largest
from dcprog import DCConstraint, DCProgram, MatrixConstraint
from dcprog.functions import Each, L1Norm, LargestSum, Norm2, SquaredNorm


def sparse_singular_vector(n: int = 10, bound: float = 1.8) -> Problem:
    """A sparse right singular vector: min ‖Ax‖ with ‖x‖ = 1, ‖x‖₁ ≤ µ. Shen, Diamond, Gu & Boyd (2016), 5.9."""
    rng = np.random.default_rng(3)
    U, _, V = np.linalg.svd(rng.normal(size=(n, n)))
    A = U @ np.diag(1 + np.abs(rng.normal(size=n))) @ V

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(n))
        m.unit = DCConstraint(p=Norm2()(m.x), q=1, equation=True)
        m.sparse = DCConstraint(p=L1Norm()(m.x), q=bound)
        return DCProgram(m, SquaredNorm()(A, m.x), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x = cp.Variable(n)
        return cp.Problem(cp.Minimize(cp.norm(A @ x)), [cp.norm(x) == 1, cp.norm1(x) <= bound]), {"x": x}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"x": rng.normal(size=n)}

    def judged(x: Arrays) -> tuple[float, float]:
        v = x["x"]
        return float(np.linalg.norm(A @ v)), largest(abs(np.linalg.norm(v) - 1), np.abs(v).sum() - bound)

    return Problem("sparse singular vector", ours, peer, start, judged)


def sparse_recovery(n: int = 100, rows: int = 60, used: int = 30) -> Problem:
    """The sparsest x ≥ 0 with Ax = y, by min Σ√xᵢ. The same, 5.6."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(rows, n))
    true = np.zeros(n)
    true[rng.choice(n, used, replace=False)] = np.abs(rng.normal(size=used))
    y = A @ true
    smallest = 1e-9
    """√ has no slope at 0."""

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(n), bounds=(0, None))
        m.measured = MatrixConstraint(A, m.x, lower=y, upper=y)
        return DCProgram(m, 0, -sum(pyo.sqrt(v + smallest) for v in m.x.values()))

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x = cp.Variable(n, nonneg=True)
        return cp.Problem(cp.Minimize(cp.sum(cp.sqrt(x + smallest))), [A @ x == y]), {"x": x}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"x": rng.uniform(size=n)}

    def judged(x: Arrays) -> tuple[float, float]:
        return float(np.sqrt(np.maximum(x["x"], 0) + smallest).sum()), largest(np.abs(A @ x["x"] - y), -x["x"])

    return Problem("sparse recovery by Σ√x", ours, peer, start, judged, float(np.sqrt(true + smallest).sum()))


def reverse_convex_regression(n: int = 200, d: int = 20) -> Problem:
    """Least squares with coefficients that are not small: min ‖Xw − y‖² with ‖w‖ ≥ r; a secular equation solves it."""
    rng = np.random.default_rng(5)
    X, radius = rng.normal(size=(n, d)), 10.0
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    values, V = np.linalg.eigh(X.T @ X)
    b = V.T @ X.T @ y

    def best() -> float:
        """(X'X − µI)w = X'y with ‖w‖ = r and µ below the least eigenvalue, by bisection."""
        low, high = 0.0, values[0]
        for _ in range(200):
            mu = (low + high) / 2
            low, high = (mu, high) if np.linalg.norm(b / (values - mu)) < radius else (low, mu)
        return float(np.linalg.norm(X @ V @ (b / (values - low)) - y) ** 2)

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.w = pyo.Var(range(d))
        m.large = DCConstraint(p=radius, q=Norm2()(m.w))
        return DCProgram(m, SquaredNorm()(X, m.w, -y), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        w = cp.Variable(d)
        return cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)), [cp.norm(w) >= radius]), {"w": w}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"w": rng.normal(size=d)}

    def judged(x: Arrays) -> tuple[float, float]:
        return float(np.sum((X @ x["w"] - y) ** 2)), largest(radius - np.linalg.norm(x["w"]))

    return Problem("regression with ‖w‖ ≥ r", ours, peer, start, judged, known=best())


def portfolio(n: int = 60, k: int = 8) -> Problem:
    """At most k assets: min w'Σw, µ'w ≥ r, Σw = 1, w ≥ 0, Σw − (sum of the k largest) ≤ 0. Gotoh, Takeda & Tono, Math.
    Program. 169 (2018)."""
    rng = np.random.default_rng(6)
    F = rng.normal(size=(n, 5))
    cov = 0.01 * (F @ F.T / 5 + np.diag(rng.uniform(0.2, 1, n)))
    mean, least = rng.uniform(0.02, 0.15, n), 0.08
    root = np.linalg.cholesky(cov).T
    rows = np.vstack([mean, np.ones(n)])

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.w = pyo.Var(range(n), bounds=(0, 1))
        m.budget = MatrixConstraint(rows, m.w, lower=[least, 1], upper=[np.inf, 1])
        m.few = DCConstraint(p=sum(m.w.values()), q=LargestSum(k)(m.w))
        return DCProgram(m, SquaredNorm()(root, m.w), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        w = cp.Variable(n)
        held = [mean @ w >= least, cp.sum(w) == 1, w >= 0, cp.sum(w) <= cp.sum_largest(w, k)]
        return cp.Problem(cp.Minimize(cp.sum_squares(root @ w)), held), {"w": w}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"w": rng.dirichlet(np.ones(n))}

    def judged(x: Arrays) -> tuple[float, float]:
        w = x["w"]
        rest = np.sort(w)[:-k].sum()
        return float(w @ cov @ w), largest(least - mean @ w, abs(w.sum() - 1), -w, rest)

    return Problem(f"portfolio of {k} out of {n}", ours, peer, start, judged)


def nonnegative_pca(n: int = 60) -> Problem:
    """The leading component without negative entries: max x'Σx with ‖x‖² = 1, x ≥ 0. Montanari & Richard, IEEE Trans. Inf.
    Theory 62 (2016)."""
    rng = np.random.default_rng(7)
    B = rng.normal(size=(n, 2 * n))
    spike = np.abs(rng.normal(size=n))
    S = B @ B.T / (2 * n) + 2 * np.outer(spike, spike) / (spike @ spike)
    root = np.linalg.cholesky(S).T

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(n), bounds=(0, None))
        m.sphere = DCConstraint(p=SquaredNorm()(m.x), q=1, equation=True)
        return DCProgram(m, 0, SquaredNorm()(root, m.x))

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x = cp.Variable(n)
        return cp.Problem(cp.Maximize(cp.sum_squares(root @ x)), [cp.sum_squares(x) == 1, x >= 0]), {"x": x}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        x = np.abs(rng.normal(size=n))
        return {"x": x / np.linalg.norm(x)}

    def judged(x: Arrays) -> tuple[float, float]:
        v = x["x"]
        return -float(v @ S @ v), largest(abs(v @ v - 1), -v)

    return Problem(f"nonnegative PCA, n = {n}", ours, peer, start, judged)


def complementarity(n: int = 20) -> Problem:
    """The nearest complementary pair: min ‖x − a‖² + ‖y − b‖² with x, y ≥ 0 and x'y = 0, which has no interior."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, n)) + 1
    both = np.hstack([np.eye(n), np.eye(n)]), np.hstack([np.eye(n), -np.eye(n)])

    def ours() -> DCProgram:
        m = pyo.ConcreteModel()
        m.x, m.y = pyo.Var(range(n), bounds=(0, None)), pyo.Var(range(n), bounds=(0, None))
        z = [*m.x.values(), *m.y.values()]
        m.either = DCConstraint(p=Each(SquaredNorm(), 1)(both[0], z), q=Each(SquaredNorm(), 1)(both[1], z))
        return DCProgram(m, SquaredNorm()(np.eye(2 * n), z, -np.concatenate([a, b])), 0)

    def peer() -> tuple[Any, dict[str, Any]]:
        import cvxpy as cp

        x, y = cp.Variable(n), cp.Variable(n)
        held = [x >= 0, y >= 0, cp.square(x + y) <= cp.square(x - y)]
        return cp.Problem(cp.Minimize(cp.sum_squares(x - a) + cp.sum_squares(y - b)), held), {"x": x, "y": y}

    def start(rng: np.random.Generator) -> dict[str, np.ndarray]:
        x, y = rng.uniform(size=(2, n))
        return {"x": x, "y": y}

    def judged(x: Arrays) -> tuple[float, float]:
        u, v = x["x"], x["y"]
        return float(np.sum((u - a) ** 2) + np.sum((v - b) ** 2)), largest(-u, -v, 4 * u * v)

    one, other = np.minimum(a, 0) ** 2 + b**2, np.minimum(b, 0) ** 2 + a**2  # x = a⁺ and y = 0, or the other way round
    return Problem("complementarity xᵢyᵢ = 0", ours, peer, start, judged, float(np.minimum(one, other).sum()))

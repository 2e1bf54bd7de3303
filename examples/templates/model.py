"""Template of a model. Copy it to models/, add it to FACTORIES in models/__init__.py, run it:

python examples/templates/model.py
"""

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp
from scipy.optimize import linprog

import dcprog
from dcprog import DCProgram, MatrixConstraint
from dcprog.functions import CappedL1, L1Norm
from dcprog.functions.checks import matrix, number, vector


def sparse_median(X: Any, y: Any, lam: float = 0.1, theta: float = 0.1) -> DCProgram:
    """Median regression with few coefficients: min 1/n Σ |xᵢ'w − yᵢ| + λ Σⱼ min(|wⱼ|/θ, 1).

    DC split: g = 1/n ‖r‖₁ with r = Xw − y, and h = −λ Σⱼ min(vⱼ/θ, 1) with v ≥ |w|. One LP an iteration.

    A factory is a plain function from data and parameters to a program on a Pyomo model that it builds itself. It checks its
    arguments; data become one :class:`~dcprog.MatrixConstraint`, not a row at a time.
    """
    X, lam = matrix("X", X), number("lam", lam, 0, such_as=0.1)
    n, d = X.shape
    y = vector("y", y, n)
    m = pyo.ConcreteModel()
    m.w, m.v, m.r = pyo.Var(range(d)), pyo.Var(range(d), bounds=(0, None), initialize=1.0), pyo.Var(range(n))
    m.residuals = MatrixConstraint([X, -sp.eye_array(n)], [m.w, m.r], lower=y, upper=y)
    eye = sp.eye_array(d)
    m.above = MatrixConstraint([eye, eye], [m.w, m.v], lower=0.0)
    m.below = MatrixConstraint([-eye, eye], [m.w, m.v], lower=0.0)
    g = L1Norm(np.full(n, 1.0 / n))(m.r)
    return DCProgram(m, g=g, h=lam * CappedL1(theta)(m.v), name="sparse_median", stop_on=["v"])


def least_deviation(X: np.ndarray, y: np.ndarray) -> float:
    """min 1/n Σ |xᵢ'w − yᵢ|, by SciPy and without dcprog."""
    n, d = X.shape
    cost = np.concatenate([np.zeros(d), np.full(2 * n, 1.0 / n)])
    bounds = [(None, None)] * d + [(0, None)] * (2 * n)
    return linprog(cost, A_eq=np.hstack([X, -np.eye(n), np.eye(n)]), b_eq=y, bounds=bounds).fun


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 10))
    y = 3 * X[:, 0] - 2 * X[:, 3] + 0.05 * rng.standard_t(2, 60)
    dcprog.testing.check_program(sparse_median(X, y)).raise_if_failed()
    result = dcprog.solve(sparse_median(X, y))
    assert result.success, result.status
    assert np.flatnonzero(abs(result["w"]) > 1e-6).tolist() == [0, 3], result["w"]
    # Where the penalty is next to nothing, the optimum is that of an LP which another program solves.
    assert abs(dcprog.solve(sparse_median(X, y, lam=1e-9)).objective - least_deviation(X, y)) <= 1e-7
    print(f"sparse_median finds the two features of ten, f = {result.objective:.4f}")

"""Few assets, and one of two: a portfolio of at most k assets, and the nearest pair x, y ≥ 0 with x'y = 0.

At most k assets: Σw is no more than the sum of the k largest, which is convex in w (Gotoh, Takeda & Tono, Math. Program.
169, 2018). x'y = 0 has no interior and no multipliers at most points: what is returned says what it is.

    python examples/few_assets.py [assets.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.functions import Each, LargestSum, SquaredNorm

rng = np.random.default_rng(6)

# 1. min w'Σw with µ'w ≥ r, Σw = 1, w ≥ 0, for several k.
n, least = 30, 0.08
F = rng.normal(size=(n, 4))
covariance, mean = 0.01 * (F @ F.T / 4 + np.diag(rng.uniform(0.2, 1, n))), rng.uniform(0.02, 0.15, n)
root = np.linalg.cholesky(covariance).T
sizes, risks = (2, 3, 5, 8, 12, n), []
for k in sizes:
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(n), bounds=(0, 1))
    m.budget = dcprog.MatrixConstraint(np.vstack([mean, np.ones(n)]), m.w, lower=[least, 1], upper=[np.inf, 1])
    if k < n:
        m.few = dcprog.DCConstraint(p=sum(m.w.values()), q=LargestSum(k)(m.w))
    program = dcprog.DCProgram(m, SquaredNorm()(root, m.w), 0)
    starts = [dcprog.solve(program, x0={"w": np.random.default_rng(s).dirichlet(np.ones(n))}) for s in range(3)]
    best = min((r for r in starts if r.violation <= 1e-6), key=lambda r: r.objective)
    risks.append(np.sqrt(best.objective))
    print(f"k = {k:2}: {best.status}, {int((best['w'] > 1e-5).sum()):2} assets, deviation {risks[-1]:.4f}")

# 2. min ‖x − a‖² + ‖y − b‖² with xᵢyᵢ ≤ 0: (x + y)² − (x − y)² ≤ 0.
d = 8
a, b = rng.normal(size=(2, d)) + 1
plus, minus = np.hstack([np.eye(d), np.eye(d)]), np.hstack([np.eye(d), -np.eye(d)])
m = pyo.ConcreteModel()
m.x, m.y = pyo.Var(range(d), bounds=(0, None)), pyo.Var(range(d), bounds=(0, None))
z = [*m.x.values(), *m.y.values()]
m.either = dcprog.DCConstraint(p=Each(SquaredNorm(), 1)(plus, z), q=Each(SquaredNorm(), 1)(minus, z))
program = dcprog.DCProgram(m, SquaredNorm()(np.eye(2 * d), z, -np.concatenate([a, b])), 0)
pair = dcprog.solve(program, x0={"x": np.full(d, 0.3), "y": np.full(d, 0.3)})
known = np.minimum(np.minimum(a, 0) ** 2 + b**2, np.minimum(b, 0) ** 2 + a**2).sum()
product = (pair["x"] * pair["y"]).max()
print(f"x'y = 0: {pair.status}, {pair.objective:.4f}, the least is {known:.4f}; largest xᵢyᵢ {product:.1e}")


def picture(path):
    """Risk over the number of assets, and the pairs."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(sizes, risks, "o-")
    left.set(xlabel="assets at most", ylabel="deviation")
    right.plot(a, b, "o", fillstyle="none", label="(a, b)")
    right.plot(pair["x"], pair["y"], ".", label="(x, y)")
    for k in range(d):
        right.plot([a[k], pair["x"][k]], [b[k], pair["y"][k]], color="gray", linewidth=0.5)
    right.legend()
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

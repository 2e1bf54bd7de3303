"""Vectors of a given length: sparse singular vectors, a leading component without negative entries, regression with ‖w‖ ≥ r.

‖x‖ = 1 is an equation between convex functions, ‖w‖ ≥ r a reverse-convex row. The first is from Shen, Diamond, Gu & Boyd,
Disciplined convex-concave programming (2016), 5.9, the second from Montanari & Richard, IEEE Trans. Inf. Theory 62 (2016).

    python examples/vectors_on_a_sphere.py [sphere.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.functions import L1Norm, Norm2, SquaredNorm

rng = np.random.default_rng(3)
n = 10

# 1. min ‖Ax‖² with ‖x‖ = 1 and ‖x‖₁ ≤ µ, from µ = √n (all vectors) to µ = 1 (unit vectors).
U, _, V = np.linalg.svd(rng.normal(size=(n, n)))
A = U @ np.diag(1 + np.abs(rng.normal(size=n))) @ V
bounds, vectors = (np.sqrt(n), 2.4, 1.8, 1.3), []
for bound in bounds:
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n))
    m.unit = dcprog.DCConstraint(p=Norm2()(m.x), q=1, equation=True)
    m.sparse = dcprog.DCConstraint(p=L1Norm()(m.x), q=bound)
    result = dcprog.solve(dcprog.DCProgram(m, SquaredNorm()(A, m.x), 0), x0={"x": V[-1] + 0.1})
    vectors.append(result["x"])
    used = int((np.abs(result["x"]) > 1e-4).sum())
    print(f"‖x‖₁ ≤ {bound:.2f}: {result.status}, ‖Ax‖ = {np.sqrt(result.objective):.4f}, {used} entries")
print(f"least singular value {np.linalg.svd(A)[1][-1]:.4f}")

# 2. max x'Sx with ‖x‖ = 1, x ≥ 0, where S has a spike in a nonnegative direction.
d = 30
spike = np.abs(rng.normal(size=d))
spike /= np.linalg.norm(spike)
B = rng.normal(size=(d, 2 * d))
S = B @ B.T / (2 * d) + 1.5 * np.outer(spike, spike)
m = pyo.ConcreteModel()
m.x = pyo.Var(range(d), bounds=(0, None))
m.sphere = dcprog.DCConstraint(p=SquaredNorm()(m.x), q=1, equation=True)
component = dcprog.solve(
    dcprog.DCProgram(m, 0, SquaredNorm()(np.linalg.cholesky(S).T, m.x), name="nonnegative component"),
    x0={"x": np.full(d, d**-0.5)},
)
free = np.linalg.eigh(S)[1][:, -1]
cosines = component["x"] @ spike, abs(free @ spike)
print(f"component: {component.status}; cosine with the spike {cosines[0]:.3f}, of the free one {cosines[1]:.3f}")

# 3. min ‖Xw − y‖² with ‖w‖ ≥ r: coefficients that are not small.
X = rng.normal(size=(80, n))
y = X @ rng.normal(size=n) + rng.normal(size=80)
radii, regressions = np.linspace(1, 8, 8), []
for radius in radii:
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(n), initialize=1.0)
    m.large = dcprog.DCConstraint(p=radius, q=Norm2()(m.w))
    regressions.append(dcprog.solve(dcprog.DCProgram(m, SquaredNorm()(X, m.w, -y), 0)))
print("‖Xw − y‖² for ‖w‖ ≥ r:", ", ".join(f"{r.objective:.2f}" for r in regressions))


def picture(path):
    """Sparse vectors, the component beside the spike, and errors over r."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    one, two, three = figure.subplots(1, 3)
    one.imshow(np.abs(vectors), cmap="Blues", aspect="auto")
    one.set(title="|x| of sparse singular vectors", ylabel="µ", yticks=range(len(bounds)))
    one.set_yticklabels([f"{bound:.2f}" for bound in bounds])
    two.plot(spike, "o", fillstyle="none", markersize=8, label="spike")
    two.plot(component["x"], ".", label="component ≥ 0")
    two.legend()
    three.plot(radii, [r.objective for r in regressions], "o-")
    three.set(title="‖Xw − y‖²", xlabel="r")
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

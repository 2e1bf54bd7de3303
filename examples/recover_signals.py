"""Signals from less than linear data: from sizes without phases, from noise where all are ±1, from few rows.

Phase retrieval |aₖ*x| = yₖ, boolean least squares with xᵢ² = 1, and the sparsest x ≥ 0 with Ax = y by min Σ√xᵢ: Shen,
Diamond, Gu & Boyd, Disciplined convex-concave programming (2016), 5.7, 5.2 and 5.6. Equations are DC constraints that keep
slacks.

    python examples/recover_signals.py [signals.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.functions import Each, Norm2, SquaredNorm

rng = np.random.default_rng(1)

# 1. A complex signal from the sizes of 60 complex measurements, up to one phase.
n, rows = 16, 60
a = (rng.normal(size=(rows, n)) + 1j * rng.normal(size=(rows, n))) / np.sqrt(2)
signal = rng.uniform(size=n) + 1j * rng.uniform(size=n)
M = np.stack([np.hstack([a.real, a.imag]), np.hstack([-a.imag, a.real])], axis=1).reshape(2 * rows, 2 * n)  # of a*x
m = pyo.ConcreteModel()
m.x = pyo.Var(range(2 * n))
m.sizes = dcprog.DCConstraint(p=Each(Norm2(), 2)(M, m.x), q=np.abs(a.conj() @ signal), equation=True)
phases = dcprog.solve(dcprog.DCProgram(m, 0, 0, name="phase retrieval"), x0={"x": rng.uniform(size=2 * n)})
x = phases["x"][:n] + 1j * phases["x"][n:]
x = x * np.exp(1j * np.angle(np.vdot(x, signal)))
print(
    f"phase retrieval: {phases.status}, ‖x − signal‖ / ‖signal‖ = {np.linalg.norm(x - signal) / np.linalg.norm(signal):.1e}"
)

# 2. Signs, by a plain Pyomo row x² = 1, from several starts.
k = 30
A, signs = rng.normal(size=(k, k)), rng.choice([-1.0, 1.0], k)
y = A @ signs + np.sqrt(k / 50) * rng.normal(size=k)
m = pyo.ConcreteModel()
m.x = pyo.Var(range(k))
m.sign = pyo.Constraint(range(k), rule=lambda m, i: m.x[i] ** 2 == 1)
program = dcprog.DCProgram(m, SquaredNorm()(A, m.x, -y), 0, name="signs")
found = [dcprog.solve(program, x0={"x": np.random.default_rng(s).normal(size=k)}) for s in range(5)]
best = min(found, key=lambda result: result.objective)
wrong = int((np.sign(best["x"]) != signs).sum())
true = np.sum((A @ signs - y) ** 2)
print(f"signs: {best.status}, ‖Ax − y‖² = {best.objective:.4f}, with the true signs {true:.4f}, {wrong} differ")

# 3. A sparse x ≥ 0 from half as many equations as unknowns: no DC constraint, but a concave objective.
d = 60
few = np.zeros(d)
few[rng.choice(d, 10, replace=False)] = rng.uniform(0.5, 2, 10)
C = rng.normal(size=(d // 2, d))
m = pyo.ConcreteModel()
m.x = pyo.Var(range(d), bounds=(0, None))
m.measured = dcprog.MatrixConstraint(C, m.x, lower=C @ few, upper=C @ few)
sparse = dcprog.solve(dcprog.DCProgram(m, 0, -sum(pyo.sqrt(v + 1e-6) for v in m.x.values()), name="sparse recovery"))
print(f"sparse recovery: {sparse.status}, largest error {np.abs(sparse['x'] - few).max():.1e}")


def picture(path):
    """What was recovered, and what was there."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    one, two, three = figure.subplots(1, 3)
    one.plot(signal.real, signal.imag, "o", fillstyle="none", markersize=9, label="signal")
    one.plot(x.real, x.imag, ".", label="from the sizes alone")
    one.set(title="phase retrieval", xlabel="real part", ylabel="imaginary part")
    two.stem(A.T @ y, linefmt="lightgray", markerfmt=" ", basefmt=" ")
    two.plot(k * signs, "o", fillstyle="none", markersize=8)
    two.plot(k * best["x"], ".")
    two.set(title="signs, and A'y")
    three.plot(few, "o", fillstyle="none", markersize=8)
    three.plot(sparse["x"], ".")
    three.set(title="sparse recovery")
    one.legend()
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

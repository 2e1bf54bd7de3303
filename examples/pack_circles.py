"""Circles in a square: ten unit circles that do not overlap, in the smallest square, by constraints ‖cᵢ − cⱼ‖ ≥ 2.

All 45 pairs are one DCConstraint, stated by a matrix: no Python runs per pair. The known optimum is 6.747442
(packomania.com); the problem is 5.1 of Shen, Diamond, Gu & Boyd, Disciplined convex-concave programming (2016).

    python examples/pack_circles.py [circles.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

import dcprog
from dcprog.functions import Each, Norm2

N = 10

i, j = np.triu_indices(N, 1)
pairs = np.zeros((len(i), N))
pairs[np.arange(len(i)), i], pairs[np.arange(len(i)), j] = 1, -1

m = pyo.ConcreteModel()
m.c = pyo.Var(range(N), [0, 1])
m.half = pyo.Var(bounds=(1, None))  # of the side
m.apart = dcprog.DCConstraint(p=2, q=Each(Norm2(), 2)(sp.kron(pairs, sp.eye(2)), m.c))  # 2 − ‖cᵢ − cⱼ‖ ≤ 0
m.inside = pyo.Constraint(range(N), [0, 1], [-1, 1], rule=lambda m, k, axis, sign: sign * m.c[k, axis] + 1 <= m.half)
program = dcprog.DCProgram(m, g=2 * m.half, h=0, name="ten circles")

found = []
for seed in range(10):
    c = np.random.default_rng(seed).uniform(-3, 3, (N, 2))
    found.append(dcprog.solve(program, x0={"c": c, "half": np.abs(c).max() + 1}))
best = min(found, key=lambda result: result.objective)
print(best)
print("sides from ten starts:", ", ".join(f"{result.objective:.4f}" for result in found))


def picture(path):
    """The circles of the best packing."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Circle, Rectangle
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    half = best["half"]
    axes.add_patch(Rectangle((-half, -half), 2 * half, 2 * half, fill=False))
    for centre in best["c"]:
        axes.add_patch(Circle(centre, 1, alpha=0.5))
    axes.set(xlim=(-1.03 * half, 1.03 * half), ylim=(-1.03 * half, 1.03 * half), aspect="equal")
    axes.set(title=f"side {best.objective:.4f}")
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

"""Ways that keep their distance: the shortest one around five discs, and two vehicles that change sides without a collision.

Both are from Shen, Diamond, Gu & Boyd, Disciplined convex-concave programming (2016), 5.4 and 5.5. Outside of a disc is a
constraint r − ‖x − c‖ ≤ 0, apart from each other r − ‖x − y‖ ≤ 0; the dynamics of the vehicles is one MatrixConstraint.

    python examples/plan_paths.py [paths.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

import dcprog
from dcprog.functions import Each, L1Norm, Norm2

DISCS = np.array([[3, 3], [6, 2], [5, 6], [7.5, 5.5], [9, 8]])
RADII = np.array([1.3, 1.1, 1.5, 1.0, 1.1])
SEGMENTS, T = 30, 40

# 1. min L, every one of n segments at most L/n long, every corner outside of every disc.
points = SEGMENTS + 1
m = pyo.ConcreteModel()
m.x = pyo.Var(range(points), [0, 1])
m.L = pyo.Var(bounds=(0, None))
for axis in (0, 1):
    m.x[0, axis].fix(0)
    m.x[SEGMENTS, axis].fix(10)
steps = sp.kron(sp.diags([-1.0, 1.0], [0, 1], shape=(SEGMENTS, points)), sp.eye(2))
m.steps = dcprog.DCConstraint(p=Each(Norm2(), 2)(steps, m.x), q=Each()(np.full((SEGMENTS, 1), 1 / SEGMENTS), m.L))
to_discs, centres = sp.kron(np.ones((5, 1)), sp.eye(2 * points)), np.tile(DISCS[:, None], (1, points, 1)).ravel()
m.outside = dcprog.DCConstraint(p=np.repeat(RADII, points), q=Each(Norm2(), 2)(to_discs, m.x, -centres))
program = dcprog.DCProgram(m, g=m.L, h=0, name="around five discs")
straight = 10 * np.linspace(0, 1, points)[:, None] * np.ones(2)
bent = [straight + bend * np.sin(np.pi * straight / 10) * [1, -1] for bend in (-3, 3)]
ways = [dcprog.solve(program, x0={"x": way, "L": 20.0}) for way in bent]
print("shortest ways, to the left and to the right:", ", ".join(f"{way.objective:.3f} ({way.status})" for way in ways))

# 2. Positions and velocities of both: x⁺ = Ax + Bu with the least thrust Σ‖u‖₁, 0.6 apart at all times.
A = np.array([[1, 0, 0.2, 0], [0, 1, 0, 0.2], [0, 0, 0.9, 0], [0, 0, 0, 0.9]])
B = np.array([[0, 0], [0, 0], [0.2, 0], [0, 0.2]])
ends = np.array([[0.5, 1, 0.5, 0, 0.5, 2.4, 0.5, 0], [3.5, 2.4, 0.5, 0, 3.5, 1, 0.5, 0]])
m = pyo.ConcreteModel()
m.x, m.u = pyo.Var(range(T), range(8)), pyo.Var(range(T - 1), range(4), bounds=(-1, 1))
for t, end in ((0, ends[0]), (T - 1, ends[1])):
    for k in range(8):
        m.x[t, k].fix(end[k])
moves = sp.kron(sp.eye(T - 1, T, k=1), sp.eye(8)) - sp.kron(sp.eye(T - 1, T), sp.block_diag([A, A]))
thrusts = sp.kron(sp.eye(T - 1), sp.block_diag([B, B]))
m.dynamics = dcprog.MatrixConstraint(sp.hstack([moves, -thrusts]), [*m.x.values(), *m.u.values()], lower=0, upper=0)
m.apart = dcprog.DCConstraint(p=0.6, q=Each(Norm2(), 2)(sp.kron(sp.eye(T), np.hstack([np.eye(2, 4), -np.eye(2, 4)])), m.x))
vehicles = dcprog.DCProgram(m, g=L1Norm()(m.u), h=0, name="two vehicles")
between = np.linspace(ends[0], ends[1], T) + 0.1 * np.random.default_rng(0).normal(size=(T, 8))
tracks = dcprog.solve(vehicles, x0={"x": between, "u": np.zeros((T - 1, 4))})
print(tracks)


def picture(path):
    """Both ways around the discs, and the tracks of the vehicles."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Circle
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for centre, radius in zip(DISCS, RADII, strict=True):
        left.add_patch(Circle(centre, radius, color="gray", alpha=0.5))
    for way in ways:
        left.plot(*way["x"].T, ".-", label=f"{way.objective:.3f}")
    left.set(title="around five discs", aspect="equal")
    left.legend()
    x = tracks["x"]
    right.plot(x[:, 0], x[:, 1], ".-", x[:, 4], x[:, 5], ".-")
    for t in range(0, T, 6):
        right.plot(x[t, [0, 4]], x[t, [1, 5]], color="gray", linewidth=0.5)
    right.set(title="two vehicles, and where they are at the same time")
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

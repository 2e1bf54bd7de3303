"""The largest polygons in a disc: corners are variables, and the area is a quadratic row that is neither convex nor concave.

max t with t ≤ area, as it stands in Pyomo; dcprog splits the row exactly. The optimum is the regular one, ½n·sin(2π/n).

    python examples/largest_polygons.py [polygons.png]        (the picture needs matplotlib: pip install matplotlib)
"""

import sys

import numpy as np
import pyomo.environ as pyo

import dcprog

corners, found = (3, 4, 6, 8), []
for n in corners:
    angle = np.sort(np.random.default_rng(n).uniform(0, 2 * np.pi, n))
    m = pyo.ConcreteModel()
    m.c = pyo.Var(range(n), [0, 1], initialize=lambda m, k, axis, a=angle: 0.8 * (np.cos, np.sin)[axis](a[k]))
    m.t = pyo.Var(bounds=(0, 4), initialize=0.1)
    m.inside = pyo.Constraint(range(n), rule=lambda m, k: m.c[k, 0] ** 2 + m.c[k, 1] ** 2 <= 1)
    area = sum(m.c[k, 0] * m.c[(k + 1) % n, 1] - m.c[(k + 1) % n, 0] * m.c[k, 1] for k in range(n)) / 2
    m.area = pyo.Constraint(expr=m.t <= area)
    found.append(dcprog.solve(dcprog.DCProgram(m, -m.t, 0)))
    known = n / 2 * np.sin(2 * np.pi / n)
    print(f"{n} corners: {found[-1].status}, area {-found[-1].objective:.6f}, of the regular one {known:.6f}")


def picture(path):
    """The polygons."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Circle, Polygon
    except ImportError:
        print(f"no {path}: pictures need matplotlib, python -m pip install matplotlib")
        return

    figure = Figure(figsize=(10, 2.8), layout="constrained")
    for axes, result in zip(figure.subplots(1, len(corners)), found, strict=True):
        axes.add_patch(Circle((0, 0), 1, fill=False))
        axes.add_patch(Polygon(result["c"], alpha=0.5))
        axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal", title=f"area {-result.objective:.4f}")
    figure.savefig(path, dpi=150)
    print(f"drawn: {path}")


if len(sys.argv) > 1:
    picture(sys.argv[1])

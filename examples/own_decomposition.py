"""Your own decomposition: a DC program in ten lines, then with a constraint, a kink, and a function of your own.

python examples/own_decomposition.py
"""

import numpy as np
import pyomo.environ as pyo

import dcprog
from dcprog.functions import ConvexFunction

# 1. x⁴ − (3x² + x) on [0, 2]: say which part is convex and which is subtracted.
m = pyo.ConcreteModel()
m.x = pyo.Var(bounds=(0, 2), initialize=1)
quartic = dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic")
print(dcprog.solve(quartic))

# 2. The point of a triangle that is farthest from the origin, measured by |x| + y²: constraints are Pyomo's own,
#    and abs(…) may stand in g or h.
m = pyo.ConcreteModel()
m.x, m.y = pyo.Var(initialize=0.1), pyo.Var(initialize=0.1)
m.sides = pyo.ConstraintList()
for side in (m.x + m.y <= 2, m.y - 2 * m.x <= 2, m.y >= -1):
    m.sides.add(side)
triangle = dcprog.DCProgram(m, g=0, h=abs(m.x) + m.y**2, name="farthest point of a triangle")
print(result := dcprog.solve(triangle, starts=4, seed=0))
print(f"  at ({result['x']:g}, {result['y']:g})\n")


# 3. A function of your own is one small class: value and (sub)gradient at a vector.
class Huber(ConvexFunction):
    """Σⱼ ½xⱼ² where |xⱼ| ≤ 1, |xⱼ| − ½ elsewhere."""

    def value(self, x):
        return float(np.where(np.abs(x) <= 1, x**2 / 2, np.abs(x) - 0.5).sum())

    def gradient(self, x):
        return np.clip(x, -1, 1)


m = pyo.ConcreteModel()
m.x = pyo.Var(range(3), bounds=(-4, 4), initialize={0: 3, 1: -2, 2: 0.5})
robust = dcprog.DCProgram(m, g=sum((m.x[i] - i) ** 2 for i in range(3)) / 4, h=Huber()(m.x), name="Huber")
print(dcprog.solve(robust))

# Is g − h what you think it is? Convexity, gradients, descent, criticality and the agreement of all solvers:
print(dcprog.testing.check_program(robust))

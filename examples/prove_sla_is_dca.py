"""SLA is DCA: Corollary 2 of Neumann, Schnörr & Steidl (2005) as an assertion you can run.

The Successive Linearization Algorithm of Bradley & Mangasarian and DCA are written in two files that share no step. On a
concave f = g − h (g linear) over a polyhedron they walk through the same points.

    python examples/prove_sla_is_dca.py
"""

import numpy as np
import pyomo.environ as pyo

from dcprog import DCA, SLA, DCProgram, MatrixConstraint, datasets
from dcprog.models import fsv
from dcprog.testing import assert_lockstep

# On the programs that SLA was invented for …
data = datasets.load("breast_cancer", standardise=True)
for lam in (0.05, 0.2, 0.5):
    program = fsv(data.X, data.y, lam=lam)
    shared = assert_lockstep(SLA(program, solver="highs"), DCA(program, solver="highs"))
    print(f"fsv, lam = {lam}: {shared} common iterates")

# … and on random concave functions over random polytopes.
rng = np.random.default_rng(0)
n, rows = 8, 12
for _ in range(20):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-1, 1), initialize=0)
    m.cut = MatrixConstraint(rng.standard_normal((rows, n)), m.x, upper=rng.uniform(0.5, 2, rows))
    h = sum(rng.uniform(0, 1) * (m.x[i] - rng.standard_normal()) ** 2 for i in range(n))
    program = DCProgram(m, g=sum(rng.standard_normal() * m.x[i] for i in range(n)), h=h)
    assert_lockstep(SLA(program, solver="highs"), DCA(program, solver="highs"))
print("20 random concave programs: the same iterates")

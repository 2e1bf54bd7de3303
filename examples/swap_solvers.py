"""Swap solvers by name: the same program, every solver that can take it, one table.

python examples/swap_solvers.py
"""

import dcprog
from dcprog import datasets
from dcprog.models import fsv, l2_l0_svm
from dcprog.solvers import registry

data = datasets.load("breast_cancer", standardise=True)
X, y = data.X[:40, :6], data.y[:40]
linear, quadratic = fsv(X, y, lam=0.1), l2_l0_svm(X, y, mu=50, nu=1)

for program in (linear, quadratic):
    print(program)
    for solver in registry.capable(program.compiled.subproblem):
        result = dcprog.solve(program, solver=solver.name)
        print(
            f"  {solver.name:10} {result.status}  f = {result.objective:.7f}  {result.iterations:2} iterations  "
            f"{result.timings['total']:.2f} s  {len(result.classifier.selected())} features"
        )

# Clarabel and OSQP are not part of the plain install: they join the tables once they are there.
for solver in dcprog.available_solvers():
    if not solver.available:
        print(f"{solver.name} is not installed: {solver.install}")

# A solver that cannot take a program says why, and which ones can.
try:
    dcprog.solve(linear, solver="scipy")
except dcprog.errors.CapabilityError as error:
    print(error)

# Options go to the solver as they are; what a solver claims is verified in any case.
result = dcprog.solve(quadratic, solver="ipopt", solver_options={"tol": 0.1})
print(f"ipopt with tol 0.1: {result.status}, f = {result.objective:.7f}, solved by {result.solver}")
print(*result.messages[:1], sep="\n")

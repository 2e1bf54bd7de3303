"""Where there is no wheel of Ipopt everything but the solver called ipopt works, and that one says what to do."""

from __future__ import annotations

import math
import os
import subprocess
import sys

HIDDEN = """
import sys
sys.modules["cyipopt"] = None  # to find_spec and to import it is not installed
import numpy as np, pyomo.environ as pyo
import dcprog
from dcprog.errors import SolverUnavailableError
"""
SOLVED = """
def program(kind):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-2, 2), initialize={0: 0.5, 1: -0.5})
    m.half = pyo.Constraint(expr=m.x[0] + m.x[1] <= 1)
    g = {"LP": 0, "QP": m.x[0] ** 2 + m.x[1] ** 2 / 2, "NLP": pyo.exp(m.x[0]) + pyo.exp(m.x[1])}[kind]
    return dcprog.DCProgram(m, g=g, h=2 * m.x[0] ** 2 + m.x[1] ** 2)
for kind, least in zip(sys.argv[1::2], map(float, sys.argv[2::2])):
    result = dcprog.solve(program(kind), starts=6, seed=0, n_jobs=1)
    assert result.success, (kind, result)
    assert abs(result.objective - least) <= 1e-6 * (1 + abs(least)), (kind, result)
    dcprog.testing.check_program(program(kind)).raise_if_failed()
    assert "cyipopt" not in [name for name, module in sys.modules.items() if module]
    print(kind, result.solver)
"""
NAMED = """
m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-1, 2), initialize=1)
program = dcprog.DCProgram(m, g=m.x**4, h=m.x**2)
try:
    dcprog.solve(program, solver="ipopt")
except SolverUnavailableError as error:
    print(error)
(line,) = [s for s in dcprog.available_solvers() if s.name == "ipopt"]
print(line.available, line.install)
"""
# f is concave but for NLP, where it rises in y, and in x has one minimum beyond 2: it is least at a corner of the set.
CORNERS = [(-2.0, -2.0), (-2.0, 2.0), (2.0, -2.0), (2.0, -1.0), (-1.0, 2.0)]
G = {
    "LP": lambda x, y: 0.0,
    "QP": lambda x, y: x**2 + y**2 / 2,
    "NLP": lambda x, y: math.exp(x) + math.exp(y),
}


def ran(code, *words):
    """What it prints in an interpreter of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code, *words], env=os.environ, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_of_every_class_are_solved():
    least = {kind: min(g(x, y) - 2 * x**2 - y**2 for x, y in CORNERS if x + y <= 1) for kind, g in G.items()}
    said = ran(HIDDEN + SOLVED, *(word for kind in G for word in (kind, repr(least[kind]))))
    solvers = dict(line.split() for line in said.splitlines())
    assert set(solvers) == set(G)
    assert "ipopt" not in solvers.values()
    assert solvers["NLP"] == "scipy"


def test_ipopt_by_its_name_says_what_to_install():
    refused, listed = ran(HIDDEN + NAMED).splitlines()
    assert refused.startswith("solver 'ipopt' is not installed: ")
    assert "cyipopt" in refused
    assert "conda" in refused
    assert "solver='auto'" in refused
    assert listed.startswith("False ")

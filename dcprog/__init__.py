"""dcprog: DC (difference-of-convex) programming on Pyomo models.

Declare g and h on a Pyomo model, solve by solver name, step through it, and prove things about it in tests.
"""

from importlib import import_module
from typing import Any

from dcprog import functions, solvers, stopping
from dcprog.algorithms import DCA, SLA
from dcprog.functions import ConvexFunction, maximum
from dcprog.matrix_constraint import MatrixConstraint
from dcprog.program import DCProgram
from dcprog.result import Result, State, Status
from dcprog.driver import solve
from dcprog.stopping import Gap, MaxIter, Step, TimeLimit

__version__ = "0.1.0"

__all__ = [
    "DCA",
    "SLA",
    "ConvexFunction",
    "DCProgram",
    "Gap",
    "MatrixConstraint",
    "MaxIter",
    "Result",
    "State",
    "Status",
    "Step",
    "TimeLimit",
    "functions",
    "maximum",
    "models",
    "solve",
    "solvers",
    "stopping",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in ("models", "testing"):
        return import_module(f"dcprog.{name}")
    raise AttributeError(f"module 'dcprog' has no attribute {name!r}")

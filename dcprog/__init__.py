"""dcprog: DC (difference-of-convex) programming on Pyomo models.

Declare g and h on a Pyomo model, solve by solver name, step through it, and prove things about it in tests.
"""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcprog.machine.on_import import when_imported

__version__ = "0.1.0"

if not (Path(__file__).parent / "models" / "__init__.py").is_file():
    import_module("dcprog.machine.clone").find_models_beside_the_package()

# Imported on first use: Pyomo and SciPy take half a second, which ``dcprog --help`` need not wait for.
_MODULES = frozenset(
    {
        "algorithms",
        "convex",
        "datasets",
        "errors",
        "estimators",
        "functions",
        "learning",
        "methods",
        "models",
        "plots",
        "program",
        "solvers",
        "studies",
        "testing",
    }
)
_HOMES = {
    "DCA": "algorithms",
    "SLA": "algorithms",
    "ConvexFunction": "functions",
    "maximum": "functions",
    "MatrixConstraint": "program.matrix_constraint",
    "DCConstraint": "program.dc_constraint",
    "DCProgram": "program.dc_program",
    "Family": "program.family",
    "from_pyomo": "program.from_pyomo",
    "curvature": "program.curvature.prove",
    "decompose": "program.decompose.decomposer",
    "Result": "algorithms.result",
    "State": "algorithms.result",
    "Status": "algorithms.result",
    "path": "algorithms.path",
    "solve": "algorithms.run",
    "available_solvers": "solvers.available",
    "Gap": "algorithms.stopping",
    "MaxIter": "algorithms.stopping",
    "Step": "algorithms.stopping",
    "TimeLimit": "algorithms.stopping",
}

if TYPE_CHECKING:
    from dcprog import (
        algorithms,
        convex,
        datasets,
        errors,
        functions,
        learning,
        methods,
        models,
        plots,
        program,
        solvers,
        testing,
    )
    from dcprog import estimators as estimators
    from dcprog import studies as studies
    from dcprog.algorithms import DCA, SLA
    from dcprog.algorithms.path import path
    from dcprog.algorithms.result import Result, State, Status
    from dcprog.algorithms.run import solve
    from dcprog.algorithms.stopping import Gap, MaxIter, Step, TimeLimit
    from dcprog.functions import ConvexFunction, maximum
    from dcprog.program.curvature.prove import curvature
    from dcprog.program.dc_constraint import DCConstraint
    from dcprog.program.dc_program import DCProgram
    from dcprog.program.decompose.decomposer import decompose
    from dcprog.program.family import Family
    from dcprog.program.from_pyomo import from_pyomo
    from dcprog.program.matrix_constraint import MatrixConstraint
    from dcprog.solvers.available import available_solvers

__all__ = [  # without estimators and studies: "from dcprog import *" loads no scikit-learn
    "DCA",
    "SLA",
    "ConvexFunction",
    "DCConstraint",
    "DCProgram",
    "Family",
    "Gap",
    "MatrixConstraint",
    "MaxIter",
    "Result",
    "State",
    "Status",
    "Step",
    "TimeLimit",
    "algorithms",
    "available_solvers",
    "convex",
    "curvature",
    "datasets",
    "decompose",
    "errors",
    "from_pyomo",
    "functions",
    "learning",
    "maximum",
    "methods",
    "models",
    "path",
    "plots",
    "program",
    "solve",
    "solvers",
    "testing",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"dcprog.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"dcprog.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'dcprog' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "estimators", "studies", "__version__"]


# pyo.SolverFactory("dcprog"), whichever of the two is imported first: pyomo.environ looks for no plugins of other packages
when_imported("pyomo.environ", partial(import_module, "dcprog.pyomo_solver"))

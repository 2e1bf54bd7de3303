"""dcprog: DC (difference-of-convex) programming on Pyomo models.

Declare g and h on a Pyomo model, solve by solver name, step through it, and prove things about it in tests.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if not (Path(__file__).parent / "models" / "__init__.py").is_file():
    import_module("dcprog._clone").find_models_beside_the_package()

# Imported on first use: Pyomo and SciPy take half a second, which ``dcprog --help`` need not wait for.
_MODULES = frozenset(
    {
        "algorithms",
        "datasets",
        "errors",
        "estimators",
        "filters",
        "functions",
        "models",
        "nlpsvm",
        "plots",
        "radius_margin",
        "solvers",
        "stopping",
        "studies",
        "testing",
        "zero_norm",
    }
)
_HOMES = {
    "DCA": "algorithms",
    "SLA": "algorithms",
    "ConvexFunction": "functions",
    "maximum": "functions",
    "MatrixConstraint": "matrix_constraint",
    "DCProgram": "program",
    "Result": "result",
    "State": "result",
    "Status": "result",
    "path": "paths",
    "solve": "driver",
    "Gap": "stopping",
    "MaxIter": "stopping",
    "Step": "stopping",
    "TimeLimit": "stopping",
}

if TYPE_CHECKING:
    from dcprog import (
        algorithms,
        datasets,
        errors,
        filters,
        functions,
        models,
        nlpsvm,
        plots,
        radius_margin,
        solvers,
        stopping,
        studies,
        testing,
        zero_norm,
    )
    from dcprog import estimators as estimators
    from dcprog.algorithms import DCA, SLA
    from dcprog.driver import solve
    from dcprog.functions import ConvexFunction, maximum
    from dcprog.matrix_constraint import MatrixConstraint
    from dcprog.paths import path
    from dcprog.program import DCProgram
    from dcprog.result import Result, State, Status
    from dcprog.stopping import Gap, MaxIter, Step, TimeLimit

__all__ = [  # without estimators: "from dcprog import *" loads no scikit-learn
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
    "algorithms",
    "datasets",
    "errors",
    "filters",
    "functions",
    "maximum",
    "models",
    "nlpsvm",
    "path",
    "plots",
    "radius_margin",
    "solve",
    "solvers",
    "stopping",
    "studies",
    "testing",
    "zero_norm",
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
    return [*__all__, "estimators", "__version__"]

"""A solver's name that is not quite right leads to the right one, one of Pyomo's included."""

import pyomo.environ as pyo
import pytest

import dcprog
from dcprog.errors import UnknownNameError
from dcprog.solvers import registry

FOREIGN = sorted(
    name for name in pyo.SolverFactory if not name.startswith("_") and name not in registry.names() and ":" not in name
)


@pytest.fixture
def program():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    return dcprog.DCProgram(m, g=0, h=m.x**2)


@pytest.mark.parametrize("name", FOREIGN)
def test_what_pyomo_knows_is_asked_for_by_its_family(name):
    with pytest.raises(UnknownNameError, match=f"did you mean 'pyomo:{name}'"):
        registry.get(name)


def test_gurobi_and_the_like_are_among_them(program):
    assert {"gurobi", "cplex", "scip", "mosek", "xpress", "glpk", "cbc"} <= set(FOREIGN)
    with pytest.raises(UnknownNameError, match="unknown solver 'gurobi': did you mean 'pyomo:gurobi'"):
        dcprog.solve(program, solver="gurobi")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Gurobi", "pyomo:gurobi"),
        ("gurobipy", "pyomo:gurobi"),
        ("gurob", "pyomo:gurobi"),
        ("HiGHS", "highs"),
        ("Ipopt", "ipopt"),
        ("higs", "highs"),
        ("clarable", "clarabel"),
        ("xyz", None),
        (3, None),
        (None, None),
    ],
)
def test_the_nearest_name(name, meant):
    with pytest.raises(UnknownNameError, match="unknown solver") as raised:
        registry.get(name)
    assert ("did you mean" in str(raised.value)) == (meant is not None)
    assert meant is None or f"did you mean '{meant}'?" in str(raised.value)


def test_what_the_suggestion_says_is_understood(program):
    """The name is known then; whether the solver is installed is another matter."""
    with pytest.raises(UnknownNameError, match="did you mean 'pyomo:appsi_highs'"):
        dcprog.solve(program, solver="appsi_highs")
    assert dcprog.solve(program, solver="pyomo:appsi_highs").solver == "pyomo:appsi_highs"

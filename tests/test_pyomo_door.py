"""``pyo.SolverFactory("dcprog")``: registered whichever is imported first, with honest terminations, values and options."""

from __future__ import annotations

import io
import pickle
import subprocess
import sys

import pyomo.environ as pyo
import pytest
from pyomo.contrib.solver.common.factory import SolverFactory as NewFactory
from pyomo.contrib.solver.common.results import SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.util import NoOptimalSolutionError, NoSolutionError
from pyomo.opt import SolverStatus
from pyomo.opt import TerminationCondition as LegacyTermination

import dcprog
from dcprog.errors import ModelError, UnknownNameError
from dcprog.pyomo_solver import OPTIONS, TERMINATION


def valley():
    """min y² − x²: −9 at x = −3, a critical point of −4 at x = 2 that the default leaves."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-3, 2), initialize=1.5), pyo.Var(bounds=(0, 1), initialize=0.5)
    m.cost = pyo.Objective(expr=m.y**2 - m.x**2)
    return m


def no_point():
    m = valley()
    m.row = pyo.Constraint(expr=m.x + m.y >= 4)
    return m


def bottomless():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.0)
    m.cost = pyo.Objective(expr=-(m.x**2))
    return m


@pytest.fixture(params=["legacy", "new"])
def solver(request):
    return pyo.SolverFactory("dcprog") if request.param == "legacy" else NewFactory("dcprog")


@pytest.mark.parametrize(
    "lines",
    [
        "import dcprog; import pyomo.environ as pyo",
        "import pyomo.environ as pyo; import dcprog",
        "import dcprog.program; import pyomo.environ as pyo",
        "import dcprog.errors; from pyomo.environ import SolverFactory; import pyomo.environ as pyo",
    ],
)
def test_both_orders_of_import(lines):
    code = f"{lines}; print(pyo.SolverFactory('dcprog').available(), type(pyo.SolverFactory('dcprog')).__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "dcprog.pyomo_solver"], done.stderr


def test_dcprog_alone_loads_no_pyomo_and_leaves_no_trace_once_it_is_there():
    code = (
        "import sys, dcprog; print(any(n.startswith('pyomo') for n in sys.modules)); import pyomo.environ;"
        "print([f for f in sys.meta_path if 'dcprog.machine.on_import' in type(f).__module__]);"
        "print(type(pyomo.environ.__loader__).__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "[]", "SourceFileLoader"], done.stderr


def test_values_are_loaded_and_nothing_else_changes(solver):
    m = valley()
    solver.solve(m)
    assert (m.x.value, m.y.value) == (pytest.approx(-3.0), pytest.approx(0.0, abs=1e-8))
    assert m.cost.active
    assert m.cost.expr.to_string() == "y**2 - x**2"
    assert (m.x.lb, m.x.ub) == (-3, 2)
    assert len(list(m.component_objects())) == 3


def test_converged_is_locally_optimal_and_never_more():
    legacy = pyo.SolverFactory("dcprog").solve(valley())
    assert legacy.solver.termination_condition == LegacyTermination.locallyOptimal
    assert legacy.solver.status == SolverStatus.ok
    assert pyo.check_optimal_termination(legacy)
    pyo.assert_optimal_termination(legacy)
    new = NewFactory("dcprog").solve(valley())
    assert new.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
    assert new.solution_status is SolutionStatus.feasible
    assert new.incumbent_objective == pytest.approx(-9.0)
    assert new.objective_bound is None
    assert new.extra_info["gap"] <= 1e-6
    assert new.timing_info.wall_time > 0
    assert new.solver_version == NewFactory("dcprog").version()
    assert ".".join(map(str, new.solver_version)) in dcprog.__version__


def test_every_status_has_a_termination():
    assert set(TERMINATION) <= {str(status) for status in dcprog.Status} | {"optimal"}
    unnamed = {str(status) for status in dcprog.Status} - set(TERMINATION)
    assert unnamed == {"unknown", "stopped_by_rule"}
    happy = {name for name, t in TERMINATION.items() if t is TerminationCondition.convergenceCriteriaSatisfied}
    assert happy == {"converged", "optimal"}


@pytest.mark.parametrize("model", [no_point, bottomless])
def test_what_did_not_converge_is_said_and_raises_on_demand(model, solver):
    results = solver.solve(model())
    assert not pyo.check_optimal_termination(results)
    words = str(getattr(results, "termination_condition", None) or results.solver.termination_condition).lower()
    assert ("infeasible" if model is no_point else "unbounded") in words
    with pytest.raises(NoOptimalSolutionError, match="dcprog ended"):
        solver.solve(model(), raise_exception_on_nonoptimal_result=True)


def test_without_a_point_nothing_is_loaded():
    m = no_point()
    results = NewFactory("dcprog").solve(m)
    assert results.solution_status is SolutionStatus.noSolution
    assert results.incumbent_objective is None
    assert (m.x.value, m.y.value) == (1.5, 0.5)
    with pytest.raises(NoSolutionError):
        results.solution_loader.get_vars()


def test_solutions_are_loaded_later():
    m = valley()
    results = NewFactory("dcprog").solve(m, load_solutions=False)
    assert m.x.value == 1.5
    assert results.solution_loader.get_vars([m.x])[m.x] == pytest.approx(-3.0)
    results.solution_loader.load_vars()
    assert m.x.value == pytest.approx(-3.0)
    m = valley()
    legacy = pyo.SolverFactory("dcprog").solve(m, load_solutions=False)
    assert m.x.value == 1.5
    m.solutions.load_from(legacy)
    assert m.x.value == pytest.approx(-3.0)


def test_options_reach_the_solve_and_hold_for_one_call(solver):
    m = valley()
    solver.solve(m, starts=8, seed=0, algorithm="boosted", subsolver="piqp", max_iter=50, time_limit=60.0)
    assert m.x.value == pytest.approx(-3.0)
    assert (solver.config.starts, solver.config.algorithm, solver.config.time_limit) == (1, "auto", None)
    new = NewFactory("dcprog", algorithm="proximal", subsolver="clarabel").solve(valley())
    assert (new.extra_info["algorithm"], new.extra_info["solver"]) == ("proximal", "clarabel")


def test_options_are_documented_and_those_of_solve():
    import inspect

    taken = set(inspect.signature(dcprog.solve).parameters)
    assert {"solver" if name == "subsolver" else name for name in OPTIONS} <= taken | {"method"}
    for name, (_, default, text) in OPTIONS.items():
        assert len(text) > 10
        assert NewFactory("dcprog").config[name] == default


def test_wrong_options_are_refused(solver):
    with pytest.raises(ValueError, match="strats"):
        NewFactory("dcprog").solve(valley(), strats=3)
    with pytest.raises(TypeError, match="strats"):
        pyo.SolverFactory("dcprog").solve(valley(), strats=3)
    with pytest.raises(UnknownNameError, match="did you mean"):
        solver.solve(valley(), algorithm="dcaa")
    with pytest.raises(ModelError, match="no active objective"):
        solver.solve(pyo.ConcreteModel())


def test_tee_prints_the_log_where_it_is_told(solver, capsys):
    solver.solve(valley(), tee=True)
    assert "converged after" in capsys.readouterr().out
    solver.solve(valley())
    assert capsys.readouterr().out == ""
    stream = io.StringIO()
    NewFactory("dcprog").solve(valley(), tee=stream)
    assert "converged after" in stream.getvalue()


def test_suffixes_are_emptied_never_invented(solver):
    m = valley()
    m.row = pyo.Constraint(expr=m.x + m.y <= 2.5)
    m.dual, m.rc = pyo.Suffix(direction=pyo.Suffix.IMPORT), pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.dual[m.row] = 7.0
    solver.solve(m)
    assert len(m.dual) == len(m.rc) == 0


def test_a_model_that_is_maximised_keeps_its_sense():
    m = valley()
    m.cost.deactivate()
    m.gain = pyo.Objective(expr=m.x**2 - m.y**2, sense=pyo.maximize)
    assert NewFactory("dcprog").solve(m).incumbent_objective == pytest.approx(9.0)
    legacy = pyo.SolverFactory("dcprog").solve(m)
    assert legacy.problem.lower_bound == pytest.approx(9.0)


def test_parameters_and_fixed_variables_are_read_anew_in_each_call(solver):
    m = valley()
    m.p = pyo.Param(initialize=1.0, mutable=True)
    m.cost.set_value(m.p * (m.y**2 - m.x**2) + m.x)
    solver.solve(m)
    assert m.x.value == pytest.approx(-3.0)
    m.p.value = -1.0
    solver.solve(m)
    assert m.x.value == pytest.approx(-0.5)
    m.x.fix(1.0)
    solver.solve(m)
    assert (m.x.value, m.y.value) == (1.0, pytest.approx(1.0))


def test_results_can_be_pickled():
    legacy = pickle.loads(pickle.dumps(pyo.SolverFactory("dcprog").solve(valley())))
    assert legacy.solver.termination_condition == LegacyTermination.locallyOptimal

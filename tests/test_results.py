"""Results: what is in them, how they end, and that nothing is lost."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pyomo.environ as pyo
import pytest
from strategies import MAKERS, concave_on_polytope, qp_program

import dcprog
from dcprog import DCProgram, Gap, MaxIter, Result, Status, Step, TimeLimit
from dcprog.models import fsv
from dcprog.solvers.registry import capable


def slow_program():
    """Many short steps: x² − 0.99x² from afar."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=100.0)
    return DCProgram(m, g=m.x**2, h=0.99 * m.x**2, name="slow")


def test_history_and_timings_are_complete():
    result = dcprog.solve(qp_program(1))
    assert set(result.timings) == {"compile", "build", "update", "solve", "verify", "total"}
    assert result.timings["total"] >= sum(v for k, v in result.timings.items() if k not in ("total",)) * 0.9
    assert [r.iteration for r in result.history] == list(range(result.iterations + 1))
    last = result.history[-1]
    assert last.solver == result.solver
    assert max(last.primal_residual, last.dual_residual, last.gap_residual) <= 1e-6
    assert last.f == pytest.approx(last.g - last.h)
    assert 0 <= result.gap <= last.gap  # that of the last point, one step on


def test_reads_like_a_mapping_and_a_text():
    result = dcprog.solve(slow_program(), max_iter=3)
    assert list(result) == ["x"]
    assert len(result) == 1
    assert "slow: iteration_limit after 3 iterations of dca with" in str(result)


def test_save_and_load(tmp_path):
    result = dcprog.solve(qp_program(2))
    result.save(tmp_path / "run")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "run.npz"]
    again = Result.load(tmp_path / "run")
    assert again.status is Status.CONVERGED
    assert again.history == result.history
    assert again.objective == result.objective
    np.testing.assert_array_equal(again["x"], result["x"])
    assert again.to_dict() == result.to_dict()


def test_variables_may_be_called_anything(tmp_path):
    m = pyo.ConcreteModel()
    for name in ("file", "allow_pickle", "x", "args"):
        m.add_component(name, pyo.Var(bounds=(0, 1), initialize=0.5))
    result = dcprog.solve(DCProgram(m, g=sum(v**2 for v in m.component_data_objects(pyo.Var)), h=0))
    result.save(tmp_path / "run")
    assert set(Result.load(tmp_path / "run")) == {"file", "allow_pickle", "x", "args"}


@pytest.mark.parametrize(
    ("stop", "status", "iterations"),
    [
        (MaxIter(5), Status.ITERATION_LIMIT, 5),
        (Gap(1e-3) | MaxIter(10_000), Status.STOPPED_BY_RULE, None),
        (Step(2e-2) & MaxIter(200), Status.STOPPED_BY_RULE, 200),
        (Gap(1e9) & (Step(1e9) | MaxIter(1)), Status.STOPPED_BY_RULE, 1),
    ],
)
def test_stopping_rules_combine(stop, status, iterations):
    result = dcprog.solve(slow_program(), stop=stop, x0=[1e4])
    assert result.status is status
    assert iterations is None or result.iterations == iterations


def test_step_on_named_variables_only():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(initialize=100.0), pyo.Var(initialize=1.0)
    program = DCProgram(m, g=m.x**2 + m.y**2, h=0.99 * m.x**2, stop_on=["y"])
    assert dcprog.solve(program, stop=dcprog.DCA.default_rule(program)).iterations == 2
    assert dcprog.solve(program, stop=Step(1e-6, ("x",))).iterations > 2
    assert abs(dcprog.solve(program)["x"]) < 1e-4  # the certificate looks at all of them


def test_time_limit_is_kept():
    result = dcprog.solve(slow_program(), tol=0, stop=Step(0) | MaxIter(10**9), time_limit=0.3)
    assert result.status is Status.TIME_LIMIT
    assert result.timings["total"] < 3
    assert np.isfinite(result.objective)
    assert "TimeLimit" in repr(Step(0) | TimeLimit(1))


@pytest.mark.parametrize("solver", ["highs", "clarabel", "ipopt"])
def test_a_solver_that_runs_out_of_time_leaves_the_best_point(solver):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 400)), rng.choice([-1, 1], 600)
    program = fsv(X, y, lam=0.001)
    result = dcprog.solve(program, solver=solver, time_limit=0.05)
    assert result.status is Status.TIME_LIMIT
    assert result.iterations == 0
    assert result["w"].tolist() == [0.0] * 400
    assert result.objective == program.value(result.x)
    assert result.messages


def test_a_callback_sees_every_state_and_may_stop():
    seen = []
    result = dcprog.solve(slow_program(), callback=lambda state: seen.append(state.f) or len(seen) == 4)
    assert result.status is Status.STOPPED_BY_CALLBACK
    assert seen == [r.f for r in result.history]
    assert result.objective == min(seen)


def test_ctrl_c_keeps_the_best_point():
    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    result = dcprog.solve(slow_program(), callback=interrupt)
    assert result.status is Status.INTERRUPTED
    assert result.objective == result.history[-1].f
    assert result.iterations == 3


def test_states_are_immutable():
    state = next(iter(dcprog.DCA(slow_program())))
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.f = 0.0
    with pytest.raises(ValueError, match="read-only"):
        state.x[0] = 1.0
    assert state["x"] == 100.0


def test_an_algorithm_can_be_iterated_again_from_the_start():
    algorithm = dcprog.DCA(concave_on_polytope(3))
    assert [s.f for s in algorithm] == [s.f for s in algorithm]
    assert algorithm.status is Status.CONVERGED


@pytest.mark.parametrize("kind", MAKERS)
def test_nothing_is_rebuilt_between_iterations(kind):
    algorithm = dcprog.DCA(MAKERS[kind](5), stop=MaxIter(6))
    states = list(algorithm)
    assert len(states) == 7
    assert algorithm.dispatcher.builds == 1
    assert algorithm.dispatcher.rebuilds == 0


def test_several_starts_in_processes_give_what_one_process_gives():
    program = concave_on_polytope(8)
    alone = dcprog.solve(program, starts=4, seed=3, n_jobs=1)
    together = dcprog.solve(program, starts=4, seed=3, n_jobs=2)
    assert alone.objective == together.objective
    assert alone.runs == together.runs
    assert alone.objective <= dcprog.solve(program).objective


def test_no_chatter(capfd):
    for make in MAKERS.values():
        program = make(2)
        for solver in capable(program.compiled.subproblem):
            dcprog.solve(program, solver=solver.name, max_iter=2)
    sys.stdout.flush()
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err == ""


def test_derived_arrays_have_names_too():
    m = pyo.ConcreteModel()
    m.p, m.q = pyo.Var([1, 2], bounds=(0, 1)), pyo.Var([1, 2], bounds=(0, 1))
    program = DCProgram(
        m, g=sum((m.p[i] - m.q[i] - 0.5) ** 2 + m.q[i] for i in (1, 2)), h=0, derived={"w": lambda a: a["p"] - a["q"]}
    )
    result = dcprog.solve(program)
    assert result["w"] == pytest.approx([0.5, 0.5], abs=1e-6)


@pytest.mark.parametrize("plain", [False, True])
def test_a_variable_fixed_outside_of_its_bounds_counts_in_the_violation(plain):
    """To Pyomo a fixed variable is a number, whatever its bounds; the model's own bounds are violated all the same."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(0, 1)), pyo.Var(bounds=(0, 1), initialize=0.3)
    m.z = pyo.Var([0, 1], domain=pyo.NonNegativeReals)
    m.x.set_value(5.0, skip_validation=True)
    m.z[0].set_value(-2.0, skip_validation=True)
    for v in (m.x, m.z[0], m.z[1]):
        v.fix(skip_validation=True) if v.value is not None else v.fix(1.0)
    if plain:
        m.cost = pyo.Objective(expr=m.y**2 + m.x - m.y)
    result = dcprog.solve(m if plain else dcprog.DCProgram(m, g=m.y**2 + m.x, h=m.y))
    assert result.violation == 4
    assert "x is fixed outside of its bounds" in result.messages[0]
    assert result.objective == pytest.approx(4.75)

"""Several starts: which is the best, what the result says, and that nothing is lost."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyomo.environ as pyo
import pytest
from strategies import MAKERS

import dcprog
from dcprog import DCProgram, MatrixConstraint, Status
from dcprog.algorithms.random_starts import centre_of, point_of, spread
from dcprog.convex.certificate import feasibility
from dcprog.errors import DataError, FunctionError
from dcprog.functions import ConvexFunction, Quadratic
from dcprog.solvers import registry
from dcprog.solvers.adapters.highs import Highs


def two_valleys():
    """x⁴ − (3x² + x) on [−2, 2]: from x = −1 to the worse of its two valleys."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-2, 2), initialize=-1.0)
    return DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x)


def downhill():
    """x² − 2x² on the line: from 0 nothing moves, from anywhere else f falls without end."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=0.0)
    return DCProgram(m, g=m.x**2, h=2 * m.x**2)


class Slow(ConvexFunction):
    """½‖x‖², after a sleep."""

    name = "slow"

    def __init__(self, seconds):
        self.seconds = seconds

    def value(self, x):
        time.sleep(self.seconds)
        return 0.5 * float(x @ x)

    def gradient(self, x):
        return np.array(x)


def slow_program(seconds, n=2):
    """‖x‖² − (½‖x‖² + …): each value of h takes a while."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-1, 2), initialize=0.5)
    return DCProgram(m, g=sum(0.1 * m.x[i] ** 2 for i in range(n)), h=Slow(seconds)(m.x))


# ── the best, and what is said of it ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n_jobs", [1, 2, None, -1])
def test_the_best_of_all_is_returned_and_all_are_listed(n_jobs):
    alone = dcprog.solve(two_valleys())
    best = dcprog.solve(two_valleys(), starts=6, seed=0, n_jobs=n_jobs)
    assert best.status is Status.CONVERGED
    assert best.objective < alone.objective - 0.1
    assert [run["start"] for run in best.runs] == list(range(6))
    assert best.runs[0]["objective"] == pytest.approx(alone.objective)
    assert best.objective == min(run["objective"] for run in best.runs)
    assert "the best of 6\n" in str(best)
    assert "the best of" not in str(alone)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_start_that_falls_without_end_is_what_the_result_says(n_jobs):
    assert dcprog.solve(downhill()).objective == 0.0
    result = dcprog.solve(downhill(), starts=8, seed=0, n_jobs=n_jobs)
    assert result.status is Status.UNBOUNDED
    assert not result.success
    assert len(result.runs) == 8
    assert result.objective < -1.0
    assert "bound the variables" in " ".join(result.messages)


def test_all_starts_at_an_infeasible_program():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 1))
    m.no = MatrixConstraint([[1.0, 1.0]], m.x, lower=3.0)
    result = dcprog.solve(DCProgram(m, g=m.x[0] ** 2, h=0), starts=3, seed=0, n_jobs=1)
    assert result.status is Status.INFEASIBLE
    assert {run["status"] for run in result.runs} == {"infeasible"}


@pytest.mark.parametrize("kind", MAKERS)
def test_processes_find_what_one_finds(kind):
    program = MAKERS[kind](5)
    alone = dcprog.solve(program, starts=5, seed=1, n_jobs=1)
    together = dcprog.solve(program, starts=5, seed=1, n_jobs=3)
    assert [run["status"] for run in together.runs] == [run["status"] for run in alone.runs]
    np.testing.assert_allclose([r["objective"] for r in together.runs], [r["objective"] for r in alone.runs], rtol=1e-9)
    np.testing.assert_allclose(together.x, alone.x, rtol=1e-7, atol=1e-9)
    assert together.messages == alone.messages, "and no excuse why there was one process only"


def test_a_rule_comes_back_from_the_workers():
    from dcprog.models import fsv

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    result = dcprog.solve(fsv(X, np.sign(X[:, 0] + 0.1)), starts=4, seed=0, n_jobs=2)
    assert result.classifier.predict(X).shape == (40,)


# ── callbacks ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_a_callback_sees_every_state_of_every_start(n_jobs):
    seen = []
    result = dcprog.solve(two_valleys(), starts=4, seed=0, n_jobs=n_jobs, callback=seen.append)
    assert sum(state.iteration == 0 for state in seen) == 4
    assert len(seen) == sum(run["iterations"] + 1 for run in result.runs)
    assert min(state.f for state in seen) == pytest.approx(result.objective)
    assert seen[0]["x"] == -1.0


def test_a_callback_stops_everything():
    seen = []

    def third_start(state):
        seen.append(state)
        return sum(s.iteration == 0 for s in seen) == 3

    result = dcprog.solve(two_valleys(), starts=6, seed=0, callback=third_start)
    assert result.status is Status.STOPPED_BY_CALLBACK
    statuses = [run["status"] for run in result.runs]
    assert statuses == ["converged", "converged", "stopped_by_callback", "not_run", "not_run", "not_run"]
    assert result.objective == min(run["objective"] for run in result.runs)
    assert "3 of 6 starts were not run" in result.messages


# ── Ctrl-C ────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ctrl_c_keeps_what_is_finished():
    def third_start(state, count=iter(range(10_000)), began=[]):  # noqa: B006, B008
        began += [next(count)] * (state.iteration == 0)
        if len(began) == 3 and state.iteration == 1:
            raise KeyboardInterrupt

    result = dcprog.solve(two_valleys(), starts=6, seed=0, callback=third_start)
    assert result.status is Status.INTERRUPTED
    statuses = [run["status"] for run in result.runs]
    assert statuses == ["converged", "converged", "interrupted", "not_run", "not_run", "not_run"]
    assert np.isfinite(result.x).all()


CTRL_C = """
import sys; sys.path.insert(0, {tests!r})
from test_multistart import *
program = slow_program(0.05)
print("go", flush=True)
result = dcprog.solve(program, starts=40, seed=0, n_jobs={n_jobs})
print(result.status, result.objective, sum(r["status"] == "converged" for r in result.runs), len(result.runs))
print(result.messages, file=sys.stderr) if any("one after" in m for m in result.messages) else None
print({{r["status"] for r in result.runs}} <= {{"converged", "interrupted", "not_run"}})
"""


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_process_with_workers(n_jobs, group):
    """To the process alone, as kill does, and to its whole group, as a terminal does."""
    script = CTRL_C.format(tests=os.path.dirname(__file__), n_jobs=n_jobs)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "go\n"
    time.sleep(3.5)
    sent = time.time()
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    said, complaints = process.communicate(timeout=30)
    assert time.time() - sent < 6.0
    status, objective, finished, listed = said.splitlines()[0].split()
    assert (status, listed) == ("interrupted", "40")
    assert float(objective) < 0.0
    assert 1 <= int(finished) < 40
    assert said.splitlines()[1] == "True"
    assert complaints == ""


# ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_the_time_limit_covers_all_starts(n_jobs):
    began = time.perf_counter()
    result = dcprog.solve(slow_program(0.03), starts=100, seed=0, n_jobs=n_jobs, time_limit=1.5)
    assert time.perf_counter() - began < 4.0
    assert result.status is Status.TIME_LIMIT
    assert np.isfinite(result.x).all()
    statuses = [run["status"] for run in result.runs]
    assert len(statuses) == 100
    assert "not_run" in statuses
    assert any("starts were not run" in message for message in result.messages)


def test_the_first_start_runs_however_little_time_there_is():
    result = dcprog.solve(two_valleys(), starts=3, seed=0, n_jobs=2, time_limit=1e-3)
    assert np.isfinite(result.objective)
    assert len(result.runs) == 3


def test_time_that_suffices_is_no_limit():
    result = dcprog.solve(two_valleys(), starts=3, seed=0, n_jobs=1, time_limit=60.0)
    assert result.status is Status.CONVERGED


# ── solvers and functions of the user's own ───────────────────────────────────────────────────────────────────────────────


def test_a_registered_solver_is_known_in_the_workers(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})

    class Mine(Highs):
        name = "mine"

    registry.register(Mine())
    program = MAKERS["LP"](3)
    result = dcprog.solve(program, solver="mine", starts=4, seed=0, n_jobs=2)
    assert result.solver == "mine"
    assert not result.messages
    assert {run["status"] for run in result.runs} == {"converged"}


def test_what_cannot_be_sent_runs_here():
    class Locked(Slow):
        def __init__(self):
            super().__init__(0.0)
            self.lock = threading.Lock()

    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(-1, 2), initialize=0.5)
    program = DCProgram(m, g=0.1 * m.x[0] ** 2 + 0.1 * m.x[1] ** 2, h=Locked()(m.x))
    result = dcprog.solve(program, starts=4, seed=0, n_jobs=2)
    assert result.status is Status.CONVERGED
    assert {run["status"] for run in result.runs} == {"converged"}
    assert any("one after the other" in message for message in result.messages)


class Picky(Slow):
    """Fails where x is beyond ``limit``."""

    def __init__(self, limit):
        super().__init__(0.0)
        self.limit = limit

    def gradient(self, x):
        if x[0] > self.limit:
            raise ZeroDivisionError("too far")
        return super().gradient(x)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_that_fails_at_one_start_fails_that_one_only(n_jobs):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(1), bounds=(-2, 1), initialize=-0.5)
    program = DCProgram(m, g=0.1 * m.x[0] ** 2, h=Picky(0.0)(m.x))
    result = dcprog.solve(program, starts=8, seed=0, n_jobs=n_jobs)
    statuses = {run["status"] for run in result.runs}
    assert statuses == {"converged", "subproblem_failed"}
    assert result.status is Status.CONVERGED
    assert any("too far" in message for message in result.messages)
    m.x[0].set_value(0.5)
    always = DCProgram(m, g=0.1 * m.x[0] ** 2, h=Picky(-9.0)(m.x))
    with pytest.raises(FunctionError, match="too far") as caught:
        dcprog.solve(always, starts=3, seed=0, n_jobs=n_jobs)
    assert caught.value.result is not None


def test_a_worker_that_is_killed_loses_its_start_only():
    def kill(x):
        if x[0] < 1.0 and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    parent = os.getpid()

    class Deadly(Slow):
        def gradient(self, x):
            kill(x)
            return super().gradient(x)

    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(1), bounds=(-2, 2), initialize=1.5)
    program = DCProgram(m, g=0.1 * m.x[0] ** 2, h=Deadly(0.02)(m.x))
    result = dcprog.solve(program, starts=8, seed=0, n_jobs=2)
    assert any("worker process was killed" in message for message in result.messages)
    assert "not_run" in {run["status"] for run in result.runs}
    assert result.objective == pytest.approx(0.1 * 4 - 2.0)
    again = dcprog.solve(two_valleys(), starts=4, seed=0, n_jobs=2)
    assert {run["status"] for run in again.runs} == {"converged"}


# ── where it starts ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_random_starts_are_points_of_c_that_differ():
    """Σx = 1000, x ≥ 0: drawn around 0 and projected they would all be 1000/n."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(5), domain=pyo.NonNegativeReals)
    m.sum = MatrixConstraint(np.ones((1, 5)), m.x, lower=1000.0, upper=1000.0)
    program = DCProgram(m, g=0, h=Quadratic(1e-3 * np.eye(5))(m.x))
    centre = centre_of(program, None, None)
    drawn = spread(program.compiled.lower, program.compiled.upper, centre, 20, np.random.default_rng(0))
    points = np.array([point_of(program, x, centre) for x in drawn])
    C = program.compiled.feasible_set
    assert max(feasibility(C, program.compiled.lift(x)[: C.n]) for x in points) < 1e-7
    assert points.std(axis=0).min() > 50.0
    best = dcprog.solve(program, starts=10, seed=0, n_jobs=1)
    assert best.objective == pytest.approx(-0.5e-3 * 1e6)
    assert not any("projected" in message for message in best.messages)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_starts_do_not_depend_on_units(unit):
    lower, upper = np.array([0.0, -np.inf, -np.inf]), np.array([7.0, np.inf, 3.0])
    centre = np.array([2.0, 0.0, -1.0])
    points = spread(lower, upper, centre, 30, np.random.default_rng(0))
    other = spread(unit * lower, unit * upper, unit * centre, 30, np.random.default_rng(0))
    np.testing.assert_allclose(other, unit * points, rtol=1e-9)
    assert (points >= lower).all()
    assert (points <= upper).all()


def test_a_start_outside_the_domain_is_moved_into_it():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, None), initialize=1.0)
    m.cut = MatrixConstraint([[1.0, -1.0]], m.x, upper=-5.0)
    program = DCProgram(m, g=-pyo.log(m.x[0]) + m.x[0] + m.x[1], h=0)
    result = dcprog.solve(program, x0={"x": [1.0, 7.0]}, starts=8, seed=0, n_jobs=1)
    assert {run["status"] for run in result.runs} == {"converged"}


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("starts", [1, 2])
@pytest.mark.parametrize("n_jobs", [0, -5, "x", 1.5, True, np.nan, [2]])
def test_jobs_that_are_no_number_of_processes(n_jobs, starts):
    with pytest.raises(DataError, match="n_jobs is"):
        dcprog.solve(two_valleys(), starts=starts, n_jobs=n_jobs)


@pytest.mark.parametrize(
    ("words", "said"),
    [({"starts": s}, "starts is") for s in (0, -1, 2.5, "2", None, True)]
    + [({"starts": 2, "seed": s}, "seed is") for s in (-1, 0.5, "a", True)],
)
def test_starts_and_seeds_that_are_none(words, said):
    with pytest.raises(DataError, match=said):
        dcprog.solve(two_valleys(), **words)


def test_mistakes_are_said_before_anything_runs():
    with pytest.raises(DataError, match="x0 has 3 entries"):
        dcprog.solve(two_valleys(), x0=[1, 2, 3], starts=4)
    with pytest.raises(dcprog.errors.UnknownNameError, match="did you mean"):
        dcprog.solve(two_valleys(), solver="ipotp", starts=4)

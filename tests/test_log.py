"""The table of iterations says what the history says, and changes nothing."""

import io
import re

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog.algorithms.log import EVERY, HEADER, Log


@pytest.fixture
def quartic():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 2), initialize=1)
    return dcprog.DCProgram(m, g=m.x**4, h=3 * m.x**2 + m.x, name="quartic")


def logged(program, **settings):
    stream = io.StringIO()
    log = Log(stream=stream, beside=settings.pop("beside", None))
    result = dcprog.solve(program, callback=log, **settings)
    log.close(result)
    return result, stream.getvalue().splitlines()


def numbers(lines):
    return [line for line in lines if re.match(r" *\d+  ", line)]


def test_a_line_for_each_iteration(quartic):
    result, lines = logged(quartic)
    rows = numbers(lines)
    assert lines[0] == HEADER
    assert [int(row.split()[0]) for row in rows] == [record.iteration for record in result.history]
    assert [float(row.split()[1]) for row in rows] == pytest.approx([record.f for record in result.history], rel=1e-9)
    assert [float(row.split()[4]) for row in rows[1:]] == pytest.approx([r.gap for r in result.history[1:]], rel=0.06)
    assert all(result.solver in row for row in rows[1:])


def test_columns_stand_below_their_names(quartic):
    _, lines = logged(quartic)
    rows = numbers(lines)[1:]
    assert {len(row) for row in rows} == {len(HEADER)}
    assert all(row.index("ipopt") == HEADER.index("solver") for row in rows)


def test_the_end(quartic):
    result, lines = logged(quartic)
    assert lines[-1].startswith(f"converged after {result.iterations} iterations")
    assert f"objective {result.objective:.10g}" in lines[-1]


def test_the_header_comes_again(quartic):
    _, lines = logged(quartic, stop=dcprog.MaxIter(EVERY + 5))
    rows = len(numbers(lines))
    assert rows > EVERY
    assert lines.count(HEADER) == 2


def test_a_callback_beside_it_still_stops(quartic):
    result, lines = logged(quartic, beside=lambda state: state.iteration == 3)
    assert result.status == "stopped_by_callback"
    assert len(numbers(lines)) == 4


def test_the_result_is_the_same(quartic):
    assert np.array_equal(logged(quartic)[0].x, dcprog.solve(quartic).x)


def test_a_solver_that_failed_is_named(quartic):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-4, 4), initialize=1.0)
    program = dcprog.DCProgram(m, g=sum((m.x[i] - i) ** 2 for i in range(3)), h=m.x[0] ** 2 / 2)
    result, lines = logged(program, solver="ipopt", solver_options={"max_iter": 1})
    assert result.messages
    assert any(line.strip().startswith("ipopt: ") for line in lines)


def test_stdout_is_what_it_is_when_a_line_is_printed(quartic, capsys):
    log = Log()
    log.close(dcprog.solve(quartic, callback=log))
    printed = capsys.readouterr()
    assert printed.out.startswith(HEADER)
    assert printed.err == ""

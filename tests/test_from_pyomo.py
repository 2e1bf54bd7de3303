"""Any Pyomo model: g − h and p − q are what the model says, point by point; what cannot be read is refused by name."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram
from dcprog.errors import DCProgError, ModelError
from dcprog.functions import Exponential, Quadratic
from dcprog.testing import criticality


def ring():
    """A bilinear objective over a ring, an equation, a range and a linear row."""
    m = pyo.ConcreteModel("ring")
    m.x = pyo.Var([0, 1, 2], bounds=(-2, 2), initialize={0: 1.0, 1: 0.5, 2: -0.3})
    m.cost = pyo.Objective(expr=m.x[0] * m.x[1] + pyo.exp(m.x[2]))
    m.ring = pyo.Constraint(expr=pyo.inequality(1, m.x[0] ** 2 + m.x[1] ** 2, 3))
    m.surface = pyo.Constraint(expr=m.x[0] * m.x[2] == m.x[1] - 0.5)
    m.bowl = pyo.Constraint(expr=m.x[1] ** 2 + m.x[2] ** 2 <= 5)
    m.cap = pyo.Constraint(expr=m.x[0] + m.x[2] <= 2.5)
    return m


def inside_box(program, count=40, seed=0):
    lower, upper = program.compiled.lower, program.compiled.upper
    return np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))


def at(program, x, expression):
    """The value of an expression of the model at x; the model's own values are put back."""
    variables = program.compiled.variables
    before = [v.value for v in variables]
    for v, value in zip(variables, x, strict=True):
        v.set_value(value, skip_validation=True)
    found = pyo.value(expression)
    for v, value in zip(variables, before, strict=True):
        v.set_value(value, skip_validation=True)
    return found


def violation_of(program, x):
    """The largest violation of the model's own rows at x, from Pyomo's expressions."""
    over = [0.0]
    for row in program.model.component_data_objects(pyo.Constraint, active=True):
        body = at(program, x, row.body)
        over += [body - limit for limit in [row.ub] if limit is not None]
        over += [limit - body for limit in [row.lb] if limit is not None]
    return max(over)


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("method", ["auto", "eigenvalue", "shift"])
def test_the_program_says_what_the_model_says(sense, method):
    m = ring()
    m.cost.sense = sense
    program = dcprog.from_pyomo(m, method=method)
    sign = 1 if sense == pyo.minimize else -1
    dc = program.compiled.dc
    for x in inside_box(program):
        assert program.value(x) == pytest.approx(sign * at(program, x, m.cost.expr))
        differences = dc.p.values(x) - dc.q.values(x)
        by_name = {name: differences[[i for i, known in enumerate(dc.names) if known == name]] for name in dc.names}
        assert by_name["ring"] == pytest.approx([1 - at(program, x, m.ring.body)])
        off = at(program, x, m.surface.body) - (0 if m.surface.ub is None else m.surface.ub)
        assert by_name["surface"] == pytest.approx([off, -off])
    assert set(dc.names) == {"ring", "surface"}
    assert len(program.compiled.feasible_set.constraints) == 2  # the outer half of the ring, and the bowl


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_solving_a_model(sense):
    m = ring()
    m.cost.sense = sense
    before = [v.value for v in m.x.values()]
    result = dcprog.solve(m)
    assert [v.value for v in m.x.values()] == before
    program = dcprog.from_pyomo(m)
    assert result.success
    assert violation_of(program, result.x) <= 1e-6
    assert result.objective == pytest.approx(at(program, result.x, m.cost.expr))
    assert result.bound is None
    assert result.name == "ring"
    assert criticality(program, result.x) <= 1e-4


def test_both_senses_are_one_problem():
    m = ring()
    down, auto = dcprog.solve(m, algorithm="penalty"), dcprog.solve(m)
    m.cost.set_value(-m.cost.expr)
    m.cost.sense = pyo.maximize
    up = dcprog.solve(m, algorithm="penalty")
    assert up.objective == pytest.approx(-down.objective)
    assert up.x == pytest.approx(down.x, abs=1e-5)
    assert dcprog.solve(m).objective == pytest.approx(-auto.objective)


def test_the_best_of_several_starts_is_the_largest_where_the_model_maximises():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(-3, 2), initialize=1.5)
    m.gain = pyo.Objective(expr=m.x**2, sense=pyo.maximize)
    result = dcprog.solve(m, starts=10, seed=0, algorithm="dca")
    assert result.objective == pytest.approx(9.0)
    assert max(run["objective"] for run in result.runs) == pytest.approx(9.0)
    assert dcprog.solve(m, algorithm="dca").objective == pytest.approx(4.0)


def test_the_model_is_not_changed():
    m = ring()
    m.unused = pyo.Var()
    before = (m.to_string() if hasattr(m, "to_string") else "", [(v.name, v.value, v.lb, v.ub) for v in m.x.values()])
    components = [c.name for c in m.component_objects()]
    program = dcprog.from_pyomo(m)
    dcprog.solve(program, max_iter=3)
    program.describe()
    program.to_pyomo()
    assert before[1] == [(v.name, v.value, v.lb, v.ub) for v in m.x.values()]
    assert components == [c.name for c in m.component_objects()]
    assert m.cost.active


def test_blocks_references_named_expressions_and_parameters_are_read():
    m = pyo.ConcreteModel()
    m.b = pyo.Block([1, 2])
    for i in (1, 2):
        m.b[i].x = pyo.Var(bounds=(-1, 2), initialize=0.5)
    m.all = pyo.Reference(m.b[:].x)
    m.p = pyo.Param(initialize=2.0, mutable=True)
    m.e = pyo.Expression(expr=m.b[1].x * m.all[2])
    m.b[1].row = pyo.Constraint(expr=m.e >= -0.5)
    m.b[2].off = pyo.Constraint(expr=m.e >= 100)
    m.b[2].off.deactivate()
    m.other = pyo.Objective(expr=m.b[1].x)
    m.other.deactivate()
    m.b[2].cost = pyo.Objective(expr=m.p * m.e + m.b[2].x)
    program = dcprog.from_pyomo(m)
    assert program.compiled.n == 2
    assert set(program.compiled.dc.names) == {"b[1].row"}
    for x in inside_box(program):
        assert program.value(x) == pytest.approx(2 * x[0] * x[1] + x[1])
    m.p.value = 0.0
    assert dcprog.solve(m).objective == pytest.approx(-1.0 if dcprog.solve(m).x[0] < 0.5 + 1e-6 else -0.25, abs=1e-4)


def test_fixed_variables_count_with_their_values():
    m = ring()
    m.x[2].fix(0.5)
    program = dcprog.from_pyomo(m)
    assert program.compiled.n == 2
    for x in inside_box(program):
        assert program.value(x) == pytest.approx(x[0] * x[1] + np.exp(0.5))


def test_a_convex_model_stays_convex():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-2, 2), initialize=1.0)
    m.cost = pyo.Objective(expr=(m.x[0] - 1) ** 2 + pyo.exp(m.x[1]))
    m.disc = pyo.Constraint(expr=m.x[0] ** 2 + m.x[1] ** 2 <= 2)
    m.above = pyo.Constraint(expr=pyo.log(m.x[0] + 3) >= 0.5)
    program = dcprog.from_pyomo(m)
    assert program.compiled.dc is None
    assert program.assumptions == ()
    result = dcprog.solve(program)
    assert result.success
    assert result.iterations <= 3
    assert "convex as it is" in program.describe()


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (lambda m: setattr(m, "k", pyo.Var(domain=pyo.Integers, bounds=(0, 3))), "k"),
        (lambda m: setattr(m, "second", pyo.Objective(expr=m.x[0])), "second"),
        (lambda m: m.cost.deactivate(), "objective"),
        (lambda m: setattr(m, "s", pyo.SOSConstraint(var=m.x, sos=1)), "s"),
        (lambda m: m.cost.set_value(m.x[0] * m.x[1] * float("nan")), "NaN"),
        (lambda m: setattr(m, "q", pyo.Constraint(expr=pyo.ceil(m.x[0]) * m.x[1] <= 1)), "q"),
        (lambda m: (m.x[0].setlb(None), m.x[0].setub(None), m.cost.set_value(pyo.sinh(m.x[0]) * m.x[1] ** 3)), "x"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(spoil, word):
    m = ring()
    m.ring.deactivate()
    spoil(m)
    with pytest.raises(DCProgError, match=word) as error:
        dcprog.solve(m)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", [None, 3, "model", pyo.ConcreteModel, object()])
def test_what_is_no_model_is_refused(given):
    with pytest.raises(ModelError, match="Pyomo"):
        dcprog.solve(given)
    with pytest.raises(ModelError, match="Pyomo"):
        dcprog.from_pyomo(given)


def test_declared_dc_constraints_stay():
    m = ring()
    m.mine = dcprog.DCConstraint(p=0.5, q=m.x[0] ** 2)
    program = dcprog.from_pyomo(m)
    assert {"mine", "ring", "surface"} == set(program.compiled.dc.names)
    assert "mine: 1 rows" in program.describe()
    m.wrong = dcprog.DCConstraint(p=-(m.x[0] ** 2), q=0)
    with pytest.raises(dcprog.errors.ConvexityError, match="wrong"):
        dcprog.from_pyomo(m)


def test_description_names_every_rule():
    text = dcprog.from_pyomo(ring()).describe()
    for word in (
        "g = ",
        "h = ",
        "ring: p − q ≤ 3 and ≥ 1",
        "surface: p − q = ",
        "bowl: convex as it is",
        "proved: g is convex",
    ):
        assert word in text
    assert "max h − g" not in text


def test_a_declared_program_is_described_and_written_as_a_plain_model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(0, 2), initialize=0.5)
    m.p = pyo.Param(initialize=3.0, mutable=True)
    m.row = pyo.Constraint(expr=Quadratic(np.eye(2))(m.x) <= 1.5)
    m.far = dcprog.DCConstraint(p=0.1, q=m.x[0] ** 2)
    program = DCProgram(m, g=m.p * m.x[0] ** 2, h=Exponential(alpha=5)(m.x[1]) + m.x[0])
    plain = program.to_pyomo()
    assert m.component("dc_objective") is None
    for x in inside_box(program):
        for v, value in zip(plain.x.values(), x, strict=True):
            v.value = value
        assert pyo.value(plain.dc_objective) == pytest.approx(program.value(x))
        assert pyo.value(plain.row.body) == pytest.approx(0.5 * x @ x)
        assert pyo.value(plain.far[0].body) == pytest.approx(0.1 - x[0] ** 2)
    plain.p.value = 0.0
    assert m.p.value == 3.0
    assert "Exponential" in program.describe()


def test_the_plain_model_of_a_model_is_the_model():
    m = ring()
    plain = dcprog.from_pyomo(m).to_pyomo()
    assert plain is not m
    assert str(plain.cost.expr) == str(m.cost.expr)
    assert dcprog.solve(plain).objective == pytest.approx(dcprog.solve(m).objective)


def test_time_limits_cover_the_splitting():
    result = dcprog.solve(ring(), time_limit=1e-3)
    assert str(result.status) in ("time_limit", "converged")
    assert np.isfinite(result.x).all()


def hyperbola():
    """xy = 1, whose violation falls in no direction at the start 0."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-4, 4), initialize=0.0)
    m.cost = pyo.Objective(expr=m.x[0] ** 2 + 2 * m.x[1] ** 2)
    m.row = pyo.Constraint(expr=m.x[0] * m.x[1] == 1)
    return m


def test_a_start_that_leads_to_no_feasible_point_is_not_the_only_one():
    program = dcprog.from_pyomo(hyperbola())
    result = dcprog.solve(program)
    assert violation_of(program, result.x) <= 1e-6
    assert "further start" in result.messages[0]
    assert result.objective == pytest.approx(2 * 2**0.5, rel=1e-4)
    assert not any("further start" in message for message in dcprog.solve(ring()).messages)


def test_a_model_without_a_feasible_point_is_not_called_solved():
    m = hyperbola()
    m.x[0].setub(0.2)
    m.x[0].setlb(0.1)
    result = dcprog.solve(m, time_limit=20)
    assert not result.success
    assert result.violation > 0.1


@pytest.mark.parametrize("bound", [0.0, 1e4])
def test_an_infinite_slope_at_a_bound_does_not_stop_a_run(bound):
    """max √(x − b) + … where the start is at the bound; the least steep point that is left out is 1e-10 of the width."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(bound, bound + 4), initialize=bound)
    m.y = pyo.Var(bounds=(0, 4), initialize=0.0)
    m.cost = pyo.Objective(expr=pyo.sqrt(m.x - bound) + 0.1 * m.y**2 - 0.3 * m.y)
    program = dcprog.from_pyomo(m)
    assert "infinitely steep" in program.describe()
    assert program.compiled.lower[0] == pytest.approx(bound + 4e-10, abs=1e-12 * max(bound, 1))
    result = dcprog.solve(program)
    assert result.success, result
    assert result.x[1] == pytest.approx(1.5, abs=1e-5)
    assert result.objective == pytest.approx(-0.225, abs=1e-4)
    m.x.setlb(bound + 1)
    assert "infinitely steep" not in dcprog.from_pyomo(m).describe()


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_fractions_of_variables_without_bounds(sense):
    """x/(1 + y²) = pq − …, p and q with kinks of x beside a convex function that only a proof knows: 13 of 120 random models
    of such terms could not be stated, though every part was proved."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], initialize={0: 0.5, 1: 0.7})
    f = m.x[0] / (1 + m.x[1] ** 2) + 0.05 * (m.x[0] ** 4 + m.x[1] ** 4)
    m.cost = pyo.Objective(expr=f if sense == pyo.minimize else -f, sense=sense)
    result = dcprog.solve(m)
    x, y = result.x
    assert result.success, result
    assert result.assumptions == ()
    slope = 1 / (1 + y**2) + 0.2 * x**3, -2 * x * y / (1 + y**2) ** 2 + 0.2 * y**3
    assert np.abs(slope).max() < 1e-3
    assert result.objective == pytest.approx(
        (1 if sense == pyo.minimize else -1) * pyo.value(-(5 ** (1 / 3)) * 0.75), rel=1e-6
    )


def test_a_minimum_without_curvature_is_no_defect():
    """Beside the minimiser of x⁴ all terms of f are smaller than what a solver may be off: a rise by 3e-18 was refused."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(initialize=1.9)
    m.cost = pyo.Objective(expr=0.05 * m.x**4)
    m.row = pyo.Constraint(expr=1.92 * (m.x - 0.88) ** 4 + pyo.tanh(0.23 * m.x) <= 1.92)
    result = dcprog.solve(m)
    assert result.status in ("converged", "stalled"), result
    assert result.objective < 1e-9

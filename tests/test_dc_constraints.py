"""DC constraints p(x) − q(x) ≤ 0 as components of Pyomo, and as rows that are linearised at one point after the other."""

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import DCConstraint, DCProgram
from dcprog.errors import CapabilityError, ConvexityError, DataError, ModelError
from dcprog.functions import Exponential, Norm2
from dcprog.functions.each import Each
from dcprog.functions.losses import SquaredNorm
from dcprog.program.dc_reader import split_quadratic
from dcprog.program.expressions import take_apart


def plane(x=(0.3, 0.5)):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-3, 3), initialize=dict(enumerate(x)))
    return m


def distances(points, pairs):
    """cᵢ − cⱼ for all pairs, two rows each."""
    i, j = np.array(pairs).T
    k = len(pairs)
    columns = np.stack([2 * i, 2 * j, 2 * i + 1, 2 * j + 1], axis=1).ravel()
    return sp.csr_array((np.tile([1.0, -1.0], 2 * k), (np.repeat(np.arange(2 * k), 2), columns)), shape=(2 * k, 2 * points))


def test_it_is_an_indexed_constraint():
    m = plane()
    m.far = DCConstraint([0, 1], rule=lambda m, i: (0.1 * (i + 1), m.x[i] ** 2))
    assert [c.name for c in m.component_data_objects(pyo.Constraint, active=True)] == ["far[0]", "far[1]"]
    assert pyo.value(m.far[1].body) == pytest.approx(0.2 - 0.25)
    m.far[0].deactivate()
    assert DCProgram(m, 0, 0).compiled.dc.names == ("far",)
    twin = m.clone()
    twin.x[1] = 2.0
    assert pyo.value(twin.far[1].body) == pytest.approx(0.2 - 4)
    assert DCProgram(twin, 0, 0).compiled.dc.count == 1
    m.far.deactivate()
    assert DCProgram(m, 0, 0).compiled.dc is None


def test_rows_stated_at_once_are_those_of_a_rule():
    pairs = [(0, 1), (0, 2), (1, 2)]
    m = pyo.ConcreteModel()
    m.c = pyo.Var(range(3), [0, 1], initialize=lambda m, i, k: i + 0.5 * k * i)
    m.one = DCConstraint(pairs, rule=lambda m, i, j: (1.0 + i, Norm2()([m.c[i, k] - m.c[j, k] for k in (0, 1)])))
    m.all = DCConstraint(p=[1.0, 1.0, 2.0], q=Each(Norm2(), 2)(distances(3, pairs), m.c))
    rows = DCProgram(m, 0, 0).compiled.dc
    x = np.random.default_rng(0).normal(size=6)
    values = rows.p.values(x) - rows.q.values(x)
    np.testing.assert_allclose(values[:3], values[3:])
    np.testing.assert_allclose(values[:3], [pyo.value(_at(m, x).one[p].body) for p in pairs])
    np.testing.assert_allclose([pyo.value(m.all[i].body) for i in range(3)], values[3:])


def _at(m, x):
    for v, value in zip(m.c.values(), x, strict=True):
        v.set_value(value)
    return m


@given(seed=st.integers(0, 10_000))
def test_the_linearised_row_is_a_majorant_that_touches(seed):
    rng = np.random.default_rng(seed)
    m = plane()
    a, b = rng.normal(size=2), rng.normal(size=2)
    m.curved = DCConstraint(p=pyo.exp(a[0] * m.x[0]) + m.x[1] ** 2, q=(b[0] * m.x[0] + b[1] * m.x[1]) ** 2 + 1)
    m.kinked = DCConstraint(p=abs(m.x[0]), q=dcprog.maximum(m.x[0], a[1] * m.x[1]))
    m.norms = DCConstraint(
        p=Each(Norm2(), 2)(rng.normal(size=(4, 2)), m.x, rng.normal(size=4)), q=Each()(np.eye(2), m.x, [1, 2])
    )
    m.line = DCConstraint(p=2 * m.x[0] - 1, q=SquaredNorm()(m.x))
    compiled = DCProgram(m, 0, 0).compiled
    rows, base = compiled.dc, compiled.subproblem
    x, y = rng.uniform(-2, 2, size=(2, 2))
    problem = rows.linearised(base, x, np.ones(rows.count, dtype=bool)).apply(base)
    part = slice(rows.first, rows.first + rows.count)
    for point, touches in ((x, True), (y, False)):
        z = compiled.lift(point)
        z[rows.s] = 0.0
        model = (problem.A @ z - problem.row_upper)[part]
        true = rows.p.values(point) - rows.q.values(point)
        assert (model >= true - 1e-9 * (1 + np.abs(true))).all()
        if touches:
            np.testing.assert_allclose(model, true, atol=1e-9)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 5))
def test_quadratic_rows_are_split_exactly(seed, n):
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n))
    B = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-3, 4)
    expression = sum(B[i, j] * m.x[i] * m.x[j] for i in m.x for j in m.x) + sum(rng.normal() * m.x[i] for i in m.x) + 1.0
    index = {id(v): i for i, v in enumerate(m.x.values())}
    whole = take_apart(expression, index, n)
    p, q = split_quadratic(whole)
    x = rng.normal(size=n)
    Q, P, R = (np.zeros((n, n)) if part.Q(n) is None else part.Q(n).toarray() for part in (whole, p, q))
    np.testing.assert_allclose(P - R, Q, rtol=0, atol=1e-12 * np.abs(B).max())
    assert min(np.linalg.eigvalsh(P)[0], np.linalg.eigvalsh(R)[0]) >= 0
    value = 0.5 * x @ (P - R) @ x + (p.c(n) - q.c(n)) @ x + p.constant - q.constant
    m.x.set_values(dict(enumerate(x)))
    assert value == pytest.approx(pyo.value(expression), rel=1e-9, abs=1e-9 * np.abs(B).max())


def test_plain_rows_that_are_not_convex_are_taken_as_they_stand():
    m = plane((2.0, 2.0))
    m.away = pyo.Constraint(expr=pyo.inequality(1, m.x[0] ** 2 + m.x[1] ** 2, 4))
    m.saddle = pyo.Constraint(expr=m.x[0] * m.x[1] >= 0.5)
    result = dcprog.solve(DCProgram(m, m.x[0] + m.x[1], 0))
    assert result.status == "converged"
    assert result.violation <= 1e-6
    assert result.objective == pytest.approx(np.sqrt(2.0), abs=1e-5)  # x₀ = x₁ = √½


def test_a_plain_pyomo_solver_sees_it():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(0, 3), initialize=1.0)
    m.tangent = DCConstraint(p=m.x[0] + m.x[1] - 1, q=0)
    m.o = pyo.Objective(expr=m.x[0] + 2 * m.x[1], sense=pyo.maximize)
    pyo.SolverFactory("highs").solve(m)
    assert pyo.value(m.o) == pytest.approx(2.0)
    m.rest = DCConstraint(p=Exponential(alpha=5)([m.x[0]]), q=0)
    assert "exp" in str(m.rest[0].expr)


@pytest.mark.parametrize(
    ("make", "error", "complaint"),
    [
        (lambda m: DCConstraint(p=1), ModelError, "q is missing"),
        (lambda m: DCConstraint(), ModelError, "either p and q"),
        (lambda m: DCConstraint([1, 2], p=1, q=m.x[0]), ModelError, "index sets"),
        (lambda m: DCConstraint([1], rule=3), ModelError, "rule is 3"),
        (lambda m: DCConstraint([1], rule=lambda m, i: m.x[0]), ModelError, "expected \\(p, q\\)"),
        (lambda m: DCConstraint(p="x", q=0), ModelError, "p of the DCConstraint"),
        (lambda m: DCConstraint(p=[1, 2], q=Each()(np.eye(3)[:, :2], m.x)), DataError, "3 numbers"),
        (lambda m: DCConstraint(p=np.nan, q=Each()(np.eye(2), m.x)), DataError, "NaN"),
        (lambda m: DCConstraint(p=0, q=Each(Norm2(), 2)(np.eye(3), m.x)), DataError, "groups of 2"),
        (lambda m: DCConstraint(p=0, q=Each()(np.eye(3), m.x)), DataError, "3 columns for 2 variables"),
    ],
)
def test_what_is_no_dc_constraint_is_refused(make, error, complaint):
    m = plane()
    with pytest.raises(error, match=complaint):
        m.c = make(m)


@pytest.mark.parametrize(
    ("p", "q", "complaint"),
    [
        (lambda m: -(m.x[0] ** 2), lambda m: 0, "p of c is not convex"),
        (lambda m: 0, lambda m: m.x[0] ** 3, "q of c is not convex"),
        (lambda m: 0, lambda m: -abs(m.x[0]), "negative coefficient"),
        (lambda m: pyo.sin(m.x[0]), lambda m: 0, "not convex"),
    ],
)
def test_p_and_q_have_to_be_convex(p, q, complaint):
    m = plane()
    m.c = DCConstraint(p=p(m), q=q(m))
    with pytest.raises((ConvexityError, ModelError), match=complaint):
        DCProgram(m, 0, 0)


def test_other_algorithms_say_which_one_takes_them():
    m = plane()
    m.ring = DCConstraint(p=1, q=m.x[0] ** 2 + m.x[1] ** 2)
    with pytest.raises(CapabilityError, match="penalty"):
        dcprog.solve(DCProgram(m, 0, 0), algorithm="dca")
    with pytest.raises(CapabilityError, match="use DCA"):
        dcprog.solve(DCProgram(plane(), 0, 0), algorithm="penalty")
    m.cubic = pyo.Constraint(expr=m.x[0] ** 3 >= 1)
    with pytest.raises(ConvexityError, match="DCConstraint"):
        DCProgram(m, 0, 0)

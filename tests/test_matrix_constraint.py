"""A MatrixConstraint is an ordinary Pyomo constraint, whose rows nobody pays for before someone asks for one."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from pyomo.core.base.constraint import ConstraintData

import dcprog
from dcprog import DCProgram, MatrixConstraint, errors

LP_SOLVERS = ("highs", "appsi_highs")


def polytope(lower=None, upper=(4.0, 6.0, 1.0)):
    """max x + y over x + 2y ≤ 4, 3x + y ≤ 6, x − y ≤ 1, x, y ≥ 0: (1.6, 1.2), value 2.8, but for the third row at work."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 10), initialize=0.0)
    m.rows = MatrixConstraint([[1.0, 2.0], [3.0, 1.0], [1.0, -1.0]], m.x, lower=lower, upper=upper)
    return m


def by_pyomo(m, solver="highs"):
    """The least −x − y of a copy of the model, by a plain Pyomo solver."""
    copy = m.clone()
    copy.objective = pyo.Objective(expr=-copy.x[0] - copy.x[1])
    pyo.SolverFactory(solver).solve(copy)
    return pyo.value(copy.objective)


def by_dcprog(m):
    return dcprog.solve(DCProgram(m, g=-m.x[0] - m.x[1], h=0)).objective


@pytest.fixture
def no_rows(monkeypatch):
    """Building a row is an error."""

    def refuse(*args, **kwds):
        raise AssertionError("a row was built")

    monkeypatch.setattr(ConstraintData, "__init__", refuse)


@pytest.mark.parametrize("solver", LP_SOLVERS)
def test_plain_pyomo_solvers_see_the_rows(solver):
    assert by_pyomo(polytope(), solver) == pytest.approx(-2.8)
    assert by_dcprog(polytope()) == pytest.approx(-2.8)


def test_nothing_is_built_before_someone_asks(no_rows):
    m = polytope()
    assert by_dcprog(m) == pytest.approx(-2.8)
    m.rows.deactivate()
    assert by_dcprog(m) == pytest.approx(-20)
    m.rows.activate()
    copy = pickle.loads(pickle.dumps(m.clone()))
    assert by_dcprog(copy) == pytest.approx(-2.8)
    assert len(copy.rows) == 3
    assert copy.rows.active
    m.del_component(m.rows)
    with pytest.raises(AssertionError, match="a row was built"):
        copy.rows[0]


@pytest.mark.parametrize("built", [False, True])
@pytest.mark.parametrize("copied", [lambda m: m.clone(), lambda m: pickle.loads(pickle.dumps(m))], ids=["clone", "pickle"])
def test_copies_stand_on_their_own(built, copied):
    m = polytope()
    if built:
        m.rows[0].deactivate()
    other = copied(m)
    assert all(v is w for v, w in zip(other.rows.variables, other.x.values(), strict=True))
    other.x[1].fix(0.0)
    for solve in (by_dcprog, by_pyomo):
        assert solve(other) == pytest.approx(-1.0)
        assert solve(m) == pytest.approx(-6.0 if built else -2.8)
    other.rows.deactivate()
    assert m.rows.active
    assert other.rows[2].parent_component() is other.rows
    assert other.rows[2].name == "rows[2]"


def test_a_whole_constraint_switched_off_and_on():
    for ask_first in (False, True):
        m = polytope()
        if ask_first:
            assert m.rows[1].upper == 6.0
        m.rows.deactivate()
        assert by_dcprog(m) == by_pyomo(m) == pytest.approx(-20)
        assert not m.rows[1].active
        m.rows[1].activate()  # one row wakes its component up, as in any Pyomo constraint
        assert m.rows.active
        assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-6)
        m.rows.activate()
        assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-2.8)


@given(rows=st.sets(st.integers(0, 2)), how=st.sampled_from(["deactivate", "delete", "rewrite", "skip"]))
def test_single_rows_that_someone_changed(rows, how):
    m = polytope()
    for i in rows:
        if how == "deactivate":
            m.rows[i].deactivate()
        elif how == "delete":
            del m.rows[i]
        elif how == "rewrite":
            m.rows[i].set_value(m.x[0] + (i + 1) * m.x[1] <= i + 2)
        else:
            m.rows[i] = pyo.Constraint.Skip
    assert by_dcprog(m) == pytest.approx(by_pyomo(m), abs=1e-7)
    assert by_dcprog(m.clone()) == pytest.approx(by_pyomo(m), abs=1e-7)


def test_a_row_that_was_cleared_or_added_again():
    m = polytope()
    m.rows.clear()
    assert by_dcprog(m) == by_pyomo(m) == pytest.approx(-20)
    m.rows[2] = m.x[0] + m.x[1] <= 5
    assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-5)


def test_a_reference_to_rows_counts_once():
    m = polytope()
    m.alias = pyo.Reference(m.rows[:])
    m.rows[2].deactivate()
    program = DCProgram(m, g=-m.x[0] - m.x[1], h=0)
    assert program.compiled.subproblem.m == 2
    assert dcprog.solve(program).objective == pytest.approx(-2.8)


def test_rows_are_written_as_pyomo_writes_them():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), initialize=1.0)
    limits = [-np.inf, 0.0, 1.0, -np.inf, 2.0], [3.0, np.inf, 2.0, np.inf, 2.0]
    m.rows = MatrixConstraint([[1, 2], [0, 1], [1, 0], [5, 5], [2, 1]], m.x, *limits)
    assert [(c.lb, c.ub) for c in m.rows.values()] == [(None, 3), (0, None), (1, 2), (2, 2)]
    assert list(m.rows) == [0, 1, 2, 4]
    assert len(m.rows) == 4
    assert 3 not in m.rows
    assert m.rows[4].equality
    assert [pyo.value(c.body) for c in m.rows.values()] == [3, 1, 1, 3]
    assert isinstance(m.rows, pyo.Constraint)
    assert list(m.component_objects(pyo.Constraint)) == [m.rows]
    with pytest.raises(KeyError):
        m.rows[3]


@pytest.mark.parametrize("solver", LP_SOLVERS)
def test_empty_rows_and_no_rows(solver):
    m = polytope()
    m.none = MatrixConstraint(sp.csr_array((0, 2)), m.x, lower=1.0)
    m.empty = MatrixConstraint(sp.csr_array((1, 2)), m.x, upper=1.0)
    assert len(m.none) == 0
    assert by_dcprog(m) == pytest.approx(by_pyomo(m, solver)) == pytest.approx(-2.8)


def test_pprint_and_display():
    m = polytope()
    out = io.StringIO()
    m.pprint(ostream=out)
    m.display(ostream=out)
    assert "rows : Rows=3, Columns=2, Nonzeros=6, Active=True" in out.getvalue()
    assert "x[0] + 2.0*x[1]" in out.getvalue()


def test_deleted_and_moved_to_another_block():
    m = polytope()
    rows = m.rows
    m.del_component(rows)
    assert by_dcprog(m) == by_pyomo(m) == pytest.approx(-20)
    m.block = pyo.Block()
    m.block.rows = rows
    assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-2.8)
    m.block.deactivate()
    assert by_dcprog(m) == by_pyomo(m) == pytest.approx(-20)


def test_cloned_sub_blocks_share_the_variables_outside_them():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 10), initialize=0.0)
    m.a = pyo.Block()
    m.a.rows = MatrixConstraint([[1.0, 1.0]], m.x, upper=3.0)
    m.b = m.a.clone()
    m.a.deactivate()
    assert m.b.rows.variables == list(m.x.values())
    assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-3)


def test_fixed_variables_move_to_the_limits_for_both():
    m = polytope()
    m.x[0].fix(0.5)
    assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-2.25)


def test_duals_and_suffixes_know_the_rows():
    m = polytope()
    m.dual = pyo.Suffix(direction=pyo.Suffix.IMPORT)
    m.objective = pyo.Objective(expr=-m.x[0] - m.x[1])
    pyo.SolverFactory("appsi_highs").solve(m)
    assert [m.dual[row] for row in m.rows.values()] == pytest.approx([-0.4, -0.2, 0.0])


@given(seed=st.integers(0, 10_000))
def test_matrix_and_scalar_rows_give_the_same_program(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((5, 3)) * (rng.random((5, 3)) < 0.7)
    low = np.where(rng.random(5) < 0.5, -rng.uniform(0.5, 1, 5), -np.inf)
    values = []
    for scalar in (False, True):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(3), bounds=(-5, 5), initialize=0.0)
        m.b = pyo.Var(bounds=(-1, 1), initialize=0)
        m.rows = MatrixConstraint([sp.csr_matrix(A), np.ones(5)], [m.x, m.b], lower=low, upper=2.0)
        if scalar:
            m.plain = pyo.ConstraintList()
            for row in m.rows.values():
                m.plain.add(row.expr)
            m.del_component(m.rows)
        g = sum((m.x[i] - 2) ** 2 for i in range(3)) + m.b**2
        values.append(dcprog.solve(DCProgram(m, g=g, h=sum(abs(m.x[i]) for i in range(3)))).objective)
    assert values[0] == pytest.approx(values[1], abs=1e-7)


@given(seed=st.integers(0, 10_000))
def test_a_variable_among_several_columns(seed):
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), bounds=(-1, 1), initialize=dict(enumerate(rng.uniform(-1, 1, 3))))
    picked = rng.integers(0, 3, size=6)
    A = rng.standard_normal((4, 6)) * (rng.random((4, 6)) < 0.7)
    m.rows = MatrixConstraint([A[:, :4], A[:, 4:]], [[m.x[i] for i in picked[:4]], [m.x[i] for i in picked[4:]]], upper=9.0)
    assert len(set(map(id, m.rows.variables))) == len(m.rows.variables)
    expected = A @ np.array([m.x[i].value for i in picked])
    assert [pyo.value(m.rows[i].body) for i in range(4)] == pytest.approx(expected)
    compiled = DCProgram(m, g=m.x[0], h=0).compiled
    assert compiled.subproblem.A @ compiled.values == pytest.approx(expected)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda m: MatrixConstraint([["a", "b"]], m.x), "holds no numbers"),
        (lambda m: MatrixConstraint(np.array([[1j, 2]]), m.x), "complex entries"),
        (lambda m: MatrixConstraint(None, m.x), "dimension|holds no numbers"),
        (lambda m: MatrixConstraint("ab", m.x), "holds no numbers"),
        (lambda m: MatrixConstraint([], m.x), "matrix block"),
        (lambda m: MatrixConstraint(np.eye(2), m.x, lower="low"), "lower is 'low', which is no number"),
        (lambda m: MatrixConstraint(np.eye(2), m.x, lower=[[1, 2]] * 3), "lower has shape"),
        (lambda m: MatrixConstraint(np.eye(2), [m.x[0], m.x[0] + m.x[1]]), "takes variables, got the expression"),
        (lambda m: MatrixConstraint(np.eye(2), [m.x[0], m.p]), "takes variables"),
        (lambda m: MatrixConstraint(np.eye(2), [m.x[0], 3]), "expected Pyomo variables, got int"),
        (lambda m: MatrixConstraint(np.eye(2), None), "expected Pyomo variables, got NoneType"),
    ],
)
def test_what_is_refused(make, says):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2))
    m.p = pyo.Param(initialize=1.0, mutable=True)
    with pytest.raises(errors.DCProgError, match=says):
        make(m)


@pytest.mark.parametrize("kind", [np.asfortranarray, np.ascontiguousarray, sp.csc_array, sp.csr_array, sp.csc_matrix])
def test_arrays_may_be_used_again(kind):
    A, limits = kind(np.array([[1.0, 2.0], [3.0, 1.0], [1.0, -1.0]])), np.array([4.0, 6.0, 1.0])
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 10), initialize=0.0)
    m.rows = MatrixConstraint(A, m.x, upper=limits)
    (A.data if sp.issparse(A) else A)[:] = 0.0
    limits[:] = 0.0
    assert by_dcprog(m) == pytest.approx(by_pyomo(m)) == pytest.approx(-2.8)


def test_slices_arrays_and_dicts_of_variables():
    m = pyo.ConcreteModel()
    m.X = pyo.Var(range(2), range(3), initialize=1.0)
    for x in (
        m.X[0, :],
        [m.X[0, j] for j in range(3)],
        np.array([m.X[0, j] for j in range(3)]),
        {j: m.X[0, j] for j in range(3)},
    ):
        rows = MatrixConstraint([[1.0, 2.0, 3.0]], x, lower=1.0)
        assert [v.name for v in rows.variables] == ["X[0,0]", "X[0,1]", "X[0,2]"]

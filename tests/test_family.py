"""A family is one model, compiled once: programs on it, and paths of them, are what they would be alone."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCA, SLA, DCProgram, Family, models
from dcprog.algorithms.result import Status
from dcprog.algorithms.run import run
from dcprog.errors import ConvexityError, DataError, ModelError
from dcprog.functions import Exponential, Linear
from dcprog.program.family import of_family

rng = np.random.default_rng(3)
X = rng.normal(size=(24, 5))
y = np.sign(X[:, 0] - 0.5 * X[:, 2])
three = np.digitize(X[:, 0], [-0.5, 0.5])

SHARING = [name for name, factory in models.FACTORIES.items() if hasattr(factory, "family")]


def segment(upper=4.0):
    """min over 0 ≤ x ≤ upper, x₀ + x₁ ≥ 1, started at 1."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, upper), initialize=1.0)
    m.row = pyo.Constraint(expr=m.x[0] + m.x[1] >= 1)
    return m


def squares(m):
    return sum(v**2 for v in m.x.values())


# A family


def test_programs_of_a_family_are_those_of_the_model():
    m = segment()
    family = Family(m)
    for g, h in (
        (squares(m), 3 * m.x[0]),
        (m.x[0] + dcprog.maximum(m.x[1], 1 - m.x[0]), m.x[0] ** 2),
        (m.x[0] ** 4 + squares(m), abs(m.x[1] - 1)),
    ):
        shared, alone = dcprog.solve(family.program(g, h)), dcprog.solve(DCProgram(m, g, h))
        assert (shared.status, shared.objective) == (alone.status, alone.objective)
        np.testing.assert_array_equal(shared.x, alone.x)
    plain = family.program(squares(m), 0)
    assert plain.compiled.subproblem.n == 2, "kinks of one program are not in the next"
    assert plain.compiled.subproblem.A is family.compiled.feasible_set.A, "the rows are compiled once"


def test_the_meaning_of_a_solution_belongs_to_the_family_and_a_program_may_have_its_own():
    m = segment()
    family = Family(m, derived={"sum": lambda a: a["x"].sum()}, interpret=lambda a: float(a["sum"]))
    first = dcprog.solve(family.program(squares(m), 0, "first", stop_on=["sum"], tol=1e-8))
    own = dcprog.solve(family.program(squares(m), 0, derived={"half": lambda a: a["x"] / 2}, interpret=lambda a: a["half"]))
    assert first.name == "first"
    assert first.classifier == pytest.approx(1.0)
    assert own.classifier == pytest.approx([0.25, 0.25])
    with pytest.raises(DataError, match="interpret is 3"):
        Family(m, interpret=3)
    with pytest.raises(DataError, match="derived is"):
        Family(m, derived={"sum": 1})


def test_a_family_is_read_once():
    m = segment()
    m.y = pyo.Var(initialize=2.0)
    m.y.fix()
    m.a = pyo.Param(initialize=1.0, mutable=True)
    m.low = pyo.Constraint(expr=m.x[0] >= m.a * 0.1 * m.y)
    family = Family(m)
    m.x[0].setub(0.25)
    m.x[0].value = 7.0
    for a in (4.0, 2.0):
        m.a = a  # counts in h, and not in the constraint
        result = dcprog.solve(family.program(squares(m), m.a * m.x[0]))
        assert result["x"][0] == pytest.approx(a / 2)
    assert dcprog.solve(family.program(m.x[0], 0)).objective == pytest.approx(0.2)
    for change, undo in ((m.x[1].fix, m.x[1].unfix), (m.y.unfix, m.y.fix), (lambda: m.y.fix(3.0), lambda: m.y.fix(2.0))):
        change()
        with pytest.raises(ModelError, match="since the model was read: make a new Family"):
            family.program(squares(m), 0)
        undo()
    assert family.program(squares(m), 0)


def test_what_a_family_refuses():
    with pytest.raises(ModelError, match="expected a Pyomo ConcreteModel, got dict"):
        Family({})
    m, other = segment(), segment()
    family = Family(m)
    with pytest.raises(ConvexityError):
        family.program(-squares(m), 0)
    with pytest.raises(dcprog.errors.DCProgError, match="another model"):
        family.program(squares(other), 0)
    with pytest.raises(DataError, match="pass it to Family"):
        DCProgram(family, squares(m), 0, assume_convex=[m.row])


# Paths of any programs


def alone(program):
    return dcprog.solve(program)


def test_a_pure_dc_program_walks_warm_from_a_family_and_functions_of_the_parameters():
    m = segment()
    m.t = pyo.Var(bounds=(0, 5), initialize=0.0)
    walk = dcprog.path(
        Family(m),
        lambda a, b: a * m.x[0] + m.t,
        lambda a, b: b * Exponential(2.0)(m.x) if b else 0,
        a=[0.1, 1.0, 2.0],
        b=[0.0, 0.5],
    )
    assert walk.builds == 1
    assert walk.parameters[1] == {"a": 0.1, "b": 0.5}
    for point, result in zip(walk.parameters, walk, strict=True):
        penalty = point["b"] * Exponential(2.0)(m.x) if point["b"] else 0
        cold = alone(DCProgram(m, point["a"] * m.x[0] + m.t, penalty))
        assert result.status == cold.status == Status.CONVERGED
        assert result.objective == pytest.approx(cold.objective, abs=1e-9)
        assert result["t"] == cold["t"] == 0.0


def test_expressions_of_a_family_are_the_same_at_all_points():
    m = segment()
    walk = dcprog.path(Family(m), squares(m), lambda c: c * m.x[0], c=(1.0, 4.0))
    assert [r["x"].round(5).tolist() for r in walk] == [[0.75, 0.25], [2.0, 0.0]]
    assert walk.builds == 1


@pytest.mark.parametrize("algorithm", ["dca", "sla"])
def test_a_plain_factory_walks_warm_where_only_its_costs_change(algorithm):
    def concave(weight, upper=4.0):
        m = segment(upper)
        return DCProgram(m, g=m.x[0] * weight, h=squares(m), name=f"{weight}, {upper}")

    warm = dcprog.path(concave, weight=np.array([0.5, 1.0, 3.0]), algorithm=algorithm)
    assert warm.builds == 1
    cold = dcprog.path(concave, weight=[0.5], upper=[1.0, 2.0, 3.0], algorithm=algorithm)
    assert cold.builds == 3
    for walk in (warm, cold):
        for point, result in zip(walk.parameters, walk, strict=True):
            single = dcprog.solve(concave(**point), algorithm=algorithm)
            assert (result.status, result.name) == (single.status, single.name)
            assert result.objective == pytest.approx(single.objective)
            np.testing.assert_allclose(result.x, single.x, atol=1e-9)


@pytest.mark.parametrize("change", ["Q", "no Q", "row", "coefficient", "more rows", "bound", "smooth"])
def test_solvers_are_opened_anew_where_more_than_the_costs_changes(change):
    def program(k):
        m = segment(4.0 + (k if change == "bound" else 0))
        m.more = pyo.Constraint(expr=(k if change == "coefficient" else 1) * m.x[0] <= 3.0 + (k if change == "row" else 0))
        m.even_more = pyo.ConstraintList()
        for j in range(int(k) if change == "more rows" else 0):
            m.even_more.add(m.x[1] <= 2.0 + j)
        g = (1.0 + (k if change == "Q" else 0)) * squares(m) if change != "no Q" or k == 2.0 else m.x[1]
        return DCProgram(m, g + (m.x[0] ** 4 if change == "smooth" else 0), k * m.x[0])

    walk = dcprog.path(program, k=[1.0, 2.0, 9.0])
    assert walk.builds == 3
    assert [r.objective for r in walk] == pytest.approx([alone(program(k)).objective for k in (1.0, 2.0, 9.0)], abs=1e-6)


def test_several_programs_one_after_the_other():
    m = segment()
    family = Family(m)
    made = []

    def programs():
        for c in (1.0, 4.0):
            made.append(c)
            yield family.program(squares(m), c * m.x[0])

    walk = dcprog.path(programs())
    assert made == [1.0, 4.0]
    assert walk.parameters == ({"program": 0}, {"program": 1})
    assert [r.objective for r in walk] == pytest.approx([-0.125, -4.0])
    assert walk.builds == 1
    assert len(dcprog.path([])) == 0


def test_continuation_starts_at_the_solution_before():
    m = segment()
    family = Family(m)
    walk = dcprog.path(lambda c: family.program(squares(m), c * m.x[0]), c=[4.0, 4.0], continuation=True)
    assert walk[1].history[0].f == pytest.approx(walk[0].objective)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, p: dcprog.path(f, a=[1]), DataError, "got 0 arguments after the family, expected two"),
        (lambda f, p: dcprog.path(f, 0, 0), DataError, "pass the grid as lists"),
        (lambda f, p: dcprog.path(models.fsv, X=X, y=y, lam=[0.1]), DataError, "X is an array with 2 dimensions"),
        (lambda f, p: dcprog.path([p], lam=[1]), DataError, "a sequence of programs has no parameters"),
        (lambda f, p: dcprog.path([p, 3]), ModelError, "{'program': 1} is int, expected a DCProgram"),
        (lambda f, p: dcprog.path(lambda a: a, a=[1]), ModelError, "{'a': 1} is int, expected a DCProgram"),
        (lambda f, p: dcprog.path(p, a=[1]), ModelError, "got DCProgram, expected a function"),
        (lambda f, p: of_family(3), DataError, "family is 3"),
    ],
)
def test_what_a_path_refuses(call, error, message):
    m = segment()
    family = Family(m)
    with pytest.raises(error, match=message):
        call(family, family.program(squares(m), 0))


# Factories that share a model


def test_which_factories_share_a_model():
    # limits change, or nothing is worth sharing
    fixed = {"svm_dual", "kernel_svm_dual", "l2_l1_svm_dual", "alignment", "multiclass_arom"}
    assert set(models.FACTORIES) - set(SHARING) == fixed


@pytest.mark.parametrize("name", SHARING)
def test_a_factory_takes_a_family_in_place_of_data_and_leaves_it_as_it_was(name):
    factory = models.FACTORIES[name]
    family = factory.family(X, y)
    A, start = family.compiled.feasible_set.A.copy(), family.compiled.values.copy()
    variables = [(v.value, v.fixed, v.lb, v.ub) for v in family.model.component_data_objects(pyo.Var)]
    components = [c.name for c in family.model.component_objects()]
    shared, single = factory(family), factory(X, y)
    one, other = dcprog.solve(shared), dcprog.solve(single)
    assert shared.model is family.model
    assert (one.status, one.objective) == (other.status, other.objective)
    np.testing.assert_array_equal(one.x, other.x)
    np.testing.assert_array_equal(one.classifier.predict(X), other.classifier.predict(X))
    assert [(v.value, v.fixed, v.lb, v.ub) for v in family.model.component_data_objects(pyo.Var)] == variables
    assert [c.name for c in family.model.component_objects()] == components
    assert (family.compiled.feasible_set.A != A).nnz == 0
    np.testing.assert_array_equal(family.compiled.values, start)


def test_factories_of_one_shape_share_a_family_and_others_refuse_it():
    sized = models.fsv.family(X, y)
    soft = models.arom(sized, q=1, p=1).compiled.subproblem
    assert soft.A is models.l2_l0_svm(sized, mu=2.0).compiled.subproblem.A
    with pytest.raises(DataError, match=r"the family is one of sizes .* expected free weights"):
        models.svm(sized)
    with pytest.raises(DataError, match=r"expected sizes \|w\| without slacks"):
        models.arom(sized, q=None)
    with pytest.raises(DataError, match="form='paper'"):
        models.fsv(sized, form="paper")
    with pytest.raises(DataError, match="degree=3"):
        models.quadratic_fsv(models.quadratic_fsv.family(X, y, degree=2), degree=3)
    with pytest.raises(DataError, match=r"y is 0\.1 beside a family"):
        models.fsv(sized, 0.1)


def test_a_path_on_a_family_that_was_made_before():
    family = models.fsv.family(X, y)
    before, again = dcprog.path(models.fsv, X, y, lam=[0.05, 0.2]), dcprog.path(models.fsv, family, lam=[0.05, 0.2])
    assert [r.objective for r in again] == [r.objective for r in before]
    assert again.builds == before.builds == 1


def test_the_model_is_made_once_for_each_shape_in_any_order_of_the_grid():
    made = []

    def family(scale, shift=None):
        made.append((scale, shift))
        m = segment(scale)
        return Family(m)

    @of_family(family)
    def program(scale, shift=None, c=1.0):
        assert isinstance(scale, Family)
        return scale.program(squares(scale.model), c * scale.model.x[0])

    shifts = [np.zeros(2), np.ones(2)]
    walk = dcprog.path(program, 4.0, c=[1.0, 4.0], shift=shifts)
    assert made == [(4.0, shifts[0]), (4.0, shifts[1])]
    assert [r.objective for r in walk] == pytest.approx([-0.125, -0.125, -4.0, -4.0])
    assert walk.builds == 1, "both models are the same to a solver"


@pytest.mark.parametrize(
    ("factory", "grid"),
    [(models.svm, {"lam": [0.02, 0.1, 0.5]}), (models.l2_l1_svm, {"mu": [1.0, 20.0], "nu": [0.01, 0.1, 1.0]})],
)
def test_weights_that_are_unique_are_those_of_cold_runs(factory, grid):
    walk = dcprog.path(factory, X, y, **grid)
    for point, result in zip(walk.parameters, walk, strict=True):
        cold = alone(factory(X, y, **point))
        assert result.status == cold.status
        assert result.objective == pytest.approx(cold.objective, rel=1e-7)
        np.testing.assert_allclose(result["w"], cold["w"], atol=1e-5)


def test_three_classes_walk_warm():
    grid = [1e-2, 1e-1, 1.0]
    walk = dcprog.path(models.multiclass_arom, X, three, lam=1.0, eps=grid)
    cold = [alone(models.multiclass_arom(X, three, eps, lam=1.0)) for eps in grid]
    assert walk.builds == 1
    assert [r.status for r in walk] == [r.status for r in cold]
    assert [r.objective for r in walk] == pytest.approx([r.objective for r in cold], rel=1e-6)
    assert all(set(r.classifier.predict(X)) <= {0, 1, 2} for r in walk)


def test_nothing_of_a_path_stays_but_its_results():
    data, labels = X.copy(), y.copy()
    walk = dcprog.path(models.fsv, data, labels, lam=[0.05, 0.2], penalty=Exponential(3.0))
    gone = [weakref.ref(data), weakref.ref(labels)]
    del data, labels
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    assert walk[0].classifier.predict(X).shape == y.shape


# Open solvers


def test_an_algorithm_goes_on_with_open_solvers():
    m = segment()
    family = Family(m)
    first = DCA(family.program(squares(m), m.x[0]), solver="piqp")
    run(first)
    builds = first.dispatcher.builds
    second = DCA(family.program(squares(m) + m.x[1], 4 * m.x[0]), dispatcher=first.dispatcher)
    again = [run(second).objective for _ in range(2)]
    assert second.dispatcher is first.dispatcher
    assert second.dispatcher.builds == builds
    assert again == pytest.approx([-4.0, -4.0])


def test_open_solvers_of_another_problem_are_refused():
    m = segment()
    m.t = pyo.Var(bounds=(0, 1), initialize=0.0)
    family = Family(m)
    linear, curved = family.program(Linear(np.ones(2))(m.x), 0), family.program(squares(m), 0)
    with pytest.raises(DataError, match="hold another problem"):
        DCA(curved, dispatcher=DCA(linear).dispatcher)
    with pytest.raises(DataError, match="SLA needs solvers that give VERTEX"):
        SLA(linear, dispatcher=DCA(linear).dispatcher)
    assert run(DCA(linear, dispatcher=SLA(linear).dispatcher)).objective == pytest.approx(1.0)

"""Every active component of a model is read or refused by name: none is left out in silence."""

from __future__ import annotations

import pyomo.dae as dae
import pyomo.environ as pyo
import pyomo.gdp as gdp
import pyomo.mpec as mpec
import pyomo.network as network
import pytest
from pyomo.contrib.cp import IntervalVar
from pyomo.contrib.piecewise import PiecewiseLinearFunction
from pyomo.core.base.component import ModelComponentFactory
from pyomo.core.base.indexed_component import ActiveIndexedComponent

import dcprog
from dcprog import DCProgram, errors


def model():
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(2), bounds=(0, 1), initialize=0.5)
    return m


def complements(b, x):
    return mpec.complements(x[0] >= 0, x[1] >= 0)


@ModelComponentFactory.register("A component that nobody has heard of.")
class Unheard(ActiveIndexedComponent):
    def __init__(self, *args, **kwds):
        kwds.setdefault("ctype", Unheard)
        super().__init__(*args, **kwds)

    def construct(self, data=None):
        self._constructed = True


def sos(b, x):
    b.bad = pyo.SOSConstraint(var=x, sos=1)


def disjunction(b, x):
    b.bad = gdp.Disjunction(expr=[[x[0] <= 0], [x[1] <= 0]])


def disjunct(b, x):
    b.bad = gdp.Disjunct()
    b.bad.c = pyo.Constraint(expr=x[0] <= 0)


def complementarity(b, x):
    b.bad = mpec.Complementarity(expr=complements(b, x))


def complementarity_list(b, x):
    b.bad = mpec.ComplementarityList()
    b.bad.add(complements(b, x))


def logical(b, x):
    b.bad = pyo.LogicalConstraint(expr=pyo.atmost(1, x[0] >= 0.5, x[1] >= 0.5))


def boolean(b, x):
    b.bad = pyo.BooleanVar()


def indexed_boolean(b, x):
    b.bad = pyo.BooleanVar(range(2))


def external(b, x):
    b.bad = pyo.ExternalFunction(lambda x: x)


def port(b, x):
    b.bad = network.Port(initialize={"x": x[0]})


def arc(b, x):
    b.p, b.q = network.Port(initialize={"x": x[0]}), network.Port(initialize={"x": x[1]})
    b.bad = network.Arc(source=b.p, destination=b.q)


def continuous_set(b, x):
    b.bad = dae.ContinuousSet(bounds=(0, 1))


def interval(b, x):
    b.bad = IntervalVar()


def piecewise(b, x):
    b.bad = PiecewiseLinearFunction(points=[0, 0.5, 1], function=lambda t: t**2)


def unheard(b, x):
    b.bad = Unheard()


def indexed_unheard(b, x):
    b.bad = pyo.SOSConstraint([1, 2], var=x, index={1: [0, 1], 2: [0, 1]}, sos=1)


CASES = {
    "SOSConstraint": (sos, indexed_unheard),
    "Disjunct(ion)?": (disjunction,),
    "Disjunct": (disjunct,),
    "Complementarity": (complementarity, complementarity_list),
    "LogicalConstraint": (logical,),
    "BooleanVar": (boolean, indexed_boolean),
    "ExternalFunction": (external,),
    "Port": (port,),
    "(Arc|Port)": (arc,),
    "ContinuousSet": (continuous_set,),
    "IntervalVar": (interval,),
    "PiecewiseLinearFunction": (piecewise,),
    "Unheard": (unheard,),
}
ALL = [(kind, add) for kind, adders in CASES.items() for add in adders]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(("kind", "add"), ALL, ids=[add.__name__ for _, add in ALL])
def test_what_is_not_read_is_refused_by_name_type_and_remedy(kind, add, nested):
    m = model()
    m.inner = pyo.Block(range(1))
    block = m.inner[0] if nested else m
    add(block, m.x)
    name = r"inner\[0\]\.\w+" if nested else r"\w+"
    with pytest.raises(errors.ModelError, match=rf"{name}, a component of type {kind}, which dcprog does not read: .*it"):
        DCProgram(m, g=m.x[0], h=0)
    for component in list(block.component_objects(descend_into=False)):
        if component.local_name.startswith("bad"):  # a Disjunction brings its disjuncts along
            component.deactivate() if hasattr(component, "deactivate") else block.del_component(component)
    assert DCProgram(m, g=m.x[0], h=0)


@pytest.mark.parametrize(("kind", "add"), ALL, ids=[add.__name__ for _, add in ALL])
def test_a_deactivated_block_may_hold_anything(kind, add):
    m = model()
    m.inner = pyo.Block()
    add(m.inner, m.x)
    m.inner.deactivate()
    assert DCProgram(m, g=m.x[0], h=0)


def test_sos1_used_to_be_left_out():
    m = model()
    m.bad = pyo.SOSConstraint(var=m.x, sos=1)
    with pytest.raises(errors.ModelError, match="SOSConstraint"):
        dcprog.solve(DCProgram(m, g=-m.x[0] - m.x[1], h=0))


def test_rows_that_are_switched_off_one_by_one_say_nothing():
    m = model()
    m.sos = pyo.SOSConstraint([1, 2], var=m.x, index={1: [0, 1], 2: [0, 1]}, sos=1)
    m.sos[1].deactivate()
    with pytest.raises(errors.ModelError, match="SOSConstraint"):
        DCProgram(m, g=m.x[0], h=0)
    m.sos[2].deactivate()
    assert DCProgram(m, g=m.x[0], h=0)


def test_piecewise_by_sos_and_by_binaries_is_refused():
    for repn, says in (("SOS2", "SOSConstraint"), ("BIGM_BIN", "discrete")):
        m = model()
        m.y = pyo.Var(initialize=0.0)
        m.pw = pyo.Piecewise(m.y, m.x[0], pw_pts=[0, 0.5, 1], f_rule=[0, 1, 0], pw_repn=repn, pw_constr_type="EQ")
        with pytest.raises(errors.ModelError, match=says):
            DCProgram(m, g=-m.y, h=0)


def derivative():
    """ẏ = y, y(0) = 1."""
    m = pyo.ConcreteModel()
    m.t = dae.ContinuousSet(bounds=(0, 1))
    m.y = pyo.Var(m.t, initialize=1.0)
    m.dy = dae.DerivativeVar(m.y, wrt=m.t)
    m.ode = pyo.Constraint(m.t, rule=lambda m, t: m.dy[t] == m.y[t])
    m.start = pyo.Constraint(expr=m.y[0] == 1)
    return m


def test_differential_equations_are_taken_once_they_are_discretised():
    m = derivative()
    with pytest.raises(errors.ModelError, match=r"ContinuousSet.*discretise"):
        DCProgram(m, g=m.y[1], h=0)
    pyo.TransformationFactory("dae.collocation").apply_to(m, nfe=4, ncp=3)
    assert dcprog.solve(DCProgram(m, g=m.y[1], h=0)).objective == pytest.approx(2.71828, abs=1e-4)


def test_networks_are_taken_once_their_arcs_are_expanded():
    m = model()
    arc(m, m.x)
    pyo.TransformationFactory("network.expand_arcs").apply_to(m)
    assert dcprog.solve(DCProgram(m, g=m.x[0] - 2 * m.x[1], h=0)).objective == pytest.approx(-1)


def test_disjunctions_are_taken_once_they_are_relaxed():
    m = model()
    disjunction(m, m.x)
    pyo.TransformationFactory("gdp.hull").apply_to(m)
    with pytest.raises(errors.ModelError, match="discrete"):
        DCProgram(m, g=m.x[0], h=0)
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(m)
    assert dcprog.solve(DCProgram(m, g=-m.x[0] - m.x[1], h=0)).objective == pytest.approx(-1)


def test_harmless_components():
    m = model()
    m.I, m.J, m.K = pyo.Set(initialize=[1, 2]), pyo.RangeSet(3), pyo.SetOf([1, 2])
    m.IJ = m.I * m.J
    m.p, m.e = pyo.Param(m.I, initialize=1.0), pyo.Expression(expr=m.x[0])
    m.dual, m.list, m.more = pyo.Suffix(), pyo.ConstraintList(), pyo.VarList()
    m.list.add(m.x[0] + m.x[1] >= 1)
    m.check, m.action = pyo.BuildCheck(rule=lambda m: True), pyo.BuildAction(rule=lambda m: None)
    m.alias, m.rows = pyo.Reference(m.x), pyo.Reference(m.list)
    m.inner = pyo.Block(range(2))
    m.inner[0].alias = pyo.Reference(m.x[:])
    m.old = pyo.Objective(expr=m.x[0])
    m.old.deactivate()
    program = DCProgram(m, g=m.e + m.x[1] * m.p[1], h=0)
    assert program.compiled.subproblem.m == 1
    assert dcprog.solve(program).objective == pytest.approx(1.0)


def test_a_model_that_is_not_built_yet():
    m = pyo.AbstractModel()
    m.x = pyo.Var()
    with pytest.raises(errors.ModelError, match="create_instance"):
        DCProgram(m, g=0, h=0)

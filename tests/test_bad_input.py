"""Every mistake has its own error or status, said in one sentence with what to do."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram, MatrixConstraint, Status, errors, maximum
from dcprog.functions import Exponential, L1MinusL2, L1Norm, Logarithmic


def model(n=2, **kwds):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), **{"bounds": (-1, 1), "initialize": 0.5} | kwds)
    return m, m.x


def raises(error, match):
    return pytest.raises(error, match=match)


def test_an_objective_on_the_model_is_refused_with_the_reason():
    m, x = model()
    m.obj = pyo.Objective(expr=x[0])
    with raises(errors.ModelError, "a DC program minimises g − h"):
        DCProgram(m, g=x[0], h=0)


def test_not_a_model_and_not_a_program():
    with raises(errors.ModelError, "expected a Pyomo ConcreteModel, got int"):
        DCProgram(3, g=0, h=0)
    with raises(errors.ModelError, "expected a DCProgram"):
        dcprog.solve(3)


def test_empty_model():
    with raises(errors.ModelError, "no free variable"):
        DCProgram(pyo.ConcreteModel(), g=0, h=0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_coefficients_that_are_not_finite(bad):
    m, x = model()
    for g in (bad * x[0], bad * x[0] ** 2, pyo.exp(bad * x[0]), bad + x[0], abs(bad * x[0]), bad * L1Norm()(m.x)):
        with raises(errors.DataError, "NaN or infinite"):
            DCProgram(m, g=g, h=0)
    with raises(errors.DataError, "NaN or infinite"):
        m.c = MatrixConstraint([[1.0, bad]], m.x, lower=0)


def test_crossed_bounds_and_limits():
    m, x = model(bounds=(1, -1))
    with raises(errors.DataError, r"bounds \[1.*which no value satisfies"):
        DCProgram(m, g=x[0], h=0)
    m, x = model()
    m.low = pyo.Param(initialize=2, mutable=True)
    m.c = pyo.Constraint(expr=pyo.inequality(m.low, x[0] + x[1], 1))
    with raises(errors.DataError, "which no point satisfies"):
        DCProgram(m, g=x[0], h=0)
    with raises(errors.DataError, "no point satisfies"):
        m.r = MatrixConstraint(np.eye(2), m.x, lower=2, upper=1)


def test_integer_variables():
    m, x = model(domain=pyo.Binary, bounds=(0, 1))
    with raises(errors.ModelError, "discrete"):
        DCProgram(m, g=x[0], h=0)


def test_shapes_of_matrix_constraints():
    m, _ = model()
    for A, message in (
        (np.eye(3), "3 columns for 2 variables"),
        (np.ones(2), "1 dimension"),
        ([np.eye(2)] * 2, "2 matrix blocks"),
    ):
        with raises(errors.DataError, message):
            MatrixConstraint(A, [m.x])
    with raises(errors.DataError, "lower has shape"):
        MatrixConstraint(np.eye(2), m.x, lower=[1, 2, 3])


def test_variables_of_another_model():
    m, x = model()
    _, other = model()
    with raises(errors.ModelError, "another model"):
        DCProgram(m, g=x[0] + other[0] ** 2, h=0)


NOT_CONVEX_G = {
    "indefinite": lambda x: x[0] * x[1],
    "concave": lambda x: -(x[0] ** 2),
    "negative abs": lambda x: x[0] ** 2 - abs(x[1]),
    "negative maximum": lambda x: -2 * maximum(x[0], x[1]),
    "cubic": lambda x: x[0] ** 3,
    "quadratic piece": lambda x: maximum(-(x[0] ** 2), -0.9),
    "abs of a quadratic": lambda x: abs(x[0] ** 2 - 0.5),
    "negative function": lambda x: -1 * L1Norm()(x),
    "sine": lambda x: pyo.sin(3 * x[0]),
}


@pytest.mark.parametrize("name", NOT_CONVEX_G)
def test_g_that_is_not_convex(name):
    m, x = model()
    with pytest.raises(errors.ConvexityError):
        DCProgram(m, g=NOT_CONVEX_G[name](x), h=0)


@pytest.mark.parametrize("name", [n for n in NOT_CONVEX_G if n != "quadratic piece"])
def test_h_that_is_not_convex(name):
    m, x = model()
    with pytest.raises(errors.ConvexityError):
        DCProgram(m, g=x[0] ** 2, h=NOT_CONVEX_G[name](x))


def test_constraints_that_are_not_convex():
    for make in (lambda x: x[0] ** 4 + x[1] ** 2 >= 0.5, lambda x: x[0] ** 3 <= 0, lambda x: abs(x[0]) >= 0.5):
        m, x = model()
        m.c = pyo.Constraint(expr=make(x))
        with raises(errors.ConvexityError, "DCConstraint"):
            DCProgram(m, g=x[0], h=0)
    for make in (lambda x: x[0] ** 2 + x[1] ** 2 >= 0.5, lambda x: x[0] * x[1] <= 1, lambda x: x[0] ** 2 == 0.5):
        m, x = model()
        m.c = pyo.Constraint(expr=make(x))
        assert DCProgram(m, g=x[0], h=0).compiled.dc is not None  # quadratic rows are split, exactly
    m, x = model()
    m.c = pyo.Constraint(expr=x[0] ** 4 == 0.5)
    with raises(errors.ConvexityError, "non-linear equation"):
        DCProgram(m, g=x[0], h=0)


class HiddenBump(dcprog.ConvexFunction):
    """Convex while the program is checked, not any more when DCA runs: far out it then bends down."""

    checked = True

    def value(self, x):
        return float(np.where(self.checked | (np.abs(x) < 400), x**2, 160_000 - 300 * (np.abs(x) - 400)).sum())

    def gradient(self, x):
        return np.where(self.checked | (np.abs(x) < 400), 2 * x, 800 * np.sign(x))


def test_f_that_rises_is_a_status():
    m, x = model(1, bounds=(-1000, 1000), initialize=5.0)
    bump = HiddenBump()
    program = DCProgram(m, g=0 * x[0], h=bump(m.x))
    bump.checked = False
    result = dcprog.solve(program)
    assert result.status is Status.NOT_CONVEX
    assert "check_program" in result.messages[-1]
    assert result.objective == -25.0
    assert result["x"] == [5.0]
    with pytest.raises(errors.ConvexityError, match="midpoint"):
        DCProgram(m, g=0 * x[0], h=bump(m.x))


def test_domains():
    m, x = model()
    with raises(errors.DomainError, "give it a lower bound"):
        DCProgram(m, g=x[0] ** 2, h=Logarithmic()(m.x))
    with raises(errors.DomainError, "h is not finite"):
        DCProgram(m, g=x[0] ** 2, h=-pyo.log(x[0]))


def test_non_smooth_functions_without_an_epigraph_belong_into_h():
    m, x = model()
    with raises(errors.ModelError, "neither an epigraph nor a conic form"):
        DCProgram(m, g=L1MinusL2()(m.x), h=0)
    assert DCProgram(m, g=x[0] ** 2, h=L1MinusL2()(m.x))


def test_kinks_inside_functions_of_g():
    m, x = model()
    for falls in (pyo.exp(-abs(x[0])), dcprog.maximum(x[0], -1) ** 2, abs(x[0]) * abs(x[1])):
        with raises(errors.ModelError, "add a variable t"):
            DCProgram(m, g=falls, h=0)


def test_functions_inside_products():
    m, x = model()
    with raises(errors.ConvexityError, "g is not convex"):
        DCProgram(m, g=x[0] * Exponential()(m.x), h=0)


def test_expressions_bound_to_functions():
    _, x = model()
    with raises(errors.ModelError, "declare a Var t"):
        Exponential()(x[0] * x[1])
    with raises(errors.ModelError, "no variable"):
        Exponential()(1.0, 2)
    with raises(errors.ModelError, "no variable"):
        Exponential()([])


def test_starts():
    m, x = model()
    program = DCProgram(m, g=x[0] ** 2 + x[1] ** 2, h=0)
    for x0, message in (
        ([1, 2, 3], "x0 has 3 entries, but the program has 2"),
        ([np.nan, 0], "NaN or infinite"),
        ({"y": 1}, "did you mean|unknown variable 'y'"),
        ({"x": [1, 2, 3]}, r"shape \(3,\), expected \(2,\)"),
    ):
        with pytest.raises(errors.DCProgError, match=message):
            dcprog.solve(program, x0=x0)


def test_a_start_outside_c_is_projected_and_reported():
    m, x = model(bounds=(None, None))
    m.c = pyo.Constraint(expr=x[0] + x[1] <= 1)
    result = dcprog.solve(DCProgram(m, g=x[0] ** 2 + x[1] ** 2, h=0), x0=[2, 3], max_iter=0)
    assert result["x"] == pytest.approx([0, 1], abs=1e-6)
    assert "projected" in result.messages[0]
    assert result.status is Status.ITERATION_LIMIT


def test_infeasible_and_unbounded():
    m, x = model()
    m.c = pyo.Constraint(expr=x[0] + x[1] >= 3)
    result = dcprog.solve(DCProgram(m, g=x[0], h=0))
    assert result.status is Status.INFEASIBLE
    assert "relax" in result.messages[-1]
    m, x = model(bounds=(None, None))
    for g, h in ((x[0], 0), (x[0] ** 2, 2 * x[1]), (0, x[0] ** 2), (pyo.exp(x[0]), x[1])):
        result = dcprog.solve(DCProgram(m, g=g, h=h))
        assert result.status is Status.UNBOUNDED, (g, h, result)
        assert "bound the variables" in result.messages[-1]
        assert result["x"] == pytest.approx([0.5, 0.5])


def test_f_that_falls_without_end_though_every_subproblem_is_bounded():
    m, x = model(1, bounds=(None, None), initialize=1.0)
    result = dcprog.solve(DCProgram(m, g=x[0] ** 2, h=2 * x[0] ** 2))
    assert result.status is Status.UNBOUNDED
    assert "falls for ever" in result.messages[-1]


def test_unknown_names():
    m, x = model()
    program = DCProgram(m, g=x[0] ** 2, h=0)
    for call, message in (
        (lambda: dcprog.solve(program, solver="hihgs"), "did you mean 'highs'"),
        (lambda: dcprog.solve(program, algorithm="dac"), "did you mean 'dca'"),
        (lambda: dcprog.solve(program, solver="pyomo:higs"), "highs"),
        (lambda: dcprog.solve(program)["y"], "unknown variable 'y'"),
        (lambda: DCProgram(m, g=0, h=0, stop_on=["z"]), "unknown variable 'z'"),
    ):
        with raises(errors.UnknownNameError, message):
            call()


def test_a_solver_that_cannot_solve_the_problem_says_what_is_missing_and_who_can():
    m, x = model()
    with raises(errors.CapabilityError, "it solves LP, QP, and this subproblem is NLP; these can: .*ipopt"):
        dcprog.solve(DCProgram(m, g=x[0] ** 4, h=0), solver="highs")


def test_a_solver_that_is_not_installed():
    from dcprog.solvers import registry
    from dcprog.solvers.adapters.highs import Highs

    class Absent(Highs):
        name, module, install = "absent", "no_such_module", "pip install absent"

    for given in (Absent, "absent", None):
        with pytest.raises(errors.DataError, match="pass an instance"):
            registry.register(given)
    registry.register(Absent())
    try:
        m, x = model()
        with raises(errors.SolverUnavailableError, "pip install absent"):
            dcprog.solve(DCProgram(m, g=x[0], h=0), solver="absent")
    finally:
        registry._registered.clear()


@pytest.mark.parametrize("kwds", [{"tol": -1}, {"tol": np.nan}, {"max_iter": -1}, {"time_limit": 0}, {"starts": 0}])
def test_limits(kwds):
    m, x = model()
    with raises(errors.DataError, "pass"):
        dcprog.solve(DCProgram(m, g=x[0], h=0), **kwds)


class Raises(dcprog.ConvexFunction):
    def __init__(self, after=None, value=None, shape=None):
        self.after, self.answer, self.shape, self.calls = after, value, shape, 0

    def value(self, x):
        return float((x**2).sum())

    def gradient(self, x):
        self.calls += 1
        if self.after is not None and self.calls > self.after:
            raise ZeroDivisionError("boom")
        if self.shape is not None:
            return np.zeros(self.shape)
        return 2 * x if self.answer is None else np.full_like(x, self.answer)


def test_exceptions_inside_a_users_function_keep_the_best_point():
    m, x = model()
    with raises(errors.FunctionError, r"Raises.*gradient raised ZeroDivisionError: boom") as caught:
        dcprog.solve(DCProgram(m, g=x[0] ** 4 + x[1] ** 4, h=Raises(after=2)(m.x)))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert caught.value.result.iterations == 2
    assert np.isfinite(caught.value.result.x).all()


@pytest.mark.parametrize("function", [Raises(value=np.nan), Raises(shape=5)])
def test_gradients_of_the_wrong_kind(function):
    m, x = model()
    with raises(errors.FunctionError, "shape|subdifferentiable"):
        dcprog.solve(DCProgram(m, g=x[0] ** 4 + x[1] ** 4, h=function(m.x)))

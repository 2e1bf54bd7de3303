"""g − h is the expression, g and h are convex: for every rule, at random points, with fifty digits."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from precise import precise

import dcprog
from dcprog import maximum
from dcprog.errors import DecompositionError, DomainError, ModelError, UnknownNameError
from dcprog.program.decompose import Decomposer, spectral
from dcprog.program.decompose.pairs import Pair

EXP, LOG, SIN = pyo.exp, pyo.log, pyo.sin


def model():
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(-1, 2)), pyo.Var(bounds=(1, 3))
    m.z, m.u = pyo.Var(bounds=(0.5, 4)), pyo.Var()
    m.w = pyo.Var(range(3), bounds=(-2, 2))
    return m


CASES = {
    "affine": lambda m: 2 * m.x - m.y + 3,
    "number": lambda m: 5,
    "convex": lambda m: EXP(m.x) + m.y**2,
    "concave": lambda m: -EXP(m.x) - m.y**2,
    "convex and concave": lambda m: EXP(m.y) - m.x**2,
    "bilinear": lambda m: m.x * m.y,
    "bilinear, free": lambda m: m.x * m.u,
    "quadratic": lambda m: m.w[0] * m.w[1] - 3 * m.w[1] ** 2 + 2 * m.w[0] * m.w[2] - m.x**2 + (m.x - m.y) ** 2,
    "cubic": lambda m: m.x**3,
    "x^3 y": lambda m: m.x**3 * m.y,
    "trilinear": lambda m: m.x * m.y * m.z,
    "five factors": lambda m: m.x * m.y * m.z * m.w[0] * m.w[1],
    "monomial": lambda m: m.x**2 * m.y**3 / m.z,
    "sin": lambda m: SIN(m.x) - 2 * SIN(3 * m.u + m.x),
    "sin times y": lambda m: SIN(m.x) * m.y,
    "quotient": lambda m: m.x / m.y,
    "quotient of squares": lambda m: m.x**2 / m.z**2 - m.x / (m.y + m.z),
    "exp of a product": lambda m: EXP(m.x * m.y),
    "minus exp of a product": lambda m: -2 * EXP(m.x * m.y),
    "gauss": lambda m: EXP(-(m.x**2) - m.y**2),
    "gauss, free": lambda m: EXP(-(m.u**2)),
    "x log y": lambda m: m.x * LOG(m.y) + m.z**2,
    "kink": lambda m: abs(m.x**2 - m.y),
    "minus a kink": lambda m: -abs(m.x**2 - m.y) + abs(m.x),
    "max of products": lambda m: maximum(m.x * m.y, m.z - m.x**2, 0.5),
    "min": lambda m: -maximum(-m.x * m.y, m.z * m.x),
    "root": lambda m: pyo.sqrt(m.x**2 * m.y + 3 * m.z),
    "powers": lambda m: (m.x * m.y + 3) ** 1.5,
    "square of a product": lambda m: (m.x * m.y - m.z) ** 2,
    "fourth power": lambda m: (m.x * m.y - m.z) ** 4,
    "tanh": lambda m: pyo.tanh(m.u + m.x),
    "sin of a product": lambda m: SIN(m.x * m.y),
    "camel": lambda m: (4 - 2.1 * m.x**2 + m.x**4 / 3) * m.x**2 + m.x * m.y + (4 * m.y**2 - 4) * m.y**2,
    "rosenbrock": lambda m: 100 * (m.y - m.x**2) ** 2 + (1 - m.x) ** 2,
    "x exp(-x²)": lambda m: m.x * EXP(-(m.x**2)),
    "product of kinks": lambda m: abs(m.x) * abs(m.w[0] - 1),
}


def points(variables, count=12, seed=0):
    """Random points in the bounds, or around 0."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield [float(rng.uniform(*v.bounds)) if None not in v.bounds else float(3 * rng.normal()) for v in variables]


def variables_of(m):
    return list(m.component_data_objects(pyo.Var))


def at(m, x, expression):
    for v, value in zip(variables_of(m), x, strict=True):
        v.set_value(value, skip_validation=True)
    return float(precise(expression))


def assert_identity(m, found, expression, tol=1e-13):
    """g − h is the expression up to the rounding of its coefficients."""
    for x in points(variables_of(m)):
        for v, value in zip(variables_of(m), x, strict=True):
            v.set_value(value, skip_validation=True)
        g, h, f = precise(found.g), precise(found.h), precise(expression)
        assert abs(g - h - f) <= tol * float(1 + abs(g) + abs(h) + abs(f))


def assert_convex(m, expression, tol=1e-13):
    """No value in the middle of two points lies above the mean of theirs."""
    for a, b in zip(points(variables_of(m), seed=1), points(variables_of(m), seed=2), strict=True):
        for part in (1.0, 0.1, 1e-3):
            end = [p + part * (q - p) for p, q in zip(a, b, strict=True)]
            middle = [0.5 * (p + q) for p, q in zip(a, end, strict=True)]
            first, last, between = (at(m, x, expression) for x in (a, end, middle))
            assert between <= 0.5 * (first + last) + tol * (1 + abs(first) + abs(last))


@pytest.mark.parametrize("name", CASES)
def test_g_minus_h_is_the_expression_and_both_are_convex(name):
    m = model()
    expression = CASES[name](m)
    found = dcprog.decompose(expression, over=m)
    g, h = found
    assert (g, h) == (found.g, found.h)
    assert_identity(m, found, expression)
    assert_convex(m, g)
    assert_convex(m, h)
    assert found.describe()
    assert all(found.proofs)


@pytest.mark.parametrize("method", ["diagonal", "eigenvalue", "shift"])
@pytest.mark.parametrize("name", ["quadratic", "trilinear", "sin times y", "camel"])
def test_every_method_decomposes(name, method):
    m = model()
    expression = CASES[name](m)
    found = dcprog.decompose(expression, over=m, method=method)
    assert_identity(m, found, expression)
    assert_convex(m, found.g)
    assert_convex(m, found.h)


def test_what_is_convex_or_concave_is_not_split():
    m = model()
    assert dcprog.decompose(CASES["convex"](m), over=m).h == 0
    assert dcprog.decompose(CASES["concave"](m), over=m).g == 0
    assert dcprog.decompose(CASES["convex"](m), over=m).is_convex
    assert dcprog.decompose(CASES["concave"](m), over=m).is_concave


def test_convex_parts_make_up_for_others():
    m = model()
    assert dcprog.decompose(m.x**2 + 0.4 * SIN(m.x), over=m).h == 0
    assert dcprog.decompose(m.x * m.y + 2 * m.x**2 + 2 * m.y**2, over=m).h == 0


def test_the_model_is_not_changed():
    m = model()
    m.row = pyo.Constraint(expr=m.u + m.x <= 3)
    m.other = pyo.Constraint(expr=m.u >= -2)
    before = [(v.name, v.lb, v.ub, v.value, v.fixed) for v in variables_of(m)], len(list(m.component_objects()))
    dcprog.decompose(m.u**3 * m.x, over=m)
    after = [(v.name, v.lb, v.ub, v.value, v.fixed) for v in variables_of(m)], len(list(m.component_objects()))
    assert before == after


def test_bounds_that_rows_imply_are_named():
    m = model()
    m.row = pyo.Constraint(expr=m.u + m.x <= 3)
    m.other = pyo.Constraint(expr=m.u >= -2)
    found = dcprog.decompose(m.u**3 * m.x, over=m)
    assert found.bounds == {"u": (-2.0, 4.0)}
    assert [(v.name, low, high) for v, low, high in found.implied] == [("u", -2.0, 4.0)]


def test_what_has_no_bounds_is_named():
    m = model()
    with pytest.raises(DecompositionError, match="needs bounds of u"):
        dcprog.decompose(EXP(m.u**3), over=m)
    with pytest.raises(DecompositionError, match="slope is infinite"):
        dcprog.decompose(abs(m.x) ** 0.5, over=m)
    with pytest.raises(DomainError, match=r"has no value at x = "):
        dcprog.decompose(LOG(m.x * m.y) * m.y, over=m)
    with pytest.raises(ModelError, match="Expr_if"):
        dcprog.decompose(pyo.Expr_if(m.x >= 0, m.x, 0), over=m)
    with pytest.raises(UnknownNameError, match="did you mean 'eigenvalue'"):
        dcprog.decompose(m.x, over=m, method="eigenvalues")


def test_where_functions_have_values_is_known():
    """log(x − u) asks for x ≥ u, √u for u ≥ 0: bounds that are named, and a row."""
    m = model()
    f = LOG(m.x - m.u) * m.y + m.u * pyo.sqrt(2 * m.u)
    found = dcprog.decompose(f, over=m)
    assert found.bounds["u"] == (0.0, 2.0)
    ((row, lower, upper),) = found.domains
    assert (lower, upper) == (0.0, float("inf"))
    for x in ([1.5, 2.0, 1, 0.3, 1, 1, 1], [0.2, 1.0, 1, 0.1, 1, 1, 1], [2.0, 3.0, 1, 1.9, 1, 1, 1]):
        assert at(m, x, row) == pytest.approx(x[0] - x[3])
        assert at(m, x, found.g) - at(m, x, found.h) == pytest.approx(at(m, x, f))
    for a, b in zip(points([m.x, m.y, m.z], seed=1), points([m.x, m.y, m.z], seed=2), strict=True):
        for side in found:
            ends = [[max(p[0], 0.2), p[1], 1, 0.15, 1, 1, 1] for p in (a, b)]
            middle = [0.5 * (p + q) for p, q in zip(*ends, strict=True)]
            assert at(m, middle, side) <= 0.5 * (at(m, ends[0], side) + at(m, ends[1], side)) + 1e-12


def test_expressions_that_share_parts_share_their_splits():
    m = model()
    d = Decomposer(m)
    one, two = d.decompose(SIN(m.x * m.y) + m.z), d.decompose(2 * SIN(m.x * m.y))
    parts = [{id(a): a for a in below(found.g) if "sin" in str(a)} for found in (one, two)]
    assert parts[0].keys() & parts[1].keys()


def below(expression):
    """The expression and all that it is made of."""
    yield expression
    for a in getattr(expression, "args", ()) if hasattr(expression, "is_expression_type") else ():
        yield from below(a)


def test_methods_are_compared():
    m = model()
    for v in variables_of(m):
        v.value = 1.2
    f = m.x * m.y - m.x**2
    lines = dcprog.decompose(f, over=m, method="compare")
    assert [line.coarseness for line in lines] == sorted(line.coarseness for line in lines)
    assert {line.method for line in lines} == {"auto", "eigenvalue", "shift"}
    least = min(a * b - a * a for a in np.linspace(-1, 2, 31) for b in np.linspace(1, 3, 21))
    assert least == pytest.approx(-4)
    assert any(line.bound is not None for line in lines)
    for line in lines:
        assert line.bound is None or -5 < line.bound <= least + 1e-7
        assert line.objective >= least - 1e-7
        assert line.iterations >= 1
    assert str(lines).split()[:2] == ["method", "coarseness"]
    assert [v.value for v in variables_of(m)] == [1.2] * 7


def test_fixed_variables_and_parameters_count_with_their_values():
    m = model()
    m.p = pyo.Param(initialize=3.0, mutable=True)
    m.y.fix(2.0)
    found = dcprog.decompose(m.p * m.x * m.y, over=m)
    assert found.h == 0
    m.p.value = -1.0
    assert at(m, [1.0, 2.0, 1, 1, 1, 1, 1], found.g) == 6.0


def random_matrix(seed, n=6):
    Q = np.random.default_rng(seed).standard_normal((n, n))
    return Q + Q.T


@pytest.mark.parametrize("method", ["diagonal", "eigenvalue"])
def test_matrices_are_differences_of_semidefinite_ones(method):
    for seed in range(8):
        M = random_matrix(seed) * 10.0 ** (seed - 4)
        w = np.exp(np.random.default_rng(seed).standard_normal(len(M)))
        P, N, _ = spectral.split(M, w, method)
        size = np.abs(M).max()
        assert np.abs(P - N - M).max() <= 1e-15 * np.abs(P).max() * len(M)
        assert np.linalg.eigvalsh(P)[0] >= -1e-14 * size
        assert np.linalg.eigvalsh(N)[0] >= -1e-14 * size


def test_the_eigenvalue_split_has_least_trace_and_is_undominated():
    M = random_matrix(3)
    P, N, _ = spectral.split(M, np.ones(6), "eigenvalue")
    assert np.abs(P @ N).max() < 1e-12  # no direction stands in both
    assert np.trace(N) == pytest.approx(-np.minimum(np.linalg.eigvalsh(M), 0).sum())


def test_the_diagonal_has_least_trace():
    """M + D has a kernel, no entry of D can be smaller by itself, and a multiple of the identity is larger."""
    M = random_matrix(4)
    P, N, _ = spectral.split(M, np.ones(6), "diagonal")
    assert np.count_nonzero(N - np.diag(np.diag(N))) == 0
    assert np.linalg.eigvalsh(P)[0] == pytest.approx(0.0, abs=1e-6)
    uniform = 6 * max(0.0, -np.linalg.eigvalsh(M)[0])
    assert np.trace(N) < uniform
    for k in range(6):  # no entry alone can be smaller
        smaller = P.copy()
        smaller[k, k] -= 1e-4
        assert np.linalg.eigvalsh(smaller)[0] < 0 or N[k, k] < 1e-4


def test_units_do_not_change_a_split():
    def split(unit, method):
        m = pyo.ConcreteModel()
        m.x = pyo.Var(range(3), bounds=(-2 * unit, 2 * unit))
        y = [m.x[i] / unit for i in range(3)]
        found = dcprog.decompose(y[0] * y[1] + y[1] * y[2] - y[0] ** 2 + SIN(y[0]) * y[2], over=m, method=method)
        return at(m, [unit, -0.3 * unit, 0.7 * unit], found.h)

    for method in ("diagonal", "eigenvalue"):
        assert split(1e-6, method) == pytest.approx(split(1.0, method), rel=1e-5)


def test_a_factor_multiplies_and_a_sign_exchanges():
    m = model()
    f = CASES["sin times y"](m)
    one, minus = dcprog.decompose(f, over=m), dcprog.decompose(-3 * f, over=m)
    x = [0.3, 1.2, 1, 1, 1, 1, 1]
    assert at(m, x, minus.g) - at(m, x, minus.h) == pytest.approx(-3 * (at(m, x, one.g) - at(m, x, one.h)))


def test_common_parts_cancel():
    node = object()
    other = object()
    pair = Pair({node: 3.0, other: 1.0}, {node: 1.0}).without_common()
    assert pair.g == {node: 2.0, other: 1.0}
    assert pair.h == {}


def test_variables_that_rows_fix_are_fixed_where_g_and_h_are_used():
    """x ≥ 1 and xy = 0 fix y at 0: the product is no row any more, so y has to stay there."""
    m = pyo.ConcreteModel()
    m.x, m.y = pyo.Var(bounds=(1, 4), initialize=2), pyo.Var(bounds=(0, 4), initialize=2)
    m.row = pyo.Constraint(expr=m.x * m.y == 0)
    m.cost = pyo.Objective(expr=m.x - m.y)
    result = dcprog.solve(m)
    assert result.violation <= 1e-6
    assert result[m.x] * result[m.y] == pytest.approx(0, abs=1e-6)

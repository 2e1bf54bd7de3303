"""Every convex function keeps its promises: what a ConvexFunction says of itself is tested against its value alone."""

from __future__ import annotations

import math

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import dcprog.functions as fn

N = 4
RNG = np.random.default_rng(7)
A = RNG.normal(size=(6, N)).round(2)
b = RNG.normal(size=6).round(2)
HALF = A[:3]
THIN = sp.random_array((6, N), density=0.4, rng=3, format="coo")

PENALTIES = {
    "exponential": fn.Exponential(alpha=2),
    "logarithmic": fn.Logarithmic(eps=0.3),
    "lp": fn.Lp(p=0.5, eps=0.2),
    "capped": fn.CappedL1(theta=1.5),
    "scad": fn.SCAD(lam=0.5, a=3),
    "mcp": fn.MCP(lam=0.8, gamma=2),
    "l1-l2": fn.L1MinusL2(),
}
SEPARABLE = {name: p for name, p in PENALTIES.items() if p.separable}
FUNCTIONS = {
    **PENALTIES,
    **{f"remainder of {name}": fn.Remainder(p) for name, p in SEPARABLE.items()},
    "linear": fn.Linear(b[:N]),
    "of a sum": fn.OfSum(fn.Logarithmic()),
    "quadratic": fn.Quadratic(A.T @ A, q=b[:N], constant=-3),
    "quadratic, singular": fn.Quadratic(HALF.T @ HALF),
    "quadratic, sparse": fn.Quadratic(sp.csc_array(A.T @ A + np.eye(N)), q=b[:N]),
    "quadratic, diagonal": fn.Quadratic(sp.diags_array([1.0, 2.0, 0.5, 3.0])),
    "log-sum-exp": fn.LogSumExp(),
    "log-sum-exp, affine": fn.LogSumExp(A, b),
    "log-sum-exp, shifted": fn.LogSumExp(b=b[:N]),
    "log-sum-exp, sparse": fn.LogSumExp(THIN, b),
    "sum of exp": fn.SumExp(A, b, weights=[1, 2, 0, 0.5, 1, 3]),
    "sum of exp, sparse": fn.SumExp(THIN),
    "norm2": fn.Norm2(),
    "maximum": fn.PiecewiseMaximum(A, b),
    "maximum, sparse": fn.PiecewiseMaximum(THIN),
    "l1": fn.L1Norm(),
    "l1, weighted": fn.L1Norm([1, 0, 2, 0.5]),
    "max norm": fn.MaxNorm(),
    "squared norm": fn.SquaredNorm(),
    "huber": fn.Huber(0.7),
    "hinge": fn.Hinge(),
    "squared hinge": fn.SquaredHinge(),
    "logistic": fn.Logistic(),
    "group norm": fn.GroupNorm([[0, 2], [1], [1, 2, 3]], [1, 0.5, 2]),
    "largest sum": fn.LargestSum(2),
    "entropy": fn.Entropy(),
    "stretch of the sine": fn.Continued("sin", np.pi, 2 * np.pi),
    "stretch of a cube": fn.Continued("power", 0.0, np.inf, power=3),
    "stretch of tanh": fn.Continued("tanh", 0.0, np.inf),
    "quadratic over linear": fn.QuadOverLin(),
    "largest eigenvalue": fn.LargestEigenvalue(),
    "nuclear norm": fn.NuclearNorm(),
    "nuclear norm, one row": fn.NuclearNorm(columns=4),
    "smooth norm": fn.OfAffine(fn.Norm2(), np.vstack([HALF, np.zeros((1, N))]), [0, 0, 0, 0.7]),
    "norm of linear forms": fn.OfAffine(fn.Norm2(), HALF),
    "logistic of linear forms": fn.OfAffine(fn.Logistic(), A, b),
    "log-sum-exp of linear forms": fn.OfAffine(fn.LogSumExp(), THIN, b),
    "squares of linear forms": fn.OfAffine(fn.SquaredNorm(), A, b),
    "hinge of linear forms": fn.OfAffine(fn.Hinge(), A, b),
}


def over(functions, when=lambda f: True):
    """One test per function for which ``when`` holds."""
    chosen = {name: f for name, f in functions.items() if when(f)}
    assert chosen
    return pytest.mark.parametrize("f", chosen.values(), ids=chosen.keys())


# Kinks of the functions above, and a number whose square is rounded: drawn often, so that the rules there are tested.
COMPONENT = st.one_of(st.sampled_from([0.0, 0.5, -0.5, 1.5, -1.5, 1.6, 1.0, 2.7e-162]), st.floats(-4, 4))
POINT = st.lists(COMPONENT, min_size=N, max_size=N).map(np.array)
GENERIC = st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).uniform(-3, 3, N))
"""Points that no kink contains, with probability one."""


def sampled(**strategies):
    """@given with fewer examples, since every test runs over many functions, and no deadline, since machines are shared."""
    return lambda test: settings(max_examples=30, deadline=None)(given(**strategies)(test))


def inside(f, x):
    """x moved into the domain of f."""
    least = {fn.Entropy: 0.05, fn.QuadOverLin: 0.3}.get(type(f), 0.0)  # their slopes are infinite at 0
    return np.where(np.isfinite(f.lower_limits(len(x))), np.maximum(np.abs(x), least), x)


def close(actual, expected, tol=1e-9):
    np.testing.assert_allclose(actual, expected, rtol=tol, atol=tol)


# ── convexity, gradients, Hessians ──────────────────────────────────────────────────────────────────────────────────────


@over(FUNCTIONS)
@sampled(x=POINT, y=POINT, t=st.floats(0, 1))
def test_convex_along_segments_with_its_modulus(f, x, y, t):
    x, y = inside(f, x), inside(f, y)
    chord = (1 - t) * f.value(x) + t * f.value(y)
    bend = f.strong_convexity / 2 * t * (1 - t) * np.sum((x - y) ** 2)
    assert f.value((1 - t) * x + t * y) <= chord - bend + 1e-9 * (1 + abs(chord))


@over(FUNCTIONS)
@sampled(x=POINT, y=POINT)
def test_subgradient_inequality_with_its_modulus(f, x, y):
    x, y = inside(f, x), inside(f, y)
    slope, rise = f.gradient(x) @ (y - x), f.value(y) - f.value(x)
    assert rise >= slope + f.strong_convexity / 2 * np.sum((x - y) ** 2) - 1e-9 * (1 + abs(rise) + abs(slope))


def derivative(fun, x, step):
    """Central differences of ``fun`` at x, one row per component of x."""
    return np.array([(np.asarray(fun(x + e)) - np.asarray(fun(x - e))) / (2 * step) for e in step * np.eye(len(x))])


def away_from_kinks(f, x, step):
    corners = [x + s * e for e in step * np.eye(N) for s in (-1, 1)]
    return all(np.abs(f.gradient(c) - f.gradient(x)).max() < 1e-2 for c in corners)


@over(FUNCTIONS)
@sampled(x=GENERIC)
def test_gradient_is_the_derivative(f, x):
    x = inside(f, x)
    assume(f.smooth or away_from_kinks(f, x, 1e-6))
    close(f.gradient(x), derivative(f.value, x, 1e-6), 1e-5)


@over(FUNCTIONS, lambda f: f.smooth)
@sampled(x=POINT)
def test_smooth_functions_have_a_continuous_gradient(f, x):
    x = inside(f, x)
    close(f.gradient(x), f.gradient(inside(f, x + 1e-9)), 1e-6)


@over(FUNCTIONS, lambda f: f.has_hessian)
@sampled(x=GENERIC)
def test_hessian_is_the_derivative_of_the_gradient(f, x):
    x, step = inside(f, x), 1e-6
    # SCAD, MCP and the tangents below 0 have kinks in the gradient: not within a step of x.
    assume(np.abs(derivative(f.gradient, x, step) - derivative(f.gradient, x, step / 4)).max() < 1e-4)
    assume(f.smooth or away_from_kinks(f, x, step))
    hessian = f.hessian(x)
    assert hessian.shape == ((N,) if f.separable else (N, N))
    close(np.diag(hessian) if f.separable else hessian, derivative(f.gradient, x, step), 1e-4)


@over(FUNCTIONS, lambda f: not f.smooth)
def test_a_function_called_non_smooth_has_a_kink(f):
    line = np.linspace(-3, 3, 601)  # holds 0 and ±1.5
    jumps = [f.gradient(inside(f, np.array([s, 0, 0, 0]))) for s in line]
    assert np.abs(np.diff(jumps, axis=0)).max() > 0.1


def test_documented_subgradients_at_kinks():
    zero = np.zeros(3)
    for f in (fn.Norm2(), fn.L1Norm(), fn.MaxNorm(), fn.Remainder(fn.CappedL1(2))):
        assert not f.gradient(zero).any()
    assert fn.Norm2().hessian(zero) is None
    assert fn.CappedL1(theta=2).slope(np.array([2.0])) == 0.5
    assert (fn.L1MinusL2().slope(zero) == 1).all()
    assert (fn.PiecewiseMaximum(np.eye(3)).gradient(zero) == [1, 0, 0]).all()
    assert (fn.MaxNorm().gradient(np.array([1.0, -2.0, 2.0])) == [0, -1, 0]).all()


def test_strong_convexity_of_a_quadratic_is_its_least_eigenvalue():
    least = np.linalg.eigvalsh(A.T @ A)[0]
    assert FUNCTIONS["quadratic"].strong_convexity == pytest.approx(least)
    assert FUNCTIONS["quadratic, singular"].strong_convexity == 0
    assert FUNCTIONS["quadratic, diagonal"].strong_convexity == 0.5


def test_a_diagonal_quadratic_never_forms_a_matrix():
    n = 100_000  # whose dense Hessian would take 80 GB
    f = fn.Quadratic(sp.eye_array(n))
    assert f.separable
    assert f.strong_convexity == 1
    close(f.hessian(np.zeros(n)), np.ones(n))


# ── other forms of the same function ────────────────────────────────────────────────────────────────────────────────────


@over(FUNCTIONS, lambda f: f.epigraph(N) is not None)
@sampled(x=POINT)
def test_epigraph_has_the_same_value(f, x):
    e = f.epigraph(N)
    lp = linprog(e.c, A_ub=e.B, b_ub=e.b - e.A @ x, bounds=(None, None))
    assert lp.status == 0
    close(lp.fun, f.value(x), 1e-7)


@over(FUNCTIONS, lambda f: f.quadratic(N) is not None)
@sampled(x=POINT)
def test_quadratic_form_has_the_same_value(f, x):
    Q, c, constant = f.quadratic(N)
    close(0.5 * x @ (Q @ x) + c @ x + constant, f.value(x))


EXPANDABLE = ("exponential", "logarithmic", "lp", "quadratic", "log-sum-exp", "sum of exp")


@over({name: f for name, f in FUNCTIONS.items() if name.startswith(EXPANDABLE)})
@sampled(x=POINT)
def test_expansion_has_the_same_value(f, x):
    x = inside(f, x)
    close(f.expand(list(x), math.exp, math.log), f.value(x))
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(N), initialize=dict(enumerate(x)))
    close(pyo.value(f.expand(list(m.x.values()), pyo.exp, pyo.log)), f.value(x))


def test_polyhedral_functions_are_those_with_an_epigraph():
    assert {name for name, f in FUNCTIONS.items() if f.epigraph(N)} == {
        "capped", "maximum", "maximum, sparse", "l1", "l1, weighted", "max norm", "hinge", "hinge of linear forms",
        "largest sum",
    }  # fmt: skip


@pytest.mark.parametrize("kind", [np.array, sp.csr_matrix, sp.coo_array])
def test_sparse_and_dense_data_give_the_same_function(kind):
    x = RNG.normal(size=N)
    dense = THIN.toarray()
    for make in (lambda A: fn.LogSumExp(A, b), lambda A: fn.SumExp(A, b), lambda A: fn.Quadratic(A.T @ A)):
        f, g = make(kind(dense)), make(dense)
        close(f.value(x), g.value(x))
        close(f.gradient(x), g.gradient(x))
        close(f.hessian(x), g.hessian(x))


@sampled(shift=st.floats(-1e6, 1e6))
def test_log_sum_exp_neither_overflows_nor_loses_shifts(shift):
    f, x = fn.LogSumExp(A, b), np.ones(N)
    moved = fn.LogSumExp(A, b + shift)
    assert moved.value(x) == pytest.approx(f.value(x) + shift, abs=1e-8)
    close(moved.gradient(x), f.gradient(x), 1e-8)


def test_overflow_is_infinity_without_a_warning(recwarn):
    far = np.full(1, -1e4)
    assert fn.Exponential().value(far) == np.inf
    assert fn.SumExp([[-1.0], [-1.0]], weights=[1, 0]).value(far) == np.inf
    assert fn.SumExp([[-1.0], [1.0]], weights=[0, 1]).value(far) == 0
    assert not recwarn.list


# ── penalties ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@over(PENALTIES)
@sampled(x=POINT, step=POINT)
def test_penalty_starts_at_zero_and_increases(f, x, step):
    assert f.penalty(np.zeros(N)) == 0
    v = np.abs(x)
    assert f.penalty(v) >= -1e-12
    assert f.penalty(v + np.abs(step)) >= f.penalty(v) - 1e-12
    assert (f.slope(v) >= 0).all()
    assert f.value(v) == -f.penalty(v)
    assert (f.gradient(v) == -f.slope(v)).all()


@over(SEPARABLE)
@sampled(v=st.floats(0, 5))
def test_penalty_is_the_integral_of_its_slope(f, v):
    s = np.linspace(0, v, 4001)
    middle = (s[1:] + s[:-1]) / 2
    close(f.rho(np.array([v]))[0], f.slope(middle).mean() * v, 2e-3)


@over(SEPARABLE, lambda f: f.domain_lower == 0)
def test_rounding_below_zero_follows_the_tangent(f):
    v = np.array([-1e-3, 0.0])
    below, at = f.rho(v)
    assert below == pytest.approx(at - 1e-3 * f.slope(v)[1])
    assert f.slope(v)[0] == f.slope(v)[1]


def test_penalties_agree_with_their_papers():
    v = np.array([0.2, 0.7, 5.0])
    assert fn.Exponential(5).penalty(v) == pytest.approx(np.sum(1 - np.exp(-5 * v)))  # eq. (5)
    assert fn.Logarithmic(0.1).penalty(v) + 3 * np.log(0.1) == pytest.approx(np.sum(np.log(0.1 + v)))  # AROM, shifted
    assert fn.Lp(0.3, 0.1).penalty(v) == pytest.approx(np.sum((v + 0.1) ** 0.3 - 0.1**0.3))
    assert fn.CappedL1(0.5).penalty(v) * 0.5 == pytest.approx(np.sum(np.minimum(v, 0.5)))
    lam, a, gamma = 0.5, 3.7, 3.0
    middle = (2 * a * lam * 0.7 - 0.7**2 - lam**2) / (2 * (a - 1))  # Fan & Li (2001), eq. (2.7) integrated
    close(fn.SCAD(lam, a).rho(v), [lam * 0.2, middle, lam**2 * (a + 1) / 2])
    close(fn.MCP(lam, gamma).rho(v), [lam * 0.2 - 0.2**2 / 6, lam * 0.7 - 0.7**2 / 6, gamma * lam**2 / 2])
    assert fn.L1MinusL2().penalty(v) == pytest.approx(5.9 - np.sqrt(0.04 + 0.49 + 25))


@pytest.mark.parametrize("f", [fn.Exponential(1e4), fn.CappedL1(1e-4)], ids=repr)
def test_penalties_count_features_in_the_limit(f):
    assert f.penalty(np.array([0, 0.1, 0, 3.0])) == pytest.approx(2)


@over(PENALTIES)
@sampled(x=POINT)
def test_pair_is_the_penalty_of_the_absolute_value(f, x):
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(N), initialize=dict(enumerate(x)))
    g, h = f.pair(m.w)
    close(pyo.value(g - h), f.penalty(np.abs(x)))
    close(pyo.value(g), pyo.value(f.slope(np.zeros(1))[0] * sum(abs(w) for w in m.w.values())))


def test_pair_takes_variables_in_pieces():
    m = pyo.ConcreteModel()
    m.w = pyo.Var([1, 2], initialize=-1)
    m.b = pyo.Var(initialize=2)
    g, h = fn.MCP(lam=1, gamma=2).pair(m.w, m.b)
    assert pyo.value(g - h) == pytest.approx(0.75 + 0.75 + 1)


# ── the catalogue ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_catalogue_lists_every_function():
    public = [getattr(fn, name) for name in fn.__all__]
    concrete = {
        c.__name__ for c in public if isinstance(c, type) and issubclass(c, fn.ConvexFunction) and not c.__abstractmethods__
    }
    entries = fn.catalogue()
    assert {e.name for e in entries} == concrete == {type(f).__name__ for f in FUNCTIONS.values()}
    for e in entries:
        assert e.signature.startswith(e.name + "(")
        assert 10 < len(e.formula) <= 121
        assert e.formula.endswith(".")


def test_repr_shows_parameters_only():
    assert repr(fn.SCAD(lam=1)) == "SCAD(lam=1.0, a=3.7)"
    assert repr(fn.Remainder(fn.CappedL1(2))) == "Remainder(CappedL1(theta=2.0))"
    assert repr(fn.Quadratic([[2.0]])) == "Quadratic(constant=0.0)"

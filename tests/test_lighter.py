"""Curvature that g and h have in common makes steps short: a decomposition with less of it makes the long ones."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import dcprog
from dcprog import DCProgram
from dcprog.algorithms import course
from dcprog.algorithms.lighter import lighter
from dcprog.testing import criticality


def program(seed: int, rho: float, n: int = 5) -> DCProgram:
    """Forms squared in g, absolute values in h, ρ‖x‖² in both, on a polytope."""
    rng = np.random.default_rng(seed)
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-3, 3))
    x = np.array(list(m.x.values()))
    for j, v in enumerate(rng.uniform(-1, 1, n)):
        m.x[j] = v
    m.row = pyo.Constraint(expr=float(rng.uniform(0.1, 1)) + rng.normal(size=n) @ (x - np.array([v.value for v in x])) >= 0)
    near = rho * sum(v**2 for v in x)
    squares = 1.5 * sum((rng.normal(size=n) @ x - 1) ** 2 for _ in range(2))
    return DCProgram(
        m,
        g=rng.normal(size=n) @ x + squares + near,
        h=0.6 * sum(abs(rng.normal(size=n) @ x + 0.3) for _ in range(3)) + near,
    )


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([30.0, 1e4]))
def test_f_does_not_rise_in_a_step_and_the_minimiser_is_right(seed, rho):
    """f(x⁺) ≤ f(x), and x⁺ minimises g − ½y'Py − ⟨u − Px, y⟩, as SciPy says."""
    p = program(seed, rho)
    c = p.compiled
    other = lighter(c)
    assert other is not None
    x = c.values.copy()
    u = c.h.gradient(x)
    there = other.step(x, u, None)
    assert c.f.value(there) <= c.f.value(x) + 1e-7

    def model(y):
        return c.g.value(y) - 0.5 * other.common @ y**2 - (u - other.common * x) @ y

    def slope(y):
        return c.g.gradient(y) - other.common * y - (u - other.common * x)

    C = c.feasible_set
    row = {"type": "ineq", "fun": lambda y: (C.A @ y - C.row_lower)[0], "jac": lambda y: C.A.toarray()}
    found = minimize(model, x, jac=slope, bounds=[(-3, 3)] * c.n, constraints=[row], method="SLSQP", options={"ftol": 1e-12})
    assert model(there) <= found.fun + 1e-5


def test_runs_with_a_large_proximal_term_end_sooner(monkeypatch):
    """Up to a thousand iterations were not enough."""
    iterations = {}
    for kind in ("with", "without"):
        if kind == "without":
            monkeypatch.setattr(course, "lighter", lambda compiled: None)
        results = [dcprog.solve(program(seed, 1e3)) for seed in range(6)]
        iterations[kind] = sum(result.iterations for result in results)
        if kind == "with":
            for seed, result in enumerate(results):
                assert result.success
                assert criticality(program(seed, 0.0), result.x) <= 1e-4
    assert iterations["with"] <= 0.75 * iterations["without"]


def test_none_without_curvature_in_both():
    m = pyo.ConcreteModel()
    m.x = pyo.Var([0, 1], bounds=(-1, 1))
    x, y = m.x.values()
    for g, h in ((x**2 + y**2, abs(x)), (abs(x), x**2), (x**2, y**2), (x**2 + pyo.exp(y), 0.1 * x**2)):
        assert lighter(DCProgram(m, g=g, h=h).compiled) is None

"""Random DC programs with bounded, feasible C, one maker for each class of subproblem."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo

from dcprog import DCProgram, MatrixConstraint, maximum
from dcprog.functions import LogSumExp, Quadratic, SumExp


def polytope(rng, n, rows):
    """A model with x in a box around 0 cut by random half-spaces that contain 0, so C is bounded and not empty."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(n), bounds=(-2, 3), initialize=0.0)
    m.cut = MatrixConstraint(rng.standard_normal((rows, n)), m.x, upper=rng.uniform(0.5, 2.0, rows))
    return m


def random_convex_form(rng, n):
    B = rng.standard_normal((n, n))
    return B @ B.T / n


def concave_on_polytope(seed, n=5, rows=6):
    """A concave f: g linear, h a convex quadratic plus a maximum."""
    rng = np.random.default_rng(seed)
    m = polytope(rng, n, rows)
    c, a = rng.standard_normal(n), rng.standard_normal((3, n))
    pieces = [sum(row[i] * m.x[i] for i in range(n)) for row in a]
    h = Quadratic(random_convex_form(rng, n), q=rng.standard_normal(n))(m.x) + maximum(*pieces)
    return DCProgram(m, g=sum(c[i] * m.x[i] for i in range(n)), h=h)


def lp_program(seed, n=4, rows=4):
    """Polyhedral g: the subproblems are LPs."""
    rng = np.random.default_rng(seed)
    m = polytope(rng, n, rows)
    g = sum(abs(m.x[i] - rng.standard_normal()) for i in range(n)) + 2 * maximum(m.x[0], -m.x[1], 0.3)
    return DCProgram(m, g=g, h=Quadratic(random_convex_form(rng, n))(m.x) + abs(m.x[0] + m.x[1]))


def qp_program(seed, n=4, rows=4):
    """Quadratic g, indefinite f."""
    rng = np.random.default_rng(seed)
    m = polytope(rng, n, rows)
    g = Quadratic(random_convex_form(rng, n) + 0.1 * np.eye(n), q=rng.standard_normal(n))(m.x) + abs(m.x[0])
    return DCProgram(m, g=g, h=Quadratic(random_convex_form(rng, n))(m.x) + sum(abs(m.x[i] - 1) for i in range(n)))


def nlp_program(seed, n=3, rows=3):
    """Exponentials and a quartic in g, log-sum-exp in h."""
    rng = np.random.default_rng(seed)
    m = polytope(rng, n, rows)
    g = SumExp(rng.standard_normal((4, n)))(m.x) + sum(m.x[i] ** 4 for i in range(n))
    return DCProgram(m, g=g, h=5 * LogSumExp(3 * rng.standard_normal((4, n)))(m.x) + m.x[0] ** 2)


MAKERS = {"LP": lp_program, "QP": qp_program, "NLP": nlp_program}

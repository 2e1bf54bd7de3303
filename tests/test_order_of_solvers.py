"""The README's table of what ``auto`` tries, row by row and condition by condition, on problems that are compiled for it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyomo.environ as pyo
import pytest
import scipy.sparse as sp

import dcprog
from dcprog.convex.problem import ConvexProblem
from dcprog.functions import L1Norm, Logistic, Norm2, SquaredNorm
from dcprog.solvers import registry

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (LP|QP|CONIC|NLP) \| (.*) \|$", README, re.MULTILINE))
"""What the table says of each class of problems."""
DATA = np.random.default_rng(0).standard_normal((6, 20))


INSTALLED = {solver.name for solver in registry.everything() if solver.available()}


def plain(kind):
    """The solvers that the row lists before it comes to conditions."""
    return [name for name in ROWS[kind].partition(";")[0].split(", ") if name in INSTALLED]


def tried(problem):
    return [solver.name for solver in registry.chain("auto", problem)]


def matrix_problem(rows, columns, curved):
    A = np.random.default_rng(0).standard_normal((rows, columns))
    Q = sp.eye_array(columns, format="csc") if curved else None
    row_limits, limits = (np.ones(rows), np.full(rows, np.inf)), (np.zeros(columns), np.full(columns, np.inf))
    return ConvexProblem(np.ones(columns), sp.csc_array(A), *row_limits, *limits, Q=Q)


def compiled(g, rule=None):
    """The subproblem of a program in twenty variables; ``g`` and ``rule`` take them."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(20), bounds=(-2, 2), initialize=0.5)
    if rule is not None:
        m.row = pyo.Constraint(expr=rule(m.x))
    return dcprog.DCProgram(m, g=g(m.x), h=0).compiled.subproblem


def test_every_class_has_a_row():
    assert list(ROWS) == ["LP", "QP", "CONIC", "NLP"]


def test_linear():
    assert tried(matrix_problem(49, 40, False)) == plain("LP")
    assert "from 50 rows on columns before these, then highs-dual where rows far outnumber columns" in ROWS["LP"]
    assert tried(matrix_problem(50, 40, False)) == ["columns", *plain("LP")]
    assert tried(matrix_problem(81, 40, False)) == ["columns", "highs-dual", *plain("LP")]


def test_quadratic():
    assert tried(matrix_problem(3, 199, True)) == plain("QP")
    assert "from 200 columns on columns before these" in ROWS["QP"]
    assert tried(matrix_problem(3, 200, True)) == ["columns", *plain("QP")]
    assert "l1-loss before these where it fits" in ROWS["QP"]
    lasso = compiled(lambda x: SquaredNorm()(x) + L1Norm()(x))
    assert tried(lasso) == ["l1-loss", *plain("QP")]


def powers(x):
    """Smooth, convex on the box, and of no conic form."""
    return sum((x[i] + 3) ** 2.5 for i in range(20))


def ball(x):
    return x[0] ** 2 + x[1] ** 2 <= 1


def test_conic():
    assert tried(compiled(lambda x: Norm2()(x))) == plain("CONIC")
    assert ROWS["CONIC"].endswith("; cone-newton between them beside smooth functions")
    first, *others = plain("CONIC")
    assert tried(compiled(lambda x: Norm2()(x) + Logistic()(DATA, x))) == [first, "cone-newton", *others]


SMOOTH = {
    "": (powers, lambda x: x[0] + x[1] + x[2] <= 1, "ipopt scipy"),
    "the first two only where they fit": (
        lambda x: SquaredNorm()(DATA, x),
        lambda x: x[0] <= x[1],
        "residual-rows ipopt clarabel scipy",
    ),
    "l1-loss before them where it does": (lambda x: Logistic()(DATA, x) + L1Norm()(x), None, "l1-loss ipopt clarabel scipy"),
    "cone-newton before ipopt beside norms": (lambda x: powers(x) + Norm2()(x), None, "cone-newton ipopt"),
    "clarabel after it where there is a conic form": (lambda x: x[0] ** 2, ball, "ipopt clarabel scipy"),
    "scipy before it with bounds alone": (lambda x: Logistic()(DATA, x), None, "scipy ipopt clarabel"),
}
"""What the row says, a function and a row where that is so, and who is asked then. Squares are in test_squares.py."""


@pytest.mark.parametrize("condition", SMOOTH)
def test_smooth(condition):
    g, row, expected = SMOOTH[condition]
    assert condition in ROWS["NLP"]
    assert tried(compiled(g, row)) == [name for name in expected.split() if name in INSTALLED]

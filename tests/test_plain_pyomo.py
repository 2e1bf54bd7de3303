"""Every model of models/ is an ordinary Pyomo model: a plain Pyomo solver finds what dcprog does in its convex case."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest

import dcprog
from dcprog import DCProgram, models

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 3))
y = np.sign(X[:, 0] - 0.4 * X[:, 1] + 0.9 * rng.normal(size=60))
c = 1.0 / len(y)


def size(m):
    return sum((m.p[j] + m.q[j]) for j in m.p)


def half_square(*vectors):
    return 0.5 * sum(v**2 for vector in vectors for v in vector.values())


def total(vector):
    return sum(vector.values())


CONVEX_CASES = {
    "rlp": ({}, lambda m: c * total(m.xi)),
    "svm": ({"lam": 0.2}, lambda m: 0.8 * c * total(m.xi) + 0.2 * half_square(m.w)),
    "svm_dual": ({"lam": 0.2}, lambda m: half_square(m.z) / 0.2 - total(m.u)),
    "l1_svm": ({"lam": 0.1}, lambda m: 0.9 * c * total(m.xi) + 0.1 * size(m)),
    "fsv": ({"lam": 0.0}, lambda m: c * total(m.xi)),
    "l2_l1_svm": ({"mu": 9.0, "nu": 0.3}, lambda m: 9 * c * total(m.xi) + half_square(m.p, m.q) + 0.3 * size(m)),
    "l2_l1_svm_dual": ({"mu": 9.0, "nu": 0.3}, lambda m: half_square(m.z) - total(m.u)),
    "l2_l0_svm": ({"mu": 9.0, "nu": 0.0}, lambda m: 9 * c * total(m.xi) + half_square(m.p, m.q)),
    "quadratic_fsv": ({"lam": 0.0}, lambda m: c * total(m.xi)),
    "quadratic_l2_l0_svm": ({"mu": 9.0, "nu": 0.0}, lambda m: 9 * c * total(m.xi) + half_square(m.p, m.q)),
    "quadratic_l2_l1_svm": (
        {"mu": 9.0, "nu": 0.3},
        lambda m: 9 * c * total(m.xi) + half_square(m.p, m.q) + 0.3 * total(m.v),
    ),
    "arom": ({"p": 1, "q": 1}, lambda m: size(m) + total(m.xi)),
    "l2_arom": ({"p": 2, "q": 1}, lambda m: half_square(m.w) + total(m.xi)),
}
"""Parameters that leave nothing in h, and the formula of the paper written out."""
NO_CONVEX_CASE = {"alignment", "kernel_svm_dual", "multiclass_arom", "sparse_regression", "zero_norm_regression"}


def plain(model, objective, solver):
    """The least value of a copy of the model."""
    copy = model.clone()
    copy.objective = pyo.Objective(expr=objective(copy))
    pyo.SolverFactory(solver).solve(copy)
    return pyo.value(copy.objective)


def test_every_factory_is_here():
    assert set(CONVEX_CASES) | NO_CONVEX_CASE == set(models.FACTORIES)


@pytest.mark.parametrize("name", CONVEX_CASES)
def test_the_convex_case_by_a_plain_solver(name):
    parameters, objective = CONVEX_CASES[name]
    program = models.FACTORIES[name](X, y, **parameters)
    expected = dcprog.solve(program).objective
    assert abs(expected) > 1e-3  # without its rows the model would give 0, or less
    assert plain(program.model, objective, "highs") == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("form", ["split", "paper"])
def test_the_paper_form_and_another_solver(form):
    program = models.l1_svm(X, y, lam=0.1, form=form)
    objective = (lambda m: 0.9 * c * total(m.xi) + 0.1 * size(m)) if form == "split" else (
        lambda m: 0.9 * c * total(m.xi) + 0.1 * total(m.v)
    )  # fmt: skip
    assert plain(program.model, objective, "appsi_highs") == pytest.approx(dcprog.solve(program).objective, abs=1e-7)


def test_rlp_as_in_the_issue():
    model = models.rlp(X, y).model
    model.objective = pyo.Objective(expr=sum(model.xi.values()) / len(y))
    pyo.SolverFactory("highs").solve(model)
    assert pyo.value(model.objective) == pytest.approx(dcprog.solve(models.rlp(X, y)).objective)


def test_a_linear_cost_over_the_set_of_several_classes():
    classes = np.digitize(X[:, 0], [-0.5, 0.5])
    m = models.multiclass_arom(X, classes, lam=1.0).model
    size = sum(m.p.values()) + sum(m.q.values()) + sum(m.xi.values())
    expected = dcprog.solve(DCProgram(m, g=size, h=0)).objective
    assert plain(m, lambda m: sum(m.p.values()) + sum(m.q.values()) + sum(m.xi.values()), "highs") == pytest.approx(expected)

"""``solver="reference"``: HiGHS and Ipopt get every subproblem whole, and every model ends where ``auto`` ends."""

from __future__ import annotations

import numpy as np
import pytest
from data_sets import load_real, needs_data
from hypothesis import given
from hypothesis import strategies as st

import dcprog
from dcprog import errors, models
from dcprog.solvers import registry
from dcprog.studies.papers import neumann2005, weston2003

SETTINGS = {
    "arom": {"eps": 1e-3, "q": 1},
    "l2_arom": {"eps": 1e-2, "q": 1},
    "multiclass_arom": {"eps": 1e-3, "lam": 1.0},
    "l2_l1_svm": {"mu": 30.0, "nu": 0.2},
    "l2_l1_svm_dual": {"mu": 30.0, "nu": 0.2},
    "l2_l0_svm": {"mu": 30.0, "nu": 0.2},
    "quadratic_l2_l1_svm": {"mu": 30.0, "nu": 0.2},
    "quadratic_l2_l0_svm": {"mu": 30.0, "nu": 0.2},
}


def samples(seed, n=30, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sign(X[:, 0] - 0.5 * X[:, 1] + 0.4 * rng.standard_normal(n))
    y[:2] = 1, -1
    return X, y


def same(one, other):
    return one == pytest.approx(other, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", models.FACTORIES)
def test_every_model_converges_and_agrees_with_auto(name):
    X, y = samples(1)
    program = models.FACTORIES[name](X, y, **SETTINGS.get(name, {}))
    reference, auto = dcprog.solve(program, solver="reference"), dcprog.solve(program)
    assert reference.status is dcprog.Status.CONVERGED
    assert reference.solver in ("highs", "ipopt")
    assert same(reference.objective, auto.objective)


@needs_data
@pytest.mark.parametrize("name", ["fsv", "l2_l0_svm", "quadratic_fsv", "alignment"])
def test_so_on_real_data(name):
    program = models.FACTORIES[name](*load_real("liver"), **SETTINGS.get(name, {}))
    reference, auto = dcprog.solve(program, solver="reference"), dcprog.solve(program)
    assert reference.status is dcprog.Status.CONVERGED
    assert same(reference.objective, auto.objective)


@pytest.mark.parametrize(
    ("name", "kind", "first"),
    [
        ("fsv", "LP", ["highs", "ipopt"]),
        ("l2_l0_svm", "QP", ["highs", "ipopt"]),
        ("alignment", "NLP", ["ipopt"]),
    ],
)
def test_what_it_stands_for(name, kind, first):
    """Ours come as a rescue only, where ``auto`` takes them first."""
    problem = models.FACTORIES[name](*samples(2, 80)).compiled.subproblem
    assert str(problem.problem_class) == kind
    chain = [s.name for s in registry.chain("reference", problem)]
    assert chain[: len(first)] == first
    assert sorted(chain) == sorted({*first, *(s.name for s in registry.chain("auto", problem))})


def test_without_fallback_it_is_the_first_alone():
    result = dcprog.solve(models.fsv(*samples(3)), solver="reference", fallback=False)
    assert result.success
    assert {record.solver for record in result.history[1:]} == {"highs"}


def test_it_is_suggested_and_known():
    with pytest.raises(errors.UnknownNameError, match="did you mean 'reference'"):
        dcprog.solve(models.rlp(*samples(4)), solver="referenc")
    registry.check("reference")
    registry.check_name("reference")


@pytest.mark.parametrize("solver", ["highs", "ipopt"])
@given(seed=st.sampled_from([6, 8, 9]))
def test_the_answer_of_an_interior_point_becomes_exact_where_the_run_would_not_end(solver, seed):
    """Repeated samples: multipliers that may be shared, so that an interior point ends next to its active rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((100, 4)).round(1)
    y = np.sign(X[:, 0] + 0.5 * rng.standard_normal(100))
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    result = dcprog.solve(models.svm(X, y), solver=solver, max_iter=20, fallback=False)
    assert result.status is dcprog.Status.CONVERGED
    assert same(result.objective, dcprog.solve(models.svm(X, y)).objective)


@needs_data
def test_a_table_with_another_solver_has_the_same_cells_of_another_key():
    table = neumann2005.STUDY.table("3")
    (default, *_), (other, *_) = (t.tasks(["liver"], ["fsv"]) for t in (table, table.with_solver("reference")))
    assert default.cell == other.cell
    assert default.key != other.key
    mine, theirs = default.work(), other.work()
    assert (mine["features"], mine["error"]) == (theirs["features"], theirs["error"])
    assert "libsvm" not in repr(table.with_solver("reference").tasks(["liver"], ["svm"])[0].work)


def test_a_table_of_other_methods_has_no_such_choice():
    with pytest.raises(errors.DataError, match="says itself which solvers it takes"):
        weston2003.STUDY.table("1").with_solver("reference")

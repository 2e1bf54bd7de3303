"""Along a path every program is the one that the factory makes alone, whatever the path shares."""

from __future__ import annotations

import numpy as np
import pytest

import dcprog
from dcprog import models
from dcprog.learning.samples import check_data

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
y = np.sign(X[:, 0] + 0.5 * X[:, 1])
three = np.digitize(X[:, 0], [-0.5, 0.5])

GRIDS = {
    "rlp": {"weighting": ["mean", "sum"]},
    "svm": {"lam": [0.1, 0.5]},
    "svm_dual": {"lam": [0.1, 0.5]},
    "l1_svm": {"form": ["split", "paper"], "lam": [0.1, 0.5]},
    "fsv": {"lam": [0, 0.1], "penalty": ["exponential", "mcp"]},
    "l2_l1_svm": {"nu": [0, 1]},
    "l2_l1_svm_dual": {"nu": [0, 1]},
    "l2_l0_svm": {"mu": [1, 10], "nu": [0, 1]},
    "quadratic_fsv": {"lam": [0, 0.1], "degree": [2, 3]},
    "quadratic_l2_l0_svm": {"nu": [0, 1]},
    "quadratic_l2_l1_svm": {"nu": [0, 1]},
    "kernel_svm_dual": {"lam": [0.1, 0.5], "kernel": ["gaussian"]},
    "alignment": {"lam": [0.1, 0.5]},
    "arom": {"q": [None, 1, 0, 2, None], "p": [0, 1, 2]},
    "l2_arom": {"eps": [1e-2, 1e-1], "q": [None, 1, 0, 2], "p": [0, 2]},
    "multiclass_arom": {"eps": [1e-2, 1e-1], "lam": [None, 1.0]},
    "zero_norm_regression": {"tube": [0.1, 0.5], "lam": [0.5, 5.0]},
    "sparse_regression": {"loss": ["squared", "logistic"], "lam": [0.02, 0.1]},
}


def test_every_factory_has_a_grid():
    assert set(GRIDS) == set(models.FACTORIES)


@pytest.mark.parametrize("name", GRIDS)
def test_a_path_gives_what_each_program_gives_alone(name):
    factory = models.FACTORIES[name]
    path = dcprog.path(factory, X, y, **GRIDS[name])
    for parameters, result in zip(path.parameters, path, strict=True):
        alone = dcprog.solve(factory(X, y, **parameters))
        assert result.objective == pytest.approx(alone.objective, rel=1e-6, abs=1e-6), parameters
        assert result.status == alone.status


@pytest.mark.parametrize("form", ["split", "paper"])
def test_hard_margins_leave_the_models_of_others_alone(form):
    data = check_data(X, y)
    soft = models.fsv(data, None, form=form)
    before = dcprog.solve(soft).objective
    models.arom(data, None, form=form)
    models.l2_arom(data, None)
    assert not any(v.fixed for v in soft.model.xi.values())
    assert soft.model.b.value == 0.0
    assert dcprog.solve(models.fsv(data, None, form=form)).objective == pytest.approx(before)
    assert set(models.svm(data, None).compiled.slots) == {"w", "b", "xi"}


def test_several_classes():
    path = dcprog.path(models.multiclass_arom, X, three, lam=[0.5, 5.0])
    alone = [dcprog.solve(models.multiclass_arom(X, three, lam=lam)).objective for lam in (0.5, 5.0)]
    assert [r.objective for r in path] == pytest.approx(alone)
    with pytest.raises(dcprog.errors.DataError, match="3 class"):
        dcprog.path(models.arom, X, three, eps=[0.1])


def test_a_form_that_does_not_exist():
    for q in (None, 1):
        with pytest.raises(dcprog.errors.UnknownNameError, match="unknown form 'splitt'"):
            models.arom(X, y, q=q, form="splitt")


@pytest.mark.parametrize("algorithm", ["auto", "boosted", dcprog.algorithms.Boosted, dcprog.algorithms.Boosted(growth=2.0)])
def test_a_path_takes_an_algorithm_as_solve_does(algorithm):
    walked = dcprog.path(models.l2_l0_svm, X, y, mu=[1, 10], nu=0.5, algorithm=algorithm)
    for point, result in zip(walked.parameters, walked, strict=True):
        alone = dcprog.solve(models.l2_l0_svm(X, y, nu=0.5, **point), algorithm=algorithm)
        assert (result.algorithm, result.objective) == (alone.algorithm, pytest.approx(alone.objective, rel=1e-6))


def test_an_algorithm_that_is_none_is_refused_before_anything_is_built():
    for wrong in ("bosted", 3):
        with pytest.raises(dcprog.errors.DCProgError, match="algorithm"):
            dcprog.path(lambda: 1 / 0, algorithm=wrong)

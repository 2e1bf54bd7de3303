"""Own feature maps in quadratic FSV: what each mapped feature contains, found, passed, and refuted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

import dcprog
from dcprog import estimators as est
from dcprog.errors import DataError
from dcprog.learning.feature_maps import own_map
from dcprog.learning.monomials import Monomials
from dcprog.learning.samples import check_samples
from dcprog.models import quadratic_fsv, quadratic_l2_l1_svm


def samples(seed=0, n=50, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 2.0, "out", "in")


def contains(transformer, X, incidence=None):
    return own_map(transformer, incidence)(check_samples(X, np.arange(len(X)) % 2)).contains.toarray().astype(bool)


@pytest.mark.parametrize("degree", [2, 3])
def test_scikit_learns_monomials_are_ours(degree):
    X, y = samples()
    transformer = PolynomialFeatures(degree)
    ours, theirs = Monomials(3, degree), own_map(transformer)(check_samples(X, y))
    order = [ours.exponents.index(tuple(np.repeat(np.arange(3), p))) for p in transformer.fit(X).powers_[1:]]
    assert (theirs.contains.toarray() == ours.contains.toarray()[order]).all()
    assert theirs.transform(X) == pytest.approx(ours.transform(X)[:, order])
    assert not hasattr(PolynomialFeatures(degree), "powers_")  # what is passed is not fitted: a copy is


@settings(max_examples=4)
@given(seed=st.integers(0, 1000))
def test_the_convex_program_is_the_same_by_any_map_of_monomials(seed):
    X, y = samples(seed)
    values = [
        dcprog.solve(quadratic_l2_l1_svm(X, y, 20.0, 0.3, **how)).objective
        for how in (
            {},
            {"feature_map": PolynomialFeatures(2)},
            {"feature_map": Monomials(3, 2).transform, "incidence": Monomials(3, 2).contains},
        )
    ]
    assert values[1:] == pytest.approx([values[0]] * 2, rel=1e-7)


def test_names_say_what_the_outputs_of_other_transformers_contain():
    X, _ = samples(d=12)  # x1 and x10 share a beginning
    assert (contains(SplineTransformer(4), X) == np.repeat(np.eye(12), 6, axis=0)).all()
    both = make_column_transformer((SplineTransformer(3), [0]), (PolynomialFeatures(2, interaction_only=True), [1, 10]))
    found = contains(both, X)
    assert [np.flatnonzero(row).tolist() for row in found] == [[0]] * 5 + [[1], [10], [1, 10]]
    fitted = make_pipeline(StandardScaler(), PolynomialFeatures(2)).fit(X)
    assert contains(fitted, X).sum(axis=0).tolist() == [13] * 12


def test_named_columns():
    X, y = samples()
    frame = pd.DataFrame(X, columns=["age", "age of car", "car"])
    machine = est.QuadraticFSV(lam=0.05, feature_map=SplineTransformer(4)).fit(frame, y)
    assert machine.classifier_.feature_map.contains.toarray().sum(axis=0).tolist() == [6, 6, 6]
    assert list(machine.get_feature_names_out()) == ["age", "age of car"]
    assert machine.score(frame, y) > 0.9


def test_v_bounds_the_weights_of_all_that_contain_a_feature():
    X, y = samples(3)
    phi = lambda X: np.column_stack([np.sin(X), X[:, 0] * X[:, 1], X[:, 1] * X[:, 2]])
    incidence = np.vstack([np.eye(3), [1, 1, 0], [0, 1, 1]])
    result = dcprog.solve(quadratic_fsv(X, y, lam=0.02, feature_map=phi, incidence=incidence))
    largest = (np.abs(result["w"])[:, None] * incidence).max(axis=0)
    assert result["v"] == pytest.approx(largest, abs=1e-8)
    assert result.classifier.selected().tolist() == np.flatnonzero(largest > 1e-8).tolist()
    assert result.classifier.decision_function(X) == pytest.approx(phi(X) @ result["w"] + result["b"], abs=1e-9)


def test_equation_nine_read_literally_leaves_cross_terms_without_a_bound():
    """φᵢ(eⱼ) ≠ 0 holds for no j where φᵢ = x₁x₂: nothing would bound its weight, which is refused."""
    X, y = samples()
    monomials = Monomials(3, 2)
    literal = monomials.transform(np.eye(3)).T != 0
    assert (literal.sum(axis=1) == 0).any()
    with pytest.raises(DataError, match="changes with feature 0, which by the incidence it does not contain"):
        quadratic_fsv(X, y, feature_map=monomials.transform, incidence=literal)


def test_constants_are_left_to_the_bias():
    X, y = samples()
    phi = lambda X: np.column_stack([np.ones(len(X)), X])
    machine = est.QuadraticFSV(feature_map=phi, incidence=np.vstack([np.zeros(3), np.eye(3)])).fit(X, y)
    assert machine.result_["w"].shape == (3,)
    assert machine.predict(X[:2]).shape == (2,)


def test_along_a_path_and_for_several_classes():
    X, _ = samples(5, n=60)
    y = np.digitize(X[:, 0] ** 2, [0.5, 2.0])
    phi, incidence = (lambda X: np.hstack([X, X**2])), np.vstack([np.eye(3)] * 2)
    machine = est.QuadraticFSVCV(lam=[0.05, 0.9], cv=2, feature_map=phi, incidence=incidence).fit(X, y)
    assert machine.get_support().tolist() == [True, False, False]
    assert machine.score(X, y) > 0.8
    assert machine.result_["w"].shape == (3, 6)


def test_the_transformer_of_the_user_is_left_as_it_is():
    X, y = samples()
    transformer = SplineTransformer(3)
    est.QuadraticFSV(feature_map=transformer).fit(X, y)
    assert not hasattr(transformer, "bsplines_")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"feature_map": np.sin}, "a function as feature_map needs incidence"),
        ({"feature_map": 3}, "feature_map is 3: pass a function"),
        ({"incidence": np.eye(3)}, "incidence is that of a feature_map, and there is none"),
        ({"feature_map": np.sin, "incidence": np.eye(4)}, r"incidence has shape \(4, 4\), expected \(3, 3\)"),
        ({"feature_map": np.sin, "incidence": [["a"]]}, "incidence is no matrix of numbers"),
        ({"feature_map": np.sin, "incidence": np.eye(3)[::-1]}, "changes with feature 0"),
        ({"feature_map": lambda X: X[0], "incidence": np.eye(3)}, "expected one row a sample"),
        ({"feature_map": lambda X: X / 0.0 * 0.0, "incidence": np.eye(3)}, "NaN or infinite"),
        ({"feature_map": Nystroem(n_components=4)}, "has no feature in it"),
        ({"feature_map": SplineTransformer(3).fit(np.zeros((9, 2)) + np.arange(9)[:, None])}, "was fitted to 2 features"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_no_map_is_refused(how, message):
    X, y = samples()
    with pytest.raises(DataError, match=message):
        quadratic_fsv(X, y, **how)
    with pytest.raises(DataError, match=message):
        est.QuadraticFSV(**how).fit(X, y)

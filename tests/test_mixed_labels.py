"""Labels of one type: strings among numbers are refused by all that take labels, and not turned into strings."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import ClassifierMixin

from dcprog import estimators, models
from dcprog.errors import DataError

X = np.random.default_rng(0).standard_normal((20, 4))
MIXED = {
    "list": ["a", 1] * 10,
    "tuple": ("a", 1.5) * 10,
    "objects": np.array(["a", 1] * 10, dtype=object),
    "series": pd.Series(["a", 1] * 10),
    "column": np.array([["a"], [1]] * 10, dtype=object),
    "flags": [True, "a"] * 10,
    "bytes": [b"a", "b"] * 10,
    "missing": ["a", None] * 10,
    "nan": ["a", float("nan")] * 10,
}
ESTIMATORS = [getattr(estimators, name) for name in estimators.__all__]
ESTIMATORS = [kind for kind in ESTIMATORS if inspect.isclass(kind) and issubclass(kind, ClassifierMixin)]


@pytest.mark.parametrize("labels", MIXED)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators(kind, labels):
    with pytest.raises(DataError, match=r"among 20 labels|missing or infinite labels"):
        kind().fit(X, MIXED[labels])


@pytest.mark.parametrize("labels", MIXED)
@pytest.mark.parametrize("factory", models.FACTORIES)
def test_models(factory, labels):
    with pytest.raises(DataError, match=r"among 20 labels|missing or infinite labels"):
        models.FACTORIES[factory](X, MIXED[labels])


@pytest.mark.parametrize("labels", [["a", "b"] * 10, [1, 2.0] * 10, [True, False] * 10, pd.Series(["a", "b"] * 10)])
def test_labels_of_one_type_are_taken(labels):
    fitted = estimators.FSV().fit(X, labels)
    assert set(fitted.predict(X)) <= set(labels)


def test_a_file_with_text_among_numbers(tmp_path, capsys):
    from dcprog.cli import main

    rows = [f"{x[0]},{x[1]},{label}" for x, label in zip(X, [1, 2, "x", 1] * 5, strict=True)]
    (tmp_path / "mixed.csv").write_text("\n".join(["a,b,label", *rows]))
    assert main(["solve", "rlp", "--data", str(tmp_path / "mixed.csv")]) == 2
    said = capsys.readouterr().err
    assert "3 class(es) (1, 2, x)" in said
    assert said.count("\n") == 1

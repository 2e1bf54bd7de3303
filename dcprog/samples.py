"""Training data (X, y): checked once, labels turned into ±1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog._typing import Indices, Vector
from dcprog.errors import DataError


@dataclass(frozen=True, eq=False)
class Data:
    """n samples in the rows of X (dense, or CSR if it came sparse), labels y ∈ {−1, +1}."""

    X: Any
    y: Vector
    classes: tuple[Any, Any]
    """The labels that −1 and +1 stand for."""
    names: tuple[str, ...] | None
    """Names of the features, if X had them."""
    kept: dict[Any, Any] = field(default_factory=dict, repr=False)
    """What was made of the data once: models that only change their objective along a path of parameters."""

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """``make()``, made on the first call with this key."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def signed(self) -> Any:
        """DX, the rows of X times their labels; D = diag(y)."""
        return sp.diags_array(self.y) @ self.X if sp.issparse(self.X) else self.y[:, None] * self.X


def check_data(X: Any, y: Any) -> Data:
    """Validate (X, y). Labels may be any two values; the larger one in sorted order becomes +1. Data is taken as it is.

    >>> check_data([[0.0], [1.0]], ["a", "b"]).y
    array([-1.,  1.])
    >>> check_data([[0.0], [float("nan")]], [0, 1])
    Traceback (most recent call last):
    dcprog.errors.DataError: X has 1 NaN or infinite entries: impute or drop them first
    """
    if isinstance(X, Data):
        return X
    samples = check_samples(X, y)
    if len(samples.classes) != 2:
        raise DataError(f"y has {len(samples.classes)} class(es), expected 2: these formulations separate two classes")
    return Data(samples.X, np.where(samples.codes == 1, 1.0, -1.0), (samples.classes[0], samples.classes[1]), samples.names)


class Samples(NamedTuple):
    """n samples in the rows of X, sample i of the class ``classes[codes[i]]``."""

    X: Any
    codes: Indices
    classes: np.ndarray
    names: tuple[str, ...] | None


def check_samples(X: Any, y: Any) -> Samples:
    """Validate (X, y) with any number of classes.

    >>> check_samples([[0.0], [1.0], [2.0]], ["a", "c", "b"]).codes
    array([0, 2, 1])
    """
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    X = _matrix(X)
    labels = np.asarray(y)
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.shape != (X.shape[0],):
        raise DataError(f"y has shape {labels.shape} for {X.shape[0]} samples: pass one label a sample")
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise DataError("y has NaN or infinite labels: drop those samples first")
    classes, codes = np.unique(labels, return_inverse=True)
    return Samples(X, codes, classes, names)


def _matrix(X: Any) -> Any:
    if sp.issparse(X):
        X = sp.csr_array(X, dtype=float)
        values = X.data
    else:
        try:
            X = values = np.asarray(X, dtype=float)
        except (TypeError, ValueError) as error:
            raise DataError(f"X is not numeric ({error}): encode categories as numbers first") from None
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension(s), expected 2: samples in rows, features in columns")
    if 0 in X.shape:
        raise DataError(f"X has shape {X.shape}: it needs at least one sample and one feature")
    bad = int(np.size(values) - np.isfinite(values).sum())
    if bad:
        raise DataError(f"X has {bad} NaN or infinite entries: impute or drop them first")
    return X


def check_positive(**parameters: float) -> None:
    """Each parameter is a finite number > 0."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(value) and value > 0):
            raise DataError(f"{name} is {value!r}, expected a number > 0")


def check_nonnegative(**parameters: float) -> None:
    """Each parameter is a finite number ≥ 0."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and np.isfinite(value) and value >= 0):
            raise DataError(f"{name} is {value!r}, expected a number ≥ 0")


def check_lam(lam: float) -> None:
    """λ ∈ [0, 1)."""
    if not (isinstance(lam, Real) and 0 <= lam < 1):
        raise DataError(f"lam is {lam!r}, expected a number in [0, 1)")


def check_positive_lam(lam: float) -> None:
    """λ ∈ (0, 1)."""
    check_positive(lam=lam)
    check_lam(lam)

"""Training data (X, y): checked once, labels turned into ±1."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.typing import Indices, Mask, Matrix, Vector

LARGEST = 1e75
"""Fourth powers of larger numbers overflow; kernels and QPs contain such powers."""


@dataclass(frozen=True, eq=False)
class Data:
    """n samples in the rows of X (dense, or CSR if it came sparse), labels y ∈ {−1, +1}."""

    X: Any
    y: Vector
    classes: tuple[Any, Any]
    """The labels that −1 and +1 stand for."""
    names: tuple[str, ...] | None
    """Names of the features, if X had them."""
    weights: Vector | None = None
    """How often each sample counts, > 0; None where each counts once."""

    @property
    def counts(self) -> Vector:
        """The weights as a vector in any case."""
        return np.ones(self.n) if self.weights is None else self.weights

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
    """Validate (X, y). Labels may be any two values; the larger one in sorted order becomes +1.

    Samples that were checked before come as ``X``, :class:`Data` or :class:`Samples`, with None as ``y``.

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
    signs = np.where(samples.codes == 1, 1.0, -1.0)
    return Data(samples.X, signs, (samples.classes[0], samples.classes[1]), samples.names, samples.weights)


def trusted(X: Any, y: np.ndarray, weights: Vector | None = None, names: tuple[str, ...] | None = None) -> Data:
    """(X, y) of two classes that somebody else has checked, as scikit-learn does: X of finite floats, one label a sample.

    >>> trusted(np.array([[0.0], [1.0]]), np.array(["a", "b"])).y
    array([-1.,  1.])
    """
    return check_data(trusted_samples(X, y, weights, names), None)


class Samples(NamedTuple):
    """n samples in the rows of X, sample i of the class ``classes[codes[i]]``, which counts ``weights[i]`` times."""

    X: Any
    codes: Indices
    classes: np.ndarray
    names: tuple[str, ...] | None
    weights: Vector | None = None

    @property
    def counts(self) -> Vector:
        """The weights as a vector in any case."""
        return np.ones(len(self.codes)) if self.weights is None else self.weights


def trusted_samples(X: Any, y: np.ndarray, weights: Vector | None = None, names: tuple[str, ...] | None = None) -> Samples:
    """The same as :func:`trusted` for any number of classes."""
    _check_size(X)
    classes, codes = np.unique(y, return_inverse=True)
    return Samples(sp.csr_array(X) if sp.issparse(X) else X, codes, classes, names, weights)


def check_samples(X: Any, y: Any) -> Samples:
    """Validate (X, y) with any number of classes; samples that were checked before are taken as they are.

    >>> check_samples([[0.0], [1.0], [2.0]], ["a", "c", "b"]).codes
    array([0, 2, 1])
    """
    if isinstance(X, Samples):
        return X
    if isinstance(X, Data):
        return Samples(X.X, np.where(X.y > 0, 1, 0), np.array(X.classes), X.names, X.weights)
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    X = check_matrix(X)
    if 0 in X.shape:
        raise DataError(f"X has shape {X.shape}: it needs at least one sample and one feature")
    _check_size(X)
    labels = _labels(y)
    if labels.shape != (X.shape[0],):
        raise DataError(f"y has shape {labels.shape} for {X.shape[0]} samples: pass one label a sample")
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise DataError(f"y has labels that cannot be sorted ({error}): pass numbers, or strings") from None
    return Samples(X, codes, classes, names)


def check_points(X: Any, d: int) -> Any:
    """Samples to classify with d features each, as a dense array, or CSR if they came sparse; there may be none.

    >>> check_points([[1, 2]], 2)
    array([[1., 2.]])
    >>> check_points([[1, 2]], 3)
    Traceback (most recent call last):
    dcprog.errors.DataError: X has shape (1, 2), expected samples with 3 features
    """
    X = check_matrix(X)
    if X.shape[1] != d:
        raise DataError(f"X has shape {X.shape}, expected samples with {d} features")
    return X


def dense(X: Any) -> Matrix:
    """A matrix of either kind as a dense array."""
    full: Matrix = X.toarray() if sp.issparse(X) else X
    return full


def varying(X: Any) -> Mask:
    """The features that are not constant.

    >>> varying(np.array([[1.0, 2.0], [1.0, 3.0]]))
    array([False,  True])
    """
    if sp.issparse(X):
        X = sp.vstack([X.max(axis=0), X.min(axis=0)]).toarray()
    mask: Mask = np.ptp(X, axis=0) > 0
    return mask


def check_varying(what: str, X: Any) -> None:
    """DataError if all features are constant.

    >>> check_varying("RFE", np.ones((3, 2)))
    Traceback (most recent call last):
    dcprog.errors.DataError: RFE has nothing to select from, since all 2 features are constant: pass some that vary
    """
    if not varying(X).any():
        raise DataError(
            f"{what} has nothing to select from, since all {X.shape[1]} features are constant: pass some that vary"
        )


def check_matrix(X: Any) -> Any:
    """X as a matrix of finite floats, dense or CSR."""
    try:
        X = X if sp.issparse(X) else np.asarray(X)
        if X.dtype.kind == "c":
            raise DataError("X has complex entries, expected real ones: pass real and imaginary parts as features")
        X = sp.csr_array(X, dtype=float) if sp.issparse(X) else np.asarray(X, dtype=float)
    except DataError:
        raise
    except (TypeError, ValueError) as error:
        raise DataError(f"X is not numeric ({error}): encode categories as numbers first") from None
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension(s), expected 2: samples in rows, features in columns")
    values = X.data if sp.issparse(X) else X
    bad = int(np.size(values) - np.isfinite(values).sum())
    if bad:
        raise DataError(f"X has {bad} NaN or infinite entries: impute or drop them first")
    return X


def _check_size(X: Any) -> None:
    largest = float(abs(X).max())
    if largest > LARGEST:
        raise DataError(f"X has entries of size {largest:.0e}, expected at most {LARGEST:.0e}: rescale the features")


def _labels(y: Any) -> np.ndarray:
    """The labels as a vector of numbers or one of strings: NumPy would turn a number among strings into one silently."""
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise DataError(f"y is no vector of labels ({error}): pass one label a sample") from None
    if labels.ndim == 2 and 1 in labels.shape:
        labels = labels.ravel()
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        raise DataError("y has NaN or infinite labels: drop those samples first")
    check_one_type(y)
    return labels


def check_one_type(y: Any) -> None:
    """Labels are all strings or all not: NumPy turns a number among strings into one silently, or cannot sort them.

    >>> check_one_type(["a", 1, "a"])
    Traceback (most recent call last):
    dcprog.errors.DataError: y has 2 strings among 3 labels, expected one type: pass strings, or numbers
    """
    if not (isinstance(y, list | tuple) or getattr(y, "dtype", None) == np.dtype(object)):
        return
    try:
        values = np.asarray(y, dtype=object).ravel()
    except ValueError:
        return  # lists of several lengths: the check of the shape reports them
    if any(value is None or (isinstance(value, float) and not np.isfinite(value)) for value in values):
        raise DataError("y has missing or infinite labels (None, NaN): drop those samples first")
    for kind, name in ((str, "strings"), (bytes, "bytes")):
        found = sum(isinstance(value, kind) for value in values)
        if 0 < found < len(values):
            raise DataError(f"y has {found} {name} among {len(values)} labels, expected one type: pass strings, or numbers")


def _check(parameters: Mapping[str, object], expected: str, holds: Callable[[Any], bool]) -> None:
    """DataError for the first parameter that is not as expected; what cannot be compared is not."""
    for name, value in parameters.items():
        if not (isinstance(value, Real) and holds(value)):
            raise DataError(f"{name} is {value!r}, expected {expected}")


def check_positive(**parameters: float) -> None:
    """Each parameter is a finite number > 0."""
    _check(parameters, "a number > 0", lambda value: 0 < value < np.inf)


def check_nonnegative(**parameters: float) -> None:
    """Each parameter is a finite number ≥ 0."""
    _check(parameters, "a number ≥ 0", lambda value: 0 <= value < np.inf)


def check_lam(lam: float) -> None:
    """λ ∈ [0, 1)."""
    _check({"lam": lam}, "a number in [0, 1)", lambda value: 0 <= value < 1)


def check_positive_lam(lam: float) -> None:
    """λ ∈ (0, 1)."""
    check_positive(lam=lam)
    check_lam(lam)


def check_count(**parameters: int) -> None:
    """Each parameter is an integer ≥ 1.

    >>> check_count(max_iter=1.5)
    Traceback (most recent call last):
    dcprog.errors.DataError: max_iter is 1.5, expected an integer ≥ 1
    """
    whole = lambda value: isinstance(value, Integral) and not isinstance(value, bool | np.bool_) and int(value) >= 1
    _check(parameters, "an integer ≥ 1", whole)


def check_flag(**flags: object) -> None:
    """Each is True or False.

    >>> check_flag(halving="a")
    Traceback (most recent call last):
    dcprog.errors.DataError: halving is 'a': pass True or False
    """
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise DataError(f"{name} is {value!r}: pass True or False")


def check_positions(name: str, values: Any, count: int) -> Indices:
    """The values as a vector of positions from 0 to count − 1, at least one.

    >>> check_positions("features", [2, 0], 3)
    array([2, 0])
    >>> check_positions("features", [3], 3)
    Traceback (most recent call last):
    dcprog.errors.DataError: features: got [3], expected a list of positions from 0 to 2
    """
    try:
        positions = np.asarray(values)
    except ValueError:  # lists of several lengths
        positions = np.empty(0, dtype=int)
    whole = positions.ndim == 1 and positions.dtype.kind in "iu" and positions.size > 0
    if not (whole and positions.min() >= 0 and positions.max() < count):
        raise DataError(f"{name}: got {values!r}, expected a list of positions from 0 to {count - 1}")
    return positions.astype(np.int64)

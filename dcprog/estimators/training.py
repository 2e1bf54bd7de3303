"""What an estimator trains on: checked samples with their weights, which two ways to say how much a sample counts make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.learning.samples import Data, Samples, trusted, trusted_samples
from dcprog.typing import Indices, Mask, Vector

ClassWeight = Mapping[Any, float] | str | None


class Training(NamedTuple):
    """Samples that scikit-learn has checked: X of finite floats, dense or CSR, labels, how often each counts, names."""

    X: Any
    y: np.ndarray
    weights: Vector | None = None
    names: tuple[str, ...] | None = None
    origin: Indices | None = None
    """Where each sample as it came is among these, −1 where it does not count; None where they are as they came."""

    @property
    def data(self) -> Data:
        """As samples of two classes."""
        return trusted(self.X, self.y, self.weights, self.names)

    @property
    def samples(self) -> Samples:
        """As samples of any number of classes."""
        return trusted_samples(self.X, self.y, self.weights, self.names)

    def part(self, rows: Indices | Mask) -> Training:
        """Some of the samples."""
        weights = None if self.weights is None else self.weights[rows]
        return Training(self.X[rows], self.y[rows], weights, self.names)

    def weighed(self, class_weight: ClassWeight) -> Training:
        """With the weights of samples times those of their classes, without the samples that do not count, and each once.

        Equal samples are one, whose weight is the sum, and where there are weights or equal samples they come in an order
        of their own: so repeating a sample, or a weight for it, or another order, state the same problem to the last digit.

        >>> Training(np.eye(3), np.array(["a", "b", "b"]), np.array([1.0, 0.0, 2.0])).weighed({"b": 3.0}).weights
        array([1., 6.])
        >>> Training(np.array([[5.0], [4.0], [5.0]]), np.array(["b", "a", "b"])).weighed(None).weights
        array([1., 2.])
        """
        weights = self.weights
        if class_weight is not None:
            weights = (np.ones(len(self.y)) if weights is None else weights) * class_weights(class_weight, self.y, weights)
        counting = np.arange(len(self.y)) if weights is None else np.flatnonzero(weights > 0)
        first, group = distinct(self.X[counting], self.y[counting]) if len(counting) else (counting, counting)
        if weights is None and len(first) == len(self.y):
            return self
        sums = np.bincount(group, weights=None if weights is None else weights[counting]).astype(float)
        origin = np.full(len(self.y), -1)
        origin[counting] = group
        rows = counting[first]
        return Training(self.X[rows], self.y[rows], None if (sums == 1.0).all() else sums, self.names, origin)


def distinct(X: Any, y: np.ndarray) -> tuple[Indices, Indices]:
    """The first of each group of equal samples, in an order that is not that in which they come, and the group of each.

    >>> distinct(np.array([[5.0], [4.0], [5.0]]), np.array([1, 0, 1]))
    (array([1, 0]), array([1, 0, 1]))
    """
    codes = np.unique(y, return_inverse=True)[1]
    columns = _products(sp.csr_array(X)) if sp.issparse(X) else [X]
    keys = np.ascontiguousarray(np.column_stack([codes, *columns]) + 0.0)  # −0 becomes 0
    rows = keys.view([("", np.void, keys.dtype.itemsize * keys.shape[1])])["f0"].ravel()
    _, first, group = np.unique(rows, return_index=True, return_inverse=True)
    return first.astype(np.int64), group.ravel().astype(np.int64)


def _products(X: Any) -> list[Vector]:
    """Products of the rows of a CSR matrix with two random vectors: the same for equal rows, each being one sum in order of
    its columns, and for others with probability 0."""
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    rng = np.random.default_rng(0)
    return [X @ rng.uniform(1.0, 2.0, X.shape[1]) for _ in range(2)]


def sample_weights(values: Any, n: int) -> Vector | None:
    """``sample_weight`` as n numbers ≥ 0, not all 0; a number stands for n equal ones. None is None, and so are ones.

    >>> sample_weights([1, 2], 2)
    array([1., 2.])
    >>> sample_weights([1, -2], 2)
    Traceback (most recent call last):
    dcprog.errors.DataError: sample_weight has the entry -2.0, expected finite numbers ≥ 0: 0 leaves a sample out
    """
    if values is None:
        return None
    try:
        weights = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight is not numeric ({error}): pass one number a sample") from None
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.shape != (n,):
        raise DataError(f"sample_weight has shape {weights.shape} for {n} samples: pass one number a sample")
    bad = weights[~(np.isfinite(weights) & (weights >= 0))]
    if bad.size:
        raise DataError(f"sample_weight has the entry {bad[0]}, expected finite numbers ≥ 0: 0 leaves a sample out")
    if not weights.any():
        raise DataError("sample_weight is zero for all samples, so no weight counts: pass some that are not")
    return None if (weights == 1.0).all() else weights


def class_weights(class_weight: ClassWeight, y: np.ndarray, weights: Vector | None = None) -> Vector:
    """What the class of each sample weighs: by name, 1 where it has none; ``"balanced"``: S/(K·S_k), so that all classes
    weigh the same in sum. S is the sum of the samples' own weights, S_k that over class k, K the number of classes.

    >>> class_weights("balanced", np.array([0, 1, 1, 1])), class_weights({1: 5.0}, np.array([0, 1]))
    (array([2.        , 0.66666667, 0.66666667, 0.66666667]), array([1., 5.]))
    """
    classes, codes = np.unique(y, return_inverse=True)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise unknown_name("class_weight", class_weight, ["balanced"])
        sums = np.bincount(codes, weights=weights)
        by_class = np.zeros(len(sums))
        np.divide(sums.sum(), (sums > 0).sum() * sums, out=by_class, where=sums > 0)
    elif isinstance(class_weight, Mapping):
        by_class = np.array([_number(label, class_weight.get(label, 1.0)) for label in classes.tolist()])
    else:
        raise DataError(f"class_weight is {class_weight!r}: pass a dict of labels and numbers, 'balanced', or None")
    each: Vector = by_class[codes]
    return each


def check_class_weight(class_weight: ClassWeight, classes: np.ndarray) -> None:
    """Labels in a dict are labels of the data: a slip in one would else go unnoticed.

    >>> check_class_weight({"yes": 2.0, "on": 1.0}, np.array(["no", "yes"]))
    Traceback (most recent call last):
    dcprog.errors.DataError: class_weight has the label 'on', and the classes are 'no', 'yes': pass weights of these
    """
    known = classes.tolist()
    for label in class_weight if isinstance(class_weight, Mapping) else ():
        if label not in known:
            raise DataError(
                f"class_weight has the label {label!r}, and the classes are {', '.join(map(repr, known))}: pass weights of "
                "these"
            )


def _number(label: Any, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError):
        weight = np.nan
    if not (np.isfinite(weight) and weight >= 0):
        raise DataError(f"class_weight of {label!r} is {value!r}, expected a number ≥ 0")
    return weight

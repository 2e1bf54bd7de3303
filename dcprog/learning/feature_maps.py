"""Explicit feature maps φ, and which original features each mapped one contains: the incidence matrix of (9).

Section 3.2.1 of Neumann, Schnörr & Steidl (2005) bounds |wᵢ| by v_j wherever φᵢ(e_j) ≠ 0. Read literally that leaves x₁x₂,
which is 0 at e₁ and at e₂, without any bound, and with it features that no v_j counts. Its words ask "which original
features are included in computing φᵢ": that φᵢ contains x_j, or depends on it, is meant, and what the incidence matrix has.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.learning.samples import Samples, dense
from dcprog.typing import Indices, Matrix, Sparse, Vector

PROBES = 25
"""Samples at which an incidence matrix is tried."""


class FeatureMap(Protocol):
    """φ as classifiers and models need it."""

    @property
    def d(self) -> int:
        """The number of original features."""

    @property
    def contains(self) -> Any:
        """Incidence matrix d' × d: whether φᵢ contains x_j."""

    def transform(self, X: Any) -> Any:
        """φ(x) for every row of X."""

    def largest(self, sizes: Vector) -> Vector:
        """For every feature the largest of ``sizes`` over the mapped features that contain it."""


def largest(contains: Any, sizes: Vector) -> Vector:
    """For every column of an incidence matrix the largest of ``sizes`` over its rows.

    >>> largest(np.array([[1, 0], [1, 1]]), np.array([2.0, 3.0]))
    array([3., 3.])
    """
    pairs = sp.coo_array(contains)
    out = np.zeros(pairs.shape[1])
    np.maximum.at(out, pairs.col, np.asarray(sizes)[pairs.row])
    return out


@dataclass(frozen=True, eq=False)
class OwnMap:
    """φ(x) = ``function(X)`` for the rows of X, without the mapped features that are constant: b does what they do.

    >>> phi = own_map(lambda X: np.column_stack([np.sin(X[:, 0]), X[:, 0] * X[:, 1]]), [[1, 0], [1, 1]])(
    ...     Samples(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0, 1]), np.array([0, 1]), None))
    >>> phi.transform([[0.0, 5.0]]), phi.contains.toarray().astype(int).tolist()
    (array([[0., 0.]]), [[1, 0], [1, 1]])
    """

    function: Callable[[Matrix], Any]
    contains: Sparse
    kept: Indices | None = field(default=None)
    """Positions of the mapped features that are not constant; None: all."""

    @property
    def d(self) -> int:
        return int(self.contains.shape[1])

    def transform(self, X: Any) -> Matrix:
        mapped = mapped_by(self.function, dense(X) if sp.issparse(X) else np.asarray(X, dtype=float))
        return mapped if self.kept is None else mapped[:, self.kept]

    def largest(self, sizes: Vector) -> Vector:
        return largest(self.contains, sizes)


def own_map(given: Any, incidence: Any = None) -> Callable[[Samples], OwnMap]:
    """What makes the map of the samples: ``given`` is a function of X, or a scikit-learn transformer, fitted or not.

    The incidence of a transformer is found from its ``powers_``, or from the names of its outputs; that of a function is
    passed. Either is tried on the samples: a mapped feature that changes with a feature must contain it.

    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> samples = Samples(np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([0, 1]), np.array([0, 1]), None)
    >>> own_map(PolynomialFeatures(2))(samples).contains.toarray().astype(int).tolist()  # x₀, x₁, x₀², x₀x₁, x₁²
    [[1, 0], [0, 1], [1, 0], [1, 1], [0, 1]]
    """
    if isinstance(given, Described):
        return own_map(given.function, given.incidence)
    if not (callable(given) or hasattr(given, "transform")):
        raise DataError(f"feature_map is {given!r}: pass a function of X, or a transformer of scikit-learn")
    return lambda samples: _made(given, incidence, samples)


@dataclass(frozen=True, eq=False)
class Described:
    """A map with its incidence, as one object."""

    function: Any
    incidence: Any


def joined_map(feature_map: Any, incidence: Any) -> Any:
    """Both as one object that :func:`own_map` takes; the map itself where there is no incidence."""
    if incidence is None:
        return feature_map
    if feature_map is None:
        raise DataError("incidence is that of a feature_map, and there is none: pass both, or leave it out")
    return Described(feature_map, incidence)


def _made(given: Any, incidence: Any, samples: Samples) -> OwnMap:
    X = dense(samples.X)
    if hasattr(given, "transform"):
        transformer = _fitted(given, X, samples)
        function = transformer.transform if samples.names is None else _Framed(transformer, samples.names)
        rows = _incidence_of(transformer, X.shape[1]) if incidence is None else incidence
    elif incidence is None:
        raise DataError("a function as feature_map needs incidence: d' × d, 1 where mapped feature i contains feature j")
    else:
        function, rows = given, incidence
    mapped = mapped_by(function, X)
    contains = _checked(rows, mapped.shape[1], X.shape[1])
    _refute(function, X, mapped, contains)
    bare = np.diff(contains.indptr) == 0
    varies = np.flatnonzero(bare & (np.ptp(mapped, axis=0) > 0))
    if varies.size:
        raise DataError(f"mapped feature {varies[0]} varies, and contains no feature by the incidence: no vⱼ bounds it")
    kept = np.flatnonzero(~bare)
    return OwnMap(function, sp.csr_array(contains[kept]), kept if bare.any() else None)


@dataclass(frozen=True, eq=False)
class _Framed:
    """A transformer that was fitted to named columns."""

    transformer: Any
    names: Sequence[str]

    def __call__(self, X: Matrix) -> Any:
        return self.transformer.transform(_frame(X, self.names))


def _frame(X: Matrix, names: Sequence[str]) -> Any:
    """X with its names, which only pandas can carry: a name is there because X came so."""
    from pandas import DataFrame

    return DataFrame(X, columns=list(names))


def _fitted(given: Any, X: Matrix, samples: Samples) -> Any:
    """The transformer as it is, if it was fitted, else a fitted copy."""
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(given)
    except NotFittedError:
        columns = X if samples.names is None else _frame(X, samples.names)
        return clone(given).fit(columns, samples.classes[samples.codes])
    expected = getattr(given, "n_features_in_", X.shape[1])
    if expected != X.shape[1]:
        raise DataError(
            f"feature_map was fitted to {expected} features, and X has {X.shape[1]}: pass one that is not fitted"
        )
    return deepcopy(given)


def mapped_by(function: Callable[[Matrix], Any], X: Matrix) -> Matrix:
    """φ(X) as a matrix of finite numbers with a row for each sample."""
    with warnings.catch_warnings():  # a transformer that was fitted to a frame is given an array, or the other way round
        warnings.filterwarnings("ignore", message="X (does not have|has) (valid )?feature names", category=UserWarning)
        mapped = function(X)
    try:
        values = dense(mapped) if sp.issparse(mapped) else np.asarray(mapped, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"feature_map gives no numbers ({error}): it takes X, n × d, and returns n × d'") from None
    if values.ndim != 2 or len(values) != len(X):
        raise DataError(
            f"feature_map gives an array of shape {values.shape} for {len(X)} samples, expected one row a sample"
        )
    if not np.isfinite(values).all():
        raise DataError("feature_map gives NaN or infinite values for some samples: choose a map that is defined for all")
    return values


def _incidence_of(transformer: Any, d: int) -> Any:
    """From the powers of a polynomial, else from the names of the outputs, in which those of the features stand."""
    if hasattr(transformer, "powers_"):
        return np.asarray(transformer.powers_) > 0
    if not hasattr(transformer, "get_feature_names_out"):
        raise DataError(f"{type(transformer).__name__} has no get_feature_names_out: pass incidence")
    known = getattr(transformer, "feature_names_in_", None)
    names = [f"⟨{j}⟩" for j in range(d)] if known is None else [str(name) for name in known]
    position = {name: j for j, name in enumerate(names)}
    found = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))  # of names in names the longest
    out = [str(name) for name in transformer.get_feature_names_out(None if known is not None else names)]
    rows = np.zeros((len(out), d))
    for i, name in enumerate(out):
        rows[i, [position[hit] for hit in found.findall(name)]] = 1.0
        if not rows[i].any() and name.rpartition("__")[2] != "1":
            raise DataError(
                f"the name of output {name!r} of {type(transformer).__name__} has no feature in it, so what it contains is "
                "unknown: pass incidence, d' × d, 1 where mapped feature i contains feature j"
            )
    return rows


def _checked(rows: Any, size: int, d: int) -> Sparse:
    """An incidence matrix of zeros and ones of the right shape."""
    try:
        matrix = sp.csr_array(rows if sp.issparse(rows) else np.atleast_2d(np.asarray(rows, dtype=float)))
    except (TypeError, ValueError) as error:
        raise DataError(f"incidence is no matrix of numbers ({error}): pass d' × d zeros and ones") from None
    if matrix.shape != (size, d):
        raise DataError(f"incidence has shape {matrix.shape}, expected ({size}, {d}): mapped features × original features")
    matrix = sp.csr_array(matrix != 0, dtype=float)
    matrix.eliminate_zeros()
    return matrix


def _refute(function: Callable[[Matrix], Any], X: Matrix, mapped: Matrix, contains: Sparse) -> None:
    """DataError if a mapped feature changes with a feature that it does not contain: on some samples, in whose place each
    feature gets the value of another sample."""
    rows = np.linspace(0, len(X) - 1, min(len(X), PROBES)).astype(int)
    base, given = mapped_by(function, X[rows]), contains.tocsc()
    size = np.abs(mapped).max(axis=0, initial=1.0)
    for j in range(X.shape[1]):
        other = X[rows].copy()
        other[:, j] = np.roll(X[rows, j], 1)
        changed = (np.abs(mapped_by(function, other) - base) > 1e-9 * size).any(axis=0)
        changed[given.indices[given.indptr[j] : given.indptr[j + 1]]] = False
        if changed.any():
            raise DataError(
                f"mapped feature {np.flatnonzero(changed)[0]} changes with feature {j}, which by the incidence it does not "
                "contain: pass the incidence matrix, d' × d, 1 wherever mapped feature i depends on feature j"
            )

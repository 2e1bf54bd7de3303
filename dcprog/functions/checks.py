"""Checks of the numbers a function is made of: each returns them as floats, or says in one sentence what is wrong."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ConvexityError, DataError
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.typing import Matrix, Sparse, Vector

DENSE = 1000
"""Up to this size the eigenvalues of a matrix are cheap (0.05 s)."""
ROUNDING = 1e-10
"""Differences this small, relative to the entries of Q, are rounding errors of whoever computed Q."""


def is_number(value: object) -> bool:
    """Whether it is a real number, which a boolean is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def number(name: str, value: object, above: float, below: float = np.inf, *, such_as: float) -> float:
    """``value`` as a float with above < value < below.

    >>> number("p", 2, 0, 1, such_as=0.5)
    Traceback (most recent call last):
    dcprog.errors.DataError: p has to be a number with 0 < p < 1, got 2: pass for example p=0.5
    """
    try:
        x = np.nan if isinstance(value, bool | np.bool_) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        x = np.nan
    if not above < x < below:
        raise DataError(
            f"{name} has to be a number with {above:g} < {name} < {below:g}, got {value!r}: "
            f"pass for example {name}={such_as:g}"
        )
    return x


def count(name: str, value: object, least: int = 1, *, such_as: int) -> int:
    """``value`` as an integer ≥ least.

    >>> count("max_iter", 2.5, such_as=200)
    Traceback (most recent call last):
    dcprog.errors.DataError: max_iter has to be an integer ≥ 1, got 2.5: pass for example max_iter=200
    """
    if not (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least):
        raise DataError(f"{name} has to be an integer ≥ {least}, got {value!r}: pass for example {name}={such_as}")
    return int(value)


def vector(name: str, values: object, n: int | None = None) -> Vector:
    """``values`` as a finite vector, of length n if that is given.

    >>> vector("b", [1, float("nan")])
    Traceback (most recent call last):
    dcprog.errors.DataError: b has to be finite, got nan at position 1: remove or replace it
    """
    x = _floats(name, values)
    if x.ndim != 1 or len(x) == 0 or n not in (None, len(x)):
        expected = "numbers" if n is None else f"{n} numbers"
        raise DataError(
            f"{name} has to be a vector of {expected}, got shape {x.shape}: reshape it or check what it belongs to"
        )
    if not np.isfinite(x).all():
        i = int(np.argmin(np.isfinite(x)))
        raise DataError(f"{name} has to be finite, got {x[i]} at position {i}: remove or replace it")
    return x


def nonnegative(name: str, values: object, n: int | None = None) -> Vector:
    """``values`` as a finite vector without negative components: weights of a sum of convex functions."""
    x = vector(name, values, n)
    if (x < 0).any():
        i = int(np.argmax(x < 0))
        raise ConvexityError(
            f"{name} have to be ≥ 0 or the sum is not convex, got {x[i]:g} at position {i}: "
            "move that part to the other side of g − h"
        )
    return x


def matrix(name: str, values: Any) -> Sparse:
    """``values`` as a finite matrix: a dense array, or a CSR array if it came sparse."""
    A = sp.csr_array(values, dtype=float) if sp.issparse(values) else _floats(name, values)
    if A.ndim != 2 or 0 in A.shape:
        raise DataError(f"{name} has to be a matrix with at least one row and column, got shape {A.shape}: reshape it")
    entries = np.asarray(A.data if sp.issparse(A) else A)
    with np.errstate(all="ignore"):
        whole = float(entries.sum())
    bad = np.empty(0) if np.isfinite(whole) else ~np.isfinite(entries)  # a sum takes a tenth of the time
    if bad.any():
        raise DataError(
            f"{name} has to be finite, got {int(bad.sum())} entries that are NaN or infinite: remove or replace them"
        )
    return A


def returned(what: str, values: Any, shape: tuple[int, int], advice: str) -> Matrix:
    """What a user's function returned, as a finite dense matrix of that shape.

    >>> returned("kernel(X, Z)", np.ones((2, 3)), (2, 2), "a row for each x, a column for each z")
    Traceback (most recent call last):
    dcprog.errors.DataError: kernel(X, Z) has shape (2, 3), expected (2, 2): a row for each x, a column for each z
    """
    try:
        is_complex, A = np.iscomplexobj(values), np.asarray(values)
        A = A if is_complex else A.astype(float, copy=False)
    except (TypeError, ValueError):
        raise DataError(f"{what} gave {type(values).__name__}, expected a matrix of numbers") from None
    if A.shape != shape:
        raise DataError(f"{what} has shape {A.shape}, expected {shape}: {advice}")
    if is_complex:
        raise DataError(f"{what} has complex entries, expected real ones: mend it")
    if not np.isfinite(A).all():
        raise DataError(f"{what} has NaN or infinite values: rescale the features, or mend it")
    return A


def symmetric(name: str, values: Any) -> Sparse:
    """``values`` as a finite symmetric matrix; differences between q_ij and q_ji within rounding are averaged out."""
    Q = matrix(name, values)
    if Q.shape[0] != Q.shape[1]:
        raise DataError(f"{name} has to be square, got shape {Q.shape}: pass one row and one column per variable")
    gap = abs(Q - Q.T).max()
    if gap > ROUNDING * abs(Q).max():
        raise DataError(
            f"{name} has to be symmetric, got entries that differ by {gap:g} from their mirror image: "
            f"pass ({name} + {name}')/2, which is the same form"
        )
    return Q if gap == 0 else (Q + Q.T) / 2


def is_diagonal(Q: Sparse) -> bool:
    """Whether all entries off the diagonal are zero."""
    entries = (Q != 0).sum() if not sp.issparse(Q) else Q.count_nonzero()
    return int(entries) == np.count_nonzero(Q.diagonal())


def convexity_modulus(name: str, Q: Sparse) -> float:
    """The smallest eigenvalue of a symmetric Q where that is cheap, else 0; a ConvexityError if Q has a negative one.

    >>> convexity_modulus("Q", np.diag([2.0, 3.0]))
    2.0
    >>> convexity_modulus("Q", np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
    dcprog.errors.ConvexityError: Q has to be positive semidefinite, got a matrix with a negative eigenvalue: move the part
    of Q that is negative to the other side of g − h
    """
    if not is_positive_semidefinite(sp.csc_array(Q)):
        raise ConvexityError(
            f"{name} has to be positive semidefinite, got a matrix with a negative eigenvalue: "
            f"move the part of {name} that is negative to the other side of g − h"
        )
    if is_diagonal(Q):
        return max(float(Q.diagonal().min()), 0.0)
    if Q.shape[0] > DENSE:
        return 0.0
    least = float(np.linalg.eigvalsh(Q.toarray() if sp.issparse(Q) else Q)[0])
    # A modulus has to be a lower bound: what rounding cannot tell from 0 is 0.
    return least if least > ROUNDING * float(abs(Q).sum(axis=0).max()) else 0.0


def _floats(name: str, values: object) -> Vector:
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} has to hold numbers, got {type(values).__name__} ({error}): convert it to floats") from None

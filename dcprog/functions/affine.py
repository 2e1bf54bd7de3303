"""f(Ax + b): a convex function of linear forms of the variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.functions.base import ConvexFunction, Epigraph, QuadraticForm, proved
from dcprog.functions.checks import matrix, vector
from dcprog.functions.conic import ConicForm
from dcprog.functions.corners import Corner, corner
from dcprog.functions.forms import LinearForms
from dcprog.functions.norms import Norm2
from dcprog.functions.remembered import Remembered
from dcprog.typing import Indices, Matrix, Sparse, Vector

ROUNDING = 1e-12
"""So far below its domain, relative to its coefficients, a linear form may fall."""
GRAM = 2
"""A'QA is formed where it has at most so many times the entries of A: for residuals more than variables, or thin rows."""
FEW = 4
"""A product with a quarter of the columns is faster, though these have to be collected."""


@proved
class OfAffine(ConvexFunction):
    """f(Ax + b), A dense or scipy.sparse, b zero if not given.

    The gradient is A'∇f(Ax + b), the Hessian A'∇²f(Ax + b)A, formed only where a solver asks for it. Boyd & Vandenberghe
    (2004), section 3.2.2. Calling any function with a matrix first makes one: ``f(A, m.x, b)``.

    >>> from dcprog.functions import Norm2
    >>> f = OfAffine(Norm2(), [[1, 2], [0, 1]], [0, 3])
    >>> x = np.array([1.0, 1.0])
    >>> f.value(x), f.gradient(x)
    (5.0, array([0.6, 2. ]))
    """

    def __init__(self, function: ConvexFunction, A: Any, b: object = None) -> None:
        if isinstance(function, OfAffine):  # f(B(Ax + b) + c) = f(BAx + (Bb + c))
            outer, A = function, matrix("A", A)
            _check_rows(outer, A)
            function, b = outer.function, outer.b + outer.A @ _right(b, A)
            A = outer.A @ A
        self.function: ConvexFunction = function
        self.A: Sparse = matrix("A", A)
        self.b: Vector = _right(b, self.A)
        _check_rows(function, self.A)
        self.dimension, self.lowest = int(self.A.shape[1]), function.lowest
        self.smooth = function.smooth or (isinstance(function, Norm2) and _misses_zero(self.A, self.b))
        self.hessian_operations = function.hessian_operations + self._gram_operations
        self._memory = Remembered()
        self._used: tuple[Indices, Matrix] = np.empty(0, dtype=np.int64), np.empty((len(self.b), 0))

    def value(self, x: Vector) -> float:
        return self.function.value(self.inner(x))

    def gradient(self, x: Vector) -> Vector:
        known = self._memory.at(x)
        if "gradient" not in known:
            known["gradient"] = self.A.T @ np.asarray(self.function.gradient(self.inner(x)), dtype=float)
        gradient: Vector = known["gradient"].copy()
        return gradient

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        found = self.function.corners(self.inner(x), abs(self.A) @ radius)
        if found is None:
            return None
        turns = [np.asarray((sp.csr_array(c.turns) @ sp.csr_array(self.A)[c.indices]).toarray()) for c in found]
        return [c for c in (corner(t, np.zeros(len(x))) for t in turns) if c is not None]

    def hessian(self, x: Vector) -> Matrix | None:
        H = self.function.hessian(self.inner(x))
        if H is None:
            return None
        if self.function.separable:
            return LinearForms(self.A).gram(np.asarray(H, dtype=float))
        both: Matrix = self.A.T @ (np.asarray(H, dtype=float) @ self.A)
        return both

    def inner(self, x: Vector) -> Vector:
        """Ax + b, by the columns of a dense A with xⱼ ≠ 0 alone where they are few."""
        known = self._memory.at(x)
        if "inner" not in known:
            used = np.flatnonzero(x)
            few = not sp.issparse(self.A) and FEW * len(used) <= len(x)
            known["inner"] = (self._columns(used) @ x[used] if few else self.A @ x) + self.b
        inner: Vector = known["inner"].copy()
        return inner

    def _columns(self, used: Indices) -> Matrix:
        """Columns of A, kept until others are asked for."""
        if not np.array_equal(self._used[0], used):
            self._used = used, self.A[:, used]
        return self._used[1]

    @property
    def has_hessian(self) -> bool:
        """Whether f gives one."""
        return self.function.has_hessian

    @property
    def has_conic(self) -> bool:
        """Whether f has a conic form."""
        return self.function.has_conic

    def conic(self, n: int) -> ConicForm | None:
        """That of f with its rows at Ax + b."""
        form = self.function.conic(len(self.b))
        if form is None:
            return None
        rows = sp.csr_array(form.A)
        return form._replace(A=sp.csr_array(rows @ sp.csr_array(self.A)), b=form.b + rows @ self.b)

    def linear_forms(self, n: int) -> tuple[ConvexFunction, Sparse, Vector]:
        function, A, b = self.function.linear_forms(len(self.b))
        return function, sp.csr_array(A @ sp.csr_array(self.A)), A @ self.b + b

    def outside(self, lower: Vector, upper: Vector) -> Indices:
        """Those in a row of Ax + b that may fall below what f is defined from."""
        limits = self.function.lower_limits(len(self.b))
        if not np.isfinite(limits).any():
            return np.empty(0, dtype=np.int64)
        A = sp.csr_array(self.A)
        entries = np.where(A.data > 0, lower[A.indices], upper[A.indices])
        least = sp.csr_array((A.data * entries, A.indices, A.indptr), shape=A.shape).sum(axis=1) + self.b
        below = least < limits - ROUNDING * (abs(A).sum(axis=1) + np.abs(self.b))
        columns: Indices = A[np.flatnonzero(below)].indices.astype(np.int64)
        return columns

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        return (self.function,)

    def epigraph(self, n: int) -> Epigraph | None:
        """That of f with its rows at Ax + b."""
        of_f = self.function.epigraph(len(self.b))
        if of_f is None:
            return None
        known, rows = of_f.point, sp.csr_array(of_f.A)
        return of_f._replace(
            A=sp.csr_array(rows @ sp.csr_array(self.A)),
            b=of_f.b - rows @ self.b,
            point=None if known is None else lambda x: known(self.inner(x)),
        )

    def quadratic(self, n: int) -> QuadraticForm | None:
        """½x'(A'QA)x + …, where f is ½z'Qz + … and A'QA is no larger than A; None for long rows, which fill it up."""
        if not self._gram_is_small:
            return None
        form = self.function.quadratic(len(self.b))
        if form is None:
            return None
        A, Q = sp.csc_array(self.A), sp.csc_array(form.Q)
        Qb = Q @ self.b
        return QuadraticForm(
            sp.csc_array(A.T @ Q @ A), A.T @ (Qb + form.c), float(0.5 * self.b @ Qb + form.c @ self.b) + form.constant
        )

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return self.function.expand(LinearForms(self.A, self.b).expand(x), exp, log)

    @cached_property
    def _gram_operations(self) -> float:
        """Σᵢ (entries of row i)²."""
        entries = np.diff(self.A.indptr) if sp.issparse(self.A) else np.full(self.A.shape[0], self.A.shape[1])
        return float((entries.astype(float) ** 2).sum())

    @property
    def _gram_is_small(self) -> bool:
        entries = self.A.nnz if sp.issparse(self.A) else self.A.size
        return bool(min(float(self.A.shape[1]) ** 2, self._gram_operations) <= GRAM * entries)

    def __repr__(self) -> str:
        return f"OfAffine({self.function!r}, A of shape {self.A.shape})"


_MADE: WeakValueDictionary[tuple[Any, ...], OfAffine] = WeakValueDictionary()
"""So that a function of the same linear forms which stands in g and in h is the same object in both."""


def of_affine(function: ConvexFunction, A: Sparse, b: Vector) -> OfAffine:
    """f(Ax + b), the same object for the same f, A and b."""
    A = sp.csr_array(A)
    key = (id(function), A.shape, A.indptr.tobytes(), A.indices.tobytes(), A.data.tobytes(), b.tobytes())
    made = _MADE.get(key)
    if made is None:
        made = _MADE[key] = OfAffine(function, A, b)
    return made


def _right(b: object, A: Sparse) -> Vector:
    return np.zeros(A.shape[0]) if b is None else vector("b", b, int(A.shape[0]))


def _misses_zero(A: Sparse, b: Vector) -> bool:
    """Whether some entry of Ax + b is a constant other than 0, as in √(x² + 1): the norm is smooth then."""
    empty = np.asarray(abs(A).sum(axis=1)).ravel() == 0
    return bool((b[empty] != 0).any())


def _check_rows(function: ConvexFunction, A: Sparse) -> None:
    if function.dimension not in (None, A.shape[0]):
        raise DataError(
            f"{function!r} takes {function.dimension} numbers, and Ax + b has {A.shape[0]}: A needs a row for each of them"
        )

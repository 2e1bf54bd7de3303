"""Linear forms z = A x + b, the inner part of maxima and exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.functions.checks import matrix, vector
from dcprog.typing import Matrix, Sparse, Vector


class LinearForms:
    """zᵢ = aᵢ'x + bᵢ. A is dense or sparse, None for the identity of any size; b is None for zero.

    >>> forms = LinearForms([[1, 2], [0, 1]], [3, 0])
    >>> forms(np.array([1.0, 1.0]))
    array([6., 1.])
    """

    def __init__(self, A: Sparse | None = None, b: object = None) -> None:
        self.A: Sparse = None if A is None else matrix("A", A)
        self.b = None if b is None else vector("b", b, None if self.A is None else self.A.shape[0])

    @property
    def dimension(self) -> int | None:
        """Length of x, None if any will do."""
        if self.A is not None:
            return int(self.A.shape[1])
        return None if self.b is None else len(self.b)

    def __call__(self, x: Vector) -> Vector:
        z: Vector = x if self.A is None else self.A @ x
        return z if self.b is None else z + self.b

    def matrix(self, n: int) -> Sparse:
        """A, for x of length n."""
        return sp.csr_array(sp.eye_array(n) if self.A is None else self.A)

    def offset(self, n: int) -> Vector:
        """b, for x of length n."""
        return np.zeros(self.matrix(n).shape[0]) if self.b is None else self.b

    def transposed(self, p: Vector) -> Vector:
        """A'p."""
        product: Vector = p if self.A is None else self.A.T @ p
        return product

    def row(self, i: int) -> Vector:
        """aᵢ of a given A."""
        row: Vector = self.A[[i]].toarray()[0] if sp.issparse(self.A) else self.A[i].copy()
        return row

    def gram(self, weights: Vector) -> Matrix:
        """A' diag(weights) A."""
        if self.A is None:
            return np.diag(weights)
        if sp.issparse(self.A):
            sparse: Matrix = (self.A.T @ sp.diags_array(weights) @ self.A).toarray()
            return sparse
        dense: Matrix = self.A.T @ (weights[:, None] * self.A)
        return dense

    def expand(self, x: Sequence[Any]) -> list[Any]:
        """All zᵢ in scalar operations on x."""
        A = sp.csr_array(sp.eye_array(len(x)) if self.A is None else self.A)
        b = np.zeros(A.shape[0]) if self.b is None else self.b
        rows = zip(A.indptr[:-1], A.indptr[1:], b, strict=True)
        return [
            sum((float(a) * x[j] for a, j in zip(A.data[lo:hi], A.indices[lo:hi], strict=True)), float(b_i))
            for lo, hi, b_i in rows
        ]

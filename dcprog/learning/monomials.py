"""The feature map of all monomials up to a degree (section 3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.learning.feature_maps import largest
from dcprog.typing import Matrix, Vector


@dataclass(frozen=True)
class Monomials:
    """φ(x) = (x^α : 0 < |α| ≤ degree), d' = C(d + degree, degree) − 1 monomials of d features.

    >>> Monomials(2, 2).exponents
    ((0,), (1,), (0, 0), (0, 1), (1, 1))
    >>> Monomials(2, 2).transform(np.array([[2.0, 3.0]]))
    array([[2., 3., 4., 6., 9.]])
    """

    d: int
    degree: int = 2

    def __post_init__(self) -> None:
        if not (isinstance(self.degree, int) and self.degree >= 1):
            raise DataError(f"degree is {self.degree!r}, expected an integer ≥ 1")

    @property
    def size(self) -> int:
        """d'."""
        return comb(self.d + self.degree, self.degree) - 1

    @cached_property
    def exponents(self) -> tuple[tuple[int, ...], ...]:
        """The factors of each monomial, with repetition: (0, 1) is x₁x₂."""
        return tuple(f for k in range(1, self.degree + 1) for f in combinations_with_replacement(range(self.d), k))

    @cached_property
    def contains(self) -> Any:
        """Incidence matrix d' × d: whether monomial i contains feature j, i.e. φᵢ depends on xⱼ."""
        rows = np.repeat(np.arange(self.size), [len(set(f)) for f in self.exponents])
        columns = np.concatenate([sorted(set(f)) for f in self.exponents])
        return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(self.size, self.d))

    def transform(self, X: Any) -> Matrix:
        """φ(x) for every row of X."""
        X = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        blocks, start = [], 0
        for k in range(1, self.degree + 1):
            count = comb(self.d + k - 1, k)
            factors = np.array(self.exponents[start : start + count], dtype=np.int64)
            blocks.append(np.prod([X[:, factors[:, i]] for i in range(k)], axis=0))
            start += count
        return np.hstack(blocks)

    def largest(self, sizes: Vector) -> Vector:
        """For every feature the largest of ``sizes`` over the monomials that contain it."""
        return largest(self.contains, sizes)

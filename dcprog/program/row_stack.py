"""Linear rows low ≤ Ax ≤ high, collected as matrices and one by one, and stacked to one matrix in the end."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.typing import Vector


class RowStack:
    """Rows over variables whose number may still grow: a matrix knows those that there were when it was added.

    >>> rows = RowStack()
    >>> rows.add_matrix(sp.csc_array([[1.0, 2.0]]), np.array([0.0]), np.array([1.0]))
    >>> rows.add({0: 3.0, 2: 4.0}, -np.inf, 5.0)
    >>> A, low, high = rows.stacked(3)
    >>> A.toarray(), high
    (array([[1., 2., 0.],
           [3., 0., 4.]]), array([1., 5.]))
    """

    def __init__(self) -> None:
        self._matrices: list[tuple[Any, Vector, Vector]] = []
        self._single: list[tuple[dict[int, float], float, float]] = []

    def copy(self) -> RowStack:
        """A stack that can grow on its own."""
        other = RowStack()
        other._matrices, other._single = list(self._matrices), list(self._single)
        return other

    @property
    def in_matrices(self) -> int:
        """How many rows came as matrices; they stand before the others."""
        return sum(matrix.shape[0] for matrix, _, _ in self._matrices)

    def add(self, linear: dict[int, float], low: float, high: float) -> None:
        """One row low ≤ Σ aⱼxⱼ ≤ high."""
        self._single.append((linear, low, high))

    def add_matrix(self, matrix: Any, low: Vector, high: Vector) -> None:
        """The rows low ≤ Ax ≤ high."""
        self._matrices.append((matrix, low, high))

    def stacked(self, size: int) -> tuple[Any, Vector, Vector]:
        """A, low and high of all rows together, with ``size`` columns."""
        blocks = [(_widened(matrix, size), low, high) for matrix, low, high in self._matrices]
        if self._single:
            counts = [len(linear) for linear, _, _ in self._single]
            columns = np.fromiter((j for linear, _, _ in self._single for j in linear), dtype=np.int64, count=sum(counts))
            data = np.fromiter((v for linear, _, _ in self._single for v in linear.values()), float, count=sum(counts))
            row = np.repeat(np.arange(len(self._single)), counts)
            matrix = sp.csc_array((data, (row, columns)), shape=(len(self._single), size))
            blocks.append((matrix, np.array([r[1] for r in self._single]), np.array([r[2] for r in self._single])))
        if not blocks:
            return sp.csc_array((0, size)), np.empty(0), np.empty(0)
        if len(blocks) == 1:
            return blocks[0]
        matrix = sp.vstack([b[0] for b in blocks], format="csc")
        return matrix, np.concatenate([b[1] for b in blocks]), np.concatenate([b[2] for b in blocks])


def placed(matrix: Any, columns: Any, size: int) -> Any:
    """The columns of ``matrix`` at the positions ``columns`` of a matrix with ``size`` columns.

    >>> placed(sp.csc_array([[1.0, 2.0]]), np.array([2, 0]), 3).toarray()
    array([[2., 0., 1.]])
    """
    if len(columns) == size and (columns == np.arange(size)).all():
        return matrix
    order = np.argsort(columns, kind="stable")
    counts = np.zeros(size + 1, dtype=np.int64)
    counts[columns + 1] = np.diff(matrix.indptr)
    ordered = matrix if (order == np.arange(len(order))).all() else matrix[:, order]
    return sp.csc_array((ordered.data, ordered.indices, np.cumsum(counts)), shape=(matrix.shape[0], size))


def _widened(matrix: Any, size: int) -> Any:
    if matrix.shape[1] == size:
        return matrix
    indptr = np.concatenate([matrix.indptr, np.full(size - matrix.shape[1], matrix.indptr[-1])])
    return sp.csc_array((matrix.data, matrix.indices, indptr), shape=(matrix.shape[0], size))

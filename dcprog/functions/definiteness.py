"""Is a quadratic form convex? Exactly, in blocks of coupled variables, whatever their units."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from dcprog.typing import Indices, Mask, Matrix, Sparse, Vector

DENSE_LIMIT = 400
ROUNDING = 1e-11
"""A row this small against those it is coupled with is zero, up to the rounding of whoever computed the matrix."""
PASSES = 6


def is_positive_semidefinite(Q: Sparse, tol: float = 1e-9) -> bool:
    """Whether the symmetric sparse matrix Q has no negative eigenvalue beyond rounding, whatever the units of its rows.

    Each set of coupled variables is looked at alone, scaled so that the largest entry of each row is 1; there no eigenvalue
    may lie below −tol. A large entry elsewhere hides nothing, and a Gram matrix with rounding errors passes.

    >>> is_positive_semidefinite(sp.csc_array([[1.0, 1.0], [1.0, 1.0]]))
    True
    >>> is_positive_semidefinite(sp.csc_array([[1.0, 2.0], [2.0, 1.0]]))
    False
    >>> is_positive_semidefinite(sp.block_diag([[[1e10]], [[1.0, 2.0], [2.0, 1.0]]]))
    False
    """
    half = sp.coo_array(sp.tril(sp.csr_array(Q, dtype=float)))
    half.eliminate_zeros()
    if not half.nnz:
        return True
    blocks, sizes = Blocks(half.row, half.col, Q.shape[0]), np.abs(half.data)
    s = equilibrated(blocks, sizes)
    scaled = half.data * s[half.row] * s[half.col]
    shift = np.where(blocks.single, 0.0, tol + blocks.rounding(sizes) * s**2)
    diagonal = half.row == half.col
    if (scaled[diagonal] < -shift[half.row[diagonal]]).any():
        return False
    small = (stack[0] + shift[at][..., None] * np.eye(at.shape[1]) for at, stack in blocks.stacks(scaled[None]))
    large = (matrix + sp.diags_array(shift[members]) for members, matrix in blocks.large(scaled))
    return all(map(_all_definite, small)) and all(map(_is_definite, large))


class Blocks:
    """Symmetric matrices with one pattern, block-diagonal in the connected sets of their variables.

    ``row`` ≥ ``col`` are the positions of the entries of the lower triangle, none listed twice.
    """

    def __init__(self, row: Indices, col: Indices, n: int) -> None:
        self.n, self.row, self.col = n, row.astype(np.int64), col.astype(np.int64)
        pattern = sp.coo_array((np.ones(len(row)), (row, col)), shape=(n, n))
        count, self._labels = connected_components(pattern, directed=False)
        self._sizes = np.bincount(self._labels, minlength=count)
        self._order = np.argsort(self._labels, kind="stable").astype(np.int64)
        self._first = np.cumsum(self._sizes) - self._sizes
        self._place = np.empty(n, dtype=np.int64)
        self._place[self._order] = np.arange(n) - np.repeat(self._first, self._sizes)

    @property
    def single(self) -> Mask:
        """The variables that are coupled to no other."""
        alone: Mask = self._sizes[self._labels] == 1
        return alone

    @property
    def largest(self) -> int:
        """How many variables the largest block has."""
        return int(self._sizes.max(initial=0))

    def rounding(self, sizes: Vector) -> Vector:
        """What counts as zero on the diagonal of each variable, for entries of these sizes."""
        rows = self.row_maxima(sizes)
        largest = np.zeros(len(self._sizes))
        np.maximum.at(largest, self._labels, rows)
        floor = ROUNDING * largest[self._labels]
        return np.where(rows <= floor, floor, 0.0)

    def row_maxima(self, sizes: Matrix) -> Matrix:
        """The largest of each row; ``sizes`` has one axis of entries, or points and entries."""
        largest = np.zeros((self.n, *sizes.shape[:-1]))
        np.maximum.at(largest, self.row, sizes.T)
        np.maximum.at(largest, self.col, sizes.T)
        maxima: Matrix = largest.T
        return maxima

    def stacks(self, values: Matrix) -> Iterator[tuple[Indices, Matrix]]:
        """The blocks of 2 to DENSE_LIMIT variables, those of one size k together: their variables, (blocks, k), and for
        the matrices whose entries are the rows of ``values`` the blocks themselves, (rows, blocks, k, k)."""
        for k in np.unique(self._sizes[(self._sizes > 1) & (self._sizes <= DENSE_LIMIT)]):
            chosen = np.flatnonzero(self._sizes == k)
            number = np.full(len(self._sizes), -1)
            number[chosen] = np.arange(len(chosen))
            block = number[self._labels[self.row]]
            inside = block >= 0
            i, j = self._place[self.row[inside]], self._place[self.col[inside]]
            stack = np.zeros((len(values), len(chosen), k, k))
            stack[:, block[inside], i, j] = stack[:, block[inside], j, i] = values[:, inside]
            yield self._order[self._first[chosen][:, None] + np.arange(k)], stack

    def large(self, values: Vector) -> Iterator[tuple[Indices, Sparse]]:
        """The blocks of more variables, as sparse matrices."""
        for label in np.flatnonzero(self._sizes > DENSE_LIMIT):
            members = self._order[self._first[label] : self._first[label] + self._sizes[label]]
            inside = self._labels[self.row] == label
            where = self._place[self.row[inside]], self._place[self.col[inside]]
            entries = sp.csr_array((values[inside], where), shape=(len(members), len(members)))
            yield members, entries + sp.csr_array(entries.T) - sp.diags_array(entries.diagonal())


def equilibrated(blocks: Blocks, sizes: Matrix) -> Matrix:
    """s with maxⱼ sᵢ sⱼ aᵢⱼ ≈ 1 in every row i of the symmetric matrices with the entries ``sizes`` ≥ 0 (Ruiz, 2001)."""
    s = np.ones((*sizes.shape[:-1], blocks.n))
    for _ in range(PASSES):
        largest = blocks.row_maxima(sizes * s[..., blocks.row] * s[..., blocks.col])
        s /= np.sqrt(np.where(largest > 0, largest, 1.0))
    return s


def _all_definite(stack: Matrix) -> bool:
    """Whether all of the dense symmetric matrices are positive definite."""
    try:
        np.linalg.cholesky(stack)
    except np.linalg.LinAlgError:
        return False
    return True


def _is_definite(matrix: Sparse) -> bool:
    """Sylvester: positive definite exactly if a symmetric elimination has positive pivots only."""
    if matrix.nnz > 0.1 * matrix.shape[0] ** 2:
        return _all_definite(matrix.toarray())
    try:
        lu = splu(sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # an exactly singular pivot
        return False
    # SuperLU leaves the diagonal at a zero pivot; the signs of the pivots mean nothing then, but Q is not definite either
    return bool((lu.perm_r == lu.perm_c).all() and (lu.U.diagonal() > 0).all())

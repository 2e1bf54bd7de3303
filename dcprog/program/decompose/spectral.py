"""Symmetric matrices as differences of positive semidefinite ones: M = P − N.

eigenvalue: P and N are the positive and the negative part, in the units of ``widths``: of all splits the one with the least
trace there, and undominated: no P′, N′ with N − N′ ⪰ 0 other than 0 is a split. diagonal: N = D is the diagonal matrix of
least Σ wᵢ² dᵢ with M + D ⪰ 0 (a semidefinite program, by Clarabel), so that h is a sum of functions of one variable. D is
enlarged until M + D is positive definite by a Cholesky factorisation whose rounding is accounted for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dcprog.typing import Indices, Matrix, Vector

EPS = float(np.finfo(float).eps)
LARGEST = 90
"""Blocks of more variables are not given to the semidefinite program: its cone has n(n+1)/2 entries."""


class Split(NamedTuple):
    """P and N, positive semidefinite, with M = P − N up to the rounding of one subtraction."""

    positive: Matrix
    negative: Matrix
    rule: str


def blocks(matrix: Matrix) -> Iterator[Indices]:
    """The sets of variables that the entries of the matrix connect."""
    count, labels = connected_components(sp.csr_array(matrix != 0), directed=False)
    for k in range(count):
        yield np.flatnonzero(labels == k)


def split(matrix: Matrix, widths: Vector, method: str) -> Split:
    """M = P − N by "eigenvalue" or "diagonal"."""
    if is_definite(matrix):
        return Split(matrix, np.zeros_like(matrix), "a quadratic form without a negative eigenvalue")
    if is_definite(-matrix):
        return Split(np.zeros_like(matrix), -matrix, "a quadratic form without a positive eigenvalue")
    return by_diagonal(matrix, widths) if method == "diagonal" else by_eigenvalues(matrix, widths)


def is_definite(matrix: Matrix) -> bool:
    """Whether M + δI is positive definite, δ being what rounding may have made of a semidefinite matrix."""
    scale = scales(matrix)
    scaled = matrix * scale[:, None] * scale
    return _has_cholesky(scaled + 1e-13 * len(matrix) * np.eye(len(matrix)))


def scales(matrix: Matrix) -> Vector:
    """Powers of two that bring the diagonal, or where it is 0 the largest entry of the row, near 1."""
    size = np.abs(matrix).max(axis=1, initial=0.0)
    return np.where(size > 0, 2.0 ** -np.round(0.5 * np.log2(np.where(size > 0, size, 1.0))), 1.0)


def by_eigenvalues(matrix: Matrix, widths: Vector) -> Split:
    """The positive and the negative part of W M W.

    >>> P, N, _ = by_eigenvalues(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
    >>> np.round(P, 6).tolist(), np.round(N, 6).tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[0.5, -0.5], [-0.5, 0.5]])
    """
    scaled = matrix * widths[:, None] * widths
    eigenvalues, vectors = np.linalg.eigh(scaled)
    positive = (vectors * np.maximum(eigenvalues, 0.0)) @ vectors.T
    slack = 8 * len(matrix) * EPS * float(np.abs(eigenvalues).max())
    positive = 0.5 * (positive + positive.T) + slack * np.eye(len(matrix))
    positive = positive / widths[:, None] / widths
    return Split(positive, positive - matrix, "a quadratic form: its positive and negative eigenvalues apart")


def by_diagonal(matrix: Matrix, widths: Vector) -> Split:
    """D of least Σ wᵢ² dᵢ with M + D ⪰ 0, D ≥ 0.

    >>> P, N, _ = by_diagonal(np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2))
    >>> np.round(N, 5).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    scaled = matrix * widths[:, None] * widths
    d = _least_trace(scaled) if len(matrix) <= LARGEST else None
    if d is None:
        d = np.full(len(matrix), max(0.0, -float(np.linalg.eigvalsh(scaled)[0])))
    d = np.maximum(d, 0.0)
    size = float(np.abs(scaled).max())
    extra = 8 * len(matrix) * EPS * size
    while not _has_cholesky(scaled + np.diag(d + 0.5 * extra)):  # half of it remains as a margin for rounding
        extra *= 4.0
    diagonal = np.diag((d + extra) / widths**2)
    return Split(
        matrix + diagonal, diagonal, "a quadratic form: the least diagonal that makes it convex, added and taken off"
    )


def _has_cholesky(matrix: Matrix) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True


def _least_trace(matrix: Matrix) -> Vector | None:
    """argmin Σ dᵢ over d ≥ 0, M + diag(d) ⪰ 0; None if Clarabel does not say."""
    import clarabel

    n = len(matrix)
    cols, rows = np.tril_indices(n)  # the upper triangle by columns, as Clarabel stacks it
    weight = np.where(rows == cols, 1.0, np.sqrt(2.0))
    size = float(np.abs(matrix).max()) or 1.0
    place = np.flatnonzero(rows == cols)
    in_cone = sp.csc_array((-np.ones(n), (place, np.arange(n))), shape=(len(rows), n))
    A = sp.vstack([in_cone, -sp.eye_array(n)], format="csc")
    b = np.concatenate([matrix[rows, cols] * weight / size, np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.time_limit = 20.0
    cones = [clarabel.PSDTriangleConeT(n), clarabel.NonnegativeConeT(n)]
    answer = clarabel.DefaultSolver(sp.csc_matrix((n, n)), np.ones(n), sp.csc_matrix(A), b, cones, settings).solve()
    d = np.array(answer.x) * size
    return d if len(d) == n and np.isfinite(d).all() else None

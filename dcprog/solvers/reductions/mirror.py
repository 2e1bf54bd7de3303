"""Columns of a matrix that are the negatives of each other, such as those of p and q in w = p − q."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from dcprog.typing import Indices, Matrix, Sparse


@lru_cache(maxsize=8)
def _weights(rows: int) -> Matrix:
    weights = np.random.default_rng(0).standard_normal((2, rows))
    weights.setflags(write=False)
    return weights


def mirror_columns(A: Sparse) -> Indices:
    """For every column j the column k with a_k = −a_j, or −1 if there is none; empty columns have none.

    Two columns are taken for mirrors when they have equally many entries and their products with two random vectors are
    exactly opposite. That this happens by chance is out of the question, and solutions are verified on the whole matrix.

    >>> mirror_columns(sp.csc_array([[1.0, 0.0, -1.0], [2.0, 3.0, -2.0]]))
    array([ 2, -1,  0])
    """
    A = sp.csc_array(A)
    partner = np.full(A.shape[1], -1, dtype=np.int64)
    transposed = A.T
    first, second = (transposed @ weights for weights in _weights(A.shape[0]))
    order = np.lexsort((first, np.abs(first)))
    sizes = np.abs(first)[order]
    at = np.flatnonzero((sizes[1:] == sizes[:-1]) & (sizes[1:] > 0))
    j, k = order[at], order[at + 1]
    counts = np.diff(A.indptr)
    opposite = (first[j] == -first[k]) & (second[j] == -second[k]) & (counts[j] == counts[k])
    partner[j[opposite]] = k[opposite]
    partner[k[opposite]] = j[opposite]
    return partner

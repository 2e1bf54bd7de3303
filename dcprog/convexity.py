"""Is it convex? Exactly for quadratic forms, by sampling for everything else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from dcprog._typing import Matrix, Sparse, Vector

DENSE_LIMIT = 400


def is_positive_semidefinite(Q: Sparse, tol: float = 1e-9) -> bool:
    """Whether the symmetric sparse matrix Q has no eigenvalue below −tol·max|Q|.

    >>> bool(is_positive_semidefinite(sp.csc_array([[1.0, 1.0], [1.0, 1.0]])))
    True
    >>> bool(is_positive_semidefinite(sp.csc_array([[1.0, 2.0], [2.0, 1.0]])))
    False
    """
    scale = float(np.abs(Q.data).max()) if Q.nnz else 0.0
    if scale == 0.0:
        return True
    if (Q.diagonal() < -tol * scale).any():
        return False
    off_diagonal = Q - sp.diags_array(Q.diagonal())
    off_diagonal.eliminate_zeros()
    if off_diagonal.nnz == 0:
        return True
    count, labels = connected_components(off_diagonal, directed=False)
    sizes = np.bincount(labels, minlength=count)
    order = np.argsort(labels, kind="stable")
    blocks = np.split(order, np.cumsum(sizes)[:-1])
    rows = sp.csr_array(Q)
    return all(_block_is_psd(rows[block][:, block], tol * scale) for block in blocks if len(block) > 1)


def _block_is_psd(block: Sparse, shift: float) -> bool:
    """Sylvester: Q + shift·I is definite exactly if a symmetric elimination has positive pivots only."""
    size = block.shape[0]
    shifted = block + shift * sp.eye_array(size)
    if size <= DENSE_LIMIT or block.nnz > 0.1 * size**2:
        try:
            np.linalg.cholesky(shifted.toarray())
        except np.linalg.LinAlgError:
            return False
        return True
    try:
        lu = splu(sp.csc_matrix(shifted), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # an exactly singular pivot
        return False
    # SuperLU leaves the diagonal at a zero pivot; the signs of the pivots mean nothing then, but Q is not definite either
    return bool((lu.perm_r == lu.perm_c).all() and (lu.U.diagonal() > 0).all())


def sample_box(lower: Vector, upper: Vector, centre: Vector, count: int, rng: np.random.Generator) -> Matrix:
    """``count`` points of the box; where it has no end they spread around ``centre`` on the scales 1 and 10."""
    spread = np.where(np.arange(count) % 2 == 0, 1.0, 10.0)[:, None] * (1.0 + np.abs(centre))
    low = np.where(np.isfinite(lower), np.maximum(lower, centre - spread), centre - spread)
    high = np.where(np.isfinite(upper), np.minimum(upper, centre + spread), centre + spread)
    return np.clip(rng.uniform(np.minimum(low, high), np.maximum(low, high)), lower, upper)


def midpoint_violation(
    f: Callable[[Vector], float], points: Matrix, tol: float = 1e-9
) -> tuple[Vector, Vector, float] | None:
    """Two points a, b with f((a+b)/2) > (f(a)+f(b))/2 beyond rounding, and by how much; None if no pair shows it."""
    for a, b in zip(points[::2], points[1::2], strict=False):
        fa, fb, middle = f(a), f(b), f(0.5 * (a + b))
        excess = middle - 0.5 * (fa + fb)
        if np.isfinite([fa, fb, middle]).all() and excess > tol * (1.0 + abs(fa) + abs(fb) + abs(middle)):
            return a, b, excess
    return None

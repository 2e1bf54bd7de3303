"""Conic forms: a convex function as the least cost of a point in a product of standard cones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.typing import Sparse, Vector


class ConicForm(NamedTuple):
    """f(x) = min {c't + ½t'Pt : A x + B t + b ∈ K}, K the product of ``cones`` in the order of the rows.

    A cone is ("zero", rows), ("nonnegative", rows), ("second-order", rows) with ‖(s₁, s₂, …)‖ ≤ s₀, ("exponential", 3) with
    s₁e^(s₀/s₁) ≤ s₂, or ("semidefinite", k): the upper triangle of a symmetric k × k matrix, column by column, times √2 off
    the diagonal.
    """

    A: Sparse
    B: Sparse
    b: Vector
    c: Vector
    cones: tuple[tuple[str, int], ...]
    P: Sparse | None = None


Row = tuple[Sparse | None, Sparse | None, Vector | None]
"""(A, B, b) of the rows A x + B t + b, None for zeros."""


def exponentials(s0: Row, s1: Row, s2: Row, n: int, k: int) -> ConicForm:
    """Exponential cones s₁e^(s₀/s₁) ≤ s₂ of n variables x and k variables t, the three rows of each together."""
    m = next(part.shape[0] for row in (s0, s1, s2) for part in row if part is not None)
    order = np.arange(3 * m).reshape(3, m).T.ravel()
    A = sp.vstack([sp.csr_array((m, n)) if row[0] is None else sp.csr_array(row[0]) for row in (s0, s1, s2)])
    B = sp.vstack([sp.csr_array((m, k)) if row[1] is None else sp.csr_array(row[1]) for row in (s0, s1, s2)])
    b = np.concatenate([np.zeros(m) if row[2] is None else row[2] for row in (s0, s1, s2)])
    return ConicForm(sp.csr_array(A)[order], sp.csr_array(B)[order], b[order], np.zeros(k), (("exponential", 3),) * m)

"""Semidefiniteness whatever the units: nothing large hides a negative direction, and rounding is no negative direction."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from curved_functions import model
from hypothesis import given
from hypothesis import strategies as st

from dcprog import DCProgram
from dcprog.errors import ConvexityError
from dcprog.functions import Quadratic
from dcprog.functions.definiteness import is_positive_semidefinite


@pytest.mark.parametrize("large", [1e10, 1e20, 1e100])
def test_a_large_entry_elsewhere_hides_nothing(large):
    for block in ([[1.0, 2.0], [2.0, 1.0]], [[0.0, 1.0], [1.0, 5.0]], [[-1.0]], [[1e-200, 2e-200], [2e-200, 1e-200]]):
        Q = sp.block_diag([[[large]], block])
        assert not is_positive_semidefinite(Q)
        with pytest.raises(ConvexityError):
            Quadratic(Q)
    m, x = model(3, -1, 1)
    with pytest.raises(ConvexityError):
        DCProgram(m, g=large * x[0] ** 2 + x[1] ** 2 + x[2] ** 2 + 4 * x[1] * x[2], h=0)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 60), rank=st.integers(1, 70))
def test_gram_matrices_pass_in_all_units(seed, n, rank):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rank, n)) * 10.0 ** rng.uniform(-8, 8, n)
    assert is_positive_semidefinite(sp.csc_array(A.T @ A))


@given(seed=st.integers(0, 10_000), n=st.integers(2, 40))
def test_kernel_matrices_that_were_centred_pass(seed, n):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 3))
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 200)
    centre = np.eye(n) - 1 / n
    assert is_positive_semidefinite(sp.csc_array(centre @ K @ centre))


@given(seed=st.integers(0, 10_000), n=st.integers(2, 40))
def test_a_negative_eigenvalue_is_seen_in_all_units(seed, n):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n + 2, n))
    Q = A.T @ A
    Q /= np.sqrt(np.outer(Q.diagonal(), Q.diagonal()))
    values, vectors = np.linalg.eigh(Q)
    units = 10.0 ** rng.uniform(-4, 4, n)
    Q = (Q - (values[0] + 1e-4) * np.outer(vectors[:, 0], vectors[:, 0])) * np.outer(units, units)
    assert not is_positive_semidefinite(sp.csc_array(Q))

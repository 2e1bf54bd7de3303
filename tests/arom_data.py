"""Data for zero-norm minimisation, its updates by norm, and how far two of its iterates are apart."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import strategies as st

import dcprog
from dcprog.methods.zero_norm import l1_updates, l2_updates

SEED = st.integers(0, 10_000)
UPDATES = {1: l1_updates, 2: l2_updates}


def toy(n, d, seed, relevant=2):
    """Two classes that the first features tell apart by a wide margin, and the others may by chance."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, d))
    X[:, :relevant] += y[:, None]
    return X, y


def three_classes(seed, n=18, d=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d))
    X[:, 0] += 8 * (y - 1)
    X[:, 1] += 8 * (y == 1)
    return X, y


def inseparable(seed):
    X, y = toy(40, 4, seed)
    y[:4] = -y[:4]
    X[4] = X[5]  # one point with both labels: no kernel of one point each separates them
    y[4], y[5] = 1.0, -1.0
    return X, y


def walk(program, count, solver="auto"):
    """The iterates after the start."""
    return list(islice(dcprog.DCA(program, solver=solver), 1, count + 1))


def far(a, b):
    return np.abs(a - b).max() / (1e-12 + np.abs(b).max())

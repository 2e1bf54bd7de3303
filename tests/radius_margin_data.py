"""Two classes for the radius–margin and span bounds, and the seeds that they are drawn from."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

seeds = st.integers(0, 10**6)


def two_clouds(seed=0, n=24, d=6, distance=1.0):
    """Two Gaussian classes that differ in the first two features, standardised."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d))
    X[:, :2] += distance * y[:, None]
    return (X - X.mean(axis=0)) / X.std(axis=0), y

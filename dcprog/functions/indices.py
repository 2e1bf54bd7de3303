"""Positions of variables, which mostly come sorted and without repeats."""

from __future__ import annotations

import numpy as np

from dcprog.typing import Indices


def increases(indices: Indices) -> bool:
    """Whether each is larger than the one before.

    >>> increases(np.array([0, 3, 4])), increases(np.array([0, 3, 3]))
    (True, False)
    """
    return bool((indices[1:] > indices[:-1]).all())


def distinct(indices: Indices) -> Indices:
    """Those (≥ 0) of an array of any shape, sorted and each once; what is so already is returned as it is, and soon.

    >>> distinct(np.array([3, 0, 3]))
    array([0, 3])
    """
    flat = indices.ravel()
    if increases(flat):
        return flat
    found = np.zeros(int(flat.max()) + 1, dtype=bool)
    found[flat] = True
    return np.flatnonzero(found)

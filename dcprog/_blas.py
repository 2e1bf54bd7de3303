"""How many threads a matrix product gets."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1e9
"""Products of this many floating-point operations keep the threads they are given, smaller ones run on one.

Measured on two cores: a second thread makes a smaller product at best 1.8 times faster, but each time the other core is busy
it waits out a time slice of some 4 ms, up to a hundred times the product; a whole run of 1000 × 650 took 12 s instead of 2 s
so. Limiting threads takes 0.01 ms.
"""


@lru_cache(maxsize=1)
def _controller() -> Any:
    """Finding the libraries takes 0.6 ms: found once."""
    return ThreadpoolController()


def blas_threads(operations: float) -> AbstractContextManager[Any]:
    """A context in which products of that many floating-point operations each run on the right number of threads.

    >>> import numpy as np
    >>> with blas_threads(2 * 3**3):
    ...     np.eye(3) @ np.eye(3)[0]
    array([1., 0., 0.])
    """
    if operations >= LARGE:
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit

"""How many threads a matrix product gets."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1e8
"""Products with more floating-point operations than this keep the threads they are given.

Measured on two cores: a second thread makes a small product at best 1.6 times faster, but each time the other core is
busy it waits out a time slice of some 4 ms, a hundred times the product. Beyond 1e8 operations a product takes
milliseconds itself.
"""


@lru_cache(maxsize=1)
def _controller() -> Any:
    """Finding the libraries takes 0.6 ms, limiting them 0.01 ms: found once."""
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

"""How many threads a matrix product gets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1e9
"""Products of this many floating-point operations keep the threads they are given, smaller ones run on one.

Measured on two cores: a second thread makes a smaller product at best 1.8 times faster, but each time the other core is busy
it waits out a time slice of some 4 ms, up to a hundred times the product; a whole run of 1000 × 650 took 12 s instead of 2 s
so. Limiting threads takes 0.01 ms.
"""


_one_thread: ContextVar[bool] = ContextVar("one BLAS thread", default=False)


@lru_cache(maxsize=1)
def _controller(libraries_of: frozenset[str]) -> Any:
    """The BLAS libraries that are loaded; finding them takes 1 ms, so it is done again only after a new solver came."""
    return ThreadpoolController()


_solvers: set[str] = set()


def solver_loaded(name: str) -> None:
    """A solver was opened, and may have brought a BLAS of its own."""
    _solvers.add(name)


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread for everything inside."""
    token = _one_thread.set(True)
    try:
        with _controller(frozenset(_solvers)).limit(limits=1, user_api="blas"):
            yield
    finally:
        _one_thread.reset(token)


def blas_threads(operations: float) -> AbstractContextManager[Any]:
    """A context in which products of that many floating-point operations each run on the right number of threads.

    >>> import numpy as np
    >>> with blas_threads(2 * 3**3):
    ...     np.eye(3) @ np.eye(3)[0]
    array([1., 0., 0.])
    """
    if operations >= LARGE or _one_thread.get():
        return nullcontext()
    limit: AbstractContextManager[Any] = _controller(frozenset(_solvers)).limit(limits=1, user_api="blas")
    return limit

"""How many threads a matrix product gets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from threadpoolctl import ThreadpoolController

LARGE = 1e9
"""Products of this many floating-point operations keep the threads they are given, smaller ones run on one.

Measured on two cores: a second thread makes a smaller product at best 1.8 times faster, but each time the other core is busy
it waits out a time slice of some 4 ms, up to a hundred times the product; a whole run of 1000 × 650 took 12 s instead of 2 s
so. Limiting threads takes 0.01 ms.
"""


class _Limit:
    """One BLAS thread while somebody holds it.

    BLAS libraries have one number of threads for the whole process. So the first holder, of all threads, sets it, and the
    last one to leave sets it back: if each restored what it found, the last would restore the 1 of another.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._changed: list[tuple[Any, int]] = []
        self._libraries: list[Any] | None = None

    def solver_loaded(self) -> None:
        """A solver may have brought a BLAS of its own: the next holder looks, which takes 1 ms."""
        with self._lock:
            self._libraries = None

    def acquire(self) -> None:
        with self._lock:
            if self._libraries is None or not self._holders:
                self._set()
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                with _no_library.limit():
                    for library, number in self._changed:
                        library.set_num_threads(number)
                self._changed.clear()

    def _set(self) -> None:
        """What another thread holds fast by its own ``with threadpool_limits(2)`` is not ours to change."""
        if self._libraries is None:
            self._libraries = [lib for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas"]
        with _no_library.limit():
            for library in self._libraries:
                number = library.get_num_threads()
                if number is not None and number > 1:
                    library.set_num_threads(1)
                    if library.get_num_threads() == 1:
                        self._changed.append((library, number))


_no_library = ThreadpoolController().select(user_api="none")
"""Since threadpoolctl 3.7 the first thread to set a number keeps all others from it until it leaves a ``with``: this one."""
_limit = _Limit()
_seen: set[str] = set()


def solver_loaded(name: str) -> None:
    """A solver was opened, and may have brought a BLAS of its own."""
    if name not in _seen:
        _seen.add(name)
        _limit.solver_loaded()


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread for everything inside, in any number of threads at once and as deep as one likes."""
    _limit.acquire()
    try:
        yield
    finally:
        _limit.release()


def blas_threads(operations: float) -> AbstractContextManager[Any]:
    """A context in which products of that many floating-point operations each run on the right number of threads.

    >>> import numpy as np
    >>> with blas_threads(2 * 3**3):
    ...     np.eye(3) @ np.eye(3)[0]
    array([1., 0., 0.])
    """
    return nullcontext() if operations >= LARGE else one_thread()

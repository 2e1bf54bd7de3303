"""Processes that work for this one: how many, how they end, and a pool of them that stays warm."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from numbers import Integral
from typing import Any

from dcprog.errors import DataError, DCProgError

PERIOD = 0.5
"""So often, in seconds, a worker looks whether its parent is still there."""
IDLE = 60.0
"""Seconds after which a worker that has nothing to do ends."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
"""The environment of a pool's workers: no two of them share a core."""

WARNINGS, QUIET = "PYTHONWARNINGS", "ignore:resource_tracker:UserWarning"


class WorkerLostError(DCProgError):
    """A process that worked for this one is gone."""


def check_jobs(n_jobs: int | None) -> None:
    """A number of processes, −1 for as many as there are cores, or None for the default.

    >>> check_jobs(0)
    Traceback (most recent call last):
    dcprog.errors.DataError: n_jobs is 0: pass a number of processes ≥ 1, or -1 for as many as there are cores
    """
    whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (whole and (n_jobs >= 1 or n_jobs == -1)):
        raise DataError(f"n_jobs is {n_jobs!r}: pass a number of processes ≥ 1, or -1 for as many as there are cores")


def processes(n_jobs: int | None, tasks: int) -> int:
    """How many processes ``n_jobs`` are for so many tasks; a worker has no workers of its own unless it is told so."""
    from joblib import cpu_count

    if n_jobs is None and multiprocessing.current_process().name != "MainProcess":
        return 1
    return max(1, min(tasks, int(cpu_count()) if n_jobs is None or n_jobs == -1 else int(n_jobs)))


@contextlib.contextmanager
def deaf_to_ctrl_c() -> Iterator[None]:
    """SIGINT is blocked in processes that are started inside, from their start on; this one gets it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    _start_tracker()  # it would unblock signals when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_tracker() -> None:
    """Python's tracker of semaphores. Pyomo makes one in each worker; warnings of those that are killed are left out."""
    from multiprocessing import resource_tracker

    own = os.environ.get(WARNINGS)
    os.environ[WARNINGS] = own or QUIET
    try:
        resource_tracker.ensure_running()
    finally:
        if own is None:
            del os.environ[WARNINGS]
        else:
            os.environ[WARNINGS] = own


def serve(parent: int) -> None:
    """The first thing a worker does: Ctrl-C is for ``parent`` to handle, and its end, be it by SIGKILL, is ours.

    An orphan has another parent. (Windows keeps the number of a dead one: there a worker ends after a while of idling.)
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if os.getppid() == parent or multiprocessing.current_process().name.startswith(LOKY):
        threading.Thread(target=_watch, args=(parent,), name="dcprog: end with the parent", daemon=True).start()


LOKY = "Loky"
"""So joblib calls the processes that it starts itself: whose parent is another one than it was, that one has ended."""


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(PERIOD)
    os._exit(1)  # no clean-up: the process that would read its output is gone


class Pools:
    """Pools of workers, each for one caller at a time; one that is given back waits for the next caller.

    Joblib has one pool for all, which a caller who has to kill a worker that does not answer would kill for the others, too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[tuple[int, int], Any] = {}

    def take(self, size: int) -> Any:
        """An executor with ``size`` processes, as concurrent.futures has them."""
        from joblib.externals.loky import ProcessPoolExecutor

        with self._lock:
            idle = self._idle.pop((os.getpid(), size), None)
        if idle is not None and _answers(idle):
            return idle
        env = {**ONE_THREAD, WARNINGS: os.environ.get(WARNINGS) or QUIET}
        return ProcessPoolExecutor(size, timeout=IDLE, initializer=serve, initargs=(os.getpid(),), env=env)

    def give_back(self, executor: Any, size: int) -> None:
        """Keep the executor, which has nothing to do, for the next call."""
        with self._lock:
            other = self._idle.pop((os.getpid(), size), None)
            self._idle[os.getpid(), size] = executor
        if other is not None:
            other.shutdown(wait=False)

    def kill(self, executor: Any) -> None:
        """End its workers; what they are busy with is not needed any more."""
        executor.shutdown(wait=True, kill_workers=True)


def _answers(executor: Any) -> bool:
    """Whether its workers are still alive."""
    try:
        return bool(executor.submit(os.getpid).result(timeout=IDLE))
    except (RuntimeError, TimeoutError):  # BrokenProcessPool is one of the former, and so is what a closed one raises
        return False


pools = Pools()

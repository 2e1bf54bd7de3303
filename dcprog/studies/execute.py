"""Running the cells of a study: on one core, on several, or on a Dask cluster, always through joblib."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcprog.errors import DCProgError, MissingExtraError
from dcprog.machine.processes import WorkerLostError, check_jobs, deaf_to_ctrl_c, serve
from dcprog.machine.threads import one_thread
from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.store import Store, StudyWarning

SECONDS = 20.0
"""How long to wait for a Dask scheduler."""
Watch = Callable[[Sequence[Task]], contextlib.AbstractContextManager[Callable[[Task], None]]]
"""A function of the tasks that will run; it returns a context manager of a function to call after each task."""


@dataclass
class Outcome:
    """Results of the finished cells, and what went wrong with others, by cell."""

    results: dict[Cell, Result] = field(default_factory=dict)
    failures: dict[Cell, str] = field(default_factory=dict)
    interrupted: bool = False


def unwatched(tasks: Sequence[Task]) -> contextlib.AbstractContextManager[Callable[[Task], None]]:
    return contextlib.nullcontext(lambda task: None)


def execute(
    tasks: Sequence[Task], store: Store, *, n_jobs: int = 1, dask: str | None = None, watch: Watch = unwatched
) -> Outcome:
    """Compute what ``store`` does not hold yet; every finished cell is written at once.

    Ctrl-C ends the run with what is finished; calling again goes on from there. A cell that fails does not stop the others.
    """
    check_jobs(n_jobs)
    outcome = Outcome()
    waiting: list[Task] = []
    for task in tasks:
        known = store.read(task)
        if known is None:
            waiting.append(task)
        else:
            outcome.results[task.cell] = known
    by_cell = {task.cell: task for task in waiting}
    waiting.sort(key=lambda task: (-task.cost, task.cell))  # the long ones first, so that no core idles at the end
    with watch(waiting) as done, contextlib.closing(_computed(waiting, n_jobs, dask)) as computed:
        try:
            for cell, result, failure in computed:
                if failure is not None:
                    outcome.failures[cell] = failure
                else:
                    store.write(by_cell[cell], result)
                    outcome.results[cell] = result
                done(by_cell[cell])
        except KeyboardInterrupt:
            outcome.interrupted = True
    return outcome


def compute(task: Task) -> tuple[Cell, Result, str | None]:
    """In a worker: one BLAS thread, so that no two workers share a core, and the numbers are the same everywhere."""
    from threadpoolctl import threadpool_limits

    try:
        with one_thread(), threadpool_limits(1, user_api="openmp"):
            return task.cell, task.work(), None
    except DCProgError as error:
        return task.cell, {}, str(error)
    except Exception as error:  # any error of one cell must not stop the others
        return task.cell, {}, f"{type(error).__name__}: {error}"


def _computed(tasks: Sequence[Task], n_jobs: int, dask: str | None) -> Generator[tuple[Cell, Result, str | None]]:
    if not tasks:
        return
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    with _backend(n_jobs, dask) as settings:
        parallel = Parallel(return_as="generator_unordered", batch_size=1, **settings)
        try:
            with deaf_to_ctrl_c() if dask is None and n_jobs != 1 else contextlib.nullcontext():
                results = parallel(delayed(compute)(task) for task in tasks)
            yield from results
        except TerminatedWorkerError:
            raise WorkerLostError(
                "a worker process was killed, perhaps for lack of memory: finished cells are kept, run again with fewer jobs"
            ) from None


@contextlib.contextmanager
def _backend(n_jobs: int, dask: str | None) -> Iterator[Mapping[str, Any]]:
    """Processes here, or a Dask cluster by joblib's own backend."""
    if dask is None:
        # Pyomo makes a semaphore in each worker. If Ctrl-C ends the worker, Python's tracker frees it, and would warn.
        os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
        yield {"n_jobs": n_jobs, "backend": "loky", "initializer": serve, "initargs": (os.getpid(),)}
        return
    try:
        from distributed import Client
    except ImportError:
        raise MissingExtraError(
            "a Dask cluster needs dask.distributed, which is missing: pip install 'dcprog[dask]'"
        ) from None
    from joblib import parallel_config

    try:
        client = Client(dask, timeout=SECONDS)
    except (OSError, ValueError) as error:
        raise DCProgError(f"no Dask scheduler answers at {dask} ({error}): start one with `dask scheduler`") from None
    if sum(client.ncores().values()) == 1:
        warnings.warn(
            f"the cluster at {dask} has one slot only, which joblib does not use: cells are computed here; add a worker",
            StudyWarning,
            stacklevel=2,
        )
    with client, parallel_config(backend="dask", wait_for_workers_timeout=60):
        yield {"n_jobs": -1}

"""Other processes that take some of the starts: what they are given, what they give back, and how they are told to stop."""

from __future__ import annotations

import pickle
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.random_starts import point_of
from dcprog.algorithms.result import Result, State
from dcprog.errors import FunctionError
from dcprog.machine.processes import deaf_to_ctrl_c, pools
from dcprog.program.dc_program import DCProgram
from dcprog.solvers import registry
from dcprog.solvers.base import Solver
from dcprog.typing import Vector

Callback = Callable[[State], bool | None]
Run = Callable[[Algorithm, Callback | None], Result]
WORK, STOP, DONE = "work", "stop", ".done"
"""Files in the folder of a crew, and how those with results end."""


@dataclass(frozen=True, eq=False)
class Work:
    """What every run needs, sent to each worker once; ``solvers`` are those that the user registered here."""

    run: Run
    kind: Callable[..., Algorithm]
    program: DCProgram
    settings: dict[str, Any]
    centre: Vector
    solvers: tuple[Solver, ...]

    def go(self, i: int, x: Any, deadline: float | None, callback: Callback | None) -> Ended:
        """Run i, within the time that is left. A user's function that fails there fails this run only."""
        left = None if deadline is None else max(deadline - time.time(), 0.01)
        start = x if i == 0 else point_of(self.program, x, self.centre, left)
        algorithm = self.kind(self.program, x0=start, **{**self.settings, "time_limit": left})
        try:
            return Ended(self.run(algorithm, callback))
        except FunctionError as error:
            found, error.result = error.result, None
            return Ended(found, error)


@dataclass(frozen=True, eq=False)
class Ended:
    """A run that ended, or failed with what it had found."""

    result: Result | None
    error: FunctionError | None = None


class Unreadable(Exception):
    """A worker cannot read the program, or something it is made of, or nobody could read its answer."""


class Crew:
    """Other processes that take starts one by one, from a folder, and put the results there.

    It holds what all of them need, a file for every start that somebody has begun, one for every result, and the word to
    stop. So what is finished is there whatever happens to who found it.
    """

    def __init__(self, work: Work, size: int, points: Mapping[int, Any], deadline: float | None) -> None:
        self._size, self.broken = size, False
        self.unreadable: Unreadable | None = None
        self._futures: list[Future[Any]] = []
        self._left = list(points)
        self._folder = Path(tempfile.mkdtemp(prefix="dcprog-"))
        self._executor: Any = None
        try:
            _put(self._folder / WORK, (work, dict(points), deadline))
            with deaf_to_ctrl_c():
                self._executor = pools.take(size)
                self._futures += [self._executor.submit(work_off, str(self._folder)) for _ in range(size)]
        except BaseException:
            self.broken = True
            self.close()
            raise

    def take_back(self) -> int | None:
        """A start that no process has begun, to be run here."""
        for i in reversed(self._left):
            if claimed(self._folder, i):
                self._left.remove(i)
                return i
        return None

    def answers(self, until: float | None) -> Iterator[tuple[int, Ended | Unreadable]]:
        """What is there when all have finished, or time is up."""
        left = None if until is None else max(until - time.time(), 0.0)
        for future in wait(self._futures, left, FIRST_EXCEPTION).done:
            self._hear(future)
        for i in list(self._left):
            path = self._folder / f"{i}{DONE}"
            if path.exists():
                self._left.remove(i)
                yield i, pickle.loads(path.read_bytes())

    def _hear(self, future: Future[Any]) -> None:
        try:
            self.unreadable = future.result() or self.unreadable
        except BrokenExecutor:
            self.broken = True

    def stop(self) -> None:
        """Whoever is at it stops after this iteration, and begins no other."""
        (self._folder / STOP).touch()

    def close(self) -> None:
        """Keep the processes for the next time, if they have nothing to do any more."""
        if self._executor is not None:
            if self.broken or not all(future.done() for future in self._futures):
                pools.kill(self._executor)
            else:
                pools.give_back(self._executor, self._size)
        shutil.rmtree(self._folder, ignore_errors=True)


def work_off(folder: str) -> Unreadable | None:
    """In a worker: one start after the other, while there are some that nobody has begun."""
    place = Path(folder)
    try:
        work, points, deadline = pickle.loads((place / WORK).read_bytes())
        for solver in work.solvers:
            registry.register(solver)
    except Exception as error:  # whatever importing the user's modules comes up with
        return Unreadable(f"{type(error).__name__}: {error}")
    for i, x in points.items():
        late = deadline is not None and time.time() >= deadline
        if late or (place / STOP).exists():
            break
        if claimed(place, i):
            _hand_in(place, i, work.go(i, x, deadline, lambda state: (place / STOP).exists()))
    return None


def _hand_in(place: Path, i: int, ended: Ended) -> None:
    """The classifier of a result may refer to all the data: it is made anew where it is needed."""
    if ended.result is not None:
        ended.result.classifier = None
    try:
        _put(place / f"{i}{DONE}", ended)
    except Exception as error:  # whatever pickling the user's objects comes up with
        _put(place / f"{i}{DONE}", Unreadable(f"{type(error).__name__}: {error}"))


def _put(path: Path, what: Any) -> None:
    """Pickled as joblib does, with the classes of __main__ by value, and whole or not at all."""
    from joblib.externals.loky.backend.reduction import dumps

    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(dumps(what))
    temporary.replace(path)


def claimed(folder: Path, i: int) -> bool:
    """Whether start i is the caller's, who is the first to ask for it."""
    try:
        (folder / str(i)).touch(exist_ok=False)
    except (FileExistsError, FileNotFoundError):
        return False
    return True

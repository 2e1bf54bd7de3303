"""The best of several runs: one from x0, the others from seeded random points of C, in several processes where that pays.

This process is one of them, and has the first run: so there is a point to return however little time there is, and a program
whose runs take a blink needs no other process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.crew import Callback, Crew, Ended, Run, Unreadable, Work
from dcprog.algorithms.random_starts import centre_of, spread
from dcprog.algorithms.result import Result, State, Status
from dcprog.convex.certificate import feasibility
from dcprog.errors import DataError, FunctionError
from dcprog.machine.processes import check_jobs, processes
from dcprog.program.dc_program import DCProgram
from dcprog.solvers import registry

PATIENCE = 1.0
"""Seconds after which other processes are asked, if nothing is said of them: so long it takes until they have started."""
GRACE = 1.0
"""Seconds that others get to hand in what they have, after Ctrl-C or when time is up."""
FEASIBLE = 1e-6
"""A relative violation up to which points are equally feasible."""
NOT_RUN = "not_run"


def check_starts(starts: int, seed: int | None, n_jobs: int | None) -> None:
    """Arguments of :func:`dcprog.solve`.

    >>> check_starts(2, -1, None)
    Traceback (most recent call last):
    dcprog.errors.DataError: seed is -1: pass an integer ≥ 0, or None for another one each time
    """
    if not (_whole(starts) and starts >= 1):
        raise DataError(f"starts is {starts!r}: pass an integer ≥ 1")
    if seed is not None and not (_whole(seed) and seed >= 0):
        raise DataError(f"seed is {seed!r}: pass an integer ≥ 0, or None for another one each time")
    check_jobs(n_jobs)


def _whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def best_of(
    run: Run,
    kind: Callable[..., Algorithm],
    program: DCProgram,
    x0: Any,
    starts: int,
    seed: int | None,
    n_jobs: int | None,
    settings: Mapping[str, Any],
    callback: Callback | None = None,
) -> Result:
    """Least violation, then objective, of ``starts`` runs; ``runs`` of the result reports all of them.

    Its status is that of the best run, unless a run fell without end, since f has no minimum then, or the runs did not all
    come to their end: ``interrupted``, ``stopped_by_callback`` or ``time_limit``. A callback sees every state of every run:
    with one the runs follow each other in this process.
    """
    deadline = None if settings["time_limit"] is None else time.time() + settings["time_limit"]
    kind(program, x0=x0, **settings)  # what is wrong with names or options is said here, once
    centre = centre_of(program, x0, settings["time_limit"])
    points = spread(program.compiled.lower, program.compiled.upper, centre, starts - 1, np.random.default_rng(seed))
    work = Work(run, kind, program, dict(settings), centre, registry.registered())
    most = 1 if callback is not None else processes(n_jobs, starts)
    race = _Race(work, [x0, *points], deadline, callback, most, patience=PATIENCE if n_jobs is None else 0.0)
    race.finish()
    return _verdict(race)


@dataclass
class _Race:
    """The starts, those that ended, and why the others did not."""

    work: Work
    points: Sequence[Any]
    deadline: float | None
    callback: Callback | None
    processes: int
    patience: float
    ended: dict[int, Ended] = field(default_factory=dict)
    stopped: Status | None = None
    messages: list[str] = field(default_factory=list)
    crew: Crew | None = None
    began: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.waiting = list(range(len(self.points)))

    def finish(self) -> None:
        """Run all starts, or as many as time and the user allow."""
        try:
            self._run_here()
            if self.crew is not None and self.stopped is None:
                self._collect(None if self.deadline is None else self.deadline + GRACE)
        except KeyboardInterrupt:
            self.stopped = Status.INTERRUPTED
        finally:
            self._dismiss()
        if self.waiting and self.stopped is None:
            self.finish()  # here, what could not be sent

    def _run_here(self) -> None:
        """One start after the other, until none is left that no other process has."""
        while self.stopped is None and (i := self._next()) is not None:
            self._recruit()
            self._note(i, self.work.go(i, self.points[i], self.deadline, self._each))

    def _next(self) -> int | None:
        """A start to run here; the first is run however late it is."""
        if self.ended and self.deadline is not None and time.time() >= self.deadline:
            self.waiting = []
            return None
        if self.crew is not None:
            return self.crew.take_back()
        return self.waiting.pop(0) if self.waiting else None

    def _each(self, state: State) -> bool | None:
        self._recruit()
        return None if self.callback is None else self.callback(state)

    def _recruit(self) -> None:
        """Other processes, once this one has been at it for a while; it goes on as one of them."""
        if self.processes == 1 or not self.waiting or time.perf_counter() - self.began < self.patience:
            return
        size, self.processes = min(self.processes - 1, len(self.waiting)), 1
        points = {i: self.points[i] for i in self.waiting}
        try:
            self.crew = Crew(self.work, size, points, self.deadline)
        except Exception as error:  # whatever pickling the user's objects, or the system, comes up with
            self.messages.append(_alone(f"{type(error).__name__}: {error}"))
        else:
            self.waiting = []

    def _note(self, i: int, ended: Ended) -> None:
        self.ended[i] = ended
        if ended.result is not None and ended.result.status in (Status.INTERRUPTED, Status.STOPPED_BY_CALLBACK):
            self.stopped = ended.result.status

    def _collect(self, until: float | None) -> None:
        """What the others found. They have no callback: who was stopped by one has heard the word to stop."""
        assert self.crew is not None
        for i, answer in self.crew.answers(until):
            if isinstance(answer, Unreadable):
                self.waiting.append(i)
                self.messages = [_alone(answer)]
                continue
            if answer.result is not None and answer.result.status is Status.STOPPED_BY_CALLBACK:
                answer.result.status = Status.INTERRUPTED
            self._note(i, answer)
        if self.crew.unreadable is not None:
            self.messages = [_alone(self.crew.unreadable)]
        if self.crew.broken:
            self.messages = ["a worker process was killed, perhaps for lack of memory: what it had not finished is lost"]

    def _dismiss(self) -> None:
        """Send the others home; after Ctrl-C they may hand in the points they have."""
        if self.crew is None:
            return
        try:
            if self.stopped is not None:
                self.crew.stop()
                self._collect(time.time() + GRACE)
        except KeyboardInterrupt:
            self.stopped = Status.INTERRUPTED
        finally:
            self.crew.close()
            self.crew = None


def _alone(why: object) -> str:
    return f"the starts ran one after the other, since no other process could take them ({why})"


def _verdict(race: _Race) -> Result:
    failed = [end for _, end in sorted(race.ended.items()) if end.error is not None]
    if failed and len(failed) == len(race.ended):
        raise _with_result(failed[0])
    found = {i: end.result for i, end in sorted(race.ended.items()) if end.result is not None}
    if not found:
        raise KeyboardInterrupt  # before there was anything to keep
    best_one = _best(race.work.program, found)
    best, program = found[best_one], race.work.program
    if program.interpret is not None and best.classifier is None and np.isfinite(best.objective):
        best.classifier = program.interpret(best.arrays)
    runs = [_line(i, found.get(i), program.sense) for i in range(len(race.points))]
    messages = [*best.messages, *_remarks(race, found, best_one), *race.messages]
    return replace(best, status=_status(race, found, best), runs=runs, messages=messages)


def _with_result(failed: Ended) -> FunctionError:
    assert failed.error is not None
    failed.error.result = failed.result
    return failed.error


def _best(program: DCProgram, found: Mapping[int, Result]) -> int:
    """Least violation, then objective; of those that differ by rounding only one that converged."""
    violations = {i: relative_violation(program, result) for i, result in found.items()}
    level = min(violations.values())
    feasible = [i for i in found if violations[i] == level]
    values = {i: program.sense * found[i].objective for i in feasible}
    least = min(values.values())
    equal = [i for i in feasible if values[i] <= least + 8 * np.finfo(float).eps * abs(least)] or feasible
    return min(equal, key=lambda i: (not found[i].success, i))


def relative_violation(program: DCProgram, result: Result) -> float:
    """The largest violation of a row, relative to its terms; 0 where it is feasible, infinite without a point."""
    if not np.isfinite(result.x).all():
        return np.inf
    C = program.compiled.feasible_set
    violation = feasibility(C, program.compiled.lift(result.x)[: C.n])
    if program.compiled.dc is not None:
        violation = max(violation, program.compiled.dc.relative_violation(result.x))
    return 0.0 if violation <= FEASIBLE else violation


def _status(race: _Race, found: Mapping[int, Result], best: Result) -> Status:
    ends = {result.status for result in found.values()}
    if Status.UNBOUNDED in ends:
        return Status.UNBOUNDED
    if race.stopped is not None:
        return race.stopped
    if race.deadline is not None and (Status.TIME_LIMIT in ends or len(race.ended) < len(race.points)):
        return Status.TIME_LIMIT
    return best.status


def _line(i: int, result: Result | None, sense: int) -> dict[str, Any]:
    """A line of ``runs``."""
    if result is None:
        return {"start": i, "status": NOT_RUN, "objective": sense * np.inf, "gap": None, "iterations": 0}
    return {
        "start": i,
        "status": str(result.status),
        "objective": result.objective,
        "gap": result.gap,
        "iterations": result.iterations,
    }


def _remarks(race: _Race, found: Mapping[int, Result], best: int) -> list[str]:
    """What the other runs have to say: each way to fail once, and how many starts there was no time for."""
    remarks: dict[Status, str] = {}
    for i, result in found.items():
        if i != best and str(result.status) in TELLING and result.status not in remarks:
            error = race.ended[i].error
            why = str(error) if error is not None else result.messages[-1] if result.messages else "no reason given"
            remarks[result.status] = f"start {i} ended {result.status}: {why}"
    missing = len(race.points) - len(race.ended)
    return [*remarks.values(), *([f"{missing} of {len(race.points)} starts were not run"] if missing else [])]


TELLING = frozenset({"unbounded", "unknown", "not_convex", "defective", "subproblem_failed"})
"""Ends of a run that say something of the program, whichever run is the best."""

"""What a person sees while a command runs: a live line on stderr, if that is a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from dcprog.algorithms.result import State

if TYPE_CHECKING:
    from dcprog.studies.cells import Task

HOUR = 3600.0


def quiet_stdout() -> contextlib.AbstractContextManager[object]:
    """What users' factories print goes to stderr: stdout carries the result, and nothing else."""
    return contextlib.redirect_stdout(sys.stderr)


@contextlib.contextmanager
def reporting(starts: int) -> Iterator[Callable[[State], None] | None]:
    """A callback that shows each iteration; None where stderr is not a terminal, or other processes iterate."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting" if starts == 1 else f"{starts} starts") as status:
        yield (lambda state: status.update(line(state))) if starts == 1 else None


def line(state: State) -> str:
    """One iteration in one line.

    >>> import numpy as np
    >>> line(State(iteration=3, x=np.zeros(1), f=0.25, g=0.5, h=0.25, gap=1e-3, step=0.5, solver="highs"))
    'iteration 3   f 0.25   gap 1.0e-03   step 5.0e-01   highs'
    """
    if state.gap is None or state.step is None:
        return f"iteration {state.iteration}   f {state.f:.8g}"
    return f"iteration {state.iteration}   f {state.f:.8g}   gap {state.gap:.1e}   step {state.step:.1e}   {state.solver}"


@contextlib.contextmanager
def watching(tasks: Sequence[Task]) -> Iterator[Callable[[Task], None]]:
    """A bar over the cells of a study, with the time left; nothing where stderr is not a terminal."""
    if not (tasks and sys.stderr.isatty()):
        yield lambda task: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, speed_estimate_period=HOUR) as progress:
        bar = progress.add_task(f"0 of {len(tasks)} cells", total=sum(task.cost for task in tasks))
        finished: list[Task] = []

        def done(task: Task) -> None:
            finished.append(task)
            progress.update(bar, advance=task.cost, description=f"{len(finished)} of {len(tasks)} cells: {task.cell}")

        yield done

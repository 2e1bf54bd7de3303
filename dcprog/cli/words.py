"""Options that the commands for studies share."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dcprog.errors import DataError

Jobs = Annotated[int, typer.Option(metavar="N", help="Processes; -1 are as many as there are cores.")]
Dask = Annotated[
    str | None, typer.Option(metavar="SCHEDULER", help="Compute on a Dask cluster, as tcp://host:8786 (extra `dask`).")
]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Where results are kept, and a run goes on. Default: dcprog-… here.")
]


def comma_separated(values: Sequence[str] | None) -> list[str] | None:
    """``--data a,b --data c`` are three names; None if the option is not given.

    >>> comma_separated(["a,b", "c"]), comma_separated(None)
    (['a', 'b', 'c'], None)
    """
    if not values:
        return None
    words = [word.strip() for value in values for word in value.split(",") if word.strip()]
    if not words:
        raise DataError("an option is empty: pass names, separated by commas, or leave it out")
    return words


@contextlib.contextmanager
def writing(directory: Path) -> Iterator[None]:
    """Files that cannot be written are one line, not a traceback."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{error.filename or directory} cannot be written ({error.strerror}): pass another --out") from None


@contextlib.contextmanager
def study_warnings() -> Iterator[None]:
    """Warnings about files of a study as lines on stderr."""
    from dcprog.studies.store import StudyWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", StudyWarning)
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *rest: object, **more: object) -> None:
            if issubclass(category, StudyWarning):
                print(f"dcprog: {message}", file=sys.stderr)
            else:
                shown(message, category, *rest, **more)  # type: ignore[arg-type]

        warnings.showwarning = show
        yield

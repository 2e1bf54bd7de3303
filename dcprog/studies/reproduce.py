"""The tables of a paper, computed and set beside the printed ones, and its figures drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dcprog.errors import DataError, unknown_name
from dcprog.solvers.registry import check_name
from dcprog.studies import papers
from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.execute import Watch, execute, unwatched
from dcprog.studies.illustration import Found, Illustration
from dcprog.studies.store import Store
from dcprog.studies.study import Row, Study, Table


@dataclass(frozen=True)
class Part:
    """What is wanted of a table."""

    table: Table
    data: tuple[str, ...]
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Redrawn:
    """A figure, and what its trials found as far as they are finished."""

    illustration: Illustration
    found: Found


@dataclass(frozen=True)
class Reproduction:
    """The rows of every table, as far as computed, the figures, and what is missing and why."""

    study: Study
    parts: tuple[Part, ...]
    rows: tuple[Row, ...]
    results: dict[Cell, Result]
    failures: dict[Cell, str]
    absent: dict[str, str]
    interrupted: bool
    figures: tuple[Redrawn, ...] = ()

    @property
    def complete(self) -> bool:
        return not (self.failures or self.interrupted)

    def of(self, table: Table) -> list[Row]:
        return [row for row in self.rows if row.table == table.number]


def reproduce(
    study: str,
    out: str | Path,
    *,
    tables: Sequence[str] | None = None,
    figures: Sequence[str] | None = None,
    data: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    solver: str | None = None,
    n_jobs: int = 1,
    dask: str | None = None,
    watch: Watch = unwatched,
) -> Reproduction:
    """Compute tables or figures of ``study``; finished cells are kept in ``out``, and taken from there.

    Parameters
    ----------
    study : str
        A name that ``dcprog.studies.papers.NAMES`` lists.
    out : path
        A new or empty directory, or that of an earlier run.
    tables, figures : sequences of str, optional
        By default all tables and no figure; if figures are named, the tables that are named with them.
    data, methods : sequences of str, optional
        By default everything; data sets that are not here are left out then. Panels of figures are data here.
    solver : str, optional
        Of all methods that take one, such as ``"reference"``; by default each as it stands in
        :data:`dcprog.studies.methods.METHODS`.
    n_jobs : int
        Processes; −1 are as many as there are cores.
    dask : str, optional
        Address of a Dask scheduler to compute on instead.
    """
    paper = papers.find(study)
    tables, figures, data, methods = _listed(tables), _listed(figures), _listed(data), _listed(methods)
    drawn = [paper.figure(number) for number in figures or ()]
    chosen = [paper.table(number) for number in tables or ()] if tables or drawn else list(paper.tables.values())
    if solver is not None:
        check_name(solver)
        chosen = [table.with_solver(solver) for table in chosen]
    wanted: list[Table | Illustration] = [*chosen, *drawn]
    known_data = _names("data set", data, [name for item in wanted for name in item.data])
    known_methods = _names("method", methods, [name for item in wanted for name in item.methods])
    absent = _absent(chosen, known_data, required=bool(data))
    parts = tuple(
        Part(
            table,
            tuple(name for name in table.data if name in known_data and name not in absent),
            tuple(name for name in table.methods if name in known_methods),
        )
        for table in chosen
    )
    tasks: dict[Cell, Task] = {}
    for part in parts:
        tasks.update((task.cell, task) for task in part.table.tasks(part.data, part.methods))
    named = [([p for p in one.data if p in known_data], [m for m in one.methods if m in known_methods]) for one in drawn]
    for one, (panels, by) in zip(drawn, named, strict=True):
        tasks.update((task.cell, task) for task in one.tasks(panels, by))
    if not tasks:
        raise DataError(f"there is nothing to compute: {_nothing(absent)}")
    outcome = execute(list(tasks.values()), Store(Path(out), study), n_jobs=n_jobs, dask=dask, watch=watch)
    rows = tuple(row for part in parts for row in part.table.rows(outcome.results, part.data, part.methods))
    redrawn = tuple(
        Redrawn(one, one.found(outcome.results, panels, by)) for one, (panels, by) in zip(drawn, named, strict=True)
    )
    return Reproduction(paper, parts, rows, outcome.results, outcome.failures, absent, outcome.interrupted, redrawn)


def _listed(names: Sequence[str] | str | None) -> list[str] | None:
    """A single name is a list of one, a number its name."""
    return None if names is None else [names] if isinstance(names, str) else [str(name) for name in names]


def _names(kind: str, wanted: Sequence[str] | None, known: Sequence[str]) -> set[str]:
    for name in wanted or ():
        if name not in known:
            raise unknown_name(kind, name, set(known))
    return set(wanted or known)


def _absent(tables: Sequence[Table], data: set[str], required: bool) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for table in tables:
        for name in table.data:
            why = table.absent(name) if name in data and name not in reasons else None
            if why is not None and required:
                raise DataError(why)
            if why is not None:
                reasons[name] = why
    return reasons


def _nothing(absent: dict[str, str]) -> str:
    return next(iter(absent.values()), "no table has both these data sets and these methods; pass others")

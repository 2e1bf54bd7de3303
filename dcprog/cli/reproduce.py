"""``dcprog reproduce``: the tables of a paper beside the printed ones, and its figures drawn anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dcprog.cli.commands import Json, app
from dcprog.cli.words import Dask, Jobs, Out, comma_separated, study_warnings, writing

if TYPE_CHECKING:
    from dcprog.studies.reproduce import Reproduction

Data = typer.Option(metavar="NAME,…", help="Only these data sets. Default: all.")
Methods = typer.Option(metavar="NAME,…", help="Only these methods; a wrong name lists them all. Default: all.")


Solver = typer.Option(metavar="NAME", help="Of all methods that take one, as `reference`. Default: each method's own.")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="neumann2005, …: `dcprog reproduce list` names them all.")],
    table: Annotated[list[str] | None, typer.Option(metavar="NUMBER,…", help="Only these tables. Default: all.")] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="NUMBER,…", help="These figures, and no tables but those named. Default: none."),
    ] = None,
    data: Annotated[list[str] | None, Data] = None,
    methods: Annotated[list[str] | None, Methods] = None,
    solver: Annotated[str | None, Solver] = None,
    jobs: Jobs = 1,
    dask: Dask = None,
    out: Out = None,
    json: Json = False,
) -> int:
    """Compute the tables of a paper and set them beside the published values, or draw its figures anew.

    A * marks differences that the variance over the splits does not explain. Finished cells are kept in the output
    directory, so that after Ctrl-C the same command goes on; it also gets a CSV file for each table, SVG and PNG files for
    each figure, results.json and report.html.

    Examples:

    - `dcprog reproduce neumann2005 --table 3,4 --jobs 2`

    - `dcprog reproduce neumann2005 --table 3 --data liver --methods fsv,svm --solver reference`

    - `dcprog reproduce neumann2005 --figure 1,2`
    """
    from dcprog.cli import output
    from dcprog.cli.progress import watching
    from dcprog.studies import STUDIES, outputs, papers, report
    from dcprog.studies import reproduce as run

    if study == "list":
        output.table([_listed(name) for name in STUDIES], json)
        return 0
    papers.find(study)
    directory = out or Path("-".join(filter(None, ("dcprog", study, (solver or "").replace(":", "-")))))
    with study_warnings():
        found = run(
            study,
            directory,
            tables=comma_separated(table),
            figures=comma_separated(figure),
            data=comma_separated(data),
            methods=comma_separated(methods),
            solver=solver,
            n_jobs=jobs,
            dask=dask,
            watch=watching,
        )
    with writing(directory):
        outputs.write_tables(found, directory)
        pictures = _drawn(found, directory)
        outputs.write_json(found, directory / "results.json")
        page = report.write_reproduction(found, directory / "report.html")
    if json:
        print(output.to_json(outputs.summary(found)))
    else:
        _show(found)
        names = [*pictures, *(["a CSV file for each table"] if found.parts else []), "results.json", page.name]
        print(f"Written to {directory}: {', '.join(names)}")
    return 130 if found.interrupted else 1 if found.failures else 0


def _drawn(found: Reproduction, directory: Path) -> list[str]:
    """The names of the pictures that were written; without matplotlib there are none, and the report says so."""
    from dcprog.errors import MissingExtraError
    from dcprog.studies import outputs

    try:
        return [path.name for path in outputs.write_figures(found, directory)]
    except MissingExtraError:
        return []


def _listed(name: str) -> dict[str, str]:
    from dcprog.studies import papers

    study = papers.find(name)
    return {"study": name, "tables": ", ".join(study.tables), "figures": ", ".join(study.figures), "paper": study.citation}


def _show(found: Reproduction) -> None:
    from dcprog.cli import output
    from dcprog.studies.outputs import cells, lines, quantities

    for part in found.parts:
        rows = found.of(part.table)
        names = quantities(rows)
        if not rows:
            continue
        print(f"Table {part.table.number}: {part.table.title}")
        shown = []
        for (data, method), figures in lines(rows).items():
            line = {"data": data, "method": part.table.method_title(method)}
            for name in names:
                line |= dict(
                    zip((f"{name}\npaper", f"{name}\nours", f"{name}\ndiff."), cells(figures.get(name)), strict=True)
                )
            shown.append(line)
        output.table(shown, False)
        if part.table.note():
            print(part.table.note())
    for one in found.figures:
        print(f"Figure {one.illustration.number}: {one.illustration.title}. {one.illustration.said(one.found)}")
    if found.parts:
        _compare(found)
    _problems(found)


def _compare(found: Reproduction) -> None:
    compared = [row for row in found.rows if row.comparable]
    outside = sum(row.outside for row in compared)
    if compared:
        print(f"{outside} of {len(compared)} differences are more than the variance over the splits explains (*).")
    else:
        print("One run has no variance to judge the differences by.")


def _problems(found: Reproduction) -> None:
    for remark in found.study.remarks:
        print(remark)
    for name, why in found.absent.items():
        print(f"{name} is left out: {why}")
    for cell, why in found.failures.items():
        print(f"{cell} failed: {why}")
    if found.interrupted:
        print("Interrupted: what is finished is kept, the same command goes on.")

"""``dcprog compare``: the methods on a data set of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dcprog.cli.commands import Json, Seed, app
from dcprog.cli.words import Dask, Jobs, Out, comma_separated, study_warnings, writing

if TYPE_CHECKING:
    from dcprog.datasets import Dataset
    from dcprog.studies.compare import Comparison


@app.command()
def compare(
    data: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.csv", help="A name that `dcprog data` lists, or a CSV file with a header and a label column."
        ),
    ],
    methods: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,…", help="fsv, svm, …; a wrong name lists them all. Default: all that the size allows."),
    ] = None,
    others: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="CLASSIFIER",
            help="Also any scikit-learn classifier, as sklearn.svm.LinearSVC(C=[0.1, 1]); a list is a grid. Repeatable.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(help="Cross-validations with other partitions: a stronger test.")] = 1,
    seed: Seed = 0,
    jobs: Jobs = 1,
    dask: Dask = None,
    out: Out = None,
    json: Json = False,
) -> int:
    """Compare methods on your own data: error, features, stability of the selection, time.

    Parameters are chosen on a validation half of each training part, as in Neumann, Schnörr & Steidl (2005). No winner is
    declared where the difference may be noise (corrected resampled t-test). After Ctrl-C the same command goes on.

    Examples:

    - `dcprog compare --data mine.csv --jobs 2`

    - `dcprog compare --data mine.csv --methods fsv,l2_l0_svm,svm --repeats 3`

    - `dcprog compare --data mine.csv --methods fsv,rfe --with "sklearn.svm.LinearSVC(C=[0.1, 1, 10])"`
    """
    from dcprog import datasets
    from dcprog.cli import output
    from dcprog.cli.progress import watching
    from dcprog.studies import compare as run
    from dcprog.studies import report
    from dcprog.studies.cells import file_name

    loaded = datasets.load(data)
    directory = out or Path(f"dcprog-compare-{file_name(loaded.name)}")
    with study_warnings():
        found = run(
            loaded,
            directory,
            methods=_wanted(comma_separated(methods), others or [], loaded),
            folds=folds,
            repeats=repeats,
            seed=seed,
            n_jobs=jobs,
            dask=dask,
            watch=watching,
        )
    with writing(directory):
        page = report.write_comparison(found, directory / "report.html")
        (directory / "results.json").write_text(output.to_json(found.to_dict()), encoding="utf-8")
    if json:
        print(output.to_json(found.to_dict()))
    else:
        _show(found)
        print(f"Written to {directory}: results.json, {page.name}")
    return 130 if found.interrupted else 1 if found.failures else 0


def _wanted(names: list[str] | None, others: list[str], data: Dataset) -> Sequence[Any] | None:
    """The methods named, or those by default, and the classifiers besides; None are those by default alone."""
    if not others:
        return names
    from dcprog.studies.candidates import default_names, parsed

    return [*(default_names(data.X.shape[1]) if names is None else names), *map(parsed, others)]


def _show(found: Comparison) -> None:
    from dcprog.cli import output

    print(f"{found.data}: {found.n} samples, {found.d} features, {found.splits} splits")
    rows = [
        {
            "method": line.method,
            "error ± std. error [%]": f"{line.error:.1f} ± {line.standard_error:.1f}",
            "features": f"{line.features:.1f}",
            "stability": "–" if line.stability is None else f"{line.stability:.2f}",
            "Jaccard": "–" if line.jaccard is None else f"{line.jaccard:.2f}",
            "seconds": f"{line.seconds:.3g}",
            "p": "–" if line.p is None else f"{line.p:.2g}",
        }
        for line in found.lines
    ]
    if rows:
        output.table(rows, False)
    print(f"{found.verdict[0].upper()}{found.verdict[1:]}.")
    for why in found.left_out.values():
        print(why)
    for cell, why in found.failures.items():
        print(f"{cell} failed: {why}")
    if found.interrupted:
        print("Interrupted: what is finished is kept, the same command goes on.")

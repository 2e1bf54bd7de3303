"""The commands and their options. Heavy packages are imported inside them, so that ``--help`` is fast."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import dcprog

app = typer.Typer(
    help="DC programming on Pyomo models: minimise g(x) − h(x), g and h convex, over a convex set.",
    epilog="Start with `dcprog solve fsv`, or `dcprog models` for what else there is.",
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
)

Model = Annotated[
    str,
    typer.Argument(
        metavar="MODEL|FILE.py:FACTORY",
        help="A name that `dcprog models` lists, or a function in a file of yours that returns a DCProgram.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.csv",
        help="A name that `dcprog data` lists, or a CSV file with a header and a label column. Default: breast_cancer.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A parameter of the model (`dcprog models`), or of your function, as a Python literal. Repeat for more.",
    ),
]
Raw = Annotated[bool, typer.Option("--raw", help="Do not rescale features to zero mean and unit variance.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"dcprog {dcprog.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def solve(
    model: Model,
    data: Data = None,
    settings: Settings = None,
    algorithm: Annotated[
        str, typer.Option(help="A name as in docs/algorithms.md, one that FILE.py registers, or auto.")
    ] = "auto",
    solver: Annotated[str, typer.Option(help="A name of `dcprog solvers`, pyomo:NAME, reference, or auto.")] = "auto",
    tol: Annotated[float | None, typer.Option(help="Tolerance of the stopping rule. Default: the model's.")] = None,
    max_iter: Annotated[int, typer.Option(help="Iteration limit.")] = 1000,
    time_limit: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time limit; the best point until then is returned.")
    ] = None,
    starts: Annotated[int, typer.Option(help="Best of so many starts: the model's own, then random ones.")] = 1,
    seed: Seed = 0,
    json: Json = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a plot of the convergence (extra `plot`).")] = None,
    save: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Write PATH.json and PATH.npz, for dcprog.Result.load(PATH).")
    ] = None,
    raw: Raw = False,
) -> int:
    """Solve a DC program to a critical point, and print it. Exit code 0 only if it converged.

    Examples:

    - `dcprog solve fsv`

    - `dcprog solve fsv --data mine.csv --set lam=0.05 --set alpha=5 --solver highs`

    - `dcprog solve mine.py:quartic --starts 8 --json`
    """
    from dcprog.cli import output
    from dcprog.cli.problem import build, find_factory
    from dcprog.cli.progress import quiet_stdout, reporting

    output.check_targets(plot, save)
    with quiet_stdout():
        factory = find_factory(model)  # first: its file may register algorithms and solvers
        output.check_names(algorithm, solver)
        problem = build(model, factory, data, settings or [], standardise=not raw)
        with reporting(starts) as callback:
            result = dcprog.solve(
                problem.program,
                algorithm=algorithm,
                solver=solver,
                tol=tol,
                max_iter=max_iter,
                time_limit=time_limit,
                starts=starts,
                seed=seed,
                callback=callback,
            )
    output.show(problem, result, json)  # before writing files, which may fail
    if save is not None:
        result.save(save)
    if plot is not None:
        output.save_plot(result, plot)
    return 0 if result.success else 1


@app.command()
def check(
    model: Model, data: Data = None, settings: Settings = None, seed: Seed = 0, json: Json = False, raw: Raw = False
) -> int:
    """Check the contract of a DC program: convexity, subgradients, descent, criticality, agreement of all solvers.

    Examples:

    - `dcprog check fsv --set lam=0.1`

    - `dcprog check mine.py:quartic`
    """
    from dcprog.cli import output
    from dcprog.cli.problem import build, find_factory
    from dcprog.cli.progress import quiet_stdout

    with quiet_stdout():
        problem = build(model, find_factory(model), data, settings or [], standardise=not raw)
        report = dcprog.testing.check_program(problem.program, seed=seed)
    output.show_report(problem, report, json)
    return 0 if report.passed else 1


@app.command()
def solvers(json: Json = False) -> None:
    """List the solvers: problem classes, version, and what to install where one is missing.

    Example:

    - `dcprog solvers --json`
    """
    from dcprog.cli import output
    from dcprog.solvers import available as listing

    output.table([info.to_dict() for info in listing.available_solvers()], json)


@app.command()
def models(json: Json = False) -> None:
    """List the formulations that `dcprog solve` knows by name, with their parameters.

    Example:

    - `dcprog models --json`
    """
    from dcprog.cli import output
    from dcprog.cli.problem import describe

    output.table([describe(name, factory) for name, factory in dcprog.models.FACTORIES.items()], json)


@app.command()
def functions(json: Json = False) -> None:
    """List the convex functions that g and h are made of, with their formulas.

    Example:

    - `dcprog functions --json`
    """
    from dcprog.cli import output

    output.table([entry._asdict() for entry in dcprog.functions.catalogue()], json)

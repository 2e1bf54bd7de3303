"""``dcprog data``: which data sets are here, where they come from, and how to get the rest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dcprog.cli.commands import Json, app
from dcprog.cli.words import comma_separated


@app.command()
def data(
    get: Annotated[
        list[str] | None, typer.Option(metavar="NAME,…|all", help="Download these, checked, into the cache.")
    ] = None,
    json: Json = False,
) -> None:
    """List the data sets: where they come from, whether they are here, and how to get the rest.

    Examples:

    - `dcprog data`

    - `dcprog data --get liver,sonar`
    """
    from dcprog import datasets
    from dcprog.cli import output
    from dcprog.datasets.download import copy_of
    from dcprog.datasets.uci import RECIPES

    wanted = comma_separated(get)
    if wanted is None:
        output.table([asdict(info) for info in datasets.catalogue()], json)
        return
    names = list(RECIPES) if wanted == ["all"] else wanted
    copies = {name: copy_of(name) for name in names}
    paths = {name: str(copy.fetch()) for name, copy in copies.items()}
    output.table([{"name": name, "file": path} for name, path in paths.items()], json)

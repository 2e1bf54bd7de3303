"""Which data sets there are, where they come from, and how to get those that are not here."""

from __future__ import annotations

from dataclasses import dataclass

from dcprog.datasets.loading import SHAPES, TABLE_I, available, found_file
from dcprog.datasets.synthetic import SYNTHETIC
from dcprog.datasets.uci import RECIPES

SIZES = {
    **{name: f"{counts.n} × {counts.d}" for name, counts in TABLE_I.items()},
    **{name: f"{n} × {d}" for name, (n, d) in SHAPES.items()},
    **{name: f"{entry.n} × {entry.d}" for name, entry in SYNTHETIC.items()},
    "breast_cancer": "569 × 30",
}
OTHERS = {
    "breast_cancer": ("breast cancer (diagnostic)", "scikit-learn", ""),
    "microarray": ("colon tissue, gene expressions", "Alon et al. 1999", "put microarray.csv into DCPROG_DATA"),
    "leukemia": ("leukaemia, gene expressions", "Golub et al. 1999", "put leukemia.csv into DCPROG_DATA"),
    "lymphoma": ("lymphoma, gene expressions", "Alizadeh et al. 2000", "put lymphoma.csv into DCPROG_DATA"),
}
"""Title, source and how to get it, for the sets without a recipe."""


@dataclass(frozen=True)
class Info:
    """A line of ``dcprog data``."""

    name: str
    title: str
    size: str
    source: str
    here: str
    """Where :func:`load` finds it; empty if it does not."""
    get: str
    """How to get it; empty if it is here."""


def catalogue() -> list[Info]:
    """Every data set that is known, then those that ``DCPROG_DATA`` holds besides.

    >>> [info.here for info in catalogue() if info.name == "breast_cancer"]
    ['scikit-learn']
    """
    here = set(available())
    known = [*RECIPES, *OTHERS, *SYNTHETIC]
    return [_info(name, name in here) for name in [*known, *sorted(here - set(known))]]


def _info(name: str, here: bool) -> Info:
    size = SIZES.get(name, "")
    file = found_file(name)
    where = str(file) if file is not None else "scikit-learn" if here else ""
    if name in RECIPES:
        recipe = RECIPES[name]
        get = f"dcprog data --get {name}, or put {recipe.file} into DCPROG_DATA"
        return Info(name, recipe.title, size, recipe.source, where, "" if where else get)
    if name in SYNTHETIC:
        return Info(name, SYNTHETIC[name].title, size, SYNTHETIC[name].source, where if file else "generator", "")
    title, source, get = OTHERS.get(name, ("", "", ""))
    return Info(name, title, size, source, where, "" if where else get)

"""Fortuna & Capson (2005), Table 1: the basis learned by the radius–margin bound against that of PCA.

Theirs is a soft margin with C = 1 and a sphere without it; ours has the ridge 1/C in both, for which the gradients are
exact. So directions compare, and levels do not. The paper does not say how large the spread of Banana and Lithuanian is,
only that it has to be "large enough": the table is run with 17 and 6, which give errors of the size it has. With PRTools' 1
neither basis makes any error on new points, as 50 copies tell all, and on Banana the support vectors do not get fewer.
"""

from __future__ import annotations

from dcprog.methods.radius_margin import Gaussian, optimal_basis
from dcprog.studies.cells import generator
from dcprog.studies.papers import bound_by_iteration
from dcprog.studies.papers.bound_by_iteration import NAME, WIDTH, draw_points
from dcprog.studies.papers.trials import Lines, Trials
from dcprog.studies.study import Study

TITLES = {"basis": "learned basis", "pca": "PCA"}


def learned(data: str, method: str, trial: int) -> Lines:
    """50 points a class, PCA to 10 dimensions, then S; mistakes on 1000 points."""
    rng = generator(NAME, "1", data, trial)
    (X, y), (T, labels) = draw_points(data, 100, rng), draw_points(data, 1000, rng)
    basis = optimal_basis(X, y, 10, Gaussian(WIDTH[data]), ridge=1.0)
    if method == "basis":
        machine, Z = basis.machine, basis.transform(T)
    else:
        machine, Z = basis.start, (T - basis.mean) @ basis.W
    figures = {
        "margin": machine.margin,
        "support": len(machine.support),
        "bound": machine.bound.value,
        "mistakes": (machine.predict(Z) != labels).sum(),
    }
    return {data: {name: float(value) for name, value in figures.items()}}


TABLES = (
    Trials(
        NAME, "1", "learned basis against PCA", tuple(WIDTH), tuple(TITLES), 10, ("margin", "support", "bound", "mistakes"),
        learned, titles=TITLES,
    ),
)  # fmt: skip
STUDY = Study(
    NAME,
    "Fortuna & Capson, An Optimal Basis for Feature Extraction with SVM Classification using the Radius–Margin Bound (2005)",
    {table.number: table for table in TABLES},
    ("Margins and bounds are of another machine, with squared errors: their levels differ, compare the two methods.",),
    {figure.number: figure for figure in bound_by_iteration.FIGURES},
)

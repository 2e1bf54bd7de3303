"""Figures 1 and 2 of Neumann, Schnörr & Steidl (2005): quadratic FSV on a circle, kernel-target alignment on a chess board.

On the left "specially designed points" in the plane, of which the paper says no more: here rings around the origin, and a
lattice. On the right 64 random points with two features of noise. Above the classifier for λ = 0.1, below the features that
are selected along λ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dcprog.datasets import generators
from dcprog.estimators import AlignmentSVM, QuadraticFSV
from dcprog.plots.regions import draw_plane
from dcprog.studies.cells import Result, generator
from dcprog.studies.figures import grid
from dcprog.studies.illustration import Found, Illustration
from dcprog.typing import Matrix, Vector

NAME = "neumann2005"
POINTS = 64
DRAWN = 0.1
"""λ of the classifier that is drawn."""
LAMBDAS = (0.0, 0.01, 0.02, 0.05, *(k / 10 for k in range(1, 10)), 0.95)
RESOLUTION = 60
PANELS = {"designed": "designed points in the plane", "random": f"{POINTS} random points, two features of noise"}


class Problem(NamedTuple):
    """Its random points and its designed ones, the range of a feature, and the method, trained for one λ."""

    random: Callable[..., tuple[Matrix, Vector]]
    designed: Callable[[], tuple[Matrix, Vector]]
    limits: tuple[float, float]
    machine: Callable[[float], Any]


def rings() -> tuple[Matrix, Vector]:
    """16 points inside of the unit circle, on two rings, and 32 outside, on two more."""
    counts = {0.4: 6, 0.8: 10, 1.2: 14, 1.6: 18}
    turns = [(r, 2 * np.pi * (k + 0.5) / n) for r, n in counts.items() for k in range(n)]
    X = np.array([(r * np.cos(turn), r * np.sin(turn)) for r, turn in turns])
    return X, np.where((X**2).sum(axis=1) > 1, 1.0, -1.0)


def lattice() -> tuple[Matrix, Vector]:
    """8 × 8 points, 16 in each field of the board."""
    axis = np.arange(8) / 2 + 0.25
    X = np.array([(a, b) for a in axis for b in axis])
    return X, np.where((X[:, 0] >= 2) != (X[:, 1] >= 2), 1.0, -1.0)


PROBLEMS = {
    "quadratic_fsv": Problem(generators.circle, rings, (-2.0, 2.0), QuadraticFSV),
    "alignment": Problem(generators.chess_board, lattice, (0.0, 4.0), lambda lam: AlignmentSVM(lam, sigma=1.0)),
}


def ground_truth(panel: str, method: str, trial: int) -> Result:
    """The points, what is selected for every λ, and the decision on a grid over the first two features."""
    problem = PROBLEMS[method]
    seed = generator(NAME, "figures", method)
    X, y = problem.designed() if panel == "designed" else problem.random(POINTS, 2, seed=seed)
    selected = [problem.machine(lam).fit(X, y).get_support(indices=True).tolist() for lam in LAMBDAS]
    machine = problem.machine(DRAWN).fit(X, y)
    axis = np.linspace(*problem.limits, RESOLUTION)
    plane = np.column_stack([part.ravel() for part in np.meshgrid(axis, axis)])
    others = np.tile(np.median(X[:, 2:], axis=0), (len(plane), 1))
    scores = machine.decision_function(np.hstack([plane, others]))
    return {
        "points": X[:, :2].tolist(),
        "labels": y.tolist(),
        "features": X.shape[1],
        "selected": selected,
        "scores": scores.tolist(),
        "wrong": int((machine.predict(X) != y).sum()),
    }


def draw(found: Found, titles: Mapping[str, str]) -> Any:
    """Two rows: the classifier, and the selected features over λ."""
    panels = [(panel, method, trials[0]) for panel, by in found.items() for method, trials in by.items()]
    names = [PANELS[panel] for panel, _, _ in panels]
    figure, axes = grid([*names, *("" for _ in names)], columns=len(names))
    for (_, method, drawn), above, below in zip(panels, axes, axes[len(names) :], strict=False):
        limits = PROBLEMS[method].limits
        x, y = np.meshgrid(*(np.linspace(*limits, RESOLUTION),) * 2)
        codes = (np.array(drawn["labels"]) > 0).astype(int)
        draw_plane(above, x, y, np.array(drawn["scores"])[:, None], np.array(drawn["points"]), codes, ("-1", "1"))
        above.set(xlabel="$x_1$", ylabel="$x_2$", xlim=limits, ylim=limits, aspect="equal")
        at = [(lam, j + 1) for lam, features in zip(LAMBDAS, drawn["selected"], strict=True) for j in features]
        below.plot(*np.array(at).reshape(-1, 2).T, "s", color="C0")
        d = drawn["features"]
        below.set(xlabel="λ", ylabel="selected features", yticks=range(1, d + 1), ylim=(0.4, d + 0.6), xlim=(-0.05, 1.0))
        below.grid(color="0.9")
        below.set_axisbelow(True)
    return figure


CAPTION = (
    "Above the classifier for λ = 0.1, in the first two features, below the features that are selected for each λ. The "
    "paper does not say where its designed points are: these are ours."
)
FIGURES = tuple(
    Illustration(NAME, number, title, tuple(PANELS), (method,), 1, ground_truth, draw, CAPTION)
    for number, title, method in (
        ("1", "quadratic FSV, y = sgn(x₁² + x₂² − 1)", "quadratic_fsv"),
        ("2", "kernel-target alignment on a chess board, σ = 1", "alignment"),
    )
)

"""Figures 1 to 5 of Fortuna & Capson (2005): what the learned basis does at each iteration.

In 1 to 4 S is learned by L-BFGS, as in Table 1, where the paper has conjugate gradients. Figure 5 is the rule (17) with a
fixed step and without end: S ← S − ε ∂T/∂S. "The bound begins to grow after the smallest eigenvalue reaches a zero value":
with our gradients, which are exact, it does so only where ε is too long for the curvature there; short steps go on downhill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from dcprog.datasets import generators
from dcprog.methods.radius_margin import Gaussian, optimal_basis, radius_margin, train
from dcprog.methods.radius_margin.basis import principal_directions
from dcprog.methods.radius_margin.bound import bound_of_points
from dcprog.studies.cells import Result, generator
from dcprog.studies.figures import grid
from dcprog.studies.illustration import Found, Illustration, extended
from dcprog.typing import Matrix, Vector

NAME = "fortuna2005"
WIDTH = {"difficult": 10.0, "banana": 100.0, "highleyman": 5.0, "lithuanian": 20.0}
SPREAD = {"banana": {"spread": 17.0}, "lithuanian": {"spread": 6.0}}
RUNS = 10
LABELS = {
    "bound": "bound R²‖w‖²",
    "mistakes": "test errors of 1000",
    "margin": "margin",
    "support": "support vectors",
    "smallest": "smallest eigenvalue of SS'",
}
LAST, SHORT, LONG = 60, 0.3, 1.0
"""Iterations of (17), and two values of ε times ‖∂T/∂S‖ at the start."""


def draw_points(name: str, n: int, rng: np.random.Generator) -> tuple[Matrix, Vector]:
    """Points of a set, with the spread that the table was run with."""
    samples: tuple[Matrix, Vector] = getattr(generators, name)(n, seed=rng, **SPREAD.get(name, {}))
    return samples


def by_iteration(panel: str, method: str, trial: int) -> Result:
    """Of the machine with S at the start and after every iteration: bound, margin, support vectors, mistakes, eigenvalue."""
    rng = generator(NAME, "figures", panel, trial)
    (X, y), (T, labels) = draw_points(panel, 100, rng), draw_points(panel, 1000, rng)
    mean = X.mean(axis=0)
    W = principal_directions(X - mean, 10)
    Y, kernel = (X - mean) @ W, Gaussian(WIDTH[panel])
    path = METHODS[method](X, y, Y, kernel)
    curves: dict[str, list[float]] = {name: [] for name in LABELS}
    for S in path:
        machine = train(Y @ S, y, kernel, ridge=1.0)
        values = (
            machine.bound.value,
            (machine.predict((T - mean) @ W @ S) != labels).sum(),
            machine.margin,
            len(machine.support),
            np.linalg.svd(S, compute_uv=False)[-1] ** 2,
        )
        for name, value in zip(LABELS, values, strict=True):
            curves[name].append(float(value))
    return dict(curves)


def learned(X: Any, y: Any, Y: Any, kernel: Gaussian) -> list[Matrix]:
    return list(optimal_basis(X, y, 10, kernel, ridge=1.0).path)


def without_end(step: float, X: Any, y: Any, Y: Any, kernel: Gaussian) -> list[Matrix]:
    """(17), by ∂T/∂S = Y' ∂T/∂Z of the points Z = YS."""
    path = [np.eye(Y.shape[1])]
    bound = bound_of_points(y, kernel, 1.0, radius_margin, "auto", Y)
    first = float(np.linalg.norm(Y.T @ bound(Y)[1]))
    for _ in range(LAST):
        path.append(path[-1] - step / first * Y.T @ bound(Y @ path[-1])[1])
    return path


METHODS: dict[str, Callable[..., list[Matrix]]] = {
    "basis": learned,
    "short_steps": partial(without_end, SHORT),
    "long_steps": partial(without_end, LONG),
}


def draw(found: Found, titles: Mapping[str, str]) -> Any:
    """Axes for each quantity; the mean over the runs in a band of a standard error."""
    ((panel, by_method),) = found.items()
    shown = SHOWN[panel] if "basis" in by_method else ("bound", "smallest")
    figure, axes = grid([LABELS[name] for name in shown], height=2.8)
    for (name, ax), (method, trials) in product(zip(shown, axes, strict=True), by_method.items()):
        x, y, band = extended(trials, name)
        colour = f"C{list(METHODS).index(method)}"
        ax.plot(x, y, "-", color=colour, label=titles[method])
        if band is not None:
            ax.fill_between(x, y - band, y + band, color=colour, alpha=0.2, linewidth=0)
        ax.set(xlabel="iteration", yscale="log" if name == "smallest" else "linear")
        ax.grid(color="0.9")
    if len(by_method) > 1:
        axes[0].legend()
    return figure


TITLES = {"basis": "learned basis", "short_steps": "short steps", "long_steps": "long steps"}
SHOWN = {"difficult": ("bound", "mistakes", "margin", "support"), **dict.fromkeys(tuple(WIDTH)[1:], ("bound", "mistakes"))}
MEANS = f"Mean over {RUNS} runs in a band of a standard error; a run that has ended keeps its last value."
FIGURES = (
    *(
        Illustration(
            NAME, str(i), f"{panel.capitalize()}, by iteration", (panel,), ("basis",), RUNS, by_iteration, draw, MEANS,
            TITLES, cost=20.0,
        )
        for i, panel in enumerate(WIDTH, 1)
    ),
    Illustration(
        NAME, "5", "Lithuanian without a condition to stop", ("lithuanian",), ("short_steps", "long_steps"), 1, by_iteration,
        draw, f"One run of the rule (17), {LAST} iterations, ε = {SHORT} and {LONG} over ‖∂T/∂S‖ at the start.", TITLES,
        cost=20.0,
    ),
)  # fmt: skip

"""How a method is judged, section 5.2.2 of Neumann, Schnörr & Steidl (2005).

1. Of each run's training part a random half is for validation.
2. Features are rescaled to zero mean and unit variance over the training part.
3. Along the published grid the method is trained on the other half; the fewest validation errors win, and the larger
   parameter where they are equal.
4. With that parameter the method is trained on the whole training part, and tested on the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from dcprog.datasets import Dataset
from dcprog.learning import grids
from dcprog.studies.cells import Cell, Result, Task, fingerprint
from dcprog.studies.splits import Split, fold, thirds
from dcprog.typing import Indices, Matrix, Vector


@dataclass(frozen=True)
class Grids:
    """The values that parameters are chosen from."""

    mu: tuple[float, ...] = grids.MU
    nu: tuple[float, ...] = grids.NU
    lam_fsv: tuple[float, ...] = grids.LAM_FSV
    lam_svm: tuple[float, ...] = grids.LAM_SVM
    lam_alignment: tuple[float, ...] = grids.LAM_ALIGNMENT


class Part(NamedTuple):
    """Samples and labels."""

    X: Matrix
    y: Vector


class Training(NamedTuple):
    """What a method may see of a split: the half to fit on, the half to validate on, and both together."""

    fit: Part
    validation: Part
    whole: Part
    grids: Grids


@dataclass(frozen=True, eq=False)
class Fit:
    """A trained classifier: ``rule.predict``, the features it uses, and what training it took."""

    rule: Any
    selected: Indices
    iterations: int = 0
    support: int | None = None
    history: tuple[float, ...] = ()
    converged: bool = True


@dataclass(frozen=True, eq=False)
class Trial:
    """A point of the grid: how many validation samples it got wrong."""

    parameters: dict[str, float]
    mistakes: int
    features: int
    iterations: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Chosen:
    """The final classifier with the parameters it was trained with, and the trials they were chosen by."""

    fit: Fit
    parameters: dict[str, float]
    trials: tuple[Trial, ...]
    seconds: float
    """CPU time of the final training."""


Trainer = Callable[..., Iterable[Fit]]
"""``trainer(part, lam=[…])`` trains at every point of the grid, the last parameter varying fastest."""
Method = Callable[[Training], Chosen]


def validated(training: Training, trainer: Trainer, grid: Mapping[str, Sequence[float]], prefer: Sequence[str]) -> Chosen:
    """Choose on the validation half, train on the whole. Equal trials: the largest ``prefer`` wins, in this order."""
    trials = tuple(explored(training, trainer, grid))
    best = choice(trials, prefer)
    fit, seconds = timed(lambda: only(trainer(training.whole, **{name: [best[name]] for name in grid})))
    return Chosen(fit, best, trials, seconds)


def explored(training: Training, trainer: Trainer, grid: Mapping[str, Sequence[float]]) -> Iterable[Trial]:
    """Train on one half and count mistakes on the other, for all combinations of parameters."""
    points = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    for point, fit in zip(points, trainer(training.fit, **grid), strict=True):
        mistakes = int((fit.rule.predict(training.validation.X) != training.validation.y).sum())
        yield Trial(point, mistakes, len(fit.selected), fit.iterations, fit.converged)


def choice(trials: Sequence[Trial], prefer: Sequence[str]) -> dict[str, float]:
    """The parameters with the fewest mistakes, and among them the largest.

    >>> trials = [Trial({"mu": mu, "nu": nu}, 3, 0, 0, True) for mu in (1.0, 2.0) for nu in (5.0, 6.0)]
    >>> choice(trials, ["nu", "mu"])
    {'mu': 2.0, 'nu': 6.0}
    """
    best = min(trials, key=lambda trial: (trial.mistakes, *(-trial.parameters[name] for name in prefer)))
    return best.parameters


def timed(train: Callable[[], Fit]) -> tuple[Fit, float]:
    """The fit, and the CPU seconds it took."""
    began = time.process_time()
    fit = train()
    return fit, time.process_time() - began


def only(fits: Iterable[Fit]) -> Fit:
    (fit,) = fits
    return fit


@dataclass(frozen=True)
class Protocol:
    """Which splits there are. ``folds`` = 0 are random thirds, else cross-validation with so many folds."""

    name: str
    folds: int
    repeats: int = 1
    seed: int = 0
    grids: Grids = field(default_factory=Grids)

    @property
    def n_splits(self) -> int:
        return self.repeats * max(self.folds, 1)

    def split(self, data: Dataset, i: int) -> Split:
        """Split i, the same for every method, and every run on the same samples, whatever their file is called."""
        repeat, part = divmod(i, max(self.folds, 1))
        words = (self.name, self.seed, fingerprint(data), repeat)
        return fold(data.y, self.folds, part, *words) if self.folds else thirds(data.y, *words)

    def tasks(self, data: Dataset, name: str, method: Method, cost: float) -> list[Task]:
        """All cells of one method on one data set."""
        key = {"data": fingerprint(data), "seed": self.seed, "folds": self.folds, **asdict(self.grids)}
        cells = (Cell(self.name, data.name, name, i) for i in range(self.n_splits))
        return [Task(cell, key, partial(judged, data, method, self, cell.split), cost) for cell in cells]


TENFOLD = Protocol("tenfold", 10)
THIRDS = Protocol("thirds", 0, repeats=10)


def judged(data: Dataset, method: Method, protocol: Protocol, i: int) -> Result:
    """Train ``method`` on split i of ``data`` and test it."""
    began = time.process_time()
    split = protocol.split(data, i)
    training, test = prepared(data, split, protocol.grids)
    chosen = method(training)
    fit = chosen.fit
    mistakes = int((fit.rule.predict(test.X) != test.y).sum())
    return {
        "mistakes": mistakes,
        "tests": len(test.y),
        "trained_on": len(training.whole.y),
        "error": mistakes / len(test.y),
        "selected": fit.selected.tolist(),
        "features": len(fit.selected),
        "parameters": chosen.parameters,
        "support": fit.support,
        "iterations": fit.iterations + sum(trial.iterations for trial in chosen.trials),
        "history": list(fit.history),
        "unconverged": int(not fit.converged) + sum(not trial.converged for trial in chosen.trials),
        "trials": [{**asdict(trial), "error": trial.mistakes / len(training.validation.y)} for trial in chosen.trials],
        "seconds": chosen.seconds,
        "total_seconds": time.process_time() - began,
    }


def prepared(data: Dataset, split: Split, grids: Grids) -> tuple[Training, Part]:
    """The parts of a split, rescaled to zero mean and unit variance over its training part."""
    inside = np.concatenate([split.fit, split.validation])
    X = rescaled(data.X, inside)
    fit, validation, whole, test = (
        Part(X[rows], data.y[rows]) for rows in (split.fit, split.validation, inside, split.test)
    )
    return Training(fit, validation, whole, grids), test


def rescaled(X: Matrix, rows: Indices) -> Matrix:
    """X with mean 0 and variance 1 over ``rows``; features that are constant there become 0.

    >>> rescaled(np.array([[1.0, 7.0], [3.0, 7.0], [5.0, 8.0]]), np.array([0, 1]))
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 3.,  0.]])
    """
    part = X[rows]
    varies = part.max(axis=0) > part.min(axis=0)
    centred = X[:, varies] - part[:, varies].mean(axis=0)
    centred /= np.abs(centred).max(axis=0)  # so that no square over- or underflows
    result = np.zeros_like(X)
    result[:, varies] = centred / centred[rows].std(axis=0)
    return result

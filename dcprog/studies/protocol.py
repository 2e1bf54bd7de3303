"""How a method is judged, section 5.2.2 of Neumann, Schnörr & Steidl (2005).

1. Of each run's training part a random half is for validation.
2. Features are rescaled to zero mean and unit variance over the training part.
3. Along the published grid the method is trained on the other half; the fewest validation errors win, and the larger
   parameter where they are equal.
4. With that parameter the method is trained on the whole training part, and tested on the rest.

3 and the first half of 4 are what the estimators named …CV do with ``cv=[(fit, validation)]``.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dcprog.datasets import Dataset, standardised
from dcprog.learning import grids
from dcprog.studies.cells import Cell, Result, Task, fingerprint
from dcprog.studies.machines import train
from dcprog.studies.splits import Split, fold, thirds


@dataclass(frozen=True)
class Grids:
    """The values that parameters are chosen from."""

    mu: tuple[float, ...] = grids.MU
    nu: tuple[float, ...] = grids.NU
    lam_fsv: tuple[float, ...] = grids.LAM_FSV
    lam_svm: tuple[float, ...] = grids.LAM_SVM
    lam_alignment: tuple[float, ...] = grids.LAM_ALIGNMENT


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
        """Split i: the same for every method and in every run on the same samples, also from a file of another name."""
        repeat, part = divmod(i, max(self.folds, 1))
        words = (self.name, self.seed, fingerprint(data), repeat)
        return fold(data.y, self.folds, part, *words) if self.folds else thirds(data.y, *words)

    def tasks(self, data: Dataset, name: str, machine: Any, cost: float, about: str = "") -> list[Task]:
        """All cells of one method, which ``machine`` is, on one data set; ``about`` says what it is, if not its name."""
        key = {"data": fingerprint(data), "seed": self.seed, "folds": self.folds, **asdict(self.grids)}
        if about:
            key["machine"] = about
        cells = (Cell(self.name, data.name, name, i) for i in range(self.n_splits))
        return [Task(cell, key, partial(judged, data, machine, self, cell.split), cost) for cell in cells]


TENFOLD = Protocol("tenfold", 10)
THIRDS = Protocol("thirds", 0, repeats=10)


def judged(data: Dataset, machine: Any, protocol: Protocol, i: int) -> Result:
    """Train ``machine``, a scikit-learn classifier, on split i of ``data`` and test it."""
    began = time.process_time()
    split = protocol.split(data, i)
    inside = np.concatenate([split.fit, split.validation])
    X, halves = standardised(data.X, inside), np.split(np.arange(len(inside)), [len(split.fit)])
    trained = train(machine, X[inside], data.y[inside], halves[0], halves[1], seed=i)
    mistakes = int((trained.machine.predict(X[split.test]) != data.y[split.test]).sum())
    trials = trained.trials(len(split.validation))
    result, selected = trained.result, trained.selected
    return {
        "mistakes": mistakes,
        "tests": len(split.test),
        "trained_on": len(inside),
        "error": mistakes / len(split.test),
        "selected": selected.tolist(),
        "features": len(selected),
        "parameters": trained.parameters,
        "support": trained.support,
        "iterations": (0 if result is None else result.iterations) + sum(trial["iterations"] for trial in trials),
        "history": [] if result is None else [record.f for record in result.history],
        "unconverged": int(not trained.converged) + sum(not trial["converged"] for trial in trials),
        "trials": trials,
        "seconds": trained.seconds,
        "total_seconds": time.process_time() - began,
    }

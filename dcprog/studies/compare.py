"""Methods side by side on a data set of one's own, by the protocol of section 5.2.2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dcprog.datasets import Dataset
from dcprog.errors import DataError
from dcprog.studies.candidates import Wanted, candidates
from dcprog.studies.cells import Cell, Result, Task
from dcprog.studies.execute import Watch, execute, unwatched
from dcprog.studies.findings import Finding, finding
from dcprog.studies.protocol import Grids, Protocol
from dcprog.studies.statistics import corrected_t_test, holm
from dcprog.studies.store import Store

SIGNIFICANT = 0.05
FEWEST_SPLITS = 5
"""With fewer splits the t-test declares too many winners: 11 % of two equal methods with two splits of ten tests."""


@dataclass(frozen=True)
class Comparison:
    """The methods by rising error, without those that are unfinished; no ``winner`` where a difference may be noise."""

    data: str
    n: int
    d: int
    splits: int
    lines: tuple[Finding, ...]
    winner: str | None
    verdict: str
    left_out: dict[str, str]
    results: dict[Cell, Result]
    failures: dict[Cell, str]
    interrupted: bool
    feature_names: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return not (self.failures or self.interrupted)

    @property
    def titles(self) -> dict[str, str]:
        """The titles of all methods; of an unfinished one its name."""
        return {cell.method: cell.method for cell in self.results} | {line.method: line.title for line in self.lines}

    def to_dict(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "samples": self.n,
            "features": self.d,
            "feature_names": list(self.feature_names),
            "splits": self.splits,
            "winner": self.winner,
            "verdict": self.verdict,
            "left_out": self.left_out,
            "failures": {str(cell): why for cell, why in self.failures.items()},
            "methods": [line.to_dict() for line in self.lines],
        }


def compare(
    data: Dataset,
    out: str | Path,
    *,
    methods: Wanted = None,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    grids: Grids | None = None,
    n_jobs: int = 1,
    dask: str | None = None,
    watch: Watch = unwatched,
) -> Comparison:
    """Cross-validate ``methods``, by default those that the size of the data allows; other arguments as in ``reproduce``.

    ``methods`` are names (:data:`dcprog.studies.METHODS`), scikit-learn classifiers, and pairs of a name of your own and a
    classifier. All see the same splits, with features rescaled over the training part. The ``…CV`` of
    :mod:`dcprog.estimators`, and scikit-learn's searches, choose parameters on the validation half unless they have a
    ``cv``; other classifiers are trained on the whole training part as they are.

    A winner is declared if its error is lower than that of every other method by the corrected resampled t-test (Nadeau &
    Bengio 2003) at the level 5 %, p-values adjusted after Holm. ``repeats`` of the cross-validation make the test stronger.
    """
    if repeats < 1:
        raise DataError(f"repeats is {repeats}, expected a number from 1 on: so often the cross-validation is done")
    protocol = Protocol(f"{folds}-fold", folds, repeats, seed, grids or Grids())
    chosen, left_out = candidates(methods, protocol.grids, *data.X.shape)
    tasks: list[Task] = []
    for one in chosen:
        tasks += protocol.tasks(data, one.name, one.machine, one.cost, one.about)
    protocol.split(data, 0)  # complains here, once, about classes that are too small
    outcome = execute(tasks, Store(Path(out), "compare"), n_jobs=n_jobs, dask=dask, watch=watch)
    finished: dict[str, list[Result]] = {}
    for one in chosen:
        cells = [Cell(protocol.name, data.name, one.name, i) for i in range(protocol.n_splits)]
        if all(cell in outcome.results for cell in cells):
            finished[one.name] = [outcome.results[cell] for cell in cells]
    lines = _lines(finished, {one.name: one.title for one in chosen}, data.X.shape[1])
    winner, verdict = _verdict(lines, protocol.n_splits)
    return Comparison(
        data.name,
        data.counts.n,
        data.counts.d,
        protocol.n_splits,
        lines,
        winner,
        verdict,
        left_out,
        outcome.results,
        outcome.failures,
        outcome.interrupted,
        tuple(data.feature_names),
    )


def _lines(finished: dict[str, list[Result]], titles: Mapping[str, str], d: int) -> tuple[Finding, ...]:
    if not finished:
        return ()
    errors = {name: np.array([result["error"] for result in results]) for name, results in finished.items()}
    order = sorted(finished, key=lambda name: errors[name].mean())
    best = order[0]
    share = float(np.mean([result["tests"] / result["trained_on"] for result in finished[best]]))
    tests = min(result["tests"] for result in finished[best])
    others = holm([corrected_t_test(errors[name] - errors[best], share, tests) for name in order[1:]])
    return tuple(finding(name, titles[name], finished[name], d, p) for name, p in zip(order, [None, *others], strict=True))


def _verdict(lines: Sequence[Finding], splits: int) -> tuple[str | None, str]:
    """Who wins, if anyone, in words."""
    if len(lines) < 2:
        return None, "nothing to compare: fewer than two methods are finished"
    best, others = lines[0], lines[1:]
    if splits < FEWEST_SPLITS:
        few = f"{splits} splits are too few to tell differences from noise, pass {FEWEST_SPLITS} folds or more"
        return None, f"no winner: {best.title} has the lowest error, but {few}"
    test = f"corrected resampled t-test over {splits} splits"
    level = [line for line in others if line.p is not None and line.p >= SIGNIFICANT]
    if not level:
        largest = max(line.p or 0.0 for line in others)
        return best.method, f"{best.title} has the lowest error, and no difference is noise (p ≤ {largest:.2g}, {test})"
    names = ", ".join(line.title for line in level)
    smallest = min(line.p or 1.0 for line in level)
    noise = f"its difference to {names} may be noise (p ≥ {smallest:.2g}, {test})"
    return None, f"no winner: {best.title} has the lowest error, but {noise}"

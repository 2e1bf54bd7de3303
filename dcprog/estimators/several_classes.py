"""More than two classes for methods of two: all classifiers at once, on the same features, or one against the rest each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcprog.algorithms.result import Result, Status
from dcprog.errors import unknown_name
from dcprog.estimators.base import Formulation, Grid, Step, Trained
from dcprog.estimators.outcomes import outcome
from dcprog.estimators.training import Training
from dcprog.learning.multiclass import ArgmaxRule, OneVsRest
from dcprog.learning.rules import LinearRule

WAYS = ("shared", "ovr")


@dataclass(eq=False, repr=False, kw_only=True)
class SeveralClasses(Formulation):
    """A formulation whose factory takes more than two classes, too.

    Parameters
    ----------
    multi_class : "shared" or "ovr"
        Of more than two classes: one program for the classifiers of all classes against the rest, in which a feature counts
        once, whichever of them use it, or a program for each class, whose features are united. Then ``result_.objective`` is
        the mean of theirs, and ``outcome_`` has the result of each.
    """

    _multi_class = True

    multi_class: str = "shared"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.multi_class not in WAYS:
            raise unknown_name("multi_class", self.multi_class, WAYS)

    def _train(self, training: Training) -> Trained:
        parts = self._parts(training)
        if not parts:
            return super()._train(training)
        return _united([super(SeveralClasses, self)._train(part) for part in parts], training)

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        parts = self._parts(training)
        if not parts:
            yield from super()._walk(grid, training)
            return
        for steps in zip(*(super(SeveralClasses, self)._walk(grid, part) for part in parts), strict=True):
            yield Step(
                steps[0].point, _united([step.trained for step in steps], training), _worst([s.status for s in steps])
            )

    def _parts(self, training: Training) -> list[Training]:
        """Each class against the rest, where the classes are separated one by one; else nothing."""
        classes = np.unique(training.y)
        apart = self.multi_class == "ovr" and len(classes) > 2
        return [training._replace(y=training.y == label) for label in classes] if apart else []


def _worst(statuses: Sequence[Status]) -> Status:
    """The first that is not ``converged``."""
    return next((status for status in statuses if status is not Status.CONVERGED), Status.CONVERGED)


def _united(machines: Sequence[Trained], training: Training) -> Trained:
    """One classifier of the machines of all classes, with the features that any of them uses."""
    classes = np.unique(training.y)
    rules = [machine.classifier for machine in machines]
    results = [machine.result for machine in machines]
    arrays: dict[str, Any] = {
        name: np.array([r[name] for r in results]) for name in ("w", "b", "theta") if name in results[0].arrays
    }
    if all(isinstance(rule, LinearRule) for rule in rules):
        w, b = np.array([rule.w for rule in rules]), np.array([rule.b for rule in rules])
        arrays |= {"w": w, "b": b}
        classifier: Any = ArgmaxRule(w, b, classes, training.names, rules[0].feature_map)
    else:
        classifier = OneVsRest(tuple(rules), classes)
    result: Result = outcome(
        results[0].name,
        float(np.mean([result.objective for result in results])),
        arrays,
        classifier,
        status=_worst([result.status for result in results]),
        iterations=sum(result.iterations for result in results),
        algorithm=results[0].algorithm,
        solver=results[0].solver,
        violation=max(result.violation for result in results),
    )
    selected = np.unique(np.concatenate([machine.selected for machine in machines]))
    return Trained(result, classifier, result.iterations, selected, tuple(results))

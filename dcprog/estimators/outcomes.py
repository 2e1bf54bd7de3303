"""What methods that are no DC program return, as a :class:`~dcprog.algorithms.result.Result` like all others.

It has the objective that the method's docstring states, at the classifier that was trained; no gap, and no history of f.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dcprog.algorithms.result import Result, Status
from dcprog.learning.rules import Classifier
from dcprog.learning.samples import Data, Samples
from dcprog.methods.zero_norm.steps import Margins
from dcprog.typing import Vector


def outcome(
    name: str,
    objective: float,
    arrays: Mapping[str, Any],
    classifier: Classifier,
    *,
    status: Status = Status.STOPPED_BY_RULE,
    iterations: int = 0,
    algorithm: str,
    solver: str,
    violation: float = 0.0,
) -> Result:
    """A result whose x are the arrays one after the other. Slacks are free, so margin constraints with slacks always hold.

    >>> from dcprog.learning.rules import LinearRule
    >>> rule = LinearRule(np.array([2.0]), -3.0)
    >>> outcome("svm", 2.0, {"w": rule.w, "b": rule.b}, rule, algorithm="libsvm", solver="libsvm").x
    array([ 2., -3.])
    """
    named = {key: np.asarray(value, dtype=float) for key, value in arrays.items()}
    return Result(
        name=name,
        status=status,
        objective=float(objective),
        x=np.concatenate([np.ravel(values) for values in named.values()]),
        gap=None,
        iterations=iterations,
        algorithm=algorithm,
        solver=solver,
        arrays=named,
        history=[],
        timings={},
        violation=violation,
        classifier=classifier,
    )


def total_slack(scores: Any, data: Data) -> float:
    """Σ sᵢ max(0, 1 − yᵢ f(xᵢ)) from the scores f(xᵢ), sᵢ how often a sample counts.

    >>> data = Data(np.array([[0.0], [2.0]]), np.array([-1.0, 1.0]), (0, 1), None, np.array([1.0, 3.0]))
    >>> total_slack(np.array([-3.0, 0.5]), data)
    1.5
    """
    return float(data.counts @ np.maximum(1.0 - data.y * np.ravel(scores), 0.0))


def margin_slacks(rule: Any, samples: Samples, constraints: str) -> tuple[Vector, Vector]:
    """The slack of each margin constraint of two or more classes, and how often its sample counts."""
    margins = Margins(samples, constraints)
    M, B = margins.rows(samples.X)
    slacks: Vector = np.maximum(1.0 - (M @ np.ravel(rule.w) + B @ np.atleast_1d(rule.b)), 0.0)
    return slacks, margins.counts

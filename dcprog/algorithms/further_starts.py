"""Further starts for a plain model, where the one that was given leads to no feasible point."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.crew import Callback, Run
from dcprog.algorithms.multistart import relative_violation
from dcprog.algorithms.random_starts import centre_of, spread
from dcprog.algorithms.result import Result, Status
from dcprog.errors import FunctionError
from dcprog.program.dc_program import DCProgram

MOST = 6
"""Further starts at the most."""
FINAL = frozenset({Status.INFEASIBLE, Status.INTERRUPTED, Status.STOPPED_BY_CALLBACK, Status.UNBOUNDED, Status.DEFECTIVE})
"""Ends that another start does not change, or that the user asked for."""


def until_feasible(
    run: Run,
    kind: Callable[..., Algorithm],
    program: DCProgram,
    x0: Any,
    settings: Mapping[str, Any],
    callback: Callback | None = None,
) -> Result:
    """The run from x0; where that ends at no feasible point, runs from seeded random points, until one does.

    In a plain model the start is often 0, where products have no slope: the violation of xy = 1 falls in no direction there.
    The best is returned, least violation first, and a message says that it came from another start.
    """
    limit = settings["time_limit"]
    deadline = None if limit is None else time.perf_counter() + limit
    best, error = _attempt(run, kind, program, x0, settings, callback)
    if best is not None and (best.status in FINAL or relative_violation(program, best) == 0.0):
        return best
    c, further = program.compiled, dict(settings)
    for count, point in enumerate(
        spread(c.lower, c.upper, centre_of(program, x0, limit), MOST, np.random.default_rng(0)), 1
    ):
        if deadline is not None:
            further["time_limit"] = deadline - time.perf_counter()
            if further["time_limit"] <= 0:
                break
        found, _ = _attempt(run, kind, program, point, further, callback)
        if found is None:
            continue
        if best is None or relative_violation(program, found) < relative_violation(program, best):
            told = f"the start led to no feasible point: this is from the further start {count}, a random point (seed 0)"
            best = replace(found, messages=[told, *found.messages])
        if found.status in FINAL or relative_violation(program, best) == 0.0:
            break
    if best is None:
        assert error is not None
        raise error
    return best


def _attempt(
    run: Run,
    kind: Callable[..., Algorithm],
    program: DCProgram,
    x0: Any,
    settings: Mapping[str, Any],
    callback: Callback | None,
) -> tuple[Result | None, FunctionError | None]:
    """A run, or why there was none."""
    try:
        return run(kind(program, x0=x0, **settings), callback), None
    except FunctionError as error:
        return None, error

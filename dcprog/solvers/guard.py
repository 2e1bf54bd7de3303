"""What stands between the engine and a solver that misbehaves: a well-formed answer, and an end in time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.cones import Duals
from dcprog.convex.problem import ConvexProblem
from dcprog.typing import Vector

GRACE = 0.05
"""Seconds beyond the limit for a solver that keeps it by itself."""


def well_formed(answer: Any, problem: ConvexProblem) -> Answer:
    """``answer`` with vectors of floats of the right lengths, or a failure that says what it is instead.

    >>> import scipy.sparse as sp
    >>> p = ConvexProblem(c=np.zeros(2), A=sp.csr_array((0, 2)), row_lower=np.zeros(0), row_upper=np.zeros(0),
    ...                lower=np.zeros(2), upper=np.ones(2))
    >>> well_formed(None, p).message
    'it returned NoneType, expected an Answer'
    >>> well_formed(Answer(Claim.OPTIMAL, [0.0, 1.0]), p).z
    array([0., 1.])
    >>> well_formed(Answer(Claim.OPTIMAL, np.zeros(3)), p).message
    'z has shape (3,), expected (2,)'
    """
    if not isinstance(answer, Answer):
        return Answer(Claim.FAILED, message=f"it returned {type(answer).__name__}, expected an Answer")
    try:
        claim = Claim(answer.claim)
        z = _vector("z", answer.z, problem.n)
        y = _vector("row_duals", answer.row_duals, problem.m)
        mu = _vector("constraint_duals", answer.constraint_duals, len(problem.constraints))
        v = _cone_duals(answer.cone_duals, problem)
    except (ValueError, TypeError) as error:
        return Answer(Claim.FAILED, message=str(error))
    if claim is Claim.OPTIMAL and z is None:
        return Answer(Claim.FAILED, message="it claims an optimum and returned no point")
    return replace(answer, claim=claim, z=z, row_duals=y, constraint_duals=mu, cone_duals=v, message=str(answer.message))


def _cone_duals(values: Any, problem: ConvexProblem) -> Duals | None:
    if values is None:
        return None
    if len(values) != len(problem.cones):
        raise ValueError(f"cone_duals has {len(values)} entries, expected {len(problem.cones)}")
    pairs = zip(values, problem.cones, strict=True)
    return tuple(None if k is None else _vector("a cone dual", v, len(k.b)) for v, k in pairs)


def _vector(name: str, values: Any, size: int) -> Vector | None:
    if values is None:
        return None
    array = np.asarray(values)
    if array.dtype == np.float64 and array.shape == (size,):
        return np.array(values, dtype=float)
    if array.dtype == object or np.iscomplexobj(array):
        array = array.astype(float) if not np.iscomplexobj(array) else array
    if np.iscomplexobj(array) or not np.issubdtype(array.dtype, np.number):
        raise ValueError(f"{name} has entries of type {array.dtype}, expected numbers")
    if array.shape != (size,):
        raise ValueError(f"{name} has shape {array.shape}, expected ({size},)")
    return np.array(array, dtype=float)


def within(seconds: float, call: Callable[[], Any]) -> Any:
    """What ``call`` returns or raises within so many seconds; afterwards it is left to itself, on a thread that ends with
    the process. Code that holds Python's lock for long cannot be left: :meth:`Solver.estimate_seconds` is for that."""
    outcome: list[Any] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True, name="dcprog solver")
    thread.start()
    thread.join(seconds + GRACE)
    if raised:
        raise raised[0]
    if outcome:
        return outcome[0]
    return Answer(Claim.TIME_LIMIT, message=f"it was left after {seconds:.3g} s")

"""The last digits of a problem that bends: Newton's method from an answer that is good to six of them.

An interior-point method ends beside its active bounds and rows, by up to its tolerance. Where C has no interior, or the
units of x were a bad guess, that is as much as f ever varies. The second-order model at the answer is a QP, as a QP is its
own, and the solvers that ``auto`` takes for QPs find out what is active and make it exact.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import verify
from dcprog.convex.newton import has_model, model_at
from dcprog.convex.polish import better_of, snapped
from dcprog.convex.problem import ConvexProblem, ProblemClass, Units
from dcprog.solvers.registry import chain
from dcprog.typing import Vector

STEPS = 4
LAST_DIGITS = 1e-9
SECONDS = 5.0
"""For each model."""


def can_be_sharper(problem: ConvexProblem) -> bool:
    """Whether there is a model that is a QP."""
    return not problem.has_cones and (problem.problem_class is ProblemClass.QP or has_model(problem))


def sharper(problem: ConvexProblem, c: Vector, found: Answer, units: Units) -> Answer:
    """The answer after a few Newton steps, as long as they make its residuals smaller.

    e^x − 3x at x = 1.1; the solution is log 3:

    >>> from dcprog.convex.terms import FunctionTerm, SmoothSum
    >>> from dcprog.functions import SumExp
    >>> phi = SmoothSum([FunctionTerm(SumExp([[1.0]]), np.array([0]), 1.0)], 1)
    >>> p = ConvexProblem(c=np.array([-3.0]), A=sp.csc_array((0, 1)), row_lower=np.empty(0), row_upper=np.empty(0),
    ...                lower=np.array([-9.0]), upper=np.array([9.0]), smooth=phi)
    >>> rough = Answer(Claim.OPTIMAL, np.array([1.1]), np.empty(0), np.empty(0))
    >>> abs(sharper(p, p.c, rough, p.units()).z - np.log(3)) < 1e-12
    array([ True])
    """
    if not can_be_sharper(problem):
        return found
    worst = verify(problem, c, found, units).worst
    for _ in range(STEPS):
        step = _step(problem, c, found)
        if step is None:
            break
        step = better_of(problem, c, snapped(problem, step, LAST_DIGITS), step, units, enough=0.0)
        if not (after := verify(problem, c, step, units).worst) < worst:
            break
        found, worst = step, after
    return found


def _step(problem: ConvexProblem, c: Vector, found: Answer) -> Answer | None:
    """The solution of the model at the answer, None where there is none."""
    assert found.z is not None
    assert found.constraint_duals is not None
    with np.errstate(all="ignore"):
        model = _with_rows(model_at(problem, c, found.z, found.constraint_duals))
    assert model.Q is not None
    if not all(np.isfinite(part).all() for part in (model.c, model.Q.data, model.A.data)):
        return None
    for solver in chain("auto", model):
        step = solver.open(model, {}).solve(model.c, None, SECONDS)
        if step.claim is Claim.OPTIMAL and step.z is not None and step.row_duals is not None:
            rows, linear = step.row_duals[: problem.m], step.row_duals[problem.m :]
            return replace(found, z=step.z, row_duals=rows, constraint_duals=np.minimum(linear, 0.0))
    return None


def _with_rows(model: ConvexProblem) -> ConvexProblem:
    """The model, its linearised constraints as rows of A."""
    if not model.constraints:
        return model
    zero = np.zeros(model.n)
    slopes = np.array([psi.gradient(zero) for psi in model.constraints])
    return replace(
        model,
        A=sp.csc_array(sp.vstack([model.A, sp.csr_array(slopes)])),
        row_lower=np.concatenate([model.row_lower, np.full(len(slopes), -np.inf)]),
        row_upper=np.concatenate([model.row_upper, [-psi.value(zero) for psi in model.constraints]]),
        constraints=(),
    )

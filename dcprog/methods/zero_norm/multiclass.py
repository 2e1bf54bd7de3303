"""Several classes under one zero norm: section 3.3 of Weston et al. (2003).

    min ‖ Σₖ|wₖ| ‖₀    subject to margin constraints                                                           (Problem 9)

A feature counts once, whichever classes use it. In terms of the weights on the data as they are, a step is

    ℓ1 (Problem 10):       Wᵏ⁺¹ = argmin Σⱼ Σₖ |wₖⱼ| / zⱼ          z = Σₖ|wₖ| of the last step
    ℓ2 (Problems 10, 11):  Wᵏ⁺¹ = argmin ½ Σⱼ Σₖ wₖⱼ² / zⱼ²

The first is the DCA step on Σⱼ ln(ε + Σₖ|wₖⱼ|), ε → 0, which :func:`dcprog.models.multiclass_arom` states. The second is the
paper's approximation of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.learning.multiclass import ArgmaxRule, margin_rows
from dcprog.learning.samples import Samples, check_positive, check_samples
from dcprog.methods.zero_norm.iterates import Iterate, non_zero
from dcprog.methods.zero_norm.margin import Hyperplane, MarginProblem, rotated
from dcprog.solvers.registry import check as check_solver
from dcprog.typing import Mask


def multiclass_updates(
    X: Any,
    y: Any,
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> Iterator[Iterate]:
    """The iterates of multi-class AROM, without end.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    norm : 1 or 2
        ℓ1 (an LP a step) or ℓ2 (a QP with at most min(n, d) weights a class).
    constraints : str
        ``"weston_watkins"`` (Problem 10) or ``"one_vs_rest"`` (Problem 11).
    lam : float, optional
        λ > 0: every margin may have a slack that costs λ. By default none may, which takes separable classes.
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[-2.0, 1.0], [-2.0, -1.0], [0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> iterate, status = converge(multiclass_updates(X, [1, 1, 2, 2, 3, 3], norm=1))
    >>> iterate.features, iterate.classifier.predict(X)
    (array([0]), array([1, 1, 2, 2, 3, 3]))
    """
    if norm not in (1, 2):
        raise DataError(f"norm is {norm!r}, expected 1 or 2: ℓ1- or ℓ2-AROM")
    if lam is not None:
        check_positive(lam=lam)
    check_solver(solver)
    samples = check_samples(X, y)
    margin_rows(samples, constraints)  # says what is wrong now, not at the first step
    steps = _l1_steps if norm == 1 else _l2_steps
    return steps(samples, constraints, lam, solver)


def _l1_steps(samples: Samples, constraints: str, lam: float | None, solver: str) -> Iterator[Iterate]:
    M, B = margin_rows(samples, constraints)
    Q, d = len(samples.classes), samples.X.shape[1]
    slack = np.full(M.shape[0], lam is not None)
    z, kept = np.ones(d), np.ones(d, dtype=bool)
    problem: MarginProblem | None = None
    iteration = 0
    while True:
        if problem is None:
            columns = np.flatnonzero(np.tile(kept, Q))
            problem = MarginProblem(M[:, columns], B, sized=True, slack=slack, solver=solver)
        plane = problem.solve(np.tile(1.0 / z[kept], Q), lam or 0.0)
        iteration += 1
        iterate = Iterate(iteration, _rule(samples, kept, plane), plane.xi)
        yield iterate
        before, z = kept, iterate.sizes
        kept = kept & non_zero(z)
        if kept.sum() < before.sum():
            problem = None  # what is zero stays zero: the next problem is a smaller one


def _l2_steps(samples: Samples, constraints: str, lam: float | None, solver: str) -> Iterator[Iterate]:
    X = samples.X.toarray() if sp.issparse(samples.X) else samples.X
    Q, d = len(samples.classes), X.shape[1]
    z, kept = np.ones(d), np.ones(d, dtype=bool)
    iteration = 0
    while True:
        R, U = rotated(X[:, kept] * z[kept])
        M, B = margin_rows(samples._replace(X=R), constraints)
        slack = np.full(M.shape[0], lam is not None)
        plane = MarginProblem(M, B, sized=False, square=1.0, slack=slack, solver=solver).solve(slack=lam or 0.0)
        iteration += 1
        w = z[kept] * (plane.w.reshape(Q, -1) @ U.T)
        iterate = Iterate(iteration, _rule(samples, kept, plane._replace(w=w)), plane.xi)
        yield iterate
        kept = kept & non_zero(iterate.sizes)
        z = iterate.sizes


def _rule(samples: Samples, kept: Mask, plane: Hyperplane) -> ArgmaxRule:
    Q = len(samples.classes)
    W = np.zeros((Q, len(kept)))
    W[:, kept] = plane.w.reshape(Q, -1)
    return ArgmaxRule(W, plane.b, samples.classes, samples.names)

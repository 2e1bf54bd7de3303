"""ℓ1- and ℓ2-AROM: zero-norm minimisation by multiplicative updates, sections 3.1 and 3.2 of Weston et al. (2003).

    min ‖w‖_p + λ‖ξ‖_q    subject to    yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ                                                     (2), (3)

A zero norm is replaced by Σ ln|wⱼ| (Problem 6 with ε = 0). The paper trains on data rescaled to x * z and sets z ← z * w̄. In
terms of the weights w = z * w̄ on the data as they are, z is simply the last w, and a step is

    ℓ1 (Problem 7):   wᵏ⁺¹ = argmin Σ |wⱼ| / |wⱼᵏ|        the DCA step on Σ ln(ε + |wⱼ|),      ε → 0
    ℓ2 (Problem 8):   wᵏ⁺¹ = argmin ½ Σ wⱼ² / (wⱼᵏ)²      the DCA step on ½ Σ ln(ε² + wⱼ²),    ε → 0

under the margin constraints, features with wⱼᵏ = 0 left out. :func:`dcprog.models.arom` and :func:`dcprog.models.l2_arom`
are these DC programs. The second line says that ℓ2-AROM is not only an approximation of the first: it descends on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Data, check_data, check_positive
from dcprog.methods.zero_norm.iterates import ZERO, Iterate, non_zero
from dcprog.methods.zero_norm.margin import MarginProblem, rotated
from dcprog.solvers.registry import check as check_solver
from dcprog.typing import Vector


def l1_updates(
    X: Any, y: Any, *, p: int = 0, q: int | None = None, lam: float = 1.0, solver: str = "auto"
) -> Iterator[Iterate]:
    """The iterates of ℓ1-AROM, without end: one LP a step (a QP where p or q is 2), of which only the costs change.

    Parameters
    ----------
    X, y : array_like or sparse matrix, array_like
        Training data of two classes.
    p : 0, 1 or 2
        Norm of w; ‖w‖₂ stands for ½‖w‖₂². p = 2, q = 0 minimises the number of training errors of an SVM.
    q : None, 0, 1 or 2
        Norm of the slacks; None has none, which takes separable classes. One of p and q has to be 0: else nothing is
        reweighted, and :func:`dcprog.models.arom` states the convex problem.
    lam : float
        λ > 0. For q = 0 the weights of the slacks are λ/ξᵢ in every step. (The paper scales slack columns by 1/λ once, at
        the start, which the first update forgets: a zero norm does not see the scale.)
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> iterate, status = converge(l1_updates(X, [0, 0, 1, 1]))
    >>> iterate.w.round(6), iterate.features, str(status)
    (array([2., 0.]), array([0]), 'converged')
    """
    data = check_data(X, y)
    _check_norms(p, q, (0, 1, 2), lam)
    check_solver(solver)
    return _l1_steps(data, p, q, lam, solver)


def _l1_steps(data: Data, p: int, q: int | None, lam: float, solver: str) -> Iterator[Iterate]:
    signed = sp.csc_array(data.signed) if sp.issparse(data.X) else data.signed
    size, slack = np.full(data.d, float(p != 2)), np.full(data.n, lam * (q in (0, 1)))
    kept, slacked = np.ones(data.d, dtype=bool), np.full(data.n, q is not None)
    problem: MarginProblem | None = None
    iteration = 0
    while True:
        if problem is None:
            problem = MarginProblem(
                signed[:, np.flatnonzero(kept)],
                data.y[:, None],
                sized=p != 2,
                square=float(p == 2),
                slack=slacked,
                slack_square=lam * (q == 2),
                solver=solver,
            )
        plane = problem.solve(size[kept], slack)
        iteration += 1
        w = np.zeros(data.d)
        w[kept] = plane.w
        yield _iterate(data, iteration, w, plane.b, plane.xi)
        before = kept.sum() + slacked.sum()
        if p == 0:
            kept = kept & non_zero(np.abs(w))
            size[kept] = 1.0 / np.abs(w[kept])
        if q == 0:
            slacked = slacked & (plane.xi > ZERO)
            slack[slacked] = lam / plane.xi[slacked]
        if kept.sum() + slacked.sum() < before:
            problem = None  # what is zero stays zero: the next problem is a smaller one


def l2_updates(
    X: Any, y: Any, *, p: int = 0, q: int | None = None, lam: float = 1.0, solver: str = "auto"
) -> Iterator[Iterate]:
    """The iterates of ℓ2-AROM, without end: one SVM a step, on X * z.

    The SVM is solved as a QP with at most min(n, d) weights: hard margins on classes that are not separable are then an
    error, where libsvm does not return.

    Parameters
    ----------
    X, y : array_like or sparse matrix, array_like
        Training data of two classes.
    p : 0 or 2
        Norm of w, as for :func:`l1_updates`.
    q : None, 0, 1 or 2
        Norm of the slacks; None has none. Those with q = 2 are a ridge 1/λ on the kernel matrix (X * z)(X * z)', those with
        q = 0 a ridge ξᵢ²/λ that is updated as z is; q = 1 is the usual soft margin.
    lam : float
        λ > 0.
    solver : str
        Of the QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> iterate, status = converge(l2_updates(X, [0, 0, 1, 1]))
    >>> iterate.w.round(6), iterate.features, str(status)
    (array([2., 0.]), array([0]), 'converged')
    """
    data = check_data(X, y)
    _check_norms(p, q, (0, 2), lam)
    check_solver(solver)
    return _l2_steps(data, p, q, lam, solver)


def _l2_steps(data: Data, p: int, q: int | None, lam: float, solver: str) -> Iterator[Iterate]:
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    z, zeta = np.ones(data.d), np.ones(data.n)
    kept, slacked = np.ones(data.d, dtype=bool), np.full(data.n, q is not None)
    iteration = 0
    while True:
        R, U = rotated(X[:, kept] * z[kept])
        ridge = np.where(slacked, lam / zeta**2, 0.0) if q in (0, 2) else 0.0
        problem = MarginProblem(
            data.y[:, None] * R,
            data.y[:, None],
            sized=False,
            square=1.0,
            slack=slacked,
            slack_square=ridge,
            solver=solver,
        )
        plane = problem.solve(slack=lam * (q == 1))
        iteration += 1
        w = np.zeros(data.d)
        w[kept] = z[kept] * (U @ plane.w)
        yield _iterate(data, iteration, w, plane.b, plane.xi)
        if p == 0:
            kept = kept & non_zero(np.abs(w))
            z = np.where(kept, np.abs(w), 0.0)
        if q == 0:
            slacked = slacked & (plane.xi > ZERO)
            zeta = np.where(slacked, plane.xi, 1.0)


def _iterate(data: Data, iteration: int, w: Vector, b: Vector, xi: Vector) -> Iterate:
    return Iterate(iteration, LinearRule(w, float(b[0]), classes=data.classes, feature_names=data.names), xi)


def _check_norms(p: int, q: int | None, norms: tuple[int, ...], lam: float) -> None:
    if p not in norms:
        raise DataError(f"p is {p!r}, expected one of {', '.join(map(str, norms))}: the norm of the weights")
    if q not in (None, 0, 1, 2):
        raise DataError(f"q is {q!r}, expected None, 0, 1 or 2: the norm of the slacks")
    if 0 not in (p, q):
        raise DataError(f"p = {p} and q = {q} leave no zero norm to minimise: set one of them to 0")
    check_positive(lam=lam)

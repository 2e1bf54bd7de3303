"""The smallest norm under margin constraints: soft, hard, or, where hard ones cannot be met, with the least total slack."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.methods.zero_norm.margin import Hyperplane, MarginProblem, NotSeparableError, column_sizes
from dcprog.solvers.dispatch import SubproblemUnsolved
from dcprog.typing import Vector

SAME = 1e-6
"""Total slacks that differ by less, relatively, are equal."""


def maximal_margin(
    M: Any, B: Any, p: int = 2, lam: float = np.inf, solver: str = "auto", *, counts: Vector | None = None
) -> Hyperplane:
    """min ‖w‖₁ or ½‖w‖₂² (p = 1, 2) plus λ Σ sᵢξᵢ, under the margin constraints; s > 0 are ``counts``, by default e.

    λ = ∞ is the limit λ → ∞: hard margins if there is a separating hyperplane, else the smallest norm among all hyperplanes
    with the least total slack, which every large enough λ gives.

    >>> X, y = np.array([[0.0], [1.0], [3.0], [4.0], [0.5]]), np.array([-1.0, -1.0, 1.0, 1.0, 1.0])
    >>> maximal_margin(y[:, None] * X, y[:, None]).xi.round(4)
    array([0.    , 0.6667, 0.    , 0.    , 1.6667])
    """
    if p not in (1, 2):
        raise DataError(f"p is {p!r}, expected 1 or 2: the norm of the classifier that is trained")
    size = float(p == 1)
    if np.isfinite(lam):
        soft = MarginProblem(M, B, sized=p == 1, square=float(p == 2), slack=np.ones(M.shape[0], dtype=bool), solver=solver)
        return soft.solve(size, lam if counts is None else lam * counts)
    try:
        return MarginProblem(M, B, sized=p == 1, square=float(p == 2), solver=solver).solve(size)
    except (NotSeparableError, SubproblemUnsolved):
        return _least_slack(M, B, p, solver, np.ones(M.shape[0]) if counts is None else counts / counts.max())


def _least_slack(M: Any, B: Any, p: int, solver: str, s: Vector) -> Hyperplane:
    """The smallest norm among the hyperplanes with the least total slack, which does not depend on the units of columns."""
    everywhere = np.ones(M.shape[0], dtype=bool)
    scale = column_sizes(M)
    errors = MarginProblem(M @ sp.diags_array(1.0 / scale), B, sized=False, slack=everywhere, solver=solver)
    first, alpha = errors.solve_with_duals(slack=s)
    first = first._replace(w=first.w / scale)
    enough = float(s @ _slacks(M, B, first)) * (1.0 + SAME)
    plane = None if alpha is None else _on_the_face(M, B, p, alpha, s, enough, solver)
    if plane is None:
        plane = _at_large_costs(M, B, p, s, enough, solver)
    if plane is None:
        plane = first
        _warn()
    return plane._replace(xi=_slacks(M, B, plane))


def _on_the_face(M: Any, B: Any, p: int, alpha: Vector, s: Vector, enough: float, solver: str) -> Hyperplane | None:
    """The hyperplanes with the least total slack are, by complementary slackness, those with Mw + Bb ≥ 1 in the rows with
    αᵢ < sᵢ and ≤ 1 in those with αᵢ > 0, where α are any multipliers that solve the dual of min Σ sᵢξᵢ.
    """
    if solver == "auto" and p == 2:
        solver = "piqp"  # the face has no interior: the other solvers take long and fail
    for tolerance in (1e-9, 1e-6):
        least, most = np.where(alpha < s * (1.0 - tolerance), 1.0, -np.inf), np.where(alpha > s * tolerance, 1.0, np.inf)
        face = MarginProblem(M, B, sized=p == 1, square=float(p == 2), least=least, most=most, solver=solver)
        try:
            plane = face.solve(float(p == 1))
        except (NotSeparableError, SubproblemUnsolved):
            continue
        if s @ _slacks(M, B, plane) <= enough:
            return plane
    return None


def _at_large_costs(M: Any, B: Any, p: int, s: Vector, enough: float, solver: str) -> Hyperplane | None:
    """min norm + λ Σ sᵢξᵢ for a λ that is large enough."""
    everywhere = np.ones(M.shape[0], dtype=bool)
    soft = MarginProblem(M, B, sized=p == 1, square=float(p == 2), slack=everywhere, solver=solver)
    for lam in 10.0 ** np.arange(2, 9):
        try:
            plane = soft.solve(float(p == 1), lam * s)
        except SubproblemUnsolved:
            return None
        if s @ _slacks(M, B, plane) <= enough:
            return plane
    return None


def _slacks(M: Any, B: Any, plane: Hyperplane) -> Vector:
    slacks: Vector = np.maximum(1.0 - (M @ plane.w + B @ plane.b), 0.0)
    return slacks


def _warn() -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        "the hyperplane has the least total slack, but its norm is not proved to be the smallest: bring the features to one "
        "scale, or pass a finite lam",
        ConvergenceWarning,
        stacklevel=4,
    )

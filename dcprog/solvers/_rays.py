"""Proofs that a problem is infeasible or unbounded, for solvers that do not notice: by the ray along which they ran off, or
by a linear program for such a ray."""

from __future__ import annotations

import numpy as np

from dcprog._typing import Vector
from dcprog.subproblem import Subproblem

TOLERANCE = 1e-5
"""How far a ray of unit length may be from where it has to lie: solvers leave up to 3e-6."""


def proves_infeasible(problem: Subproblem, row_duals: Vector) -> bool:
    """Whether λ = ``row_duals`` is a Farkas ray: no z in its bounds has row_lower ≤ A z ≤ row_upper if

        Σ λᵢ⁺ row_lowerᵢ − λᵢ⁻ row_upperᵢ  >  max {(A'λ)'z : lower ≤ z ≤ upper}.

    >>> import scipy.sparse as sp
    >>> p = Subproblem(c=np.zeros(1), A=sp.csr_array([[1.0]]), row_lower=np.array([2.0]), row_upper=np.array([np.inf]),
    ...                lower=np.zeros(1), upper=np.ones(1))
    >>> proves_infeasible(p, np.array([1e9])), proves_infeasible(p, np.array([-1e9]))
    (True, False)
    """
    length = np.abs(row_duals).max(initial=0.0)
    if not 0.0 < length < np.inf:
        return False
    ray = row_duals / length
    least = _least(ray, problem.row_lower, problem.row_upper, np.ones_like(ray))
    pull = problem.A.T @ ray
    most = -_least(-pull, problem.lower, problem.upper, abs(problem.A).T @ np.ones(problem.m))
    return bool(least.sum() - most.sum() > TOLERANCE * (np.abs(least).sum() + np.abs(most).sum()))


def proves_unbounded(problem: Subproblem, c: Vector, z: Vector) -> bool:
    """Whether d = z/‖z‖ is a direction in which the set never ends and ½z'Qz + c'z falls for ever: Qd = 0, c'd < 0.

    >>> import scipy.sparse as sp
    >>> p = Subproblem(c=np.zeros(1), A=sp.csr_array((0, 1)), row_lower=np.zeros(0), row_upper=np.zeros(0),
    ...                lower=np.zeros(1), upper=np.full(1, np.inf))
    >>> proves_unbounded(p, np.array([-1.0]), np.array([1e9])), proves_unbounded(p, np.array([1.0]), np.array([1e9]))
    (True, False)
    """
    length = np.abs(z).max(initial=0.0)
    if not 0.0 < length < np.inf:
        return False
    d = z / length
    ends = _leaves(problem.A @ d, problem.row_lower, problem.row_upper) | _leaves(d, problem.lower, problem.upper)
    curved = problem.Q is not None and np.abs(problem.Q @ d).max() > TOLERANCE * abs(problem.Q).max()
    return not ends and not curved and bool(c @ d < -TOLERANCE * np.abs(c).max())


def is_empty(problem: Subproblem) -> bool:
    """Whether the rows and bounds admit no point, by the LP solver within SciPy."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    rows = LinearConstraint(problem.A, problem.row_lower, problem.row_upper)
    infeasible = 2
    return bool(
        milp(np.zeros(problem.n), constraints=rows, bounds=Bounds(problem.lower, problem.upper)).status == infeasible
    )


def is_endless(problem: Subproblem, c: Vector) -> bool:
    """Whether an LP or QP falls for ever along some d in the box [−1, 1]ⁿ, by the LP solver within SciPy.

    >>> import scipy.sparse as sp
    >>> p = Subproblem(c=np.zeros(2), A=sp.csr_array([[1.0, -1.0]]), row_lower=np.zeros(1), row_upper=np.ones(1),
    ...                lower=np.zeros(2), upper=np.full(2, np.inf), Q=sp.csr_array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> is_endless(p, np.array([1.0, -2.0])), is_endless(p, np.array([2.0, -1.0]))
    (True, False)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    limits = [LinearConstraint(problem.A, *_recession(problem.row_lower, problem.row_upper))]
    if problem.Q is not None:
        limits.append(LinearConstraint(problem.Q, 0.0, 0.0))
    found = milp(c, constraints=limits, bounds=Bounds(*np.clip(_recession(problem.lower, problem.upper), -1.0, 1.0)))
    return bool(found.fun is not None and found.fun < -TOLERANCE * np.abs(c).max())


def _recession(lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Limits of the directions in which lower ≤ x ≤ upper never ends."""
    return np.where(np.isinf(lower), -np.inf, 0.0), np.where(np.isinf(upper), np.inf, 0.0)


def _least(factor: Vector, lower: Vector, upper: Vector, scale: Vector) -> Vector:
    """min factorᵢ·xᵢ over lower ≤ x ≤ upper, where a factor that is small for its scale does not reach for infinity."""
    limit = np.where(factor > 0, lower, upper)
    small = np.abs(factor) <= TOLERANCE * scale
    return np.multiply(factor, limit, where=~(small & np.isinf(limit)), out=np.zeros_like(factor))


def _leaves(direction: Vector, lower: Vector, upper: Vector) -> bool:
    """Whether some component that is limited on one side runs into that limit."""
    return bool(np.any((direction < -TOLERANCE) & (lower > -np.inf)) or np.any((direction > TOLERANCE) & (upper < np.inf)))

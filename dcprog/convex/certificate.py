"""A solver's claim, checked: residuals of the optimality conditions, recomputed from the compiled arrays.

At an optimal z of the subproblem with multipliers y of the rows and μ ≤ 0 of the constraints ψ ≤ 0 the reduced gradient

    r = ∇objective(z) − A'y − Σ μᵢ ∇ψᵢ(z)

is ≥ 0 where z is at its lower bound, ≤ 0 at its upper and 0 in between; of a constraint that is a cone the slope and the
value are those of ψᵥ, which its dual v ∈ ∂f(0) belongs to (:mod:`dcprog.convex.cones`). Since the problem is convex this is
sufficient, and the duality gap is Σ |rⱼ|·(distance of zⱼ to the bound that the sign of rⱼ belongs to), plus the same for
the rows.

Every row and every column is judged by itself, relative to the terms that it is made of: a cost of 1e8 elsewhere says
nothing about a row of size 1. NaN is never a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from dcprog.convex.answer import Answer
from dcprog.convex.cones import Duals
from dcprog.convex.multipliers import multipliers
from dcprog.convex.problem import ConvexProblem, Units
from dcprog.typing import Indices, Vector

TOLERANCE = 1e-6
"""Largest relative residual with which a claim of optimality is accepted."""
CLOSE = 10.0
"""A multiplier and the distance that it multiplies are small together where their product is a tenth of what each may be."""
DUAL_NOISE = 2e-6
"""TOLERANCE times this is the rounding of a dual, relative to what is usual in its row."""
NEGLIGIBLE = 1e-8
"""A residual that moves the objective by less than this share over the size of its variable is none: costs such as
e^(−αv) may be as small as 1e-183."""
ROUNDING = 1e-7
"""Reduced costs below this share of their terms are left out of the duality gap."""
LEAST_SHARE = 1e-3
"""A row counts as this share of what sizes of its variables bring to it, where its own terms are less."""
LEAST = 1e-2
"""An objective near 0 counts as this share of its largest cost for a unit."""


@dataclass(frozen=True)
class Residuals:
    """Relative residuals of the optimality conditions: infeasibility, stationarity, duality gap."""

    primal: float
    dual: float
    gap: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return float(np.max([self.primal, self.dual, self.gap]))  # NaN stays NaN, and is no certificate

    def holds(self, tol: float = TOLERANCE) -> bool:
        """Whether all three are at most ``tol``."""
        return self.worst <= tol

    def __str__(self) -> str:
        return f"primal {self.primal:.1e}, dual {self.dual:.1e}, gap {self.gap:.1e}"


NO_CERTIFICATE = Residuals(np.inf, np.inf, np.inf)


def completed(problem: ConvexProblem, c: Vector, answer: Answer) -> Answer:
    """``answer`` within the box, with multipliers of admissible signs, fitted where the solver gave none."""
    assert answer.z is not None
    z = np.clip(answer.z, *problem.box)
    y, mu = answer.row_duals, answer.constraint_duals
    if problem.Q is None and problem.smooth is None and not c.any():  # any point is optimal, whatever the solver's noise
        y, mu = np.zeros(problem.m), np.zeros(len(problem.constraints))
    elif np.isfinite(z).all() and ((y is None and problem.m) or (mu is None and problem.constraints)):
        y, mu = multipliers(problem, c, z)
    y = np.zeros(problem.m) if y is None else y
    mu = np.zeros(len(problem.constraints)) if mu is None else mu
    least, most = problem.dual_limits
    return replace(
        answer,
        z=z,
        row_duals=np.clip(y, least, most),
        constraint_duals=np.minimum(mu, 0.0),
        cone_duals=_cone_duals(problem, z, answer.cone_duals),
    )


def _cone_duals(problem: ConvexProblem, z: Vector, given: Duals | None) -> Duals:
    """What lies in ∂f(0), nearest to what was given: it takes part in a certificate, whatever it was meant to be."""
    return problem.curved.duals(z, given) if problem.constraints else ()


def verify(problem: ConvexProblem, c: Vector, answer: Answer, units: Units | None = None) -> Residuals:
    """Residuals of ``answer`` to ``problem`` with linear cost ``c``; ``units`` say what counts as 1."""
    return verify_completed(problem, c, completed(problem, c, answer), units)


def verify_completed(problem: ConvexProblem, c: Vector, full: Answer, units: Units | None = None) -> Residuals:
    """The same of an answer that is completed."""
    assert full.z is not None
    if not np.isfinite(full.z).all():
        return NO_CERTIFICATE
    assert full.row_duals is not None
    assert full.constraint_duals is not None
    assert full.cone_duals is not None
    units = units or problem.units()
    with np.errstate(all="ignore"):
        at = _conditions(problem, c, full.z, full.row_duals, full.constraint_duals, full.cone_duals)
        if at is None:
            return NO_CERTIFICATE
        return _judged(problem, c, at, units)


class _Conditions(NamedTuple):
    """A point with its multipliers, and what the optimality conditions are made of there."""

    z: Vector
    y: Vector
    mu: Vector
    reduced: Vector
    slopes: Vector
    """Sizes of the gradient of the objective and of the pull of the constraints ψ."""
    pull: Vector
    """A'y."""
    activity: Vector
    psi: Vector
    minorants: Vector
    """ψᵥ(z), and ψ(z) itself where it is no cone: 0 where its multiplier gives nothing away."""


def _conditions(problem: ConvexProblem, c: Vector, z: Vector, y: Vector, mu: Vector, duals: Duals) -> _Conditions | None:
    """What verification needs, None where any of it is not finite."""
    reduced, slopes = problem.gradient(z, c), slope_sizes(problem, c, z)
    pull = problem.A_transposed @ y if problem.m else np.zeros(problem.n)
    reduced = reduced - pull
    if mu.any():
        of_constraints, sizes = problem.curved.pull(z, mu, duals)
        reduced, slopes = reduced - of_constraints, slopes + sizes
    psi = _psi(problem, z)
    minorants = psi if not problem.has_cones else problem.curved.minorants(z, duals)
    at = _Conditions(z, y, mu, reduced, slopes, pull, _activity(problem, z), psi, minorants)
    return at if all(np.isfinite(part).all() for part in at if part is not z) else None


def _judged(problem: ConvexProblem, c: Vector, at: _Conditions, units: Units) -> Residuals:
    """The residuals, relative to sizes that are cheap and never too large; then, where they do not hold, to the sums of
    absolute values; then with the rounding of duals relative to what is usual in their rows."""
    limits = problem.row_limits
    quick = _residuals(problem, c, at, units, at.slopes + np.abs(at.pull), np.abs(at.activity) + limits)
    if quick.holds() or not problem.m:
        return quick
    terms = at.slopes + problem.A_size.T @ np.abs(at.y)
    rows = units.at_least(problem.row_terms(at.z) + limits)
    strict = _residuals(problem, c, at, units, terms, rows)
    if strict.holds():
        return strict
    usual = usual_duals(problem, slope_sizes(problem, c, at.z))
    return _residuals(problem, c, at, units, terms + DUAL_NOISE * (problem.A_size.T @ usual), rows, usual)


def _residuals(
    problem: ConvexProblem,
    c: Vector,
    at: _Conditions,
    units: Units,
    terms: Vector,
    row_sizes: Vector,
    usual: Vector | None = None,
) -> Residuals:
    """The residuals relative to ``terms`` of the columns and ``row_sizes``; ``usual`` is what duals of the rows round
    relative to, where they are not taken as they are."""
    z, y, reduced = at.z, at.y, np.abs(at.reduced)
    relative = reduced / np.where(terms > 0, terms, 1.0)
    slack = np.where(at.reduced > 0, z - problem.lower, problem.upper - z)
    size = np.maximum(np.abs(z), units.column)
    value = value_size(problem, c, z, units) or 1.0
    least = value * NEGLIGIBLE / TOLERANCE
    by_column = reduced * np.minimum(slack, size)
    dual = np.minimum(relative * np.minimum(1.0, CLOSE * slack / size), by_column / least)
    row_slack = np.abs(np.where(y > 0, at.activity - problem.row_lower, problem.row_upper - at.activity))
    row_slack[y == 0] = 0.0
    by_row = np.abs(y) * row_slack
    over = _over(problem, at.activity, at.psi)
    if at.psi.size:
        row_slack = np.concatenate([row_slack, np.abs(np.where(at.mu == 0, 0.0, at.minorants))])
        by_row = np.concatenate([by_row, np.abs(at.mu * at.minorants)])
        row_sizes = np.concatenate([row_sizes, _psi_sizes(problem, z, units)])
    sizes = _positive(row_sizes)
    loose = row_slack / sizes
    if usual is not None:
        share = np.where(usual > 0, np.abs(y) / np.where(usual > 0, usual, 1.0), 1.0)
        loose = loose * np.minimum(1.0, CLOSE * np.concatenate([share, np.ones(len(at.mu))]))
    loose = np.minimum(loose, by_row / least)
    gap = float(by_column[relative > ROUNDING].sum() + by_row.sum()) / value
    primal = float((np.maximum(over, 0.0) / sizes).max(initial=0.0))
    return Residuals(
        primal=float(np.max([_outside(problem, z, units), primal])),
        dual=float(dual.max(initial=0.0)),
        gap=float(np.max([gap, loose.max(initial=0.0)])),
    )


def usual_duals(problem: ConvexProblem, slopes: Vector) -> Vector:
    """What a dual of each row may well be: the largest slope for a unit of the row, or what balances such duals of other
    rows in a column that they share. Solvers round relative to that."""
    first = _largest_ratio(problem, slopes)
    return _largest_ratio(problem, slopes + problem.A_size.T @ first) if problem.m else first


def usual_duals_at_least(problem: ConvexProblem, slopes: Vector, columns: Indices) -> Vector:
    """A bound of them from below that takes the slopes of a few columns only."""
    entries, largest = abs(problem.A[:, columns]), np.zeros(problem.m)
    with np.errstate(all="ignore"):
        ratios = np.repeat(slopes[columns], np.diff(entries.indptr)) / entries.data
    np.maximum.at(largest, entries.indices, np.where(np.isfinite(ratios), ratios, 0.0))
    return largest


def _largest_ratio(problem: ConvexProblem, slopes: Vector) -> Vector:
    """maxⱼ slopeⱼ/|aᵢⱼ| of every row."""
    rows, largest = problem.rows_size, np.zeros(problem.m)
    filled = np.flatnonzero(np.diff(rows.indptr))
    if filled.size:
        with np.errstate(all="ignore"):
            ratios = slopes[rows.indices] / rows.data
        largest[filled] = np.maximum.reduceat(np.where(np.isfinite(ratios), ratios, 0.0), rows.indptr[filled])
    return largest


def slope_sizes(problem: ConvexProblem, c: Vector, z: Vector) -> Vector:
    """For each column, the sum of the absolute values that the gradient of the objective is made of."""
    sizes = np.abs(c)
    if problem.Q is not None:
        sizes = sizes + problem.Q_size @ np.abs(z)
    return sizes if problem.smooth is None else sizes + problem.smooth.gradient_size(z)


def feasibility(problem: ConvexProblem, z: Vector, units: Units | None = None, enough: float = 0.0) -> float:
    """Largest violation of a bound, row or constraint, relative to what it is made of, and to a thousandth of its unit; a
    bound of it from above that takes no time, where that is at most ``enough``."""
    units = units or problem.units()
    activity, psi = _activity(problem, z), _psi(problem, z)
    if not (np.isfinite(activity).all() and np.isfinite(psi).all()):
        return np.inf
    over, outside = np.maximum(_over(problem, activity, psi), 0.0), _outside(problem, z, units)
    quick = _at_most(problem, activity, over)
    if quick <= enough:
        return max(outside, quick)
    rows = units.at_least(problem.row_terms(z) + problem.row_limits) if problem.m else np.empty(0)
    sizes = _positive(np.concatenate([rows, _psi_sizes(problem, z, units)]))
    return float(np.max([outside, (over / sizes).max(initial=0.0)]))


def _at_most(problem: ConvexProblem, activity: Vector, over: Vector) -> float:
    """A bound from above of the largest of the violations ``over``, relative to what the rows are at least made of; infinite
    where a constraint ψ is violated, or nothing is known of the size of a row."""
    sizes = np.zeros(len(over))
    sizes[: problem.m] = np.abs(activity) + problem.row_limits
    with np.errstate(all="ignore"):
        return float(np.where(over == 0, 0.0, over / sizes).max(initial=0.0))


def _over(problem: ConvexProblem, activity: Vector, psi: Vector) -> Vector:
    over: Vector = np.maximum(problem.row_lower - activity, activity - problem.row_upper)
    return np.concatenate([over, psi]) if psi.size else over


def _outside(problem: ConvexProblem, z: Vector, units: Units) -> float:
    if (z >= problem.lower).all() and (z <= problem.upper).all():
        return 0.0
    outside = np.maximum(np.maximum(problem.lower - z, z - problem.upper), 0.0)
    return float((outside / np.maximum(np.abs(z), 1e-3 * units.column)).max(initial=0.0))


def _psi_sizes(problem: ConvexProblem, z: Vector, units: Units) -> Vector:
    """What each constraint ψ is made of, and at least a thousandth of what a unit of a variable brings."""
    if not problem.constraints:
        return np.empty(0)
    return problem.curved.sizes(z) + 1e-3 * problem.curved.reach(z, units.column)


def _positive(sizes: Vector) -> Vector:
    return np.where(sizes > 0, sizes, 1.0)


def value_size(problem: ConvexProblem, c: Vector, z: Vector, units: Units) -> float:
    """What the objective is made of, and a small share of its largest cost for a unit."""
    size = float(np.abs(c) @ np.abs(z)) + LEAST * _cost_of_a_unit(problem, c, units)
    if problem.Q is not None:
        size += 0.5 * float(np.abs(z) @ (problem.Q_size @ np.abs(z)))
    return size + (0.0 if problem.smooth is None else problem.smooth.size(z))


def violation(problem: ConvexProblem, z: Vector, sizes: Vector, enough: float = 0.0) -> float:
    """Largest violation of a row or constraint, relative to its terms at z and to a thousandth of what ``sizes`` of the
    variables bring to it; a bound of it from above that takes no time, where that is at most ``enough``."""
    activity, psi = _activity(problem, z), _psi(problem, z)
    over = np.maximum(_over(problem, activity, psi), 0.0)
    quick = _at_most(problem, activity, over)
    if quick <= enough:
        return quick
    rows = problem.A_size @ (np.abs(z) + LEAST_SHARE * sizes) + problem.row_limits
    curved = problem.curved.sizes(z) + LEAST_SHARE * problem.curved.reach(z, sizes) if problem.constraints else np.empty(0)
    return float(np.max(over / _positive(np.concatenate([rows, curved]))))


def no_farther_outside(problem: ConvexProblem, z: Vector, before: Vector, share: float) -> bool:
    """Whether no row is violated by more than at the point before, or than a share of what it is made of at both: in the
    same units, since beside 0 a violation that doubles may be the same part of terms that double."""
    over = np.maximum(_over(problem, _activity(problem, z), _psi(problem, z)), 0.0)
    if not over.any():
        return True
    was = np.maximum(_over(problem, _activity(problem, before), _psi(problem, before)), 0.0)
    rows = problem.A_size @ np.maximum(np.abs(z), np.abs(before)) + problem.row_limits
    curved = [max(row.size(z), row.size(before)) for row in problem.constraints]
    return bool((over <= np.maximum(was, share * np.concatenate([rows, curved]))).all())


def value_of_violation(problem: ConvexProblem, z: Vector, y: Vector, mu: Vector) -> float:
    """Σ |yᵢ|·(violation of row i at z) + Σ |μᵢ| max(ψᵢ(z), 0): by convexity, the objective at z is at most that much below
    the optimum with the multipliers y and μ."""
    activity = _activity(problem, z)
    rows = np.maximum(np.maximum(problem.row_lower - activity, activity - problem.row_upper), 0.0)
    return float(np.abs(y) @ rows + np.abs(mu) @ np.maximum(_psi(problem, z), 0.0))


def _cost_of_a_unit(problem: ConvexProblem, c: Vector, units: Units) -> float:
    costs = np.abs(c) * units.column
    if problem.Q is not None:
        costs = costs + 0.5 * np.abs(problem.Q.diagonal()) * units.column**2
    return float(costs.max(initial=0.0))


def _activity(problem: ConvexProblem, z: Vector) -> Vector:
    return problem.activity(z) if problem.m else np.empty(0)


def _psi(problem: ConvexProblem, z: Vector) -> Vector:
    return problem.curved.values(z) if problem.constraints else np.empty(0)

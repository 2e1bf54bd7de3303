"""The certificate of a point: is x critical, and how do we know?

Let m(y) = g(y) − ⟨u, y⟩, u ∈ ∂h(x), be the model that DCA minimises over C. The gap of criticality is m(x) − min m ≥ 0, and
0 exactly at critical points. What is small is said relative to scales that constants, factors and units do not change:

    T     the sum of the absolute values of the terms of f at x, common terms of g and h cancelled and constants left out
    Dⱼ    the size of variable j: the largest of |xⱼ| and of its travel of late, within its bounds
    S     the variation of f: what it fell in this run, or how it varies over |y − x| ≤ D; at most T, or ½|x|'|∇²g||x|

The certificate asks for four things. ε is the rounding unit.

    1  max(gap, f(x) − f(x⁺)) ≤ tol·S + 32ε·T, where x⁺ minimises the model.
    2  Θ ≤ 10·tol·S + 32ε·Σ tⱼDⱼ, where t are the sizes of the terms of ∇f and Θ bounds the first-order gap
       max {⟨∇g(x) − u, x − y⟩ : y ∈ C, |y − x| ≤ D} from above by weak duality, for any multipliers. A large proximal term
       in both g and h makes steps and gap small everywhere, but not Θ.
    3  |rⱼ| ≤ 1e-3·(terms of rⱼ) for every column: no variable hides behind larger ones.
    4  x is feasible, each row relative to its terms and to what the sizes D bring to it: the units that a problem was scaled
       with are a guess, and one that is far too large would make any violation small.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dcprog.algorithms.further import farther, lowest
from dcprog.algorithms.result import State
from dcprog.convex.certificate import DUAL_NOISE, completed, usual_duals, usual_duals_at_least, value_of_violation, violation
from dcprog.convex.cones import Duals
from dcprog.convex.kinks import envelopes
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import CapabilityError, DCProgError
from dcprog.program.compile import Compiled
from dcprog.solvers.dispatch import Dispatcher
from dcprog.solvers.registry import get
from dcprog.typing import Mask, Vector

ROUNDING = 32 * float(np.finfo(float).eps)
EVERY_COLUMN = 1e-3
AT_BOUND = 1e-9
"""So near to its bound, in its unit, a variable is at it, and"""
NEAR_BOUND = 1e-8
"""so near in its size D: an interior point stays that far away."""
SHORT = 1e-2
"""Steps below this share of the variables' sizes, that bring less than this share of the variation of f, are lengthened."""
NOISE = 0.1
"""What steps that are not short may bring of the whole where they are taken for noise."""
FLAT = 1e-4
"""A fall below this share of what the gap may be is none: where f is curved, the first-order gap is its square root."""
CURVED_SECONDS = 10.0
"""For the first-order gap over a curved set; without it nothing is certified."""
LEAST_SIZE = 1e-9
"""Of a variable, as a share of its unit: less is rounding."""
FEASIBLE = 1e-5
"""Violation of a row, relative to its terms: ten times what a solver may leave, since sizes differ from units."""
DENSE = 1000
"""Variables up to which a Hessian is made just to see its size."""
STEEPEST = 50
"""Columns that usually say enough of the size of duals."""
TRIALS = 6
"""Points at which the variation of f is looked at, where the run has none."""


@dataclass
class Trace:
    """What the certificate remembers of a run: values of f, and points of its later part with their sizes."""

    values: list[float] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    start: Vector | None = None
    _marks: list[tuple[int, State]] = field(default_factory=list)

    def add(self, state: State) -> None:
        """The next iterate; those at powers of two are kept until the run is four times as long. The start and the first
        step say nothing of sizes: they may be far away."""
        self.start = state.x if self.start is None else self.start
        self.values.append(state.level)
        self.sizes.append(state.size)
        k = len(self.values)
        if k > 2 and k & (k - 1) == 0:
            self._marks = [(at, mark) for at, mark in self._marks if 4 * at > k] + [(k, state)]

    def scale(self, size: float = 0.0) -> float:
        """T: the size at the last point, at the next one (``size``), and of late."""
        return max([size, *self.sizes[-1:], *(mark.size for _, mark in self._marks)])

    def fall(self) -> float:
        """How far f fell over the run."""
        return self.values[0] - self.values[-1]

    def way(self, x: Vector) -> Vector:
        """How far each variable came since the start."""
        return np.zeros_like(x) if self.start is None else np.abs(x - self.start)

    def travel(self, x: Vector) -> Vector:
        """How far each variable was from x of late."""
        far = np.zeros_like(x)
        for _, mark in self._marks:
            np.maximum(far, np.abs(mark.x - x), out=far)
        return far


@dataclass(frozen=True)
class Certificate:
    """What is known of a point: its gap of criticality, the bound Θ of the first-order gap, and whether it is critical."""

    gap: float
    first_order_gap: float
    scale: float
    holds: bool
    escape: Vector | None = None
    """A point where f is lower, found beside one that is not critical though nothing moves."""


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Of the rows and constraints of the subproblem at a point, with the subgradient u of h there."""

    u: Vector
    rows: Vector
    constraints: Vector
    cones: Duals = ()
    """The elements v of the constraints that are cones."""


class Around(NamedTuple):
    """The subproblem around a point z: what the certificate is made of."""

    z: Vector
    D: Vector
    T: float
    slope: Vector
    residual: Vector
    """The reduced gradient r, 0 where its variable is at the bound that r pushes against."""
    least: Vector
    """The absolute values that r is made of, those of A'y as one: at most the sum of all."""
    slopes: Vector
    """The absolute values that the slope and the pull of the constraints ψ are made of."""
    rows: Vector
    """The multipliers of the rows."""
    room: Vector
    """How far each variable may go in the direction in which it gains, at most D."""
    complementarity: float


class Criticality:
    """The certificate of points of one run of an algorithm on ``compiled``."""

    def __init__(self, compiled: Compiled, unit: Vector, tol: float) -> None:
        self.compiled, self.unit, self.tol = compiled, unit, tol

    def certificate(self, state: State, following: State, trace: Trace) -> Certificate:
        """Of ``state``, where ``following`` is the minimiser of its model."""
        around = self._around(state, following, trace)
        theta = self._bound(around)
        first = self._judged(state, following, trace, around, theta, min(max(trace.fall(), 0.0), around.T))
        if first.holds or not self._judged(state, following, trace, around, theta, self._most(around)).holds:
            return first  # the variation, which takes several values of f, is no more
        return self._judged(state, following, trace, around, theta, self._variation(state, trace, around))

    def by_linear_program(self, state: State, following: State, trace: Trace) -> Certificate:
        """The same where nothing moves, with the first-order gap itself in place of its bound: one LP more.

        Curvature as large as that of log(ε² + x²) makes it large within rounding of a critical point, too. There f does not
        fall along the direction d that the LP finds; where it does, ``escape`` is where it is least.
        """
        c = self.compiled
        around = self._around(state, following, trace)
        variation = self._variation(state, trace, around)
        theta: float = np.inf
        direction: Vector | None = None
        curved = bool(c.subproblem.constraints)
        if curved:
            theta, direction = _curved_gap(c.subproblem, around.z, around.slope, around.D)
        assert following.gap is not None
        # where no solver finds that one, the linearised set serves, unless a gap below 0 shows that x is outside of C
        if not curved or (direction is None and abs(following.gap) <= self.tol * variation + ROUNDING * around.T):
            theta, direction = _linear_gap(c.subproblem, around.z, around.slope, around.D)
        found = self._judged(state, following, trace, around, theta, variation)
        if found.holds or direction is None:
            return found
        hidden = ~self._visible(around)[: c.n]
        alone = np.where(hidden, -np.sign(around.residual[: c.n]) * around.room[: c.n], 0.0)
        allowed = ROUNDING * around.T + (0.0 if hidden.any() else FLAT * self.tol * variation)
        for step in (direction[: c.n], alone):
            there, fall = lowest(c, state.x, state.x + step)
            beyond, gain = farther(c, state.x, state.x + step)  # D may be as short as the steps so far
            if max(fall, gain) > allowed:
                return replace(found, escape=there if fall >= gain else beyond)
        flat = around._replace(residual=np.zeros_like(around.residual))  # f falls in none of these directions
        return self._judged(state, following, trace, flat, 0.0, variation)

    def _judged(
        self, state: State, following: State, trace: Trace, around: Around, theta: float, variation: float
    ) -> Certificate:
        """The four conditions, with the variation S."""
        c, T = self.compiled, around.T
        gap = self._gap(following, around, theta)
        rounding = float(c.f.gradient_size(state.x) @ around.D[: c.n])
        holds = (
            max(gap, state.level - following.level) <= self.tol * variation + ROUNDING * T
            and theta <= 10 * self.tol * variation + ROUNDING * rounding
            and bool(self._visible(around).all())
            and self._is_feasible(around, trace)
        )
        return Certificate(gap, theta, variation, holds)

    def _gap(self, following: State, around: Around, theta: float) -> float:
        """The gap at x, from the subproblem there. It is below 0 where x is outside of C, or where the minimiser found is
        worse than x by what a solver may be off: then what leaving C is worth is added, and Θ stands for the rest."""
        gap, m = following.gap, following.multipliers
        assert gap is not None
        assert m is not None
        if gap >= 0:
            return gap
        gap += value_of_violation(self.compiled.subproblem, around.z, m.rows, m.constraints)
        return max(gap, 0.0) if gap >= -ROUNDING * around.T else theta

    def _is_feasible(self, around: Around, trace: Trace) -> bool:
        """By the sizes D, and by how far a variable came since the start, if that is no more than its unit; beside 0 by a
        small share of its unit, since all that moves there is rounding."""
        p, n = self.compiled.subproblem, self.compiled.n
        sizes = np.maximum(np.where(around.D > 0, around.D, self.unit), LEAST_SIZE * np.minimum(self.unit, 1.0))
        sizes[:n] = np.maximum(sizes[:n], np.minimum(self.unit[:n], trace.way(around.z[:n])))
        return p.is_box or violation(p, around.z, sizes, FEASIBLE) <= FEASIBLE

    def _visible(self, around: Around) -> Mask:
        """The columns that nothing hides: r is small for its own terms, or what it could bring is rounding."""
        size, p = np.abs(around.residual), self.compiled.subproblem
        distance = np.where(around.residual > 0, around.z - p.lower, p.upper - around.z)
        held = distance <= np.maximum(AT_BOUND * self.unit, NEAR_BOUND * around.D)
        visible: Mask = held | (size <= EVERY_COLUMN * around.least) | (size * around.D <= ROUNDING * around.T)
        if visible.all():
            return visible
        hidden = np.flatnonzero(~visible)
        of_hidden = around.slopes[hidden] + abs(p.A[:, hidden]).T @ np.abs(around.rows)
        visible[hidden] = size[hidden] <= EVERY_COLUMN * of_hidden
        if visible.all():
            return visible
        visible |= size <= EVERY_COLUMN * _bends(p, around.z)
        if visible.all():
            return visible
        hidden = np.flatnonzero(~visible)
        entries, of_hidden = abs(p.A[:, hidden]).T, size[hidden]
        steepest = np.argsort(-around.slopes)[:STEEPEST]  # at no more cost than that, if their slopes explain the rounding
        if (of_hidden > EVERY_COLUMN * DUAL_NOISE * (entries @ usual_duals_at_least(p, around.slopes, steepest))).any():
            terms = around.slopes + p.A_size.T @ np.abs(around.rows)
            visible[hidden] = of_hidden <= EVERY_COLUMN * DUAL_NOISE * (entries @ usual_duals(p, terms))
        else:
            visible[hidden] = True
        return visible

    def short(self, state: State, following: State, trace: Trace) -> bool:
        """Whether the step to ``following`` is short for the sizes of the variables, and brings little. Variables that bring
        next to nothing of that little do not count: they may be noise beside a bound."""
        step = np.abs(following.x - state.x)
        if state.level - following.level > SHORT * trace.fall():
            return False
        long = step > SHORT * self._own_sizes(state, following, trace)
        if not long.any():
            return True
        assert following.multipliers is not None
        gains = step * np.abs(self.compiled.g.gradient(state.x) - following.multipliers.u)
        return float(gains[long].sum()) <= NOISE * float(gains.sum())

    def _sizes(self, state: State, following: State, trace: Trace) -> Vector:
        """D, for the variables and then for the epigraph variables."""
        c, D = self.compiled, self._own_sizes(state, following, trace)
        if c.subproblem.n == c.n:
            return D
        lifted, there = c.lift(state.x)[c.n :], c.lift(following.x)[c.n :]
        return np.concatenate([D, np.maximum(np.maximum(np.abs(lifted), np.abs(there)), self.unit[c.n :])])

    def _own_sizes(self, state: State, following: State, trace: Trace) -> Vector:
        c = self.compiled
        size = np.maximum(np.maximum(np.abs(state.x), np.abs(following.x)), trace.travel(state.x))
        D: Vector = np.minimum(np.where(size > 0, size, self.unit[: c.n]), c.upper - c.lower)
        return D

    def _around(self, state: State, following: State, trace: Trace) -> Around:
        """The subproblem at x: its slope, with common parts of g and h cancelled, and what multipliers leave of it."""
        c, p, m = self.compiled, self.compiled.subproblem, following.multipliers
        assert m is not None
        z = c.lift(state.x)
        slope, terms = c.model_slope(z, m.u), c.lifting.slope_size(z)
        terms[: c.n] = c.f.gradient_size(state.x)
        residual, least, complementarity = slope, terms, 0.0
        kinks = envelopes(p) if p.m else None
        rows = m.rows if kinks is None else kinks.duals(slope, z)  # those at x itself, and not at the next point
        if p.m and rows.any():
            pull = p.A_transposed @ rows
            residual, least = residual - pull, terms + np.abs(pull)
            complementarity += _complementarity(rows, p.A @ z, p.row_lower, p.row_upper)
        if p.constraints and m.constraints.any():
            duals = m.cones or p.curved.duals(z, None)
            pull, sizes = p.curved.pull(z, m.constraints, duals)
            residual, least, terms = residual - pull, least + np.abs(pull), terms + sizes
            complementarity += float(np.abs(m.constraints) @ np.maximum(-p.curved.minorants(z, duals), 0.0))
        D, T = self._sizes(state, following, trace), trace.scale(max(state.size, following.size))
        room = np.maximum(np.minimum(np.where(residual > 0, z - p.lower, p.upper - z), D), 0.0)
        return Around(z, D, T, slope, residual * (room > 0), least, terms, rows, room, complementarity)

    def _bound(self, around: Around) -> float:
        """Θ: for each column the most that it can gain within its bounds and D, and what the multipliers give away."""
        theta = float(np.abs(around.residual) @ around.room) + around.complementarity
        return theta if np.isfinite(theta) else np.inf

    def _variation(self, state: State, trace: Trace, around: Around) -> float:
        """How much f fell, or varies over |y − x| ≤ D within the bounds: the median over a few corners."""
        c, f = self.compiled, self.compiled.f
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(TRIALS, c.n))
        there = np.clip(state.x + signs * around.D[: c.n], c.lower, c.upper)
        with np.errstate(all="ignore"):
            here = f.value(state.x)
            changes = np.abs([f.value(x) - here for x in there])
        finite = changes[np.isfinite(changes)]
        return min(max(trace.fall(), float(np.median(finite)) if finite.size else 0.0), self._most(around))

    def _most(self, around: Around) -> float:
        """What the variation may be: T, and what curvature makes of x where terms such as (a² − 1)² vanish themselves."""
        p, z = self.compiled.subproblem, np.abs(around.z)
        return max(around.T, 0.5 * float(z @ _bends(p, around.z)))


def _bends(p: ConvexProblem, z: Vector) -> Vector:
    """|∇²φ||z|: what the gradient of a smooth φ is made of, as Qz is made of |Q||z|. That of √(1 + a²) is 0 where a is, and
    is the only term that it has."""
    if p.smooth is None or p.n > DENSE:
        return np.zeros(p.n)
    with np.errstate(all="ignore"):
        bends: Vector = np.nan_to_num(abs(p.smooth.hessian(z)) @ np.abs(z), nan=0.0, posinf=0.0)
    return bends


def _complementarity(y: Vector, activity: Vector, lower: Vector, upper: Vector) -> float:
    """Σ |yᵢ|·(distance of row i to the limit that the sign of yᵢ belongs to)."""
    active = y != 0
    slack = np.where(y > 0, activity - lower, upper - activity)[active]
    return float(np.abs(y[active]) @ np.maximum(slack, 0.0))


def _curved_gap(p: ConvexProblem, z: Vector, slope: Vector, D: Vector) -> tuple[float, Vector | None]:
    """max {⟨slope, −d⟩ : z + d ∈ C, |d| ≤ D}, and its d, by a verified solution.

    Directions of the linearised set leave a curved one at once, so that f seems to fall in none of them.
    """
    around = replace(p, c=slope, Q=None, smooth=None, lower=np.maximum(p.lower, z - D), upper=np.minimum(p.upper, z + D))
    try:
        lowest_there = Dispatcher(around).solve(slope, z, CURVED_SECONDS).z
    except DCProgError:
        return np.inf, None
    return max(float(slope @ (z - lowest_there)), 0.0), lowest_there - z


def _linear_gap(p: ConvexProblem, z: Vector, slope: Vector, D: Vector) -> tuple[float, Vector | None]:
    """max {⟨slope, −d⟩ : z + d in the linearised set, |d| ≤ D}, bounded from above by the duals of HiGHS, and its d.

    The LP is in units of D. Whatever the duals are, the bound holds; it is ∞ where there are none.
    """
    activity = p.A @ z if p.m else np.empty(0)
    cuts, rooms = p.curved.gradients(z), np.maximum(-p.curved.values(z), 0.0)
    unit = np.where(D > 0, D, 1.0)
    step = ConvexProblem(
        c=slope * unit,
        A=sp.csc_array(sp.vstack([p.A, cuts]) @ sp.diags_array(unit)),
        row_lower=np.concatenate([np.minimum(p.row_lower - activity, 0.0), np.full(len(rooms), -np.inf)]),
        row_upper=np.concatenate([np.maximum(p.row_upper - activity, 0.0), rooms]),
        lower=np.maximum(np.minimum(p.lower - z, 0.0), -D) / unit,
        upper=np.minimum(np.maximum(p.upper - z, 0.0), D) / unit,
    )
    try:
        answer = get("highs").open(step, {}).solve(step.c, None, None)
    except CapabilityError:  # coefficients that HiGHS refuses
        return np.inf, None
    if answer.z is None or answer.row_duals is None:
        return np.inf, None
    answer = completed(step, step.c, answer)
    assert answer.z is not None
    assert answer.row_duals is not None
    reduced = step.c - step.A.T @ answer.row_duals
    gains = np.abs(reduced) @ np.where(reduced > 0, -step.lower, step.upper)
    zero = np.zeros(step.m)
    theta = float(gains) + _complementarity(answer.row_duals, zero, step.row_lower, step.row_upper)
    return (theta if np.isfinite(theta) else np.inf), unit * answer.z

"""Statements about DC programs as tests: for ours, and for yours.

>>> import pyomo.environ as pyo
>>> from dcprog import DCA, SLA, DCProgram
>>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
>>> program = DCProgram(m, g=0, h=m.x**2)
>>> assert_lockstep(SLA(program), DCA(program))     # Corollary 2: so many iterates are the same
3
>>> print(check_program(program))
ok    g is convex on C
ok    h is convex on C
ok    no witness against convexity
ok    subgradients of g
ok    subgradients of h
ok    gradient of g against differences
ok    gradient of h against differences
ok    f decreases
ok    the limit is critical
ok    solvers agree
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.algorithms.dca import DCA
from dcprog.algorithms.kkt import kkt_gap
from dcprog.algorithms.result import State
from dcprog.algorithms.run import run
from dcprog.algorithms.start import feasible_start
from dcprog.algorithms.stopping import MaxIter
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import LinearTerm, QuadraticTerm, SmoothSum
from dcprog.errors import ConvexityError, DCProgError
from dcprog.program.claims import SAMPLES, Samples, check_functions, check_set
from dcprog.program.dc_program import DCProgram
from dcprog.program.sampling import midpoint_violation, sample_box
from dcprog.solvers.dispatch import Dispatcher, SubproblemUnsolved
from dcprog.solvers.registry import capable
from dcprog.typing import Matrix, Vector


@dataclass(frozen=True)
class Check:
    """One statement, whether it held, and where it did not."""

    statement: str
    passed: bool
    detail: str = ""

    def __str__(self) -> str:
        return f"{'ok   ' if self.passed else 'FAIL '} {self.statement}{': ' + self.detail if self.detail else ''}"


@dataclass(frozen=True)
class Report:
    """The outcome of :func:`check_program`."""

    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check did."""
        return all(c.passed for c in self.checks)

    def raise_if_failed(self) -> None:
        """AssertionError with the checks that failed."""
        failed = [str(c) for c in self.checks if not c.passed]
        if failed:
            raise AssertionError("\n".join(failed))

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)


def check_program(program: DCProgram, *, x0: Any = None, samples: int = 24, seed: int = 0, tol: float = 1e-5) -> Report:
    """Check the contract of a DC program: convexity, (sub)gradients, descent, criticality of the limit, solver agreement.

    Convexity and subgradients are sampled at points of C; they can be refuted so, not proved. What is assumed is told.
    """
    points = feasible_points(program, samples, np.random.default_rng(seed), x0)
    c = program.compiled
    checks: list[Check] = []
    for letter, f in (("g", c.g), ("h", c.h)):
        checks.append(_convex(f, letter, points))
    checks.append(_no_witness(program, samples, seed))
    for letter, f in (("g", c.g), ("h", c.h)):
        checks.append(_subgradients(f, letter, points))
    for letter, f in (("g", c.g), ("h", c.h)):
        checks.append(_differences(f, letter, points, np.random.default_rng(seed)))
    checks += _walk(program, x0, tol)
    checks.append(_solvers_agree(program, points[0], tol))
    return Report(tuple(checks))


def feasible_points(program: DCProgram, count: int, rng: np.random.Generator, x0: Any = None) -> Matrix:
    """Points of C: the start, projections of random points, and random convex combinations of all of these."""
    c = program.compiled
    start = feasible_start(program, x0).x
    raw = sample_box(c.lower, c.upper, start, count, rng)
    if not c.feasible_set.is_box:
        corners = np.array([start, *(feasible_start(program, x).x for x in raw[: min(count, 8)])])
        raw = rng.dirichlet(np.full(len(corners), 0.5), size=count) @ corners
    return np.vstack([start, raw])


def assert_lockstep(
    a: Iterable[State], b: Iterable[State], *, tol: float = 1e-9, max_iter: int = 1000, objective_only: bool = False
) -> int:
    """Two algorithms produce the same iterates: Corollary 2 (SLA ≡ DCA) as an assertion. Returns how many they shared.

    Where one stops earlier, the other has to be at a critical point too: its next step gains nothing. ``objective_only``
    compares the objective values instead of the points.
    """
    shared = 0
    last: State | None = None
    for one, two in zip_longest(a, b):
        if one is None or two is None:
            later = one if two is None else two
            assert last is not None
            gain = last.level - later.level if later.gap is None else later.gap
            assert gain <= tol * (1.0 + abs(later.f)), (
                f"one algorithm stopped after iteration {last.iteration}, the other goes on and gains {gain:.3g}"
            )
            break
        difference = abs(one.f - two.f) if objective_only else float(np.abs(one.x - two.x).max(initial=0.0))
        scale = 1.0 + (abs(one.f) if objective_only else float(np.abs(one.x).max(initial=0.0)))
        assert difference <= tol * scale, (
            f"iterates differ by {difference:.3g} in iteration {one.iteration}: f = {one.f:.12g} and {two.f:.12g}"
        )
        shared, last = shared + 1, one
        if shared > max_iter:
            break
    return shared


class FrankWolfe:
    """The Frank–Wolfe method with unit step on the epigraph lift of a DC program,

        min {t − h(x) : (x, t) ∈ D},   D = {(x, t) : x ∈ C, g(x) ≤ t},   sᵏ ∈ argmin {⟨(−u, 1), s⟩ : s ∈ D},   u ∈ ∂h(xᵏ),

    (xᵏ⁺¹, tᵏ⁺¹) = (xᵏ, tᵏ) + (sᵏ − (xᵏ, tᵏ)). It is DCA by another name (Yurtsever & Sra 2022): a theorem, and
    :func:`assert_lockstep` says whether it holds. The lifted problem is given to a solver as such, a row where g is
    polyhedral and a convex constraint otherwise, so that nothing of DCA's subproblem is solved here.

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    >>> program = DCProgram(m, g=m.x**2, h=2 * m.x**2 + m.x)
    >>> assert_lockstep(DCA(program), FrankWolfe(program), tol=1e-6) > 1
    True
    """

    def __init__(self, program: DCProgram, *, x0: Any = None, tol: float = 1e-9, max_iter: int = 1000) -> None:
        self.program, self.x0, self.tol, self.max_iter = program, x0, tol, max_iter

    def __iter__(self) -> Iterator[State]:
        c = self.program.compiled
        solver = Dispatcher(_lifted(c.subproblem), own=c.n)
        x = feasible_start(self.program, self.x0).x
        z, t = c.lift(x), c.subproblem.value(c.lift(x), c.subproblem.c)
        yield State(iteration=0, x=x, **c.f.evaluate(x)._asdict())
        for iteration in range(1, self.max_iter + 1):
            direction = np.append(np.zeros(len(z)), 1.0)
            direction[: c.n] = -c.h.gradient(z[: c.n])
            here = np.append(z, t)
            s = solver.solve(direction, np.append(z, t + 1.0), feasible=True).z
            gap = float(direction @ (here - s))
            z, t = s[:-1], float(s[-1])
            values = c.f.evaluate(z[: c.n])
            yield State(iteration=iteration, x=z[: c.n], gap=gap, **values._asdict())
            if gap <= self.tol * values.size:
                return


def _lifted(p: ConvexProblem) -> ConvexProblem:
    """(z, t) with ½z'Qz + c'z + φ(z) ≤ t, and nothing to be minimised yet."""
    n = p.n
    epigraph = LinearTerm(np.arange(n + 1), np.append(p.c, -1.0))
    A, row_lower, row_upper = sp.csc_array(sp.hstack([p.A, sp.csc_array((p.m, 1))])), p.row_lower, p.row_upper
    curved = [*([] if p.Q is None else [QuadraticTerm(p.Q)]), *([] if p.smooth is None else p.smooth.terms)]
    constraints = [SmoothSum(psi.terms, n + 1) for psi in p.constraints]
    if curved:
        constraints.append(SmoothSum([epigraph, *curved], n + 1))
    else:
        A = sp.csc_array(sp.vstack([A, sp.csc_array(epigraph.coefficients[None, :])]))
        row_lower, row_upper = np.append(row_lower, -np.inf), np.append(row_upper, 0.0)
    return replace(
        p, c=np.zeros(n + 1), A=A, row_lower=row_lower, row_upper=row_upper, lower=np.append(p.lower, -np.inf),
        upper=np.append(p.upper, np.inf), Q=None, smooth=None, constraints=tuple(constraints),
    )  # fmt: skip


def _convex(f: SmoothSum, letter: str, points: Matrix) -> Check:
    violation = midpoint_violation(f.value, points)
    detail = (
        "" if violation is None else f"midpoint of {_short(violation[0])} and {_short(violation[1])}, by {violation[2]:.3g}"
    )
    return Check(f"{letter} is convex on C", violation is None, detail)


def _no_witness(program: DCProgram, samples: int, seed: int) -> Check:
    """Second derivatives and segments, as when the program was declared, but at other and more points."""
    statement = "no witness against convexity"
    points = Samples(program.compiled, 2 * SAMPLES + samples, seed + 1)
    try:
        assumed = (*check_set(points).assumptions, *check_functions(program.compiled, points).assumptions)
    except ConvexityError as error:
        return Check(statement, False, str(error))
    return Check(statement, True, "; ".join(assumed))


def _subgradients(f: SmoothSum, letter: str, points: Matrix) -> Check:
    """f(y) ≥ f(x) + ⟨u, y − x⟩."""
    statement = f"subgradients of {letter}"
    for x, y in zip(points, np.roll(points, 1, axis=0), strict=True):
        fx, fy, u = f.value(x), f.value(y), f.gradient(x)
        excess = fx + float(u @ (y - x)) - fy
        if not np.isfinite(u).all():
            return Check(statement, False, f"not finite at {_short(x)}")
        if excess > 1e-8 * (1.0 + abs(fx) + abs(fy) + float(np.abs(u) @ np.abs(y - x))):
            return Check(statement, False, f"f(y) < f(x) + ⟨u, y − x⟩ by {excess:.3g} at x = {_short(x)}, y = {_short(y)}")
    return Check(statement, True)


def _differences(f: SmoothSum, letter: str, points: Matrix, rng: np.random.Generator) -> Check:
    """Directional derivatives against central differences; at a kink the one-sided ones have to enclose it."""
    statement = f"gradient of {letter} against differences"
    for x in points[1:]:
        direction = rng.standard_normal(len(x)) / np.sqrt(len(x))
        t = 1e-6 * (1.0 + float(np.abs(x).max(initial=0.0)))
        middle, ahead, behind = f.value(x), f.value(x + t * direction), f.value(x - t * direction)
        if not np.isfinite([middle, ahead, behind]).all():
            continue
        right, left = (ahead - middle) / t, (middle - behind) / t
        slope = float(f.gradient(x) @ direction)
        slack = 1e-4 * (1.0 + abs(slope)) + 1e-9 * (1.0 + abs(middle)) / t
        if not min(left, right) - slack <= slope <= max(left, right) + slack:
            return Check(statement, False, f"slope {slope:.6g}, differences {left:.6g} and {right:.6g} at {_short(x)}")
    return Check(statement, True)


def _walk(program: DCProgram, x0: Any, tol: float) -> list[Check]:
    """Theorem 1 on one run of DCA."""
    result = run(DCA(program, x0=x0))
    f = np.array([record.f for record in result.history])
    rises = np.diff(f) - 1e-7 * (1.0 + np.abs(f[:-1])) if len(f) > 1 else np.empty(0)
    k = int(rises.argmax()) if rises.size else 0
    detail = f"by {rises[k]:.3g} in iteration {k + 1}" if rises.size and rises[k] > 0 else ""
    descent = Check("f decreases", result.status != "not_convex" and not detail, detail or "; ".join(result.messages[-1:]))
    if descent.passed:
        descent = Check("f decreases", True)
    try:
        gap = criticality(program, result.x)
    except DCProgError as error:
        return [descent, Check("the limit is critical", False, str(error))]
    fine = gap <= tol * (1.0 + abs(result.objective))
    return [descent, Check("the limit is critical", fine, "" if fine else f"gap {gap:.3g}, status {result.status}")]


def criticality(program: DCProgram, x: Vector) -> float:
    """The gap of criticality at x: 0 exactly if x solves its own subproblem; with DC constraints that is a KKT point."""
    if program.compiled.dc is not None:
        return kkt_gap(program, program.vector(x))
    algorithm = DCA(program, x0=x, stop=MaxIter(1))
    states = list(algorithm)
    return max(states[1].gap or 0.0, 0.0)


def _solvers_agree(program: DCProgram, x: Vector, tol: float) -> Check:
    """Every capable solver whose answer holds finds the same value of the subproblem at x."""
    c = program.compiled
    cost = c.cost(c.h.gradient(x))
    values: dict[str, float] = {}
    for solver in capable(c.subproblem):
        try:
            solution = Dispatcher(c.subproblem, solver.name).solve(cost, c.lift(x), feasible=True)
            values[solver.name] = c.subproblem.value(solution.z, cost) if not solution.escalations else np.nan
        except SubproblemUnsolved:
            values[solver.name] = np.nan
    finite = [v for v in values.values() if np.isfinite(v)]
    spread = max(finite) - min(finite) if finite else np.inf
    agree = spread <= tol * (1.0 + max(map(abs, finite), default=0.0))
    failed = [name for name, v in values.items() if not np.isfinite(v)]
    detail = f"no answer that holds by {', '.join(failed)}" if agree and failed else "" if agree else f"{values}"
    return Check("solvers agree", agree, detail)


def _short(x: Vector) -> str:
    shown = ", ".join(f"{v:.4g}" for v in x[:4])
    return f"({shown}{', …' if len(x) > 4 else ''})"

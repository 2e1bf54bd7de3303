"""What a DC program claims to be convex: g, h, the pieces of maxima in g, and the constraints.

Each claim is proved (quadratic forms, functions of this package, pieces that are linear, and by dcprog.program.curvature
what is written in Pyomo's expressions), refuted with a witness, or, where no witness was found, assumed: then it says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dcprog.convex.tape import TapeBatch
from dcprog.convex.terms import FunctionTerm, LinearTerm, QuadraticTerm, SmoothSum, SmoothTerm
from dcprog.errors import ConvexityError
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.program.compile import Compiled, oracle
from dcprog.program.curvature.compiled import Box, Implied, merged, prove
from dcprog.program.curvature.hessians import Effort
from dcprog.program.curvature.second_derivatives import SecondDerivatives
from dcprog.program.expressions import Parts
from dcprog.program.points import FEASIBLE, enter, inside_smooth, lift_all, points_of_c
from dcprog.program.refute import Witness, refute, short, thinned
from dcprog.typing import Mask, Matrix, Vector

SAMPLES = 96
FEW = 24
"""Points for each claim where there are many of them, or many variables."""
DENSE = 300
SECONDS, EVALUATIONS = 0.5, 20
"""Of a user's function that takes long so many seconds are spent, at about so many evaluations for each point."""
STEPS = (0.3, 0.1, 0.03, 1e-2, 1e-3)
PROOFS = 2.0
"""Seconds for the proofs of one model, or of one pair of functions."""
AS_DC = "state it as p(x) − q(x) ≤ 0 with p and q convex, by dcprog.DCConstraint"
BY_PARTS = "made of convex functions, forms without negative eigenvalues, and maxima of these"


@dataclass(frozen=True, eq=False)
class Claim:
    """That a sum of terms is convex on C. ``declared``: the user says so, of the set where it is ≤ 0."""

    name: str
    terms: tuple[SmoothTerm, ...]
    row: SmoothSum | None = None
    declared: bool = False


@dataclass(frozen=True)
class Finding:
    """What became of claims: sentences on what is assumed, sentences with proofs, and the bounds that these rest on beyond
    those that the variables have by themselves."""

    assumptions: tuple[str, ...] = ()
    proofs: tuple[str, ...] = ()
    implied: Implied = field(default_factory=dict)


def together(one: Finding, other: Finding) -> Finding:
    """What was found of both."""
    implied = merged((one.implied, other.implied))
    return Finding(one.assumptions + other.assumptions, one.proofs + other.proofs, implied)


class Samples:
    """Points of C, found when the first claim needs them."""

    def __init__(self, compiled: Compiled | Callable[[], Compiled], count: int = SAMPLES, seed: int = 0) -> None:
        self._compiled, self.count, self.seed = compiled, count, seed

    @cached_property
    def compiled(self) -> Compiled:
        """What C is that of; compiled when it is first asked for, since most claims are proved without a point."""
        return self._compiled() if callable(self._compiled) else self._compiled

    def at_most(self, count: int) -> Samples:
        """The same, of no more than ``count`` points."""
        return Samples(self._compiled, min(count, self.count), self.seed)

    @cached_property
    def inside(self) -> Matrix:
        """Points of C."""
        return points_of_c(self.compiled, self.count, seed=self.seed)

    @cached_property
    def around(self) -> Matrix:
        """Points that satisfy the bounds and linear rows."""
        return points_of_c(self.compiled, self.count, without_smooth=True, seed=self.seed)

    @property
    def box(self) -> tuple[Vector, Vector] | None:
        """The bounds, if C has nothing else."""
        c = self.compiled
        return (c.lower, c.upper) if c.feasible_set.is_box else None

    @cached_property
    def hull(self) -> Matrix | None:
        """A basis of the directions in C, if it has equations or fixed bounds; None if it has all directions."""
        c = self.compiled
        A = sp.csr_array(c.feasible_set.A)[np.flatnonzero(c.feasible_set.equality)][:, : c.n].toarray()
        fixed = np.eye(c.n)[c.lower == c.upper] if c.n <= DENSE else np.empty((0, c.n))
        equations = np.vstack([A, fixed])
        if not len(equations) or c.n > DENSE:
            return None
        _, values, directions = np.linalg.svd(equations / np.linalg.norm(equations, axis=1, keepdims=True))
        rank = int((values > 1e-10).sum())
        hull: Matrix = directions[rank:].T
        return hull


def check_functions(compiled: Compiled, points: Samples) -> Finding:
    """What is proved and assumed of g and h; raises a ConvexityError with a witness against a claim that does not hold.

    The points are of the same C, be it with other functions.
    """
    return check_claims(list(_claims_on_functions(compiled)), points, compiled)


def check_set(points: Samples) -> Finding:
    """The same of the constraints."""
    return check_claims(list(_claims_on_rows(points.compiled, of_g=False)), points, points.compiled)


def check_claims(claims: Sequence[Claim], points: Samples, compiled: Compiled) -> Finding:
    """What is proved and assumed of the claims; raises a ConvexityError with a witness against one that does not hold."""
    if not claims:
        return Finding()
    if len(claims) > 2 * FEW or compiled.n > 10 * DENSE:
        points = points.at_most(FEW)
    box, effort = Box.of(compiled.subproblem, compiled.variables), Effort(PROOFS)
    findings = [_check(claim, points, box, effort) for claim in claims]
    return Finding(
        tuple(dict.fromkeys(a for f in findings for a in f.assumptions)),
        tuple(dict.fromkeys(p for f in findings for p in f.proofs)),
        merged(f.implied for f in findings),
    )


def _claims_on_functions(compiled: Compiled) -> Iterator[Claim]:
    problem = compiled.subproblem
    Q = [] if problem.Q is None else [QuadraticTerm(problem.Q)]
    if Q and Q[0].support[-1] >= compiled.n and not _is_proved(Q[0]):
        own = sp.csc_array(sp.csr_array(problem.Q)[: compiled.n])[:, : compiled.n]
        Q = [QuadraticTerm(sp.csc_array((own.data, own.indices, own.indptr), shape=own.shape))]
    yield Claim("g", (*Q, *(() if problem.smooth is None else problem.smooth.terms)))
    for bound in compiled.g_parts.functions:
        if not (bound.function.proved_convex or bound.function.smooth):
            yield Claim(f"{bound.function!r} in g", (FunctionTerm(bound.function, bound.indices, bound.weight),))
    yield from _claims_on_rows(compiled, of_g=True)
    yield Claim("h", curved_terms(compiled.h_parts))


def _claims_on_rows(compiled: Compiled, *, of_g: bool) -> Iterator[Claim]:
    """The smooth rows that came from kinks of g, or those of C."""
    own = len(compiled.feasible_set.constraints)
    rows = list(zip(compiled.subproblem.constraints, compiled.lifted_set.origins, strict=True))
    for row, (name, declared) in rows[own:] if of_g else rows[:own]:
        terms = tuple(t for t in row.terms if not isinstance(t, LinearTerm))
        if declared or any(not isinstance(t, QuadraticTerm) for t in terms):  # other quadratic rows were checked before
            yield Claim(name, terms, row, declared)


def curved_terms(parts: Parts) -> tuple[SmoothTerm, ...]:
    """The oracle of an expression without its linear part."""
    return tuple(t for t in oracle(parts).terms if not isinstance(t, LinearTerm))


def _check(claim: Claim, points: Samples, box: Box, effort: Effort) -> Finding:
    own = [t for t in claim.terms if _is_own(t, points.compiled.n)]
    open_terms = [t for t in own if not _is_proved(t)]
    if not open_terms:
        return Finding(proofs=(f"{claim.name} is convex: {BY_PARTS}",) if claim.terms else ())
    n, names = points.compiled.n, box.names
    if claim.declared and claim.row is not None and claim.row.support.max(initial=0) < n:
        return _proved(claim, own, open_terms, box) or Finding((_check_set(claim, points),))
    if all(isinstance(t, QuadraticTerm) for t in open_terms) and not any(map(_bends, claim.terms)):
        raise ConvexityError(f"the quadratic part of {claim.name} has a negative eigenvalue, so {claim.name} is not convex")
    proved = _proved(claim, own, open_terms, box)
    if proved is not None:
        return proved
    inside = _affordable(points.inside, open_terms)
    witness = refute(SecondDerivatives(open_terms, n, names), inside, points.box, points.hull)
    if witness is not None and len(open_terms) < len(own):  # terms that are convex may make up for it
        witness = refute(SecondDerivatives(own, n, names), inside, points.box, points.hull)
    if witness is not None:
        remedy = "" if not _is_stated_row(claim) else f"; {AS_DC}"
        raise ConvexityError(f"{claim.name} is not convex: {witness}{remedy}")
    proved = _proved(claim, own, open_terms, box, effort)
    if proved is not None:
        return proved
    if _is_stated_row(claim):
        name = claim.name.removeprefix("constraint ")
        raise ConvexityError(
            f"{claim.name} is neither linear nor convex quadratic, and no proof was found that it is convex: if you know "
            f"that it is, declare it with DCProgram(…, assume_convex=[m.{name}]); if it is not, {AS_DC}"
        )
    return Finding((f"{claim.name} is convex: {_how_often(inside)}",))


def _proved(
    claim: Claim, own: Sequence[SmoothTerm], open_terms: Sequence[SmoothTerm], box: Box, effort: Effort | None = None
) -> Finding | None:
    """A proof for the terms that are open, or for all together, which may make up for one another; by rules, and where an
    ``effort`` is given by second derivatives, which take longer than points that refute."""
    found = prove(open_terms, box, effort)
    if found is None and len(open_terms) < len(own):
        found = prove(own, box, effort)
    return None if found is None else Finding((), (f"{claim.name} is convex: {found.text}",), found.implied)


def _affordable(points: Matrix, terms: Sequence[SmoothTerm]) -> Matrix:
    """The points, fewer of them where a user's function takes long."""
    foreign = [t for t in terms if isinstance(t, FunctionTerm)]
    if not foreign or not len(points):
        return points
    f = SecondDerivatives(foreign, points.shape[1])
    seconds = min(_seconds(f, points[:1]) for _ in range(3))
    return thinned(points, max(4, int(SECONDS / (EVALUATIONS * seconds))))


def _seconds(f: SecondDerivatives, points: Matrix) -> float:
    """For the values at ``points``. The least of several says it, since a busy machine must not thin the samples."""
    began = time.perf_counter()
    f.values(points)
    return time.perf_counter() - began


def _bends(term: SmoothTerm) -> bool:
    """Whether it may make up for what a quadratic form lacks in convexity: it is curved itself."""
    return not isinstance(term, QuadraticTerm) and not (isinstance(term, TapeBatch) and term.is_polyhedral)


def _is_stated_row(claim: Claim) -> bool:
    """Whether it is a constraint of the model of which the user says nothing."""
    return claim.row is not None and claim.name.startswith("constraint") and not claim.declared


def _how_often(points: Matrix) -> str:
    return f"sampled at {len(points)} points of C, not proved" if len(points) else "no point of C was found to sample it at"


def _is_own(term: SmoothTerm, n: int) -> bool:
    """Whether it knows no epigraph variable: those that do are convex by the rules that made them, or by their Q."""
    return int(term.support.max(initial=-1)) < n


def _is_proved(term: SmoothTerm) -> bool:
    """Whether the term is convex by proof: a function of ours, a form without negative eigenvalues, a kink of such."""
    if isinstance(term, FunctionTerm):
        return term.function.proved_convex
    if isinstance(term, QuadraticTerm):
        return is_positive_semidefinite(term.matrix)
    return isinstance(term, TapeBatch) and term.is_convex


# Constraints that the user declares convex: it is the set that counts


def _check_set(claim: Claim, points: Samples) -> str:
    assert claim.row is not None
    witness = _outside_between(claim, points) or _boundary_bends_in(claim, points)
    if witness is not None:
        raise ConvexityError(f"{claim.name} was declared convex, but is not: {witness}")
    return f"{claim.name} is convex: declared; {_how_often(points.inside)}"


def _outside_between(claim: Claim, points: Samples) -> Witness | None:
    """Two points of C with one between them that violates the constraint."""
    inside = points.around[inside_smooth(points.compiled, points.around)]
    others = inside[np.random.default_rng(2).permutation(len(inside))]
    for part in (0.5, 0.25, 0.75):
        between = inside + part * (others - inside)
        for i in np.flatnonzero(_violated(claim, between)):
            return _not_between(inside[i], others[i], between[i])
    return None


def _boundary_bends_in(claim: Claim, points: Samples) -> Witness | None:
    """Where C ends at this constraint: does its boundary bend inwards along a direction of the boundary?"""
    compiled = points.compiled
    inside = inside_smooth(compiled, points.around)
    known, beyond = points.around[inside], points.around[~inside]
    known = known if len(known) else points.inside
    if not len(known) or compiled.n > DENSE:
        return None
    beyond = beyond[:: -(-len(beyond) // FEW) or 1]
    ends, after = enter(compiled, known[np.resize(np.arange(len(known)), len(beyond))], beyond)
    for x in ends[_violated(claim, after, 0.0)]:
        witness = _bends_in(claim, points, x)
        if witness is not None:
            return witness
    return None


def _bends_in(claim: Claim, points: Samples, x: Vector) -> Witness | None:
    compiled = points.compiled
    curvature = SecondDerivatives(claim.terms, compiled.n)
    gradient = claim.row.gradient(compiled.lift(x))[: compiled.n] if claim.row is not None else np.zeros(compiled.n)
    length = float(np.linalg.norm(gradient))
    if not curvature.curved or not curvature.complete or not np.isfinite(length) or length == 0.0:
        return None
    H = curvature.hessian(x)
    if not np.isfinite(H).all():
        return None
    normal = gradient / length
    basis = np.linalg.svd(normal[None])[2][1:].T  # the directions of the boundary
    eigenvalues, vectors = np.linalg.eigh(basis.T @ H @ basis)
    if not len(eigenvalues) or eigenvalues[0] >= -1e-9 * np.abs(H).max():
        return None
    d = basis @ vectors[:, 0]
    room = float(np.linalg.norm(points.around.max(axis=0) - points.around.min(axis=0))) or 1.0
    for step in room * np.array(STEPS):
        beyond = x + normal * (-0.25 * eigenvalues[0] * step**2 / length)
        ends = np.array([beyond - step * d, beyond + step * d])
        if _in_c(points, ends) and _violated(claim, beyond[None])[0]:
            return _not_between(ends[0], ends[1], beyond)
    return None


def _not_between(a: Vector, b: Vector, middle: Vector) -> Witness:
    return Witness(middle, f"{short(a)} and {short(b)} satisfy it, {short(middle)} between them does not")


def _violated(claim: Claim, points: Matrix, tol: float = FEASIBLE) -> Mask:
    """Which points violate the constraint, beyond ``tol`` of the sizes of its terms."""
    assert claim.row is not None
    with np.errstate(all="ignore"):
        values = [SmoothSum([t], claim.row.n).values(points) for t in claim.row.terms]
        violated: Mask = np.sum(values, axis=0) > tol * (1.0 + np.sum(np.abs(values), axis=0))
    return violated


def _in_c(points: Samples, ends: Matrix) -> bool:
    C = points.compiled.feasible_set
    lifted = lift_all(points.compiled, ends)
    activity = (C.A @ lifted.T).T
    rows = ((activity >= C.row_lower) & (activity <= C.row_upper)).all() if C.m else True
    bounds = ((lifted >= C.lower) & (lifted <= C.upper)).all()
    with np.errstate(all="ignore"):
        return bool(rows and bounds) and all(bool((psi.values(lifted) <= 0).all()) for psi in C.constraints)

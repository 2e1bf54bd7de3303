"""Convexity by second derivatives in interval arithmetic: on the whole box, then on the pieces of a subdivision.

A symmetric matrix with entries between bounds is positive semidefinite if its midpoint is after Σⱼ radiusᵢⱼ tⱼ/tᵢ was taken
off the diagonal, for any t > 0 (Gershgorin's discs of the difference, scaled); here t makes the diagonal 1. A function that
is twice differentiable inside of a box and has such a Hessian on each piece of it is convex on the box.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.program.curvature import polynomials
from dcprog.program.curvature.intervals import Interval, magnitude
from dcprog.program.curvature.nodes import Graph, Node, support
from dcprog.program.curvature.programs import (
    Compiled,
    Term,
    compile_in_forms,
    compile_in_variables,
    evaluate,
    grouped,
    stacked,
)
from dcprog.typing import Indices, Mask, Matrix, Vector

DENSE = 12
"""Up to so many variables a block is subdivided, and its Hessian is one dense matrix."""
WIDEST = 40
"""Terms of more variables are not differentiated."""
BOXES = 4000
"""Pieces of one block, at most; fewer where its Hessian is large."""
ROUNDS = 14
MARGIN = 1e-12


class Effort:
    """How long the search for a proof may take."""

    def __init__(self, seconds: float) -> None:
        self._end = time.perf_counter() + seconds

    @property
    def spent(self) -> bool:
        """Whether the time is up."""
        return time.perf_counter() > self._end


def blocks(terms: Sequence[Term]) -> list[list[Term]]:
    """The terms, those that are connected by common variables together."""
    pairs = [(k, i) for k, (_, node) in enumerate(terms) for i in support(node)]
    if not pairs:
        return [list(terms)] if terms else []
    row, variable = np.array(pairs, dtype=np.int64).T
    _, place = np.unique(variable, return_inverse=True)
    size = len(terms) + int(place.max()) + 1
    graph = sp.coo_array((np.ones(len(row)), (row, len(terms) + place)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    found: dict[int, list[Term]] = {}
    for label, term in zip(labels[: len(terms)].tolist(), terms, strict=True):
        found.setdefault(label, []).append(term)
    return list(found.values())


def prove(graph: Graph, sums: Sequence[Sequence[Term]], effort: Effort) -> list[str]:
    """For each sum of terms the rule by which it is convex, or '' where none was found."""
    rules = [""] * len(sums)
    _dense(graph, sums, rules, effort, compile_in_forms)
    _dense(graph, sums, rules, effort, compile_in_variables)
    for k, terms in enumerate(sums):
        if not rules[k] and not effort.spent:
            rules[k] = _polynomial(graph, terms)
        if not rules[k] and not effort.spent and _wide(graph, terms):
            rules[k] = "its second derivatives, bounded by interval arithmetic, are positive semidefinite"
    return rules


def _polynomial(graph: Graph, terms: Sequence[Term]) -> str:
    """Polynomials of one variable, or one linear form, exactly."""
    for compile_ in (compile_in_forms, compile_in_variables):
        made = compile_(graph, terms) if len(terms) <= 60 else None
        if made is not None and len(made.forms) == 1:
            form = made.forms[0]
            p = polynomials.expanded(terms, form)
            if p is not None and polynomials.is_nonnegative(polynomials.second_derivative(p), form.lower, form.upper):
                return "its second derivative, a polynomial, has no change of sign (Sturm's theorem)"
    return ""


# Blocks of few variables


def _dense(graph: Graph, sums: Sequence[Sequence[Term]], rules: list[str], effort: Effort, compile_: object) -> None:
    made = []
    for k, terms in enumerate(sums):
        if rules[k] or effort.spent:
            continue
        compiled: Compiled | None = compile_(graph, terms)  # type: ignore[operator]
        if compiled is not None and len(compiled.forms) <= DENSE:
            made.append((k, compiled))
    for group in grouped([c.program for _, c in made]):
        chosen = [made[g] for g in group]
        pieces = subdivided([c for _, c in chosen], effort)
        for (k, _), count in zip(chosen, pieces, strict=True):
            if count:
                where = "" if count == 1 else f" on each of {count} pieces of the box"
                rules[k] = f"its Hessian, bounded by interval arithmetic, is positive semidefinite{where}"


def subdivided(chosen: Sequence[Compiled], effort: Effort) -> list[int]:
    """For programs of one signature the number of pieces on each of which the Hessian is semidefinite; 0 without a proof."""
    program, constants = chosen[0].program, stacked([c.program for c in chosen])
    whole = Interval(*(np.array([[getattr(f, end) for f in c.forms] for c in chosen]).T for end in ("lower", "upper")))
    k, count = whole.lower.shape
    limit = max(8, BOXES // k**2)
    owner, box = np.arange(count), whole
    failed, pieces = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    for again in range(ROUNDS):
        hessian = interval_hessians(program, constants[:, owner], box)
        if hessian is None:
            return [1] * count
        good = semidefinite(hessian)
        np.add.at(pieces, owner, good)
        left = ~good & ~failed[owner]
        owner, box = owner[left], box.at((slice(None), left))
        if not len(owner):
            break
        failed[owner[_bends_down(program, constants[:, owner], box)]] = True
        many = np.bincount(owner, minlength=count) + pieces > limit
        failed |= many | (again == ROUNDS - 1) | effort.spent | (len(owner) > 20 * BOXES)
        left = ~failed[owner]
        owner, box = owner[left], box.at((slice(None), left))
        if not len(owner):
            break
        owner, box = _halved(owner, box, whole)
    return [0 if lost else int(count) for lost, count in zip(failed, pieces, strict=True)]


def interval_hessians(program: object, constants: Vector, box: Interval) -> Interval | None:
    """(boxes, k, k)."""
    jet = evaluate(program, constants, box)  # type: ignore[arg-type]
    if jet.hessian is None:
        return None
    count = box.lower.shape[1]
    lower, upper = (np.broadcast_to(h, (*h.shape[:2], count)).transpose(2, 0, 1) for h in jet.hessian)
    return Interval(np.maximum(lower, lower.transpose(0, 2, 1)), np.minimum(upper, upper.transpose(0, 2, 1)))


def hessians_at(chosen: Sequence[Compiled], local: Matrix) -> Matrix:
    """For programs of one signature their Hessians at points, (programs, points, variables): floats, and NaN where there is
    none."""
    blocks_, count, k = local.shape
    constants = np.repeat(stacked([c.program for c in chosen]), count, axis=1)
    flat = local.reshape(-1, k).T
    found = interval_hessians(chosen[0].program, constants, Interval(flat, flat))
    if found is None:
        return np.zeros((blocks_, count, k, k))
    with np.errstate(all="ignore"):
        middle: Matrix = (0.5 * (found.lower + found.upper)).reshape(blocks_, count, k, k)
    return middle


def _bends_down(program: object, constants: Vector, box: Interval) -> Mask:
    """Whether the Hessian in the middle of the box has an eigenvalue that is clearly negative: no use to go on."""
    middle = _cuts(box)
    at = interval_hessians(program, constants, Interval(middle, middle))
    assert at is not None
    with np.errstate(all="ignore"):
        H = 0.5 * (at.lower + at.upper)
    finite = np.all(np.isfinite(H), axis=(1, 2))
    H = np.where(finite[:, None, None], H, 0.0)
    clearly: Mask = finite & (np.linalg.eigvalsh(H)[:, 0] < -1e-6 * np.abs(H).max(axis=(1, 2), initial=0.0))
    return clearly


def _cuts(box: Interval) -> Matrix:
    """Where to halve: the middle, and 0, then twice as far out and more, where there is no end."""
    with np.errstate(all="ignore"):
        low, high = box
        middle = np.where(low * high > 0, 0.5 * low + 0.5 * high, 0.5 * (low + high))
        beyond = np.where(np.isfinite(low), np.maximum(1.0, 4 * np.abs(low)) + np.maximum(low, -np.abs(low)), 0.0)
        before = np.where(np.isfinite(high), np.minimum(high, np.abs(high)) - np.maximum(1.0, 4 * np.abs(high)), 0.0)
        cut = np.where(np.isinf(high), np.where(np.isinf(low), 0.0, beyond), np.where(np.isinf(low), before, middle))
    return np.clip(cut, low, high)


def _halved(owner: Indices, box: Interval, whole: Interval) -> tuple[Indices, Interval]:
    """The boxes cut in two, each along the side that is longest beside that of the whole box."""
    cut = _cuts(box)
    with np.errstate(all="ignore"):
        full = np.minimum(whole.upper - whole.lower, 1e3)[:, owner]
        width = np.where(np.isfinite(box.upper - box.lower), (box.upper - box.lower) / np.where(full > 0, full, 1.0), np.inf)
    side = np.argmax(width, axis=0)
    column = np.arange(len(owner))
    first, second = box.upper.copy(), box.lower.copy()
    first[side, column] = second[side, column] = cut[side, column]
    return np.concatenate([owner, owner]), Interval(np.hstack([box.lower, second]), np.hstack([first, box.upper]))


def semidefinite(hessian: Interval) -> Mask:
    """Which of the interval matrices, (count, k, k), hold positive semidefinite ones only.

    >>> semidefinite(Interval(np.array([[[2.0, -1], [-1, 2]]]), np.array([[[3.0, 1], [1, 3]]])))
    array([ True])
    """
    lower, upper = hessian
    k = lower.shape[1]
    diagonal, size, inner = np.einsum("bii->bi", lower), magnitude(hessian), np.eye(k, dtype=bool)
    if k == 1:
        return np.asarray(diagonal[:, 0] >= 0)
    with np.errstate(all="ignore"):
        others = np.where(inner, 0.0, size).sum(axis=2)
        exact = np.where(others == 0, diagonal >= 0, diagonal >= others * (1 + 1e-14 * k)).all(axis=1)
        centre, radius = 0.5 * (lower + upper), 0.5 * (upper - lower)
        flat = (size == 0).all(axis=2)
        t = np.where(flat, 1.0, np.einsum("bii->bi", centre)) ** -0.5
        usable = np.all(np.isfinite(t), axis=1) & np.all(np.isfinite(centre) & np.isfinite(radius), axis=(1, 2))
        t = np.where(usable[:, None], t, 1.0)
        scale = t[:, :, None] * t[:, None, :]
        centre, radius = (np.where(usable[:, None, None], m, 0.0) * scale for m in (centre, radius))
    discs = centre - np.eye(k) * (radius.sum(axis=2) * (1 + 1e-14 * k))[:, :, None] + np.eye(k) * flat[:, :, None]
    result: Mask = exact | (usable & (np.linalg.eigvalsh(discs)[:, 0] > MARGIN * k))
    return result


# Blocks of many variables


def _wide(graph: Graph, terms: Sequence[Term]) -> bool:
    """A sum of terms of few variables each: their Hessians on the whole box, added up as a sparse interval matrix."""
    compiled = [compile_in_variables(graph, [t]) for t in terms]
    if any(c is None or len(c.forms) > WIDEST for c in compiled):
        return False
    usable = [c for c in compiled if c is not None]
    entries: list[tuple[Indices, Indices, Vector, Vector]] = []
    for group in grouped([c.program for c in usable]):
        chosen = [usable[g] for g in group]
        whole = Interval(*(np.array([[getattr(f, end) for f in c.forms] for c in chosen]).T for end in ("lower", "upper")))
        hessian = interval_hessians(chosen[0].program, stacked([c.program for c in chosen]), whole)
        if hessian is not None:
            where = np.array([[_variable(f) for f in c.forms] for c in chosen])
            rows = np.broadcast_to(where[:, :, None], hessian.lower.shape)
            cols = np.broadcast_to(where[:, None, :], hessian.lower.shape)
            entries.append((rows.ravel(), cols.ravel(), hessian.lower.ravel(), hessian.upper.ravel()))
    return not entries or _discs_definite(*(np.concatenate([e[k] for e in entries]) for k in range(4)))


def _variable(form: Node) -> int:
    return form.coefficients[0][0]


def _discs_definite(rows: Indices, cols: Indices, lower: Vector, upper: Vector) -> bool:
    """The test of :func:`semidefinite` for one sparse matrix, whose entries are sums."""
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        return False
    variables, places = np.unique(np.concatenate([rows, cols]), return_inverse=True)
    n, i, j = len(variables), places[: len(rows)], places[len(rows) :]
    rounding = 1e-14 * np.maximum(np.abs(lower), np.abs(upper))  # more than the sums below may lose
    matrix = {
        name: sp.csr_array(sp.coo_array((v, (i, j)), shape=(n, n)))
        for name, v in (("centre", 0.5 * (lower + upper)), ("radius", 0.5 * (upper - lower) + rounding))
    }
    centre, radius = matrix["centre"], matrix["radius"]
    diagonal = centre.diagonal()
    flat = (abs(centre).sum(axis=1) + radius.sum(axis=1)) == 0
    if (diagonal[~flat] <= 0).any():
        return False
    t = sp.diags_array(np.where(flat, 1.0, diagonal) ** -0.5)
    centre, radius = t @ centre @ t, t @ radius @ t
    discs = sp.csr_array(
        centre - sp.diags_array(np.asarray(radius.sum(axis=1)).ravel() * (1 + 1e-12) + np.where(flat, 0.0, 1e-9))
    )
    discs = discs + sp.diags_array(np.where(flat, 1.0, 0.0))
    return is_positive_semidefinite(sp.csc_array(0.5 * (discs + discs.T)), tol=1e-13)

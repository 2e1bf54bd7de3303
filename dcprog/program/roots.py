"""Roots of sums of squares, √(Σ (aᵢ'x + bᵢ)² + d) with d ≥ 0, recognised as the norms that they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyomo.core.expr.numeric_expr as px
import scipy.sparse as sp
from pyomo.core.expr.numvalue import is_potentially_variable

from dcprog.functions.affine import of_affine
from dcprog.functions.base import ConvexFunction
from dcprog.functions.norms import GroupNorm, Norm2
from dcprog.functions.polyhedral import L1Norm
from dcprog.program.constants import constant
from dcprog.program.polynomial import Polynomial
from dcprog.typing import Indices, Sparse, Vector

LARGEST = 60
"""Variables of a quadratic form that is not written as squares, up to which its eigenvalues are taken."""
ROUNDING = 1e-13
FEW = 16
"""So many smooth roots become functions; more of them, each of few variables, are evaluated faster as tapes."""
NORM, ABSOLUTE = Norm2(), L1Norm()
"""One object each, so that the same norm in g and h can be told to be the same."""


class Root(NamedTuple):
    """weight · ‖(forms, √d)‖ for d ≥ 0; ``node`` is the expression."""

    weight: float
    forms: list[Polynomial]
    d: float
    node: Any


def radicand(node: Any) -> Any:
    """a of √a or a^½, None of anything else."""
    if type(node) is px.UnaryFunctionExpression and node.getname() == "sqrt":
        return node.arg(0)
    if type(node) is px.PowExpression and not is_potentially_variable(node.arg(1)) and constant(node.arg(1)) == 0.5:
        return node.arg(0)
    return None


def squares(expression: Any, affine: Callable[[Any], Polynomial | None]) -> tuple[list[Polynomial], float] | None:
    """Linear forms and d ≥ 0 whose squares add up to the expression, if it is written as such a sum."""
    forms: list[Polynomial] = []
    d, stack = 0.0, [(expression, 1.0)]
    while stack:
        node, factor = stack.pop()
        kind = type(node)
        if not is_potentially_variable(node):
            d += factor * constant(node)
        elif kind in (px.SumExpression, px.LinearExpression):
            stack.extend((term, factor) for term in reversed(node.args))
        elif not node.is_variable_type() and node.is_named_expression_type():
            stack.append((node.arg(0), factor))
        elif kind is px.ProductExpression and not is_potentially_variable(node.arg(0)):
            stack.append((node.arg(1), factor * constant(node.arg(0))))
        elif kind is px.DivisionExpression and not is_potentially_variable(node.arg(1)):
            stack.append((node.arg(0), factor / constant(node.arg(1))))
        else:
            form = affine(_base(node)) if _base(node) is not None and factor > 0 else None
            if form is None:
                return None
            forms.append(_scaled(form, float(np.sqrt(factor))))
    return (forms, d) if d >= 0 else None


def completed_squares(form: Polynomial) -> tuple[list[Polynomial], float] | None:
    """The same of a quadratic polynomial: x'Px + 2q'x + c = ‖F(x + P⁺q)‖² + (c − q'P⁺q) with P = F'F, q in its range."""
    names = sorted({i for pair in form.quadratic for i in pair} | set(form.linear))
    if not form.quadratic or len(names) > LARGEST:
        return None
    at = {name: k for k, name in enumerate(names)}
    P, q = np.zeros((len(names),) * 2), np.zeros(len(names))
    for (i, j), v in form.quadratic.items():
        P[at[i], at[j]] += 0.5 * v
        P[at[j], at[i]] += 0.5 * v
    for i, v in form.linear.items():
        q[at[i]] = 0.5 * v
    values, vectors = np.linalg.eigh(P)
    used = values > ROUNDING * len(names) * values[-1]
    if values[0] < -ROUNDING * len(names) * abs(values[-1]) or not used.any():
        return None
    F = np.sqrt(values[used])[:, None] * vectors[:, used].T
    shift = (vectors[:, used].T @ q) / np.sqrt(values[used])
    outside, rest = q - F.T @ shift, form.constant - float(shift @ shift)
    size = abs(form.constant) + float(shift @ shift)
    if np.abs(outside).max() > ROUNDING * len(names) * np.abs(q).max(initial=0.0) or rest < -ROUNDING * size:
        return None
    forms = [Polynomial(float(s), dict(zip(names, row.tolist(), strict=True)), {}) for row, s in zip(F, shift, strict=True)]
    return forms, rest if rest > ROUNDING * size else 0.0


def as_functions(roots: Sequence[Root]) -> tuple[list[tuple[float, ConvexFunction, Indices]], list[Root]]:
    """Roots that are 0 somewhere as one sum of norms, others as norms of their own; and those that had better be tapes."""
    kinked, smooth = [r for r in roots if r.d == 0], [r for r in roots if r.d > 0]
    wide = [r for r in smooth if len(_names([r])) > FEW]
    few = smooth if len(smooth) <= FEW else wide
    made = [_norm([r]) for r in (kinked if len(kinked) == 1 else []) + few]
    if len(kinked) > 1:
        made.append(_norm(kinked))
    return made, [r for r in smooth if not any(r is f for f in few)]


def _norm(roots: Sequence[Root]) -> tuple[float, ConvexFunction, Indices]:
    """Σ weight · ‖forms‖, with its variables; √a² is |a|."""
    names = _names(roots)
    rows = [f for r in roots for f in [*r.forms, *([Polynomial(float(np.sqrt(r.d)), {}, {})] if r.d > 0 else [])]]
    A, b = _matrix(rows, names)
    if len(roots) == 1:
        return roots[0].weight, of_affine(NORM if len(rows) > 1 else ABSOLUTE, A, b), names
    sizes, largest = tuple(len(r.forms) + (r.d > 0) for r in roots), max(r.weight for r in roots)
    return largest, of_affine(_grouped(sizes, tuple(r.weight / largest for r in roots)), A, b), names


@lru_cache(maxsize=64)
def _grouped(sizes: tuple[int, ...], weights: tuple[float, ...]) -> GroupNorm:
    ends = np.cumsum([0, *sizes])
    return GroupNorm([range(lo, hi) for lo, hi in pairwise(ends)], weights)


def _names(roots: Sequence[Root]) -> Indices:
    return np.array(sorted({i for r in roots for form in r.forms for i in form.linear}), dtype=np.int64)


def _matrix(forms: Sequence[Polynomial], names: Indices) -> tuple[Sparse, Vector]:
    rows = np.repeat(np.arange(len(forms)), [len(form.linear) for form in forms])
    columns = np.searchsorted(names, [i for form in forms for i in form.linear])
    data = [c for form in forms for c in form.linear.values()]
    A = sp.csr_array((data, (rows, columns)), shape=(len(forms), len(names)))
    return A, np.array([form.constant for form in forms])


def _base(node: Any) -> Any:
    """a of a² or a·a."""
    if type(node) is px.PowExpression and not is_potentially_variable(node.arg(1)) and constant(node.arg(1)) == 2.0:
        return node.arg(0)
    if type(node) is px.ProductExpression and node.arg(0) is node.arg(1):
        return node.arg(0)
    return None


def _scaled(form: Polynomial, factor: float) -> Polynomial:
    return Polynomial(factor * form.constant, {i: factor * c for i, c in form.linear.items()}, {})

"""Which convex problems are a smooth loss plus kinks: what is where in them, and multipliers of the rows that state a kink.

    min  φ(x) + c'x + Σₖ γₖtₖ   subject to   tₖ ≥ rise·x[j(k)],  tₖ ≥ −fall·x[j(k)],  lower ≤ x ≤ upper

with tₖ of no other use is min φ(x) + Σ κⱼ(xⱼ), where κⱼ has the slopes cⱼ − Σ γₖ fallₖ to the left of 0 and cⱼ + Σ γₖ riseₖ to the
right. ‖x‖₁ with weights compiles to such rows.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm
from dcprog.functions.affine import OfAffine
from dcprog.solvers.reductions.l1_smooth import AffineLoss, QuadraticForm
from dcprog.solvers.reductions.sign_search import Kinks
from dcprog.typing import Indices, Sparse, Vector

NO_KINKS = "it takes rows tₖ ≥ ±a·xⱼ, with a tₖ of no other use, and this problem has other ones"


class Envelopes(NamedTuple):
    """The tₖ, one above two rays of one variable each."""

    t: Indices
    x: Indices
    """Of each its variable, as a component of z."""
    above: Indices
    """The row tₖ ≥ rise·x."""
    below: Indices
    rise: Vector
    fall: Vector
    scale_above: Vector
    """The coefficient of tₖ in its row stated as … ≥ 0, with the sign of what the problem states."""
    scale_below: Vector


class L1Form(NamedTuple):
    """A problem of this kind: the x among the components of z, and the envelopes."""

    x: Indices
    loss: FunctionTerm | None
    """φ, or None where it is the problem's ½z'Qz alone."""
    envelopes: Envelopes

    def smooth(self, problem: ConvexProblem) -> AffineLoss | QuadraticForm:
        """φ as a function of x."""
        if self.loss is None:
            assert problem.Q is not None
            return QuadraticForm(sp.csc_array(problem.Q)[self.x][:, self.x])
        d = np.zeros(problem.n) if problem.Q is None else problem.Q.diagonal()
        assert isinstance(self.loss.function, OfAffine)
        return AffineLoss(self.loss.function, self.loss.weight, d[self.x])

    def kinks(self, problem: ConvexProblem, c: Vector) -> Kinks:
        """The κⱼ of the x."""
        e = self.envelopes
        gamma = c[e.t]
        left = c - np.bincount(e.x, gamma * e.fall, problem.n)
        right = c + np.bincount(e.x, gamma * e.rise, problem.n)
        return Kinks(left[self.x], right[self.x], problem.lower[self.x], problem.upper[self.x])

    def lifted(self, problem: ConvexProblem, x: Vector) -> Vector:
        """z with the tₖ on their rays."""
        e, z = self.envelopes, np.zeros(problem.n)
        z[self.x] = x
        z[e.t] = np.maximum(e.rise * z[e.x], -e.fall * z[e.x])
        return z

    def row_duals(self, problem: ConvexProblem, c: Vector, z: Vector, gradient: Vector) -> Vector:
        """Multipliers with which each tₖ is stationary and each x as far as its kinks can make it so: where x is 0 the slope
        of its kinks is what balances ``gradient`` of φ + c'x, all tₖ at the same share of theirs."""
        e = self.envelopes
        gamma, at = c[e.t], z[e.x]
        least, width = -np.bincount(e.x, gamma * e.fall, problem.n), np.bincount(e.x, gamma * (e.rise + e.fall), problem.n)
        wanted = np.zeros(problem.n)
        wanted[self.x] = -gradient
        share = np.clip((wanted - least) / np.where(width > 0, width, 1.0), 0.0, 1.0)
        upper = np.where(at > 0, 1.0, np.where(at < 0, 0.0, share[e.x]))
        y = np.zeros(problem.m)
        y[e.above], y[e.below] = gamma * upper / e.scale_above, gamma * (1.0 - upper) / e.scale_below
        return y


_KNOWN: WeakKeyDictionary[ConvexProblem, L1Form | str] = WeakKeyDictionary()


def l1_form(problem: ConvexProblem) -> L1Form | str:
    """``problem`` as a loss plus kinks, or what is against that."""
    found = _KNOWN.get(problem)
    if found is None:
        found = _KNOWN[problem] = _l1_form(problem)
    return found


def _l1_form(problem: ConvexProblem) -> L1Form | str:
    loss = _loss(problem)
    if isinstance(loss, str):
        return loss
    envelopes = _envelopes(problem)
    if envelopes is None:
        return NO_KINKS
    if loss is None:
        assert problem.Q is not None
        x = np.setdiff1d(np.arange(problem.n), envelopes.t)
        if np.diff(sp.csc_array(problem.Q).indptr)[envelopes.t].any() and abs(problem.Q[:, envelopes.t]).max() > 0:
            return NO_KINKS
    else:
        x = loss.indices
        if len(x) + len(envelopes.t) != problem.n or np.intersect1d(x, envelopes.t).size:
            return "it takes a loss of all variables, and some stand outside of this one"
        if problem.Q is not None and _off(problem.Q, x):
            return "it takes squares of single variables beside a loss, and this problem has products"
    return L1Form(x, loss, envelopes)


def _loss(problem: ConvexProblem) -> FunctionTerm | str | None:
    """The term φ, None where there is Q alone."""
    if problem.constraints:
        return "it takes no non-linear constraints"
    if problem.smooth is None:
        return "it takes a loss or squares, and this problem is linear" if problem.Q is None else None
    terms = problem.smooth.terms
    if len(terms) != 1 or not isinstance(terms[0], FunctionTerm) or not isinstance(terms[0].function, OfAffine):
        return "it takes one loss f(Ax + b), and this problem has another smooth part"
    inner = terms[0].function.function
    if not (inner.separable and inner.smooth and inner.has_hessian) or terms[0].weight <= 0:
        return "it takes a loss f(Ax + b) with a twice differentiable sum f, and this one is none"
    if len(terms[0].support) != len(terms[0].indices):
        return "it takes a loss in which each variable stands once"
    return terms[0]


def _off(Q: Sparse, x: Indices) -> bool:
    """Whether Q has entries off its diagonal, or beyond the x."""
    entries = sp.coo_array(Q)
    diagonal = np.zeros(Q.shape[0], dtype=bool)
    diagonal[x] = True
    return bool(((entries.row != entries.col) | ~diagonal[entries.row])[entries.data != 0].any())


def _envelopes(problem: ConvexProblem) -> Envelopes | None:
    """The tₖ if all rows belong to one, two to each."""
    A = sp.csr_array(problem.A)
    if problem.m == 0:
        none, empty = np.empty(0, dtype=np.int64), np.empty(0)
        return Envelopes(none, none, none, none, empty, empty, empty, empty)
    if (np.diff(A.indptr) != 2).any() or problem.m % 2:
        return None
    low, high = problem.row_lower, problem.row_upper
    sign = np.where(low == 0, 1.0, -1.0)
    if not (((low == 0) & (high == np.inf)) | ((low == -np.inf) & (high == 0))).all():
        return None
    columns, data = A.indices.reshape(-1, 2), A.data.reshape(-1, 2) * sign[:, None]
    later = np.argmax(columns, axis=1)  # an epigraph variable comes after all others
    row = np.arange(problem.m)
    t, x, a, b = columns[row, later], columns[row, 1 - later], data[row, 1 - later], data[row, later]
    rows_of = np.bincount(t, minlength=problem.n)
    is_t = rows_of > 0
    if not (rows_of[t] == 2).all() or is_t[x].any() or not ((a != 0) & (b > 0)).all():
        return None
    t_free = (problem.lower[is_t] == -np.inf).all() and (problem.upper[is_t] == np.inf).all()
    up, down = np.flatnonzero(a < 0), np.flatnonzero(a > 0)
    up, down = up[np.argsort(t[up], kind="stable")], down[np.argsort(t[down], kind="stable")]
    if not t_free or not (np.array_equal(t[up], t[down]) and np.array_equal(x[up], x[down])):
        return None
    return Envelopes(
        t=t[up].astype(np.int64),
        x=x[up].astype(np.int64),
        above=up,
        below=down,
        rise=-a[up] / b[up],
        fall=a[down] / b[down],
        scale_above=(sign * b)[up],
        scale_below=(sign * b)[down],
    )

"""Which convex problems are a smooth loss plus kinks, and what is where in them.

    min  φ(x) + c'x + Σₖ γₖtₖ   subject to   tₖ ≥ rise·x[j(k)],  tₖ ≥ −fall·x[j(k)],  lower ≤ x ≤ upper

is min φ(x) + Σ κⱼ(xⱼ), where κⱼ has the slopes cⱼ − Σ γₖ fallₖ to the left of 0 and cⱼ + Σ γₖ riseₖ to the right
(:mod:`dcprog.convex.kinks`).
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from dcprog.convex.kinks import Envelopes, envelopes
from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm
from dcprog.functions.affine import OfAffine
from dcprog.solvers.reductions.l1_smooth import AffineLoss, QuadraticForm
from dcprog.solvers.reductions.sign_search import Kinks
from dcprog.typing import Indices, Sparse, Vector

NO_KINKS = "it takes rows tₖ ≥ ±a·xⱼ, with a tₖ of no other use, and this problem has other ones"


class L1Form(NamedTuple):
    """A problem of this kind: the x among the components of z, and the envelopes."""

    x: Indices
    loss: FunctionTerm | None
    """φ, or None where it is the problem's ½z'Qz alone."""
    envelopes: Envelopes

    def smooth(self, problem: ConvexProblem) -> AffineLoss | QuadraticForm:
        """φ as a function of x."""
        if self.loss is None:
            return self.quadratic(problem)
        assert isinstance(self.loss.function, OfAffine)
        return AffineLoss(self.loss.function, self.loss.weight, self.diagonal(problem))

    def quadratic(self, problem: ConvexProblem) -> QuadraticForm:
        """½x'Qx, where there is no loss."""
        assert problem.Q is not None
        return QuadraticForm(sp.csc_array(problem.Q)[self.x][:, self.x])

    def diagonal(self, problem: ConvexProblem) -> Vector:
        """The d of ½Σ dⱼxⱼ² beside a loss."""
        d: Vector = np.zeros(len(self.x)) if problem.Q is None else problem.Q.diagonal()[self.x]
        return d

    def kinks(self, problem: ConvexProblem, c: Vector) -> Kinks:
        """The κⱼ of the x."""
        left, right = self.envelopes.slopes(c)
        return Kinks((c + left)[self.x], (c + right)[self.x], problem.lower[self.x], problem.upper[self.x])

    def lifted(self, problem: ConvexProblem, x: Vector) -> Vector:
        """z with the tₖ on their rays."""
        z = np.zeros(problem.n)
        z[self.x] = x
        z[self.envelopes.t] = self.envelopes.values(z)
        return z


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
    found = envelopes(problem)
    if found is None:
        return NO_KINKS
    if loss is None:
        assert problem.Q is not None
        is_t = np.zeros(problem.n, dtype=bool)
        is_t[found.t] = True
        entries = sp.coo_array(problem.Q)
        if entries.data[is_t[entries.col]].any():
            return NO_KINKS
        return L1Form(np.flatnonzero(~is_t), None, found)
    x = loss.indices
    if len(x) + len(found.t) != problem.n or np.isin(x, found.t, kind="table").any():
        return "it takes a loss of all variables, and some stand outside of this one"
    if problem.Q is not None and _off(problem.Q, x):
        return "it takes squares of single variables beside a loss, and this problem has products"
    return L1Form(x, loss, found)


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

"""The convex problem with its smooth functions replaced by their second-order models at a point: a QP, or conic.

At a point z that is good to 1e-5, a minimiser of the model is good to about the square of that, and so are its multipliers:

    min  ½ d'(∇²φ(z) + Σ |μᵢ|∇²ψᵢ(z))d + ∇φ(z)'d + …   subject to   ψᵢ(z) + ∇ψᵢ(z)'d ≤ 0,  rows, bounds and cones

for d = y − z.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import FunctionTerm, LinearTerm, SmoothSum
from dcprog.typing import Vector


def has_model(problem: ConvexProblem) -> bool:
    """Whether something smooth in it bends, and all that does gives second derivatives."""
    smooth = [psi for psi, cone in zip(problem.constraints, problem.cones, strict=True) if cone is None]
    sums = smooth if problem.smooth is None else [problem.smooth, *smooth]
    terms = [t for s in sums for t in s.terms if not isinstance(t, LinearTerm)]
    return bool(terms) and all(t.function.has_hessian for t in terms if isinstance(t, FunctionTerm))


def model_at(problem: ConvexProblem, c: Vector, z: Vector, mu: Vector) -> ConvexProblem:
    """The model at z with multipliers μ of the constraints, of the linear cost c; its variables are those of the problem.

    >>> from dcprog.functions import SumExp
    >>> phi = SmoothSum([FunctionTerm(SumExp([[1.0]]), np.array([0]), 1.0)], 1)
    >>> p = ConvexProblem(c=np.array([-2.0]), A=sp.csc_array((0, 1)), row_lower=np.empty(0), row_upper=np.empty(0),
    ...                lower=np.array([-9.0]), upper=np.array([9.0]), smooth=phi)
    >>> model = model_at(p, p.c, np.zeros(1), np.empty(0))          # e^y − 2y at 0: 1 + y + y²/2 − 2y, least at y = 1
    >>> model.Q.toarray(), model.c
    (array([[1.]]), array([-1.]))
    """
    H = sp.csc_array((problem.n, problem.n))
    slope = np.zeros(problem.n)
    if problem.smooth is not None:
        H, slope = H + problem.smooth.hessian(z), problem.smooth.gradient(z)
    rows = []
    for psi, cone, multiplier in zip(problem.constraints, problem.cones, mu, strict=True):
        if cone is None:
            H = H + abs(float(multiplier)) * psi.hessian(z)
            psi = _linearised(psi, z)
        rows.append(psi)
    Q = H if problem.Q is None else problem.Q + H
    return replace(problem, c=c + slope - H @ z, Q=sp.csc_array(Q), smooth=None, constraints=tuple(rows))


def _linearised(psi: SmoothSum, z: Vector) -> SmoothSum:
    slope = psi.gradient(z)[psi.support]
    return SmoothSum([LinearTerm(psi.support, slope, psi.value(z) - float(slope @ z[psi.support]))], psi.n)

"""Another decomposition of the same f: less of the curvature that g and h have in common, so that steps are longer.

With a proximal term ρ‖x‖² in both, DCA moves by about ∇f/(2ρ): it needs ρ times as many steps as without. If ½y'Qy and ½y'Ry
are the quadratic parts of g and h, P = θ·diag(min(Qⱼⱼ, Rⱼⱼ)) with the largest θ ≤ 1 for which Q − P and R − P are positive
semidefinite, then g − ½y'Py and h − ½y'Py are convex, and their difference is f.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DCProgError
from dcprog.program.compile import Compiled
from dcprog.solvers.dispatch import Dispatcher
from dcprog.typing import Sparse, Vector

LARGEST = 500
"""Variables up to which eigenvalues are taken."""
WORTH = 0.5
"""Less than this share of the curvature of g is not worth another problem."""
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Lighter:
    """min g(y) − ½y'Py − ⟨u − Px, y⟩ over C."""

    compiled: Compiled
    common: Vector
    """The diagonal of P."""
    dispatcher: Dispatcher

    def step(self, x: Vector, u: Vector, seconds: float | None) -> Vector | None:
        """Its minimiser, for u ∈ ∂h(x): f is at most f(x) there. None where no solver finds it."""
        c = self.compiled
        try:
            solution = self.dispatcher.solve(c.cost(u - self.common * x), c.lift(x), seconds, feasible=True, tries=1)
        except DCProgError:
            return None
        return solution.x


def lighter(compiled: Compiled) -> Lighter | None:
    """That decomposition, None where g and h have little in common."""
    Q, R = compiled.g_parts.Q(compiled.n), compiled.h_parts.Q(compiled.n)
    if Q is None or R is None or compiled.n > LARGEST:
        return None
    common = _common(Q, R)
    if not (common > WORTH * Q.diagonal()).any():
        return None
    whole = np.zeros(compiled.subproblem.n)
    whole[: compiled.n] = common
    problem = compiled.subproblem
    rest = sp.csc_array(problem.Q - sp.diags_array(whole))
    return Lighter(compiled, common, Dispatcher(replace(problem, Q=rest), own=compiled.n))


def _common(Q: Sparse, R: Sparse) -> Vector:
    """The diagonal of P.

    >>> _common(sp.diags_array([6.0, 2.0, 1.0]), sp.diags_array([4.0, 4.0, 0.0])).round(6)
    array([4., 2., 0.])
    """
    least = np.minimum(Q.diagonal(), R.diagonal())
    used = np.flatnonzero(least > 0)
    if not used.size:
        return np.zeros(len(least))
    root = 1.0 / np.sqrt(least[used])
    share = 1.0
    for matrix in (Q, R):
        block = sp.csc_array(matrix)[:, used].tocsr()[used].toarray()
        share = min(share, float(np.linalg.eigvalsh(root[:, None] * block * root)[0]))
    common = np.zeros(len(least))
    common[used] = max(share - ROUNDING, 0.0) * least[used]
    return common

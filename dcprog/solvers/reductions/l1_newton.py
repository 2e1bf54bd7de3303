"""Newton's method on the dual penalty function, for the linear programs of ℓ1 support vector machines and FSV.

Fung & Mangasarian (2004), here with any weights of |w| and ξ. The solution is the one of least 2-norm, which in general is
no vertex. Remark 3.1 is what ends a solve: ε falls until two solutions prove that a smaller one would change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import TOLERANCE, verify
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import unknown_name
from dcprog.functions.checks import number
from dcprog.solvers.adapters.qp import answer
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.rays import is_empty
from dcprog.solvers.reductions.l1_structure import L1Structure, l1_structure
from dcprog.solvers.reductions.least_norm import FALL, least_norm
from dcprog.typing import Vector

WARM = FALL
"""After a change of costs ε starts this many times above the one that sufficed before."""

_structures: WeakKeyDictionary[ConvexProblem, L1Structure | str] = WeakKeyDictionary()


class L1Newton(Solver):
    """Newton's method for min s'p + t'q + ν'ξ subject to D(X(p − q) + be) + ξ ≥ e, p, q, ξ ≥ 0. Option: ``epsilon``."""

    name = "l1-newton"
    interruptible = True
    module = "dcprog"
    distribution = "dcprog"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP})
    features = Feature.WARM_START | Feature.DUALS | Feature.LINEAR_ROWS

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        structure = _structure(problem)
        return structure if isinstance(structure, str) else None

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        structure = _structure(problem)
        assert isinstance(structure, L1Structure), structure
        for name in options:
            if name != "epsilon":
                raise unknown_name("l1-newton option", name, ["epsilon"])
        epsilon = options.get("epsilon")
        return L1NewtonSession(problem, structure, None if epsilon is None else number("epsilon", epsilon, 0, such_as=0.1))


class L1NewtonSession(Session):
    """Keeps the multipliers and the ε of the last solution to start the next one from."""

    def __init__(self, problem: ConvexProblem, structure: L1Structure, epsilon: float | None) -> None:
        self._problem, self._structure = problem, structure
        self._epsilon = epsilon
        self._u: Vector | None = None

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        lp = self._structure.program(c)
        if (lp.s + lp.t < 0).any() or (lp.nu < 0).any():
            claim = Claim.INFEASIBLE if is_empty(self._problem, time_limit=time_limit) else Claim.UNBOUNDED
            return Answer(claim, message="a weight of |w| or ξ is negative")
        try:
            found = least_norm(lp, epsilon=self._epsilon, start=self._u, time_limit=time_limit)
        except TimeoutError:
            return Answer(Claim.TIME_LIMIT, message="time limit reached")
        claim = Claim.OPTIMAL if found.residual <= TOLERANCE else Claim.FAILED
        if claim is Claim.OPTIMAL:
            self._u, self._epsilon = found.u, WARM * found.epsilon
        z, row_duals = self._structure.point(found.z), self._structure.row_duals(lp, found.u)
        message = f"residual {found.residual:.1e} for epsilon = {found.epsilon:.1e}"
        claimed = answer(self._problem, c, claim, z, row_duals, message, found.steps)
        if claimed.claim is Claim.OPTIMAL and not verify(self._problem, c, claimed).holds():
            # the residual is relative to the largest cost: a column of small ones may still be off
            return replace(claimed, claim=Claim.FAILED)
        return claimed


def _structure(problem: ConvexProblem) -> L1Structure | str:
    """Looked for once: :meth:`NLPSVM.missing` and :meth:`NLPSVM.open` both need it."""
    if problem not in _structures:
        _structures[problem] = l1_structure(problem)
    return _structures[problem]

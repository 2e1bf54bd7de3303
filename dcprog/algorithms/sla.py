"""SLA, the Successive Linearization Algorithm 4.2 of Neumann, Schnörr & Steidl (2005), after Bradley & Mangasarian (1998).

It is written from its own definition and shares no step with DCA: that both walk together is Corollary 2, and a test.
"""

from __future__ import annotations

import time

import numpy as np

from dcprog.algorithms.base import NOISE, Algorithm
from dcprog.algorithms.result import State
from dcprog.algorithms.stopping import Gap, MaxIter, StoppingRule
from dcprog.convex.problem import ProblemClass
from dcprog.errors import CapabilityError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.base import Feature


class SLA(Algorithm):
    """For concave f on a polyhedron X: z ∈ ∂f(xᵏ) (superdifferential), xᵏ⁺¹ ∈ arg vertex min {zᵀ(x − xᵏ) : x ∈ X}; stop when
    zᵀ(xᵏ⁺¹ − xᵏ) = 0.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    >>> [state.f for state in SLA(DCProgram(m, g=0, h=m.x**2))]
    [-1.0, -4.0, -4.0]
    """

    name = "sla"
    needs = Feature.VERTEX
    plain = True

    @classmethod
    def check(cls, program: DCProgram) -> None:
        kind = program.compiled.subproblem.problem_class
        if kind is not ProblemClass.LP:
            raise CapabilityError(
                "SLA needs a concave f on a polyhedron, i.e. g linear and C given by linear constraints, but the "
                f"subproblem is {kind}: use DCA"
            )

    @classmethod
    def default_rule(cls, program: DCProgram, tol: float | None = None, max_iter: int = 1000) -> StoppingRule:
        """zᵀ(xᵏ⁺¹ − xᵏ) = 0, which is minus the gap, up to rounding (or ``tol``), or the iteration limit."""
        return Gap(NOISE if tol is None else tol) | MaxIter(max_iter)

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        c = self.program.compiled
        u = self.subgradient(state.x)
        z = np.zeros(c.subproblem.n)
        z[: c.n] = -u
        z += c.subproblem.c
        vertex = self.minimise_cost(z, state.x)
        decrease = -float(z @ (vertex.z - c.lift(state.x)))
        return self.next_state(state, vertex, u=u, gap=decrease, began=began)

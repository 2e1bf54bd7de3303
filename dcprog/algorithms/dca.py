"""DCA, Algorithm 4.1 of Neumann, Schnörr & Steidl (2005), after Pham Dinh & Le Thi (1998)."""

from __future__ import annotations

import time

from dcprog.algorithms.base import Algorithm, subgradient
from dcprog.algorithms.result import State


class DCA(Algorithm):
    """Select x̃ᵏ ∈ ∂h(xᵏ), then xᵏ⁺¹ ∈ ∂g*(x̃ᵏ) = argmin {g(x) − ⟨x̃ᵏ, x⟩ : x ∈ C}; stop when xᵏ⁺¹ ≈ xᵏ.

    Theorem 1: f(xᵏ) decreases monotonously, and every limit point is critical.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    >>> for state in DCA(DCProgram(m, g=0, h=m.x**2)):
    ...     print(state.iteration, state.f, state.gap)
    0 -1.0 None
    1 -4.0 2.0
    2 -4.0 0.0
    """

    name = "dca"

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        c = self.program.compiled
        u = subgradient(self.program, state.x)
        cost = c.cost(u)
        self.dispatcher.timings.update += time.perf_counter() - began
        solution = self._minimise(cost, state.x)
        gap = c.f.gap(state.x, solution.z[: c.n], u)
        return self._next_state(state, solution, gap, u, began)

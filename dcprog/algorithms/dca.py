"""DCA, Algorithm 4.1 of Neumann, Schnörr & Steidl (2005), after Pham Dinh & Le Thi (1998)."""

from __future__ import annotations

from dcprog.algorithms.base import Algorithm
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
    plain = True

    def advance(self, state: State) -> State:
        return self.linearised(state)

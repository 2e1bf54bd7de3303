"""Accelerated DCA, Phan, Le & Le Thi (2018): h is linearised at an extrapolated point."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.result import State
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Vector


class Accelerated(Algorithm):
    """zᵏ = xᵏ + (tₖ − 1)/tₖ₊₁ · (xᵏ − xᵏ⁻¹), tₖ₊₁ = (1 + √(1 + 4tₖ²))/2, t₀ = 1; v = zᵏ if f(zᵏ) is at most the largest of
    the last q + 1 values f(xᵏ⁻𐞥), …, f(xᵏ), else v = xᵏ; then xᵏ⁺¹ ∈ argmin {g(x) − ⟨u, x⟩ : x ∈ C} for u ∈ ∂h(v).

    Phan, Le & Le Thi, IJCAI (2018), Algorithm ADCA. zᵏ is shortened to the boundary of C where it lies outside, in place
    of a projection.

    Assumptions: those of DCA; f is evaluated at zᵏ.

    Guarantee: f(xᵏ⁺¹) ≤ f(v) − (σ_g + σ_h)/2 ‖xᵏ⁺¹ − v‖², so that the maximum of the last q + 1 values descends, and f
    itself for q = 0. Limit points are critical where σ_g + σ_h > 0. No rate is known that is better than that of DCA.

    Parameters
    ----------
    q : int
        How many values before the last f(zᵏ) may be compared with.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCA, DCProgram, Step
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=4)
    >>> program = DCProgram(m, g=2 * m.x**2, h=1.9 * m.x**2)
    >>> [len(list(algorithm(program, stop=Step(1e-6)))) for algorithm in (DCA, Accelerated)]
    [240, 124]
    """

    name = "accelerated"

    def __init__(self, program: DCProgram | None = None, *, q: int = 5, **settings: Any) -> None:
        if not (isinstance(q, int) and q >= 0):
            raise DataError(f"q is {q!r}: pass an integer ≥ 0")
        self.q = q
        super().__init__(program, **settings)

    def begin(self, state: State) -> None:
        self.t, self.before = 1.0, state.x
        self.values = deque([state.level], maxlen=self.q + 1)

    def ceiling(self, state: State) -> float:
        return max(self.values)

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        z = self._ahead(state)
        self.before = state.x
        if z is None:
            new = self.linearised(state)
        else:
            new = self.next_state(state, self.minimise(self.subgradient(z), state.x), began=began)
        self.values.append(new.level)
        return new

    def _ahead(self, state: State) -> Vector | None:
        """zᵏ, or None where it is xᵏ or f is too high."""
        last, self.t = self.t, (1 + math.sqrt(1 + 4 * self.t**2)) / 2
        momentum, direction = (last - 1) / self.t, state.x - self.before
        length = self.reach(state.x, direction, momentum) if momentum > 0 and direction.any() else 0.0
        if length == 0:
            return None
        z = self.along(state.x, direction, length)
        with np.errstate(all="ignore"):
            return z if self.f(z) <= max(self.values) else None

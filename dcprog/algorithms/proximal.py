"""Proximal DCA: a step costs ρ/2‖x − xᵏ‖², with ρ fixed or found by backtracking."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.criticality import ROUNDING
from dcprog.algorithms.result import State
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram

DOUBLINGS = 60


class Proximal(Algorithm):
    """xᵏ⁺¹ ∈ argmin {g(x) − ⟨u, x⟩ + ρ/2‖x − xᵏ‖² : x ∈ C}, u ∈ ∂h(xᵏ).

    Sun, Sampaio & Candido, J. Comput. Math. 21 (2003); backtracking after DCA-Like, Le Thi, Le, Phan & Tran, ICML (2020 and
    before): ρ is doubled until the step brings ρ/2‖xᵏ⁺¹ − xᵏ‖², and halved for the next one.

    Assumptions: those of DCA with ρ fixed. With backtracking h may be short of convexity by a smooth part, h + c/2‖·‖²
    convex for a c that nobody has to know: declared with ``ConvexFunction`` it is then listed as assumed.

    Guarantee: f(xᵏ) − f(xᵏ⁺¹) ≥ (ρ + (σ_g + σ_h)/2)‖xᵏ⁺¹ − xᵏ‖² with ρ fixed, σ the moduli of strong convexity (−c for
    such an h); ≥ ρₖ/2‖xᵏ⁺¹ − xᵏ‖² with backtracking. The steps tend to 0, limit points are critical, and the subproblem has
    one solution whatever g is.

    Parameters
    ----------
    rho : float, optional
        ρ > 0, the first one with backtracking. By default ρ/2‖D‖² is a tenth of the terms of f for D the sizes of
        the variables.
    backtracking : bool
        Whether ρ moves.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1)
    >>> [round(state.f, 3) for state in Proximal(DCProgram(m, g=0, h=m.x**2), rho=4)]
    [-1.0, -2.25, -4.0, -4.0]
    """

    name = "proximal"
    moves_diagonal = True

    def __init__(
        self, program: DCProgram | None = None, *, rho: float | None = None, backtracking: bool = False, **settings: Any
    ) -> None:
        if not (rho is None or 0 < rho < np.inf):
            raise DataError(f"rho is {rho}: pass a number > 0, or None")
        self.rho, self.backtracking = rho, backtracking
        super().__init__(program, **settings)

    def begin(self, state: State) -> None:
        if state.iteration == 0:
            self.now = self.rho or self.curvature(state)

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        u = self.subgradient(state.x)
        for _ in range(DOUBLINGS):
            solution = self.minimise(u + self.now * state.x, state.x, self.curved(self.now))
            step = solution.x - state.x
            brings = state.level - self.f(solution.x)
            if not self.backtracking or brings >= 0.5 * self.now * float(step @ step) - ROUNDING * state.size:
                break
            self.now *= 2
        new = self.next_state(state, solution, began=began)
        if self.backtracking:
            self.now /= 2
        return new

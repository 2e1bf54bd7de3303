"""Inertial DCA, de Oliveira & Tcheou (2019): the subgradient is pushed on in the direction of the last step."""

from __future__ import annotations

import time
from typing import Any

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.result import State
from dcprog.convex.change import UNCHANGED
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram
from dcprog.program.moduli import moduli


class Inertial(Algorithm):
    """xᵏ⁺¹ ∈ argmin {g(x) − ⟨u + γ(xᵏ − xᵏ⁻¹), x⟩ : x ∈ C}, u ∈ ∂h(xᵏ).

    de Oliveira & Tcheou, Set-Valued Var. Anal. 27 (2019), with γ < σ_h/2; the range γ < (σ_g + σ_h)/2 is that of You & Niu's
    refined inertial DCA (2022).

    Assumptions: those of DCA; σ_g + σ_h > 0 for the moduli of strong convexity of g and h. They are read off quadratic terms
    and functions that declare one. Where both are 0 or unknown, ρ/2‖x‖² is added to g and to h, which a message says.

    Guarantee: with Δₖ = xᵏ − xᵏ⁻¹ the merit f(xᵏ) + γ/2‖Δₖ‖² descends, by at least ((σ_g + σ_h)/2 − γ)‖Δₖ₊₁‖², so Δₖ → 0 and
    limit points are critical. f itself may rise.

    Parameters
    ----------
    gamma : float
        γ as a share of (σ_g + σ_h)/2, in [0, 1).
    rho : float, optional
        ρ > 0, where it is added. By default ρ/2‖D‖² is a tenth of the terms of f for D the sizes of the variables.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCA, DCProgram, Step
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=4)
    >>> program = DCProgram(m, g=2 * m.x**2, h=1.9 * m.x**2)
    >>> [len(list(algorithm(program, stop=Step(1e-6)))) for algorithm in (DCA, Inertial)]
    [240, 171]
    """

    name = "inertial"

    def __init__(
        self, program: DCProgram | None = None, *, gamma: float = 0.9, rho: float | None = None, **settings: Any
    ) -> None:
        if not 0 <= gamma < 1 or not (rho is None or rho > 0):
            raise DataError(f"gamma is {gamma}, rho {rho}: pass gamma in [0, 1) and rho > 0 or None")
        self.share, self.rho = gamma, rho
        super().__init__(program, **settings)

    @classmethod
    def opened(cls, program: DCProgram) -> ConvexProblem:
        problem = program.compiled.subproblem
        return problem if sum(moduli(program.compiled)) > 0 else problem.with_diagonal()

    def begin(self, state: State) -> None:
        self.before = state.x
        if state.iteration > 0:  # put at another point: what was added, and γ, stay
            return
        sigma = sum(moduli(self.program.compiled))
        self.added = 0.0 if sigma > 0 else self.curvature(state) if self.rho is None else self.rho
        self.gamma = self.share * (sigma + 2 * self.added) / 2
        self.change = self.curved(self.added) if self.added else UNCHANGED
        if self.added:
            self.messages.append(
                f"neither g nor h is known to be strongly convex: {self.added:.3g}/2·‖x‖² was added to both"
            )

    def ceiling(self, state: State) -> float:
        step = state.x - self.before
        return state.level + 0.5 * self.gamma * float(step @ step)

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        u = self.subgradient(state.x) + self.added * state.x
        solution = self.minimise(u + self.gamma * (state.x - self.before), state.x, self.change)
        new = self.next_state(state, solution, began=began)
        self.before = state.x
        return new

"""Boosted DCA, Aragón Artacho, Fleming & Vuong (2018): a line search beyond the step of DCA."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.result import State
from dcprog.convex.tape import KINKS, TapeBatch
from dcprog.convex.terms import FunctionTerm
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Vector

SHARE = 1e-2
"""Of what the DCA step brings for its length, where α is not given."""
LEAST = 1e-2
"""Shorter steps, in those of DCA, are not worth their evaluations."""
DELTA = 0.5
"""δ: so much of the slack is given up in each iteration where g is not smooth."""


class Boosted(Algorithm):
    """With the DCA step yᵏ ∈ argmin {g(x) − ⟨u, x⟩ : x ∈ C}, u ∈ ∂h(xᵏ), and d = yᵏ − xᵏ: xᵏ⁺¹ = yᵏ + λd for the first λ of
    λ̄, βλ̄, β²λ̄, … with

        f(yᵏ + λd) ≤ f(yᵏ) − αλ²‖d‖² + ν,    yᵏ + λd ∈ C,

    or λ = 0. The trial λ̄ is self-adaptive: it grows by γ after two searches that took it as it was, and is the λ of the last
    search otherwise. A variable that comes to its bound stays there: where C is a box, λd is what is left of it so.

    Aragón Artacho, Fleming & Vuong, Math. Program. 169 (2018); self-adaptive: Aragón Artacho & Vuong, SIAM J. Optim. 30
    (2020); with linear constraints: Aragón Artacho, Campoy & Vuong, Set-Valued Var. Anal. 30 (2022).

    Assumptions: those of DCA. Where g is differentiable, h strongly convex with modulus σ and d feasible at yᵏ, d is a
    direction of descent there, f'(yᵏ; d) ≤ −σ‖d‖², so that λ > 0. Where a row that d leads across becomes active with the
    step of DCA, the ray leaves C at once and λ = 0, as with linear g at most vertices.

    Guarantee: ν = 0 where g is smooth, and f(xᵏ⁺¹) ≤ f(yᵏ) − αλ²‖d‖² ≤ f(xᵏ): limit points are critical. Where g has kinks d
    may lead upwards; the rule is non-monotone then, νₖ₊₁ = (1 − δ)(f(xᵏ) + νₖ − f(xᵏ⁺¹)), δ = ½, ν₀ = 0, and f(xᵏ) + νₖ
    descends, Σνₖ < ∞ (Ferreira, Santos & Souza, J. Optim. Theory Appl. 2024).

    Parameters
    ----------
    alpha : float, optional
        α > 0. By default a hundredth of (f(xᵏ) − f(yᵏ))/‖d‖², which does not depend on units and is at least
        (σ_g + σ_h)/200.
    beta : float
        β in (0, 1).
    trial : float
        The first λ̄.
    growth : float
        γ ≥ 1.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCA, DCProgram, Step
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=4)
    >>> program = DCProgram(m, g=2 * m.x**2, h=1.9 * m.x**2)
    >>> [len(list(algorithm(program, stop=Step(1e-6)))) for algorithm in (DCA, Boosted)]
    [240, 13]
    """

    name = "boosted"

    def __init__(
        self,
        program: DCProgram | None = None,
        *,
        alpha: float | None = None,
        beta: float = 0.5,
        trial: float = 1.0,
        growth: float = 4.0,
        **settings: Any,
    ) -> None:
        if not (alpha is None or alpha > 0) or not 0 < beta < 1 or not trial > 0 or not growth >= 1:
            raise DataError(
                f"alpha is {alpha}, beta {beta}, trial {trial}, growth {growth}: pass alpha > 0 or None, beta in (0, 1), "
                "trial > 0 and growth ≥ 1"
            )
        self.alpha, self.beta, self.trial, self.growth = alpha, beta, trial, growth
        super().__init__(program, **settings)

    def begin(self, state: State) -> None:
        self.slack = 0.0
        self.monotone = _is_smooth(self.program)
        self._trial, self._untouched = self.trial, 0

    def ceiling(self, state: State) -> float:
        return state.level + self.slack

    def advance(self, state: State) -> State:
        began = time.perf_counter()
        u = self.subgradient(state.x)
        solution = self.minimise(u, state.x)
        self.y = solution.x
        gap = self.gap(state.x, self.y, u)
        x = self._beyond(state)
        if x is None:  # a step of DCA, with all that it says
            new = self.next_state(state, solution, u=u, gap=gap, began=began)
        else:
            new = self.next_state(state, solution, x, gap=gap, began=began)
        if not self.monotone:
            self.slack = max((1 - DELTA) * (state.level + self.slack - new.level), 0.0)
        return new

    def _beyond(self, state: State) -> Vector | None:
        """yᵏ + λd, and the next trial; None where λ = 0."""
        compiled, here = self.program.compiled, self.f(self.y)
        d = self.y - state.x
        d = np.where((d > 0) & (self.y >= compiled.upper) | (d < 0) & (self.y <= compiled.lower), 0.0, d)
        if not d.any():
            return None
        alpha = SHARE * max(state.level - here, 0.0) / float(d @ d) if self.alpha is None else self.alpha
        length = self._trial if compiled.feasible_set.is_box else self.reach(self.y, d, self._trial)
        while length >= LEAST:
            x = self.along(self.y, d, length)
            with np.errstate(all="ignore"):
                if self.f(x) <= here + self.slack - alpha * float((x - self.y) @ (x - self.y)):
                    break
            length *= self.beta
        else:
            x, length = None, 0.0
        self._untouched = self._untouched + 1 if length == self._trial else 0
        self._trial = self.growth * length if self._untouched >= 2 else max(length, self.trial)
        return x


def _is_smooth(program: DCProgram) -> bool:
    """Whether g is differentiable, as far as its parts say."""
    terms = program.compiled.g.terms
    tapes = [t for t in terms if isinstance(t, TapeBatch)]
    functions = [t.function for t in terms if isinstance(t, FunctionTerm)]
    kinks = any(name in KINKS for t in tapes for name, _ in t.operations)
    return not kinks and all(f.smooth for f in functions)

"""DCA that ends at directional stationary points, after Pang, Razaviyayn & Alvarado (2017)."""

from __future__ import annotations

import time
from functools import cached_property
from typing import Any

import numpy as np

from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.criticality import ROUNDING
from dcprog.algorithms.result import State
from dcprog.errors import DataError
from dcprog.program.dc_program import DCProgram
from dcprog.program.pieces import Pieces, slopes
from dcprog.solvers.dispatch import Solution


class DStationary(Algorithm):
    """For h = max {hᵢ : i ∈ I}, hᵢ smooth: DCA to a critical point x, where each piece that is ε-active has a subproblem,

        yⁱ ∈ argmin {g(y) − ⟨∇hᵢ(x), y⟩ : y ∈ C},   i ∈ I_ε(x),

    and the run goes on from the best of them, x⁺ ∈ argmin {f(yⁱ) : i ∈ I_ε(x)}, until none brings anything.

    Pang, Razaviyayn & Alvarado, Math. Oper. Res. 42 (2017). A sum of maxima is the maximum over all choices of one piece
    each. A piece is ε-active if it is the largest, to first order, at a y with |y − x| ≤ εD, D the sizes of the variables.
    Two things are other than in their Algorithm 1. The pieces are looked at where DCA has come to an end, not at each
    iterate: that takes fewer subproblems, and the point is never worse than that of DCA. And ½‖y − x‖², which gives each
    subproblem one solution, is left out, since DCA's have one anyway: f(x⁺) ≤ f(yⁱ) ≤ f(x) − gapᵢ(x) holds without.

    Assumptions: those of DCA, and the pieces of h are known: abs of affine expressions, maxima, the polyhedral functions of
    :mod:`dcprog.functions` and those of yours with :meth:`~dcprog.functions.ConvexFunction.corners`. Where h is smooth it is
    DCA.

    Guarantee: x is directional stationary, f'(x; y − x) ≥ 0 for every y ∈ C, which is stronger than critical: no descent of
    first order is left. Exactly then the gaps of all active pieces are 0; they are below the tolerance of the certificate,
    and as each round but the last lowers f by more than that, there are finitely many. ``result.stationarity`` is
    "d-stationary" then. It stays "critical", with a message, where h has a kink of unknown pieces at x, or more than
    ``most`` pieces meet; of those so many are taken at random, as in the paper's randomised algorithm.

    Parameters
    ----------
    epsilon : float
        ε > 0.
    most : int
        Subproblems per round.
    seed : int
        Of the random choice.

    >>> import pyomo.environ as pyo
    >>> from dcprog import DCProgram, solve
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(initialize=0)
    >>> program = DCProgram(m, g=m.x**2 / 2, h=abs(m.x))
    >>> for algorithm in ("dca", "dstationary"):
    ...     result = solve(program, algorithm=algorithm)
    ...     print(abs(result.objective), result.stationarity)
    0.0 critical
    0.5 d-stationary
    """

    name = "dstationary"
    plain = True

    def __init__(
        self, program: DCProgram | None = None, *, epsilon: float = 1e-3, most: int = 64, seed: int = 0, **settings: Any
    ) -> None:
        if not 0 < epsilon < np.inf or not (isinstance(most, int) and most >= 1):
            raise DataError(f"epsilon is {epsilon!r}, most {most!r}: pass epsilon > 0 and an integer ≥ 1")
        self.epsilon, self.most, self.seed = epsilon, most, seed
        super().__init__(program, **settings)

    def begin(self, state: State) -> None:
        self.stationarity = "critical"
        if state.iteration == 0:
            self.rng = np.random.default_rng(self.seed)

    @cached_property
    def pieces(self) -> Pieces:
        """Those of h, made where the first critical point is: of thousands of maxima they take seconds."""
        return Pieces(self.program.compiled)

    def advance(self, state: State) -> State:
        return self.linearised(state)

    def improved(self, state: State) -> State | None:
        """The best of all pieces at a critical point, if it is better by more than the certificate's tolerance."""
        began = time.perf_counter()
        solutions, doubt = self._of_all_pieces(state)
        if solutions:
            assert self.certificate is not None
            best = min(solutions, key=lambda solution: self.f(solution.x))
            allowed = self.tol * self.certificate.scale + ROUNDING * state.size
            if self.f(best.x) < state.level - allowed:
                return self.next_state(state, best, began=began)
        if doubt:
            self.messages.append(f"the point is critical, but not known to be directional stationary: {doubt}")
        else:
            self.stationarity = "d-stationary"
        return None

    def _of_all_pieces(self, state: State) -> tuple[list[Solution], str]:
        """A solution for each piece of h that is near, none where h is smooth, and why these may not be all pieces."""
        corners, known = self.pieces.near(state.x, self.epsilon * self.sizes(state.x))
        doubt = "" if known else "h has a kink there whose pieces are unknown"
        if not corners:
            return [], doubt
        chosen, complete = slopes(self.subgradient(state.x), corners, self.most, self.rng)
        if known and not complete:
            doubt = f"{len(corners)} kinks meet there, and {len(chosen)} of their combinations were looked at"
        return [self.minimise(u, state.x) for u in chosen], doubt

"""What comes back for a convex problem: a point, multipliers, and what the solver claims of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dcprog.convex.cones import Duals
from dcprog.typing import Vector


class Claim(str, Enum):
    """What a solver says of its answer; whether it holds is for the certificate to decide."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time_limit"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Answer:
    """A solver's answer.

    Duals follow HiGHS: at a solution ∇objective − A'row_duals − Σ constraint_dualsᵢ ∇ψᵢ is ≥ 0 where z is at its lower
    bound, ≤ 0 at its upper and 0 in between; a row dual is ≥ 0 at the row's lower limit and ≤ 0 at its upper, so a
    constraint dual (ψ ≤ 0) is ≤ 0. A constraint that is a cone has an element v of ∂f(0) in ``cone_duals`` besides, which
    says what stands in for ∇ψᵢ (:mod:`dcprog.convex.cones`). None: the solver gives no duals.
    """

    claim: Claim
    z: Vector | None = None
    row_duals: Vector | None = None
    constraint_duals: Vector | None = None
    message: str = ""
    iterations: int = 0
    cone_duals: Duals | None = None

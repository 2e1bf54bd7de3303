"""One subproblem, solved again and again with another linear cost: the claim is verified, and a failed one escalates.

Solvers run on one BLAS thread: the products are small, and a second one that finds its core busy costs more than it brings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dcprog._blas import one_thread, solver_loaded
from dcprog._typing import Vector
from dcprog.certificate import Residuals, verify
from dcprog.errors import CapabilityError, DCProgError
from dcprog.solvers.base import Answer, Claim, Feature, Session, Solver
from dcprog.solvers.registry import chain
from dcprog.subproblem import Subproblem


class SubproblemUnsolved(DCProgError):
    """No solver gave an answer that holds. ``claim`` says what they said."""

    def __init__(self, claim: Claim, message: str) -> None:
        super().__init__(message)
        self.claim = claim


@dataclass(frozen=True, eq=False)
class Solution:
    """A verified answer: who solved it, how well, and who failed before."""

    z: Vector
    solver: str
    residuals: Residuals
    iterations: int
    escalations: tuple[str, ...] = ()
    row_duals: Vector | None = None


@dataclass
class Timings:
    """Seconds spent, by what they were spent on."""

    build: float = 0.0
    update: float = 0.0
    solve: float = 0.0
    verify: float = 0.0


@dataclass
class Dispatcher:
    """Opens each solver at most once (``rebuilds`` counts what goes beyond that) and keeps the one that works."""

    problem: Subproblem
    solver: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: Feature = Feature.NONE
    timings: Timings = field(default_factory=Timings)
    builds: int = 0

    def __post_init__(self) -> None:
        self._chain = chain(self.solver, self.problem, self.needs)
        self._sessions: dict[str, Session] = {}
        self._first = 0
        self._opening = True

    @property
    def rebuilds(self) -> int:
        """How often a model was loaded into a solver that had it already."""
        return self.builds - len(self._sessions)

    @property
    def first_choice(self) -> str:
        """Name of the solver that is asked first."""
        return self._chain[self._first].name

    def solve(
        self, c: Vector, start: Vector | None = None, time_limit: float | None = None, feasible: bool = False
    ) -> Solution:
        """Minimise with linear cost ``c``; raises :class:`SubproblemUnsolved`.

        ``feasible`` says that ``start`` is feasible, so that a claim of infeasibility is known to be false. Other claims of
        infeasibility or unboundedness stand when a second solver agrees, or there is none.
        """
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        failures: list[str] = []
        negative: list[Claim] = []
        for position in range(self._first, len(self._chain)):
            solver = self._chain[position]
            remaining = None if deadline is None else max(deadline - time.perf_counter(), 0.0)
            try:
                answer = self._ask(solver, c, start, remaining)
            except CapabilityError as refused:
                if position + 1 == len(self._chain) or (position == 0 and self.options):
                    raise
                failures.append(f"{solver.name}: {refused}")
                continue
            if answer.claim is Claim.TIME_LIMIT:
                raise SubproblemUnsolved(answer.claim, f"{solver.name}: {answer.message}")
            if answer.claim is Claim.UNBOUNDED or (answer.claim is Claim.INFEASIBLE and not feasible):
                negative.append(answer.claim)
            residuals = self._verified(c, answer)
            if residuals is not None and residuals.holds():
                self._keep(position, failures)
                if self._opening:
                    self._sessions[solver.name].bookmark()
                    self._opening = False
                assert answer.z is not None
                return Solution(answer.z, solver.name, residuals, answer.iterations, tuple(failures), answer.row_duals)
            why = answer.message or answer.claim.value if residuals is None else f"its claim does not hold ({residuals})"
            failures.append(f"{solver.name}: {why}")
            if negative.count(answer.claim) == 2:
                break
        raise SubproblemUnsolved(negative[-1] if negative else Claim.FAILED, "; ".join(failures))

    def rewind(self) -> None:
        """A new run begins: its first cost resembles that of the run before more than its last one."""
        self._opening = True
        for session in self._sessions.values():
            session.rewind()

    def _ask(self, solver: Solver, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        session = self._sessions.get(solver.name)
        if session is None:
            began = time.perf_counter()
            options = self.options if solver is self._chain[0] else {}
            session = self._sessions[solver.name] = solver.open(self.problem, options)
            self.builds += 1
            solver_loaded(solver.name)
            self.timings.build += time.perf_counter() - began
        began = time.perf_counter()
        with one_thread():
            answer = session.solve(c, start, time_limit)
        self.timings.solve += time.perf_counter() - began
        return answer

    def _verified(self, c: Vector, answer: Answer) -> Residuals | None:
        if answer.z is None or answer.claim is not Claim.OPTIMAL:
            return None
        began = time.perf_counter()
        residuals = verify(self.problem, c, answer)
        self.timings.verify += time.perf_counter() - began
        return residuals

    def _keep(self, position: int, failures: list[str]) -> None:
        """After an escalation go on with the solver that worked, instead of failing anew at every iteration."""
        if failures:
            self._first = position

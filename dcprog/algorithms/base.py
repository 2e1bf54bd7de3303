"""What all algorithms share: a program, a feasible start, a dispatcher, and a loop of states that a rule ends."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dcprog._typing import Vector
from dcprog.algorithms.start import Start, feasible_start
from dcprog.errors import DCProgError, FunctionError
from dcprog.program import DCProgram
from dcprog.result import State, Status, relative_step
from dcprog.solvers.base import Claim, Feature
from dcprog.solvers.dispatch import Dispatcher, Solution, SubproblemUnsolved, Timings
from dcprog.stopping import Gap, MaxIter, Rule, Step, TimeLimit

DEFAULT_TOL = 1e-6
NOISE = 1e-11
"""A relative gap of criticality below which a subproblem's optimum is the point it was taken at, up to rounding."""


BOTTOMLESS = -1e20
"""Values of f below this are taken as a fall without end."""


class AlgorithmStopped(DCProgError):
    """An algorithm cannot go on; ``status`` says why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class Algorithm(ABC):
    """An iterable of :class:`~dcprog.result.State`. Each ``iter()`` starts anew, with solvers opened anew.

    Parameters
    ----------
    program : DCProgram
    solver : str
        Name of the solver for the subproblems, or ``"auto"``.
    x0 : array, mapping of names to arrays, or None
        Start; by default the model's values. A point outside C is projected onto C.
    stop : Rule, optional
        By default Algorithm 4.1's rule with the program's tolerance, or a gap of rounding size, or 1000 iterations.
    time_limit : float, optional
        Seconds for the whole run; the solvers are told what is left.
    solver_options : mapping, optional
        Passed to the solver as they are.
    """

    name: ClassVar[str]
    needs: ClassVar[Feature] = Feature.NONE

    def __init__(
        self,
        program: DCProgram,
        *,
        solver: str = "auto",
        x0: Any = None,
        stop: Rule | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.check(program)
        self.program, self.solver, self.x0 = program, solver, x0
        rule = self.default_rule(program) if stop is None else stop
        self.stop = rule if time_limit is None else rule | TimeLimit(time_limit)
        self.time_limit = time_limit
        self.solver_options = dict(solver_options or {})
        self.status: Status | None = None
        self.start: Start | None = None
        self.dispatcher = self._new_dispatcher()
        self._kept: Dispatcher | None = None

    def keep(self, dispatcher: Dispatcher | None) -> None:
        """Use solvers that hold this program's subproblem already, up to its linear cost."""
        self._kept = dispatcher

    @classmethod
    def check(cls, program: DCProgram) -> None:
        """Raise a CapabilityError if the algorithm cannot be applied to ``program``."""

    @classmethod
    def default_rule(cls, program: DCProgram, tol: float | None = None, max_iter: int = 1000) -> Rule:
        """Algorithm 4.1's rule on the program's variables, or a gap of rounding size, or the iteration limit."""
        step = tol if tol is not None else program.tol if program.tol is not None else DEFAULT_TOL
        return Step(step, program.stop_on) | Gap(NOISE) | MaxIter(max_iter)

    @abstractmethod
    def advance(self, state: State) -> State:
        """The next state. Raises :class:`AlgorithmStopped` if there is none."""

    def __iter__(self) -> Iterator[State]:
        self.status = None
        self.dispatcher = self._kept or self._new_dispatcher()
        self.dispatcher.timings = Timings()
        self._deadline = None if self.time_limit is None else time.perf_counter() + self.time_limit
        self.stop.start()
        self.start = feasible_start(self.program, self.x0, self.time_limit)
        state = self._first_state(self.start.x)
        while True:
            yield state
            self.status = self.stop.check(state)
            if self.status is not None:
                return
            state = self.advance(state)

    def _new_dispatcher(self) -> Dispatcher:
        return Dispatcher(self.program.compiled.subproblem, self.solver, self.solver_options, self.needs)

    def _first_state(self, x: Vector) -> State:
        c = self.program.compiled
        g, h = c.g.value(x), c.h.value(x)
        if not np.isfinite([g, h]).all():
            raise FunctionError(f"at the start g = {g} and h = {h}: pass an x0 where both are finite")
        return State(iteration=0, x=_frozen(x), f=g - h, g=g, h=h, read=self.program.read)

    def _minimise(self, cost: Vector, x: Vector) -> Solution:
        """The verified minimiser of the subproblem with linear cost ``cost``; ``x`` is feasible and serves as a start."""
        left = None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.01)
        try:
            return self.dispatcher.solve(cost, self.program.compiled.lift(x), left, feasible=True)
        except SubproblemUnsolved as unsolved:
            raise _stopped(unsolved) from unsolved

    def _next_state(self, state: State, solution: Solution, gap: float, began: float) -> State:
        """The state at the subproblem's solution; ``gap`` is what the subproblem says of the state before."""
        c = self.program.compiled
        x = solution.z[: c.n]
        g, h = c.g.value(x), c.h.value(x)
        if not np.isfinite([g, h]).all():
            raise FunctionError(f"at iteration {state.iteration + 1} g = {g} and h = {h}: both have to be finite on C")
        if g - h < BOTTOMLESS:
            raise AlgorithmStopped(
                Status.UNBOUNDED,
                f"f has fallen to {g - h:.3g} and goes on falling: bound the variables, or check the sign of h",
            )
        if g - h > state.f + 1e-6 * (1.0 + abs(g) + abs(h)):
            raise AlgorithmStopped(
                Status.NOT_CONVEX,
                f"f rose from {state.f:.10g} to {g - h:.10g} in iteration {state.iteration + 1}: g or h is not convex, or a "
                "gradient is wrong; dcprog.testing.check_program says where",
            )
        return State(
            iteration=state.iteration + 1,
            x=_frozen(x),
            f=g - h,
            g=g,
            h=h,
            gap=gap,
            step=relative_step(x, state.x),
            solver=solution.solver,
            residuals=solution.residuals,
            escalations=solution.escalations,
            seconds=time.perf_counter() - began,
            previous=state.x,
            read=self.program.read,
        )


def subgradient(program: DCProgram, x: Vector) -> Vector:
    """The element of ∂h(x) that the oracles of h take."""
    u = program.compiled.h.gradient(x)
    if not np.isfinite(u).all():
        names = [v.name for v in program.compiled.variables]
        i = int(np.flatnonzero(~np.isfinite(u))[0])
        raise FunctionError(f"the gradient of h is {u[i]} in {names[i]} at {x[i]:.6g}: h has to be subdifferentiable on C")
    return u


def _stopped(unsolved: SubproblemUnsolved) -> AlgorithmStopped:
    if unsolved.claim is Claim.UNBOUNDED:
        return AlgorithmStopped(
            Status.UNBOUNDED,
            f"the subproblem min g(x) − ⟨u, x⟩ is unbounded below over C ({unsolved}): bound the variables, or add a "
            "strongly convex term such as x² to both g and h",
        )
    statuses = {Claim.TIME_LIMIT: Status.TIME_LIMIT, Claim.INFEASIBLE: Status.INFEASIBLE}
    return AlgorithmStopped(
        statuses.get(unsolved.claim, Status.SUBPROBLEM_FAILED), f"the subproblem was not solved: {unsolved}"
    )


def _frozen(x: Vector) -> Vector:
    x = np.array(x)
    x.setflags(write=False)
    return x

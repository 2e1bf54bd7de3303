"""What all algorithms share: a program, a feasible start, a dispatcher, and a loop of states that a rule ends.

A rule says when to stop, the certificate whether the point is critical then. Where the default rule says stop and the
certificate does not hold, the run goes on; where nothing moves any more it is ``stalled``.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from dcprog.algorithms.criticality import ROUNDING, Certificate, Criticality, Multipliers, Trace
from dcprog.algorithms.further import falls_for_ever, further
from dcprog.algorithms.result import State, Status, relative_step
from dcprog.algorithms.start import Start, feasible_start
from dcprog.algorithms.stopping import Function, Gap, MaxIter, Step, StoppingRule, TimeLimit
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import TOLERANCE, value_of_violation, value_size
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DataError, DCProgError, FunctionError, SolverFailedError
from dcprog.program.dc_program import DCProgram
from dcprog.program.gradients import wrong_gradient
from dcprog.program.merged import Evaluation
from dcprog.solvers.base import Feature
from dcprog.solvers.dispatch import Dispatcher, Solution, SubproblemUnsolved, Timings
from dcprog.solvers.rays import recession_ray
from dcprog.typing import Vector

DEFAULT_TOL = 1e-6
NOISE = 1e-11
"""A gap of criticality below this share of the terms of f is worth a look whether the point is critical."""
BOTTOMLESS = 1e12
"""A fall of f by so many times the terms of its first values is taken as a fall without end, if a ray proves it."""
PATIENCE = 10
"""After so many short steps in a row each is lengthened while f falls."""
CREEPING = 100
"""After so many, a step in the steepest direction over C is tried at times: lengthened ones end at the boundary of C."""
PROOF_SECONDS = 10.0
"""For the proof that a subproblem is unbounded."""
STUCK = 3
"""So many iterations without a change of f beyond rounding, and the run is stalled."""


class AlgorithmStopped(DCProgError):
    """An algorithm cannot go on; ``status`` says why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


class Algorithm(ABC):
    """An iterable of :class:`~dcprog.algorithms.result.State`. Each ``iter()`` starts anew, with solvers opened anew.

    Parameters
    ----------
    program : DCProgram
    solver : str
        Name of the solver for the subproblems, or ``"auto"``.
    x0 : array, mapping of names to arrays, or None
        Start; by default the model's values. A point outside C is projected onto C.
    stop : StoppingRule, optional
        By default Algorithm 4.1's rule with the program's tolerance, or a gap of rounding size, or 1000 iterations; the run
        goes on where the certificate does not hold yet. A rule of your own ends the run in any case.
    time_limit : float, optional
        Seconds for the whole run; the solvers are told what is left.
    solver_options : mapping, optional
        Passed to the solver as they are.
    tol : float, optional
        Relative tolerance of the certificate, by default 1e-6.
    fallback : bool
        Whether other solvers are asked where the answer of the first does not hold; if not, that is an error.
    dispatcher : Dispatcher, optional
        Open solvers to go on with: those of a run on a program whose subproblems differ in their linear cost alone. They
        stay open from one ``iter()`` to the next, and what they were opened with replaces ``solver``, ``solver_options``
        and ``fallback``. By default solvers are opened anew.
    """

    name: ClassVar[str]
    needs: ClassVar[Feature] = Feature.NONE

    def __init__(
        self,
        program: DCProgram,
        *,
        solver: str = "auto",
        x0: Any = None,
        stop: StoppingRule | None = None,
        time_limit: float | None = None,
        solver_options: Mapping[str, Any] | None = None,
        tol: float | None = None,
        max_iter: int = 1000,
        fallback: bool = True,
        dispatcher: Dispatcher | None = None,
    ) -> None:
        self.check(program)
        if dispatcher is not None and not dispatcher.problem.differs_in_cost_alone(program.compiled.subproblem):
            raise DataError(
                "the open solvers hold another problem, expected one that differs from the program's subproblem in its "
                "linear cost alone: leave dispatcher out, and solvers are opened anew"
            )
        if dispatcher is not None and self.needs not in dispatcher.needs:
            raise DataError(
                f"{type(self).__name__} needs solvers that give {self.needs.name}, the open ones were not asked to"
            )
        self.program, self.solver, self.x0 = program, solver, x0
        rule = self.default_rule(program, tol, max_iter) if stop is None else as_rule(stop)
        self.stop = rule if time_limit is None else rule | TimeLimit(time_limit)
        self.own_rule = stop is not None
        self.tol = DEFAULT_TOL if tol is None else tol
        self.time_limit, self.fallback = time_limit, fallback
        self.solver_options = dict(solver_options or {})
        self.status: Status | None = None
        self.certificate: Certificate | None = None
        self.start: Start | None = None
        self.dispatcher = self._new_dispatcher() if dispatcher is None else dispatcher
        self._stays_open = dispatcher is not None

    @classmethod
    def check(cls, program: DCProgram) -> None:
        """Raise a CapabilityError if the algorithm cannot be applied to ``program``."""

    @classmethod
    def default_rule(cls, program: DCProgram, tol: float | None = None, max_iter: int = 1000) -> StoppingRule:
        """Algorithm 4.1's rule on the program's variables, or a gap of rounding size, or the iteration limit."""
        step = tol if tol is not None else program.tol if program.tol is not None else DEFAULT_TOL
        return Step(step, program.stop_on) | Gap(NOISE) | MaxIter(max_iter)

    @abstractmethod
    def advance(self, state: State) -> State:
        """The next state. Raises :class:`AlgorithmStopped` if there is none."""

    def __iter__(self) -> Iterator[State]:
        self.status = self.certificate = None
        if not (self._stays_open or self.dispatcher.unused):
            self.dispatcher = self._new_dispatcher()
        self.dispatcher.timings = Timings()
        self._deadline = None if self.time_limit is None else time.perf_counter() + self.time_limit
        self._trace, self._idle, self._short = Trace(), 0, 0
        self.stop.start()
        self.start = feasible_start(self.program, self.x0, self.time_limit)
        state = self._first_state(self.start.x)
        while True:
            self._trace.add(state)
            yield state
            verdict = self.stop.check(state)
            ahead = self.advance(state) if verdict is None else self._look_ahead(state, verdict)
            if verdict is None and ahead is not None and not self._is_due(state, ahead):
                state = ahead if self.own_rule else self._lengthened(state, ahead, PATIENCE)
                continue
            self.status = verdict if ahead is None else self._judged(state, ahead, verdict)
            if ahead is None or self.status is not None:
                return
            assert self.certificate is not None
            escape, self.certificate = self.certificate.escape, None
            self._short += escape is not None
            state = self._lengthened(state, ahead) if escape is None else self._at(escape, state, ahead)

    def _look_ahead(self, state: State, verdict: Status) -> State | None:
        """What the next state would be, for the certificate of this one; None where that cannot be had."""
        if verdict is Status.TIME_LIMIT:
            return None
        if state.multipliers is not None and np.array_equal(subgradient(self.program, state.x), state.multipliers.u):
            return replace(state, gap=0.0)  # x minimises its own model: the one that it came from
        try:
            return self.advance(state)
        except AlgorithmStopped:
            if verdict is Status.CONVERGED and not self.own_rule:
                raise
            return None

    def _is_due(self, state: State, following: State) -> bool:
        """Whether the certificate is asked though no rule says stop: where f does not fall any more, or steps were short for
        long, a rule of steps may wait for ever."""
        return not self.own_rule and (following.level > state.level or self._short > PATIENCE)

    def _judged(self, state: State, following: State, verdict: Status | None) -> Status | None:
        """The status to end with at ``state``, None to go on."""
        criticality = Criticality(self.program.compiled, self.dispatcher.units.column, self.tol)
        self.certificate = criticality.certificate(state, following, self._trace)
        still = abs(state.level - following.level) <= ROUNDING * max(state.size, following.size)
        self._idle = self._idle + 1 if still else 0
        stuck = self._idle >= STUCK or following.level > state.level or bool(np.array_equal(state.x, following.x))
        creeps = self._short >= CREEPING and self._short % PATIENCE == 0
        if not self.certificate.holds and (stuck or creeps):
            self.certificate = criticality.by_linear_program(state, following, self._trace)
        if self.certificate.holds:
            self._refuse_wrong_gradients(state)
            return Status.CONVERGED
        if verdict not in (None, Status.CONVERGED):
            return verdict
        if self.own_rule:
            return Status.STOPPED_BY_RULE
        escapes = self.certificate.escape is not None
        return Status.STALLED if stuck and not escapes else self.stop.ends(state)

    def _refuse_wrong_gradients(self, state: State) -> None:
        """The certificate stands and falls with the gradients of the user's own functions."""
        wrong = wrong_gradient(self.program, state.x)
        if wrong is not None:
            self.certificate = None
            raise AlgorithmStopped(Status.DEFECTIVE, wrong)

    def _lengthened(self, state: State, following: State, patience: int = 0) -> State:
        """``following``, or farther in its direction where steps were short for the sizes of the variables for long."""
        compiled = self.program.compiled
        short = Criticality(compiled, self.dispatcher.units.column, self.tol).short(state, following, self._trace)
        self._short = self._short + 1 if short else max(self._short - 2, 0)
        if self._short <= patience:
            return following
        x = further(compiled, state.x, following.x)
        return following if x is following.x else self._at(x, state, following)

    def _at(self, x: Vector, state: State, following: State) -> State:
        """``following``, moved to x."""
        values = self.program.compiled.f.evaluate(x)
        return replace(following, x=_frozen(x), **values._asdict(), step=relative_step(x, state.x), multipliers=None)

    def _new_dispatcher(self) -> Dispatcher:
        problem = self.program.compiled.subproblem
        return Dispatcher(problem, self.solver, self.solver_options, self.needs, fallback=self.fallback)

    def _first_state(self, x: Vector) -> State:
        values = self.program.compiled.f.evaluate(x)
        if not np.isfinite(values).all():
            raise FunctionError(f"at the start g = {values.g} and h = {values.h}: pass an x0 where both are finite")
        return State(iteration=0, x=_frozen(x), **values._asdict(), scale=values.size, read=self.program.read)

    def _minimise(self, cost: Vector, x: Vector) -> Solution:
        """The verified minimiser of the subproblem with linear cost ``cost``; ``x`` is feasible and serves as a start."""
        left = None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.01)
        try:
            return self.dispatcher.solve(cost, self.program.compiled.lift(x), left, feasible=True)
        except SubproblemUnsolved as unsolved:
            if not self.fallback and unsolved.claim is Claim.FAILED:
                raise SolverFailedError(f"{unsolved}; fallback=False asks no other solver") from unsolved
            stopped = _stopped(unsolved, self.dispatcher.problem, cost, self.program.compiled.lift(x))
            if not self.fallback and stopped.status is Status.UNKNOWN:
                raise SolverFailedError(
                    f"{unsolved}, which nothing proves; fallback=False asks no other solver"
                ) from unsolved
            raise stopped from unsolved

    def _next_state(self, state: State, solution: Solution, gap: float, u: Vector, began: float) -> State:
        """The state at the subproblem's solution; ``gap`` is what the subproblem says of the state before."""
        c = self.program.compiled
        x = solution.z[: c.n]
        values = c.f.evaluate(x)
        iteration = state.iteration + 1
        if not np.isfinite(values).all():
            raise FunctionError(f"at iteration {iteration} g = {values.g} and h = {values.h}: both have to be finite on C")
        if min(gap, state.level - values.level) < -ROUNDING * max(state.size, values.size):
            self._refuse_defects(state, values, gap, solution)
        if self._trace.values[0] - values.level > BOTTOMLESS * self._trace.sizes[0]:
            assert self.start is not None
            _refuse_endless(self.program, (state.x, self.start.x), x, values.f)
        return State(
            iteration=iteration,
            x=_frozen(x),
            **values._asdict(),
            scale=self._trace.scale(values.size),
            gap=gap,
            step=relative_step(x, state.x),
            solver=solution.solver,
            residuals=solution.residuals,
            escalations=solution.escalations,
            seconds=time.perf_counter() - began,
            previous=state.x,
            multipliers=Multipliers(u, solution.row_duals, solution.constraint_duals, solution.cone_duals),
            read=self.program.read,
        )

    def _refuse_defects(self, state: State, values: Evaluation, gap: float, solution: Solution) -> None:
        """Theorem 1: f decreases by at least the gap, which is ≥ 0, up to what a verified solution may be off, and to what
        leaving the rows by as much as a solver may brought the point before."""
        c = self.program.compiled
        size = value_size(c.subproblem, c.cost(c.h.gradient(state.x)), solution.z, self.dispatcher.units)
        outside = value_of_violation(c.subproblem, c.lift(state.x), solution.row_duals, solution.constraint_duals)
        allowed = 2 * TOLERANCE * max(size, state.size) + outside
        iteration = state.iteration + 1
        if values.level - state.level > allowed:
            raise AlgorithmStopped(
                Status.NOT_CONVEX,
                f"f rose from {state.f:.10g} to {values.f:.10g} in iteration {iteration}: g or h is not convex, or a "
                "gradient is wrong; dcprog.testing.check_program says where",
            )
        if gap < -allowed:
            raise AlgorithmStopped(
                Status.DEFECTIVE,
                f"the gap of criticality is {gap:.3g} in iteration {iteration}, which no convex g allows: g is not convex, "
                "a gradient is wrong, or the solver's optimum is none; dcprog.testing.check_program says where",
            )


def subgradient(program: DCProgram, x: Vector) -> Vector:
    """The element of ∂h(x) that the oracles of h take."""
    u = program.compiled.h.gradient(x)
    if not np.isfinite(u).all():
        names = [v.name for v in program.compiled.variables]
        i = int(np.flatnonzero(~np.isfinite(u))[0])
        raise FunctionError(
            f"the gradient of h is {u[i]} in {names[i]} at {x[i]:.6g}: h has to be subdifferentiable on C; bound {names[i]} "
            "away from there, shift the argument of a root or logarithm (√(x + 1e-6) for √x), or start elsewhere"
        )
    return u


def as_rule(stop: Any) -> StoppingRule:
    """A rule, or a function of the state that says True to stop."""
    if isinstance(stop, StoppingRule):
        return stop
    if callable(stop) and not isinstance(stop, type):
        return Function(stop)
    raise DataError(f"stop is {stop!r}: pass a rule such as Gap(1e-8) | MaxIter(100), or a function of the state")


def _stopped(unsolved: SubproblemUnsolved, problem: ConvexProblem, cost: Vector, start: Vector) -> AlgorithmStopped:
    if unsolved.claim is Claim.UNBOUNDED:
        if recession_ray(problem, cost, start, PROOF_SECONDS) is None:
            return AlgorithmStopped(
                Status.UNKNOWN,
                f"solvers call the subproblem min g(x) − ⟨u, x⟩ unbounded ({unsolved}), but no ray proves it: bound the "
                "variables, or name another solver",
            )
        return AlgorithmStopped(
            Status.UNBOUNDED,
            f"the subproblem min g(x) − ⟨u, x⟩ is unbounded below over C ({unsolved}): bound the variables, or add a "
            "strongly convex term such as x² to both g and h",
        )
    statuses = {Claim.TIME_LIMIT: Status.TIME_LIMIT, Claim.INFEASIBLE: Status.INFEASIBLE}
    return AlgorithmStopped(
        statuses.get(unsolved.claim, Status.SUBPROBLEM_FAILED), f"the subproblem was not solved: {unsolved}"
    )


def _refuse_endless(program: DCProgram, before: tuple[Vector, ...], there: Vector, f: float) -> None:
    """Stop a run that falls without end, along a ray of C on which f falls for ever: that of the last step, or, where a
    step is lost in the rounding of a point far away, of all steps together."""
    if any(falls_for_ever(program.compiled, x, there) for x in before):
        raise AlgorithmStopped(
            Status.UNBOUNDED,
            f"f has fallen to {f:.3g} and falls for ever in the direction of its steps: bound the variables, or check "
            "the sign of h",
        )
    if abs(f) > 1e200:
        raise AlgorithmStopped(Status.UNKNOWN, f"f has fallen to {f:.3g}, but no ray along which it falls for ever is known")


def _frozen(x: Vector) -> Vector:
    x = np.array(x)
    x.setflags(write=False)
    return x

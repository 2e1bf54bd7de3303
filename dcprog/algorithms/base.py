"""What all algorithms share: a program, a feasible start, open solvers, and a loop of states that a rule ends.

An algorithm says what the next state is (:meth:`Algorithm.advance`), with the tools below; what it remembers from one state
to the next is its own. The loop, and what it makes of the certificate, is :mod:`dcprog.algorithms.course`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from dcprog.algorithms.course import Course
from dcprog.algorithms.criticality import ROUNDING, Certificate, Multipliers, Trace
from dcprog.algorithms.endings import AlgorithmStopped, refuse_defects, refuse_endless, unsolved_as_status
from dcprog.algorithms.further import reach
from dcprog.algorithms.result import State, Status, relative_step
from dcprog.algorithms.start import Start, feasible_start
from dcprog.algorithms.stopping import Function, Gap, MaxIter, Step, StoppingRule, TimeLimit, as_rule
from dcprog.convex.answer import Claim
from dcprog.convex.change import UNCHANGED, Change
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import CapabilityError, DataError, FunctionError, SolverFailedError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.base import Feature
from dcprog.solvers.dispatch import Dispatcher, Solution, SubproblemUnsolved, Timings
from dcprog.typing import Vector

DEFAULT_TOL = 1e-6
NOISE = 1e-11
"""A gap of criticality below this share of the terms of f is worth a look whether the point is critical."""
BOTTOMLESS = 1e12
"""A fall of f by so many times the terms of its first values is taken as a fall without end, if a ray proves it."""

A = TypeVar("A", bound="Algorithm")


class Algorithm(ABC):
    """An iterable of :class:`~dcprog.algorithms.result.State`. Each ``iter()`` starts anew, with solvers opened anew.

    Parameters
    ----------
    program : DCProgram, optional
        Without one it is a description, as in ``dcprog.solve(program, algorithm=Boosted(beta=0.5))``.
    solver : str
        Name of the solver for the subproblems, or ``"auto"``.
    x0 : array, mapping of names to arrays, or None
        Start; by default the model's values. A point outside C is projected onto C.
    stop : StoppingRule, optional
        By default Algorithm 4.1's rule with the program's tolerance, or a gap of rounding size, or 1000 iterations; the run
        goes on where the certificate does not hold yet. A rule of your own ends the run in any case; beside a function of
        the state ``max_iter`` does, too.
    time_limit : float, optional
        Seconds for the whole run; the solvers are told what is left.
    solver_options : mapping, optional
        Passed to the solver as they are.
    tol : float, optional
        Relative tolerance of the certificate, by default 1e-6.
    max_iter : int
        Iterations that the default rule, or a function as ``stop``, is allowed.
    fallback : bool
        Whether other solvers are asked where the answer of the first does not hold; if not, that is an error.
    dispatcher : Dispatcher, optional
        Open solvers to go on with: those of a run on a program whose subproblems differ in their linear cost alone. They
        stay open from one ``iter()`` to the next, and what they were opened with replaces ``solver``, ``solver_options``
        and ``fallback``. By default solvers are opened anew.
    """

    name: ClassVar[str]
    needs: ClassVar[Feature] = Feature.NONE
    """What the solver has to offer."""
    moves: ClassVar[frozenset[str]] = frozenset()
    """Fields of the convex problem that its changes move; solvers that take them in place are preferred."""
    moves_diagonal: ClassVar[bool] = False
    """Whether its changes move the diagonal of Q: the problem is then opened with room for one."""
    takes_dc_constraints: ClassVar[bool] = False
    plain: ClassVar[bool] = False
    """Whether :meth:`advance` minimises the plain model at the state it is given, so that its gap is the certificate's."""
    course: ClassVar[type[Course]] = Course
    """The loop: when the certificate is asked, and what follows where it does not hold."""
    stationarity: str = "critical"
    """What ``converged`` says of the point."""

    def __init__(
        self,
        program: DCProgram | None = None,
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
        self._given = _given(
            solver=solver, x0=x0, stop=stop, time_limit=time_limit, solver_options=solver_options, tol=tol,
            max_iter=max_iter, fallback=fallback, dispatcher=dispatcher,
        )  # fmt: skip
        if program is None:
            return
        if program.compiled.dc is not None and not self.takes_dc_constraints:
            raise CapabilityError(
                f"the program has DC constraints ({program.compiled.dc.names[0]}), which {self.name!r} does not take: "
                'use algorithm="penalty"'
            )
        self.check(program)
        self.program, self.solver, self.x0 = program, solver, x0
        rule = self.default_rule(program, tol, max_iter) if stop is None else as_rule(stop)
        if isinstance(rule, Function):  # which may never say stop, where nothing moves any more
            rule = rule | MaxIter(max_iter)
        self.stop = rule if time_limit is None else rule | TimeLimit(time_limit)
        self.own_rule = stop is not None
        self.tol = DEFAULT_TOL if tol is None else tol
        self.time_limit, self.fallback = time_limit, fallback
        self.solver_options = dict(solver_options or {})
        self.status: Status | None = None
        self.certificate: Certificate | None = None
        self.start: Start | None = None
        self.messages: list[str] = []
        if dispatcher is not None:
            self._check_open(dispatcher)
        self.dispatcher = self._new_dispatcher() if dispatcher is None else dispatcher
        self._stays_open = dispatcher is not None

    def on(self: A, program: DCProgram, **settings: Any) -> A:
        """This algorithm with its own parameters on ``program``; ``settings`` go before those that it was made with."""
        own = getattr(self, "program", program)
        if own is not program:
            raise DataError(f"this {type(self).__name__} belongs to another program: make it without one, or pass its class")
        twin = copy(self)
        Algorithm.__init__(twin, program, **{**self._given, **_given(**settings)})
        return twin

    @classmethod
    def check(cls, program: DCProgram) -> None:
        """Raise a CapabilityError if the algorithm cannot be applied to ``program``."""

    @classmethod
    def default_rule(cls, program: DCProgram, tol: float | None = None, max_iter: int = 1000) -> StoppingRule:
        """Algorithm 4.1's rule on the program's variables, or a gap of rounding size, or the iteration limit."""
        step = tol if tol is not None else program.tol if program.tol is not None else DEFAULT_TOL
        return Step(step, program.stop_on) | Gap(NOISE) | MaxIter(max_iter)

    # What an algorithm says.

    @abstractmethod
    def advance(self, state: State) -> State:
        """The next state. Raises :class:`AlgorithmStopped` if there is none."""

    def begin(self, state: State) -> None:
        """Forget what earlier states said: called at the start, and where the run goes on from the certificate's point."""

    def ceiling(self, state: State) -> float:
        """What ``level``, f without its constant, may be at most after ``state``: at ``state`` itself, f descends."""
        return state.level

    def improved(self, state: State) -> State | None:
        """A state with a lower f than at the critical point ``state``, for algorithms that promise more; None if there is
        none that they know how to find."""
        return None

    # The tools of an algorithm.

    def f(self, x: Vector) -> float:
        """g(x) − h(x), with what stands in both cancelled and without constants: for comparisons of f."""
        return self.program.compiled.f.value(x)

    def subgradient(self, x: Vector) -> Vector:
        """The element of ∂h(x) that the oracles of h take."""
        return subgradient(self.program, x)

    def minimise(self, u: Vector, x: Vector, change: Change = UNCHANGED) -> Solution:
        """The verified argmin {g(y) − ⟨u, y⟩ : y ∈ C}, in which ``change`` says what else is other than usual. ``x`` ∈ C is
        where the solver may begin; the minimiser is ``solution.x``."""
        return self.minimise_cost(self.program.compiled.cost(u), x, change)

    def minimise_cost(self, cost: Vector, x: Vector, change: Change = UNCHANGED, tries: int | None = None) -> Solution:
        """The same for a linear cost of all variables of the subproblem, epigraph variables included; by so many ``tries``,
        after which nothing is proved of it."""
        left = self.seconds_left()
        lifted = self.program.compiled.lift(x)
        began = time.perf_counter()
        self.dispatcher.change(change)
        self.dispatcher.timings.update += time.perf_counter() - began
        try:
            return self.dispatcher.solve(cost, lifted, left, feasible=True, tries=tries)
        except SubproblemUnsolved as unsolved:
            if tries is not None:
                raise AlgorithmStopped(Status.SUBPROBLEM_FAILED, str(unsolved)) from unsolved
            if not self.fallback and unsolved.claim is Claim.FAILED:
                raise SolverFailedError(f"{unsolved}; fallback=False asks no other solver") from unsolved
            stopped = unsolved_as_status(unsolved, self.dispatcher.problem, cost, lifted)
            if not self.fallback and stopped.status is Status.UNKNOWN:
                raise SolverFailedError(
                    f"{unsolved}, which nothing proves; fallback=False asks no other solver"
                ) from unsolved
            raise stopped from unsolved

    def seconds_left(self) -> float | None:
        """What is left of the time limit; None without one."""
        return None if self._deadline is None else max(self._deadline - time.perf_counter(), 0.01)

    def curved(self, rho: float | Vector) -> Change:
        """The change that adds ρ/2‖y‖² to the subproblem; with u + ρz in place of u it is ρ/2‖y − z‖². For a vector ρ it is
        Σ ρⱼ/2 yⱼ², as a Bregman distance with weights has it."""
        diagonal = np.zeros(self.dispatcher.problem.n)
        diagonal[: self.program.compiled.n] = rho
        return Change(diagonal=diagonal)

    def within(self, lower: Vector, upper: Vector) -> Change:
        """The change that leaves the variables what of their own bounds lies between ``lower`` and ``upper``: a trust
        region, or, where both are x, variables that are held."""
        c, problem = self.program.compiled, self.dispatcher.as_opened
        low, high = problem.lower.copy(), problem.upper.copy()
        low[: c.n], high[: c.n] = np.maximum(c.lower, lower), np.minimum(c.upper, upper)
        return Change(lower=low, upper=high)

    def reach(self, x: Vector, direction: Vector, most: float = np.inf) -> float:
        """The largest t ≤ ``most`` with x + t·direction in C, for x ∈ C."""
        return reach(self.program.compiled, x, direction, most, self.dispatcher.units.column)

    def along(self, x: Vector, direction: Vector, t: float) -> Vector:
        """x + t·direction, without what rounding puts beyond the bounds; ``t`` comes from :meth:`reach`."""
        c = self.program.compiled
        return np.clip(x + t * direction, c.lower, c.upper)

    def gap(self, x: Vector, there: Vector, u: Vector) -> float:
        """g(x) − g(there) + ⟨u, there − x⟩: the gap of criticality at x, if ``there`` minimises g − ⟨u, ·⟩ over C."""
        return self.program.compiled.f.gap(x, there, u)

    def sizes(self, x: Vector) -> Vector:
        """The size of each variable at x: |xⱼ|, or how far it came since the start; its unit where it never moved."""
        c = self.program.compiled
        size = np.maximum(np.abs(x), self.trace.way(x))
        D: Vector = np.minimum(np.where(size > 0, size, self.dispatcher.units.column[: c.n]), c.upper - c.lower)
        return D

    def curvature(self, state: State) -> float:
        """A curvature ρ to add where no other is known: ρ/2‖D‖² is a tenth of the terms of f, D the :meth:`sizes`, so that
        it does not depend on units."""
        D = self.sizes(state.x)
        area = float(D @ D)
        size = state.size if state.size > 0 else 1.0
        return 0.2 * size / area if 0 < area < np.inf else 1.0

    def linearised(self, state: State) -> State:
        """The next state of DCA: the minimiser of the plain model at ``state.x``, with the gap of criticality there."""
        began = time.perf_counter()
        u = self.subgradient(state.x)
        self.dispatcher.timings.update += time.perf_counter() - began
        solution = self.minimise(u, state.x)
        return self.next_state(state, solution, u=u, gap=self.gap(state.x, solution.x, u), began=began)

    def next_state(
        self,
        state: State,
        solution: Solution,
        x: Vector | None = None,
        *,
        u: Vector | None = None,
        gap: float | None = None,
        began: float | None = None,
    ) -> State:
        """The state after ``state``: at the subproblem's solution, or at another ``x`` that was made of it.

        f may not rise above :meth:`ceiling`. Only where the solution minimises the plain model at ``state.x`` for the
        subgradient ``u`` does it give the ``gap`` there, and multipliers.
        """
        c = self.program.compiled
        there = solution.x if x is None else x
        values = c.f.evaluate(there)
        iteration = state.iteration + 1
        if not np.isfinite(values).all():
            raise FunctionError(f"at iteration {iteration} g = {values.g} and h = {values.h}: both have to be finite on C")
        rise = values.level - self.ceiling(state)
        if max(rise, 0.0 if gap is None else -gap) > ROUNDING * max(state.size, values.size):
            fall = self.trace.fall()
            refuse_defects(self.program, state, values.f, rise, gap, solution, self.dispatcher.units, fall)
        if c.dc is None and self.trace.values[0] - values.level > BOTTOMLESS * self.trace.sizes[0]:
            assert self.start is not None
            refuse_endless(self.program, (state.x, self.start.x), there, values.f)
        return State(
            iteration=iteration,
            x=_frozen(there),
            **values._asdict(),
            scale=self.trace.scale(values.size),
            gap=gap,
            step=relative_step(there, state.x),
            solver=solution.solver,
            residuals=solution.residuals,
            escalations=solution.escalations,
            seconds=0.0 if began is None else time.perf_counter() - began,
            previous=state.x,
            multipliers=None
            if u is None
            else Multipliers(u, solution.row_duals, solution.constraint_duals, solution.cone_duals),
            read=self.program.read,
        )

    def moved(self, state: State, x: Vector) -> State:
        """``state``, at x instead: it came from the same state, and no subproblem says anything of it."""
        values = self.program.compiled.f.evaluate(x)
        step = None if state.previous is None else relative_step(x, state.previous)
        return replace(state, x=_frozen(x), **values._asdict(), step=step, multipliers=None)

    # What the engine needs of it.

    def __iter__(self) -> Iterator[State]:
        if not hasattr(self, "program"):
            raise DataError(
                f"this {type(self).__name__} has no program: {type(self).__name__}(program), or solve(program, …)"
            )
        self.status, self.certificate, self.messages = None, None, []
        if not (self._stays_open or self.dispatcher.unused):
            self.dispatcher = self._new_dispatcher()
        self.dispatcher.timings = Timings()
        self._deadline = None if self.time_limit is None else time.perf_counter() + self.time_limit
        self.trace = Trace()
        self.stop.start()
        self.start = feasible_start(self.program, self.x0, self.time_limit)
        yield from self.course(self).states(self._first_state(self.start.x))

    @classmethod
    def opened(cls, program: DCProgram) -> ConvexProblem:
        """The convex problem that solvers open: its numbers change between subproblems, its structure stays."""
        problem = program.compiled.subproblem
        return problem.with_diagonal() if cls.moves_diagonal else problem

    def _new_dispatcher(self) -> Dispatcher:
        problem, own = self.opened(self.program), self.program.compiled.n
        moving = self.moves | ({"Q"} if self.moves_diagonal else frozenset())
        name = self.first_solver(problem)
        return Dispatcher(problem, name, self.solver_options, self.needs, fallback=self.fallback, own=own, moving=moving)

    def first_solver(self, problem: ConvexProblem) -> str:
        """The solver to ask first: the one that was named."""
        return self.solver

    def _check_open(self, dispatcher: Dispatcher) -> None:
        """Whether open solvers can go on with this program."""
        if not dispatcher.as_opened.differs_in_cost_alone(self.opened(self.program)):
            raise DataError(
                "the open solvers hold another problem, expected one that differs from the program's subproblem in its "
                "linear cost alone: leave dispatcher out, and solvers are opened anew"
            )
        if self.needs not in dispatcher.needs:
            raise DataError(
                f"{type(self).__name__} needs solvers that give {self.needs.name}, the open ones were not asked to"
            )

    def _first_state(self, x: Vector) -> State:
        values = self.program.compiled.f.evaluate(x)
        if not np.isfinite(values).all():
            raise FunctionError(f"at the start g = {values.g} and h = {values.h}: pass an x0 where both are finite")
        return State(iteration=0, x=_frozen(x), **values._asdict(), scale=values.size, read=self.program.read)


def subgradient(program: DCProgram, x: Vector) -> Vector:
    """The element of ∂h(x) that the oracles of h take."""
    u = program.compiled.h.gradient(x)
    if not np.isfinite(u).all():
        i = int(np.flatnonzero(~np.isfinite(u))[0])
        name = program.compiled.variables[i].name
        raise FunctionError(
            f"the gradient of h is {u[i]} in {name} at {x[i]:.6g}: h has to be subdifferentiable on C; bound {name} "
            "away from there, shift the argument of a root or logarithm (√(x + 1e-6) for √x), or start elsewhere"
        )
    return u


DEFAULTS: dict[str, Any] = {"solver": "auto", "max_iter": 1000, "fallback": True}


def _given(**settings: Any) -> dict[str, Any]:
    """The settings that are not the default ones."""
    return {
        name: value
        for name, value in settings.items()
        if value is not None and not (isinstance(value, str | int) and value == DEFAULTS.get(name))
    }


def _frozen(x: Vector) -> Vector:
    x = np.array(x)
    x.setflags(write=False)
    return x

"""One subproblem, solved again and again with other numbers: the claim is verified, and a failed one escalates.

Between two solves the linear cost changes, and by a :class:`~dcprog.convex.change.Change` a diagonal, rows, limits and
bounds may be; a solver takes that in place, or says why its problem has to be opened anew, which ``rebuilds`` counts.

A badly scaled subproblem reaches the solver in other units (:mod:`dcprog.convex.scaling`); its answer is verified in the
original ones. Whatever a solver does wrong, it raises, returns nonsense, sleeps or lies, is an answer that does not hold.

Solvers run on one BLAS thread: the products are small, and a second one that finds its core busy costs more than it brings.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.certificate import Residuals, completed, verify_completed
from dcprog.convex.change import NOTHING, UNCHANGED, Change
from dcprog.convex.cones import Duals
from dcprog.convex.problem import ConvexProblem, Units
from dcprog.convex.scaling import Scaling, scaling_of
from dcprog.errors import CapabilityError, DCProgError, FunctionError, SolverUnavailableError
from dcprog.machine.threads import one_thread, solver_loaded
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.guard import well_formed, within
from dcprog.solvers.registry import chain, registered
from dcprog.solvers.sharpen import can_be_sharper, sharper
from dcprog.typing import Vector

EARLY = 0.1
"""A registered solver may end by so large a share of its time before its limit; one that speaks of it earlier has failed."""
NEARLY = 1e-4
"""Answers that are so near get their last digits by Newton's method, before another solver is asked."""
TRIES = 4
"""So often a careful solver is asked, each time in the units of the point that it found before."""


class SubproblemUnsolved(DCProgError):
    """No solver gave an answer that holds. ``claim`` says what they said."""

    def __init__(self, claim: Claim, message: str) -> None:
        super().__init__(message)
        self.claim = claim


@dataclass(frozen=True, eq=False)
class Solution:
    """A verified answer: who solved it, how well, and who failed before."""

    z: Vector
    """All variables of the subproblem: those of the program, then the epigraph variables."""
    x: Vector
    """Those of the program."""
    solver: str
    residuals: Residuals
    iterations: int
    escalations: tuple[str, ...]
    row_duals: Vector
    constraint_duals: Vector
    cone_duals: Duals = ()


@dataclass
class Timings:
    """Seconds spent, by what they were spent on."""

    build: float = 0.0
    update: float = 0.0
    solve: float = 0.0
    verify: float = 0.0


class Attempt(NamedTuple):
    """A solver to ask, in the ordinary way or with the care that its first answer wanted."""

    solver: Solver
    careful: bool = False


@dataclass
class Opened:
    """A session, the problem that it holds, and its units if they are not the original ones."""

    session: Session
    problem: ConvexProblem
    scaling: Scaling | None
    behind: frozenset[str] = NOTHING
    """The fields of the problem that have moved since the session last heard of them."""


@dataclass
class Dispatcher:
    """Opens each solver at most once (``rebuilds`` counts what goes beyond that) and keeps the one that works.

    After an escalation the solver that worked is asked first; where it fails in turn, all others are asked again. With
    ``fallback`` off only the first choice is asked.
    """

    problem: ConvexProblem
    solver: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    needs: Feature = Feature.NONE
    timings: Timings = field(default_factory=Timings)
    builds: int = 0
    fallback: bool = True
    moving: frozenset[str] = NOTHING
    """Fields that changes will move: ``auto`` prefers solvers that take these in place."""
    own: int | None = None
    """How many of the variables are the program's; None: all."""
    solves: int = 0
    """Verified answers that were given."""
    rebuild_reasons: list[str] = field(default_factory=list)
    sharp: bool = False
    """Whether answers to smooth problems get their last digits by Newton's method."""

    def __post_init__(self) -> None:
        self.as_opened, self._change = self.problem, UNCHANGED
        solvers = chain(self.solver, self.problem, self.needs, self.moving)
        if "A" in self.moving:  # a rescuer that has to load everything anew at each iteration is none
            named = () if self.solver == "auto" else solvers[:1]
            solvers = [s for s in solvers if s in named or self.moving <= s.in_place] or solvers
        solvers = solvers if self.fallback else solvers[:1]
        self._attempts = [
            Attempt(s, careful) for s in solvers for careful in (False, True) if not careful or s.careful is not None
        ]
        self._open: dict[tuple[str, bool], Opened] = {}
        self._loaded: set[tuple[str, bool]] = set()
        self._rebuilds = 0
        self._first = 0
        self._opening = True
        self._scaling: Scaling | None = None
        self._units: Units | None = None

    @property
    def rebuilds(self) -> int:
        """How often a model was loaded into a solver that had it already, those that a reduction stands on included."""
        return self._rebuilds + sum(opened.session.reopened for opened in self._open.values())

    @property
    def unused(self) -> bool:
        """Whether no solver was opened yet."""
        return self.builds == 0

    @property
    def first_choice(self) -> str:
        """Name of the solver that is asked first."""
        return self._attempts[self._first].solver.name

    @property
    def units(self) -> Units:
        """What counts as 1 of each variable and row: 1 itself, unless the problem was badly scaled."""
        if self._units is None:
            self._units = self.problem.units(None if self._scaling is None else self._scaling.column)
        return self._units

    def solve(
        self,
        c: Vector,
        start: Vector | None = None,
        time_limit: float | None = None,
        feasible: bool = False,
        tries: int | None = None,
    ) -> Solution:
        """Minimise with linear cost ``c``; raises :class:`SubproblemUnsolved`.

        ``feasible`` says that ``start`` is feasible, so that a claim of infeasibility is known to be false. Other claims of
        infeasibility or unboundedness stand when a second solver agrees, or there is none. ``tries`` limits how many solvers
        are asked.
        """
        if not np.isfinite(c).all():
            raise SubproblemUnsolved(Claim.FAILED, "the linear cost is not finite")
        if not self._open:
            self._scaling = scaling_of(self.problem, c, start)
        start = self._smooth_start(start)
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        failures: list[str] = []
        negative: list[Claim] = []
        said_no: set[str] = set()
        here = start
        for position in self._order()[:tries]:
            attempt = self._attempts[position]
            if attempt.careful and attempt.solver.name in said_no:
                continue  # the second opinion is another one's
            here = here if attempt.careful else start
            for _ in range(TRIES if attempt.careful else 1):
                remaining = None if deadline is None else max(deadline - time.perf_counter(), 0.0)
                if remaining is not None and self._too_slow(attempt.solver, remaining):
                    failures.append(f"{attempt.solver.name}: it cannot be interrupted and would exceed the time limit")
                    negative.append(Claim.TIME_LIMIT)
                    break
                answer = self._ask(attempt, c, here, remaining)
                if answer.claim is Claim.TIME_LIMIT and self._is_over(attempt.solver, deadline, time_limit):
                    raise SubproblemUnsolved(answer.claim, f"{attempt.solver.name}: {answer.message}")
                if answer.claim is Claim.UNBOUNDED or (answer.claim is Claim.INFEASIBLE and not feasible):
                    negative.append(answer.claim)
                    said_no.add(attempt.solver.name)
                answer, residuals = self._sharpened(c, answer, self._verified(c, answer))
                if residuals is not None and residuals.holds():
                    return self._accepted(position, answer, residuals, failures)
                why = answer.message or answer.claim.value if residuals is None else f"its claim does not hold ({residuals})"
                failures.append(f"{attempt.solver.name}: {why}")
                if residuals is None or answer.z is None or not np.isfinite(answer.z).all():
                    break
                here = answer.z  # a careful try begins there, in the units of that point
                if attempt.careful:
                    self._close(attempt)
            if negative.count(Claim.UNBOUNDED) == 2 or negative.count(Claim.INFEASIBLE) == 2:
                break
        self._first = self._first if tries else 0
        raise SubproblemUnsolved(negative[-1] if negative else Claim.FAILED, "; ".join(failures))

    def change(self, change: Change) -> None:
        """From now on the problem is the one that was opened, with the numbers of ``change``; the last change is undone."""
        if change is self._change:
            return
        moved = change.moved | self._change.moved
        if change.diagonal is not None:
            self.as_opened = self.as_opened.with_diagonal()  # one pattern from now on
        self.problem, self._change = change.apply(self.as_opened), change
        self._units = None
        for opened in self._open.values():
            opened.behind |= moved

    def rewind(self) -> None:
        """A new run begins: its first cost resembles that of the run before more than its last one."""
        self.change(UNCHANGED)
        self._opening, self.sharp = True, False
        for opened in self._open.values():
            opened.session.rewind()

    def _smooth_start(self, start: Vector | None) -> Vector | None:
        """``start``, moved a little where the objective has no gradient, as √(x² + y²) has none at 0."""
        p = self.problem
        if start is None or p.smooth is None or np.isfinite(p.smooth.gradient(start)).all():
            return start
        nudge = np.random.default_rng(0).uniform(0.5, 1.0, p.n) * 1e-2 * np.maximum(self.units.column, np.abs(start))
        return np.clip(start + np.where(p.upper - start >= nudge, nudge, -nudge), p.lower, p.upper)

    def _order(self) -> list[int]:
        """The solver that worked last, those after it, and then the earlier ones: all are asked before any giving up."""
        count = len(self._attempts)
        return [*range(self._first, count), *range(self._first)]

    def _is_over(self, solver: Solver, deadline: float | None, time_limit: float | None) -> bool:
        """Whether a solver that says so has run out of time. Ours say it before they begin what they could not end."""
        if deadline is None or time_limit is None:
            return False
        return solver not in registered() or time.perf_counter() > deadline - EARLY * time_limit

    def _too_slow(self, solver: Solver, seconds: float) -> bool:
        """Whether ``auto`` had better not begin with a solver that cannot be left in time."""
        return self.solver == "auto" and not solver.interruptible and solver.estimate_seconds(self.problem) > seconds

    def _ask(self, attempt: Attempt, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        """What the solver says, in the original units, completed and in bounds; anything it does wrong is a failure."""
        solver = attempt.solver
        try:
            opened = self._session(attempt, c, start)
        except (CapabilityError, SolverUnavailableError) as refused:
            if solver is self._attempts[0].solver and (self.options or not self.fallback):
                raise
            return Answer(Claim.FAILED, message=str(refused))
        except DCProgError:
            raise
        except (Exception, SystemExit) as error:
            return Answer(Claim.FAILED, message=f"raised {type(error).__name__}: {error}")
        began = time.perf_counter()
        try:
            answer = self._run(solver, opened, c, start, time_limit)
        except FunctionError:
            raise
        except (Exception, SystemExit) as error:
            self._close(attempt)  # nothing is known of its state
            answer = Answer(Claim.FAILED, message=f"raised {type(error).__name__}: {error}")
        self.timings.solve += time.perf_counter() - began
        if answer.claim is Claim.TIME_LIMIT and not solver.keeps_time:
            self._close(attempt)  # it may still be running
        return answer

    def _run(self, solver: Solver, opened: Opened, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        session, problem, scaling = opened.session, opened.problem, opened.scaling
        cost, at = (c, start) if scaling is None else (scaling.costs(c), scaling.point(start))
        given, begin = cost.copy(), None if at is None else at.copy()  # what a solver changes in place is its own
        with one_thread():
            if time_limit is None or solver.keeps_time:
                raw: Any = session.solve(given, begin, time_limit)
            else:
                raw = within(time_limit, lambda: session.solve(given, begin, time_limit))
        answer = well_formed(raw, problem)
        if answer.z is not None and answer.claim is Claim.OPTIMAL:
            answer = completed(problem, cost, answer)
        return answer if scaling is None else scaling.answer(answer)

    def _session(self, attempt: Attempt, c: Vector, start: Vector | None) -> Opened:
        key = (attempt.solver.name, attempt.careful)
        if key in self._open and self._open[key].behind:
            self._bring_up_to_date(attempt)
        if key not in self._open:
            began = time.perf_counter()
            options = dict(self.options) if attempt.solver is self._attempts[0].solver else {}
            if attempt.careful:
                options = {**(attempt.solver.careful or {}), **options}
            problem, scaling = self.problem, self._scaling
            if attempt.careful:
                scaling = scaling_of(self.problem, c, start, always=True)
            if scaling is not None:
                problem = scaling.problem(self.problem)
                if attempt.solver.missing(problem) is not None:  # its structure is not that of the scaled problem
                    problem, scaling = self.problem, None
            given = problem.copy() if attempt.solver in registered() else problem
            self._open[key] = Opened(attempt.solver.open(given, options), problem, scaling)
            self.builds += 1
            self._rebuilds += key in self._loaded
            self._loaded.add(key)
            solver_loaded(attempt.solver.name)
            self.timings.build += time.perf_counter() - began
        return self._open[key]

    def _close(self, attempt: Attempt) -> None:
        """Forget a session; what it reopened itself stays counted."""
        opened = self._open.pop((attempt.solver.name, attempt.careful), None)
        self._rebuilds += 0 if opened is None else opened.session.reopened

    def _bring_up_to_date(self, attempt: Attempt) -> None:
        """Tell a session what has moved; one that cannot take it is closed."""
        began, solver = time.perf_counter(), attempt.solver
        opened = self._open[(solver.name, attempt.careful)]
        problem = self.problem if opened.scaling is None else opened.scaling.problem(self.problem)
        refusal = opened.session.change(problem.copy() if solver in registered() else problem, opened.behind)
        self.timings.update += time.perf_counter() - began
        if refusal is None:
            opened.problem, opened.behind = problem, NOTHING
            return
        self._close(attempt)
        if (reason := f"{solver.name} opened its problem anew: {refusal}") not in self.rebuild_reasons:
            self.rebuild_reasons.append(reason)

    def sharpen(self) -> bool:
        """Answers are sharpened from now on; whether that is new, and may help."""
        changes = not self.sharp and can_be_sharper(self.problem)
        self.sharp = True
        return changes

    def _sharpened(self, c: Vector, answer: Answer, residuals: Residuals | None) -> tuple[Answer, Residuals | None]:
        if residuals is None or not np.isfinite(residuals.worst):
            return answer, residuals
        if not self.sharp and (residuals.holds() or residuals.worst > NEARLY or not can_be_sharper(self.problem)):
            return answer, residuals
        better = completed(self.problem, c, sharper(self.problem, c, answer, self.units))
        return better, self._verified(c, better)

    def _verified(self, c: Vector, answer: Answer) -> Residuals | None:
        if answer.z is None or answer.claim is not Claim.OPTIMAL:
            return None
        began = time.perf_counter()
        residuals = verify_completed(self.problem, c, answer, self.units)
        self.timings.verify += time.perf_counter() - began
        return residuals

    def _accepted(self, position: int, answer: Answer, residuals: Residuals, failures: list[str]) -> Solution:
        solver, careful = self._attempts[position]
        if failures:  # go on with the solver that worked, instead of failing anew at every iteration
            self._first = position
        self.solves += 1
        if self._opening:
            self._open[(solver.name, careful)].session.bookmark()
            self._opening = False
        assert answer.z is not None
        assert answer.row_duals is not None
        assert answer.constraint_duals is not None
        return Solution(
            z=answer.z,
            x=answer.z[: self.own],
            solver=solver.name,
            residuals=residuals,
            iterations=answer.iterations,
            escalations=tuple(failures),
            row_duals=answer.row_duals,
            constraint_duals=answer.constraint_duals,
            cone_duals=answer.cone_duals or (),
        )

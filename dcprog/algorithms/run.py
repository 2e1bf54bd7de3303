"""The driver: runs an algorithm to its end, keeps the best point on every exit, and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np

from dcprog import algorithms
from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.criticality import ROUNDING
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.further_starts import until_feasible
from dcprog.algorithms.log import Log
from dcprog.algorithms.multistart import best_of, check_starts
from dcprog.algorithms.result import Record, Result, State, Status
from dcprog.algorithms.start import Infeasible, NoStart
from dcprog.algorithms.stopping import StoppingRule, as_rule
from dcprog.convex.answer import Claim
from dcprog.errors import DataError, FunctionError, ModelError, SolverFailedError
from dcprog.program.dc_program import DCProgram
from dcprog.program.from_pyomo import from_pyomo
from dcprog.typing import Vector

LEAST_SECONDS = 1e-3
"""What is left of a time limit that was spent on splitting the model: enough to say so."""
NEGLIGIBLE = 1e-9
"""Violations of DC constraints below this are all alike."""
Callback = Callable[[State], bool | None]


def solve(
    program: Any,
    *,
    algorithm: str | type[Algorithm] | Algorithm = "auto",
    solver: str = "auto",
    x0: Any = None,
    tol: float | None = None,
    max_iter: int = 1000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    starts: int = 1,
    seed: int | None = None,
    stop: StoppingRule | Callable[[State], bool] | None = None,
    solver_options: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    fallback: bool = True,
    verbose: bool = False,
) -> Result:
    """Minimise g − h over C by DCA (or another algorithm) to a critical point.

    Parameters
    ----------
    program : DCProgram or Pyomo model
        A model with an objective, of either sense, is split first by :func:`dcprog.from_pyomo`; it is not changed.
    algorithm : str, class or instance
        A name such as ``"dca"``, a class derived from :class:`dcprog.algorithms.Algorithm`, or an instance of one that has
        parameters of its own; what is passed here goes before the settings that an instance was made with.
    solver : str
        A name that ``dcprog.available_solvers()`` lists, ``"pyomo:<name>"`` for anything that Pyomo knows, ``"auto"``, or
        ``"reference"``: HiGHS for LPs and QPs, Ipopt for NLPs, each subproblem whole, without reductions of ours.
    x0 : array or mapping of names to arrays, optional
        Start. By default the model's values, else a feasible point.
    tol : float, optional
        Relative tolerance of the certificate, by default 1e-6, and of the algorithm's stopping rule, by default the
        program's.
    max_iter, time_limit : limits
    callback : callable, optional
        Called with every :class:`State`, of all starts; returning True stops. With one, starts follow each other.
    starts, seed : int
        With ``starts`` > 1 the run is repeated from random points of C, in several processes where that pays, and the best
        is returned; ``result.runs`` reports all of them.
    stop : StoppingRule or callable, optional
        Replaces the algorithm's rule and ``max_iter``, as in ``Gap(1e-8) | MaxIter(100)``, or a function of the state that
        says True, beside which ``max_iter`` holds. It ends the run in any case; the status is ``converged`` only if the
        certificate holds there.
    solver_options : mapping, optional
        Passed to the solver as they are.
    n_jobs : int, optional
        Processes for several starts; by default, and with −1, as many as there are cores.
    fallback : bool
        Whether other solvers are asked where the answer of the one named does not hold. If not, that raises a
        SolverFailedError, whose ``result`` has what was found until then.
    verbose : bool
        Print a line for every iteration.

    Returns
    -------
    Result
        On every exit with the best point found: a limit, a failure and Ctrl-C are a status, not an exception.
    """
    began = time.perf_counter()
    check_limits(tol, max_iter)
    if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0):
        raise DataError(f"time_limit is {time_limit!r}: pass seconds > 0, or None for no limit")
    check_starts(starts, seed, n_jobs)
    if solver_options is not None and not isinstance(solver_options, Mapping):
        raise DataError(f"solver_options is {solver_options!r}: pass a dict of the solver's own options")
    program = as_program(program)
    if time_limit is not None:
        time_limit = max(time_limit - (time.perf_counter() - began), LEAST_SECONDS)
    if algorithm == "auto":
        algorithm = algorithms.choose(program)
    kind = algorithms.maker(algorithm)
    settings: dict[str, Any] = {
        "solver": solver,
        "stop": None if stop is None else as_rule(stop),
        "tol": tol,
        "max_iter": max_iter,
        "time_limit": time_limit,
        "solver_options": solver_options,
        "fallback": fallback,
    }
    log = Log(beside=callback) if verbose else None
    if starts == 1 and program.origin is not None and program.compiled.dc is not None:
        result = until_feasible(run, kind, program, x0, settings, log or callback)
    elif starts == 1:
        result = run(kind(program, x0=x0, **settings), log or callback)
    else:
        result = best_of(run, kind, program, x0, starts, seed, n_jobs, settings, log or callback)
    if log is not None:
        log.close(result)
    return result


def as_program(given: Any) -> DCProgram:
    """A DC program as it is; that of a Pyomo model with an objective."""
    if isinstance(given, DCProgram):
        return given
    if isinstance(given, type) or not hasattr(given, "component_data_objects"):
        raise ModelError(
            f"expected a DCProgram or a Pyomo model with an objective, got {type(given).__name__}: declare "
            "DCProgram(model, g, h) first"
        )
    return from_pyomo(given)


def run(algorithm: Algorithm, callback: Callback | None = None) -> Result:
    """Drive ``algorithm`` to its end. A FunctionError carries the result so far as its attribute ``result``."""
    began = time.perf_counter()
    states: list[Record] = []
    best: State | None = None
    last: State | None = None
    messages: list[str] = []
    status = Status.CONVERGED

    def report(status: Status) -> Result:
        return _result(algorithm, status, best, states, messages, time.perf_counter() - began)

    try:
        for state in algorithm:
            states.append(Record.of(state))
            messages += [f"iteration {state.iteration}: {why}" for why in state.escalations]
            best = state if best is None or _is_as_good(state, best) else best
            last = state
            if callback is not None and callback(state):
                return report(Status.STOPPED_BY_CALLBACK)
        status = algorithm.status or status
        best = last if algorithm.certificate is not None else best  # the certificate is that of the last point
    except AlgorithmStopped as stopped:
        status = stopped.status
        messages.append(str(stopped))
    except Infeasible as error:
        status = Status.INFEASIBLE
        messages.append(str(error))
    except NoStart as error:
        status = Status.TIME_LIMIT if error.claim is Claim.TIME_LIMIT else Status.SUBPROBLEM_FAILED
        messages.append(str(error))
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
        messages.append("interrupted; the best point so far is kept")
    except (FunctionError, SolverFailedError) as error:
        error.result = report(Status.SUBPROBLEM_FAILED)
        raise
    return report(status)


def _result(
    algorithm: Algorithm, status: Status, best: State | None, history: list[Record], messages: list[str], seconds: float
) -> Result:
    program, start, certificate = algorithm.program, algorithm.start, algorithm.certificate
    if start is not None and start.message:
        messages = [start.message, *messages]
    if (outside := program.compiled.outside) is not None:
        messages = [f"{outside[0]} is fixed outside of its bounds by {outside[1]:.3g}, which violation counts", *messages]
    messages = [*messages, *algorithm.messages, *algorithm.dispatcher.rebuild_reasons]
    x = np.full(program.compiled.n, np.nan) if best is None else np.array(best.x)
    timings = {
        "compile": program.compile_seconds,
        **asdict(algorithm.dispatcher.timings),
        "total": program.compile_seconds + seconds,
    }
    arrays = program.arrays(x)
    used = [r.solver for r in history if r.solver]
    return Result(
        name=program.name,
        status=status,
        objective=program.sense * (np.inf if best is None else best.f),
        x=x,
        gap=certificate.gap if certificate is not None else None,
        iterations=history[-1].iteration if history else 0,
        algorithm=algorithm.name,
        solver=used[-1] if used else algorithm.dispatcher.first_choice,
        arrays=arrays,
        history=history,
        timings=timings,
        violation=np.inf if best is None else violation(program, x),
        multipliers=dict(getattr(algorithm, "multipliers", {})),
        stationarity=algorithm.stationarity if status is Status.CONVERGED else None,
        assumptions=tuple(getattr(program, "assumptions", ())),
        rebuilds=algorithm.dispatcher.rebuilds,
        subproblems=algorithm.dispatcher.solves,
        messages=messages,
        classifier=None if program.interpret is None or best is None else program.interpret(arrays),
    )


def _is_as_good(state: State, best: State) -> bool:
    """Least violation of DC constraints, then the objective."""
    if max(state.violation, best.violation) > NEGLIGIBLE:
        return state.violation <= best.violation
    return state.level <= best.level + ROUNDING * state.size


def violation(program: DCProgram, x: Vector) -> float:
    """The largest absolute violation of a bound or constraint of the model at x, those of fixed variables included."""
    C, dc, outside = program.compiled.feasible_set, program.compiled.dc, program.compiled.outside
    z = program.compiled.lift(x)[: C.n]
    activity = C.A @ z if C.m else np.empty(0)
    over = [C.lower - z, z - C.upper, C.row_lower - activity, activity - C.row_upper]
    over.append(C.curved.values(z))
    over.append(np.empty(0) if dc is None else dc.violations(x))
    return float(np.max(np.concatenate([*over, [0.0 if outside is None else outside[1]]])))


def check_limits(tol: float | None, max_iter: int) -> None:
    """A tolerance, None for the default one, and a number of iterations.

    >>> check_limits(1e-6, 1.5)
    Traceback (most recent call last):
    dcprog.errors.DataError: max_iter is 1.5: pass an integer ≥ 0
    """
    if tol is not None and not (isinstance(tol, Real) and tol >= 0):
        raise DataError(f"tol is {tol!r}: pass a number ≥ 0")
    if not (isinstance(max_iter, Integral) and max_iter >= 0):
        raise DataError(f"max_iter is {max_iter!r}: pass an integer ≥ 0")

"""The driver: runs an algorithm to its end, keeps the best point on every exit, and reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from numbers import Integral, Real
from typing import Any

import numpy as np

from dcprog import algorithms
from dcprog.algorithms.base import Algorithm, AlgorithmStopped
from dcprog.algorithms.start import Infeasible, NoStart
from dcprog.convexity import sample_box
from dcprog.errors import DataError, FunctionError, ModelError
from dcprog.program import DCProgram
from dcprog.result import Record, Result, State, Status
from dcprog.solvers.base import Claim
from dcprog.stopping import Rule

Callback = Callable[[State], bool | None]


def solve(
    program: DCProgram,
    *,
    algorithm: str = "dca",
    solver: str = "auto",
    x0: Any = None,
    tol: float | None = None,
    max_iter: int = 1000,
    time_limit: float | None = None,
    callback: Callback | None = None,
    starts: int = 1,
    seed: int | None = None,
    stop: Rule | None = None,
    solver_options: Mapping[str, Any] | None = None,
    jobs: int | None = None,
) -> Result:
    """Minimise g − h over C by DCA (or another algorithm) to a critical point.

    Parameters
    ----------
    program : DCProgram
    algorithm : str
        ``"dca"`` or ``"sla"``.
    solver : str
        A name that ``dcprog.solvers()`` lists, ``"pyomo:<name>"`` for anything Pyomo's SolverFactory knows, or ``"auto"``.
    x0 : array or mapping of names to arrays, optional
        Start. By default the model's values, else a feasible point.
    tol : float, optional
        Tolerance of the algorithm's stopping rule; by default the program's, else 1e-6.
    max_iter, time_limit : limits
    callback : callable, optional
        Called with every :class:`State`; returning True stops.
    starts, seed : int
        With ``starts`` > 1 the run is repeated from random points of C's box, in parallel, and the best is returned;
        ``result.runs`` reports all of them.
    stop : Rule, optional
        Replaces ``tol`` and ``max_iter``, as in ``Gap(1e-8) | MaxIter(100)``.
    solver_options : mapping, optional
        Passed to the solver as they are.
    jobs : int, optional
        Processes for several starts; by default as many as there are cores.

    Returns
    -------
    Result
        On every exit with the best point found: a limit, a failure and Ctrl-C are a status, not an exception.
    """
    if not isinstance(program, DCProgram):
        raise ModelError(f"expected a DCProgram, got {type(program).__name__}: declare DCProgram(model, g, h) first")
    check_limits(tol, max_iter)
    if time_limit is not None and not time_limit > 0:
        raise DataError(f"time_limit is {time_limit}: pass seconds > 0, or None for no limit")
    if starts < 1:
        raise DataError(f"starts is {starts}: pass an integer ≥ 1")
    kind = algorithms.get(algorithm)
    rule = kind.default_rule(program, tol, max_iter) if stop is None else stop
    settings: dict[str, Any] = {"solver": solver, "stop": rule, "time_limit": time_limit, "solver_options": solver_options}
    if starts == 1:
        return run(kind(program, x0=x0, **settings), callback)
    return _best_of(kind, program, x0, starts, seed, jobs, settings)


def run(algorithm: Algorithm, callback: Callback | None = None) -> Result:
    """Drive ``algorithm`` to its end. A FunctionError carries the result so far as its attribute ``result``."""
    began = time.perf_counter()
    states: list[Record] = []
    best: State | None = None
    messages: list[str] = []
    status = Status.CONVERGED

    def report(status: Status) -> Result:
        return _result(algorithm, status, best, states, messages, time.perf_counter() - began)

    try:
        for state in algorithm:
            states.append(Record.of(state))
            messages += [f"iteration {state.iteration}: {why}" for why in state.escalations]
            best = state if best is None or state.f <= best.f + 1e-12 * (1.0 + abs(best.f)) else best
            if callback is not None and callback(state):
                return report(Status.STOPPED_BY_CALLBACK)
        status = algorithm.status or status
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
    except FunctionError as error:
        error.result = report(Status.SUBPROBLEM_FAILED)
        raise
    return report(status)


def _result(
    algorithm: Algorithm, status: Status, best: State | None, history: list[Record], messages: list[str], seconds: float
) -> Result:
    program, start = algorithm.program, algorithm.start
    if start is not None and start.message:
        messages = [start.message, *messages]
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
        objective=np.inf if best is None else best.f,
        x=x,
        gap=history[-1].gap if history else None,
        iterations=history[-1].iteration if history else 0,
        algorithm=algorithm.name,
        solver=used[-1] if used else algorithm.dispatcher.first_choice,
        arrays=arrays,
        history=history,
        timings=timings,
        rebuilds=algorithm.dispatcher.rebuilds,
        messages=messages,
        rule=None if program.rule is None or best is None else program.rule(arrays),
    )


def _best_of(
    kind: type[Algorithm],
    program: DCProgram,
    x0: Any,
    starts: int,
    seed: int | None,
    jobs: int | None,
    settings: dict[str, Any],
) -> Result:
    """The best of several runs: one from x0, the others from seeded random points of C's box."""
    from joblib import Parallel, cpu_count, delayed

    compiled = program.compiled
    centre = np.clip(program.vector({} if x0 is None else x0), compiled.lower, compiled.upper)
    points = sample_box(compiled.lower, compiled.upper, centre, starts - 1, np.random.default_rng(seed))
    candidates = [x0, *points]
    workers = min(starts, cpu_count()) if jobs is None else jobs
    results: list[Result] = Parallel(n_jobs=workers)(delayed(run)(kind(program, x0=x, **settings)) for x in candidates)
    best = min(results, key=lambda r: (not r.success, r.objective))
    best.runs = [
        {"start": i, "status": str(r.status), "objective": r.objective, "gap": r.gap, "iterations": r.iterations}
        for i, r in enumerate(results)
    ]
    return best


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

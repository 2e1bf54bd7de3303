"""Pyomo's door: ``pyo.SolverFactory("dcprog")`` takes any model that :func:`dcprog.from_pyomo` can split into g − h.

>>> import dcprog, pyomo.environ as pyo
>>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-3, 2), initialize=1.5); m.y = pyo.Var(bounds=(0, 1), initialize=0.5)
>>> m.cost = pyo.Objective(expr=m.y**2 - m.x**2)
>>> results = pyo.SolverFactory("dcprog").solve(m, starts=5, seed=0)
>>> print(results.solver.termination_condition, pyo.value(m.x).__round__(6), pyo.check_optimal_termination(results))
locallyOptimal -3.0 True

A local method promises a critical point, never the least one: what converged is ``locallyOptimal`` here, as what Ipopt
finds is. In Pyomo's new interface (``pyomo.contrib.solver.common.factory.SolverFactory``), which has no word for that, it
is ``convergenceCriteriaSatisfied`` with a ``feasible`` solution. ``objective_bound`` is None: nothing is proved of others.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from pyomo.common.collections import ComponentMap
from pyomo.common.config import Bool, ConfigValue, NonNegativeInt, PositiveFloat, PositiveInt, document_configdict
from pyomo.common.timing import HierarchicalTimer
from pyomo.contrib.solver.common.base import Availability, LegacySolverWrapper, SolverBase
from pyomo.contrib.solver.common.config import SolverConfig
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, SolutionStatus, TerminationCondition
from pyomo.contrib.solver.common.solution_loader import SolutionLoader
from pyomo.contrib.solver.common.util import NoOptimalSolutionError, NoSolutionError
from pyomo.opt.results.solution import SolutionStatus as LegacySolutionStatus
from pyomo.opt.results.solver import TerminationCondition as LegacyTerminationCondition

if TYPE_CHECKING:
    from dcprog.algorithms.result import Result

FEASIBLE = 1e-6
"""The largest violation of a point that is called feasible, where no certificate says so."""
TERMINATION = {
    "converged": TerminationCondition.convergenceCriteriaSatisfied,
    "optimal": TerminationCondition.convergenceCriteriaSatisfied,
    "stalled": TerminationCondition.minStepLength,
    "iteration_limit": TerminationCondition.iterationLimit,
    "time_limit": TerminationCondition.maxTimeLimit,
    "interrupted": TerminationCondition.interrupted,
    "stopped_by_callback": TerminationCondition.interrupted,
    "infeasible": TerminationCondition.provenInfeasible,
    "infeasible_stationary": TerminationCondition.locallyInfeasible,
    "unbounded": TerminationCondition.unbounded,
    "subproblem_failed": TerminationCondition.error,
    "defective": TerminationCondition.error,
    "not_convex": TerminationCondition.error,
}
"""What Pyomo calls the ends of a run; the others are unknown to it."""


OPTIONS: Mapping[str, tuple[Any, Any, str]] = {
    "algorithm": (str, "auto", "Name of an algorithm, such as 'dca', 'boosted' or 'penalty'."),
    "subsolver": (str, "auto", "What solves the convex subproblems: a name that dcprog.available_solvers() lists."),
    "method": (str, "auto", "How what is not convex is split; see dcprog.decompose."),
    "starts": (PositiveInt, 1, "Runs: the first from the model's values, the others from random points; the best counts."),
    "seed": (NonNegativeInt, None, "Of the random points."),
    "tol": (PositiveFloat, None, "Relative tolerance of the certificate of a critical point, 1e-6 if None."),
    "max_iter": (PositiveInt, 1000, "Iterations of each run."),
    "fallback": (Bool, True, "Whether other subsolvers are asked where the answer of one does not hold."),
}


@document_configdict()
class DCProgConfig(SolverConfig):  # type: ignore[misc]
    """The options of :func:`dcprog.solve`, beside those that all solvers of Pyomo have."""

    def __init__(self, description: Any = None, doc: Any = None, visibility: int = 0, **implicit: Any) -> None:
        super().__init__(description=description, doc=doc, visibility=visibility, **implicit)
        self.get("raise_exception_on_nonoptimal_result").set_default_value(False)
        self.get("raise_exception_on_nonoptimal_result").reset()
        for name, (domain, default, text) in OPTIONS.items():
            setattr(self, name, self.declare(name, ConfigValue(domain=domain, default=default, description=text)))


class _Streams:
    """Several streams as one."""

    def __init__(self, streams: Sequence[TextIO]) -> None:
        self._streams = streams

    def write(self, text: str) -> None:
        for stream in self._streams:
            stream.write(text)

    def flush(self) -> None:
        for stream in self._streams:
            stream.flush()


class PointLoader(SolutionLoader):  # type: ignore[misc]
    """The values of the variables; multipliers of rows and bounds are not claimed, so suffixes stay empty."""

    def __init__(self, model: Any, values: Mapping[Any, float]) -> None:
        self._pyomo_model, self._values = model, values

    def get_number_of_solutions(self) -> int:
        return int(len(self._values) > 0)

    def get_vars(self, vars_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        if not self._values:
            raise NoSolutionError()
        if vars_to_load is None:
            return self._values
        chosen: Mapping[Any, float] = ComponentMap((v, self._values[v]) for v in vars_to_load)
        return chosen

    def get_duals(self, cons_to_load: Sequence[Any] | None = None) -> dict[Any, float]:
        return {}

    def get_reduced_costs(self, vars_to_load: Sequence[Any] | None = None) -> Mapping[Any, float]:
        none: Mapping[Any, float] = ComponentMap()
        return none


class DCProg(SolverBase):  # type: ignore[misc]
    """dcprog as a solver of Pyomo's new interface: decomposes the model, solves it, loads the values of its variables."""

    CONFIG = DCProgConfig()

    def available(self) -> Availability:
        """It is here; its subsolvers HiGHS, PIQP and Clarabel come with it."""
        return Availability.FullLicense

    def version(self) -> tuple[int, ...]:
        """That of dcprog."""
        from dcprog import __version__

        return tuple(int(part) for part in re.findall(r"\d+", __version__)[:3])

    def solve(self, model: Any, **kwds: Any) -> Results:
        """Decompose and solve ``model``; the options are those of :class:`DCProgConfig`."""
        from dcprog.algorithms.run import solve
        from dcprog.program.from_pyomo import from_pyomo

        began = datetime.datetime.now(datetime.timezone.utc)
        config = self.config(value=kwds, preserve_implicit=True)
        timer = config.timer = config.timer or HierarchicalTimer()
        timer.start("decompose")
        program = from_pyomo(model, method=config.method)
        timer.stop("decompose")
        log = _log(config.tee)
        timer.start("solve")
        result = solve(
            program,
            algorithm=config.algorithm,
            solver=config.subsolver,
            tol=config.tol,
            max_iter=config.max_iter,
            time_limit=_time_left(config.time_limit, began),
            callback=log,
            starts=config.starts,
            seed=config.seed,
            solver_options=config.solver_options.value() or None,
            n_jobs=config.threads,
            fallback=config.fallback,
        )
        timer.stop("solve")
        if log is not None:
            log.close(result)
        results = self._results(model, program, result)
        results.timing_info.start_timestamp = began
        results.timing_info.wall_time = _seconds_since(began)
        results.timing_info.timer = timer
        for name, seconds in result.timings.items():
            results.timing_info[f"dcprog_{name}"] = seconds
        results.solver_config = config
        if config.raise_exception_on_nonoptimal_result and not result.success:
            raise NoOptimalSolutionError(f"dcprog ended {result.status}: {'; '.join(result.messages) or 'no reason given'}")
        if config.load_solutions and results.solution_status is not SolutionStatus.noSolution:
            results.solution_loader.load_solution()
        return results

    def _results(self, model: Any, program: Any, result: Result) -> Results:
        found = bool(np.isfinite(result.x).all())
        values = ComponentMap(zip(program.compiled.variables, result.x.tolist(), strict=True)) if found else ComponentMap()
        results = Results()
        results.solver_name, results.solver_version = self.name, self.version()
        results.solution_loader = PointLoader(model, values)
        results.termination_condition = TERMINATION.get(str(result.status), TerminationCondition.unknown)
        results.solution_status = _solution_status(result, found)
        if results.solution_status in (SolutionStatus.feasible, SolutionStatus.optimal):
            results.incumbent_objective = result.objective
        results.objective_bound = result.bound
        for name in ("gap", "violation", "iterations", "algorithm", "solver", "stationarity", "assumptions", "messages"):
            results.extra_info[name] = getattr(result, name)
        results.extra_info["status"] = str(result.status)
        return results


def _solution_status(result: Result, found: bool) -> SolutionStatus:
    if not found:
        return SolutionStatus.noSolution
    if result.success or result.violation <= FEASIBLE:
        return SolutionStatus.optimal if str(result.status) == "optimal" else SolutionStatus.feasible
    return SolutionStatus.infeasible


def _log(streams: Sequence[TextIO]) -> Any:
    from dcprog.algorithms.log import Log

    return Log(stream=_Streams(streams)) if streams else None  # type: ignore[arg-type]


def _seconds_since(began: datetime.datetime) -> float:
    return (datetime.datetime.now(datetime.timezone.utc) - began).total_seconds()


def _time_left(limit: float | None, began: datetime.datetime) -> float | None:
    return None if limit is None else max(limit - _seconds_since(began), 1e-3)


class LegacyDCProg(LegacySolverWrapper, DCProg):  # type: ignore[misc]
    """The same behind ``pyo.SolverFactory("dcprog")``, which takes the options of both interfaces in ``solve``."""

    def solve(self, model: Any, *, time_limit: float | None = None, **kwds: Any) -> Any:
        own = {name: kwds.pop(name) for name in OPTIONS if name in kwds}
        if time_limit is not None:
            kwds.setdefault("timelimit", time_limit)
        before = {name: self.config[name] for name in (*OPTIONS, "time_limit")}
        try:
            for name, value in own.items():
                self.config[name] = value
            return super().solve(model, **kwds)
        finally:
            for name, value in before.items():
                self.config[name] = value

    def _map_results(self, model: Any, results: Results) -> tuple[Any, Any]:
        legacy, solution = super()._map_results(model, results)
        converged = results.termination_condition is TerminationCondition.convergenceCriteriaSatisfied
        if converged and results.solution_status is not SolutionStatus.optimal:
            legacy.solver.termination_condition = LegacyTerminationCondition.locallyOptimal
            solution.status = LegacySolutionStatus.locallyOptimal
        return legacy, solution


DOC = "DC programming: any continuous model, split into convex functions g − h"
SolverFactory.register("dcprog", doc=DOC)(DCProg, LegacyDCProg)

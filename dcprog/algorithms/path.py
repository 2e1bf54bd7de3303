"""Solutions along a grid of parameters, with solvers that stay warm."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dcprog import algorithms
from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.result import Result, Status
from dcprog.algorithms.run import check_limits, run
from dcprog.algorithms.stopping import Rule
from dcprog.convex.problem import Subproblem
from dcprog.errors import DataError
from dcprog.learning.samples import check_data, check_samples
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import Dispatcher


@dataclass(frozen=True)
class Path(Sequence[Result]):
    """Results in the order of the grid, with the parameters of each."""

    parameters: tuple[dict[str, Any], ...]
    results: tuple[Result, ...]
    builds: int
    """How often a model was loaded into a solver."""

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, i: Any) -> Any:
        return self.results[i]

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)


def path(
    factory: Callable[..., DCProgram],
    X: Any,
    y: Any,
    *,
    algorithm: str = "dca",
    solver: str = "auto",
    continuation: bool = False,
    tol: float | None = None,
    max_iter: int = 1000,
    stop: Rule | Callable[[DCProgram], Rule] | None = None,
    **parameters: Any,
) -> Path:
    """Solve ``factory(X, y, …)`` for every combination of the parameters given as lists, the last one varying fastest.

    The data are checked and the model is built once; while only costs change from one program to the next, the solver goes
    on from its last basis or active set. Each run starts where the formulation says, as if it were alone; with
    ``continuation`` it starts at the solution before, which is faster and may end at another critical point. Ctrl-C ends the
    path with the run that it interrupts. ``stop`` is a stopping rule, or makes one for each program, as
    ``DCA.default_rule`` does: it ends the runs whether the certificate holds or not.

    >>> import dcprog.datasets
    >>> from dcprog.models import fsv
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> results = path(fsv, data.X, data.y, lam=[0.05, 0.5, 0.95])
    >>> [len(r.rule.selected()) for r in results], results.builds
    ([3, 1, 0], 1)
    """
    check_limits(tol, max_iter)
    lists = {name: list(values) for name, values in parameters.items() if isinstance(values, list | tuple | np.ndarray)}
    if not lists or not all(lists.values()):
        raise DataError("no parameter is a non-empty list: pass the grid as lists, as in lam=[0.1, 0.5]")
    fixed = {name: value for name, value in parameters.items() if name not in lists}
    given = (check_data(X, y), None) if len(check_samples(X, y).classes) == 2 else (X, y)
    kind = algorithms.get(algorithm)
    grid = tuple(dict(zip(lists, values, strict=True)) for values in product(*lists.values()))
    results: list[Result] = []
    builds, held, dispatcher = 0, 0, None
    for point in grid:
        program = factory(*given, **fixed, **point)
        start = results[-1].x if continuation and results else None
        run_of_it = kind(program, solver=solver, x0=start, tol=tol, max_iter=max_iter, stop=_rule(stop, program))
        if dispatcher is not None and not continuation:
            dispatcher.rewind()
        run_of_it.keep(dispatcher if _fits(dispatcher, run_of_it) else None)
        results.append(run(run_of_it))
        before = held if dispatcher is run_of_it.dispatcher else 0
        dispatcher = run_of_it.dispatcher
        held = dispatcher.builds
        builds += held - before
        if results[-1].status is Status.INTERRUPTED:
            break
    return Path(grid[: len(results)], tuple(results), builds)


def _rule(stop: Rule | Callable[[DCProgram], Rule] | None, program: DCProgram) -> Rule | None:
    return stop if stop is None or isinstance(stop, Rule) else stop(program)


def _fits(dispatcher: Dispatcher | None, algorithm: Algorithm) -> bool:
    """Whether the solvers of ``dispatcher`` hold the subproblem of ``algorithm``, up to its cost."""
    if dispatcher is None:
        return False
    one, two = dispatcher.problem, algorithm.program.compiled.subproblem
    return one.A is two.A and _same_arrays(one, two) and _same_matrix(one.Q, two.Q) and not (two.smooth or two.constraints)


def _same_arrays(one: Subproblem, two: Subproblem) -> bool:
    pairs = ((one.lower, two.lower), (one.upper, two.upper), (one.row_lower, two.row_lower), (one.row_upper, two.row_upper))
    return all(np.array_equal(a, b) for a, b in pairs)


def _same_matrix(one: Any, two: Any) -> bool:
    if one is None or two is None:
        return one is two
    return bool((one != two).nnz == 0)

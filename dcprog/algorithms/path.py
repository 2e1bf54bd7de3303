"""Solutions along a grid of parameters, with solvers that stay warm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from itertools import product
from typing import Any

import numpy as np

from dcprog import algorithms
from dcprog.algorithms.base import Algorithm
from dcprog.algorithms.result import Result, Status
from dcprog.algorithms.run import check_limits, run
from dcprog.algorithms.stopping import StoppingRule
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DataError, ModelError
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import Family
from dcprog.solvers.dispatch import Dispatcher

Point = dict[str, Any]
Factory = Callable[..., DCProgram]


@dataclass(frozen=True)
class Path(Sequence[Result]):
    """Results in the order of the grid, with the parameters of each."""

    parameters: tuple[Point, ...]
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
    factory: Factory | Family | Iterable[DCProgram],
    *arguments: Any,
    algorithm: str | type[Algorithm] | Algorithm = "dca",
    solver: str = "auto",
    continuation: bool = False,
    tol: float | None = None,
    max_iter: int = 1000,
    stop: StoppingRule | Callable[[DCProgram], StoppingRule] | None = None,
    **parameters: Any,
) -> Path:
    """Solve a program for every combination of the parameters given as lists, the last one varying fastest.

    While only costs change from one program to the next, the solver goes on from its last basis or active set; whether that
    is so is seen from the compiled arrays. Each run starts where the program says, as if it were alone. Ctrl-C ends the path
    with the run that it interrupts.

    Parameters
    ----------
    factory : callable, Family, or iterable of DCProgram
        What makes the programs. A callable is called as ``factory(*arguments, **parameters)`` with every point of the grid;
        one that has an attribute ``family``, as the factories of :mod:`dcprog.models` have
        (:func:`~dcprog.program.family.of_family`), gets ``family(*arguments, …)`` in place of the arguments: a model that is
        built once for all points that agree in the parameters that ``family`` takes. With a :class:`~dcprog.Family` the
        arguments are g and h, functions of the parameters or expressions. Of an iterable the programs are solved one after
        the other, at the points ``{"program": 0}``, ``{"program": 1}`` and so on.
    *arguments
        Handed on, such as the data (X, y).
    algorithm, solver, tol, max_iter
        As in :func:`dcprog.solve`.
    continuation : bool
        Start each run at the solution before, which is faster and may end at another critical point.
    stop : StoppingRule or callable, optional
        A stopping rule, or what makes one for each program, as ``DCA.default_rule`` does: it ends the runs whether the
        certificate holds or not.
    **parameters
        Lists (tuples, arrays) are the grid, what is no list is the same at all of its points.

    Examples
    --------
    >>> import dcprog.datasets
    >>> from dcprog.models import fsv
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> results = path(fsv, data.X, data.y, lam=[0.05, 0.5, 0.95])
    >>> [len(r.classifier.selected()) for r in results], results.builds
    ([3, 1, 0], 1)

    Any model, without data:

    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var(bounds=(-1, 2), initialize=1)
    >>> walk = path(dcprog.Family(m), m.x**2, lambda a: a * m.x, a=[2, 6], continuation=True)
    >>> [(p["a"], round(r.objective, 6)) for p, r in zip(walk.parameters, walk)]
    [(2, -1.0), (6, -8.0)]
    """
    check_limits(tol, max_iter)
    if algorithm != "auto":
        algorithms.maker(algorithm)  # what it does not know is refused before anything is built
    walked: list[Point] = []
    results: list[Result] = []
    builds, dispatcher = 0, None
    for point, program in _programs(factory, arguments, parameters):
        start = results[-1].x if continuation and results else None
        kind = _kind(algorithm, program)
        dispatcher = _still_open(dispatcher, kind.opened(program), rewind=not continuation)
        before = 0 if dispatcher is None else dispatcher.builds
        walker = algorithms.maker(kind)(
            program,
            solver=solver,
            x0=start,
            tol=tol,
            max_iter=max_iter,
            stop=_rule(stop, program),
            dispatcher=dispatcher,
        )
        walked.append(point)
        results.append(run(walker))
        dispatcher = walker.dispatcher
        builds += dispatcher.builds - before
        if results[-1].status is Status.INTERRUPTED:
            break
    return Path(tuple(walked), tuple(results), builds)


def _kind(algorithm: str | type[Algorithm] | Algorithm, program: DCProgram) -> type[Algorithm] | Algorithm:
    """The class of that name, or the class or instance that it is."""
    if not isinstance(algorithm, str):
        return algorithm
    return algorithms.get(algorithms.choose(program) if algorithm == "auto" else algorithm)


def _still_open(dispatcher: Dispatcher | None, problem: ConvexProblem, *, rewind: bool) -> Dispatcher | None:
    """The solvers of the run before if they can go on with ``problem``, from where their first run began."""
    if dispatcher is None or not dispatcher.as_opened.differs_in_cost_alone(problem):
        return None
    if rewind:
        dispatcher.rewind()
    return dispatcher


def _rule(stop: StoppingRule | Callable[[DCProgram], StoppingRule] | None, program: DCProgram) -> StoppingRule | None:
    return stop if stop is None or isinstance(stop, StoppingRule) else stop(program)


def _programs(source: Any, arguments: tuple[Any, ...], parameters: Mapping[str, Any]) -> Iterator[tuple[Point, DCProgram]]:
    """Every point of the grid with its program, made when its turn comes."""
    if isinstance(source, Iterable) and not callable(source):
        if arguments or parameters:
            raise DataError("a sequence of programs has no parameters: pass a factory, or leave arguments and grid out")
        made: Iterable[tuple[Point, Any]] = (({"program": i}, program) for i, program in enumerate(source))
    else:
        grid, fixed = _grid(parameters)
        make = _maker(source, arguments, fixed)
        made = ((point, make(**fixed, **point)) for point in grid)
    for point, program in made:
        if not isinstance(program, DCProgram):
            raise ModelError(f"the program at {point} is {type(program).__name__}, expected a DCProgram")
        yield point, program


def _grid(parameters: Mapping[str, Any]) -> tuple[list[Point], Point]:
    """All combinations of the parameters that are lists, and the other parameters."""
    for name, values in parameters.items():
        if isinstance(values, np.ndarray) and values.ndim > 1:
            raise DataError(
                f"{name} is an array with {values.ndim} dimensions, expected a list of values: pass data after the factory, "
                "as in path(factory, X, y, lam=[0.1, 0.5])"
            )
    lists = {name: list(values) for name, values in parameters.items() if isinstance(values, list | tuple | np.ndarray)}
    if not lists or not all(lists.values()):
        raise DataError("no parameter is a non-empty list: pass the grid as lists, as in lam=[0.1, 0.5]")
    fixed = {name: value for name, value in parameters.items() if name not in lists}
    return [dict(zip(lists, values, strict=True)) for values in product(*lists.values())], fixed


def _maker(source: Any, arguments: tuple[Any, ...], fixed: Point) -> Factory:
    """The program as a function of the parameters."""
    if isinstance(source, Family):
        if len(arguments) != 2:
            raise DataError(
                f"got {len(arguments)} arguments after the family, expected two: g and h, as in path(family, g, h, …)"
            )
        g, h = arguments
        return lambda **point: source.program(_at(g, point), _at(h, point))
    if not callable(source):
        raise ModelError(
            f"got {type(source).__name__}, expected a function that returns a DCProgram, a Family, or several DCPrograms"
        )
    family = getattr(source, "family", None)
    return partial(source, *arguments) if family is None else Shared(source, family, arguments)


def _at(function: Any, point: Point) -> Any:
    """A function of the parameters at the point; expressions, which Pyomo makes callable too, are the same everywhere."""
    return function(**point) if callable(function) and not hasattr(function, "is_expression_type") else function


class Shared:
    """A factory with its data, and with the families that it has made of them: one for each shape of the model."""

    def __init__(self, factory: Factory, family: Callable[..., Family], arguments: tuple[Any, ...]) -> None:
        self.factory, self.family, self.arguments = factory, family, arguments
        self.shaping = signature(family).parameters.keys()
        self.families: list[tuple[Point, Family]] = []

    def __call__(self, **parameters: Any) -> DCProgram:
        shape = {name: value for name, value in parameters.items() if name in self.shaping}
        return self.factory(self._family(shape), **parameters)

    def _family(self, shape: Point) -> Family:
        for known, family in self.families:
            if _equal(known, shape):
                return family
        family = self.family(*self.arguments, **shape)
        self.families.append((shape, family))
        return family


def _equal(one: Point, other: Point) -> bool:
    return all(one[name] is other[name] or np.array_equal(one[name], other[name]) for name in one)

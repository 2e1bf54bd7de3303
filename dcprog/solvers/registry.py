"""Solvers by name, and which one ``auto`` takes: each says its rank for a problem itself.

The ranks were measured (docs/solvers.md has the figures): HiGHS keeps its basis between LPs, a working set of
columns and the dual make the large ones small; active sets carry over from QP to QP; Ipopt takes every smooth convex
problem, and SciPy's L-BFGS-B is faster than it where there are only bounds and the Hessian is dense or missing.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import CapabilityError, DataError, SolverUnavailableError, nearest, unknown_name
from dcprog.solvers import adapters, reductions
from dcprog.solvers.base import Feature, Solver

ROOMS = (adapters, reductions)
"""The packages in which each file may define a solver."""
_registered: dict[str, Solver] = {}
CHOICES: dict[str, Mapping[ProblemClass, tuple[str, ...]]] = {
    "auto": {},
    "reference": {
        ProblemClass.LP: ("highs", "ipopt"),
        ProblemClass.QP: ("highs", "ipopt"),
        ProblemClass.CONIC: ("ipopt",),
        ProblemClass.NLP: ("ipopt",),
    },
}
"""Names that stand for solvers by the class of the subproblem, and where there are none by rank. ``reference`` is the plain
way: HiGHS, and Ipopt for what is smooth or where HiGHS gives up, get each subproblem whole; nothing of ours reduces it."""


def names() -> tuple[str, ...]:
    """Every name that :func:`get` knows, but for the ``pyomo:<name>`` family."""
    return (*_ours(), *_registered)


def register(solver: Solver) -> None:
    """Make a solver of your own known by its name: an instance, made with whatever parameters it has."""
    if isinstance(solver, type) or not isinstance(solver, Solver):
        given = f"the class {solver.__name__}" if isinstance(solver, type) else repr(solver)
        raise DataError(f"register got {given}, expected a Solver: pass an instance, as in register(MySolver())")
    _registered[solver.name] = solver


def registered() -> tuple[Solver, ...]:
    """The solvers that were registered here: another process does not know them."""
    return tuple(_registered.values())


def get(name: str) -> Solver:
    """The solver called ``name``.

    >>> get("highs").name
    'highs'
    >>> get("higs")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown solver 'higs': did you mean 'highs'? Known: active-set, auto, ...
    """
    if name not in names():
        if isinstance(name, str) and name.startswith("pyomo:"):
            from dcprog.solvers.adapters.pyomo import PyomoSolver

            return PyomoSolver(name.removeprefix("pyomo:"))
        raise unknown_name("solver", name, [*CHOICES, *names(), "pyomo:<name>"], meant=_in_pyomo(name))
    if name in _registered:
        return _registered[name]
    return _ours()[name]()


@cache
def _ours() -> dict[str, type[Solver]]:
    """The solvers of this package by name: each file of its rooms that defines one is found, so that one file adds one."""
    found: dict[str, type[Solver]] = {}
    for room in ROOMS:
        for info in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for value in vars(importlib.import_module(info.name)).values():
                is_own = isinstance(value, type) and issubclass(value, Solver) and value.__module__ == info.name
                if is_own and isinstance(vars(value).get("name"), str):
                    found[value.name] = value
    return found


def _in_pyomo(name: object) -> str | None:
    """How to ask for ``name`` where it is Pyomo's SolverFactory that knows it, and none of ours is called so."""
    from dcprog.solvers.adapters.pyomo import known_to_pyomo

    if str(name).lower() in names():
        return None
    known = known_to_pyomo()
    found = nearest(name, known, likeness=1.0) or (None if nearest(name, names()) else nearest(name, known, likeness=0.7))
    return found and f"pyomo:{found}"


def check(name: str) -> None:
    """``name`` is one of ``CHOICES``, or that of an installed solver: for methods that take a while until they need it.

    >>> check("higs")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown solver 'higs': did you mean 'highs'? Known: active-set, auto, ...
    """
    if name not in tuple(CHOICES):
        _installed(name)


def check_name(name: str) -> None:
    """``name`` is one of ``CHOICES``, or that of a solver, installed or not.

    >>> check_name("reference")
    """
    if name not in tuple(CHOICES):
        get(name)


def everything() -> Iterator[Solver]:
    """Every named solver, installed or not."""
    return map(get, names())


def chain(
    name: str, problem: ConvexProblem, needs: Feature = Feature.NONE, moving: frozenset[str] = frozenset()
) -> list[Solver]:
    """Solvers for ``problem`` in the order they are tried in: first the one that the name stands for, then those ``auto``
    takes as a rescue, of which those come first that change the fields ``moving`` in place."""
    asked, *further = CHOICES[name].get(problem.problem_class, (None,)) if name in tuple(CHOICES) else (name,)
    first = [] if asked is None else [_required(asked, problem, needs), *_usable(further, problem, needs)]
    ranks = [(not moving <= s.in_place, rank, s.name) for s in everything() if (rank := s.rank(problem)) is not None]
    rescue = _usable([name for *_, name in sorted(ranks)], problem, needs)
    solvers = first + [s for s in rescue if s.name not in {f.name for f in first}]
    if not solvers:
        raise SolverUnavailableError(
            f"no installed solver takes this {problem.problem_class}: pip install 'dcprog[solvers]'"
        )
    return solvers


def capable(problem: ConvexProblem) -> list[Solver]:
    """Every installed named solver that declares it can solve ``problem``."""
    return [s for s in everything() if s.available() and s.missing(problem) is None]


def _installed(name: str) -> Solver:
    solver = get(name)
    if not solver.available():
        raise SolverUnavailableError(f"solver {name!r} is not installed: {solver.install}")
    return solver


def _required(name: str, problem: ConvexProblem, needs: Feature) -> Solver:
    solver = _installed(name)
    lack = _lack(solver, problem, needs)
    if lack:
        can = [s.name for s in capable(problem) if _lack(s, problem, needs) is None]
        raise CapabilityError(f"solver {name!r} cannot solve this: {lack}; these can: {', '.join(can) or 'none installed'}")
    return solver


def _usable(names: Iterable[str], problem: ConvexProblem, needs: Feature) -> list[Solver]:
    """Those of the named solvers that are installed, and take the problem."""
    return [s for s in map(get, names) if s.available() and _lack(s, problem, needs) is None]


def _lack(solver: Solver, problem: ConvexProblem, needs: Feature) -> str | None:
    absent = needs & ~solver.features
    if absent:
        return f"it does not offer {absent.name}"
    return solver.missing(problem)

"""Solvers by name, and which one ``auto`` takes.

The table behind ``auto`` was measured (docs/solvers.md has the figures): HiGHS keeps its basis between LPs, a working set of
columns and the dual make the large ones small; active sets carry over from QP to QP; Ipopt takes every smooth convex
problem, and SciPy's L-BFGS-B is faster than it where there are only bounds and the Hessian is dense or missing.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ProblemClass, Subproblem
from dcprog.convex.terms import FunctionTerm
from dcprog.errors import CapabilityError, SolverUnavailableError, nearest, unknown_name
from dcprog.functions.base import ConvexFunction
from dcprog.solvers.base import Feature, Solver

_CLASSES = {
    "highs": "dcprog.solvers.adapters.highs:Highs",
    "highs-dual": "dcprog.solvers.reductions.highs_dual:HighsDual",
    "columns": "dcprog.solvers.reductions.columns:Columns",
    "active-set": "dcprog.solvers.reductions.active_set:ActiveSet",
    "piqp": "dcprog.solvers.adapters.piqp:PIQP",
    "squares": "dcprog.solvers.reductions.squares:Squares",
    "ipopt": "dcprog.solvers.adapters.ipopt:Ipopt",
    "scipy": "dcprog.solvers.adapters.scipy:SciPy",
    "clarabel": "dcprog.solvers.adapters.clarabel:Clarabel",
    "osqp": "dcprog.solvers.adapters.osqp:OSQP",
    "nlpsvm": "dcprog.solvers.reductions.l1_newton:NLPSVM",
}

PREFERENCE: dict[ProblemClass, tuple[str, ...]] = {
    ProblemClass.LP: ("highs", "clarabel", "piqp", "ipopt"),
    ProblemClass.QP: ("active-set", "piqp", "clarabel", "highs", "ipopt", "osqp", "scipy"),
    ProblemClass.NLP: ("squares", "ipopt", "scipy"),
}
"""In which order solvers are tried for each class of subproblem."""
SMALLEST_LP = 50
"""LPs with fewer rows go to HiGHS as they are."""
WIDE_QP = 200
"""QPs with at least this many columns, slacks aside, are solved over a working set of them."""
TALL = 2
"""LPs with this many times more rows than columns, slacks aside, are solved through their dual."""

_registered: dict[str, Solver] = {}


def names() -> tuple[str, ...]:
    """Every name that :func:`get` knows, but for the ``pyomo:<name>`` family."""
    return (*_CLASSES, *_registered)


def register(solver: Solver) -> None:
    """Make a solver of your own known by its name."""
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
        raise unknown_name("solver", name, ["auto", *names(), "pyomo:<name>"], meant=_in_pyomo(name))
    if name in _registered:
        return _registered[name]
    module, _, attribute = _CLASSES[name].partition(":")
    solver: Solver = getattr(importlib.import_module(module), attribute)()
    return solver


def _in_pyomo(name: object) -> str | None:
    """How to ask for ``name`` where it is Pyomo's SolverFactory that knows it, and none of ours is called so."""
    import pyomo.environ as pyo

    if str(name).lower() in names():
        return None
    known = [other for other in pyo.SolverFactory if not other.startswith("_")]
    found = nearest(name, known, likeness=1.0) or (None if nearest(name, names()) else nearest(name, known, likeness=0.7))
    return found and f"pyomo:{found}"


def check(name: str) -> None:
    """``name`` is ``auto``, or that of an installed solver: for methods that take a while until they need it.

    >>> check("higs")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown solver 'higs': did you mean 'highs'? Known: active-set, auto, ...
    """
    if name != "auto":
        _installed(name)


def everything() -> Iterator[Solver]:
    """Every named solver, installed or not."""
    return map(get, names())


def chain(name: str, problem: Subproblem, needs: Feature = Feature.NONE) -> list[Solver]:
    """Solvers for ``problem`` in the order they are tried in: the named one first, then those ``auto`` takes as a rescue."""
    first = [] if name == "auto" else [_required(name, problem, needs)]
    rescue = [s for s in map(get, _preference(problem)) if s.available() and _lack(s, problem, needs) is None]
    solvers = first + [s for s in rescue if s.name not in {f.name for f in first}]
    if not solvers:
        raise SolverUnavailableError(
            f"no installed solver takes this {problem.problem_class}: pip install 'dcprog[solvers]'"
        )
    return solvers


def capable(problem: Subproblem) -> list[Solver]:
    """Every installed named solver that declares it can solve ``problem``."""
    return [s for s in everything() if s.available() and s.missing(problem) is None]


def _installed(name: str) -> Solver:
    solver = get(name)
    if not solver.available():
        raise SolverUnavailableError(f"solver {name!r} is not installed: {solver.install}")
    return solver


def _required(name: str, problem: Subproblem, needs: Feature) -> Solver:
    solver = _installed(name)
    lack = _lack(solver, problem, needs)
    if lack:
        can = [s.name for s in capable(problem) if _lack(s, problem, needs) is None]
        raise CapabilityError(f"solver {name!r} cannot solve this: {lack}; these can: {', '.join(can) or 'none installed'}")
    return solver


def _lack(solver: Solver, problem: Subproblem, needs: Feature) -> str | None:
    absent = needs & ~solver.features
    if absent:
        return f"it does not offer {absent.name}"
    return solver.missing(problem)


def _preference(problem: Subproblem) -> tuple[str, ...]:
    kind = problem.problem_class
    order = PREFERENCE[kind]
    if kind is ProblemClass.NLP and problem.is_box and _hessian_is_costly(problem):
        return ("scipy", "ipopt")
    if kind is ProblemClass.LP and problem.m >= SMALLEST_LP:
        tall = problem.m > TALL * _wide_columns(problem)
        return ("columns", "highs-dual", *order) if tall else ("columns", *order)
    if kind is ProblemClass.QP and _wide_columns(problem) >= WIDE_QP:
        return ("columns", *order)
    return order


def _wide_columns(problem: Subproblem) -> int:
    """Columns with more than one entry: those that are no slacks."""
    return int((np.diff(sp.csc_array(problem.A).indptr) > 1).sum())


def _hessian_is_costly(problem: Subproblem) -> bool:
    """A vectorised function with a dense Hessian, or with none."""
    functions: list[ConvexFunction] = []
    if problem.smooth is not None:
        functions = [t.function for t in problem.smooth.terms if isinstance(t, FunctionTerm)]
    return any(not f.separable or not f.has_hessian for f in functions)

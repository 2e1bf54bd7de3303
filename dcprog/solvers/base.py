"""What a solver of convex subproblems is: what it declares, what it is given, what it gives back.

One file per solver. A solver is a stateless description; :meth:`Solver.open` loads a subproblem once and returns a session,
in which the linear cost changes from one :meth:`Session.solve` to the next, and by :meth:`Session.change` other numbers do.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Flag, auto
from functools import cache
from typing import Any, ClassVar

import numpy as np

from dcprog.convex.answer import Answer
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.typing import Vector


class Feature(Flag):
    """What a solver offers beyond an optimal point."""

    NONE = 0
    WARM_START = auto()
    DUALS = auto()
    VERTEX = auto()
    """LP solutions are vertices of the feasible set."""
    LINEAR_ROWS = auto()
    """Linear constraints beyond bounds."""
    NONLINEAR_ROWS = auto()
    """Convex non-linear constraints."""
    CONES = auto()
    """Constraints that are cones, such as ‖x‖ ≤ t, and have no gradient at their tip."""


class Session(ABC):
    """A subproblem loaded into a solver."""

    @property
    def reopened(self) -> int:
        """How often a solver that this one stands on had to load anew, after a change, what it had loaded already."""
        return 0

    @abstractmethod
    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        """Minimise with linear cost ``c``, from ``start`` if the solver can use it, within ``time_limit`` seconds."""

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        """The open problem is ``problem`` now, which has the same structure; ``moved`` names its fields that are others.

        Returns None where that is done in place, else the reason why the problem has to be opened anew.
        """
        return f"{type(self).__name__} changes the linear cost alone in place, not {', '.join(sorted(moved))}"

    def bookmark(self) -> None:
        """Remember where the last solve ended, if the solver can go on from there."""

    def rewind(self) -> None:
        """Go back to the bookmark, if there is one."""


class Solver(ABC):
    """One solver: its name, what it declares, and how to open a session."""

    name: ClassVar[str]
    module: ClassVar[str]
    """The package it imports on first use."""
    distribution: ClassVar[str]
    """The name under which pip knows that package."""
    install: ClassVar[str]
    """What brings it."""
    classes: ClassVar[frozenset[ProblemClass]]
    features: ClassVar[Feature]
    interruptible: ClassVar[bool] = False
    """Whether a time limit ends it at any moment, up to one small step. One that is not says how long it does not look at
    the clock, by :meth:`estimate_seconds`; one that says neither runs on a thread, where it can be left to itself."""
    in_place: ClassVar[frozenset[str]] = frozenset()
    """Fields of the problem that its sessions change in place, see :meth:`Session.change`."""
    ranks: ClassVar[Mapping[ProblemClass, int]] = {}
    """Where ``auto`` takes it among the solvers of a class, the lowest first; not at all where a class is not listed."""
    careful: ClassVar[Mapping[str, Any] | None] = None
    """Options for further tries in the units of the point that did not hold; None: no further try."""

    @abstractmethod
    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        """Load ``problem``. Unknown options are an error of the solver's own, raised here."""

    def rank(self, problem: ConvexProblem) -> int | None:
        """Where ``auto`` takes it for ``problem``, the lowest first; None: not at all."""
        return self.ranks.get(problem.problem_class)

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        """About how long it runs on ``problem`` without looking at the clock; 0 for one that is interruptible."""
        return 0.0

    @property
    def keeps_time(self) -> bool:
        """Whether it says anything about time limits."""
        return self.interruptible or type(self).estimate_seconds is not Solver.estimate_seconds

    def available(self) -> bool:
        """Whether it is installed."""
        return _is_installed(self.module)

    def version(self) -> str | None:
        """Its version, None if it is not installed."""
        return version_of(self.distribution)

    def missing(self, problem: ConvexProblem) -> str | None:
        """What ``problem`` needs that this solver does not offer, in words; None if it can be solved."""
        if problem.problem_class not in self.classes:
            solved = ", ".join(sorted(c.value for c in self.classes))
            return f"it solves {solved}, and this subproblem is {problem.problem_class}"
        if problem.m and not self.features & Feature.LINEAR_ROWS:
            return "it takes no linear constraints beyond bounds"
        if problem.constraints and not self.features & Feature.NONLINEAR_ROWS:
            return "it takes no non-linear constraints"
        if problem.has_cones and not self.features & Feature.CONES:
            return "it takes no cones, such as norms in g"
        return None


@cache
def _is_installed(module: str) -> bool:
    """Looked up once: a search through the file system is as long as a small LP."""
    return importlib.util.find_spec(module) is not None


def cost_scale(c: Vector) -> float:
    """A power of two that brings the costs to the size of 1, for solvers whose tolerances are absolute.

    >>> cost_scale(np.array([0.0, -1e-5]))
    131072.0
    """
    largest = float(np.abs(c).max(initial=0.0))
    return 1.0 if largest == 0.0 else 2.0 ** float(np.round(-np.log2(largest)))


def version_of(distribution: str) -> str | None:
    """Version of an installed distribution, None if it is not installed."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def finite(values: Vector, limit: float = 1e20) -> Vector:
    """``values`` with infinities replaced by ±limit, for solvers that spell infinity so."""
    return np.clip(values, -limit, limit)

"""When to stop: rules that look at a state and combine with ``|`` (either) and ``&`` (both).

A rule says when to stop; whether the point is critical then is for the certificate to say
(:mod:`dcprog.algorithms.criticality`).

>>> rule = Gap(1e-8) | MaxIter(100)
>>> rule
Gap(tol=1e-08) | MaxIter(limit=100)
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcprog.algorithms.result import State, Status
from dcprog.errors import DataError


class StoppingRule(ABC):
    """A stopping rule: what :meth:`check` makes of each state."""

    @abstractmethod
    def check(self, state: State) -> Status | None:
        """The status to stop with at ``state``, or None to go on."""

    def ends(self, state: State) -> Status | None:
        """The limit that ends the run at ``state`` whether it has converged or not, None if there is none."""
        verdict = self.check(state)
        return None if verdict is Status.CONVERGED else verdict

    def start(self) -> None:
        """Called once, when an algorithm starts."""

    def __or__(self, other: StoppingRule) -> StoppingRule:
        return Either(self, other)

    def __and__(self, other: StoppingRule) -> StoppingRule:
        return Both(self, other)


@dataclass(frozen=True)
class Step(StoppingRule):
    """Algorithm 4.1's rule: min(|Δxᵢ|, |Δxᵢ/xᵢ|) ≤ tol for every i, on all variables or on the named ones."""

    tol: float = 1e-6
    variables: tuple[str, ...] | None = None

    def check(self, state: State) -> Status | None:
        if state.step is None:
            return None
        step = state.step if self.variables is None else state.step_on(self.variables)
        return Status.CONVERGED if step <= self.tol else None


@dataclass(frozen=True)
class Gap(StoppingRule):
    """The gap of criticality of the iterate before is at most tol, relative to the size of the terms of f.

    A gap that is as far below zero is no sign of convergence, but of a defect.
    """

    tol: float = 1e-8

    def check(self, state: State) -> Status | None:
        if state.gap is None or not abs(state.gap) <= self.tol * state.scale:
            return None
        return Status.CONVERGED


@dataclass(frozen=True)
class Function(StoppingRule):
    """A function of the state that says True to stop."""

    function: Callable[[State], bool]

    def check(self, state: State) -> Status | None:
        return Status.CONVERGED if self.function(state) else None


@dataclass(frozen=True)
class MaxIter(StoppingRule):
    """At most ``limit`` iterations."""

    limit: int = 1000

    def check(self, state: State) -> Status | None:
        return Status.ITERATION_LIMIT if state.iteration >= self.limit else None


@dataclass
class TimeLimit(StoppingRule):
    """At most ``seconds`` since the algorithm started."""

    seconds: float
    _began: float = field(default=0.0, init=False, repr=False)

    def start(self) -> None:
        self._began = time.perf_counter()

    def check(self, state: State) -> Status | None:
        return Status.TIME_LIMIT if time.perf_counter() - self._began >= self.seconds else None


class Combined(StoppingRule):
    """A rule made of others."""

    def __init__(self, *rules: StoppingRule) -> None:
        self.rules = rules

    def start(self) -> None:
        for rule in self.rules:
            rule.start()


class Either(Combined):
    """Stops when one of its rules does; convergence wins over limits."""

    def check(self, state: State) -> Status | None:
        verdicts = [v for v in (rule.check(state) for rule in self.rules) if v is not None]
        return _strongest(verdicts) if verdicts else None

    def ends(self, state: State) -> Status | None:
        return next((v for v in (rule.ends(state) for rule in self.rules) if v is not None), None)

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.rules))


class Both(Combined):
    """Stops when all of its rules do."""

    def check(self, state: State) -> Status | None:
        verdicts = [rule.check(state) for rule in self.rules]
        held = [v for v in verdicts if v is not None]
        return _strongest(held) if len(held) == len(verdicts) else None

    def __repr__(self) -> str:
        return " & ".join(f"({r!r})" if isinstance(r, Either) else repr(r) for r in self.rules)


def _strongest(verdicts: Sequence[Status]) -> Status:
    return Status.CONVERGED if Status.CONVERGED in verdicts else verdicts[0]


def as_rule(stop: Any) -> StoppingRule:
    """A rule, or a function of the state that says True to stop."""
    if isinstance(stop, StoppingRule):
        return stop
    if callable(stop) and not isinstance(stop, type):
        return Function(stop)
    raise DataError(f"stop is {stop!r}: pass a rule such as Gap(1e-8) | MaxIter(100), or a function of the state")

"""The course of a run: states until a rule says stop, and the certificate says what the last of them is.

A rule says when to stop, the certificate whether the point is critical then: it comes from the minimiser of the plain model
m(y) = g(y) − ⟨u, y⟩, u ∈ ∂h(x), at the point that is returned. Where the default rule says stop and the certificate does not
hold, the run goes on from that minimiser; where nothing moves any more it is ``stalled``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dcprog.algorithms.criticality import ROUNDING, Certificate, Criticality
from dcprog.algorithms.endings import AlgorithmStopped
from dcprog.algorithms.further import further
from dcprog.algorithms.lighter import Lighter, lighter
from dcprog.algorithms.result import State, Status
from dcprog.program.gradients import wrong_gradient, wrong_hessian
from dcprog.typing import Vector

if TYPE_CHECKING:
    from dcprog.algorithms.base import Algorithm

PATIENCE = 10
"""After so many short steps in a row each is lengthened while f falls."""
CREEPING = 100
"""After so many, a step in the steepest direction over C is tried at times: lengthened ones end at the boundary of C."""
STUCK = 3
"""So many iterations without a change of f beyond rounding, and the run is stalled."""


class Course:
    """One run of an algorithm, whose ``status`` and ``certificate`` say how it ended."""

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm, self.compiled = algorithm, algorithm.program.compiled
        self._idle = self._short = 0
        self._lighter: Lighter | None = None
        self._is_lighter_known = False

    def states(self, state: State) -> Iterator[State]:
        """From the first state on."""
        algorithm = self.algorithm
        algorithm.begin(state)
        while True:
            algorithm.trace.add(state)
            yield state
            verdict = algorithm.stop.check(state)
            if verdict is None and not algorithm.plain:
                state = algorithm.advance(state)
                continue
            ahead = algorithm.advance(state) if verdict is None else self._look_ahead(state, verdict)
            if ahead is None:
                algorithm.status = verdict
                return
            if verdict is None and not self._is_due(state, ahead):
                state = ahead if algorithm.own_rule else self._lengthened(state, ahead, PATIENCE)
                continue
            certificate = algorithm.certificate = self.certificate(state, ahead)
            if not certificate.holds and self._sharpens():
                state = algorithm.linearised(state)  # the same model, solved to more digits
                algorithm.begin(state)
                continue
            better = self._promised(state) if certificate.holds else None
            algorithm.status = self._status(state, certificate, better, verdict)
            if algorithm.status is not None:
                return
            algorithm.certificate = None
            state = better or self._onwards(state, ahead, certificate)
            algorithm.begin(state)

    def certificate(self, state: State, following: State) -> Certificate:
        """Of ``state``, where ``following`` minimises its plain model; with one LP more where nothing moves."""
        trace, criticality = self.algorithm.trace, self._criticality()
        certificate = criticality.certificate(state, following, trace)
        still = abs(state.level - following.level) <= ROUNDING * max(state.size, following.size)
        self._idle = self._idle + 1 if still else 0
        self._stuck = self._idle >= STUCK or following.level > state.level or bool(np.array_equal(state.x, following.x))
        creeps = self._short >= CREEPING and self._short % PATIENCE == 0
        if not certificate.holds and (self._stuck or creeps):
            return criticality.by_linear_program(state, following, trace)
        return certificate

    def _sharpens(self) -> bool:
        """Whether answers get more digits from now on: once, where nothing moves, or creeps, and x is not critical."""
        algorithm = self.algorithm
        if algorithm.own_rule or not (self._stuck or self._short >= CREEPING) or not algorithm.dispatcher.sharpen():
            return False
        self._idle = 0
        return True

    def _look_ahead(self, state: State, verdict: Status) -> State | None:
        """What the next state of DCA would be, for the certificate of this one; None where that cannot be had."""
        algorithm = self.algorithm
        if verdict is Status.TIME_LIMIT:
            return None
        if state.multipliers is not None and np.array_equal(algorithm.subgradient(state.x), state.multipliers.u):
            return replace(state, gap=0.0)  # x minimises its own model: the one that it came from
        try:
            return algorithm.advance(state) if algorithm.plain else algorithm.linearised(state)
        except AlgorithmStopped:
            if verdict is Status.CONVERGED and not algorithm.own_rule:
                raise
            return None

    def _is_due(self, state: State, following: State) -> bool:
        """Whether the certificate is asked though no rule says stop: where f does not fall any more, or steps were short for
        long, a rule of steps may wait for ever."""
        return not self.algorithm.own_rule and (following.level > state.level or self._short > PATIENCE)

    def _promised(self, state: State) -> State | None:
        """Where the algorithm goes on from a critical point, if it promises more than that."""
        wrong = wrong_gradient(self.algorithm.program, state.x)
        if wrong is not None:  # the certificate stands and falls with the gradients of the user's own functions
            self.algorithm.certificate = None
            raise AlgorithmStopped(Status.DEFECTIVE, wrong)
        doubtful = wrong_hessian(self.algorithm.program, state.x)
        if doubtful is not None and doubtful not in self.algorithm.messages:
            self.algorithm.messages.append(doubtful)
        return None if self.algorithm.own_rule else self.algorithm.improved(state)

    def _status(self, state: State, certificate: Certificate, better: State | None, verdict: Status | None) -> Status | None:
        """The status to end with at ``state``; None: go on."""
        if certificate.holds and better is None:
            return Status.CONVERGED
        if verdict not in (None, Status.CONVERGED):
            return verdict
        if self.algorithm.own_rule:
            return Status.STOPPED_BY_RULE
        if self._stuck and better is None and certificate.escape is None:
            return Status.STALLED
        return self.algorithm.stop.ends(state)

    def _onwards(self, state: State, following: State, certificate: Certificate) -> State:
        """From a point that is not critical: to where the certificate found f to be lower, or on along the step."""
        if certificate.escape is None:
            return self._lengthened(state, following)
        self._short += 1
        return self.algorithm.moved(following, certificate.escape)

    def _lengthened(self, state: State, following: State, patience: int = 0) -> State:
        """``following``, or farther in its direction where steps were short for the sizes of the variables for long."""
        short = self._criticality().short(state, following, self.algorithm.trace)
        self._short = self._short + 1 if short else max(self._short - 2, 0)
        if self._short <= patience:
            return following
        x = self._lower(following, further(self.compiled, state.x, following.x))
        return following if x is following.x else self.algorithm.moved(following, x)

    def _lower(self, following: State, x: Vector) -> Vector:
        """``x``, or where a step with less curvature in both g and h leads from ``following``, if f is lower there."""
        if not self._is_lighter_known:
            self._lighter, self._is_lighter_known = lighter(self.compiled), True
        if self._lighter is None:
            return x
        algorithm = self.algorithm
        there = self._lighter.step(following.x, algorithm.subgradient(following.x), algorithm.seconds_left())
        return x if there is None or not algorithm.f(there) < algorithm.f(x) else there

    def _criticality(self) -> Criticality:
        return Criticality(self.compiled, self.algorithm.dispatcher.units.column, self.algorithm.tol)

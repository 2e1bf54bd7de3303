"""What ends a run before a rule does: a subproblem without an answer, a rise of f, a fall without end."""

from __future__ import annotations

from dcprog.algorithms.further import falls_for_ever
from dcprog.algorithms.result import State, Status
from dcprog.convex.answer import Claim
from dcprog.convex.certificate import TOLERANCE, value_of_violation, value_size
from dcprog.convex.problem import ConvexProblem, Units
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import Solution, SubproblemUnsolved
from dcprog.solvers.rays import recession_ray
from dcprog.typing import Vector

PROOF_SECONDS = 10.0
"""For the proof that a subproblem is unbounded."""
NEGLIGIBLE = TOLERANCE**2
"""A rise by this share of what f fell since the start is none."""


class AlgorithmStopped(DCProgError):
    """An algorithm cannot go on; ``status`` says why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


def unsolved_as_status(
    unsolved: SubproblemUnsolved, problem: ConvexProblem, cost: Vector, start: Vector
) -> AlgorithmStopped:
    """What an unsolved subproblem means for the run: what is claimed of it, or, of a fall without end, proved."""
    if unsolved.claim is Claim.UNBOUNDED:
        if recession_ray(problem, cost, start, PROOF_SECONDS) is None:
            return AlgorithmStopped(
                Status.UNKNOWN,
                f"solvers call the subproblem min g(x) − ⟨u, x⟩ unbounded ({unsolved}), but no ray proves it: bound the "
                "variables, or name another solver",
            )
        return AlgorithmStopped(
            Status.UNBOUNDED,
            f"the subproblem min g(x) − ⟨u, x⟩ is unbounded below over C ({unsolved}): bound the variables, or add a "
            "strongly convex term such as x² to both g and h",
        )
    statuses = {Claim.TIME_LIMIT: Status.TIME_LIMIT, Claim.INFEASIBLE: Status.INFEASIBLE}
    return AlgorithmStopped(
        statuses.get(unsolved.claim, Status.SUBPROBLEM_FAILED), f"the subproblem was not solved: {unsolved}"
    )


def refuse_defects(
    program: DCProgram, state: State, f: float, rise: float, gap: float | None, solution: Solution, units: Units, fall: float
) -> None:
    """Theorem 1: f decreases by at least the gap, which is ≥ 0, up to what a verified solution may be off, and to what
    leaving the rows by as much as a solver may brought the point before. ``f`` is the value after ``state``, ``fall`` what
    it fell until then: beside a minimiser where all terms are 0, as that of x⁴, these are too small for a solver."""
    c = program.compiled
    size = value_size(c.subproblem, c.cost(c.h.gradient(state.x)), solution.z, units)
    outside = value_of_violation(c.subproblem, c.lift(state.x), solution.row_duals, solution.constraint_duals)
    allowed = 2 * TOLERANCE * max(size, state.size) + outside + NEGLIGIBLE * fall
    iteration = state.iteration + 1
    if rise > allowed:
        raise AlgorithmStopped(
            Status.NOT_CONVEX,
            f"f rose from {state.f:.10g} to {f:.10g} in iteration {iteration}: g or h is not convex, or a gradient is "
            "wrong; dcprog.testing.check_program says where",
        )
    if gap is not None and gap < -allowed:
        raise AlgorithmStopped(
            Status.DEFECTIVE,
            f"the gap of criticality is {gap:.3g} in iteration {iteration}, which no convex g allows: g is not convex, a "
            "gradient is wrong, or the solver's optimum is none; dcprog.testing.check_program says where",
        )


def refuse_endless(program: DCProgram, before: tuple[Vector, ...], there: Vector, f: float) -> None:
    """Stop a run that falls without end, along a ray of C on which f falls for ever: that of the last step, or, where a
    step is lost in the rounding of a point far away, of all steps together."""
    if any(falls_for_ever(program.compiled, x, there) for x in before):
        raise AlgorithmStopped(
            Status.UNBOUNDED,
            f"f has fallen to {f:.3g} and falls for ever in the direction of its steps: bound the variables, or check "
            "the sign of h",
        )
    if abs(f) > 1e200:
        raise AlgorithmStopped(Status.UNKNOWN, f"f has fallen to {f:.3g}, but no ray along which it falls for ever is known")

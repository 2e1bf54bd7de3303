"""What ends a run before a rule does: a subproblem without an answer, a rise of f, a fall without end."""

from __future__ import annotations

from dcprog.algorithms.further import falls_for_ever
from dcprog.algorithms.result import Status
from dcprog.convex.answer import Claim
from dcprog.convex.problem import ConvexProblem
from dcprog.errors import DCProgError
from dcprog.program.dc_program import DCProgram
from dcprog.solvers.dispatch import SubproblemUnsolved
from dcprog.solvers.rays import recession_ray
from dcprog.typing import Vector

PROOF_SECONDS = 10.0
"""For the proof that a subproblem is unbounded."""


class AlgorithmStopped(DCProgError):
    """An algorithm cannot go on; ``status`` says why."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.status = status


def unsolved_as_status(
    unsolved: SubproblemUnsolved, problem: ConvexProblem, cost: Vector, start: Vector
) -> AlgorithmStopped:
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

"""Template of a solver. Copy it, change the two classes, run it:

python examples/templates/solver.py
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

import dcprog
from dcprog import models
from dcprog.convex.answer import Answer, Claim
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.errors import unknown_name
from dcprog.solvers import registry
from dcprog.solvers.base import Feature, Session, Solver

DEFAULTS = {"presolve": True, "dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10}
"""Tighter than linprog's own: at 1e-7 a gap of 3e-6 remained, which the check of every answer does not let pass."""
CLAIMS = {0: Claim.OPTIMAL, 1: Claim.TIME_LIMIT, 2: Claim.INFEASIBLE, 3: Claim.UNBOUNDED}


class Linprog(Solver):
    """What it is called, what brings it, what it takes and what it offers; no package is imported before ``open``."""

    name = "linprog"
    module = "scipy"
    distribution = "scipy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP})
    features = Feature.DUALS | Feature.LINEAR_ROWS
    interruptible = True

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        for option in options:
            if option not in DEFAULTS:
                raise unknown_name("linprog option", option, DEFAULTS)
        return LinprogSession(problem, options)


class LinprogSession(Session):
    """One problem: what stays is done once, here; between two solves only the linear cost changes."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self.problem, self.options = problem, dict(options)
        self.upper = np.flatnonzero(np.isfinite(problem.row_upper) & ~problem.equality)
        self.lower = np.flatnonzero(np.isfinite(problem.row_lower) & ~problem.equality)
        self.equal = np.flatnonzero(problem.equality)
        A = sp.csr_array(problem.A)
        self.A_ub, self.A_eq = sp.vstack([A[self.upper], -A[self.lower]]), A[self.equal]
        self.b_ub = np.concatenate([problem.row_upper[self.upper], -problem.row_lower[self.lower]])
        self.b_eq = problem.row_lower[self.equal]

    def solve(self, c: np.ndarray, start: np.ndarray | None, time_limit: float | None) -> Answer:
        """What the solver says: whether it holds is checked by the caller, from the arrays."""
        from scipy.optimize import linprog

        limit = {} if time_limit is None else {"time_limit": time_limit}
        found = linprog(
            c,
            A_ub=self.A_ub,
            b_ub=self.b_ub,
            A_eq=self.A_eq,
            b_eq=self.b_eq,
            bounds=np.column_stack([self.problem.lower, self.problem.upper]),
            method="highs-ds",
            options={**DEFAULTS, **self.options, **limit},
        )
        claim = CLAIMS.get(found.status, Claim.FAILED)
        if claim is not Claim.OPTIMAL:
            return Answer(claim, message=found.message)
        return Answer(claim, found.x, self.duals(found), iterations=found.nit)

    def duals(self, found: Any) -> np.ndarray:
        """≥ 0 at a lower limit, ≤ 0 at an upper one; of the rows −a'z ≤ −l the sign is turned round."""
        duals = np.zeros(self.problem.m)
        at_upper, at_lower = np.split(found.ineqlin.marginals, [len(self.upper)])
        duals[self.upper] += at_upper
        duals[self.lower] -= at_lower
        duals[self.equal] = found.eqlin.marginals
        return duals


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes that differ in two of eight features."""
    rng = np.random.default_rng(seed)
    y = np.repeat([1.0, -1.0], 15)
    X = rng.normal(size=(30, 8))
    X[:, :2] += y[:, None]
    return X, y


if __name__ == "__main__":
    registry.register(Linprog())  # known by its name from here on
    for seed in range(3):
        program = models.fsv(*data(seed), lam=0.1)
        # No other solver is asked: with a rescuer at hand, a wrong answer would go unnoticed.
        ours = dcprog.solve(program, solver="linprog", fallback=False)
        highs = dcprog.solve(program, solver="highs", fallback=False)
        assert ours.success, ours
        assert not ours.messages, ours.messages
        assert ours.solver == "linprog"
        assert abs(ours.objective - highs.objective) <= 1e-7, (ours.objective, highs.objective)
    dcprog.testing.check_program(program).raise_if_failed()  # "solvers agree" includes the new one
    print(f"linprog solves FSV as highs does, f = {ours.objective:.6f}, and all of its claims hold")

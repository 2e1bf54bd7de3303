"""Ipopt with exact derivatives on a non-convex model as it stands: the peer of ``benchmarks.suites``, no part of dcprog."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from dcprog.convex.terms import SmoothSum
from dcprog.program.compile import oracle
from dcprog.program.expressions import take_apart
from dcprog.typing import Matrix, Vector


class Nonconvex:
    """min f(x), lower ≤ c(x) ≤ upper, with first and second derivatives from tapes of the model's expressions."""

    def __init__(self, model: Any) -> None:
        self.variables = [v for v in model.component_data_objects(pyo.Var) if not v.fixed]
        n, index = len(self.variables), {id(v): i for i, v in enumerate(self.variables)}
        goal = next(iter(model.component_data_objects(pyo.Objective, active=True)))
        self.sense = 1.0 if goal.sense == pyo.minimize else -1.0
        rows = list(model.component_data_objects(pyo.Constraint, active=True))
        self.f = oracle(take_apart(goal.expr, index, n))
        self.c = [oracle(take_apart(row.body, index, n)) for row in rows]
        both = [(-np.inf if r.lb is None else float(r.lb), np.inf if r.ub is None else float(r.ub)) for r in rows]
        self.limits = np.array(both).reshape(-1, 2)
        self.box = np.array([v.bounds for v in self.variables], dtype=float)
        self.box = np.where(np.isnan(self.box), [-np.inf, np.inf], self.box)

    def violation(self, x: Vector) -> float:
        """The largest violation of a bound or row."""
        activity = np.array([c.value(x) for c in self.c])
        over = [self.box[:, 0] - x, x - self.box[:, 1], self.limits[:, 0] - activity, activity - self.limits[:, 1]]
        return float(np.nan_to_num(np.max(np.concatenate([*over, [0.0]])), nan=np.inf))

    def objective(self, x: Vector) -> float:
        return self.f.value(x)

    def gradient(self, x: Vector) -> Vector:
        return self.sense * self.f.gradient(x)

    def constraints(self, x: Vector) -> Vector:
        return np.array([c.value(x) for c in self.c])

    def jacobian(self, x: Vector) -> Vector:
        return np.array([c.gradient(x) for c in self.c]).ravel()

    def hessianstructure(self) -> tuple[Any, Any]:
        return np.tril_indices(len(self.variables))

    def hessian(self, x: Vector, multipliers: Vector, factor: float) -> Vector:
        H = self.sense * factor * _dense(self.f, x)
        for y, c in zip(multipliers, self.c, strict=True):
            H += y * _dense(c, x)
        return H[np.tril_indices(len(x))]


class _Minimised:
    """The callbacks with the objective in the sense that Ipopt minimises."""

    def __init__(self, problem: Nonconvex) -> None:
        for name in ("gradient", "constraints", "jacobian", "hessianstructure", "hessian"):
            setattr(self, name, getattr(problem, name))
        self.objective = lambda x: problem.sense * problem.objective(x)


def _dense(f: SmoothSum, x: Vector) -> Matrix:
    H = np.zeros((len(x), len(x)))
    np.add.at(H, (f.rows, f.cols), f.hessian_values(x))
    return H + np.tril(H, -1).T


def ipopt(problem: Nonconvex, x0: Vector, time_limit: float) -> Vector:
    """Where Ipopt ends from x0."""
    import cyipopt

    n, m = len(problem.variables), len(problem.c)
    solver = cyipopt.Problem(
        n=n,
        m=m,
        problem_obj=_Minimised(problem),
        lb=problem.box[:, 0],
        ub=problem.box[:, 1],
        cl=problem.limits[:, 0],
        cu=problem.limits[:, 1],
    )
    for option, value in {
        "print_level": 0,
        "bound_relax_factor": 0.0,
        "sb": "yes",
        "tol": 1e-9,
        "max_iter": 3000,
        "max_cpu_time": time_limit,
    }.items():
        solver.add_option(option, value)
    with np.errstate(all="ignore"):
        x, _ = solver.solve(x0)
    return np.clip(x, problem.box[:, 0], problem.box[:, 1])


if __name__ == "__main__":
    print(__doc__)

"""The subproblem as Ipopt asks for it: values, first and second derivatives, and their fixed sparse structures.

    f(z) = ½z'Qz + c'z + φ(z),   g(z) = [A z; ψ(z)],   ∇²L = σ(Q + ∇²φ) + Σ λᵢ ∇²ψᵢ

Of the Hessian the lower triangle is given, as triplets: Ipopt adds up those that repeat.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.problem import ConvexProblem
from dcprog.convex.terms import SmoothSum
from dcprog.solvers.base import finite
from dcprog.typing import Indices, Vector

MOST_STRETCHED = 1e3
"""A row is multiplied by at most this, or its inverse."""


def guarded(callback: Callable[..., Any]) -> Callable[..., Any]:
    """A callback of z: its exception waits until Ipopt has returned, its NaN or infinity makes Ipopt shorten the step.

    cyipopt would go on with whatever numbers it finds after an exception, and loses one raised in the Hessian.
    """

    @functools.wraps(callback)
    def call(self: Callbacks, z: Vector, *args: Any) -> Any:
        from cyipopt import CyIpoptEvaluationError

        if self.error is None:
            try:
                value = callback(self, z[: self.problem.n], *args)
                if np.isfinite(value).all():
                    return value
            except BaseException as error:  # an interrupt too: Ipopt has to unwind first
                self.error = error
        raise CyIpoptEvaluationError

    return call


def _mapped(new: ConvexProblem, old: ConvexProblem) -> tuple[Vector, Vector] | str:
    """Factors a > 0 and shifts b with which a·(row) + b has the old limits where the row has the new ones, and a = 0 where
    it has none any more; or what is against that."""
    has = np.isfinite(old.row_lower), np.isfinite(old.row_upper)
    now = np.isfinite(new.row_lower), np.isfinite(new.row_upper)
    off, both = (has[0] | has[1]) & ~(now[0] | now[1]), has[0] & has[1]
    if ((now[0] != has[0]) | (now[1] != has[1]))[~off].any():
        return "a limit of a row came or went"
    if (old.equality & off).any() or (new.equality != old.equality)[~off].any():
        return "a row became an equation, or is none any more"
    low, high = np.where(has[0], old.row_lower, 0.0), np.where(has[1], old.row_upper, 0.0)
    new_low, new_high = np.where(now[0], new.row_lower, 0.0), np.where(now[1], new.row_upper, 0.0)
    wide = both & ~old.equality & ~off
    a = np.where(off, 0.0, 1.0)
    a[wide] = (high - low)[wide] / (new_high - new_low)[wide]
    if (a[wide] > MOST_STRETCHED).any() or (a[wide] < 1 / MOST_STRETCHED).any():
        return "the limits of a row have another distance by far"
    inside = np.where(both, (low + high) / 2, np.where(has[0], low + 1.0, high - 1.0))
    return a, np.where(off, inside, np.where(has[0], low - a * new_low, high - a * new_high))


class Callbacks:
    """What ``cyipopt.Problem`` calls. Free rows are left out.

    Ipopt refuses more equations than variables, even if they are consistent: z is then padded with variables in [−1, 1] that
    appear nowhere.
    """

    def __init__(self, problem: ConvexProblem) -> None:
        self.c = problem.c
        self.rows = np.flatnonzero(np.isfinite(problem.row_lower) | np.isfinite(problem.row_upper))
        self.padding = max(0, int(problem.equality.sum() - (problem.lower < problem.upper).sum()))
        self.size = problem.n + self.padding
        self._phi = SmoothSum([], problem.n) if problem.smooth is None else problem.smooth
        self._take(problem)
        self.factor, self.shift = np.ones(len(self.rows)), np.zeros(len(self.rows))
        """By what each row is multiplied, and what is added: Ipopt keeps the limits that it was loaded with, and rows may
        move theirs."""
        self.loaded = problem
        self.error: BaseException | None = None
        self.iterations = 0

    def _take(self, problem: ConvexProblem) -> None:
        self.problem = problem
        self._A = sp.csr_array(problem.A)[self.rows].tocoo()
        if len(self.rows) and not self._A.nnz:  # Ipopt refuses rows without a single coefficient
            self._A = sp.coo_array(([0.0], ([0], [0])), shape=self._A.shape)
        self._Q = sp.coo_array((problem.n, problem.n) if problem.Q is None else sp.tril(problem.Q))

    def change(self, problem: ConvexProblem) -> str | None:
        """Numbers of ``problem`` are what Ipopt is told from now on; or why that cannot be."""
        old, loaded = self.problem, self.loaded
        if not (np.array_equal(problem.lower, loaded.lower) and np.array_equal(problem.upper, loaded.upper)):
            return "Ipopt keeps the bounds that it was loaded with"
        mapped = _mapped(problem, loaded)
        if isinstance(mapped, str):
            return mapped
        before = self._structure()
        self._take(problem)
        if not all(np.array_equal(a, b) for a, b in zip(before, self._structure(), strict=True)):
            self._take(old)
            return "a matrix has another pattern"
        self.factor, self.shift = mapped[0][self.rows], mapped[1][self.rows]
        return None

    def _structure(self) -> tuple[Indices, ...]:
        return (*self.jacobianstructure(), *self.hessianstructure())

    def load(self) -> Any:
        """A ``cyipopt.Problem`` that calls this object."""
        import cyipopt

        p, pad, free = self.loaded, np.ones(self.padding), np.full(len(self.problem.constraints), -np.inf)
        return cyipopt.Problem(
            n=self.size,
            m=len(self.rows) + len(free),
            problem_obj=self,
            lb=finite(np.append(p.lower, -pad)),
            ub=finite(np.append(p.upper, pad)),
            cl=finite(np.append(p.row_lower[self.rows], free)),
            cu=finite(np.append(p.row_upper[self.rows], np.zeros(len(free)))),
        )

    def reset(self, c: Vector) -> None:
        """Before a solve with linear cost ``c``."""
        self.c, self.error, self.iterations = c, None, 0

    def intermediate(self, mode: int, iteration: int, *progress: float) -> bool:
        self.iterations = iteration
        return self.error is None

    @guarded
    def objective(self, z: Vector) -> float:
        return self.problem.value(z, self.c)

    @guarded
    def gradient(self, z: Vector) -> Vector:
        return np.append(self.problem.gradient(z, self.c), np.zeros(self.padding))

    @guarded
    def constraints(self, z: Vector) -> Vector:
        return np.append(self.factor * (self._A @ z) + self.shift, self.problem.curved.values(z))

    @guarded
    def jacobian(self, z: Vector) -> Vector:
        return np.concatenate(
            [self.factor[self._A.row] * self._A.data, *(psi.gradient(z)[psi.support] for psi in self.problem.constraints)]
        )

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        psis = self.problem.constraints
        rows = [np.full(len(psi.support), i) for i, psi in enumerate(psis, start=len(self.rows))]
        return np.concatenate([self._A.row, *rows]), np.concatenate([self._A.col, *(psi.support for psi in psis)])

    @guarded
    def hessian(self, z: Vector, multipliers: Vector, factor: float) -> Vector:
        weighted = zip(multipliers[len(self.rows) :], self.problem.constraints, strict=True)
        objective = (factor * self._Q.data, factor * self._phi.hessian_values(z))
        return np.concatenate([*objective, *(weight * psi.hessian_values(z) for weight, psi in weighted)])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        parts = [(self._Q.row, self._Q.col), *((s.rows, s.cols) for s in (self._phi, *self.problem.constraints))]
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([cols for _, cols in parts])

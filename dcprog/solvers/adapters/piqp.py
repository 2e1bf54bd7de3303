"""PIQP: a proximal interior-point method for LP and convex QP (Schwan, Jiang, Kuhn & Jones, CDC 2023)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.change import same_pattern
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.qp import INFINITY, Held, answer, apply_options, hessian_of, rows_of
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.typing import Vector

DENSE_FROM = 0.11
"""Share of non-zeros in [Q; A] from which dense linear algebra is faster. Seconds dense : sparse on SVM-like QPs, at this
share: 0.015 29:1 (62 × 2000), 0.05 3.6:1 (351 × 34), 0.09 2:1 (62 × 500), 0.10 1.4:1 (208 × 60), 0.11 0.55:1 (476 × 166),
0.15 0.3:1, 0.17 0.3:1 (100 × 100), 1.0 0.04:1 (random, 400 variables); below 100 variables both take under 1 ms."""

ITERATIONS = 20
"""What a solve takes: 5 to 17 on SVM-like and random QPs."""
FILL = 0.125
DENSE_RATE, SPARSE_RATE, ENTRY_RATE = 2.5e10, 5e9, 2e7
"""Operations a second of the dense and of the sparse factorisation, and entries a second of all else, on one thread of a
quiet machine. Of 35 SVM-like, random, banded and dense QPs the estimate was 0.4 to 8 times what PIQP took, and up to 13
times for two of 0.01 and 0.03 s."""
CERTAIN = 0.2
"""Below this share of the time limit an estimate is trusted."""
OUT_OF_TIME = "time limit reached"

CLAIMS = {
    "PIQP_SOLVED": Claim.OPTIMAL,
    "PIQP_PRIMAL_INFEASIBLE": Claim.INFEASIBLE,
    "PIQP_DUAL_INFEASIBLE": Claim.UNBOUNDED,
}


class PIQP(Solver):
    """PIQP by its own interface, at tolerance 1e-11. It knows no clock: ``max_iter`` (250) is what bounds a solve.

    Under a time limit that it might not keep, the time that one iteration takes is measured, and ``max_iter`` is as many as
    are left time for; where even the first would take too long it is not begun.

    On 64 LPs and QPs of SVMs on eight data sets all were solved, and each decade of tolerance from 1e-9 to 1e-12 cost 4 %
    more iterations; of 3000 degenerate random ones one was not solved at 1e-11, and two at 1e-12.

    >>> import scipy.sparse as sp
    >>> p = ConvexProblem(c=np.array([-2.0, -3.0]), A=sp.csr_array([[1.0, 1.0]]), row_lower=np.array([-np.inf]),
    ...                row_upper=np.array([3.0]), lower=np.zeros(2), upper=np.full(2, np.inf), Q=sp.eye_array(2))
    >>> answer = PIQP().open(p, {}).solve(p.c, None, None)
    >>> answer.z.round(6).tolist(), answer.row_duals.round(6).tolist()
    ([1.0, 2.0], [-1.0])
    """

    name = "piqp"
    module = "piqp"
    distribution = "piqp"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.DUALS | Feature.LINEAR_ROWS
    ranks = MappingProxyType({ProblemClass.LP: 30, ProblemClass.QP: 20})
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper"})
    interruptible = False

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return PIQPSession(problem, options)

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        return ITERATIONS * seconds_per_iteration(problem)


class PIQPSession(Session):
    """min ½z'Qz + c'z with equations, two-sided rows and bounds, each given apart."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        import piqp

        self.problem, self._held = problem, Held(problem)
        self.rows = rows_of(self._held.problem, np.zeros(problem.n, dtype=bool))
        self._dense = options["kkt_solver"] == piqp.dense_cholesky if "kkt_solver" in options else is_dense(problem)
        self.solver = piqp.DenseSolver() if self._dense else piqp.SparseSolver()
        settings = self.solver.settings
        settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-11
        apply_options("piqp", settings, options)
        self.solver.setup(c=self._held.cost(problem.c), **self._matrices(), **self._limits())

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        held = Held(problem)
        rows = self.rows.follow(held.problem, np.zeros(problem.n, dtype=bool))
        if isinstance(rows, str):
            return rows
        if not same_pattern(hessian_of(held.problem), hessian_of(self._held.problem)):
            return "Q has another pattern"
        entries = moved & {"A", "Q"} or held.any or self._held.any or rows.off is not None or self.rows.off is not None
        self.problem, self._held, self.rows = problem, held, rows
        self.__dict__.pop("_iteration", None)
        self.solver.update(**(self._matrices() if entries else {}), **self._limits())
        return None

    def _matrices(self) -> dict[str, Any]:
        K, eq = self.rows.K.tocsr(), self.rows.equality
        matrices = {"P": hessian_of(self._held.problem), "A": K[eq].tocsc(), "G": K[~eq].tocsc()}
        return {name: matrix.toarray() for name, matrix in matrices.items()} if self._dense else matrices

    def _limits(self) -> dict[str, Vector]:
        problem, rows, eq = self._held.problem, self.rows, self.rows.equality
        return {
            "b": rows.lower[eq],
            "h_l": rows.lower[~eq],
            "h_u": rows.upper[~eq],
            "x_l": np.where(problem.lower <= -INFINITY, -np.inf, problem.lower),
            "x_u": np.where(problem.upper >= INFINITY, np.inf, problem.upper),
        }

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        if time_limit is not None and (time_limit <= 0 or time_limit < self._estimate(time_limit)):
            return Answer(Claim.TIME_LIMIT, message="there is no time for one iteration")
        self.solver.update(c=self._held.cost(c))
        if time_limit is None or ITERATIONS * self._estimate(time_limit) < CERTAIN * time_limit:
            status = self.solver.solve().name
        else:
            status = self._within(time_limit)
        found, eq = self.solver.result, self.rows.equality
        z, y = self._held.point(np.array(found.x)), np.empty(len(eq))
        y[eq], y[~eq] = -found.y, found.z_l - found.z_u
        claim = Claim.TIME_LIMIT if status == OUT_OF_TIME else CLAIMS.get(status, Claim.FAILED)
        return answer(self.problem, c, claim, z, self.rows.duals(y), status, found.info.iter)

    def _estimate(self, time_limit: float) -> float:
        """Seconds per iteration, at most if that is few already for this limit."""
        n, m = self.problem.n, self.problem.m
        most = (n + m) ** 3 / SPARSE_RATE
        return most if ITERATIONS * most < CERTAIN * time_limit else self._iteration

    @cached_property
    def _iteration(self) -> float:
        return seconds_per_iteration(self.problem)

    def _within(self, time_limit: float) -> str:
        """The status of a run of as many iterations as there is time for, by the time that the first one takes."""
        most, began = self.solver.settings.max_iter, time.perf_counter()
        try:
            self.solver.settings.max_iter = 1
            status: str = self.solver.solve().name
            first = time.perf_counter() - began
            affordable = int((time_limit - first) / first)
            if status != "PIQP_MAX_ITER_REACHED" or most == 1:
                return status
            if affordable < 1:
                return OUT_OF_TIME
            self.solver.settings.max_iter = min(most, affordable)
            status = self.solver.solve().name
            return OUT_OF_TIME if status == "PIQP_MAX_ITER_REACHED" and affordable < most else status
        finally:
            self.solver.settings.max_iter = most


def is_dense(problem: ConvexProblem) -> bool:
    """Whether dense linear algebra is the faster one."""
    entries = problem.A.nnz + (0 if problem.Q is None else problem.Q.nnz)
    return bool(entries > DENSE_FROM * problem.n * (problem.n + problem.m))


def seconds_per_iteration(problem: ConvexProblem) -> float:
    """An estimate, from the size of the matrix that is factored."""
    n, m = problem.n, problem.m
    if is_dense(problem):
        return (n * n * m + n**3 / 3) / DENSE_RATE
    entries = problem.A.nnz + (0 if problem.Q is None else problem.Q.nnz)
    return float(sparse_operations(problem) / SPARSE_RATE + entries / ENTRY_RATE)


def sparse_operations(problem: ConvexProblem) -> float:
    """About how many operations a sparse factorisation takes: what its graph takes without fill, and a share of the most
    fill there may be, since a good ordering avoids the rest."""
    if is_dense(problem):
        return float(problem.n**2 * problem.m + problem.n**3)
    return _without_fill(problem) + FILL * _with_most_fill(problem)


def _without_fill(problem: ConvexProblem) -> float:
    """Operations if the degrees of the graph, of the primal or of the dual variables, were those of its factor."""
    n, m = problem.n, problem.m
    A = sp.csr_array(problem.A)
    Q = sp.csr_array((n, n)) if problem.Q is None else sp.csr_array(problem.Q)
    counts, curved = np.bincount(A.indices, minlength=n), np.diff(Q.indptr)
    pattern = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    wide = (counts > 1) | (curved > 1)  # the others are eliminated first, without fill
    rows = pattern @ wide.astype(float)
    degrees = np.minimum(wide.sum(), pattern.T @ rows + curved)[wide]
    operations = (degrees**2).sum() + (rows**2).sum()
    if not (curved > 1).any():
        degrees = np.minimum(m, pattern @ counts.astype(float))
        operations = min(operations, (degrees**2).sum() + (counts.astype(float) ** 2).sum())
    return 1.0 + float(operations)


def _with_most_fill(problem: ConvexProblem) -> float:
    """Operations of a factorisation within the profile after Cuthill & McKee, with the densest rows and columns put last."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n, size = problem.n, problem.n + problem.m
    A = sp.coo_array(problem.A)
    Q = sp.coo_array((n, n)) if problem.Q is None else sp.coo_array(problem.Q)
    first, second = np.concatenate([A.row + n, A.col, Q.row]), np.concatenate([A.col, A.row + n, Q.col])
    degrees = np.bincount(first, minlength=size)
    least = np.inf
    for dense in (np.inf, 10 * np.sqrt(size), 3 * np.sqrt(size), 4 * degrees.mean(), 2 * degrees.mean()):
        inside = degrees <= dense
        kept = inside[first] & inside[second]
        graph = sp.csr_array((np.ones(kept.sum()), (first[kept], second[kept])), shape=(size, size))
        place = np.empty(size, dtype=np.int64)
        place[reverse_cuthill_mckee(graph, symmetric_mode=True)] = np.arange(size)
        lowest = np.arange(size)
        np.minimum.at(lowest, place[first[kept]], place[second[kept]])
        border = int(size - inside.sum())
        least = min(least, float(((np.arange(size) - lowest + border) ** 2.0).sum()) + border**3 / 3)
    return 1.0 + least

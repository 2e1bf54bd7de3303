"""A working set of columns: solve over few of them, price all others with one product, add those that would help, repeat.

A variable z_j ≥ 0 stays at 0 as long as its reduced cost ∂objective/∂z_j − a_j'y is not negative. With many more features
than samples nearly all of them do, and the same optimum is found on a small part of the problem.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from dcprog.convex.answer import Answer, Claim
from dcprog.convex.change import same_pattern
from dcprog.convex.problem import ConvexProblem, ProblemClass
from dcprog.solvers.adapters.highs import HighsSession
from dcprog.solvers.base import Feature, Session, Solver
from dcprog.solvers.reductions.active_set import ActiveSetSession
from dcprog.solvers.reductions.dual_form import has_diagonal_q, is_nonnegative, without_stored_zeros
from dcprog.solvers.reductions.highs_dual import SMALLEST_LP, HighsDual, HighsDualSession
from dcprog.solvers.reductions.mirror import mirror_columns
from dcprog.typing import Indices, Mask, Vector

PRICE_TOLERANCE = 1e-10
"""A reduced cost below minus this, relative to the terms that make it up, calls its column in."""
BATCH = 100
"""At least so many columns enter at a time, if so many would help."""

WIDE = 200
"""QPs with at least this many columns, slacks aside, are solved over a working set of them, and LPs of few rows."""


class Columns(Solver):
    """A working set of columns for LPs (by HiGHS, primal or dual) and QPs with diagonal Q (by active sets)."""

    name = "columns"
    module = "highspy"
    distribution = "highspy"
    install = "comes with dcprog"
    classes = frozenset({ProblemClass.LP, ProblemClass.QP})
    features = Feature.WARM_START | Feature.DUALS | Feature.VERTEX | Feature.LINEAR_ROWS
    in_place = frozenset({"A", "Q", "row_lower", "row_upper", "lower", "upper"})
    interruptible = False  # in a QP

    def estimate_seconds(self, problem: ConvexProblem) -> float:
        """Of a part that is not known before; PIQP, which solves it, measures and keeps the time limit."""
        return 0.0

    def missing(self, problem: ConvexProblem) -> str | None:
        lack = super().missing(problem)
        if lack is not None:
            return lack
        if not candidates(problem).any():
            return "it takes problems with columns ≥ 0 of several entries, to leave out, and this one has none"
        if not has_diagonal_q(problem):
            return "it takes QPs with a diagonal Q"
        return None

    def rank(self, problem: ConvexProblem) -> int | None:
        """Before all others for problems with many columns, and for LPs with many rows."""
        tall = problem.problem_class is ProblemClass.LP and problem.m >= SMALLEST_LP
        return 1 if tall or (problem.problem_class in self.classes and problem.wide_columns >= WIDE) else None

    def open(self, problem: ConvexProblem, options: Mapping[str, Any]) -> Session:
        return ColumnsSession(problem, options)


class _Growing(Protocol):
    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer: ...

    def grow(self, problem: ConvexProblem, new: int) -> None: ...

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None: ...

    def bookmark(self) -> None: ...

    def rewind(self) -> None: ...


class _Reopened:
    """A QP session that is opened anew when columns are added: the problem is small."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        self._options = options
        self._session = ActiveSetSession(problem, options)

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        return self._session.solve(c, None, time_limit)

    def grow(self, problem: ConvexProblem, new: int) -> None:
        self._session = ActiveSetSession(problem, self._options)

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        return self._session.change(problem, moved)

    def bookmark(self) -> None:
        self._session.bookmark()

    def rewind(self) -> None:
        self._session.rewind()


class ColumnsSession(Session):
    """The working set grows over all solves of a session."""

    def __init__(self, problem: ConvexProblem, options: Mapping[str, Any]) -> None:
        problem = without_stored_zeros(problem)
        self._options = options
        self._candidates = candidates(problem)
        if self._candidates.all():
            self._candidates[0] = False  # a problem over no column at all is none that solvers take
        self._outside = self._candidates.copy()
        self._columns = np.flatnonzero(~self._outside)
        self._mirror = mirror_columns(problem.A)
        self._head = np.flatnonzero((self._mirror < 0) | (self._mirror > np.arange(problem.n)))
        self._tail = self._mirror[self._head]
        self._row = np.empty(problem.n, dtype=np.int64)  # of _At, for every column: its own or that of its mirror
        self._row[self._head] = np.arange(len(self._head))
        self._row[self._tail[self._tail >= 0]] = np.flatnonzero(self._tail >= 0)
        self._inner: _Growing | None = None
        self._reopened = 0
        self._take(problem)

    def _take(self, problem: ConvexProblem) -> None:
        self._problem = problem
        self._At = sp.csr_array(problem.A[:, self._head].T)
        self._largest = np.zeros(len(self._head))
        filled = np.flatnonzero(np.diff(self._At.indptr))
        if filled.size:
            self._largest[filled] = np.maximum.reduceat(np.abs(self._At.data), self._At.indptr[filled])
        self._diagonal = np.zeros(problem.n) if problem.Q is None else problem.Q.diagonal()

    def change(self, problem: ConvexProblem, moved: frozenset[str]) -> str | None:
        problem = without_stored_zeros(problem)
        if not has_diagonal_q(problem):
            return "it takes QPs with a diagonal Q"
        if not same_pattern(problem.A, self._problem.A):
            return "a matrix has another pattern"
        if (self._candidates & ~is_nonnegative(problem)).any():
            return "a column that may be left out got another bound than ≥ 0"
        paired = np.flatnonzero(self._tail >= 0)
        heads, tails = self._head[paired], self._tail[paired]
        if "A" in moved and len(paired) and abs(problem.A[:, heads] + problem.A[:, tails]).max() > 0:
            return "two columns mirror each other no more"
        self._take(problem)
        if self._inner is not None:
            refusal = self._inner.change(self._part(problem.c), moved)
            if refusal is not None:  # the working set is worth keeping
                self._inner, self._reopened = None, self._reopened + 1
        return None

    @property
    def reopened(self) -> int:
        return self._reopened

    def solve(self, c: Vector, start: Vector | None, time_limit: float | None) -> Answer:
        deadline = None if time_limit is None else time.perf_counter() + time_limit
        if start is not None and (self._inner is None or self._problem.Q is not None):
            self._restart(start)
        iterations, limit = 0, BATCH + min(self._problem.m // 2, 10 * BATCH)
        while True:
            answer = self._solve_inner(c, None if deadline is None else max(deadline - time.perf_counter(), 0.01))
            iterations += answer.iterations
            if answer.claim is Claim.INFEASIBLE and self._outside.any():
                self._enter(np.flatnonzero(self._outside))  # the part says nothing of the whole: what is missing may mend it
                continue
            if answer.claim is not Claim.OPTIMAL or answer.z is None or answer.row_duals is None:
                return replace(answer, z=None, iterations=iterations)
            z = np.zeros(self._problem.n)
            z[self._columns] = answer.z
            entering = self._priced(c, z, answer.row_duals, limit)
            limit *= 2  # where many columns are needed, few rounds are
            if entering.size == 0:
                return replace(answer, z=z, iterations=iterations)
            self._enter(entering)

    def bookmark(self) -> None:
        if self._inner is not None:
            self._inner.bookmark()

    def rewind(self) -> None:
        if self._inner is not None:
            self._inner.rewind()

    def _solve_inner(self, c: Vector, time_limit: float | None) -> Answer:
        if self._inner is None:
            self._inner = self._opened(c)
        return self._inner.solve(c[self._columns], None, time_limit)

    def _opened(self, c: Vector) -> _Growing:
        part = self._part(c)
        if part.Q is not None:
            return _Reopened(part, self._options)
        # new columns are new rows of the dual, after which dual simplex goes on: on the papers' LPs never slower than primal
        # simplex with new columns, and 40 times faster on a sparse 20 000 × 50 000
        if HighsDual().missing(part) is None:
            return HighsDualSession(part, self._options)
        return HighsSession(part, self._options)

    def _part(self, c: Vector) -> ConvexProblem:
        """The problem over the working set; the costs are those of today."""
        p, J = self._problem, self._columns
        Q = None if p.Q is None else sp.csc_array(sp.diags_array(self._diagonal[J]))
        return replace(p, c=c[J], A=p.A[:, J], Q=Q, lower=p.lower[J], upper=p.upper[J])

    def _priced(self, c: Vector, z: Vector, y: Vector, limit: int) -> Indices:
        """The columns outside with the most negative reduced costs, at most ``limit``."""
        products = self._At @ y
        reduced = c + self._diagonal * z
        reduced[self._head] -= products
        paired = self._tail >= 0
        reduced[self._tail[paired]] += products[paired]
        entering: Indices = np.flatnonzero(self._outside & (reduced < 0))
        most = np.abs(c[entering]) + self._largest[self._row[entering]] * float(np.abs(y).sum())
        doubtful = reduced[entering] >= -PRICE_TOLERANCE * most  # for these the sum of absolute values is needed itself
        if doubtful.any():
            some = entering[doubtful]
            terms = np.abs(c[some]) + abs(self._At[self._row[some]]) @ np.abs(y)
            entering = np.sort(np.append(entering[~doubtful], some[reduced[some] < -PRICE_TOLERANCE * terms]))
        if entering.size > limit:
            entering = entering[np.argpartition(reduced[entering], limit)[:limit]]
        return entering

    def _restart(self, start: Vector) -> None:
        """The columns that cannot be left out, and those that the start uses if it is sparse."""
        self._inner = None
        self._outside = self._candidates.copy()
        self._columns = np.flatnonzero(~self._candidates)
        used = np.flatnonzero(self._candidates & (start != 0))
        if used.size <= self._candidates.sum() // 4:
            self._add(used)

    def _enter(self, entering: Indices) -> None:
        before = len(self._columns)
        self._add(entering)
        assert self._inner is not None
        self._inner.grow(self._part(self._problem.c), len(self._columns) - before)

    def _add(self, entering: Indices) -> None:
        mirrors = self._mirror[entering]
        both = np.union1d(entering, mirrors[mirrors >= 0])
        both = both[self._outside[both]]
        self._outside[both] = False
        self._columns = np.concatenate([self._columns, both])


def candidates(problem: ConvexProblem) -> Mask:
    """Columns that may be left out: z_j ≥ 0 with several entries."""
    several: Mask = np.diff(sp.csc_array(without_stored_zeros(problem).A).indptr) > 1
    return is_nonnegative(problem) & several

"""The iterations of ℓ1- and ℓ2-AROM on any margin constraints, two classes or more: sections 3.1 to 3.3 of the paper.

With Wᵏ the weights of the last step, one row a class (one row in all for two classes), and z = Σ|Wᵏ| by features,

    ℓ1:   Wᵏ⁺¹ = argmin Σ |wⱼ| / zⱼ          ℓ2:   Wᵏ⁺¹ = argmin ½ Σ wⱼ² / zⱼ²

under the margin constraints. What is zero stays zero, so features with zⱼ = 0 are left out of the next problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.learning.multiclass import ArgmaxRule, margin_rows, rows_of_samples
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Samples, dense
from dcprog.methods.zero_norm.iterates import ZERO, Iterate, non_zero
from dcprog.methods.zero_norm.margin import MarginProblem, column_sizes, rotated
from dcprog.typing import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Margins:
    """The margin constraints of samples, and the classifier that weights and biases under them stand for.

    >>> samples = Samples(np.array([[0.0], [3.0]]), np.array([0, 1]), np.array(["a", "b"]), None)
    >>> Margins(samples).rows(samples.X)
    (array([[-0.],
           [ 3.]]), array([[-1.],
           [ 1.]]))
    """

    samples: Samples
    constraints: str = "weston_watkins"
    """Of three or more classes, as in :func:`dcprog.learning.multiclass.margin_rows`."""
    each: bool = False
    """Whether two classes have a row of weights each, as three have, and not one row in all."""

    @property
    def blocks(self) -> int:
        """How many rows of weights there are."""
        return 1 if self._one_row else len(self.samples.classes)

    @property
    def _one_row(self) -> bool:
        return len(self.samples.classes) == 2 and not self.each

    @property
    def count(self) -> int:
        """How many constraints there are."""
        return int(self.rows(self.samples.X[:, :1])[1].shape[0])

    def rows(self, X: Any) -> tuple[Any, Any]:
        """(M, B) of the constraints Mw + Bb + ξ ≥ e for these samples with other features X, w row by row."""
        if not self._one_row:
            return margin_rows(self.samples._replace(X=X), self.constraints)
        y = np.where(self.samples.codes == 1, 1.0, -1.0)
        return sp.csc_array(sp.diags_array(y) @ X) if sp.issparse(X) else y[:, None] * X, y[:, None]

    @property
    def counts(self) -> Vector:
        """How often the sample of each constraint counts."""
        counts = self.samples.counts
        return counts if self._one_row else counts[rows_of_samples(self.samples, self.constraints)]

    def classifier(self, W: Matrix, b: Vector) -> LinearRule | ArgmaxRule:
        """The classifier with the weights W, a column for each feature."""
        classes, names = self.samples.classes, self.samples.names
        if not self._one_row:
            return ArgmaxRule(W, b, classes, names)
        return LinearRule(W[0], float(b[0]), (classes[0], classes[1]), names)


def l1_steps(
    margins: Margins, p: int, q: int | None, lam: float, solver: str, after: Iterate | None = None
) -> Iterator[Iterate]:
    """One LP a step (a QP where p or q is 2), of which only the costs change until a weight or a slack is zero.

    They begin with z = e, or go on ``after`` an iterate with its z.
    """
    M, B = margins.rows(margins.samples.X)
    d, Q = margins.samples.X.shape[1], margins.blocks
    cost = lam * margins.counts
    size, slack = np.full(d, float(p != 2)), cost * (q in (0, 1))
    kept, slacked = np.ones(d, dtype=bool), np.full(M.shape[0], q is not None)
    problem: MarginProblem | None = None
    iteration = 0
    if after is not None and p == 0:
        kept, iteration = non_zero(after.sizes), after.iteration
        size[kept] = 1.0 / after.sizes[kept]
    while True:
        if problem is None:
            problem = MarginProblem(
                M[:, np.flatnonzero(np.tile(kept, Q))],
                B,
                sized=p != 2,
                square=float(p == 2),
                slack=slacked,
                slack_square=cost * (q == 2),
                solver=solver,
            )
        plane = problem.solve(np.tile(size[kept], Q), slack)
        iteration += 1
        W = np.zeros((Q, d))
        W[:, kept] = plane.w.reshape(Q, -1)
        iterate = Iterate(iteration, margins.classifier(W, plane.b), plane.xi)
        yield iterate
        before = kept.sum() + slacked.sum()
        if p == 0:
            kept = kept & non_zero(iterate.sizes)
            size[kept] = 1.0 / iterate.sizes[kept]
        if q == 0:
            slacked = slacked & (plane.xi > ZERO)
            slack[slacked] = cost[slacked] / plane.xi[slacked]
        if kept.sum() + slacked.sum() < before:
            problem = None  # the next problem is a smaller one


def l2_steps(margins: Margins, p: int, q: int | None, lam: float, solver: str) -> Iterator[Iterate]:
    """One SVM a step, on X * z with at most min(n, d) weights a class."""
    X = dense(margins.samples.X)
    d, Q = X.shape[1], margins.blocks
    cost = lam * margins.counts
    z, zeta, columns = np.ones(d), np.ones(len(cost)), column_sizes(X)
    kept, slacked = np.ones(d, dtype=bool), np.full(len(cost), q is not None)
    iteration = 0
    while True:
        R, U = rotated(X[:, kept] * z[kept])
        M, B = margins.rows(R)
        ridge = np.where(slacked, cost / zeta**2, 0.0) if q in (0, 2) else 0.0
        problem = MarginProblem(M, B, sized=False, square=1.0, slack=slacked, slack_square=ridge, solver=solver)
        plane = problem.solve(slack=cost * (q == 1))
        iteration += 1
        W = np.zeros((Q, d))
        W[:, kept] = z[kept] * (plane.w.reshape(Q, -1) @ U.T)
        iterate = Iterate(iteration, margins.classifier(W, plane.b), plane.xi)
        yield iterate
        if p == 0:
            # Beside free slacks w may go to 0 as a whole: a weight that moves no margin, all of which are 1, is zero, too.
            kept = kept & non_zero(iterate.sizes) & (iterate.sizes * columns > ZERO)
            z = np.where(kept, iterate.sizes, 0.0)
        if q == 0:
            slacked = slacked & (plane.xi > ZERO)
            zeta = np.where(slacked, plane.xi, 1.0)

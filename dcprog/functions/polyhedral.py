"""Polyhedral convex functions: maxima of linear forms, and sums of them. In g they become rows of the subproblem."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ModelError
from dcprog.functions.base import ConvexFunction, Epigraph, proved
from dcprog.functions.checks import count, matrix, nonnegative
from dcprog.functions.corners import Corner, corner, near, separable
from dcprog.functions.forms import LinearForms
from dcprog.typing import Sparse, Vector

MOST = 64
"""So many pieces that meet are written out."""


@proved
class PiecewiseMaximum(ConvexFunction):
    """maxᵢ aᵢ'x + bᵢ, with the slope of the first piece that attains the maximum as subgradient.

    A is dense or scipy.sparse. Rockafellar (1970), section 19; for pieces that are Pyomo expressions see
    :func:`dcprog.maximum`.

    >>> f = PiecewiseMaximum([[1, 0], [0, 1], [-1, -1]], b=[0, 0, 1])
    >>> x = np.array([2.0, 2.0])
    >>> f.value(x), f.gradient(x)
    (2.0, array([1., 0.]))
    """

    smooth = False

    def __init__(self, A: Sparse, b: object = None) -> None:
        self.forms = LinearForms(matrix("A", A), b)
        self.dimension = self.forms.dimension

    def value(self, x: Vector) -> float:
        return float(self.forms(x).max())

    def gradient(self, x: Vector) -> Vector:
        return self.forms.row(int(np.argmax(self.forms(x))))

    def corners(self, x: Vector, radius: Vector) -> list[Corner]:
        slopes = self.forms.A.toarray() if sp.issparse(self.forms.A) else np.asarray(self.forms.A)
        found = corner(near(self.forms(x), slopes, radius), self.gradient(x))
        return [] if found is None else [found]

    def epigraph(self, n: int) -> Epigraph:
        """min t with A x − t ≤ −b."""
        pieces = self.forms.A.shape[0]
        b = np.zeros(pieces) if self.forms.b is None else self.forms.b
        A, B = sp.csr_array(self.forms.A), sp.csr_array(-np.ones((pieces, 1)))
        return Epigraph(A, B, -b, np.ones(1), lambda x: np.array([self.forms(x).max()]))


@proved
class L1Norm(ConvexFunction):
    """Σⱼ wⱼ|xⱼ|, weights wⱼ ≥ 0 (1 if not given), with subgradient 0 where xⱼ = 0.

    >>> f = L1Norm()
    >>> x = np.array([3.0, 0.0, -4.0])
    >>> f.value(x), f.gradient(x)
    (7.0, array([ 1.,  0., -1.]))
    """

    smooth, lowest = False, 0.0

    def __init__(self, weights: object = None) -> None:
        self.weights: Vector | None = None if weights is None else nonnegative("weights", weights)
        self.dimension = None if self.weights is None else len(self.weights)

    def value(self, x: Vector) -> float:
        return float(self._weighted(np.abs(x)).sum())

    def gradient(self, x: Vector) -> Vector:
        return self._weighted(np.sign(x))

    def corners(self, x: Vector, radius: Vector) -> list[Corner]:
        w = self._weighted(np.ones(len(x)))
        return separable(np.flatnonzero(np.abs(x) <= radius), -w, w, self.gradient(x))

    def epigraph(self, n: int) -> Epigraph:
        """min w't with −t ≤ x ≤ t."""
        eye = sp.eye_array(n, format="csr")
        A, B = sp.vstack([eye, -eye], "csr"), sp.vstack([-eye, -eye], "csr")
        return Epigraph(A, B, np.zeros(2 * n), self._weighted(np.ones(n)), np.abs)

    def _weighted(self, x: Vector) -> Vector:
        return x if self.weights is None else self.weights * x


@proved
class LargestSum(ConvexFunction):
    """The sum of the k largest components, with ones at the first k of them as subgradient.

    The maximum is k = 1, the sum k = n; divided by k it is the conditional value at risk of n scenarios. Boyd & Vandenberghe
    (2004), example 3.6.

    >>> f = LargestSum(2)
    >>> x = np.array([3.0, -4.0, 4.0, 3.0])
    >>> f.value(x), f.gradient(x)
    (7.0, array([1., 0., 1., 0.]))
    """

    smooth = False

    def __init__(self, k: int) -> None:
        self.k = count("k", k, such_as=3)

    def __call__(self, *variables: Any) -> Any:
        expression = super().__call__(*variables)
        n = expression.nargs() if expression.function is self else len(expression.function.b)
        if n < self.k:
            raise ModelError(f"{self!r} takes at least {self.k} variables, got {n}: pass more, or take a smaller k")
        return expression

    def value(self, x: Vector) -> float:
        return float(np.sort(x)[-self.k :].sum())

    def gradient(self, x: Vector) -> Vector:
        gradient = np.zeros_like(x)
        gradient[np.argsort(-x, kind="stable")[: self.k]] = 1.0
        return gradient

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        """Of the components that may be among the largest, or not, all choices of as many as there are."""
        order = np.argsort(-x, kind="stable")
        last, beyond = (x - radius)[order[: self.k]].min(), (x + radius)[order[self.k :]].max(initial=-np.inf)
        open_ = np.flatnonzero((x + radius >= last) & (x - radius <= beyond))
        free = self.k - int((~np.isin(order[: self.k], open_)).sum())
        if comb(len(open_), free) > MOST:
            return None
        slopes = np.zeros((comb(len(open_), free), len(x)))
        slopes[:, np.setdiff1d(order[: self.k], open_)] = 1.0
        for slope, chosen in zip(slopes, combinations(open_, free), strict=True):
            slope[list(chosen)] = 1.0
        found = corner(near(slopes @ x, slopes, radius), self.gradient(x))
        return [] if found is None else [found]

    def epigraph(self, n: int) -> Epigraph:
        """min ks + e'u with u ≥ x − s and u ≥ 0."""
        eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
        shift = sp.csr_array(np.append(-np.ones(n), np.zeros(n))[:, None])
        B = sp.hstack([shift, sp.vstack([-eye, -eye])], "csr")
        c = np.append(float(self.k), np.ones(n))
        return Epigraph(sp.vstack([eye, none], "csr"), B, np.zeros(2 * n), c, self._best)

    def _best(self, x: Vector) -> Vector:
        s = np.sort(x)[-self.k]
        return np.append(s, np.maximum(x - s, 0.0))


@proved
class MaxNorm(ConvexFunction):
    """‖x‖∞ = maxⱼ |xⱼ|, with ±1 at the first largest component as subgradient, and 0 at x = 0.

    >>> f = MaxNorm()
    >>> x = np.array([3.0, -4.0, 4.0])
    >>> f.value(x), f.gradient(x)
    (4.0, array([ 0., -1.,  0.]))
    """

    smooth, lowest = False, 0.0

    def value(self, x: Vector) -> float:
        return float(np.abs(x).max())

    def gradient(self, x: Vector) -> Vector:
        largest = int(np.argmax(np.abs(x)))
        gradient = np.zeros_like(x)
        gradient[largest] = np.sign(x[largest])
        return gradient

    def corners(self, x: Vector, radius: Vector) -> list[Corner]:
        close = np.flatnonzero(np.abs(x) + radius >= (np.abs(x) - radius).max())
        eye = np.eye(len(x))[close]
        found = corner(near(np.concatenate([x[close], -x[close]]), np.vstack([eye, -eye]), radius), self.gradient(x))
        return [] if found is None else [found]

    def epigraph(self, n: int) -> Epigraph:
        """min t with −t ≤ xⱼ ≤ t for all j."""
        eye = sp.eye_array(n, format="csr")
        A, B = sp.vstack([eye, -eye], "csr"), sp.csr_array(-np.ones((2 * n, 1)))
        return Epigraph(A, B, np.zeros(2 * n), np.ones(1), lambda x: np.array([np.abs(x).max()]))

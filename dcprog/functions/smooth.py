"""Smooth convex functions: quadratics and sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.functions.base import ConvexFunction, QuadraticForm, proved
from dcprog.functions.checks import convexity_modulus, is_diagonal, matrix, nonnegative, number, symmetric, vector
from dcprog.functions.conic import ConicForm, exponentials
from dcprog.functions.forms import LinearForms
from dcprog.typing import Matrix, Sparse, Vector


@proved
class Quadratic(ConvexFunction):
    """½ x'Qx + q'x + constant, Q symmetric positive semidefinite.

    Q is dense or scipy.sparse; a diagonal one makes the function separable. An indefinite Q is refused. The modulus of
    strong convexity is Q's smallest eigenvalue, computed if Q is diagonal or has at most 1000 rows, and 0 otherwise.

    >>> f = Quadratic([[2, 1], [1, 2]], q=[1, 0])
    >>> x = np.array([1.0, -1.0])
    >>> f.value(x), f.gradient(x)
    (2.0, array([ 2., -1.]))
    >>> round(f.strong_convexity, 6)
    1.0
    """

    def __init__(self, Q: Sparse, q: object = None, constant: float = 0.0) -> None:
        self.Q = symmetric("Q", Q)
        self.dimension = int(self.Q.shape[0])
        self.q = np.zeros(self.dimension) if q is None else vector("q", q, self.dimension)
        self.constant = number("constant", constant, -np.inf, such_as=0)
        self.separable = is_diagonal(self.Q)
        self.strong_convexity = convexity_modulus("Q", self.Q)

    def value(self, x: Vector) -> float:
        return float(0.5 * (x @ (self.Q @ x)) + self.q @ x) + self.constant

    def gradient(self, x: Vector) -> Vector:
        gradient: Vector = self.Q @ x + self.q
        return gradient

    def hessian(self, x: Vector) -> Vector | Matrix:
        hessian: Vector | Matrix = self.Q.diagonal() if self.separable else sp.csr_array(self.Q).toarray()
        return hessian

    def quadratic(self, n: int) -> QuadraticForm:
        return QuadraticForm(sp.csc_array(self.Q), self.q, self.constant)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        lower = sp.coo_array(sp.tril(self.Q))
        entries = zip(lower.row, lower.col, lower.data, strict=True)
        squares = sum(float(v if i != j else v / 2) * x[i] * x[j] for i, j, v in entries)
        return squares + sum(float(v) * x[j] for j, v in enumerate(self.q)) + self.constant


@lru_cache(maxsize=64)
def _no_curvature(n: int) -> Sparse:
    """Q = 0, which nobody changes: SciPy takes longer to make one than an LP of this size takes an iteration."""
    return sp.csc_array((n, n))


@proved
class Linear(ConvexFunction):
    """c'x, for vectors too long to be written as a Pyomo expression.

    >>> Linear([1.0, 2.0]).value(np.array([3.0, 4.0]))
    11.0
    """

    separable = True

    def __init__(self, c: object) -> None:
        self.c = vector("c", c)
        self.dimension = len(self.c)

    def value(self, x: Vector) -> float:
        return float(self.c @ x)

    def gradient(self, x: Vector) -> Vector:
        return self.c

    def hessian(self, x: Vector) -> Vector:
        return np.zeros_like(self.c)

    def quadratic(self, n: int) -> QuadraticForm:
        return QuadraticForm(_no_curvature(n), self.c, 0.0)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(float(c) * v for c, v in zip(self.c, x, strict=True))


@proved
class LogSumExp(ConvexFunction):
    """log Σᵢ e^(aᵢ'x + bᵢ), the smooth maximum of linear forms.

    max ≤ f ≤ max + log m for m forms. Without A the forms are the components of x. The largest exponent is taken out
    before anything is exponentiated, so neither value nor derivatives overflow. Boyd & Vandenberghe (2004), section 3.1.5.

    >>> f = LogSumExp()
    >>> x = np.array([1000.0, 1000.0])
    >>> f.value(x), f.gradient(x)
    (1000.693147180..., array([0.5, 0.5]))
    """

    def __init__(self, A: Sparse | None = None, b: object = None) -> None:
        self.forms = LinearForms(A, b)
        self.dimension = self.forms.dimension

    def value(self, x: Vector) -> float:
        z = self.forms(x)
        return float(z.max() + np.log(np.exp(z - z.max()).sum()))

    def gradient(self, x: Vector) -> Vector:
        return self.forms.transposed(self._softmax(x))

    def hessian(self, x: Vector) -> Matrix:
        p = self._softmax(x)
        mean = self.forms.transposed(p)
        return self.forms.gram(p) - np.outer(mean, mean)

    def conic(self, n: int) -> ConicForm:
        """min t with e^(zᵢ − t) ≤ uᵢ and Σ uᵢ ≤ 1."""
        A, b = self.forms.matrix(n), self.forms.offset(n)
        m = len(b)
        first = sp.hstack([-np.ones((m, 1)), sp.csr_array((m, m))])
        u = sp.hstack([sp.csr_array((m, 1)), sp.eye_array(m)])
        triples = exponentials((A, first, b), (None, None, np.ones(m)), (None, u, None), n, m + 1)
        total = sp.csr_array(np.append(0.0, -np.ones(m))[None])
        return ConicForm(
            A=sp.csr_array(sp.vstack([triples.A, sp.csr_array((1, n))])),
            B=sp.csr_array(sp.vstack([triples.B, total])),
            b=np.append(triples.b, 1.0),
            c=np.append(1.0, np.zeros(m)),
            cones=(*triples.cones, ("nonnegative", 1)),
        )

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return log(sum(exp(z) for z in self.forms.expand(x)))

    def _softmax(self, x: Vector) -> Vector:
        z = self.forms(x)
        e = np.exp(z - z.max())
        p: Vector = e / e.sum()
        return p


@proved
class SumExp(ConvexFunction):
    """Σᵢ cᵢ e^(aᵢ'x + bᵢ), weights cᵢ ≥ 0 (1 if not given).

    A is dense or scipy.sparse. Gaussian kernels are of this form in the feature weights θ: Neumann, Schnörr & Steidl (2005),
    eq. (10). An exponent beyond the range of floats gives infinity.

    >>> f = SumExp([[1, 0], [1, -1]], weights=[2, 1])
    >>> x = np.array([0.0, 0.0])
    >>> f.value(x), f.gradient(x)
    (3.0, array([ 3., -1.]))
    >>> f.hessian(x)
    array([[ 3., -1.],
           [-1.,  1.]])
    """

    lowest = 0.0

    def __init__(self, A: Sparse, b: object = None, weights: object = None) -> None:
        self.forms = LinearForms(matrix("A", A), b)
        self.dimension = self.forms.dimension
        m = self.forms.A.shape[0]
        self.weights = np.ones(m) if weights is None else nonnegative("weights", weights, m)

    def value(self, x: Vector) -> float:
        return float(self._terms(x).sum())

    def gradient(self, x: Vector) -> Vector:
        return self.forms.transposed(self._terms(x))

    def hessian(self, x: Vector) -> Matrix:
        return self.forms.gram(self._terms(x))

    def conic(self, n: int) -> ConicForm:
        """min c'u with e^zᵢ ≤ uᵢ."""
        A, b = self.forms.matrix(n), self.forms.offset(n)
        m = len(b)
        triples = exponentials((A, None, b), (None, None, np.ones(m)), (None, sp.eye_array(m), None), n, m)
        return triples._replace(c=self.weights)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(float(c) * exp(z) for c, z in zip(self.weights, self.forms.expand(x), strict=True))

    def _terms(self, x: Vector) -> Vector:
        # A weight of 0 switches its exponential off: 0 · ∞ would be NaN.
        powers = np.zeros_like(self.weights)
        with np.errstate(over="ignore"):
            np.exp(self.forms(x), out=powers, where=self.weights > 0)
        return self.weights * powers

"""Losses: sums Σᵢ ℓ(xᵢ) of one smooth (or polyhedral) convex function of each residual or margin.

They are mostly used as functions of linear forms, ``Logistic()(A, m.x, b)``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.functions.base import ConvexFunction, Epigraph, QuadraticForm, proved
from dcprog.functions.checks import number
from dcprog.functions.conic import ConicForm, exponentials
from dcprog.functions.corners import Corner, separable
from dcprog.typing import Vector


class Loss(ConvexFunction):
    """Σᵢ ℓ(xᵢ). Your own loss is a subclass with :meth:`loss`, :meth:`slope` and, where it is smooth, :meth:`curvature`.

    >>> class Cosh(Loss):
    ...     '''Σᵢ log cosh xᵢ.'''
    ...     def loss(self, x): return np.logaddexp(x, -x) - np.log(2)
    ...     def slope(self, x): return np.tanh(x)
    ...     def curvature(self, x): return 1 - np.tanh(x) ** 2
    >>> round(Cosh().value(np.array([0.0, 1.0])), 6) == round(float(np.log(np.cosh(1.0))), 6)
    True
    """

    separable = True

    @abstractmethod
    def loss(self, x: Vector) -> Vector:
        """All ℓ(xᵢ)."""

    @abstractmethod
    def slope(self, x: Vector) -> Vector:
        """All ℓ'(xᵢ), or where ℓ has a kink one fixed subgradient."""

    @abstractmethod
    def curvature(self, x: Vector) -> Vector:
        """All ℓ''(xᵢ) ≥ 0; where ℓ' has a kink, the value of either side."""

    def value(self, x: Vector) -> float:
        return float(self.loss(x).sum())

    def gradient(self, x: Vector) -> Vector:
        return self.slope(x)

    def hessian(self, x: Vector) -> Vector:
        return self.curvature(x)


@proved
class SquaredNorm(Loss):
    """‖x‖² = Σᵢ xᵢ²: the squared Euclidean norm, the sum of squares of least squares.

    Without the factor ½: strongly convex with modulus 2.

    >>> f = SquaredNorm()
    >>> x = np.array([3.0, -4.0])
    >>> f.value(x), f.gradient(x), f.hessian(x)
    (25.0, array([ 6., -8.]), array([2., 2.]))
    """

    strong_convexity, lowest = 2.0, 0.0

    def loss(self, x: Vector) -> Vector:
        return x * x

    def slope(self, x: Vector) -> Vector:
        return 2 * x

    def curvature(self, x: Vector) -> Vector:
        return np.full(len(x), 2.0)

    def quadratic(self, n: int) -> QuadraticForm:
        return QuadraticForm(sp.csc_array(2.0 * sp.eye_array(n)), np.zeros(n), 0.0)

    def conic(self, n: int) -> ConicForm:
        """min ‖t‖² with t = x."""
        eye = sp.eye_array(n, format="csr")
        return ConicForm(eye, -eye, np.zeros(n), np.zeros(n), (("zero", n),), P=2.0 * eye)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(v**2 for v in x)


@proved
class Huber(Loss):
    """Σᵢ ℓ(xᵢ), ℓ(x) = ½x² for |x| ≤ δ, δ(|x| − δ/2) beyond: Huber's loss, quadratic near 0 and linear far out.

    Huber (1964). Slope between −δ and δ. CVXPY's ``huber(x, M)`` is twice this with δ = M; scikit-learn's HuberRegressor
    counts as twice this, too, and scales residuals by σ.

    >>> f = Huber(delta=1)
    >>> x = np.array([0.5, -3.0])
    >>> f.loss(x), f.gradient(x)
    (array([0.125, 2.5  ]), array([ 0.5, -1. ]))
    """

    lowest = 0.0

    def __init__(self, delta: float = 1.0) -> None:
        self.delta = number("delta", delta, 0, such_as=1)

    def loss(self, x: Vector) -> Vector:
        size = np.abs(x)
        near = np.minimum(size, self.delta)
        loss: Vector = near * (size - 0.5 * near)
        return loss

    def slope(self, x: Vector) -> Vector:
        slope: Vector = np.clip(x, -self.delta, self.delta)
        return slope

    def curvature(self, x: Vector) -> Vector:
        return (np.abs(x) <= self.delta).astype(float)

    def conic(self, n: int) -> ConicForm:
        """min ½‖u‖² + δe's with |x − u| ≤ s."""
        eye = sp.eye_array(n, format="csr")
        A, B = sp.vstack([eye, -eye], "csr"), sp.block_array([[-eye, eye], [eye, eye]], format="csr")
        P = sp.block_diag([eye, sp.csr_array((n, n))], format="csr")
        c = np.append(np.zeros(n), np.full(n, self.delta))
        return ConicForm(A, B, np.zeros(2 * n), c, (("nonnegative", 2 * n),), P)


@proved
class Hinge(Loss):
    """Σᵢ max(0, xᵢ): the hinge loss of the margins xᵢ = 1 − yᵢ(w'aᵢ + b), with subgradient 0 where xᵢ = 0.

    Polyhedral: in g it becomes rows. Cortes & Vapnik (1995).

    >>> f = Hinge()
    >>> x = np.array([2.0, 0.0, -1.0])
    >>> f.value(x), f.gradient(x)
    (2.0, array([1., 0., 0.]))
    """

    smooth, lowest = False, 0.0

    def loss(self, x: Vector) -> Vector:
        return np.maximum(x, 0.0)

    def slope(self, x: Vector) -> Vector:
        return (x > 0).astype(float)

    def corners(self, x: Vector, radius: Vector) -> list[Corner]:
        return separable(np.flatnonzero(np.abs(x) <= radius), np.zeros(len(x)), np.ones(len(x)), self.gradient(x))

    def curvature(self, x: Vector) -> Vector:
        return np.zeros_like(x)

    def epigraph(self, n: int) -> Epigraph:
        """min e't with t ≥ x and t ≥ 0."""
        eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
        A, B = sp.vstack([eye, none], "csr"), sp.vstack([-eye, -eye], "csr")
        return Epigraph(A, B, np.zeros(2 * n), np.ones(n), self.loss)


@proved
class SquaredHinge(Loss):
    """Σᵢ max(0, xᵢ)²: the squared hinge loss, once continuously differentiable.

    >>> f = SquaredHinge()
    >>> x = np.array([2.0, 0.0, -1.0])
    >>> f.value(x), f.gradient(x), f.hessian(x)
    (4.0, array([4., 0., 0.]), array([2., 0., 0.]))
    """

    lowest = 0.0

    def loss(self, x: Vector) -> Vector:
        loss: Vector = np.maximum(x, 0.0) ** 2
        return loss

    def slope(self, x: Vector) -> Vector:
        return 2 * np.maximum(x, 0.0)

    def curvature(self, x: Vector) -> Vector:
        return np.where(x > 0, 2.0, 0.0)

    def conic(self, n: int) -> ConicForm:
        """min ‖t‖² with t ≥ x and t ≥ 0."""
        eye, none = sp.eye_array(n, format="csr"), sp.csr_array((n, n))
        A, B = sp.vstack([-eye, none], "csr"), sp.vstack([eye, eye], "csr")
        return ConicForm(A, B, np.zeros(2 * n), np.zeros(n), (("nonnegative", 2 * n),), P=2.0 * eye)


@proved
class Logistic(Loss):
    """Σᵢ log(1 + e^xᵢ): the logistic loss (softplus) of the margins xᵢ = −yᵢ(w'aᵢ + b).

    Neither value nor derivatives overflow. Boyd & Vandenberghe (2004), section 7.1.1.

    >>> f = Logistic()
    >>> x = np.array([0.0, 1000.0, -1000.0])
    >>> f.loss(x).round(4), f.gradient(x), f.hessian(x)
    (array([6.931e-01, 1.000e+03, 0.000e+00]), array([0.5, 1. , 0. ]), array([0.25, 0.  , 0.  ]))
    """

    lowest = 0.0

    def loss(self, x: Vector) -> Vector:
        loss: Vector = np.logaddexp(0.0, x)
        return loss

    def slope(self, x: Vector) -> Vector:
        small = np.exp(-np.abs(x))  # ≤ 1
        return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))

    def curvature(self, x: Vector) -> Vector:
        small = np.exp(-np.abs(x))
        return np.asarray(small / (1.0 + small) ** 2)

    def conic(self, n: int) -> ConicForm:
        """min e't with e^(xᵢ − tᵢ) ≤ uᵢ, e^(−tᵢ) ≤ vᵢ and uᵢ + vᵢ ≤ 1."""
        eye, none, one = sp.eye_array(n, format="csr"), sp.csr_array((n, n)), np.ones(n)
        t, u, v = (sp.hstack([eye if i == k else none for i in range(3)], "csr") for k in range(3))
        pairs = [
            exponentials((eye, -t, None), (None, None, one), (None, u, None), n, 3 * n),
            exponentials((None, -t, None), (None, None, one), (None, v, None), n, 3 * n),
        ]
        return ConicForm(
            A=sp.vstack([*(pair.A for pair in pairs), none], "csr"),
            B=sp.vstack([*(pair.B for pair in pairs), -u - v], "csr"),
            b=np.concatenate([*(pair.b for pair in pairs), one]),
            c=np.append(one, np.zeros(2 * n)),
            cones=(*pairs[0].cones, *pairs[1].cones, ("nonnegative", n)),
        )

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(log(1 + exp(v)) for v in x)

"""Convex functions that are defined on a half-space only: quadratic over linear, and entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ModelError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.functions.conic import ConicForm, exponentials
from dcprog.typing import Matrix, Vector


@proved
class QuadOverLin(ConvexFunction):
    """‖x‖²/y of variables (x₁, …, xₙ, y), y > 0 the last of them: quadratic over linear.

    The perspective of ‖x‖²; 0 where x and y are 0, infinite where y ≤ 0 otherwise. Boyd & Vandenberghe (2004), example 3.18.

    >>> f = QuadOverLin()
    >>> z = np.array([3.0, 1.0, 2.0])
    >>> f.value(z), f.gradient(z)
    (5.0, array([ 3. ,  1. , -2.5]))
    """

    lowest = 0.0

    def __call__(self, *variables: Any) -> Any:
        expression = super().__call__(*variables)
        if expression.nargs() < 2 and expression.function is self:
            raise ModelError(f"{self!r} takes x and then y, got one variable: bind it to [*x, y]")
        return expression

    def lower_limits(self, n: int) -> Vector:
        """y ≥ 0."""
        return np.append(np.full(n - 1, -np.inf), 0.0)

    def value(self, z: Vector) -> float:
        x, y = z[:-1], float(z[-1])
        if not x.any():
            return 0.0 if y >= 0 else np.inf
        with np.errstate(over="ignore"):
            return float(x @ x / y) if y > 0 else np.inf

    def gradient(self, z: Vector) -> Vector:
        x, y = z[:-1], float(z[-1])
        if not x.any():
            return np.zeros_like(z)
        if y <= 0:
            return np.full_like(z, np.nan)
        r = x / y
        return np.append(2 * r, -(r @ r))

    def hessian(self, z: Vector) -> Matrix | None:
        """2/y · (I, −x/y)'(I, −x/y)."""
        x, y = z[:-1], float(z[-1])
        if y <= 0:
            return None
        half = np.hstack([np.eye(len(x)), -(x / y)[:, None]])
        hessian: Matrix = 2 / y * half.T @ half
        return hessian

    def conic(self, n: int) -> ConicForm:
        """min t with ‖(2x, t − y)‖ ≤ t + y."""
        y = sp.csr_array(([1.0], ([0], [n - 1])), shape=(1, n))
        x = sp.csr_array((2 * np.ones(n - 1), (np.arange(n - 1), np.arange(n - 1))), shape=(n - 1, n))
        B = np.concatenate([[1.0, 1.0], np.zeros(n - 1)])[:, None]
        return ConicForm(
            sp.vstack([y, -y, x], "csr"), sp.csr_array(B), np.zeros(n + 1), np.ones(1), (("second-order", n + 1),)
        )

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(v**2 for v in x[:-1]) / x[-1]


@proved
class Entropy(ConvexFunction):
    """Σⱼ xⱼ log xⱼ, 0 where xⱼ = 0: the negative entropy, defined on x ≥ 0.

    Its slope at 0 is −∞: there it has no subgradient. Boyd & Vandenberghe (2004), section 3.1.5.

    >>> f = Entropy()
    >>> x = np.array([1.0, 0.0, np.e])
    >>> round(f.value(x), 6), f.gradient(x), f.hessian(x[::2]).round(4)
    (2.718282, array([  1., -inf,   2.]), array([1.    , 0.3679]))
    """

    separable, domain_lower = True, 0.0

    def value(self, x: Vector) -> float:
        u = np.maximum(x, 0.0)
        return float((u * np.log(np.where(u > 0, u, 1.0))).sum())

    def gradient(self, x: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            gradient: Vector = 1.0 + np.log(np.maximum(x, 0.0))
        return gradient

    def hessian(self, x: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            hessian: Vector = 1.0 / np.maximum(x, 0.0)
        return hessian

    def conic(self, n: int) -> ConicForm:
        """min Σ tⱼ with xⱼe^(−tⱼ/xⱼ) ≤ 1."""
        eye = sp.eye_array(n, format="csr")
        triples = exponentials((None, -eye, None), (eye, None, None), (None, None, np.ones(n)), n, n)
        return triples._replace(c=np.ones(n))

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(v * log(v) for v in x)

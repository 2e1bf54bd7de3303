"""Concave penalties ρ(v), v ≥ 0, that stand in for the number of non-zero components, as DC pairs.

Each class is the convex function h = −ρ, so ``DCProgram(m, g, h=lam * Exponential(alpha=5)(m.v))`` minimises g + λρ(v) for
variables v ≥ 0. For variables w of either sign ``pair(m.w)`` gives g − h = ρ(|w|) with

    g(w) = ρ'(0) ‖w‖₁,    h(w) = ρ'(0) ‖w‖₁ − ρ(|w|),

both convex; h is smooth if ρ is, since its slope at 0 vanishes (Le Thi, Pham Dinh, Le & Vo, EJOR 244, 2015).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ModelError
from dcprog.functions.base import ConvexFunction, Epigraph, proved
from dcprog.functions.checks import number
from dcprog.functions.norms import Norm2
from dcprog.functions.polyhedral import L1Norm
from dcprog.typing import Matrix, Vector


class Penalty(ConvexFunction):
    """−ρ for a penalty ρ that is concave and, on v ≥ 0, increasing from ρ(0) = 0."""

    @abstractmethod
    def penalty(self, v: Vector) -> float:
        """ρ(v)."""

    @abstractmethod
    def slope(self, v: Vector) -> Vector:
        """ρ'(v), or where ρ has a kink one fixed supergradient; ≥ 0 for v ≥ 0."""

    @abstractmethod
    def pair(self, *w: Any) -> tuple[Any, Any]:
        """Pyomo expressions (g, h) with ρ(|w|) = g − h, for variables w of either sign."""

    def value(self, v: Vector) -> float:
        return -self.penalty(v)

    def gradient(self, v: Vector) -> Vector:
        return -self.slope(v)


class SeparablePenalty(Penalty):
    """−Σⱼ ρ(vⱼ). Your own penalty is a subclass with :meth:`rho`, :meth:`slope` and :meth:`curvature`, componentwise.

    >>> class Arctan(SeparablePenalty):
    ...     '''−Σⱼ arctan(vⱼ).'''
    ...     domain_lower = 0.0
    ...     def rho(self, v): return np.arctan(v)
    ...     def slope(self, v): return 1 / (1 + v**2)
    ...     def curvature(self, v): return 2 * v / (1 + v**2) ** 2
    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.w = pyo.Var([1, 2], initialize={1: 1, 2: -1})
    >>> g, h = Arctan().pair(m.w)
    >>> pyo.value(g - h), 2 * np.pi / 4
    (1.57079632..., 1.57079632...)
    """

    separable = True

    @abstractmethod
    def rho(self, v: Vector) -> Vector:
        """All ρ(vⱼ)."""

    @abstractmethod
    def curvature(self, v: Vector) -> Vector:
        """All −ρ''(vⱼ) ≥ 0; where ρ' has a kink, the value of either side."""

    def penalty(self, v: Vector) -> float:
        return float(self.rho(v).sum())

    def hessian(self, v: Vector) -> Vector:
        return self.curvature(v)

    def pair(self, *w: Any) -> tuple[Any, Any]:
        remainder = Remainder(self)
        return remainder.slope_at_zero * L1Norm()(*w), remainder(*w)


@proved
class Remainder(ConvexFunction):
    """ρ'(0)‖w‖₁ − ρ(|w|) for a separable penalty ρ: what is left of the ℓ1 norm, the h of its DC pair.

    Its gradient is sign(w)(ρ'(0) − ρ'(|w|)); for the exponential penalty α|w| − 1 + e^(−α|w|) is once continuously
    differentiable with curvature α²e^(−α|w|).

    >>> h = Remainder(Exponential(alpha=5))
    >>> w = np.array([0.0, -10.0])
    >>> h.value(w), h.gradient(w), h.smooth
    (49.0, array([ 0., -5.]), True)
    """

    separable = True

    def __init__(self, penalty: SeparablePenalty) -> None:
        if not isinstance(penalty, SeparablePenalty):
            raise ModelError(f"Remainder takes a separable penalty, got {penalty!r}: pass one such as Exponential(alpha=5)")
        self.penalty = penalty
        self.smooth = penalty.smooth
        self.slope_at_zero = float(penalty.slope(np.zeros(1))[0])

    def value(self, w: Vector) -> float:
        v = np.abs(w)
        return float((self.slope_at_zero * v - self.penalty.rho(v)).sum())

    def gradient(self, w: Vector) -> Vector:
        gradient: Vector = np.sign(w) * (self.slope_at_zero - self.penalty.slope(np.abs(w)))
        return gradient

    def hessian(self, w: Vector) -> Vector:
        return self.penalty.curvature(np.abs(w))

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        return (self.penalty,)

    def __repr__(self) -> str:
        return f"Remainder({self.penalty!r})"


@proved
class Exponential(SeparablePenalty):
    """−ρ(v), ρ(v) = Σⱼ 1 − e^(−αvⱼ): the exponential penalty, counts non-zeros as α → ∞.

    Bradley & Mangasarian (1998), who take α = 5; Neumann, Schnörr & Steidl (2005), eq. (5). Concave on all of ℝ.

    >>> f = Exponential(alpha=5)
    >>> v = np.array([0.0, 1.0])
    >>> round(f.penalty(v), 4), f.slope(v).round(4)
    (0.9933, array([5.    , 0.0337]))
    >>> f.value(v) == -f.penalty(v)
    True
    """

    def __init__(self, alpha: float = 5.0) -> None:
        self.alpha = number("alpha", alpha, 0, such_as=5)

    def rho(self, v: Vector) -> Vector:
        with np.errstate(over="ignore"):
            rho: Vector = -np.expm1(-self.alpha * v)
        return rho

    def slope(self, v: Vector) -> Vector:
        with np.errstate(over="ignore"):
            slope: Vector = self.alpha * np.exp(-self.alpha * v)
        return slope

    def curvature(self, v: Vector) -> Vector:
        return self.alpha * self.slope(v)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return sum(exp(-self.alpha * v) for v in x) - len(x)


@proved
class Logarithmic(SeparablePenalty):
    """−ρ(v), ρ(v) = Σⱼ ln(1 + vⱼ/ε): the logarithmic penalty of AROM.

    Weston, Elisseeff, Schölkopf & Tipping (2003) minimise Σ ln(ε + |wⱼ|) = ρ(|w|) + d ln ε: the same problem, shifted by a
    constant so that ρ(0) = 0. Defined on v ≥ 0; rounding below 0 follows the tangent.

    >>> f = Logarithmic(eps=0.5)
    >>> v = np.array([0.0, 0.5])
    >>> round(f.penalty(v), 4), f.slope(v)
    (0.6931, array([2., 1.]))
    """

    domain_lower = 0.0

    def __init__(self, eps: float = 1e-2) -> None:
        self.eps = number("eps", eps, 0, such_as=1e-2)

    def rho(self, v: Vector) -> Vector:
        u = np.maximum(v, 0)
        rho: Vector = np.log1p(u / self.eps) + (v - u) / self.eps
        return rho

    def slope(self, v: Vector) -> Vector:
        slope: Vector = 1 / (self.eps + np.maximum(v, 0))
        return slope

    def curvature(self, v: Vector) -> Vector:
        return self.slope(v) ** 2

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return -sum(log(1 + v / self.eps) for v in x)


@proved
class Lp(SeparablePenalty):
    """−ρ(v), ρ(v) = Σⱼ (vⱼ + ε)^p − ε^p, 0 < p < 1: the ℓp penalty, smoothed at 0 by ε.

    Fu (1998), bridge regression; Chartrand & Yin (2008) for the smoothing. Defined on v ≥ 0; rounding below 0 follows the
    tangent.

    >>> f = Lp(p=0.5, eps=0.25)
    >>> v = np.array([0.0, 2.0])
    >>> round(f.penalty(v), 4), f.slope(v).round(4)
    (1.0, array([1.    , 0.3333]))
    """

    domain_lower = 0.0

    def __init__(self, p: float = 0.5, eps: float = 1e-2) -> None:
        self.p = number("p", p, 0, 1, such_as=0.5)
        self.eps = number("eps", eps, 0, such_as=1e-2)

    def rho(self, v: Vector) -> Vector:
        u = np.maximum(v, 0)
        tangent = self.p * self.eps ** (self.p - 1) * (v - u)
        rho: Vector = self.eps**self.p * np.expm1(self.p * np.log1p(u / self.eps)) + tangent
        return rho

    def slope(self, v: Vector) -> Vector:
        slope: Vector = self.p * (self.eps + np.maximum(v, 0)) ** (self.p - 1)
        return slope

    def curvature(self, v: Vector) -> Vector:
        curvature: Vector = (1 - self.p) * self.slope(v) / (self.eps + np.maximum(v, 0))
        return curvature

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        return len(x) * self.eps**self.p - sum((v + self.eps) ** self.p for v in x)


@proved
class CappedL1(SeparablePenalty):
    """−ρ(v), ρ(v) = Σⱼ min(vⱼ/θ, 1): the capped ℓ1 penalty, which counts components, those below θ in part.

    Scaled to 1 like the exponential penalty; min(v, θ) is θρ(v). Polyhedral, with slope 1/θ up to and at the kink v = θ and
    0 beyond; linear below 0. Peleg & Meir (2008); T. Zhang (2010).

    >>> f = CappedL1(theta=2)
    >>> v = np.array([1.0, 2.0, 3.0])
    >>> f.penalty(v), f.slope(v)
    (2.5, array([0.5, 0.5, 0. ]))
    """

    smooth = False

    def __init__(self, theta: float) -> None:
        self.theta = number("theta", theta, 0, such_as=0.1)

    def rho(self, v: Vector) -> Vector:
        rho: Vector = np.minimum(v / self.theta, 1)
        return rho

    def slope(self, v: Vector) -> Vector:
        return np.where(v <= self.theta, 1 / self.theta, 0.0)

    def curvature(self, v: Vector) -> Vector:
        return np.zeros_like(v)

    def epigraph(self, n: int) -> Epigraph:
        """min e't with t ≥ −v/θ and t ≥ −1."""
        eye = sp.eye_array(n, format="csr")
        A = sp.vstack([-eye / self.theta, sp.csr_array((n, n))], "csr")
        return Epigraph(A, sp.vstack([-eye, -eye], "csr"), np.repeat([0.0, 1.0], n), np.ones(n))


class _Spline(SeparablePenalty):
    """Slope λ up to a knot, then falling to 0 over a range of length width · λ: what SCAD and MCP have in common."""

    lam: float

    @property
    @abstractmethod
    def knot(self) -> float:
        """Where the slope starts to fall."""

    @property
    @abstractmethod
    def width(self) -> float:
        """Inverse rate at which it falls."""

    def rho(self, v: Vector) -> Vector:
        t = np.minimum(v, self.knot + self.width * self.lam)
        rho: Vector = self.lam * t - np.maximum(t - self.knot, 0) ** 2 / (2 * self.width)
        return rho

    def slope(self, v: Vector) -> Vector:
        slope: Vector = np.clip(self.lam - (v - self.knot) / self.width, 0, self.lam)
        return slope

    def curvature(self, v: Vector) -> Vector:
        return np.where((v >= self.knot) & (v < self.knot + self.width * self.lam), 1 / self.width, 0.0)


@proved
class SCAD(_Spline):
    """−ρ(v), ρ(v) = Σⱼ ∫₀^vⱼ min(λ, (aλ − t)₊/(a − 1)) dt, a > 2: the smoothly clipped absolute deviation.

    Slope λ up to λ, then falling, 0 from aλ on, where ρ = λ²(a + 1)/2; linear below 0. Fan & Li (2001), who take a = 3.7.

    >>> f = SCAD(lam=1, a=3)
    >>> v = np.array([0.5, 2.0, 9.0])
    >>> f.rho(v), f.slope(v)
    (array([0.5 , 1.75, 2.  ]), array([1. , 0.5, 0. ]))
    """

    def __init__(self, lam: float, a: float = 3.7) -> None:
        self.lam = number("lam", lam, 0, such_as=0.5)
        self.a = number("a", a, 2, such_as=3.7)

    @property
    def knot(self) -> float:
        return self.lam

    @property
    def width(self) -> float:
        return self.a - 1


@proved
class MCP(_Spline):
    """−ρ(v), ρ(v) = Σⱼ ∫₀^vⱼ (λ − t/γ)₊ dt: the minimax concave penalty.

    Slope λ at 0, then falling, 0 from γλ on, where ρ = γλ²/2; linear below 0. C.-H. Zhang (2010).

    >>> f = MCP(lam=1, gamma=2)
    >>> v = np.array([0.0, 1.0, 9.0])
    >>> f.rho(v), f.slope(v)
    (array([0.  , 0.75, 1.  ]), array([1. , 0.5, 0. ]))
    """

    def __init__(self, lam: float, gamma: float = 3.0) -> None:
        self.lam = number("lam", lam, 0, such_as=0.5)
        self.gamma = number("gamma", gamma, 0, such_as=3)

    @property
    def knot(self) -> float:
        return 0.0

    @property
    def width(self) -> float:
        return self.gamma


@proved
class L1MinusL2(Penalty):
    """−ρ(v), ρ(v) = Σⱼ vⱼ − ‖v‖₂: ℓ1 − ℓ2, zero just for vectors with at most one non-zero component.

    Not separable; concave on all of ℝⁿ, since ‖v‖₁ is linear on v ≥ 0. At v = 0 the slope is 1. Yin, Lou, He & Xin (2015).

    >>> f = L1MinusL2()
    >>> v = np.array([3.0, 4.0])
    >>> f.penalty(v), f.slope(v)
    (2.0, array([0.4, 0.2]))
    """

    smooth = False

    def __init__(self) -> None:
        self._norm = Norm2()

    def penalty(self, v: Vector) -> float:
        return float(v.sum()) - self._norm.value(v)

    def slope(self, v: Vector) -> Vector:
        return 1 - self._norm.gradient(v)

    def hessian(self, v: Vector) -> Matrix | None:
        return self._norm.hessian(v)

    def pair(self, *w: Any) -> tuple[Any, Any]:
        return L1Norm()(*w), Norm2()(*w)

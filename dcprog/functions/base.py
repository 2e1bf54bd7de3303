"""What a vectorised convex function is, and how it is bound to Pyomo variables.

A function knows NumPy only. Calling it with Pyomo variables gives a node of an ordinary Pyomo expression, so that
``0.5 * m.x**2 + lam * Exponential(alpha=5)(m.v)`` is written, evaluated and printed as any other expression is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from dcprog.functions.conic import ConicForm
from dcprog.functions.corners import Corner
from dcprog.typing import Indices, Matrix, Sparse, Vector


class Epigraph(NamedTuple):
    """A polyhedral function as a linear program: f(x) = min {c't : A x + B t ≤ b}. ``point`` gives the best t at x."""

    A: Sparse
    B: Sparse
    b: Vector
    c: Vector
    point: Callable[[Vector], Vector] | None = None


class QuadraticForm(NamedTuple):
    """½ x'Qx + c'x + constant."""

    Q: Sparse
    c: Vector
    constant: float

    def times(self, weight: float) -> QuadraticForm:
        """weight · the form."""
        return self if weight == 1.0 else QuadraticForm(weight * self.Q, weight * self.c, weight * self.constant)


_PROVED: set[type[ConvexFunction]] = set()
ORACLES = frozenset(("value", "gradient", "hessian", "epigraph", "quadratic", "conic", "nearest_slope", "rests_on"))

F = TypeVar("F", bound="type[ConvexFunction]")


def proved(cls: F) -> F:
    """Marks a class of this package whose functions are convex by proof, as long as the functions they are made of are.

    The mark is that of the class alone: a subclass may compute something else.
    """
    _PROVED.add(cls)
    return cls


class ConvexFunction(ABC):
    """A convex function on ℝⁿ by its oracles. Subclass it, give :meth:`value` and :meth:`gradient`, and use it in h; give
    :meth:`hessian` too and it can stand in g.

    Attributes
    ----------
    smooth : bool
        Continuously differentiable. A function in g has to be smooth, or give an :meth:`epigraph`.
    separable : bool
        A sum of functions of one component each: the Hessian is then returned as its diagonal.
    strong_convexity : float
        A modulus ρ ≥ 0 such that f − (ρ/2)‖·‖² is convex.
    domain_lower : float
        The function is defined (and convex) where every component is at least this; see :meth:`lower_limits`.
    hessian_operations : float
        Floating-point operations that one Hessian takes, where that is much: a solver that can do without may then do so.
    lowest : float
        No value is less than this.
    dimension : int or None
        How many variables it takes; None: any number.

    Examples
    --------
    >>> class Cubes(ConvexFunction):
    ...     '''Σ xⱼ³ on x ≥ 0.'''
    ...     separable, domain_lower = True, 0.0
    ...     def value(self, x): return float((x**3).sum())
    ...     def gradient(self, x): return 3 * x**2
    ...     def hessian(self, x): return 6 * x
    >>> import pyomo.environ as pyo
    >>> m = pyo.ConcreteModel(); m.x = pyo.Var([1, 2], initialize=2)
    >>> print(m.x[1] + 3 * Cubes()(m.x))
    x[1] + 3*Cubes(x[1], ..., x[2])
    >>> pyo.value(3 * Cubes()(m.x))
    48.0
    """

    smooth: bool = True
    separable: bool = False
    strong_convexity: float = 0.0
    domain_lower: float = -np.inf
    hessian_operations: float = 0.0
    lowest: float = -np.inf
    dimension: int | None = None

    @abstractmethod
    def value(self, x: Vector) -> float:
        """f(x)."""

    @abstractmethod
    def gradient(self, x: Vector) -> Vector:
        """∇f(x), or where f has a kink one fixed element of ∂f(x)."""

    def hessian(self, x: Vector) -> Vector | Matrix | None:
        """∇²f(x): an (n,) diagonal if :attr:`separable`, else an (n, n) array; None where there is none."""
        return None

    def epigraph(self, n: int) -> Epigraph | None:
        """The function of n variables as a linear program, if it is polyhedral."""
        return None

    def quadratic(self, n: int) -> QuadraticForm | None:
        """The function of n variables as a quadratic form, if it is one."""
        return None

    def corners(self, x: Vector, radius: Vector) -> list[Corner] | None:
        """The kinks at points y with |y − x| ≤ ``radius``, of a function that is a sum of maxima of smooth ones; None where
        it is not known to be one, or has infinitely many slopes there, as ‖x‖₂ has at 0."""
        return [] if self.smooth else None

    def lower_limits(self, n: int) -> Vector:
        """The domain of the function of n variables: from where on each of them may be."""
        return np.full(n, self.domain_lower)

    def outside(self, lower: Vector, upper: Vector) -> Indices:
        """The variables that may leave the domain between these bounds."""
        return np.flatnonzero(lower < self.lower_limits(len(lower)))

    def conic(self, n: int) -> ConicForm | None:
        """The function of n variables as the least cost of points in a cone, if it has such a form."""
        return None

    def nearest_slope(self, v: Vector) -> Vector:
        """The element of ∂f(0) nearest to v, given by sublinear functions f(x) = max {⟨v, x⟩ : v ∈ ∂f(0)}, as norms are.

        With it and a :meth:`conic` form they stand in g though they have kinks: {(x, t) : f(x) ≤ t} is a cone, and its dual
        cone {(−τv, τ) : v ∈ ∂f(0), τ ≥ 0}.
        """
        raise NotImplementedError

    def linear_forms(self, n: int) -> tuple[ConvexFunction, Sparse, Vector]:
        """(f, A, b) where this function of n variables is f(Ax + b), and f no such function itself."""
        return self, sp.eye_array(n, format="csr"), np.zeros(n)

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        """The function written out in scalar operations on ``x``, for plain Pyomo solvers; exp and log are theirs."""
        return None

    def rests_on(self) -> tuple[ConvexFunction, ...]:
        """The functions that this one is made of, and whose convexity its own rests on."""
        return ()

    @property
    def proved_convex(self) -> bool:
        """Whether it is convex by proof: one of this package's own functions, made of such functions only.

        Everything else, subclasses of these included, is sampled, and what is only sampled is assumed.
        """
        own = type(self) in _PROVED and not ORACLES & vars(self).keys()
        return own and all(part.proved_convex for part in self.rests_on())

    @property
    def has_conic(self) -> bool:
        """Whether the class gives a :meth:`conic` form."""
        return type(self).conic is not ConvexFunction.conic

    @property
    def sublinear(self) -> bool:
        """Whether the class gives its :meth:`nearest_slope`, and so is sublinear."""
        return type(self).nearest_slope is not ConvexFunction.nearest_slope

    @property
    def has_hessian(self) -> bool:
        """Whether the class gives a :meth:`hessian`."""
        return type(self).hessian is not ConvexFunction.hessian

    def __call__(self, *variables: Any) -> Any:
        """A node of a Pyomo expression: f of variables (indexed, scalar, or sequences of them) and affine expressions.

        ``f(A, x)`` and ``f(A, x, b)`` with a matrix A, dense or scipy.sparse, are f(Ax) and f(Ax + b).
        """
        from dcprog.functions.binding import bind

        return bind(self, variables)

    def __repr__(self) -> str:
        own = {k: v for k, v in vars(self).items() if not hasattr(ConvexFunction, k)}
        shown = ", ".join(f"{k}={v!r}" for k, v in own.items() if isinstance(v, int | float | str))
        return f"{type(self).__name__}({shown})"

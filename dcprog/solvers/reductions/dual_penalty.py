"""ℓ1 programs, and the penalty function of their dual that Newton's method minimises.

    min  s'p + t'q + c'β + ν'ξ    subject to    B(p − q) + Gβ + ξ ≥ r,   p, q, ξ ≥ 0                                   (P)
    max  r'u                      subject to    −t ≤ B'u ≤ s,   G'u = c,   0 ≤ u ≤ ν                                   (D)

The LP SVM (2.6) of Fung & Mangasarian (2004) is (P) with B = DA, G = De (β = −γ), r = s = t = e, c = 0, ν = νe. Violations
of (D) are paid for by their squares:

    f(u) = −ε r'u + ½‖(B'u − s)₊‖² + ½‖(−B'u − t)₊‖² + ½‖G'u − c‖² + ½‖(u − ν)₊‖² + ½α‖(−u)₊‖²                     (2.23)

For α → ∞ a minimiser u gives the solution of (P) with ½ε(‖p‖² + ‖q‖² + ‖β‖² + ‖ξ‖²) added to its objective, which for small
enough ε is the solution of (P) of least 2-norm (Proposition 2.1):

    p = (B'u − s)₊/ε,   q = (−B'u − t)₊/ε,   β = (G'u − c)/ε,   ξ = (u − ν)₊/ε.                                        (2.15)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from dcprog.machine.threads import blas_threads
from dcprog.typing import Matrix, Vector

ROUNDING = 1e-15
"""Relative error with which f is computed: a decrease below that cannot be seen."""
SHORTEST = 2.0**-45
"""Armijo steps are not cut further."""


class Point(NamedTuple):
    """u, with its products a = B'u and b = G'u. They are linear in u: points are added, and multiplied by numbers."""

    u: Vector
    a: Vector
    b: Vector

    def moved(self, step: float, direction: Point) -> Point:
        return Point(self.u + step * direction.u, self.a + step * direction.a, self.b + step * direction.b)


class Primal(NamedTuple):
    """A point of (P)."""

    p: Vector
    q: Vector
    beta: Vector
    xi: Vector


@dataclass(frozen=True, eq=False)
class L1Program:
    """The data of (P). B is dense or CSC; ν and t may be infinite: no slack in that row, no q to that p."""

    B: Any
    G: Matrix
    r: Vector
    s: Vector
    t: Vector
    c: Vector
    nu: Vector

    @property
    def m(self) -> int:
        return len(self.r)

    @cached_property
    def squares(self) -> Vector:
        """The squared norm of every column of B."""
        squares = self.B.multiply(self.B) if sp.issparse(self.B) else self.B**2
        return np.asarray(squares.sum(axis=0))

    @property
    def largest_square(self) -> float:
        """The largest squared norm of a column of B, and at least that of e."""
        return max(float(self.squares.max(initial=0.0)), float(self.m))

    def at(self, u: Vector) -> Point:
        return Point(u, self.B.T @ u, self.G.T @ u)

    def value(self, at: Point, eps: float, alpha: float) -> float:
        """f of (2.23)."""
        excess = self._scaled_primal(at)
        squares = sum(float(part @ part) for part in excess) + alpha * float(np.minimum(at.u, 0) @ at.u)
        return 0.5 * squares - eps * float(self.r @ at.u)

    def gradient(self, at: Point, eps: float, alpha: float) -> Vector:
        """∇f of (2.24)."""
        p, q, beta, xi = self._scaled_primal(at)
        return self.activity(p - q, beta) + xi + alpha * np.minimum(at.u, 0) - eps * self.r

    def newton_direction(self, at: Point, gradient: Vector, delta: float, alpha: float) -> Point:
        """d = −(∂²f(u) + δI)⁻¹ ∇f(u), (3.28), with ∂²f + δI = HH' + F, H = [BE G] and a diagonal F, (4.31).

        E keeps the columns that violate −t ≤ B'u ≤ s. By Cholesky of the smaller one of the two systems.
        """
        violated = np.flatnonzero((at.a > self.s) | (-at.a > self.t))
        columns = self.B[:, violated]
        H = np.hstack([columns.toarray() if sp.issparse(columns) else columns, self.G])
        F = delta + (at.u > self.nu) + alpha * (at.u < 0)
        solve = solve_small if H.shape[1] < self.m else solve_square
        with blas_threads(2.0 * H.size * min(H.shape)):
            return self.at(-solve(H, F, gradient))

    def primal(self, at: Point, eps: float) -> Primal:
        """The point of (P) that belongs to a minimiser of f, (2.15)."""
        return Primal(*(part / eps for part in self._scaled_primal(at)))

    def cost(self, z: Primal) -> float:
        """The objective of (P); a slack of no use costs nothing, even if it is infinitely dear."""
        used = z.xi > 0
        return float(self.s @ z.p + self.t[z.q > 0] @ z.q[z.q > 0] + self.c @ z.beta + self.nu[used] @ z.xi[used])

    def activity(self, w: Vector, beta: Vector) -> Vector:
        """Bw + Gβ, from the few columns of B that take part."""
        used = np.flatnonzero(w)
        out: Vector = self.B[:, used] @ w[used] + self.G @ beta
        return out

    def _scaled_primal(self, at: Point) -> Primal:
        """(2.15) times ε, which are the violations of (D)."""
        return Primal(
            np.maximum(at.a - self.s, 0), np.maximum(-at.a - self.t, 0), at.b - self.c, np.maximum(at.u - self.nu, 0)
        )


def solve_square(H: Matrix, F: Vector, g: Vector) -> Vector:
    """(HH' + F)⁻¹ g by the m × m matrix, for m ≪ n."""
    M = H @ H.T
    M.flat[:: len(M) + 1] += F
    return _solved(M, g)


def solve_small(H: Matrix, F: Vector, g: Vector) -> Vector:
    """(HH' + F)⁻¹ g for m ≫ n, by the identity of Sherman, Morrison and Woodbury:

        (HH' + F)⁻¹ = F⁻¹ − F⁻¹H (I + H'F⁻¹H)⁻¹ H'F⁻¹.

    >>> H, F, g = np.array([[1.0], [2.0]]), np.array([1.0, 4.0]), np.array([3.0, 4.0])
    >>> solve_small(H, F, g).round(9), solve_square(H, F, g).round(9)
    (array([1.33..., 0.16...]), array([1.33..., 0.16...]))
    """
    K = H / F[:, None]
    M = H.T @ K
    M.flat[:: len(M) + 1] += 1.0
    out: Vector = g / F - K @ _solved(M, K.T @ g)
    return out


def _solved(M: Matrix, g: Vector) -> Vector:
    """M⁻¹g for a positive definite M, which is overwritten: LAPACK itself, since these systems are small and many."""
    if not len(g):  # no column is in use, which LAPACK's wrapper takes for a mistake
        return g
    x: Vector
    _, x, info = dposv(M, g, lower=True, overwrite_a=True)
    if info != 0:
        raise LinAlgError(f"dposv ended with {info}, expected 0: the matrix is not positive definite")
    return x


class Step(NamedTuple):
    """Where an Armijo step led, how long it was, and whether the slope promised a decrease that can be seen."""

    point: Point
    length: float
    visible: bool


def armijo_step(lp: L1Program, at: Point, eps: float, delta: float, alpha: float) -> Step:
    """Step (I) of Algorithm 3.1: along d the largest λ of 1, ½, ¼, … with f(u) − f(u + λd) ≥ −¼λ ∇f(u)'d, (3.27).

    A decrease too small to be seen in floating point counts as one, or the last steps would never be taken.
    """
    gradient = lp.gradient(at, eps, alpha)
    direction = lp.newton_direction(at, gradient, delta, alpha)
    slope = -float(gradient @ direction.u)
    here = lp.value(at, eps, alpha)
    invisible = ROUNDING * (abs(here) + eps * abs(float(lp.r @ at.u)))
    length = 1.0
    while length >= SHORTEST:
        there = at.moved(length, direction)
        if here - lp.value(there, eps, alpha) >= 0.25 * length * slope - 10 * invisible:
            return Step(there, length, slope > invisible)
        length /= 2
    return Step(at, 0.0, slope > invisible)


def newton_steps(
    lp: L1Program, at: Point, eps: float, delta: float, alpha: float, *, tol: float, max_iter: int
) -> tuple[Point, int, float]:
    """The loop of Code 4.1: full Newton steps until ‖∇f‖ ≤ tol, of which one more is taken. Also their number, and ‖∇f‖."""
    steps, slope = 0, np.inf
    while slope > tol and steps < max_iter:
        gradient = lp.gradient(at, eps, alpha)
        slope = float(np.linalg.norm(gradient))
        at, steps = at.moved(1.0, lp.newton_direction(at, gradient, delta, alpha)), steps + 1
    return at, steps, slope

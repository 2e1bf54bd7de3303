"""Sums of kernel values as convex functions of the weights of the features.

    f(θ) = Σᵢⱼ exp(−Σₖ θₖ Dₖ(xᵢ, zⱼ)),    Dₖ ≥ 0

With D the matrix of one row per pair and one column per feature, and W the diagonal matrix of the summands,

    ∇f = −D'We,    ∇²f = D'WD,    ∇²f·v = D'WDv.

D has as many rows as there are pairs: :class:`BlockSum` walks over it in blocks, :class:`GaussianSum` never forms it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.base import ConvexFunction, proved
from dcprog.learning.kernels import Distances, Gaussian, pair_distances, points
from dcprog.machine.threads import blas_threads
from dcprog.typing import Matrix, Vector

BLOCK = 100_000
"""Entries of an array that stays in the cache between two uses; a third of it costs 10 % more, three times of it 50 %."""
FAR = 1e4
"""Up to this ‖x‖²/2σ² :class:`GaussianSum` gives exponents right to 1e-11; beyond it :class:`BlockSum` is taken."""


def kernel_sum(
    distances: Distances,
    X: Matrix,
    Z: Matrix | None = None,
    *,
    counts: Counts = None,
    memory: float = 1e9,
) -> KernelSum:
    """Σᵢⱼ sᵢ tⱼ K_θ(xᵢ, zⱼ) in the fastest way that is exact; without ``Z`` over all pairs (i, j) of rows of X, also i = j.

    ``distances`` are those of :mod:`dcprog.learning.kernels` or the caller's own, ``counts`` is (s, t), how often the points
    count, by default once, and ``memory`` is that of :class:`BlockSum`.

    >>> f = kernel_sum(Gaussian(sigma=1.0), np.array([[0.0], [2.0]]), np.array([[1.0]]))
    >>> f.value(np.array([2.0])), 2 * np.exp(-1)
    (0.7357..., np.float64(0.7357...))
    """
    if isinstance(distances, Gaussian):
        by_products = GaussianSum(distances, X, Z, counts=counts)
        if by_products.exact:
            return by_products
    return BlockSum(distances, X, Z, counts=counts, memory=memory)


Counts: TypeAlias = tuple[Vector, Vector] | None
"""How often each x and each z counts."""


class Evaluation(NamedTuple):
    """What one evaluation of the kernel gives; ``parts`` is what the Hessian can use again."""

    x: Vector
    value: float
    gradient: Vector
    parts: tuple[Any, ...] = ()


class KernelSum(ConvexFunction):
    """f(θ) = Σᵢⱼ sᵢ tⱼ exp(−Σₖ θₖ Dₖ(xᵢ, zⱼ)): what both ways to compute it share."""

    dimension: int

    def __init__(self, distances: Distances, X: Matrix, Z: Matrix | None = None, *, counts: Counts = None) -> None:
        self.distances = distances
        self.X = points("X", X)
        self.Z = self.X if Z is None else points("Z", Z)
        self.one_set = Z is None
        self.counts = counts
        if self.X.shape[1] != self.Z.shape[1]:
            raise DataError(f"X has {self.X.shape[1]} features and Z has {self.Z.shape[1]}: pass points of the same space")
        self.dimension = pair_distances(distances, self.X[:1], self.Z[:1]).shape[2]
        pairs = len(self.X) * len(self.Z) / (2 if self.one_set else 1)
        self.hessian_operations = float(pairs * self.dimension**2)
        self._last: Evaluation | None = None

    def value(self, x: Vector) -> float:
        return self._at(x).value

    def gradient(self, x: Vector) -> Vector:
        gradient: Vector = self._at(x).gradient.copy()
        return gradient

    @abstractmethod
    def hessian(self, x: Vector) -> Matrix: ...

    @abstractmethod
    def hessian_product(self, x: Vector, v: Vector) -> Vector:
        """∇²f(x)·v, at the cost of a gradient."""

    @abstractmethod
    def _evaluate(self, x: Vector) -> Evaluation: ...

    def _at(self, x: Vector) -> Evaluation:
        """Solvers ask for value, gradient and Hessian at x one by one; the kernel is evaluated once."""
        last = self._last
        if last is None or not (last.x == x).all():
            last = self._last = self._evaluate(np.array(x, dtype=float))
        return last

    def expand(self, x: Sequence[Any], exp: Any, log: Any) -> Any:
        D = pair_distances(self.distances, self.X, self.Z).reshape(-1, self.dimension)
        times = np.ones(len(D)) if self.counts is None else np.outer(*self.counts).ravel()
        return sum(t * exp(-sum(c * xk for c, xk in zip(row, x, strict=True))) for t, row in zip(times, D, strict=True))


@proved
class BlockSum(KernelSum):
    """f(θ) = Σᵢⱼ sᵢ tⱼ exp(−Σₖ θₖ Dₖ(xᵢ, zⱼ)) for any elementary distances, by blocks of pairs.

    Up to ``memory`` bytes of distances are kept; the others are computed again in each evaluation, which for the χ² kernel
    takes five times as long. Of one set (no ``Z``) each pair is visited once.

    >>> manhattan = lambda x, z: np.abs(x - z)
    >>> f = BlockSum(manhattan, np.array([[0.0, 0.0], [1.0, 2.0]]))
    >>> f.value(np.zeros(2)), f.gradient(np.zeros(2)), f.hessian(np.zeros(2)).round(12).tolist()
    (4.0, array([-2., -4.]), [[2.0, 4.0], [4.0, 8.0]])
    """

    def __init__(
        self,
        distances: Distances,
        X: Matrix,
        Z: Matrix | None = None,
        *,
        counts: Counts = None,
        memory: float = 1e9,
    ) -> None:
        super().__init__(distances, X, Z, counts=counts)
        self._rows = list(self._cut())
        self._kept: list[Matrix] = []
        for rows in self._rows:  # all of them, so that every distance is checked
            D = pair_distances(distances, self.X[rows], self._partners(rows)).reshape(-1, self.dimension)
            memory -= D.nbytes
            if memory >= 0:
                self._kept.append(D)

    def hessian(self, x: Vector) -> Matrix:
        H = np.zeros((self.dimension, self.dimension))
        with blas_threads(BLOCK * self.dimension):
            for D, times in self._blocks():
                D = D * np.sqrt(times * np.exp(-(D @ x)))[:, None]
                H += D.T @ D
        return H

    def hessian_product(self, x: Vector, v: Vector) -> Vector:
        out = np.zeros(self.dimension)
        with blas_threads(2 * BLOCK):
            for D, times in self._blocks():
                out += (times * np.exp(-(D @ x)) * (D @ v)) @ D
        return out

    def _evaluate(self, x: Vector) -> Evaluation:
        value, gradient = 0.0, np.zeros(self.dimension)
        with blas_threads(2 * BLOCK):
            for D, times in self._blocks():
                w = times * np.exp(-(D @ x))
                value += float(w.sum())
                gradient -= w @ D
        return Evaluation(x, value, gradient)

    def _cut(self) -> Iterator[slice]:
        """Rows of X such that their pairs make one block each."""
        start, n = 0, len(self.X)
        while start < n:
            partners = n - start if self.one_set else len(self.Z)
            stop = min(n, start + max(1, BLOCK // (partners * self.dimension)))
            yield slice(start, stop)
            start = stop

    def _partners(self, rows: slice) -> Matrix:
        """The points that pair with X[rows]; in one set those from there on, since (i, j) and (j, i) are one pair."""
        return self.Z[rows.start :] if self.one_set else self.Z

    def _blocks(self) -> Iterator[tuple[Matrix, Vector]]:
        """Blocks of rows of D, with the number of times each row counts."""
        for b, rows in enumerate(self._rows):
            Z = self._partners(rows)
            if b < len(self._kept):
                D = self._kept[b]
            else:
                D = self.distances(self.X[rows, None, :], Z[None, :, :]).reshape(-1, self.dimension)
            if self.one_set:
                size = rows.stop - rows.start
                times = 2 * np.triu(np.ones((size, len(Z))), 1) + np.eye(size, len(Z))
            else:
                times = np.ones((rows.stop - rows.start, len(Z)))
            if self.counts is not None:
                s, t = self.counts
                times = times * np.outer(s[rows], t[rows.start :] if self.one_set else t)
            yield D, times.ravel()


@proved
class GaussianSum(KernelSum):
    """f(θ) = Σᵢⱼ sᵢ tⱼ exp(−Σₖ θₖ (xᵢₖ − zⱼₖ)²/2σ²) by matrix products, in O(nmd) operations and O(nm) memory.

    The squares are multiplied out, so that pairs only occur in products of the n × m kernel matrix W with the points. Such
    sums cancel where ‖x − z‖ ≪ ‖x‖: points are centred first, and :attr:`exact` tells whether that is enough.

    >>> f = GaussianSum(Gaussian(sigma=1.0), np.array([[0.0, 0.0], [1.0, 2.0]]))
    >>> f.value(np.zeros(2)), f.gradient(np.zeros(2)).round(12), f.hessian(np.zeros(2)).round(12).tolist()
    (4.0, array([-1., -4.]), [[0.5, 2.0], [2.0, 8.0]])
    """

    distances: Gaussian

    def __init__(self, distances: Gaussian, X: Matrix, Z: Matrix | None = None, *, counts: Counts = None) -> None:
        super().__init__(distances, X, Z, counts=counts)
        # One row per feature, centred and scaled so that Dₖ = (xₖ − zₖ)².
        scale, centre = 1 / (distances.sigma * np.sqrt(2)), np.concatenate([self.X, self.Z]).mean(axis=0)
        self._x = np.ascontiguousarray(scale * (self.X - centre).T)
        self._z1 = np.vstack([scale * (self.Z - centre).T, np.ones(len(self.Z))])
        self._z = self._z1[:-1]
        with np.errstate(over="ignore"):
            self._xx, self._zz = self._x**2, self._z**2
        self._operations = 2.0 * self._x.size * len(self.Z)

    @property
    def exact(self) -> bool:
        """Whether rounding changes the kernel by no more than 1e-11 for θ ≤ 1."""
        return bool(max(self._xx.sum(axis=0).max(), self._zz.sum(axis=0).max()) <= FAR)

    def hessian(self, x: Vector) -> Matrix:
        # (xₖ − zₖ)²(xₗ − zₗ)² multiplied out: nine products; only the last needs more than sums over i or j
        W, WZ, r, c = self._at(x).parts
        x, z, xx, zz = self._x, self._z, self._xx, self._zz
        with blas_threads(self._operations):
            M = xx @ (zz @ W.T - 2 * x * WZ).T - 2 * zz @ (z * (x @ W)).T
            H: Matrix = (xx * r) @ xx.T + (zz * c) @ zz.T + M + M.T
            k, l = np.triu_indices(len(x))
            last = np.empty(len(k))
            step = max(1, BLOCK // 2 // max(W.shape))
            for s in range(0, len(k), step):
                b = slice(s, s + step)
                last[b] = np.einsum("pi,pi->p", x[k[b]] * x[l[b]], (z[k[b]] * z[l[b]]) @ W.T)
        H[k, l] += 4 * last
        H[l, k] = H[k, l]
        return H

    def hessian_product(self, x: Vector, v: Vector) -> Vector:
        with blas_threads(self._operations):
            W = self._at(x).parts[0]
            product, *_ = self._transposed(-W * self._exponent(v))
        return product

    def _evaluate(self, x: Vector) -> Evaluation:
        with blas_threads(self._operations):
            W = self._exponent(x)
            np.exp(W, out=W)
            if self.counts is not None:
                W *= self.counts[0][:, None]
                W *= self.counts[1]
            sums, WZ, r, c = self._transposed(W)
        return Evaluation(x, float(r.sum()), -sums, (W, WZ, r, c))

    def _exponent(self, theta: Vector) -> Matrix:
        """−Dθ as an n × m matrix: one product, over the features of weight ≠ 0 and two columns for ‖x‖²_θ and ‖z‖²_θ."""
        (used,) = theta.nonzero()
        left, right = np.empty((len(used) + 2, self._x.shape[1])), np.empty((len(used) + 2, self._z.shape[1]))
        np.multiply(self._x[used], 2 * theta[used, None], out=left[:-2])
        left[-2], left[-1] = -(theta @ self._xx), 1
        right[:-2], right[-2], right[-1] = self._z[used], 1, -(theta @ self._zz)
        E: Matrix = left.T @ right
        if self.one_set:
            np.fill_diagonal(E, 0)
        return E

    def _transposed(self, W: Matrix) -> tuple[Vector, Matrix, Vector, Vector]:
        """D'w = Σᵢⱼ wᵢⱼ (xᵢₖ − zⱼₖ)², with WZ and the row and column sums of W that it is made of."""
        product = self._z1 @ W.T
        WZ, r = product[:-1], product[-1]
        c = np.ones(len(W)) @ W
        return self._xx @ r + self._zz @ c - 2 * np.einsum("ki,ki->k", self._x, WZ), WZ, r, c

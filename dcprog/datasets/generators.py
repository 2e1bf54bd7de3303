"""The synthetic problems of the papers. Each returns (X, y): n samples in rows, labels ±1.

``seed`` is an integer, None, or a numpy Generator, and the same seed gives the same samples. Both classes are always there.

>>> X, y = circle(64, noise_features=2, seed=0)
>>> X.shape, sorted(set(y))
((64, 4), [np.float64(-1.0), np.float64(1.0)])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from dcprog.errors import DataError, unknown_name
from dcprog.functions.checks import count
from dcprog.learning.samples import check_positive
from dcprog.typing import Matrix, Vector

__all__ = [
    "banana",
    "chess_board",
    "circle",
    "difficult",
    "highleyman",
    "lithuanian",
    "myeloma",
    "organs",
    "sparse_polynomial",
    "weston_linear",
    "weston_nonlinear",
]

Seed: TypeAlias = int | np.random.Generator | None
Samples: TypeAlias = tuple[Matrix, Vector]

NOISE = 20.0
"""N(0, 20) of the papers is a standard deviation: footnote 8 of Weston et al. (2003)."""


def weston_linear(n: int, d: int = 202, seed: Seed = None) -> Samples:
    """Weston et al. (2001), section 5.1 (d = 202) and Weston et al. (2003), section 4.5 (d = 100): six relevant features.

    With probability 0.7 xᵢ = y·N(i, 1) for i = 1, 2, 3 and xᵢ = N(0, 1) for i = 4, 5, 6; otherwise xᵢ = N(0, 1) for the
    first three and xᵢ = y·N(i − 3, 1) for the others. All further features are noise N(0, 20).

    >>> X, y = weston_linear(5000, d=10, seed=0)
    >>> (y @ X[:, :6] / len(y)).round(1)  # 0.7·(1, 2, 3) and 0.3·(1, 2, 3)
    array([0.7, 1.4, 2.1, 0.3, 0.6, 0.9])
    """
    rng, d = _start(n, seed), count("d", d, 6, such_as=202)
    y = _labels(n, rng)
    X = rng.normal(0.0, NOISE, (n, d))
    signal = y[:, None] * (np.array([1.0, 2.0, 3.0]) + rng.standard_normal((n, 3)))
    silence = rng.standard_normal((n, 3))
    first = rng.random(n)[:, None] < 0.7
    X[:, :3], X[:, 3:6] = np.where(first, signal, silence), np.where(first, silence, signal)
    return X, y


def weston_nonlinear(n: int, d: int = 52, seed: Seed = None) -> Samples:
    """Weston et al. (2001), section 5.1: two relevant features that no linear rule separates.

    (x₁, x₂) is N(µ, I) with µ = ±(¾, 3) for y = −1 and µ = ±(3, −3) for y = 1, the sign by chance; the others are N(0, 20).

    >>> X, y = weston_nonlinear(5000, d=4, seed=0)
    >>> X[y > 0, :2].mean(axis=0).round(1) + 0.0, np.abs(X[y > 0, :2]).mean(axis=0).round(1)
    (array([0., 0.]), array([3., 3.]))
    """
    rng, d = _start(n, seed), count("d", d, 2, such_as=52)
    y = _labels(n, rng)
    X = rng.normal(0.0, NOISE, (n, d))
    centres = np.where(y[:, None] > 0, [3.0, -3.0], [0.75, 3.0]) * rng.choice([-1.0, 1.0], (n, 1))
    X[:, :2] = centres + rng.standard_normal((n, 2))
    return X, y


def myeloma(genes: int = 7008, relevant: int = 40, seed: Seed = None) -> Samples:
    """Of the shape of the myeloma data, Fung & Mangasarian (2004), section 4.1.1: 74 and 31 points, four features a gene.

    Each gene has a call of three levels, one of three coded, and a standardised value. Of the ``relevant`` first genes the
    means differ between the classes by 2.4 standard deviations.

    >>> X, y = myeloma(50, seed=0)
    >>> X.shape, (y > 0).sum(), bool((X[:, :50] + X[:, 50:100] + X[:, 100:150] == 1).all())
    ((105, 200), np.int64(74), True)
    """
    rng, genes, relevant = _start(105, seed), count("genes", genes, such_as=7008), count("relevant", relevant, 0, such_as=40)
    y = np.repeat([1.0, -1.0], [74, 31])
    level = rng.standard_normal((105, genes)) + np.where(np.arange(genes) < relevant, 1.2 * y[:, None], 0.0)
    calls = np.digitize(level, [-0.4, 0.2])
    value = np.exp(level + 0.3 * rng.standard_normal(level.shape))
    return np.hstack([*(calls == k for k in range(3)), (value - value.mean(axis=0)) / value.std(axis=0)]), y


def sparse_polynomial(n: int, target: str | float = "product", d: int = 10, seed: Seed = None) -> Samples:
    """Weston et al. (2003), Figure 1: the sign of a polynomial of degree 2 in d = 10 normal inputs, without noise.

    ``target``: ``"product"`` is x₁x₂ + x₃ (a), ``"linear"`` is x₁ (b), and a number in [0, 1) the share of coefficients of a
    random polynomial that are zero: 0.95, 0.9, 0.8 and 0 in (c)–(f).

    >>> X, y = sparse_polynomial(50, "product", seed=0)
    >>> bool((y == np.sign(X[:, 0] * X[:, 1] + X[:, 2])).all())
    True
    """
    rng, d = _start(n, seed), count("d", d, 3, such_as=10)
    score: Callable[[Matrix], Vector]
    if target == "product":
        score = lambda X: X[:, 0] * X[:, 1] + X[:, 2]
    elif target == "linear":
        score = lambda X: X[:, 0]
    elif isinstance(target, float | int) and 0 <= target < 1:
        score = lambda X: _random_polynomial(X, float(target), rng)
    else:
        raise unknown_name("target", target, ["product", "linear", "a number in [0, 1)"])
    return _with_both_classes(lambda: rng.standard_normal((n, d)), score)


def circle(n: int = 64, noise_features: int = 0, seed: Seed = None) -> Samples:
    """Neumann, Schnörr & Steidl (2005), Figure 1: y = sgn(x₁² + x₂² − 1), uniform on [−2, 2], with features of noise.

    >>> X, y = circle(64, seed=0)
    >>> bool((y == np.sign((X**2).sum(axis=1) - 1)).all())
    True
    """
    rng, d = _start(n, seed), 2 + count("noise_features", noise_features, 0, such_as=2)
    return _with_both_classes(lambda: rng.uniform(-2.0, 2.0, (n, d)), lambda X: (X[:, :2] ** 2).sum(axis=1) - 1)


def chess_board(n: int = 64, noise_features: int = 0, seed: Seed = None) -> Samples:
    """Neumann, Schnörr & Steidl (2005), Figure 2: (y + 1)/2 = (⌊x₁/2⌋ mod 2) ⊕ (⌊x₂/2⌋ mod 2), uniform on [0, 4].

    >>> X, y = chess_board(64, seed=0)
    >>> bool(((y > 0) == ((X[:, 0] >= 2) != (X[:, 1] >= 2))).all())
    True
    """
    rng, d = _start(n, seed), 2 + count("noise_features", noise_features, 0, such_as=2)

    def colour(X: Matrix) -> Vector:
        field = np.floor(X[:, :2] / 2).astype(int) % 2
        sign: Vector = 2.0 * (field[:, 0] ^ field[:, 1]) - 1.0
        return sign

    return _with_both_classes(lambda: rng.uniform(0.0, 4.0, (n, d)), colour)


def difficult(n: int, d: int = 30, seed: Seed = None) -> Samples:
    """PRTools' gendatd: two normal classes whose means differ by 3 in the first two features.

    The second of these has variance 40, and the two are rotated by 45°. Fortuna & Capson (2005) take d = 30.

    >>> X, y = difficult(5000, seed=0)
    >>> (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))[:3].round() + 0.0  # 3√2 in the first feature after the rotation
    array([4., 0., 0.])
    """
    rng, d = _start(n, seed), count("d", d, 2, such_as=30)
    y = _labels(n, rng)
    X = rng.standard_normal((n, d))
    X[:, 1] *= np.sqrt(40.0)
    X[:, :2] += 1.5 * y[:, None]
    X[:, :2] = X[:, :2] @ np.array([[1.0, -1.0], [1.0, 1.0]]) / np.sqrt(2.0)
    return X, y


def banana(n: int, copies: int = 50, seed: Seed = None, *, spread: float = 1.0) -> Samples:
    """PRTools' gendatb, two banana-shaped classes of radius 5, in Fortuna & Capson's high-dimensional version.

    ``spread`` is PRTools' s, the standard deviation of the noise on the arcs. The paper wants it "large enough": with 1
    fifty copies tell the classes apart without any error, 17 gives errors of the size that its Table 1 has.

    >>> X, y = banana(2000, copies=1, seed=0)
    >>> np.hypot(*X[y > 0].T).mean().round(), np.hypot(*X[y > 0].T).std().round()
    (np.float64(5.0), np.float64(1.0))
    """
    check_positive(spread=spread)

    def plane(y: Vector, rng: np.random.Generator) -> Matrix:
        turn = rng.random(len(y)) * 1.25 * np.pi
        angle = np.where(y > 0, 0.125 * np.pi + turn, 0.375 * np.pi - turn)
        centre = np.where(y > 0, 0.0, -0.75 * 5.0)[:, None]
        return 5.0 * np.column_stack([np.sin(angle), np.cos(angle)]) + centre + spread * rng.standard_normal((len(y), 2))

    return _in_copies(plane, n, copies, seed)


def highleyman(n: int, copies: int = 50, seed: Seed = None) -> Samples:
    """PRTools' gendath: N((1, 1), diag(1, ¼)) against N((2, 0), diag(0.01, 4)), in the high-dimensional version.

    >>> X, y = highleyman(2000, copies=1, seed=0)
    >>> X[y > 0].mean(axis=0).round(1), X[y < 0].std(axis=0).round(1)
    (array([1., 1.]), array([0.1, 2. ]))
    """

    def plane(y: Vector, rng: np.random.Generator) -> Matrix:
        centre = np.where(y[:, None] > 0, [1.0, 1.0], [2.0, 0.0])
        spread = np.where(y[:, None] > 0, [1.0, 0.5], [0.1, 2.0])
        return centre + spread * rng.standard_normal((len(y), 2))

    return _in_copies(plane, n, copies, seed)


def lithuanian(n: int, copies: int = 50, seed: Seed = None, *, spread: float = 1.0) -> Samples:
    """PRTools' gendatl: arcs of radius 10 and 6.2 over 120°, in the high-dimensional version; ``spread`` as for banana.

    6 gives errors of the size that Table 1 of Fortuna & Capson has.

    >>> X, y = lithuanian(2000, copies=1, seed=0)
    >>> np.hypot(*X[y > 0].T).mean().round(), np.hypot(*X[y < 0].T).mean().round()
    (np.float64(10.0), np.float64(6.0))
    """
    check_positive(spread=spread)

    def plane(y: Vector, rng: np.random.Generator) -> Matrix:
        angle = 2 * np.pi / 3 * (rng.random(len(y)) - 0.5)
        arc: Matrix = np.where(y > 0, 10.0, 6.2)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return arc + spread * rng.standard_normal((len(y), 2))

    return _in_copies(plane, n, copies, seed)


def organs(n: int = 1000, d: int = 650, seed: Seed = None) -> Samples:
    """The shape of section 5.3 of Neumann, Schnörr & Steidl (2005): d/10 histograms of ten bins, 1000 counts each.

    The CT scans are not public. Here every tenth histogram has another shape in each class, and all of them vary.

    >>> X, y = organs(20, d=50, seed=0)
    >>> np.unique(X.reshape(20, 5, 10).sum(axis=2))
    array([1000.])
    """
    rng, d = _start(n, seed), count("d", d, 10, such_as=650)
    if d % 10:
        raise DataError(f"d is {d}, expected a multiple of 10: the features are histograms of ten bins")
    y = _labels(n, rng)
    plus, other = rng.dirichlet(np.ones(10), (2, d // 10))
    minus = np.where(np.arange(d // 10)[:, None] % 10 == 0, 0.7 * plus + 0.3 * other, plus)
    concentration = 10.0 * np.where(y[:, None, None] > 0, plus, minus) + 1e-3
    shapes = rng.standard_gamma(concentration)
    shapes /= shapes.sum(axis=2, keepdims=True)
    return rng.multinomial(1000, shapes).reshape(n, d).astype(float), y


def _start(n: int, seed: Seed) -> np.random.Generator:
    count("n", n, 2, such_as=50)
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise DataError(
            f"seed has to be an integer ≥ 0, a numpy Generator or None, got {seed!r}: pass for example seed=0"
        ) from None


def _labels(n: int, rng: np.random.Generator) -> Vector:
    """±1 with equal probability, and both of them there."""
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = rng.permutation([-1.0, 1.0])
    return y


def _with_both_classes(draw: Callable[[], Matrix], score: Callable[[Matrix], Vector]) -> Samples:
    """Points with the signs of their scores: the first draw in which there are two."""
    while True:
        X = draw()
        y = np.where(score(X) >= 0, 1.0, -1.0)
        if np.ptp(y) > 0:
            return X, y


def _in_copies(plane: Callable[[Vector, np.random.Generator], Matrix], n: int, copies: int, seed: Seed) -> Samples:
    """Fortuna & Capson's high-dimensional version of a problem in the plane: independent draws for each sample, their first
    coordinates first and then their second ones."""
    rng, copies = _start(n, seed), count("copies", copies, such_as=50)
    y = _labels(n, rng)
    draws = np.stack([plane(y, rng) for _ in range(copies)])
    return np.concatenate([draws[:, :, 0], draws[:, :, 1]]).T.copy(), y


def _random_polynomial(X: Matrix, sparsity: float, rng: np.random.Generator) -> Vector:
    """A polynomial of degree 2 with normal coefficients, the share ``sparsity`` of which are zero."""
    i, j = np.triu_indices(X.shape[1])
    terms = np.hstack([X, X[:, i] * X[:, j]])
    coefficients = rng.standard_normal(terms.shape[1])
    kept = max(1, round((1.0 - sparsity) * len(coefficients)))
    coefficients[rng.permutation(len(coefficients))[kept:]] = 0.0
    scores: Vector = terms @ coefficients
    return scores

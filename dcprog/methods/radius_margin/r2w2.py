"""R²W²: the m features for which a bound on the leave-one-out error is small (Weston et al., NIPS 13, 2001).

Sought is σ ∈ {0, 1}ᵈ with m ones. The stepwise way (section 4) is to minimise T(σ) over σ ∈ Rᵈ, set the q smallest σₖ to
zero, and repeat until m are left. Where T prefers σ = 0, no features at all, a round is made again with ‖σ‖ held, and
``history`` says so: :mod:`dcprog.methods.radius_margin.descent`.

Greedy forward selection is the other way of Fig. 1, and the penalised form (13) has a module of its own,
:mod:`dcprog.methods.radius_margin.penalised`. None is a DC program: see :mod:`dcprog.methods.radius_margin.bound`.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.functions.checks import count, is_number
from dcprog.methods.radius_margin.bound import Criterion, counted, radius_margin
from dcprog.methods.radius_margin.kernels import Kernel
from dcprog.methods.radius_margin.scaling import minimise_scaling, scaled
from dcprog.methods.radius_margin.selection import Round, Selection, candidates

LARGEST = 10.0
"""No factor is larger than this where a minimisation begins."""


def r2w2(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    q: float = 0.5,
    solver: str = "auto",
    max_iter: int = 200,
) -> Selection:
    """Select ``m`` features by stepwise elimination.

    σ is compared between features and starts from e: standardise them.

    Parameters
    ----------
    X, y : array_like
        Training points in rows, dense or sparse, and their labels of two kinds. Constant features are never selected.
    m : int
        How many features to select, from 1 to the number of those that are not constant.
    kernel : Kernel or str
        One of :mod:`dcprog.methods.radius_margin.kernels`, or your own derived from ``Kernel``, or by name ``"linear"``,
        ``"polynomial"`` (of degree 2) or ``"gaussian"`` (of width 1).
    ridge : float
        1/λ ≥ 0 of the training errors, which cost λ/2 Σξᵢ²; 0 allows none.
    criterion : callable
        The bound T: ``radius_margin``, ``span_bound``, or your own ``criterion(K, y, *, solver)``, which returns an object
        with the value of T and its gradient ∂T/∂K.
    q : int or float
        How many of the smallest σₖ are set to zero at a time, or if q < 1 which share of those left, but at least one.
    solver : str
        A QP solver by name (:func:`dcprog.solvers`), or ``"auto"``.
    max_iter : int
        No more than so many iterations of L-BFGS each time.

    >>> from dcprog.methods.radius_margin.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> result = r2w2(X, X[:, 2] * X[:, 5] > 0, 2, Gaussian(width=2.0))
    >>> result.selected, [step.features for step in result.history]
    (array([2, 5]), [8, 4])
    """
    return r2w2_path(
        X, y, [m], kernel, ridge=ridge, criterion=criterion, q=q, solver=solver, max_iter=max_iter
    )[0]  # fmt: skip


def r2w2_path(
    X: Any,
    y: Any,
    sizes: Sequence[int],
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    q: float = 0.5,
    solver: str = "auto",
    max_iter: int = 200,
) -> list[Selection]:
    """For each m in ``sizes`` what :func:`r2w2` selects, by one elimination: on the way to fewer features it meets more.

    Parameters
    ----------
    X, y
        As for :func:`r2w2`.
    sizes : sequence of int
        Numbers m of features to select, in any order.
    kernel, ridge, criterion, q, solver, max_iter
        As for :func:`r2w2`.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> [found.selected for found in r2w2_path(X, X[:, 2] + X[:, 5] > 0, [2, 1], Linear())]
    [array([2, 5]), array([2])]
    """
    if not isinstance(sizes, Sequence | np.ndarray):
        raise DataError(f"sizes has to be a list of numbers of features to select, got {sizes!r}: pass for example [2, 1]")
    if not len(sizes):
        raise DataError("sizes is empty, expected numbers of features to select: pass one or more")
    count("max_iter", max_iter, such_as=200)
    c = candidates(X, y, *sizes)
    if not (is_number(q) and (0 < q < 1 or (isinstance(q, Integral) and q >= 1))):
        raise DataError(f"q has to be a number of features ≥ 1, or a share 0 < q < 1 of them, got {q!r}: pass e.g. 0.5")
    left, sigma = np.arange(len(c.columns)), np.ones(len(c.columns))
    history: list[Round] = []
    found = {m: c.select(left, sigma, kernel, ridge, solver, history) for m in sizes if m == len(left)}
    while len(found) < len(set(sizes)):
        # σ may grow without bound while the classes are separable. With fewer features they need not be: start moderately.
        start = sigma[left] * min(1.0, LARGEST / sigma[left].max())
        scaling = minimise_scaling(
            c.part(left), None, kernel,
            ridge=ridge, criterion=criterion, sigma=start, solver=solver, max_iter=max_iter,
        )  # fmt: skip
        history.append(Round(len(left), scaling.value, scaling.held))
        sigma[left] = scaling.sigma
        smallest_last = left[np.argsort(-scaling.sigma, kind="stable")]
        stay = len(left) - (max(1, int(q * len(left))) if q < 1 else int(q))
        for m in sizes:
            if stay <= m < len(left):
                found[m] = c.select(np.sort(smallest_last[:m]), sigma, kernel, ridge, solver, history)
        left = np.sort(smallest_last[: max(stay, 1)])
    return [found[m] for m in sizes]


def forward_selection(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
) -> Selection:
    """Select ``m`` features one by one, each time the one with which the bound is least.

    Parameters
    ----------
    X, y, m, kernel, ridge, criterion, solver
        As for :func:`r2w2`.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> forward_selection(X, X[:, 2] + X[:, 5] > 0, 2, Linear()).selected
    array([2, 5])
    """
    c = candidates(X, y, m)
    sigma, history = np.zeros(len(c.columns)), []
    ridges, criterion = counted(c.data, ridge, criterion)
    T = scaled(c.data.X, c.data.y, kernel, ridges, criterion, solver, sigma + 1)
    for size in range(1, m + 1):
        values = {int(k): T(sigma + (np.arange(len(sigma)) == k))[0] for k in np.flatnonzero(sigma == 0)}
        best = min(values, key=lambda k: values[k])
        sigma[best] = 1.0
        history.append(Round(size, values[best]))
    return c.select(np.flatnonzero(sigma), sigma, kernel, ridge, solver, history)


def backward_selection(
    X: Any,
    y: Any,
    m: int,
    kernel: Kernel | str,
    *,
    ridge: float = 1.0,
    criterion: Criterion = radius_margin,
    solver: str = "auto",
) -> Selection:
    """Drop features one by one, each time the one without which the bound is least, until ``m`` are left.

    Parameters
    ----------
    X, y, m, kernel, ridge, criterion, solver
        As for :func:`r2w2`.

    >>> from dcprog.methods.radius_margin.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 8))
    >>> backward_selection(X, X[:, 2] + X[:, 5] > 0, 2, Linear()).selected
    array([2, 5])
    """
    c = candidates(X, y, m)
    sigma, history = np.ones(len(c.columns)), []
    ridges, criterion = counted(c.data, ridge, criterion)
    T = scaled(c.data.X, c.data.y, kernel, ridges, criterion, solver, sigma)
    for size in range(len(sigma) - 1, m - 1, -1):
        values = {int(k): T(sigma - (np.arange(len(sigma)) == k))[0] for k in np.flatnonzero(sigma)}
        best = min(values, key=lambda k: values[k])
        sigma[best] = 0.0
        history.append(Round(size, values[best]))
    return c.select(np.flatnonzero(sigma), sigma, kernel, ridge, solver, history)

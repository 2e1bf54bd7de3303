"""Selection of exactly r features, and a classifier trained on them: section 4 of Weston et al. (2003)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from numbers import Integral, Real
from typing import Any

import numpy as np

from dcprog.errors import DataError
from dcprog.learning.multiclass import ArgmaxRule, check_constraints
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import (
    Samples,
    check_flag,
    check_positions,
    check_samples,
    check_varying,
    dense,
    varying,
)
from dcprog.methods.filters import fisher_score
from dcprog.methods.zero_norm.elimination import ShrinkingSVM
from dcprog.methods.zero_norm.iterates import Iterate
from dcprog.methods.zero_norm.multiclass import multiclass_updates
from dcprog.methods.zero_norm.multiplicative import l1_updates, l2_updates
from dcprog.methods.zero_norm.separation import maximal_margin
from dcprog.methods.zero_norm.steps import Margins
from dcprog.solvers.registry import check as check_solver
from dcprog.typing import Indices, Matrix, Vector

LONGEST = 200
"""The limit of AROM iterations: a run with more than r features by then does not get down to r."""


def arom_features(
    X: Any,
    y: Any,
    r: int,
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> Indices:
    """The r features that ℓ1- or ℓ2-AROM (``norm``) keeps, in order of position (sections 4.1 and 4.5).

    The iteration is stopped at the last iterate with more than r non-zero weights, and the r largest are taken. Should the
    first iterate already have fewer, it is filled up with the largest weights of the SVM on all features.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    r : int
        How many, from 1 to the number of features that are not constant.
    norm : 1 or 2
        ℓ1 (an LP a step) or ℓ2 (a QP a step).
    constraints : str
        Of three or more classes, ``"weston_watkins"`` or ``"one_vs_rest"``:
        :func:`dcprog.methods.zero_norm.multiclass_updates`.
    lam : float, optional
        λ > 0 allows slacks that cost λ each. By default none are allowed, which takes separable classes.
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 50)); y = X[:, 7] + X[:, 11] > 0
    >>> arom_features(X, y, 2), arom_features(X, y, 2, norm=1)
    (array([ 7, 11]), array([ 7, 11]))
    """
    return arom_reduced(X, y, r, norm=norm, constraints=constraints, lam=lam, solver=solver)[1]


def arom_reduced(
    X: Any,
    y: Any,
    r: int,
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> tuple[Iterate, Indices]:
    """The iterate at which :func:`arom_features` stops, and the features.

    Parameters
    ----------
    X, y, r, norm, constraints, lam, solver
        As for :func:`arom_features`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 50)); y = X[:, 7] + X[:, 11] > 0
    >>> iterate, features = arom_reduced(X, y, 2)
    >>> len(iterate.features) > 2, features
    (True, array([ 7, 11]))
    """
    return next(arom_path(X, y, [r], norm=norm, constraints=constraints, lam=lam, solver=solver))


def arom_path(
    X: Any,
    y: Any,
    numbers: Iterable[int],
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> Iterator[tuple[Iterate, Indices]]:
    """:func:`arom_reduced` for several numbers r of features, by one run of the updates, which does not depend on r.

    Parameters
    ----------
    X, y
        As for :func:`arom_features`.
    numbers : iterable of int
        The numbers r.
    norm, constraints, lam, solver
        As for :func:`arom_features`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 50)); y = X[:, 7] + X[:, 11] > 0
    >>> [features.tolist() for _, features in arom_path(X, y, [1, 2, 3])]
    [[7], [7, 11], [7, 11, 12]]
    """
    samples = _of_classes(X, y)
    iterates = Remembered(arom_iterates(samples, None, norm=norm, constraints=constraints, lam=lam, solver=solver))
    for r in numbers:
        iterate = _last_above(iter(iterates), _checked_number(samples, r))
        sizes = _counted(iterate)
        if np.count_nonzero(sizes) < r:
            machines = _machines(samples, np.inf if lam is None else lam, solver)
            squares = _squares(np.array([machine.weights(dense(samples.X)) for machine in machines]))
            sizes = np.where(sizes > 0, 1.0 + sizes / sizes.max(initial=1.0), squares / squares.max())
        yield iterate, np.sort(np.argsort(-sizes, kind="stable")[:r])


class Remembered:
    """Iterates that are walked through several times, and computed once.

    >>> walk = Remembered(iter([1, 2, 3]))
    >>> next(iter(walk)), list(walk), list(walk)
    (1, [1, 2, 3], [1, 2, 3])
    """

    def __init__(self, source: Iterator[Any]) -> None:
        self._source, self._known = source, list[Any]()

    def __iter__(self) -> Iterator[Any]:
        yield from self._known
        for iterate in self._source:
            self._known.append(iterate)
            yield iterate


def arom_iterates(
    X: Any,
    y: Any,
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> Iterator[Iterate]:
    """The iterates of ℓ1- or ℓ2-AROM for two or more classes, without end.

    Parameters
    ----------
    X, y, norm, constraints, lam, solver
        As for :func:`arom_features`.

    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> next(arom_iterates(X, [0, 0, 1, 1], norm=1)).features
    array([0])
    """
    check_constraints(constraints)
    check_solver(solver)
    samples = check_samples(X, y)
    if len(samples.classes) > 2:
        return multiclass_updates(samples, None, norm=norm, constraints=constraints, lam=lam, solver=solver)
    if norm not in (1, 2):
        raise DataError(f"norm is {norm!r}, expected 1 or 2: ℓ1- or ℓ2-AROM")
    steps = l1_updates if norm == 1 else l2_updates
    return steps(samples, None, solver=solver) if lam is None else steps(samples, None, q=1, lam=lam, solver=solver)


def _last_above(iterates: Iterator[Iterate], r: int) -> Iterate:
    """The last iterate with more than r weights, or the first if that has none."""
    last = next(iterates)
    for iterate in islice(iterates, LONGEST - 1):
        if len(iterate.features) <= r:
            break
        before, last = last, iterate
        if np.abs(_counted(last) - _counted(before)).max() <= 1e-9 * last.sizes.max():
            break
    return last


def _counted(iterate: Iterate) -> Vector:
    """The sizes of the weights that count, zero for the others."""
    sizes = np.zeros_like(iterate.sizes)
    sizes[iterate.features] = iterate.sizes[iterate.features]
    return sizes


def corr_features(X: Any, y: Any, r: int) -> Indices:
    """The r features with the largest correlation scores, in order of position (CORR, section 4.2).

    The score fⱼ = (μⱼ₊ − μⱼ₋)² / (σⱼ₊² + σⱼ₋²) is :func:`dcprog.methods.filters.fisher_score`.

    Parameters
    ----------
    X, y : array_like
        Training data of two classes: samples in rows, dense or sparse, and their labels.
    r : int
        How many, from 1 to the number of features that are not constant.

    >>> corr_features([[0.0, 1.0, 5.0], [2.0, 1.0, 5.0], [4.0, 2.0, 5.0], [6.0, 2.0, 5.0]], [0, 0, 1, 1], 1)
    array([1])
    """
    samples = checked_selection(X, y, r)
    return np.sort(np.argsort(-fisher_score(samples, None), kind="stable")[:r])


def rfe_features(X: Any, y: Any, r: int, *, halving: bool = False, lam: float = np.inf, solver: str = "auto") -> Indices:
    """The r features that recursive feature elimination keeps, in order of position (section 4.3; Guyon et al. 2002).

    Without feature j the linear SVM has W²(α) − W²₍₋ⱼ₎(α) = wⱼ², so those with the smallest wⱼ² go, one at a time or half of
    those left at a time; with several classes those with the smallest Σₖ wₖⱼ² over the one-against-rest SVMs.
    (scikit-learn's RFE agrees; its SVC does not return from hard margins on inseparable classes, which elimination leads to,
    and its fractional step is one of all features.)

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    r : int
        How many, from 1 to the number of features that are not constant.
    halving : bool
        Drop half of those left at a time, not one.
    lam : float
        λ > 0, the cost of slacks. By default ∞: hard margins where the classes are separable, else the least total slack.
    solver : str
        Of the QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20)); y = X[:, 7] + X[:, 11] > 0
    >>> rfe_features(X, y, 2, halving=True)
    array([ 7, 11])
    """
    return rfe_path(X, y, [r], halving=halving, lam=lam, solver=solver)[r]


def rfe_path(
    X: Any, y: Any, numbers: Iterable[int], *, halving: bool = False, lam: float = np.inf, solver: str = "auto"
) -> dict[int, Indices]:
    """:func:`rfe_features` for several numbers r of features, by one elimination: on its way to the smallest it passes all.

    Parameters
    ----------
    X, y
        As for :func:`rfe_features`.
    numbers : iterable of int
        The numbers r.
    halving, lam, solver
        As for :func:`rfe_features`.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20)); y = X[:, 7] + X[:, 11] > 0
    >>> rfe_path(X, y, [1, 2], halving=True)
    {2: array([ 7, 11]), 1: array([7])}
    """
    samples = _of_classes(X, y)
    wanted = sorted({_checked_number(samples, r) for r in numbers}, reverse=True)
    _check_cost(lam)
    check_flag(halving=halving)
    X = dense(samples.X)
    machines = _machines(samples, lam, solver)
    kept, K, exact = np.arange(X.shape[1]), X @ X.T, X.shape[1]
    found = {r: kept for r in wanted if r == len(kept)}
    while len(found) < len(wanted):
        keep = len(kept) // 2 if halving else len(kept) - 1
        part = X[:, kept]
        order = np.argsort(-_squares(np.array([machine.weights(part, K) for machine in machines])), kind="stable")
        found |= {r: np.sort(kept[order[:r]]) for r in wanted if keep <= r < len(kept)}
        if len(found) == len(wanted):
            break
        gone, kept = X[:, kept[order[keep:]]], np.sort(kept[order[:keep]])
        if keep <= exact // 2:  # subtractions leave rounding errors: compute it anew now and then
            K, exact = X[:, kept] @ X[:, kept].T, keep
        else:
            K = K - gone @ gone.T
    return found


def retrain(
    X: Any,
    y: Any,
    features: Any,
    *,
    p: int = 2,
    lam: float = np.inf,
    constraints: str = "weston_watkins",
    solver: str = "auto",
) -> LinearRule | ArgmaxRule:
    """The p-norm classifier on the given features, in their original scale (section 4.1): min ‖w‖_p^p + λ Σξ.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    features : array_like of int
        Their positions; the other weights are zero.
    p : 1 or 2
        ‖w‖₁ or ½‖w‖₂².
    lam : float
        λ > 0. By default ∞: hard margins where the classes are separable, else the least total slack.
    constraints : str
        Of three or more classes, ``"weston_watkins"`` or ``"one_vs_rest"``:
        :func:`dcprog.methods.zero_norm.multiclass_updates`.
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> rule = retrain(X, ["a", "a", "b", "b"], [0])
    >>> rule.w.round(6), rule.predict([[1.4, 0.0], [1.6, 0.0]])
    (array([2., 0.]), array(['a', 'b'], dtype='<U1'))
    """
    samples = _of_classes(X, y)
    chosen = np.unique(check_positions("features", features, samples.X.shape[1]))
    _check_cost(lam)
    check_constraints(constraints)
    margins = Margins(samples, constraints)
    W = np.zeros((margins.blocks, samples.X.shape[1]))
    if p == 2 and np.isfinite(lam) and (margins.blocks == 1 or constraints == "one_vs_rest"):
        X = dense(samples.X[:, chosen])
        planes = [machine.plane(X, X @ X.T) for machine in _machines(samples, lam, solver)]
        W[:, chosen] = [w for w, _ in planes]
        return margins.classifier(W, np.array([b for _, b in planes]))
    plane = maximal_margin(*margins.rows(samples.X[:, chosen]), p, lam, solver, counts=margins.counts)
    W[:, chosen] = plane.w.reshape(margins.blocks, -1)
    return margins.classifier(W, plane.b)


def _machines(samples: Samples, lam: float, solver: str) -> list[ShrinkingSVM]:
    """The SVM, or one against the rest for each of several classes."""
    Q = len(samples.classes)
    signs = (np.where(samples.codes == k, 1.0, -1.0) for k in (range(Q) if Q > 2 else (1,)))
    return [ShrinkingSVM(y, lam, solver, samples.counts) for y in signs]


def _squares(weights: Matrix) -> Vector:
    squares: Vector = (weights**2).sum(axis=0)
    return squares


def _check_cost(lam: float) -> None:
    """λ ∈ (0, ∞]."""
    if not (isinstance(lam, Real) and lam > 0):
        raise DataError(f"lam is {lam!r}, expected a number > 0, or infinity")


def _of_classes(X: Any, y: Any) -> Samples:
    """The samples, of at least two classes."""
    samples = check_samples(X, y)
    if len(samples.classes) < 2:
        raise DataError(f"y has {len(samples.classes)} class(es), expected at least 2")
    return samples


def checked_selection(X: Any, y: Any, r: int) -> Samples:
    """The samples, of which r features that are not constant can be selected."""
    samples = _of_classes(X, y)
    _checked_number(samples, r)
    return samples


def _checked_number(samples: Samples, r: int) -> int:
    """r, if there are so many features that are not constant."""
    check_varying("selection", samples.X)
    available = int(varying(samples.X).sum())
    if isinstance(r, bool) or not (isinstance(r, Integral) and 1 <= r <= available):
        raise DataError(
            f"r is {r!r}, expected an integer from 1 to {available}, those of the {samples.X.shape[1]} features that are "
            "not constant: choose fewer"
        )
    return int(r)

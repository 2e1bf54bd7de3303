"""Averages over splits, and what of a difference they can explain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from dcprog.typing import Matrix, Vector


def mean_and_variance(values: Sequence[float] | Vector) -> tuple[float, float]:
    """Average and unbiased variance (0 of a single value).

    >>> mean_and_variance([1.0, 3.0])
    (2.0, 2.0)
    """
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.var(ddof=1)) if len(array) > 1 else 0.0


def corrected_t_test(differences: Sequence[float] | Vector, test_share: float, tests: int | None = None) -> float:
    """Two-sided p-value of the corrected resampled t-test, Nadeau & Bengio, Machine Learning 52 (2003), 239–281.

        t = d̄ / √((1/J + n₂/n₁) s²),    J − 1 degrees of freedom

    for differences d₁, …, d_J of the errors of two methods on the same J splits; ``test_share`` = n₂/n₁ is the ratio of test
    to training samples. The second term is for the overlap of the training sets, without which it rejects far too often.

    Errors on few samples may differ by the same amount on every split, by chance. With the number of ``tests`` in a split
    s² is taken to be at least |d̄|(1 − |d̄|)/tests, the variance of d over samples of that size if the methods disagree on
    no more samples than the difference needs.

    >>> round(corrected_t_test([0.1, 0.2, 0.3, 0.2], test_share=1 / 9), 4)
    0.0267
    >>> corrected_t_test([0.0, 0.0], test_share=1 / 9)
    1.0
    >>> round(corrected_t_test([0.1, 0.1, 0.1, 0.1, 0.1], test_share=1 / 4, tests=10), 2)
    0.19
    """
    from scipy.stats import t

    mean, variance = mean_and_variance(differences)
    J = len(differences)
    if mean == 0 or J < 2:
        return 1.0
    if tests is not None:
        variance = max(variance, abs(mean) * (1.0 - abs(mean)) / tests)
    if variance == 0:
        return 0.0
    statistic = abs(mean) / np.sqrt((1.0 / J + test_share) * variance)
    return float(2.0 * t.sf(statistic, J - 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values of several tests at once, adjusted after Holm (1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    m = len(p_values)
    order = np.argsort(p_values, kind="stable")
    adjusted, largest = [0.0] * m, 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def stability(selections: Matrix) -> float | None:
    """How alike the selections of M runs are, Nogueira, Sechidis & Brown, JMLR 18:174 (2018); row i marks those of run i.

        Φ = 1 − (1/d Σⱼ sⱼ²) / (k̄/d (1 − k̄/d)),    sⱼ² = M/(M−1) pⱼ(1 − pⱼ)

    with pⱼ the share of runs that select feature j and k̄ the mean number of features. 1: always the same, 0: as by chance,
    None: nothing, or everything, is selected always, so there was no choice.

    >>> stability(np.array([[1, 1, 0, 0], [1, 1, 0, 0]])), stability(np.array([[1, 0], [0, 1]]))
    (1.0, -1.0)
    """
    Z = np.asarray(selections, dtype=float)
    M = len(Z)
    share = Z.mean()
    if M < 2 or share in (0.0, 1.0):
        return None
    p = Z.mean(axis=0)
    spread = M / (M - 1) * (p * (1.0 - p)).mean()
    return float(1.0 - spread / (share * (1.0 - share)))


def jaccard(selections: Matrix) -> float | None:
    """The mean of |A ∩ B| / |A ∪ B| over pairs of runs, A and B the features that they select; row i marks those of run i.

    1: always the same, 0: never one in common. It is not corrected for chance, by which large selections overlap:
    ``stability`` is. Two runs that select nothing agree; None as in ``stability``, where there was no choice.

    >>> round(jaccard(np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]])), 4)  # 1/3, 1, 1/3
    0.5556
    """
    Z = np.asarray(selections, dtype=bool)
    if len(Z) < 2 or Z.all() or not Z.any():
        return None
    both = [((one & two).sum(), (one | two).sum()) for one, two in combinations(Z, 2)]
    return float(np.mean([common / united if united else 1.0 for common, united in both]))


def standard_error(values: Sequence[float] | Vector) -> float:
    """s/√J of the mean of J values, 0 of a single one.

    >>> standard_error([1.0, 3.0])
    1.0
    """
    return float(np.sqrt(mean_and_variance(values)[1] / len(values)))

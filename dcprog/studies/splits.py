"""Random partitions of the samples: thirds for Table II, tenths for the cross-validated tables.

Neither is stratified. The published variances say that the paper's were not: on wpbc24, where the SVM always answers −1, the
error of a fold is its share of class +1, whose variance over random folds of 15.5 samples is 0.18 · 0.82 / 15.5 = 0.95 %
(published: 1.0 %), and near 0 over stratified ones.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np

from dcprog.errors import DataError
from dcprog.studies.cells import generator
from dcprog.typing import Indices, Vector

DRAWS = 1000
"""How often a partition is drawn anew if one of its parts lacks a class."""


class Split(NamedTuple):
    """Positions of the samples to fit on, to validate the parameters on, and to test on."""

    fit: Indices
    validation: Indices
    test: Indices


def thirds(y: Vector, *words: object) -> Split:
    """Three equal parts at random; ``words`` seed the generator."""
    return Split(*_parts(y, 3, lambda parts: all(_both(y[part]) for part in parts[:2]), *words))


def fold(y: Vector, k: int, i: int, *words: object) -> Split:
    """Fold i of a random partition into k parts to test on; of the other samples a random half to validate on.

    >>> y = np.tile([-1.0, 1.0], 10)
    >>> [len(part) for part in fold(y, 10, 0, "seed")]
    [9, 9, 2]
    >>> sorted(int(j) for i in range(10) for j in fold(y, 10, i, "seed").test) == list(range(20))
    True
    """
    if not 2 <= k <= len(y):
        raise DataError(f"{k} folds of {len(y)} samples are not possible: pass a number from 2 to {len(y)}")
    everything = np.arange(len(y))

    def trainable(parts: list[Indices]) -> bool:
        return all(_both(np.delete(y, part), 2) for part in parts)

    test = np.sort(_parts(y, k, trainable, *words)[i])
    training = np.delete(everything, test)
    halves = _parts(y[training], 2, lambda parts: all(_both(y[training][part]) for part in parts), *words, i)
    return Split(training[halves[0]], training[halves[1]], test)


def _parts(y: Vector, k: int, suits: Callable[[list[Indices]], bool], *words: object) -> list[Indices]:
    rng = generator(*words)
    for draw in count():
        parts = [part.astype(np.int64) for part in np.array_split(rng.permutation(len(y)), k)]
        if suits(parts):
            return parts
        if draw == DRAWS:
            raise DataError(
                f"of {len(y)} samples only {int(min((y > 0).sum(), (y < 0).sum()))} are of the smaller class: no split into "
                f"{k} parts leaves both classes to train and to validate on; pass more samples, or fewer folds"
            )
    raise AssertionError


def _both(y: Vector, least: int = 1) -> bool:
    """Whether there are so many samples of each class."""
    return bool(min((y > 0).sum(), (y < 0).sum()) >= least)

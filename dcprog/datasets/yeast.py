"""The yeast genes of Weston et al. (2003), Table 4: 208 genes in 79 conditions, five functional classes (Brown et al. 2000).

The authors ship the file with their toolbox, the Spider; every feature has mean 0 and variance 1.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dcprog.datasets.download import Copy, offline
from dcprog.datasets.feature_names import numbered
from dcprog.datasets.loading import Dataset, data_directory
from dcprog.errors import DataError

COPY = Copy(
    "yeastXYmc5norm.mat",
    "https://raw.githubusercontent.com/canlab/CanlabCore/d53ea34c34c4331830614c1938e01eaca89828f2/CanlabCore/External/spider/"
    "demos/data/yeastXYmc5norm.mat",
    "8e671ad36f68326a8c694df25c98fc722240ad088c091c4e1bd60907dc571af0",
    "the Spider (demos/data)",
)
SHAPE, CLASSES = (208, 79), 5


def load_yeast() -> Dataset:
    """The genes, classes numbered from 0 on: from ``DCPROG_DATA``, an earlier download, or the web."""
    path = _file()
    X, Y = _read(path)
    if X.shape != SHAPE or Y.shape != (SHAPE[0], CLASSES) or not ((Y > 0).sum(axis=1) == 1).all():
        raise DataError(f"{path} has X {X.shape} and Y {Y.shape}, expected {SHAPE} and one of {CLASSES} classes a row")
    return Dataset("brown_yeast", X, Y.argmax(axis=1).astype(float), numbered(SHAPE[1]), f"{path.name}: five classes")


def _file() -> Path:
    directory = data_directory()
    if directory is not None and (directory / COPY.file).is_file():
        return directory / COPY.file
    here = COPY.here()
    if here is None and offline():
        raise DataError(
            f"data set 'brown_yeast' is not here: put {COPY.file}, which comes with {COPY.source}, into DCPROG_DATA"
        )
    return here or COPY.fetch()


def _read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        content = loadmat(path)
        return np.asarray(content["X"], dtype=float), np.asarray(content["Y"], dtype=float)
    except (OSError, ValueError, KeyError, TypeError, MatReadError) as error:
        raise DataError(f"{path} is no MATLAB file with X and Y ({error}): get it anew from {COPY.source}") from None

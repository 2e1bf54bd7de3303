"""A small study: quick methods, few parameters, two hundred samples."""

from __future__ import annotations

import numpy as np

from dcprog import datasets
from dcprog.datasets import Dataset
from dcprog.studies.protocol import Grids

SMALL = Grids(mu=(1.0, 20.0), nu=(0.1, 1.0), lam_fsv=(0.1, 0.5), lam_svm=(0.2, 0.8), lam_alignment=(0.0, 0.5))
QUICK = ("svm", "fsv")


def small_data() -> Dataset:
    """200 samples and 8 features of the breast cancer data."""
    data = datasets.load("breast_cancer")
    rows = np.random.default_rng(0).permutation(len(data.y))[:200]
    return Dataset("small", data.X[rows, :8], data.y[rows], data.feature_names[:8], "a part of breast_cancer")


def without_times(results):
    """What has to be the same in every run: everything but seconds."""
    return {cell: {k: v for k, v in result.items() if "seconds" not in k} for cell, result in results.items()}

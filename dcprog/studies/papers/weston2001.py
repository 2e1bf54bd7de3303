"""Weston et al. (2001): the figures that the text of section 5 gives for data that can be had. The paper has no tables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dcprog.datasets import Dataset
from dcprog.datasets.generators import weston_linear
from dcprog.methods.filters import fisher_score, kolmogorov_smirnov_score, pearson_score
from dcprog.methods.radius_margin import Linear, r2w2, train
from dcprog.studies.cells import generator
from dcprog.studies.papers.learning_curves import FIGURE_2001
from dcprog.studies.papers.trials import LEVELLED, Drawn, Lines, Trials, drawn, levelled, random_split, wrong
from dcprog.studies.study import Study
from dcprog.typing import Indices, Matrix, Vector

NAME = "weston2001"
TRAINING = 38
"""The first so many rows of leukemia are Golub's training set."""
RIDGE = {"linear_50": 0.1, "linear_500": 0.1, "leukemia": 1e-6, "microarray": 1e-4}
"""Margins of the genes are hard but for rounding: fifteen of them need not separate the classes of the colon."""
TITLES = {
    "svm": "SVM",
    "r2w2": "R²W²",
    "pearson": "Pearson correlation",
    "fisher": "Fisher score",
    "kolmogorov_smirnov": "Kolmogorov–Smirnov",
}


def by_score(score: Callable[[Matrix, Vector], Vector], X: Matrix, y: Vector, r: int, ridge: float) -> Indices:
    return np.argsort(-score(X, y), kind="stable")[:r]


SELECT: dict[str, Callable[[Matrix, Vector, int, float], Any]] = {
    "svm": lambda X, y, r, ridge: np.arange(X.shape[1]),
    "r2w2": lambda X, y, r, ridge: r2w2(X, y, r, Linear(), ridge=ridge).selected,
    "pearson": partial(by_score, pearson_score),
    "fisher": partial(by_score, fisher_score),
    "kolmogorov_smirnov": partial(by_score, kolmogorov_smirnov_score),
}


def error_with(sample: Drawn, features: Any, ridge: float) -> float:
    machine = train(sample.X[:, features], sample.y, Linear(), ridge=ridge)
    return wrong(machine.predict(sample.T[:, features]), sample.labels)


def toy(data: str, method: str, trial: int) -> Lines:
    """Section 5.1: 2 of 202 features."""
    rng = generator(NAME, "toy", data, trial)
    n = int(data.rpartition("_")[2])
    sample = drawn(*weston_linear(n, seed=rng), *weston_linear(500, seed=rng))
    return {data: {"error": error_with(sample, SELECT[method](sample.X, sample.y, 2, RIDGE[data]), RIDGE[data])}}


def leukemia(data: Dataset, method: str, trial: int) -> Lines:
    """Myeloid against lymphoblastic leukaemia, Golub's training and test sets: test errors with 5 and 20 genes."""
    sample = drawn(data.X[:TRAINING], data.y[:TRAINING], data.X[TRAINING:], data.y[TRAINING:])
    chosen = {r: SELECT[method](sample.X, sample.y, r, RIDGE[data.name]) for r in (20, 5)}
    percent = {r: error_with(sample, features, RIDGE[data.name]) for r, features in chosen.items()}
    return {f"{data.name}_{r}": {"mistakes": float(round(p / 100.0 * len(sample.labels)))} for r, p in percent.items()}


def colon(data: Dataset, method: str, trial: int) -> Lines:
    """Colon cancer: 50 samples to train on, 12 to test on, 15 genes."""
    sample, ridge = random_split(data, 50, generator(NAME, "colon", data.name, trial)), RIDGE[data.name]
    return {data.name: {"error": error_with(sample, SELECT[method](sample.X, sample.y, 15, ridge), ridge)}}


TABLES = (
    Trials(
        NAME, "toy", "linear problem, 2 of 202 features (section 5.1)", ("linear_50", "linear_500"), tuple(TITLES), 30,
        ("error",), toy, titles=TITLES,
    ),
    Trials(
        NAME, "leukemia", "leukaemia, errors on the 34 test samples", ("leukemia",), ("svm", "r2w2", "fisher"), 1,
        ("mistakes",), leukemia, {"leukemia": ("leukemia_20", "leukemia_5")}, ("leukemia",), TITLES,
        load=partial(levelled, floor=100.0, ceiling=16000.0),
        remark="Intensities are cut off at 100 and 16 000, as is usual with these data, and logarithms; every sample has "
        "mean 0 and variance 1. The paper does not say what it does: of eight ways this one was taken after the fact.",
    ),
    Trials(
        NAME, "colon", "colon cancer, 15 genes", ("microarray",), tuple(TITLES), 50, ("error",), colon,
        loaded=("microarray",), titles=TITLES, load=levelled, remark=LEVELLED,
    ),
)  # fmt: skip
STUDY = Study(
    NAME,
    "Weston, Mukherjee, Chapelle, Pontil, Poggio & Vapnik, NIPS 13 (2001), 668–674",
    {table.number: table for table in TABLES},
    ("Faces, pedestrians, and B against T cells are left out: the data are not at hand.",),
    {"1": FIGURE_2001},
)

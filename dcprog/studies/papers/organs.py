"""Tables VII and VIII of Neumann, Schnörr & Steidl (2005) on data of the same shape: the CT scans are not public.

Of 650 histogram features and 500 samples a class 334 samples are to fit and 334 to validate on; the final classifier is
trained on all 1000 and tested on samples of which one in nine is of the smaller class. The filter for the χ² SVM is a
reading of one sentence: :mod:`dcprog.methods.kernel_ranking` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dcprog.datasets import generators, standardised
from dcprog.estimators import AlignmentSVMCV, KernelSVMCV
from dcprog.methods.kernel_ranking import kernel_ranking
from dcprog.studies.cells import generator
from dcprog.studies.machines import train
from dcprog.studies.methods import METHODS, PAPERS_RULE
from dcprog.studies.papers.trials import Trials, wrong
from dcprog.studies.protocol import Grids

NAME = "neumann2005"
PATIENTS = 3
TRAINING, TUNING, SMALLER, LARGER = 500, 334, 250, 2000
"""Training samples a class, samples to fit and to validate on, and test samples of the two classes."""
TITLES = {
    **{name: METHODS[name].title for name in ("rlp", "svm", "fsv", "l2_l1_svm", "l2_l0_svm", "gaussian_svm")},
    "chi2_svm": "χ² SVM",
    "chi2_ranking": "χ² SVM ranking",
    "chi2_alignment": "χ² alignment",
}


ON_HISTOGRAMS: dict[str, Callable[[Grids], Any]] = {
    "chi2_svm": lambda grids: KernelSVMCV(grids.lam_svm, kernel="chi2"),
    "chi2_alignment": lambda grids: AlignmentSVMCV(
        grids.lam_alignment, kernel="chi2", lam_svm=grids.lam_svm, stop=PAPERS_RULE
    ),
}
"""Methods that take the features as they are, with the χ² kernel and a bias."""


def organs(data: str, method: str, trial: int, grids: Grids | None = None) -> dict[str, dict[str, float]]:
    rng = generator(NAME, data, trial)
    X, y = generators.organs(3 * LARGER, seed=rng)
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    training = rng.permutation(np.concatenate([positive[:TRAINING], negative[:TRAINING]]))
    test = np.concatenate([positive[TRAINING:][:SMALLER], negative[TRAINING:][:LARGER]])
    Z = X if method in ON_HISTOGRAMS else standardised(X, training)
    if method == "chi2_ranking":
        selected, machine = ranked(X[training], y[training], grids or Grids(), trial)
        return {data: {"features": float(len(selected)), "error": wrong(machine.predict(X[test]), y[test])}}
    machine = machine_of(method, grids or Grids(), X.shape[1])
    found = train(machine, Z[training], y[training], np.arange(TUNING), np.arange(TUNING, 2 * TUNING), seed=trial)
    error = wrong(found.machine.predict(Z[test]), y[test])
    return {data: {"features": float(len(found.selected)), "error": error}}


def ranked(X: Any, y: Any, grids: Grids, seed: int) -> tuple[Any, Any]:
    """The filter for the χ² SVM: its λ by the validation samples, ranking and number of features on all training samples."""
    svm = train(ON_HISTOGRAMS["chi2_svm"](grids), X, y, np.arange(TUNING), np.arange(TUNING, 2 * TUNING), seed=seed)
    lam = float(svm.parameters["lam"])
    found = kernel_ranking(X, y, (1.0 - lam) / lam, "chi2", seed=seed)
    return found.selected, found


def machine_of(method: str, grids: Grids, d: int) -> Any:
    return ON_HISTOGRAMS[method](grids) if method in ON_HISTOGRAMS else METHODS[method].machine(grids, d)


LINEAR = ("rlp", "svm", "fsv", "l2_l1_svm", "l2_l0_svm")
NONLINEAR = ("gaussian_svm", "chi2_svm", "chi2_ranking", "chi2_alignment")
TABLES = tuple(
    Trials(
        NAME, number, f"organs, {kind} classifiers, on a generator of the same shape", ("organs",), methods, PATIENTS,
        ("features", "error"), organs, titles=TITLES, cost=600.0,
    )
    for number, kind, methods in (("7", "linear", LINEAR), ("8", "nonlinear", NONLINEAR))
)  # fmt: skip

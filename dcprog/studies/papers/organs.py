"""Tables VII and VIII of Neumann, Schnörr & Steidl (2005) on data of the same shape: the CT scans are not public.

Of 650 histogram features and 500 samples a class 334 samples are to fit and 334 to validate on; the final classifier is
trained on all 1000 and tested on samples of which one in nine is of the smaller class. The filter for the χ² SVM is left
out: the paper does not say how it ranks features by a nonlinear SVM.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from dcprog.algorithms import DCA
from dcprog.algorithms.path import path
from dcprog.datasets import generators
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.models import alignment
from dcprog.studies.cells import generator
from dcprog.studies.methods import METHODS, of
from dcprog.studies.papers.trials import Trials, wrong
from dcprog.studies.protocol import Chosen, Fit, Grids, Part, Training, choice, explored, rescaled, validated

NAME = "neumann2005"
PATIENTS = 3
TRAINING, TUNING, SMALLER, LARGER = 500, 334, 250, 2000
"""Training samples a class, samples to fit and to validate on, and test samples of the two classes."""
TITLES = {
    **{name: METHODS[name].title for name in ("rlp", "svm", "fsv", "l2_l1_svm", "l2_l0_svm", "gaussian_svm")},
    "chi2_svm": "χ² SVM",
    "chi2_alignment": "χ² alignment",
}


def chi2_svms(part: Part, lam: Sequence[float]) -> Iterator[Fit]:
    """The SVM with bias and the χ² kernel."""
    for value in lam:
        rule = kernel_svm(part.X, part.y, C=(1.0 - value) / value, kernel="chi2")
        yield Fit(rule, rule.kernel.selected(), support=rule.n_support)


def chi2_svm(training: Training) -> Chosen:
    return validated(training, chi2_svms, {"lam": training.grids.lam_svm}, ["lam"])


def chi2_alignment(training: Training) -> Chosen:
    """Kernel-target alignment with the χ² kernel; the SVM's λ is chosen first, with all features."""
    of_svm = choice(tuple(explored(training, chi2_svms, {"lam": training.grids.lam_svm})), ["lam"])["lam"]

    def trainer(part: Part, lam: Sequence[float]) -> Iterator[Fit]:
        for result in path(alignment, part.X, part.y, lam=list(lam), kernel="chi2", stop=DCA.default_rule):
            fit = of(result)
            rule = kernel_svm(part.X, part.y, result["theta"], C=(1.0 - of_svm) / of_svm, kernel="chi2")
            yield Fit(rule, rule.kernel.selected(), fit.iterations, rule.n_support, fit.history)

    return validated(training, trainer, {"lam": training.grids.lam_alignment}, ["lam"])


ON_HISTOGRAMS: dict[str, Callable[[Training], Chosen]] = {"chi2_svm": chi2_svm, "chi2_alignment": chi2_alignment}
"""Methods that take the features as they are."""


def organs(data: str, method: str, trial: int, grids: Grids | None = None) -> dict[str, dict[str, float]]:
    rng = generator(NAME, data, trial)
    X, y = generators.organs(3 * LARGER, seed=rng)
    positive, negative = np.flatnonzero(y > 0), np.flatnonzero(y < 0)
    training = rng.permutation(np.concatenate([positive[:TRAINING], negative[:TRAINING]]))
    test = np.concatenate([positive[TRAINING:][:SMALLER], negative[TRAINING:][:LARGER]])
    Z = X if method in ON_HISTOGRAMS else rescaled(X, training)
    fit, validation, whole = (Part(Z[i], y[i]) for i in (training[:TUNING], training[TUNING : 2 * TUNING], training))
    run = ON_HISTOGRAMS[method] if method in ON_HISTOGRAMS else METHODS[method].run
    found = run(Training(fit, validation, whole, grids or Grids())).fit
    return {data: {"features": float(len(found.selected)), "error": wrong(found.rule.predict(Z[test]), y[test])}}


LINEAR = ("rlp", "svm", "fsv", "l2_l1_svm", "l2_l0_svm")
NONLINEAR = ("gaussian_svm", "chi2_svm", "chi2_alignment")
TABLES = tuple(
    Trials(
        NAME, number, f"organs, {kind} classifiers, on a generator of the same shape", ("organs",), methods, PATIENTS,
        ("features", "error"), organs, titles=TITLES, cost=600.0,
    )
    for number, kind, methods in (("7", "linear", LINEAR), ("8", "nonlinear", NONLINEAR))
)  # fmt: skip

"""The methods that ``compare`` knows by name, those of Tables II to VI among them: each a scikit-learn classifier.

FSV and its quadratic relative take the mean training error, the SVMs the sum that (3) prints: so the published numbers of
features, and of support vectors, come out. The runs of DCA end by the paper's rule, :data:`PAPERS_RULE`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.model_selection import GridSearchCV

from dcprog import estimators as est
from dcprog.algorithms import DCA
from dcprog.errors import unknown_name
from dcprog.learning.grids import numbers_of_features
from dcprog.studies.protocol import Grids

PAPERS_RULE = DCA.default_rule
MANY = 100
"""With more features than this RFE drops half of them at a time."""


@dataclass(frozen=True)
class Entry:
    """A method with its name in the tables.

    ``machine(grids, d)`` is the classifier for d features, ``cost(n, d)`` guesses the seconds of a cell, ``most_features``
    limits d, and ``by_default`` says whether a comparison has it that names no methods.
    """

    title: str
    machine: Callable[[Grids, int], Any]
    cost: Callable[[int, int], float]
    most_features: int | None = None
    by_default: bool = True


METHODS: dict[str, Entry] = {
    "rlp": Entry("RLP", lambda grids, d: est.RLP(), lambda n, d: 1e-5 * n * d),
    "svm": Entry("linear SVM", lambda grids, d: est.LinearSVMCV(grids.lam_svm, solver="libsvm"), lambda n, d: 1e-5 * n * d),
    "svm_ranking": Entry("SVM ranking", lambda grids, d: est.SVMRankingCV(grids.lam_svm), lambda n, d: 2e-5 * n * d),
    "fsv": Entry("FSV", lambda grids, d: est.FSVCV(grids.lam_fsv, 5.0, stop=PAPERS_RULE), lambda n, d: 2e-5 * n * d),
    "l2_l1_svm": Entry(
        "ℓ2-ℓ1-SVM",
        lambda grids, d: est.L2L1SVMCV(grids.mu, grids.nu, stop=PAPERS_RULE),
        lambda n, d: 0.8 + 1e-4 * n * d,
    ),
    "l2_l0_svm": Entry(
        "ℓ2-ℓ0-SVM",
        lambda grids, d: est.L2L0SVMCV(grids.mu, grids.nu, stop=PAPERS_RULE),
        lambda n, d: 1.0 + 6e-4 * n * d,
    ),
    "gaussian_svm": Entry("Gaussian SVM", lambda grids, d: est.KernelSVMCV(grids.lam_svm), lambda n, d: 1e-8 * n**3),
    "quadratic_fsv": Entry(
        "quadratic FSV",
        lambda grids, d: est.QuadraticFSVCV(grids.lam_fsv, stop=PAPERS_RULE),
        lambda n, d: 3e-8 * n * d**4,
        most_features=60,
    ),
    "alignment": Entry(
        "kernel-target alignment",
        lambda grids, d: est.AlignmentSVMCV(grids.lam_alignment, lam_svm=grids.lam_svm, stop=PAPERS_RULE),
        lambda n, d: 2e-8 * n**3,
    ),
    "alignment_0": Entry(
        "alignment, λ = 0",
        lambda grids, d: est.AlignmentSVMCV(0.0, lam_svm=grids.lam_svm, stop=PAPERS_RULE),
        lambda n, d: 1e-8 * n**3,
        by_default=False,
    ),
    "l1_svm": Entry("ℓ1-SVM", lambda grids, d: est.L1SVMCV(grids.lam_fsv, stop=PAPERS_RULE), lambda n, d: 2e-5 * n * d),
    "nlpsvm": Entry("NLPSVM", lambda grids, d: est.NLPSVMCV(), lambda n, d: 1e-4 * n * d),
    "arom": Entry("ℓ2-AROM", lambda grids, d: est.AROMCV(), lambda n, d: 1e-4 * n * d, by_default=False),
    "l1_arom": Entry("ℓ1-AROM", lambda grids, d: est.AROMCV(norm=1), lambda n, d: 1e-4 * n * d, by_default=False),
    "rfe": Entry(
        "RFE", lambda grids, d: est.SVMRFECV(halving=d > MANY, lam=1.0), lambda n, d: 1e-4 * n * d, by_default=False
    ),
    "kernel_rfe": Entry(
        "RFE, Gaussian kernel",
        lambda grids, d: GridSearchCV(est.KernelRFE(halving=d > MANY), {"r": numbers_of_features(d)}),
        lambda n, d: 1e-7 * n**3 * d,
        by_default=False,
    ),
    "r2w2": Entry(
        "R²W²",
        lambda grids, d: GridSearchCV(est.R2W2(), {"m": numbers_of_features(d)}),
        lambda n, d: 1e-7 * n**3,
        by_default=False,
    ),
    "radius_margin_basis": Entry(
        "radius–margin basis", lambda grids, d: est.RadiusMarginBasis(), lambda n, d: 1e-7 * n**3, by_default=False
    ),
}


def with_solver(machine: Any, solver: str) -> Any:
    """The classifier with another solver, also within a search; one that has no such parameter as it is.

    >>> with_solver(GridSearchCV(est.AROM(), {"r": [1, 2]}), "reference").estimator.solver
    'reference'
    """
    names = [name for name in machine.get_params() if name.rpartition("__")[2] == "solver"]
    return machine.set_params(**dict.fromkeys(names, solver))


def find(name: str) -> Entry:
    """The method called ``name``.

    >>> find("fvs")
    Traceback (most recent call last):
    dcprog.errors.UnknownNameError: unknown method 'fvs': did you mean 'fsv'? Known: alignment, ...
    """
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name]

"""The methods of the papers with their parameters chosen by cross-validation.

Parameters are those of the method without ``CV`` in its name, and those of :class:`~dcprog.estimators.tuning.TunedMethod`;
by default they are chosen from the values of section 5.2.2, and of equal scores the largest win.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from dcprog.estimators.base import Method, Point, Trained
from dcprog.estimators.linear import FSV, L1SVM, L2L0SVM, L2L1SVM, LIBSVM, LinearSVM
from dcprog.estimators.nlpsvm import NLPSVM
from dcprog.estimators.nonlinear import AlignmentSVM, KernelSVM, QuadraticFSV
from dcprog.estimators.ranking import SVMRanking
from dcprog.estimators.training import Training
from dcprog.estimators.tuning import Folds, TunedMethod, Values
from dcprog.estimators.zero_norm import AROM, SVMRFE
from dcprog.learning import grids
from dcprog.learning.samples import varying


@dataclass(eq=False, repr=False)
class LinearSVMCV(TunedMethod, LinearSVM):
    """:class:`~dcprog.estimators.LinearSVM` with the best of (1−λ)/λ = e⁻⁵, …, e⁵."""

    _method = LinearSVM
    _grid: ClassVar = {"lam": grids.LAM_SVM}

    lam: Values = None


@dataclass(eq=False, repr=False)
class L1SVMCV(TunedMethod, L1SVM):
    """:class:`~dcprog.estimators.L1SVM` with the best of λ = 0.01, 0.02, 0.05, 0.1, 0.2, …, 0.9, 0.95."""

    _method = L1SVM
    _grid: ClassVar = {"lam": grids.LAM}

    lam: Values = None


@dataclass(eq=False, repr=False)
class FSVCV(TunedMethod, FSV):
    """:class:`~dcprog.estimators.FSV` with the best of λ = 0.01, 0.02, 0.05, 0.1, 0.2, …, 0.9, 0.95 and α = 0.5, 5.

    The paper has α = 5 alone, and no λ below 0.05: that is ``FSVCV(dcprog.learning.grids.LAM_FSV, 5.0)``. It leaves few
    features, and on data where many matter a smaller α errs less; which of the two it is here, cross-validation says.

    >>> import dcprog
    >>> data = dcprog.datasets.load("breast_cancer", standardise=True)
    >>> fsv = FSVCV(cv=3).fit(data.X, data.y)
    >>> fsv.best_params_, fsv.get_support().sum()
    ({'lam': 0.1, 'alpha': 0.5}, np.int64(5))
    """

    _method = FSV
    _grid: ClassVar = {"lam": grids.LAM, "alpha": grids.ALPHA_FSV}
    _prefer = ("lam", "alpha")

    lam: Values = None
    alpha: Values = None


@dataclass(eq=False, repr=False)
class L2L1SVMCV(TunedMethod, L2L1SVM):
    """:class:`~dcprog.estimators.L2L1SVM` with the best of ln µ = 0, …, 10 and ln ν = −5, …, 5."""

    _method = L2L1SVM
    _grid: ClassVar = {"mu": grids.MU, "nu": grids.NU}
    _prefer = ("nu", "mu")

    mu: Values = None
    nu: Values = None


@dataclass(eq=False, repr=False)
class L2L0SVMCV(TunedMethod, L2L0SVM):
    """:class:`~dcprog.estimators.L2L0SVM` with the best of ln µ = 0, …, 10 and ln ν = −5, …, 5."""

    _method = L2L0SVM
    _grid: ClassVar = {"mu": grids.MU, "nu": grids.NU}
    _prefer = ("nu", "mu")

    mu: Values = None
    nu: Values = None


@dataclass(eq=False, repr=False)
class QuadraticFSVCV(TunedMethod, QuadraticFSV):
    """:class:`~dcprog.estimators.QuadraticFSV` with the best of λ = 0.05, 0.1, 0.2, …, 0.9, 0.95."""

    _method = QuadraticFSV
    _grid: ClassVar = {"lam": grids.LAM_FSV}

    lam: Values = None


@dataclass(eq=False, repr=False)
class KernelSVMCV(TunedMethod, KernelSVM):
    """:class:`~dcprog.estimators.KernelSVM` with the best of (1−λ)/λ = e⁻⁵, …, e⁵."""

    _method = KernelSVM
    _grid: ClassVar = {"lam": grids.LAM_SVM}

    lam: Values = None


@dataclass(eq=False, repr=False)
class AlignmentSVMCV(TunedMethod, AlignmentSVM):
    """:class:`~dcprog.estimators.AlignmentSVM` with the best of λ = 0, 0.1, …, 0.9.

    λ of the SVM comes first, as in the paper independently of the selected features: the best for the kernel with all
    weights one, and the largest of equally good ones. It is among ``best_params_`` too.
    """

    _method = AlignmentSVM
    _grid: ClassVar = {"lam": grids.LAM_ALIGNMENT, "lam_svm": grids.LAM_SVM}

    lam: Values = None
    _: KW_ONLY
    lam_svm: Values = None

    def _chosen_before(self, training: Training, folds: Folds) -> Point:
        machine = KernelSVM(kernel=self.kernel, sigma=self.sigma, bias=self.bias, class_weight=self.class_weight)
        found = self._validated(machine, {"lam": self._values("lam_svm", training, folds)}, training, folds)
        return {"lam_svm": found.points[found.best(lambda point: point["lam"])]["lam"]}


@dataclass(eq=False, repr=False)
class NLPSVMCV(TunedMethod, NLPSVM):
    """:class:`~dcprog.estimators.NLPSVM` with the best of ν = 2⁻¹², …, 2¹², as in Fung & Mangasarian (2004). Each is solved
    from the multipliers of the one before. Of equal scores the smallest ν wins, which has the fewest features."""

    _method = NLPSVM
    _grid: ClassVar = {"nu": grids.NU_NLPSVM}

    nu: Values = None

    def _size(self, point: Point) -> Any:
        return -point["nu"]


@dataclass(eq=False, repr=False)
class FeatureCountCV(TunedMethod):
    """A method that is told the number r of features, with the best of r = 1, 2, 4, … and all that vary in every fold; of
    equal scores the smallest r wins. All of them come from one run of the method on each fold."""

    _grid: ClassVar = {"r": ()}

    def _published(self, name: str, training: Training, folds: Folds) -> list[int]:
        return grids.numbers_of_features(min(int(varying(training.X[train]).sum()) for train, _ in folds))

    def _size(self, point: Point) -> Any:
        return -point["r"]


@dataclass(eq=False, repr=False)
class AROMCV(FeatureCountCV, AROM):
    """:class:`~dcprog.estimators.AROM` with the best number of features, of 1, 2, 4, … by default.

    >>> import numpy as np; rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20)); y = X[:, 7] + X[:, 11] > 0
    >>> AROMCV(cv=3).fit(X, y).best_params_
    {'r': 2}
    """

    _method = AROM

    r: Values = None


@dataclass(eq=False, repr=False)
class SVMRFECV(FeatureCountCV, SVMRFE):
    """:class:`~dcprog.estimators.SVMRFE` with the best number of features, of 1, 2, 4, … by default, and soft margins: hard
    ones on classes that overlap follow few samples.

    >>> import numpy as np; rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20)); y = X[:, 7] + X[:, 11] > 0
    >>> SVMRFECV(halving=True, cv=3).fit(X, y).get_support(indices=True)
    array([ 7, 11])
    """

    _method = SVMRFE

    r: Values = None
    _: KW_ONLY
    lam: float = 1.0


class SVMRankingCV(TunedMethod, SVMRanking):
    """:class:`~dcprog.estimators.SVMRanking` with the λ that is best for the linear SVM with all features, as in the paper.

    Every fold's samples rank the features, and its others validate how many of 1, 2, 4, … are kept; all samples give the
    final order. Of one fold, as in the paper, any number may be kept, in the order of that fold. ``cv_results_`` is about
    the SVM.
    """

    _method = SVMRanking
    _grid: ClassVar = {"lam": grids.LAM_SVM}

    def __init__(
        self,
        lam: Values = None,
        *,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = None,
        calibration: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.lam = lam
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.calibration = calibration
        self.n_jobs = n_jobs

    def _judged(self, before: Point) -> Method:
        return LinearSVM(solver=LIBSVM, class_weight=self.class_weight)

    def _final(self, method: SVMRanking, training: Training, folds: Folds) -> Trained:
        return method._rank(training, *folds[0]) if len(folds) == 1 else method._ranked_by_folds(training, folds)

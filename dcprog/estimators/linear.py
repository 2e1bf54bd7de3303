"""The linear classifiers of Neumann, Schnörr & Steidl, Machine Learning 61 (2005), sections 2 and 3.1, as estimators.

Each is min loss + penalty subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, for labels D = diag(y), and classifies by sgn(w'x + b). The
formulas, ``penalty`` and ``weighting`` are those of the factories in :mod:`dcprog.models`. Features should be standardised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from dcprog.algorithms.result import Result, Status
from dcprog.errors import DataError
from dcprog.estimators.base import Formulation, Grid, Iterated, LinearMethod, Method, Step, Stop, Trained, check_end
from dcprog.estimators.outcomes import outcome, total_slack
from dcprog.estimators.several_classes import SeveralClasses
from dcprog.estimators.training import Training
from dcprog.functions import ConvexFunction
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import check_positive_lam, varying
from dcprog.methods.libsvm import LibsvmSolution, linear_by_libsvm
from dcprog.models.fsv import fsv
from dcprog.models.l1_svm import l1_svm
from dcprog.models.l2_l0_svm import l2_l0_svm
from dcprog.models.l2_l1_svm import l2_l1_svm
from dcprog.models.rlp import rlp
from dcprog.models.svm import svm

LIBSVM = "libsvm"
LONGEST = 20_000_000
"""Iterations of libsvm; on the sets of Table I, rescaled, it takes up to 1.4 million."""
TOO_LONG = "the last point of libsvm is used; standardise the features, raise lam, or take another solver"


@dataclass(eq=False, repr=False, kw_only=True)
class LinearFormulation(LinearMethod, Formulation):
    """A linear classifier that a DC program gives; X may be sparse, and stays so.

    A constant feature does what b does: b takes its weight, and it is not selected.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        w and b; of more than two classes a row for each.
    classes_ : ndarray
        The labels.
    result_ : Result
        Of the engine: objective, status, history, arrays by name.
    classifier_ : LinearRule, or ArgmaxRule of more than two classes
    n_iter_ : int
        Iterations of DCA.
    """

    _sparse = True
    weighting: str = "mean"

    def _read(self, result: Result, training: Training) -> Trained:
        rule = without_constant_features(result.classifier, training.X)
        return Trained(result, rule, result.iterations, rule.selected(self.threshold))


def without_constant_features(rule: Any, X: Any) -> Any:
    """The same classifier of X, b with the weight of the features that are constant there.

    >>> without_constant_features(LinearRule(np.array([1.0, 2.0]), 0.0), np.array([[1.0, 3.0], [2.0, 3.0]])).b
    6.0
    """
    constant = np.flatnonzero(~varying(X))
    if not rule.w[..., constant].any():
        return rule
    w = rule.w.copy()
    w[..., constant] = 0.0
    more = np.asarray(X[:1, constant] @ rule.w[..., constant].T)[0]
    return replace(rule, w=w, b=rule.b + (float(more) if rule.w.ndim == 1 else more))


@dataclass(eq=False, repr=False)
class RLP(LinearFormulation):
    """Robust Linear Programming: min Σ cᵢξᵢ, (1), the baseline without any penalty. A linear program.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> RLP().fit(X, y).predict([[0.5, 0.0], [2.5, 0.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _factory = staticmethod(rlp)


@dataclass(eq=False, repr=False)
class LinearSVM(LinearFormulation):
    """The linear SVM: min (1−λ) Σ cᵢξᵢ + λ/2 ‖w‖², (3). A convex QP.

    By default errors are summed, as printed: it is scikit-learn's ``SVC(kernel="linear", C=(1−λ)/λ)``, which
    ``solver="libsvm"`` asks, as the published tables are computed: quicker, and less precise. Then ``outcome_`` is a
    :class:`~dcprog.methods.libsvm.LibsvmSolution`, and ``n_iter_`` is 0.

    >>> LinearSVM(lam=0.01).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).coef_.round(4)
    array([[2.]])
    """

    _factory = staticmethod(svm)

    lam: float = 0.1
    _: KW_ONLY
    weighting: str = "sum"

    def _train(self, training: Training) -> Trained:
        if self.solver != LIBSVM:
            return super()._train(training)
        check_positive_lam(self.lam)
        if self.weighting != "sum":
            raise DataError(f"weighting is {self.weighting!r}, and libsvm sums the errors: pass 'sum', or another solver")
        data = training.data
        found = linear_by_libsvm(data.X, data.y, (1.0 - self.lam) / self.lam * data.counts, LONGEST)
        status = Status.STOPPED_BY_RULE if found.converged else Status.ITERATION_LIMIT
        check_end(type(self).__name__, status, advice=TOO_LONG)
        rule = without_constant_features(LinearRule(found.w, found.b, data.classes, data.names), data.X)
        objective = (1.0 - self.lam) * total_slack(data.X @ rule.w + rule.b, data) + 0.5 * self.lam * float(rule.w @ rule.w)
        arrays = {"w": rule.w, "b": rule.b}
        result = outcome("svm", objective, arrays, rule, status=status, algorithm=LIBSVM, solver=LIBSVM)
        return Trained(result, rule, 0, rule.selected(self.threshold), found)

    @property
    def n_support_(self) -> int:
        """The number of support vectors that libsvm found; other solvers give w, and no multipliers."""
        found = getattr(self, "outcome_", None)
        if self.solver != LIBSVM or not isinstance(found, LibsvmSolution):
            raise AttributeError(f"n_support_ is known with solver={LIBSVM!r} only, this is {self.solver!r}")
        return self._counted(found.support)

    def _walk(self, grid: Grid, training: Training) -> Iterator[Step]:
        return Method._walk(self, grid, training) if self.solver == LIBSVM else super()._walk(grid, training)


@dataclass(eq=False, repr=False)
class L1SVM(SeveralClasses, LinearFormulation):
    """The ℓ1-SVM: min (1−λ) Σ cᵢξᵢ + λ‖w‖₁, (4). A linear program.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> L1SVM(lam=0.05).fit(X, y).get_support()
    array([ True, False])
    """

    _factory = staticmethod(l1_svm)

    lam: float = 0.1
    _: KW_ONLY
    stop: Stop = None


@dataclass(eq=False, repr=False)
class FSV(SeveralClasses, LinearFormulation, Iterated):
    """Feature Selection concaVe: min (1−λ) Σ cᵢξᵢ + λ e'(e − e^(−α|w|)), (6). One linear program an iteration of DCA.

    Parameters
    ----------
    lam, alpha : float
        λ ∈ [0, 1) trades errors for features; α > 0 is how closely the penalty counts features.
    penalty, weighting : str
        As for :func:`dcprog.models.fsv`.
    solver : str
        A name that ``dcprog.available_solvers()`` lists.
    tol, max_iter : float, int
        When DCA stops; ``tol`` defaults to the paper's.
    stop : stopping rule, or function of a program, optional
        Replaces these two and the certificate: the run ends where the rule says so, or the one that the function makes for
        the program, as ``dcprog.DCA.default_rule``, by which the published tables were computed.
    threshold : float
        Features with |w| above it are selected.
    multi_class : "shared" or "ovr"
        Of more than two classes: one program in which a feature counts once, whichever of the classes' classifiers use it,
        min (1−λ) meanₖ Σ cᵢξₖᵢ + λ e'(e − e^(−αv)), |wₖⱼ| ≤ vⱼ, or a program for each class against the rest.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> fsv = FSV(lam=0.1).fit(X, y)
    >>> fsv.coef_.round(6), fsv.get_feature_names_out(), fsv.transform(X).shape
    (array([[2., 0.]]), array(['x0'], dtype=object), (4, 1))
    """

    _factory = staticmethod(fsv)

    lam: float = 0.1
    alpha: float = 5.0
    _: KW_ONLY
    penalty: str | ConvexFunction = "exponential"


@dataclass(eq=False, repr=False)
class L2L1SVM(SeveralClasses, LinearFormulation):
    """The ℓ2-ℓ1-SVM: min µ Σ cᵢξᵢ + ½‖w‖² + ν‖w‖₁, (7). A convex QP.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> L2L1SVM(mu=100.0, nu=1.0).fit(X, y).get_support()
    array([ True, False])
    """

    _factory = staticmethod(l2_l1_svm)

    mu: float = 100.0
    nu: float = 1.0
    _: KW_ONLY
    stop: Stop = None


@dataclass(eq=False, repr=False)
class L2L0SVM(SeveralClasses, LinearFormulation, Iterated):
    """The ℓ2-ℓ0-SVM: min µ Σ cᵢξᵢ + ½‖w‖² + ν e'(e − e^(−α|w|)), (8). One QP an iteration of DCA.

    Parameters as for :class:`FSV`, with µ > 0 the weight of the errors and ν ≥ 0 that of the features.

    >>> X, y = [[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]], [0, 0, 1, 1]
    >>> L2L0SVM(mu=100.0, nu=0.1).fit(X, y).get_support()
    array([ True, False])
    """

    _factory = staticmethod(l2_l0_svm)

    mu: float = 100.0
    nu: float = 0.1
    alpha: float = 5.0
    _: KW_ONLY
    penalty: str | ConvexFunction = "exponential"

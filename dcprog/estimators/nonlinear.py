"""The non-linear classifiers of Neumann, Schnörr & Steidl (2005), section 3.2, as estimators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative

from dcprog.algorithms.result import Result
from dcprog.errors import DataError
from dcprog.estimators.base import Iterated, Method, Trained
from dcprog.estimators.outcomes import outcome, total_slack
from dcprog.estimators.several_classes import SeveralClasses
from dcprog.estimators.training import Training
from dcprog.functions import ConvexFunction
from dcprog.learning.feature_maps import joined_map
from dcprog.learning.kernels import Distances
from dcprog.learning.multiclass import against_rest
from dcprog.learning.samples import Data, check_flag, check_points, dense
from dcprog.learning.weighted_kernel import KernelRule
from dcprog.methods.kernel_svm import kernel_alignment, kernel_svm
from dcprog.models.alignment import alignment
from dcprog.models.quadratic_fsv import quadratic_fsv


@dataclass(eq=False, repr=False)
class QuadraticFSV(SeveralClasses, Iterated):
    """Quadratic FSV: min (1−λ) Σ cᵢξᵢ + λ e'(e − e^(−αv)), |wᵢ| ≤ vⱼ if the monomial φᵢ contains xⱼ, (9).

    Classifies by sgn(w'φ(x) + b), φ all monomials up to ``degree``; d features have O(d^degree) of them. Another φ is a
    ``feature_map``, with its ``incidence`` where that is not known, as for :func:`dcprog.models.quadratic_fsv`. Other
    parameters as for :class:`~dcprog.estimators.FSV`.

    >>> X = np.random.default_rng(0).uniform(-2, 2, (60, 3))
    >>> QuadraticFSV(lam=0.05).fit(X, X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5).get_support()
    array([ True,  True, False])
    """

    _factory = staticmethod(quadratic_fsv)

    lam: float = 0.1
    alpha: float = 5.0
    degree: int = 2
    _: KW_ONLY
    penalty: str | ConvexFunction = "exponential"
    weighting: str = "mean"
    feature_map: Any = None
    incidence: Any = None

    def _parameters(self) -> dict[str, Any]:
        """With one parameter for the map, since arrays are grids along a path."""
        own = super()._parameters()
        own["feature_map"] = joined_map(own["feature_map"], own.pop("incidence"))
        return own


@dataclass(eq=False, repr=False, kw_only=True)
class KernelMethod(Method):
    """A classifier with one of the kernels of :func:`dcprog.models.alignment`, and with or without a bias. X may be sparse;
    distances of points are computed from a dense copy."""

    _multi_class = True
    _sparse = True

    kernel: str | Distances = "gaussian"
    sigma: float | None = None
    bias: bool | None = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.bias is not None:
            check_flag(bias=self.bias)

    def _checked(self, X: Any, y: Any, sample_weight: Any = None) -> Training:
        training = super()._checked(X, y, sample_weight)
        if self.kernel == "chi2":
            check_non_negative(training.X, f"{type(self).__name__} with the χ² kernel")
        return training

    @property
    def n_support_(self) -> int:
        """The number of support vectors."""
        return self._counted(self.classifier_.support)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.kernel == "chi2"
        # Without a bias the score is 0 far from all samples, as far as the fixed width σ makes it: features of another scale
        # than standardised ones, as in scikit-learn's checks of class weights, are beyond that.
        tags.classifier_tags.poor_score = self.kernel == "gaussian" and not self.bias
        return tags


@dataclass(eq=False, repr=False)
class KernelSVM(KernelMethod):
    """The SVM (3) with a kernel, (10), and weights of the features: without a bias for the Gaussian kernel (section 3.2.2).

    Parameters
    ----------
    lam : float
        λ ∈ (0, 1): summed errors weigh (1−λ)/λ, and ½‖w‖² weighs 1.
    kernel, sigma
        As for :func:`dcprog.models.alignment`; of the Gaussian kernel σ is √d/2 by default.
    bias : bool, optional
        Whether there is one; by default as in the paper: for the χ² kernel.
    theta : array_like, optional
        θ ≥ 0, the weights of the features, by default all 1.

    Attributes
    ----------
    classifier_ : KernelRule, or OneVsRest of more than two classes
    result_ : Result
    n_support_ : int

    >>> X, y = [[0.0], [0.1], [3.0], [3.1], [6.0], [6.1]], ["in", "in", "out", "out", "in", "in"]
    >>> KernelSVM(lam=0.01, sigma=0.5).fit(X, y).predict([[0.2], [2.9], [6.2]])
    array(['in', 'out', 'in'], dtype='<U3')
    """

    lam: float = 0.5
    _: KW_ONLY
    theta: Any = None

    def _train(self, training: Training) -> Trained:
        samples, C = training.samples, _cost("lam", self.lam)
        rule = kernel_svm(samples, None, self.theta, C, self.kernel, self.sigma, self.bias)
        machines, several = getattr(rule, "machines", (rule,)), len(samples.classes) > 2
        parts = [against_rest(samples, k) for k in range(len(machines))] if several else [training.data]
        objective = float(np.mean([_primal(machine, part, C) for machine, part in zip(machines, parts, strict=True)]))
        arrays = {
            "alpha": np.concatenate([m.coefficients for m in machines]),
            "b": np.array([m.intercept for m in machines]),
        }
        result = outcome("kernel_svm", objective, arrays, rule, algorithm="dual QP", solver="auto")
        return Trained(result, rule, 0, machines[0].kernel.selected(0.0))


@dataclass(eq=False, repr=False)
class AlignmentSVM(KernelMethod, SeveralClasses, Iterated):
    """Features weighted by kernel-target alignment (12), and the kernel SVM that uses these weights.

        min −(1−λ)/2 ‖φ̄₊ − φ̄₋‖² + λ/d e'(e − e^(−αθ)) over 0 ≤ θ ≤ e,    K_θ(x, z) = exp(−Σₖ θₖ Dₖ(x, z))

    Parameters
    ----------
    lam, alpha, kernel, sigma
        As for :func:`dcprog.models.alignment`.
    lam_svm : float
        λ ∈ (0, 1) of the SVM: summed errors weigh (1−λ)/λ, and ½‖w‖² weighs 1.
    bias : bool, optional
        Whether the SVM has one; by default as in the paper: for the χ² kernel.
    solver, tol, max_iter, stop
        Of DCA on (12), as for :class:`~dcprog.estimators.FSV`.
    threshold : float
        Features with θ above it are selected.
    multi_class : "shared" or "ovr"
        Of more than two classes: one θ for the mean alignment of all classes against the rest, or one for each class.

    Attributes
    ----------
    theta_ : ndarray
        The weights of the features.
    result_ : Result
        Of the engine, for (12).
    classifier_ : KernelRule, or OneVsRest of more than two classes
        The SVM.

    >>> X, y = [[0, 0], [0, 1], [0, 2], [3, 0], [3, 1], [3, 2]], ["l", "l", "l", "r", "r", "r"]
    >>> machine = AlignmentSVM(lam=0.1).fit(X, y)
    >>> machine.get_support(), machine.predict([[0.5, 9], [2.5, 9]])
    (array([ True, False]), array(['l', 'r'], dtype='<U1'))
    """

    _factory = staticmethod(alignment)

    lam: float = 0.1
    alpha: float = 5.0
    _: KW_ONLY
    lam_svm: float = 0.5
    threshold: float = 1e-2

    @property
    def theta_(self) -> np.ndarray:
        """θ; with ``multi_class="ovr"`` a row for each of more than two classes."""
        return np.asarray(self.result_["theta"])

    def _read(self, result: Result, training: Training) -> Trained:
        theta, samples = result["theta"], training.samples
        d = samples.X.shape[1]
        if len(theta) != d:
            raise DataError(
                f"the kernel has {len(theta)} elementary distances for {d} features, and so selects distances, not "
                "features: use dcprog.models.alignment itself"
            )
        rule = kernel_svm(samples, None, theta, _cost("lam_svm", self.lam_svm), self.kernel, self.sigma, self.bias)
        return Trained(result, rule, result.iterations, np.flatnonzero(theta > self.threshold))


def _primal(rule: KernelRule, data: Data, C: float) -> float:
    """½‖w‖² + C Σ sᵢξᵢ."""
    Z = dense(data.X)
    values = rule.kernel(Z, rule.vectors) @ rule.coefficients
    return 0.5 * float(rule.coefficients @ values[rule.support]) + C * total_slack(values + rule.intercept, data)


def alignment_scorer(machine: Any, X: Any, y: Any) -> float:
    """Â(K_θ, yy') of the kernel of a fitted :class:`AlignmentSVM` or :class:`KernelSVM` on (X, y): for ``scoring=``.

    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 2)); y = X[:, 0] ** 2 > 0.5
    >>> search = GridSearchCV(KernelSVM(theta=[1, 0]), {"sigma": [0.01, 0.5, 50.0]}, scoring=alignment_scorer)
    >>> search.fit(X, y).best_params_
    {'sigma': 0.5}
    """
    points = dense(check_points(X, machine.n_features_in_))
    return kernel_alignment(machine.classifier_.kernel(points, points), y)


def _cost(name: str, lam: float) -> float:
    """C = (1−λ)/λ, what summed errors weigh against ½‖w‖²."""
    if not (isinstance(lam, Real) and 0 < lam < 1):
        raise DataError(f"{name} is {lam!r}, expected a number in (0, 1)")
    return (1.0 - lam) / lam

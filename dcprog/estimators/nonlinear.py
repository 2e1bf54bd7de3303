"""The non-linear classifiers of Neumann, Schnörr & Steidl (2005), section 3.2, as estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_non_negative

from dcprog.algorithms.result import Result
from dcprog.errors import DataError
from dcprog.estimators.base import Formulation, Trained
from dcprog.functions import ConvexFunction
from dcprog.learning.kernels import Distances
from dcprog.learning.samples import check_flag
from dcprog.methods.kernel_svm import kernel_svm
from dcprog.models.alignment import alignment
from dcprog.models.quadratic_fsv import quadratic_fsv


class QuadraticFSV(Formulation):
    """Quadratic FSV: min (1−λ) Σ cᵢξᵢ + λ e'(e − e^(−αv)), |wᵢ| ≤ vⱼ if the monomial φᵢ contains xⱼ, (9).

    Classifies by sgn(w'φ(x) + b), φ all monomials up to ``degree``; d features have O(d^degree) of them. Other parameters as
    for :class:`~dcprog.estimators.FSV`.

    >>> X = np.random.default_rng(0).uniform(-2, 2, (60, 3))
    >>> QuadraticFSV(lam=0.05).fit(X, X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5).get_support()
    array([ True,  True, False])
    """

    _factory = staticmethod(quadratic_fsv)

    def __init__(
        self,
        lam: float = 0.1,
        alpha: float = 5.0,
        degree: int = 2,
        *,
        penalty: str | ConvexFunction = "exponential",
        weighting: str = "mean",
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        threshold: float = 1e-8,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.degree = degree
        self.penalty = penalty
        self.weighting = weighting
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold


class AlignmentSVM(Formulation):
    """Features weighted by kernel-target alignment (12), and the kernel SVM that uses these weights.

        min −(1−λ)/2 ‖φ̄₊ − φ̄₋‖² + λ/d e'(e − e^(−αθ)) over 0 ≤ θ ≤ e,    K_θ(x, z) = exp(−Σₖ θₖ Dₖ(x, z))

    Parameters
    ----------
    lam, alpha, kernel, sigma
        As for :func:`dcprog.models.alignment`.
    C : float
        (1−λ)/λ of the SVM, its weight of the summed errors.
    bias : bool, optional
        Whether the SVM has one; by default as in the paper: for the χ² kernel.
    solver, tol, max_iter
        Of DCA on (12).
    threshold : float
        Features with θ above it are selected.

    Attributes
    ----------
    theta_ : ndarray
        The weights of the features.
    result_ : Result
        Of the engine, for (12).
    rule_ : KernelRule
        The SVM.

    >>> X, y = [[0, 0], [0, 1], [0, 2], [3, 0], [3, 1], [3, 2]], ["l", "l", "l", "r", "r", "r"]
    >>> machine = AlignmentSVM(lam=0.1).fit(X, y)
    >>> machine.get_support(), machine.predict([[0.5, 9], [2.5, 9]])
    (array([ True, False]), array(['l', 'r'], dtype='<U1'))
    """

    _factory = staticmethod(alignment)

    def __init__(
        self,
        lam: float = 0.1,
        alpha: float = 5.0,
        *,
        kernel: str | Distances = "gaussian",
        sigma: float | None = None,
        C: float = 1.0,
        bias: bool | None = None,
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        threshold: float = 1e-2,
    ) -> None:
        self.lam = lam
        self.alpha = alpha
        self.kernel = kernel
        self.sigma = sigma
        self.C = C
        self.bias = bias
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold

    @property
    def theta_(self) -> np.ndarray:
        return np.asarray(self.rule_.kernel.theta)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.bias is not None:
            check_flag(bias=self.bias)

    def _checked(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        X, y = super()._checked(X, y)
        if self.kernel == "chi2":
            check_non_negative(X, "AlignmentSVM with the χ² kernel")
        return X, y

    def _read(self, result: Result, X: Any, y: np.ndarray) -> Trained:
        theta = result["theta"]
        if len(theta) != X.shape[1]:
            raise DataError(
                f"the kernel has {len(theta)} elementary distances for {X.shape[1]} features, and so selects distances, not "
                "features: use dcprog.models.alignment itself"
            )
        rule = kernel_svm(X, y, theta, self.C, self.kernel, self.sigma, self.bias)
        return Trained(result, rule, result.iterations, rule.kernel.selected(self.threshold))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.kernel == "chi2"
        return tags

"""The support vector machine with a weighted kernel, (3) with (10) of Neumann, Schnörr & Steidl (2005), by its dual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dcprog.functions import Linear, Quadratic
from dcprog.learning.bias import best_bias
from dcprog.learning.kernels import Distances, elementary_distances
from dcprog.learning.samples import check_data, check_positive_lam, dense
from dcprog.learning.weighted_kernel import KernelRule, WeightedKernel, weights_of_features
from dcprog.program.dc_program import DCProgram

from ._dual import SUPPORT, dual_variables


def kernel_svm_dual(
    X: Any,
    y: Any,
    theta: Any = None,
    lam: float = 0.5,
    kernel: str | Distances = "gaussian",
    sigma: float | None = None,
    bias: bool | None = None,
) -> DCProgram:
    """Dual of the kernel SVM: min ½ α'DK_θDα − e'α subject to 0 ≤ α ≤ C = (1−λ)/λ and, with a bias, y'α = 0. A convex QP.

    K_θ(x, z) = exp(−Σₖ θₖ Dₖ(x, z)). Its objective is minus that of the primal ½‖w‖² + C Σᵢ (1 − yᵢ(⟨w, φ(xᵢ)⟩ + b))₊.
    ``result["support"]`` lists the support vectors, and ``result.classifier`` is sgn(Σᵢ αᵢyᵢ K_θ(xᵢ, x) + b).
    :func:`dcprog.methods.kernel_svm.kernel_svm` is the fast way to it.

    Parameters
    ----------
    X, y
        Points, one per row, and their labels, two different ones.
    theta : array_like, optional
        θ ≥ 0, one weight per feature, by default e; those of :func:`dcprog.models.alignment` select features.
    lam : float
        λ ∈ (0, 1): summed errors weigh (1−λ)/λ, and ½‖w‖² weighs 1.
    kernel : "gaussian", "chi2", or elementary distances
        As for :func:`dcprog.models.alignment`.
    sigma : float, optional
        Width of the Gaussian kernel, by default √d/2.
    bias : bool, optional
        Whether there is a b, by default as in the paper: for the χ² kernel, not for the Gaussian one.

    >>> import dcprog
    >>> X = np.array([[0.0, 3.0], [1.0, -1.0], [5.0, 2.0], [6.0, 0.0]])
    >>> result = dcprog.solve(kernel_svm_dual(X, ["low", "low", "high", "high"], theta=[1, 0]))
    >>> result.classifier.predict([[0.5, 99.0], [5.5, -99.0]]), len(result["support"])
    (array(['low', 'high'], dtype='<U4'), 4)
    """
    check_positive_lam(lam)
    data = check_data(X, y)
    Z, distances = dense(data.X), elementary_distances(kernel, data.d, sigma)
    weighted = WeightedKernel(distances, weights_of_features(theta, distances, Z), data.names)
    K = weighted(Z, Z)
    limits = (1.0 - lam) / lam * data.counts
    m = dual_variables(data, limits)
    has_bias = kernel == "chi2" if bias is None else bias
    if not has_bias:
        m.del_component(m.balance)

    def support(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.flatnonzero(arrays["u"] > SUPPORT * limits)

    def b(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        return np.asarray(best_bias(K @ (data.y * arrays["u"]), data.y, limits) if has_bias else 0.0)

    def interpret(arrays: Mapping[str, np.ndarray]) -> KernelRule:
        chosen = arrays["support"]
        a = data.y * arrays["u"]
        return KernelRule(weighted, Z[chosen], a[chosen], float(arrays["b"]), data.classes, chosen)

    return DCProgram(
        m,
        g=Quadratic(data.y[:, None] * K * data.y)(m.u) + Linear(-np.ones(data.n))(m.u),
        h=0,
        name="kernel_svm_dual",
        derived={"support": support, "b": b},
        interpret=interpret,
    )

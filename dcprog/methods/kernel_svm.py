"""Support vector machines with the weighted kernels that alignment selects features for.

    min ½‖w‖² + C Σᵢ (1 − yᵢ(⟨w, φ(xᵢ)⟩ + b))₊,    K_θ(x, z) = ⟨φ(x), φ(z)⟩

which is (3) of Neumann, Schnörr & Steidl (2005) in feature space, with C = (1 − λ)/λ. They leave out b for the Gaussian
kernel (section 3.2.2) and keep it for χ² (section 5.3). :func:`dcprog.models.kernel_svm_dual` is its dual as a Pyomo model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import ConvexityError, DataError
from dcprog.functions.checks import matrix, number
from dcprog.functions.definiteness import is_positive_semidefinite
from dcprog.learning.kernels import Distances, Separate, elementary_distances
from dcprog.learning.multiclass import OneVsRest, against_rest
from dcprog.learning.samples import Data, check_data, check_samples, dense
from dcprog.learning.weighted_kernel import KernelRule, WeightedKernel, weights_of_features
from dcprog.methods.libsvm import quiet_svc
from dcprog.methods.quadratic import svm_dual
from dcprog.typing import Indices, Matrix, Vector

__all__ = ["KernelRule", "kernel_alignment", "kernel_svm"]


def kernel_alignment(K: Any, y: Any) -> float:
    """Â(K, yy') = y'Ky / (n‖K‖_F), how well a kernel matrix agrees with labels y = ±1: at most 1, for K = yy'.

    Cristianini, Shawe-Taylor, Elisseeff & Kandola, "On kernel-target alignment", NIPS 14 (2002). Neumann et al. drop the
    denominator in what they maximise, (11) and (12).

    Parameters
    ----------
    K : array_like
        The kernel of the points with themselves.
    y : array_like
        Their labels, of two kinds.

    >>> y = np.array([1, 1, -1])
    >>> kernel_alignment(np.outer(y, y), ["in", "in", "out"]), round(kernel_alignment(np.eye(3), y), 4)
    (1.0, 0.5774)
    """
    K = matrix("K", K)
    data = check_data(K, y)
    if K.shape[0] != K.shape[1]:
        raise DataError(f"K has to be square, got shape {K.shape}: pass the kernel of points and the same points")
    size = float(np.linalg.norm(K))
    if size == 0:
        raise DataError("K is zero, and is aligned with nothing: pass a kernel matrix")
    return float(data.y @ K @ data.y / (data.n * size))


def kernel_svm(
    X: Any,
    y: Any,
    theta: Any = None,
    C: float = 1.0,
    kernel: str | Distances = "gaussian",
    sigma: float | None = None,
    bias: bool | None = None,
) -> Any:
    """Train on (X, y) with feature weights ``theta`` (by default e, the usual kernel): a :class:`KernelRule`, or, of more
    than two classes, a :class:`~dcprog.learning.multiclass.OneVsRest` of one for each.

    ``kernel`` and ``sigma`` are those of :func:`dcprog.models.alignment`. ``bias`` says whether there is a b; by default as
    in the paper: for the χ² kernel. Then libsvm trains, else a QP solver the dual, in which no equation ties the αᵢ:

        min ½ α'(yy'∘K_θ)α − e'α,    0 ≤ α ≤ C

    >>> X = np.array([[0.0, 3.0], [1.0, -1.0], [5.0, 2.0], [6.0, 0.0]])
    >>> rule = kernel_svm(X, ["low", "low", "high", "high"], theta=[1, 0])
    >>> rule.predict([[0.5, 99.0], [5.5, -99.0]]), rule.n_support, rule.kernel.selected()
    (array(['low', 'high'], dtype='<U4'), 4, array([0]))
    """
    samples, C = check_samples(X, y), number("C", C, 0, such_as=1)
    Z, distances = dense(samples.X), elementary_distances(kernel, samples.X.shape[1], sigma)
    weighted = WeightedKernel(distances, weights_of_features(theta, distances, Z), samples.names)
    K = weighted(Z, Z)
    train = _libsvm if (kernel == "chi2" if bias is None else bias) else _without_bias
    if not isinstance(distances, Separate) and not is_positive_semidefinite(sp.csc_array(K)):
        raise ConvexityError(
            "K_θ has a negative eigenvalue, so exp(−θ'D) is no kernel for a support vector machine: change D"
        )

    def trained(data: Data) -> KernelRule:
        support, coefficients, b = train(K, data.y, C * data.counts)
        return KernelRule(weighted, Z[support], coefficients, b, data.classes, support)

    if len(samples.classes) <= 2:
        return trained(check_data(samples, None))
    machines = [trained(against_rest(samples, k)) for k in range(len(samples.classes))]
    return OneVsRest(tuple(machines), samples.classes)


def _without_bias(K: Matrix, y: Vector, C: Vector) -> tuple[Indices, Vector, float]:
    alpha = svm_dual(K, y, C, bias=False)
    # Interior-point solvers return no exact zeros. αᵢ times its multiplier is 0: the smaller of the two counts as 0.
    support = np.flatnonzero(alpha / C > y * (K @ (y * alpha)) - 1)
    return support, (y * alpha)[support], 0.0


def _libsvm(K: Matrix, y: Vector, C: Vector) -> tuple[Indices, Vector, float]:
    svm = quiet_svc("precomputed", K, y, C, tol=1e-6)
    return svm.support_.astype(np.int64), svm.dual_coef_[0], float(svm.intercept_[0])

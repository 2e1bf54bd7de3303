"""Kernel-target alignment: features are selected by weights in the kernel of a non-linear classifier.

Neumann, Schnörr & Steidl, "Combined SVM-based feature selection and classification", Machine Learning 61 (2005), sections
3.2.2 and 4.2.4. With K_θ(x, z) = exp(−Σₖ θₖ Dₖ(x, z)), for the Gaussian kernel (10) Dₖ = (xₖ − zₖ)²/2σ², they minimise

    f(θ) = −(1 − λ) ½ yₙ'K_θ yₙ + (λ/d) Σₖ (1 − e^(−αθₖ)),   0 ≤ θ ≤ e,   yₙ = (yᵢ/n_{yᵢ})ᵢ          (12)

where yₙ'K_θ yₙ = ‖φ̄₊ − φ̄₋‖² is the squared distance of the class centres in feature space (11). Multiplied out it is
‖φ̄₊‖² + ‖φ̄₋‖² − 2⟨φ̄₊, φ̄₋⟩, three means of kernel values, each convex in θ; hence the decomposition

    g(θ) = (1 − λ) ⟨φ̄₊, φ̄₋⟩,    h(θ) = (1 − λ)/2 (‖φ̄₊‖² + ‖φ̄₋‖²) − (λ/d) Σₖ (1 − e^(−αθₖ)).

Of K > 2 classes all are aligned at once, with one θ: yₙ'K_θ yₙ becomes the mean over the classes of what it is for one class
against the rest, meanₖ ‖φ̄ₖ − φ̄_{≠k}‖². For K = 2 both terms of the mean are (11). It is Σ_ab C_ab Σ K_θ over pairs of
classes (:func:`target`), of which those with C_ab < 0, most where a ≠ b, are g and the others h.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pyomo.environ as pyo

from dcprog.functions.penalties import Exponential
from dcprog.learning.kernel_sums import kernel_sum
from dcprog.learning.kernels import Distances, elementary_distances, pair_distances
from dcprog.learning.samples import Data, Samples, check_data, check_lam, check_positive, check_samples, dense
from dcprog.learning.weighted_kernel import WeightedKernel
from dcprog.program.dc_program import DCProgram
from dcprog.typing import Matrix, Vector

G_MEMORY, H_MEMORY = 6e8, 5e7
"""Bytes of pairwise distances that g and each part of h may keep, where they are kept at all (not for the Gaussian kernel).
DCA evaluates g some thirty times for each time it evaluates h. 1000 points of 650 features take 0.8 GB in all."""


def alignment(
    X: Any,
    y: Any,
    lam: float = 0.1,
    alpha: float = 5.0,
    kernel: str | Distances = "gaussian",
    sigma: float | None = None,
) -> DCProgram:
    """Kernel-target alignment: min −(1−λ)/2 ‖φ̄₊ − φ̄₋‖² + λ/d e'(e − e^(−αθ)) over 0 ≤ θ ≤ e, (12). One NLP an iteration.

    DCA starts at θ⁰ = e/2 and stops on θ with tolerance 1e-3, as in section 5.2.2.

    Parameters
    ----------
    X, y
        Points, one per row, and their labels, two different ones or more. Features should be standardised for the Gaussian
        kernel, which otherwise prefers those of large variance, and left as they are for χ².
    lam : float
        λ ∈ [0, 1), the weight of the penalty. Even with λ = 0 features are discarded: those that push the classes together.
    alpha : float
        α > 0 of the penalty 1 − e^(−αθ).
    kernel : "gaussian", "chi2", or elementary distances
        By name, or your own D(x, z) ≥ 0 as :mod:`dcprog.learning.kernels` describes; θ then has one entry per distance.
    sigma : float, optional
        Width of the Gaussian kernel, by default √d/2.

    Examples
    --------
    The first feature tells the classes apart, the second does not:

    >>> import dcprog
    >>> from dcprog.methods.kernel_svm import kernel_svm
    >>> X, y = np.array([[0, 0], [0, 1], [0, 2], [3, 0], [3, 1], [3, 2]]), [0, 0, 0, 1, 1, 1]
    >>> result = dcprog.solve(alignment(X, y, lam=0.1))
    >>> result.classifier.selected()  # θ > 1e-2, as in the paper
    array([0])
    >>> kernel_svm(X, y, result["theta"]).predict([[0.5, 9], [2.5, 9]])
    array([0, 1])
    """
    samples = check_samples(X, y)
    distances = _distances(samples, lam, alpha, kernel, sigma)
    if len(samples.classes) < 2:
        check_data(samples, None)
    Z, counts, K = dense(samples.X), samples.counts, len(samples.classes)
    points = [Z[samples.codes == k] for k in range(K)]
    weights = [counts[samples.codes == k] for k in range(K)]  # all 1, or how often each point counts
    C = target(np.array([s.sum() for s in weights]))
    m: Any = None
    g: Any = 0
    h: Any = 0
    for a, b in combinations_with_replacement(range(K), 2):
        pair, given = (points[a],) if a == b else (points[a], points[b]), None
        if samples.weights is not None:
            given = weights[a], weights[b]
        part = kernel_sum(distances, *pair, counts=given, memory=(G_MEMORY if C[a, b] < 0 else H_MEMORY) / max(1, K - 1))
        m = _model(part.dimension) if m is None else m
        term = (1 - lam) * abs(C[a, b]) * (0.5 if a == b else 1.0) * part(m.theta)
        g, h = (g + term, h) if C[a, b] < 0 else (g, h + term)
    d = len(m.theta)
    if lam > 0:
        h += lam / d * Exponential(alpha)(m.theta)
    names = samples.names if d == Z.shape[1] else None
    interpret = lambda arrays: WeightedKernel(distances, arrays["theta"], names)
    return DCProgram(m, g, h, name="alignment", stop_on=["theta"], tol=1e-3, interpret=interpret)


def target(counts: Vector) -> Matrix:
    """C = meanₖ uₖuₖ', uₖ = 1/nₖ for class k and −1/(n − nₖ) for the others: what the mean alignment of K classes against
    the rest, meanₖ yₖ'K_θ yₖ = Σ_ab C_ab Σ K_θ over the pairs of points of classes a and b, takes of each pair of classes.

    >>> target(np.array([2.0, 4.0]))
    array([[ 0.25  , -0.125 ],
           [-0.125 ,  0.0625]])
    """
    u = np.diag(1.0 / counts + 1.0 / (counts.sum() - counts)) - 1.0 / (counts.sum() - counts)[:, None]
    mean: Matrix = u.T @ u / len(counts)
    return mean


def alignment_written_out(
    X: Any, y: Any, lam: float = 0.1, alpha: float = 5.0, kernel: str | Distances = "gaussian", sigma: float | None = None
) -> DCProgram:
    """The same program in plain Pyomo expressions, a term for each pair of points: g and h as section 4.2.4 prints them.

    Meant to be read, and to test :func:`alignment`; beyond a hundred points take the latter.

    >>> p = alignment_written_out([[0.0], [1.0]], [-1, 1], lam=0.5, sigma=1.0)
    >>> np.isclose(p.value(np.array([1.0])), 0.5 * (np.exp(-0.5) - 1) + 0.5 * (1 - np.exp(-5)))
    np.True_
    """
    _, distances, positive, negative = _checked(X, y, lam, alpha, kernel, sigma)
    Z, sign = np.vstack([positive, negative]), [+1] * len(positive) + [-1] * len(negative)
    n_of = {+1: len(positive), -1: len(negative)}
    D = pair_distances(distances, Z, Z)
    n, _, d = D.shape
    m = _model(d)
    K = {(i, j): pyo.exp(-sum(D[i, j, k] * m.theta[k] for k in range(d))) for i in range(n) for j in range(n)}
    g = (1 - lam) / (2 * n_of[+1] * n_of[-1]) * sum(K[i, j] for i, j in K if sign[i] != sign[j])
    h = (1 - lam) / 2 * sum(K[i, j] / n_of[sign[i]] ** 2 for i, j in K if sign[i] == sign[j])
    h -= lam / d * sum(1 - pyo.exp(-alpha * m.theta[k]) for k in range(d))
    return DCProgram(m, g, h, name="alignment", stop_on=["theta"], tol=1e-3)


def _checked(
    X: Any, y: Any, lam: float, alpha: float, kernel: str | Distances, sigma: float | None
) -> tuple[Data, Distances, Matrix, Matrix]:
    """The data, the elementary distances, the points of class +1, and those of class −1."""
    data = check_data(X, y)
    distances = _distances(data, lam, alpha, kernel, sigma)
    Z = dense(data.X)
    return data, distances, Z[data.y > 0], Z[data.y < 0]


def _distances(samples: Data | Samples, lam: float, alpha: float, kernel: str | Distances, sigma: float | None) -> Distances:
    """The elementary distances, and the check of the other parameters."""
    check_lam(lam)
    check_positive(alpha=alpha)
    return elementary_distances(kernel, samples.X.shape[1], sigma)


def _model(d: int) -> Any:
    m = pyo.ConcreteModel()
    m.theta = pyo.Var(range(d), bounds=(0, 1), initialize=0.5)
    return m

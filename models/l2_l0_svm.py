"""The ℓ2-ℓ0-SVM, (8) of Neumann, Schnörr & Steidl (2005), by the DC split of section 4.2.2."""

from __future__ import annotations

from typing import Any

from dcprog.functions import ConvexFunction
from dcprog.learning.samples import check_nonnegative, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._margin import concave_penalty
from ._shared import joint_weights


@of_family(joint_weights)
def l2_l0_svm(
    X: Any,
    y: Any = None,
    mu: float = 1.0,
    nu: float = 1.0,
    alpha: float = 5.0,
    *,
    penalty: str | ConvexFunction = "exponential",
    weighting: str = "mean",
    form: str = "split",
) -> DCProgram:
    """ℓ2-ℓ0-SVM: min µ Σ cᵢ(1 − yᵢ(w'xᵢ + b))₊ + ½‖w‖² + ν e'(e − e^(−α|w|)), (8). One QP an iteration.

    DC split: g the training error and ½‖w‖², h(v) = −ν e'(e − e^(−αv)) for v = |w|. DCA starts at v⁰ = e and stops on v with
    tolerance 1e-5. Parameters, and more than two classes, as in :func:`~dcprog.models.fsv`, with the mean of the ½‖wₖ‖²;
    ``weighting="mean"`` is the printed µ/n.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> dcprog.solve(l2_l0_svm(X, y, mu=100.0, nu=0.1)).classifier.selected(1e-6)
    array([0])
    """
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = joint_weights(X, y, form)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors(mu * weights.costs(weighting)) + weights.half_square()
    h = nu * weights.of_size(rho) if nu > 0 else 0
    return weights.program(g, h, "l2_l0_svm", stop_on=["v"], tol=1e-5)

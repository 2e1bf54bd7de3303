"""The linear support vector machine, (3) of Neumann, Schnörr & Steidl (2005), and its dual."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcprog.functions import Linear
from dcprog.learning.samples import check_data, check_positive_lam
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._dual import DualRule, dual_variables, squared_norm
from ._margin import error_weights, free_weights


@of_family(free_weights)
def svm(X: Any, y: Any = None, lam: float = 0.1, *, weighting: str = "mean") -> DCProgram:
    """Linear SVM: min (1−λ) Σ cᵢξᵢ + λ/2 ‖w‖² subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, (3). A convex QP.

    ``weighting``: c = 1/n (``"mean"``), 1 (``"sum"``, as printed) or 1/n± (``"class"``). With ``"sum"`` it is scikit-learn's
    ``SVC(kernel="linear", C=(1−λ)/λ)``.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, -1, 1, 1]
    >>> dcprog.solve(svm(X, y, lam=0.01, weighting="sum"))["w"].round(4)
    array([2.])
    """
    check_positive_lam(lam)
    weights = free_weights(X, y)
    g = weights.errors((1.0 - lam) * error_weights(weights.data, weighting)) + lam * weights.half_square()
    return weights.program(g, 0, "svm")


def svm_dual(X: Any, y: Any, lam: float = 0.1, *, weighting: str = "mean") -> DCProgram:
    """Dual of the linear SVM (3): min 1/(2λ) ‖X'Du‖² − e'u subject to y'u = 0, 0 ≤ u ≤ (1−λ)c. A convex QP.

    Its objective is minus the value of the primal; w = X'Du/λ and b are derived, and ``result["support"]`` lists the support
    vectors, uᵢ > 0.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [-1, -1, 1, 1]
    >>> result = dcprog.solve(svm_dual(X, y, lam=0.01, weighting="sum"))
    >>> result["w"].round(4), result["support"]
    (array([2.]), array([1, 2]))
    """
    check_positive_lam(lam)
    data = check_data(X, y)
    limits = (1.0 - lam) * error_weights(data, weighting)
    m = dual_variables(data, limits)
    square = squared_norm(m, data, [m.u])
    dual = DualRule(data, limits, lambda s: s / lam)
    return DCProgram(
        m,
        g=square / lam + Linear(-np.ones(data.n))(m.u),
        h=0,
        name="svm_dual",
        derived=dual.derived,
        interpret=dual.classifier,
    )

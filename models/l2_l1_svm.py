"""The ℓ2-ℓ1-SVM, (7) of Neumann, Schnörr & Steidl (2005), and its dual."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.functions import Linear, Quadratic
from dcprog.learning.samples import check_data, check_nonnegative, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.typing import Vector

from ._dual import DualRule, dual_variables, transposed
from ._margin import error_weights
from ._shared import joint_weights


@of_family(joint_weights)
def l2_l1_svm(
    X: Any, y: Any = None, mu: float = 1.0, nu: float = 1.0, *, weighting: str = "mean", form: str = "split"
) -> DCProgram:
    """ℓ2-ℓ1-SVM: min µ Σ cᵢξᵢ + ½‖w‖² + ν‖w‖₁ subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, (7). A convex QP.

    ``weighting``: c = 1/n (``"mean"``, as printed), 1 (``"sum"``) or 1/n± (``"class"``). Of more than two classes as in
    :func:`~dcprog.models.fsv`, with the mean of the ½‖wₖ‖², and ν e'v.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> dcprog.solve(l2_l1_svm(X, y, mu=100.0, nu=1.0)).classifier.selected(1e-6)
    array([0])
    """
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = joint_weights(X, y, form)
    g = weights.errors(mu * weights.costs(weighting)) + weights.half_square() + weights.size(nu)
    return weights.program(g, 0, "l2_l1_svm")


def l2_l1_svm_dual(X: Any, y: Any, mu: float = 1.0, nu: float = 1.0, *, weighting: str = "mean") -> DCProgram:
    """Dual of the ℓ2-ℓ1-SVM (7): min ½‖z‖² − e'u subject to −ν ≤ X'Du − z ≤ ν, y'u = 0, 0 ≤ u ≤ µc. A convex QP.

    Its objective is minus the value of the primal. z is w, the components of X'Du shrunk by ν; b is derived, and
    ``result["support"]`` lists the support vectors.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> primal, dual = dcprog.solve(l2_l1_svm(X, y, 100, 1)), dcprog.solve(l2_l1_svm_dual(X, y, 100, 1))
    >>> bool(abs(primal.objective + dual.objective) < 1e-6)
    True
    """
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    data = check_data(X, y)
    limits = mu * error_weights(data, weighting)
    m = dual_variables(data, limits)
    m.z = pyo.Var(range(data.d), initialize=0.0)
    m.shrink = MatrixConstraint(
        [transposed(data.signed), -sp.eye_array(data.d, format="csc")], [m.u, m.z], lower=-nu, upper=nu
    )
    g = Quadratic(sp.eye_array(data.d))(m.z) + Linear(-np.ones(data.n))(m.u)

    def shrunk(s: Vector) -> Vector:
        return np.sign(s) * np.maximum(np.abs(s) - nu, 0.0)

    dual = DualRule(data, limits, shrunk)
    return DCProgram(m, g=g, h=0, name="l2_l1_svm_dual", derived=dual.derived, interpret=dual.classifier)

"""The ℓ1-SVM, (4) of Neumann, Schnörr & Steidl (2005), after Bradley & Mangasarian (1998)."""

from __future__ import annotations

from typing import Any

from dcprog.learning.samples import check_lam
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._shared import joint_weights


@of_family(joint_weights)
def l1_svm(X: Any, y: Any = None, lam: float = 0.1, *, weighting: str = "mean", form: str = "split") -> DCProgram:
    """ℓ1-SVM: min (1−λ) Σ cᵢξᵢ + λ‖w‖₁ subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, (4). A linear program.

    ``weighting``: c = 1/n (``"mean"``), 1 (``"sum"``, as printed) or 1/n± (``"class"``). Of more than two classes as in
    :func:`~dcprog.models.fsv`, with λ e'v in the place of the concave penalty.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> dcprog.solve(l1_svm(X, y, lam=0.05)).classifier.selected()
    array([0])
    """
    check_lam(lam)
    weights = joint_weights(X, y, form)
    g = weights.errors((1.0 - lam) * weights.costs(weighting)) + weights.size(lam)
    return weights.program(g, 0, "l1_svm")

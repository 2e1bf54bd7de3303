"""Feature Selection concaVe, (6) of Neumann, Schnörr & Steidl (2005), after Bradley & Mangasarian (1998)."""

from __future__ import annotations

from typing import Any

from dcprog.functions import ConvexFunction
from dcprog.learning.samples import check_lam
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._margin import concave_penalty
from ._shared import joint_weights


@of_family(joint_weights)
def fsv(
    X: Any,
    y: Any = None,
    lam: float = 0.1,
    alpha: float = 5.0,
    *,
    penalty: str | ConvexFunction = "exponential",
    weighting: str = "mean",
    form: str = "split",
) -> DCProgram:
    """FSV: min (1−λ) Σ cᵢξᵢ + λ e'(e − e^(−α|w|)) subject to D(Xw + be) + ξ ≥ e, ξ ≥ 0, (6). One LP an iteration.

    DC split: g the training error, h(v) = −λ e'(e − e^(−αv)) for v = |w|. DCA starts at v⁰ = e and stops on v with
    tolerance 1e-5, as in section 5.2.2.

    Of K > 2 classes there is one classifier of each against the rest, all share v: min (1−λ)/K Σ cₖᵢξₖᵢ + λ e'(e − e^(−αv))
    with |wₖⱼ| ≤ vⱼ. Then w has a row and b an entry for each class; models/_shared.py says why it is the mean.

    Parameters
    ----------
    lam, alpha : float
        λ ∈ [0, 1) trades errors for features; α > 0 is how closely the penalty counts features, its slope at 0.
    penalty : str or concave penalty
        ``"exponential"`` (5), ``"logarithmic"``, ``"lp"``, ``"capped_l1"``, ``"scad"``, ``"mcp"``, or a function of
        :mod:`dcprog.functions`.
    weighting : str
        c = 1/n (``"mean"``, which reproduces the published tables), 1 (``"sum"``, as printed), 1/n± (``"class"``).
    form : str
        ``"split"`` (w = p − q) or ``"paper"`` (−v ≤ w ≤ v): the same optimum.

    >>> import numpy as np, dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> result = dcprog.solve(fsv(X, y, lam=0.1), solver="highs")
    >>> result["w"].round(6), result.classifier.selected()
    (array([2., 0.]), array([0]))
    """
    check_lam(lam)
    weights = joint_weights(X, y, form)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors((1.0 - lam) * weights.costs(weighting))
    h = lam * weights.of_size(rho) if lam > 0 else 0
    return weights.program(g, h, "fsv", stop_on=["v"], tol=1e-5)

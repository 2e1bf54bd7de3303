"""Several classes under one zero norm: section 3.3 of Weston et al. (2003).

    min ‖ Σₖ|wₖ| ‖₀    subject to margin constraints                                                           (Problem 9)

A feature counts once, whichever classes use it. In terms of the weights on the data as they are, a step is

    ℓ1 (Problem 10):       Wᵏ⁺¹ = argmin Σⱼ Σₖ |wₖⱼ| / zⱼ          z = Σₖ|wₖ| of the last step
    ℓ2 (Problems 10, 11):  Wᵏ⁺¹ = argmin ½ Σⱼ Σₖ wₖⱼ² / zⱼ²

The first is the DCA step on Σⱼ ln(ε + Σₖ|wₖⱼ|), ε → 0, which :func:`dcprog.models.multiclass_arom` states. The second is the
paper's approximation of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcprog.errors import DataError
from dcprog.learning.samples import check_positive, check_samples
from dcprog.methods.zero_norm.iterates import Iterate
from dcprog.methods.zero_norm.steps import Margins, l1_steps, l2_steps
from dcprog.solvers.registry import check as check_solver


def multiclass_updates(
    X: Any,
    y: Any,
    *,
    norm: int = 2,
    constraints: str = "weston_watkins",
    lam: float | None = None,
    solver: str = "auto",
) -> Iterator[Iterate]:
    """The iterates of multi-class AROM, without end.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    norm : 1 or 2
        ℓ1 (an LP a step) or ℓ2 (a QP with at most min(n, d) weights a class).
    constraints : str
        ``"weston_watkins"`` (Problem 10) or ``"one_vs_rest"`` (Problem 11).
    lam : float, optional
        λ > 0: every margin may have a slack that costs λ. By default none may, which takes separable classes.
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[-2.0, 1.0], [-2.0, -1.0], [0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> iterate, status = converge(multiclass_updates(X, [1, 1, 2, 2, 3, 3], norm=1))
    >>> iterate.features, iterate.classifier.predict(X)
    (array([0]), array([1, 1, 2, 2, 3, 3]))
    """
    if norm not in (1, 2):
        raise DataError(f"norm is {norm!r}, expected 1 or 2: ℓ1- or ℓ2-AROM")
    if lam is not None:
        check_positive(lam=lam)
    check_solver(solver)
    margins = Margins(check_samples(X, y), constraints, each=True)
    margins.rows(margins.samples.X)  # raises now what would be raised at the first step
    steps = l1_steps if norm == 1 else l2_steps
    return steps(margins, 0, None, 1.0, solver) if lam is None else steps(margins, 0, 1, lam, solver)

"""ℓ1- and ℓ2-AROM: zero-norm minimisation by multiplicative updates, sections 3.1 and 3.2 of Weston et al. (2003).

    min ‖w‖_p + λ‖ξ‖_q    subject to    yᵢ(w·xᵢ + b) ≥ 1 − ξᵢ                                                     (2), (3)

A zero norm is replaced by Σ ln|wⱼ| (Problem 6 with ε = 0). The paper trains on data rescaled to x * z and sets z ← z * w̄. In
terms of the weights w = z * w̄ on the data as they are, z is simply the last w, and a step is

    ℓ1 (Problem 7):   wᵏ⁺¹ = argmin Σ |wⱼ| / |wⱼᵏ|        the DCA step on Σ ln(ε + |wⱼ|),      ε → 0
    ℓ2 (Problem 8):   wᵏ⁺¹ = argmin ½ Σ wⱼ² / (wⱼᵏ)²      the DCA step on ½ Σ ln(ε² + wⱼ²),    ε → 0

under the margin constraints, features with wⱼᵏ = 0 left out. :func:`dcprog.models.arom` and :func:`dcprog.models.l2_arom`
are these DC programs. The second line says that ℓ2-AROM is not only an approximation of the first: it descends on its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dcprog.errors import DataError
from dcprog.learning.samples import check_count, check_data, check_positive, check_samples
from dcprog.methods.zero_norm.iterates import Iterate
from dcprog.methods.zero_norm.steps import Margins, l1_steps, l2_steps
from dcprog.solvers.registry import check as check_solver


def l1_updates(
    X: Any, y: Any, *, p: int = 0, q: int | None = None, lam: float = 1.0, solver: str = "auto"
) -> Iterator[Iterate]:
    """The iterates of ℓ1-AROM, without end: one LP a step (a QP where p or q is 2), of which only the costs change.

    Parameters
    ----------
    X, y : array_like or sparse matrix, array_like
        Training data of two classes.
    p : 0, 1 or 2
        Norm of w; ‖w‖₂ stands for ½‖w‖₂². p = 2, q = 0 minimises the number of training errors of an SVM.
    q : None, 0, 1 or 2
        Norm of the slacks; None has none, which takes separable classes. One of p and q has to be 0: else nothing is
        reweighted, and :func:`dcprog.models.arom` states the convex problem.
    lam : float
        λ > 0. For q = 0 the weights of the slacks are λ/ξᵢ in every step. (The paper scales slack columns by 1/λ once, at
        the start, which the first update forgets: a zero norm does not see the scale.)
    solver : str
        Of the LPs or QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> iterate, status = converge(l1_updates(X, [0, 0, 1, 1]))
    >>> iterate.w.round(6), iterate.features, str(status)
    (array([2., 0.]), array([0]), 'converged')
    """
    margins = _two_classes(X, y)
    _check_norms(p, q, (0, 1, 2), lam)
    check_solver(solver)
    return l1_steps(margins, p, q, lam, solver)


def l2_updates(
    X: Any, y: Any, *, p: int = 0, q: int | None = None, lam: float = 1.0, solver: str = "auto"
) -> Iterator[Iterate]:
    """The iterates of ℓ2-AROM, without end: one SVM a step, on X * z.

    The SVM is solved as a QP with at most min(n, d) weights: hard margins on classes that are not separable are then an
    error, where libsvm does not return.

    Parameters
    ----------
    X, y : array_like or sparse matrix, array_like
        Training data of two classes.
    p : 0 or 2
        Norm of w, as for :func:`l1_updates`.
    q : None, 0, 1 or 2
        Norm of the slacks; None has none. Those with q = 2 are a ridge 1/λ on the kernel matrix (X * z)(X * z)', those with
        q = 0 a ridge ξᵢ²/λ that is updated as z is; q = 1 is the usual soft margin.
    lam : float
        λ > 0.
    solver : str
        Of the QPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from dcprog.methods.zero_norm import converge
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]])
    >>> iterate, status = converge(l2_updates(X, [0, 0, 1, 1]))
    >>> iterate.w.round(6), iterate.features, str(status)
    (array([2., 0.]), array([0]), 'converged')
    """
    margins = _two_classes(X, y)
    _check_norms(p, q, (0, 2), lam)
    check_solver(solver)
    return l2_steps(margins, p, q, lam, solver)


def switching_updates(
    X: Any, y: Any, *, few: int | None = None, q: int | None = None, lam: float = 1.0, solver: str = "auto"
) -> Iterator[Iterate]:
    """The iterates of ℓ2-AROM until few weights are left, and then those of ℓ1-AROM, without end.

    "The use of the ℓ2-norm in our algorithm can also be replaced with the ℓ1-norm in later iterations when the solution is
    already suitably sparse" (section 3.1): SVMs while there are many features, linear programs when there are few.

    Parameters
    ----------
    X, y : array_like or sparse matrix, array_like
        Training data of two classes.
    few : int, optional
        With so many features or fewer ℓ1 takes over; by default as many as there are samples.
    q : None, 1 or 2
        Norm of the slacks, as for :func:`l2_updates`; None has none.
    lam : float
        λ > 0.
    solver : str
        Of the QPs and LPs: a name that ``dcprog.available_solvers()`` lists, or ``"auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from dcprog.methods.zero_norm import converge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((30, 50)); y = X[:, 7] + X[:, 11] > 0
    >>> iterate, status = converge(switching_updates(X, y))
    >>> len(iterate.features) <= len(converge(l2_updates(X, y))[0].features), str(status)
    (True, 'converged')
    """
    margins = _two_classes(X, y)
    if q == 0:
        raise DataError("q is 0, expected None, 1 or 2: the slacks of two norms are reweighted in two ways")
    _check_norms(0, q, (0,), lam)
    check_solver(solver)
    limit = len(margins.samples.codes) if few is None else few
    check_count(few=limit)
    return _switching(margins, limit, q, lam, solver)


def _switching(margins: Margins, few: int, q: int | None, lam: float, solver: str) -> Iterator[Iterate]:
    for iterate in l2_steps(margins, 0, q, lam, solver):
        yield iterate
        if len(iterate.features) <= few:
            yield from l1_steps(margins, 0, q, lam, solver, after=iterate)


def _two_classes(X: Any, y: Any) -> Margins:
    return Margins(check_samples(check_data(X, y), None))


def _check_norms(p: int, q: int | None, norms: tuple[int, ...], lam: float) -> None:
    if p not in norms:
        raise DataError(f"p is {p!r}, expected one of {', '.join(map(str, norms))}: the norm of the weights")
    if q not in (None, 0, 1, 2):
        raise DataError(f"q is {q!r}, expected None, 0, 1 or 2: the norm of the slacks")
    if 0 not in (p, q):
        raise DataError(f"p = {p} and q = {q} leave no zero norm to minimise: set one of them to 0")
    check_positive(lam=lam)

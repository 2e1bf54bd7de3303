"""NLPSVM: the LP support vector machine by Newton's method, after Fung & Mangasarian (2004).

    min  ν e'y + ‖w‖₁    subject to    D(Aw − eγ) + y ≥ e,   y ≥ 0                                                      (2.6)

with the points in the rows of A, their labels ±1 on the diagonal of D, and w = p − q. :func:`nlpsvm` is Algorithm 3.1,
:func:`code_4_1` the shorter program that the paper prints and ran; :func:`lp_svm` is the exact solution of least 2-norm that
they converge to, where they do; :func:`kernel_nlpsvm` does each with K(A, Ā')D̄ in place of A. (2.6) is no DC program. With
other weights of |w| it is the linear program that FSV solves at each iteration: ``dcprog.solve(program,
solver="l1-newton")``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.functions.checks import number, vector
from dcprog.learning.kernels import kernel_values
from dcprog.learning.rules import Classifier, LinearRule
from dcprog.learning.samples import Data, check_count, check_data, check_points, check_positions, dense
from dcprog.solvers.reductions.dual_penalty import L1Program, Point, armijo_step, newton_steps
from dcprog.solvers.reductions.least_norm import TOLERANCE, least_norm
from dcprog.typing import Indices, Matrix, Vector

__all__ = ["KernelSurface", "Separation", "code_4_1", "kernel_nlpsvm", "lp_svm", "nlpsvm"]

LARGEST_ALPHA = 1e18
"""About α after the paper's 50 doublings; larger values would overflow."""


@dataclass(frozen=True, eq=False)
class Separation:
    """What (2.15) makes of u: the plane x'w = γ and the slacks y."""

    classifier: LinearRule
    """sgn(w'x − γ), in the labels of the data."""
    slacks: Vector
    u: Vector
    """Multipliers of the margin constraints, of one copy each where samples count more than once; those of :func:`lp_svm`
    solve the dual linear program (2.8)."""
    epsilon: float
    steps: int
    converged: bool

    @property
    def w(self) -> Vector:
        return self.classifier.w

    @property
    def gamma(self) -> float:
        return -self.classifier.b


def nlpsvm(
    A: Any,
    y: Any,
    nu: float = 1.0,
    *,
    delta: float = 0.1,
    epsilon: float = 0.1,
    alpha: float = 1e3,
    doubling: bool = False,
    tol: float = 1e-3,
    max_iter: int = 1000,
    u0: Any = None,
) -> Separation:
    """Algorithm 3.1: Newton steps on the dual penalty function (2.23), damped by Armijo's rule, until one moves u ≤ tol.

    Printed are ``doubling=True, max_iter=50``. That often ends far from a solution: f has kinks at u = 0, where its second
    derivative jumps by α; once α is large before u is near, a step has to be cut to nothing at the first kink it meets. With
    α fixed f is one function, the steps converge, and u < 0 by about ε/α remains: that is the default. w still depends on ε,
    α and, by where the run stops, on δ; :func:`lp_svm` gives the exact solution.

    Parameters
    ----------
    A, y : array_like
        Points in rows, dense or sparse, and their labels of two kinds.
    nu : float
        ν > 0, the weight of the slacks; a smaller one leaves fewer features. The paper tunes it over 2⁻¹², …, 2¹².
    delta : float
        δ > 0, what is added to the Hessian; the paper tunes it over 10⁻³, …, 10³. A large one makes small steps.
    epsilon, alpha : float
        ε > 0 and the first α > 0, the penalty parameters of (2.23).
    doubling : bool
        Whether α is doubled after every step, (II).
    tol, max_iter : float, int
        When to stop: after a full Newton step that moves u by no more than tol > 0 in the 2-norm, or so many steps.
    u0 : array_like, optional
        Where to start; e by default.

    >>> A, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [-1, -1, 1, 1]
    >>> plane = nlpsvm(A, y, nu=10)
    >>> plane.w.round(2), round(plane.gamma, 2), plane.converged
    (array([2., 0.]), 3.0, True)
    """
    data, lp, at = _started(A, y, nu, u0, delta=delta, epsilon=epsilon, alpha=alpha, tol=tol, max_iter=max_iter)
    steps, moved = 0, np.inf
    while moved > tol and steps < max_iter:
        step = armijo_step(lp, at, epsilon, delta, alpha)
        if step.length == 1.0:  # the length of a damped step is no measure of the distance to the solution
            moved = float(np.linalg.norm(step.point.u - at.u))
        at, steps = step.point, steps + 1
        if doubling:
            alpha = min(2 * alpha, LARGEST_ALPHA)
    return _separation(data, lp, at, epsilon, steps, moved <= tol)


def code_4_1(
    A: Any,
    y: Any,
    nu: float = 1.0,
    *,
    delta: float = 0.1,
    epsilon: float = 0.1,
    alpha: float = 1e3,
    tol: float = 1e-3,
    max_iter: int = 50,
    u0: Any = None,
) -> Separation:
    """Code 4.1, what the paper ran: full Newton steps on (2.23) with α fixed, until ‖∇f(u)‖ ≤ tol before one.

    Where the second derivatives are well conditioned, and δ = 0, it ends at the minimiser after finitely many steps
    (Mangasarian, Optimization Methods and Software 17, 2002, 913–929, Theorem 3.6). "Not generally satisfied here", the
    paper says: with more features than points, and a small δ, it often diverges, which ``converged`` says; :func:`nlpsvm`
    has the line search that prevents it.

    Parameters
    ----------
    A, y : array_like
        Points in rows, dense or sparse, and their labels of two kinds.
    nu : float
        ν > 0, the weight of the slacks.
    delta, epsilon, alpha : float
        δ > 0, ε > 0 and α > 0, as in Algorithm 3.1.
    tol, max_iter : float, int
        When to stop: after the step at which ‖∇f(u)‖ ≤ tol, or so many.
    u0 : array_like, optional
        Where to start; e by default.

    >>> A, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [-1, -1, 1, 1]
    >>> plane = code_4_1(A, y, nu=10)
    >>> plane.w.round(1), round(plane.gamma, 1), plane.converged
    (array([2., 0.]), 3.0, True)
    """
    data, lp, at = _started(A, y, nu, u0, delta=delta, epsilon=epsilon, alpha=alpha, tol=tol, max_iter=max_iter)
    at, steps, slope = newton_steps(lp, at, epsilon, delta, alpha, tol=tol, max_iter=max_iter)
    return _separation(data, lp, at, epsilon, steps, slope <= tol)


def lp_svm(A: Any, y: Any, nu: float = 1.0, *, epsilon: float | None = None, u0: Any = None) -> Separation:
    """The exact solution of (2.6) of least 2-norm ‖(p, q, γ, y)‖, by the same Newton steps (Proposition 2.1, Remark 3.1).

    Parameters
    ----------
    A, y : array_like
        Points in rows, dense or sparse, and their labels of two kinds.
    nu : float
        ν > 0, the weight of the slacks; a smaller one leaves fewer features.
    epsilon : float, optional
        Where ε starts, by default at 0.1·min(1, ν). It falls until a smaller one would change nothing, which is proved by
        multipliers that solve the dual (:mod:`dcprog.solvers.reductions.least_norm`). ``converged`` says whether that was
        so; if not, a ConvergenceWarning says so too, and the best point found is returned.
    u0 : array_like, optional
        Multipliers to start from, such as ``u`` for another ν; by default zero. The solution is the same one.

    >>> A, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [-1, -1, 1, 1]
    >>> plane = lp_svm(A, y, nu=10)
    >>> plane.w.round(9), round(plane.gamma, 9)
    (array([2., 0.]), 3.0)

    Of two equal features one alone would do as well; the solution of least 2-norm takes both:

    >>> lp_svm(A[:, [0, 0]], y, nu=10).w.round(9)
    array([1., 1.])
    """
    data = check_data(A, y)
    start = None if epsilon is None else number("epsilon", epsilon, 0, such_as=0.1)
    lp, roots = _linear_program(data, nu), np.sqrt(data.counts)
    u = None if u0 is None else np.clip(roots * vector("u0", u0, data.n), 0.0, lp.nu)
    solution = least_norm(lp, epsilon=start, start=u)
    p, q, beta, xi = solution.z
    converged = solution.residual <= TOLERANCE
    if not converged:
        _warn(solution.residual)
    rule = _rule(data, p - q, beta[0])
    return Separation(rule, xi / roots, solution.u / roots, solution.epsilon, solution.steps, converged)


@dataclass(frozen=True, eq=False)
class KernelSurface(Classifier):
    """The surface K(x', Ā')D̄v = γ, (2.16) and (2.22), over the basis points Ā with labels D̄."""

    kernel: Callable[[Matrix, Matrix], Matrix]
    basis: Matrix
    plane: Separation
    """The plane for the points K(A, Ā')D̄; its w is v."""
    weights: Vector
    """D̄v."""

    def used(self, threshold: float = 1e-8) -> Indices:
        """Positions in the basis of the kernel functions that the surface needs."""
        return np.flatnonzero(np.abs(self.weights) > threshold)

    def decision_function(self, X: Any) -> Vector:
        """K(x', Ā')D̄v − γ for every row x' of X."""
        X = dense(check_points(X, self.basis.shape[1]))
        used = np.flatnonzero(self.weights)
        values = np.zeros(len(X))
        if used.size and len(X):  # a kernel of the user's need not take empty arrays
            values = kernel_values(self.kernel, X, self.basis[used]) @ self.weights[used]
        return values - self.plane.gamma

    @property
    def classes(self) -> tuple[Any, Any]:
        return self.plane.classifier.classes


def kernel_nlpsvm(
    A: Any,
    y: Any,
    kernel: Callable[[Matrix, Matrix], Matrix],
    nu: float = 1.0,
    *,
    basis: Any = None,
    method: Callable[..., Separation] = nlpsvm,
    **parameters: Any,
) -> KernelSurface:
    """The nonlinear LP SVM (2.20): (2.6) with A replaced by K(A, Ā')D̄, (2.21). ‖v‖₁ leaves few kernel functions.

    Parameters
    ----------
    A, y : array_like
        Points in rows, dense or sparse, and their labels of two kinds.
    kernel : callable
        ``kernel(X, Z)`` gives the matrix K(X, Z'), such as ``partial(sklearn.metrics.pairwise.rbf_kernel, gamma=µ)`` for the
        Gaussian kernel (4.32). It need not be positive semidefinite.
    nu : float
        ν > 0, the weight of the slacks; a smaller one leaves fewer kernel functions, a very small one none.
    basis : array_like of int, optional
        Positions of the training points in Ā: by default all, in the reduced SVM (Lee & Mangasarian 2001) a random sample.
    method : callable
        :func:`nlpsvm`, :func:`code_4_1` or :func:`lp_svm`, or a function of (A, y, ν) that gives what one of these does.
    **parameters : float, int, array_like
        Of the method, such as ``delta``.

    >>> from functools import partial
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> A, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [1, -1, -1, 1]
    >>> surface = kernel_nlpsvm(A, y, partial(rbf_kernel, gamma=1.0), nu=10, method=lp_svm)
    >>> surface.predict(A), surface.predict([[1.5], [-0.5]])
    (array([ 1, -1, -1,  1]), array([-1,  1]))
    """
    data = check_data(A, y)
    _check_method(method, parameters)
    points = dense(data.X)
    chosen = np.arange(data.n) if basis is None else check_positions("basis", basis, data.n)
    labels = data.y[chosen]
    K = kernel_values(kernel, points, points[chosen])
    plane = method(K * labels, np.asarray(y), nu, **parameters)
    if not isinstance(plane, Separation):
        raise DataError(f"method gave {type(plane).__name__}, expected a Separation: pass nlpsvm or lp_svm")
    return KernelSurface(kernel, points[chosen], plane, labels * plane.w)


def _started(A: Any, y: Any, nu: float, u0: Any, *, max_iter: int, **positive: float) -> tuple[Data, L1Program, Point]:
    """The samples, (2.6) on them, and the point to start from, once all is checked."""
    data = check_data(A, y)
    for name, value in positive.items():
        number(name, value, 0, such_as=0.1)
    check_count(max_iter=max_iter)
    lp = _linear_program(data, nu)
    return data, lp, lp.at(np.sqrt(data.counts) * (np.ones(data.n) if u0 is None else vector("u0", u0, data.n)))


def _separation(data: Data, lp: L1Program, at: Point, epsilon: float, steps: int, converged: bool) -> Separation:
    """(2.15)."""
    p, q, beta, xi = lp.primal(at, epsilon)
    roots = np.sqrt(data.counts)
    return Separation(_rule(data, p - q, beta[0]), xi / roots, at.u / roots, epsilon, steps, converged)


def _linear_program(data: Data, nu: float) -> L1Program:
    """(2.6); the bias −γ belongs to the column De.

    A sample that counts s times has s equal rows, multipliers u and slacks y. In the units √s·u and √s·y one row √s times
    as long says the same of them, in the norms that the method minimises, too.
    """
    nu = number("nu", nu, 0, such_as=1.0)
    roots = np.sqrt(data.counts)
    signed = data.signed
    one = np.ones(data.d)
    return L1Program(
        B=sp.csc_array(sp.diags_array(roots) @ signed) if sp.issparse(signed) else roots[:, None] * signed,
        G=(roots * data.y)[:, None],
        r=roots,
        s=one,
        t=one,
        c=np.zeros(1),
        nu=nu * roots,
    )


def _check_method(method: Callable[..., Separation], parameters: dict[str, Any]) -> None:
    """A method that trains takes (A, y, ν), and these parameters by keyword."""
    try:
        takes = list(signature(method).parameters.values())
    except (TypeError, ValueError):  # no function, or one that does not say
        takes = []
    places = [p for p in takes if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = sum(p.default is p.empty for p in places)
    if not needed <= 3 <= len(places):
        raise DataError(f"method is {method!r}, expected a function of (A, y, nu) that trains: pass nlpsvm or lp_svm")
    known = [p.name for p in takes if p.kind is p.KEYWORD_ONLY]
    for name in parameters:
        if name not in known:
            raise unknown_name(f"parameter of {getattr(method, '__name__', method)}", name, known)


def _warn(residual: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"lp_svm expects to prove its solution to {TOLERANCE:.0e} and came to {residual:.0e}: the best point found is used; "
        "standardise the features, or lower nu",
        ConvergenceWarning,
        stacklevel=3,
    )


def _rule(data: Data, w: Vector, b: float) -> LinearRule:
    return LinearRule(w, float(b), classes=data.classes, feature_names=data.names)

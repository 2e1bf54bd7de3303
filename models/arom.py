"""Zero-norm minimisation as DC programs: Problems 6 and 9 of Weston, Elisseeff, Schölkopf & Tipping (2003).

    min ‖w‖_p + λ‖ξ‖_q    subject to    D(Xw + be) + ξ ≥ e,  ξ ≥ 0                                                 (2), (3)

with the zero norm ‖v‖₀ replaced by Σ ln(1 + vⱼ/ε) = Σ ln(ε + vⱼ) − const. DCA on these programs is the paper's AROM in the
limit ε → 0, where its multiplicative updates (:mod:`dcprog.methods.zero_norm`) begin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.functions import Linear, Logarithmic, OfSum, Quadratic
from dcprog.learning.multiclass import ArgmaxRule, margin_rows
from dcprog.learning.samples import check_data, check_positive, check_samples
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family
from dcprog.program.matrix_constraint import MatrixConstraint

from ._margin import Weights, free_model, given_weights, sized_model, sized_weights, sizes

EVEN = 100.0
"""Where hard-margin programs start: all sizes |w| equal. The logarithm does not see the scale, so the first subproblem is
that of v⁰ = e, and projected onto the margin constraints the start stays even unless a weight has to be larger than this."""


def arom_weights(X: Any, y: Any = None, q: int | None = None, form: str = "split") -> Weights:
    """The family of the other formulations with sizes |w|, or, where q is None, one without slacks."""
    _check_norm("q", q, (None, 0, 1, 2))
    if q is not None:
        return sized_weights(X, y, form)
    shape = f"sizes |w| without slacks, with form={form!r}"
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    data = check_data(X, y)
    m = sized_model(data, form)
    _hard_margins(m, **({"p": EVEN / 2, "q": EVEN / 2} if form == "split" else {"v": EVEN}))
    return Weights(m, data, shape, sizes(form))


@of_family(arom_weights)
def arom(
    X: Any, y: Any = None, eps: float = 1e-6, *, p: int = 0, q: int | None = None, lam: float = 1.0, form: str = "split"
) -> DCProgram:
    """AROM: min φ_p(|w|) + λ φ_q(ξ), φ₀(v) = Σ ln(1 + vⱼ/ε), φ₁(v) = Σ vⱼ, φ₂(v) = ½ Σ vⱼ². Problem 6 and (2).

    DC split: zero norms are concave and go into h. DCA starts at |w| = v⁰ even and stops on v. One LP an iteration, or a QP
    where p or q is 2.

    Parameters
    ----------
    X, y : array_like
        Training data of two classes: samples in rows, dense or sparse, and their labels.
    eps : float
        ε > 0, the size below which a weight is all but zero.
    p, q : int
        Norms of the weights, 0, 1 or 2, and of the slacks, 0, 1, 2, or None for hard margins.
    lam : float
        λ > 0 trades slacks for weights.
    form : str
        ``"split"`` (w = p − q) or ``"paper"`` (−v ≤ w ≤ v): the same optimum.

    >>> import dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> result = dcprog.solve(arom(X, y))
    >>> result["w"].round(6), result.classifier.selected()
    (array([2., 0.]), array([0]))
    """
    check_positive(eps=eps, lam=lam)
    _check_norm("p", p, (0, 1, 2))
    weights = arom_weights(X, y, q, form)
    m, rho = weights.model, Logarithmic(eps)
    g: Any = {0: 0.0, 1: weights.size(1.0), 2: weights.half_square()}[p]
    h: Any = weights.of_size(rho) if p == 0 else 0.0
    if q is not None:
        g = g + lam * _slack_norm(weights, q)
        h = h + (lam * rho(m.xi) if q == 0 else 0.0)
    return weights.program(g, h, "arom", stop_on=["v", "xi"] if q == 0 else ["v"], tol=1e-6)


def squared_weights(X: Any, y: Any = None, p: int = 0, q: int | None = None) -> Weights:
    """A family with t ≥ w² and s ≥ ξ² where their logarithms are taken, and without slacks if q is None."""
    _check_norm("p", p, (0, 2))
    _check_norm("q", q, (None, 0, 1, 2))
    shape = f"squares of the weights with p={p}, q={q}"
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    data = check_data(X, y)
    m = free_model(data)
    if p == 0:
        _squares(m, "t", m.w)
    if q == 0:
        _squares(m, "s", m.xi)
    if q is None:
        _hard_margins(m, **({"t": EVEN} if p == 0 else {}))
    return Weights(m, data, shape)


@of_family(squared_weights)
def l2_arom(X: Any, y: Any = None, eps: float = 1e-6, *, p: int = 0, q: int | None = None, lam: float = 1.0) -> DCProgram:
    """ℓ2-AROM: min φ_p(w) + λ φ_q(ξ), φ₀(w) = ½ Σ ln(1 + wⱼ²/ε²), φ₁(ξ) = Σ ξᵢ, φ₂(w) = ½ Σ wⱼ²; p ∈ {0, 2}.

    The paper calls the SVM steps of its Problem 8 an approximation of those on Σ ln(ε + |wⱼ|). They are exact DCA steps on
    this objective, which has the same limit: with t ≥ w² it is concave in t, and linearised it is a weighted square of w.
    The rows t ≥ w² are convex quadratic constraints, which solver ``squares`` turns into a QP whatever ε is; the fast way is
    :func:`dcprog.methods.zero_norm.l2_updates`, from whose iterates those of DCA differ by O(ε²).

    Parameters
    ----------
    X, y : array_like
        Training data of two classes: samples in rows, dense or sparse, and their labels.
    eps : float
        ε > 0, the size below which a weight is all but zero.
    p, q : int
        Norms of the weights, 0 or 2, and of the slacks, 0, 1, 2, or None for hard margins.
    lam : float
        λ > 0 trades slacks for weights.

    >>> import dcprog
    >>> X, y = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, -1.0], [3.0, 1.0]]), [0, 0, 1, 1]
    >>> abs(dcprog.solve(l2_arom(X, y))["w"]).round(6)
    array([2., 0.])
    """
    check_positive(eps=eps, lam=lam)
    weights = squared_weights(X, y, p, q)
    m, rho = weights.model, Logarithmic(eps**2)
    g: Any = 0.0 if p == 0 else weights.half_square()
    h: Any = 0.5 * rho(m.t) if p == 0 else 0.0
    if q is not None:
        g = g + lam * _slack_norm(weights, q)
        h = h + (0.5 * lam * rho(m.s) if q == 0 else 0.0)
    moving = ["w", *(["t"] if p == 0 else []), *(["s"] if q == 0 else [])]
    return weights.program(g, h, "l2_arom", stop_on=moving, tol=1e-5)


def multiclass_arom(
    X: Any, y: Any, eps: float = 1e-6, *, constraints: str = "weston_watkins", lam: float | None = None
) -> DCProgram:
    """Joint zero norm of several classes: min Σⱼ ln(1 + Σₖ|wₖⱼ|/ε), wₖ = pₖ − qₖ, as in Problems 9 and 10.

    Parameters
    ----------
    X, y : array_like
        Training data of two or more classes: samples in rows, dense or sparse, and their labels.
    eps : float
        ε > 0, the size below which a weight is all but zero.
    constraints : str
        ``"weston_watkins"``: (w_{c(i)} − wₖ)·xᵢ + b_{c(i)} − bₖ ≥ 1 for k ≠ c(i), or ``"one_vs_rest"``:
        y_{ki}(wₖ·xᵢ + bₖ) ≥ 1 with y_{ki} = 1 for k = c(i) and −1 otherwise.
    lam : float, optional
        λ > 0: every margin may have a slack that costs λ. By default none may.

    >>> import dcprog
    >>> X, y = np.array([[-2.0, 1.0], [-2.0, -1.0], [0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]]), [1, 1, 2, 2, 3, 3]
    >>> result = dcprog.solve(multiclass_arom(X, y))
    >>> result["w"].shape, result.classifier.selected(), result.classifier.predict(X)
    ((3, 2), array([0]), array([1, 1, 2, 2, 3, 3]))
    """
    check_positive(eps=eps, **({} if lam is None else {"lam": lam}))
    samples = check_samples(X, y)
    Q, d = len(samples.classes), samples.X.shape[1]
    M, B = margin_rows(samples, constraints)
    m = pyo.ConcreteModel()
    m.p = pyo.Var(range(Q), range(d), bounds=(0, None), initialize=0.5)
    m.q = pyo.Var(range(Q), range(d), bounds=(0, None), initialize=0.5)
    m.b = pyo.Var(range(Q), initialize=0.0)
    m.xi = pyo.Var(range(M.shape[0]), bounds=(0, None), initialize=1.0)
    eye = sp.eye_array(M.shape[0], format="csc")
    m.margin = MatrixConstraint([M, -M, B, eye], [m.p, m.q, m.b, m.xi], lower=1.0)
    if lam is None:
        _hard_margins(m, p=EVEN / 2, q=EVEN / 2)
    g = 0.0 if lam is None else Linear(np.full(M.shape[0], lam))(m.xi)
    return DCProgram(
        m,
        g=g,
        h=OfSum(Logarithmic(eps), parts=2 * Q)(m.p, m.q),
        name="multiclass_arom",
        derived={"w": lambda a: a["p"] - a["q"], "v": lambda a: (a["p"] + a["q"]).sum(axis=0)},
        stop_on=["v"],
        tol=1e-6,
        interpret=lambda a: ArgmaxRule(a["w"], a["b"], samples.classes, samples.names),
    )


def _hard_margins(m: Any, **start: float) -> None:
    """No slack, and an even start with w = 0, not in C: since it asks for no bias, the engine projects it silently."""
    m.xi.fix(0.0)
    for name, value in start.items():
        for variable in m.component(name).values():
            variable.value = value
    for bias in m.b.values():
        bias.value = None


def _slack_norm(weights: Weights, q: int) -> Any:
    """The convex part of φ_q(ξ)."""
    n = weights.data.n
    return {0: 0.0, 1: weights.errors(np.ones(n)), 2: Quadratic(sp.eye_array(n))(weights.model.xi)}[q]


def _squares(m: Any, name: str, variables: Any) -> None:
    """New variables ≥ the squares of ``variables``."""
    squares = pyo.Var(list(variables), bounds=(0, None), initialize=1.0)
    m.add_component(name, squares)
    m.add_component(f"{name}_rows", pyo.Constraint(list(variables), rule=lambda _, j: variables[j] ** 2 <= squares[j]))


def _check_norm(name: str, value: object, known: tuple[int | None, ...]) -> None:
    if value not in known:
        raise DataError(f"{name} is {value!r}, expected one of {', '.join(map(str, known))}")

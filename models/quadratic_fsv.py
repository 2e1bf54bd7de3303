"""Quadratic FSV, (9) of Neumann, Schnörr & Steidl (2005): a polynomial feature map, selection of original features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.functions import ConvexFunction, Linear
from dcprog.learning.monomials import Monomials
from dcprog.learning.samples import Data, check_data, check_lam, check_nonnegative, check_positive
from dcprog.program.dc_program import DCProgram, Derived
from dcprog.program.family import of_family
from dcprog.program.matrix_constraint import MatrixConstraint

from ._margin import Weights, check_form, concave_penalty, error_weights, given_weights


def monomial_weights(X: Any, y: Any = None, degree: int = 2, form: str = "split") -> Weights:
    """D(φ(X)w + be) + ξ ≥ e, ξ ≥ 0 and |wᵢ| ≤ vⱼ for every feature j in monomial i; starts at w = 0, v = e."""
    shape = f"monomials with degree={degree}, form={form!r}"
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    check_form(form)
    data = check_data(X, y)
    monomials = Monomials(data.d, degree)
    derived: Derived = {"w": lambda a: a["p"] - a["q"]} if form == "split" else {}
    return Weights(_monomial_model(data, monomials, form), data, shape, derived, monomials)


@of_family(monomial_weights)
def quadratic_fsv(
    X: Any,
    y: Any = None,
    lam: float = 0.1,
    alpha: float = 5.0,
    degree: int = 2,
    *,
    penalty: str | ConvexFunction = "exponential",
    weighting: str = "mean",
    form: str = "split",
) -> DCProgram:
    """Quadratic FSV: min (1−λ) Σ cᵢ(1 − yᵢ(w'φ(xᵢ) + b))₊ + λ e'(e − e^(−αv)), |wᵢ| ≤ vⱼ if φᵢ contains xⱼ, (9). LPs.

    φ are all monomials up to ``degree``; v has one component for each original feature and bounds the weight of every
    monomial that contains it, so a feature with vⱼ = 0 is not needed at all. Other parameters as in
    :func:`~dcprog.models.fsv`.

    >>> import numpy as np, dcprog
    >>> X = np.random.default_rng(0).uniform(-2, 2, (60, 3))
    >>> result = dcprog.solve(quadratic_fsv(X, np.sign(X[:, 0]**2 + X[:, 1]**2 - 1.5), lam=0.05))
    >>> result.classifier.selected()
    array([0, 1])
    """
    check_lam(lam)
    weights = monomial_weights(X, y, degree, form)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors((1.0 - lam) * error_weights(weights.data, weighting))
    return weights.program(g, lam * rho(weights.model.v) if lam > 0 else 0, "quadratic_fsv", stop_on=["v"], tol=1e-5)


@of_family(monomial_weights)
def quadratic_l2_l0_svm(
    X: Any,
    y: Any = None,
    mu: float = 1.0,
    nu: float = 1.0,
    alpha: float = 5.0,
    degree: int = 2,
    *,
    penalty: str | ConvexFunction = "exponential",
    weighting: str = "mean",
    form: str = "split",
) -> DCProgram:
    """Quadratic ℓ2-ℓ0-SVM: (8) with the feature map and the shared bounds of (9). One QP an iteration."""
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = monomial_weights(X, y, degree, form)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors(mu * error_weights(weights.data, weighting)) + weights.half_square()
    return weights.program(g, nu * rho(weights.model.v) if nu > 0 else 0, "quadratic_l2_l0_svm", stop_on=["v"], tol=1e-5)


@of_family(monomial_weights)
def quadratic_l2_l1_svm(
    X: Any, y: Any = None, mu: float = 1.0, nu: float = 1.0, degree: int = 2, *, weighting: str = "mean", form: str = "split"
) -> DCProgram:
    """Quadratic ℓ2-ℓ1-SVM: (7) with the feature map and the shared bounds of (9). A convex QP."""
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = monomial_weights(X, y, degree, form)
    g = weights.errors(mu * error_weights(weights.data, weighting)) + weights.half_square()
    return weights.program(g + Linear(np.full(weights.data.d, nu))(weights.model.v), 0, "quadratic_l2_l1_svm")


def _monomial_model(data: Data, monomials: Monomials, form: str) -> Any:
    signed = data.y[:, None] * monomials.transform(data.X)
    pairs = monomials.contains.tocoo()
    rows = np.arange(pairs.nnz)
    of_monomial = sp.csc_array((np.ones(pairs.nnz), (rows, pairs.row)), shape=(pairs.nnz, monomials.size))
    of_feature = sp.csc_array((np.ones(pairs.nnz), (rows, pairs.col)), shape=(pairs.nnz, data.d))
    identity = sp.eye_array(data.n, format="csc")
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(data.d), bounds=(0, None), initialize=1.0)
    m.b = pyo.Var(initialize=0.0)
    m.xi = pyo.Var(range(data.n), bounds=(0, None), initialize=1.0)
    if form == "split":
        m.p = pyo.Var(range(monomials.size), bounds=(0, None), initialize=0.0)
        m.q = pyo.Var(range(monomials.size), bounds=(0, None), initialize=0.0)
        m.margin = MatrixConstraint([signed, -signed, data.y, identity], [m.p, m.q, m.b, m.xi], lower=1.0)
        m.bound = MatrixConstraint([-of_monomial, -of_monomial, of_feature], [m.p, m.q, m.v], lower=0.0)
        return m
    m.w = pyo.Var(range(monomials.size), initialize=0.0)
    m.margin = MatrixConstraint([signed, data.y, identity], [m.w, m.b, m.xi], lower=1.0)
    m.below = MatrixConstraint([of_monomial, of_feature], [m.w, m.v], lower=0.0)
    m.above = MatrixConstraint([-of_monomial, of_feature], [m.w, m.v], lower=0.0)
    return m

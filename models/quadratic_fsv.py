"""Quadratic FSV, (9) of Neumann, Schnörr & Steidl (2005): an explicit feature map, selection of original features."""

from __future__ import annotations

from typing import Any

from dcprog.functions import ConvexFunction
from dcprog.learning.feature_maps import joined_map, own_map
from dcprog.learning.monomials import Monomials
from dcprog.learning.samples import check_lam, check_nonnegative, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import of_family

from ._margin import Weights, concave_penalty
from ._shared import mapped_weights


def mapped_family(
    X: Any, y: Any = None, degree: int = 2, form: str = "split", feature_map: Any = None, incidence: Any = None
) -> Weights:
    """D(φ(X)w + be) + ξ ≥ e, ξ ≥ 0 and |wᵢ| ≤ vⱼ wherever φᵢ contains xⱼ; starts at w = 0, v = e."""
    if feature_map is None:
        joined_map(feature_map, incidence)
        shape = f"monomials with degree={degree}, form={form!r}"
        return mapped_weights(X, y, lambda samples: Monomials(samples.X.shape[1], degree), shape, form)
    made = own_map(feature_map, incidence)
    return mapped_weights(X, y, made, f"features mapped by {feature_map!r}, form={form!r}", form)


@of_family(mapped_family)
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
    feature_map: Any = None,
    incidence: Any = None,
) -> DCProgram:
    """Quadratic FSV: min (1−λ) Σ cᵢ(1 − yᵢ(w'φ(xᵢ) + b))₊ + λ e'(e − e^(−αv)), |wᵢ| ≤ vⱼ if φᵢ contains xⱼ, (9). LPs.

    φ are all monomials up to ``degree``; v has one component for each original feature and bounds the weight of every
    monomial that contains it, so a feature with vⱼ = 0 is not needed at all. Other parameters, and more than two classes, as
    in :func:`~dcprog.models.fsv`.

    Parameters
    ----------
    feature_map : callable or scikit-learn transformer, optional
        Another φ in the place of the monomials: a function of X, or a transformer, fitted or not, as
        ``SplineTransformer()``. What it gives as constants is left out, since b does the same.
    incidence : matrix, optional
        d' × d, 1 where φᵢ contains xⱼ. Of transformers it is found from ``powers_`` or ``get_feature_names_out``, if these
        say it; of functions it is needed. (9) asks for φᵢ(eⱼ) ≠ 0; read literally, that leaves x₁x₂ without a bound.

    >>> import numpy as np, dcprog
    >>> X = np.random.default_rng(0).uniform(-2, 2, (60, 3))
    >>> result = dcprog.solve(quadratic_fsv(X, np.sign(X[:, 0]**2 + X[:, 1]**2 - 1.5), lam=0.05))
    >>> result.classifier.selected()
    array([0, 1])
    """
    check_lam(lam)
    weights = mapped_family(X, y, degree, form, feature_map, incidence)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors((1.0 - lam) * weights.costs(weighting))
    return weights.program(g, lam * weights.of_size(rho) if lam > 0 else 0, "quadratic_fsv", stop_on=["v"], tol=1e-5)


@of_family(mapped_family)
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
    feature_map: Any = None,
    incidence: Any = None,
) -> DCProgram:
    """Quadratic ℓ2-ℓ0-SVM: (8) with the feature map and the shared bounds of (9). One QP an iteration."""
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = mapped_family(X, y, degree, form, feature_map, incidence)
    rho = concave_penalty(penalty, alpha)
    g = weights.errors(mu * weights.costs(weighting)) + weights.half_square()
    return weights.program(g, nu * weights.of_size(rho) if nu > 0 else 0, "quadratic_l2_l0_svm", stop_on=["v"], tol=1e-5)


@of_family(mapped_family)
def quadratic_l2_l1_svm(
    X: Any,
    y: Any = None,
    mu: float = 1.0,
    nu: float = 1.0,
    degree: int = 2,
    *,
    weighting: str = "mean",
    form: str = "split",
    feature_map: Any = None,
    incidence: Any = None,
) -> DCProgram:
    """Quadratic ℓ2-ℓ1-SVM: (7) with the feature map and the shared bounds of (9). A convex QP."""
    check_positive(mu=mu)
    check_nonnegative(nu=nu)
    weights = mapped_family(X, y, degree, form, feature_map, incidence)
    g = weights.errors(mu * weights.costs(weighting)) + weights.half_square()
    return weights.program(g + weights.size(nu), 0, "quadratic_l2_l1_svm")

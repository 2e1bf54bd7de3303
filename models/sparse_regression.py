"""Regression and classification with few features: a smooth loss and a penalty ρ(|w|) that is concave in |w|."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.functions import Huber, L1Norm, Logistic, Loss, OfAffine, SquaredHinge, SquaredNorm
from dcprog.functions.checks import matrix, vector
from dcprog.functions.penalties import MCP, SCAD, CappedL1, SeparablePenalty
from dcprog.learning.samples import Data, check_data, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import Family, of_family
from dcprog.typing import Sparse, Vector

from ._margin import linear_rule

RESIDUALS: dict[str, tuple[float, Any]] = {"squared": (0.5, SquaredNorm), "huber": (1.0, Huber)}
"""Losses of y − Xw − b with their factors."""
MARGINS: dict[str, tuple[float, Any]] = {"logistic": (1.0, Logistic), "squared_hinge": (1.0, SquaredHinge)}
"""Losses of the margins y(Xw + b), y ∈ {−1, 1}."""
PENALTIES = ("l1", "mcp", "scad", "capped_l1")


class Samples(Family):
    """The model and its mean loss, compiled once: the factory takes it in the place of (X, y)."""

    def __init__(
        self, X: Any, y: Any = None, *, loss: str = "squared", delta: float = 1.0, fit_intercept: bool = True
    ) -> None:
        A, b, factor, function, data = _linear_forms(X, y, loss, delta, fit_intercept)
        m = pyo.ConcreteModel(name="sparse_regression")
        m.w = pyo.Var(range(A.shape[1] - fit_intercept), initialize=0.0)
        if fit_intercept:
            m.b = pyo.Var(initialize=0.0)
        rule = None if data is None else partial(linear_rule, data.classes, data.names, None)
        super().__init__(m, interpret=rule if fit_intercept else None)
        self.loss = factor / len(b) * OfAffine(function, A, b)(*([m.w, m.b] if fit_intercept else [m.w]))


def _linear_forms(
    X: Any, y: Any, loss: str, delta: float, fit_intercept: bool
) -> tuple[Sparse, Vector, float, Loss, Data | None]:
    """A and b of what the loss is applied to, A(w, b) + b, the loss with its factor, and the samples of two classes."""
    if loss not in (*RESIDUALS, *MARGINS):
        raise unknown_name("loss", loss, [*RESIDUALS, *MARGINS])
    if loss in MARGINS:
        factor, function = MARGINS[loss]
        data = check_data(X, y)
        A = -_with_ones(data.signed, data.y) if fit_intercept else -data.signed
        return A, np.full(data.n, 1.0 if loss == "squared_hinge" else 0.0), factor, function(), data
    X, y = matrix("X", X), vector("y", y)
    if X.shape[0] != len(y):
        raise DataError(f"y has {len(y)} entries for {X.shape[0]} samples: pass one number a sample")
    factor, function = RESIDUALS[loss]
    A = _with_ones(X, np.ones(len(y))) if fit_intercept else X
    return A, -y, factor, function(delta) if loss == "huber" else function(), None


def _with_ones(X: Sparse, column: Vector) -> Sparse:
    if sp.issparse(X):
        return sp.hstack([X, sp.csr_array(column[:, None])], format="csr")
    return np.hstack([X, column[:, None]])


@of_family(Samples)
def sparse_regression(
    X: Any,
    y: Any = None,
    lam: float = 0.1,
    *,
    loss: str = "squared",
    penalty: str | SeparablePenalty = "mcp",
    gamma: float = 3.0,
    a: float = 3.7,
    delta: float = 1.0,
    fit_intercept: bool = True,
) -> DCProgram:
    """min L(w, b) + Σⱼ ρ(|wⱼ|), L the mean loss, ρ = MCP, SCAD, capped ℓ1 or ℓ1: one ℓ1-regularised loss an iteration.

    ``loss``: ``"squared"`` is (1/2n)‖y − Xw − b‖², ``"huber"`` the mean of Huber's loss of y − Xw − b, linear beyond ``delta``;
    with two classes ``"logistic"`` is the mean of log(1 + e^(−y(w'x + b))), ``"squared_hinge"`` that of max(0, 1 − y(w'x + b))².
    ``penalty``: ``"mcp"`` with ``gamma`` (C.-H. Zhang 2010), ``"scad"`` with ``a`` (Fan & Li 2001), ``"capped_l1"``
    λ min(|w|, γλ/2), whose plateau is that of MCP (T. Zhang 2010), ``"l1"``, or λ times a penalty of
    :mod:`dcprog.functions.penalties`. Scaled as in scikit-learn and skglm.

    DC split: g = L + λ‖w‖₁, h(w) = Σⱼ λ|wⱼ| − ρ(|wⱼ|), both convex. DCA starts at w = 0, where its first step is the ℓ1 solution;
    ``family`` is the model with its loss.

    >>> import numpy as np, dcprog
    >>> X = np.array([[1.0, 0.2], [2.0, -0.1], [3.0, 0.1], [4.0, -0.2]])
    >>> result = dcprog.solve(sparse_regression(X, [2.0, 4.0, 6.0, 8.0], lam=0.1))
    >>> result["w"].round(4) + 0.0
    array([2., 0.])
    """
    check_positive(lam=lam)
    samples = X if isinstance(X, Samples) else Samples(X, y, loss=loss, delta=delta, fit_intercept=fit_intercept)
    w = samples.model.w
    if penalty == "l1":
        return samples.program(samples.loss + lam * L1Norm()(w), 0, "sparse_regression")
    weight, rho = _penalty(penalty, lam, gamma, a)
    norm, remainder = rho.pair(w)
    return samples.program(samples.loss + weight * norm, weight * remainder, "sparse_regression")


def _penalty(penalty: str | SeparablePenalty, lam: float, gamma: float, a: float) -> tuple[float, SeparablePenalty]:
    """A factor and the penalty that it belongs to."""
    if isinstance(penalty, SeparablePenalty):
        return lam, penalty
    if penalty == "mcp":
        return 1.0, MCP(lam, gamma)
    if penalty == "scad":
        return 1.0, SCAD(lam, a)
    if penalty == "capped_l1":
        check_positive(gamma=gamma)
        theta = 0.5 * gamma * lam
        return lam * theta, CappedL1(theta)
    raise unknown_name("penalty", penalty, PENALTIES)

"""Regression and classification with few features: a smooth loss and a penalty ρ(|w|) that is concave in |w|."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.functions import GroupNorm, Huber, L1Norm, Logistic, Loss, OfAffine, SquaredHinge, SquaredNorm
from dcprog.functions.checks import matrix, nonnegative, number, vector
from dcprog.functions.groups import GroupRemainder, Partition
from dcprog.functions.penalties import MCP, SCAD, CappedL1, Exponential, Logarithmic, SeparablePenalty
from dcprog.functions.weighted import WeightedLoss
from dcprog.learning.samples import Data, check_data, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import Family, of_family
from dcprog.typing import Sparse, Vector

from ._margin import linear_rule

RESIDUALS: dict[str, tuple[type[Loss], float]] = {"squared": (SquaredNorm, 0.5), "huber": (Huber, 1.0)}
"""Losses of y − Xw − b with their factors."""
MARGINS: dict[str, tuple[type[Loss], float]] = {"logistic": (Logistic, 0.0), "squared_hinge": (SquaredHinge, 1.0)}
"""Losses ℓ(b − y(Xw + b)) of the margins, y ∈ {−1, 1}, with what they are shifted by."""
PENALTIES = ("l1", "mcp", "scad", "capped_l1", "exponential", "log")


class Samples(Family):
    """The model and its mean loss, compiled once: the factory takes it in the place of (X, y).

    ``sample_weight`` says how often each sample counts, s: the mean is Σ sᵢℓᵢ / Σ sᵢ.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        loss: str = "squared",
        delta: float = 1.0,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        if loss not in (*RESIDUALS, *MARGINS):
            raise unknown_name("loss", loss, [*RESIDUALS, *MARGINS])
        check_positive(delta=delta)
        A, b, data = _linear_forms(X, y, loss, fit_intercept)
        m = pyo.ConcreteModel(name="sparse_regression")
        m.w = pyo.Var(range(A.shape[1] - fit_intercept), initialize=0.0)
        self.w: list[Any] = list(m.w.values())  # once: of 100 000 variables it takes as long as much of the rest
        if fit_intercept:
            m.b = pyo.Var(initialize=0.0)
        rule = None if data is None or not fit_intercept else partial(linear_rule, data.classes, data.names, None)
        super().__init__(m, interpret=rule)
        self.shape = (loss, delta, fit_intercept)
        kind, factor = RESIDUALS[loss] if loss in RESIDUALS else (MARGINS[loss][0], 1.0)
        function: Loss = kind(delta) if kind is Huber else kind()
        total = float(len(b))
        if sample_weight is not None:
            s = nonnegative("sample_weight", sample_weight, len(b))
            total = float(s.sum())
            if loss == "squared":  # a row √s times as long is still least squares
                A, b = sp.diags_array(np.sqrt(s)) @ A if sp.issparse(A) else np.sqrt(s)[:, None] * A, np.sqrt(s) * b
            else:
                function = WeightedLoss(function, s)
        check_positive(sum_of_sample_weight=total)
        self.mean_loss = OfAffine(function, A, b)
        self.factor = factor / total
        self.loss = self.factor * self.mean_loss(*([self.w, m.b] if fit_intercept else [self.w]))

    def slope(self, w: Vector, b: float = 0.0) -> Vector:
        """The gradient of the mean loss with respect to w."""
        has_bias = self.shape[2]
        gradient: Vector = self.factor * self.mean_loss.gradient(np.append(w, b) if has_bias else w)
        return gradient[: len(w)]


def _linear_forms(X: Any, y: Any, loss: str, fit_intercept: bool) -> tuple[Sparse, Vector, Data | None]:
    """A and b of the linear forms that the loss is applied to, and the samples where y are two classes."""
    data = None
    if loss in RESIDUALS and np.asarray(y).dtype.kind in "biuf":
        X, target = matrix("X", X), vector("y", y)
        if X.shape[0] != len(target):
            raise DataError(f"y has {len(target)} entries for {X.shape[0]} samples: pass one number a sample")
        if set(np.unique(target)) == {-1.0, 1.0}:
            data = check_data(X, y)
    else:
        data = check_data(X, y)
        X, target = data.X, data.y
    ones = np.ones(len(target))
    if loss in RESIDUALS:
        return (_with(X, ones) if fit_intercept else X), -target, data
    assert data is not None
    signed = -data.signed
    return (_with(signed, -target) if fit_intercept else signed), MARGINS[loss][1] * ones, data


def _with(X: Sparse, column: Vector) -> Sparse:
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
    alpha: float = 5.0,
    eps: float = 0.1,
    delta: float = 1.0,
    groups: Any = None,
    fit_intercept: bool = True,
) -> DCProgram:
    """min L(w, b) + Σⱼ ρ(|wⱼ|), L the mean loss, ρ a concave penalty or λ|w|: one ℓ1-regularised loss an iteration.

    - ``loss``: ``"squared"`` is (1/2n)‖y − Xw − b‖², ``"huber"`` the mean of Huber's loss of y − Xw − b, linear beyond
      ``delta``; with two classes ``"logistic"`` is the mean of log(1 + e^(−y(w'x + b))), ``"squared_hinge"`` that of
      max(0, 1 − y(w'x + b))². Two classes that are no numbers count as ±1 in the first two.
    - ``penalty``, of slope λ at 0: ``"mcp"`` with ``gamma`` (C.-H. Zhang 2010), ``"scad"`` with ``a`` (Fan & Li 2001),
      ``"capped_l1"`` λ min(|w|, γλ/2), whose plateau is that of MCP (T. Zhang 2010), ``"exponential"`` λ(1 − e^(−α|w|))/α,
      ``"log"`` λε ln(1 + |w|/ε), ``"l1"``, or λ times a penalty of :mod:`dcprog.functions.penalties`. Scaled as in
      scikit-learn and skglm.
    - ``groups``: one label a feature; then Σ_G √|G| ρ(‖w_G‖), few groups in place of few features. Clarabel solves it.

    DC split: g = L + λ‖w‖₁, h(w) = Σⱼ λ|wⱼ| − ρ(|wⱼ|), both convex. DCA starts at w = 0, where its first step is the ℓ1
    solution, and stops on w with tolerance 1e-3 where the certificate holds; ``family`` is the model with its loss.

    >>> import numpy as np, dcprog
    >>> X = np.array([[1.0, 0.2], [2.0, -0.1], [3.0, 0.1], [4.0, -0.2]])
    >>> result = dcprog.solve(sparse_regression(X, [2.0, 4.0, 6.0, 8.0], lam=0.1))
    >>> result["w"].round(4) + 0.0
    array([2., 0.])
    """
    check_positive(lam=lam)
    samples = _samples(X, y, loss, delta, fit_intercept)
    w = samples.w
    partition = None if groups is None else _partition(groups, len(w))
    if penalty == "l1":
        norm = L1Norm() if partition is None else GroupNorm(partition.members, np.sqrt(partition.sizes))
        return samples.program(samples.loss + lam * norm(w), 0, "sparse_regression")
    weight, rho = penalty_of_slope(penalty, lam, gamma, a, alpha, eps)
    if partition is None:
        g, h = rho.pair(w)
    else:
        remainder = GroupRemainder(rho, partition, np.sqrt(partition.sizes))
        g, h = remainder.norm(w), remainder(w)
    return samples.program(samples.loss + weight * g, weight * h, "sparse_regression", stop_on=["w"], tol=1e-3)


def _partition(groups: Any, d: int) -> Partition:
    partition = Partition(groups)
    if len(partition.codes) != d:
        raise DataError(f"groups has {len(partition.codes)} labels for {d} features: pass one label a feature")
    return partition


def _samples(X: Any, y: Any, loss: str, delta: float, fit_intercept: bool) -> Samples:
    """X, where it is a family of this shape already, else a new one."""
    if not isinstance(X, Samples):
        return Samples(X, y, loss=loss, delta=delta, fit_intercept=fit_intercept)
    if y is not None:
        raise DataError(f"y is {y!r} beside a family, which has its data: leave y out, and pass parameters by name")
    if X.shape != (loss, delta, fit_intercept):
        raise DataError(f"the family is one of (loss, delta, fit_intercept) = {X.shape}: pass the same ones here")
    return X


def penalty_of_slope(
    penalty: str | SeparablePenalty, lam: float, gamma: float = 3.0, a: float = 3.7, alpha: float = 5.0, eps: float = 0.1
) -> tuple[float, SeparablePenalty]:
    """A factor and the penalty that it belongs to; the factor times ρ'(0) is λ for those by name.

    >>> factor, rho = penalty_of_slope("exponential", 0.5)
    >>> factor * rho.slope(np.zeros(1))
    array([0.5])
    """
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
    if penalty == "exponential":
        return lam / number("alpha", alpha, 0, such_as=5.0), Exponential(alpha)
    if penalty == "log":
        return lam * number("eps", eps, 0, such_as=0.1), Logarithmic(eps)
    raise unknown_name("penalty", penalty, PENALTIES)

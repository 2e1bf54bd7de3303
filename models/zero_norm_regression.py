"""Regression with few features: the zero norm under an ε-insensitive loss (Weston, Elisseeff, Schölkopf & Tipping 2003)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import DataError
from dcprog.functions import Linear, Logarithmic, OfSum
from dcprog.functions.checks import matrix, vector
from dcprog.learning.samples import check_data, check_nonnegative, check_one_type, check_positive
from dcprog.program.dc_program import DCProgram
from dcprog.program.family import Family, of_family
from dcprog.program.matrix_constraint import MatrixConstraint

from ._margin import linear_rule


class Tube(Family):
    """The rows |y − Xw − be| ≤ ε + ξ, compiled once: the factory takes it in the place of (X, y).

    One slack of a sample is for residuals above the tube, and one for those below, of which one at most is not 0; so each
    sample has one row with two limits, y − ε ≤ Xw + be + ξ − ζ ≤ y + ε.
    """

    def __init__(self, X: Any, y: Any = None, tube: float = 0.1) -> None:
        check_nonnegative(tube=tube)
        check_one_type(y)
        X, target = matrix("X", X), vector("y", y)
        n, d = X.shape
        if n != len(target):
            raise DataError(f"y has {len(target)} entries for {n} samples: pass one number a sample")
        m = pyo.ConcreteModel()
        m.p = pyo.Var(range(d), bounds=(0, None), initialize=0.5)
        m.q = pyo.Var(range(d), bounds=(0, None), initialize=0.5)
        m.b = pyo.Var(initialize=float(np.median(target)))
        m.xi = pyo.Var(range(n), bounds=(0, None), initialize=lambda _, i: max(target[i] - m.b.value - tube, 0.0))
        m.zeta = pyo.Var(range(n), bounds=(0, None), initialize=lambda _, i: max(m.b.value - target[i] - tube, 0.0))
        eye = sp.eye_array(n, format="csc")
        m.within = MatrixConstraint(
            [X, -X, np.ones(n), eye, -eye], [m.p, m.q, m.b, m.xi, m.zeta], lower=target - tube, upper=target + tube
        )
        rule = None
        if set(np.unique(target)) == {-1.0, 1.0}:  # two classes, which a regression separates, too
            data = check_data(X, target)
            rule = partial(linear_rule, data.classes, data.names, None)
        derived = {"w": lambda a: a["p"] - a["q"], "v": lambda a: a["p"] + a["q"]}
        super().__init__(m, derived=derived, interpret=rule)
        self.tube = tube


@of_family(Tube)
def zero_norm_regression(X: Any, y: Any = None, lam: float = 1.0, tube: float = 0.1, eps: float = 1e-6) -> DCProgram:
    """Zero-norm regression: min Σ ln(1 + |wⱼ|/ε₀) + λ Σ (|yᵢ − w'xᵢ − b| − ε)₊. One LP an iteration.

    Problem 6 and (2) of Weston et al. (2003) with the ε-insensitive loss of support vector regression in the place of the
    margins; the paper names regression as a further use (sections 1 and 6), and prints no formula. DC split: g the loss,
    h the logarithms, which are the zero norm up to a factor and a constant as ε₀ → 0. DCA starts at |w| = e, so that its
    first step is the ℓ1 problem min ‖w‖₁ + λ Σ (…)₊.

    Parameters
    ----------
    X, y : array_like
        Samples in rows, dense or sparse, standardised, and a number for each.
    lam : float
        λ > 0, the cost of what is outside of the tube.
    tube : float
        ε ≥ 0, half the width of the tube, in the units of y: errors inside of it cost nothing.
    eps : float
        ε₀ > 0, the size below which a weight is all but zero.

    >>> import dcprog
    >>> X = np.random.default_rng(0).standard_normal((40, 6))
    >>> result = dcprog.solve(zero_norm_regression(X, 3 * X[:, 1] - 2 * X[:, 4] + 1, lam=10.0))
    >>> np.flatnonzero(result["v"] > 1e-8), abs(result["w"][[1, 4]] - [3, -2]).max() <= 0.1
    (array([1, 4]), np.True_)
    """
    check_positive(lam=lam, eps=eps)
    if isinstance(X, Family) and not isinstance(X, Tube):
        raise DataError("the family is one of another model: make it by zero_norm_regression.family, with the same tube")
    family = X if isinstance(X, Tube) else Tube(X, y, tube)
    if isinstance(X, Tube) and tube != X.tube:
        raise DataError(f"tube is {tube}, and the family has {X.tube}: make one for each")
    m = family.model
    g = Linear(np.full(2 * len(m.xi), lam))(m.xi, m.zeta)
    h = OfSum(Logarithmic(eps))(m.p, m.q)
    return family.program(g, h, "zero_norm_regression", stop_on=["v"], tol=1e-6)

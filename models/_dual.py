"""What the dual forms share: their variables, the squared norm of X'Du, and (w, b) recovered from u."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.functions import Quadratic
from dcprog.learning.bias import best_bias
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Data
from dcprog.program.dc_program import Derived
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.typing import Vector

SUPPORT = 1e-6
"""A multiplier above this share of its limit counts as positive: interior points do not sit on bounds."""


def dual_variables(data: Data, limits: Vector) -> Any:
    """A model with the multipliers 0 ≤ u ≤ limits of the margin constraints, and y'u = 0, the row that belongs to b."""
    m = pyo.ConcreteModel()
    m.u = pyo.Var(range(data.n), bounds=lambda _, i: (0.0, float(limits[i])), initialize=0.0)
    m.balance = MatrixConstraint([data.y[None, :]], [m.u], lower=0.0, upper=0.0)
    return m


def transposed(signed: Any) -> Any:
    """(DX)', by columns if it is sparse."""
    return sp.csc_array(signed.T) if sp.issparse(signed) else signed.T


def squared_norm(m: Any, data: Data, u: Any) -> Any:
    """½‖X'Du‖²: through the n × n Gram matrix if there are fewer samples than features, else through variables z = X'Du."""
    signed = data.signed
    if data.n <= data.d:
        gram = signed @ signed.T
        return Quadratic(0.5 * (gram + gram.T))(*u)
    m.z = pyo.Var(range(data.d), initialize=0.0)
    m.image = MatrixConstraint([transposed(signed), -sp.eye_array(data.d, format="csc")], [*u, m.z], lower=0.0, upper=0.0)
    return Quadratic(sp.eye_array(data.d))(m.z)


@dataclass(frozen=True, eq=False)
class DualRule:
    """(w, b) from the multipliers u of the margin constraints; ``weights_of`` turns s = X'Du into w."""

    data: Data
    limits: Vector
    weights_of: Callable[[Vector], Vector]

    @property
    def derived(self) -> Derived:
        """w, b and the support vectors, as a program takes them."""
        return {"w": self.w, "b": self.b, "support": self.support}

    def w(self, arrays: Mapping[str, np.ndarray]) -> Vector:
        """The weights that u stands for."""
        return self.weights_of(np.asarray(self.data.signed.T @ arrays["u"]).ravel())

    def b(self, arrays: Mapping[str, np.ndarray]) -> Vector:
        """The bias that minimises the weighted training error for this w, as the primal's does."""
        scores = np.asarray(self.data.X @ self.w(arrays)).ravel()
        return np.asarray(best_bias(scores, self.data.y, self.limits))

    def support(self, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        """Positions of the support vectors, uᵢ > 0."""
        return np.flatnonzero(arrays["u"] > SUPPORT * self.limits)

    def classifier(self, arrays: Mapping[str, np.ndarray]) -> LinearRule:
        """The classifier (w, b)."""
        return LinearRule(arrays["w"], float(arrays["b"]), classes=self.data.classes, feature_names=self.data.names)

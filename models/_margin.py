"""What the linear formulations share: weights w of the features, their sizes |w|, a bias b, and the margin constraints.

    D(Xw + be) + ξ ≥ e,  ξ ≥ 0,        D = diag(y)

|w| has two faces. ``form="paper"`` has variables w and v with −v ≤ w ≤ v, as printed; ``form="split"`` has w = p − q and
|w| = p + q with p, q ≥ 0, which needs no rows and is 2–3 times faster (benchmarks/linear.py). The optima are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import unknown_name
from dcprog.functions import ConvexFunction, Linear, OfSum, Quadratic
from dcprog.functions import penalties as concave
from dcprog.learning.monomials import Monomials
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Data, check_positive
from dcprog.program.dc_program import DCProgram, Derived
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.typing import Vector

WEIGHTINGS = ("mean", "sum", "class")
FORMS = ("split", "paper")
PENALTIES: dict[str, Callable[[float], ConvexFunction]] = {
    "exponential": concave.Exponential,
    "logarithmic": lambda alpha: concave.Logarithmic(),
    "lp": lambda alpha: concave.Lp(),
    "capped_l1": lambda alpha: concave.CappedL1(1.0 / alpha),
    "scad": lambda alpha: concave.SCAD(1.0),
    "mcp": lambda alpha: concave.MCP(1.0),
}
"""Penalties by name; α is the slope at 0 where the penalty has such a parameter."""


def error_weights(data: Data, weighting: str) -> Vector:
    """Weight of each training error: 1/n (mean), 1 (sum), or 1/n₊ and 1/n₋ by class (Bennett & Mangasarian 1992)."""
    if weighting == "mean":
        return np.full(data.n, 1.0 / data.n)
    if weighting == "sum":
        return np.ones(data.n)
    if weighting == "class":
        positive = data.y > 0
        by_class: Vector = np.where(positive, 1.0 / positive.sum(), 1.0 / (~positive).sum())
        return by_class
    raise unknown_name("weighting", weighting, WEIGHTINGS)


def concave_penalty(penalty: str | ConvexFunction, alpha: float) -> ConvexFunction:
    """A concave penalty by name or as it is."""
    check_positive(alpha=alpha)
    if isinstance(penalty, ConvexFunction):
        return penalty
    if penalty not in PENALTIES:
        raise unknown_name("penalty", penalty, PENALTIES)
    return PENALTIES[penalty](alpha)


@dataclass(frozen=True, eq=False)
class Weights:
    """A model with weights, in one of the two forms, and how to speak of |w| in it."""

    model: Any
    data: Data
    split: bool
    derived: Derived
    feature_map: Monomials | None = None

    def errors(self, weights: Vector) -> Any:
        """Σ weightsᵢ ξᵢ."""
        return Linear(weights)(self.model.xi)

    def of_size(self, function: ConvexFunction) -> Any:
        """function(|w|)."""
        m = self.model
        return OfSum(function)(m.p, m.q) if self.split else function(m.v)

    def size(self, weight: float) -> Any:
        """weight · ‖w‖₁."""
        m, d = self.model, self.data.d
        variables = (m.p, m.q) if self.split else (m.v,)
        return Linear(np.full(d * len(variables), weight))(*variables)

    def half_square(self) -> Any:
        """½‖w‖₂². In split form ½(‖p‖² + ‖q‖²), the same wherever pⱼqⱼ = 0, as in every solution, and strongly convex."""
        m = self.model
        variables = (m.p, m.q) if self.split else (m.w,)
        return Quadratic(sp.eye_array(sum(map(len, variables))))(*variables)

    def program(self, g: Any, h: Any, name: str, **settings: Any) -> DCProgram:
        """The DC program on this model; what was compiled of the model before is used again."""
        key = ("compiled", id(self.model))
        program = DCProgram(
            self.model, g, h, name, derived=self.derived, rule=self.rule, like=self.data.kept.get(key), **settings
        )
        self.data.kept[key] = program
        return program

    def rule(self, arrays: Mapping[str, np.ndarray]) -> LinearRule:
        """The classifier (w, b)."""
        return LinearRule(arrays["w"], float(arrays["b"]), self.data.classes, self.data.names, self.feature_map)


def sized_weights(data: Data, form: str) -> Weights:
    """A model with w, v = |w|, b, ξ and the margin constraints; it starts at w = 0, v = e, b = 0, ξ = e (section 5.2.2)."""
    weights: Weights = data.once(("sized", form), lambda: new_sized_weights(data, form))
    return weights


def new_sized_weights(data: Data, form: str) -> Weights:
    """The model of :func:`sized_weights`, but one that nobody else has: to be changed by who asked for it."""
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)
    m = pyo.ConcreteModel()
    signed = data.signed
    identity = sp.eye_array(data.n, format="csc")
    if form == "split":
        m.p = pyo.Var(range(data.d), bounds=(0, None), initialize=0.5)
        m.q = pyo.Var(range(data.d), bounds=(0, None), initialize=0.5)
    else:
        m.w = pyo.Var(range(data.d), initialize=0.0)
        m.v = pyo.Var(range(data.d), bounds=(0, None), initialize=1.0)
    m.b = pyo.Var(initialize=0.0)
    m.xi = pyo.Var(range(data.n), bounds=(0, None), initialize=1.0)
    if form == "split":
        m.margin = MatrixConstraint([signed, -signed, data.y, identity], [m.p, m.q, m.b, m.xi], lower=1.0)
        derived: Derived = {"w": lambda a: a["p"] - a["q"], "v": lambda a: a["p"] + a["q"]}
        return Weights(m, data, True, derived)
    m.margin = MatrixConstraint([signed, data.y, identity], [m.w, m.b, m.xi], lower=1.0)
    eye = sp.eye_array(data.d, format="csc")
    m.below = MatrixConstraint([eye, eye], [m.w, m.v], lower=0.0)
    m.above = MatrixConstraint([-eye, eye], [m.w, m.v], lower=0.0)
    return Weights(m, data, False, {})


def free_weights(data: Data) -> Weights:
    """A model with w, b, ξ and the margin constraints, for penalties that do not need |w|."""
    weights: Weights = data.once("free", lambda: new_free_weights(data))
    return weights


def new_free_weights(data: Data) -> Weights:
    """The model of :func:`free_weights`, but one that nobody else has."""
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(data.d), initialize=0.0)
    m.b = pyo.Var(initialize=0.0)
    m.xi = pyo.Var(range(data.n), bounds=(0, None), initialize=1.0)
    m.margin = MatrixConstraint([data.signed, data.y, sp.eye_array(data.n, format="csc")], [m.w, m.b, m.xi], lower=1.0)
    return Weights(m, data, False, {})

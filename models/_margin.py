"""What the linear formulations share: weights w of the features, their sizes |w|, a bias b, and the margin constraints.

    D(Xw + be) + ξ ≥ e,  ξ ≥ 0,        D = diag(y)

|w| has two faces. ``form="paper"`` has variables w and v with −v ≤ w ≤ v, as printed; ``form="split"`` has w = p − q and
|w| = p + q with p, q ≥ 0, which needs no rows and is 2–3 times faster (benchmarks/linear.py). The optima are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.errors import DataError, unknown_name
from dcprog.functions import ConvexFunction, Linear, OfSum, Quadratic
from dcprog.functions import penalties as concave
from dcprog.learning.feature_maps import FeatureMap
from dcprog.learning.rules import LinearRule
from dcprog.learning.samples import Data, check_data, check_positive
from dcprog.program.dc_program import Derived
from dcprog.program.family import Family
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.typing import Vector

Interpret = Callable[[Mapping[str, np.ndarray]], Any]
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
    """Weight of each training error: 1/n (mean), 1 (sum), or 1/n₊ and 1/n₋ by class (Bennett & Mangasarian 1992).

    A sample that counts s times weighs what s equal samples weigh together, and n, n₊, n₋ are sums of these s.
    """
    s = data.counts
    if weighting == "mean":
        mean: Vector = s / s.sum()
        return mean
    if weighting == "sum":
        return s
    if weighting == "class":
        positive = data.y > 0
        by_class: Vector = s * np.where(positive, 1.0 / s[positive].sum(), 1.0 / s[~positive].sum())
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


class Weights(Family):
    """A model with weights, compiled once: a factory takes it in the place of (X, y). It knows how to speak of |w|.

    ``shape`` names the variables and constraints: factories refuse a model of another shape than theirs.
    """

    def __init__(
        self, model: Any, data: Data, shape: str, derived: Derived | None = None, interpret: Interpret | None = None
    ) -> None:
        rule = partial(linear_rule, data.classes, data.names, None) if interpret is None else interpret
        super().__init__(model, derived=derived, interpret=rule)
        self.data, self.shape = data, shape

    @property
    def split(self) -> bool:
        """Whether w = p − q."""
        return self.model.component("p") is not None

    def costs(self, weighting: str) -> Vector:
        """What each training error weighs, see :func:`error_weights`."""
        return error_weights(self.data, weighting)

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


def linear_rule(
    classes: tuple[Any, Any],
    names: tuple[str, ...] | None,
    feature_map: FeatureMap | None,
    arrays: Mapping[str, np.ndarray],
) -> LinearRule:
    """The classifier (w, b)."""
    return LinearRule(arrays["w"], float(arrays["b"]), classes, names, feature_map)


def given_weights(X: Any, y: Any, shape: str) -> Weights | None:
    """X, where it is a family of this shape already; None where it is data."""
    if not isinstance(X, Weights):
        return None
    if y is not None:
        raise DataError(f"y is {y!r} beside a family, which has its data: leave y out, and pass parameters by name")
    if X.shape != shape:
        raise DataError(
            f"the family is one of {X.shape}, expected {shape}: make it by the factory's own function family, with the same "
            "parameters"
        )
    return X


def sized_weights(X: Any, y: Any = None, form: str = "split") -> Weights:
    """A family with w, v = |w|, b, ξ and the margin constraints; it starts at w = 0, v = e, b = 0, ξ = e (section 5.2.2)."""
    shape = f"sizes |w| with form={form!r}"
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    data = check_data(X, y)
    return Weights(sized_model(data, form), data, shape, sizes(form))


def sized_model(data: Data, form: str) -> Any:
    """The Pyomo model of :func:`sized_weights`, a new one in each call."""
    check_form(form)
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
        return m
    m.margin = MatrixConstraint([signed, data.y, identity], [m.w, m.b, m.xi], lower=1.0)
    eye = sp.eye_array(data.d, format="csc")
    m.below = MatrixConstraint([eye, eye], [m.w, m.v], lower=0.0)
    m.above = MatrixConstraint([-eye, eye], [m.w, m.v], lower=0.0)
    return m


def sizes(form: str) -> Derived:
    """w and v = |w|, where they are no variables of :func:`sized_model`."""
    return {"w": lambda a: a["p"] - a["q"], "v": lambda a: a["p"] + a["q"]} if form == "split" else {}


def check_form(form: str) -> None:
    """One of the two faces of |w|."""
    if form not in FORMS:
        raise unknown_name("form", form, FORMS)


def free_weights(X: Any, y: Any = None) -> Weights:
    """A family with w, b, ξ and the margin constraints, for penalties that do not need |w|."""
    shape = "free weights w"
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    data = check_data(X, y)
    return Weights(free_model(data), data, shape)


def free_model(data: Data) -> Any:
    """The Pyomo model of :func:`free_weights`, a new one in each call."""
    m = pyo.ConcreteModel()
    m.w = pyo.Var(range(data.d), initialize=0.0)
    m.b = pyo.Var(initialize=0.0)
    m.xi = pyo.Var(range(data.n), bounds=(0, None), initialize=1.0)
    m.margin = MatrixConstraint([data.signed, data.y, sp.eye_array(data.n, format="csc")], [m.w, m.b, m.xi], lower=1.0)
    return m

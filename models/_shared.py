"""Sizes that several weights share: those of the classes' classifiers, or those of the mapped features that need a feature.

    D_k(φ(X)w_k + b_k e) + ξ_k ≥ e,  ξ_k ≥ 0,        |w_ki| ≤ v_j  wherever φᵢ contains x_j,        k = 1, …, K

Of K > 2 classes there is one classifier against the rest for each, D_k = diag(±1), and a feature with v_j = 0 is used by
none of them, as section 6 of Neumann, Schnörr & Steidl (2005) proposes: an embedded approach "for all classifiers
simultaneously". The objective is the mean of the K classifiers' losses and squares, and the penalty of v once. So λ, µ and ν
mean the same for any K; two classes have two classifiers that mirror each other, w_2 = −w_1, hence the model with one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pyomo.environ as pyo
import scipy.sparse as sp

from dcprog.functions import ConvexFunction, Linear, Quadratic
from dcprog.learning.feature_maps import FeatureMap
from dcprog.learning.multiclass import ArgmaxRule, against_rest
from dcprog.learning.samples import Data, Samples, check_data, check_samples
from dcprog.program.dc_program import Derived
from dcprog.program.matrix_constraint import MatrixConstraint
from dcprog.typing import Sparse, Vector

from ._margin import Weights, check_form, error_weights, given_weights, linear_rule, sized_weights


class SharedWeights(Weights):
    """Weights p − q, or w, of K classifiers and of mapped features, whose sizes are bounded by those that they share, v."""

    def __init__(self, model: Any, machines: list[Data], shape: str, derived: Derived, interpret: Any) -> None:
        super().__init__(model, machines[0], shape, derived, interpret=interpret)
        self.machines = machines

    def costs(self, weighting: str) -> Vector:
        """The weights of the training errors, classifier by classifier, of which the mean counts."""
        return np.concatenate([error_weights(data, weighting) for data in self.machines]) / len(self.machines)

    def of_size(self, function: ConvexFunction) -> Any:
        """function(v)."""
        return function(self.model.v)

    def size(self, weight: float) -> Any:
        """weight · e'v."""
        return Linear(np.full(len(self.model.v), weight))(self.model.v)

    def half_square(self) -> Any:
        """The mean of the classifiers' ½‖w_k‖²."""
        m = self.model
        variables = (m.p, m.q) if self.split else (m.w,)
        return Quadratic(sp.eye_array(sum(map(len, variables))) / len(self.machines))(*variables)


def joint_weights(X: Any, y: Any = None, form: str = "split") -> Weights:
    """The family of all linear formulations with sizes |w|: one classifier for two classes, K that share v for K > 2."""
    if isinstance(X, Weights | Data):
        return sized_weights(X, y, form)
    samples = check_samples(X, y)
    if len(samples.classes) <= 2:
        return sized_weights(samples, None, form)
    return shared_weights(samples, None, f"sizes |w| with form={form!r}", form)


def mapped_weights(X: Any, y: Any, feature_map: Any, shape: str, form: str) -> Weights:
    """A family of weights of φ(x), for any number of classes; ``feature_map`` makes φ of the samples."""
    given = given_weights(X, y, shape)
    if given is not None:
        return given
    check_form(form)
    samples = check_samples(X, y)
    return shared_weights(samples, feature_map(samples), shape, form)


def shared_weights(samples: Samples, feature_map: FeatureMap | None, shape: str, form: str) -> SharedWeights:
    """A family with w_k, v, b_k, ξ_k and the rows above; it starts at w = 0, v = e, b = 0, ξ = e (section 5.2.2)."""
    check_form(form)
    classes = len(samples.classes)
    machines = [against_rest(samples, k) for k in range(classes)] if classes > 2 else [check_data(samples, None)]
    X = samples.X if feature_map is None else feature_map.transform(samples.X)
    contains = sp.eye_array(samples.X.shape[1]) if feature_map is None else feature_map.contains
    model = shared_model(X, [data.y for data in machines], sp.coo_array(contains), form)
    derived: Derived = {"w": lambda a: a["p"] - a["q"]} if form == "split" else {}
    one = machines[0]
    interpret = (
        partial(argmax_rule, samples, feature_map)
        if classes > 2
        else partial(linear_rule, one.classes, one.names, feature_map)
    )
    return SharedWeights(model, machines, shape, derived, interpret)


def shared_model(X: Any, signs: list[Vector], contains: Sparse, form: str) -> Any:
    """The Pyomo model: X has φ(xᵢ) in its rows, ``signs`` the diagonal of each D_k, and ``contains`` the pairs (i, j)."""
    (n, size), d, K = X.shape, contains.shape[1], len(signs)
    signed = [sp.diags_array(y) @ X if sp.issparse(X) else y[:, None] * X for y in signs]
    margins = signed[0] if K == 1 else sp.block_diag(signed, format="csc")
    labels = signs[0] if K == 1 else sp.block_diag([y[:, None] for y in signs], format="csc")
    pairs = sp.coo_array(sp.vstack([contains] * K))
    of_weight, of_feature = (
        sp.csc_array((np.ones(pairs.nnz), (np.arange(pairs.nnz), at)), shape=(pairs.nnz, count))
        for at, count in ((pairs.row, K * size), (pairs.col, d))
    )
    weights = [range(size)] if K == 1 else [range(K), range(size)]
    identity = sp.eye_array(K * n, format="csc")
    m = pyo.ConcreteModel()
    m.v = pyo.Var(range(d), bounds=(0, None), initialize=1.0)
    m.b = pyo.Var(initialize=0.0) if K == 1 else pyo.Var(range(K), initialize=0.0)
    m.xi = pyo.Var(*([range(n)] if K == 1 else [range(K), range(n)]), bounds=(0, None), initialize=1.0)
    if form == "split":
        m.p = pyo.Var(*weights, bounds=(0, None), initialize=0.0)
        m.q = pyo.Var(*weights, bounds=(0, None), initialize=0.0)
        m.margin = MatrixConstraint([margins, -margins, labels, identity], [m.p, m.q, m.b, m.xi], lower=1.0)
        m.bound = MatrixConstraint([-of_weight, -of_weight, of_feature], [m.p, m.q, m.v], lower=0.0)
        return m
    m.w = pyo.Var(*weights, initialize=0.0)
    m.margin = MatrixConstraint([margins, labels, identity], [m.w, m.b, m.xi], lower=1.0)
    m.below = MatrixConstraint([of_weight, of_feature], [m.w, m.v], lower=0.0)
    m.above = MatrixConstraint([-of_weight, of_feature], [m.w, m.v], lower=0.0)
    return m


def argmax_rule(samples: Samples, feature_map: FeatureMap | None, arrays: Mapping[str, np.ndarray]) -> ArgmaxRule:
    """The classifiers (w_k, b_k), of which the one with the largest score wins."""
    return ArgmaxRule(arrays["w"], arrays["b"], samples.classes, samples.names, feature_map)
